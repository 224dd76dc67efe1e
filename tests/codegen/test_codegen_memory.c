/* The n-th block of memory that is refused while a candidate is made: told as such, whatever was
 * done with it, no crash. A run of this program with a fault (base_sys.h) is the child of
 * another that wants to see how it ends. */
#include "codegen_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#ifdef SCT_FAULTS

/* Of many candidates some, whose texts have many lengths: so arenas are full at many places. A
 * child has N_RULES faults, each for a role of its own. */
enum { EVERY = 5, N_RULES = 8, FAILED = 10, WRONG = 11 };
static const char *const roles[N_RULES] = {"make0", "make1", "make2", "make3",
                                           "make4", "make5", "make6", "make7"};

/* Makes one candidate in EVERY, each in the role that the next of the faults is for. */
static int child(void) {
  fixture f;
  bool failed = false, wrong = false;
  fixture_open(&f, "particle_aos_to_soa");
  for (size_t c = 0; c < f.space.n_candidates; c += EVERY) {
    sct_kernel_code code;
    const char *rejected = NULL;
    sct_error err = {0};
    sct_fault_role(roles[c / EVERY % N_RULES]); /* counted from here */
    const sct_status status = sct_codegen_make(&code, &rejected, &f.arena, f.script, &f.spec,
                                               &f.space, &f.space.candidates[c], &err);
    sct_fault_role("main");
    if (status == SCT_OK && !rejected) {
      sct_kernel_code_free(&code);
    }
    const bool told = status == SCT_ENOMEM && strstr(err.text, "out of memory") != NULL;
    failed |= status != SCT_OK;
    if (sct_memory_refused() != told) {
      (void)fprintf(stderr, "candidate %zu: status %d: %s\n", c, status, err.text);
      wrong = true;
    }
  }
  fixture_close(&f);
  return wrong ? WRONG : failed ? FAILED : 0;
}

/* How a child ends where the n-th block of memory of a making is refused, or the next ones. */
static int run_child(int n) {
  char faults[N_RULES * 24];
  int ended = 0, len = 0;
  for (int k = 0; k < N_RULES; k++) {
    len += snprintf(faults + len, sizeof faults - (size_t)len, "%smalloc@%s:%d", k ? "," : "",
                    roles[k], n + k);
  }
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    const bool quiet = freopen("/dev/null", "w", stdout) != NULL;
    if (quiet && setenv("SCT_FAULTS", faults, 1) == 0) {
      (void)execl("/proc/self/exe", "child", (char *)NULL);
    }
    _exit(9);
  }
  assert_int_equal(waitpid(pid, &ended, 0), pid);
  if (!WIFEXITED(ended)) {
    fail_msg("%s: killed by signal %d", faults, WTERMSIG(ended));
  }
  return WEXITSTATUS(ended);
}

static void test_every_block_may_be_refused(void **state) {
  (void)state;
  int n = 1;
  for (int how = FAILED; how == FAILED; n += N_RULES) {
    how = run_child(n);
    if (how != FAILED && how != 0) {
      fail_msg("malloc, %d or one of the next: exit code %d", n, how);
    }
    assert_true(n < 400);
  }
  assert_true(n > 3 * N_RULES); /* there was something to refuse */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_block_may_be_refused)};
  const char *fault = getenv("SCT_FAULTS");
  return fault && strncmp(fault, "malloc@make0", 12) == 0
             ? child()
             : cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
  return 77; /* a build that cannot fail on demand */
}

#endif
