#!/usr/bin/env bash
# check_layers must accept a tree that keeps the table and point at each kind of break.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
# A tree with the real table and module list and one file a module that includes its own header.
fresh() {
  rm -rf "$tree"
  mkdir -p "$tree/scripts" "$tree/src/base" "$tree/src/expr" "$tree/src/emit" "$tree/src/store" \
    "$tree/src/script" "$tree/src/device" "$tree/src/tune"
  cp "$root/scripts/layers.txt" "$tree/scripts/"
  cp "$root/CMakeLists.txt" "$tree/"
  echo '#include <lua.h>' >"$tree/src/script/script_state.c"
  echo '#include <sqlite3.h>' >"$tree/src/store/store_open.c"
  printf '#include "base/base.h"\n#include "store/store.h"\n' >"$tree/src/emit/emit_select.c"
  echo '#include "cli/cli.h"' >"$tree/src/main.c"
}
check=("$root/scripts/check_layers" "$tree")

fresh
expect 0 'nothing to report' "${check[@]}"

fresh
echo '#include "expr/expr.h"' >"$tree/src/base/base_up.c"
expect 1 'src/base/base_up.c:1: base (layer 0) may not see expr (layer 1)' "${check[@]}"

fresh # the same line is not below
mkdir "$tree/src/search"
printf '\n#include "codegen/codegen.h"\n' >"$tree/src/search/search_side.c"
expect 1 'src/search/search_side.c:2: search (layer 5) may not see codegen (layer 5)' "${check[@]}"

fresh # narrower than the table
echo '#  include "spec/spec.h"' >"$tree/src/emit/emit_spec.c"
expect 1 \
  'src/emit/emit_spec.c:1: emit may not see spec: only base, json, measure, rule, script, store' \
  "${check[@]}"

fresh # one door for each outside world
echo '#include <lua.h>' >"$tree/src/tune/tune_lua.c"
expect 1 'src/tune/tune_lua.c:1: lua.h belongs to module script alone' "${check[@]}"
fresh
echo '#include "sqlite3.h"' >"$tree/src/tune/tune_sql.c"
expect 1 'sqlite3.h belongs to module store alone' "${check[@]}"
fresh
echo 'void *p = dlopen("libcuda.so.1", 1);' >"$tree/src/tune/tune_driver.c"
expect 1 'src/tune/tune_driver.c:1: libcuda belongs to module device alone' "${check[@]}"
fresh
echo 'void *p = dlopen("libcuda.so.1", 1);' >"$tree/src/device/device_cuda.c"
expect 0 'nothing to report' "${check[@]}"

fresh # a module's private headers are its own; a .def list is public
echo '#include "base/base_internal.h"' >"$tree/src/tune/tune_private.c"
expect 1 'base/base_internal.h is private to module base: include base/base.h' "${check[@]}"
fresh
echo '#include "base/base_status.def"' >"$tree/src/tune/tune_list.c"
expect 0 'nothing to report' "${check[@]}"

fresh # a module that nobody listed
mkdir "$tree/src/extra"
echo 'int x;' >"$tree/src/extra/extra.c"
expect 1 "module 'extra' is not in scripts/layers.txt" "${check[@]}"
fresh
echo '#include "nowhere/nowhere.h"' >"$tree/src/tune/tune_lost.c"
expect 1 "'nowhere' is no module of scripts/layers.txt" "${check[@]}"

fresh # CMakeLists.txt and the table must agree
sed -i 's/^sct_module(expr base)/sct_module(expr tune base)/' "$tree/CMakeLists.txt"
expect 1 'expr (layer 1) may not see tune (layer 8)' "${check[@]}"
fresh
sed -i '/^sct_module(emit/d' "$tree/CMakeLists.txt"
expect 1 "module 'emit' of scripts/layers.txt has no sct_module()" "${check[@]}"
fresh
sed -i 's/^sct_module(emit.*/sct_module(emit base)/' "$tree/CMakeLists.txt"
expect 1 'emit includes store/store.h, but sct_module(emit ...) in CMakeLists.txt' "${check[@]}"

expect 0 'nothing to report' "$root/scripts/check_layers" # and this tree keeps it
finish
