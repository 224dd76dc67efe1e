/* The text of whole headers: golden copies, the same bytes every time, what the banner says.
 *
 * Golden copies are in tests/emit/golden: transpose.h, and for other headers NAME.diff, their own
 * lines and how many lines of transpose.h each run between has or lacks, with `$(name)` for the
 * kernel's name in both. SECTILE_UPDATE_GOLDEN=1 rewrites them; read the difference before you
 * commit it. */
#include <sys/stat.h>

#include "emit/emit_fixture.h"

static int setup(void **state) {
  fixture *f = malloc(sizeof(*f));
  fixture_open(f);
  unsetenv("SOURCE_DATE_EPOCH");
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture_close(*state);
  free(*state);
  unsetenv("SOURCE_DATE_EPOCH");
  return 0;
}

/* Shows the first line that differs. */
static void assert_same_lines(const char *now, const char *golden, const char *file) {
  int line = 1;
  while (*now != '\0' && *now == *golden) {
    line += *now == '\n';
    now++;
    golden++;
  }
  if (*now != *golden) {
    fail_msg("%s:%d differs from here:\n  now     %.*s\n  golden  %.*s", file, line,
             (int)strcspn(now, "\n"), now, (int)strcspn(golden, "\n"), golden);
  }
}

static void compare_with_golden(fixture *f, const char *file, const sct_str *now) {
  sct_str path = {0};
  sct_str golden = {0};
  sct_str_printf(&path, "%s/emit/golden/%s", SCT_TESTS_DIR, file);
  const char *update = getenv("SECTILE_UPDATE_GOLDEN");
  if (update != NULL && strcmp(update, "1") == 0) {
    fixture_check(f, sct_file_write(sct_str_c(&path), now->data, now->len, &f->err));
  }
  fixture_check(f, sct_file_read(&golden, sct_str_c(&path), &f->err));
  assert_same_lines(sct_str_c(now), sct_str_c(&golden), sct_str_c(&path));
  sct_str_free(&golden);
  sct_str_free(&path);
}

static void transpose_is_as_it_was(void **state) {
  fixture_transpose(*state);
  sct_str text = fixture_header(*state, "transpose");
  compare_with_golden(*state, "transpose.h", &text);
  sct_str_free(&text);
}

/* ... in what it does not share with the golden copy of transpose. */
static void is_as_it_was(fixture *f, const char *name) {
  sct_str text = fixture_header(f, name);
  sct_str path = {0}, command = {0}, differences = {0};
  sct_str_printf(&path, "%s/header", f->folder);
  fixture_check(f, sct_file_write(sct_str_c(&path), text.data, text.len, &f->err));
  sct_str_printf(&command,
                 "cd '%s' && sed 's/transpose/$(name)/g' '%s/emit/golden/transpose.h' >whole && "
                 "sed 's/%s/$(name)/g' header | diff --text --unchanged-group-format='@ %%dn as in "
                 "transpose.h\n' --old-group-format='@ without %%dn\n' --new-group-format='%%>' "
                 "--changed-group-format='@ without %%dn\n%%>' whole - >differences",
                 f->folder, SCT_TESTS_DIR, name);
  assert_int_equal(WEXITSTATUS(system(sct_str_c(&command))), 1); /* there are some */
  sct_str_clear(&path);
  sct_str_printf(&path, "%s/differences", f->folder);
  fixture_check(f, sct_file_read(&differences, sct_str_c(&path), &f->err));
  sct_str_clear(&path);
  sct_str_printf(&path, "%s.diff", name);
  compare_with_golden(f, sct_str_c(&path), &differences);
  sct_str_free(&text);
  sct_str_free(&path);
  sct_str_free(&command);
  sct_str_free(&differences);
}

static void add_two_devices_is_as_it_was(void **state) {
  fixture_add_two_devices(*state);
  is_as_it_was(*state, "add3");
}

static void scale_is_as_it_was(void **state) {
  fixture_scale(*state);
  is_as_it_was(*state, "scale");
}

