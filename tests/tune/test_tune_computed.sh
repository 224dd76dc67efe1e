#!/usr/bin/env bash
# Places that a body computes: one that is outside at an extent that no size has is found, and the
# message says what the body must do.
. "$(dirname "$0")/../shell.sh"

# histogram BODY: of bytes, in 256 bins that are fewer where kernels are verified.
histogram() {
  cat >"$scratch/bytes.lua" <<END
local s = require "sectile"
return s.kernel {
  name    = "bytes",
  dims    = { "i" },
  index   = "b",
  inputs  = { s.array("x", "u8") },
  outputs = { s.array("h", "u32", nil, { dims = { "bin" }, at = { "b" }, accumulate = "add" }) },
  body    = "$1",
  sizes   = { { i = 1000, bin = 256 } },
}
END
}

run=("$SCT_PROGRAM" tune "$scratch/bytes.lua" -d virtual:h200 --max-candidates 2 -q
  --store "$scratch/store.db")
histogram 'b = x; h = 1;'
expect 5 "it must leave out by \`keep(h);\` what lies outside" "${run[@]}"
histogram 'b = x; h = 1; if (x >= n_bin) { b = 0; keep(h); }'
expect 0 '2 verified' "${run[@]}"
finish
