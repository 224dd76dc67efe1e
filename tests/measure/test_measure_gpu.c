/* The real thing, on a GPU (exit code 77 without one): the worker's own kernels against the host,
 * hand-written candidates that must get their outcomes, recovery after each, times and the ceiling.
 * Prints a short table. Needs no compiler: the driver takes PTX. */
#include "measure_fixture.h"

#include "measure_gpu_kernels.h"
#include "spec/spec_internal.h"
#include "worker/worker_backend.h"

#include <unistd.h>

#define CHECK_ARG "--check-own-kernels"

static int failures;

static void report(bool ok, const char *what, const char *outcome, const char *detail, double ms) {
  printf("%-4s %-18s %-15s %8.1f ms  %.70s\n", ok ? "ok" : "FAIL", what, outcome, ms, detail);
  failures += !ok;
}

/* ---- the worker's own kernels (in a process of its own: this one must not load the driver) ----
 */

static bool same_sum(sct_backend *b, sct_cuda_ptr p, const uint8_t *host, int64_t lo, int64_t hi) {
  const sct_region r[2] = {{p, lo, hi}, {p, 0, 0}};
  uint64_t sums[2] = {1, 1};
  const sct_status status = b->ops->checksum(b, r, 2, sums, NULL);
  return status == SCT_OK && sums[0] == sct_region_sum(host + lo, lo, hi) && sums[1] == 0;
}

static bool check_fill_and_sum(sct_backend *b, sct_cuda_ptr p, uint8_t *host, int64_t words) {
  const uint64_t and_mask = 0x007fffff007fffffULL, or_mask = 0x3f8000003f800000ULL;
  if (b->ops->set(b, p, 0x11, words * 8 + 16, NULL) != SCT_OK ||
      b->ops->fill(b, p, words, and_mask, or_mask, 42, NULL) != SCT_OK ||
      b->ops->download(b, host, p, words * 8 + 16, NULL) != SCT_OK) {
    return false;
  }
  for (int64_t k = 0; k < words; k++) {
    const uint64_t want = (sct_mix64(42, (uint64_t)k) & and_mask) | or_mask;
    if (memcmp(host + k * 8, &want, 8) != 0) {
      return false;
    }
  }
  const int64_t end = words * 8;
  return host[end] == 0x11 && same_sum(b, p, host, 0, end) && same_sum(b, p, host, 3, end + 5) &&
         same_sum(b, p, host, 9, 14) && same_sum(b, p, host, end - 8, end);
}

static bool check_compare(sct_backend *b, const sct_cuda_ptr p[3], uint8_t *host[3], int64_t n,
                          sct_rng *rng) {
  for (int trial = 0; trial < 40; trial++) {
    for (int64_t k = 0; k < n; k++) {
      host[1][k] = (uint8_t)sct_rng_u64(rng);
      host[0][k] = host[2][k] = host[1][k];
    }
    for (int flips = 0; flips < trial % 8; flips++) {
      host[0][sct_rng_below(rng, n)] ^= (uint8_t)(1 << sct_rng_below(rng, 8));
      host[2][sct_rng_below(rng, n)] ^= (uint8_t)(1 << sct_rng_below(rng, 8));
    }
    for (int k = 0; k < 3; k++) {
      if (b->ops->upload(b, p[k], host[k], n, NULL) != SCT_OK) {
        return false;
      }
    }
    const int64_t cut = n - trial % 9; /* ends inside a word, too */
    for (int masked = 0; masked < 2; masked++) {
      int64_t count = 0, first = 0, want_first = 0;
      const int64_t want =
          sct_bytes_differ(host[0], host[1], masked ? host[2] : NULL, cut, &want_first);
      if (b->ops->compare(b, p[0], p[1], masked ? p[2] : 0, cut, &count, &first, NULL) != SCT_OK ||
          count != want || first != want_first) {
        printf("compare: %lld at %lld instead of %lld at %lld\n", (long long)count,
               (long long)first, (long long)want, (long long)want_first);
        return false;
      }
    }
  }
  return true;
}

