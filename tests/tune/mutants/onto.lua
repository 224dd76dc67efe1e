-- Kernels that reduce onto what outputs hold. Bodies only move data, so the host knows what even
-- the naive variants must give.
local function spec(kept, inputs, size, ragged)
  return ([[
local s = require "sectile"
local function to(reduce) return { dims = { "$kept" }, reduce = reduce, inout = true } end
return s.kernel {
  name = "mutant", dims = { "row", "k" }, sizes = { { $size } }, $ragged
  inputs = { $inputs },
  outputs = { s.array("n", "i16", nil, to("sum")), s.array("m", "f32", nil, to("max")) },
  body = "n = a; m = x;",
}
]]):gsub("%$(%w+)", { kept = kept, inputs = inputs, size = size, ragged = ragged or "" })
end

local dense = 's.array("a", "i16"), s.array("x", "f32")'
local packed = [[s.array("ptr", "i32", nil, { dims = "row" }),
    s.array("a", "i16", nil, { dims = "k" }), s.array("x", "f32", nil, { dims = "k" })]]

local naive = "direct threads=256"
local reduce, strategy = "tuning/sectile/reduce.lua", "tuning/strategies/reduce.lua"
local candidates = {
  naive_rows = { "rows", naive },
  naive_columns = { "columns", naive },
  naive_tall = { "tall", naive },
  naive_ragged = { "ragged", naive },
  shared = { "rows",
    "reduce threads=512 lanes=512 vec=4 start=vector items=2 outputs=1 blocks=264 evict=none" },
  vectors = { "columns",
    "reduce threads=256 lanes=256 vec=4 items=4 outputs=1 blocks=1 evict=none" },
  stripes = { "columns",
    "reduce threads=128 lanes=32 vec=4 items=2 outputs=1 blocks=1056 evict=none" },
  lanes = { "ragged", "ragged lanes=256 threads=256 items=2 blocks=1056 evict=none" },
  any = { "rows", "reduce threads=256 lanes=any vec=4 start=any items=4 outputs=1 blocks=528 "
    .. "evict=streaming" },
  any_short = { "short", "reduce threads=256 lanes=any vec=4 start=any items=4 outputs=1 blocks=1 "
    .. "evict=streaming", change = { reduce, "BUSY_THREADS = 1024", "BUSY_THREADS = 1" } },
  path = { "ragged", "ragged lanes=path threads=256 items=7 blocks=2112 evict=none" },
}

local shared_naive = { "naive_rows", "naive_tall" }
local both = "reduce.combined(slot, wide, value)"
local mutants = {
  -- what is there is forgotten, added twice, or changed where nothing is reduced
  { "carry", { "naive_rows", "naive_columns" }, reduce, both, "value" },
  { "carry", { "naive_rows", "naive_ragged" }, reduce, both,
    "reduce.combined(slot, wide, " .. both .. ")" },
  { "bound", { "naive_ragged", "naive_rows" }, reduce, 'lines == "" or not some', "true" },
  -- blocks of the naive variant that share outputs: elements that are lost or taken twice, results
  -- of another output or stored once more
  { "index", shared_naive, "tuning/strategies/direct.lua",
    '"share * (long long)kGroups + group"', '"group"' },
  { "loop", shared_naive, "tuning/strategies/direct.lua",
    '"shares * (long long)kGroups"', '"kGroups"' },
  { "bound", shared_naive, "direct.cu",
    "if (!is_last_block(&workspace[tile], shares)) return;",
    "is_last_block(&workspace[tile], shares);" },
  { "identity", shared_naive, "direct.cu", "    mine = identity();\n", "" },
  { "bound", shared_naive, "direct.cu", "other < shares", "other < shares - 1" },
  { "index", shared_naive, "direct.cu", "other * tiles + tile",
    "tile * shares + other" },
  { "index", "naive_tall", "direct.cu", "tile) * kLanes + lane", "tile) * kLanes" },
  -- by candidates alone: blocks and warps that store a result once more
  { "bound", "shared", "reduce.cu", "if (!is_last_block(&workspace[tile], shares)) return;",
    "is_last_block(&workspace[tile], shares);" },
  { "index", "stripes", "reduce.cu", "int index = threadIdx.x;", "int index = 0;" },
  -- lanes that are chosen at run time: blocks that store a result once more, or take the same part;
  -- elements at the ends of rows that are lost, taken twice or taken for others; too few blocks
  { "bound", "any", "reduce.cu", "if (!is_last_block(&workspace[tile], shares)) return;",
    "is_last_block(&workspace[tile], shares);" },
  { "index", "any", "reduce.cu", "share = tile / tiles", "share = 0" },
  { "loop", "any", strategy, '"shares" .. times', '"1" .. times' },
  { "carry", "any", strategy, '"share == 0 ? "', '"true ? "' },
  { "bound", "any_short", "reduce.cu", "edge < before ? edge", "edge <= before ? edge" },
  { "loop", "any_short", strategy, "2 * (p.vec - 1)", "p.vec - 1" },
  { "alignment", "any_short", strategy, "(-(unsigned long long)%s", "(0 * (unsigned long long)%s" },
  { "bound", "any_short", reduce, "lanes):lt(wanted)", "2 * lanes):lt(wanted)" },
  { "bound", "any", reduce, ":max(few)", "" },
  { "bound", "any", strategy, '"lane == 0 && "', '"lane % 32 == 0 && "' },
  { "bound", "lanes", "ragged.cu", "if (lane == 0 && output", "if (output" },
  { "bound", "path", "ragged.cu", "if (mine.ended && !is_first)", "if (mine.ended)" },
  -- of vectors, what is there is not loaded
  { "carry", "vectors", strategy,
    '" = " .. cuda.load("load_coherent", type, vector.word, g:address(op, f, with))', '" = {}"' },
}

return {
  specs = {
    rows = spec("row", dense, "row = 4, k = 20000"),
    columns = spec("k", dense, "row = 8, k = 4096"),
    short = spec("row", dense, "row = 70, k = 139"),
    tall = spec("k", dense, "row = 20000, k = 64"),
    ragged = spec("row", packed, 'row = 30, k = 900, ptr = "power"', 'ragged = { k = "ptr" },'),
  },
  candidates = candidates, mutants = mutants,
}
