# shellcheck shell=bash
# What scripts share that start processes of their own: source it after `set -euo pipefail`.
# It makes $folder, and ends with it what stands in ${started[@]}; the logs there are shown where something fails.
folder=$(mktemp -d)
started=()
finish() {
    local code=$?
    for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
    exit $code
}
trap finish EXIT
fail() {
    echo "$*" >&2
    tail -n 20 "$folder"/*.log >&2 || true
    exit 1
}
# awaits SECONDS WHAT COMMAND...
awaits() {
    local limit=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $limit ] || fail "$what did not happen"
        sleep 0.1
    done
}
