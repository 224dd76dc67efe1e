/* An expression over variables, each in [0, count), as spans: of the array's offset, or of a place
 * along one of its indices.
 *
 * A variable that stands in a quotient is split into the digits that the divisor asks for; what is
 * then a term of its own is a mode, and what is still entangled (a swizzle, a clamp) is gone
 * through. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_footprint.h"

enum { MOST_POINTS = 1 << 18 }; /* of entangled variables */

static int n_made; /* names of variables; they are gone with the mark */

sct_expr sct_sum_var(sct_expr_pool *pool, int64_t count) {
  char name[48];
  snprintf(name, sizeof name, "footprint.%d.%lld", n_made++ & 0xffffff, (long long)count);
  return sct_expr_var(pool, name, 0, count - 1, 1);
}

bool sct_sum_add(sum *s, sct_expr var, int64_t count) {
  if (s->n == MOST_VARS || var == SCT_EXPR_NONE) {
    return false;
  }
  s->v[s->n++] = (variable){var, count};
  return true;
}

static void drop_var(sum *s, int k) {
  memmove(&s->v[k], &s->v[k + 1], sizeof *s->v * (size_t)(s->n - 1 - k));
  s->n--;
}

/* In place of variable k: `with`, over a new variable. */
static void replace(sum *s, int k, sct_expr with) {
  const sct_expr var = s->v[k].var;
  s->e = sct_expr_subst(s->pool, s->e, &var, &with, 1);
}

