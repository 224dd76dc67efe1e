/* Kernels whose coalescing is known by hand, run as PTX: what is counted of each array, and the
 * verdict. Then kernels of random layouts: what a whole launch touches is what the modes say. */
#include "measure/measure.h"
#include "model/model.h"
#include "nvrtc_text.h"
#include "tune_picked.h"

#include <math.h>

typedef struct example {
  const char *kernel, *spec;
  int threads, blocks;
  int op;                    /* whose access is looked at; stores of an output, else loads */
  double each;               /* sectors a request */
  double ratio_lo, ratio_hi; /* sectors / minimum */
  bool coalesced;
  double utilisation, degree; /* 0: not looked at */
} example;

#define HEAD  "local s = require 'sectile'\nreturn s.kernel { name = 'test', "
#define VEC3D "s.record { name = 'vec3d', { 'x', 'f64' }, { 'y', 'f64' }, { 'z', 'f64' } }"
#define VEC3  "s.record { name = 'vec3', { 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'f32' } }"
#define VEC4                                                                                       \
  "s.record { name = 'vec4', { 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'f32' }, { 'w', 'f32' } }"
#define ADD "body = 'b.x = a.x + 1.0; b.y = a.y + 1.0; b.z = a.z + 1.0;'"
#define LINE(extra_a, body)                                                                        \
  HEAD "dims = { 'i' }, inputs = { s.array('a', 'f32', nil, { " extra_a                            \
       " }) }, outputs = { s.array('b', 'f32') }, body = '" body "', sizes = { { i = 8192 } } }"
/* Rows of 148 bytes. */
#define ROWS                                                                                       \
  HEAD "dims = { 'row', 'col' }, inputs = { s.array('a', 'f32') }, "                               \
       "outputs = { s.array('b', 'f32') }, body = 'b = a;', sizes = { { row = 512, col = 37 } } }"
#define GATHER(type)                                                                               \
  HEAD "dims = { 'i' }, inputs = { s.array('pick', 'i32', nil, { fill = 'permuted' }), "           \
       "s.array('a', " type ", nil, { dims = { 'm' }, at = { 'pick' } }) }, "                      \
       "outputs = { s.array('b', " type ") }, body = 'b = a;', "                                   \
       "sizes = { { i = 8192, m = 65536 } } }"

