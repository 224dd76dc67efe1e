/* From the host and back on the virtual device: chunks leave what the kernel makes of all at once,
 * at odd sizes and in all ways; what the host's code does wrong, if it knows a kernel wrongly, is
 * found. */
#include "tune_verify.h"

#include "measure/measure_session.h"

#define MIXED                                                                                      \
  "local s = require \"sectile\"\n"                                                                \
  "local pair = s.record { { \"x\", \"f32\" }, { \"n\", \"u8\" }, name = \"pair\" }\n"             \
  "return s.kernel {\n"                                                                            \
  "  host = true, name = \"mixed\", dims = { \"row\", \"col\" },\n"                                \
  "  scalars = { { \"k\", \"f32\" } },\n"                                                          \
  "  inputs = { s.array(\"a\", \"f32\"),\n"                                                        \
  "    s.array(\"w\", \"f32\", s.row_major, { dims = { \"col\" } }) },\n"                          \
  "  outputs = { s.array(\"b\", \"f32\", s.row_major, { inout = true }),\n"                        \
  "    s.array(\"c\", pair, s.aos) },\n"                                                           \
  "  body = \"b = b + a * w; c.x = k * a; c.n = 7;\",\n"                                           \
  "  sizes = { { row = 300, col = 40 } },\n"                                                       \
  "}\n"
#define STENCIL(border)                                                                            \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  host = true, name = \"stencil\", dims = { \"y\", \"x\" },\n"                                  \
  "  inputs = { s.array(\"a\", \"f32\", s.row_major, {\n"                                          \
  "    taps = { up = { -1, 0 }, below = { 2, 0 }, left = { 0, -1 } }, border = \"" border          \
  "\" }) },\n"                                                                                     \
  "  outputs = { s.array(\"b\", \"f32\") },\n"                                                     \
  "  body = \"b = up + 2.0f * a + 4.0f * below + 8.0f * left;\",\n"                                \
  "  sizes = { { y = 300, x = 40 } },\n"                                                           \
  "}\n"
#define SUMS                                                                                       \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  host = true, name = \"sums\", dims = { \"row\", \"col\" }, tolerance = 1e-5,\n"               \
  "  inputs = { s.array(\"a\", \"f32\") },\n"                                                      \
  "  outputs = { s.array(\"b\", \"f32\", s.row_major, { dims = { \"row\" }, reduce = \"sum\" }) "  \
  "},\n"                                                                                           \
  "  body = \"b = a;\", sizes = { { row = 300, col = 40 } },\n"                                    \
  "}\n"
#define TABLE                                                                                      \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  host = true, name = \"lookup\", dims = { \"i\" },\n"                                          \
  "  inputs = { s.array(\"pick\", \"i32\"),\n"                                                     \
  "    s.array(\"t\", \"f64\", s.row_major, { dims = { \"place\" }, at = { \"pick\" } }) },\n"     \
  "  outputs = { s.array(\"b\", \"f64\") },\n"                                                     \
  "  body = \"b = t;\", sizes = { { i = 300, place = 50 } },\n"                                    \
  "}\n"

/* The sums and the weights stay on the device, and are used there. */
#define KEEP                                                                                       \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"keeps\", dims = { \"row\", \"col\" },\n"                                             \
  "  inputs = { s.array(\"a\", \"f32\", s.row_major, { host = true }),\n"                          \
  "    s.array(\"w\", \"f32\", s.row_major, { dims = { \"col\" } }) },\n"                          \
  "  outputs = { s.array(\"b\", \"f32\", s.row_major, { inout = true }) },\n"                      \
  "  body = \"b = b + a * w;\", sizes = { { row = 300, col = 40 } },\n"                            \
  "}\n"
/* Its output stays, and is staged. */
#define STAGED                                                                                     \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"staged\", dims = { \"y\", \"x\" },\n"                                                \
  "  inputs = { s.array(\"a\", \"f32\", s.row_major, { host = true,\n"                             \
  "    taps = { up = { -1, 0 }, below = { 2, 0 } }, border = \"clamp\" }) },\n"                    \
  "  outputs = { s.array(\"b\", \"f32\", s.row_major, { inout = true }) },\n"                      \
  "  body = \"b = b + up + 2.0f * a + 4.0f * below;\",\n"                                          \
  "  sizes = { { y = 300, x = 40 } },\n"                                                           \
  "}\n"

