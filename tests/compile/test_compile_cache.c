/* The cache on disk: hits, partial hits, damage, folders that cannot be used. */
#include "compile_fixture.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { N = 4 };

typedef struct fixture {
  char dir[64];
  char cache[96];
  char *source[N];
  sct_compile_unit units[N];
} fixture;

static int setup(void **state) {
  fixture *const f = calloc(1, sizeof(*f));
  assert_non_null(f);
  fx_temp_dir(f->dir);
  (void)snprintf(f->cache, sizeof(f->cache), "%s/cache", f->dir);
  for (int i = 0; i < N; ++i) {
    char expression[32];
    (void)snprintf(expression, sizeof(expression), "x + %d.0f", i);
    f->source[i] = fx_map_source(i, expression);
    f->units[i] = (sct_compile_unit){f->source[i], "map", false};
  }
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *const f = *state;
  fx_remove_dir(f->dir);
  for (int i = 0; i < N; ++i) {
    free(f->source[i]);
  }
  free(f);
  return 0;
}

static sct_compiler *open_compiler(const fixture *f) {
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .cache_dir = f->cache};
  return fx_compiler(&opts);
}

/* Compiles units [0, n) with a compiler of its own and says how many came from the cache. */
static int run_some(const fixture *f, int n) {
  sct_compiled r[N];
  int cached = 0;
  sct_compiler *compiler = open_compiler(f);
  fx_run(compiler, f->units, n, r);
  for (int i = 0; i < n; ++i) {
    assert_true(r[i].ok);
    cached += r[i].from_cache ? 1 : 0;
    sct_compiled_free(&r[i]);
  }
  sct_compiler_free(compiler);
  return cached;
}

/* Calls `change` for every file below `folder` whose name ends in `suffix`; returns how many. */
static int for_files(const fixture *f, const char *folder, const char *suffix,
                     void (*change)(const char *path)) {
  char path[512];
  (void)snprintf(path, sizeof(path), "%s/%s", f->cache, folder);
  DIR *const dir = opendir(path);
  assert_non_null(dir);
  int n = 0;
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    if (e->d_name[0] != '.' && sct_has_suffix(e->d_name, suffix)) {
      char file[1024];
      (void)snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
      if (change != NULL) {
        change(file);
      }
      ++n;
    }
  }
  (void)closedir(dir);
  return n;
}

static void test_hit_is_identical(void **state) {
  const fixture *const f = *state;
  sct_compiled cold[N];
  sct_compiled warm[N];
  sct_compiler *first = open_compiler(f);
  sct_compiler *second = open_compiler(f);
  fx_run(first, f->units, N, cold);
  fx_run(second, f->units, N, warm);
  for (int i = 0; i < N; ++i) {
    assert_false(cold[i].from_cache);
    assert_true(warm[i].from_cache && warm[i].ok);
    assert_int_equal(warm[i].cubin_bytes, cold[i].cubin_bytes);
    assert_memory_equal(warm[i].cubin, cold[i].cubin, cold[i].cubin_bytes);
    const sct_hash cubin = sct_hash_bytes(cold[i].cubin, cold[i].cubin_bytes);
    const sct_hash ptx = sct_hash_text(cold[i].ptx);
    assert_true(sct_hash_equal(cold[i].cubin_hash, cubin) && sct_hash_equal(cold[i].ptx_hash, ptx));
    assert_true(sct_hash_equal(warm[i].cubin_hash, cubin) && sct_hash_equal(warm[i].ptx_hash, ptx));
    assert_string_equal(warm[i].ptx, cold[i].ptx);
    assert_string_equal(warm[i].entry, cold[i].entry);
    assert_true(sct_hash_equal(warm[i].code_hash, cold[i].code_hash));
    assert_int_equal(warm[i].registers, cold[i].registers);
    assert_int_equal(warm[i].static_shared_bytes, cold[i].static_shared_bytes);
    assert_int_equal(warm[i].stack_bytes, cold[i].stack_bytes);
  }
  assert_ptr_equal(warm[0].cubin, warm[N - 1].cubin); /* read once for the whole batch */
  for (int i = 0; i < N; ++i) {
    sct_compiled_free(&cold[i]);
    sct_compiled_free(&warm[i]);
  }
  sct_compiler_free(first);
  sct_compiler_free(second);
}

