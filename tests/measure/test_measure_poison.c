/* What outputs hold before a launch: no byte that must be written is right already. */
#include "measure_fixture.h"

#include "measure/measure_session.h"

static const int first_layout[SCT_MAX_OPERANDS];
static const int64_t thousand[] = {1000};

/* Bytes, of which any poison but this would be right for one in 256; records with gaps. */
static void test_no_poison_is_right(void **state) {
  (void)state;
  static const char *const types[] = {"u8", "f64 u8"};
  for (int t = 0; t < SCT_COUNT(types); t++) {
    const fixture_array arrays[] = {{.name = "a", .types = types[t]},
                                    {.name = "b", .types = types[t]}};
    const sct_measure_opts opts = {.fake = "unwritten@2", .seed = 3};
    sct_spec spec;
    sct_measure *m = NULL;
    sct_verdict v;
    fixture_kernel kernel[3];
    int64_t n_looked = 0;
    fixture_spec(&spec, "i", arrays, 1, 2, NULL, "b = a;", thousand);
    for (int k = 0; k < 3; k++) {
      fixture_kernel_init(&kernel[k], &spec, k, 64);
    }
    assert_ok(sct_measure_open(&m, 0, &opts, &fixture_err));
    assert_ok(sct_measure_problem(m, &spec, first_layout, &kernel[0].binary, &fixture_err));
    assert_ok(sct_measure_verify(m, &kernel[1].binary, &v, &fixture_err));
    assert_int_equal(v.outcome, SCT_OUT_OK);
    for (size_t k = 0; k < m->cases.n; k++) {
      sct_case *c = m->cases.all[k];
      const int64_t bytes = c->shape.op[1].bytes;
      const uint8_t *flags = NULL;
      if (!c->compared) {
        continue;
      }
      uint8_t *before = sct_alloc((size_t)bytes + 1), *right = sct_alloc((size_t)bytes + 1);
      assert_ok(sct_remote_download(m, c->unlike[1], 0, before, bytes, &fixture_err));
      assert_ok(sct_remote_download(m, c->reference[1][0], 0, right, bytes, &fixture_err));
      assert_ok(sct_case_flags(c, 1, &flags, &fixture_err));
      for (int64_t at = 0; at < bytes; at++, n_looked++) {
        assert_int_equal(before[at] == right[at], (flags[at] & SCT_BYTE_WRITTEN) == 0);
      }
      sct_free(before);
      sct_free(right);
    }
    assert_true(n_looked > 5000);
    assert_ok(sct_measure_verify(m, &kernel[2].binary, &v, &fixture_err));
    assert_int_equal(v.outcome, SCT_OUT_NOT_WRITTEN);
    sct_measure_close(m);
    sct_spec_free(&spec);
  }
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_poison_is_right)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
