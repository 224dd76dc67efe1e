/* What the machine gives to this process. */
#include "base/base.h"

#include <sched.h>
#include <stdlib.h>

int sct_cores(void) {
  cpu_set_t set;
  const int mine = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const char *share = getenv("SECTILE_CORES");
  const long most = share ? strtol(share, NULL, 10) : 0;
  return most > 0 && most < mine ? (int)most : mine;
}
