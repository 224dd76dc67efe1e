-- Windows: tiles of arrays that are longer or shorter than what windows reach, strides, borders;
-- windows in maps and in rows. What the naive variant shares with these (window.lua, reads.lua) is
-- held to a host's results by test_tune_windows.c.
local function spec(name, dims, input, more, sizes)
  return ([[
local s = require "sectile"
return s.kernel { name = "$name", dims = { $dims },
  inputs = { s.array("a", "f32", s.row_major, { $input }) },
  $more, sizes = { { $sizes } } }
]]):gsub("%$(%w+)", { name = name, dims = dims, input = input, more = more, sizes = sizes })
end

local out = 'outputs = { s.array("b", "f32") }, body = "b = a;"'
local tile = "stencil halo=shared threads=%d lanes=32 vec=1 items=%d rows=%d wide=1 march=1 "
  .. "align=%s store=none"
local halo = "tuning/sectile/halo.lua"

return {
  specs = {
    pooled = spec("pooled", '"n", "h", "w"', 'window = { 3, 3 }, stride = 2, padding = 1, '
      .. 'reduce = "max", dims = { "n", "hi", "wi" }', out,
      "n = 2, h = 9, w = 70, hi = 15, wi = 150"),
    mirrored = spec("mirrored", '"h", "w"', 'window = { 1, 4 }, padding = { 0, 2 }, '
      .. 'reduce = "sum", border = "reflect", extents = { "h", "max(w - 1, 1)" }', out,
      "h = 20, w = 600"),
    inner = spec("inner", '"h", "w"', 'window = { 2, 2 }, stride = 3, padding = 1, '
      .. 'reduce = "mean", count_include_pad = false', out,
      "h = 20, w = 100"),
    held = spec("held", '"c", "w"', 'window = { c = 1, w = 2 }, stride = { w = 2 }, reduce = "max"',
      'over = "c", outputs = { s.array("b", "f32") }, steps = { { reduce = { m = "max" }, '
        .. 'body = "m = a;" }, { body = "b = a - m;" } }', "c = 9, w = 100"),
  },
  candidates = {
    pooled = { "pooled", tile:format(128, 1, 2, "none") },
    mapped = { "pooled", "map threads=128 items=2 vec=1 evict=none" },
    mirrored = { "mirrored", tile:format(256, 4, 2, "sector") },
    inner = { "inner", tile:format(128, 1, 2, "none") },
    held = { "held", "rows threads=128 lanes=4 vec=1 blocks=1 hold=registers items=3 evict=none" },
  },
  mutants = {
    { "bound", "pooled", "stencil.cu", "max(stop - end, 0LL)", "max(stop - end - 1, 0LL)" },
    { "bound", "pooled", "stencil.cu", "max(min(stop, 0LL) - first, 0LL)", "0" },
    { "bound", "pooled", halo, "(p.k.extents[p.dim_x] - 1) * s.factor[3]",
      "(p.k.extents[p.dim_x] - 1) * 1" },
    { "index", "pooled", halo, 'halo.times("own", s.factor[1])', 'halo.times("own", 1)' },
    { "index", "pooled", halo, 'halo.times("lane * kVec", s.factor[3])', '"lane * kVec"' },
    { "index", "pooled", halo, 'halo.times("i", s.factor[1])', '"i"' },
    { "value", "pooled", halo, "return (count - 1) * factor + 1 + more",
      "return (count - 1) * factor + more" },
    { "identity", "inner", halo, 'return kit.zero(field)\n  end',
      'return kit.number(field, 1)\n  end' },
    { "identity", "pooled", halo, "(field.cuda == fold.type and text",
      '(field.cuda == fold.type and "0.0f"' },
    { "index", "mirrored", "device/words_halo.cuh", "max(2 * (n - 1), 1LL)",
      "max(2 * n - 1, 1LL)" },
    { "index", "mirrored", "device/words_halo.cuh", "return min(i, period - i);", "return i % n;" },
    { "barrier", "mirrored", "stencil.cu", "      __syncthreads();\n    }\n//%   end\n",
      "    }\n//%   end\n" },
    { "bound", "inner", halo, "s.off - s.left", "s.off - s.left + 1" },
    { "index", "held", "source", "run[at_2]", "run[0]" },
    { "value", "mapped", "source", "fmaxf(found", "fminf(found" },
  },
}
