/* Trials: what a child with limits survives is done, what it does not is an error with a place. */
#include "script_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static sct_trial *trial;

/* What the child does: so many gates, `what` behind one of them. */
typedef struct act {
  const char *what;
  int gates;
  int at; /* behind which gate; 0: none */
} act;

static bool cannot(const char *what) {
  if (strcmp(what, "write") == 0) {
    const int fd = open(path_of("written"), O_CREAT | O_WRONLY, 0600);
    return fd >= 0 && write(fd, "x", 1) < 0 && errno == EFBIG;
  }
  if (strcmp(what, "files") == 0) {
    int n = 0;
    while (open("/dev/null", O_RDONLY) >= 0 && n < 1000) {
      n++;
    }
    return n < 20 && errno == EMFILE;
  }
  if (strcmp(what, "core") == 0) {
    struct rlimit core;
    return getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur == 0 && core.rlim_max == 0;
  }
  if (strcmp(what, "processes") == 0) {
    struct rlimit n;
    return getrlimit(RLIMIT_NPROC, &n) == 0 && n.rlim_cur == 0 && n.rlim_max == 0;
  }
  /* the pipe, stderr and /dev/null: the canary that the test opened at 77 is not there */
  return strcmp(what, "inherit") == 0 && fcntl(77, F_GETFD) < 0 && errno == EBADF &&
         read(0, &(char){0}, 1) == 0;
}

static sct_status work(void *ctx, sct_trial *t, sct_error *why) {
  const act *a = ctx;
  for (int k = 0; k < a->gates; k++) {
    SCT_TRY(sct_trial_gate(t, why));
    sct_trial_note(t, sct_hash_text("step"));
    if (a->at != k + 1) {
      continue;
    }
    if (strcmp(a->what, "crash") == 0) {
      raise(SIGSEGV);
    } else if (strcmp(a->what, "spin") == 0) {
      for (volatile unsigned x = 0;; x++) {
      }
    } else if (strcmp(a->what, "sleep") == 0) {
      for (;;) {
        pause();
      }
    } else if (strcmp(a->what, "memory") == 0) {
      sct_free(sct_alloc((size_t)3 << 30));
    } else if (strcmp(a->what, "fail") == 0) {
      return sct_fail(why, SCT_ESPEC, "x.lua:7: error: wrong");
    } else if (strcmp(a->what, "differ") == 0) {
      sct_trial_note(t, sct_hash_text("other"));
    } else if (!cannot(a->what)) {
      return sct_fail(why, SCT_EINTERNAL, "the child can: %s", a->what);
    }
  }
  return SCT_OK;
}

/* Runs both sides; *passed tells how many gates the parent came through. */
static sct_status run(const act *a, int *passed) {
  act job = *a;
  memset(&err, 0, sizeof err);
  *passed = 0;
  sct_status status = sct_trial_start(&trial, "spec.lua", work, &job, &err);
  for (int k = 0; status == SCT_OK && k < a->gates; k++) {
    status = sct_trial_gate(trial, &err);
    sct_trial_note(trial, sct_hash_text("step"));
    *passed += status == SCT_OK;
  }
  if (status == SCT_OK) {
    status = sct_trial_finish(trial, &err);
  }
  sct_trial_free(trial);
  trial = NULL;
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
  return status;
}

static void what_a_child_survives_is_done(void **state) {
  (void)state;
  int passed = 0;
  for (int gates = 0; gates < 200; gates += 33) {
    assert_int_equal(run(&(act){"", gates, 0}, &passed), SCT_OK);
    assert_int_equal(passed, gates);
  }
}

