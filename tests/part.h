/* Long tests take a part of their cases: SECTILE_TEST_PART=K/N (scripts/test sets it by the number
 * of commits) has every N-th, from the K-th on. Unset: all. */
#ifndef SCT_TESTS_PART_H
#define SCT_TESTS_PART_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* A part of so many times fewer. */
static inline bool part_has_of(int which, int times) {
  const char *text = getenv("SECTILE_TEST_PART");
  int k = 0, n = 0;
  const bool all = !text || sscanf(text, "%d/%d", &k, &n) != 2 || n < 1;
  return all || which % (n * times) == k % (n * times);
}

static inline bool part_has(int which) {
  return part_has_of(which, 1);
}

#endif