/* Chunks scatter to an output that stays. */
#define SCATTER                                                                                    \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"scatters\", dims = { \"i\" }, host = true,\n"                                        \
  "  inputs = { s.array(\"pick\", \"i32\"), s.array(\"a\", \"f64\") },\n"                          \
  "  outputs = { s.array(\"b\", \"f64\", s.row_major, { dims = { \"place\" }, at = { \"pick\" "    \
  "},\n"                                                                                           \
  "    host = false }) },\n"                                                                       \
  "  body = \"b = a;\", sizes = { { i = 300, place = 300 } },\n"                                   \
  "}\n"

/* Chunks go onto what those before have left, and onto rows of their own. */
#define ONTO(stays)                                                                                \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  host = true, name = \"onto\", dims = { \"row\", \"col\" },\n"                                 \
  "  inputs = { s.array(\"key\", \"i32\"), s.array(\"a\", \"f32\") },\n"                           \
  "  outputs = { s.array(\"t\", \"i32\", s.row_major, { dims = { \"bin\" }, at = { \"key\" },\n"   \
  "      accumulate = \"add\"" stays " }),\n"                                                      \
  "    s.array(\"n\", \"u32\", s.row_major, { dims = { \"row\", \"bin\" },\n"                      \
  "      at = { \"row\", \"key\" }, accumulate = \"add\" }),\n"                                    \
  "    s.array(\"m\", \"i32\", s.row_major, { dims = { \"bin\" }, at = { \"key\" },\n"             \
  "      accumulate = \"max\", inout = true" stays " }) },\n"                                      \
  "  body = \"t = (int)a; n = 1; m = (int)a;\", sizes = { { row = 300, col = 40, bin = 50 } },\n"  \
  "}\n"

/* A spec that reduces along the dimension that is cut. */
#define COLUMNS(stays)                                                                             \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  host = true, name = \"columns\", dims = { \"row\", \"col\" }, tolerance = 1e-5,\n"            \
  "  inputs = { s.array(\"a\", \"f32\") },\n"                                                      \
  "  outputs = { s.array(\"t\", \"f32\", s.row_major, { dims = { \"col\" }, reduce = \"sum\",\n"   \
  "      inout = true" stays " }) },\n"                                                            \
  "  body = \"t = a;\", sizes = { { row = 300, col = 40 } },\n"                                    \
  "}\n"

static int64_t extent[SCT_MAX_EXTENTS];
static sct_size size;

/* A pipeline of the spec at n elements of the dimension that is cut, others as in its size. */
static void make(tv_world *w, int64_t n, sct_host_way way, sct_pipeline *p) {
  const sct_spec *spec = &w->f.spec;
  assert_int_equal(spec->chunk_dim, 0);
  memcpy(extent, spec->sizes[0].extent, sizeof *extent * (size_t)spec->n_extents);
  extent[0] = n;
  size = (sct_size){.extent = extent, .fill = spec->sizes[0].fill, .label = "here"};
  MUST(sct_pipeline_make(p, spec, w->code.layout, &size, &way, err));
}

static sct_measure *second; /* of two devices */

static sct_verdict run(tv_world *w, const sct_compiled *compiled, const sct_pipeline *p) {
  const sct_binary candidate = tv_binary(&w->code, compiled);
  const sct_sample_limits none = {0};
  sct_timeline found = {0};
  sct_timing t;
  MUST(sct_measure_pipeline(w->measure, &candidate, p, &none, &t, &found, err));
  assert_int_equal(t.times.n_samples, 0);
  for (int k = 0; k < found.n_steps && t.verdict.outcome == SCT_OUT_OK; k++) {
    assert_true(found.steps[k].end_ns >= found.steps[k].begin_ns);
  }
  if (t.verdict.outcome == SCT_OUT_OK) { /* as many of each kind as without a device */
    int n[SCT_N_ENGINES] = {0};
    assert_int_equal(found.n_steps, p->dry.n_steps);
    for (int k = 0; k < found.n_steps; k++) {
      n[found.steps[k].engine]++;
      n[p->dry.steps[k].engine]--;
    }
    for (int e = 0; e < SCT_N_ENGINES; e++) {
      assert_int_equal(n[e], 0);
    }
  }
  sct_timeline_free(&found);
  sct_free(t.times.samples_ns);
  return t.verdict;
}

