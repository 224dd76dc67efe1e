#!/usr/bin/env bash
# `emit --deps` names the files that a header follows from, each once, as make reads them.
. "$(dirname "$0")/../shell.sh"

expect 2 '--deps says which files' "$SCT_PROGRAM" emit move --deps move.d -o move.h
expect 2 '--deps says which files' "$SCT_PROGRAM" emit move.lua --deps move.d
! "$SCT_PROGRAM" doctor | grep -q 'fail.*NVRTC' || { echo "no NVRTC here"; exit 77; }

mkdir "$scratch/my specs"
cd "$scratch" || exit 1
cat >"my specs/move.lua" <<'EOF'
local s = require "sectile"
return s.kernel {
  name = "move", dims = { "i" },
  inputs = { s.array("a", "f32", s.layout "turned.lua") },
  outputs = { s.array("b", "f32") },
  body = "b = a;",
  also = { { cuda = "move.cu", kernel = "mine", block = 256, grid = "(n_i + 255) // 256",
    args = { "a", "b", "n_i" } } },
  sizes = { { i = 4096 } },
}
EOF
cat >"my specs/turned.lua" <<'EOF'
return {
  name = "turned",
  offset = function(l, field, idx, ext) return (ext[1] - 1 - idx[1]) * 4 + field.offset end,
  bytes = function(l, ext) return ext[1] * 4 end,
}
EOF
echo '#define AT(n, i) ((n) - 1 - (i))' >"my specs/at\$1.cuh"
cat >"my specs/move.cu" <<'EOF'
#include "at$1.cuh"
#include "at$1.cuh"
__global__ void mine(const float *a, float *b, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) b[i] = a[AT(n, i)];
}
EOF
tuned() { "$SCT_PROGRAM" tune "my specs/move.lua" -d virtual:h200 --max-candidates 2 --store "$@"; }
expect 0 '' tuned kept.db
expect 0 '' "$SCT_PROGRAM" emit "my specs/move.lua" --store kept.db -o move.h --deps move.d
expect 0 'move.h: \' head -1 move.d
for file in 'my\ specs/move.lua' 'my\ specs/turned.lua' 'my\ specs/move.cu' \
  'my\ specs/at$$1.cuh' kept.db; do
  expect 0 1 grep -cF "$file" move.d
done
expect 0 6 grep -c '' move.d
if command -v make >/dev/null; then
  printf 'move.h:\n\ttouch move.h\ninclude move.d\n' >Makefile
  touch move.h
  expect 0 'up to date' make move.h
  touch -d '1 hour ago' move.h
  expect 0 'touch move.h' make move.h
fi
# what make would run, or take for something else than a name
for name in $'a\ntouch ran' 'a;touch ran' 'a=b' 'a%' 'a*' 'a|b' '~a' $'a\tb' 'a\b'; do
  expect 2 'a file for make cannot hold the path' "$SCT_PROGRAM" emit "my specs/move.lua" \
    --store kept.db -o "$name.h" --deps m.d
done
for name in $'a\ntouch ran' 'a;touch ran'; do
  sed "s/s.layout \"turned.lua\"/nil/; s/also = .*/also = nil,/; /args = /d" \
    "my specs/move.lua" >"$name.lua"
  expect 0 '' "$SCT_PROGRAM" tune "./$name.lua" -d virtual:h200 --max-candidates 1 \
    --store kept.db
  expect 2 'a file for make cannot hold the path' "$SCT_PROGRAM" emit "./$name.lua" \
    --store kept.db -o m.h --deps m.d
done
expect 1 '' test -e ran
expect 2 "it would be lost" "$SCT_PROGRAM" emit "my specs/move.lua" --store kept.db -o move.h \
  --deps "my specs/move.lua"
expect 0 '' test -s "my specs/move.lua"
finish