/* x = digits * q + r, and the last few. */
static bool split_digits(sct_spans *out, const sum *s, int k, int64_t digits) {
  SCT_OWNED sum *one = sct_alloc(sizeof *one);
  const int64_t count = s->v[k].count, whole = count / digits, rest = count % digits;
  for (int tail = 0; tail < 2; tail++) {
    const int64_t n_q = tail ? 1 : whole, n_r = tail ? rest : digits;
    if (n_q == 0 || n_r == 0) {
      continue;
    }
    *one = *s;
    const sct_expr q = sct_sum_var(s->pool, n_q), r = sct_sum_var(s->pool, n_r);
    const sct_expr high = tail ? sct_expr_const(s->pool, whole * digits)
                               : sct_expr_mul(s->pool, q, sct_expr_const(s->pool, digits));
    replace(one, k, sct_expr_add(s->pool, high, r));
    drop_var(one, k);
    if (one->e == SCT_EXPR_NONE || (!tail && !sct_sum_add(one, q, n_q)) ||
        !sct_sum_add(one, r, n_r) || !sct_sum_put(out, one)) {
      return false;
    }
  }
  return true;
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/* Makes one quotient simpler. *done: spans were put for all that it became. */
static bool simplify(sct_spans *out, sum *s, bool *done, bool *failed) {
  sct_expr dividend[MOST_VARS], divisor[MOST_VARS];
  const int n = sct_expr_quotients(s->pool, s->e, dividend, divisor, MOST_VARS);
  for (int j = 0; j < n && j < MOST_VARS; j++) {
    int64_t by = 0, step = 0;
    sct_expr rest;
    for (int k = 0; k < s->n && sct_expr_is_const(s->pool, divisor[j], &by) && by > 1; k++) {
      const bool linear = sct_expr_mentions(s->pool, dividend[j], s->v[k].var) &&
                          sct_expr_linear(s->pool, dividend[j], s->v[k].var, &step, &rest);
      const int64_t digits = linear ? by / gcd(by, step) : 0;
      if (digits > 1 && digits < s->v[k].count) {
        *done = true;
        *failed = !split_digits(out, s, k, digits);
        return true;
      }
    }
  }
  return false;
}

static int compare_values(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* How many of the values from the first on are evenly spaced. */
static int64_t even_run(const int64_t *value, int64_t n) {
  int64_t run = n < 2 ? n : 2;
  while (run < n && value[run] - value[run - 1] == value[1] - value[0]) {
    run++;
  }
  return run;
}

/* Distinct ascending values, each added to the base: as few spans as follow from even steps. */
static bool put_values(sct_spans *out, const sum *s, const int64_t *value, int64_t n) {
  int64_t run = even_run(value, n), starts = 0;
  bool alike = n % run == 0;
  for (int64_t k = 0; k < n && alike; k += run) {
    alike = even_run(value + k, run) == run &&
            (run < 2 || value[k + 1] - value[k] == value[1] - value[0]);
  }
  SCT_OWNED sum *part = sct_alloc(sizeof *part);
  if (alike && run > 1) {
    SCT_OWNED int64_t *start = sct_alloc(sizeof *start * (size_t)(n / run));
    for (int64_t k = 0; k < n; k += run) {
      start[starts++] = value[k];
    }
    *part = *s;
    const bool added = sct_span_add(&part->fixed, run > 1 ? value[1] - value[0] : 0, run);
    return added && put_values(out, part, start, starts);
  }
  for (int64_t k = 0; k < n; k += run) {
    run = even_run(value + k, n - k);
    *part = *s;
    part->fixed.base += value[k];
    if (!sct_span_add(&part->fixed, run > 1 ? value[k + 1] - value[k] : 0, run) ||
        !sct_sum_put(out, part)) {
      return false;
    }
  }
  return true;
}

/* The variables that stand with variable `first` in terms which are not multiples of one alone, and
 * those that stand with these. */
static void entangled(const sum *s, int first, bool in[MOST_VARS]) {
  memset(in, 0, sizeof *in * MOST_VARS);
  in[first] = true;
  for (bool more = true; more;) {
    sct_expr group[MOST_VARS], with, without;
    int n = 0;
    for (int k = 0; k < s->n; k++) {
      group[n] = s->v[k].var;
      n += in[k];
    }
    sct_expr_split(s->pool, s->e, group, n, &with, &without);
    more = false;
    for (int k = 0; k < s->n; k++) {
      const bool joins = !in[k] && sct_expr_mentions(s->pool, with, s->v[k].var);
      in[k] = in[k] || joins;
      more = more || joins;
    }
  }
}

/* Goes through the values that an entangled group of variables gives. */
static bool put_entangled(sct_spans *out, const sum *s, int first) {
  bool in[MOST_VARS];
  sct_expr var[MOST_VARS], with, without;
  int64_t count[MOST_VARS], index[MOST_VARS] = {0}, points = 1, n_values = 0;
  int n = 0;
  entangled(s, first, in);
  SCT_OWNED sum *rest = sct_alloc(sizeof *rest);
  *rest = *s;
  for (int k = s->n - 1; k >= 0; k--) {
    if (in[k]) {
      var[n] = s->v[k].var;
      count[n++] = s->v[k].count;
      points = sct_spec_mul(points, s->v[k].count);
      drop_var(rest, k);
    }
  }
  sct_expr_split(s->pool, s->e, var, n, &with, &without);
  rest->e = without;
  sct_expr_program *program = NULL;
  if (points > MOST_POINTS ||
      sct_expr_program_new(&program, s->pool, with, var, n, NULL) != SCT_OK) {
    return false;
  }
  SCT_OWNED int64_t *value = sct_alloc(sizeof *value * (size_t)points);
  for (int64_t p = 0; p < points; p++) {
    value[p] = sct_expr_program_run(program, index);
    for (int k = 0; k < n && ++index[k] == count[k]; k++) {
      index[k] = 0;
    }
  }
  sct_expr_program_free(program);
  qsort(value, (size_t)points, sizeof *value, compare_values);
  for (int64_t p = 0; p < points; p++) {
    if (n_values == 0 || value[p] != value[n_values - 1]) {
      value[n_values++] = value[p];
    }
  }
  return put_values(out, rest, value, n_values);
}

/* Puts the spans of the values of an expression. false: there are too many. */
bool sct_sum_put(sct_spans *out, sum *s) {
  bool done = false, failed = false;
  while (simplify(out, s, &done, &failed)) {
    if (done) {
      return !failed;
    }
  }
  for (int k = s->n - 1; k >= 0; k--) {
    int64_t step = 0;
    sct_expr rest;
    if (sct_expr_linear(s->pool, s->e, s->v[k].var, &step, &rest)) {
      if (!sct_span_add(&s->fixed, step, s->v[k].count)) {
        return false;
      }
      s->e = rest;
      drop_var(s, k);
    }
  }
  if (s->n > 0) {
    return put_entangled(out, s, 0);
  }
  int64_t base = 0;
  if (!sct_expr_is_const(s->pool, s->e, &base)) {
    return false;
  }
  span put = s->fixed;
  put.base += base;
  sct_spans_put(out, &put);
  return true;
}