static bool check_copies(sct_backend *b, const sct_cuda_ptr p[3], uint8_t *host[3], int64_t n) {
  for (int variant = 0; variant < b->ops->n_copies; variant++) {
    if (b->ops->upload(b, p[0], host[0], n, NULL) != SCT_OK ||
        b->ops->set(b, p[1], 0, n + 16, NULL) != SCT_OK ||
        b->ops->copy(b, variant, p[1], p[0], n, NULL) != SCT_OK ||
        b->ops->download(b, host[1], p[1], n + 16, NULL) != SCT_OK ||
        memcmp(host[0], host[1], (size_t)n) != 0 || host[1][n] != 0) {
      return false;
    }
  }
  return true;
}

/* Spans of any length and place, and one that several blocks copy. */
static bool check_spans(sct_backend *b, sct_cuda_ptr p, uint8_t *host[3], int64_t n, sct_rng *rng) {
  sct_span spans[40] = {{3, 3 + n / 2}};
  int64_t at = spans[0].to, bytes = n / 2;
  for (int k = 1; k < SCT_COUNT(spans); k++) {
    spans[k].from = at + sct_rng_below(rng, 100);
    spans[k].to = at = spans[k].from + sct_rng_below(rng, 9000);
    bytes += spans[k].to - spans[k].from;
  }
  for (int64_t k = 0; k < bytes; k++) {
    host[0][k] = (uint8_t)sct_rng_u64(rng);
  }
  memset(host[2], 0x11, (size_t)n);
  int64_t done = 0;
  for (int k = 0; k < SCT_COUNT(spans); k++) {
    memcpy(host[2] + spans[k].from, host[0] + done, (size_t)(spans[k].to - spans[k].from));
    done += spans[k].to - spans[k].from;
  }
  return b->ops->set(b, p, 0x11, n, NULL) == SCT_OK &&
         b->ops->scatter(b, p, spans, SCT_COUNT(spans), host[0], NULL) == SCT_OK &&
         b->ops->download(b, host[1], p, n, NULL) == SCT_OK &&
         memcmp(host[1], host[2], (size_t)n) == 0 &&
         b->ops->gather(b, host[1], p, spans, SCT_COUNT(spans), NULL) == SCT_OK &&
         memcmp(host[1], host[0], (size_t)bytes) == 0;
}

#define OWN_BYTES ((int64_t)16 << 20)

static int check_own_kernels(void) {
  sct_backend *b = NULL;
  sct_error err = {0};
  sct_cuda_ptr p[3] = {0};
  uint8_t *host[3];
  sct_rng rng = sct_rng_new(7);
  bool ok = sct_backend_cuda_open(&b, 0, &err) == SCT_OK;
  if (!ok) {
    printf("%s\n", err.text);
    return 1;
  }
  for (int k = 0; k < 3; k++) {
    host[k] = sct_alloc((size_t)OWN_BYTES + 64);
    ok = ok && host[k] && b->ops->alloc(b, &p[k], OWN_BYTES + 64, &err) == SCT_OK;
  }
  static const int64_t words[] = {1, 2, 31, 257, 100003, OWN_BYTES / 8};
  for (int k = 0; ok && k < SCT_COUNT(words); k++) {
    ok = check_fill_and_sum(b, p[0], host[0], words[k]);
    report(ok, "fill, checksum", "", "", 0);
  }
  if (ok) {
    ok = check_compare(b, p, host, 100, &rng) && check_compare(b, p, host, 1 << 18, &rng);
    report(ok, "compare", "", "", 0);
  }
  if (ok) {
    ok = check_spans(b, p[0], host, 1 << 20, &rng);
    report(ok, "spans", "", "", 0);
  }
  if (ok) {
    ok = check_copies(b, p, host, 16 * 77777);
    report(ok, "copies", "", "", 0);
  }
  for (int k = 0; k < 3; k++) {
    b->ops->release(b, p[k]);
    sct_free(host[k]);
  }
  b->ops->close(b);
  return ok ? 0 : 1;
}

static void run_own_checks(void) {
  char path[512], command[600];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n < 0 ? 0 : n] = '\0';
  snprintf(command, sizeof command, "'%s' " CHECK_ARG, path);
  fflush(stdout);
  failures += system(command) != 0;
}

/* ---- candidates ---- */

static const int first_layout[SCT_MAX_OPERANDS];
static char *image;

static void kernel_init(fixture_kernel *k, sct_spec *spec, const char *entry) {
  fixture_kernel_init(k, spec, 0, 64);
  snprintf(k->entry, sizeof k->entry, "%s", entry);
  k->binary = (sct_binary){
      .code = &k->code, .cubin = image, .cubin_bytes = strlen(image) + 1, .entry = k->entry};
}

