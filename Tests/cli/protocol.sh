#!/usr/bin/env bash
# An outside client and worker, in Python: Tests/cli/protocol.py with a clip and a Python that has what it needs.
# Usage: Tests/cli/protocol.sh PATH-OF-WEFT
set -euo pipefail
weft=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v ffmpeg >/dev/null || { echo "skipped: there is no ffmpeg to encode with"; exit 0; }
# Debian's python3-zmq and python3-xxhash belong to Debian's Python, which need not be the first one.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import zmq, xxhash; assert zmq.has("curve")' 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "skipped: no Python here has pyzmq with CURVE, and xxhash"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x180:rate=25 -f lavfi -i sine=frequency=440:sample_rate=48000 -t 14 \
    -c:v libx264 -preset ultrafast -g 50 -c:a aac "$folder/clip.mp4"
"$python" "$here/protocol.py" "$weft" "$folder/clip.mp4"
