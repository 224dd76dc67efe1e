/* Workers that die, hang, exhaust their memory or answer nonsense: the guilty source is told, the
 * others are compiled all the same. */
#include "compile_fixture.h"

#include "compile/compile_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

enum { N = 5, GUILTY = 2 };
#define LONG_NS  ((int64_t)120000000000) /* never met */
#define SHORT_NS ((int64_t)400000000)

typedef struct request {
  char *source[N];
  sct_compile_unit units[N];
  sct_compiled results[N];
} request;

/* Five sources; the third commands the worker. */
static void make(request *r, const char *word) {
  memset(r, 0, sizeof(*r));
  for (int i = 0; i < N; ++i) {
    char expression[64];
    (void)snprintf(expression, sizeof(expression), "x + %d.0f; %s", i, i == GUILTY ? word : "");
    r->source[i] = fx_map_source(i, expression);
    r->units[i] = (sct_compile_unit){r->source[i], "map", false};
  }
}

static void release(request *r) {
  for (int i = 0; i < N; ++i) {
    sct_compiled_free(&r->results[i]);
    free(r->source[i]);
  }
}

static void expect_one_guilty(const char *word, sct_compile_failure failure, const char *text,
                              const sct_compile_opts *opts) {
  request r;
  make(&r, word);
  sct_compiler *compiler = fx_compiler(opts);
  fx_run(compiler, r.units, N, r.results);
  for (int i = 0; i < N; ++i) {
    if (r.results[i].ok != (i != GUILTY)) {
      fail_msg("%s: source %d: %s", word, i, r.results[i].log);
    }
  }
  assert_int_equal(r.results[GUILTY].failure, failure);
  if (strstr(r.results[GUILTY].log, text) == NULL) {
    fail_msg("%s: no \"%s\" in: %s", word, text, r.results[GUILTY].log);
  }
  assert_true(sct_has_prefix(r.results[GUILTY].log, "error: "));
  sct_compiler_free(compiler);
  release(&r);
}

static void test_a_death_has_one_victim(void **state) {
  (void)state;
  static const struct {
    const char *word;
    const char *text;
  } cases[] = {{"//!crash", "signal 11"},
               {"//!exit", "exit status 3"},
               {"//!garbage", "makes no sense"},
               {"//!noise", "makes no sense"}};
  for (int i = 0; i < SCT_COUNT(cases); ++i) {
    for (int threads = 1; threads < 3; ++threads) {
      const sct_compile_opts opts = {.arch = "sm_90", .threads = threads, .limit_ns = LONG_NS};
      expect_one_guilty(cases[i].word, SCT_COMPILE_CRASH, cases[i].text, &opts);
    }
  }
}

static void test_a_hang_is_cut_off(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .limit_ns = SHORT_NS};
  request r;
  make(&r, "//!hang");
  sct_compiler *compiler = fx_compiler(&opts);
  fx_run(compiler, &r.units[GUILTY], 1, &r.results[GUILTY]);
  assert_false(r.results[GUILTY].ok);
  assert_int_equal(r.results[GUILTY].failure, SCT_COMPILE_TIMEOUT);
  assert_non_null(strstr(r.results[GUILTY].log, "took longer than 400 ms"));
  sct_compiler_free(compiler);
  release(&r);
}

static void test_half_an_answer_is_not_waited_for(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .limit_ns = SHORT_NS};
  request r;
  make(&r, "//!half");
  sct_compiler *compiler = fx_compiler(&opts);
  fx_run(compiler, &r.units[GUILTY], 1, &r.results[GUILTY]);
  assert_int_equal(r.results[GUILTY].failure, SCT_COMPILE_CRASH);
  assert_non_null(strstr(r.results[GUILTY].log, "in the middle of its answer"));
  sct_compiler_free(compiler);
  release(&r);
}

static void test_memory_has_one_victim(void **state) {
  (void)state;
  const sct_compile_opts opts = {
      .arch = "sm_90", .threads = 1, .limit_ns = LONG_NS, .memory_bytes = (int64_t)1 << 30};
  if (SCT_SANITIZED) {
    skip();
  }
  expect_one_guilty("//!exhaust", SCT_COMPILE_MEMORY, "more than 1 GiB of memory", &opts);
}

/* ---- sources that no compiler digests */

