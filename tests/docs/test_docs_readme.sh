#!/usr/bin/env bash
# README.md does what it says.
. "$(dirname "$0")/follow.sh"
follow README.md
finish