static void expect(sct_measure *m, sct_spec *spec, const char *entry, const sct_outcome_kind *any,
                   int n_any) {
  fixture_kernel k;
  sct_verdict v = {0};
  sct_error err = {0};
  kernel_init(&k, spec, entry);
  const int64_t start = sct_now_ns();
  const sct_status status = sct_measure_verify(m, &k.binary, &v, &err);
  bool ok = false;
  for (int i = 0; i < n_any; i++) {
    ok = ok || (status == SCT_OK && v.outcome == any[i]);
  }
  report(ok, entry, status == SCT_OK ? sct_outcome_name(v.outcome) : sct_status_text(status),
         status == SCT_OK ? v.detail : err.text, (double)(sct_now_ns() - start) / 1e6);
}

static void expect_one(sct_measure *m, sct_spec *spec, const char *entry, sct_outcome_kind kind) {
  expect(m, spec, entry, &kind, 1);
}

static void time_one(sct_measure *m, sct_spec *spec, const char *entry, sct_outcome_kind kind) {
  fixture_kernel k;
  sct_timing t = {0};
  sct_error err = {0};
  char text[160];
  kernel_init(&k, spec, entry);
  const int64_t start = sct_now_ns();
  const sct_status status = sct_measure_time(m, &k.binary, &spec->sizes[0], 0, &t, &err);
  snprintf(text, sizeof text, "%.2f us [%.2f, %.2f], %d samples, %.0f MHz; %.60s",
           t.times.median_ns / 1e3, t.times.q1_ns / 1e3, t.times.q3_ns / 1e3, t.times.n_samples,
           t.times.sm_clock_mhz, status == SCT_OK ? t.verdict.detail : err.text);
  report(status == SCT_OK && t.verdict.outcome == kind, entry, sct_outcome_name(t.verdict.outcome),
         text, (double)(sct_now_ns() - start) / 1e6);
  sct_free(t.times.samples_ns);
}

static void run_faults(sct_measure *m, sct_spec *spec) {
  expect_one(m, spec, "copy", SCT_OUT_OK);
  for (int k = 0; k < SCT_COUNT(gpu_bad); k++) {
    expect(m, spec, gpu_bad[k].entry, gpu_bad[k].outcome, 2);
    expect_one(m, spec, "copy_again", SCT_OUT_OK);
  }
}

static void run_timing(sct_measure *m, sct_spec *spec, double bytes) {
  double ceiling = 0;
  sct_error err = {0};
  char text[160];
  time_one(m, spec, "copy", SCT_OUT_OK);
  time_one(m, spec, "wrong_value", SCT_OUT_WRONG_RESULT);
  time_one(m, spec, "skips_last", SCT_OUT_NOT_WRITTEN);
  time_one(m, spec, "writes_behind", SCT_OUT_OUT_OF_BOUNDS);
  time_one(m, spec, "changes_input", SCT_OUT_INPUT_CHANGED);
  time_one(m, spec, "illegal_address", SCT_OUT_ILLEGAL_ACCESS);
  time_one(m, spec, "copy_again", SCT_OUT_OK);
  const int64_t start = sct_now_ns();
  const sct_status status = sct_measure_ceiling(m, (int64_t)bytes, NULL, 0, &ceiling, &err);
  const double peak = sct_measure_device(m)->peak_bytes_s;
  snprintf(text, sizeof text, "%.1f GB/s of %.1f at the peak; %.60s", ceiling / 1e9, peak / 1e9,
           err.text);
  report(status == SCT_OK && ceiling > 0.3 * peak && ceiling < peak, "ceiling", "", text,
         (double)(sct_now_ns() - start) / 1e6);
}

/* ---- copies between a device and the host, or a second device ---- */

