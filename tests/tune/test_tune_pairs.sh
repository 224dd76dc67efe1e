#!/usr/bin/env bash
# Figures that others published come out, each predicted with a constant that the others give; and
# the descriptions say how far off.
. "$(dirname "$0")/../shell.sh"
needs_nvrtc
command -v python3 >/dev/null || exit 77
expect 0 'rtx_3050' python3 "$root/scripts/pairs" --sectile "$SCT_PROGRAM"
expect 0 '' "$SCT_PROGRAM" devices
for held in rtx_a2000:9 rtx_4050:6 t4:3 rtx_3050:1; do
  checks=$((checks + 1))
  grep -q "^virtual:${held%:*} .* ${held#*:} % off" "$scratch/output" || fail "$held"
done
finish