static void row_sum_is_as_it_was(void **state) {
  fixture_row_sum(*state);
  is_as_it_was(*state, "row_sum");
}

/* Kernels whose blocks share a reduction take a workspace, and headers of moves know of none. */
static void what_launches_share_is_an_argument(void **state) {
  fixture_row_sum(*state);
  fixture_transpose(*state);
  sct_str sums = fixture_header(*state, "row_sum");
  sct_str moves = fixture_header(*state, "transpose");
  assert_true(has_text(&sums, "on two streams, need a workspace each"));
  assert_true(has_text(&sums, "long long n_col, void *workspace, cudaStream_t stream)"));
  assert_true(has_text(&sums, "row_sum_workspace_bytes(void) {\n  return 278528;"));
  assert_false(has_text(&sums, "__device__ partial partials"));
  assert_true(has_text(
      &sums, "total  out  f32, layout row_major; over (row)\n//               the sum of what"));
  assert_true(has_text(&sums, ", 278528 bytes of workspace\n"));
  assert_false(has_text(&moves, "workspace"));
  assert_true(has_text(&moves, "transpose_detail_reduced[] = {false, false};"));
  assert_true(has_text(&sums, "row_sum_detail_reduced[] = {false, true};"));
  sct_str_free(&sums);
  sct_str_free(&moves);
}

/* Of a sum that says where elements lie, and that goes onto what its output holds or does not. */
static sct_str row_sum_signature(bool is_inout) {
  sct_str out = {0};
  const char *a = strstr(ROW_SUM_SIGNATURE, "\"name\": \"a\""), *total = strstr(a, "\"reduce\"");
  sct_str_append_n(&out, ROW_SUM_SIGNATURE, (size_t)(a - ROW_SUM_SIGNATURE));
  sct_str_append(&out, "\"shape\": [\"n_row\", \"n_col\"], \"formulas\": [{\"doc\": \"\", "
                       "\"bytes\": \"4 * n_row * n_col\", "
                       "\"offsets\": [\"4 * (n_col * row + col)\"]}], ");
  sct_str_append_n(&out, a, (size_t)(total - a));
  sct_str_append(&out, "\"shape\": [\"n_row\"], \"formulas\": [{\"doc\": \"\", "
                       "\"bytes\": \"4 * n_row\", \"offsets\": [\"4 * row\"]}], ");
  sct_str_append(&out, is_inout ? "\"inout\": true, " : "");
  sct_str_append(&out, total);
  return out;
}

/* The header says so, and no call of the module may leave the array out. */
static void what_an_output_holds_is_added_to(void **state) {
  fixture *f = *state;
  sct_str path = {0}, include = {0};
  sct_str_printf(&path, "%s/row_sum.py", f->folder);
  sct_str_printf(&include, "%s/row_sum.h", f->folder);
  for (int is_inout = 0; is_inout < 2; is_inout++) {
    sct_str signature = row_sum_signature(is_inout), module = {0};
    fixture_row_sum_with(f, sct_str_c(&signature));
    sct_str header = fixture_header(f, "row_sum");
    const sct_emit_request request = {.name = "row_sum"};
    sct_emit *loaded = NULL;
    fixture_check(f, sct_emit_open(&loaded, f->store, &request, &f->err));
    fixture_check(f, sct_emit_write_python(loaded, sct_str_c(&include), sct_str_c(&path), &f->err));
    sct_emit_close(loaded);
    fixture_check(f, sct_file_read(&module, sct_str_c(&path), &f->err));
    assert_int_equal(has_text(&header, "computed for it, and of what it holds"), is_inout);
    assert_int_equal(has_text(&module, "(\"total\", True, False, "), is_inout);
    sct_str_free(&header);
    sct_str_free(&module);
    sct_str_free(&signature);
  }
  sct_str_free(&path);
  sct_str_free(&include);
}

