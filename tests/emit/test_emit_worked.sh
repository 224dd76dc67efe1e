#!/usr/bin/env bash
# From worked specs to programs, by the commands that users type: headers in every form, through
# nvcc, a C and a C++ compiler without a warning, and all of them in one program. A run has a part
# of the specs, and each round of parts puts others together. What compilers make of the host side
# of all headers, by standard, is in tests/cli/test_cli_compilers.c. Skipped without a toolkit.
. "$(dirname "$0")/../shell.sh"
needs_toolkit

cd "$scratch" || exit 1
mkdir inline cuda c
worked='import worked
for name, (spec, params) in worked.kernels().items():
    print(name, spec, *worked.options(params))'
(cd "$root/scripts/suite" && python3 -c "$worked") >all
[ "$(wc -l <all)" -ge 90 ] || fail 'not all worked kernels'
round=${SECTILE_TEST_PART:-0/1}
shuf --random-source=<(yes "$((${round%/*} / ${round#*/}))") all | while read -r line; do
  if in_part; then echo "$line"; fi
done >kernels
tuned() { # tuned LOG SPEC OPTION...
  "$SCT_PROGRAM" tune "${@:2}" -d virtual:h200 -q >"$1" 2>&1
}
naive='direct threads=256' # kernels with a choice of layouts have none of that label
emit() { # emit I: the headers of every other kernel, the naive variant alone
  local name words form
  awk "NR % 2 == $1" kernels | while read -r name words; do
    # shellcheck disable=SC2086 # a spec and its parameters
    tuned "$name.log" $words --store "$1.db" --only "$naive" ||
      tuned "$name.log" $words --store "$1.db" --max-candidates 1 || cat "$name.log"
    for form in inline cuda c; do
      # shellcheck disable=SC2086
      "$SCT_PROGRAM" emit $words --store "$1.db" --form $form -o "$form/$name.h" -q
    done
  done
}
emit 0 >said.0 2>&1 &
emit 1 >said.1 2>&1
wait
expect 1 '' grep . said.0 said.1

n=$(wc -l <kernels)
[ "$n" -ge 20 ] || fail "$n worked kernels"
for form in inline cuda c; do
  [ "$(find $form -name '*.h' | wc -l)" = "$n" ] || fail "not all headers: $form"
  sed 's/ .*//; s/.*/#include "&.h"/' kernels >$form/all.h
done
printf '#include "all.h"\nint main(void) { return 0; }\n' >main.c
sed 's/ .*//; s/.*/#define &_IMPLEMENTATION/' kernels | cat - main.c >defines.c
cp main.c main.cc
cp defines.c defines.cc
cp defines.c main.cu

strict() { "$@" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -isystem "$toolkit/include"; }
expect 0 '' strict gcc -std=c11 -Icuda main.c
expect 0 '' strict gcc -std=c11 -Ic defines.c
expect 0 '' strict g++ -std=c++14 -Icuda main.cc
expect 0 '' strict g++ -std=c++14 -Ic defines.cc
through_nvcc() {
  expect 0 '' "$nvcc" "-std=$1" -arch=sm_90 -Werror all-warnings \
    -Xcompiler -Wall,-Wextra,-Werror "-I$2" -c main.cu -o main.o
}
through_nvcc c++11 inline
through_nvcc c++20 cuda
for pair in 'histogram accumulate' 'csr_spmv ragged'; do
  spec=$root/tuning/kernels/${pair% *}.lua
  label=$("$SCT_PROGRAM" gen "$spec" -d virtual:h200 --list | grep "^${pair#* } " | sed -n 1p)
  "$SCT_PROGRAM" gen "$spec" -d virtual:h200 --pick "$label" >"${pair#* }.cu" 2>said ||
    fail "no kernel of $pair"
done
mkdir golden
expect 0 '' "$SCT_GOLDEN" test_codegen_golden golden
n=0
for kernel in golden/*.cu {accumulate,ragged}.cu; do # in one run of nvcc
  n=$((n + 1))
  printf 'namespace %s {\n#include "%s"\n}\n' "$(basename "$kernel" .cu)" "$kernel"
done >kernels.cu
[ "$n" -ge 37 ] || fail 'not all golden kernels'
expect 0 '' "$nvcc" -std=c++11 -arch=sm_90 -Werror all-warnings -diag-suppress 177,550 \
  -include cstdint -ptx -o kernels.ptx kernels.cu # headers suppress these, too
# nvcc and NVRTC differ in what they make of alignments; a vector without its own is stored in
# parts, which no result shows.
expect 0 'st.global.wb.v4.u32' sed -n '/\.entry .*stencil3d_registers/,/^}/p' kernels.ptx
absent 'st.global.wb.u32'
echo 'float unused(int x) { int y; return 0; }' >>cuda/all.h # it can fail
expect 1 'unused' strict g++ -std=c++11 -Icuda main.cc
finish
