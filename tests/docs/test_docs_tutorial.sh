#!/usr/bin/env bash
# docs/tutorial.md does what it says.
. "$(dirname "$0")/follow.sh"
follow docs/tutorial.md
finish
