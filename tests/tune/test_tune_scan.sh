#!/usr/bin/env bash
# Kernels that scan: candidates of every kind are right, and mutants of them are not, in which one
# place of a template or of the device library is changed. What the bodies here give, the host
# computes as well.
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/mutants.sh"

tiles='scan threads=128 lanes=128 vec=4 items=2 order=tiles hold=registers evict=streaming'
held='scan threads=128 lanes=128 vec=4 items=8 order=tiles hold=shared evict=streaming'
block='scan threads=128 lanes=128 vec=4 items=2 order=rows hold=registers evict=none'
part='scan threads=256 lanes=8 vec=4 items=4 order=rows hold=registers evict=none'
column='scan threads=512 lanes=8 vec=1 items=8 evict=none'
naive='direct threads=1024'

# kernel NAME DIMS INPUTS OUTPUTS BODY SIZES
kernel() {
  cat >"$scratch/$1.lua" <<END
local s = require "sectile"
return s.kernel { name = "$1", dims = { $2 }, inputs = { $3 }, outputs = { $4 }, body = "$5",
  sizes = { $6 } }
END
}
a='s.array("a", "i32")'
kernel line '"i"' "$a" 's.array("o", "i32", nil, { scan = "sum" })' 'o = a;' '{ i = 300000 }'
kernel rows '"y", "x"' "$a" 's.array("o", "i32", nil, { scan = "sum" })' 'o = a;' \
  '{ y = 400, x = 3000 }'
kernel brief '"y", "x"' "$a" 's.array("o", "i32", nil, { scan = "max", exclusive = true })' \
  'o = a;' '{ y = 400, x = 128 }'
kernel columns '"y", "x"' "$a" 's.array("o", "i32", nil, { scan = "sum", along = "y" })' \
  'o = a;' '{ y = 300, x = 1200 }'

for pair in "line:$tiles" "line:$held" "rows:$tiles" "rows:$block" "brief:$part" \
  "columns:$column" "line:$naive" "rows:$naive" "columns:direct threads=1024"; do
  expect 0 'outcome: ok' tuned "${pair%%:*}" "${pair#*:}"
done

# ---- looking back ----
# what another launch would find: nothing ever comes
mutant device/scan.cuh 'at[k] = (unsigned long long)launch' \
  'at[k] = (unsigned long long)(launch - 1)' line "$tiles"
# groups: the tile itself twice, one too few, a level that is not entered, or entered too early
mutant device/scan.cuh 'mine = combine(group[0], mine);' 'mine = combine(mine, mine);' line "$tiles"
mutant device/scan.cuh 'lane < at % 32' 'lane + 1 < at % 32' line "$tiles"
mutant device/scan.cuh 'at > 0; at /= 32' 'at > 31; at /= 32' line "$tiles"
mutant device/scan.cuh 'at % 32 == 31' 'at % 32 == 30' line "$tiles"
# tickets: the same tile for two blocks, none for the next launch
mutant device/scan.cuh 'taken = atomicAdd(counter, 1ull)' 'taken = *counter' line "$tiles"
mutant scan.cu 'taken.tile % tiles, lane' '(taken.tile + 1) % tiles, lane' rows "$tiles"
# a missing barrier between what one warp finds and all use
mutant scan.cu '    __syncthreads();
    start = combine' '    start = combine' line "$tiles"
mutant device/scan.cuh '  __syncthreads();
  return {(unsigned' '  return {(unsigned' line "$tiles"
# what the tiles before come to: forgotten, or counted twice
mutant scan.cu 'start = combine(tiles_before[0], start);' '' line "$tiles"
mutant scan.cu 'start = combine(tiles_before[0], start);' \
  'start = combine(tiles_before[0], combine(tiles_before[0], start));' line "$tiles"

# ---- within a tile ----
mutant scan.cu '= sum;
    __syncthreads();' '= sum;' rows "$block"
mutant scan.cu 'other == $(my_part)' 'other == 0' rows "$block"
mutant device/scan.cuh 'lane >= distance' 'lane > distance' rows "$block"
mutant scan.cu 'ahead[item] = combine(sum,' 'ahead[item] = combine(identity(),' rows "$block"
# a tail that is lost, or read behind the end
mutant scan.cu 'n_elements - $(along) : 0' '(n_elements & ~7) - $(along) : 0' rows "$block"
mutant scan.cu 'is_row ? n_elements - $(along) : 0' '1' rows "$block"
mutant scan.cu 'n_elements - $(along) : 0' '(n_elements & ~7) - $(along) : 0' line "$tiles"
# what is carried from tile to tile
mutant scan.cu 'before = all;' '' rows "$block"

# ---- parts of a warp, columns ----
mutant scan.cu 'before = combine(before, sum);' 'before = sum;' brief "${part/items=4/items=2}"
mutant scan.cu 'row_index < n_rows' 'row_index <= n_rows' brief "$part"
mutant device/scan.cuh 'threadIdx.x % kLanes == 0 ?' 'threadIdx.x % 32 == 0 ?' brief "$part"
mutant scan.cu 'partial ahead[kItems], sum = identity();' 'partial ahead[kItems], sum = {};' brief \
  "$part"
mutant scan.cu '$(lane_of)' '% kLanes' columns "$column"
mutant scan.cu 'sum = combine(sum, mine[item]);' 'sum = mine[item];' columns "$column"

# ---- the naive variant ----
mutant direct.cu 'before = combine(before, all);' 'before = all;' rows "$naive"
mutant device/scan.cuh 'threadIdx.x < kLanes ? nothing' 'threadIdx.x < 1 ? nothing' columns "$naive"
mutant device/scan.cuh '    __syncthreads();
    if (threadIdx.x >= distance)' '    if (threadIdx.x >= distance)' line "$naive"
finish
