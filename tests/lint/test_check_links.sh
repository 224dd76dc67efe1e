#!/usr/bin/env bash
# check_links must find a link to a file or a heading that is not there.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
mkdir -p "$tree/docs/figures"
check=("$root/scripts/check_links" "$tree")
{
  printf '# A `page`, of two\n\n'
  printf '[a](docs/b.md#two-words) [b](#a-page-of-two) [c](https://x.y/z)\n'
} >"$tree/README.md"
printf '## Two words\n\n[up](../README.md) `[no](link.md)`\n```\n[no](link.md)\n## Code\n```\n' \
  >"$tree/docs/b.md"
expect 0 '3 links, nothing to report' "${check[@]}"
echo '[gone](c.md)' >>"$tree/docs/b.md"
expect 1 'docs/b.md:8: there is no docs/c.md' "${check[@]}"
echo '[code](../b.md#code)' >"$tree/docs/figures/c.md"
expect 1 'docs/figures/c.md:1: docs/b.md has no heading #code' "${check[@]}"
expect 0 'nothing to report' "$root/scripts/check_links"
finish