/* The parent never takes the step that its child did not survive. */
static void what_it_does_not_survive_is_an_error(void **state) {
  (void)state;
  static const struct {
    const char *what, *says;
  } cases[] = {{"crash", "spec.lua:1: error: the child that tried the scripts ended early"},
               {"sleep", "spec.lua:1: error: the scripts made no headway for 1 s"},
               {"spin", "spec.lua:1: error: the scripts "},
               {"fail", "x.lua:7: error: wrong"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    int passed = 0;
    assert_int_equal(run(&(act){cases[k].what, 9, 4}, &passed), SCT_ESPEC);
    assert_true(sct_has_prefix(err.text, cases[k].says));
    assert_int_equal(passed, 3);
  }
}

static void memory_is_bounded(void **state) {
  (void)state;
#if !SCT_SANITIZED
  int passed = 0;
  assert_int_equal(run(&(act){"memory", 2, 1}, &passed), SCT_ESPEC);
  assert_string_equal(err.text,
                      "spec.lua:1: error: the scripts need too much memory (more than 1 GiB)");
#endif
}

static void a_child_can_do_little_else(void **state) {
  (void)state;
  static const char *const deeds[] = {"write", "files", "core", "processes", "inherit"};
  const int canary = open("/dev/zero", O_RDONLY);
  assert_int_equal(dup2(canary, 77), 77);
  for (int k = 0; k < SCT_COUNT(deeds); k++) {
    int passed = 0;
    if (run(&(act){deeds[k], 1, 1}, &passed) != SCT_OK) {
      fail_msg("%s", err.text);
    }
  }
  close(77);
  close(canary);
}

static void a_difference_is_found(void **state) {
  (void)state;
  int passed = 0;
  assert_int_equal(run(&(act){"differ", 5, 2}, &passed), SCT_ESPEC);
  assert_non_null(strstr(err.text, "gave something else when they ran again"));
}

/* A parent that gives up early leaves no child behind. */
static void a_trial_can_be_left(void **state) {
  (void)state;
  act job = {"sleep", 3, 2};
  assert_int_equal(sct_trial_start(&trial, "spec.lua", work, &job, &err), SCT_OK);
  sct_trial_free(trial);
  trial = NULL;
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  sct_trial_free(NULL);
}

/* A child whose parent dies goes too: the grandchild's number comes through a pipe. */
static void a_child_dies_with_its_parent(void **state) {
  (void)state;
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    act job = {"sleep", 3, 2};
    sct_trial *own = NULL;
    if (sct_trial_start(&own, "spec.lua", work, &job, &err) == SCT_OK &&
        sct_trial_gate(own, &err) == SCT_OK) { /* it sleeps behind its second gate */
      (void)!write(fds[1], "x", 1);
      pause();
    }
    _exit(1);
  }
  char byte;
  close(fds[1]);
  assert_int_equal(read(fds[0], &byte, 1), 1);
  kill(parent, SIGKILL);
  assert_int_equal(waitpid(parent, NULL, 0), parent);
  assert_int_equal(read(fds[0], &byte, 1), 0); /* the last copy of the pipe's end is closed */
  close(fds[0]);
}

/* ---- specs ---- */

static const char good[] =
    "local s = require 'sectile'\n"
    "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('a', 'f32') },\n"
    "  outputs = { s.array('b', 'f32') }, body = 'b = a;', sizes = { { i = 64 } } }\n";

static void a_spec_is_tried(void **state) {
  (void)state;
  write_file("good.lua", good);
  sct_spec plain;
  assert_int_equal(sct_script_try_spec(&spec, path_of("good.lua"), &err), SCT_OK);
  assert_int_equal(sct_script_load_spec(&plain, path_of("good.lua"), &err), SCT_OK);
  assert_true(sct_hash_equal(spec.hash, plain.hash));
  sct_spec_free(&plain);
  sct_spec_free(&spec);
  write_file("bad.lua", "\nerror 'here'\n");
  assert_int_equal(sct_script_try_spec(&spec, path_of("bad.lua"), &err), SCT_ESPEC);
  assert_non_null(strstr(err.text, "bad.lua:2: error: here\n    error 'here'"));
  assert_int_equal(sct_script_try_spec(&spec, path_of("none.lua"), &err), SCT_EIO);
}

/* Work that no hook interrupts: the child is stopped, and was seen on this line. */
static void work_without_end_has_a_place(void **state) {
  (void)state;
  write_file("slow.lua", "local a, b = ('x'):rep(1000000), ('x'):rep(1000000)\n\n"
                         "while true do local _ = a == b end\n");
  assert_int_equal(sct_script_try_spec(&spec, path_of("slow.lua"), &err), SCT_ESPEC);
  assert_non_null(strstr(err.text, "slow.lua:3: error: the scripts "));
}

static int shorten(void **state) {
  setenv("SECTILE_SCRIPT_SECONDS", "1", 1);
  return make_folder(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_child_survives_is_done),
      cmocka_unit_test(what_it_does_not_survive_is_an_error),
      cmocka_unit_test(memory_is_bounded),
      cmocka_unit_test(a_child_can_do_little_else),
      cmocka_unit_test(a_difference_is_found),
      cmocka_unit_test(a_trial_can_be_left),
      cmocka_unit_test(a_child_dies_with_its_parent),
      cmocka_unit_test(a_spec_is_tried),
      cmocka_unit_test(work_without_end_has_a_place),
  };
  return cmocka_run_group_tests(tests, shorten, remove_folder);
}
