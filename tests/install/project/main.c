#define SECTILE_NO_RUNTIME
#include "turn.h"

#include <stdio.h>

int main(void) {
  printf("%s: %lld bytes\n", turn_provenance.kernel, (long long)turn_layout_a_bytes(1024));
  return 0;
}
