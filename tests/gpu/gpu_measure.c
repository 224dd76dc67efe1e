/* Figures of measure on a GPU, of one program that needs nothing but the driver there:
 *
 *   gpu_measure [--json FILE] [poison] [kills] [same] [slower]      default: all of them
 *
 *   poison   every way to be wrong on the GPU, each between two measurements of a good kernel: the
 *            outcome, how long until the next candidate was verified, and the good kernel's time
 *            after it, compared with before it
 *   kills    SIGKILL of the worker 100 times at random moments of a verification whose kernels take
 *            10 ms each: the verdict is what it is without, and how much longer it took
 *   same     a kernel against an equal one, 100 times: SAME in at least 95
 *   slower   a kernel against one that is 3 to 4 % slower, 100 times: found in at least 95
 *
 * Prints a short table last; exit 1 if a figure misses its target, 77 without a GPU. */
#include "measure/measure_fixture.h"

#include "measure/measure_gpu_kernels.h"
#include "measure/measure_session.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>

#define N_ELEMENTS    ((int64_t)1 << 26) /* 2 x 256 MiB */
#define N_COMPARISONS 100
#define N_KILLS       100
#define N_LEAST       95
#define ROUNDS        31
#define NOISE         0.02 /* a good kernel's time after a bad one may be that much off */

static const int first_layout[SCT_MAX_OPERANDS];

/* Kernels of this program's own. The first copies one warp in 66 twice: 3 to 4 % slower on an H200,
 * right results. The second takes 10 ms. */
static const char *const own_kernels[] = {
    GPU_KERNEL("copy_more", "",
               "  st.global.u32 [%b], %v;\n"
               "  cvt.u32.u64 %lane, %i;\n"
               "  shr.u32 %lane, %lane, 5;\n"
               "  rem.u32 %lane, %lane, 66;\n"
               "  setp.ne.u32 %p, %lane, 0;\n"
               "  @%p bra end;\n"
               "  shr.u64 %t, %n, 1;\n"
               "  add.u64 %u, %i, %t;\n"
               "  setp.lt.u64 %p, %u, %n;\n"
               "  @%p bra inside;\n"
               "  sub.u64 %u, %u, %n;\n"
               "inside:\n"
               "  sub.u64 %u, %u, %i;\n"
               "  shl.b64 %u, %u, 2;\n"
               "  add.u64 %a, %a, %u;\n"
               "  add.u64 %b, %b, %u;\n"
               "  ld.global.u32 %v, [%a];\n"
               "  st.global.u32 [%b], %v;\n"),
    GPU_KERNEL("takes_long", "",
               "  mov.u64 %t, %globaltimer;\n"
               "spin:\n"
               "  mov.u64 %u, %globaltimer;\n"
               "  sub.u64 %u, %u, %t;\n"
               "  setp.lt.u64 %p, %u, 10000000;\n"
               "  @%p bra spin;\n"
               "  st.global.u32 [%b], %v;\n"),
};

/* ---- one session ---- */

static sct_measure *m;
static sct_spec spec;
static fixture_kernel naive;
static char *image;

static void kernel_init(fixture_kernel *k, const char *entry) {
  fixture_kernel_init(k, &spec, 0, 256);
  k->code.threads = 256; /* as many as the grid counts on */
  snprintf(k->entry, sizeof k->entry, "%s", entry);
  k->binary = (sct_binary){
      .code = &k->code, .cubin = image, .cubin_bytes = strlen(image) + 1, .entry = k->entry};
}

