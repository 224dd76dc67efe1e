-- Boxes: permutations whose short modes both sides share, also at sizes that cut boxes, of bytes
-- and of large elements, in vectors, beside inputs that do not change places.
local spec = [[
local s = require "sectile"
return s.kernel {
  name = "boxes", dims = { "d", "i", "j", "c" },
  inputs = {
    s.array("x", "f32", nil, { dims = { "d", "j", "i", "c" } }),
    s.array("w", "f32", nil, { dims = { "j", "c" } }), s.array("y", "f32"),
  },
  outputs = { s.array("z", "f32") },
  body = "z = x * w + y;",
  sizes = { { d = 5, i = 70, j = 50, c = 3 } },
}
]]
local bytes = [[
local s = require "sectile"
return s.kernel {
  name = "bytes", dims = { "d", "e", "i", "j" },
  inputs = { s.array("x", "u8", nil, { dims = { "e", "d", "j", "i" } }) },
  outputs = { s.array("z", "u8") },
  body = "z = x;",
  sizes = { { d = 9, e = 7, i = 27, j = 63 } },
}
]]
local beside = bytes:gsub('"bytes", dims', '"beside", dims')
  :gsub('"j", "i" } }%)', '%0, s.array("w", "u8")'):gsub("z = x;", "z = (unsigned char)(x - w);")
local doubles = [[
local s = require "sectile"
return s.kernel {
  name = "doubles", dims = { "d", "i", "j" },
  inputs = { s.array("x", "f64", nil, { dims = { "d", "j", "i" } }) },
  outputs = { s.array("z", "f64") },
  body = "z = x;",
  sizes = { { d = 999, i = 7, j = 31 } },
}
]]
local vectors = [[
local s = require "sectile"
return s.kernel {
  name = "vectors", dims = { "i", "j", "c" },
  inputs = {
    s.array("x", "f16", nil, { dims = { "j", "i", "c" } }), s.array("y", "f16"),
    s.array("v", "f32", nil, { dims = { "i" } }),
    s.array("u", "f32", s.strided { "3 * c + 1", 3 }, { dims = { "j", "c" } }),
  },
  outputs = { s.array("z", "f16") },
  body = "z = (f16)((float)x * v + u - (float)y);",
  sizes = { { i = 70, j = 50, c = 12 } },
}
]]

local words = "box_words threads=256 box=1x1x27x63 evict=stores"
local candidates = {
  cut = { "spec", "box threads=256 box=1x18x17x3 items=4 load=registers evict=loads" },
  async = { "spec", "box threads=512 box=1x18x17x3 items=8 load=async evict=stores" },
  whole = { "bytes", "box threads=512 box=1x1x27x63 items=2 evict=none" },
  double = { "doubles", "box threads=256 box=1x7x31 items=16 load=registers evict=none" },
  vectors = { "vectors", "box threads=512 box=10x25x12 items=1 load=registers evict=none" },
  copied = { "vectors", "box threads=256 box=14x10x12 items=1 load=async evict=none" },
  words = { "bytes", words },
  beside = { "beside", words },
}

local box, boxes = "tuning/strategies/box.lua", "tuning/sectile/boxes.lua"
local box_words = "tuning/strategies/box_words.lua"
local mutants = {
  -- a missing barrier, copies that nobody waits for
  { "barrier", "cut", "box.cu", "__syncthreads();", "" },
  { "barrier", "async", "box.cu", "async_wait<0>();", "" },
  -- lines that lie over each other in shared memory
  { "index", "cut", box, "at = step[d] * p.box[d]", "at = step[d] * p.box[d] - 1" },
  -- a tail that is lost
  { "loop", "whole", "box.cu", "each_pass<kStores>", "each_pass<kStores - 1>" },
  { "loop", "cut", "box.cu", "each_pass<kLoads>", "each_pass<kLoads - 1>" },
  -- what lies beyond the ends of modes, of shares, of the threads that have elements
  { "bound", "cut", "box.cu", "if ($(whole))", "if (true)" },
  { "bound", "double", box, '"!guarded || "', '"true || "' },
  { "bound", "cut", boxes, "if count * times > part.extent then", "if false then" },
  { "bound", "vectors", boxes, "side.used < p.g.threads", "false" },
  -- a pointer that goes on by the wrong step, also after the last place along a mode
  { "index", "cut", boxes, "x.stride(level.d) * level.times", "x.stride(level.d)" },
  { "index", "whole", boxes, "below * level.count, step * level.count",
    "below * level.count, step" },
  -- the neighbour of an element, of a vector
  { "index", "whole", box, "x.tile, cell_out", 'x.tile, cell_out .. " + 1"' },
  { "index", "vectors", box, '// p.width * cuda.var("e")', '* cuda.var("e")' },
  { "index", "copied", box, 'x.value .. (extents and "[e]" or "")',
    'x.value .. (extents and "[0]" or "")' },
  -- arrays that are not aligned to vectors
  { "alignment", "copied", box, "p.g:need_align(x.op, p.width * x.op.record.bytes)", "" },

  -- words: no barrier, no wait, the last word of a line lost, lines that start in a word, their
  -- ends
  { "barrier", "words", "box_words.cu", "__syncthreads();", "" },
  { "barrier", "words", "box_words.cu", "async_wait<0>();", "" },
  { "bound", "words", "device/async.cuh", "if (at < count)", "if (at + kWord < count)" },
  { "bound", "words", "device/async.cuh", "readable - at", "kWord" },
  { "alignment", "words", "box_words.cu",
    "$(word) * kWord - (int)((size_t)$(y.from) / sizeof($(y.type)) % kWord)", "$(word) * kWord" },
  { "bound", "words", "box_words.cu", "first + kWord <= length", "first < length" },
  { "bound", "words", "box_words.cu", "first >= 0 && ", "" },
  { "value", "beside", box_words, "elseif #p.direct > 0", "elseif false" },
}

return {
  specs = { spec = spec, bytes = bytes, beside = beside, doubles = doubles, vectors = vectors },
  candidates = candidates, mutants = mutants,
}
