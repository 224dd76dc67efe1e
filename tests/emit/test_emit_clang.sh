#!/usr/bin/env bash
# clang as the compiler of CUDA takes emitted headers, kernels and host. Skipped where no clang here
# knows the toolkit: of CUDA 13 those from 22 on do. CLANG_CUDA names one.
. "$(dirname "$0")/../shell.sh"
needs_toolkit
cuda() { "$1" -x cuda "--cuda-path=$toolkit" -std=c++17 -w "${@:2}"; }
device='--cuda-device-only -S --cuda-gpu-arch=sm_90'
echo '__global__ void k() {}' >"$scratch/empty.cu"
found=
for clang in ${CLANG_CUDA:-} clang++ clang++-{22..30}; do
  # shellcheck disable=SC2086 # options
  if command -v "$clang" >/dev/null && cuda "$clang" $device "$scratch/empty.cu" -o /dev/null \
    2>/dev/null; then
    found=$clang
    break
  fi
done
[ -n "$found" ] || {
  echo "no clang here compiles CUDA of $toolkit"
  exit 77
}

cd "$scratch" || exit 1
for spec in transpose_f32 softmax transpose_u8; do
  file="$root/tuning/kernels/$spec.lua"
  expect 0 '' "$SCT_PROGRAM" tune "$file" -d virtual:h200 --max-candidates 4 --store store.db -q
  expect 0 '' "$SCT_PROGRAM" emit "$file" --store store.db -o "$spec.h" -q
  echo "#include \"$spec.h\"" >"$spec.cu"
  # shellcheck disable=SC2086
  expect 0 '' cuda "$found" $device "$spec.cu" -o "$spec.ptx"
  expect 0 '.entry' cat "$spec.ptx"
  expect 0 '' cuda "$found" --cuda-host-only -c "$spec.cu" -o "$spec.o"
done
finish
