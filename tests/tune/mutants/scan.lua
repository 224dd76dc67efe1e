-- Kernels that scan. What the bodies here give, the host computes as well.
local function spec(name, dims, output, sizes)
  return ([[
local s = require "sectile"
return s.kernel { name = "$name", dims = { $dims }, inputs = { s.array("a", "i32") },
  outputs = { s.array("o", "i32", nil, { $output }) }, body = "o = a;", sizes = { $sizes } }
]]):gsub("%$(%w+)", { name = name, dims = dims, output = output, sizes = sizes })
end

local tiles =
  "scan threads=128 lanes=128 vec=4 items=2 order=tiles hold=registers evict=streaming"
local part = "scan threads=256 lanes=8 vec=4 items=4 order=rows hold=registers evict=none"
local naive = "direct threads=1024"
local candidates = {
  line = { "line", tiles },
  held = { "line",
    "scan threads=128 lanes=128 vec=4 items=8 order=tiles hold=shared evict=streaming" },
  rows = { "rows", tiles },
  block = { "rows",
    "scan threads=128 lanes=128 vec=4 items=2 order=rows hold=registers evict=none" },
  part = { "brief", part },
  part_2 = { "brief", (part:gsub("items=4", "items=2")) },
  column = { "columns", "scan threads=512 lanes=8 vec=1 items=8 evict=none" },
  naive_line = { "line", naive },
  naive_rows = { "rows", naive },
  naive_columns = { "columns", naive },
}

local device = "device/scan.cuh"
local start = "start = combine(tiles_before, start);"
local mutants = {
  -- ---- looking back ----
  -- what another launch would find: nothing ever comes
  { "value", "line", device, "at[k] = (unsigned long long)launch",
    "at[k] = (unsigned long long)(launch - 1)" },
  -- groups: the tile itself twice, one too few, a level that is not entered, or entered too early
  { "carry", "line", device, "mine = combine(group[0], mine);", "mine = combine(mine, mine);" },
  { "bound", "line", device, "lane < at % 32", "lane + 1 < at % 32" },
  { "loop", "line", device, "at > 0; at /= 32", "at > 31; at /= 32" },
  { "index", "line", device, "at % 32 == 31", "at % 32 == 30" },
  -- tickets: the same tile for two blocks, none for the next launch
  { "scope", "line", device, "taken = atomicAdd(counter, 1ull)", "taken = *counter" },
  { "index", "rows", "scan.cu",
    "taken.tile - (unsigned int)row_index * tiles, lane",
    "(taken.tile - (unsigned int)row_index * tiles + 1) % tiles, lane" },
  -- a missing barrier between what one warp finds and all use
  { "barrier", "line", "scan.cu", "    __syncthreads();\n    start = combine",
    "    start = combine" },
  { "barrier", "line", device, "  __syncthreads();\n  return {(unsigned",
    "  return {(unsigned" },
  -- what the tiles before come to: forgotten, or counted twice
  { "carry", "line", "scan.cu", start, "" },
  { "carry", "line", "scan.cu", start,
    "start = combine(tiles_before, combine(tiles_before, start));" },

  -- ---- within a tile ----
  { "barrier", "block", "scan.cu", "= sum;\n    __syncthreads();", "= sum;" },
  { "index", "block", "scan.cu", "other == $(my_part)", "other == 0" },
  { "bound", "block", device, "lane >= distance", "lane > distance" },
  { "carry", "block", "scan.cu", "ahead[item] = combine(sum,",
    "ahead[item] = combine(identity()," },
  -- a tail that is lost, or read behind the end
  { "bound", { "block", "line" }, "scan.cu", "n_elements - $(along)$(else_none)",
    "(n_elements & ~7) - $(along)$(else_none)" },
  { "bound", "block", "scan.cu", "left = $(is_row)n_elements - $(along)$(else_none)",
    "left = $(is_row)1$(else_none)" },
  -- what is carried from tile to tile
  { "carry", "block", "scan.cu", "before = all;", "" },

  -- ---- parts of a warp, columns ----
  { "carry", "part_2", "scan.cu", "before = combine(before, sum);", "before = sum;" },
  { "bound", "part", "scan.cu", "row_index < n_rows", "row_index <= n_rows" },
  { "index", "part", device, "threadIdx.x % kLanes == 0 ?", "threadIdx.x % 32 == 0 ?" },
  { "identity", "part", "scan.cu", "partial ahead[kItems], sum = identity();",
    "partial ahead[kItems], sum = {};" },
  { "index", "column", "scan.cu", "$(lane_of)", "% kLanes" },
  { "carry", "column", "scan.cu", "sum = combine(sum, mine[item]);", "sum = mine[item];" },

  -- ---- the naive variant ----
  { "carry", "naive_rows", "direct.cu", "before = combine(before, all);", "before = all;" },
  { "bound", "naive_columns", device, "threadIdx.x < kLanes ? nothing",
    "threadIdx.x < 1 ? nothing" },
  { "barrier", "naive_line", device,
    "    __syncthreads();\n    if (threadIdx.x >= distance)",
    "    if (threadIdx.x >= distance)" },
}

return {
  specs = {
    line = spec("line", '"i"', 'scan = "sum"', "{ i = 300000 }"),
    rows = spec("rows", '"y", "x"', 'scan = "sum"', "{ y = 400, x = 3000 }"),
    brief = spec("brief", '"y", "x"', 'scan = "max", exclusive = true', "{ y = 400, x = 128 }"),
    columns = spec("columns", '"y", "x"', 'scan = "sum", along = "y"', "{ y = 300, x = 1200 }"),
  },
  candidates = candidates, mutants = mutants,
}