static void test_only_the_missing_are_compiled(void **state) {
  const fixture *const f = *state;
  assert_int_equal(run_some(f, 2), 0);
  assert_int_equal(for_files(f, "entries", ".entry", NULL), 2);
  assert_int_equal(run_some(f, N), 2);
  assert_int_equal(run_some(f, N), N);
  assert_int_equal(for_files(f, "objects", ".cubin", NULL), 2);
}

/* ---- several compilers at a time */

static sct_compiler *begin_shared(const fixture *f, int place, int batch, const sct_compile_unit *u,
                                  int n, sct_compiled *results) {
  const sct_compile_opts opts = {.arch = "sm_90",
                                 .threads = 1,
                                 .batch = batch,
                                 .cache_dir = f->cache,
                                 .place = place,
                                 .n_places = 2};
  sct_error err = {0};
  sct_compiler *compiler = fx_compiler(&opts);
  if (sct_compiler_begin(compiler, u, n, results, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return compiler;
}

/* Runs it to its end: the order in which units were finished, and how many came from the cache. */
static int end_shared(sct_compiler *compiler, sct_compiled *results, int order[N]) {
  sct_error err = {0};
  int n = 0, cached = 0;
  for (int left = 1; left > 0;) {
    left = sct_compiler_left(compiler);
    if (sct_compiler_step(compiler, 100000000, &err) != SCT_OK) {
      fail_msg("%s", err.text);
    }
    for (int k = sct_compiler_next(compiler); k >= 0; k = sct_compiler_next(compiler)) {
      order[n++] = k;
      assert_true(results[k].ok);
      cached += results[k].from_cache;
    }
  }
  sct_compiler_end(compiler);
  for (int k = 0; k < n; ++k) {
    sct_compiled_free(&results[order[k]]);
  }
  sct_compiler_free(compiler);
  return cached;
}

static void test_two_share_the_work(void **state) {
  const fixture *const f = *state;
  sct_compiled r[2][N];
  int order[N];
  sct_compiler *first = begin_shared(f, 0, 1, f->units, N, r[0]);
  sct_compiler *second = begin_shared(f, 1, 1, f->units, N, r[1]); /* the cache is empty still */
  assert_int_equal(end_shared(first, r[0], order), 0);
  assert_int_equal(end_shared(second, r[1], order), N); /* what the first has made since */
  const int expected[] = {2, 3, 0, 1};                  /* from the middle on */
  assert_memory_equal(order, expected, sizeof expected);
}

static void test_part_of_a_batch_may_be_there(void **state) {
  const fixture *const f = *state;
  sct_compiled r[2][N];
  int order[N];
  sct_compiler *all = begin_shared(f, 0, N, f->units, N, r[0]);
  sct_compiler *one = begin_shared(f, 1, N, f->units + 1, 1, r[1]);
  assert_int_equal(end_shared(one, r[1], order), 0);
  assert_int_equal(end_shared(all, r[0], order), 1); /* and the three around it compile */
  assert_int_equal(order[0], 1);
}

static void test_options_are_part_of_the_key(void **state) {
  const fixture *const f = *state;
  assert_int_equal(run_some(f, 1), 0);
  const char *const extra[] = {"--use_fast_math", NULL};
  const sct_compile_opts variants[] = {
      {.arch = "sm_80", .cache_dir = f->cache},
      {.arch = "sm_90", .cache_dir = f->cache, .extra = extra},
      {.arch = "sm_90", .cache_dir = f->cache, .threads = 2, .batch = 3}, /* not in the key */
  };
  for (int i = 0; i < SCT_COUNT(variants); ++i) {
    sct_compiled r;
    sct_compiler *compiler = fx_compiler(&variants[i]);
    fx_run(compiler, f->units, 1, &r);
    assert_int_equal(r.from_cache, i == 2);
    sct_compiled_free(&r);
    sct_compiler_free(compiler);
  }
}

static void test_failures_are_not_cached(void **state) {
  const fixture *const f = *state;
  const sct_compile_unit unit = {"__global__ void map( {}\n", "map", false};
  for (int i = 0; i < 2; ++i) {
    sct_compiled r;
    sct_compiler *compiler = open_compiler(f);
    fx_run(compiler, &unit, 1, &r);
    assert_false(r.ok || r.from_cache);
    assert_non_null(r.log);
    sct_compiled_free(&r);
    sct_compiler_free(compiler);
  }
  assert_int_equal(for_files(f, "entries", "", NULL), 0);
}

/* ---- damage */

static void cut_in_half(const char *path) {
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(truncate(path, st.st_size / 2), 0);
}

static void make_empty(const char *path) {
  assert_int_equal(truncate(path, 0), 0);
}

static void flip_a_digit(const char *path) {
  FILE *const file = fopen(path, "r+b");
  assert_non_null(file);
  struct stat st;
  assert_int_equal(fstat(fileno(file), &st), 0);
  assert_int_equal(fseek(file, st.st_size / 2, SEEK_SET), 0);
  const int byte = fgetc(file);
  assert_int_equal(fseek(file, st.st_size / 2, SEEK_SET), 0);
  assert_int_not_equal(fputc(byte ^ 1, file), EOF);
  assert_int_equal(fclose(file), 0);
}

/* Puts a link to the file in its place, which the cache does not open. */
static void replace_by_link(const char *path) {
  char moved[1100];
  (void)snprintf(moved, sizeof(moved), "%s.moved", path);
  assert_int_equal(rename(path, moved), 0);
  assert_int_equal(symlink(moved, path), 0);
}

static void remove_file(const char *path) {
  assert_int_equal(unlink(path), 0);
}

static void test_damage_is_rebuilt(void **state) {
  const fixture *const f = *state;
  static const struct {
    const char *folder, *suffix;
  } kind[] = {{"entries", ".entry"}, {"objects", ".cubin"}, {"objects", ".ptx"}};
  static void (*const damage[])(const char *) = {cut_in_half, make_empty, flip_a_digit,
                                                 replace_by_link, remove_file};
  for (int k = 0; k < SCT_COUNT(kind); ++k) {
    for (int d = 0; d < SCT_COUNT(damage); ++d) {
      assert_int_equal(run_some(f, 2), 0);
      assert_int_equal(run_some(f, 2), 2);
      assert_true(for_files(f, kind[k].folder, kind[k].suffix, damage[d]) > 0);
      assert_int_equal(run_some(f, 2), 0); /* all of them damaged: compiled again */
      assert_int_equal(run_some(f, 2), 2); /* and whole again */
      fx_remove_dir(f->cache);
    }
  }
}

/* An entry under another's name is sound by its own hash, but not the answer. */
static void test_entry_of_another_key(void **state) {
  const fixture *const f = *state;
  assert_int_equal(run_some(f, 2), 0);
  char command[512];
  (void)snprintf(command, sizeof(command), "cd %s/entries && set -- *.entry && cp \"$1\" \"$2\"",
                 f->cache);
  assert_int_equal(system(command), 0);
  assert_int_equal(run_some(f, 2), 1);
}

/* ---- folders that cannot be used */

static void check_no_cache(const fixture *f, const char *reason) {
  fx_capture capture;
  fx_capture_start(&capture);
  sct_compiler *compiler = open_compiler(f);
  for (int i = 0; i < 2; ++i) {
    sct_compiled r;
    fx_run(compiler, f->units, 1, &r);
    assert_true(r.ok);
    sct_compiled_free(&r);
  }
  sct_compiler_free(compiler);
  char *text = fx_capture_end(&capture);
  assert_int_equal(fx_count(text, "not cached"), 1);
  if (strstr(text, reason) == NULL) {
    fail_msg("no \"%s\" in: %s", reason, text);
  }
  free(text);
}

static void test_folder_is_a_file(void **state) {
  const fixture *const f = *state;
  FILE *const file = fopen(f->cache, "w");
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
  check_no_cache(f, f->cache);
}

static void test_folder_open_to_others(void **state) {
  const fixture *const f = *state;
  assert_int_equal(mkdir(f->cache, 0700), 0);
  assert_int_equal(chmod(f->cache, 0777), 0);
  check_no_cache(f, "other users may write");
}

/* Root may write anywhere: the test runs in a child that gives root up. */
static void test_read_only_folder(void **state) {
  const fixture *const f = *state;
  enum { NOBODY = 65534 };
  assert_int_equal(chmod(f->dir, 0755), 0);
  assert_int_equal(mkdir(f->cache, 0700), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const bool root = geteuid() == 0;
    if (root &&
        (chown(f->cache, NOBODY, NOBODY) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
      _exit(3);
    }
    if (chmod(f->cache, 0500) != 0) {
      _exit(4);
    }
    check_no_cache(f, "Permission denied");
    _exit(0);
  }
  int ended = 0;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
}

static void give_away(const char *path) {
  assert_int_equal(chown(path, 65534, 65534), 0);
}

/* Code that somebody else could have put there is compiled again, though its bytes are right. */
static void test_files_of_others_are_refused(void **state) {
  const fixture *const f = *state;
  if (geteuid() != 0) {
    skip(); /* only root can give files away */
  }
  assert_int_equal(run_some(f, N), 0);
  assert_int_equal(run_some(f, N), N);
  assert_int_equal(for_files(f, "objects", ".cubin", give_away), 1);
  assert_int_equal(run_some(f, N), 0);
  assert_int_equal(run_some(f, N), N); /* ours again */
  assert_int_equal(for_files(f, "entries", ".entry", give_away), N);
  assert_int_equal(run_some(f, N), 0);
}

static char elsewhere[64];

/* Moves the file away and leaves a link to it. */
static void move_away(const char *path) {
  assert_int_equal(rename(path, elsewhere), 0);
  assert_int_equal(symlink(elsewhere, path), 0);
}

static void test_links_are_not_followed(void **state) {
  const fixture *const f = *state;
  (void)snprintf(elsewhere, sizeof(elsewhere), "%.40s/elsewhere", f->dir);
  assert_int_equal(run_some(f, N), 0);
  assert_int_equal(for_files(f, "objects", ".cubin", move_away), 1);
  assert_int_equal(run_some(f, N), 0);
  struct stat st;
  assert_int_equal(stat(elsewhere, &st), 0); /* what it pointed to was neither used nor changed */
  assert_int_equal(run_some(f, N), N);
}

static void test_everything_is_private(void **state) {
  const fixture *const f = *state;
  assert_int_equal(run_some(f, 1), 0);
  const char *const folders[] = {"", "/objects", "/entries"};
  for (int i = 0; i < SCT_COUNT(folders); ++i) {
    char path[256];
    struct stat st;
    (void)snprintf(path, sizeof(path), "%s%s", f->cache, folders[i]);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
  }
  char command[512];
  (void)snprintf(command, sizeof(command),
                 "test -z \"$(find %s -type f -perm /077)\" -a -z \"$(find %s -name '.new*')\"",
                 f->cache, f->cache);
  assert_int_equal(system(command), 0);
}

int main(int argc, char **argv) {
  FX_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_hit_is_identical, setup, teardown),
      cmocka_unit_test_setup_teardown(test_only_the_missing_are_compiled, setup, teardown),
      cmocka_unit_test_setup_teardown(test_two_share_the_work, setup, teardown),
      cmocka_unit_test_setup_teardown(test_part_of_a_batch_may_be_there, setup, teardown),
      cmocka_unit_test_setup_teardown(test_options_are_part_of_the_key, setup, teardown),
      cmocka_unit_test_setup_teardown(test_failures_are_not_cached, setup, teardown),
      cmocka_unit_test_setup_teardown(test_damage_is_rebuilt, setup, teardown),
      cmocka_unit_test_setup_teardown(test_entry_of_another_key, setup, teardown),
      cmocka_unit_test_setup_teardown(test_folder_is_a_file, setup, teardown),
      cmocka_unit_test_setup_teardown(test_folder_open_to_others, setup, teardown),
      cmocka_unit_test_setup_teardown(test_read_only_folder, setup, teardown),
      cmocka_unit_test_setup_teardown(test_files_of_others_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(test_links_are_not_followed, setup, teardown),
      cmocka_unit_test_setup_teardown(test_everything_is_private, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
