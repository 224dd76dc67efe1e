// Calls of mixed_host and stencil_host with all sizes of chunks and arrays, page-locked and
// pageable, against one plain loop; then with each call of the runtime failing in turn.
#include "mixed.h"
#include "runtime.h"
#include "stencil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Which arrays are the device's, as bits: specs say so of some, or of none.
#ifndef MIXED_DEVICE
#define MIXED_DEVICE   0
#define STENCIL_DEVICE 0
#endif

typedef struct mixed_pair pair;

// ---- what the kernels do ----

typedef struct kept {
  float *a, *w, *b, k;
  pair *c;
  long long rows, cols;
} kept;

void *keep_arguments(const char *kernel, void **args) {
  kept k;
  memset(&k, 0, sizeof k);
  k.a = *(float **)args[0];
  if (strstr(kernel, "mixed") != NULL) {
    k.w = *(float **)args[1];
    k.b = *(float **)args[2];
    k.c = *(pair **)args[3];
    k.k = *(float *)args[4];
    k.rows = *(long long *)args[5];
    k.cols = *(long long *)args[6];
  } else {
    k.b = *(float **)args[1];
    k.rows = *(long long *)args[2];
    k.cols = *(long long *)args[3];
  }
  return memcpy(malloc(sizeof k), &k, sizeof k);
}

static void mix(const kept *k) {
  for (long long at = 0; at < k->rows * k->cols; at++) {
    k->b[at] += k->a[at] * k->w[at % k->cols];
    k->c[at].x = k->k * k->a[at];
    k->c[at].n = 7;
  }
}

static float tap(const kept *k, long long y, long long x) {
  y = y < 0 ? 0 : y >= k->rows ? k->rows - 1 : y;
  return k->a[y * k->cols + (x < 0 ? 0 : x)];
}

static void smooth(const kept *k) {
  for (long long y = 0; y < k->rows; y++) {
    for (long long x = 0; x < k->cols; x++) {
      k->b[y * k->cols + x] =
          tap(k, y - 1, x) + 2 * tap(k, y, x) + 4 * tap(k, y + 2, x) + 8 * tap(k, y, x - 1);
    }
  }
}

void run_kernel(const char *kernel, void *k) {
  (strstr(kernel, "mixed") != NULL ? mix : smooth)((const kept *)k);
  free(k);
}

// ---- arrays ----

enum { most_rows = 41, cols = 3, most = most_rows * cols };
static float a[most], w[cols], b[most], expected_b[most];
static pair c[most], expected_c[most];
static int n_calls;
static bool shows_order;

typedef enum where { PAGEABLE, LOCKED, DEVICE } where;

// Where an array lies that has this bit.
static where place(int bit, int locked, int device) {
  return device & bit ? DEVICE : locked & bit ? LOCKED : PAGEABLE;
}

static void *memory(const void *from, size_t n, where at) { // the program's own never fails
  const int fault = fail_at;
  void *p = NULL;
  fail_at = 0;
  const cudaError_t error = at == LOCKED   ? cudaMallocHost(&p, n)
                            : at == DEVICE ? cudaMalloc(&p, n)
                                           : cudaSuccess;
  if (error != cudaSuccess)
    exit(5);
  fail_at = fault;
  return memcpy(at != PAGEABLE ? p : malloc(n), from, n);
}

static void release(void *p, where at) {
  if (at == LOCKED)
    cudaFreeHost(p);
  else if (at == DEVICE)
    cudaFree(p);
  else
    free(p);
}

static void fill(void) {
  for (int k = 0; k < most; k++) {
    a[k] = (float)(k * 7 % 101);
    b[k] = (float)(k * 3 % 17);
    memset(&c[k], 0x5a, sizeof c[k]); // bytes between the fields included
  }
  for (int k = 0; k < cols; k++)
    w[k] = (float)(k + 1);
}

static int complain(const char *what, long long rows, long long chunk, int streams, int locked) {
  fprintf(stderr, "%s: rows %lld, chunk %lld, streams %d, page-locked %x\n", what, rows, chunk,
          streams, (unsigned)locked);
  return 1;
}

// ---- calls ----

