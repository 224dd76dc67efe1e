-- Kernels that accumulate: points, rows and floats in one order, by atomic operations, in what
-- blocks hold, and in the naive variant.
local function points(output, body, sizes)
  return ([[
local s = require "sectile"
return s.kernel { name = "points", dims = { "i" },
  inputs = { s.array("key", "i32"), s.array("x", "i32") },
  outputs = { s.array("n", $output) }, body = "$body", sizes = { { $sizes } } }
]]):gsub("%$(%w+)", { output = output, body = body, sizes = sizes })
end

local by_key = 's.row_major, { dims = { "m" }, at = "key", accumulate = '
local function extremes(how, less)
  return ([[
local s = require "sectile"
return s.kernel { name = "most", dims = { "i" },
  inputs = { s.array("key", "i32"), s.array("x", "f32") },
  outputs = { s.array("n", "f32", $by_key"$how", inout = true }) }, body = "n = x - $lessf;",
  sizes = { { i = 100000, m = 100 } } }
]]):gsub("%$by_key", by_key):gsub("%$how", how):gsub("%$less", less)
end

local specs = {
  counts = points('"u32", ' .. by_key .. '"add" }', "n = 1;", "i = 100000, m = 256"),
  most = points('"i32", ' .. by_key .. '"max", inout = true }', "n = x;", "i = 100000, m = 100"),
  parts = points('"i32", ' .. by_key .. '"add" }', "n = x;", "i = 100000, m = 70000"),
  above = extremes("max", "0.5"),
  below = extremes("min", "3.5"),
  ordered = [[
local s = require "sectile"
return s.kernel { name = "sums", dims = { "i" },
  inputs = { s.array("key", "u8"), s.array("x", "f32") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "m" }, at = "key", accumulate = "add",
    deterministic = true, inout = true }) }, body = "y = x;",
  sizes = { { i = 100000, m = 90 } } }
]],
  rows = [[
local s = require "sectile"
return s.kernel { name = "rows", dims = { "i", "j" },
  inputs = { s.array("key", "u8", s.row_major, { dims = { "i" } }), s.array("x", "f32") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "m", "j" }, at = { "key", "j" },
    accumulate = "add", inout = true }) }, body = "y = x;",
  sizes = { { i = 1000, j = 24, m = 90 } } }
]],
}

local naive = "direct threads=256"
local shared =
  "accumulate place=shared threads=256 vec=4 items=4 ahead=0 runs=0 replicas=8 blocks=4"
local candidates = {
  naive_ordered = { "ordered", naive },
  naive_counts = { "counts", naive },
  naive_most = { "most", naive },
  warps = { "ordered", "accumulate place=shared threads=128 vec=1 items=4 ahead=0 blocks=2" },
  wide = { "rows",
    "accumulate place=global threads=256 vec=4 items=1 ahead=0 runs=0 wide=2 replicas=1 blocks=1" },
  counts = { "counts", shared },
  most = { "most", shared },
  above = { "above", shared },
  below = { "below", shared },
  ahead = { "counts", (shared:gsub("ahead=0", "ahead=1")) },
  runs = { "counts", (shared:gsub("runs=0", "runs=1")) },
  halves = { "parts", "accumulate place=shared threads=1024 vec=4 items=4 ahead=0 runs=0 "
    .. "replicas=1 parts=2 blocks=1" },
}

