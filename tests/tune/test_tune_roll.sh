#!/usr/bin/env bash
# Arrays that are rotated: places that wrap once have no division in kernels, at even and odd
# extents, and none beside; others keep theirs.
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/mutants.sh"

# rolled NAME PLACE: the array is read at PLACE of its second dimension.
rolled() {
  cat >"$scratch/$1.lua" <<END
local s = require "sectile"
return s.kernel { name = "$1", dims = { "y", "x" }, body = "b = a;",
  inputs = { s.array("a", "f32", s.row_major, { at = { "(y + n_y // 2) % n_y", "$2" } }) },
  outputs = { s.array("b", "f32") }, sizes = { { y = 1000, x = 1000 } } }
END
}
fast='map threads=256 items=4 vec=1 evict=none'

source_of() {
  "$SCT_PROGRAM" gen "$scratch/$1.lua" -d virtual:h200 --assets "$scratch/assets" --pick "$fast"
}

n=0
for place in '(x + n_x // 2) % n_x' '(x + (n_x + 1) // 2) % n_x' '(x + n_x - n_x // 2) % n_x' \
  '(x + 1) % n_x' '(x + n_x - 1) % n_x' '(x + n_x // 3) % n_x'; do
  rolled once$n "$place"
  expect 0 'outcome: ok' tuned once$n "$fast"
  expect 0 'store' source_of once$n
  absent '% n_'
  absent 'floor_mod('
  n=$((n + 1))
done
for place in '(x + 2 * (n_x // 3)) % n_x' '(x + 2) % n_x' '(x + (n_x + 2) // 2) % n_x' \
  '(2 * x + n_x // 2) % n_x' '(x + n_y // 2) % n_x'; do
  rolled more$n "$place"
  expect 0 'outcome: ok' tuned more$n "$fast"
  expect 0 '% n_x' source_of more$n
  n=$((n + 1))
done

mutant tuning/sectile/strides.lua 'n * n:le(sum)' 'n * n:lt(sum)' once0 "$fast"
mutant tuning/sectile/strides.lua 'sum + n * sum:lt(0)' 'sum + n * sum:le(0)' once2 "$fast"
mutant tuning/sectile/strides.lua 'kit.const_of(shift) == 1' 'kit.const_of(shift)' more7 "$fast"

finish
