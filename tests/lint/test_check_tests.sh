#!/usr/bin/env bash
# check_tests must count what a person wrote, and fail below 0.6 lines of test a line of source.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
lines() { # lines N FILE
  mkdir -p "$(dirname "$2")"
  yes 'line' | head -n "$1" >"$2"
}
check=("$root/scripts/check_tests" "$tree")

mkdir -p "$tree"
expect 1 'there is no source' "${check[@]}"
lines 60 "$tree/src/base/base.c"
lines 30 "$tree/templates/map.cu"
lines 10 "$tree/tuning/layouts/aos.lua"
expect 1 '100 lines of source, 0 lines of tests' "${check[@]}"
lines 59 "$tree/tests/base/test_base.c"
expect 1 '100 lines of source, 59 lines of tests, 0.59 a line' "${check[@]}"
lines 500 "$tree/tests/oracle/h200.csv" # data does not count
lines 500 "$tree/tests/oracle/micro.cu"
lines 500 "$tree/tests/emit/golden/a.h"
lines 500 "$tree/tests/fuzz/corpus/one"
expect 1 '59 lines of tests' "${check[@]}"
lines 1 "$tree/tests/lint/test_a.sh"
expect 0 '60 lines of tests, 0.60 a line' "${check[@]}"
finish
