#!/usr/bin/env bash
# check_calls must find a call that goes past base_sys.h, and nothing else.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
check=("$root/scripts/check_calls" "$tree")
mkdir -p "$tree/src/base" "$tree/src/expr"
expect 1 'there is no source' "${check[@]}"
echo 'int f(void) { return open("x", 0); }' >"$tree/src/base/base_sys.c"
expect 1 'there is no source' "${check[@]}" # base itself is where they are
cat >"$tree/src/expr/expr.c" <<'C'
/* malloc() in words, over
 * two lines: fork() */
// free()
int f(void) { return door->open("open(x)") + d.write(1) + sct_read(1) + reopen(2); }
C
expect 0 'check_calls: 1 files, nothing to report' "${check[@]}"
for call in 'malloc(1)' 'free (p)' 'fork()' 'pthread_create(a, b, c, d)' 'rename("a", "b")'; do
  printf '/* one */\nint g(void) { return 1 + %s; }\n' "$call" >"$tree/src/expr/more.h"
  expect 1 "src/expr/more.h:2: ${call%%[ (]*}() is not called by its own name" "${check[@]}"
done
printf 'void f(void) {\n  SCT_OWNED int *p = g(1, 2), n = 0;\n}\n' >"$tree/src/expr/more.h"
expect 1 'src/expr/more.h:2: SCT_OWNED frees every variable of a declaration; expected one' \
  "${check[@]}"
printf '  SCT_OWNED int *p = g(1, 2);\n  SCT_OWNED_PTR(store) s = {1, 2};\n' \
  >"$tree/src/expr/more.h"
expect 0 'nothing to report' "${check[@]}"
finish