// Arrays in memory that the bits of `locked` say. What the caller's stream holds before comes
// first, and what it gets after sees the results.
static int try_mixed(long long rows, long long chunk, int streams, int locked,
                     cudaStream_t stream) {
  const size_t n = (size_t)(rows * cols);
  const mixed_host_options options = {chunk, streams, 2, locked == 15};
  mixed_host_plan *plan = NULL;
  fill();
  where at[4];
  for (int k = 0; k < 4; k++)
    at[k] = place(1 << k, locked, MIXED_DEVICE);
  float *const pa = (float *)memory(a, sizeof a, at[0]), *const pw =
                                                             (float *)memory(w, sizeof w, at[1]);
  float *const pb = (float *)memory(b, sizeof b, at[2]);
  pair *const pc = (pair *)memory(c, sizeof c, at[3]);
  memcpy(expected_b, b, sizeof b);
  memcpy(expected_c, c, sizeof c);
  const kept k = {a, w, expected_b, 0.5f, expected_c, rows, cols};
  memset(pa, 0, sizeof a); // the input comes with the caller's stream
  late = stream;
  const int fault = fail_at;
  fail_at = 0;
  float *const source = (float *)memory(a, sizeof a, LOCKED);
  if (cudaMemcpyAsync(pa, source, sizeof a, cudaMemcpyDefault, stream) != cudaSuccess)
    exit(6);
  fail_at = fault;
  mix(&k);
  cudaError_t error = mixed_host_plan_create(&plan, rows, cols, &options);
  trace = shows_order ? stdout : NULL;
  if (error == cudaSuccess)
    error = mixed_host(pa, pw, pb, pc, 0.5f, rows, cols, plan, stream);
  trace = NULL;
  int wrong = 0;
  if (error == cudaSuccess) {
    cudaStreamSynchronize(stream);
    wrong = memcmp(pb, expected_b, sizeof(float) * n) != 0 ||
            memcmp(pc, expected_c, sizeof(pair) * n) != 0;
    n_calls++;
  } else {
    cudaStreamSynchronize(stream);
    wrong = fail_at == 0 && !failed ? 1 : n_pending != 0;
  }
  wrong = wrong || memcmp(pb + n, b + n, sizeof(float) * (most - n)) != 0;
  wrong = wrong || memcmp(pc + n, c + n, sizeof(pair) * (most - n)) != 0;
  mixed_host_plan_destroy(plan);
  release(source, LOCKED), release(pa, at[0]), release(pw, at[1]), release(pb, at[2]),
      release(pc, at[3]);
  return wrong ? complain("mixed", rows, chunk, streams, locked) : 0;
}

static int try_stencil(long long rows, long long chunk, int streams, int locked,
                       cudaStream_t stream) {
  const size_t n = (size_t)(rows * cols);
  const stencil_host_options options = {chunk, streams, streams, false};
  stencil_host_plan *plan = NULL;
  fill();
  const where at[] = {place(1, locked, STENCIL_DEVICE), place(2, locked, STENCIL_DEVICE)};
  float *const pa = (float *)memory(a, sizeof a, at[0]), *const pb =
                                                             (float *)memory(b, sizeof b, at[1]);
  const kept k = {a, NULL, expected_b, 0, NULL, rows, cols};
  smooth(&k);
  cudaError_t error = stencil_host_plan_create(&plan, rows, cols, &options);
  for (int again = 0; again < 2 && error == cudaSuccess; again++) { // a plan is used again
    error = stencil_host(pa, pb, rows, cols, plan, stream);
  }
  cudaStreamSynchronize(stream);
  int wrong = error == cudaSuccess ? memcmp(pb, expected_b, sizeof(float) * n) != 0
                                   : !failed || n_pending != 0;
  wrong = wrong || memcmp(pb + n, b + n, sizeof(float) * (most - n)) != 0;
  n_calls++;
  stencil_host_plan_destroy(plan);
  release(pa, at[0]), release(pb, at[1]);
  return wrong ? complain("stencil", rows, chunk, streams, locked) : 0;
}

