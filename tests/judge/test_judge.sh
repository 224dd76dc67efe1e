#!/usr/bin/env bash
# Coalescing of random specs, by the program and by brute force. A run takes a part of them. First
# the judge: where the program's verdict is turned, a footprint is another, or what tune says, it
# must notice.
. "$(dirname "$0")/../shell.sh"
needs_nvrtc
command -v lua5.4 >/dev/null || { echo 'skipped: there is no lua5.4'; exit 77; }
judge=(lua5.4 "$root/tests/judge/judge.lua" --points 2000 --candidates 2 --tune 8)

liar() { # liar SED_SCRIPT: the program with what it says changed
  printf '#!/bin/sh\n"%s" "$@" | sed %s\n' "$SCT_PROGRAM" "'$1'" >"$scratch/liar"
  chmod +x "$scratch/liar"
}
spec=$root/tuning/kernels/float3_increment.lua
expect 0 ' 0 findings' "${judge[@]}" --program "$SCT_PROGRAM" --candidates 1 "$spec"
liar 's/"coalesced": false/"coalesced": true/; t; s/"coalesced": true/"coalesced": false/'
expect 1 'coalesced here' "${judge[@]}" --program "$scratch/liar" --candidates 1 "$spec"
liar '/"footprint"/s/: /: 9/'
expect 1 'footprint of' "${judge[@]}" --program "$scratch/liar" --candidates 1 "$spec"
liar 's/"coalesced_share": /&7/'
expect 1 'when tuned' "${judge[@]}" --program "$scratch/liar" --candidates 1 --tune 1 "$spec"

for first in 11 15 29 33; do
  in_part || continue
  expect 0 ' 0 findings' "${judge[@]}" --program "$SCT_PROGRAM" --first $first --random 4
  cat "$scratch/output"
done
finish