local mutants = {
  -- floats in one order: a point, an element or a copy that is lost, or taken twice
  { "bound", "naive_ordered", "source", "if (key_v == output)", "if (key_v == output && i != 7)" },
  { "carry", "naive_ordered", "source", "y[output] = y[output] + mine.y;",
    "y[output] = mine.y;" },
  { "index", "warps", "source", "(1u << threadIdx.x % 32) - 1", "(1u << threadIdx.x % 32) / 2" },
  { "bound", "warps", "source", "? n_i - i : 0;", "? n_i - 1 - i : 0;" },
  { "loop", "warps", "source", "r < kReplicas;", "r < kReplicas - 1;" },
  { "loop", "warps", "source", "at < kSpan_y * kReplicas;", "at < kSpan_y;" },
  { "loop", "warps", "source", "other = 0;", "other = 1;" },
  { "carry", "warps", "source", "y[at] = y[at] + run_y;", "y[at] = run_y;" },
  { "index", "warps", "source", "const int replica = threadIdx.x / 32;",
    "const int replica = 0;" },
  { "carry", "warps", "source", "    if (now == turn)\n      take();", "    take();" },
  { "index", "warps", "source", "&workspace[0], shares",
    "&workspace[0], shares > 1 ? shares - 1 : 1" },
  -- ... and what comes out right, but in another order each time
  { "scope", "warps", "source", "left_y[share * kSpan_y + held_at] = sum;",
    "left_y[share * kSpan_y + held_at] = 0; atomicAdd(&y[at], sum);" },
  { "scope", "warps", "source",
    "        in_order(at_y, kNone, [&] {\n          held_y[replica * kSpan_y + at_y] = "
      .. "held_y[replica * kSpan_y + at_y] + y_v;\n        });",
    "        if (at_y != kNone) atomicAdd(&held_y[replica * kSpan_y + at_y], y_v);" },
  -- neighbours of a row that are added at once
  { "index", "wide", "source", '"f"(v[1])', '"f"(v[0])' },
  { "index", "wide", "source", "y_row[e % kWide] = y_v;",
    "if (e != 1)\n  y_row[e % kWide] = y_v;" },
  { "bound", "wide", "source", "e % kWide == kWide - 1", "e == kVec - 1" },
  { "index", "wide", "source", "e + j - 1", "j" },
  { "scope", "wide", "source", "red.global.add.v2", "st.global.v2" },
  -- one atomic operation a point
  { "scope", "naive_counts", "source", "atomicAdd(&n[key_v], n_v);", "n[key_v] += n_v;" },
  { "bound", "naive_counts", "source", "thread >= n_i", "thread >= n_i - 1" },
  { "value", "naive_most", "source", "atomicMax(&", "atomicMin(&" },
  -- floats above and below 0, in the order of their bits
  { "scope", "above", "source", "atomicMax(reinterpret_cast<int *>(to), bits);", "*to = v;" },
  { "value", "above", "source", "bits >= 0", "bits < 0" },
  { "value", "below", "source", "bits >= 0 && v == v", "v == v" },
  -- what a block holds
  { "scope", "counts", "source", "atomicAdd(&held_n", "(void)atomicExch(&held_n" },
  { "identity", "counts", "source", "held_n[at] = 0;", "held_n[at] = 1;" },
  { "identity", "most", "source", "held_n[at] = -2147483647 - 1;", "held_n[at] = 0;" },
  { "loop", "counts", "source", "at < kSpan_n * kReplicas;", "at < kSpan_n;" },
  { "barrier", "counts", "source", "__syncthreads();", "" },
  { "barrier", "counts", "source", "    __syncthreads();\n    for (unsigned",
    "    for (unsigned" },
  -- points that are lost, or taken twice
  { "loop", "counts", "source", "tile += shares", "tile += shares + 1" },
  { "bound", "counts", "source", "e < left", "e + 1 < left" },
  { "loop", "counts", "source", "take_points(true, ",
    "take_points(false, first, got);\n      take_points(true, " },
  { "carry", "ahead", "source", "got = next;", "" },
  { "loop", "ahead", "source", "long long tile = share - shares", "long long tile = share" },
  { "bound", "ahead", "source", "tile + shares < tiles", "tile + 2 * shares < tiles" },
  { "bound", "counts", "source", "const long long left = n_i - i;\n#pragma",
    "const long long left = kVec;\n#pragma" },
  -- the merge
  { "loop", "counts", "source", "r < kReplicas;", "r < kReplicas - 1;" },
  { "scope", "counts", "source", "atomicAdd(&n[at], sum);", "n[at] = sum;" },
  { "loop", "counts", "source", "held_at < kSpan_n;", "held_at < kSpan_n - 1;" },
  { "value", "most", "source", "atomicMax(&n[at], sum);", "atomicMin(&n[at], sum);" },
  -- runs
  { "carry", "runs", "source", "run_n = run_n + ", "run_n = " },
  { "carry", "runs", "source",
    "    if (run_at != kNone) {\n      atomicAdd(&held_n[run_at * kReplicas + replica], "
      .. "run_n);\n    }\n    run_at = kNone;",
    "    run_at = kNone;" },
  -- parts of the output
  { "bound", "halves", "source", "at_n < kSpan_n", "at_n <= kSpan_n" },
  { "index", "halves", "source", "part * kSpan_n", "part * (kSpan_n - 1)" },
  { "loop", "halves", "source", "work < shares * kParts", "work < shares" },
}

return { specs = specs, candidates = candidates, mutants = mutants }
