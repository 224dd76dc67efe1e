#!/usr/bin/env bash
# tests/gpu/acceptance.py on a tree of its own, with a program and a compiler that do nothing: no
# kernel of a worked spec goes without a reference unnoticed.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
fake=$scratch/fake
mkdir -p "$tree/tests/gpu" "$tree/tuning" "$tree/scripts/suite" "$fake"
cp -r "$root/tuning/kernels" "$tree/tuning/"
cp "$root/scripts/suite/worked.py" "$tree/scripts/suite/"
cp "$root/tests/gpu/"{acceptance.py,headers.cu,launches.cu} "$tree/tests/gpu/"
calls=$scratch/calls
for name in sectile nvcc; do # sectile emit NAME ... -o FILE; nvcc ... -o FILE
  printf '#!/bin/bash\necho "%s $*" >>%q\n[ "$*" != "${FAILS:-}" ] && touch "${@: -1}"\n' \
    "$name" "$calls" >"$fake/$name"
  chmod +x "$fake/$name"
done
build() { # build: the headers, without running them
  : >"$calls"
  PATH="$fake:$PATH" python3 "$tree/tests/gpu/acceptance.py" "$fake/sectile" "$scratch/out" \
    --build --arch sm_90 "$@"
}

n=$(cd "$root/scripts/suite" && python3 -c 'import worked; print(len(worked.kernels()))')
expect 0 "a reference for $n of $n worked kernels" build
expect 0 "0 problems" build
for name in permute6_f32 record12_soa_to_aos; do
  expect 0 "" grep -qF -- "-DKERNEL_$name -include $scratch/out/inline/$name.h" "$calls"
done
expect 0 "" grep -qF -- "emit permute6_f32 --store $scratch/out/store.db" "$calls"
expect 0 "0 problems" build --forms c
expect 0 "" grep -qF -- "$scratch/out/c/permute6_f32_kernels.c -c -o" "$calls"

expect 0 "0 problems" build --only '^permute6'
expect 0 "" grep -qF -- "-DKERNEL_permute6_f32" "$calls"
expect 1 "" grep -qE -- "-DKERNEL_record12_soa_to_aos|launches" "$calls"

echo 'return nil' >"$tree/tuning/kernels/brand_new.lua"
expect 1 "neither there nor excused: brand_new" build
sed -i 's/^NO_REFERENCE = {}/NO_REFERENCE = {"brand_new": "it draws lots"}/' \
  "$tree/tests/gpu/acceptance.py"
expect 0 "brand_new: its header is not tried: it draws lots" build

rm "$tree/tuning/kernels/brand_new.lua" "$tree/tuning/kernels/stride3.lua"
expect 1 "every reference is of a worked kernel, but: brand_new, stride3" build

cp "$root/tuning/kernels/stride3.lua" "$tree/tuning/kernels/"
FAILS="emit stride3 --store $scratch/out/store.db --form inline -o $scratch/out/inline/stride3.h"
export FAILS
expect 1 "emit stride3" build
finish