static void a_device_without_multiprocessors_is_a_weaker_match(void **state) {
  fixture *f = *state;
  fixture_problem(f, "add3", ADD_SIGNATURE);
  const sct_id h200 = fixture_device_with(f, "NVIDIA H200", "GPU-1", "580.1", 90, 0);
  fixture_add_size(f, h200, 1 << 20, &add_flat, 14000, "2025-01-01T00:00:00Z");
  sct_str text = fixture_header(f, "add3");
  assert_true(has_text(&text, "not in the store: it never matches as the same device model\n"));
  assert_true(has_text(&text, "{\"NVIDIA H200\", 9, 0, 0, "));
  sct_str_free(&text);
}

static void hostile_is_as_it_was(void **state) {
  fixture_hostile(*state);
  is_as_it_was(*state, "hostile");
}

static void the_bytes_are_the_same_again(void **state) {
  fixture *f = *state;
  fixture_add_two_devices(f);
  sct_str once = fixture_header(f, "add3");
  sct_store_close(f->store);
  f->store = NULL;
  fixture_check(f, sct_store_open(&f->store, sct_str_c(&f->path), true, &f->err));
  sct_str again = fixture_header(f, "add3");
  assert_string_equal(sct_str_c(&once), sct_str_c(&again));
  assert_int_equal(once.len, strlen(once.data));
  sct_str_free(&once);
  sct_str_free(&again);
}

static int count_text(const sct_str *all, const char *text) {
  int n = 0;
  for (const char *at = strstr(all->data, text); at; at = strstr(at + 1, text)) {
    n++;
  }
  return n;
}

/* A definition that several kernels have stands in front of them, every other one in its kernel. */
static void definitions_are_the_stored_bytes(void **state) {
  fixture *f = *state;
  fixture_add(f);
  sct_str header = fixture_header(f, "add3");
  static const char *const files[] = {"add_direct.cu", "add_flat.cu", "add_staged.cu"};
  for (int k = 0; k < SCT_COUNT(files); k++) {
    sct_str path = {0};
    sct_str source = {0};
    sct_str_printf(&path, "%s/emit/kernels/%s", SCT_TESTS_DIR, files[k]);
    fixture_check(f, sct_file_read(&source, sct_str_c(&path), &f->err));
    for (char *part = source.data; part;) {
      char *const end = strstr(part, "\n\n");
      if (end) {
        end[0] = '\0';
      }
      assert_int_equal(count_text(&header, part), 1);
      part = end ? end + 2 : NULL;
    }
    sct_str_free(&path);
    sct_str_free(&source);
  }
  assert_true(strstr(header.data, "struct vec3 {") < strstr(header.data, "namespace k0_"));
  sct_str_free(&header);
}

static void a_date_only_on_request(void **state) {
  fixture *f = *state;
  fixture_add(f);
  sct_str without = fixture_header(f, "add3");
  static const struct {
    const char *epoch, *line;
  } dates[] = {{"0", "// Written 1970-01-01T00:00:00Z (SOURCE_DATE_EPOCH).\n"},
               {"1735689600", "// Written 2025-01-01T00:00:00Z (SOURCE_DATE_EPOCH).\n"},
               {"", NULL},
               {"-1", NULL},
               {"yesterday", NULL},
               {"12x", NULL},
               {"99999999999999999999", NULL}};
  for (int k = 0; k < SCT_COUNT(dates); k++) {
    setenv("SOURCE_DATE_EPOCH", dates[k].epoch, 1);
    sct_str with = fixture_header(f, "add3");
    if (dates[k].line != NULL) {
      assert_true(has_text(&with, dates[k].line));
      assert_int_equal(with.len, without.len + strlen(dates[k].line));
    } else {
      assert_string_equal(sct_str_c(&with), sct_str_c(&without));
    }
    sct_str_free(&with);
  }
  sct_str_free(&without);
}

