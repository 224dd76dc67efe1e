#!/usr/bin/env bash
# Random specs against their references, by seeds that stay; `scripts/fuzz` draws others. The
# checker comes first: where a store of a kernel was moved, it must say so.
#
# A run takes a part of them. FUZZ_RUNNER: the built run_spec.
. "$(dirname "$0")/../shell.sh"
[ -x "${FUZZ_RUNNER:-}" ] || exit 77
fuzz=("$root/scripts/fuzz")
run=("${fuzz[@]}" --runner "$FUZZ_RUNNER" --jobs 2)

expect 0 '--headers DIR' "${fuzz[@]}" --help
expect 2 "unknown option '--frist'" "${fuzz[@]}" --frist 3
expect 2 "expected a number, not 'x'" "${fuzz[@]}" --count x

expect 2 "no family 'stencl'; there are records, permute, stencil" "${fuzz[@]}" --family stencl
expect 2 "no strategy 'stencl' in tuning/strategies" "${fuzz[@]}" --strategy stencl

# one that gives back what it was made from
for dir in one two; do
  mkdir "$scratch/$dir"
  expect 0 '' lua5.4 "$root/tests/fuzz/generate.lua" 1 7 "$scratch/$dir"
done
expect 0 '' diff -r "$scratch/one" "$scratch/two"

expect 0 'findings      none' "${run[@]}" --mutate --seed 20261123 --count 4 --candidates 3
expect 0 'families      reduce 3' "${run[@]}" --seed 20261123 --count 3 --candidates 1 \
  --family reduce
expect 0 'strategies    direct 4' "${run[@]}" --seed 20261123 --count 3 --candidates 1 \
  --strategy direct
expect 0 'strategies    none' "${run[@]}" --seed 20261123 --count 1 --family reduce --strategy map
for first in 1 4 7 10; do
  in_part || continue
  expect 0 'findings      none' "${run[@]}" --seed 20261123 --first $first --count 3
  expect 0 'findings      none' "${run[@]}" --seed 202936080 --first $first --count 1
  cat "$scratch/output"
done

# elements of records that share bytes, at computed indices and in loops
for only in 12 59 60; do
  in_part || continue
  expect 0 'findings      none' "${run[@]}" --seed 31 --only "$only" --family records --candidates 2
done

# programs for a GPU: each knows the header's function, its arrays and what they are aligned to
expect 0 '2 headers in ' "${run[@]}" --headers "$scratch/gpu" --seed 20261123 --count 2 \
  --family records
expect 0 'override { return fuzz_20261123_1(array(' cat "$scratch"/gpu/fuzz_20261123_1.cu
finish
