#!/usr/bin/env bash
# The examples of the reference pages do what the pages say.
. "$(dirname "$0")/follow.sh"
follow docs/specs.md
follow docs/layouts.md
follow docs/strategies.md
follow docs/fleet.md
follow docs/transfer.md
follow docs/devices.md
finish
