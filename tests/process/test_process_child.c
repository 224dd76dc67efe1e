/* A child's life: started, limited, asked to end, killed; and a program that is no child. */
#include "process/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

#define ROLE     "--test-child"
#define NO_ROLE  "--nobody"
#define LIMIT_NS ((int64_t)60000000000)
#define CHUNK    ((size_t)1 << 20)
#define MANY     ((int64_t)400 << 20)
#define MOST     ((int64_t)1 << 30)
/* The lowest priority (setpriority(2)), which the starter of this test may have. */
#define LOWEST 19

enum { QUIT, ASK_LIMITS, TAKE_MEMORY, SPIN, PRINT };

/* ---- the child ---- */

/* How many of n chunks it gets; they stay taken until it ends. */
static int64_t take_memory(int64_t n) {
  int64_t taken = 0;
  for (; taken < n; taken++) {
    volatile char *chunk = malloc(CHUNK);
    if (!chunk) {
      break;
    }
    chunk[0] = 1;
  }
  return taken;
}

static void serve(uint32_t op, sct_wire *in, sct_wire *out) {
  struct rlimit core;
  if (op == ASK_LIMITS) {
    sct_wire_put_i64(out, getrlimit(RLIMIT_CORE, &core) == 0 ? (int64_t)core.rlim_cur : -1);
    sct_wire_put_i64(out, getpriority(PRIO_PROCESS, 0));
    sct_wire_put_i64(out, getenv("SECTILE_CHILD") != NULL);
  } else if (op == TAKE_MEMORY) {
    sct_wire_put_i64(out, take_memory(sct_wire_get_i64(in)));
  } else if (op == SPIN) {
    sct_process_limit_cpu(0);
    for (volatile int64_t k = 0; k >= 0; k++) {
    }
  } else if (op == PRINT) {
    fprintf(stderr, "a child that must not be heard\n");
  }
}

static int child_main(int argc, char **argv) {
  sct_wire in = {0}, out = {0};
  uint32_t op = QUIT;
  const int refused = sct_process_enter(argc, argv);
  if (refused != 0) {
    return refused;
  }
  while (sct_wire_recv(SCT_CHILD_FD, &op, &in, SCT_NO_DEADLINE) == SCT_IO_OK && op != QUIT) {
    sct_wire_clear(&out);
    serve(op, &in, &out);
    if (sct_wire_send(SCT_CHILD_FD, SCT_OK, &out, SCT_NO_DEADLINE) != SCT_IO_OK) {
      break;
    }
  }
  sct_wire_free(&in);
  sct_wire_free(&out);
  return 7;
}

/* ---- the parent ---- */

static sct_child child;
static sct_wire request, reply;
static sct_error err;

