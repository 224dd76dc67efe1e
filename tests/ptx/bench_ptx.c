/* How fast the virtual device runs, for scripts/bench: no test, and CTest does not know it.
 *
 *   bench_ptx REPEATS      lines "name<TAB>unit<TAB>median<TAB>least<TAB>most" on stdout
 *
 * Times are processor time. Kernels run on one host thread with bounds, definedness and counters
 * on; a candidate's row holds parsing its PTX, making its memory and a run with every check, the
 * compilation not. */
#include "nvrtc_text.h"
#include "ptx/ptx.h"

#include <string.h>
#include <time.h>

#define N           (1 << 18) /* elements of the kernels, in blocks of 256 */
#define N_CANDIDATE (1 << 12) /* of what a candidate is verified on */
#define MAX_REPEATS 101

static const char cuda[] =
    "#define I (blockIdx.x * 256 + threadIdx.x)\n"
    "#define KERNEL extern \"C\" __global__ void __launch_bounds__(256)\n"
    "KERNEL direct(const double3 *in, double3 *out, const int *at) {\n"
    "  double3 a = in[I]; a.x += 2; a.y += 2; a.z += 2; out[I] = a;\n}\n"
    "KERNEL staged(const double *in, double *out, const int *at) {\n"
    "  __shared__ double s[768];\n"
    "  int t = threadIdx.x, i = blockIdx.x * 768 + t;\n"
    "  s[t] = in[i]; s[t + 256] = in[i + 256]; s[t + 512] = in[i + 512];\n"
    "  __syncthreads();\n"
    "  double x = s[3 * t] + 2, y = s[3 * t + 1] + 2, z = s[3 * t + 2] + 2;\n"
    "  s[3 * t] = x; s[3 * t + 1] = y; s[3 * t + 2] = z;\n"
    "  __syncthreads();\n"
    "  out[i] = s[t]; out[i + 256] = s[t + 256]; out[i + 512] = s[t + 512];\n}\n"
    "KERNEL transpose(const float *in, float *out, const int *at) {\n"
    "  __shared__ float s[32][33];\n"
    "  int x = threadIdx.x & 31, y = threadIdx.x >> 5, c = blockIdx.x % 16 * 32,\n"
    "      r = blockIdx.x / 16 * 32;\n"
    "  for (int k = 0; k < 32; k += 8) s[y + k][x] = in[(r + y + k) * 512 + c + x];\n"
    "  __syncthreads();\n"
    "  for (int k = 0; k < 32; k += 8) out[(c + y + k) * 512 + r + x] = s[x][y + k];\n}\n"
    "KERNEL gather(const double *in, double *out, const int *at) { out[I] = in[at[I]]; }\n"
    "KERNEL math(const double *in, double *out, const int *at) {\n"
    "  double v = in[I];\n"
    "  for (int k = 0; k < 32; k++) v = v * v * 0.25 + 0.5 / (1.0 + v * v);\n"
    "  out[I] = v;\n}\n";

typedef struct bench_kernel {
  const char *name, *what;
  int blocks;
} bench_kernel;

static const bench_kernel kernels[] = {
    {"direct", "double3, direct", N / 256},
    {"staged", "double3, staged", N / 256},
    {"transpose", "transpose, 32 x 33 tile", N / 1024},
    {"gather", "gather of doubles", N / 256},
    {"math", "double arithmetic", N / 256},
};

typedef struct bench_memory {
  sct_ptx_memory *memory;
  uint64_t in, out, at;
} bench_memory;

static void stop_on(sct_status status, const sct_error *err) {
  if (status != SCT_OK) {
    fprintf(stderr, "bench_ptx: %s\n", err->text);
    exit(1);
  }
}

static void make_memory(bench_memory *m, int64_t n) {
  sct_error err = {0};
  double *data = sct_alloc((size_t)n * 24);
  int32_t *index = sct_alloc((size_t)n * 4);
  if (data == NULL || index == NULL) {
    stop_on(sct_fail(&err, SCT_ENOMEM, "out of memory"), &err);
  }
  for (int64_t i = 0; i < n; i++) {
    data[i] = (double)(i % 1000) * 1e-3;
    index[i] = (int32_t)((i * 7919 + 13) % n);
  }
  const sct_ptx_buffer in = {.name = "in", .bytes = n * 24, .data = data, .read_only = true};
  const sct_ptx_buffer out = {.name = "out", .bytes = n * 24};
  const sct_ptx_buffer at = {.name = "at", .bytes = n * 4, .data = index, .read_only = true};
  sct_ptx_memory_new(&m->memory);
  stop_on(sct_ptx_memory_add(m->memory, &m->in, &in, &err), &err);
  stop_on(sct_ptx_memory_add(m->memory, &m->out, &out, &err), &err);
  stop_on(sct_ptx_memory_add(m->memory, &m->at, &at, &err), &err);
  sct_free(data);
  sct_free(index);
}

