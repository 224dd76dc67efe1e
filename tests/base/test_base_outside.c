/* What base does at its edges: files that cannot be read or written, large arenas, the log's
 * levels, statistics of random numbers, assets and their overrides, long names. */
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
static sct_arena arena;

static int make_folder(void **state) {
  (void)state;
  return scratch_make(folder, sizeof folder, "outside");
}

static int remove_folder(void **state) {
  (void)state;
  sct_arena_free(&arena);
  return scratch_remove(folder);
}

static const char *in_folder(const char *name) {
  const char *path = sct_arena_printf(&arena, "%s/%s", folder, name);
  assert_non_null(path);
  return path;
}

static void write_ok(const char *path, const char *text) {
  sct_error err;
  if (sct_file_write(path, text, strlen(text), &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static void assert_holds(const char *path, const char *expected) {
  sct_str text = {0};
  assert_int_equal(sct_file_read(&text, path, NULL), SCT_OK);
  assert_string_equal(sct_str_c(&text), expected);
  sct_str_free(&text);
}

/* ---- files ---- */

static void reading_clears_what_was_there(void **state) {
  (void)state;
  write_ok(in_folder("empty"), "");
  write_ok(in_folder("short"), "short");
  sct_str text = {0};
  sct_str_append(&text, "something longer than the file");
  assert_int_equal(sct_file_read(&text, in_folder("short"), NULL), SCT_OK);
  assert_string_equal(sct_str_c(&text), "short");
  assert_int_equal(text.len, 5);
  assert_int_equal(sct_file_read(&text, in_folder("empty"), NULL), SCT_OK);
  assert_string_equal(sct_str_c(&text), "");
  assert_int_equal(text.len, 0);
  sct_str_free(&text);
}

static void bytes_survive_a_round_trip(void **state) {
  (void)state;
  enum { N = 200000 }; /* more than one chunk */
  char *bytes = sct_alloc(N);
  assert_non_null(bytes);
  for (int k = 0; k < N; k++) {
    bytes[k] = (char)(unsigned char)(sct_mix64(3, (uint64_t)k) & 255); /* with zeros inside */
  }
  assert_int_equal(sct_file_write(in_folder("bytes"), bytes, N, NULL), SCT_OK);
  sct_str text = {0};
  assert_int_equal(sct_file_read(&text, in_folder("bytes"), NULL), SCT_OK);
  assert_int_equal(text.len, N);
  assert_memory_equal(text.data, bytes, N);
  sct_str_free(&text);
  sct_free(bytes);
}

static void files_that_are_too_large_are_refused(void **state) {
  (void)state;
  const char *path = in_folder("large");
  const int fd = open(path, O_CREAT | O_WRONLY, 0600);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, ((off_t)64 << 20) + 1), 0); /* sparse */
  close(fd);
  sct_str text = {0};
  sct_error err;
  assert_int_equal(sct_file_read(&text, path, &err), SCT_EIO);
  assert_non_null(strstr(err.text, "larger than 64 MiB"));
  assert_non_null(strstr(err.text, path));
  assert_int_equal(truncate(path, 1 << 20), 0);
  assert_int_equal(sct_file_read(&text, path, &err), SCT_OK);
  assert_int_equal(text.len, 1 << 20);
  sct_str_free(&text);
}

static int n_entries(const char *path) {
  char command[512];
  snprintf(command, sizeof command, "ls -A '%s' | wc -l", path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  int n = -1;
  assert_int_equal(fscanf(pipe, "%d", &n), 1);
  pclose(pipe);
  return n;
}

/* The target is a folder, so the last step, the rename, fails: the temporary file must go. */
static void a_failed_write_leaves_nothing_behind(void **state) {
  (void)state;
  assert_int_equal(sct_dir_make(in_folder("w/target"), NULL), SCT_OK);
  write_ok(in_folder("w/target/kept"), "kept");
  sct_error err;
  assert_int_equal(sct_file_write(in_folder("w/target"), "text", 4, &err), SCT_EIO);
  assert_non_null(strstr(err.text, "w/target"));
  assert_int_equal(n_entries(in_folder("w")), 1);
  assert_holds(in_folder("w/target/kept"), "kept");
}

static void a_file_in_the_way_of_a_folder_is_named(void **state) {
  (void)state;
  write_ok(in_folder("plain"), "x");
  sct_error err;
  assert_int_equal(sct_dir_make(in_folder("plain"), &err), SCT_EIO);
  assert_non_null(strstr(err.text, "plain"));
  assert_int_equal(sct_file_write(in_folder("plain/below"), "x", 1, &err), SCT_EIO);
  assert_non_null(strstr(err.text, "Not a directory"));
  assert_holds(in_folder("plain"), "x");
}

static void a_name_that_is_too_long_is_an_error(void **state) {
  (void)state;
  char name[400];
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  const char *path = in_folder(name);
  sct_str text = {0};
  sct_error err;
  assert_int_equal(sct_file_write(path, "x", 1, &err), SCT_EIO);
  assert_non_null(strstr(err.text, "File name too long"));
  assert_int_equal(sct_file_read(&text, path, &err), SCT_EIO);
  assert_int_equal(sct_dir_make(path, &err), SCT_EIO);
  assert_false(sct_file_exists(path));
  sct_str_free(&text);
}

static void the_mode_follows_the_umask(void **state) {
  (void)state;
  const mode_t old = umask(027);
  write_ok(in_folder("masked"), "x");
  umask(old);
  struct stat st;
  assert_int_equal(stat(in_folder("masked"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0640);
}

static void parts_of_paths(void **state) {
  (void)state;
  static const struct {
    const char *path, *dir, *base;
  } cases[] = {{"a/b/c.lua", "a/b", "c.lua"},
               {"c.lua", ".", "c.lua"},
               {"/c.lua", "/", "c.lua"},
               {"./c", ".", "c"},
               {"/a/b", "/a", "b"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str dir = {0};
    sct_path_dirname(&dir, cases[k].path);
    assert_string_equal(sct_str_c(&dir), cases[k].dir);
    assert_string_equal(sct_path_basename(cases[k].path), cases[k].base);
    sct_str_free(&dir);
  }
}

/* ---- errors ---- */

static void long_messages_are_cut_not_spilled(void **state) {
  (void)state;
  struct {
    sct_error err;
    char after[16];
  } guarded;
  memset(&guarded, 'G', sizeof guarded);
  char text[8000];
  memset(text, 'm', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  assert_int_equal(sct_fail(&guarded.err, SCT_ESPEC, "%s", text), SCT_ESPEC);
  assert_int_equal(strlen(guarded.err.text), sizeof guarded.err.text - 1);
  assert_int_equal(sct_fail_prefix(&guarded.err, SCT_ESPEC, "in front: "), SCT_ESPEC);
  assert_true(sct_has_prefix(guarded.err.text, "in front: mmm"));
  assert_true(strlen(guarded.err.text) < sizeof guarded.err.text);
  for (int k = 0; k < 16; k++) {
    assert_int_equal(guarded.after[k], 'G');
  }
}

static void every_status_has_a_text_and_an_exit_code(void **state) {
  (void)state;
  for (int k = 0; k < SCT_N_STATUS; k++) {
    assert_true(strlen(sct_status_text((sct_status)k)) > 0);
    const int code = sct_exit_code((sct_status)k);
    assert_in_range(code, 0, 255);
    assert_int_equal(code == 0, k == SCT_OK);
    for (int other = 0; other < k; other++) {
      assert_string_not_equal(sct_status_text((sct_status)k), sct_status_text((sct_status)other));
    }
  }
}

/* ---- memory ---- */

static void pieces_of_an_arena_do_not_overlap(void **state) {
  (void)state;
  enum { N = 5000 };
  sct_arena many = {0};
  unsigned char *piece[N];
  for (size_t k = 0; k < N; k++) {
    piece[k] = sct_arena_alloc(&many, 1 + k % 97);
    assert_non_null(piece[k]);
    memset(piece[k], (int)(k & 255), 1 + k % 97);
  }
  for (size_t k = 0; k < N; k++) {
    for (size_t b = 0; b < 1 + k % 97; b++) {
      assert_int_equal(piece[k][b], k & 255);
    }
  }
  assert_true(many.total_bytes >= (size_t)N * 49 - 97 * 97);
  sct_arena_free(&many);
  assert_int_equal(many.total_bytes, 0);
  assert_non_null(sct_arena_strdup(&many, "usable again"));
  sct_arena_free(&many);
}

/* Small and large ones take turns, in arenas that hold little and much; what else is on the heap
 * stays too. */
static void pieces_of_an_arena_have_any_size(void **state) {
  (void)state;
  static const size_t bytes[] = {5000, 16, 1, 1100, 900, 40000, 7, 16384, 16368, 300000, 2000, 33};
  for (size_t first = 0; first < SCT_COUNT(bytes); first++) {
    sct_arena arena_of_any = {0};
    unsigned char *piece[SCT_COUNT(bytes)], *beside[SCT_COUNT(bytes)];
    for (size_t k = 0; k < SCT_COUNT(bytes); k++) {
      const size_t n = bytes[(first + k) % SCT_COUNT(bytes)];
      piece[k] = sct_arena_alloc(&arena_of_any, n);
      beside[k] = malloc(64);
      assert_non_null(piece[k]);
      assert_non_null(beside[k]);
      memset(beside[k], 0xee, 64);
      for (size_t b = 0; b < n; b++) {
        assert_int_equal(piece[k][b], 0);
      }
      memset(piece[k], (int)k + 1, n);
    }
    for (size_t k = 0; k < SCT_COUNT(bytes); k++) {
      const size_t n = bytes[(first + k) % SCT_COUNT(bytes)];
      for (size_t b = 0; b < n; b++) {
        assert_int_equal(piece[k][b], k + 1);
      }
      for (size_t b = 0; b < 64; b++) {
        assert_int_equal(beside[k][b], 0xee);
      }
      free(beside[k]);
    }
    sct_arena_free(&arena_of_any);
  }
}

static void arena_texts_of_any_length(void **state) {
  (void)state;
  char text[5000];
  for (size_t n = 0; n < sizeof text - 1; n = 2 * n + 1) {
    memset(text, 'a' + (int)(n % 26), n);
    text[n] = '\0';
    const char *printed = sct_arena_printf(&arena, "<%s>", text);
    assert_int_equal(strlen(printed), n + 2);
    assert_memory_equal(printed + 1, text, n);
    assert_string_equal(sct_arena_strdup(&arena, text), text);
    assert_int_equal(strlen(sct_arena_strndup(&arena, text, n / 2)), n / 2);
  }
}

static void sizes_of_zero_and_null_are_fine(void **state) {
  (void)state;
  assert_null(sct_alloc(0));
  sct_free(NULL);
  void *p = sct_realloc(NULL, 16);
  assert_non_null(p);
  sct_free(p);
}

/* ---- log ---- */

static char *logged(sct_log_level level) {
  const int saved = dup(2), fd = open(in_folder("log"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  assert_true(saved >= 0 && fd >= 0);
  fflush(stderr);
  dup2(fd, 2);
  sct_log_set_level(level);
  sct_log(SCT_LOG_ERROR, "e%d", 1);
  sct_log(SCT_LOG_WARN, "w%d", 2);
  sct_log(SCT_LOG_INFO, "i%d", 3);
  sct_log(SCT_LOG_DEBUG, "d%d", 4);
  sct_log_set_level(SCT_LOG_WARN);
  fflush(stderr);
  dup2(saved, 2);
  close(saved);
  close(fd);
  sct_str text = {0};
  assert_int_equal(sct_file_read(&text, in_folder("log"), NULL), SCT_OK);
  char *copy = sct_arena_strdup(&arena, sct_str_c(&text));
  sct_str_free(&text);
  return copy;
}

static void the_level_decides_what_is_logged(void **state) {
  (void)state;
  assert_string_equal(logged(SCT_LOG_ERROR), "sectile: error: e1\n");
  assert_string_equal(logged(SCT_LOG_WARN), "sectile: error: e1\nsectile: warning: w2\n");
  assert_string_equal(logged(SCT_LOG_INFO),
                      "sectile: error: e1\nsectile: warning: w2\nsectile: info: i3\n");
  assert_non_null(strstr(logged(SCT_LOG_DEBUG), "sectile: debug: d4\n"));
}

static void lines_may_say_what_they_are_about(void **state) {
  (void)state;
  sct_log_set_subject("cuda:1");
  assert_string_equal(logged(SCT_LOG_ERROR), "sectile: cuda:1: error: e1\n");
  sct_log_set_subject("");
  assert_string_equal(logged(SCT_LOG_ERROR), "sectile: error: e1\n");
}

static void cores_may_be_fewer_not_more(void **state) {
  (void)state;
  assert_int_equal(unsetenv("SECTILE_CORES"), 0);
  const int all = sct_cores();
  assert_true(all >= 1);
  static const char *const all_of_them[] = {"1000000", "0", "-1", "x", ""};
  for (int k = 0; k < SCT_COUNT(all_of_them); k++) {
    assert_int_equal(setenv("SECTILE_CORES", all_of_them[k], 1), 0);
    assert_int_equal(sct_cores(), all);
  }
  assert_int_equal(setenv("SECTILE_CORES", "1", 1), 0);
  assert_int_equal(sct_cores(), 1);
  assert_int_equal(unsetenv("SECTILE_CORES"), 0);
}

static void time_does_not_go_back(void **state) {
  (void)state;
  int64_t last = sct_now_ns();
  for (int k = 0; k < 1000; k++) {
    const int64_t now = sct_now_ns();
    assert_true(now >= last);
    last = now;
  }
}

/* ---- random numbers ---- */

/* Every bit is set half of the time: 100,000 draws have a deviation of 158, six of them allowed. */
static void bits_of_random_numbers_are_balanced(void **state) {
  (void)state;
  enum { N = 100000 };
  sct_rng rng = sct_rng_new(20);
  int stream[64] = {0}, hash[64] = {0};
  for (int k = 0; k < N; k++) {
    const uint64_t x = sct_rng_u64(&rng), y = sct_mix64(20, (uint64_t)k);
    for (int b = 0; b < 64; b++) {
      stream[b] += (int)(x >> b & 1);
      hash[b] += (int)(y >> b & 1);
    }
  }
  for (int b = 0; b < 64; b++) {
    assert_in_range(stream[b], N / 2 - 950, N / 2 + 950);
    assert_in_range(hash[b], N / 2 - 950, N / 2 + 950);
  }
}

/* Neighbours in index or seed share about 32 of 64 bits: 20,000 pairs, mean within 0.25. */
static void neighbours_of_the_hash_are_unrelated(void **state) {
  (void)state;
  double by_index = 0, by_seed = 0;
  enum { N = 20000 };
  for (uint64_t k = 0; k < N; k++) {
    by_index += __builtin_popcountll(sct_mix64(5, k) ^ sct_mix64(5, k + 1));
    by_seed += __builtin_popcountll(sct_mix64(k, 5) ^ sct_mix64(k + 1, 5));
  }
  assert_true(by_index / N > 31.75 && by_index / N < 32.25);
  assert_true(by_seed / N > 31.75 && by_seed / N < 32.25);
}

static void rows_of_the_hash_are_its_elements(void **state) {
  (void)state;
  uint64_t row[5];
  const uint64_t firsts[] = {0, 7, UINT64_MAX - 1}; /* the last one goes round */
  for (int f = 0; f < SCT_COUNT(firsts); f++) {
    sct_mix64_row(row, SCT_COUNT(row), 9, firsts[f]);
    for (int k = 0; k < SCT_COUNT(row); k++) {
      assert_true(row[k] == sct_mix64(9, firsts[f] + (uint64_t)k));
    }
  }
}

static void units_fill_the_interval(void **state) {
  (void)state;
  enum { N = 100000 };
  sct_rng rng = sct_rng_new(21);
  double sum = 0, squares = 0, least = 1, most = 0;
  for (int k = 0; k < N; k++) {
    const double u = sct_rng_unit(&rng);
    assert_true(u >= 0.0 && u < 1.0);
    sum += u;
    squares += u * u;
    least = u < least ? u : least;
    most = u > most ? u : most;
  }
  const double mean = sum / N, variance = squares / N - mean * mean;
  assert_true(mean > 0.4945 && mean < 0.5055);         /* deviation 0.0009: six of them */
  assert_true(variance > 0.0818 && variance < 0.0849); /* 1/12 */
  assert_true(least < 0.001 && most > 0.999);
}

static void bounds_of_any_size_are_kept(void **state) {
  (void)state;
  static const int64_t bounds[] = {1, 2, 3, 1000003, (int64_t)1 << 40, INT64_MAX};
  sct_rng rng = sct_rng_new(22);
  for (int k = 0; k < SCT_COUNT(bounds); k++) {
    bool upper_half = bounds[k] == 1, lower_half = false;
    for (int n = 0; n < 200; n++) {
      const int64_t x = sct_rng_below(&rng, bounds[k]);
      assert_true(x >= 0 && x < bounds[k]);
      upper_half |= x >= bounds[k] / 2;
      lower_half |= x <= bounds[k] / 2;
    }
    assert_true(upper_half && lower_half);
  }
}

/* Chi-squared of where eighths of the input land: 49 degrees of freedom; 120 is beyond 10^-7. */
static void permutations_mix(void **state) {
  (void)state;
  enum { N = 80000 };
  for (uint64_t seed = 0; seed < 4; seed++) {
    double cells[8][8] = {{0}};
    int64_t neighbours = 0;
    for (int64_t i = 0; i < N; i++) {
      const int64_t p = sct_permute(i, N, seed);
      cells[i * 8 / N][p * 8 / N] += 1.0;
      const int64_t next = i + 1 < N ? sct_permute(i + 1, N, seed) : -5;
      neighbours += next == p + 1 || next == p - 1;
    }
    double chi = 0;
    for (int a = 0; a < 8; a++) {
      for (int b = 0; b < 8; b++) {
        const double d = cells[a][b] - N / 64.0;
        chi += d * d / (N / 64.0);
      }
    }
    if (chi > 120 || neighbours > 20) {
      fail_msg("seed %d: chi-squared %.1f, %d neighbours kept", (int)seed, chi, (int)neighbours);
    }
  }
}

static void permutations_depend_on_the_seed(void **state) {
  (void)state;
  int same = 0;
  for (int64_t i = 0; i < 10000; i++) {
    same += sct_permute(i, 10000, 1) == sct_permute(i, 10000, 2);
  }
  assert_true(same < 15); /* one expected */
  const int64_t n = (int64_t)1 << 40;
  for (int64_t i = 0; i < 1000; i++) {
    const int64_t p = sct_permute(i, n, 3);
    assert_true(p >= 0 && p < n);
    assert_int_equal(p, sct_permute(i, n, 3));
  }
}

/* ---- assets ---- */

typedef struct listing {
  int n;
  bool has_override, has_direct;
} listing;

static listing list_of(const char *prefix) {
  listing l = {0};
  const char **names = sct_asset_names(&l.n, &arena, prefix, "");
  for (int k = 0; k < l.n; k++) {
    assert_true(k == 0 || strcmp(names[k - 1], names[k]) < 0); /* in order, none twice */
    l.has_override |= strcmp(names[k], "tuning/strategies/zz_mine.lua") == 0;
    l.has_direct |= strcmp(names[k], "tuning/strategies/direct.lua") == 0;
  }
  return l;
}

static void listings_are_sorted_and_merged(void **state) {
  (void)state;
  assert_int_equal(sct_dir_make(in_folder("over/tuning/strategies/deeper"), NULL), SCT_OK);
  write_ok(in_folder("over/tuning/strategies/zz_mine.lua"), "mine");
  write_ok(in_folder("over/tuning/strategies/direct.lua"), "changed");
  write_ok(in_folder("over/tuning/strategies/.swap"), "not listed");
  write_ok(in_folder("over/tuning/strategies/deeper/x.lua"), "another folder");
  const listing before = list_of("tuning/strategies/");
  assert_true(before.has_direct && !before.has_override);
  assert_int_equal(list_of("tuning/no_such_folder/").n, 0);
  assert_true(list_of("").n > before.n);
  sct_assets_override(in_folder("over"));
  const listing with = list_of("tuning/strategies/");
  assert_int_equal(with.n, before.n + 1); /* what replaces one is listed once */
  assert_true(with.has_direct && with.has_override);
  sct_str text = {0};
  assert_int_equal(sct_asset_read(&text, "tuning/strategies/direct.lua", NULL), SCT_OK);
  assert_string_equal(sct_str_c(&text), "changed");
  assert_int_equal(sct_asset_read(&text, "tuning/strategies/map.lua", NULL), SCT_OK);
  sct_error err;
  assert_int_equal(sct_asset_read(&text, "tuning/none.lua", &err), SCT_EIO);
  assert_non_null(strstr(err.text, in_folder("over"))); /* where it was looked for */
  sct_assets_override(NULL);
  assert_int_equal(sct_asset_read(&text, "tuning/strategies/direct.lua", NULL), SCT_OK);
  assert_string_not_equal(sct_str_c(&text), "changed");
  sct_str_free(&text);
}

/* ---- names ---- */

static void long_names_are_compared_whole(void **state) {
  (void)state;
  char a[300], b[300], c[300];
  memset(a, 'a', sizeof a - 1);
  a[sizeof a - 1] = '\0';
  memcpy(b, a, sizeof b);
  memcpy(c, a, sizeof c);
  b[298] = 'b';
  memset(c, 'c', 200);
  const char *const names[] = {c, b};
  assert_string_equal(sct_nearest(a, SCT_NAMES(names, 2)), b);
  assert_null(sct_nearest(a, SCT_NAMES(names, 1)));
  assert_true(sct_is_identifier(a));
  a[150] = '-';
  assert_false(sct_is_identifier(a));
}

static void suggestions_stop_at_twelve(void **state) {
  (void)state;
  static const char *const names[] = {"n0", "n1", "n2", "n3",  "n4",  "n5",  "n6",
                                      "n7", "n8", "n9", "n10", "n11", "n12", "n13"};
  sct_str s = {0};
  sct_str_suggest(&s, "something else", SCT_NAMES(names, SCT_COUNT(names)));
  assert_non_null(strstr(sct_str_c(&s), "n11"));
  assert_null(strstr(sct_str_c(&s), "n12"));
  sct_str_clear(&s);
  sct_str_suggest(&s, "something else", SCT_NAMES(names, 0));
  assert_null(strstr(sct_str_c(&s), "n0"));
  sct_str_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading_clears_what_was_there),
      cmocka_unit_test(bytes_survive_a_round_trip),
      cmocka_unit_test(files_that_are_too_large_are_refused),
      cmocka_unit_test(a_failed_write_leaves_nothing_behind),
      cmocka_unit_test(a_file_in_the_way_of_a_folder_is_named),
      cmocka_unit_test(a_name_that_is_too_long_is_an_error),
      cmocka_unit_test(the_mode_follows_the_umask),
      cmocka_unit_test(parts_of_paths),
      cmocka_unit_test(long_messages_are_cut_not_spilled),
      cmocka_unit_test(every_status_has_a_text_and_an_exit_code),
      cmocka_unit_test(pieces_of_an_arena_do_not_overlap),
      cmocka_unit_test(pieces_of_an_arena_have_any_size),
      cmocka_unit_test(arena_texts_of_any_length),
      cmocka_unit_test(sizes_of_zero_and_null_are_fine),
      cmocka_unit_test(the_level_decides_what_is_logged),
      cmocka_unit_test(lines_may_say_what_they_are_about),
      cmocka_unit_test(cores_may_be_fewer_not_more),
      cmocka_unit_test(time_does_not_go_back),
      cmocka_unit_test(bits_of_random_numbers_are_balanced),
      cmocka_unit_test(neighbours_of_the_hash_are_unrelated),
      cmocka_unit_test(rows_of_the_hash_are_its_elements),
      cmocka_unit_test(units_fill_the_interval),
      cmocka_unit_test(bounds_of_any_size_are_kept),
      cmocka_unit_test(permutations_mix),
      cmocka_unit_test(permutations_depend_on_the_seed),
      cmocka_unit_test(listings_are_sorted_and_merged),
      cmocka_unit_test(long_names_are_compared_whole),
      cmocka_unit_test(suggestions_stop_at_twelve),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
