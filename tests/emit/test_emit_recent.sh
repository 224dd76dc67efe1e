#!/usr/bin/env bash
# A header whose kernel runs as clusters of blocks, or adds vectors atomically, compiles for devices
# that cannot, where the launch function must not take it. Skipped where there is no nvcc.
. "$(dirname "$0")/../shell.sh"
nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null) || exit 77

cat >"$scratch/rows.lua" <<'END_SPEC'
local s = require "sectile"
return s.kernel {
  name = "wide_rows", dims = { "row", "col" },
  inputs = { s.array("x", "f32") },
  outputs = { s.array("y", "f32") },
  steps = { { reduce = { m = "max" }, body = "m = x;" }, { body = "y = x - m;" } },
  sizes = { { row = 2, col = 40000 } },
}
END_SPEC
cat >"$scratch/points.lua" <<'END_SPEC'
local s = require "sectile"
return s.kernel {
  name = "added_rows", dims = { "row", "col" },
  inputs = { s.array("pick", "i32", s.row_major, { dims = { "row" } }), s.array("x", "f32") },
  outputs = { s.array("y", "f32", s.row_major, { dims = { "m", "col" }, at = { "pick", "col" },
                                                 accumulate = "add", inout = true }) },
  body = "y = x;",
  sizes = { { row = 300000, col = 64, m = 10000 } },
}
END_SPEC

# recent SPEC NAME LABEL WHAT INSTRUCTION
recent() {
  expect 0 '' "$SCT_PROGRAM" tune "$scratch/$1.lua" -d virtual:h200 --store "$scratch/store.db" \
    --only "$3"
  expect 0 '' "$SCT_PROGRAM" emit "$scratch/$1.lua" --store "$scratch/store.db" -o "$scratch/$2.h"
  expect 0 "$4: compiled for sm_90 or later" grep "$4" "$scratch/$2.h"
  expect 0 "if (!$2_detail_is_recent(" cat "$scratch/$2.h"
  echo "#include \"$2.h\"" >"$scratch/user.cu"
  for arch in sm_75 sm_80 sm_90; do
    expect 0 '' "$nvcc" -Werror all-warnings -arch=$arch -c "$scratch/user.cu" -o "$scratch/user.o"
  done
  # the kernel itself is there for sm_90 only
  expect 0 '' "$nvcc" -arch=sm_80 -ptx "$scratch/user.cu" -o "$scratch/80.ptx"
  expect 1 '' grep -q "$5" "$scratch/80.ptx"
  expect 0 '' "$nvcc" -arch=sm_90 -ptx "$scratch/user.cu" -o "$scratch/90.ptx"
  expect 0 '' grep -q "$5" "$scratch/90.ptx"
}
recent rows wide_rows \
  'rows threads=512 lanes=2048 vec=4 start=vector hold=registers items=5 evict=none' \
  'clusters of blocks' barrier.cluster
rest="replicas=1 blocks=1"
recent points added_rows \
  "accumulate place=global threads=256 vec=4 items=4 ahead=0 runs=0 wide=4 $rest" \
  'atomic operations of vectors' red.global.add.v4.f32
finish
