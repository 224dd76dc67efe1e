-- Columns divided by their Euclidean norm: rows that do not run along the fastest dimension.
--
-- Threads side by side have neighbouring columns, one or a vector of them each; what the threads of
-- a column have found meets in shared memory, where columns are few that of a cluster of blocks.
--
-- kernel normalise_columns: type=f32
-- kernel normalise_columns_bf16: type=bf16
local s = require "sectile"
local p = s.params { type = "f32" }

return s.kernel {
  name    = p.type == "f32" and "normalise_columns" or "normalise_columns_" .. p.type,
  dims    = { "row", "col" },
  over    = "row",
  scalars = { { "eps", "f32" } },
  inputs  = { s.array("x", p.type) },
  outputs = { s.array("y", p.type) },
  steps   = {
    { reduce = { q = "sum" }, body = "float v = x; q = v * v;" },
    { row = { r = "f32" }, body = "r = rsqrtf(q + eps);" },
    { body = "y = x * r;" },
  },
  sizes   = { { row = 4096, col = 8192 }, { row = 2000, col = 512 } },
}
