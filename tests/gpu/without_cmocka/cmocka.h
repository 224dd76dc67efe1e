/* Stands for cmocka where a program of this folder runs on a machine that has none: what
 * measure_fixture.h asks of it, ending the program. */
#ifndef SCT_TESTS_GPU_CMOCKA_H
#define SCT_TESTS_GPU_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>

#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define assert_true(c)                                                                             \
  do {                                                                                             \
    if (!(c)) {                                                                                    \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #c);                        \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)
#define assert_int_equal(a, b) assert_true((a) == (b))
#define assert_non_null(p)     assert_true((p) != NULL)

#endif
