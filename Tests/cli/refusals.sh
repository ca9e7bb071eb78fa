#!/usr/bin/env bash
# What `weft export` cannot do it says in one readable block, with its exit code, as JSON too, and leaves nothing behind.
# Usage: Tests/cli/refusals.sh PATH-OF-WEFT
set -euo pipefail
weft=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
media=${WEFT_MEDIA:-$here/../shared/media}
folder=$(mktemp -d)
mounted=()
cleanup() {
    for mount in "${mounted[@]}"; do umount "$mount"; done
    rm -rf "$folder"
}
trap cleanup EXIT
export HOME=$folder XDG_CONFIG_HOME=$folder/config XDG_STATE_HOME=$folder/state
cd "$folder"
mkdir target plain
checks=0
as=()

fail() {
    echo "$1"
    cat out err
    exit 1
}

# refuses CODE SRC DST OPTION...: the exit code, the block, the JSON document, and that nothing is left.
refuses() {
    local wanted=$1 code=0
    shift
    "${as[@]}" timeout 60 "$weft" export "$@" --json >out 2>err </dev/null || code=$?
    checks=$((checks + 1))
    [ "$code" -eq "$wanted" ] || fail "weft export $*: exit code $code instead of $wanted"
    grep -q '^weft' err || fail "weft export $*: no readable block"
    # A block of a few lines; usage errors are two. Nothing of a library between them, no trap of the runtime.
    awk '!/^weft|^  (where|fault|again|to do|code|codec) |^         |^Try /' err | grep -q . && fail "weft export $*: stray lines"
    grep -qi 'fatal error\|stack dump' err && fail "weft export $*: a crash"
    grep -q '"failure"' out || fail "weft export $*: no failure as JSON"
    grep -q "\"exit_code\" : $wanted" out || fail "weft export $*: another code in the JSON"
    left=$(find target plain -mindepth 1 ! -name kept.mp4 ! -name '.keep')
    [ -z "$left" ] || fail "weft export $*: left $left"
    [ -z "$(find state -mindepth 3 2>/dev/null)" ] || fail "weft export $*: left $(find state -mindepth 3)"
}

# fails CODE SRC DST OPTION...: as refuses, of what only the work shows; what was made until then is kept for --resume.
fails() {
    local wanted=$1 code=0
    shift
    timeout 60 "$weft" export "$@" --quiet >out 2>err </dev/null || code=$?
    checks=$((checks + 1))
    [ "$code" -eq "$wanted" ] || fail "weft export $*: exit code $code instead of $wanted"
    [ -z "$(find target plain -mindepth 1 ! -name kept.mp4 ! -name '.keep')" ] || fail "weft export $*: left a file"
    rm -rf state
}

says() { grep -qF -- "$1" err || fail "not said: $1"; }

clip() { ffmpeg -v error -nostdin -y "$@"; }
clip -f lavfi -i testsrc2=size=320x180:rate=25 -f lavfi -i sine -t 8 -c:v libx264 -preset ultrafast -g 25 \
    -pix_fmt yuv420p -c:a aac -shortest clip.mp4
clip -i clip.mp4 -vn -c copy sound.m4a
echo "This is no film, it is a text." >text.mp4
: >empty.mp4
mkfifo pipe.mp4
ln -s loop.mp4 loop.mp4
cp clip.mp4 target/kept.mp4
quick=(-o preset=ultrafast --segment-duration 2)

# Sources
refuses 66 none.mp4 target/o.mp4; says "No such file"
refuses 66 plain target/o.mp4; says "irectory"
refuses 66 loop.mp4 target/o.mp4
refuses 66 text.mp4/deeper.mp4 target/o.mp4
refuses 65 text.mp4 target/o.mp4; says "not a media file"
refuses 65 empty.mp4 target/o.mp4; says "is empty"
refuses 65 /dev/null target/o.mp4
refuses 65 pipe.mp4 target/o.mp4; says "is a pipe"
refuses 65 sound.m4a target/o.mp4; says "no video track"
# The head of a fragmented movie, without its fragments.
clip -i clip.mp4 -c copy -movflags frag_keyframe+empty_moov+default_base_moof fragments.mp4
head -c "$(grep -abo moof fragments.mp4 | head -1 | awk -F: '{ print $1 - 4 }')" fragments.mp4 >init.mp4
refuses 65 init.mp4 target/o.mp4; says "not one sample"
# An intact index, the first bytes of each picture, and noise.
clip -i clip.mp4 -an -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -t 1 vp9.mp4
python3 - <<'END'
import subprocess
movie = bytearray(open("vp9.mp4", "rb").read())
listed = subprocess.run("ffprobe -v error -select_streams v -show_entries packet=pos,size -of csv=p=0 vp9.mp4", shell=True, capture_output=True, text=True)
for size, place in (map(int, line.split(",")[:2]) for line in listed.stdout.split()):
    movie[place + 8:place + size] = bytes((place + n) * 37 % 251 for n in range(size - 8))
open("noise.mp4", "wb").write(movie)
END
fails 65 noise.mp4 target/o.mp4; says "Not one picture"
if [ -d "$media" ]; then
    refuses 65 "$media/shaka-player--video.mp4" target/o.mp4; says "is encrypted"
