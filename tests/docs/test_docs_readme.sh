#!/usr/bin/env bash
# README.md and the FAQ do what they say.
. "$(dirname "$0")/follow.sh"
follow README.md
follow docs/faq.md
finish
