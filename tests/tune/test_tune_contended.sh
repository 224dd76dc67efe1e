#!/usr/bin/env bash
# Atomic operations that fall on one place: what is predicted of them is what an H200 took
# (docs/figures/h200.md), and a search does not begin with candidates that have such.
. "$(dirname "$0")/../shell.sh"

spec=$scratch/points.lua
# points BINS FILL: histograms of 2^26 keys, at one size.
points() {
  sed '/^  sizes/,$d' "$root/tuning/kernels/histogram.lua" >"$spec"
  printf '  sizes = { { i = 1 << 26, bin = %d, key = "%s" } },\n}\n' "$1" "$2" >>"$spec"
}

# near US OPTION...: the last row of the leaderboard is predicted within a sixth of US.
near() {
  local us=$1
  shift
  expect 0 '"predicted_ns"' "$SCT_PROGRAM" tune "$spec" --store "$scratch/store.db" --json -q "$@"
  checks=$((checks + 1))
  grep -o '"predicted_ns": [0-9.]*' "$scratch/output" | tail -1 |
    awk -v us="$us" '{ of = $2 / 1000 / us; exit !(of > 5 / 6 && of < 7 / 6) }' ||
    fail "not near $us us: $*"
}

naive='direct threads=256'
runs='accumulate place=global threads=1024 vec=4 items=2 ahead=0 runs=1 replicas=1 blocks=1'
shared='accumulate place=shared threads=512 vec=4 items=4 ahead=0 runs=0 replicas=2 blocks=2'
points 256 random
near 17270 --only "$naive"
near 17270 --only "$shared" # which the naive one comes after
points 256 constant
near 49190 --only "$naive"
points 65536 random
near 731 --only "$naive"
cp "$root/tuning/kernels/scatter_add.lua" "$spec"
near 178 --only "$naive"

# the least that is predicted: eight neighbours combined first, and blocks that combine all
first() {
  expect 0 "$1" "$SCT_PROGRAM" tune "$spec" --store "$scratch/store.db" -q --top 1 "${@:2}"
}
points 256 constant
first '6.128 ms' --only "$runs"
first '64.63' --only "$shared"

# before anything is compiled: private copies first, whatever the keys are
for fill in random constant; do
  points 256 "$fill"
  expect 0 'place=shared' "$SCT_PROGRAM" tune "$spec" --store "$scratch/$fill.db" -q --top 100 \
    --max-candidates 12
  absent 'place=global'
done

finish
