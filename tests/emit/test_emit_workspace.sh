#!/usr/bin/env bash
# A header takes a workspace by what its spec says, not by what has won: naive variants of short
# sums need none.
. "$(dirname "$0")/../shell.sh"

# header NAME DIMS OUTPUT SIZE: tuned with its naive variant only
header() {
  cat >"$scratch/$1.lua" <<END_SPEC
local s = require "sectile"
return s.kernel {
  name = "$1", dims = { $2 },
  inputs = { s.array("key", "i32"), s.array("x", "f32") },
  outputs = { s.array("total", "f32", s.row_major, { $3 }) },
  body = "total = key ? x : 0.0f;",
  sizes = { { i = 3000, $4 } },
}
END_SPEC
  expect 0 '' "$SCT_PROGRAM" tune "$scratch/$1.lua" -d virtual:h200 --store "$scratch/store.db" \
    --max-candidates 1
  expect 0 '' "$SCT_PROGRAM" emit "$scratch/$1.lua" --store "$scratch/store.db" -o "$scratch/$1.h"
}
by_key='dims = { "bin" }, at = { "key" }, accumulate = "add"' bins='bin = 10, key = "random"'
header few '"i", "j"' 'dims = "i", reduce = "sum"' 'j = 4'
expect 0 'long long n_j, void *workspace, cudaStream_t stream);' cat "$scratch/few.h"
expect 0 'size_t few_workspace_bytes(void);' cat "$scratch/few.h"
expect 1 '' grep 'bytes of workspace' "$scratch/few.h"
header ordered '"i"' "$by_key, deterministic = true" "$bins"
expect 0 'long long n_bin, void *workspace, cudaStream_t stream);' cat "$scratch/ordered.h"
expect 0 'bytes of workspace' cat "$scratch/ordered.h"
header any_order '"i"' "$by_key" "$bins"
expect 1 '' grep workspace "$scratch/any_order.h"
# where there is nothing to launch, what is set before is as large as its extents say, or refused
cuda=$(ls -d "${CUDA_HOME:-/usr/local/cuda}/include" 2>/dev/null)
if [ -n "$cuda" ]; then
  cat >"$scratch/set.c" <<'END_C'
#include <cuda_runtime_api.h>
#include <stdio.h>
static size_t set;
cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t stream) {
  (void)to; (void)value; (void)stream;
  set = n;
  return cudaSuccess;
}
static cudaError_t find(const void **out, const char *name) {
  (void)name;
  *out = &set;
  return cudaSuccess;
}
#define any_order_FIND_KERNEL find
#define any_order_IMPLEMENTATION
#include "any_order.h"
int main(void) {
  static float total[7];
  any_order_args a = {0};
  a.total = total;
  a.n_bin = 7;
  const int fine = any_order_launch(&a, 0);
  printf("%d %zu ", fine, set);
  set = 0;
  a.n_bin = 1LL << 62; // times 4: 0
  printf("%d ", any_order_launch(&a, 0) == cudaErrorInvalidConfiguration);
  a.n_bin = (1LL << 62) + 1;
  printf("%d %zu\n", any_order_launch(&a, 0) == cudaErrorInvalidConfiguration, set);
  return 0;
}
END_C
  expect 0 '' gcc -std=c11 -fno-pie -c -I"$cuda" "$scratch/set.c" -o "$scratch/set.o"
  others=$(nm -u "$scratch/set.o" | sed -n 's/.* U \(cuda.*\)/-Wl,--defsym=\1=0/p') # not called
  # shellcheck disable=SC2086
  expect 0 '' gcc -no-pie "$scratch/set.o" $others -o "$scratch/set"
  expect 0 '0 28 1 1 0' "$scratch/set"
fi

# steps over long rows take one, whatever has won; those over short ones do not
# steps NAME COLS [OPTION]...
steps() {
  local name=$1
  cat >"$scratch/$name.lua" <<END_SPEC
local s = require "sectile"
return s.kernel {
  name = "$name", dims = { "row", "col" },
  inputs = { s.array("x", "f32") }, outputs = { s.array("y", "f32") },
  steps = { { reduce = { t = "sum" }, body = "t = x;" }, { body = "y = x - t;" } },
  sizes = { { row = 2, col = $2 } },
}
END_SPEC
  shift 2
  expect 0 '' "$SCT_PROGRAM" tune "$scratch/$name.lua" -d virtual:h200 --store "$scratch/store.db" \
    --no-range "$@"
  expect 0 '' "$SCT_PROGRAM" emit "$scratch/$name.lua" --store "$scratch/store.db" \
    -o "$scratch/$name.h"
}
steps short_rows 65536 --max-candidates 1
expect 1 '' grep workspace "$scratch/short_rows.h"
steps long_rows 65540 --max-candidates 1
expect 0 'size_t long_rows_workspace_bytes(void);' cat "$scratch/long_rows.h"
expect 1 '' grep 'bytes of workspace' "$scratch/long_rows.h"
# a sequence: its launches follow each other, and one that fails is the last
steps sequence 70000 --only \
  'rows threads=256 lanes=256 vec=4 start=vector hold=none items=1 evict=none grid=528'
expect 0 'bytes of workspace, 2 launches one after the other' cat "$scratch/sequence.h"
if [ -n "$cuda" ]; then
  cat >"$scratch/passes.c" <<'END_C'
#include <cuda_runtime_api.h>
#include <stdio.h>
static int failing;
cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream) {
  (void)f, (void)block, (void)shared, (void)stream;
  const int pass = *(int *)args[5];
  printf("%d of %u %d; ", pass, grid.x, *(char **)args[4] != NULL);
  return pass == failing ? cudaErrorLaunchFailure : cudaSuccess;
}
static cudaError_t find(const void **out, const char *name) {
  (void)name;
  *out = &failing;
  return cudaSuccess;
}
#include "runtime_device.h"
#define sequence_FIND_KERNEL find
#define sequence_IMPLEMENTATION
#include "sequence.h"
int main(void) {
  static _Alignas(16) float x[140000], y[140000], room[4];
  for (failing = -1; failing < 1; failing++)
    printf("%d, ", sequence(x, y, 2, 70000, room, 0));
  return 0;
}
END_C
  expect 0 '' gcc -std=c11 -I"$cuda" -I"$root/tests/emit" "$scratch/passes.c" -o "$scratch/passes"
  expect 0 '0 of 136 1; 1 of 136 1; 0, 0 of 136 1; 719, ' "$scratch/passes"
fi
finish
