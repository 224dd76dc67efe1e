#!/usr/bin/env bash
# docs/cookbook.md does what it says.
. "$(dirname "$0")/follow.sh"
follow docs/cookbook.md
finish
