/* The program: the command line, or one of the processes that work for it. */
#include "cli/cli.h"
#include "compile/compile.h"
#include "device/device.h"
#include "worker/worker.h"

#include <string.h>

static const struct {
  const char *role;
  int (*main)(int argc, char **argv);
} roles[] = {
    {SCT_WORKER_ARG, sct_worker_main},
    {SCT_COMPILE_WORKER_ARG, sct_compile_worker_main},
    {SCT_SESSION_ARG, sct_cli_session_main},
    {SCT_LAUNCHES_ARG, sct_launches_main},
};

int main(int argc, char **argv) {
  for (int k = 0; argc > 1 && k < SCT_COUNT(roles); k++) {
    if (strcmp(argv[1], roles[k].role) == 0) {
      return roles[k].main(argc, argv);
    }
  }
  return sct_cli_main(argc, argv);
}