static void open_world(tv_world *w, const char *spec, const char *label, sct_compiled *compiled) {
  tv_open_text(w, spec, label);
  *compiled = tv_compile(w, &w->code);
  const sct_binary naive = tv_binary(&w->naive, &w->reference);
  MUST(sct_measure_problem(w->measure, &w->f.spec, w->code.layout, &naive, err));
  const sct_measure_opts hold = {.described = &w->f.device, .hold_only = true};
  MUST(sct_measure_open(&second, 0, &hold, err));
  sct_measure_set_peer(w->measure, second);
}

static void close_world(tv_world *w, sct_compiled *compiled) {
  tv_close(w);
  sct_measure_close(second);
  sct_compiled_free(compiled);
}

static const sct_host_way ways[] = {
    {SCT_HOST_PAGEABLE, 0, 1, 0, 1}, {SCT_HOST_LOCKED, 0, 1, 0, 1},
    {SCT_HOST_MAPPED, 0, 1, 0, 1},   {SCT_HOST_LOCKED, 1, 2, 0, 1},
    {SCT_HOST_LOCKED, 7, 3, 0, 1},   {SCT_HOST_LOCKED, 32, 4, 0, 1},
    {SCT_HOST_LOCKED, 999, 3, 0, 1}, {SCT_HOST_PAGEABLE, 7, 3, 1, 1},
    {SCT_HOST_PAGEABLE, 3, 2, 4, 1}, {SCT_HOST_PAGEABLE, 32, 2, 16, 1}};
/* Ways by two devices; with threads that cannot be divided, and less than one each. */
static const sct_host_way halves[] = {
    {SCT_HOST_PAGEABLE, 0, 1, 0, 2}, {SCT_HOST_LOCKED, 1, 2, 0, 2},
    {SCT_HOST_LOCKED, 7, 3, 0, 2},   {SCT_HOST_LOCKED, 999, 3, 0, 2},
    {SCT_HOST_PAGEABLE, 7, 3, 1, 2}, {SCT_HOST_PAGEABLE, 3, 2, 5, 2}};
static const int64_t sizes[] = {1, 2, 3, 31, 33, 100};

/* Mapped arrays are no place for what points fall on. */
static bool has_way(const tv_world *w, const sct_host_way *way) {
  return way->memory != SCT_HOST_MAPPED || !sct_spec_accumulates(&w->f.spec);
}

static void check_ways(tv_world *w, const sct_compiled *compiled, const sct_host_way *list, int n) {
  for (int z = 0; z < SCT_COUNT(sizes); z++) {
    for (int k = 0; k < n; k++) {
      sct_pipeline p;
      if (!has_way(w, &list[k])) {
        continue;
      }
      make(w, sizes[z], list[k], &p);
      const sct_verdict verdict = run(w, compiled, &p);
      if (verdict.outcome != SCT_OUT_OK) {
        fail_msg("n=%d, %d devices, way %d: %s", (int)sizes[z], list[k].devices, k, verdict.detail);
      }
      sct_pipeline_free(&p);
    }
  }
}

static void check_some(const char *spec, const char *label, bool by_halves) {
  tv_world w;
  sct_compiled compiled;
  open_world(&w, spec, label, &compiled);
  check_ways(&w, &compiled, ways, SCT_COUNT(ways));
  if (by_halves) {
    check_ways(&w, &compiled, halves, SCT_COUNT(halves));
  }
  close_world(&w, &compiled);
}

static void check_all(const char *spec, const char *label) {
  check_some(spec, label, true);
}

static void arrays_of_every_kind(void **state) {
  (void)state;
  check_all(MIXED, "direct threads=256");
}

static void halos(void **state) {
  (void)state;
  check_all(STENCIL("clamp"), "direct threads=128");
  check_all(STENCIL("zero"), "direct threads=256");
}

static void rows_that_are_summed(void **state) {
  (void)state;
  check_all(SUMS, "direct threads=256");
}

static void sums_of_all_chunks(void **state) {
  (void)state;
  check_some(ONTO(""), "direct threads=256", false);
  check_some(ONTO(", host = false"), "direct threads=256", false);
  check_some(COLUMNS(""), "direct threads=256", false);
  check_some(COLUMNS(", host = false"), "direct threads=256", false);
}

