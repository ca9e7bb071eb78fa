#!/usr/bin/env bash
# Outputs open in programs that nobody here wrote: ffprobe, mkvinfo, MediaInfo, and Chromium plays them.
# Usage: Tests/cli/players.sh PATH-OF-WEFT
set -euo pipefail
weft=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder XDG_CONFIG_HOME=$folder/config XDG_STATE_HOME=$folder/state
cd "$folder"

fail() { printf '%s\n' "$@"; exit 1; }
if ! command -v ffmpeg >/dev/null; then
    echo "skipped: there is no ffmpeg program to make a clip with"
    exit 0
fi
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x180:rate=25 -f lavfi -i sine=sample_rate=48000 -t 8 -c:v libx264 -preset ultrafast \
    -g 50 -bf 2 -c:a aac film.mov

"$weft" export film.mov h264.mp4 --video-codec h264 -o preset=ultrafast --audio aac --segment-duration 2 --workers 2 --quiet
"$weft" export film.mov h264.mkv --video-codec h264 -o preset=ultrafast --audio copy --segment-duration 2 --workers 2 --quiet
"$weft" export film.mov vp9.webm --video-codec vp9 -o deadline=realtime -o cpu-used=8 --audio opus --segment-duration 2 --workers 2 --quiet

for file in h264.mp4 h264.mkv vp9.webm; do
    words=$(ffprobe -v warning -show_streams -show_format -count_packets "$file" 2>&1 >/dev/null)
    [ -z "$words" ] || fail "ffprobe on $file says:" "$words"
    words=$(ffmpeg -nostdin -v warning -i "$file" -map 0 -f null - 2>&1)
    [ -z "$words" ] || fail "ffmpeg's decoders on $file say:" "$words"
done
echo "ffprobe: 3 files without a warning"

if command -v mkvinfo >/dev/null; then
    for file in h264.mkv vp9.webm; do
        words=$(mkvinfo --all "$file" 2>&1) || fail "mkvinfo cannot read $file:" "$words"
        grep -q "EbmlVoid\|Cues\|Cluster" <<<"$words" || fail "mkvinfo finds no clusters in $file"
        grep -iE "error|warning|unknown element|invalid" <<<"$words" && fail "mkvinfo complains of $file"
    done
    echo "mkvinfo: 2 files without a complaint"
else
    echo "skipped: there is no mkvinfo"
fi

if command -v mediainfo >/dev/null; then
    for file in h264.mp4 h264.mkv vp9.webm; do
        words=$(mediainfo --Full "$file")
        [ "$(mediainfo '--Inform=Video;%FrameCount%' "$file")" = 200 ] || [ "${file##*.}" != mp4 ] || fail "MediaInfo counts other than 200 pictures in $file"
        [ "$(mediainfo '--Inform=General;%AudioCount%' "$file")" = 1 ] || fail "MediaInfo finds no sound in $file"
        grep -iE "IsTruncated *: Yes|conformance ?errors" <<<"$words" && fail "MediaInfo complains of $file"
    done
    [ "$(mediainfo '--Inform=General;%IsStreamable%' h264.mp4)" = Yes ] || fail "MediaInfo says that h264.mp4 cannot be streamed"
    echo "mediainfo: 3 files without a complaint"
else
    echo "skipped: there is no mediainfo"
fi

chromium=$(command -v chromium-headless-shell || command -v chromium || true)
if [ -n "$chromium" ]; then
    joins=$("$weft" plan film.mov --segment-duration 2 --json |
        python3 -c 'import json, sys; print(*[s["start"]["value"] / s["start"]["timescale"] for s in json.load(sys.stdin)["segments"][1:]])')
    [ "$(wc -w <<<"$joins")" -ge 3 ] || fail "the clip has too few joins: $joins"
    # shellcheck disable=SC2086
    for film in "h264.mp4 video/mp4" "vp9.webm video/webm"; do
        timeout 150 python3 "$here/players.py" "$chromium" $film $joins
    done
    # The HTML report of verify: a page without a complaint of the browser's, whose plots are drawn.
    "$weft" verify film.mov h264.mp4 --full --html report.html >/dev/null
    timeout 150 "$chromium" --no-sandbox --disable-gpu --enable-logging=stderr --dump-dom file://"$folder"/report.html >dom.html 2>browser.txt ||
        fail "Chromium cannot open the HTML report:" "$(cat browser.txt)"
    grep "CONSOLE" browser.txt && fail "Chromium complains of the HTML report"
    for part in "<svg" "<polyline\|<path\|<rect" "</html>"; do
        grep -q "$part" dom.html || fail "the HTML report has no $part in Chromium"
    done
    echo "chromium: the HTML report of verify opens without a complaint"
else
    echo "skipped: there is no chromium"
fi
