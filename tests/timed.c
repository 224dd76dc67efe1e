/* timed FILE NAME CASE COMMAND [ARGUMENT...]: runs the command and appends a line to FILE: NAME,
 * then the processor seconds (user and system) of it and of all descendants that were waited for.
 * Ends as the command ends. CTest starts every test so: what a test costs is processor time, as the
 * clock also shows what ran beside it.
 *
 * CASE is - or a number: with a number, the test is skipped (77) where this run's part of the long
 * tests does not have it. */
#include "part.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void append(const char *file, const char *name, const struct rusage *used) {
  FILE *f = fopen(file, "a");
  if (!f) {
    fprintf(stderr, "timed: %s: %s\n", file, strerror(errno));
    return;
  }
  fprintf(f, "%s %.2f\n", name, seconds(used->ru_utime) + seconds(used->ru_stime));
  (void)fclose(f);
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: timed FILE NAME CASE COMMAND [ARGUMENT...]\n");
    return 2;
  }
  if (argv[3][0] != '-' && !part_has(atoi(argv[3]))) {
    printf("in the part of another commit (scripts/test --all runs it)\n");
    return 77;
  }
  const pid_t child = fork();
  if (child == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* CTest kills the parent when time is up */
    execvp(argv[4], argv + 4);
    fprintf(stderr, "timed: %s: %s\n", argv[4], strerror(errno));
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) {
    perror("timed: fork");
    return 1;
  }
  struct rusage used = {0};
  (void)getrusage(RUSAGE_CHILDREN, &used);
  append(argv[1], argv[2], &used);
  if (WIFSIGNALED(status)) {
    (void)signal(WTERMSIG(status), SIG_DFL);
    (void)raise(WTERMSIG(status));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
