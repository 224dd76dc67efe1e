#!/usr/bin/env bash
# The man page and the completions have every command and option, and work.
. "$(dirname "$0")/../shell.sh"

expect 2 "there is no 'csh' to generate" "$SCT_RELEASED" generate csh
expect 0 '.SS sectile tune SPEC...' "$SCT_RELEASED" generate man
expect 0 '\fB\-\-max\-candidates\fR \fIN\fR' "$SCT_RELEASED" generate man
if command -v groff >/dev/null; then
  "$SCT_RELEASED" generate man | groff -man -Tascii -ww >"$scratch/page" 2>"$scratch/warnings"
  expect 1 '' grep . "$scratch/warnings"
  expect 0 'exit with state saved' sed 's/interrupted/exit/' "$scratch/page"
fi
expect 0 '---@field reduce?' "$SCT_RELEASED" generate lua
expect 0 '---@field aosoa sectile.Layout' "$SCT_RELEASED" generate lua
expect 0 '' lua5.4 <("$SCT_RELEASED" generate lua)
expect 0 "'gen:print the CUDA source of a candidate'" "$SCT_RELEASED" generate zsh
! command -v zsh >/dev/null || expect 0 '' zsh -n <("$SCT_RELEASED" generate zsh)
expect 0 "-n '__fish_seen_subcommand_from tune' -l budget -x -d 'time limit" \
  "$SCT_RELEASED" generate fish
expect 0 "complete -c sectile -l store -rF -d 'database of results" "$SCT_RELEASED" generate fish
expect 0 'complete -c sectile -n __fish_use_subcommand -f -a tune -d' "$SCT_RELEASED" generate fish
! command -v fish >/dev/null || expect 0 '' fish -n <("$SCT_RELEASED" generate fish)

# What bash offers for the last word of a line.
"$SCT_RELEASED" generate bash >"$scratch/completion"
offers() {
  # shellcheck source=/dev/null
  (. "$scratch/completion" && cd "$scratch" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) &&
    { _sectile || true; } && printf '%s\n' "${COMPREPLY[*]}")
}
touch "$scratch/spec.lua"
expect 0 'examples' offers sectile exam
expect 0 '--store --strategies' offers sectile tune --st
expect 0 'spec.lua' offers sectile tune spec
expect 0 'spec.lua' offers sectile tune --store sp
expect 0 '--csv' offers sectile --quiet count --cs
expect 0 '' offers sectile tune --cs
absent '--csv'

finish
