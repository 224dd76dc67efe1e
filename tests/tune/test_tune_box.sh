#!/usr/bin/env bash
# Boxes: permutations whose short modes both sides share are right, also at sizes that cut boxes, of
# bytes and of large elements, in vectors, beside inputs that do not change places; and mutants of
# the template and of the strategy do not pass. The naive variant keeps what it was.
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/mutants.sh"

cat >"$scratch/spec.lua" <<'END'
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
END
cat >"$scratch/bytes.lua" <<'END'
local s = require "sectile"
return s.kernel {
  name = "bytes", dims = { "d", "e", "i", "j" },
  inputs = { s.array("x", "u8", nil, { dims = { "e", "d", "j", "i" } }) },
  outputs = { s.array("z", "u8") },
  body = "z = x;",
  sizes = { { d = 9, e = 7, i = 27, j = 63 } },
}
END
sed -e 's/"bytes", dims/"beside", dims/' -e 's/"j", "i" } })/&, s.array("w", "u8")/' \
  -e 's/z = x;/z = (unsigned char)(x - w);/' "$scratch/bytes.lua" >"$scratch/beside.lua"
cat >"$scratch/doubles.lua" <<'END'
local s = require "sectile"
return s.kernel {
  name = "doubles", dims = { "d", "i", "j" },
  inputs = { s.array("x", "f64", nil, { dims = { "d", "j", "i" } }) },
  outputs = { s.array("z", "f64") },
  body = "z = x;",
  sizes = { { d = 999, i = 7, j = 31 } },
}
END
cat >"$scratch/vectors.lua" <<'END'
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
END

cut='box threads=256 box=1x18x17x3 items=4 load=registers evict=loads'
async='box threads=512 box=1x18x17x3 items=8 load=async evict=stores'
whole='box threads=512 box=1x1x27x63 items=2 evict=none'
double='box threads=256 box=1x7x31 items=16 load=registers evict=none'
vectors='box threads=512 box=10x25x12 items=1 load=registers evict=none'
copied='box threads=256 box=14x10x12 items=1 load=async evict=none'
words='box_words threads=256 box=1x1x27x63 evict=stores'
expect 0 'outcome: ok' tuned spec "$cut"
expect 0 'outcome: ok' tuned spec "$async"
expect 0 'outcome: ok' tuned bytes "$whole"
expect 0 'outcome: ok' tuned doubles "$double"
expect 0 'outcome: ok' tuned vectors "$vectors"
expect 0 'outcome: ok' tuned vectors "$copied"
expect 0 'outcome: ok' tuned bytes "$words"
expect 0 'outcome: ok' tuned beside "$words"

# a missing barrier, copies that nobody waits for
mutant box.cu '__syncthreads();' '' spec "$cut"
mutant box.cu 'async_wait<0>();' '' spec "$async"
# lines that lie over each other in shared memory
box=tuning/strategies/box.lua boxes=tuning/sectile/boxes.lua
mutant $box 'at = step[d] * p.box[d]' 'at = step[d] * p.box[d] - 1' spec "$cut"
# a tail that is lost
mutant box.cu 'pass < $(out.passes)' 'pass < $(out.passes) - 1' bytes "$whole"
mutant box.cu 'pass < $(into.passes)' 'pass < $(into.passes) - 1' spec "$cut"
# what lies beyond the ends of modes, of shares, of the threads that have elements
mutant box.cu 'if ($(whole))' 'if (true)' spec "$cut"
mutant $box '"!kGuarded || "' '"true || "' doubles "$double"
mutant $boxes 'if count * times > part.extent then' 'if false then' spec "$cut"
mutant $boxes 'side.used < p.g.threads' 'false' vectors "$vectors"
# a pointer that goes on by the wrong step, also after the last place along a mode
mutant $boxes 'or 0) * level.times' 'or 0)' spec "$cut"
mutant $boxes 'below * level.count, step * level.count' 'below * level.count, step' bytes "$whole"
# the neighbour of an element, of a vector
mutant $box 'x.tile, cell_out' 'x.tile, cell_out .. " + 1"' bytes "$whole"
mutant $box '// p.width * cuda.var("e")' '* cuda.var("e")' vectors "$vectors"
mutant $box 'x.value .. (extents and "[e]" or "")' 'x.value .. (extents and "[0]" or "")' \
  vectors "$copied"
# arrays that are not aligned to vectors
mutant $box 'p.g:need_align(x.op, p.width * x.op.record.bytes)' '' vectors "$copied"

# words: no barrier, no wait, the last word of a line lost, lines that start in a word, their ends
mutant box_words.cu '__syncthreads();' '' bytes "$words"
mutant box_words.cu 'async_wait<0>();' '' bytes "$words"
mutant device/async.cuh 'if (at < count)' 'if (at + kWord < count)' bytes "$words"
mutant device/async.cuh 'readable - at' 'kWord' bytes "$words"
mutant box_words.cu '$(word) * kWord - (int)((size_t)$(y.from) / sizeof($(y.type)) % kWord)' \
  '$(word) * kWord' bytes "$words"
mutant box_words.cu 'first + kWord <= length' 'first < length' bytes "$words"
mutant box_words.cu 'first >= 0 && ' '' bytes "$words"
mutant tuning/strategies/box_words.lua 'elseif #p.direct > 0' 'elseif false' beside "$words"
finish
