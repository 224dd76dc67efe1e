#!/usr/bin/env bash
# A header whose kernel runs as clusters of blocks compiles for devices without them, where the
# launch function must not take it. Skipped where there is no nvcc.
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
label='rows threads=512 lanes=2048 vec=4 start=vector hold=registers items=5 evict=none'
expect 0 '' "$SCT_PROGRAM" tune "$scratch/rows.lua" -d virtual:h200 --store "$scratch/store.db" \
  --only "$label"
expect 0 '' "$SCT_PROGRAM" emit "$scratch/rows.lua" --store "$scratch/store.db" \
  -o "$scratch/wide_rows.h"
expect 0 'clusters of blocks: compiled for sm_90 or later' \
  grep clusters "$scratch/wide_rows.h"
expect 0 'if (!wide_rows_detail_has_clusters(' cat "$scratch/wide_rows.h"
echo '#include "wide_rows.h"' >"$scratch/user.cu"
for arch in sm_75 sm_80 sm_90; do
  expect 0 '' "$nvcc" -Werror all-warnings -arch=$arch -c "$scratch/user.cu" -o "$scratch/user.o"
done
# the kernel itself is there for sm_90 only
expect 0 '' "$nvcc" -arch=sm_80 -ptx "$scratch/user.cu" -o "$scratch/80.ptx"
expect 1 '' grep -q barrier.cluster "$scratch/80.ptx"
expect 0 '' "$nvcc" -arch=sm_90 -ptx "$scratch/user.cu" -o "$scratch/90.ptx"
expect 0 '' grep -q barrier.cluster "$scratch/90.ptx"
finish
