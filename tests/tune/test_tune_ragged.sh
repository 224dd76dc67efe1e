#!/usr/bin/env bash
# Mutants of kernels over ragged rows: one place of a template or of the device library is changed,
# and no candidate may pass then. The naive variants here only move data, so the host knows what
# they must give; the others are compared with one that keeps what it was.
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/mutants.sh"

naive='direct threads=256'
head='local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "k" }, ragged = { k = "ptr" },
  sizes = { { row = 30, k = 900, ptr = "power" } },'
ptr='s.array("ptr", "i32", s.row_major, { dims = "row" })'
cat >"$scratch/sum.lua" <<END
$head
  inputs = { $ptr, s.array("x", "f32", s.row_major, { dims = "k" }) },
  outputs = { s.array("y", "f32", s.row_major, { dims = "row", reduce = "sum" }) },
  body = "y = x;",
}
END
cat >"$scratch/least.lua" <<END
$head
  inputs = { $ptr, s.array("x", "i16", s.row_major, { dims = "k" }) },
  outputs = { s.array("y", "i16", s.row_major, { dims = "row", reduce = "min" }) },
  body = "y = x;",
}
END
cat >"$scratch/expand.lua" <<END
$head
  inputs = { $ptr, s.array("x", "f32", s.row_major, { dims = "row" }) },
  outputs = { s.array("y", "f32", s.row_major, { dims = "k" }) },
  body = "y = x;",
}
END

cat >"$scratch/steps.lua" <<END
$head
  inputs = { $ptr, s.array("x", "f32", s.row_major, { dims = "k" }) },
  outputs = { s.array("y", "f32", s.row_major, { dims = "k" }),
    s.array("n", "i32", s.row_major, { dims = "row" }) },
  steps = {
    { reduce = { m = "max" }, body = "m = -x * x;" },
    { reduce = { c = { "sum", "i32" } }, body = "c = x > m;" },
    { body = "n = c;" },
    { body = "y = m + c * x;" },
  },
}
END

lanes='ragged lanes=8 threads=256 items=4 blocks=1056 evict=none'
block='ragged lanes=256 threads=256 items=2 blocks=1056 evict=none'
path='ragged lanes=path threads=128 items=7 blocks=1056 evict=streaming'
held='rows threads=64 lanes=16 vec=4 start=any hold=registers items=1 evict=none'
single='rows threads=64 lanes=32 vec=1 start=vector hold=registers items=2 evict=none'
again='rows threads=64 lanes=16 vec=4 start=any hold=none items=2 evict=none'
mapped='rows threads=64 lanes=8 vec=4 start=any hold=none items=2 evict=streaming'
fresh_assets
for label in "$held" "$single" "$again"; do
  expect 0 'outcome: ok' tuned steps "$label"
done
expect 0 'outcome: ok' tuned expand "$mapped"
for spec in sum least expand; do
  expect 0 'outcome: ok' tuned "$spec" "$naive"
done
for spec in sum least; do
  for label in "$lanes" "$block" "$path"; do
    expect 0 'outcome: ok' tuned "$spec" "$label"
  done
done

direct=tuning/sectile/reduce.lua # what the naive variant walks rows by
for spec in sum least; do
  # a row without its last element, and one that has the next row's first
  mutant $direct '.. " - " .. first' '.. " - 1 - " .. first' "$spec" "$naive"
  mutant $direct '.. " - " .. first' '.. " + 1 - " .. first' "$spec" "$naive"
  # rows that begin one element late
  mutant $direct 'long %s = %s + %s;' 'long %s = %s + %s + 1;' "$spec" "$naive"
  # empty rows are left as they were
  mutant templates/direct.cu 'threadIdx.x < kLanes && output' \
    'threadIdx.x < kLanes && $(n_reduced) > 0 && output' "$spec" "$naive"
  # the last row is lost
  mutant templates/direct.cu 'output < $(n_kept)) {' 'output < $(n_kept) - 1) {' "$spec" "$naive"
done
# the row before, and the first of several rows that begin at an element, which are empty
search=templates/device/ragged.cuh
mutant $search '<= k)' '< k)' expand "$naive"
mutant $search 'long long row = 0' 'long long row = 1' expand "$naive"
mutant $search 'end = n_rows' 'end = n_rows - 1' expand "$naive"

