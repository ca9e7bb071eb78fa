#!/usr/bin/env bash
# What service managers rely on: readiness and signs of life over a real datagram socket, SIGTERM that drains, units that systemd
# accepts, and an installation whose files are all there.
# Usage: Tests/cli/services.sh PATH-OF-WEFT
set -euo pipefail
weft=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=Tests/cli/processes.bash
source "$here/Tests/cli/processes.bash"
export XDG_STATE_HOME=$folder/state XDG_CONFIG_HOME=$folder/config

# -- sd_notify: a name in the file system for the coordinator, one in the abstract name space for the worker
cat >"$folder/listen.py" <<'END'
import socket, sys
name, log = sys.argv[1], open(sys.argv[2], "w", buffering=1)
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind("\0" + name[1:] if name.startswith("@") else name)
log.write("bound\n")
while True:
    log.write(server.recv(65536).decode() + "\n")
END
listen() {
    python3 "$folder/listen.py" "$1" "$2" &
    started+=($!)
    awaits 5 "the socket $1 is there" test -s "$2"
}
listen "$folder/notify" "$folder/coordinator.said.log"
listen "@weft-test-$$" "$folder/worker.said.log"

NOTIFY_SOCKET=$folder/notify WATCHDOG_USEC=400000 "$weft" coordinator --listen tcp://127.0.0.1:0 2>"$folder/coordinator.log" &
coordinator=$!
started+=("$coordinator")
awaits 10 "READY=1 of the coordinator" grep -qx READY=1 "$folder/coordinator.said.log"
grep -q '^STATUS=listening at tcp:' "$folder/coordinator.said.log" || awaits 2 "its status" grep -q '^STATUS=listening' "$folder/coordinator.said.log"
beats() { [ "$(grep -cx WATCHDOG=1 "$1")" -ge 3 ]; }
awaits 5 "signs of life of the coordinator" beats "$folder/coordinator.said.log"
WEFT_COORDINATOR=$(sed -n 's/.*listening at \(tcp:[^ ]*\).*/\1/p' "$folder/coordinator.log")
export WEFT_COORDINATOR

NOTIFY_SOCKET=@weft-test-$$ WATCHDOG_USEC=400000 "$weft" worker --name here --slots 1 2>"$folder/worker.log" &
worker=$!
started+=("$worker")
awaits 10 "READY=1 of the worker" grep -qx READY=1 "$folder/worker.said.log"
awaits 5 "signs of life of the worker" beats "$folder/worker.said.log"
# A process that is stopped gives no signs of life, nor does one whose loop hangs.
kill -STOP "$worker"
before=$(grep -cx WATCHDOG=1 "$folder/worker.said.log")
sleep 0.7
[ "$(grep -cx WATCHDOG=1 "$folder/worker.said.log")" -le $((before + 1)) ] || fail "a stopped worker gives signs of life"
kill -CONT "$worker"

# -- Usability: who waits for nobody is told so; orders about what is not there are refused
code=0
"$weft" drain nowhere 2>"$folder/drain.log" || code=$?
[ $code -eq 64 ] || fail "drain of an unknown node ends with $code"
grep -q 'No node nowhere is connected' "$folder/drain.log" || fail "drain of an unknown node says nothing"
slots() { "$weft" workers --json | grep -c '"state" : "idle"' || true; }
idle() { [ "$(slots)" -eq "$1" ]; }
awaits 10 "the slot is there" idle 1

