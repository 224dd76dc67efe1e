/* Launches in a file, run on a stub driver: what reaches it, and what comes of damaged files. */
#include "device/stub_driver.h"

#define FOLDED ((int64_t)40 << 20)

static const int64_t grid[] = {7, 1, 1}, block[] = {96, 1, 1};
static const sct_launch_array arrays[] = {{FOLDED + 5, 12}, {100, 0}};
static const uint8_t pointer[8], number[4] = {9};
static const sct_launch_param params[] = {{pointer, 8}, {number, 4}};

static const char *write_launches(const sct_launch_pointer *to) {
  static char path[64];
  static const void *const contents[] = {"hello world!", ""};
  const sct_launch_case one = {.entry = "kernel",
                               .grid = grid,
                               .n_grid = 3,
                               .block = block,
                               .n_block = 3,
                               .shared_bytes = 5000,
                               .params = params,
                               .n_params = 2,
                               .pointers = to,
                               .n_pointers = 1};
  const sct_launches all = {.ordinal = 1,
                            .image = (const uint8_t *)"image",
                            .n_image = 6,
                            .arrays = arrays,
                            .n_arrays = 2,
                            .cases = &one,
                            .n_cases = 1};
  snprintf(path, sizeof path, "/tmp/sectile-launches-test-%d", (int)getpid());
  assert_int_equal(sct_launches_write(path, &all, contents, NULL), SCT_OK);
  return path;
}

static void test_launches(void **state) {
  (void)state;
  const sct_launch_pointer to = {.param = 0, .at = 0, .array = 1, .offset = 16};
  const char *path = write_launches(&to);
  assert_int_equal(sct_launches_run(path, NULL), SCT_OK);
  assert_int_equal(stub.uploaded, FOLDED + 5); /* the contents, again and again */
  assert_memory_equal(stub.upload_end, " wor", 4);
  assert_int_equal(stub.arg, 0x1000 + 16);
  assert_int_equal(stub.grid, 7);
  assert_int_equal(stub.block, 96);
  assert_int_equal(stub.shared, 5000);
  assert_int_equal(stub.shared_bytes, 5000);
  assert_nothing_alive();
  const int calls = stub.calls;
  int without_effect = 0;
  for (int n = 1; n <= calls; n++) {
    stub = (struct stub){.n_devices = 2, .fail_at = n, .fail_with = 700};
    without_effect += sct_launches_run(path, NULL) == SCT_OK;
  }
  assert_int_equal(without_effect, 8); /* the UUID, and what gives back */
  unlink(path);
}

static void test_damaged_launches(void **state) {
  (void)state;
  static const sct_launch_pointer bad[] = {
      {2, 0, 1, 0}, {0, 1, 1, 0}, {1, 0, 1, 0}, {0, 0, 2, 0}, {0, 0, 1, 101}};
  sct_error err;
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    const char *path = write_launches(&bad[k]);
    assert_int_equal(sct_launches_run(path, &err), SCT_EDATA);
    assert_non_null(strstr(err.text, "holds no launches"));
  }
  const sct_launch_pointer good = {.param = 0, .array = 0};
  const char *path = write_launches(&good);
  sct_str text = {0};
  assert_int_equal(sct_file_read(&text, path, NULL), SCT_OK);
  for (size_t n = 0; n < text.len; n++) {
    assert_int_equal(sct_file_write(path, text.data, n, NULL), SCT_OK);
    assert_int_equal(sct_launches_run(path, &err), SCT_EDATA);
  }
  sct_str_free(&text);
  unlink(path);
  assert_int_equal(sct_launches_run(path, &err), SCT_EIO);
  assert_int_equal(stub.calls, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_launches, set_up),
      cmocka_unit_test_setup(test_damaged_launches, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