/* Every way of a kind: its marks arrive, at sizes that are no powers of two, too. */
static void run_transfers_of(sct_measure *m, const sct_measure *peer, sct_host_kind kind) {
  static const int64_t sizes[] = {16, 4096, (1 << 20) + 16, 1 << 22};
  sct_timing t = {0};
  double best = 0, made_ns = 0;
  char text[128];
  const int64_t start = sct_now_ns();
  for (int z = 0; z < SCT_COUNT(sizes) && t.verdict.outcome == SCT_OUT_OK; z++) {
    for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS && t.verdict.outcome == SCT_OUT_OK; way++) {
      const sct_ask_transfer ask = {.kind = kind,
                                    .way = (sct_way)way,
                                    .bytes = sizes[z],
                                    .room = 1 << 22,
                                    .least = 3,
                                    .most = 9,
                                    .limit_ns = 100000000};
      assert_ok(sct_measure_transfer(m, peer, &ask, &t, &made_ns, &fixture_err));
      const double rate = t.times.median_ns > 0 ? (double)sizes[z] / t.times.median_ns : 0;
      best = rate > best ? rate : best;
      sct_free(t.times.samples_ns);
    }
  }
  snprintf(text, sizeof text, "%.3g GB/s%s%.60s", best, t.verdict.outcome == SCT_OUT_OK ? "" : "; ",
           t.verdict.outcome == SCT_OUT_OK ? "" : t.verdict.detail);
  /* not every pair of devices has peer access */
  report(t.verdict.outcome == SCT_OUT_OK || kind == SCT_HOST_PEER, sct_host_name(kind),
         sct_outcome_name(t.verdict.outcome), text, (double)(sct_now_ns() - start) / 1e6);
}

/* NULL: there is none. */
static sct_measure *open_second(void) {
  sct_measure *peer = NULL;
  const sct_measure_opts hold = {.hold_only = true};
  if (sct_measure_open(&peer, 1, &hold, &fixture_err) != SCT_OK) {
    printf("no second GPU: %s\n", fixture_err.text);
  }
  return peer;
}

static void run_transfers(sct_measure *m) {
  sct_measure *peer = open_second();
  for (int kind = 0; kind < SCT_N_HOSTS; kind++) {
    if (!sct_host_is_peer((sct_host_kind)kind)) {
      run_transfers_of(m, NULL, (sct_host_kind)kind);
    } else if (peer) { /* twice: access is switched off again */
      run_transfers_of(m, peer, (sct_host_kind)kind);
      run_transfers_of(m, peer, SCT_HOST_PEER);
    }
  }
  sct_measure_close(peer);
}

/* ---- from the host and back ---- */

/* spoilt: its input never reaches the device. */
static void run_way(sct_measure *m, const sct_spec *spec, const sct_binary *kernel,
                    const sct_host_way *way, bool spoilt) {
  const sct_sample_limits limits = {3, 5, 200000000};
  char name[64];
  sct_pipeline p;
  sct_timing t;
  sct_timeline found = {0};
  assert_ok(sct_pipeline_make(&p, spec, first_layout, &spec->sizes[0], way, &fixture_err));
  p.kernels[0].is_in[0] &= !spoilt;
  assert_ok(sct_measure_pipeline(m, kernel, &p, &limits, &t, &found, &fixture_err));
  bool good = t.verdict.outcome == (spoilt ? SCT_OUT_WRONG_RESULT : SCT_OUT_OK);
  for (int k = 0; k < found.n_steps && t.verdict.outcome == SCT_OUT_OK; k++) {
    const sct_pipe_step *step = &found.steps[k];
    good = good && step->end_ns >= step->begin_ns && step->end_ns <= 1.5 * t.times.median_ns + 1e7;
  }
  snprintf(name, sizeof name, "%.8s %lld/%d/%d/%d", sct_host_name(way->memory),
           (long long)way->chunk, way->streams, way->threads, way->devices);
  const sct_overlap o = sct_model_overlap(found.steps, found.n_steps);
  printf("     traced %.1f ms, %.0f %% hidden, %s\n", o.total_ns / 1e6, 100 * o.hidden,
         sct_engine_name(o.limit));
  report(good, name, sct_outcome_name(t.verdict.outcome), t.verdict.detail,
         t.times.median_ns / 1e6);
  sct_timeline_free(&found);
  sct_free(t.times.samples_ns);
  sct_pipeline_free(&p);
}

