/* From the host and back on the virtual device: lists of operations leave what the kernel makes of
 * all at once, at odd sizes and in chunks of all kinds; one that has lost an operation, a halo or
 * an element is found. */
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
  sct_pipe_step *steps = sct_alloc(sizeof *steps * (size_t)p->n_ops);
  sct_timing t;
  MUST(sct_measure_pipeline(w->measure, &candidate, p, &none, &t, steps, err));
  assert_int_equal(t.times.n_samples, 0);
  for (int k = 0; k < p->n_ops && t.verdict.outcome == SCT_OUT_OK; k++) {
    assert_true(steps[k].end_ns >= steps[k].begin_ns && steps[k].ns >= 0);
  }
  sct_free(steps);
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

static sct_host_op *find(sct_pipeline *p, sct_host_op_kind kind, int which);

static void sums_of_all_chunks(void **state) {
  (void)state;
  check_some(ONTO(""), "direct threads=256", false);
  check_some(ONTO(", host = false"), "direct threads=256", false);
  check_some(COLUMNS(""), "direct threads=256", false);
  check_some(COLUMNS(", host = false"), "direct threads=256", false);
}

static void no_start(sct_pipeline *p) {
  find(p, SCT_HOST_OP_SET, 0)->bytes = 0;
}

static void a_start_too_many(sct_pipeline *p) {
  sct_host_op *const set = find(p, SCT_HOST_OP_SET, 2), *const first = find(p, SCT_HOST_OP_SET, 0);
  set->buffer = first->buffer;
  set->bytes = first->bytes;
}

static void no_start_of_a_chunk(sct_pipeline *p) {
  find(p, SCT_HOST_OP_SET, 1)->bytes = 0;
}

static void nothing_held(sct_pipeline *p) {
  find(p, SCT_HOST_OP_IN, 0)->bytes = 0;
}