// Two calls of one plan from two streams: what all chunks of the second need comes after the first.
static int try_two_streams(cudaStream_t other) {
  const mixed_host_options options = {2, 3, 0, true};
  mixed_host_plan *plan = NULL;
  fill();
  where at[4];
  for (int k = 0; k < 4; k++)
    at[k] = place(1 << k, 15, MIXED_DEVICE);
  float *const pa = (float *)memory(a, sizeof a, at[0]), *pw[2] = {NULL, NULL},
               *pb[2] = {NULL, NULL};
  pair *const pc = (pair *)memory(c, sizeof c, at[3]);
  cudaError_t error = mixed_host_plan_create(&plan, 40, cols, &options);
  int wrong = 0;
  for (int k = 0; k < 2; k++) {
    pw[k] = (float *)memory(w, sizeof w, at[1]);
    pb[k] = (float *)memory(b, sizeof b, at[2]);
    pw[k][0] += (float)k;
    if (error == cudaSuccess)
      error = mixed_host(pa, pw[k], pb[k], pc, 1, 40, cols, plan, k == 0 ? NULL : other);
  }
  cudaStreamSynchronize(other);
  cudaStreamSynchronize(NULL);
  for (int k = 0; k < 2; k++) {
    fill();
    const kept kernel = {a, pw[k], b, 1, c, 40, cols};
    mix(&kernel);
    wrong += memcmp(pb[k], b, 40 * cols * sizeof *b) != 0;
  }
  mixed_host_plan_destroy(plan);
  for (int k = 0; k < 2; k++)
    release(pw[k], at[1]), release(pb[k], at[2]);
  release(pa, at[0]), release(pc, at[3]);
  return error != cudaSuccess || wrong ? complain("two streams", 40, 2, 3, 15) : 0;
}

// Several threads of the host, by chunks of that many rows.
static int try_large(long long rows, long long chunk, int threads) {
  const size_t n = (size_t)rows;
  const stencil_host_options options = {chunk, 2, threads, false};
  stencil_host_plan *plan = NULL;
  const where at[] = {place(1, 0, STENCIL_DEVICE), place(2, 0, STENCIL_DEVICE)};
  float *const expected = (float *)calloc(n, 4);
  float *const from = (float *)memory(expected, 4 * n, at[0]);
  float *const to = (float *)memory(expected, 4 * n, at[1]);
  for (size_t k = 0; k < n; k++)
    from[k] = (float)(k % 1021);
  const kept k = {from, NULL, expected, 0, NULL, rows, 1};
  smooth(&k);
  cudaError_t error = stencil_host_plan_create(&plan, rows, 1, &options);
  if (error == cudaSuccess)
    error = stencil_host(from, to, rows, 1, plan, NULL);
  cudaStreamSynchronize(NULL);
  const int wrong = error != cudaSuccess || memcmp(to, expected, 4 * n) != 0;
  stencil_host_plan_destroy(plan);
  release(from, at[0]), release(to, at[1]), free(expected);
  return wrong ? complain("large", rows, options.chunk, threads, 0) : 0;
}

static int try_sizes(cudaStream_t stream) {
  static const long long all_rows[] = {0, 1, 2, 3, 7, 8, 9, 16, 40},
                         chunks[] = {0, 1, 2, 5, 8, 100};
  static const int all_streams[] = {0, 1, 2, 3, 8};
  int wrong = 0;
  for (size_t r = 0; r < sizeof all_rows / sizeof *all_rows; r++) {
    for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
      for (size_t s = 0; s < sizeof all_streams / sizeof *all_streams; s++) {
        for (int locked = 0; locked < 16; locked++) {
          wrong += try_mixed(all_rows[r], chunks[k], all_streams[s], locked, stream);
          wrong +=
              locked < 4 ? try_stencil(all_rows[r], chunks[k], all_streams[s], locked, stream) : 0;
        }
      }
    }
  }
  return wrong;
}

// Each call of the runtime fails in turn.
static int try_faults(cudaStream_t stream) {
  int wrong = 0;
  for (int locked = 0; locked < 16; locked += 5) {
    const int before = n_alive;
    for (int at = 1; at < 1000; at++) {
      failed = false;
      fail_at = at;
      wrong += try_mixed(16, 3, 3, locked, stream);
      fail_at = 0;
      wrong += n_alive != before ? complain("left behind", 16, 3, 3, locked) : 0;
      if (!failed)
        break;
    }
    failed = false;
  }
  return wrong;
}

