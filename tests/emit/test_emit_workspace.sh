#!/usr/bin/env bash
# A header takes a workspace by what its spec says, not by what has won: naive variants of short
# sums need none.
. "$(dirname "$0")/../shell.sh"

# header NAME DIMS OUTPUT SIZE: tuned with its naive variant only
header() {
  cat >"$scratch/$1.lua" <<END_SPEC
local s = require "sectile"
return s.kernel {
  name = "$1", dims = { $2 },
  inputs = { s.array("key", "i32"), s.array("x", "f32") },
  outputs = { s.array("total", "f32", s.row_major, { $3 }) },
  body = "total = key ? x : 0.0f;",
  sizes = { { i = 3000, $4 } },
}
END_SPEC
  expect 0 '' "$SCT_PROGRAM" tune "$scratch/$1.lua" -d virtual:h200 --store "$scratch/store.db" \
    --max-candidates 1
  expect 0 '' "$SCT_PROGRAM" emit "$scratch/$1.lua" --store "$scratch/store.db" -o "$scratch/$1.h"
}
by_key='dims = { "bin" }, at = { "key" }, accumulate = "add"' bins='bin = 10, key = "random"'
header few '"i", "j"' 'dims = "i", reduce = "sum"' 'j = 4'
expect 0 'long long n_j, void *workspace, cudaStream_t stream);' cat "$scratch/few.h"
expect 0 'size_t few_workspace_bytes(void);' cat "$scratch/few.h"
expect 1 '' grep 'bytes of workspace' "$scratch/few.h"
header ordered '"i"' "$by_key, deterministic = true" "$bins"
expect 0 'long long n_bin, void *workspace, cudaStream_t stream);' cat "$scratch/ordered.h"
expect 0 'bytes of workspace' cat "$scratch/ordered.h"
header any_order '"i"' "$by_key" "$bins"
expect 1 '' grep workspace "$scratch/any_order.h"
finish