/* Each is a source of its own that asks for more than there is, one way or another. */
static char *bomb(int kind) {
  static const char *const text[] = {
      /* macros that double 24 times */
      "#define A(x) x x\n#define B(x) A(A(A(A(x))))\n#define C(x) B(B(x))\n#define D(x) C(C(x))\n"
      "#define E(x) D(D(x))\n"
      "__global__ void map(float *b) { E(b[0] += 1.0f;) E(b[1] += 2.0f;) }\n",
      /* a tree of instances that never end */
      ("template <int N, int M> struct T { static const int v = T<N + 1, 2 * M>::v +\n"
       "T<N + 1, 2 * M + 1>::v; };\n"
       "__global__ void map(float *b) { b[0] = T<0, 1>::v; }\n"),
      /* a loop of 16 million bodies, laid out */
      ("__global__ void map(float *b) {\n"
       "#pragma unroll\n  for (int i = 0; i < (1 << 24); i++) { b[i * 7] = b[i] * i; }\n}\n"),
  };
  char *copy = NULL;
  if (kind < SCT_COUNT(text)) {
    return strdup(text[kind]);
  }
  /* an array whose initialiser is as long as the source: 300,000 numbers */
  enum { NUMBERS = 300000 };
  copy = malloc((size_t)NUMBERS * 8 + 256);
  assert_non_null(copy);
  size_t n = (size_t)sprintf(copy, "__device__ volatile double t[] = {");
  for (int i = 0; i < NUMBERS; ++i) {
    n += (size_t)sprintf(copy + n, "%d,", i);
  }
  (void)sprintf(copy + n, "0};\n__global__ void map(float *b) { b[0] = t[threadIdx.x]; }\n");
  return copy;
}

static void test_bombs_are_stopped(void **state) {
  (void)state;
  const sct_compile_opts opts = {
      .arch = "sm_90", .threads = 2, .limit_ns = 1200000000, .memory_bytes = (int64_t)2 << 30};
  if (SCT_SANITIZED) {
    skip();
  }
  for (int kind = 0; kind < 4; ++kind) {
    char *const source = bomb(kind);
    const sct_compile_unit unit = {source, "map", false};
    sct_compiled r;
    sct_compiler *compiler = fx_compiler(&opts);
    fx_run(compiler, &unit, 1, &r);
    assert_false(r.ok);
    assert_int_not_equal(r.failure, SCT_COMPILE_NONE);
    assert_non_null(strstr(r.log, "error: "));
    sct_compiled_free(&r);
    sct_compiler_free(compiler);
    free(source);
  }
}

/* ---- stopping */

static bool stop_when_busy(void *ctx, int done, int total) {
  int *const calls = ctx;
  (void)done;
  (void)total;
  return ++*calls < 3;
}

static void test_stopping_does_not_wait_for_a_worker(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 2, .batch = 1, .limit_ns = LONG_NS};
  request r;
  sct_error err = {0};
  int calls = 0;
  make(&r, "//!hang");
  sct_compiler *compiler = fx_compiler(&opts);
  const pid_t first = compiler->workers[0].child.pid;
  assert_int_equal(sct_compiler_run(compiler, &r.units[GUILTY], 1, &r.results[GUILTY],
                                    stop_when_busy, &calls, &err),
                   SCT_EINTERRUPTED);
  assert_int_equal(kill(first, 0), -1); /* killed and collected, long before its limit */
  assert_int_equal(errno, ESRCH);
  fx_run(compiler, r.units, 1, r.results); /* and the compiler goes on */
  assert_true(r.results[0].ok);
  sct_compiler_free(compiler);
  release(&r);
}

/* ---- in steps */

static void test_units_finish_once_each(void **state) {
  (void)state;
  enum { MANY = 9 };
  char *source[MANY];
  sct_compile_unit units[MANY];
  sct_compiled results[MANY];
  bool seen[MANY] = {false};
  sct_error err = {0};
  for (int i = 0; i < MANY; ++i) {
    source[i] = fx_map_source(i / 2, "x"); /* equal in pairs */
    units[i] = (sct_compile_unit){source[i], "map", false};
  }
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 2, .batch = 2};
  sct_compiler *compiler = fx_compiler(&opts);
  assert_int_equal(sct_compiler_begin(compiler, units, MANY, results, &err), SCT_OK);
  assert_int_equal(sct_compiler_begin(compiler, units, 1, results, &err), SCT_EUSAGE);
  int n = 0;
  while (n < MANY) {
    assert_int_equal(sct_compiler_step(compiler, LONG_NS, &err), SCT_OK);
    for (int i = sct_compiler_next(compiler); i >= 0; i = sct_compiler_next(compiler)) {
      assert_in_range(i, 0, MANY - 1);
      assert_false(seen[i]);
      assert_true(results[i].ok);
      seen[i] = true;
      ++n;
    }
    assert_int_equal(sct_compiler_left(compiler), MANY - n);
  }
  assert_int_equal(sct_compiler_step(compiler, LONG_NS, &err), SCT_OK); /* nothing to wait for */
  assert_int_equal(sct_compiler_next(compiler), -1);
  sct_compiler_end(compiler);
  for (int i = 0; i < MANY; ++i) {
    sct_compiled_free(&results[i]);
    free(source[i]);
  }
  sct_compiler_free(compiler);
}