static void run_ways(sct_measure *m, sct_spec *spec, const sct_binary *kernel) {
  static const sct_host_way ways[] = {
      {SCT_HOST_PAGEABLE, 0, 1, 0, 1},      {SCT_HOST_PAGEABLE, 500009, 2, 8, 1},
      {SCT_HOST_PAGEABLE, 300007, 1, 3, 1}, {SCT_HOST_LOCKED, 0, 1, 0, 1},
      {SCT_HOST_LOCKED, 4000037, 3, 0, 1},  {SCT_HOST_MAPPED, 0, 1, 0, 1}};
  spec->host = true;
  assert_ok(sct_spec_find_chunks(spec, &fixture_err));
  for (int k = 0; k < SCT_COUNT(ways); k++) {
    run_way(m, spec, kernel, &ways[k], false);
  }
  run_way(m, spec, kernel, &ways[4], true);
  static const sct_host_way halves[] = {{SCT_HOST_PAGEABLE, 500009, 2, 16, 2},
                                        {SCT_HOST_PAGEABLE, 0, 1, 0, 2},
                                        {SCT_HOST_LOCKED, 4000037, 3, 0, 2}};
  sct_measure *second = open_second();
  sct_measure_set_peer(m, second);
  for (int k = 0; k < SCT_COUNT(halves) && second; k++) {
    run_way(m, spec, kernel, &halves[k], false);
  }
  if (second) {
    run_way(m, spec, kernel, &halves[2], true);
  }
  sct_measure_set_peer(m, NULL);
  sct_measure_close(second);
}

static sct_measure *open_session(void) {
  sct_measure *m = NULL;
  const sct_measure_opts opts = {.seed = 1};
  if (sct_measure_open(&m, 0, &opts, &fixture_err) != SCT_OK) {
    printf("%s\n", fixture_err.text);
  }
  return m;
}

static void problem(sct_measure *m, sct_spec *spec, fixture_kernel *naive, const char *types,
                    int64_t n, const char *entry) {
  const fixture_array arrays[] = {{.name = "a", .types = types, .layout = FIXTURE_AOS},
                                  {.name = "b", .types = types, .layout = FIXTURE_AOS}};
  fixture_spec(spec, "i", arrays, 1, 2, NULL, "b = a;", &n);
  kernel_init(naive, spec, entry);
  assert_ok(sct_measure_problem(m, spec, first_layout, &naive->binary, &fixture_err));
}

static void test_on_the_gpu(void **state) {
  (void)state;
  sct_measure *m = open_session();
  sct_spec copy, records;
  fixture_kernel naive_copy, naive_records;
  const int64_t n = (int64_t)1 << 26;
  assert_non_null(m);
  const sct_device_desc *d = sct_measure_device(m);
  printf("%s, CC %d.%d, %d SMs, L2 %lld MiB, peak %.0f GB/s, driver %s, %s\n", d->name, d->cc_major,
         d->cc_minor, d->n_sms, (long long)(d->l2_bytes >> 20), d->peak_bytes_s / 1e9, d->driver,
         d->uuid);
  run_own_checks();
  problem(m, &copy, &naive_copy, "f32", n, "copy");
  run_faults(m, &copy);
  run_timing(m, &copy, 8.0 * (double)n);
  run_ways(m, &copy, &naive_copy.binary);
  problem(m, &records, &naive_records, "f64 f32", 10000019, "record_fields");
  expect_one(m, &records, "record_whole", SCT_OUT_OK); /* padding may be written ... */
  expect_one(m, &records, "record_short", SCT_OUT_NOT_WRITTEN);
  time_one(m, &records, "record_whole", SCT_OUT_OK);
  time_one(m, &records, "record_fields", SCT_OUT_OK); /* ... or left alone */
  time_one(m, &records, "record_short", SCT_OUT_NOT_WRITTEN);
  run_transfers(m);
  sct_measure_close(m);
  sct_spec_free(&copy);
  sct_spec_free(&records);
  assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  if (argc > 1 && strcmp(argv[1], CHECK_ARG) == 0) {
    return check_own_kernels();
  }
  sct_device_desc *list = NULL;
  sct_str text = {0};
  int n = 0;
  const sct_status status = sct_measure_list(&list, &n, NULL, &fixture_err);
  sct_free(list);
  if (status != SCT_OK || n == 0) {
    printf("skipped: %s\n", fixture_err.text);
    return status == SCT_OK ? 77 : 1;
  }
  for (int k = 0; k < SCT_COUNT(gpu_kernels); k++) {
    sct_str_append(&text, gpu_kernels[k]);
  }
  image = text.data;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_on_the_gpu)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sct_str_free(&text);
  return failed;
}
