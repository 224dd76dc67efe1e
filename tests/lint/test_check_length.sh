#!/usr/bin/env bash
# check_length must find long files, functions and lines, and hold the list of exceptions to use.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
fresh() {
  rm -rf "$tree"
  mkdir -p "$tree/scripts" "$tree/src/base" "$tree/tests/base/golden" "$tree/tuning/layouts"
  echo '# none' >"$tree/scripts/length_exceptions.txt"
}
check=("$root/scripts/check_length" "$tree")

repeat() { # repeat N LINE
  local i
  for ((i = 0; i < $1; i++)); do
    printf '%s\n' "$2"
  done
}

c_function() { # c_function NAME BODY-LINES: 2 lines more than its body
  printf 'static int %s(int a,\n        int b) {\n' "$1"
  repeat "$(($2 - 1))" '  a += b;'
  printf '}\n'
}

fresh
{
  printf 'typedef struct big {\n'
  repeat 90 '  int x;'
  printf '} big;\nstatic const int table[] = {\n'
  repeat 90 '    1,'
  printf '};\nint prototype(int a,\n    int b);\n'
  repeat 40 'BINARY(add, a + b)'
  repeat 20 $'TERNARY(mad,\n        a * b + c)'
  c_function fits 78
} >"$tree/src/base/base_fits.c"
expect 0 '1 files, 1 functions, nothing to report' "${check[@]}"

fresh
{
  c_function fits 78
  echo 'int later(void);'
  c_function too_long 79
} >"$tree/src/base/base_long.c"
expect 1 'src/base/base_long.c:82: function too_long has 81 lines, at most 80' "${check[@]}"
absent 'function fits'

fresh # the reason belongs to one function and one length
c_function step 139 >"$tree/src/base/base_step.c"
echo 'src/base/base_step.c:step 141 a dispatch loop' >"$tree/scripts/length_exceptions.txt"
expect 0 'nothing to report' "${check[@]}"
echo 'src/base/base_step.c:step 140 a dispatch loop' >"$tree/scripts/length_exceptions.txt"
expect 1 'function step has 141 lines, at most 140' "${check[@]}"
echo 'src/base/base_step.c:step 141' >"$tree/scripts/length_exceptions.txt"
expect 1 'length_exceptions.txt:1: expected: path[:function] lines reason' "${check[@]}"
c_function step 10 >"$tree/src/base/base_step.c"
echo 'src/base/base_step.c:step 141 a dispatch loop' >"$tree/scripts/length_exceptions.txt"
expect 1 'src/base/base_step.c:step needs no exception: take the line out' "${check[@]}"

fresh
repeat 900 '/* line */' >"$tree/src/base/base_file.c"
expect 0 'nothing to report' "${check[@]}"
echo '/* line */' >>"$tree/src/base/base_file.c"
expect 1 'src/base/base_file.c:1: the file has 901 lines, at most 900' "${check[@]}"

fresh # columns are characters, not bytes
printf '/* %s */\n' "$(repeat 94 'é' | tr -d '\n')" >"$tree/src/base/base_wide.c"
expect 0 'nothing to report' "${check[@]}"
printf '/* %s */\n' "$(repeat 95 'é' | tr -d '\n')" >"$tree/src/base/base_wide.c"
expect 1 'src/base/base_wide.c:1: 101 columns, at most 100' "${check[@]}"
mv "$tree/src/base/base_wide.c" "$tree/tests/base/golden/wide.c" # data is as wide as it is
expect 0 'nothing to report' "${check[@]}"

fresh
{
  printf 'local M = {}\nfunction M.long(a)\n'
  repeat 59 '  a = a + 1'
  printf 'end\nlocal function short()\n  if x then\n    y()\n  end\nend\n'
} >"$tree/tuning/layouts/long.lua"
expect 1 'tuning/layouts/long.lua:2: function M.long has 61 lines, at most 60' "${check[@]}"
absent 'short'

fresh # 3 of 10 lines may be Lua
mkdir -p "$tree/templates"
{
  repeat 3 '  //% x()'
  repeat 7 'int y; //% no line of Lua'
} >"$tree/templates/some.cu"
expect 0 'nothing to report' "${check[@]}"
echo '//% x()' >>"$tree/templates/some.cu"
expect 1 'templates/some.cu:1: Lua in the template has 4 lines, at most 3' "${check[@]}"

fresh
{
  printf '#!/usr/bin/env bash\nlong() {\n'
  repeat 79 '  true'
  printf '}\n'
} >"$tree/scripts/tool"
expect 1 'scripts/tool:2: function long has 81 lines, at most 80' "${check[@]}"
finish