static void start(const sct_child_opts *opts) {
  if (sct_child_start(&child, opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static sct_io ask(uint32_t op) {
  uint32_t code = 0;
  const int64_t deadline = sct_now_ns() + LIMIT_NS;
  sct_io io = sct_wire_send(child.fd, op, &request, deadline);
  sct_wire_clear(&request);
  io = io == SCT_IO_OK ? sct_wire_recv(child.fd, &code, &reply, deadline) : io;
  return io;
}

static int clean(void **state) {
  (void)state;
  sct_child_kill(&child);
  sct_wire_free(&request);
  sct_wire_free(&reply);
  return 0;
}

static void test_it_enters_its_role_and_ends_when_asked(void **state) {
  (void)state;
  start(&(sct_child_opts){.role = ROLE, .nice = 3});
  const int lower = getpriority(PRIO_PROCESS, 0) + 3;
  assert_int_equal(getpgid(child.pid), child.pid);
  assert_int_equal(ask(ASK_LIMITS), SCT_IO_OK);
  assert_int_equal(sct_wire_get_i64(&reply), 0); /* no core file of gigabytes */
  assert_int_equal(sct_wire_get_i64(&reply), lower < LOWEST ? lower : LOWEST);
  assert_int_equal(sct_wire_get_i64(&reply), 0); /* it may have children of its own */
  assert_true(sct_child_reap(&child));
  assert_int_equal(sct_child_stop(&child, QUIT, LIMIT_NS), 7);
  assert_false(sct_child_alive(&child));
  assert_int_equal(sct_child_stop(&child, QUIT, LIMIT_NS), 0); /* gone already */
}

/* How many descriptors are open after many were opened and those above 2 closed; -1: too few. */
static int open_above(void (*close_above)(int)) {
  enum { MANY_FILES = 900 }; /* /proc lists them in several reads */
  int n = 0;
  for (int k = 3; k < MANY_FILES; k += k % 7 == 0 ? 30 : 1) {
    n += dup2(STDERR_FILENO, k) == k;
  }
  if (n < 100) {
    return -1;
  }
  close_above(STDERR_FILENO);
  n = 0;
  for (int k = 0; k < MANY_FILES; ++k) {
    n += fcntl(k, F_GETFD) >= 0 ? 1 : 0;
  }
  return n;
}

static void test_descriptors_are_closed_with_and_without_the_systems_call(void **state) {
  (void)state;
  static void (*const ways[])(int) = {sct_process_close_above, sct_process_close_listed};
  for (int k = 0; k < SCT_COUNT(ways); ++k) {
    const pid_t pid = fork();
    if (pid == 0) {
      _exit(open_above(ways[k]));
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 3); /* input, output and errors */
  }
}

static void test_memory_ends_at_the_limit(void **state) {
  (void)state;
  if (SCT_SANITIZED) {
    skip();
  }
  start(&(sct_child_opts){.role = ROLE, .memory_bytes = MANY});
  sct_wire_put_i64(&request, MOST / (int64_t)CHUNK);
  assert_int_equal(ask(TAKE_MEMORY), SCT_IO_OK);
  assert_in_range(sct_wire_get_i64(&reply), 1, MANY / (int64_t)CHUNK);
  sct_child_kill(&child);
  start(&(sct_child_opts){.role = ROLE});
  sct_wire_put_i64(&request, MOST / (int64_t)CHUNK);
  assert_int_equal(ask(TAKE_MEMORY), SCT_IO_OK);
  assert_int_equal(sct_wire_get_i64(&reply), MOST / (int64_t)CHUNK);
}

static void test_processor_time_ends_at_the_limit(void **state) {
  (void)state;
  start(&(sct_child_opts){.role = ROLE});
  assert_int_equal(ask(SPIN), SCT_IO_CLOSED);
  const int status = sct_child_wait(&child, LIMIT_NS);
  char how[128];
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGXCPU);
  sct_child_describe_end(how, sizeof how, status);
  assert_non_null(strstr(how, "signal 24"));
}

static void test_a_quiet_one_is_not_heard(void **state) {
  (void)state;
  FILE *heard = tmpfile();
  assert_non_null(heard);
  for (int quiet = 0; quiet < 2; quiet++) {
    const int saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(fileno(heard), STDERR_FILENO) >= 0);
    const sct_status status =
        sct_child_start(&child, &(sct_child_opts){.role = ROLE, .quiet = quiet != 0}, &err);
    const sct_io io = status == SCT_OK ? ask(PRINT) : SCT_IO_CLOSED;
    sct_child_kill(&child);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    assert_int_equal(io, SCT_IO_OK);
    assert_int_equal(lseek(fileno(heard), 0, SEEK_END), 31); /* of the one that was not quiet */
  }
  fclose(heard);
}

/* A main() that hands over to nobody runs as the program does; it must not start itself again. */
static void test_a_program_without_the_role_starts_no_more(void **state) {
  (void)state;
  start(&(sct_child_opts){.role = NO_ROLE});
  uint32_t code = 0;
  assert_int_equal(sct_wire_recv(child.fd, &code, &reply, sct_now_ns() + LIMIT_NS), SCT_IO_OK);
  assert_int_equal(code, SCT_EINTERNAL);
  assert_non_null(strstr(sct_wire_get_text(&reply), "'" NO_ROLE "'"));
}

static int no_role_main(void) {
  sct_child grandchild;
  sct_wire out = {0};
  const sct_status status = sct_child_start(&grandchild, &(sct_child_opts){.role = NO_ROLE}, &err);
  sct_wire_put_text(&out, err.text);
  const sct_io io = sct_wire_send(SCT_CHILD_FD, (uint32_t)status, &out, SCT_NO_DEADLINE);
  sct_wire_free(&out);
  return io == SCT_IO_OK ? 0 : 1;
}

static void test_a_killed_one_is_collected(void **state) {
  (void)state;
  start(&(sct_child_opts){.role = ROLE});
  const pid_t pid = child.pid;
  kill(pid, SIGSTOP);
  sct_child_kill(&child);
  assert_false(sct_child_alive(&child));
  assert_int_equal(kill(pid, 0), -1); /* no zombie */
  assert_int_equal(errno, ESRCH);
}

static void test_a_role_needs_its_arguments(void **state) {
  (void)state;
  char name[] = "x", role[] = ROLE, one[] = "1", nobody[] = "-1";
  char *few[] = {name, role, one, NULL};
  assert_int_equal(sct_process_enter(3, few), 2);
  char *foreign[] = {name, role, nobody, one, one, NULL}; /* not our parent */
  assert_int_equal(sct_process_enter(5, foreign), 1);
}

static void test_a_missing_program_is_an_error(void **state) {
  (void)state;
  const sct_child_opts opts = {.program = "/nonexistent/program", .role = ROLE};
  assert_int_equal(sct_child_start(&child, &opts, &err), SCT_EIO);
  assert_non_null(strstr(err.text, "/nonexistent/program"));
  assert_false(sct_child_alive(&child));
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], ROLE) == 0) {
    return child_main(argc, argv);
  }
  if (argc > 1 && strcmp(argv[1], NO_ROLE) == 0) {
    return no_role_main();
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_it_enters_its_role_and_ends_when_asked, clean),
      cmocka_unit_test(test_descriptors_are_closed_with_and_without_the_systems_call),
      cmocka_unit_test_teardown(test_memory_ends_at_the_limit, clean),
      cmocka_unit_test_teardown(test_processor_time_ends_at_the_limit, clean),
      cmocka_unit_test_teardown(test_a_quiet_one_is_not_heard, clean),
      cmocka_unit_test_teardown(test_a_program_without_the_role_starts_no_more, clean),
      cmocka_unit_test_teardown(test_a_killed_one_is_collected, clean),
      cmocka_unit_test_teardown(test_a_role_needs_its_arguments, clean),
      cmocka_unit_test_teardown(test_a_missing_program_is_an_error, clean),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
