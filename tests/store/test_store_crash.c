/* Several processes at once, killed writers, a full disk. */
#include "store_fixture.h"

#include <signal.h>
#include <sys/resource.h>

static pid_t in_child(const fixture *f, int which, int fd, int (*body)(const fixture *, int, int)) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    _exit(body(f, which, fd));
  }
  return child;
}

static void expect_exit_0(pid_t child) {
  int ended = 0;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_true(WIFEXITED(ended));
  assert_int_equal(WEXITSTATUS(ended), 0);
}

/* ---- four writers */

enum { WRITERS = 4, ROWS = 40, OVERLAP = 20 };

/* Each opens the store by itself (the first to come makes it) and puts rows that half overlap with
 * those of the next writer. */
static int write_rows(const fixture *f, int which, int fd) {
  (void)fd;
  sct_error err = {0};
  sct_store *s = NULL;
  if (sct_store_open(&s, f->path, false, &err) != SCT_OK) {
    (void)fprintf(stderr, "%s\n", err.text);
    return 2;
  }
  const sct_row_run run = fx_run(s);
  for (int i = 0; i < ROWS; ++i) {
    if (fx_put(s, &run, which * OVERLAP + i, NULL, &err) != SCT_OK) {
      (void)fprintf(stderr, "%s\n", err.text);
      return 3;
    }
  }
  sct_store_close(s);
  return 0;
}

static void test_four_writers(void **state) {
  const fixture *const f = *state;
  pid_t child[WRITERS];
  for (int i = 0; i < WRITERS; ++i) {
    child[i] = in_child(f, i, -1, write_rows);
  }
  for (int i = 0; i < WRITERS; ++i) {
    expect_exit_0(child[i]);
  }
  fx_check_integrity(f->path);
  sct_store *s = fx_open(f->path, true);
  const sct_row_run run = {.id = 1};
  assert_int_equal(fx_count_results(s, &run), (WRITERS - 1) * OVERLAP + ROWS);
  sct_store_close(s);
}

/* ---- killed writers */

/* Puts rows until it is killed, and says each one's number once it is stored. */
static int write_until_killed(const fixture *f, int which, int fd) {
  sct_error err = {0};
  sct_store *s = NULL;
  if (sct_store_open(&s, f->path, false, &err) != SCT_OK) {
    (void)fprintf(stderr, "%s\n", err.text);
    return 2;
  }
  const sct_row_run run = fx_run(s);
  for (int i = 0;; ++i) {
    const int tag = which * 100000 + i;
    if (fx_put(s, &run, tag, NULL, &err) != SCT_OK || write(fd, &tag, sizeof(tag)) != sizeof(tag)) {
      (void)fprintf(stderr, "%s\n", err.text);
      return 3;
    }
  }
}

static void expect_row(sct_store *s, int tag) {
  char hash[32];
  sct_row_result r;
  bool found = false;
  (void)snprintf(hash, sizeof(hash), "hash%06d", tag);
  FX_OK(sct_store_find(s, &kept_rows, 1, hash, &r, &found, &err));
  assert_true(found);
  assert_int_equal(r.candidate.registers, tag);
  assert_true(r.outcome.times.n_samples == 11 &&
              r.outcome.times.samples_ns[10] == 1000.0 * tag + 10);
}

/* What a writer has acknowledged is there; at most one row more. Early kills fall into the making
 * of the store. */
