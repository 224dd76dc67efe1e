-- f16 and bf16 that are accumulated: candidates of every kind, on devices that have the
-- instructions and on older ones.

-- Sums of rows by key into a row.
local function rows(type)
  return ([[
local s = require "sectile"
return s.kernel { name = "rows", dims = { "i", "j" }, body = "y = x;",
  inputs = { s.array("key", "i32", s.row_major, { dims = { "i" }, fill = "random" }),
    s.array("x", "$type") },
  outputs = { s.array("y", "$type", s.row_major,
    { dims = { "m", "j" }, at = { "key", "j" }, accumulate = "add", inout = true }) },
  sizes = { { i = 4096, j = 64, m = 256 } } }
]]):gsub("%$type", type)
end

-- Sums of single points into a record of two.
local function points(type)
  return ([[
local s = require "sectile"
return s.kernel { name = "points", dims = { "i" }, body = "y.a = x; y.b = -x;",
  inputs = { s.array("key", "u16", s.row_major, { fill = "random" }), s.array("x", "$type") },
  outputs = { s.array("y", s.record { { "a", "$type" }, { "b", "$type" } }, s.soa,
    { dims = { "m" }, at = { "key" }, accumulate = "add" }) },
  sizes = { { i = 1 << 14, m = 1 << 10 } } }
]]):gsub("%$type", type)
end

-- The candidate that adds n neighbours at once.
local function wide(n)
  return ("accumulate place=global threads=512 vec=%d items=2 ahead=0 runs=0 wide=%d replicas=1 "
    .. "blocks=1"):format(n > 2 and n or 4, n)
end

local naive = "direct threads=256"
local shared =
  "accumulate place=shared threads=512 vec=4 items=2 ahead=0 runs=0 replicas=1 blocks=2"
local runs =
  "accumulate place=global threads=512 vec=4 items=1 ahead=0 runs=1 wide=1 replicas=1 blocks=1"
local specs, candidates, mutants = {}, {}, {}
local halves = "device/vectors_halves.cuh"

local function mutant(...)
  mutants[#mutants + 1] = { ... }
end

for _, type in ipairs { "f16", "bf16" } do
  specs["rows_" .. type] = rows(type)
  specs["points_" .. type] = points(type)
  for _, n in ipairs { 1, 2, 4, 8 } do
    candidates["wide_" .. type .. "_" .. n] = { "rows_" .. type, wide(n) }
  end
  candidates["runs_" .. type] = { "rows_" .. type, runs }
  candidates["naive_" .. type] = { "points_" .. type, naive }
  candidates["shared_" .. type] = { "points_" .. type, shared }
  candidates["a100_runs_" .. type] = { "rows_" .. type, runs, device = "a100" }
  candidates["a100_naive_" .. type] = { "points_" .. type, naive, device = "a100" }
  -- stores, neighbours exchanged, one of them twice
  mutant("scope", "naive_" .. type, halves, "red.global.add.noftz." .. type .. " [",
    "st.global.b16 [")
  mutant("index", "wide_" .. type .. "_8", halves, ".v4." .. type .. "x2 [%0], {%1, %2",
    ".v4." .. type .. "x2 [%0], {%2, %1")
  mutant("index", "wide_" .. type .. "_4", halves, ".v2." .. type .. "x2 [%0], {%1, %2",
    ".v2." .. type .. "x2 [%0], {%1, %1")
end

-- what blocks hold: merged twice, begun at 1
mutant("value", "shared_f16", "tuning/sectile/accumulate.lua",
  'string.format("%s(%s)", half, value)', 'string.format("%s(2 * %s)", half, value)')
mutant("identity", "shared_bf16", "accumulate.cu", "$(slot.held)[at] = $(slot.identity);",
  "$(slot.held)[at] = 1;")

candidates.a100_pairs = { "rows_f16", wide(2), device = "a100" } -- which this one has
candidates.a100_rows = { "rows_bf16", naive, device = "a100" }
-- bf16 by swaps: whoever is slower is forgotten; a store instead of a swap; nothing is added
mutant("scope", "a100_rows", halves, "while (held != seen)", "while (false)")
mutant("scope", "a100_rows", halves, "atomicCAS(bits, seen, sum.bits)",
  "(*bits = sum.bits, seen)")
mutant("value", "a100_rows", halves, "+ static_cast<float>(v)", "+ 0.0f")

return { specs = specs, candidates = candidates, mutants = mutants }