else
    echo "skipped: an encrypted file (set WEFT_MEDIA)"
fi

# Targets
refuses 73 clip.mp4 target/none/o.mp4; says "Create the target directory"
refuses 73 clip.mp4 target/kept.mp4; says "--overwrite"
refuses 73 clip.mp4 plain
refuses 64 clip.mp4 clip.mp4; says "the source itself"
refuses 64 clip.mp4 target/o.txt; says ".mkv"
refuses 64 clip.mp4 target/o

# Settings
refuses 64 clip.mp4 target/o.mp4 --encoder nosuch; says "nosuch"
refuses 64 clip.mp4 target/o.mp4 --encoder aac; says "no encoder for pictures"
refuses 64 clip.mp4 target/o.mp4 -o nosuch=1; says "no option “nosuch”"
refuses 64 clip.mp4 target/o.mp4 -o crf=abc; says "“abc”"
refuses 64 clip.mp4 target/o.mp4 -o preset=quick; says "invalid preset 'quick'"
refuses 64 clip.mp4 target/o.mp4 --filter nosuch; says "nosuch"
refuses 64 clip.mp4 target/o.mp4 --filter scale=abc
fails 64 clip.mp4 target/o.mp4 --filter 'select=lt(t\,0)'; says "no picture"
refuses 64 clip.mp4 target/o.webm --video-codec prores; says "WebM cannot hold prores"
refuses 64 clip.mp4 target/o.webm --video-codec vp9 --audio flac; says "--audio opus"
refuses 64 clip.mp4 target/o.mp4 --start 100; says "--start"
refuses 64 clip.mp4 target/o.mp4 --start 5 --end 2
refuses 64 clip.mp4 target/o.mp4 --workers 0
refuses 64 clip.mp4 target/o.mp4 --size 10
refuses 64 clip.mp4 target/o.mp4 --qualty 3
refuses 64 clip.mp4
refuses 78 clip.mp4 target/o.mp4 --preset nosuch

# A wrong setting is said before a source without index is read from end to end.
clip -stream_loop 40 -i clip.mp4 -c copy long.ts
"$weft" plan long.ts >/dev/null
if command -v strace >/dev/null; then
    strace -f -e trace=read -o reads "$weft" export long.ts target/o.mp4 -o nosuch=1 >out 2>err || true
    read_bytes=$(awk -F'= ' '/read\(/ { sum += $NF } END { print sum + 0 }' reads)
    [ "$read_bytes" -lt $(($(stat -c %s long.ts) / 2)) ] || fail "$read_bytes bytes read before a wrong option was refused"
fi

# Permissions: root may do everything, so somebody else asks.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    cp "$weft" weft-copy
    cp clip.mp4 secret.mp4
    chmod 0 secret.mp4
    chmod 755 "$folder" target plain
    mkdir -m 777 open
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    original=$weft weft=$folder/weft-copy
    refuses 77 secret.mp4 open/o.mp4 --state open/state; says "read permission"
    refuses 73 clip.mp4 target/o.mp4 --state open/state; says "Permission denied"
    refuses 73 clip.mp4 open/o.mp4 --state "$folder/plain/state"; says "Choose another --state"
    rm -rf open/state
    mkdir -m 555 -p closed/exports
    refuses 73 clip.mp4 open/o.mp4 --state "$folder/closed"; says "Permission denied"
    [ -z "$(ls -A open)" ] || fail "left in the target directory"
    as=() weft=$original
else
    echo "skipped: permissions (needs root and setpriv)"
fi

# A full disk under the target, and under the state.
mkdir small
if mount -t tmpfs -o size=300k tmpfs small 2>/dev/null; then
    mounted+=("$folder/small")
    code=0
    "$weft" export clip.mp4 small/o.mp4 "${quick[@]}" --json >out 2>err || code=$?
    [ "$code" -eq 73 ] || fail "full target: exit code $code"
    says "No space left on device"; says "--resume"
    [ -z "$(ls -A small)" ] || fail "full target: left $(ls -A small)"
    code=0
    # A spool that fits nowhere: the export waits for space, and ends with what is in the way.
    "$weft" export clip.mp4 target/o.mp4 "${quick[@]}" --state small --json >out 2>err || code=$?
    [ "$code" -eq 73 ] || fail "full state: exit code $code"
    says "Trying again"; says "--resume"
    [ ! -e target/o.mp4 ] || fail "full state: a file under the final name"
    # With space again it goes on from there.
    mount -o remount,size=8m "$folder/small"
    "$weft" export clip.mp4 target/o.mp4 "${quick[@]}" --state small --resume --json >out 2>err || fail "resumed: no"
    grep -q '"pass" : true' out || fail "resumed: not proved"
    [ -z "$(find small -mindepth 2)" ] || fail "resumed: left $(find small -mindepth 2)"
    rm target/o.mp4
    checks=$((checks + 3))
else
    echo "skipped: full disks (no tmpfs can be mounted)"
fi

# What is possible after all.
"$weft" export clip.mp4 target/o.webm --video-codec av1 -o preset=12 --audio opus --end 2 --json >out 2>err \
    || fail "AV1 into WebM"
grep -q '"pass" : true' out || fail "AV1 into WebM: not proved"
checks=$((checks + 1))
echo "refusals: $checks exports checked"