static int try_bad_values(void) {
  const mixed_host_options bad[] = {
      {-1, 0, 0, false}, {0, -1, 0, false}, {0, 9, 0, false}, {0, 0, -1, false}};
  const mixed_host_options locked = {0, 0, 0, true};
  mixed_host_plan *plan = NULL;
  int wrong = 0;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    wrong += mixed_host_plan_create(&plan, 8, 3, &bad[k]) != cudaErrorInvalidValue;
  }
  wrong += mixed_host_plan_create(NULL, 8, 3, NULL) != cudaErrorInvalidValue;
  wrong += mixed_host_plan_create(&plan, -8, 3, NULL) != cudaErrorInvalidValue || plan != NULL;
  wrong += mixed_host_plan_create(&plan, 8, 2, &locked) != cudaSuccess;
  fill();
  const where at[] = {place(1, 0, MIXED_DEVICE), place(2, 0, MIXED_DEVICE),
                      place(4, 0, MIXED_DEVICE), place(8, 0, MIXED_DEVICE)};
  float *const pa = (float *)memory(a, sizeof a, at[0]), *const pw =
                                                             (float *)memory(w, sizeof w, at[1]);
  float *const pb = (float *)memory(b, sizeof b, at[2]);
  pair *const pc = (pair *)memory(c, sizeof c, at[3]);
  wrong += mixed_host(a, w, b, c, 1, 8, 2, NULL, NULL) != cudaErrorInvalidValue;
  wrong +=
      mixed_host(pa, pw, pb, pc, 1, 8, 2, plan, NULL) != cudaErrorInvalidValue; // pageable, no ring
  wrong += mixed_host(NULL, w, b, c, 1, 8, 2, plan, NULL) != cudaErrorInvalidValue;
  wrong += mixed_host(a, w, b, c, 1, -1, 2, plan, NULL) != cudaErrorInvalidValue;
  wrong += mixed_host(a, w, a, c, 1, 8, 2, plan, NULL) != cudaErrorInvalidValue;   // they overlap
  wrong += mixed_host(NULL, NULL, NULL, NULL, 1, 0, 2, plan, NULL) != cudaSuccess; // nothing to do
  wrong +=
      mixed_host_plan_destroy(plan) != cudaSuccess || mixed_host_plan_destroy(NULL) != cudaSuccess;
  wrong += mixed_host_plan_create(&plan, 1, 1, NULL) != cudaSuccess;
  wrong += mixed_host(pa, pw, pb, pc, 1, 1, 3, plan, NULL) !=
           cudaErrorInvalidValue;                                          // wider than the plan
  wrong += mixed_host(pa, pw, pb, pc, 1, 5, 1, plan, NULL) != cudaSuccess; // longer is fine
  for (int k = 1; k < 3; k++) { // an array of the device is none that it does not know
    wrong += at[k] == DEVICE && mixed_host(pa, k == 1 ? w : pw, k == 2 ? b : pb, pc, 1, 5, 1, plan,
                                           NULL) != cudaErrorInvalidValue;
  }
  mixed_host_plan_destroy(plan);
  cudaStreamSynchronize(NULL);
  release(pa, at[0]), release(pw, at[1]), release(pb, at[2]), release(pc, at[3]);
  return wrong > 0 ? complain("bad values", wrong, 0, 0, 0) : 0;
}

// The calls for rows in chunks of 3, from page-locked and from pageable arrays.
static void show_order(void) {
  shows_order = true;
  for (int locked = 15; locked >= 0; locked -= 15) {
    printf("%s:\n", locked > 0 ? "page-locked" : "pageable");
    try_mixed(16, 3, 3, locked, NULL);
  }
}

int main(int argc, char **argv) {
  cudaStream_t stream = NULL;
  if (argc > 1 && strcmp(argv[1], "order") == 0) {
    show_order();
    return 0;
  }
  int wrong = try_bad_values() + try_large(600001, 400000, 5) + try_large(100003, 1001, 7) +
              try_large(64, 1, 64);
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
    return 7;
  for (int k = LATE; k <= BACKWARDS; k++) {
    run_order = (order)k;
    wrong += try_sizes(k == BACKWARDS ? NULL : stream) + try_two_streams(stream);
  }
  run_order = LATE;
  wrong += try_faults(stream);
  cudaStreamDestroy(stream);
  wrong += n_alive != 0 ? complain("alive at the end", n_alive, 0, 0, 0) : 0;
  printf("%s, %d calls\n", wrong == 0 ? "right" : "wrong", n_calls);
  return wrong != 0;
}
