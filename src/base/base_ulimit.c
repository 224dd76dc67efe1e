/* What the system, or whoever started this process, limits (base_ulimits.def). */
#include "base/base.h"

#include <sys/resource.h>

static const struct {
  int resource;
  const char *name, *hint;
  rlim_t enough;
} limits[SCT_N_ULIMITS] = {
#define SCT_ULIMIT(id, resource, name, hint, enough) {resource, name, hint, enough},
#include "base/base_ulimits.def"
#undef SCT_ULIMIT
};

bool sct_ulimit_text(char *out, size_t bytes, sct_ulimit k, int64_t needed) {
  struct rlimit now;
  const rlim_t enough = needed > 0 ? (rlim_t)needed : limits[k].enough;
  if (getrlimit((__rlimit_resource_t)limits[k].resource, &now) != 0 ||
      now.rlim_cur == RLIM_INFINITY || now.rlim_cur >= enough) {
    return false;
  }
  char value[32];
  if (k == SCT_ULIMIT_FILES || k == SCT_ULIMIT_TASKS || k == SCT_ULIMIT_TIME) {
    snprintf(value, sizeof value, "%llu%s", (unsigned long long)now.rlim_cur,
             k == SCT_ULIMIT_TIME ? " s" : "");
  } else {
    sct_format_bytes(value, (double)now.rlim_cur);
  }
  snprintf(out, bytes, "the limit on %s is %s (%s)", limits[k].name, value, limits[k].hint);
  return true;
}

bool sct_ulimit_low(sct_str *out, sct_ulimit k, int64_t needed) {
  char text[160];
  const bool low = sct_ulimit_text(text, sizeof text, k, needed);
  sct_str_append(out, low ? text : "");
  return low;
}

bool sct_ulimits_low(sct_str *out) {
  bool any = false;
  for (int k = 0; k < SCT_N_ULIMITS; k++) {
    SCT_SCOPED(sct_str) one = {0};
    if (sct_ulimit_low(&one, (sct_ulimit)k, 0)) {
      sct_str_printf(out, "%s%s", any ? ", " : "", sct_str_c(&one));
      any = true;
    }
  }
  return any;
}