/* For kernels that were changed: chunks may have other extents and operations. */
static void dry_again(sct_pipeline *p) {
  sct_timeline_free(&p->dry);
  MUST(sct_model_pipeline(&p->dry, p->kernels, p->options, p->way.devices, NULL, err));
}

static void no_start(sct_host_kernel *k) {
  k->start[2] = -1;
}

static void a_start_too_many(sct_host_kernel *k) {
  k->start[4] = 0; /* of what it holds */
}

static void no_start_of_a_chunk(sct_host_kernel *k) {
  k->start[3] = -1;
}

static void nothing_held(sct_host_kernel *k) {
  k->is_in[4] = 0;
}

static void no_turns(sct_host_kernel *k) { /* so that nothing of it comes back */
  k->is_shared[2] = 0;
}

static void wrong_starts_are_found(void **state) {
  (void)state;
  static void (*const make_wrong[])(sct_host_kernel *) = {
      no_start, a_start_too_many, no_start_of_a_chunk, nothing_held, no_turns};
  tv_world w;
  sct_compiled compiled;
  open_world(&w, ONTO(""), "direct threads=256", &compiled);
  for (int k = 0; k < SCT_COUNT(make_wrong); k++) {
    sct_pipeline p;
    make(&w, 33, ways[4], &p);
    make_wrong[k](p.kernels);
    dry_again(&p);
    assert_int_not_equal(run(&w, &compiled, &p).outcome, SCT_OUT_OK); /* poison, or wrong */
    sct_pipeline_free(&p);
  }
  close_world(&w, &compiled);
}

static void tables_that_all_chunks_need(void **state) {
  (void)state;
  check_all(TABLE, "direct threads=256");
}

static void arrays_that_stay(void **state) {
  (void)state;
  check_some(KEEP, "direct threads=256", false);
  check_some(STAGED, "direct threads=256", false);
  check_some(SCATTER, "direct threads=256", false);
}

/* A kernel that works on the wrong part of an array of the device. */
static void wrong_parts_are_found(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  sct_pipeline p;
  open_world(&w, KEEP, "direct threads=256", &compiled);
  make(&w, 33, ways[4], &p);
  assert_int_equal(p.dry.n_chunks, 5);
  p.kernels[0].step[2] -= 160; /* all chunks go onto the same part */
  assert_int_equal(run(&w, &compiled, &p).outcome, SCT_OUT_WRONG_RESULT);
  sct_pipeline_free(&p);
  close_world(&w, &compiled);
  open_world(&w, STAGED, "direct threads=256", &compiled);
  make(&w, 33, ways[4], &p);
  p.kernels[0].is_in[1] = 0; /* what the output holds */
  assert_int_equal(run(&w, &compiled, &p).outcome, SCT_OUT_WRONG_RESULT);
  sct_pipeline_free(&p);
  close_world(&w, &compiled);
}

static void without_elements_there_is_nothing_to_run(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  sct_pipeline p;
  sct_timing t;
  sct_error e = {0};
  open_world(&w, MIXED, "direct threads=256", &compiled);
  make(&w, 0, ways[4], &p);
  assert_int_equal(p.dry.n_steps, 0);
  const sct_binary candidate = tv_binary(&w.code, &compiled);
  const sct_sample_limits none = {0};
  sct_timeline found = {0};
  assert_int_equal(sct_measure_pipeline(w.measure, &candidate, &p, &none, &t, &found, &e),
                   SCT_EUSAGE);
  sct_pipeline_free(&p);
  close_world(&w, &compiled);
}

/* ---- what the host's code may know wrongly ---- */

static void nothing(sct_host_kernel *k) {
  (void)k;
}

static void rows_are_shorter(sct_host_kernel *k) {
  k->step[0] -= 4;
}

static void rows_come_back_too_close(sct_host_kernel *k) {
  k->step[1] -= 4;
}

static void no_row_before(sct_host_kernel *k) {
  k->before = 0;
}

static void one_row_after(sct_host_kernel *k) {
  k->after = 1;
}

static void nothing_comes_back(sct_host_kernel *k) {
  k->is_out[1] = 0;
}

static void nothing_goes(sct_host_kernel *k) {
  k->is_in[0] = 0;
}

static void the_last_row_is_not_computed(sct_host_kernel *k) {
  k->end--;
}

static void a_row_between_halves(sct_host_kernel *k) {
  k[1].begin++;
}

/* The row of the first device's half that the second one's needs. */
static void nothing_of_the_other_half(sct_host_kernel *k) {
  k[1].before = 0;
}

