/* Types and records: where C puts fields, and which names and alignments are refused. */
#include "spec_test.h"

static void record_of(sct_record *record, const char *fields, bool packed) {
  memset(record, 0, sizeof *record);
  make_record(record, fields);
  record->packed = packed;
}

static int setup(void **state) {
  (void)state;
  open_spec("i");
  return 0;
}

static int teardown(void **state) {
  (void)state;
  close_spec();
  return 0;
}

static void test_every_type_is_found(void **state) {
  (void)state;
  int n = 0;
  const char *const *names = sct_type_names(&n);
  assert_int_equal(n, SCT_N_TYPES);
  for (int k = 0; k < n; k++) {
    sct_type type;
    assert_true(sct_type_find(&type, names[k]));
    assert_int_equal(type, k);
    const sct_type_info *info = sct_type_get(type);
    assert_int_equal(info->bytes % info->lanes, 0);
    assert_int_equal(info->align, info->bytes); /* true of all types in the table */
  }
  sct_type type;
  assert_false(sct_type_find(&type, "f23"));
}

/* The compiler says where fields lie. */
static void test_natural_record_is_a_c_struct(void **state) {
  (void)state;
  struct mixed {
    unsigned char a;
    double b;
    short c;
    float d;
    signed char e;
  };
  sct_record r;
  record_of(&r, "a:u8 b:f64 c:i16 d:f32 e:i8", false);
  assert_int_equal(sct_record_finish(&r, 0, &err), SCT_OK);
  assert_int_equal(r.fields[0].offset, offsetof(struct mixed, a));
  assert_int_equal(r.fields[1].offset, offsetof(struct mixed, b));
  assert_int_equal(r.fields[2].offset, offsetof(struct mixed, c));
  assert_int_equal(r.fields[3].offset, offsetof(struct mixed, d));
  assert_int_equal(r.fields[4].offset, offsetof(struct mixed, e));
  assert_int_equal(r.bytes, sizeof(struct mixed));
  assert_int_equal(r.align, _Alignof(struct mixed));
  assert_int_equal(r.data_bytes, 1 + 8 + 2 + 4 + 1);
  assert_int_equal(r.fields[3].prefix, 1 + 8 + 2);
}

static void test_packed_record_has_no_gaps(void **state) {
  (void)state;
  sct_record r;
  record_of(&r, "a:u8 b:f64 c:i16", true);
  assert_int_equal(sct_record_finish(&r, 0, &err), SCT_OK);
  assert_int_equal(r.fields[1].offset, 1);
  assert_int_equal(r.fields[2].offset, 9);
  assert_int_equal(r.bytes, 11);
  assert_int_equal(r.align, 1);
}

static void test_alignment_rounds_the_record_up(void **state) {
  (void)state;
  sct_record r;
  record_of(&r, "x:f32 y:f32 z:f32", false);
  assert_int_equal(sct_record_finish(&r, 16, &err), SCT_OK);
  assert_int_equal(r.bytes, 16);
  assert_int_equal(r.align, 16);
  assert_int_equal(r.data_bytes, 12);
}

static void test_bad_alignments(void **state) {
  (void)state;
  static const int64_t bad[] = {-8, 3, 2, 8192};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    sct_record r;
    record_of(&r, "x:f32", false);
    assert_int_equal(sct_record_finish(&r, bad[k], &err), SCT_ESPEC);
    assert_says("power of two from 4 to 4096");
  }
}

static void test_bad_fields(void **state) {
  (void)state;
  static const struct {
    const char *fields, *says;
  } cases[] = {
      {"", "at least one field"},
      {"x:f32 y:f32 x:f64", "field 'x' appears twice"},
      {"class:f32", "field name 'class' is a word of CUDA C++"},
      {"float:f32", "is a word of CUDA C++"},
      {"f16:f32", "field name 'f16' is the name of a type"},
      {"sqrt:f32", "is the name of a CUDA function"},
      {"__x:f32", "is reserved"},
      {"a__b:f32", "is reserved"},
      {"sct_x:f32", "is reserved"},
      {"2x:f32", "is not a name"},
      {"a-b:f32", "is not a name"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_record r;
    record_of(&r, cases[k].fields, false);
    assert_int_equal(sct_record_finish(&r, 0, &err), SCT_ESPEC);
    assert_says(cases[k].says);
  }
}

/* "q[0] q[1] q[2]" lie like a C array. */
static void test_arrays_are_elements(void **state) {
  (void)state;
  struct mixed {
    unsigned char a;
    float q[3];
    short t[2];
  };
  sct_record r;
  record_of(&r, "a:u8 q[0]:f32 q[1]:f32 q[2]:f32 t[0]:i16 t[1]:i16", false);
  assert_int_equal(sct_record_finish(&r, 0, &err), SCT_OK);
  assert_int_equal(r.fields[3].offset, offsetof(struct mixed, q) + 8);
  assert_int_equal(r.fields[5].offset, offsetof(struct mixed, t) + 2);
  assert_int_equal(r.bytes, sizeof(struct mixed));
  assert_int_equal(r.fields[0].n_elements, 0);
  assert_int_equal(r.fields[3].element, 2);
  assert_int_equal(r.fields[3].n_elements, 3);
  assert_int_equal(r.fields[4].n_elements, 2);
  char word[SCT_FIELD_WORD];
  sct_field_word(word, r.fields[3].name);
  assert_string_equal(word, "q_2");
  sct_field_word(word, r.fields[0].name);
  assert_string_equal(word, "a");
  static const struct {
    const char *fields, *says;
  } bad[] = {
      {"q[0]:f32 q[1]:f32 q:i32", "field 'q' appears twice"},
      {"q[0]:f32 x:f32 q[0]:f32", "field 'q' appears twice"},
      {"q[0]:f32 q[1]:f32 q_1:i32", "field 'q_1' appears twice, as arrays have such names"},
      {"class[0]:f32 class[1]:f32", "field name 'class' is a word of CUDA C++"},
      {"q[0]:f32x2 q[1]:f32x2", "'q' is an array of f32x2; arrays have elements of one component: "
                                "write 4 of them"},
  };
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    record_of(&r, bad[k].fields, false);
    assert_int_equal(sct_record_finish(&r, 0, &err), SCT_ESPEC);
    assert_says(bad[k].says);
  }
}

