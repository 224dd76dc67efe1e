/* Time and one-line messages on stderr. */
#include "base/base.h"

#include <time.h>

static sct_log_level log_level = SCT_LOG_WARN;
static char log_subject[64];

int64_t sct_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void sct_log_set_level(sct_log_level level) {
  log_level = level;
}

void sct_log_set_subject(const char *subject) {
  snprintf(log_subject, sizeof log_subject, "%s", subject);
}

void sct_log(sct_log_level level, const char *fmt, ...) {
  static const char *const names[] = {"error", "warning", "info", "debug"};
  if (level > log_level) {
    return;
  }
  char line[2048];
  va_list args;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  fprintf(stderr, "sectile: %s%s%s: %s\n", log_subject, log_subject[0] ? ": " : "", names[level],
          line);
}