static void open_session(void) {
  static const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                         {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  static const int64_t n = N_ELEMENTS;
  const sct_measure_opts opts = {.seed = 1, .force = true};
  assert_ok(sct_measure_open(&m, 0, &opts, &fixture_err));
  fixture_spec(&spec, "i", arrays, 1, 2, NULL, "b = a;", &n);
  kernel_init(&naive, "copy");
  assert_ok(sct_measure_problem(m, &spec, first_layout, &naive.binary, &fixture_err));
}

/* ---- what came of it ---- */

static sct_str table, json;
static int missed;

static void figure(bool good, const char *name, const char *fmt, ...) SCT_PRINTF(3, 4);
static void figure(bool good, const char *name, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  sct_str_printf(&table, "%-6s %-28s ", good ? "ok" : "MISSED", name);
  sct_str_vprintf(&table, fmt, args);
  sct_str_append(&table, "\n");
  va_end(args);
  missed += !good;
}

static void json_item(const char *fmt, ...) SCT_PRINTF(1, 2);
static void json_item(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  sct_str_append(&json, json.len > 0 ? ",\n  " : "  ");
  sct_str_vprintf(&json, fmt, args);
  va_end(args);
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double ms_since(int64_t start) {
  return (double)(sct_now_ns() - start) / 1e6;
}

/* ---- poison ---- */

static double time_good(void) {
  fixture_kernel good;
  sct_timing t = {0};
  kernel_init(&good, "copy_again");
  assert_ok(sct_measure_time(m, &good.binary, &spec.sizes[0], 0, &t, &fixture_err));
  assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
  sct_free(t.times.samples_ns);
  return t.times.median_ns;
}

/* Milliseconds until a good kernel is verified. */
static double recover(void) {
  fixture_kernel good;
  sct_verdict v;
  kernel_init(&good, "copy_again");
  const int64_t start = sct_now_ns();
  assert_ok(sct_measure_verify(m, &good.binary, &v, &fixture_err));
  assert_int_equal(v.outcome, SCT_OUT_OK);
  return ms_since(start);
}

static void run_poison(void) {
  double recovery[SCT_COUNT(gpu_bad)], worst = 0;
  int n_right = 0, n_unharmed = 0;
  (void)time_good(); /* clocks rise */
  for (int k = 0; k < SCT_COUNT(gpu_bad); k++) {
    fixture_kernel kernel;
    sct_verdict v = {0};
    kernel_init(&kernel, gpu_bad[k].entry);
    const double before = time_good();
    const int64_t start = sct_now_ns();
    assert_ok(sct_measure_verify(m, &kernel.binary, &v, &fixture_err));
    const double evaluated = ms_since(start);
    recovery[k] = recover();
    const double ratio = time_good() / before;
    const bool right = v.outcome == gpu_bad[k].outcome[0] || v.outcome == gpu_bad[k].outcome[1];
    n_right += right;
    n_unharmed += ratio > 1 - NOISE && ratio < 1 + NOISE;
    worst = recovery[k] > worst ? recovery[k] : worst;
    printf("%-16s %-15s judged in %8.1f ms, next verified after %7.1f ms, its time x %.4f  %.60s\n",
           gpu_bad[k].entry, sct_outcome_name(v.outcome), evaluated, recovery[k], ratio, v.detail);
    fflush(stdout);
    json_item("\"poison_%s\": {\"outcome\": \"%s\", \"right\": %s, \"judged_ms\": %.1f, "
              "\"recovery_ms\": %.1f, \"time_ratio\": %.5f}",
              gpu_bad[k].entry, sct_outcome_name(v.outcome), right ? "true" : "false", evaluated,
              recovery[k], ratio);
  }
  qsort(recovery, SCT_COUNT(gpu_bad), sizeof recovery[0], by_value);
  figure(n_right == SCT_COUNT(gpu_bad), "poison: right outcomes", "%d of %d", n_right,
         SCT_COUNT(gpu_bad));
  figure(n_unharmed == SCT_COUNT(gpu_bad), "poison: next time unharmed", "%d of %d within %.0f %%",
         n_unharmed, SCT_COUNT(gpu_bad), 100 * NOISE);
  figure(true, "poison: recovery", "median %.0f ms, worst %.0f ms",
         recovery[SCT_COUNT(gpu_bad) / 2], worst);
}

/* ---- kills ---- */

static atomic_bool kill_over;

/* Kills the worker after so many nanoseconds; not at all when the candidate was evaluated before.
 */
static void *kill_worker(void *delay_ns) {
  const pid_t pid = m->worker.pid;
  const int64_t ns = *(const int64_t *)delay_ns;
  const struct timespec wait = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
  nanosleep(&wait, NULL);
  if (!atomic_load(&kill_over)) {
    kill(pid, SIGKILL);
  }
  return NULL;
}

/* One verification; delay_ns -1: unharmed. Returns how long it took. */
static int64_t verify_killed(const fixture_kernel *k, int64_t delay_ns, sct_verdict *v) {
  pthread_t thread;
  atomic_store(&kill_over, false);
  const int64_t start = sct_now_ns();
  if (delay_ns >= 0) {
    assert_int_equal(pthread_create(&thread, NULL, kill_worker, &delay_ns), 0);
  }
  assert_ok(sct_measure_verify(m, &k->binary, v, &fixture_err));
  const int64_t took = sct_now_ns() - start;
  atomic_store(&kill_over, true);
  if (delay_ns >= 0) {
    pthread_join(thread, NULL);
  }
  return took;
}

static void run_kills(void) {
  static double recovery[N_KILLS];
  fixture_kernel slow;
  sct_rng rng = sct_rng_new(4);
  sct_verdict v = {0};
  int n_recovered = 0;
  kernel_init(&slow, "takes_long");
  (void)verify_killed(&slow, -1, &v); /* the data of the small sizes are there */
  const int64_t whole = verify_killed(&slow, -1, &v);
  assert_int_equal(v.outcome, SCT_OUT_OK);
  for (int k = 0; k < N_KILLS; k++) {
    const int64_t generation = m->generation;
    int64_t took = 0;
    while (m->generation == generation) { /* the kill may come too late */
      took = verify_killed(&slow, sct_rng_below(&rng, whole * 9 / 10), &v);
    }
    n_recovered += v.outcome == SCT_OUT_OK && m->generation == generation + 1;
    if (v.outcome != SCT_OUT_OK) {
      printf("kill %d: %s: %s\n", k, sct_outcome_name(v.outcome), v.detail);
    }
    recovery[k] = (double)(took - whole) * 1e-6;
  }
  qsort(recovery, N_KILLS, sizeof recovery[0], by_value);
  const double median = recovery[N_KILLS / 2], worst = recovery[N_KILLS - 1];
  figure(n_recovered == N_KILLS, "kills: recovered", "%d of %d, in a verification of %.0f ms",
         n_recovered, N_KILLS, (double)whole * 1e-6);
  figure(true, "kills: lost by one", "median %.0f ms, worst %.0f ms", median, worst);
  json_item("\"kills\": {\"n\": %d, \"recovered\": %d, \"verification_ms\": %.1f, "
            "\"lost_median_ms\": %.1f, \"lost_worst_ms\": %.1f}",
            N_KILLS, n_recovered, (double)whole * 1e-6, median, worst);
}

/* ---- comparisons ---- */

static void run_comparisons(const char *name, const char *other, sct_verdict_kind wanted) {
  int count[SCT_AMBIGUOUS + 1] = {0};
  static double ratio[N_COMPARISONS];
  fixture_kernel checked;
  sct_verdict verdict;
  kernel_init(&checked, other);
  assert_ok(sct_measure_verify(m, &checked.binary, &verdict, &fixture_err));
  assert_int_equal(verdict.outcome, SCT_OUT_OK); /* it copies all there is */
  for (int k = 0; k < N_COMPARISONS; k++) {
    fixture_kernel kernels[2];
    sct_binary binaries[2];
    sct_timing t[2];
    kernel_init(&kernels[0], "copy");
    kernel_init(&kernels[1], other);
    binaries[0] = kernels[0].binary;
    binaries[1] = kernels[1].binary;
    assert_ok(
        sct_measure_race(m, binaries, 2, &spec.sizes[0], ROUNDS, t, NULL, NULL, &fixture_err));
    for (int j = 0; j < 2; j++) {
      if (t[j].verdict.outcome != SCT_OUT_OK) {
        fprintf(stderr, "%s, round %d: %s: %s\n", j == 0 ? "copy" : other, k,
                sct_outcome_name(t[j].verdict.outcome), t[j].verdict.detail);
        exit(1);
      }
    }
    const sct_comparison c = sct_stats_compare(t[0].times.samples_ns, t[0].times.n_samples,
                                               t[1].times.samples_ns, t[1].times.n_samples, true);
    count[c.kind]++;
    ratio[k] = c.ratio;
    sct_free(t[0].times.samples_ns);
    sct_free(t[1].times.samples_ns);
  }
  qsort(ratio, N_COMPARISONS, sizeof ratio[0], by_value);
  figure(count[wanted] >= N_LEAST, name,
         "%d of %d %s (FAST %d, SLOW %d, SAME %d, AMBIGUOUS %d); ratio %.4f [%.4f, %.4f]",
         count[wanted], N_COMPARISONS, sct_verdict_name(wanted), count[SCT_FAST], count[SCT_SLOW],
         count[SCT_SAME], count[SCT_AMBIGUOUS], ratio[N_COMPARISONS / 2], ratio[0],
         ratio[N_COMPARISONS - 1]);
  json_item("\"%s\": {\"n\": %d, \"fast\": %d, \"slow\": %d, \"same\": %d, \"ambiguous\": %d, "
            "\"ratio_median\": %.5f, \"ratio_least\": %.5f, \"ratio_most\": %.5f}",
            name, N_COMPARISONS, count[SCT_FAST], count[SCT_SLOW], count[SCT_SAME],
            count[SCT_AMBIGUOUS], ratio[N_COMPARISONS / 2], ratio[0], ratio[N_COMPARISONS - 1]);
}

static void run_same(void) {
  run_comparisons("same", "copy_again", SCT_SAME);
}

static void run_slower(void) {
  run_comparisons("slower", "copy_more", SCT_SLOW);
}

/* ---- the program ---- */

static const struct {
  const char *name;
  void (*run)(void);
} parts[] = {
    {"poison", run_poison}, {"kills", run_kills}, {"same", run_same}, {"slower", run_slower}};

/* The part of this name; -1: none. */
static int part_of(const char *name) {
  for (int k = 0; k < SCT_COUNT(parts); k++) {
    if (strcmp(parts[k].name, name) == 0) {
      return k;
    }
  }
  return -1;
}

static bool read_words(int argc, char **argv, const char **file, bool wanted[SCT_COUNT(parts)]) {
  bool any = false;
  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "--json") == 0 && k + 1 < argc) {
      *file = argv[++k];
      continue;
    }
    const int part = part_of(argv[k]);
    if (part < 0) {
      fprintf(stderr, "gpu_measure: '%s' is none of poison, kills, same, slower, --json FILE\n",
              argv[k]);
      return false;
    }
    wanted[part] = any = true;
  }
  for (int k = 0; k < SCT_COUNT(parts); k++) {
    wanted[k] = wanted[k] || !any;
  }
  return true;
}

