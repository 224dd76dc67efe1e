#!/usr/bin/env bash
# A header takes a workspace by what its spec says, not by what has won: naive ones need none.
. "$(dirname "$0")/../shell.sh"

# header NAME OPTIONS: of a sum by an index, tuned with its naive variant only
header() {
  cat >"$scratch/$1.lua" <<END_SPEC
local s = require "sectile"
return s.kernel {
  name = "$1", dims = { "i" },
  inputs = { s.array("key", "i32"), s.array("x", "f32") },
  outputs = { s.array("total", "f32", s.row_major, { dims = { "bin" }, at = { "key" },
                                                     accumulate = "add"$2 }) },
  body = "total = x;",
  sizes = { { i = 3000, bin = 10, key = "random" } },
}
END_SPEC
  expect 0 '' "$SCT_PROGRAM" tune "$scratch/$1.lua" -d virtual:h200 --store "$scratch/store.db" \
    --max-candidates 1
  expect 0 '' "$SCT_PROGRAM" emit "$scratch/$1.lua" --store "$scratch/store.db" -o "$scratch/$1.h"
}
header ordered ', deterministic = true'
expect 0 'long long n_bin, void *workspace, cudaStream_t stream);' cat "$scratch/ordered.h"
expect 0 'size_t ordered_workspace_bytes(void);' cat "$scratch/ordered.h"
header any_order ''
expect 1 '' grep workspace "$scratch/any_order.h"
finish
