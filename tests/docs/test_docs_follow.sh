#!/usr/bin/env bash
# follow.lua on pages that are right, and on pages with one mistake each.
. "$(dirname "$0")/../shell.sh"
mkdir "$scratch/empty"
cd "$scratch/empty" || exit 1

page() { # page STATUS TEXT: the page on standard input ends with STATUS and prints TEXT
  cat >"$scratch/page.md"
  expect "$1" "$2" lua5.4 "$root/tests/docs/follow.lua" "$scratch/page.md"
}

page 0 '4 commands, 1 files, 0 failed' <<'E1'
```lua some/file.lua
return 1
return 2
```

```lua in some/file.lua
return 2
```

```console
$ cat some/file.lua
return 1
return 2

$ seq 9; \
echo end
1
...
9
e...d
```

```console about
$ echo '7 of  10: 3.5 | x'
70 of 1: 4 | other cells
```

```console fails
$ echo wrong >&2; exit 3
wrong
```
E1
page 1 'page.md:2: echo a' <<<$'```console\n$ echo a\nb\n```'
page 1 'expected' <<<$'```console\n$ seq 3\n1\n2\n```'
page 1 'exit code 3' <<<$'```console\n$ exit 3\n```'
page 1 'succeeds, and should fail' <<<$'```console fails\n$ true\n```'
page 1 'words' <<<$'```console about\n$ echo 12 words\n12 other words\n```'
page 1 'do not stand in some/file.lua' <<<$'```lua in some/file.lua\nreturn 3\n```'
page 1 'nothing follows this block' <<<$'```lua\nreturn 3\n```'
page 1 '.ci/run does not run scripts/nothing' <<<$'```sh in-ci\nscripts/nothing\n```'

# The update keeps what matches and as many lines around `...` as there were.
printf '```console\n$ seq 5\n1\n9\n...\n9\n```\n' >"$scratch/page.md"
expect 0 '' env SECTILE_UPDATE_GOLDEN=1 lua5.4 "$root/tests/docs/follow.lua" "$scratch/page.md"
printf '```console\n$ seq 5\n1\n2\n...\n5\n```\n' >"$scratch/wanted.md"
expect 0 '' cmp "$scratch/wanted.md" "$scratch/page.md"
finish
