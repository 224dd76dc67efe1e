#!/usr/bin/env bash
# check_headers must refuse a header that leans on what its includer happened to include.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
check=("$root/scripts/check_headers" "$tree")
mkdir -p "$tree/src/base" "$tree/src/expr" "$tree/src/empty"
expect 1 'there is no public header' "${check[@]}"
printf '#ifndef B_H\n#define B_H\n#include <stdint.h>\ntypedef int64_t b_id;\n#endif\n' \
  >"$tree/src/base/base.h"
expect 0 'check_headers: 1 headers' "${check[@]}"
printf 'b_id e_id(void);\n' >"$tree/src/expr/expr.h"
expect 1 'src/expr/expr.h does not compile alone' "${check[@]}"
# without an include guard
printf '#include "base/base.h"\nstruct e { b_id id; };\n' >"$tree/src/expr/expr.h"
expect 1 'src/expr/expr.h does not compile alone' "${check[@]}"
printf '#pragma once\n#include "base/base.h"\nstruct e { b_id id; };\n' >"$tree/src/expr/expr.h"
expect 0 'check_headers: 2 headers' "${check[@]}"
finish
