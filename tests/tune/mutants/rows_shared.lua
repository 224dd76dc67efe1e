-- Rows that several blocks have, in a sequence of launches, and rows in a cluster's shared memory.

local rows = [[
local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "col" },
  inputs = { s.array("x", "f32") },
  outputs = {
    s.array("y", "f32"), s.array("l", "f32", nil, { dims = "row", inout = true }),
  },
  steps = {
    { reduce = { m = "max" }, body = "m = x;" },
    { reduce = { t = "sum" }, body = "t = x > m - 0.5f ? 1.0f : 0.25f;" },
    { row = { old = "f32" }, body = "old = l; l = l + t;" },
    { body = "y = x * t - m + old;" },
  },
  sizes = { { row = 3, col = 100000 }, { row = 1, col = 99000 } },
}
]]
local columns = rows:gsub('"col" },', '%0 over = "row",', 1):gsub('dims = "row"', 'dims = "col"')
  :gsub("sizes = .*", "sizes = { { row = 70000, col = 24 } },\n}\n")

local candidates = {
  rows = { "rows",
    "rows threads=256 lanes=256 vec=4 start=vector hold=none items=1 evict=none grid=528" },
  columns = { "columns",
    "rows threads=256 lanes=32 vec=4 blocks=1 hold=none items=4 evict=none grid=528" },
  held = { "rows",
    "rows threads=512 lanes=4096 vec=4 start=vector hold=shared items=7 evict=none grid=0" },
}

local lua = "tuning/strategies/rows.lua"
local both = { "rows", "columns" }
local mutants = {
  -- a launch that does not wait for what it needs, or a sequence that ends too early
  { "carry", both, lua, "or math.max(current, ready)", "or current" },
  { "carry", both, lua, 'p.passes = last + 1 + (updates and 1 or 0)', "p.passes = last + 1" },
  -- blocks that read what another one updates
  { "carry", both, lua, "&& share > 0) return;", "&& share > gridDim.x) return;" },
  -- partials: of another row's blocks, not of all blocks, not of this one, on top of each other
  { "index", both, "rows.cu", "other < shares", "other < shares - 1" },
  { "index", "rows", lua, 'or "tile * shares"', 'or "tile"' },
  { "index", "columns", lua, '"tile * shares * kColumns', '"tile * kColumns' },
  { "bound", both, lua, "at = at + grid *", "at = at + 1 *" },
  { "value", both, "rows.cu", "if (pass > $(step.pass))", "if (pass > $(step.pass) + 1)" },
  -- elements that no block has, or several
  { "index", both, "rows.cu", "(n_chunks - share - 1) / shares + 1",
    "(n_chunks - share) / shares" },
  { "index", both, "rows.cu", "share + (n_own - 1) * shares", "share + n_own * shares" },
  { "index", both, "rows.cu", "+ kChunk - 1) / kChunk", ") / kChunk" },
  { "index", both, "rows.cu", "(is_back ? -kChunk : kChunk)", "kChunk" },
  { "index", both, "rows.cu", "is_back = pass % 2 == 1;", "is_back = blockIdx.x % 2 == 1;" },
  -- what is held: read before it is there, or from another thread's place
  { "scope", "held", "tuning/strategies/rows.lua", "async_wait<0>();", "async_wait<1>();" },
  { "index", "held", lua, '"[item * kThreads]"', '"[item]"' },
}

return { specs = { rows = rows, columns = columns }, candidates = candidates, mutants = mutants }
