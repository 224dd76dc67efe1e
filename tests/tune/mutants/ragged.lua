-- Kernels over ragged rows. Naive variants that only move data are known to the host as well; the
-- others are compared with one that keeps what it was.
local function spec(rest)
  return ([[
local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "k" }, ragged = { k = "ptr" },
  sizes = { { row = 30, k = 900, ptr = "power" } },
]] .. rest):gsub("$ptr", 's.array("ptr", "i32", s.row_major, { dims = "row" })')
end

local specs = {
  sum = spec [[
  inputs = { $ptr, s.array("x", "f32", s.row_major, { dims = "k" }) },
  outputs = { s.array("y", "f32", s.row_major, { dims = "row", reduce = "sum" }) },
  body = "y = x;",
}
]],
  least = spec [[
  inputs = { $ptr, s.array("x", "i16", s.row_major, { dims = "k" }) },
  outputs = { s.array("y", "i16", s.row_major, { dims = "row", reduce = "min" }) },
  body = "y = x;",
}
]],
  expand = spec [[
  inputs = { $ptr, s.array("x", "f32", s.row_major, { dims = "row" }) },
  outputs = { s.array("y", "f32", s.row_major, { dims = "k" }) },
  body = "y = x;",
}
]],
  steps = spec [[
  inputs = { $ptr, s.array("x", "f32", s.row_major, { dims = "k" }) },
  outputs = { s.array("y", "f32", s.row_major, { dims = "k" }),
    s.array("n", "i32", s.row_major, { dims = "row" }) },
  steps = {
    { reduce = { m = "max" }, body = "m = -x * x;" },
    { reduce = { c = { "sum", "i32" } }, body = "c = x > m;" },
    { body = "n = c;" },
    { body = "y = m + c * x;" },
  },
}
]],
}

local ragged, rows = "ragged.cu", "tuning/strategies/rows.lua"
local streams, search = "tuning/sectile/row_streams.lua", "device/ragged.cuh"
local candidates = {
  held = { "steps", "rows threads=64 lanes=16 vec=4 start=any hold=registers items=1 evict=none" },
  single = { "steps",
    "rows threads=64 lanes=32 vec=1 start=vector hold=registers items=2 evict=none" },
  again = { "steps", "rows threads=64 lanes=16 vec=4 start=any hold=none items=2 evict=none" },
  mapped = { "expand",
    "rows threads=64 lanes=8 vec=4 start=any hold=none items=2 evict=streaming" },
  -- more blocks than threads, so that threads of the last block finish rows of several
  few = { "sum", "ragged lanes=path threads=32 items=7 blocks=1056 evict=streaming",
    change = { "tuning/strategies/ragged.lua", "{ 256, 128, 512 }", "{ 32, 64 }" } },
}
for name in pairs(specs) do
  if name ~= "steps" then
    candidates["naive_" .. name] = { name, "direct threads=256" }
  end
end
for _, name in ipairs { "sum", "least" } do
  candidates["lanes_" .. name] =
    { name, "ragged lanes=8 threads=256 items=4 blocks=1056 evict=none" }
  candidates["block_" .. name] =
    { name, "ragged lanes=256 threads=256 items=2 blocks=1056 evict=none" }
  candidates["path_" .. name] =
    { name, "ragged lanes=path threads=128 items=7 blocks=1056 evict=streaming" }
end