static const example examples[] = {
    {"copy", LINE("", "b = a;"), 256, 32, 0, 4, 1, 1, true, 1, 1},
    {"records",
     HEAD "dims = { 'i' }, inputs = { s.array('a', " VEC3D
          ", s.aos) }, outputs = { s.array('b', " VEC3D ", s.aos) }, " ADD
          ", sizes = { { i = 8192 } } }",
     256, 32, 0, 24, 2.7, 3, false, 1, 1.0 / 3},
    {"field",
     HEAD "dims = { 'i' }, inputs = { s.array('a', " VEC3D ", s.aos) }, "
          "outputs = { s.array('b', 'f64') }, body = 'b = a.y;', sizes = { { i = 8192 } } }",
     256, 32, 0, 24, 1, 1, true, 0.5, 1.0 / 3},
    {"shifted", LINE("at = { 'i + 1' }, extents = { 'i + 1' }", "b = a;"), 256, 32, 0, 5, 1, 1,
     true, 0, 0.8},
    {"odd_rows",
     HEAD
     "dims = { 'row', 'col' }, inputs = { s.array('a', 'u8') }, outputs = { s.array('b', 'u8') }, "
     "body = 'b = a;', sizes = { { row = 64, col = 1001 } } }",
     256, 64, 0, 0, 1, 1.25, true, 1, 0},
    {"rows_by_8", ROWS, 256, 16, 0, 0, 1.7, 1.8, false, 1, 0},
    {"rows_by_16", ROWS, 256, 32, 0, 0, 1, 1.1, true, 1, 0}, /* runs of 64 bytes */
    {"rows_by_32", ROWS, 256, 64, 0, 0, 1, 1.2, true, 1, 0}, /* ends of rows, of 5 lanes */
    {"transpose",
     HEAD "dims = { 'row', 'col' }, inputs = { s.array('a', 'f32') }, "
          "outputs = { s.array('b', 'f32', s.col_major) }, body = 'b = a;', "
          "sizes = { { row = 128, col = 128 } } }",
     256, 64, 1, 32, 6.5, 8, false, 1, 0.125},
    {"strided", LINE("at = { '8 * i' }, extents = { '8 * i' }", "b = a;"), 256, 32, 0, 32, 1, 1,
     true, 0, 0.125},
    {"gather", GATHER("'f32'"), 256, 32, 1, 0, 0.9, 1.1, true, 0, 0},
    {"gather_records", GATHER(VEC3), 256, 32, 1, 0, 2.2, 2.6, false, 0, 0},
    {"one_lane", LINE("", "b = a;"), 256, 32, 0, 1, 8, 8, false, 1, 0},
    {"thrown_away",
     HEAD
     "dims = { 'row', 'col' }, inputs = { s.array('a', 'f32', nil, { at = { '2 * row', 'col' }, "
     "extents = { '2 * row', 'col' } }) }, outputs = { s.array('b', 'f32') }, body = 'b = a;', "
     "sizes = { { row = 64, col = 256 } } }",
     256, 64, 0, 4, 2, 2, false, 1, 0},
    {"whole_records",
     HEAD "dims = { 'i' }, inputs = { s.array('a', " VEC4 ", s.aos) }, "
          "outputs = { s.array('b', 'f32') }, body = 'b = a.x;', sizes = { { i = 8192 } } }",
     256, 32, 0, 16, 1, 1, true, 0.4, 0},
    {"broadcast",
     HEAD "dims = { 'row', 'col' }, inputs = { s.array('a', 'f32'), s.array('c', 'f32', nil, "
          "{ dims = { 'col' } }) }, outputs = { s.array('b', 'f32') }, body = 'b = a + c;', "
          "sizes = { { row = 64, col = 256 } } }",
     256, 64, 1, 4, 1, 1, true, 1, 0},
};

static int setup(void **state) {
  static sct_ptx_module *module;
  assert_int_equal(picked_setup(state), 0);
  SCT_SCOPED(sct_str) cuda = {0};
  MUST(sct_file_read(&cuda, SCT_TESTS_DIR "/tune/coalescing.cu", err));
  char *ptx = nvrtc_ptx(sct_str_c(&cuda), "coalescing.cu", "sm_90", NULL);
  assert_non_null(ptx);
  MUST(sct_ptx_parse(&module, ptx, "coalescing.cu", err));
  free(ptx);
  *state = module;
  return 0;
}

static int teardown(void **state) {
  sct_ptx_module_free(*state);
  return picked_teardown(state);
}

static void check(const sct_ptx_module *module, const example *e) {
  fixture f;
  sct_counters counters;
  sct_coalescing got;
  sct_block_counter *counter = NULL;
  int layout[SCT_MAX_OPERANDS] = {0};
  fixture_open_text(&f, e->spec);
  const sct_kernel_code code = {
      .threads = e->threads, .grid = sct_expr_const(f.spec.pool, e->blocks), .layout = layout};
  const sct_size *size = &f.spec.sizes[0];
  sct_block_counter_new(&counter, &f.spec, &f.device, 1, 0);
  MUST(sct_block_counter_count(counter, &counters, &code, module, e->kernel, size, 64, err));
  MUST(sct_model_coalescing(&got, &counters, &f.spec, &code, size, err));
  const bool stores = f.spec.operands[e->op].is_output;
  const sct_access *a = stores ? &got.store[e->op] : &got.load[e->op];
  const sct_count *c = &counters.operand[e->op];
  const double ratio = a->sectors / sct_access_minimum(a), degree = sct_model_degree(c);
  print_message("%s: %g sectors, ideal %g, footprint %g: %.2f x; share %.3f, utilisation %.3f, "
                "degree %.3f, passes %.1f\n",
                e->kernel, a->sectors, a->ideal, a->footprint, ratio, got.share, got.utilisation,
                degree, got.passes);
  assert_int_equal(counters.blocks_counted, counters.blocks);
  assert_true(ratio >= e->ratio_lo - 1e-3 && ratio <= e->ratio_hi + 1e-3);
  assert_true(got.coalesced == e->coalesced && !got.unknown);
  assert_true(e->each == 0 || fabs(a->sectors - e->each * (double)c->requests) < 1e-3 * a->sectors);
  assert_true(e->utilisation == 0 || fabs(got.utilisation - e->utilisation) < 1e-3);
  assert_true(e->degree == 0 || fabs(degree - e->degree) < 2e-3);
  sct_counters_free(&counters);
  sct_block_counter_free(counter);
  fixture_close(&f);
}

