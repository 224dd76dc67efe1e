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
# a share that has no candidate of its own still has those: of 100,000 nearly every one
for k in 1 2 3 4; do
  tune "tiny$k" --shard "$k/100000"
done
expect 0 '5' echo "$(for k in 1 2 3 4; do labels "tiny$k" | wc -l; done | sort -n | head -n 1)"

# the winner of a share is not that of all: emit says so, JSON and the store too
emit() { # emit STATUS TEXT STORE
  expect "$1" "$2" "$SCT_PROGRAM" emit "$scratch/halve.lua" --store "$scratch/$3.db" \
    -o "$scratch/$3.h"
}
emit 0 'the winner at i=3000 on NVIDIA H200 is that of share 2/3 of the candidates only' share2
emit 0 '' merged # a session without --shard decided
absent 'candidates only'
expect 0 '"share": "2/3"' "$SCT_PROGRAM" tune "$scratch/halve.lua" -d virtual:h200 \
  --search exhaustive --store "$scratch/share2.db" --shard 2/3 --json

# ---- the final heat: the best of merged shares, in a store of its own
few() { # few STORE TOP: the naive one may be further, and those with the least loads and stores
  local n
  n=$(labels "$1" | wc -l)
  [ "$n" -ge "$2" ] && [ "$n" -le $(($2 + 3)) ] || fail "$n candidates in the heat of the $2 best"
}
rm "$scratch/merged.db"
expect 0 '' "$SCT_PROGRAM" merge "$scratch/merged.db" "${shares[@]}"
emit 0 'candidates only' merged
expect 0 'final heat: the 4 best of each size' "$SCT_PROGRAM" tune "$scratch/halve.lua" \
  -d virtual:h200 --store "$scratch/heat.db" --top-of "$scratch/merged.db" --top 4
expect 0 "$(winner whole)" winner heat
few heat 4
emit 0 '' heat
absent 'candidates only'
emit 0 '' whole
kernel_of() { sed -n '/__global__/,/^}/p' "$1"; }
expect 0 '' cmp <(kernel_of "$scratch/whole.h") <(kernel_of "$scratch/heat.h")
expect 2 'give the final heat a store of its own' "$SCT_PROGRAM" tune "$scratch/halve.lua" \
  -d virtual:h200 --store "$scratch/merged.db" --top-of "$scratch/./merged.db"
# without a heat, nothing is run again on one card, and its winner is chosen
tune merged
expect 0 "$(winner whole)" winner merged
expect 0 '' cmp <(labels whole) <(labels merged)
emit 0 '' merged
absent 'candidates only'

# ---- cards: 'slow' takes 1.5 times as long for whatever, and yet has the best candidate
card() { # card SHARE UUID FACTOR: the share as if a card had timed it
  cp "$scratch/share$1.db" "$scratch/$2.db"
  sqlite3 "$scratch/$2.db" "UPDATE device SET uuid = '$2', key = '$2';
    UPDATE outcome SET median_ns = $3 * (5000 + candidate % 7)"
}
best=$(grep -v -F -f "$scratch/share1" "$scratch/share3" | head -n 1 | cut -d '|' -f 1)
card 1 fast 1
card 2 usual 1
card 3 slow 1.5
# equal in all cards: the hash orders the rows of a store, not the id
for name in fast usual slow; do
  sqlite3 "$scratch/$name.db" "UPDATE outcome SET median_ns = round(median_ns / 5000, 1) * 5000"
done
sqlite3 "$scratch/slow.db" "UPDATE outcome SET median_ns = 1.5 * 4000
  WHERE candidate = (SELECT id FROM candidate WHERE label = '$best')"
expect 0 '' "$SCT_PROGRAM" merge "$scratch/cards.db" "$scratch"/{fast,usual,slow}.db
expect 0 'slow took 1.50 times as long as usual for 5 candidates that all cards timed' \
  "$SCT_PROGRAM" tune "$scratch/halve.lua" -d virtual:h200 --store "$scratch/cards_heat.db" \
  --top-of "$scratch/cards.db" --top 1
absent 'fast took'
absent 'usual took'
expect 0 "$best|" labels cards_heat

# ---- where candidates are timed, on a fake GPU of the test program: a share has no final race, and
# what it raced is no race of all, so the heat races, and so does a session of all; each only once
races() { # races COUNT STORE OPTIONS...
  SECTILE_FAKE_GPU=ok XDG_RUNTIME_DIR=$scratch expect 0 '' "$SCT_PROGRAM" tune \
    "$scratch/halve.lua" -d cuda:0 --store "$scratch/$2.db" --events "$scratch/events" -q "${@:3}"
  expect 0 "races: $1" echo "races: $(grep -c '"event":"race"' "$scratch/events")"
}
for k in 1 2; do
  races 1 "timed$k" --search exhaustive --shard "$k/2"
done
expect 0 '' "$SCT_PROGRAM" merge "$scratch/timed.db" "$scratch"/timed[12].db
races 2 timed_heat --top-of "$scratch/timed.db" --top 8
few timed_heat 8
races 0 timed_heat --top-of "$scratch/timed.db" --top 8 # of the same times: a race changes them
races 2 timed --search exhaustive
races 0 timed --search exhaustive

expect 8 'has no candidate of this version of' "$SCT_PROGRAM" tune "$scratch/halve.lua" \
  -d virtual:a100 --store "$scratch/a100.db" --top-of "$scratch/merged.db"
expect 1 'no_such.db' "$SCT_PROGRAM" tune "$scratch/halve.lua" -d virtual:h200 \
  --top-of "$scratch/no_such.db"
expect 2 'give one' "$SCT_PROGRAM" tune "$scratch/halve.lua" --shard 1/2 --top-of "$scratch/all.db"

for bad in 1 /3 3/ 0/3 4/3 1/0 1/100001 a/b 1/3x -1/3; do
  expect 2 '--shard' "$SCT_PROGRAM" tune "$scratch/halve.lua" --shard "$bad"
done
finish
