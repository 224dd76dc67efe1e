#!/usr/bin/env bash
# `tune --shard K/N`: sessions of all shares, in stores of their own, merge to what one session has.
. "$(dirname "$0")/../shell.sh"

cat >"$scratch/halve.lua" <<'END_SPEC'
local s = require "sectile"
return s.kernel {
  name = "halve", dims = { "i" },
  inputs = { s.array("a", "f32") }, outputs = { s.array("b", "f32") },
  body = "b = 0.5f * a;", sizes = { { i = 3000 } },
}
END_SPEC
tune() { # tune STORE OPTIONS...
  expect 0 '' "$SCT_PROGRAM" tune "$scratch/halve.lua" -d virtual:h200 --search exhaustive \
    --store "$scratch/$1.db" "${@:2}" -q
}
labels() { # labels STORE: of the candidates that ran, and their outcomes
  sqlite3 "$scratch/$1.db" "SELECT label, outcome, median_ns, predicted_ns FROM outcome
    JOIN candidate ON candidate.id = outcome.candidate ORDER BY label"
}
winner() {
  sqlite3 "$scratch/$1.db" "SELECT label FROM run JOIN outcome ON outcome.id = run.winner
    JOIN candidate ON candidate.id = outcome.candidate"
}
command -v sqlite3 >/dev/null || exit 77

tune whole
shares=()
for k in 1 2 3; do
  tune "share$k" --shard "$k/3"
  shares+=("$scratch/share$k.db")
  labels "share$k" >"$scratch/share$k"
done
expect 0 '' "$SCT_PROGRAM" merge "$scratch/merged.db" "${shares[@]}"
expect 0 '' cmp <(labels whole) <(labels merged)
tune merged # nothing is left to do but to choose
expect 0 "$(winner whole)" winner merged
expect 0 '' cmp <(labels whole) <(labels merged)
# what stands in more than one share: the naive variant and four others
twice=$(cat "$scratch"/share[123] | sort | uniq -c | awk '$1 == 3' | wc -l)
other=$(cat "$scratch"/share[123] | sort | uniq -c | awk '$1 == 2' | wc -l)
expect 0 '5 0' echo "$twice $other"
expect 0 'share 2 of 3 of the candidates: others may be better' "$SCT_PROGRAM" tune \
  "$scratch/halve.lua" -d virtual:h200 --search exhaustive --store "$scratch/share2.db" --shard 2/3
# each share again has nothing left to do, and gives the same
tune share2 --shard 2/3
expect 0 '' cmp "$scratch/share2" <(labels share2)
# one that has no candidate of its own still has those
tune many --shard 99999/100000
expect 0 '5' echo "$(labels many | wc -l)"

for bad in 1 /3 3/ 0/3 4/3 1/0 1/100001 a/b 1/3x -1/3; do
  expect 2 '--shard' "$SCT_PROGRAM" tune "$scratch/halve.lua" --shard "$bad"
done
finish