# -- SIGTERM during a lease: it is finished, no other is begun, and the worker ends with 0
if command -v ffmpeg >/dev/null; then
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x180:rate=25 -t 30 -c:v libx264 -preset ultrafast -g 50 "$folder/clip.mp4"
    settings=(--encoder-option preset=veryslow --segment-duration 6)
    "$weft" submit "$folder/clip.mp4" "$folder/out.mp4" "${settings[@]}" --wait 2>"$folder/submit.log" &
    submit=$!
    started+=("$submit")
    awaits 20 "a lease begins" grep -q 'segment 0 of .* begins' "$folder/worker.log"
    # Every process is signalled, as service managers and batch systems do; the slots leave it to the worker.
    slot=$(pgrep -P "$worker")
    kill -TERM "$worker" "$slot"
    code=0
    wait "$worker" || code=$?
    [ $code -eq 0 ] || fail "the drained worker ended with $code"
    grep -q 'segment 0 of .* done' "$folder/worker.log" || fail "the lease at hand was not finished"
    ! grep -q 'segment 1 of .* begins' "$folder/worker.log" || fail "a drained worker took another lease"
    grep -qx STOPPING=1 "$folder/worker.said.log" || fail "the service manager was not told"
    "$weft" workers | grep -q 'left' || fail "a drained worker is not shown as one that left"
    awaits 6 "who waits is told" grep -q 'No worker is connected' "$folder/submit.log"

    # -- A limit to that: what is not done by then goes elsewhere at once, and not after the silence of a dead node
    "$weft" worker --name hasty --slots 1 --drain-timeout 0.2 2>"$folder/hasty.log" &
    hasty=$!
    started+=("$hasty")
    awaits 20 "a lease begins" grep -q 'begins' "$folder/hasty.log"
    kill -TERM "$hasty"
    code=0
    wait "$hasty" || code=$?
    [ $code -eq 0 ] || fail "the worker that gave its lease back ended with $code"
    "$weft" worker --name last --slots 2 2>"$folder/last.log" &
    last=$!
    started+=("$last")
    # A node that dies without a word is waited for longer than this.
    segment=$(sed -n 's/.*segment \([0-9]*\) of .* begins/\1/p' "$folder/hasty.log" | head -n 1)
    awaits 8 "segment $segment goes to somebody else at once" grep -q "segment $segment of .* begins" "$folder/last.log"
    code=0
    wait "$submit" || code=$?
    [ $code -eq 0 ] || fail "the job did not end well: $code"
    kill -TERM "$last"
    wait "$last" || fail "an idle worker did not leave with 0"
else
    echo "skipped: there is no ffmpeg to make a clip with"
    kill -TERM "$worker"
    wait "$worker" || fail "an idle worker did not leave with 0"
fi
kill -TERM "$coordinator"
wait "$coordinator" || fail "the coordinator did not stop with 0"
grep -qx STOPPING=1 "$folder/coordinator.said.log" || fail "the service manager was not told"

# -- Installation
DESTDIR=$folder/image "$here/Deploy/install" --program "$weft" /opt/weft 2>"$folder/install.log" || fail "Deploy/install does not work"
image=$folder/image/opt/weft
for file in bin/weft share/man/man1/weft.1 share/bash-completion/completions/weft share/zsh/site-functions/_weft \
    share/fish/vendor_completions.d/weft.fish share/weft/presets/web-h264.json5 share/doc/weft/config.example.json5 \
    lib/systemd/system/weft-coordinator.service lib/systemd/system/weft-worker.service; do
    [ -s "$image/$file" ] || fail "Deploy/install leaves out $file"
done
[ -x "$image/bin/weft" ] || fail "the installed program cannot be run"
(cd / && HOME=$folder "$image/bin/weft" completions bash | grep -q web-h264) || fail "the installed program does not find its presets"
grep -q '^ExecStart=/opt/weft/bin/weft coordinator' "$image/lib/systemd/system/weft-coordinator.service" || fail "a unit names another program"

if command -v systemd-analyze >/dev/null; then
    # It looks for the program that the unit names.
    sed -i "s,/opt/weft/,$image/," "$image"/lib/systemd/system/*.service
    for unit in "$image"/lib/systemd/system/*.service; do
        words=$(systemd-analyze verify --man=no "$unit" 2>&1) || fail "systemd does not take $unit: $words"
        [ -z "$words" ] || fail "systemd complains of $unit: $words"
        systemd-analyze security --offline=true --threshold=25 --no-pager "$unit" >"$folder/security.log" ||
            fail "$unit is less shut off than it was"
        tail -n 1 "$folder/security.log"
    done
else
    echo "skipped: there is no systemd-analyze to check the units with"
fi
echo "services: ready, alive, drained and installed"