static void test_examples(void **state) {
  for (int k = 0; k < SCT_COUNT(examples); k++) {
    check(*state, &examples[k]);
  }
}

/* 4 lanes a row, 16 aligned bytes each: runs of 64 bytes, and what is left at both ends of rows. */
static void test_short_rows(void **state) {
  (void)state;
  fixture f;
  picked p = {.label = "reduce threads=128 lanes=4 vec=4 start=any items=4 outputs=1 blocks=1 "
                       "evict=none"};
  sct_ptx_module *module = NULL;
  sct_block_counter *counter = NULL;
  sct_counters counters;
  sct_coalescing got;
  fixture_open_text(&f, HEAD "dims = { 'row', 'col' }, inputs = { s.array('a', 'f32') }, "
                             "outputs = { s.array('total', 'f32', nil, { dims = { 'row' }, "
                             "reduce = 'sum' }) }, body = 'total = a;', "
                             "sizes = { { row = 4099, col = 37 } } }");
  p.code = fixture_make(&f, p.label);
  picked_compile(&p, 1);
  MUST(sct_ptx_parse(&module, p.compiled.ptx, "PTX", err));
  sct_block_counter_new(&counter, &f.spec, &f.device, 1, 0);
  const sct_size *size = &f.spec.sizes[0];
  MUST(sct_block_counter_count(counter, &counters, &p.code, module, p.compiled.entry, size,
                               SCT_ALL_BLOCKS, err));
  MUST(sct_model_coalescing(&got, &counters, &f.spec, &p.code, size, err));
  const sct_access *a = &got.load[0];
  print_message("%g sectors, ideal %g, footprint %g\n", a->sectors, a->ideal, a->footprint);
  assert_true(a->sectors > 1.4 * a->footprint && a->sectors < 1.2 * a->ideal && got.coalesced);
  sct_counters_free(&counters);
  sct_block_counter_free(counter);
  sct_ptx_module_free(module);
  picked_free(&p, 1);
  fixture_close(&f);
}

/* ---- random layouts ---- */

enum { N_RANDOM = 10, MOST_SECTORS = 1 << 14 };

/* Sectors of an array that a launch asks for. */
typedef struct asked {
  bool sector[MOST_SECTORS];
  int n;
} asked;

static int64_t record(const void *ctx, int64_t offset, int64_t bytes) {
  asked *const a = (asked *)ctx;
  for (int64_t s = offset / 32; s <= (offset + bytes - 1) / 32; s++) {
    assert_in_range(s, 0, MOST_SECTORS - 1);
    a->n += !a->sector[s];
    a->sector[s] = true;
  }
  return bytes;
}

