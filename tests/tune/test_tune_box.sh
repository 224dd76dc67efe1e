#!/usr/bin/env bash
# Boxes: permutations whose short modes both sides share are right, also at sizes that cut boxes, of
# bytes and of large elements, beside inputs that do not change places; and mutants of the template
# do not pass. The naive variant keeps what it was.
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

cut='box threads=256 box=1x18x17x3 items=4 load=registers evict=loads'
async='box threads=512 box=1x18x17x3 items=16 load=async evict=stores'
whole='box threads=512 box=1x1x27x63 items=2 evict=none'
double='box threads=256 box=1x7x31 items=16 load=registers evict=stores'
words='box_words threads=256 box=1x1x27x63 evict=stores'
expect 0 'outcome: ok' tuned spec "$cut"
expect 0 'outcome: ok' tuned spec "$async"
expect 0 'outcome: ok' tuned bytes "$whole"
expect 0 'outcome: ok' tuned doubles "$double"
expect 0 'outcome: ok' tuned bytes "$words"

# a missing barrier, copies that nobody waits for
mutant box.cu '__syncthreads();' '' spec "$cut"
mutant box.cu 'async_wait<0>();' '' spec "$async"
# boxes that lie over each other in shared memory
mutant box.cu 'kKept = $(kept)' 'kKept = $(kept) - 16' spec "$cut"
# a tail that is lost
mutant box.cu 'pass < $(out.passes)' 'pass < $(out.passes) - 1' bytes "$whole"
mutant box.cu 'pass < $(into.passes)' 'pass < $(into.passes) - 1' spec "$cut"
# what lies beyond the ends of boxes
mutant box.cu 'if (!($(out.inside))) continue;' '' spec "$cut"
mutant box.cu 'inside = $(into.inside)' 'inside = true' doubles "$double"
# the neighbour of an element
mutant box.cu '" .. kept_out .. "]' '" .. kept_out .. " + 1]' bytes "$whole"

# words: no barrier, no wait, the last word of a line lost, lines that start in a word, their ends
mutant box_words.cu '__syncthreads();' '' bytes "$words"
mutant box_words.cu 'async_wait<0>();' '' bytes "$words"
mutant box_words.cu 'word < shift + ' 'word + kWord < shift + ' bytes "$words"
mutant box_words.cu 'word - (int)((size_t)start / sizeof($(y.type)) % kWord)' word bytes "$words"
mutant box_words.cu 'first + kWord <= length' 'first < length' bytes "$words"
mutant box_words.cu 'first >= 0 && ' '' bytes "$words"
finish