static const struct mistake {
  const char *name;
  int way; /* of `ways`, or 100 and one of `halves` */
  void (*make)(sct_host_kernel *kernels);
  bool good;
} mistakes[] = {{"none", 4, nothing, true},
                {"shorter rows", 4, rows_are_shorter, false},
                {"rows too close", 4, rows_come_back_too_close, false},
                {"no row before", 4, no_row_before, false},
                {"one row after", 4, one_row_after, false},
                {"the last row", 4, the_last_row_is_not_computed, false},
                {"nothing goes", 4, nothing_goes, false},
                {"nothing comes back", 4, nothing_comes_back, false},
                {"the ring is right", 7, nothing, true},
                {"nothing goes to the ring", 7, nothing_goes, false},
                {"nothing comes from the ring", 7, nothing_comes_back, false},
                {"halves are right", 102, nothing, true},
                {"a row between halves", 102, a_row_between_halves, false},
                {"the other half's row", 102, nothing_of_the_other_half, false},
                {"nothing comes back", 102, nothing_comes_back, false}};

static void mistakes_are_found(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  open_world(&w, STENCIL("clamp"), "direct threads=256", &compiled);
  for (int k = 0; k < SCT_COUNT(mistakes); k++) {
    sct_pipeline p;
    const int way = mistakes[k].way;
    make(&w, 33, way < 100 ? ways[way] : halves[way - 100], &p);
    mistakes[k].make(p.kernels);
    dry_again(&p);
    const sct_verdict verdict = run(&w, &compiled, &p);
    if ((verdict.outcome == SCT_OUT_OK) != mistakes[k].good) {
      fail_msg("%s: %s %s", mistakes[k].name, sct_outcome_name(verdict.outcome), verdict.detail);
    }
    sct_pipeline_free(&p);
  }
  close_world(&w, &compiled);
}

static void a_lost_halo_is_found(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  sct_pipeline p;
  open_world(&w, STENCIL("clamp"), "direct threads=256", &compiled);
  w.f.spec.halo_after = 1; /* taps reach 2 */
  make(&w, 33, ways[4], &p);
  const sct_verdict verdict = run(&w, &compiled, &p);
  assert_int_equal(verdict.outcome, SCT_OUT_WRONG_RESULT);
  assert_non_null(strstr(verdict.detail, "b of element y=6"));
  sct_pipeline_free(&p);
  close_world(&w, &compiled);
}

/* What would leave arrays is refused by the worker, not done. */
static void what_cannot_be_is_refused(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  open_world(&w, STENCIL("clamp"), "direct threads=256", &compiled);
  for (int k = 0; k < 16; k++) {
    sct_pipeline p;
    sct_timing t;
    sct_timeline found = {0};
    sct_error e = {0};
    make(&w, 33, k < 12 ? ways[4] : halves[2], &p);
    sct_host_kernel *kernel = &p.kernels[k > 12];
    sct_host_options *options = &p.options[k > 12];
    kernel->n += k == 0;
    kernel->step[1] += k == 1 ? 8 : 0;
    kernel->base[0] = k == 2 ? INT64_MAX : k == 3 ? -1 : kernel->base[0];
    kernel->end += k == 4 || k == 13;
    kernel->begin -= k == 5 || k == 14 ? 100 : 0;
    kernel->n_arrays += k == 6 ? 1 : k == 15 ? -1 : 0;
    kernel->after = k == 7 ? INT64_MAX : kernel->after;
    options->streams = k == 8 ? SCT_MAX_STREAMS + 1 : options->streams;
    options->threads = k == 9 ? 0 : options->threads;
    options->chunk = k == 10 ? 0 : options->chunk;
    p.dry.extent[0] += k == 11; /* there is no launch for a chunk */
    sct_measure_set_peer(w.measure, k == 12 ? NULL : second);
    const sct_binary candidate = tv_binary(&w.code, &compiled);
    const sct_sample_limits none = {0};
    const sct_status status =
        sct_measure_pipeline(w.measure, &candidate, &p, &none, &t, &found, &e);
    assert_int_equal(status, k == 12 ? SCT_EUSAGE : SCT_EINTERNAL);
    assert_non_null(strstr(e.text, k == 12 ? "no second device" : "malformed request"));
    sct_timeline_free(&found);
    sct_free(t.times.samples_ns);
    sct_pipeline_free(&p);
  }
  close_world(&w, &compiled);
}

