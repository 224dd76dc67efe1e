/* The program of all tests of a directory: fewer programs to link. Every test_*.c was compiled with
 * its main() called main_test_*; SCT_TESTS_DEF lists them. Which is meant: the first argument, or
 * the name that the program was started by (a link beside it), or SCT_TEST, which processes find
 * that a test starts of its own program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST(name) int main_##name();
#include SCT_TESTS_DEF
#undef TEST

static const struct {
  const char *name;
  int (*run)();
} tests[] = {
#define TEST(name) {#name, main_##name},
#include SCT_TESTS_DEF
#undef TEST
};
enum { N_TESTS = sizeof tests / sizeof tests[0] };

static int find(const char *name) {
  int k = 0;
  while (k < N_TESTS && (!name || strcmp(name, tests[k].name) != 0)) {
    k++;
  }
  return k;
}

int main(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/');
  int k = find(slash ? slash + 1 : argv[0]);
  if (k == N_TESTS && argc > 1 && (k = find(argv[1])) < N_TESTS) {
    argc--;
    argv++;
  }
  if (k == N_TESTS) {
    k = find(getenv("SCT_TEST"));
  }
  if (k == N_TESTS) {
    for (k = 0; k < N_TESTS; k++) {
      fprintf(stderr, "%s\n", tests[k].name);
    }
    fprintf(stderr, "expected one of these tests as the first argument\n");
    return 2;
  }
  (void)setenv("SCT_TEST", tests[k].name, 1);
  (void)setenv("SECTILE_NO_RANGE", "1", 1); /* it takes time, and has tests of its own */
  return tests[k].run(argc, argv);
}