static void the_banner_says_how_figures_came_about(void **state) {
  fixture *f = *state;
  fixture_add(f);
  sct_str timed = fixture_header(f, "add3");
  assert_true(has_text(&timed, "Again: sectile emit add3.lua -o add3.h"));
  assert_true(has_text(&timed,
                       "// NVIDIA H200 (sm_90)  flat t256 w16  i=1048576        14.0  3595 "
                       "    86 %  8.0 (8.0) | 8.0 (8.0)\n"
                       "//   naive, same run    direct t256    i=1048576        28.0  1798 "
                       "    43 %  8.0 (8.0) | 24.0 (8.0)\n"
                       "//   40 candidates: 38 verified, 1 tied with the winner, 2 failed\n"));
  assert_true(has_text(&timed, "// NVIDIA H200: driver 580.1, NVRTC 13.0, sectile 0.1.0\n"));
  *strstr(timed.data, "#ifndef SECTILE") = '\0'; /* the banner */
  assert_false(has_text(&timed, "counted") || has_text(&timed, "predicted"));
  sct_str_free(&timed);
  fixture_scale(f);
  sct_str counted = fixture_header(f, "scale");
  assert_true(has_text(&counted, "counted and predicted, not timed"));
  assert_true(has_text(&counted, "38 verified, counted and predicted"));
  assert_true(has_text(&counted, "No GPU ran"));
  assert_true(has_text(&counted, "median us  GB/s  of copy  predicted us"));
  assert_true(has_text(&counted, "not timed     -        -           3.7  8.0 (8.0)"));
  assert_false(has_text(&counted, "naive, same run")); /* it is the winner itself */
  assert_false(has_text(&counted, "driver "));
  sct_str_free(&counted);
}

static void the_banner_says_which_files_have_kernels(void **state) {
  fixture *f = *state;
  fixture_add(f);
  sct_str each = fixture_header(f, "add3");
  sct_str one = {0};
  const sct_emit_request request = {.name = "add3", .form = SCT_EMIT_CUDA};
  fixture_check(f, fixture_emit(&one, f, &request));
  assert_true(has_text(&each, "Again: sectile emit add3.lua -o add3.h\n"));
  assert_true(has_text(&each, "CUDA files get the kernels and the launch function,\n// each"));
  assert_true(has_text(&one, "Again: sectile emit add3.lua --form cuda -o add3.h\n"));
  assert_true(has_text(&one, "The one CUDA file that defines add3_IMPLEMENTATION"));
  assert_true(has_text(&one,
                       "\ncudaError_t add3(const add3_vec3 *a, add3_vec3 *b, double k, long long "
                       "n_i, cudaStream_t stream) {\n"));
  assert_false(has_text(&one, "add3_LINKAGE"));
  sct_str_free(&each);
  sct_str_free(&one);
}

static void forms_have_names(void **state) {
  (void)state;
  sct_emit_form form = SCT_EMIT_INLINE;
  sct_error err = {0};
  assert_int_equal(sct_emit_find_form(&form, "cuda", &err), SCT_OK);
  assert_int_equal(form, SCT_EMIT_CUDA);
  assert_int_equal(sct_emit_find_form(&form, "inline", &err), SCT_OK);
  assert_int_equal(form, SCT_EMIT_INLINE);
  assert_int_equal(sct_emit_find_form(&form, "cud", &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "there is no form 'cud'"));
  assert_non_null(strstr(err.text, "'cuda'"));
}

static void a_kernel_is_described_once(void **state) {
  fixture *f = *state;
  fixture_add(f); /* "How it works." stands in no source */
  sct_str header = fixture_header(f, "add3");
  assert_true(has_text(&header, "// flat t256 w16. How it works.\n//   for NVIDIA H200"));
  sct_str_free(&header);
  sct_row_run run =
      fixture_run(f, fixture_h200(f), "i=7", "{\"i\": 7}", 336, "2025-01-01T00:00:00Z");
  kernel told = add_direct;
  told.launch =
      "{\"kernel\": \"add3_kernel\", \"threads\": 256, \"grid\": \"n_i\", "
      "\"shared_bytes\": 0, \"static_shared_bytes\": 0, \"doc\": \"One element a thread.\"}";
  const sct_id id = fixture_result(f, &run, &told, 9000, false);
  fixture_finish(f, &run, id, id);
  header = fixture_header(f, "add3");
  assert_true(has_text(&header, "// direct t256.\n//   for NVIDIA H200 at i=7\n"));
  sct_str_free(&header);
}

