/* Refused memory ends the process that asked for it. Where that is the program, it says so in one
 * sentence and with an exit code of its own, the store and the older files are whole, and the next
 * session comes to what an undisturbed one comes to. Where it is a child, its parent says so. */
#include "faults_session.h"

#include <setjmp.h>
/* cmocka wants the above first */
#include <cmocka.h>

#ifdef SCT_FAULTS

static fs_place place;
static fs_run run;

static int prepare(void **state) {
  (void)state;
  snprintf(place.dir, sizeof place.dir, "/tmp/sct_memory_XXXXXX");
  if (!mkdtemp(place.dir)) {
    return -1;
  }
  fs_prepare(&place);
  fs_adopt();
  return 0;
}

static int tidy(void **state) {
  (void)state;
  fs_delete(place.dir);
  return 0;
}

/* How many blocks a process of the role asks for in such a session. */
static int count_blocks(const char *const *words, const char *role) {
  char line[64];
  int n = 0;
  fs_reset_store(&place, fs_path(&place, "base.db"));
  fs_delete(fs_path(&place, "cache"));
  fs_execute(&place, words, "count", NULL, &run);
  assert_int_equal(run.exit_code, 0);
  snprintf(line, sizeof line, "fault: count %s malloc=%%d", role);
  for (const char *at = run.err; n == 0 && at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
    (void)sscanf(at, line, &n);
  }
  assert_true(n > 100);
  return n;
}

/* `goes_on`: the session may end well, as one whose worker dies while it frees does with another.
 */
static void assert_whole(const char *faults, const char *says, bool goes_on) {
  char why[512];
  const bool ended_well = goes_on && run.exit_code == 0;
  if (run.hung || run.orphans > 0 || (!ended_well && run.exit_code != sct_exit_code(SCT_ENOMEM))) {
    fail_msg("%s: exit code %d, %d processes left: %s", faults, run.exit_code, run.orphans,
             run.err);
  }
  assert_true(ended_well || strstr(run.err, says) != NULL);
  fs_execute(&place, fs_tune, NULL, NULL, &run);
  assert_int_equal(run.exit_code, 0);
  fs_check_files(&place, why);
  static char rows[FS_MAX];
  assert_true(fs_query(fs_path(&place, "store.db"), FS_ROWS, "copy", rows, sizeof rows));
  if (why[0] != '\0' || strcmp(rows, place.new_rows) != 0) {
    fail_msg("%s: the next session: %s", faults, why[0] ? why : "another result");
  }
}

/* Blocks from the first to the last, N_RUNS of them. */
static void refuse(const char *const *words, const char *role, const char *says) {
  enum { N_RUNS = 8 };
  const int n = count_blocks(words, role);
  int ended_well = 0;
  for (int k = 0; k < N_RUNS; k++) {
    char faults[128];
    snprintf(faults, sizeof faults, "malloc@%s:%d", role, 1 + k * (n - 1) / N_RUNS);
    fs_reset_store(&place, fs_path(&place, words == fs_emit ? "both.db" : "base.db"));
    fs_delete(fs_path(&place, "cache"));
    fs_spill(fs_path(&place, "out.h"), FS_OLD);
    fs_execute(&place, words, faults, NULL, &run);
    const bool by_worker = strcmp(role, "worker") == 0;
    ended_well += run.exit_code == 0;
    assert_whole(faults, says, by_worker);
  }
  assert_true(ended_well <= 1);
}

static void the_program_says_so_and_goes_on_later(void **state) {
  (void)state;
  refuse(fs_tune, "main", "\nsectile: out of memory: ");
}

static void a_worker_without_memory_blames_no_kernel(void **state) {
  (void)state;
  refuse(fs_tune, "worker", "the worker process ran out of memory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_program_says_so_and_goes_on_later),
      cmocka_unit_test(a_worker_without_memory_blames_no_kernel),
  };
  return cmocka_run_group_tests(tests, prepare, tidy);
}

#else

int main(void) {
  return 77; /* a build that cannot fail on demand */
}

#endif
