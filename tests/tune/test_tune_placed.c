/* A kernel is right wherever its plan lets the arrays begin: candidates of specs whose fields lie
 * off their types' alignment, or whose records promise more than that, run on the virtual device
 * with every array at exactly the alignment that the plan declares, and give what they give with
 * arrays that are aligned to more. */
#include "measure/measure_data.h"
#include "tune_picked.h"

#define SEED   20261123
#define POISON 0xa5
enum { PER_STRATEGY = 3 };

#define RECORD(fields) "local s = require 'sectile'\nlocal r = s.record { " fields " }\n"
#define MOVE(fields, from, to)                                                                     \
  RECORD(fields)                                                                                   \
  "return s.kernel { name = 'placed', dims = { 'i' }, inputs = { s.array('a', r, " from ") },\n"   \
  "  outputs = { s.array('b', r, " to ") }, body = 'b = a;', sizes = { { i = 4096 } } }\n"

#define FLOATS  "{ 'x', 'f32' }, { 'y', 'f32' }, packed = true"
#define MIXED   "{ 't', 'u8' }, { 'x', 'f32' }, { 'w', 'f64' }, { 'h', 'f16' }, packed = true"
#define VECTORS "{ 'x', 'f32x4' }, { 't', 'u8' }, { 'y', 'i32x2' }, packed = true"
#define WIDE    "{ 't', 'u8' }, { 'x', 'f32' }, { 'y', 'f64' }, packed = true, align = 8"
#define ALIGNED "{ 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'u8' }, align = 16"
#define LAYOUTS(fields)                                                                            \
  MOVE(fields, "s.aos", "s.aos"), MOVE(fields, "s.soa", "s.soa"), MOVE(fields, "s.aos", "s.soa"),  \
      MOVE(fields, "s.soa", "s.aos"), MOVE(fields, "s.aosoa { lanes = 3 }", "s.soa"),              \
      MOVE(fields, "s.aos", "s.aosoa { lanes = 32 }")

static const char *const specs[] = {
    LAYOUTS(FLOATS),
    LAYOUTS(MIXED),
    LAYOUTS(VECTORS),
    LAYOUTS(WIDE),
    LAYOUTS(ALIGNED),
    RECORD(MIXED) "return s.kernel { name = 'turned', dims = { 'i', 'j' },\n"
                  "  inputs = { s.array('a', r, s.col_major), s.array('c', 'u8') },\n"
                  "  outputs = { s.array('b', r, s.strided { 'j + 3', 1 }) },\n"
                  "  body = 'b = a; b.t = c;', sizes = { { i = 100, j = 100 } } }\n",
    RECORD(MIXED) "return s.kernel { name = 'found', dims = { 'i' },\n"
                  "  inputs = { s.array('p', 'i32'), s.array('a', r, s.soa, { dims = { 'm' }, "
                  "at = { 'p' } }) },\n"
                  "  outputs = { s.array('b', r) }, body = 'b = a;',\n"
                  "  sizes = { { i = 100, m = 100, p = 'permuted' } } }\n",
};

/* ---- runs ---- */

/* Extents that the kernel allows: odd ones first. */
static bool shape_of(sct_shape *out, const sct_plan *plan, const sct_kernel_code *code) {
  static const int64_t tries[][2] = {{4099, 67}, {4098, 68}, {4100, 72}, {4104, 64}, {8192, 128}};
  const sct_spec *spec = plan->spec;
  for (int t = 0; t < SCT_COUNT(tries); t++) {
    int64_t extent[SCT_MAX_EXTENTS];
    for (int k = 0; k < spec->n_extents; k++) {
      extent[k] = tries[t][spec->n_dims - 1];
    }
    const sct_size size = {.extent = extent};
    MUST(sct_shape_init(out, plan, extent, NULL, err));
    MUST(sct_shape_index(out, err));
    if (sct_codegen_fits(spec, code, &size) && sct_shape_is_legal(out)) {
      return true;
    }
    sct_shape_free(out);
  }
  return false;
}

/* What the last operand, the only output, holds after a run; malloc'ed. `required`: its bytes that
 * belong to fields. */
