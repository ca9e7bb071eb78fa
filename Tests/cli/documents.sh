#!/usr/bin/env bash
# The man page and the completions say what the help says, and their readers accept them.
# Usage: Tests/cli/documents.sh PATH-OF-WEFT
set -euo pipefail
weft=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder XDG_CONFIG_HOME=$folder/config XDG_STATE_HOME=$folder/state
checks=0

fail() { echo "$*"; exit 1; }
# has TEXT FILE: the file has the text, word for word.
has() {
    grep -qF -- "$1" "$2" || fail "'$1' is not in ${2##*/}"
    checks=$((checks + 1))
}

# Commands are the words that begin the indented lines of the overview; options are what begins those of a command.
commands=$("$weft" help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
options() { "$weft" help "$1" | grep -oE '^ +(-[a-z], )?--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+'; }
[ -n "$commands" ] || fail "the overview lists no command"
[ -n "$(options export)" ] || fail "the help of export lists no option"

"$weft" manual >"$folder/weft.1"
if command -v groff >/dev/null; then
    complaints=$(groff -K utf8 -man -Tutf8 -ww "$folder/weft.1" 2>&1 >/dev/null)
    [ -z "$complaints" ] || fail "$complaints"
    # Words only, neither bold nor typographic hyphens.
    groff -K utf8 -man -Tascii -P-cbou "$folder/weft.1" >"$folder/page.txt" 2>/dev/null
    for title in NAME SYNOPSIS DESCRIPTION COMMANDS SETTINGS "EXIT STATUS" FILES; do has "$title" "$folder/page.txt"; done
    for command in $commands; do
        has "weft $command" "$folder/page.txt"
        for option in $(options "$command"); do has "$option" "$folder/page.txt"; done
    done
else
    echo "skipped: there is no groff to format the man page with"
fi

for shell in bash zsh fish; do
    "$weft" completions "$shell" >"$folder/$shell"
    for command in $commands; do has "$command" "$folder/$shell"; done
    for option in $(options export); do has "${option#--}" "$folder/$shell"; done
    if command -v "$shell" >/dev/null; then
        "$shell" -n "$folder/$shell" || fail "$shell does not accept its completions"
    else
        echo "skipped: there is no $shell to read its completions"
    fi
done

# complete WORD...: what bash offers for the last word.
complete_words() {
    bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$folder/bash" "$@" | sed 's/ *$//'
}
for command in $commands; do
    offered=$(complete_words weft "${command:0:3}")
    grep -qx -- "$command" <<<"$offered" || fail "bash does not complete '${command:0:3}' to $command: $offered"
    for option in $(options "$command"); do
        grep -qx -- "$option" <<<"$(complete_words weft "$command" "$option")" || fail "bash does not know $command $option"
        checks=$((checks + 1))
    done
done
grep -qx web-h264 <<<"$(complete_words weft export --preset web)" || fail "bash does not complete presets"
grep -qx hevc <<<"$(complete_words weft export --video-codec he)" || fail "bash does not complete codecs"

# A shell that is asked is the only proof that zsh's functions load.
if command -v zsh >/dev/null; then
    zsh -fc 'autoload -Uz compinit; compinit -D -d "$1/dump"; source "$1/zsh"; whence -w _weft' zsh "$folder" 2>"$folder/err" |
        grep -q function || fail "zsh does not load _weft: $(cat "$folder/err")"
fi

echo "documents: $checks words checked"
