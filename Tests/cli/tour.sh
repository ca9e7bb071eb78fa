#!/usr/bin/env bash
# The README's tour is run as it stands, on a clip made here.
# Usage: Tests/cli/tour.sh PATH-OF-WEFT
set -euo pipefail
weft=$(realpath "$1")
readme=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/README.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder XDG_CONFIG_HOME=$folder/config XDG_STATE_HOME=$folder/state PATH=$(dirname "$weft"):$PATH
cd "$folder"

if ! command -v ffmpeg >/dev/null; then
    echo "skipped: there is no ffmpeg program to make a clip with"
    exit 0
fi
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=128x72:rate=25 -f lavfi -i sine -t 6 -c:v libx264 -preset ultrafast -g 50 \
    -c:a aac film.mov

mapfile -t lines < <(sed -n '/^## A tour/,/^## /p' "$readme" | grep '^weft ')
[ "${#lines[@]}" -eq 5 ] || { echo "the tour has ${#lines[@]} lines instead of 5"; exit 1; }
for line in "${lines[@]}"; do
    echo "+ ${line%%  #*}"
    timeout 300 bash -c "$line" >out 2>err </dev/null || { echo "exit code $?"; cat out err; exit 1; }
done
for file in film.mp4 film.mkv r.json; do
    [ -s "$file" ] || { echo "the tour left no $file"; exit 1; }
done
[ -z "$(ls "$XDG_STATE_HOME/weft/exports" 2>/dev/null)" ] || { echo "the tour left state behind"; exit 1; }
echo "tour: ${#lines[@]} command lines ran"