static void test_killed_writers(void **state) {
  const fixture *const f = *state;
  enum { KILLS = 25, MOST = 20 };
  const uint64_t seed = 4711;
  print_message("seed %llu\n", (unsigned long long)seed);
  sct_rng rng = sct_rng_new(seed);
  int total = 0;
  int unsaid = 0; /* rows stored by writers that died before saying so */
  for (int k = 0; k < KILLS; ++k) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = in_child(f, k, ends[1], write_until_killed);
    assert_int_equal(close(ends[1]), 0);
    int acknowledged = 0;
    int tag = 0;
    const int wanted = k < 5 ? 0 : (int)sct_rng_below(&rng, MOST);
    if (wanted == 0) {
      (void)usleep((useconds_t)sct_rng_below(&rng, 8000)); /* somewhere in opening */
    }
    while (acknowledged < wanted && read(ends[0], &tag, sizeof(tag)) == sizeof(tag)) {
      ++acknowledged;
    }
    (void)usleep((useconds_t)sct_rng_below(&rng, 1000));
    assert_int_equal(kill(child, SIGKILL), 0);
    while (read(ends[0], &tag, sizeof(tag)) == sizeof(tag)) {
      ++acknowledged;
    }
    assert_int_equal(close(ends[0]), 0);
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFSIGNALED(ended)); /* it had not failed before */

    sct_store *s = fx_open(f->path, false);
    const sct_row_run run = fx_run(s);
    for (int i = 0; i < acknowledged; ++i) {
      expect_row(s, k * 100000 + i);
    }
    total += acknowledged;
    const int stored = fx_count_results(s, &run);
    assert_in_range(stored - total - unsaid, 0, 1);
    unsaid = stored - total;
    sct_store_close(s);
    fx_check_integrity(f->path);
  }
  assert_true(total > KILLS);
}

/* ---- a disk that is full */

/* Puts rows under a file size limit until one fails; the failure is clear and what was put stays.
 */
static int write_until_full(const fixture *f, int limit_bytes, int fd) {
  const struct rlimit limit = {(rlim_t)limit_bytes, (rlim_t)limit_bytes};
  sct_error err = {0};
  sct_store *s = NULL;
  (void)signal(SIGXFSZ, SIG_IGN);
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
    return 2;
  }
  sct_status status = sct_store_open(&s, f->path, false, &err);
  int n = 0;
  if (status == SCT_OK) {
    const sct_row_run run = {.id = 1, .problem = 1};
    while (status == SCT_OK && n < 100000) {
      status = fx_put(s, &run, 1000 + n, NULL, &err);
      n += status == SCT_OK;
    }
  }
  if (status != SCT_EIO || strstr(err.text, f->path) == NULL) {
    (void)fprintf(stderr, "status %d: %s\n", status, err.text);
    return 3;
  }
  sct_store_close(s);
  return write(fd, &n, sizeof(n)) == sizeof(n) ? 0 : 4;
}

static void test_full_disk(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  for (int i = 0; i < 10; ++i) {
    FX_OK(fx_put(s, &run, i, NULL, &err));
  }
  sct_store_close(s);
  size_t bytes = 0;
  free(fx_bytes(f->path, &bytes));
  int total = 0;
  bool some = false;
  /* limits below, at and above the size of the store: opening, the WAL, its index, a checkpoint */
  const int limits[] = {
      0, 4096, 20000, 32767, 32768, 65536, (int)bytes, 200000, (int)bytes + 3 * 4096};
  for (int i = 0; i < SCT_COUNT(limits); ++i) {
    int ends[2];
    int n = 0;
    assert_int_equal(pipe(ends), 0);
    expect_exit_0(in_child(f, limits[i], ends[1], write_until_full));
    assert_int_equal(read(ends[0], &n, sizeof(n)), sizeof(n));
    assert_int_equal(close(ends[0]) + close(ends[1]), 0);
    total = n > total ? n : total; /* all runs write these rows, some of them fewer */
    some = some || n > 0;
    s = fx_open(f->path, false);
    for (int k = 0; k < 10; ++k) {
      expect_row(s, k);
    }
    for (int k = 0; k < total; ++k) {
      expect_row(s, 1000 + k);
    }
    assert_int_equal(fx_count_results(s, &run), 10 + total);
    sct_store_close(s);
    fx_check_integrity(f->path);
  }
  assert_true(some);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_four_writers, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_killed_writers, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_full_disk, fx_setup, fx_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
