#!/usr/bin/env bash
# follow.lua on pages that are right, and on pages with one mistake each.
. "$(dirname "$0")/../shell.sh"
mkdir "$scratch/empty"
cd "$scratch/empty" || exit 1

page() { # page STATUS TEXT: the page on standard input ends with STATUS and prints TEXT
  cat >"$scratch/page.md"
  expect "$1" "$2" lua5.4 "$root/tests/docs/follow.lua" "$scratch/page.md"
}

page 0 '4 commands, 1 files, 0 pictures, 0 failed' <<'E1'
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
$ echo '7 of  10: 3.5 | 1024'
7.3 of 10: 3.4 | 1000
```

```console fails
$ echo wrong >&2; exit 3
wrong
```
E1
page 0 '2 pictures, 0 failed' <<'E2'
```sectors 8 3 * lane
line 0    |0..1|..2.|.3..|4..5|
...
24 sectors where 8 would do
```

```banks 4 lane // 2 * 32
bank          |0       8       16      24     31|
wavefront 1   |*...............................|
...
16 wavefronts where 1 would do
```
E2
page 1 '4 sectors, as few as can be' <<'E3'
```sectors 4 lane ~ 1
line 0    |01234567|89abcdef|ghijklmn|opqrstuv|
4 sectors, as few as can be
```
E3
page 1 'a shape is 4, 4x16 or 4x16/64' <<<$'```sectors\n```'
page 1 'page.md:2: echo a' <<<$'```console\n$ echo a\nb\n```'
page 1 'expected' <<<$'```console\n$ seq 3\n1\n2\n```'
page 1 'exit code 3' <<<$'```console\n$ exit 3\n```'
page 1 'succeeds, and should fail' <<<$'```console fails\n$ true\n```'
page 1 'expected' <<<$'```console about\n$ echo "4 | 100"\n4 | 115\n```'
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