/* Warp instructions of one run. */
static int64_t run(const sct_ptx_module *module, const bench_memory *m, const char *kernel,
                   int blocks, bool races) {
  sct_error err = {0};
  sct_ptx_result r;
  const void *args[] = {&m->in, &m->out, &m->at};
  const sct_ptx_launch_opts opts = {.module = module,
                                    .kernel = kernel,
                                    .grid = {blocks, 1, 1},
                                    .block = {256, 1, 1},
                                    .args = args,
                                    .n_args = 3,
                                    .no_races = !races};
  stop_on(sct_ptx_launch(&r, m->memory, &opts, &err), &err);
  if (r.diag.kind != SCT_PTX_CLEAN) {
    stop_on(sct_fail(&err, SCT_EDATA, "%s: %s", kernel, r.diag.text), &err);
  }
  const int64_t n = r.counters.warp_instructions;
  sct_ptx_result_free(&r);
  return n;
}

/* Processor time of this process: other programs on the core do not count. */
static int64_t cpu_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_row(const char *name, const char *unit, double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, by_value);
  printf("%s\t%s\t%.4g\t%.4g\t%.4g\n", name, unit, values[n / 2], values[0], values[n - 1]);
}

static void speed(const sct_ptx_module *module, const bench_memory *m, const bench_kernel *k,
                  bool races, int repeats) {
  double values[MAX_REPEATS];
  char name[96];
  (void)run(module, m, k->name, k->blocks, races); /* touches the memory once */
  for (int i = 0; i < repeats; i++) {
    const int64_t start = cpu_ns();
    const int64_t n = run(module, m, k->name, k->blocks, races);
    values[i] = (double)n / (double)(cpu_ns() - start) * 1e3;
  }
  snprintf(name, sizeof name, "%s%s", k->what, races ? ", races looked for" : "");
  print_row(name, "M warp instructions/s", values, repeats);
}

static void candidate(const char *ptx, const bench_kernel *k, int repeats) {
  double values[MAX_REPEATS];
  char name[96];
  for (int i = 0; i < repeats; i++) {
    sct_error err = {0};
    sct_ptx_module *module = NULL;
    bench_memory m;
    const int64_t start = cpu_ns();
    stop_on(sct_ptx_parse(&module, ptx, "bench.ptx", &err), &err);
    make_memory(&m, N_CANDIDATE);
    (void)run(module, &m, k->name, N_CANDIDATE / 256, true);
    sct_ptx_memory_free(m.memory);
    sct_ptx_module_free(module);
    values[i] = (double)(cpu_ns() - start) * 1e-6;
  }
  snprintf(name, sizeof name, "a candidate of %d elements: %s", N_CANDIDATE, k->what);
  print_row(name, "ms", values, repeats);
}

/* Most memory this process ever had, in MiB; -1: the system does not say. */
static double peak_mib(void) {
  char line[128];
  long kib = -1;
  FILE *f = fopen("/proc/self/status", "r");
  while (f != NULL && kib < 0 && fgets(line, sizeof line, f) != NULL) {
    (void)sscanf(line, "VmHWM: %ld kB", &kib);
  }
  if (f != NULL) {
    fclose(f);
  }
  return kib < 0 ? -1.0 : (double)kib / 1024.0;
}

int main(int argc, char **argv) {
  const int repeats = argc == 2 ? atoi(argv[1]) : 0;
  if (repeats < 1 || repeats > MAX_REPEATS) {
    fprintf(stderr, "bench_ptx: expected REPEATS from 1 to %d\n", MAX_REPEATS);
    return 2;
  }
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  bench_memory m;
  char *ptx = nvrtc_ptx(cuda, "bench.cu", "sm_90", NULL);
  if (ptx == NULL) {
    fprintf(stderr, "bench_ptx: no NVRTC here\n");
    return 1;
  }
  stop_on(sct_ptx_parse(&module, ptx, "bench.ptx", &err), &err);
  make_memory(&m, N);
  for (int k = 0; k < SCT_COUNT(kernels); k++) {
    speed(module, &m, &kernels[k], false, repeats);
  }
  speed(module, &m, &kernels[1], true, repeats);
  candidate(ptx, &kernels[0], repeats);
  candidate(ptx, &kernels[1], repeats);
  double peak = peak_mib();
  print_row("peak memory (VmHWM) of this benchmark", "MiB", &peak, 1);
  sct_ptx_memory_free(m.memory);
  sct_ptx_module_free(module);
  free(ptx);
  return 0;
}