static bool has_gpu(void) {
  sct_device_desc *list = NULL;
  int n = 0;
  const sct_status status = sct_measure_list(&list, &n, NULL, &fixture_err);
  if (status == SCT_OK && n > 0) {
    printf("%s, driver %s\n", list[0].name, list[0].driver);
  } else {
    printf("skipped: %s\n", fixture_err.text);
  }
  sct_free(list);
  return status == SCT_OK && n > 0;
}

static void write_json(const char *file) {
  sct_str text = {0};
  sct_str_printf(&text, "{\n%s\n}\n", sct_str_c(&json));
  assert_ok(sct_file_write(file, sct_str_c(&text), text.len, &fixture_err));
  sct_str_free(&text);
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  const char *file = NULL;
  bool wanted[SCT_COUNT(parts)] = {false};
  sct_str text = {0};
  if (!read_words(argc, argv, &file, wanted)) {
    return 2;
  }
  if (!has_gpu()) {
    return 77;
  }
  for (int k = 0; k < SCT_COUNT(gpu_kernels); k++) {
    sct_str_append(&text, gpu_kernels[k]);
  }
  for (int k = 0; k < SCT_COUNT(own_kernels); k++) {
    sct_str_append(&text, own_kernels[k]);
  }
  image = text.data;
  open_session();
  for (int k = 0; k < SCT_COUNT(parts); k++) {
    if (wanted[k]) {
      const int64_t start = sct_now_ns();
      parts[k].run();
      printf("%s: %.1f s\n", parts[k].name, ms_since(start) / 1e3);
      fflush(stdout);
    }
  }
  sct_measure_close(m);
  sct_spec_free(&spec);
  if (file) {
    write_json(file);
  }
  printf("\n%s", sct_str_c(&table));
  sct_str_free(&table);
  sct_str_free(&json);
  sct_str_free(&text);
  return missed > 0;
}
