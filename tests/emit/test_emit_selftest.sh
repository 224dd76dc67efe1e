#!/usr/bin/env bash
# Files that `emit --selftest` writes: they compile without a warning in all forms, pass where a
# runtime of our own computes what the spec says, and say what is wrong where it does not. On a GPU
# tests/gpu/selftests.py runs those of all worked kernels. Skipped where there is no toolkit.
. "$(dirname "$0")/../shell.sh"
here="$root/tests/emit/selftest"
needs_toolkit

cd "$scratch" || exit 1
sectile() { "$SCT_PROGRAM" "$@" --store "$scratch/store.db"; }
strict() { "$@" -Wall -Wextra -Wpedantic -Werror -O2 -I. -isystem "$toolkit/include"; }
expect 0 '' sectile tune "$here/turned.lua" -d virtual:h200 --max-candidates 3 -q \
  --add-size row=256,col=128
expect 0 '' sectile export -o times.json # a rule with a threshold between both
expect 0 '' python3 "$here/split.py" times.json
rm store.db
expect 0 '' sectile import times.json
emit() { sectile emit "$here/turned.lua" --form "$1" -o turned.h --selftest turned_test.h -q; }
printf '#define turned_SELFTEST_MAIN\n#include "turned_test.h"\n' >main.c
cp main.c main.cu
for form in inline cuda; do
  expect 0 '' emit $form
  expect 0 '' "$nvcc" -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror main.cu \
    -o main
done
# a program that has the kernels anyway, and calls the function
printf '#define turned_IMPLEMENTATION\n#include "turned.h"\n#include "turned_test.h"\n' >kernels.c
printf '%s\n' '#include <stdio.h>' '#include "turned.h"' \
  'extern const char *turned_selftest(cudaStream_t stream);' \
  'int main(void) { return turned_selftest(NULL) == NULL ? puts("fine") < 0 : 2; }' >user.c
expect 0 '' emit c
expect 0 '' strict cc -std=c11 kernels.c user.c "$here/runtime.c" -o user
expect 0 'fine' ./user
for compiler in 'gcc -std=c11' 'g++ -std=c++11 -x c++' 'clang -std=c11' \
  'clang++ -std=c++20 -x c++'; do
  command -v "${compiler%% *}" >/dev/null || continue
  # shellcheck disable=SC2086 # a compiler and its options
  expect 0 '' strict $compiler -c main.c -o main.o
done
expect 0 '' strict gcc -std=c11 main.c "$here/runtime.c" -o main
expect 0 'turned: right' ./main
expect 0 '' strict gcc -std=c11 -Dturned_SELFTEST_BYTES=1000 main.c "$here/runtime.c" -o small
expect 0 ' launches' ./main
# of what is computed the last digits may differ, of integers none
for fault in rounding 'half rounding'; do
  expect 0 'turned: right' env FAULT="$fault" ./main
done
expect 1 'b is wrong at byte ' env FAULT=value ./main
expect 1 'b is wrong at byte ' env FAULT=integer ./main
expect 1 'c is wrong at byte 0: 0x' env FAULT=half ./main
expect 1 ' of b, which is outside of the array' env FAULT=outside ./main
expect 1 ' of a, an input' env FAULT=input ./main
expect 1 'turned, the kernel of a call at n_row=' env FAULT=input ./main
# paths for addresses of arrays
for fault in aligned alike unlike before; do
  expect 1 'b is wrong ' env FAULT=$fault ./main
done
# a variant that is wrong just above the threshold of the rule
expect 1 'turned, the kernel of a call at n_row=129 n_col=64: b is wrong' env FAULT=threshold ./main
expect 0 'turned: right' env FAULT=threshold ./small
expect 1 ': launch failure' env FAULT=launch ./main
expect 1 'turned, memory at n_row=' env FAULT=memory ./main
# tiles of a kernel of the user's own, 4 x 4 of them and more
mutants=$root/tests/mutants/tile
expect 0 '' sectile tune "$mutants/spec.lua" -d virtual:h200 --only 'own_k MUT=0' -q
expect 0 '' sectile emit "$mutants/spec.lua" --form c -o m_tile.h --selftest m_tile_test.h -q
printf '#define m_tile_SELFTEST_MAIN\n#include "m_tile_test.h"\n' >own.c
expect 0 '' gcc -O1 -c -I. -isystem "$toolkit/include" own.c -o own.o
tile() {
  expect 0 '' g++ -std=c++17 -O1 -fwrapv -Wall -Wextra -isystem "$toolkit/include" "-DMUT=$1" \
    "-DKERNEL=\"$mutants/k.cu\"" "$here/own.cc" own.o -o own
}
tile 0
expect 0 'm_tile: right' ./own
tile 7
expect 1 'm_tile, the kernel of a call at ' ./own
# the same store gives the same bytes; results that are worked out anew are the same
cp turned_test.h first.h
expect 0 '' emit c
expect 0 '' cmp turned_test.h first.h
expect 2 'name the spec file' sectile emit turned -o turned.h --selftest turned_test.h
expect 2 'name the header with -o' sectile emit "$here/turned.lua" --selftest turned_test.h
expect 2 'write both into one directory' sectile emit "$here/turned.lua" -o turned.h \
  --selftest ../x.h
finish