/* Units that nobody wants are not compiled; those that are equal to a wanted one come with it. */
static void test_only_what_is_wanted(void **state) {
  (void)state;
  enum { MANY = 9 };
  static const int wanted[] = {3, 8, 2, 3, 0};
  static const bool there[MANY] = {true, true, true, true, false, false, false, false, true};
  char *source[MANY];
  sct_compile_unit units[MANY];
  sct_compiled results[MANY];
  sct_error err = {0};
  for (int i = 0; i < MANY; ++i) {
    source[i] = fx_map_source(i / 2, "x"); /* equal in pairs */
    units[i] = (sct_compile_unit){source[i], "map", false};
  }
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 2, .batch = 2};
  sct_compiler *compiler = fx_compiler(&opts);
  assert_int_equal(sct_compiler_want(compiler, 0, &err), SCT_EUSAGE);
  assert_int_equal(sct_compiler_open(compiler, units, MANY, results, &err), SCT_OK);
  assert_int_equal(sct_compiler_left(compiler), 0);
  assert_int_equal(sct_compiler_step(compiler, LONG_NS, &err), SCT_OK);
  assert_int_equal(sct_compiler_next(compiler), -1);
  for (int i = 0; i < SCT_COUNT(wanted); ++i) { /* each when the one before it is done */
    assert_int_equal(sct_compiler_want(compiler, wanted[i], &err), SCT_OK);
    while (sct_compiler_left(compiler) > 0) {
      assert_int_equal(sct_compiler_step(compiler, LONG_NS, &err), SCT_OK);
    }
    assert_true(results[wanted[i]].ok);
  }
  assert_int_equal(sct_compiler_want(compiler, MANY, &err), SCT_EUSAGE);
  int n = 0;
  while (sct_compiler_next(compiler) >= 0) {
    ++n;
  }
  assert_int_equal(n, 5);
  for (int i = 0; i < MANY; ++i) {
    assert_int_equal(results[i].ok, there[i]);
  }
  sct_compiler_end(compiler);
  for (int i = 0; i < MANY; ++i) {
    sct_compiled_free(&results[i]);
    free(source[i]);
  }
  sct_compiler_free(compiler);
}

/* A request that is given up leaves results that can be freed. */
static void test_an_end_before_the_end(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 2, .batch = 1, .limit_ns = LONG_NS};
  request r;
  sct_error err = {0};
  make(&r, "//!hang");
  sct_compiler *compiler = fx_compiler(&opts);
  assert_int_equal(sct_compiler_begin(compiler, r.units, N, r.results, &err), SCT_OK);
  while (sct_compiler_next(compiler) < 0) {
    assert_int_equal(sct_compiler_step(compiler, LONG_NS, &err), SCT_OK);
  }
  sct_compiler_end(compiler);
  assert_int_equal(sct_compiler_left(compiler), 0);
  assert_false(r.results[GUILTY].ok);
  sct_compiler_free(compiler);
  release(&r);
}

static int poll_once(sct_compiler *compiler, int64_t wait_ms) {
  struct pollfd ready[SCT_COMPILE_MAX_WORKERS];
  sct_error err = {0};
  int n = 0;
  memset(ready, 0xff, sizeof(ready)); /* what is not written does not count */
  assert_int_equal(sct_compiler_step_begin(compiler, ready, &n, &err), SCT_OK);
  for (int i = 0; i < n; ++i) {
    assert_true(ready[i].revents == 0 && fcntl(ready[i].fd, F_GETFD) >= 0);
  }
  (void)poll(ready, (nfds_t)n, (int)wait_ms);
  assert_int_equal(sct_compiler_step_end(compiler, ready, &err), SCT_OK);
  return n;
}

/* Who waits by itself hears each worker for itself: the one that says nothing is behind none, or
 * behind one that has nothing left to do. */
static void test_steps_in_two(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 2, .batch = 1, .limit_ns = LONG_NS};
  for (int silent = 0; silent < 2; ++silent) {
    request r;
    sct_error err = {0};
    make(&r, "//!hang");
    const sct_compile_unit other = r.units[silent];
    r.units[silent] = r.units[GUILTY];
    r.units[GUILTY] = other;
    sct_compiler *compiler = fx_compiler(&opts);
    assert_int_equal(poll_once(compiler, 0), 0); /* nothing is asked for */
    assert_int_equal(sct_compiler_begin(compiler, r.units, N, r.results, &err), SCT_OK);
    assert_int_equal(poll_once(compiler, 0), 2);
    while (sct_compiler_left(compiler) > 1) {
      assert_in_range(poll_once(compiler, 1000), 1, 2);
    }
    assert_int_equal(poll_once(compiler, 0), 1);
    assert_int_equal(sct_compiler_left(compiler), 1);
    for (int i = 0; i < N; ++i) {
      assert_true(r.results[i].ok == (i != silent) && r.results[i].failure == SCT_COMPILE_NONE);
    }
    sct_compiler_free(compiler);
    release(&r);
  }
}

