/* Children for scripts: what one survives comes in messages, what it does not is an error with a
 * place. */
#include "script_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static sct_script_child *child;

/* What the child does: so many steps with a message each, `what` in one of them. */
typedef struct act {
  const char *what;
  int steps;
  int at; /* in which step; 0: none */
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
  /* the socket, stderr and /dev/null: the canary that the test opened at 77 is not there */
  return strcmp(what, "inherit") == 0 && fcntl(77, F_GETFD) < 0 && errno == EBADF &&
         read(0, &(char){0}, 1) == 0;
}

static sct_status work(void *ctx, sct_script_child *self, sct_error *why) {
  const act *a = ctx;
  for (int k = 0; k < a->steps; k++) {
    SCT_TRY(sct_script_child_step(self, why));
    if (a->at != k + 1) {
    } else if (strcmp(a->what, "crash") == 0) {
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
    } else if (strcmp(a->what, "nonsense") == 0) {
      (void)!write(SCT_CHILD_FD, "This is no message of ours.", 27);
      pause(); /* one that has ended is another case */
    } else if (!cannot(a->what)) {
      return sct_fail(why, SCT_EINTERNAL, "the child can: %s", a->what);
    }
    sct_wire message = {0};
    sct_wire_put_raw(&message, &k, sizeof k);
    SCT_TRY(sct_script_child_send(self, &message, why));
    sct_wire_free(&message);
  }
  return SCT_OK;
}

/* Takes so many messages and the end; *taken: how many came. */
static sct_status run_for(const act *a, int steps, int *taken) {
  act job = *a;
  sct_wire message = {0};
  bool ended = false;
  memset(&err, 0, sizeof err);
  *taken = 0;
  sct_status status = sct_script_child_start(&child, "spec.lua", work, &job, &err);
  for (int k = 0; status == SCT_OK && !ended && k < steps; k++) {
    status = sct_script_child_receive(child, &message, &ended, &err);
    if (status == SCT_OK && !ended) {
      assert_memory_equal(sct_wire_get_raw(&message, sizeof k), &k, sizeof k);
      ++*taken;
    }
  }
  if (status == SCT_OK && !ended) {
    status = sct_script_child_finish(child, &err);
  }
  sct_wire_free(&message);
  sct_script_child_free(child);
  child = NULL;
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
  return status;
}

static sct_status run(const act *a, int *taken) {
  return run_for(a, a->steps, taken);
}

static void what_a_child_makes_arrives(void **state) {
  (void)state;
  int taken = 0;
  for (int steps = 0; steps < 200; steps += 33) {
    assert_int_equal(run(&(act){"", steps, 0}, &taken), SCT_OK);
    assert_int_equal(taken, steps);
  }
  assert_int_equal(run_for(&(act){"", 3, 0}, 9, &taken), SCT_OK); /* it ends too early: told */
  assert_int_equal(taken, 3);
  assert_int_equal(run_for(&(act){"", 3, 0}, 2, &taken), SCT_EINTERNAL); /* too late */
}

/* What was made before arrives, and nothing after. */
static void what_it_does_not_survive_is_an_error(void **state) {
  (void)state;
  static const struct {
    const char *what, *says;
  } cases[] = {{"crash", "spec.lua:1: error: the child that ran the scripts ended early"},
               {"sleep", "spec.lua:1: error: the scripts made no headway for 1 s"},
               {"spin", "spec.lua:1: error: the scripts "},
               {"fail", "x.lua:7: error: wrong"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    int taken = 0;
    assert_int_equal(run(&(act){cases[k].what, 9, 4}, &taken), SCT_ESPEC);
    assert_true(sct_has_prefix(err.text, cases[k].says));
    assert_int_equal(taken, 3);
  }
}

/* That is no script's fault, and no place is named. */
static void nonsense_is_refused(void **state) {
  (void)state;
  int taken = 0;
  assert_int_equal(run(&(act){"nonsense", 9, 4}, &taken), SCT_EIO);
  assert_string_equal(err.text, "spec.lua: cannot read what the scripts made");
  assert_int_equal(taken, 3);
}

/* Steps that take long together, but each of them not: there is headway. */
static sct_status dawdle(void *ctx, sct_script_child *self, sct_error *why) {
  const struct timespec nap = {.tv_nsec = 300000000};
  (void)ctx;
  for (int k = 0; k < 5; k++) {
    SCT_TRY(sct_script_child_step(self, why));
    nanosleep(&nap, NULL);
  }
  return SCT_OK;
}

static void steps_are_headway(void **state) {
  (void)state;
  if (sct_script_dry_run("spec.lua", dawdle, NULL, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static void memory_is_bounded(void **state) {
  (void)state;
#if !SCT_SANITIZED
  int taken = 0;
  assert_int_equal(run(&(act){"memory", 2, 1}, &taken), SCT_ESPEC);
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
    int taken = 0;
    if (run(&(act){deeds[k], 1, 1}, &taken) != SCT_OK) {
      fail_msg("%s", err.text);
    }
  }
  close(77);
  close(canary);
}

/* A parent that gives up early leaves no child behind. */
static void a_child_can_be_left(void **state) {
  (void)state;
  act job = {"sleep", 3, 2};
  assert_int_equal(sct_script_child_start(&child, "spec.lua", work, &job, &err), SCT_OK);
  sct_script_child_free(child);
  child = NULL;
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  sct_script_child_free(NULL);
}

/* A child whose parent dies goes too: the grandchild's number comes through a pipe. */
static void a_child_dies_with_its_parent(void **state) {
  (void)state;
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    act job = {"sleep", 3, 2};
    sct_script_child *own = NULL;
    sct_wire message = {0};
    bool ended = true;
    if (sct_script_child_start(&own, "spec.lua", work, &job, &err) == SCT_OK &&
        sct_script_child_receive(own, &message, &ended, &err) == SCT_OK &&
        !ended) { /* it sleeps in its second step */
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

static void a_spec_is_tried_first(void **state) {
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
      cmocka_unit_test(what_a_child_makes_arrives),
      cmocka_unit_test(what_it_does_not_survive_is_an_error),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(steps_are_headway),
      cmocka_unit_test(memory_is_bounded),
      cmocka_unit_test(a_child_can_do_little_else),
      cmocka_unit_test(a_child_can_be_left),
      cmocka_unit_test(a_child_dies_with_its_parent),
      cmocka_unit_test(a_spec_is_tried_first),
      cmocka_unit_test(work_without_end_has_a_place),
  };
  return cmocka_run_group_tests(tests, shorten, remove_folder);
}
