-- Kernels in steps, over rows and over columns.
local spec = [[
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
]]
local columns = [[
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
]]
local odd = spec:gsub("row = 64.*", "row = 70, col = 129 }, { row = 31, col = 123 } },\n}\n")

local candidates = {
  block = { "spec",
    "rows threads=128 lanes=128 vec=4 start=vector hold=registers items=2 evict=none" },
  part = { "spec",
    "rows threads=256 lanes=8 vec=4 start=vector hold=registers items=4 evict=none" },
  again = { "spec", "rows threads=128 lanes=32 vec=4 start=vector hold=none items=2 evict=none" },
  cluster = { "spec",
    "rows threads=512 lanes=2048 vec=4 start=vector hold=registers items=5 evict=none" },
  column = { "columns",
    "rows threads=256 lanes=32 vec=2 blocks=1 hold=registers items=4 evict=none" },
  columns = { "columns",
    "rows threads=256 lanes=32 vec=2 blocks=4 hold=registers items=1 evict=none" },
  counted = { "spec",
    "rows threads=512 lanes=512 vec=4 start=vector hold=first items=8 evict=streaming" },
  first = { "spec",
    "rows threads=512 lanes=512 vec=4 start=vector hold=first items=2 evict=streaming" },
  odd = { "odd", "rows threads=64 lanes=32 vec=4 start=any hold=registers items=2 evict=none" },
}

