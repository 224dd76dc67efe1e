#!/usr/bin/env bash
# Mutants of kernels that reduce onto what outputs hold: one place of a template or of the generator
# is changed, and no candidate may pass then. Bodies only move data, so the host knows what even the
# naive variants must give.
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/mutants.sh"

naive='direct threads=256'
spec() { # spec NAME KEPT INPUTS SIZE [RAGGED]
  cat >"$scratch/$1.lua" <<END
local s = require "sectile"
local function to(reduce) return { dims = { "$2" }, reduce = reduce, inout = true } end
return s.kernel {
  name = "mutant", dims = { "row", "k" }, sizes = { { $4 } }, ${5:-}
  inputs = { $3 },
  outputs = { s.array("n", "i16", nil, to("sum")), s.array("m", "f32", nil, to("max")) },
  body = "n = a; m = x;",
}
END
}
dense='s.array("a", "i16"), s.array("x", "f32")'
packed='s.array("ptr", "i32", nil, { dims = "row" }), s.array("a", "i16", nil, { dims = "k" }),
    s.array("x", "f32", nil, { dims = "k" })'
spec rows row "$dense" 'row = 4, k = 20000'
spec columns k "$dense" 'row = 8, k = 4096'
spec ragged row "$packed" 'row = 30, k = 900, ptr = "power"' 'ragged = { k = "ptr" },'

shared='reduce threads=512 lanes=512 vec=4 start=vector items=2 outputs=1 blocks=264 evict=none'
vectors='reduce threads=256 lanes=256 vec=4 items=4 outputs=1 blocks=1 evict=none'
stripes='reduce threads=128 lanes=32 vec=4 items=2 outputs=1 blocks=1056 evict=none'
lanes='ragged lanes=256 threads=256 items=2 blocks=1056 evict=none'
path='ragged lanes=path threads=256 items=7 blocks=2112 evict=none'
expect 0 'outcome: ok' tuned rows "$shared"
expect 0 '' "$SCT_PROGRAM" emit "$scratch/rows.lua" --store "$scratch/store.db" --form c \
  -o "$scratch/mutant.h" --python "$scratch/mutant.py" -q
expect 0 'the sum of what is computed for it, and of what it holds' cat "$scratch/mutant.h"
expect 0 '("n", True, False, ["int16"]' cat "$scratch/mutant.py" # no call may leave it out
for label in "$vectors" "$stripes"; do
  expect 0 'outcome: ok' tuned columns "$label"
done
for label in "$lanes" "$path"; do
  expect 0 'outcome: ok' tuned ragged "$label"
done

# what is there is forgotten, added twice, or changed where nothing is reduced
lua=tuning/sectile/reduce.lua
both='combined(slot, wide, value)'
mutant $lua "$both" value rows "$naive"
mutant $lua "$both" value columns "$naive"
mutant $lua "$both" "combined(slot, wide, $both)" rows "$naive"
mutant $lua "$both" "combined(slot, wide, $both)" ragged "$naive"
mutant $lua 'lines == "" or not some' true ragged "$naive"
mutant $lua 'lines == "" or not some' true rows "$naive"

# by candidates alone: blocks and warps that store a result once more
mutant reduce.cu 'if (!is_last_block(&workspace[tile], shares)) return;' \
  'is_last_block(&workspace[tile], shares);' rows "$shared"
mutant reduce.cu 'int index = threadIdx.x;' 'int index = 0;' rows "$shared"
mutant ragged.cu 'if (lane == 0 && output' 'if (output' ragged "$lanes"
mutant ragged.cu 'if (mine.ended && !is_first)' 'if (mine.ended)' ragged "$path"

# of vectors, what is there is not loaded
strategy=tuning/strategies/reduce.lua
held='" = " .. cuda.load("load_coherent", type, vector.word, g:address(op, f, with))'
mutant $strategy "$held" '" = {}"' columns "$vectors"
finish
