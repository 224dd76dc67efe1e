#!/usr/bin/env bash
# Mutants of the kernels in steps: one place of the template or of the device library is changed,
# and no candidate may pass then. The naive variant keeps what it was.
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/mutants.sh"

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
column='rows threads=256 lanes=32 vec=2 blocks=1 hold=registers items=4 evict=none'
columns='rows threads=256 lanes=32 vec=2 blocks=4 hold=registers items=1 evict=none'

for label in "$block" "$part" "$again" "$cluster"; do
  expect 0 'outcome: ok' tuned spec "$label"
done

barrier='    __syncthreads();
    all[0] = parts'
# a missing barrier
mutant device/reduce.cuh "$barrier" '    all[0] = parts' spec "$block"
# what one warp found instead of all
mutant device/reduce.cuh 'parts[threadIdx.x % kParts]' 'parts[0]' spec "$block"
# lanes of other rows
mutant device/reduce.cuh '(kLanes < 32 ? kLanes : 32)' 32 spec "$part"
# half of the lanes
mutant device/reduce.cuh 'distance < kLast' '2 * distance < kLast' spec "$part"
# counted twice
mutant device/reduce.cuh 'combine_across<1, kParts>(all)' \
  'combine_across<1, kParts>(all), all[0] = combine(all[0], all[0])' spec "$block"
# another identity element: every value that is reduced to m is below it
mutant rows.cu '= identity$(step.suffix)()' '= {}' spec "$part"
# a tail that is lost
mutant rows.cu 'n_elements = $(n_elements)' 'n_elements = ($(n_elements)) & ~7' spec "$block"
mutant rows.cu 'item < kItems' 'item < kItems - 1' spec "$block"
# what is computed behind the end of a row
mutant rows.cu 'inside ? $(step.mine .. of) : before' '$(step.mine .. of)' spec "$block"
# elements twice, where a row is read again
mutant rows.cu '$(step_loop){' \
  '$(string.gsub(step_loop, "kItems %* kVec", "kVec")){' spec "$again"
# loads behind the end of a row
mutant tuning/sectile/row_streams.lua '"min(%s, n_elements - %d)"' '"%s"' spec "$block"
# rows beyond the last
mutant rows.cu '$(index_name) < $(n_rows)' '$(index_name) <= $(n_rows)' spec "$part"
# a block of the cluster that is written to before it runs
mutant rows.cu 'cluster_wait(); // all' 'cluster_wait(), cluster_arrive(); // all' spec "$cluster"
# a barrier of the block where one of the cluster is needed
mutant device/reduce_cluster.cuh '  cluster_arrive();
  cluster_wait();
  all' '  __syncthreads();
  all' spec "$cluster"
# what is left with all blocks but one, or by the warps of one block
mutant device/reduce_cluster.cuh 'lane < kBlocks' 'lane < kBlocks - 1' spec "$cluster"
mutant device/reduce_cluster.cuh 'blockIdx.x % kBlocks * kWarps +' '' spec "$cluster"
# all blocks take the same part of the row
mutant rows.cu 'blockIdx.x % kBlocks * kThreads +' '' spec "$cluster"
# what there is once a row, of half the rows
mutant rows.cu 'if (lane == 0) {' 'if (threadIdx.x == 0) {' spec "$part"
# columns
fresh_assets
for label in "$column" "$columns"; do
  fresh_assets
  expect 0 'outcome: ok' tuned columns "$label"
  mutant rows.cu '$(thread_number) / kSide' '$(thread_number) % kLanes' columns "$label"
  mutant rows.cu 'item < kItems' 'item < kItems - 1' columns "$label"
  mutant rows.cu 'inside ? $(step.mine .. of) : before' '$(step.mine .. of)' columns "$label"
  mutant tuning/strategies/rows.lua 'threadIdx.x % kSide"' 'threadIdx.x / kSide"' columns "$label"
  mutant tuning/strategies/rows.lua '"(%s) * kVec"' '"(%s) * 1"' columns "$label"
  # lanes of a warp that have the same columns; the warps; neighbouring columns
  mutant device/reduce.cuh 'combine_across<kSide, 32>(mine)' \
    'combine_across<2 * kSide, 32>(mine)' columns "$label"
  mutant device/reduce.cuh 'combine_across<1, kParts>(one)' 'combine_across<1, 2>(one)' \
    columns "$label"
  mutant device/reduce.cuh 'parts[(e * kSide + side) * kPitch' 'parts[side * kPitch' \
    columns "$label"
  mutant device/reduce.cuh 'mine[e] = all[e * kSide + side]' 'mine[e] = all[side]' columns "$label"
done
mutant device/reduce.cuh '    __syncthreads();
    // kParts' '    // kParts' columns "$column"
# blocks of a cluster
mutant device/reduce_cluster.cuh 'rank < kBlocks' 'rank < kBlocks - 1' columns "$columns"
mutant device/reduce_cluster.cuh '  cluster_arrive();
  cluster_wait();
#' '  __syncthreads();
#' columns "$columns"
mutant device/reduce_cluster.cuh 'block = 1; block < kBlocks' 'block = 2; block < kBlocks' \
  columns "$columns"
mutant tuning/strategies/rows.lua '"(blockIdx.x % kBlocks * kThreads + ' '"(' columns "$columns"
# rows that start anywhere
fresh_assets
expect 0 'outcome: ok' tuned odd "$odd"
# the elements before a row: all of them, and those that are counted or overwritten
mutant tuning/strategies/rows.lua '" - shift"' '""' odd "$odd"
mutant tuning/strategies/rows.lua '"%s + e >= 0 && %s' '"0 * %s + e >= 0 && %s' odd "$odd"
mutant tuning/sectile/row_streams.lua '"if (%s >= 0 && %s' '"if (%s >= -kVec && %s' odd "$odd"
mutant device/vectors.cuh 'k >= from && k < end' 'k < end' odd "$odd"
# and those behind it
mutant device/vectors.cuh 'k >= from && k < end' 'k >= from' odd "$odd"
mutant tuning/sectile/row_streams.lua '"if (%s + kVec <= n_elements)' '"if (%s < n_elements)' \
  odd "$odd"
mutant tuning/strategies/rows.lua '(p.odd and p.vec - 1 or 0)' '(p.odd and -p.vec or 0)' odd "$odd"
finish