local mutants = {}
local function mutant(...)
  mutants[#mutants + 1] = { ... }
end

-- what the naive variant walks rows by
local naive, direct = { "naive_sum", "naive_least" }, "tuning/sectile/reduce.lua"
-- a row without its last element, and one that has the next row's first
mutant("bound", naive, direct, '.. " - " .. first', '.. " - 1 - " .. first')
mutant("bound", naive, direct, '.. " - " .. first', '.. " + 1 - " .. first')
-- rows that begin one element late
mutant("index", naive, direct, "long %s = %s + %s;", "long %s = %s + %s + 1;")
-- empty rows are left as they were
mutant("bound", naive, "direct.cu", "threadIdx.x < kLanes && output",
  "threadIdx.x < kLanes && $(n_reduced) > 0 && output")
-- the last row is lost
mutant("bound", naive, "direct.cu", "output < $(n_kept)) {", "output < $(n_kept) - 1) {")
-- the row before, and the first of several rows that begin at an element, which are empty
mutant("bound", "naive_expand", search, "<= k)", "< k)")
mutant("index", "naive_expand", search, "long long row = 0", "long long row = 1")
mutant("bound", "naive_expand", search, "end = n_rows", "end = n_rows - 1")

local lanes, block = { "lanes_sum", "lanes_least" }, { "block_sum", "block_least" }
local path = { "path_sum", "path_least" }
-- a tail that is lost, and one that is taken from the next row; empty rows
mutant("loop", lanes, ragged, "next < end; next", "next + kLanes < end; next")
mutant("bound", lanes, ragged, "if (lane == 0 && output", "if (first < end && lane == 0 && output")
-- lanes of other rows; one warp instead of all
mutant("loop", lanes, ragged, "combine_across<1, kLanes>", "combine_across<1, 32>")
mutant("index", block, "device/reduce.cuh", "parts[threadIdx.x % kParts]", "parts[0]")
-- what was found before in the block, in the tile, in other blocks
mutant("carry", path, ragged, "store_row(first_row + head_row, combine(before.found, head))",
  "store_row(first_row + head_row, head)")
mutant("carry", path, ragged, ".head = combine(before.found, head)", ".head = head")
mutant("carry", path, ragged, "combine(before.found, head.head)", "head.head")
mutant("carry", path, ragged, ".tail = combine(tail, identity())", ".tail = identity()")
mutant("carry", path, ragged, "has_ended = has_ended || all.ended", "has_ended = false")
-- a row end one step late, or early
mutant("bound", path, ragged, "row_end(row) <= element", "row_end(row) < element")
mutant("bound", path, search, "row_end(middle) < steps - middle",
  "row_end(middle) <= steps - middle")
mutant("bound", path, search, "< steps - row;", "<= steps - row;")
-- the last element of a tile, the path's last steps
mutant("bound", path, ragged, "item * kThreads + threadIdx.x < tile_elements)",
  "item * kThreads + threadIdx.x < tile_elements - 1)")
mutant("bound", path, ragged, "n_steps = n_rows + n_elements", "n_steps = n_rows + n_elements - 1")
-- a warp's scan without its last step; warps of another order
mutant("loop", path, search, "distance < 32; distance", "distance < 16; distance")
mutant("carry", path, search, "return join(warps_before, before)", "return before")
-- an element twice
mutant("bound", "lanes_sum", ragged, "item * kLanes + lane < end ?",
  "item * kLanes + lane <= end ?")
-- missing barriers
mutant("barrier", "path_sum", ragged, "    __syncthreads();\n\n    // each thread",
  "    // each thread")
mutant("barrier", "path_sum", ragged, "  __syncthreads();\n\n  long long first_row",
  "  long long first_row")
-- the end of the next tile: that of this one, in its place, in too small a range
mutant("bound", "path_sum", ragged, "min(step + 2 * kTile, share_end)", "step + kTile")
mutant("index", "path_sum", ragged, "bounds[3 - tile_end]", "bounds[tile_end]")
mutant("bound", "path_sum", ragged, "min(next_row + kTile, n_rows)",
  "min(next_row + kThreads, n_rows)")
mutant("barrier", "path_sum", search, "  __syncthreads();\n", "")

-- steps: what is held stands for the rest of a row, which is lost, or twice
mutant("bound", "held", streams, '"if (first == 0)', '"if (first >= 0)')
mutant("bound", "single", streams, '"first > 0 ? "', '"first < 0 ? "')
mutant("loop", { "held", "single", "again" }, rows, "first += kLanes * kItems",
  "first += 2 * kLanes * kItems")
mutant("loop", "single", rows, "first += kLanes * kItems", "first += kLanes")
mutant("index", "held", rows, '"n_elements > 0 ? (int)(%s) : 0"', '"0"')
mutant("index", "mapped", rows, '" - shift"', '""')
mutant("loop", "mapped", rows, "first += kLanes * kItems", "first += 2 * kLanes * kItems")

mutant("carry", "few", ragged, "combine(mine.found, other.head)", "other.head")
mutant("carry", "few", ragged, "join(mine, since_end<partial>{other.tail, other.row >= 0})",
  "{other.tail, other.row >= 0}")

return { specs = specs, candidates = candidates, mutants = mutants }
