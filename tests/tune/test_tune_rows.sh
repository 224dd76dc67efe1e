#!/usr/bin/env bash
# Mutants of the kernels in steps: one place of the template or of the device library is changed,
# and no candidate may pass then. The naive variant keeps what it was.
. "$(dirname "$0")/../shell.sh"

block='rows threads=128 lanes=128 vec=4 start=vector hold=registers items=2 evict=none'
part="rows threads=256 lanes=8 vec=4 start=vector hold=registers items=4 evict=none"
again='rows threads=128 lanes=32 vec=4 start=vector hold=none items=2 evict=none'
cluster='rows threads=512 lanes=2048 vec=4 start=vector hold=registers items=5 evict=none'
cat >"$scratch/spec.lua" <<'END'
local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "col" },
  inputs = { s.array("x", "f32") },
  outputs = { s.array("y", "f32"), s.array("l", "f32", nil, { dims = "row" }) },
  steps = {
    { reduce = { m = "max" }, body = "m = -x * x;" },
    { reduce = { n = { "sum", "i32" } }, body = "n = x > 1.0f;" },
    { body = "l = m + n;" },
    { body = "y = x * m + n;" },
  },
  tolerance = 1e-6,
  sizes = { { row = 64, col = 1000 }, { row = 99, col = 128 }, { row = 5, col = 33000 } },
}
END

cat >"$scratch/columns.lua" <<'END'
local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "col" }, over = "row",
  inputs = { s.array("x", "f32") },
  outputs = { s.array("y", "f32"), s.array("l", "f32", nil, { dims = "col" }) },
  steps = {
    { reduce = { m = "max", n = { "sum", "i32" } }, body = "m = -x * x; n = x > 1.0f;" },
    { body = "l = m + n;" },
    { body = "y = x * m + n;" },
  },
  tolerance = 1e-6,
  sizes = { { row = 100, col = 70 } },
}
END
sed '/sizes = /s/row = .*/row = 70, col = 129 }, { row = 31, col = 123 } },/' \
  "$scratch/spec.lua" >"$scratch/odd.lua"
odd='rows threads=64 lanes=32 vec=4 start=any hold=registers items=2 evict=none'
column='rows threads=256 lanes=8 vec=1 start=vector hold=registers items=13 evict=none'
spec=spec.lua

# tuned LABEL: prints what became of the candidate.
tuned() {
  rm -f "$scratch/store.db"
  "$SCT_PROGRAM" tune "$scratch/$spec" -d virtual:h200 --store "$scratch/store.db" \
    --assets "$scratch/assets" --only "$1" --json 2>/dev/null |
    python3 -c 'import json, sys
for size in json.load(sys.stdin)["tuned"][0]["report"]["sizes"]:
    for c in size["rows"]:
        if not c["naive"]:
            print("outcome:", c["outcome"], c.get("detail", ""))'
}

# mutant FILE FROM TO LABEL: with FROM instead of TO in templates/FILE, or in the strategy, the
# candidate fails.
mutant() {
  local file=templates/$1
  [ "$1" != rows.lua ] || file=tuning/strategies/rows.lua
  rm -rf "$scratch/assets"
  mkdir -p "$scratch/assets/templates/device" "$scratch/assets/tuning/strategies"
  python3 - "$root/$file" "$scratch/assets/$file" "$2" "$3" <<'END'
import sys
text = open(sys.argv[1]).read()
assert sys.argv[3] in text, "nothing to change: " + sys.argv[3]
open(sys.argv[2], "w").write(text.replace(sys.argv[3], sys.argv[4]))
END
  expect 0 'outcome: ' tuned "$4"
  absent 'outcome: ok'
  absent 'outcome: compile'
}

mkdir -p "$scratch/assets"
for label in "$block" "$part" "$again" "$cluster"; do
  expect 0 'outcome: ok' tuned "$label"
done

barrier='    __syncthreads();
    all[0] = parts'