/* ---- without a device ---- */

static void chunks_are_queued_in_order(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  sct_pipeline p;
  open_world(&w, STENCIL("clamp"), "direct threads=256", &compiled);
  make(&w, 20, (sct_host_way){SCT_HOST_PAGEABLE, 8, 2, 1, 1}, &p);
  assert_int_equal(p.dry.n_extents, 3); /* 8 + 2, 1 + 8 + 2, 1 + 4 */
  assert_int_equal(p.dry.extent[0], 10);
  assert_int_equal(p.dry.extent[1], 11);
  assert_int_equal(p.dry.extent[2], 5);
  static const char *const order = "r<ko r<ko r r<ko r r"; /* the first slot's ring, filled again */
  static const char letters[SCT_N_ENGINES] = {'<', 'k', 'o', 'r'};
  int n = 0;
  for (const char *c = order; *c != '\0'; c++) {
    if (*c != ' ') {
      assert_true(n < p.dry.n_steps);
      assert_int_equal(letters[p.dry.steps[n++].engine], *c);
    }
  }
  assert_int_equal(n, p.dry.n_steps);
  sct_pipeline_free(&p);
  close_world(&w, &compiled);
}

/* Every device has its half, from the first element to the last. */
static void two_devices_have_halves(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  sct_pipeline p;
  open_world(&w, STENCIL("clamp"), "direct threads=256", &compiled);
  for (int64_t n = 1; n <= 40; n++) {
    make(&w, n, (sct_host_way){SCT_HOST_PAGEABLE, 4, 2, 5, 2}, &p);
    const int64_t half = (n + 1) / 2;
    assert_true(p.kernels[0].begin == 0 && p.kernels[0].end == half);
    assert_true(p.kernels[1].begin == half && p.kernels[1].end == n);
    assert_true(p.options[0].threads == 3 && p.options[1].threads == 2 && p.dry.n_threads <= 5);
    int64_t n_chunks[2] = {0, 0};
    for (int k = 0; k < p.dry.n_steps; k++) {
      const sct_pipe_step *s = &p.dry.steps[k];
      n_chunks[s->device] += s->engine == SCT_ENGINE_KERNEL;
    }
    assert_int_equal(n_chunks[0], (half + 3) / 4);
    assert_int_equal(n_chunks[1], (n - half + 3) / 4);
    sct_pipeline_free(&p);
  }
  close_world(&w, &compiled);
}

static void what_is_one_for_all_is_not_halved(void **state) {
  (void)state;
  static const char *const specs[] = {KEEP, STAGED, SCATTER};
  for (int k = 0; k < SCT_COUNT(specs); k++) {
    tv_world w;
    sct_compiled compiled;
    sct_pipeline p;
    sct_error e = {0};
    open_world(&w, specs[k], "direct threads=256", &compiled);
    make(&w, 33, ways[4], &p);
    assert_true(sct_pipeline_shared(&p) >= 0);
    sct_pipeline_free(&p);
    assert_int_equal(sct_pipeline_make(&p, &w.f.spec, w.code.layout, &size, &halves[2], &e),
                     SCT_EUSAGE);
    assert_non_null(strstr(e.text, "is one for all chunks"));
    sct_pipeline_free(&p);
    close_world(&w, &compiled);
  }
}

static int setup(void **state) {
  (void)state;
  return scratch_make(tv_folder, sizeof tv_folder, "host");
}

static int teardown(void **state) {
  (void)state;
  return scratch_remove(tv_folder);
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_of_every_kind),
      cmocka_unit_test(halos),
      cmocka_unit_test(rows_that_are_summed),
      cmocka_unit_test(sums_of_all_chunks),
      cmocka_unit_test(wrong_starts_are_found),
      cmocka_unit_test(tables_that_all_chunks_need),
      cmocka_unit_test(arrays_that_stay),
      cmocka_unit_test(wrong_parts_are_found),
      cmocka_unit_test(without_elements_there_is_nothing_to_run),
      cmocka_unit_test(mistakes_are_found),
      cmocka_unit_test(a_lost_halo_is_found),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(chunks_are_queued_in_order),
      cmocka_unit_test(two_devices_have_halves),
      cmocka_unit_test(what_is_one_for_all_is_not_halved),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
