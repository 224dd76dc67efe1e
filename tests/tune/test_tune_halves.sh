#!/usr/bin/env bash
# f16 and bf16 that are accumulated: candidates of every kind are right on devices that have the
# instructions and on older ones, and mutants of them are not.
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/mutants.sh"

device=h200
# tuned SPEC LABEL: the same on $device.
eval "$(declare -f tuned | sed 's/virtual:h200/virtual:$device/')"

# rows TYPE, points TYPE: sums of rows by key, and of single points, into a record of two.
rows() {
  cat >"$scratch/rows_$1.lua" <<END
local s = require "sectile"
return s.kernel { name = "rows", dims = { "i", "j" }, body = "y = x;",
  inputs = { s.array("key", "i32", s.row_major, { dims = { "i" }, fill = "random" }),
    s.array("x", "$1") },
  outputs = { s.array("y", "$1", s.row_major,
    { dims = { "m", "j" }, at = { "key", "j" }, accumulate = "add", inout = true }) },
  sizes = { { i = 4096, j = 64, m = 256 } } }
END
}
points() {
  cat >"$scratch/points_$1.lua" <<END
local s = require "sectile"
return s.kernel { name = "points", dims = { "i" }, body = "y.a = x; y.b = -x;",
  inputs = { s.array("key", "u16", s.row_major, { fill = "random" }), s.array("x", "$1") },
  outputs = { s.array("y", s.record { { "a", "$1" }, { "b", "$1" } }, s.soa,
    { dims = { "m" }, at = { "key" }, accumulate = "add" }) },
  sizes = { { i = 1 << 14, m = 1 << 10 } } }
END
}
for type in f16 bf16; do
  rows $type
  points $type
done

# wide N: the candidate that adds N neighbours at once.
wide() {
  printf 'accumulate place=global threads=512 vec=%d items=2 ahead=0 ' "$(($1 > 2 ? $1 : 4))"
  printf 'runs=0 wide=%d replicas=1 blocks=1' "$1"
}
naive='direct threads=256'
shared='accumulate place=shared threads=512 vec=4 items=2 ahead=0 runs=0 replicas=1 blocks=2'
runs='accumulate place=global threads=512 vec=4 items=1 ahead=0 runs=1 wide=1 replicas=1 blocks=1'

for type in f16 bf16; do
  for n in 1 2 4 8; do
    expect 0 'outcome: ok' tuned rows_$type "$(wide $n)"
  done
  expect 0 'outcome: ok' tuned rows_$type "$runs"
  expect 0 'outcome: ok' tuned points_$type "$naive"
  expect 0 'outcome: ok' tuned points_$type "$shared"
  # stores, neighbours exchanged, one of them twice
  mutant device/vectors_halves.cuh "red.global.add.noftz.$type [" "st.global.b16 [" \
    points_$type "$naive"
  mutant device/vectors_halves.cuh ".v4.${type}x2 [%0], {%1, %2" ".v4.${type}x2 [%0], {%2, %1" \
    rows_$type "$(wide 8)"
  mutant device/vectors_halves.cuh ".v2.${type}x2 [%0], {%1, %2" ".v2.${type}x2 [%0], {%1, %1" \
    rows_$type "$(wide 4)"
done
# what blocks hold: merged twice, begun at 1
mutant tuning/sectile/accumulate.lua 'string.format("%s(%s)", half, value)' \
  'string.format("%s(2 * %s)", half, value)' points_f16 "$shared"
mutant accumulate.cu '$(slot.held)[at] = $(slot.identity);' '$(slot.held)[at] = 1;' \
  points_bf16 "$shared"

device=a100
for type in f16 bf16; do
  expect 0 'outcome: ok' tuned rows_$type "$runs"
  expect 0 'outcome: ok' tuned points_$type "$naive"
done
expect 0 'outcome: ok' tuned rows_f16 "$(wide 2)" # pairs, which this one has
# bf16 by swaps: whoever is slower is forgotten; a store instead of a swap; nothing is added
mutant device/vectors_halves.cuh 'while (held != seen)' 'while (false)' rows_bf16 "$naive"
mutant device/vectors_halves.cuh 'atomicCAS(bits, seen, sum.bits)' \
  '(*bits = sum.bits, seen)' rows_bf16 "$naive"
mutant device/vectors_halves.cuh '+ static_cast<float>(v)' '+ 0.0f' rows_bf16 "$naive"

finish