# a missing barrier
mutant device/reduce.cuh "$barrier" '    all[0] = parts' "$block"
# what one warp found instead of all
mutant device/reduce.cuh 'parts[threadIdx.x % kParts]' 'parts[0]' "$block"
# lanes of other rows
mutant device/reduce.cuh '(kLanes < 32 ? kLanes : 32)' 32 "$part"
# half of the lanes
mutant device/reduce.cuh 'distance < kLast' '2 * distance < kLast' "$part"
# counted twice
mutant device/reduce.cuh 'combine_across<1, kParts>(all)' \
  'combine_across<1, kParts>(all), all[0] = combine(all[0], all[0])' "$block"
# another identity element: every value that is reduced to m is below it
mutant rows.cu '= identity$(step.suffix)()' '= {}' "$part"
# a tail that is lost
mutant rows.cu 'n_elements = $(n_elements)' 'n_elements = ($(n_elements)) & ~7' "$block"
mutant rows.cu 'item < kItems' 'item < kItems - 1' "$block"
# what is computed behind the end of a row
mutant rows.cu 'inside ? $(step.mine) : before' '$(step.mine)' "$block"
# elements twice, where a row is read again
mutant rows.cu '$(step_loop){' \
  '$(string.gsub(step_loop, "kItems %* kVec", "kVec")){' "$again"
# loads behind the end of a row
mutant rows.lua '"min(%s, n_elements - %d)"' '"%s"' "$block"
# rows beyond the last
mutant rows.cu 'is_row = row_index < $(n_rows)' 'is_row = row_index <= $(n_rows)' "$part"
# a block of the cluster that is written to before it runs
mutant rows.cu 'cluster_wait(); // all' 'cluster_wait(), cluster_arrive(); // all' "$cluster"
# a barrier of the block where one of the cluster is needed
mutant device/reduce_cluster.cuh '  cluster_arrive();
  cluster_wait();
  all' '  __syncthreads();
  all' "$cluster"
# what is left with all blocks but one, or by the warps of one block
mutant device/reduce_cluster.cuh 'lane < kBlocks' 'lane < kBlocks - 1' "$cluster"
mutant device/reduce_cluster.cuh 'blockIdx.x % kBlocks * kWarps +' '' "$cluster"
# all blocks take the same part of the row
mutant rows.cu 'blockIdx.x % kBlocks * kThreads +' '' "$cluster"
# what there is once a row, of half the rows
mutant rows.cu 'if (lane == 0) {' 'if (threadIdx.x == 0) {' "$part"
# columns
spec=columns.lua
rm -r "$scratch/assets"
mkdir -p "$scratch/assets"
expect 0 'outcome: ok' tuned "$column"
mutant rows.cu '$(lane_of)' '% kLanes' "$column"
mutant rows.cu '$(row_of)' '/ kLanes' "$column"
mutant rows.cu 'item < kItems' 'item < kItems - 1' "$column"
mutant rows.cu 'inside ? $(step.mine) : before' '$(step.mine)' "$column"
# rows that start anywhere
spec=odd.lua
rm -r "$scratch/assets"
mkdir -p "$scratch/assets"
expect 0 'outcome: ok' tuned "$odd"
# the elements before a row: all of them, and those that are counted or overwritten
mutant rows.lua '" - shift"' '""' "$odd"
mutant rows.lua '"%s + e >= 0 && %s' '"0 * %s + e >= 0 && %s' "$odd"
mutant rows.lua '"if (%s >= 0 && %s' '"if (%s >= -kVec && %s' "$odd"
mutant device/vectors.cuh 'k >= from && k < end' 'k < end' "$odd"
# and those behind it
mutant device/vectors.cuh 'k >= from && k < end' 'k >= from' "$odd"
mutant rows.lua '"if (%s + kVec <= n_elements)' '"if (%s < n_elements)' "$odd"
mutant rows.lua '(p.odd and p.vec - 1 or 0)' '(p.odd and -p.vec or 0)' "$odd"
finish
