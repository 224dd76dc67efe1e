/* Taps: one array read at several places. What may be one, and what its name may be. */
#include <string.h>

#include "spec/spec_internal.h"

static const char *const border_names[] = {"none", "clamp", "zero", "wrap"};

const char *sct_border_name(sct_border border) {
  return border_names[border];
}

bool sct_border_find(sct_border *out, const char *name) {
  const int k = sct_names_find(SCT_NAMES(border_names, SCT_COUNT(border_names)), name);
  if (k >= 0) {
    *out = (sct_border)k;
  }
  return k >= 0;
}

void sct_operand_reach(const sct_operand *op, int d, int64_t *lo, int64_t *hi) {
  *lo = 0;
  *hi = 0;
  for (int k = 0; k < op->n_taps; k++) {
    const int64_t delta = op->taps[k].delta[d];
    *lo = delta < *lo ? delta : *lo;
    *hi = delta > *hi ? delta : *hi;
  }
}

bool sct_spec_has_taps(const sct_spec *spec) {
  for (int k = 0; k < spec->n_operands; k++) {
    if (spec->operands[k].n_taps > 0) {
      return true;
    }
  }
  return false;
}

static bool is_called(const char *name, const char *text, size_t len) {
  return strlen(name) == len && strncmp(name, text, len) == 0;
}

int sct_spec_find_value(const sct_spec *spec, const char *name, size_t len, int *tap) {
  *tap = -1;
  for (int k = 0; k < spec->n_operands; k++) {
    for (int n = 0; n < spec->operands[k].n_taps; n++) {
      if (is_called(spec->operands[k].taps[n].name, name, len)) {
        *tap = n;
        return k;
      }
    }
  }
  return sct_spec_find_operand(spec, name, len);
}

/* ---- checks ---- */

static bool same_deltas(const sct_operand *op, const int64_t *a, const int64_t *b) {
  for (int d = 0; d < op->n_dims; d++) {
    if (a[d] != (b ? b[d] : 0)) {
      return false;
    }
  }
  return true;
}

/* No other tap may have the name or the place of tap `n` of operand `at`. */
static sct_status check_apart(const sct_spec *spec, int at, int n, int line, sct_error *err) {
  const sct_operand *op = &spec->operands[at];
  const sct_tap *tap = &op->taps[n];
  for (int k = 0; k <= at; k++) {
    const sct_operand *other = &spec->operands[k];
    for (int m = 0; m < (k < at ? other->n_taps : n); m++) {
      if (strcmp(other->taps[m].name, tap->name) == 0) {
        return sct_spec_fail_at(spec, err, op->file, line,
                                "tap '%s' of '%s': the name is already a tap of '%s'", tap->name,
                                op->name, other->name);
      }
    }
  }
  if (same_deltas(op, tap->delta, NULL)) {
    return sct_spec_fail_at(spec, err, op->file, line,
                            "tap '%s' of '%s' is where the array itself is read; the body calls "
                            "that place '%s'",
                            tap->name, op->name, op->name);
  }
  for (int m = 0; m < n; m++) {
    if (same_deltas(op, tap->delta, op->taps[m].delta)) {
      return sct_spec_fail_at(spec, err, op->file, line,
                              "taps '%s' and '%s' of '%s' are the same place", op->taps[m].name,
                              tap->name, op->name);
    }
  }
  return SCT_OK;
}

static sct_status check_tap(const sct_spec *spec, int at, int n, sct_error *err) {
  const sct_operand *op = &spec->operands[at];
  const sct_tap *tap = &op->taps[n];
  const int line = sct_spec_key_line(spec, op->file, op->line, tap->name);
  SCT_TRY(sct_spec_check_value_name(spec, op->file, line, "tap", tap->name, err));
  for (int d = 0; d < op->n_dims; d++) {
    if (tap->delta[d] < -SCT_MAX_TAP_DELTA || tap->delta[d] > SCT_MAX_TAP_DELTA) {
      return sct_spec_fail_at(spec, err, op->file, line,
                              "tap '%s' of '%s' is %lld elements away; at most %d", tap->name,
                              op->name, (long long)tap->delta[d], SCT_MAX_TAP_DELTA);
    }
  }
  return check_apart(spec, at, n, line, err);
}

/* Why an operand cannot have taps, as the end of a sentence; NULL if it can. */
static const char *no_taps(const sct_operand *op) {
  return op->is_inout ? "is updated in place, so its neighbours may be old or new; read it as an "
                        "input and write an array of another name"
         : op->is_output     ? "is written; only inputs are read at several places"
         : op->is_index      ? "is an index array"
         : op->through_index ? "is read through an index array; its neighbours are anywhere"
                             : NULL;
}

sct_status sct_spec_check_taps(const sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    const char *why = op->n_taps > 0 ? no_taps(op) : NULL;
    if (why || op->n_taps > SCT_MAX_TAPS) {
      return why ? sct_spec_fail_at(spec, err, op->file, op->line, "'%s' cannot have taps: it %s",
                                    op->name, why)
                 : sct_spec_fail_at(spec, err, op->file, op->line,
                                    "'%s' has %d taps; at most %d are possible", op->name,
                                    op->n_taps, SCT_MAX_TAPS);
    }
    for (int n = 0; n < op->n_taps; n++) {
      SCT_TRY(check_tap(spec, k, n, err));
    }
  }
  return SCT_OK;
}

/* ---- canonical text ---- */

void sct_spec_print_taps(sct_str *out, const sct_operand *op) {
  for (int k = 0; k < op->n_taps; k++) {
    sct_str_printf(out, "%s%s (", k > 0 ? ", " : "", op->taps[k].name);
    for (int d = 0; d < op->n_dims; d++) {
      sct_str_printf(out, "%s%lld", d > 0 ? ", " : "", (long long)op->taps[k].delta[d]);
    }
    sct_str_append(out, ")");
  }
}
