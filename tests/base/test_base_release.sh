#!/usr/bin/env bash
# What is for tests is in test programs only: a build without SCT_FAULTS looks at no such variable
# and counts nothing, and no program but those of tests holds a test double.
. "$(dirname "$0")/../shell.sh"

cc=${CC:-gcc}
build=("$cc" -std=c11 -O1 -D_GNU_SOURCE -I"$root/src" -c -o "$scratch/object.o")
for source in base_memory base_sys; do
  expect 0 '' "${build[@]}" "$root/src/base/$source.c"
  expect 0 '' nm "$scratch/object.o"
  absent sct_fault
  absent getenv
done
expect 0 '' "${build[@]}" -DSCT_FAULTS "$root/tests/doubles/base_faults.c"
expect 0 getenv nm "$scratch/object.o" # so the check above can fail

# ---- the program and the one of the tests ----

# Messages and words of the doubles that no other source has; no headers, which sanitizers name.
doubles=("$root/tests/worker/fake_gpu.c" "$root/tests/compile/misbehave.c")
grep -ohE '"[^"\\%]{6,}"' "${doubles[@]}" | tr -d '"' | grep -v '\.h$' | sort -u |
  while read -r text; do
    grep -rqF -- "$text" "$root/src" "$root/templates" "$root/tuning" || echo "$text"
  done >"$scratch/texts"
expect 0 SECTILE_FAKE_GPU cat "$scratch/texts"
expect 0 'Fake GPU' cat "$scratch/texts"
expect 0 '//!crash' cat "$scratch/texts"
expect 0 '' grep -aoFf "$scratch/texts" "$SCT_PROGRAM" # so the next check can fail
expect 1 '' grep -aoFf "$scratch/texts" "$SCT_RELEASED"
expect 0 'Fake GPU' env SECTILE_FAKE_GPU=ok "$SCT_PROGRAM" devices
expect 0 'virtual:h200' env SECTILE_FAKE_GPU=ok SCT_FAKE_GPU=ok "$SCT_RELEASED" devices
absent 'Fake GPU'
finish
