/* The program: the command line, or the worker process that measures for it. */
#include "cli/cli.h"
#include "measure/measure.h"

#include <string.h>

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_WORKER_ARG) == 0) {
    return sct_measure_worker_main(argc, argv);
  }
  return sct_cli_main(argc, argv);
}
