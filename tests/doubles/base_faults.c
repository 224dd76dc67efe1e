/* Makes the n-th call of a kind fail, for tests. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE   "SCT_FAULTS"
#define MAX_RULES  8
#define ROLE_BYTES 16

typedef struct rule {
  sct_fault_kind kind;
  char role[ROLE_BYTES]; /* "": every */
  long long n;           /* counted from 1 */
  bool onwards;
  int reason;
} rule;

static const struct {
  const char *name;
  int reason;
} kinds[SCT_N_FAULTS] = {
#define SCT_FAULT(id, name, reason) {name, reason},
#include "base/base_faults.def"
#undef SCT_FAULT
};

static const struct {
  const char *name;
  int value;
} reasons[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EACCES", EACCES}, {"EROFS", EROFS},
               {"EIO", EIO},       {"ENOMEM", ENOMEM}, {"EMFILE", EMFILE}, {"EAGAIN", EAGAIN},
               {"EPERM", EPERM},   {"EFBIG", EFBIG},   {"EINTR", EINTR},   {"EPIPE", EPIPE}};

static rule rules[MAX_RULES];
static int n_rules;
static char once[256]; /* a path, or "": in every process */
static bool counting, watching;
static const char *role = "main";
static atomic_llong counts[SCT_N_FAULTS], live;

static void say(const char *fmt, ...) SCT_PRINTF(1, 2);

/* One write, no allocation, no lock. */
static void say(const char *fmt, ...) {
  char line[512];
  va_list args;
  va_start(args, fmt);
  const int n = vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  const size_t size = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
  if (write(STDERR_FILENO, line, size) < 0) {
    return; /* there is nobody to tell */
  }
}

/* A test that names what does not exist must not pass for want of a fault. */
static _Noreturn void refuse(const char *text) {
  say("fault: cannot read '%s' in " VARIABLE
      "; expected count, once=FILE or KIND[@ROLE]:N[+][:ERRNO], as in recv@worker:137+\n",
      text);
  _exit(2);
}

static bool find_kind(const char *name, size_t n, sct_fault_kind *out) {
  for (int k = 0; k < SCT_N_FAULTS; k++) {
    if (strlen(kinds[k].name) == n && memcmp(kinds[k].name, name, n) == 0) {
      *out = (sct_fault_kind)k;
      return true;
    }
  }
  return false;
}

static bool find_reason(const char *name, int *out) {
  for (int k = 0; k < SCT_COUNT(reasons); k++) {
    if (strcmp(reasons[k].name, name) == 0) {
      *out = reasons[k].value;
      return true;
    }
  }
  return false;
}

static bool parse_rule(rule *r, const char *word) {
  const size_t len = strcspn(word, "@:");
  const char *at = word + len;
  *r = (rule){0};
  if (!find_kind(word, len, &r->kind)) {
    return false;
  }
  r->reason = kinds[r->kind].reason;
  if (*at == '@') {
    const size_t n = strcspn(++at, ":");
    if (n == 0 || n >= sizeof r->role) {
      return false;
    }
    memcpy(r->role, at, n);
    at += n;
  }
  char *end = NULL;
  r->n = *at == ':' ? strtoll(at + 1, &end, 10) : 0;
  if (r->n < 1) {
    return false;
  }
  r->onwards = *end == '+';
  end += r->onwards;
  return *end == '\0' || (*end == ':' && find_reason(end + 1, &r->reason));
}

/* Before main, so that no thread races for it. */
__attribute__((constructor)) static void read_variable(void) {
  char text[512];
  const char *set = getenv(VARIABLE);
  if (!set || set[0] == '\0') {
    return;
  }
  if (strlen(set) >= sizeof text) {
    refuse(set);
  }
  snprintf(text, sizeof text, "%s", set);
  char *rest = text;
  for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    if (strcmp(word, "count") == 0) {
      counting = true;
    } else if (sct_has_prefix(word, "once=") && strlen(word + 5) < sizeof once) {
      memcpy(once, word + 5, strlen(word + 5) + 1);
    } else if (n_rules == MAX_RULES || !parse_rule(&rules[n_rules++], word)) {
      refuse(word);
    }
  }
  watching = true;
}

void sct_fault_role(const char *name) {
  role = name;
  for (int k = 0; k < SCT_N_FAULTS; k++) {
    atomic_store(&counts[k], 0);
  }
}

void sct_fault_live(int change) {
  if (watching) {
    atomic_fetch_add(&live, change);
  }
}

static bool may_fire(void) {
  const int fd = once[0] ? open(once, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
  if (fd >= 0) {
    close(fd);
  }
  return !once[0] || fd >= 0;
}

bool sct_fault(sct_fault_kind kind) {
  if (!watching) {
    return false;
  }
  const long long n = atomic_fetch_add(&counts[kind], 1) + 1;
  for (int k = 0; k < n_rules; k++) {
    const rule *r = &rules[k];
    if (r->kind != kind || (r->role[0] != '\0' && strcmp(r->role, role) != 0)) {
      continue;
    }
    if (n == r->n || (r->onwards && n > r->n)) {
      if (n == r->n && !may_fire()) {
        continue;
      }
      if (n == r->n) {
        say("fault: %s@%s:%lld fails\n", kinds[kind].name, role, n);
      }
      errno = r->reason;
      return true;
    }
  }
  return false;
}

__attribute__((destructor)) void sct_fault_report(void) {
  if (watching) {
    say("fault: live %s %lld\n", role, (long long)atomic_load(&live));
  }
  if (!counting) {
    return;
  }
  char line[480];
  int at = snprintf(line, sizeof line, "fault: count %s", role);
  for (int k = 0; k < SCT_N_FAULTS; k++) {
    const long long n = atomic_load(&counts[k]);
    if (n > 0 && at < (int)sizeof line) {
      at += snprintf(line + at, sizeof line - (size_t)at, " %s=%lld", kinds[k].name, n);
    }
  }
  say("%s\n", line);
}
