/* How fast a sweep goes, against a serial loop in the same run.
 *
 *   bench_throughput [DEVICE] [SAMPLE] [FAKE]
 *     DEVICE: a GPU, default cuda:0; SAMPLE: configurations of the serial loop, default 64;
 *     FAKE: faults of a fake GPU ("ok"), to try this program where there is none
 *
 * The sweep is a whole session: a transpose of f32 with the layouts of both arrays left open, every
 * candidate compiled (no cache), checked on the CPU, verified, a quick pass, the best raced, all
 * stored. The serial loop is what people write: for each of SAMPLE candidates, spread evenly over
 * the same ones, one NVRTC compile with the sweep's options, one load, seven timed launches, and
 * nothing else: no verification.
 *
 * Prints a table of Markdown. */
#include "measure/measure_session.h"
#include "tune/tune.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char spec_text[] =
    "local s = require \"sectile\"\n"
    "return s.kernel {\n"
    "  name = \"transpose\", dims = { \"row\", \"col\" },\n"
    "  inputs = { s.array(\"a\", \"f32\", s.choose { s.row_major, s.col_major }) },\n"
    "  outputs = { s.array(\"b\", \"f32\", s.choose { s.col_major, s.row_major }) },\n"
    "  body = \"b = a;\", sizes = { { row = 4096, col = 4096 } },\n"
    "}\n";

static void must(sct_status status, const sct_error *err) {
  if (status != SCT_OK) {
    fprintf(stderr, "bench_throughput: %s\n", err->text);
    exit(1);
  }
}

static double seconds(int64_t ns) {
  return (double)ns * 1e-9;
}

static double processor_seconds(void) {
  struct rusage used;
  (void)getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* ---- the sweep ---- */

/* When a phase was heard of first and last, since the start. */
typedef struct span {
  const char *phase;
  double first_s, last_s;

} span;

typedef struct watch {
  int64_t start_ns;
  span spans[16];
  int n;
} watch;

static void on_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  watch *w = ctx;
  int k = 0;
  (void)done;
  (void)total;
  (void)item;
  while (k < w->n && strcmp(w->spans[k].phase, phase) != 0) {
    k++;
  }
  const double now = seconds(sct_now_ns() - w->start_ns);
  if (k == w->n) {
    if (w->n == SCT_COUNT(w->spans)) {
      return;
    }
    w->spans[w->n++] = (span){.phase = phase, .first_s = now};
  }
  w->spans[k].last_s = now;
}

static double sweep(sct_tune_report *report, const char *spec, const sct_tune_opts *opts) {
  sct_error err;
  watch w = {.start_ns = sct_now_ns()};
  const sct_tune_events events = {.ctx = &w, .progress = on_progress};
  const double before_s = processor_seconds();
  const sct_status status = sct_tune_run(report, spec, opts, &events, &err);
  const double wall_s = seconds(sct_now_ns() - w.start_ns);
  const double cpu_s = processor_seconds() - before_s;
  must(status, &err);
  const sct_tune_size *size = &report->sizes[0];
  const double n = (double)report->n_sources;
  printf(
      "# Throughput of a sweep\n\n"
      "`scripts/bench throughput`: a session over transposes of f32, 4096 x 4096, the layouts of\n"
      "both arrays left open: compiled (no cache), checked on the CPU, verified, a quick pass, "
      "raced,\n"
      "stored. Then a serial loop in the same run over a sample of the same candidates: one NVRTC\n"
      "compile with the same options, one load and seven timed launches each, not verified.\n\n");
  printf("| what | figure | target |\n|---|---:|---:|\n");
  printf("| device | %s | |\n", report->device.name);
  printf("| cores | %ld | |\n", sysconf(_SC_NPROCESSORS_ONLN));
  printf("| candidates | %lld | >= 1000 |\n", (long long)report->n_sources);
  printf("| of these verified and timed | %d | |\n", size->n_verified);
  printf("| of these failed | %d | |\n", size->n_failed);
  printf("| of these not for this size, by what they require | %d | |\n", size->n_unfit);
  printf("| of these not timed, for the session ended before | %d | |\n", size->n_untried);
  printf("| sweep, wall time | %.1f s | <= 60 s |\n", wall_s);
  for (int k = 0; k < w.n; k++) {
    printf("| `%s` from, to | %.1f s, %.1f s | |\n", w.spans[k].phase, w.spans[k].first_s,
           w.spans[k].last_s);
  }
  const int n_told = size->n_verified + size->n_failed + size->n_unfit + size->n_untried;
  if (n_told != report->n_sources) {
    fprintf(stderr, "bench_throughput: %d of %lld candidates are accounted for\n", n_told,
            (long long)report->n_sources);
    exit(1);
  }
  printf("| sweep, candidates a second | %.1f | |\n", n / wall_s);
  printf("| parent, processor time a candidate | %.3f ms | < 0.5 ms |\n", 1e3 * cpu_s / n);
  return n / wall_s;
}

/* ---- the serial loop ---- */