static void a_place_that_is_not_its_own_is_shown(void **state) {
  fixture *f = *state;
  static const char *const moved =
      "{\"name\": \"add3\", \"extents\": [{\"name\": \"i\", \"dim\": true}], "
      "\"scalars\": [{\"name\": \"k\", \"type\": \"f64\"}], \"operands\": ["
      "{\"name\": \"a\", \"role\": \"in\", \"record\": " VEC3 ", \"layouts\": [\"aos\"], "
      "\"dims\": [\"i\"], \"at\": [\"i + 1\"]}, "
      "{\"name\": \"b\", \"role\": \"out\", \"record\": " VEC3 ", \"layouts\": [\"aos\"], "
      "\"dims\": [\"i\"], \"at\": [\"i\"]}], \"body\": \"\"}";
  fixture_problem(f, "add3", moved);
  fixture_add_size(f, fixture_h200(f), 64, &add_direct, 9000, "2025-01-01T00:00:00Z");
  sct_str header = fixture_header(f, "add3");
  assert_true(has_text(&header, "layout aos; over (i)\n//           read at (i + 1)\n"));
  assert_false(has_text(&header, "written at"));
  sct_str_free(&header);
}

/* A struct has their bytes; what is said of a record counts them. */
static void elements_that_share_bytes_are_counted(void **state) {
  fixture *f = *state;
  static const char *const signature =
      "{\"name\": \"add3\", \"extents\": [{\"name\": \"i\", \"dim\": true}], "
      "\"scalars\": [{\"name\": \"k\", \"type\": \"f64\"}], \"operands\": [{\"name\": \"a\", "
      "\"role\": \"in\", \"record\": "
      "{\"name\": \"block\", \"bytes\": 6, \"align\": 2, \"fields\": ["
      "{\"name\": \"d\", \"type\": \"f16\", \"offset\": 0}, "
      "{\"name\": \"n\", \"type\": \"u8\", \"offset\": 2}, "
      "{\"name\": \"q[0]\", \"type\": \"i4\", \"offset\": 3}, "
      "{\"name\": \"q[1]\", \"type\": \"i4\", \"offset\": 4}, "
      "{\"name\": \"m[0]\", \"type\": \"u1\", \"offset\": 5}]}, "
      "\"layouts\": [\"aos\"], \"dims\": [\"i\"], \"at\": [\"i\"]}, "
      "{\"name\": \"b\", \"role\": \"out\", \"record\": " VEC3 ", \"layouts\": [\"aos\"], "
      "\"dims\": [\"i\"], \"at\": [\"i\"]}], \"body\": \"\"}";
  fixture_problem(f, "add3", signature);
  fixture_add_size(f, fixture_h200(f), 64, &add_direct, 9000, "2025-01-01T00:00:00Z");
  sct_str header = fixture_header(f, "add3");
  assert_true(has_text(&header, "block { f16 d; u8 n; i4 q[4]; u1 m[8] } of 6 bytes"));
  assert_true(has_text(&header, "  unsigned short d;\n"
                                "  unsigned char n;\n"
                                "  unsigned char q[2];  // 4 of i4, 2 a byte, low bits first\n"
                                "  unsigned char m[1];  // 8 of u1, 8 a byte, low bits first\n"
                                "} add3_block;\n"));
  sct_str_free(&header);
}

static void names_of_the_user_do_not_meet_ours(void **state) {
  fixture *f = *state;
  fixture_scale(f); /* has a scalar called stream */
  sct_str header = fixture_header(f, "scale");
  assert_true(has_text(&header, "float stream, long long n_i, cudaStream_t stream_x)"));
  assert_true(has_text(&header, "void *args[] = {&c.p, &c.q, &c.k, &c.stream, &c.n_i};"));
  assert_true(has_text(&header, "const void *p, void *q, unsigned short k,"));
  sct_str_free(&header);
}

