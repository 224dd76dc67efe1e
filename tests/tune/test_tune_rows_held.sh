#!/usr/bin/env bash
# Mutants of kernels in steps whose outputs hold something before: those that are updated in place,
# and those of which elements are kept. One place of a template, of the device library or of the
# generator is changed, and no candidate may pass then.
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/mutants.sh"

block='rows threads=128 lanes=128 vec=4 start=vector hold=registers items=2 evict=none'
part="rows threads=256 lanes=8 vec=4 start=vector hold=registers items=4 evict=none"
again='rows threads=128 lanes=32 vec=4 start=vector hold=none items=2 evict=none'
cluster='rows threads=512 lanes=2048 vec=4 start=vector hold=registers items=5 evict=none'
odd='rows threads=64 lanes=32 vec=4 start=any hold=registers items=2 evict=none'
column='rows threads=256 lanes=32 vec=2 blocks=1 hold=registers items=4 evict=none'
columns='rows threads=256 lanes=32 vec=2 blocks=4 hold=registers items=1 evict=none'
# in place: threads load their own elements alone, and what there is once a row before it changes
cat >"$scratch/held.lua" <<'END'
local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "col" },
  inputs = {},
  outputs = {
    s.array("x", "f32", nil, { inout = true }),
    s.array("l", "f32", nil, { dims = "row", inout = true }),
  },
  steps = {
    { reduce = { m = "max" }, body = "m = -x * x;" },
    { reduce = { n = { "sum", "i32" } }, body = "n = x > 1.0f;" },
    { body = "l = l * m + n;" },
    { body = "x = x * m + n;" },
  },
  tolerance = 1e-6,
  sizes = { { row = 64, col = 1000 }, { row = 99, col = 128 }, { row = 5, col = 33000 } },
}
END
sed '/sizes = /s/row = .*/row = 70, col = 129 }, { row = 31, col = 123 } },/' \
  "$scratch/held.lua" >"$scratch/held_odd.lua"
fresh_assets
naive='direct threads=256'
shared='rows threads=128 lanes=128 vec=4 start=vector hold=none items=2 evict=none'
for label in "$block" "$part" "$again" "$shared" "$naive"; do
  expect 0 'outcome: ok' tuned held "$label"
done
expect 0 'outcome: ok' tuned held_odd "$odd"
streams=tuning/sectile/row_streams.lua
# lanes after a row's end load what another thread writes; elements of neighbouring rows
mutant $streams '(p.odd or row_streams.any_updated(list)) and text' 'p.odd and text' \
  held "$shared"
mutant $streams 'row_streams.any_updated(list) and row_streams.loads_inside or ' '' held "$block"
mutant $streams 'load_between<%s, kVec>(%s, -%s, n_elements' \
  'load_between<%s, kVec>(%s, %s * 0, n_elements' held_odd "$odd"
mutant $streams 'if (%s >= 0 && %s + kVec <= n_elements)\n  %s = %s;\nelse\n"' \
  'if (%s >= -kVec && %s + kVec <= n_elements)\n  %s = %s;\nelse\n"' held_odd "$odd"
# what is written is read as if nobody did
mutant $streams 'cuda.load(cuda.load_name(x.op, streaming and "load_streaming")' \
  'cuda.load("load"' held "$again"
# a store before the last load of what there is once a row: each step loads it by itself; blocks of
# a cluster do
mutant tuning/strategies/direct.lua 'elseif not p.held_once[op.number] then' 'else' held "$naive"
sed 's/"col" },/&over = "row",/; s/dims = "row"/dims = "col"/;
  /sizes = /s/row = .*/row = 100, col = 70 } },/' "$scratch/held.lua" >"$scratch/held_columns.lua"
fresh_assets
expect 0 'outcome: ok' tuned held "$cluster"
expect 0 'outcome: ok' tuned held_columns "$columns"
again_once='$(step.row_values)
  $(load(steady))'
mutant rows.cu '$(step.row_values)' "$again_once" held "$cluster"
mutant rows.cu '$(step.row_values)' "$again_once" held_columns "$columns"
# kept elements: in rows, in rows that start anywhere, in columns, once a row
cat >"$scratch/keeps.lua" <<'END'
local s = require "sectile"
return s.kernel {
  name = "mutant", dims = { "row", "col" },
  inputs = { s.array("x", "f32"), s.array("p", "bool", nil, { dims = "row" }) },
  outputs = {
    s.array("y", "f32"), s.array("o", "f32", nil, { inout = true }),
    s.array("l", "f32", nil, { dims = "row" }),
  },
  steps = {
    { reduce = { m = "max" }, body = "m = -x * o;" },
    { body = "l = m; if (p) keep(l);" },
    { body = "if (x < 1.5f) y = x * m; else keep(y); o = x; if (p || x > 1.25f) keep(o);" },
  },
  sizes = { { row = 64, col = 1000 }, { row = 99, col = 128 } },
}
END
sed '/sizes = /s/row = .*/row = 70, col = 129 }, { row = 31, col = 123 } },/' \
  "$scratch/keeps.lua" >"$scratch/keeps_odd.lua"
sed 's/"col" },/&over = "row",/; s/dims = "row"/dims = "col"/;
  /sizes = /s/row = .*/row = 100, col = 70 } },/' \
  "$scratch/keeps.lua" >"$scratch/keeps_columns.lua"
fresh_assets
few='rows threads=256 lanes=8 vec=4 start=vector hold=registers items=4 evict=streaming'
for label in "$block" "$few" "$naive"; do
  expect 0 'outcome: ok' tuned keeps "$label"
done
expect 0 'outcome: ok' tuned keeps_odd "$odd"
expect 0 'outcome: ok' tuned keeps_columns "$column"
expect 0 'outcome: ok' tuned keeps_columns "$columns"
# kept_mutant SPEC LABEL: a vector in which none, some, or all are kept
kept_mutant() {
  mutant device/vectors.cuh 'any = any || flags[k]' 'any = any && flags[k]' "$1" "$2"
  mutant device/vectors.cuh 'any = any || flags[k]' 'any = flags[0]' "$1" "$2"
  mutant device/vectors.cuh 'if (!kept[k])' 'if (!kept[0])' "$1" "$2"
  mutant device/vectors.cuh 'if (!kept[k])' 'if (false)' "$1" "$2"
}
kept_mutant keeps "$block"
kept_mutant keeps_odd "$odd"
kept_mutant keeps_columns "$column"
kept_mutant keeps_columns "$columns"
# an element
mutant tuning/sectile/cuda.lua '"if (!%s)\n  %s", flag' '"if (true || %s)\n  %s", flag' \
  keeps "$few"
# those of other rows
mutant $streams '"!(" .. p.is_inside .. ")"' '"false"' keeps_odd "$odd"
mutant $streams 'flag.name .. (many and "[e]"' 'flag.name .. (many and "[0]"' keeps "$block"
# a flag that is never reset
mutant $streams 'or "false"' 'or flag.value' keeps "$block"
finish