static void write_random(sct_str *out, sct_rng *rng) {
  static const char *const types[] = {"u8", "i16", "f32", "f64"};
  static const char *const layouts[] = {"s.aos",
                                        "s.soa",
                                        "s.col_major",
                                        "s.aosoa { lanes = 4 }",
                                        "s.aosoa { lanes = 32 }",
                                        "s.pitched { align = 64 }"};
  static const char *const places[][2] = {{"'i', 'j'", "'i', 'j'"},
                                          {"'i + 2', 'j'", "'i + 3', 'j'"},
                                          {"'i', '2 * j + 1'", "'i', '2 * j + 1'"},
                                          {"'n_i - 1 - i', 'j // 2'", "'i', 'j'"},
                                          {"'j', 'i'", "'j', 'i'"}};
  const int n_fields = 1 + (int)sct_rng_below(rng, 4), place = (int)sct_rng_below(rng, 5);
  const bool taps = sct_rng_below(rng, 2) == 0;
  sct_str_append(out, HEAD "dims = { 'i', 'j' }, inputs = { s.array('a', s.record { name = 'r'");
  for (int f = 0; f < n_fields; f++) {
    sct_str_printf(out, ", { 'f%d', '%s' }", f, types[sct_rng_below(rng, 4)]);
  }
  sct_str_printf(out, " }, %s, { dims = { 'p', 'q' }, at = { %s }, extents = { %s }%s }) }, ",
                 layouts[sct_rng_below(rng, 6)], places[place][0], places[place][1],
                 taps ? ", taps = { n = { -1, 2 } }, border = 'clamp'" : "");
  sct_str_printf(out, "outputs = { s.array('b', 'f32', %s) }, body = 'b = a.f%d%s;', ",
                 layouts[sct_rng_below(rng, 3)], (int)sct_rng_below(rng, n_fields),
                 taps ? " + n.f0" : "");
  sct_str_printf(out, "sizes = { { i = %d, j = %d } } }", 1 + (int)sct_rng_below(rng, 40),
                 1 + (int)sct_rng_below(rng, 70));
}

static void check_random(const char *text) {
  fixture f;
  picked naive;
  picked_run run;
  asked touched[2] = {0};
  sct_ptx_result result;
  fixture_open_text(&f, text);
  const int layout[SCT_MAX_OPERANDS] = {0};
  const int64_t c = sct_codegen_naive(&f.spec, &f.space, layout);
  const sct_size *size = &f.spec.sizes[0];
  assert_true(c >= 0 && picked_make(&naive, &f, (size_t)c));
  picked_compile(&naive, 1);
  picked_run_open(&run, &naive, &f.spec, size->extent);
  for (int op = 0; op < 2; op++) {
    const int64_t bytes = sct_spec_bytes(&f.spec, op, 0, size);
    uint8_t *zeros = sct_alloc((size_t)bytes + 1);
    picked_run_add_buffer(&run, &(sct_ptx_buffer){.name = f.spec.operands[op].name,
                                                  .bytes = bytes,
                                                  .data = zeros,
                                                  .used = record,
                                                  .used_ctx = &touched[op]});
    sct_free(zeros);
  }
  picked_run_add_extents(&run);
  const sct_ptx_launch_opts opts = {.module = run.module,
                                    .kernel = naive.compiled.entry,
                                    .grid = {run.blocks},
                                    .block = {naive.code.threads},
                                    .args = run.args,
                                    .n_args = run.n_args,
                                    .per_buffer = true};
  MUST(sct_ptx_launch(&result, run.memory, &opts, err));
  assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
  sct_ptx_result_free(&result);
  for (int op = 0; op < 2; op++) {
    const sct_footprint got = sct_spec_footprint(&f.spec, op, 0, size);
    if (!got.known || got.sectors != (double)touched[op].n) {
      fail_msg("%s: %g sectors, a launch touches %d\n%s", f.spec.operands[op].name, got.sectors,
               touched[op].n, text);
    }
  }
  picked_run_close(&run);
  picked_free(&naive, 1);
  fixture_close(&f);
}

static void test_random_layouts(void **state) {
  (void)state;
  sct_rng rng = sct_rng_new(PICKED_SEED);
  for (int k = 0; k < N_RANDOM; k++) {
    SCT_SCOPED(sct_str) text = {0};
    write_random(&text, &rng);
    check_random(sct_str_c(&text));
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_examples),
      cmocka_unit_test(test_short_rows),
      cmocka_unit_test(test_random_layouts),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