static void wrong_starts_are_found(void **state) {
  (void)state;
  static void (*const make_wrong[])(sct_pipeline *) = {no_start, a_start_too_many,
                                                       no_start_of_a_chunk, nothing_held};
  tv_world w;
  sct_compiled compiled;
  open_world(&w, ONTO(""), "direct threads=256", &compiled);
  for (int k = 0; k < SCT_COUNT(make_wrong); k++) {
    sct_pipeline p;
    make(&w, 33, ways[4], &p);
    make_wrong[k](&p);
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
  assert_int_equal(p.n_launches, 5);
  p.launches[2].first--;
  assert_int_equal(run(&w, &compiled, &p).outcome, SCT_OUT_WRONG_RESULT);
  sct_pipeline_free(&p);
  close_world(&w, &compiled);
  open_world(&w, STAGED, "direct threads=256", &compiled);
  make(&w, 33, ways[4], &p);
  find(&p, SCT_HOST_OP_STAGE_OUT, 2)->device_at -= p.step[1];
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
  assert_int_equal(p.n_ops, 0);
  const sct_binary candidate = tv_binary(&w.code, &compiled);
  const sct_sample_limits none = {0};
  assert_int_equal(sct_measure_pipeline(w.measure, &candidate, &p, &none, &t, NULL, &e),
                   SCT_EUSAGE);
  sct_pipeline_free(&p);
  close_world(&w, &compiled);
}

/* ---- lists with a mistake ---- */

static sct_host_op *find(sct_pipeline *p, sct_host_op_kind kind, int which) {
  for (int k = 0; k < p->n_ops; k++) {
    if (p->ops[k].kind == kind && which-- == 0) {
      return &p->ops[k];
    }
  }
  fail_msg("no operation of kind %d", (int)kind);
  return NULL;
}

static void nothing(sct_pipeline *p) {
  (void)p;
}

static void in_of_an_element_before(sct_pipeline *p) {
  find(p, SCT_HOST_OP_IN, 2)->host_at -= p->step[0];
}

static void out_of_an_element_after(sct_pipeline *p) {
  find(p, SCT_HOST_OP_OUT, 1)->host_at += p->step[0];
}

static void out_from_the_halo(sct_pipeline *p) {
  find(p, SCT_HOST_OP_OUT, 1)->device_at = 0;
}

/* The row of the first device's half that the second one's needs. */
static void in_without_the_other_half(sct_pipeline *p) {
  for (int k = 0; k < p->n_ops; k++) {
    if (p->ops[k].kind == SCT_HOST_OP_IN && p->ops[k].device == 1) {
      p->ops[k].host_at += p->step[0];
      p->ops[k].bytes -= p->step[0];
      return;
    }
  }
}

static void no_last_row(sct_pipeline *p) {
  sct_host_op *op = find(p, SCT_HOST_OP_IN, 2); /* keeps what the slot's chunk before had there */
  op->bytes -= p->step[0];
}

static void another_slot(sct_pipeline *p) {
  find(p, SCT_HOST_OP_KERNEL, 1)->launch = find(p, SCT_HOST_OP_KERNEL, 0)->launch;
}

static void nothing_comes_back(sct_pipeline *p) {
  find(p, SCT_HOST_OP_OUT, 3)->bytes = 0;
}

static void the_ring_is_not_emptied(sct_pipeline *p) {
  find(p, SCT_HOST_OP_FROM_RING, 2)->bytes = 0;
}

static void the_ring_is_not_filled(sct_pipeline *p) {
  find(p, SCT_HOST_OP_TO_RING, 4)->bytes = 0;
}

static const struct mistake {
  const char *name;
  int way; /* of `ways`, or 100 and one of `halves` */
  void (*make)(sct_pipeline *p);
  bool good;
} mistakes[] = {{"none", 4, nothing, true},
                {"an element before", 4, in_of_an_element_before, false},
                {"an element after", 4, out_of_an_element_after, false},
                {"from the halo", 4, out_from_the_halo, false},
                {"the last row stays out", 4, no_last_row, false},
                {"another slot", 4, another_slot, false},
                {"nothing comes back", 4, nothing_comes_back, false},
                {"the ring is right", 7, nothing, true},
                {"the ring is not emptied", 7, the_ring_is_not_emptied, false},
                {"the ring is not filled", 7, the_ring_is_not_filled, false},
                {"halves are right", 102, nothing, true},
                {"the other half's row", 102, in_without_the_other_half, false},
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
    mistakes[k].make(&p);
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

/* What lies outside of its arrays is refused by the worker, not done. */
static void lists_that_cannot_be_are_refused(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  open_world(&w, STENCIL("clamp"), "direct threads=256", &compiled);
  for (int k = 0; k < 10; k++) {
    sct_pipeline p;
    sct_timing t;
    sct_error e = {0};
    make(&w, 33, k < 5 ? ways[4] : halves[2], &p);
    sct_host_op *op = find(&p, k == 7 ? SCT_HOST_OP_KERNEL : SCT_HOST_OP_OUT, 4);
    op->host_at += k == 0 ? p.step[1] : 0; /* the last chunk has fewer rows */
    op->device_at += k == 1 ? 1 << 20 : 0;
    op->bytes = k == 2 ? INT64_MAX : op->bytes;
    op->after = k == 3 ? p.n_ops : op->after;
    op->array = k == 4 ? 3 : op->array;
    assert_int_equal(op->device, k >= 5);
    op->device = k == 6 || k == 7 ? 0 : op->device; /* with memory or a kernel of the other */
    op->buffer = k == 8 ? p.ops[0].buffer : op->buffer;
    op->slot = k == 9 ? p.ops[0].slot : op->slot;
    sct_measure_set_peer(w.measure, k == 5 ? NULL : second);
    const sct_binary candidate = tv_binary(&w.code, &compiled);
    const sct_sample_limits none = {0};
    sct_pipe_step *steps = sct_alloc(sizeof *steps * (size_t)p.n_ops);
    const sct_status status = sct_measure_pipeline(w.measure, &candidate, &p, &none, &t, steps, &e);
    assert_true(status != SCT_OK || t.verdict.outcome != SCT_OUT_OK);
    sct_free(steps);
    sct_free(t.times.samples_ns);
    sct_pipeline_free(&p);
  }
  close_world(&w, &compiled);
}

/* ---- lists, without a device ---- */

static void chunks_are_queued_in_order(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  sct_pipeline p;
  open_world(&w, STENCIL("clamp"), "direct threads=256", &compiled);
  make(&w, 20, (sct_host_way){SCT_HOST_PAGEABLE, 8, 2, 1, 1}, &p);
  assert_int_equal(p.n_extents, 3); /* 8 + 2, 1 + 8 + 2, 1 + 4 */
  assert_int_equal(p.extent[0], 10);
  assert_int_equal(p.extent[1], 11);
  assert_int_equal(p.extent[2], 5);
  static const char *const order = "r<ko r<ko R r<ko R R"; /* the first slot's ring, filled again */
  static const char letters[] = {'<', 'k', 'o', 'r', 'R'};
  int n = 0;
  for (const char *c = order; *c != '\0'; c++) {
    if (*c != ' ') {
      assert_true(n < p.n_ops);
      assert_int_equal(letters[p.ops[n++].kind], *c);
    }
  }
  assert_int_equal(n, p.n_ops);
  assert_int_equal(p.ops[8].after, 3); /* the copy back to the ring */
  assert_int_equal(p.ops[9].after, 3); /* and before the ring is filled again */
  assert_int_equal(p.ops[10].host_at, 15 * 160);
  assert_int_equal(p.ops[12].device_at, 160);
  sct_pipeline_free(&p);
  close_world(&w, &compiled);
}

/* Every device has its half, from the first element to the last, halos of the other's included. */
static void two_devices_have_halves(void **state) {
  (void)state;
  tv_world w;
  sct_compiled compiled;
  sct_pipeline p;
  open_world(&w, STENCIL("clamp"), "direct threads=256", &compiled);
  for (int64_t n = 1; n <= 40; n++) {
    make(&w, n, (sct_host_way){SCT_HOST_PAGEABLE, 4, 2, 5, 2}, &p);
    assert_int_equal(p.parts[0].begin, 0);
    assert_int_equal(p.parts[0].end, (n + 1) / 2);
    assert_int_equal(p.parts[1].begin, (n + 1) / 2);
    assert_int_equal(p.parts[1].end, n);
    assert_true(p.parts[0].n_threads <= 3 && p.parts[1].n_threads <= 2);
    int64_t copied = 0, first_in = n;
    for (int k = 0; k < p.n_ops; k++) {
      const sct_host_op *op = &p.ops[k];
      const sct_host_part *part = &p.parts[op->device];
      const int64_t row = op->host_at / p.step[op->array];
      assert_true(op->slot >= part->first_slot && op->slot < part->first_slot + part->n_slots);
      assert_true(op->thread >= part->first_thread &&
                  op->thread < part->first_thread + part->n_threads);
      assert_true(op->after < 0 || p.ops[op->after].device == op->device);
      if (op->kind == SCT_HOST_OP_OUT) {
        assert_true(row >= part->begin && row + op->bytes / p.step[1] <= part->end);
        copied += op->bytes / p.step[1];
      } else if (op->kind == SCT_HOST_OP_IN && op->device == 1) {
        first_in = row < first_in ? row : first_in;
      }
    }
    assert_int_equal(copied, n);
    assert_int_equal(first_in, n > 1 ? p.parts[1].begin - 1 : n); /* one row of halo before */
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
      cmocka_unit_test(lists_that_cannot_be_are_refused),
      cmocka_unit_test(chunks_are_queued_in_order),
      cmocka_unit_test(two_devices_have_halves),
      cmocka_unit_test(what_is_one_for_all_is_not_halved),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
