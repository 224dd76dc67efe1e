#!/usr/bin/env bash
# check_words must find a word in a page and in a text of the program, and in code those words that
# mean one thing only.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
mkdir -p "$tree/src/cli" "$tree/tuning" "$tree/docs/figures"
check=("$root/scripts/check_words" "$tree")
page() { printf '%s\n' "$@" >"$tree/docs/page.md"; }

page 'A directory, a `folder`, [text](folder.md).' '```' 'in this folder' '```'
echo 'a folder' >"$tree/docs/figures/old.md"
echo 'f("slot"); // behind it' >"$tree/src/cli/a.c"
echo '-- beside it' >"$tree/tuning/a.lua"
expect 0 '3 files, nothing to report' "${check[@]}"

page 'text' 'Two Folders.'
expect 1 "docs/page.md:2: 'folders': write directory" "${check[@]}"
page 'It holds them: unfolders.'
expect 0 'nothing to report' "${check[@]}"

echo 'f("no \"file\" beside it");' >"$tree/src/cli/a.c"
expect 1 "src/cli/a.c:1: 'beside': write next to" "${check[@]}"
echo 'f("a slot of the format");' >"$tree/src/cli/a.c"
expect 0 'nothing to report' "${check[@]}"
page 'A slot of the tile.'
expect 1 "'slot': write tile-local index" "${check[@]}"
page 'It is work that is bound' 'by memory, alas.'
expect 1 "docs/page.md:1: 'bound by memory': write memory-bound" "${check[@]}"
page 'It is bound' '' 'by memory.'
expect 0 'nothing to report' "${check[@]}"
page 'text'

echo 'static int find_twin(void); // of the same code' >"$tree/src/cli/a.c"
expect 1 "src/cli/a.c:1: 'twin': write duplicate" "${check[@]}"
echo 'f("folder");' >"$tree/src/cli/a.c"
expect 1 "src/cli/a.c:1: 'folder': write directory" "${check[@]}"
echo 'static int constraints, twine;' >"$tree/src/cli/a.c"
expect 0 'nothing to report' "${check[@]}"

echo 'return { doc = "the word behind" }' >"$tree/tuning/a.lua"
expect 1 "tuning/a.lua:1: 'behind': write after" "${check[@]}"

expect 0 'nothing to report' "$root/scripts/check_words"
finish
