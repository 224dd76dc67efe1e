#!/usr/bin/env bash
# Functions for arrays of the host: in C and C++ with a runtime of our own, whose streams run as
# late as they may; by nvcc without a warning. Skipped where there is no toolkit.
. "$(dirname "$0")/../shell.sh"
here="$root/tests/emit/host"
needs_toolkit

cd "$scratch" || exit 1
sectile() { "$SCT_PROGRAM" "$@" --store "$scratch/store.db"; }
strict() { "$@" -Wall -Wextra -Wpedantic -Werror -g -O1 -I. -I"$here" -isystem "$toolkit/include"; }
for kernel in mixed stencil; do
  # first without `host`: the header says how it comes to have it, and nothing is measured again
  sed '/host = true/d' "$here/$kernel.lua" >$kernel.lua
  tune() { sectile tune $kernel.lua -d virtual:h200 --only 'direct threads=256' "$@"; }
  expect 0 '' tune -q
  sectile export | grep '"measured"' >before
  cp "$here/$kernel.lua" .
  expect 8 'has it without `host`' sectile emit $kernel.lua -o $kernel.h
  expect 0 '' tune -q
  sectile export | grep '"measured"' >after
  expect 0 '' cmp before after
  expect 0 '' sectile emit $kernel.lua -o $kernel.h -q
  printf '#include "%s.h"\n' $kernel >user_$kernel.cu
  expect 0 '' "$nvcc" -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -c \
    user_$kernel.cu -o user.o
  expect 0 '' sectile emit $kernel.lua --form c -o $kernel.h -q
done
printf '#define mixed_IMPLEMENTATION\n#define stencil_IMPLEMENTATION\n' >main.c
cat "$here/main.c" >>main.c
expect 0 '' strict gcc -std=c11 -c "$here/runtime.c" -o runtime.o
right() { # right [OPTION...]: in both languages
  for language in 'gcc -std=c11' 'g++ -std=c++14 -x c++ -pthread'; do
    # shellcheck disable=SC2086 # a compiler and its options
    expect 0 '' strict $language "$@" main.c -c -o main.o
    expect 0 '' g++ main.o runtime.o -pthread -o main
    expect 0 'right, ' ./main
    [ -e order.txt ] || ./main order >order.txt # in C, by one thread
  done
}
right
# `transfer` makes the same calls in the same order (tests/host/test_host_code.c).
expect 0 '' diff order.txt "$here/order.txt"

# What waits for what, and which elements a chunk needs: each is missed where it is taken away.
where=
without() { # without HEADER TEXT [REPLACEMENT]
  sed "s/$2/${3:-}/" "$1.h" >mutant.h
  expect 1 '' cmp -s "$1.h" mutant.h
  mkdir -p mutant && cp main.c mixed.h stencil.h mutant/ && mv mutant.h "mutant/$1.h"
  # shellcheck disable=SC2086 # options
  expect 0 '' gcc -std=c11 -g $where -I"$here" -isystem "$toolkit/include" -c mutant/main.c \
    -o mutant.o
  expect 0 '' gcc mutant.o runtime.o -o mutant/main
  expect 1 'wrong, ' mutant/main
}
# What runs on a GPU is built. A run has a part of all this.
in_part && expect 0 '' "$root/tests/gpu/host.py" "$SCT_PROGRAM" "$scratch/gpu" --build

wait='error = cudaStreamWaitEvent'
in_part && without stencil '_before = 1' '_before = 0'
in_part && without stencil '_after = 2' '_after = 1'
in_part && without mixed "$wait(first, p->begun, 0);" ';'
in_part && without mixed "$wait(p->streams\\[s\\], p->whole_there, 0);" ';'
in_part && without mixed "$wait(first, p->ends\\[s\\], 0);" ';'
in_part && without mixed "$wait(stream, p->ends\\[s\\], 0);" ';'
in_part && without stencil ' + h->chunk - 1) \/ h->chunk' ') \/ h->chunk'
in_part && without mixed 'error = cudaEventSynchronize(p->begun);' ';'
in_part && without mixed 'waits ? mixed_detail_finish(h, slot) :' ''
in_part && without mixed 'error = cudaEventRecord(slot->done, slot->stream);' ';'
in_part && without mixed 'p->ring_in\[k\] = in;' 'p->ring_in[k] = 0;'
in_part &&
  without mixed 'is_in\[\] = {true, true, true, true}' 'is_in[] = {true, true, true, false}'
in_part &&
  without mixed 'is_in\[\] = {true, true, true, true}' 'is_in[] = {true, true, false, true}'
in_part && without mixed 'mixed_detail_copy_in(ring, from, bytes\[k\])' ''
in_part && without mixed 'mixed_detail_copy_out(slot->to\[k\].*' ';'
in_part && without stencil '(own - first) \* h->steps\[k\]' '0'
in_part && without stencil 'own_end - own) \* h->steps' 'own_end - first) * h->steps'
in_part && without mixed 'cudaEventDestroy(slot->done)' '(void)0'
in_part && without mixed 'cudaStreamSynchronize(p->streams\[s\]);' ';'

# Arrays that stay on the device: the table and the array that is updated in place; the stencil's
# output. Headers come to have it as they come to have `host`.
sed -i 's/dims = { "col" }/&, host = false/; s/inout = true/&, host = false/' mixed.lua
sed -i 's/s.array("b", "f32")/s.array("b", "f32", s.row_major, { host = false })/' stencil.lua
emit_both() {
  for kernel in mixed stencil; do
    tune() { sectile tune $kernel.lua -d virtual:h200 --only 'direct threads=256' "$@"; }
    expect 8 'has it without this `host`' sectile emit $kernel.lua -o $kernel.h
    expect 0 '' tune -q
    expect 0 '' sectile emit $kernel.lua -o $kernel.h -q
    expect 0 '' "$nvcc" -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -c \
      user_$kernel.cu -o user.o
    expect 0 '' sectile emit $kernel.lua --form c -o $kernel.h -q
  done
}
if in_part; then
  emit_both
  where='-DMIXED_DEVICE=6 -DSTENCIL_DEVICE=2'
  # shellcheck disable=SC2086 # options
  right $where
  expect 0 'Of `w`, `b` it takes device pointers' cat mixed.h
  without mixed '(h->from\[k\] + first \* h->steps\[k\])' '(h->from[k])'
  without mixed '_direct\[\] = {false, true, true, false}' '_direct[] = {false, true, false, false}'
  without mixed ' && mixed_detail_is_in\[k\]) {' ') {'
  without mixed 'if (mixed_detail_direct\[k\] && h->bytes\[k\] > 0' 'if (false'
  without stencil 'cudaMemcpyDefault, slot->stream' 'cudaMemcpyDeviceToHost, slot->stream'
fi
# The stencil's input instead, whose neighbours are there already.
sed -i 's/, { host = false }//; s/border = "clamp"/&, host = false/' stencil.lua
sed -i '/host = true,/d; s/inout = true, host = false/inout = true, host = true/' mixed.lua
if in_part; then
  emit_both
  where='-DMIXED_DEVICE=11 -DSTENCIL_DEVICE=1'
  # shellcheck disable=SC2086 # options
  right $where
  without stencil '(h->from\[k\] + first \* h->steps\[k\])' '(h->from[k] + own * h->steps[k])'
fi
finish
