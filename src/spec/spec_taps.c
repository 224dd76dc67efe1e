/* Taps: one array read at several places, and windows: what may be one, and be its name. */
#include <string.h>

#include "spec/spec_internal.h"

static const char *const border_names[] = {"none",    "clamp", "zero", "wrap",
                                           "reflect", "skip",  "value"};

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

bool sct_operand_leaves(const sct_operand *op, int d) {
  bool reaches = op->n_taps == 0;
  for (int k = 0; k < op->n_taps; k++) {
    reaches = reaches || op->taps[k].delta[d] != 0 || sct_tap_count(&op->taps[k], d) > 1;
  }
  return reaches && op->border != SCT_BORDER_NONE;
}

bool sct_border_reads(sct_border border) {
  return border == SCT_BORDER_CLAMP || border == SCT_BORDER_WRAP || border == SCT_BORDER_REFLECT;
}

bool sct_spec_is_own_dim(const sct_spec *spec, const sct_operand *op, int d) {
  bool own = false;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    own = own || (op->at[d] == spec->dim_var[dim] && op->extent[d] == spec->extent_var[dim]);
  }
  return own;
}

void sct_operand_reach(const sct_operand *op, int d, int64_t *lo, int64_t *hi) {
  *lo = 0;
  *hi = 0;
  for (int k = 0; k < op->n_taps; k++) {
    const sct_tap *tap = &op->taps[k];
    const int64_t first = tap->delta[d];
    const int64_t last = first + (sct_tap_count(tap, d) - 1) * sct_tap_step(tap, d);
    *lo = first < *lo ? first : *lo;
    *hi = last > *hi ? last : *hi;
  }
}

bool sct_spec_has_taps(const sct_spec *spec) {
  for (int k = 0; k < spec->n_operands; k++) {
    if (spec->operands[k].n_taps > 0 || spec->operands[k].border != SCT_BORDER_NONE) {
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
  if (!tap->how && same_deltas(op, tap->delta, NULL)) {
    return sct_spec_fail_at(spec, err, op->file, line,
                            "tap '%s' of '%s' is where the array itself is read; the body calls "
                            "that place '%s'",
                            tap->name, op->name, op->name);
  }
  for (int m = 0; m < n; m++) {
    if (!tap->how && !op->taps[m].how && same_deltas(op, tap->delta, op->taps[m].delta)) {
      return sct_spec_fail_at(spec, err, op->file, line,
                              "taps '%s' and '%s' of '%s' are the same place", op->taps[m].name,
                              tap->name, op->name);
    }
  }
  return SCT_OK;
}

/* A window has elements that become one: numbers, not too many. */
static sct_status check_window(const sct_spec *spec, const sct_operand *op, const sct_tap *tap,
                               sct_error *err) {
  const sct_field *first = &op->record.fields[0];
  int64_t n = 1;
  if (first->name[0] != '\0' || sct_type_get(first->type)->lanes > 1) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "'%s' has a window, so its elements are numbers, not records or "
                            "vectors; give each field an array of its own",
                            op->name);
  }
  for (int d = 0; d < op->n_dims; d++) {
    n = tap->count[d] < 1 || tap->step[d] < 1 ? 0 : sct_spec_mul(n, tap->count[d]);
  }
  if (n < 1 || n > SCT_MAX_WINDOW) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "the window of '%s' has %lld elements; from 1 to %d are possible, "
                            "1 or more apart",
                            op->name, (long long)n, SCT_MAX_WINDOW);
  }
  return SCT_OK;
}

static sct_status check_tap(const sct_spec *spec, int at, int n, sct_error *err) {
  const sct_operand *op = &spec->operands[at];
  const sct_tap *tap = &op->taps[n];
  const int line = sct_spec_key_line(spec, op->file, op->line, tap->name);
  if (!tap->how || strcmp(tap->name, op->name) != 0) {
    SCT_TRY(sct_spec_check_value_name(spec, op->file, line, "tap", tap->name, err));
  }
  if (tap->how) {
    SCT_TRY(check_window(spec, op, tap, err));
  }
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
    const bool has_border = op->border != SCT_BORDER_NONE;
    const char *why = op->n_taps > 0 || has_border ? no_taps(op) : NULL;
    if (why || op->n_taps > SCT_MAX_TAPS) {
      return why ? sct_spec_fail_at(spec, err, op->file, op->line, "'%s' cannot have %s: it %s",
                                    op->name, op->n_taps > 0 ? "taps" : "a border", why)
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

static void print_list(sct_str *out, const char *before, const int64_t *list, int n) {
  for (int d = 0; d < n; d++) {
    sct_str_printf(out, "%s%lld", d > 0 ? ", " : before, (long long)list[d]);
  }
  sct_str_append(out, ")");
}

void sct_tap_print(sct_str *out, const sct_operand *op, int n) {
  const sct_tap *tap = &op->taps[n];
  sct_str_append(out, tap->name);
  print_list(out, " (", tap->delta, op->n_dims);
  if (tap->how) {
    sct_str_printf(out, " %s", tap->how);
    print_list(out, " of (", tap->count, op->n_dims);
    print_list(out, " by (", tap->step, op->n_dims);
  }
}

void sct_border_print(sct_str *out, const sct_operand *op) {
  sct_str_append(out, sct_border_name(op->border));
  if (op->border == SCT_BORDER_VALUE) {
    sct_str_printf(out, " %.17g", op->border_value);
  }
}
