#!/usr/bin/env bash
# What tests/gpu/ways.py asks of ways from the host and back, on a virtual device. Skipped without
# NVRTC.
. "$(dirname "$0")/../shell.sh"
needs_nvrtc

ways() { "$root/tests/gpu/ways.py" "$SCT_PROGRAM" "$scratch/ways" --device "$1"; }
expect 0 'all as it should be' ways virtual:h200
expect 0 'halves on two devices' ways virtual:h200,virtual:h200
expect 77 '' ways cuda:99
expect 77 '' ways virtual:h200,cuda:99
finish
