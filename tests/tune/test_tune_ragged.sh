#!/usr/bin/env bash
# Mutants of kernels over ragged rows: one place of a template or of the device library is changed,
# and no candidate may pass then. The naive variants here only move data, so the host knows what
# they must give; the others are compared with one that keeps what it was.
. "$(dirname "$0")/../shell.sh"

naive='direct threads=256'
head='local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "k" }, ragged = { k = "ptr" },
  sizes = { { row = 300, k = 9000, ptr = "power" } },'
ptr='s.array("ptr", "i32", s.row_major, { dims = "row" })'
cat >"$scratch/sum.lua" <<END
$head
  inputs = { $ptr, s.array("x", "f32", s.row_major, { dims = "k" }) },
  outputs = { s.array("y", "f32", s.row_major, { dims = "row", reduce = "sum" }) },
  body = "y = x;",
}
END
cat >"$scratch/least.lua" <<END
$head
  inputs = { $ptr, s.array("x", "i16", s.row_major, { dims = "k" }) },
  outputs = { s.array("y", "i16", s.row_major, { dims = "row", reduce = "min" }) },
  body = "y = x;",
}
END
cat >"$scratch/expand.lua" <<END
$head
  inputs = { $ptr, s.array("x", "f32", s.row_major, { dims = "row" }) },
  outputs = { s.array("y", "f32", s.row_major, { dims = "k" }) },
  body = "y = x;",
}
END

# tuned SPEC LABEL: prints what became of the candidate.
tuned() {
  rm -f "$scratch/store.db"
  "$SCT_PROGRAM" tune "$scratch/$1.lua" -d virtual:h200 --store "$scratch/store.db" \
    --assets "$scratch/assets" --only "$2" --json 2>/dev/null |
    python3 -c 'import json, sys
for size in json.load(sys.stdin)["tuned"][0]["report"]["sizes"]:
    for c in size["rows"]:
        if c["label"] == sys.argv[1]:
            print("outcome:", c["outcome"], c.get("detail", ""))' "$2"
  return 0 # also where the naive variant fails
}

# mutant FILE FROM TO SPEC LABEL: with FROM instead of TO in templates/FILE the candidate fails.
mutant() {
  rm -rf "$scratch/assets"
  mkdir -p "$scratch/assets/templates/device" "$scratch/assets/tuning/strategies"
  python3 - "$root/$1" "$scratch/assets/$1" "$2" "$3" <<'END'
import sys
text = open(sys.argv[1]).read()
assert sys.argv[3] in text, "nothing to change: " + sys.argv[3]
open(sys.argv[2], "w").write(text.replace(sys.argv[3], sys.argv[4]))
END
  expect 0 'outcome: ' tuned "$4" "$5"
  absent 'outcome: ok'
  absent 'outcome: compile'
}

mkdir -p "$scratch/assets"
for spec in sum least expand; do
  expect 0 'outcome: ok' tuned "$spec" "$naive"
done

direct=tuning/strategies/direct.lua
for spec in sum least; do
  # a row without its last element, and one that has the next row's first
  mutant $direct '.. " - " .. first' '.. " - 1 - " .. first' "$spec" "$naive"
  mutant $direct '.. " - " .. first' '.. " + 1 - " .. first' "$spec" "$naive"
  # rows that begin one element late
  mutant $direct 'long %s = %s + %s;' 'long %s = %s + %s + 1;' "$spec" "$naive"
  # empty rows are left as they were
  mutant templates/direct.cu 'threadIdx.x < kLanes && output' \
    'threadIdx.x < kLanes && $(n_reduced) > 0 && output' "$spec" "$naive"
  # the last row is lost
  mutant templates/direct.cu 'output < $(n_kept)) {' 'output < $(n_kept) - 1) {' "$spec" "$naive"
done
# the row before, and the first of several rows that begin at an element, which are empty
search=templates/device/ragged.cuh
mutant $search '<= k)' '< k)' expand "$naive"
mutant $search 'long long row = 0' 'long long row = 1' expand "$naive"
mutant $search 'end = n_rows' 'end = n_rows - 1' expand "$naive"
finish