static void test_pairs_are_not_packed(void **state) {
  (void)state;
  sct_record r;
  record_of(&r, "a:e4m3 b:bf16x2", true);
  assert_int_equal(sct_record_finish(&r, 0, &err), SCT_ESPEC);
  assert_says("field 'b' of a packed record cannot be of type bf16x2; write 2 fields of one");
  record_of(&r, "a:e4m3 b:u8x4 c:bool", true);
  assert_int_equal(sct_record_finish(&r, 0, &err), SCT_OK);
  assert_int_equal(r.bytes, 6);
}

static void test_too_many_fields(void **state) {
  (void)state;
  sct_str text = {0};
  for (int k = 0; k <= SCT_MAX_FIELDS; k++) {
    sct_str_printf(&text, "g%d:f32 ", k);
  }
  sct_record r;
  record_of(&r, sct_str_c(&text), false);
  assert_int_equal(sct_record_finish(&r, 0, &err), SCT_ESPEC);
  assert_says("at most 64 fields");
  r.n_fields--;
  assert_int_equal(sct_record_finish(&r, 0, &err), SCT_OK);
  sct_str_free(&text);
}

static void test_names(void **state) {
  (void)state;
  assert_null(sct_spec_bad_name("x"));
  assert_null(sct_spec_bad_name("n_particles2"));
  assert_non_null(sct_spec_bad_name(""));
  assert_non_null(sct_spec_bad_name("x; system()"));
  assert_non_null(sct_spec_bad_name("threadIdx"));
  assert_non_null(sct_spec_bad_name("int4"));
  /* what an emitted header could not hold: macros, and what it says itself */
  static const char *const taken[] = {"NULL",  "errno",        "EOF",         "NAN",
                                      "M_PI",  "cudaStream_t", "cudaError_t", "WEOF",
                                      "linux", "cudaMalloc",   "BUFSIZ",      "unix"};
  for (int k = 0; k < SCT_COUNT(taken); k++) {
    assert_non_null(sct_spec_bad_name(taken[k]));
  }
  assert_null(sct_spec_bad_name("cuda"));
  assert_null(sct_spec_bad_name("cudax"));
  assert_null(sct_spec_bad_name("div")); /* a value may have the name of a function */
  assert_non_null(sct_spec_bad_kernel_name("div"));
  assert_non_null(sct_spec_bad_kernel_name("time"));
  assert_non_null(sct_spec_bad_kernel_name("memcpy"));
  assert_non_null(sct_spec_bad_kernel_name("a64l")); /* the first, and the last */
  assert_non_null(sct_spec_bad_kernel_name("yn"));
  assert_non_null(sct_spec_bad_kernel_name("errno"));
  static const char *const by_rule[] = {"acosf128", "expf32x", "pthread_create", "CUDA_R_32F"};
  for (int k = 0; k < SCT_COUNT(by_rule); k++) {
    assert_null(sct_spec_bad_name(by_rule[k]));
    assert_non_null(sct_spec_bad_kernel_name(by_rule[k]));
  }
  assert_null(sct_spec_bad_kernel_name("transpose"));
  assert_null(sct_spec_bad_kernel_name("copy_f32"));
  assert_null(sct_spec_bad_kernel_name("f32_to_f64"));
  assert_null(sct_spec_bad_kernel_name("pthreads"));
  assert_non_null(sct_spec_bad_name("a_name_of_forty_nine_characters_is_one_too_long_xy"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_every_type_is_found, setup, teardown),
      cmocka_unit_test_setup_teardown(test_natural_record_is_a_c_struct, setup, teardown),
      cmocka_unit_test_setup_teardown(test_packed_record_has_no_gaps, setup, teardown),
      cmocka_unit_test_setup_teardown(test_alignment_rounds_the_record_up, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bad_alignments, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bad_fields, setup, teardown),
      cmocka_unit_test_setup_teardown(test_arrays_are_elements, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pairs_are_not_packed, setup, teardown),
      cmocka_unit_test_setup_teardown(test_too_many_fields, setup, teardown),
      cmocka_unit_test_setup_teardown(test_names, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
