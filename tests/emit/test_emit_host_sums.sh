#!/usr/bin/env bash
# Functions for arrays of the host whose chunks go onto what those before have left: in C and C++
# with a runtime of our own, whose streams run as late as they may. Skipped where there is no
# toolkit.
. "$(dirname "$0")/../shell.sh"
here="$root/tests/emit/host"
needs_toolkit

cd "$scratch" || exit 1
sectile() { "$SCT_PROGRAM" "$@" --store "$scratch/store.db"; }
strict() { "$@" -Wall -Wextra -Wpedantic -Werror -g -O1 -I. -I"$here" -isystem "$toolkit/include"; }
build() { # build LANGUAGE [OPTION...]: main.c and the header of this folder
  # shellcheck disable=SC2086 # a compiler and its options
  expect 0 '' strict $1 "${@:2}" main.c -c -o main.o
  expect 0 '' g++ main.o "$scratch/runtime.o" -pthread -o main
}
emit() { # its header, by nvcc without a warning, and as C
  expect 0 '' sectile tune sums.lua -d virtual:h200 --only 'direct threads=256' -q
  expect 0 '' sectile emit sums.lua -o sums.h -q
  printf '#include "sums.h"\n' >user.cu
  expect 0 '' "$nvcc" -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -c user.cu \
    -o user.o
  expect 0 '' sectile emit sums.lua --form c -o sums.h -q
}
cc='gcc -std=c11' cxx='g++ -std=c++14 -x c++ -pthread'
expect 0 '' strict gcc -std=c11 -c "$here/runtime.c" -o runtime.o
cp "$here/sums.lua" .
{ echo '#define sums_IMPLEMENTATION' && cat "$here/sums.c"; } >main.c
emit
for language in "$cc" "$cxx"; do
  build "$language"
  expect 0 'right, ' ./main
done

fails() { ! "$@" && return 1; } # wrong results, or keys that had not come
# Each of these is missed where it is taken away.
without() { # without LANGUAGE TEXT [REPLACEMENT]
  mkdir -p mutant && cp main.c mutant/
  sed "s/$2/${3:-}/" sums.h >mutant/sums.h
  expect 1 '' cmp -s sums.h mutant/sums.h
  cd mutant || exit 1
  build "$1 -w"
  expect 1 '' fails ./main
  cd ..
}
wait='error = cudaStreamWaitEvent'
in_part && without "$cc" "$wait(stream, h->plan->combined, 0);" ';'
in_part && without "$cc" "$wait(p->streams\\[0\\], p->combined, 0);" ';'
in_part && without "$cc" 'launch_onto(c, stream, false)' 'launch_onto(c, stream, true)'
in_part && without "$cc" 'error = cudaMemsetAsync(p->whole\[k\].*' ';'
in_part && without "$cc" 'error = cudaMemsetAsync(at\[k\].*' ';'
in_part && without "$cc" 'is_in\[\] = {true, true, false, false, true}' \
  'is_in[] = {true, true, false, false, false}'
in_part && without "$cc" 'is_shared\[\] = {false, false, true, false, true}' \
  'is_shared[] = {false, false, true, false, false}'
in_part && without "$cxx" 'h->turn < which' 'false'

# The sums stay on the device, over many calls.
sed -i '/"bin" }, at = { "key" }/s/accumulate/host = false, &/' sums.lua
emit
expect 0 'Of `total`, `top` it takes device pointers' cat sums.h
for language in "$cc" "$cxx"; do
  build "$language" -DSUMS_DEVICE=20
  expect 0 'right, ' ./main
done
finish
