/* Arenas, random numbers, permutations, files, assets. */
#include "base/base.h"
#include "scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

static char folder[64];

static int make_folder(void **state) {
  (void)state;
  return scratch_make(folder, sizeof folder, "base");
}

static int remove_folder(void **state) {
  (void)state;
  return scratch_remove(folder);
}

static const char *in_folder(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void test_arena_pieces_are_zeroed_and_aligned(void **state) {
  (void)state;
  sct_arena arena = {0};
  for (size_t n = 0; n < 3000; n += 7) {
    unsigned char *p = sct_arena_alloc(&arena, n);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 16, 0);
    for (size_t k = 0; k < n; k++) {
      assert_int_equal(p[k], 0);
      p[k] = 0xff;
    }
  }
  assert_non_null(sct_arena_alloc(&arena, 1 << 20));
  assert_string_equal(sct_arena_printf(&arena, "%d-%s", 7, "x"), "7-x");
  assert_string_equal(sct_arena_strndup(&arena, "abcdef", 3), "abc");
  sct_arena_free(&arena);
  assert_null(arena.head);
}

static void test_grow_keeps_elements(void **state) {
  (void)state;
  int *v = NULL;
  size_t cap = 0;
  for (size_t k = 0; k < 1000; k++) {
    SCT_GROW(v, k, cap);
    v[k] = (int)k;
  }
  for (int k = 0; k < 1000; k++) {
    assert_int_equal(v[k], k);
  }
  sct_free(v);
}

static void test_rng_is_uniform_and_repeatable(void **state) {
  (void)state;
  sct_rng a = sct_rng_new(42), b = sct_rng_new(42), c = sct_rng_new(43);
  int64_t histogram[10] = {0};
  bool differs = false;
  for (int k = 0; k < 100000; k++) {
    const int64_t x = sct_rng_below(&a, 10);
    assert_in_range(x, 0, 9);
    assert_int_equal(x, sct_rng_below(&b, 10));
    differs |= x != sct_rng_below(&c, 10);
    histogram[x]++;
  }
  assert_true(differs);
  for (int k = 0; k < 10; k++) { /* 10,000 expected, standard deviation 95: six of them */
    assert_in_range(histogram[k], 10000 - 570, 10000 + 570);
  }
  const double u = sct_rng_unit(&a);
  assert_true(u >= 0.0 && u < 1.0);
}

static void test_permute_is_a_bijection(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 31, 1000, 4096, 10007};
  for (int s = 0; s < SCT_COUNT(sizes); s++) {
    const int64_t n = sizes[s];
    bool *seen = sct_alloc((size_t)n);
    int64_t fixed = 0;
    for (int64_t i = 0; i < n; i++) {
      const int64_t p = sct_permute(i, n, 7);
      assert_in_range(p, 0, n - 1);
      assert_false(seen[p]);
      seen[p] = true;
      fixed += p == i;
    }
    assert_true(n < 100 || fixed < 20); /* a random permutation has one fixed point on average */
    sct_free(seen);
  }
}

static void test_write_is_atomic_and_idempotent(void **state) {
  (void)state;
  char path[256];
  snprintf(path, sizeof path, "%s", in_folder("a.txt"));
  assert_int_equal(sct_file_write(path, "one", 3, NULL), SCT_OK);
  struct stat before, after;
  assert_int_equal(stat(path, &before), 0);
  assert_int_equal(sct_file_write(path, "one", 3, NULL), SCT_OK);
  assert_int_equal(stat(path, &after), 0);
  assert_int_equal(before.st_ino, after.st_ino); /* equal bytes: the file was left alone */
  assert_int_equal(sct_file_write(path, "other", 5, NULL), SCT_OK);
  sct_str text = {0};
  assert_int_equal(sct_file_read(&text, path, NULL), SCT_OK);
  assert_string_equal(sct_str_c(&text), "other");
  sct_error err;
  assert_int_equal(sct_file_write("/nonexistent/x", "1", 1, &err), SCT_EIO);
  assert_non_null(strstr(err.text, "/nonexistent/x"));
  assert_int_equal(sct_file_read(&text, in_folder("absent"), &err), SCT_EIO);
  assert_non_null(strstr(err.text, "No such file"));
  assert_int_equal(sct_file_read(&text, folder, &err), SCT_EIO);
  sct_str_free(&text);
}

