#!/usr/bin/env bash
# A build without SCT_FAULTS must not look at the environment variable, and count nothing.
. "$(dirname "$0")/../shell.sh"

cc=${CC:-gcc}
build=("$cc" -std=c11 -O1 -D_GNU_SOURCE -I"$root/src" -c -o "$scratch/object.o")
for source in base_faults base_memory base_sys; do
  expect 0 '' "${build[@]}" "$root/src/base/$source.c"
  expect 0 '' nm "$scratch/object.o"
  absent sct_fault
  absent getenv
done
expect 0 '' "${build[@]}" -DSCT_FAULTS "$root/src/base/base_faults.c"
expect 0 getenv nm "$scratch/object.o" # so the check above can fail
finish