/* One configuration: compile, load, seven launches, one by one. false: it fails. */
static bool try_one(sct_compiler *compiler, sct_measure *m, const sct_kernel_code *code,
                    const char *kernel_source) {
  sct_error err;
  sct_compiled compiled;
  sct_verdict verdict = {.outcome = SCT_OUT_OK};
  sct_job job = {.kernel = -1};
  sct_timing t = {0};
  sct_target target = {.shape = &m->timed.shape,
                       .buffer = m->timed.buffer,
                       .limit_ns = sct_launch_limit_ns(m->timed.naive_ns),
                       .run_ns = m->timed.naive_ns,
                       .where = ""};
  const sct_sampling how = {.launches = 1, .n = 7};
  const sct_compile_unit unit = {kernel_source, code->kernel, false};
  must(sct_compiler_run(compiler, &unit, 1, &compiled, NULL, NULL, &err), &err);
  if (compiled.ok) {
    const sct_binary binary = {.code = code,
                               .cubin = compiled.cubin,
                               .cubin_bytes = compiled.cubin_bytes,
                               .ptx = compiled.ptx,
                               .entry = compiled.entry};
    must(sct_code_blocks(&m->timed.shape, code, &target.blocks, &verdict, &err), &err);
    must(sct_remote_load(m, &binary, &job, &verdict, &err), &err);
    if (verdict.outcome == SCT_OUT_OK) {
      must(sct_remote_time(m, &job, &target, &how, &t, &err), &err);
    }
    sct_remote_unload(m, &job);
  }
  const bool good = compiled.ok && t.times.n_samples == 7;
  sct_free(t.times.samples_ns);
  sct_compiled_free(&compiled);
  return good;
}

/* Buffers of the size, as the naive variant leaves them. */
static void set_up(sct_measure *m, sct_compiler *compiler, const sct_tune_candidates *cands,
                   sct_compiled *naive) {
  sct_error err;
  sct_timing t = {0};
  const sct_kernel_code *code = &cands->items[0].code;
  const sct_compile_unit unit = {code->source, code->kernel, false};
  must(sct_compiler_run(compiler, &unit, 1, naive, NULL, NULL, &err), &err);
  const sct_binary binary = {.code = code,
                             .cubin = naive->cubin,
                             .cubin_bytes = naive->cubin_bytes,
                             .ptx = naive->ptx,
                             .entry = naive->entry};
  static sct_binary kept; /* the session borrows it */
  kept = binary;
  must(sct_measure_problem(m, &cands->spec, code->layout, &kept, &err), &err);
  must(sct_measure_time(m, &kept, &cands->spec.sizes[0], 1, &t, &err), &err);
  sct_free(t.times.samples_ns);
}

static double serial(const char *spec, const sct_tune_opts *opts, const sct_device_desc *device,
                     int sample) {
  sct_error err;
  sct_tune_candidates cands;
  sct_measure *m = NULL;
  sct_compiler *compiler = NULL;
  sct_compiled naive;
  char arch[16];
  int tried = 0, good = 0;
  snprintf(arch, sizeof arch, "sm_%d%d", device->cc_major, device->cc_minor);
  const sct_compile_opts compile = {.arch = arch, .threads = 1, .batch = 1};
  must(sct_tune_candidates_make(&cands, spec, device, &(sct_tune_candidates_opts){0}, &err), &err);
  must(sct_measure_open(&m, 0, &opts->measure, &err), &err);
  must(sct_compiler_new(&compiler, &compile, &err), &err);
  set_up(m, compiler, &cands, &naive);
  const int64_t start_ns = sct_now_ns();
  for (int k = 0; k < sample; k++) {
    const sct_tune_item *item = &cands.items[(int64_t)k * cands.n_items / sample];
    if (item->code.source && item->code.layout) {
      good += try_one(compiler, m, &item->code, item->code.source);
      tried++;
    }
  }
  const double wall_s = seconds(sct_now_ns() - start_ns);
  printf("| serial loop, configurations | %d, %d of them timed | >= 60 |\n", tried, good);
  printf("| serial loop, configurations a second | %.1f | |\n", tried / wall_s);
  sct_measure_close(m);
  sct_compiled_free(&naive);
  sct_compiler_free(compiler);
  sct_tune_candidates_free(&cands);
  return tried / wall_s;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_WORKER_ARG) == 0) {
    return sct_worker_main(argc, argv);
  }
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  const int sample = argc > 2 ? atoi(argv[2]) : 64;
  char folder[] = "/tmp/sct_throughput_XXXXXX", spec[64], store[64], command[64];
  sct_error err;
  if (sample < 1 || !mkdtemp(folder)) {
    fprintf(stderr, "bench_throughput: expected a number of configurations from 1\n");
    return 2;
  }
  snprintf(spec, sizeof spec, "%s/transpose.lua", folder);
  snprintf(store, sizeof store, "%s/store.db", folder);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  must(sct_file_write(spec, spec_text, strlen(spec_text), &err), &err);
  const sct_tune_opts opts = {.device = argc > 1 ? argv[1] : "cuda:0",
                              .store_path = store,
                              .cache_dir = "",
                              .seed = 1,
                              .measure = {.fake = argc > 3 ? argv[3] : NULL}};
  sct_tune_report report;
  const double fast = sweep(&report, spec, &opts);
  const double slow = serial(spec, &opts, &report.device, sample);
  printf("| sweep over serial loop | %.1f | >= 10 |\n", fast / slow);
  sct_tune_report_free(&report);
  return system(command) == 0 ? 0 : 1;
}
