#!/usr/bin/env bash
# Every real file into MP4 and Matroska, as H.264 without loss and as HEVC, judged by verify --full and by ffprobe's counts.
# Usage: Tests/cli/media.sh PATH-OF-WEFT
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"$here/Benchmarks/table" --weft "$(realpath "$1")" --routes mkv/h264,mp4/hevc --check
