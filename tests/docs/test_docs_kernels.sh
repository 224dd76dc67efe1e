#!/usr/bin/env bash
# docs/kernels.md shows what the generator writes.
. "$(dirname "$0")/../shell.sh"
expect 2 'scripts/kernels PROGRAM [--check]' "$root/scripts/kernels"
expect 0 '4 kernels, current' "$root/scripts/kernels" "$SCT_RELEASED" --check
finish
