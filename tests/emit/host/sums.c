// Calls of sums_host with all sizes of chunks and arrays, page-locked and pageable, against one
// plain loop. Its sums depend on the order of the rows; so do their bits.
#include "sums.h"
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SUMS_DEVICE
#define SUMS_DEVICE 0 // which arrays are the device's, as bits
#endif

enum { most_rows = 4000, cols = 3, bins = 5 };
typedef struct arrays {
  int *key;
  float *v, *total;
  unsigned *each;
  int *top;
  long long rows;
} arrays;

// ---- what the kernel does ----

void *keep_arguments(const char *kernel, void **args) {
  (void)kernel;
  const arrays k = {*(int **)args[0],      *(float **)args[1], *(float **)args[2],
                    *(unsigned **)args[3], *(int **)args[4],   *(long long *)args[5]};
  return memcpy(malloc(sizeof k), &k, sizeof k);
}

static void add(const arrays *k) {
  for (long long at = 0; at < k->rows * cols; at++) {
    const int bin = k->key[at];
    k->total[bin] += k->v[at];
    k->each[at / cols * bins + bin]++;
    k->top[bin] = k->top[bin] > (int)k->v[at] ? k->top[bin] : (int)k->v[at];
  }
}

void run_kernel(const char *kernel, void *k) {
  (void)kernel;
  add((const arrays *)k);
  free(k);
}

// ---- calls ----

static int n_calls;

static void *memory(int bit, int locked, size_t n) { // the program's own never fails
  const int fault = fail_at;
  void *p = NULL;
  fail_at = 0;
  if ((SUMS_DEVICE & bit) != 0)
    cudaMalloc(&p, n);
  else if ((locked & bit) != 0)
    cudaMallocHost(&p, n);
  else
    p = malloc(n);
  fail_at = fault;
  return p != NULL ? p : (exit(5), p);
}

static void release(void *p, int bit, int locked) {
  if ((SUMS_DEVICE & bit) != 0)
    cudaFree(p);
  else if ((locked & bit) != 0)
    cudaFreeHost(p);
  else
    free(p);
}

static arrays open_arrays(long long rows, int locked) {
  const size_t n = (size_t)(rows * cols) + 1;
  const arrays k = {(int *)memory(1, locked, n * 4),
                    (float *)memory(2, locked, n * 4),
                    (float *)memory(4, locked, bins * 4),
                    (unsigned *)memory(8, locked, (size_t)(rows * bins + 1) * 4),
                    (int *)memory(16, locked, bins * 4),
                    rows};
  for (size_t at = 0; at < n; at++) {
    k.key[at] = (int)(at * 7 % 11 % bins);
    k.v[at] = (float)(at * 31 % 101) * (at % 3 == 0 ? 1e-6f : at % 3 == 1 ? -1.0f : 1e4f);
  }
  for (int bin = 0; bin < bins; bin++)
    k.top[bin] = bin * 100000 - 200000;
  memset(k.total, 0x7f, bins * 4); // what they hold before does not count
  memset(k.each, 0x7f, (size_t)(rows * bins + 1) * 4);
  return k;
}

static void close_arrays(arrays *k, int locked) {
  release(k->key, 1, locked), release(k->v, 2, locked), release(k->total, 4, locked);
  release(k->each, 8, locked), release(k->top, 16, locked);
}

static int try_call(long long rows, const sums_host_options *options, int locked,
                    cudaStream_t stream) {
  sums_host_plan *plan = NULL;
  arrays expected = open_arrays(rows, 0), k = open_arrays(rows, locked);
  memset(expected.total, 0, bins * 4);
  memset(expected.each, 0, (size_t)(rows * bins) * 4);
  add(&expected);
  cudaError_t error = sums_host_plan_create(&plan, rows, cols, bins, options);
  for (int again = 0; again < 2 && error == cudaSuccess; again++) // a plan is used again
    error = sums_host(k.key, k.v, k.total, k.each, k.top, rows, cols, bins, plan, stream);
  cudaStreamSynchronize(stream);
  int wrong = error == cudaSuccess
                  ? memcmp(k.total, expected.total, bins * 4) != 0 ||
                        memcmp(k.each, expected.each, (size_t)(rows * bins + 1) * 4) != 0 ||
                        memcmp(k.top, expected.top, bins * 4) != 0
                  : !failed || n_pending != 0;
  n_calls++;
  sums_host_plan_destroy(plan);
  close_arrays(&k, locked), close_arrays(&expected, 0);
  if (wrong)
    fprintf(stderr, "sums: rows %lld, chunk %lld, streams %d, threads %d, page-locked %x: %d\n",
            rows, options->chunk, options->streams, options->threads, (unsigned)locked, (int)error);
  return wrong;
}

static int try_sizes(cudaStream_t stream) {
  static const long long rows[] = {0, 1, 7, 8, 40}, chunks[] = {0, 1, 5, 8, 100};
  int wrong = 0;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
      for (int streams = 0; streams < 4; streams += 1 + streams / 2) {
        for (int locked = 0; locked < 32; locked += locked == 28 ? 3 : 4) {
          const sums_host_options options = {chunks[c], streams, 2, locked == 31};
          wrong += try_call(rows[r], &options, locked, stream);
        }
      }
    }
  }
  return wrong;
}

// Each call of the runtime fails in turn, with one thread of the host and with several.
static int try_faults(cudaStream_t stream) {
  int wrong = 0;
  for (int threads = 1; threads < 5; threads += 3) {
    for (int locked = 0; locked < 32; locked += 31) {
      const int before = n_alive;
      failed = true;
      for (int at = 1; at < 2000 && failed; at++) {
        const sums_host_options options = {3, 3, threads, locked == 31};
        failed = false;
        fail_at = at;
        wrong += try_call(16, &options, locked, stream);
        fail_at = 0;
        wrong += n_alive != before;
      }
      failed = false;
    }
  }
  return wrong;
}

int main(void) {
  static const sums_host_options many[] = {
      {1, 3, 7, false}, {64, 8, 16, false}, {100, 2, 3, false}};
  cudaStream_t stream = NULL;
  int wrong = 0;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
    return 7;
  for (int k = LATE; k <= BACKWARDS; k++) {
    run_order = (order)k;
    wrong += try_sizes(k == BACKWARDS ? NULL : stream);
    for (size_t m = 0; m < sizeof many / sizeof *many; m++)
      wrong += try_call(most_rows, &many[m], 0, stream);
  }
  run_order = LATE;
  for (int again = 0; again < 8; again++) // threads meet differently
    wrong += try_faults(stream);
  cudaStreamDestroy(stream);
  wrong += n_alive != 0;
  printf("%s, %d calls\n", wrong == 0 ? "right" : "wrong", n_calls);
  return wrong != 0;
}
