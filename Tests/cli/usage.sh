#!/usr/bin/env bash
# The command line as a shell sees it: exit codes, which stream gets what, scripts that shells accept.
# Usage: Tests/cli/usage.sh PATH-OF-WEFT
set -euo pipefail
weft=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder XDG_CONFIG_HOME=$folder/config XDG_STATE_HOME=$folder/state
checks=0

# expect CODE WORD...: runs weft, keeps both streams, compares the exit code.
expect() {
    local wanted=$1 code=0
    shift
    "$weft" "$@" >"$folder/out" 2>"$folder/err" </dev/null || code=$?
    checks=$((checks + 1))
    if [ "$code" -ne "$wanted" ]; then
        echo "weft $*: exit code $code instead of $wanted"
        cat "$folder/out" "$folder/err"
        exit 1
    fi
}

says() { grep -qF -- "$1" "$folder/$2" || { echo "not on std$2: $1"; cat "$folder/$2"; exit 1; }; }
silent() { [ ! -s "$folder/$1" ] || { echo "something on std$1:"; cat "$folder/$1"; exit 1; }; }

expect 0 --version; says "weft " out; silent err
expect 0 --help; says "export" out; silent err
expect 0 help export; says "--video-codec" out
expect 0 export --help; silent err
expect 64; silent out
expect 64 expotr; says "Did you mean 'export'?" err; silent out
expect 64 export only-one
expect 64 export a b --qualty 3; says "Did you mean '--quality'?" err
expect 64 export a b --quality 20 --bitrate 4M
expect 64 export a b --video-codec copy --filter null
expect 64 plan a --segment-duration 1
expect 78 export a b --preset no-such-preset; says "web-h264" err
WEFT_WORKERS=many expect 78 export a b; says "WEFT_WORKERS" err

"$weft" completions bash >"$folder/bash" && bash -n "$folder/bash"
completed=$(bash -c "source '$folder/bash'; COMP_WORDS=(weft export --audio-b); COMP_CWORD=2; _weft; echo \"\${COMPREPLY[*]}\"")
[ "$completed" = "--audio-bitrate" ] || { echo "bash completes: $completed"; exit 1; }
"$weft" completions zsh >"$folder/zsh"
if command -v zsh >/dev/null; then zsh -n "$folder/zsh"; fi
"$weft" completions fish >"$folder/fish"
if command -v fish >/dev/null; then fish -n "$folder/fish"; fi
"$weft" manual >"$folder/weft.1"
if command -v groff >/dev/null; then
    complaints=$(groff -man -Tutf8 -ww "$folder/weft.1" 2>&1 >/dev/null)
    [ -z "$complaints" ] || { echo "$complaints"; exit 1; }
fi
# A reader that goes away is no crash.
"$weft" manual | head -n 1 >/dev/null

echo "usage: $checks command lines checked"
