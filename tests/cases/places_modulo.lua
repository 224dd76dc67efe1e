-- Places that start again after ten columns: pairs of columns are neighbours, rows are no runs.
local s = require "sectile"
return s.kernel {
  name = "places_modulo",
  dims = { "i", "j" },
  inputs = {
    s.array("a", "f32", s.row_major, { at = { "j", "i % 10" }, extents = { "j", "10" } }),
  },
  outputs = { s.array("o", "f32") },
  body = "o = a;",
  sizes = { { i = 1003, j = 517 } },
}
