#!/usr/bin/env bash
# NVRTC where the loader knows none of its folders: found by path, with its other half beside it.
. "$(dirname "$0")/../shell.sh"

bare=("$root/scripts/bare_loader" env -u CUDA_HOME -u CUDA_PATH "XDG_CACHE_HOME=$scratch/cache")
expect 0 '' "${bare[@]:0:1}" --help
"${bare[0]}" true 2>/dev/null || { echo "left out: no mount namespace here"; exit 77; }
expect 3 '' "${bare[0]}" bash -c 'exit 3'

expect 0 '' "$SCT_PROGRAM" doctor --device virtual:h200
library=$(grep -o '/[^ ]*libnvrtc[^ ]*' "$scratch/output" | head -n 1)
library=$(realpath "${library:?doctor names no NVRTC}")
builtins=("$(dirname "$library")"/libnvrtc-builtins.so.*.*) # the version, then files it links to

# A toolkit in a folder of its own, and one that lacks a half.
mkdir -p "$scratch/whole/lib64" "$scratch/half/lib64"
cp "$library" "$scratch/whole/lib64/libnvrtc.so.13"
cp "${builtins[0]}" "$scratch/whole/lib64"
cp "$library" "$scratch/half/lib64/libnvrtc.so.13"
doctor=("$SCT_PROGRAM" doctor --device virtual:h200)
expect 0 "$scratch/whole/lib64/libnvrtc" "${bare[@]}" "CUDA_HOME=$scratch/whole" "${doctor[@]}"
expect 0 'ok    self-test' "${bare[@]}" "CUDA_HOME=$scratch/whole" "${doctor[@]}"
expect 4 "compiles nothing without $(basename "${builtins[0]}")" \
  "${bare[@]}" "SECTILE_NVRTC=$scratch/half/lib64/libnvrtc.so.13" "${doctor[@]}"
absent 'ok    NVRTC'
echo 'no library' >"$scratch/half/lib64/$(basename "${builtins[0]}")"
expect 4 'file too short' \
  "${bare[@]}" "SECTILE_NVRTC=$scratch/half/lib64/libnvrtc.so.13" "${doctor[@]}"
finish