/* Macros and functions of headers are no names of types. */
static void records_are_not_called_as_what_headers_have(void **state) {
  fixture *f = *state;
  static const struct {
    const char *record, *type;
  } cases[] = {{"IMPLEMENTATION", "shift2_IMPLEMENTATION_record"},
               {"LINKAGE", "shift2_LINKAGE_record"},
               {"args", "shift2_args_record"},
               {"launch", "shift2_launch_record"},
               {"detail_size", "shift2_detail_size_record"},
               {"layout_a", "shift2_layout_a_record"},
               {"details", "shift2_details"}};
  static const char *const own = "\"choice\"";
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str signature = {0}, expected = {0};
    const char *const at = strstr(SHIFT_SIGNATURE, own);
    sct_str_printf(&signature, "%.*s\"%s\"%s", (int)(at - SHIFT_SIGNATURE), SHIFT_SIGNATURE,
                   cases[k].record, at + strlen(own));
    fixture_shift_with(f, sct_str_c(&signature));
    sct_str header = fixture_header(f, "shift2");
    sct_str_printf(&expected, "(const shift2_vec3 *a, %s *b, long long n_i", cases[k].type);
    assert_true(has_text(&header, sct_str_c(&expected)));
    sct_str_free(&header);
    sct_str_free(&expected);
    sct_str_free(&signature);
  }
}

static void an_equal_file_is_left_alone(void **state) {
  fixture *f = *state;
  fixture_add(f);
  sct_str path = {0};
  sct_str_printf(&path, "%s/add3.h", f->folder);
  const sct_emit_request request = {.name = "add3"};
  fixture_check(f, fixture_write(f, &request, sct_str_c(&path)));
  struct stat before;
  struct stat after;
  assert_int_equal(stat(sct_str_c(&path), &before), 0);
  fixture_check(f, fixture_write(f, &request, sct_str_c(&path)));
  assert_int_equal(stat(sct_str_c(&path), &after), 0);
  assert_int_equal(before.st_ino, after.st_ino);
  assert_true(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
  /* a header that cannot be made leaves the old file whole */
  const sct_emit_request unknown = {.name = "unknown"};
  assert_int_equal(fixture_write(f, &unknown, sct_str_c(&path)), SCT_EDATA);
  sct_str text = {0};
  sct_str expected = fixture_header(f, "add3");
  fixture_check(f, sct_file_read(&text, sct_str_c(&path), &f->err));
  assert_string_equal(sct_str_c(&text), sct_str_c(&expected));
  f->err = (sct_error){0};
  assert_int_equal(fixture_write(f, &request, "/nonexistent/folder/x.h"), SCT_EIO);
  sct_str_free(&text);
  sct_str_free(&expected);
  sct_str_free(&path);
}

static void text_is_appended(void **state) {
  fixture *f = *state;
  fixture_add(f);
  sct_str out = {0};
  sct_str_append(&out, "before\n");
  const sct_emit_request request = {.name = "add3"};
  fixture_check(f, fixture_emit(&out, f, &request));
  assert_true(sct_has_prefix(sct_str_c(&out), "before\n// add3.h - written by sectile"));
  sct_str_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
      TEST(transpose_is_as_it_was), /* first: others are compared with its golden copy */
      TEST(add_two_devices_is_as_it_was),
      TEST(scale_is_as_it_was),
      TEST(row_sum_is_as_it_was),
      TEST(what_launches_share_is_an_argument),
      TEST(what_an_output_holds_is_added_to),
      TEST(a_device_without_multiprocessors_is_a_weaker_match),
      TEST(hostile_is_as_it_was),
      TEST(the_bytes_are_the_same_again),
      TEST(definitions_are_the_stored_bytes),
      TEST(a_date_only_on_request),
      TEST(the_banner_says_how_figures_came_about),
      TEST(the_banner_says_which_files_have_kernels),
      TEST(forms_have_names),
      TEST(a_kernel_is_described_once),
      TEST(names_of_the_user_do_not_meet_ours),
      TEST(a_place_that_is_not_its_own_is_shown),
      TEST(elements_that_share_bytes_are_counted),
      TEST(records_are_not_called_as_what_headers_have),
      TEST(an_equal_file_is_left_alone),
      TEST(text_is_appended),
#undef TEST
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