static uint8_t *output_of(const sct_shape *s, const picked *p, const uint8_t *required,
                          bool placed) {
  const sct_spec *spec = s->plan->spec;
  const int out = spec->n_operands - 1;
  const size_t bytes = (size_t)s->op[out].bytes;
  uint8_t *const result = sct_alloc(bytes);
  uint64_t address = 0;
  picked_run r;
  assert_non_null(result);
  memset(result, POISON, bytes);
  picked_run_open(&r, p, spec, s->extent);
  for (int op = 0; op < spec->n_operands; op++) {
    uint8_t *content = NULL;
    if (op < spec->n_inputs) {
      MUST(sct_image_input(&content, s, op, err));
    }
    address =
        picked_run_add_buffer(&r, &(sct_ptx_buffer){.name = spec->operands[op].name,
                                                    .bytes = s->op[op].bytes,
                                                    .data = op < spec->n_inputs ? content : result,
                                                    .required = op == out ? required : NULL,
                                                    .misalign = placed ? p->code.align[op] : 0,
                                                    .read_only = op < spec->n_inputs});
    sct_free(content);
  }
  picked_run_add_extents(&r);
  (void)picked_run_launch(&r, placed ? "at the declared alignment" : "aligned");
  memcpy(result, sct_ptx_memory_data(r.memory, address), bytes);
  picked_run_close(&r);
  return result;
}

static void compare(const fixture *f, const picked *p) {
  const int out = f->spec.n_operands - 1;
  sct_plan plan;
  sct_shape shape;
  MUST(sct_plan_init(&plan, &f->spec, p->code.layout, SEED, err));
  if (shape_of(&shape, &plan, &p->code)) {
    uint8_t *flags = NULL;
    MUST(sct_image_flags(&flags, &shape, out, err));
    for (int64_t k = 0; k < shape.op[out].bytes; k++) {
      flags[k] &= SCT_BYTE_WRITTEN;
    }
    uint8_t *const want = output_of(&shape, p, flags, false);
    uint8_t *const got = output_of(&shape, p, flags, true);
    for (int64_t k = 0; k < shape.op[out].bytes; k++) {
      if (flags[k] && want[k] != got[k]) {
        fail_msg("'%s': byte %lld differs", p->label, (long long)k);
      }
    }
    sct_free(flags);
    sct_free(want);
    sct_free(got);
    sct_shape_free(&shape);
  }
  sct_plan_free(&plan);
}

/* ---- the tests ---- */

/* The naive variant and some candidates of each strategy. */
static int draw(picked *list, fixture *f, sct_rng *rng) {
  int n = picked_make(list, f, 0);
  for (int strategy = 0; strategy < f->space.n_strategies; strategy++) {
    for (int tries = 0, made = 0; tries < 50 * PER_STRATEGY && made < PER_STRATEGY; tries++) {
      const size_t c = (size_t)sct_rng_below(rng, (int64_t)f->space.n_candidates);
      if (f->space.candidates[c].strategy == strategy && picked_make(&list[n], f, c)) {
        n++;
        made++;
      }
    }
  }
  return n;
}

static void arrays_begin_where_the_plan_says(void **state) {
  (void)state;
  sct_rng rng = sct_rng_new(SEED);
  print_message("seed %d\n", SEED);
  for (int s = 0; s < SCT_COUNT(specs); s++) {
    fixture f;
    fixture_open_text(&f, specs[s]);
    picked *const list =
        sct_alloc(sizeof *list * (size_t)(1 + PER_STRATEGY * f.space.n_strategies));
    assert_non_null(list);
    const int n = draw(list, &f, &rng);
    picked_compile(list, n);
    for (int k = 0; k < n; k++) {
      compare(&f, &list[k]);
    }
    picked_free(list, n);
    sct_free(list);
    fixture_close(&f);
  }
}

/* What the naive variant asks of pointers: what the argument's type promises, and for bytes what
 * the fields that lie in them need. */
static void naive_asks_for_what_it_accesses(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    int64_t from, to;
  } cases[] = {{MOVE(FLOATS, "s.aos", "s.soa"), 1, 4},  {MOVE(FLOATS, "s.soa", "s.aos"), 4, 1},
               {MOVE(MIXED, "s.soa", "s.aos"), 8, 1},   {MOVE(VECTORS, "s.aos", "s.soa"), 1, 16},
               {MOVE(WIDE, "s.aos", "s.soa"), 8, 8},    {MOVE(ALIGNED, "s.aos", "s.soa"), 16, 4},
               {MOVE(ALIGNED, "s.soa", "s.aos"), 4, 16}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    fixture f;
    fixture_open_text(&f, cases[k].spec);
    sct_kernel_code code = fixture_make(&f, "direct t256 hnone");
    assert_int_equal(code.align[0], cases[k].from);
    assert_int_equal(code.align[1], cases[k].to);
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_begin_where_the_plan_says),
                                     cmocka_unit_test(naive_asks_for_what_it_accesses)};
  return cmocka_run_group_tests(tests, picked_setup, picked_teardown);
}
