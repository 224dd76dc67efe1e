/* A child's first steps: tied to its parent, cut off from what it inherited, limited. */
#include "process/process.h"
#include "process/process_internal.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int limit(int resource, rlim_t most) {
  struct rlimit r;
  if (getrlimit(resource, &r) != 0) {
    return 1;
  }
  r.rlim_cur = r.rlim_max != RLIM_INFINITY && r.rlim_max < most ? r.rlim_max : most;
  return setrlimit(resource, &r) == 0 ? 0 : 1;
}

void sct_process_close_listed(int last) {
  DIR *const open_files = sct_opendir("/proc/self/fd");
  const struct dirent *entry = NULL;
  while (open_files != NULL && (entry = readdir(open_files)) != NULL) {
    const long fd = strtol(entry->d_name, NULL, 10);
    if (fd > last && fd != dirfd(open_files)) {
      (void)close((int)fd);
    }
  }
  if (open_files != NULL) {
    (void)closedir(open_files);
  }
}

void sct_process_close_above(int last) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, last + 1, ~0U, 0) == 0) {
    return;
  }
#endif
  sct_process_close_listed(last);
}

int sct_process_enter(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "this is started by the program itself, not by hand\n");
    return 2;
  }
  sct_fault_role(argv[1] + strspn(argv[1], "-"));
  sct_memory_end_silently(); /* the parent sees the exit code */
  const long parent = strtol(argv[2], NULL, 10);
  const long long memory_bytes = strtoll(argv[3], NULL, 10);
  const int priority = (int)strtol(argv[4], NULL, 10);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != (pid_t)parent) {
    return 1; /* it died before the line above */
  }
  sct_process_close_above(SCT_CHILD_FD); /* whatever else was inherited */
  if (unsetenv(SCT_CHILD_MARK) != 0 || limit(RLIMIT_CORE, 0) != 0) {
    return 1;
  }
  if (priority != 0 && setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + priority) != 0) {
    return 1;
  }
  return memory_bytes > 0 && !SCT_SANITIZED ? limit(RLIMIT_AS, (rlim_t)memory_bytes) : 0;
}

void sct_process_limit_cpu(int64_t cpu_ns) {
  struct rusage used;
  if (getrusage(RUSAGE_SELF, &used) == 0) {
    const int64_t seconds = (int64_t)used.ru_utime.tv_sec + (int64_t)used.ru_stime.tv_sec;
    (void)limit(RLIMIT_CPU, (rlim_t)(seconds + cpu_ns / 1000000000 + 2)); /* in whole seconds */
  }
}