ragged=templates/ragged.cu
for spec in sum least; do
  # a tail that is lost, and one that is taken from the next row; empty rows
  mutant $ragged 'next < end; next' 'next + kLanes < end; next' "$spec" "$lanes"
  mutant $ragged 'if (lane == 0 && output' 'if (first < end && lane == 0 && output' "$spec" "$lanes"
  # lanes of other rows; one warp instead of all
  mutant $ragged 'combine_across<1, kLanes>' 'combine_across<1, 32>' "$spec" "$lanes"
  mutant templates/device/reduce.cuh 'parts[threadIdx.x % kParts]' 'parts[0]' "$spec" "$block"
  # what was found before in the block, in the tile, in other blocks
  mutant $ragged 'store_row(first_row + head_row, combine(before.found, head))' \
    'store_row(first_row + head_row, head)' "$spec" "$path"
  mutant $ragged '.head = combine(before.found, head)' '.head = head' "$spec" "$path"
  mutant $ragged 'combine(before.found, head.head)' 'head.head' "$spec" "$path"
  mutant $ragged '.tail = combine(tail, identity())' '.tail = identity()' \
    "$spec" "$path"
  mutant $ragged 'has_ended = has_ended || all.ended' 'has_ended = false' "$spec" "$path"
  # a row end one step late, or early
  mutant $ragged 'ends[-row] <= element' 'ends[-row] < element' "$spec" "$path"
  mutant $ragged 'ends[-middle] < begin - middle' 'ends[-middle] <= begin - middle' "$spec" "$path"
  mutant $search '< steps - row;' '<= steps - row;' "$spec" "$path"
  # the last element of a tile, the path's last steps
  mutant $ragged 'item * kThreads + threadIdx.x < n_found)' \
    'item * kThreads + threadIdx.x < n_found - 1)' "$spec" "$path"
  mutant $ragged 'n_steps = n_rows + n_elements' 'n_steps = n_rows + n_elements - 1' "$spec" "$path"
  # a warp's scan without its last step; warps of another order
  mutant $search 'distance < 32; distance' 'distance < 16; distance' "$spec" "$path"
  mutant $search 'return after(warps_before, before)' 'return before' "$spec" "$path"
done
# an element twice
mutant $ragged 'item * kLanes + lane < end ?' 'item * kLanes + lane <= end ?' sum "$lanes"
# missing barriers
mutant $ragged '    __syncthreads();

    // each thread' '    // each thread' sum "$path"
mutant $ragged '  __syncthreads();
  long long first_row' '  long long first_row' sum "$path"
# the end of the next tile: that of this one, in its place, in too small a range
mutant $ragged 'min(step + 2 * kTile, to)' 'step + kTile' sum "$path"
mutant $ragged 'bounds[2 - slot]' 'bounds[slot]' sum "$path"
mutant $ragged 'min(next_row + kTile, n_rows)' 'min(next_row + kThreads, n_rows)' sum "$path"
mutant $search '  __syncthreads();
' '' sum "$path"

# steps: what is held stands for the rest of a row, which is lost, or twice
rows=tuning/strategies/rows.lua
streams=tuning/sectile/row_streams.lua
mutant $streams '"if (first == 0)' '"if (first >= 0)' steps "$held"
mutant $streams '"first > 0 ? "' '"first < 0 ? "' steps "$single"
for label in "$held" "$single" "$again"; do
  mutant $rows 'first += kLanes * kItems' 'first += 2 * kLanes * kItems' steps "$label"
done
mutant $rows 'first += kLanes * kItems' 'first += kLanes' steps "$single"
mutant $rows '"n_elements > 0 ? (int)(%s) : 0"' '"0"' steps "$held"
mutant $rows '" - shift"' '""' expand "$mapped"
mutant $rows 'first += kLanes * kItems' 'first += 2 * kLanes * kItems' expand "$mapped"

# more blocks than threads, so that threads of the last block finish rows of several
keep=$scratch/base
mkdir -p "$keep/tuning/strategies"
sed 's/{ 256, 128, 512 }/{ 32, 64 }/' "$root/tuning/strategies/ragged.lua" \
  >"$keep/tuning/strategies/ragged.lua"
fresh_assets
few='ragged lanes=path threads=32 items=7 blocks=1056 evict=streaming'
expect 0 'outcome: ok' tuned sum "$few"
mutant $ragged 'combine(mine.found, other.head)' 'other.head' sum "$few"
mutant $ragged 'after(mine, since_end<partial>{other.tail, other.row >= 0})' \
  '{other.tail, other.row >= 0}' sum "$few"
finish
