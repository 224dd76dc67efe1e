-- Kernels in steps whose outputs hold something before: those that are updated in place, and those
-- of which elements are kept.

-- in place: threads load their own elements alone, and what there is once a row before it changes
local held = [[
local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "col" },
  inputs = {},
  outputs = {
    s.array("x", "f32", nil, { inout = true }),
    s.array("l", "f32", nil, { dims = "row", inout = true }),
  },
  steps = {
    { reduce = { m = "max" }, body = "m = -x * x;" },
    { reduce = { n = { "sum", "i32" } }, body = "n = x > 1.0f;" },
    { body = "l = l * m + n;" },
    { body = "x = x * m + n;" },
  },
  tolerance = 1e-6,
  sizes = { { row = 64, col = 1000 }, { row = 99, col = 128 }, { row = 5, col = 33000 } },
}
]]
-- kept elements: in rows, in rows that start anywhere, in columns, once a row
local keeps = [[
local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "col" },
  inputs = { s.array("x", "f32"), s.array("p", "bool", nil, { dims = "row" }) },
  outputs = {
    s.array("y", "f32"), s.array("o", "f32", nil, { inout = true }),
    s.array("l", "f32", nil, { dims = "row" }),
  },
  steps = {
    { reduce = { m = "max" }, body = "m = -x * o;" },
    { body = "l = m; if (p) keep(l);" },
    { body = "if (x < 1.5f) y = x * m; else keep(y); o = x; if (p || x > 1.25f) keep(o);" },
  },
  sizes = { { row = 64, col = 1000 }, { row = 99, col = 128 } },
}
]]

local function odd_rows(spec)
  return (spec:gsub("row = 64.*", "row = 70, col = 129 }, { row = 31, col = 123 } },\n}\n"))
end

local function in_columns(spec)
  return (spec:gsub('"col" },', '%0 over = "row",', 1):gsub('dims = "row"', 'dims = "col"')
    :gsub("row = 64.*", "row = 100, col = 70 } },\n}\n"))
end

local block = "rows threads=128 lanes=128 vec=4 start=vector hold=registers items=2 evict=none"
local odd = "rows threads=64 lanes=32 vec=4 start=any hold=registers items=2 evict=none"
local columns = "rows threads=256 lanes=32 vec=2 blocks=4 hold=registers items=1 evict=none"
local naive = "direct threads=256"
local candidates = {
  block = { "held", block },
  part = { "held",
    "rows threads=256 lanes=8 vec=4 start=vector hold=registers items=4 evict=none" },
  again = { "held", "rows threads=128 lanes=32 vec=4 start=vector hold=none items=2 evict=none" },
  shared = { "held",
    "rows threads=128 lanes=128 vec=4 start=vector hold=none items=2 evict=none" },
  naive = { "held", naive },
  odd = { "held_odd", odd },
  cluster = { "held",
    "rows threads=512 lanes=2048 vec=4 start=vector hold=registers items=5 evict=none" },
  columns = { "held_columns", columns },
  keeps_block = { "keeps", block },
  keeps_few = { "keeps",
    "rows threads=256 lanes=8 vec=4 start=vector hold=registers items=4 evict=streaming" },
  keeps_naive = { "keeps", naive },
  keeps_odd = { "keeps_odd", odd },
  keeps_column = { "keeps_columns",
    "rows threads=256 lanes=32 vec=2 blocks=1 hold=registers items=4 evict=none" },
  keeps_columns = { "keeps_columns", columns },
}

local streams, vectors = "tuning/sectile/row_streams.lua", "device/vectors.cuh"
local kept = { "keeps_block", "keeps_odd", "keeps_column", "keeps_columns" }
local mutants = {
  -- lanes after a row's end load what another thread writes; elements of neighbouring rows
  { "bound", "shared", streams, "(p.odd or p.counts or row_streams.any_updated(list)) and text",
    "p.odd and text" },
  { "bound", "block", streams,
    "row_streams.any_updated(list) and row_streams.loads_inside or ", "" },
  { "bound", "odd", streams, "load_between<%s, kVec>(%s, -%s, n_elements",
    "load_between<%s, kVec>(%s, %s * 0, n_elements" },
  { "bound", "odd", streams,
    [[if (%s >= 0 && %s + kVec <= n_elements)\n  %s = %s;\nelse\n"]],
    [[if (%s >= -kVec && %s + kVec <= n_elements)\n  %s = %s;\nelse\n"]] },
  -- what is written is read as if nobody did
  { "scope", "again", streams,
    'cuda.load(cuda.load_name(x.op, streaming and "load_streaming")', 'cuda.load("load"' },
  -- a store before the last load of what there is once a row: each step loads it by itself; blocks
  -- of a cluster do
  { "carry", "naive", "tuning/strategies/direct.lua", "elseif not p.held_once[op.number] then",
    "else" },
  { "carry", { "cluster", "columns" }, "rows.cu", "$(step.row_values)",
    "$(step.row_values)\n  $(load(steady))" },
  -- a vector in which none, some, or all are kept
  { "value", kept, vectors, "any = any || flags[k]", "any = any && flags[k]" },
  { "index", kept, vectors, "any = any || flags[k]", "any = flags[0]" },
  { "index", kept, vectors, "if (!kept[k])", "if (!kept[0])" },
  { "value", kept, vectors, "if (!kept[k])", "if (false)" },
  -- an element
  { "value", "keeps_few", "tuning/sectile/cuda.lua", [["if (!%s)\n  %s", flag]],
    [["if (true || %s)\n  %s", flag]] },
  -- those of other rows
  { "bound", "keeps_odd", streams, '"!(" .. p.is_inside .. ")"', '"false"' },
  { "index", "keeps_block", streams, 'flag.name .. (many and "[e]"',
    'flag.name .. (many and "[0]"' },
  -- a flag that is never reset
  { "carry", "keeps_block", streams, 'or "false"', "or flag.value" },
}

return {
  specs = {
    held = held, held_odd = odd_rows(held), held_columns = in_columns(held),
    keeps = keeps, keeps_odd = odd_rows(keeps), keeps_columns = in_columns(keeps),
  },
  candidates = candidates, mutants = mutants,
}
