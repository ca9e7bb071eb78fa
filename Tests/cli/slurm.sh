#!/usr/bin/env bash
# Slurm starts the workers: 0 → 2 → 0 through a real job, one of them preempted in the middle. The daemons are real and this
# test's own: configuration, ports, keys and state in a folder of its own.
# Usage: Tests/cli/slurm.sh PATH-OF-WEFT
set -euo pipefail
weft=$(realpath "$1")
for program in munged slurmctld slurmd sbatch squeue scancel sinfo ffmpeg jq; do
    PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || { echo "skipped: there is no $program to try Slurm with"; exit 0; }
done
PATH=$PATH:/usr/sbin
folder=$(mktemp -d /tmp/weft-slurm.XXXXXX)
cd "$folder"
started=()
finish() {
    local code=$?
    trap - EXIT
    [ $code -eq 0 ] || tail -n 30 "$folder"/{slurmctld,slurmd,scale,coordinator}.log "$folder"/weft-worker-*.log >&2 2>/dev/null || true
    # Slurm ends its own processes; after KillWait by force.
    if [ -e slurmctld.pid ] && scancel --quiet --me 2>/dev/null; then
        for ((i = 0; i < 100; i++)); do
            [ -n "$(squeue --noheader --me 2>/dev/null)" ] || break
            sleep 0.2
        done
    fi
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do kill "${started[i]}" 2>/dev/null || true; done
    for ((i = 0; i < 50; i++)); do
        local left=0
        for pid in "${started[@]}"; do ! kill -0 "$pid" 2>/dev/null || left=1; done
        [ $left -eq 1 ] || break
        sleep 0.1
    done
    for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
    exit $code
}
trap finish EXIT
fail() { echo "$*" >&2; exit 1; }
# awaits SECONDS WHAT COMMAND...
awaits() {
    local limit=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $limit ] || fail "$what did not happen"
        sleep 0.2
    done
}
background() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 &
    started+=($!)
}

# -- A Slurm of one machine
user=$(id -un)
host=$(hostname -s)
ports=$(python3 -c 'import socket
s = [socket.socket() for _ in range(2)]
for one in s: one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in s])')
mkdir -m 700 munge state spool
dd if=/dev/urandom of=munge/key bs=128 count=1 status=none
chmod 600 munge/key
cat >slurm.conf <<END
ClusterName=weft
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=8
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
NodeName=$host NodeAddr=127.0.0.1 CPUs=2
PartitionName=low Nodes=$host Default=YES PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=$host PriorityTier=10 PreemptMode=OFF
END
export SLURM_CONF=$folder/slurm.conf
background munged.log munged --foreground --force --socket="$folder/munge/socket" --key-file="$folder/munge/key" \
    --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
awaits 10 "munged listens" test -S munge/socket
background slurmctld.log slurmctld -D -i -f "$SLURM_CONF"
background slurmd.log slurmd -D -f "$SLURM_CONF"
is_idle() { [ "$(sinfo --noheader --partition low --format %T 2>/dev/null)" = idle ]; }
limit=$((SECONDS + 20))
until is_idle; do
    if [ $SECONDS -ge $limit ]; then
        tail -n 5 slurmctld.log slurmd.log >&2
        fail "Slurm is installed but does not run here"
    fi
    sleep 0.2
done

# -- A cluster without workers
export XDG_STATE_HOME=$folder/xdg XDG_CONFIG_HOME=$folder/config
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=480x270:rate=25 -t 96 -c:v libx264 -preset ultrafast -g 25 clip.mp4
settings=(--encoder-option preset=slower --segment-duration 3)
"$weft" export clip.mp4 reference.mp4 "${settings[@]}" --quiet
background coordinator.log "$weft" coordinator --listen tcp://127.0.0.1:0 --state "$folder/coordinator" --root "$folder"
listens() { grep -qs 'listening at' coordinator.log; }
awaits 10 "the coordinator listens" listens
WEFT_COORDINATOR=$(sed -n 's/.*listening at \(tcp:[^ ]*\).*/\1/p' coordinator.log)
export WEFT_COORDINATOR
scale=("$weft" workers scale --engine slurm --min 0 --max 2 --interval 1 --idle 2 --drain-timeout 1 --partition low)
mine() { squeue --noheader --me --name weft-worker --format '%A %T'; }
count() { [ "$(mine | grep -cE "$2" || true)" -eq "$1" ]; }
there() { [ "$("$weft" workers --json | jq '[.workers[] | select(.state == "busy" or .state == "idle")] | length')" -eq "$1" ]; }

"${scale[@]}" --once --json >once.json
[ "$(jq -c '[.wanted, .workers, .submitted]' once.json)" = '[0,0,[]]' ] || fail "without work somebody is wanted: $(cat once.json)"

# -- 0 → 2
job=$("$weft" submit "$folder/clip.mp4" "$folder/out.mp4" "${settings[@]}" --json | jq -r .job)
background scale.log "${scale[@]}"
scaler=$!
awaits 30 "two workers of Slurm are at work" there 2
# A scaler that is killed and started again finds its workers, and starts no others.
kill -9 "$scaler"
"${scale[@]}" --once --json >once.json
[ "$(jq -c '[.workers, .submitted, .cancelled]' once.json)" = '[2,[],[]]' ] || fail "the workers were not found again: $(cat once.json)"
background scale.log "${scale[@]}"

# -- One is preempted in the middle
done_segments() { [ "$("$weft" job "$job" --json | jq .segments_done)" -ge 1 ]; }
awaits 120 "a segment is done" done_segments
urgent=$(sbatch --parsable --partition high --ntasks 1 --output /dev/null --wrap 'sleep 2')
awaits 60 "a worker is preempted and put back into the queue" count 1 PENDING
is_over() { "$weft" job "$job" --json | jq -e '.state == "done" or .state == "failed"' >/dev/null; }
awaits 300 "the job ends" is_over
"$weft" job "$job" --json >job.json
[ "$(jq -r .state job.json)" = "done" ] || fail "the job did not end well: $(cat job.json)"
cmp reference.mp4 out.mp4 || fail "the output differs from that of one machine"
"$weft" events "$job" --json >events.json
"$weft" events --json | jq -r '.events[] | select(.kind == "left") | .node' >left.txt
grep -q '^slurm-' left.txt || fail "the preempted worker did not say goodbye"
squeue --noheader --job "$urgent" 2>/dev/null | grep -q . && awaits 20 "the urgent job ends" bash -c "! squeue -h -j $urgent 2>/dev/null | grep -q ."

# -- 2 → 0
awaits 40 "all workers are gone" count 0 .
there 0 || fail "somebody is still connected"
printf 'slurm: 0 → 2 → 0 workers, %s segments in %s attempts, one worker preempted, equal bytes\n' \
    "$(jq .segments job.json)" "$(jq .attempts job.json)"