/* What is no regular file is written to, not replaced, and neither waited for. */
static void test_pipes_stay_pipes(void **state) {
  (void)state;
  char path[256], text[8] = "";
  sct_error err;
  sct_str got = {0};
  struct stat st;
  snprintf(path, sizeof path, "%s", in_folder("pipe"));
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(sct_file_write(path, "one", 3, &err), SCT_EIO); /* nobody reads */
  assert_int_equal(sct_file_read(&got, path, &err), SCT_OK);       /* nobody writes */
  assert_int_equal(got.len, 0);
  const int fd = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(fd >= 0);
  assert_int_equal(sct_file_write(path, "one", 3, &err), SCT_OK);
  assert_int_equal(read(fd, text, sizeof text), 3);
  assert_memory_equal(text, "one", 3);
  close(fd);
  assert_int_equal(stat(path, &st), 0);
  assert_true(S_ISFIFO(st.st_mode));
  char link[256];
  snprintf(link, sizeof link, "%s", in_folder("null"));
  assert_int_equal(symlink("/dev/null", link), 0);
  assert_int_equal(sct_file_write(link, "one", 3, &err), SCT_OK);
  assert_int_equal(lstat(link, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  sct_str_free(&got);
}

static void test_folders(void **state) {
  (void)state;
  char path[256];
  snprintf(path, sizeof path, "%s", in_folder("x/y/z"));
  assert_int_equal(sct_dir_make(path, NULL), SCT_OK);
  assert_int_equal(sct_dir_make(path, NULL), SCT_OK);
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0700);
  assert_int_equal(sct_file_write(in_folder("x/file"), "1", 1, NULL), SCT_OK);
  sct_error err;
  assert_int_equal(sct_dir_make(in_folder("x/file/below"), &err), SCT_EIO);
  assert_non_null(strstr(err.text, "x/file"));
}

static void test_xdg_paths(void **state) {
  (void)state;
  sct_str s = {0};
  setenv("XDG_DATA_HOME", "/data", 1);
  sct_error err;
  assert_int_equal(sct_path_store(&s, &err), SCT_OK);
  assert_string_equal(sct_str_c(&s), "/data/sectile/store.db");
  sct_str_clear(&s);
  unsetenv("XDG_DATA_HOME");
  static const char *const no_home[] = {NULL, "", "relative"};
  for (int k = 0; k < SCT_COUNT(no_home); k++) { /* not the root's folders, nor those at hand */
    (void)(no_home[k] ? setenv("HOME", no_home[k], 1) : unsetenv("HOME"));
    assert_int_equal(sct_path_store(&s, &err), SCT_EUSAGE);
    assert_non_null(strstr(err.text, "--store FILE"));
    unsetenv("XDG_CACHE_HOME");
    sct_path_cache(&s);
    assert_int_equal(s.len, 0);
  }
  setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored */
  setenv("HOME", "/home/u", 1);
  sct_path_cache(&s);
  assert_string_equal(sct_str_c(&s), "/home/u/.cache/sectile");
  sct_str_clear(&s);
  assert_int_equal(sct_path_store(&s, &err), SCT_OK);
  assert_string_equal(sct_str_c(&s), "/home/u/.local/share/sectile/store.db");
  sct_str_clear(&s);
  sct_path_dirname(&s, "a/b/c.lua");
  assert_string_equal(sct_str_c(&s), "a/b");
  assert_string_equal(sct_path_basename("a/b/c.lua"), "c.lua");
  sct_str_free(&s);
}

static int count_strategies(void) {
  sct_arena arena = {0};
  int n = 0;
  const char **names = sct_asset_names(&n, &arena, "tuning/strategies/", ".lua");
  for (int k = 0; k < n; k++) {
    assert_true(sct_has_prefix(names[k], "tuning/strategies/"));
    assert_true(sct_has_suffix(names[k], ".lua"));
  }
  sct_arena_free(&arena);
  return n;
}

static void test_assets_can_be_overridden(void **state) {
  (void)state;
  sct_str text = {0};
  sct_error err;
  assert_int_equal(sct_asset_read(&text, "tuning/no_such.lua", &err), SCT_EIO);
  assert_non_null(strstr(err.text, "no_such.lua"));
  assert_int_equal(sct_asset_read(&text, "tuning/kernels/transpos_f32.lua", &err), SCT_EIO);
  assert_non_null(strstr(err.text, "did you mean 'tuning/kernels/transpose_f32.lua'?"));
  const int embedded = count_strategies();
  assert_int_equal(sct_dir_make(in_folder("tuning/strategies"), NULL), SCT_OK);
  assert_int_equal(sct_file_write(in_folder("tuning/strategies/zz.lua"), "return 1", 8, NULL),
                   SCT_OK);
  assert_int_equal(sct_file_write(in_folder("tuning/strategies/zz.txt"), "text", 4, NULL), SCT_OK);
  sct_assets_override(folder);
  assert_int_equal(count_strategies(), embedded + 1);
  assert_int_equal(sct_asset_read(&text, "tuning/strategies/zz.lua", NULL), SCT_OK);
  assert_string_equal(sct_str_c(&text), "return 1");
  sct_assets_override(NULL);
  assert_int_equal(sct_asset_read(&text, "tuning/strategies/zz.lua", NULL), SCT_EIO);
  sct_str_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arena_pieces_are_zeroed_and_aligned),
      cmocka_unit_test(test_grow_keeps_elements),
      cmocka_unit_test(test_rng_is_uniform_and_repeatable),
      cmocka_unit_test(test_permute_is_a_bijection),
      cmocka_unit_test(test_write_is_atomic_and_idempotent),
      cmocka_unit_test(test_pipes_stay_pipes),
      cmocka_unit_test(test_folders),
      cmocka_unit_test(test_xdg_paths),
      cmocka_unit_test(test_assets_can_be_overridden),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