/* ---- what a worker answers with */

enum { MANY = 32 };

/* A program whose reply is large. */
static void test_large_replies_come_whole(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .batch = MANY};
  sct_compile_unit units[MANY];
  sct_compiled results[MANY];
  char *sources[MANY];
  for (int i = 0; i < MANY; ++i) {
    char expression[32];
    (void)snprintf(expression, sizeof(expression), "x * %d.5f", i);
    sources[i] = fx_map_source(i, expression);
    units[i] = (sct_compile_unit){sources[i], "map", false};
  }
  sct_compiler *const compiler = fx_compiler(&opts);
  fx_run(compiler, units, MANY, results);
  for (int i = 0; i < MANY; ++i) {
    assert_true(results[i].ok && results[i].object == results[0].object);
    free(sources[i]);
  }
  assert_true(results[0].cubin_bytes + strlen(results[0].ptx) > 65536);
  sct_compiler_free(compiler);
  for (int i = 0; i < MANY; ++i) { /* it outlives the compiler */
    assert_string_equal(results[i].ptx, results[MANY - 1].ptx);
    assert_non_null(strstr(results[i].ptx, results[i].entry));
    sct_compiled_free(&results[i]);
  }
}

/* ---- processes */

static void test_nvrtc_stays_out_of_this_process(void **state) {
  (void)state;
  char *source = fx_map_source(0, "x");
  sct_compiler *compiler = NULL;
  sct_compiled result = fx_one(&compiler, source, "map");
  char line[1024];
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (fgets(line, sizeof(line), maps) != NULL) {
    assert_null(strstr(line, "libnvrtc"));
  }
  (void)fclose(maps);
  assert_true(result.ok);
  const pid_t pid = compiler->workers[0].child.pid;
  assert_int_equal(getpgid(pid), pid); /* Ctrl-C at a terminal is for us alone */
  sct_compiled_free(&result);
  sct_compiler_free(compiler);
  assert_int_equal(kill(pid, 0), -1); /* none is left behind */
  free(source);
}

static void test_a_worker_that_cannot_start(void **state) {
  (void)state;
  const sct_compile_opts missing = {.arch = "sm_90", .program = "/nonexistent/worker"};
  const sct_compile_opts other = {.arch = "sm_90", .program = "/bin/true"};
  sct_compiler *compiler = NULL;
  sct_error err = {0};
  assert_int_equal(sct_compiler_new(&compiler, &missing, &err), SCT_EIO);
  assert_non_null(strstr(err.text, "/nonexistent/worker"));
  assert_int_equal(sct_compiler_new(&compiler, &other, &err), SCT_ENVRTC);
  assert_non_null(strstr(err.text, "exit status 0"));
}

static void test_a_file_that_takes_the_worker_along(void **state) {
  (void)state;
  char path[] = "/tmp/sct_bomb_XXXXXX.cu";
  const int fd = mkstemps(path, 3);
  assert_true(fd >= 0);
  const char text[] = "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(A(A(A(A(x))))))))\n"
                      "__global__ void k(float *b) { B(b[0] += 1;) }\n";
  assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
  assert_int_equal(close(fd), 0);
  const sct_compile_opts opts = {.arch = "sm_90", .limit_ns = SHORT_NS};
  const sct_compile_file file = {.path = path};
  sct_compiler *compiler = fx_compiler(&opts);
  sct_compiled_file out;
  sct_error err = {0};
  assert_int_equal(sct_compiler_file(compiler, &out, &file, &err), SCT_OK);
  assert_false(out.ok);
  assert_true(sct_has_prefix(out.log, path));
  assert_non_null(strstr(out.log, "error: compiling "));
  sct_compiled_file_free(&out);
  sct_compiler_free(compiler);
  assert_int_equal(unlink(path), 0);
}

int main(int argc, char **argv) {
  FX_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_death_has_one_victim),
      cmocka_unit_test(test_a_hang_is_cut_off),
      cmocka_unit_test(test_half_an_answer_is_not_waited_for),
      cmocka_unit_test(test_memory_has_one_victim),
      cmocka_unit_test(test_bombs_are_stopped),
      cmocka_unit_test(test_stopping_does_not_wait_for_a_worker),
      cmocka_unit_test(test_units_finish_once_each),
      cmocka_unit_test(test_only_what_is_wanted),
      cmocka_unit_test(test_an_end_before_the_end),
      cmocka_unit_test(test_steps_in_two),
      cmocka_unit_test(test_large_replies_come_whole),
      cmocka_unit_test(test_nvrtc_stays_out_of_this_process),
      cmocka_unit_test(test_a_worker_that_cannot_start),
      cmocka_unit_test(test_a_file_that_takes_the_worker_along),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