local reduce, cluster = "device/reduce.cuh", "device/reduce_cluster.cuh"
local strategy, streams = "tuning/strategies/rows.lua", "tuning/sectile/row_streams.lua"
local both = { "column", "columns" }
local mutants = {
  -- a missing barrier
  { "barrier", "block", reduce, "    __syncthreads();\n    all[0] = parts", "    all[0] = parts" },
  -- what one warp found instead of all
  { "index", "block", reduce, "parts[threadIdx.x % kParts]", "parts[0]" },
  -- lanes of other rows
  { "bound", "part", reduce, "(kLanes < 32 ? kLanes : 32)", "32" },
  -- half of the lanes
  { "loop", "part", reduce, "distance < kLast", "2 * distance < kLast" },
  -- counted twice
  { "carry", "block", reduce, "combine_across<1, kParts>(all)",
    "combine_across<1, kParts>(all), all[0] = combine(all[0], all[0])" },
  -- another identity element: every value that is reduced to m is below it
  { "identity", "part", "rows.cu", "= identity$(step.suffix)()", "= {}" },
  -- a tail that is lost
  { "bound", "block", "rows.cu", "n_elements = $(n_elements)",
    "n_elements = ($(n_elements)) & ~7" },
  { "loop", "block", "rows.cu", "item < $(n_held)", "item < $(n_held) - 1" },
  -- what is computed behind the end of a row
  { "bound", "block", "rows.cu", "inside ? $(step.mine .. of) : before", "$(step.mine .. of)" },
  -- elements twice, where a row is read again
  { "loop", "again", "rows.cu", "$(part.loop){",
    '$(string.gsub(part.loop, "kItems %* kVec", "kVec")){' },
  -- loads behind the end of a row
  { "bound", "block", streams, '"min(%s, n_elements - %d)"', '"%s"' },
  -- rows beyond the last
  { "bound", "part", "rows.cu", "$(index_name) < $(n_rows)", "$(index_name) <= $(n_rows)" },
  -- a block of the cluster that is written to before it runs
  { "barrier", "cluster", "rows.cu", "cluster_wait(); // all",
    "cluster_wait(), cluster_arrive(); // all" },
  -- a barrier of the block where one of the cluster is needed
  { "scope", "cluster", cluster, "  cluster_arrive();\n  cluster_wait();\n  all",
    "  __syncthreads();\n  all" },
  -- what is left with all blocks but one, or by the warps of one block
  { "bound", "cluster", cluster, "lane < kBlocks", "lane < kBlocks - 1" },
  { "index", "cluster", cluster, "blockIdx.x % kBlocks * kWarps +", "" },
  -- all blocks take the same part of the row
  { "index", "cluster", "rows.cu", "blockIdx.x % kBlocks * kThreads +", "" },
  -- what there is once a row, of half the rows
  { "bound", "part", "rows.cu", "$(row_stored)lane == 0) {", "$(row_stored)threadIdx.x == 0) {" },

  -- rows of any length: lanes of other rows, and warps; a missing barrier
  { "bound", "first", reduce, "distance < lanes)", "distance <= lanes)" },
  { "index", "first", reduce, "threadIdx.x / 32 & -(lanes / 32)", "0" },
  { "barrier", "first", reduce, "    __syncthreads();\n    const int first",
    "    const int first" },
  -- blocks too few; elements that are lost, or taken twice
  { "bound", "first", "tuning/sectile/reduce.lua", ":max(few)", "" },
  { "loop", "first", strategy, 'first += %s * kNext)', 'first += %s * (kNext + 1))' },
  { "bound", "first", strategy, "kItems; first", "kItems + 4; first" },
  { "bound", "first", strategy, "n_held < kItems ?", "n_held <= kItems ?" },
  { "bound", "first", strategy, "if (n_items <= %d) ", "if (n_items <= %d + 1) " },
  { "bound", "first", strategy, 'lanes - 1) >> log_lanes', 'lanes - 2) >> log_lanes' },
  { "bound", "counted", strategy, '- lane + %s - 1)', '- lane + %s - 2)' },

  -- columns
  { "index", both, "rows.cu", "$(thread_number) / kSide", "$(thread_number) % kLanes" },
  { "loop", both, "rows.cu", "item < $(n_held)", "item < $(n_held) - 1" },
  { "bound", both, "rows.cu", "inside ? $(step.mine .. of) : before", "$(step.mine .. of)" },
  { "index", both, strategy, 'threadIdx.x % kSide"', 'threadIdx.x / kSide"' },
  { "index", both, strategy, '"(%s) * kVec"', '"(%s) * 1"' },
  -- lanes of a warp that have the same columns; the warps; neighbouring columns
  { "loop", both, reduce, "combine_across<kSide, 32>(mine)",
    "combine_across<2 * kSide, 32>(mine)" },
  { "loop", both, reduce, "combine_across<1, kParts>(one)", "combine_across<1, 2>(one)" },
  { "index", both, reduce, "parts[(e * kSide + side) * kPitch", "parts[side * kPitch" },
  { "index", both, reduce, "mine[e] = all[e * kSide + side]", "mine[e] = all[side]" },
  { "barrier", "column", reduce, "    __syncthreads();\n    // kParts", "    // kParts" },
  -- blocks of a cluster
  { "bound", "columns", cluster, "rank < kBlocks", "rank < kBlocks - 1" },
  { "scope", "columns", cluster, "  cluster_arrive();\n  cluster_wait();\n#",
    "  __syncthreads();\n#" },
  { "loop", "columns", cluster, "block = 1; block < kBlocks", "block = 2; block < kBlocks" },
  { "index", "columns", strategy, '"(blockIdx.x % kBlocks * kThreads + ', '"(' },

  -- rows that start anywhere: the elements before a row, all of them, and those that are counted or
  -- overwritten
  { "index", "odd", strategy, '" - shift"', '""' },
  { "bound", "odd", strategy, '"%s + e >= 0 && %s', '"0 * %s + e >= 0 && %s' },
  { "bound", "odd", streams, '"if (%s >= 0 && %s', '"if (%s >= -kVec && %s' },
  { "bound", "odd", "device/vectors.cuh", "k >= from && k < end", "k < end" },
  -- and those behind it
  { "bound", "odd", "device/vectors.cuh", "k >= from && k < end", "k >= from" },
  { "bound", "odd", streams, '"if (%s + kVec <= n_elements)', '"if (%s < n_elements)' },
  { "loop", "odd", strategy, "(p.odd and p.vec - 1 or 0)", "(p.odd and -p.vec or 0)" },
}

return {
  specs = { spec = spec, columns = columns, odd = odd },
  candidates = candidates, mutants = mutants,
}
