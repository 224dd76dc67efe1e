/* Errors: one struct, first writer wins the text, exit codes from one table. */
#include "base/base.h"

#include <string.h>

static const struct {
  int exit_code;
  const char *text;
} statuses[] = {
#define SCT_STATUS(name, exit_code, text) {exit_code, text},
#include "base_status.def"
#undef SCT_STATUS
};

sct_status sct_fail(sct_error *err, sct_status code, const char *fmt, ...) {
  if (err) {
    va_list args;
    va_start(args, fmt);
    err->code = code;
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
  }
  return code;
}

sct_status sct_fail_prefix(sct_error *err, sct_status code, const char *fmt, ...) {
  if (!err) {
    return code;
  }
  char old[sizeof err->text];
  memcpy(old, err->text, sizeof old);
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(err->text, sizeof err->text, fmt, args);
  va_end(args);
  if (n < 0) {
    n = 0;
  }
  if ((size_t)n < sizeof err->text) {
    snprintf(err->text + n, sizeof err->text - (size_t)n, "%s", old);
  }
  return err->code;
}

int sct_exit_code(sct_status code) {
  const int k = (int)code;
  return k >= 0 && k < SCT_N_STATUS ? statuses[k].exit_code : 1;
}

const char *sct_status_text(sct_status code) {
  const int k = (int)code;
  return k >= 0 && k < SCT_N_STATUS ? statuses[k].text : "unknown status";
}
