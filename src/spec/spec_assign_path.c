/* The path on which a value is missing, in words: the conditions that lead along it. */
#include <string.h>

#include "spec/spec_assign.h"

bool sct_gap_lacks(const assign *a, unit_set s) {
  return a->explains && (s & sct_assign_bits(a, (units){a->watched, 1, 1})) == 0;
}

int sct_gap_new(assign *a, gap g) {
  if (!a->explains || a->n_gaps == ASSIGN_MAX_GAPS) {
    return a->gap;
  }
  a->gaps[a->n_gaps] = g;
  return a->n_gaps++;
}

void sct_gap_branches(assign *a, gap g, unit_set yes, int yes_gap, unit_set no, int no_gap,
                      bool has_else) {
  const bool lacks_yes = sct_gap_lacks(a, yes), lacks_no = sct_gap_lacks(a, no);
  a->gap = g.prior;
  if (lacks_no && (!lacks_yes || no_gap != g.prior)) {
    g.kind = has_else ? GAP_IN_ELSE : GAP_FALSE;
    g.inner = no_gap;
    a->gap = sct_gap_new(a, g);
  } else if (lacks_yes && (!lacks_no || yes_gap != g.prior)) {
    g.kind = GAP_IN_THEN;
    g.inner = yes_gap;
    a->gap = sct_gap_new(a, g);
  }
}

/* ---- in words ---- */

enum { MAX_STEPS = 16, MAX_TEXT = 60 };

typedef struct path {
  const gap *steps[MAX_STEPS];
  int n;
  bool all_false;
} path;

/* The chain of gaps after `stop` up to `last`, in the order of the text. */
static void collect(const assign *a, int last, int stop, path *p) {
  if (last < 0 || last == stop || p->n == MAX_STEPS) {
    return;
  }
  const gap *g = &a->gaps[last];
  collect(a, g->prior, stop, p);
  if (p->n < MAX_STEPS) {
    p->steps[p->n++] = g;
    p->all_false = p->all_false && (g->kind == GAP_FALSE || g->kind == GAP_IN_ELSE);
  }
  collect(a, g->inner, g->prior, p);
}

static path path_of(const assign *a) {
  path p = {.all_false = true};
  collect(a, a->gap, -1, &p);
  return p;
}

/* The condition as it was written, in one line. */
static void print_condition(sct_str *out, const assign *a, const gap *g) {
  size_t n = 0;
  for (int k = g->first; k < g->end; k++) {
    const token *t = &a->t[k];
    const bool gap_before = k > g->first && t[-1].text + t[-1].len != t->text;
    n += t->len + (gap_before ? 1 : 0);
    if (n > MAX_TEXT) {
      sct_str_append(out, " ...");
      return;
    }
    sct_str_append(out, gap_before ? " " : "");
    sct_str_append_n(out, t->text, t->len);
  }
}

/* How a step along the path reads, around its condition or its statement; what would mend it. */
static const struct {
  const char *before, *after, *advice;
} ways[] = {
    [GAP_FALSE] = {"`", "` is false", "add an `else` that assigns it"},
    [GAP_IN_ELSE] = {"`", "` is false", "assign it in that branch too"},
    [GAP_IN_THEN] = {"`", "` is true", "assign it in that branch too"},
    [GAP_NO_CASE] = {"no `case` of `switch (", ")` fits", "add a `default` that assigns it"},
    [GAP_LAST_CASE] = {"the last `case` of `switch (", ")` is taken",
                       "assign it in that `case` too"},
    [GAP_NO_ITERATION] = {"the loop `", ")` has no iteration", "assign it before the loop"},
    [GAP_BREAK] = {"the `", "` on line ", "assign it before the `break`"},
    [GAP_CONTINUE] = {"the `", "` on line ", "assign it before the `continue`"},
};

static void print_step(sct_str *out, const assign *a, const gap *g) {
  const token *at = &a->t[g->at];
  const bool jumps = g->kind == GAP_BREAK || g->kind == GAP_CONTINUE;
  sct_str_append(out, ways[g->kind].before);
  if (jumps || g->kind == GAP_NO_ITERATION) {
    sct_str_printf(out, jumps ? "%.*s" : "%.*s (", (int)at->len, at->text);
  }
  print_condition(out, a, g); /* of a jump: nothing */
  sct_str_append(out, ways[g->kind].after);
  if (jumps) {
    sct_str_printf(out, "%d is taken", sct_spec_body_line(a->spec, at->text));
  }
}

void sct_gap_print_path(sct_str *out, const assign *a) {
  const path p = path_of(a);
  const bool together = p.n > 1 && p.all_false;
  for (int k = 0; k < p.n; k++) {
    sct_str_append(out, k == 0 ? " when " : k < p.n - 1 ? ", " : " and ");
    if (together) {
      sct_str_append(out, "`");
      print_condition(out, a, p.steps[k]);
      sct_str_append(out, "`");
    } else {
      print_step(out, a, p.steps[k]);
    }
  }
  if (together) {
    sct_str_append(out, p.n == 2 ? " are both false" : " are all false");
  }
}

const char *sct_gap_advice(const assign *a) {
  const path p = path_of(a);
  return p.n > 0 ? ways[p.steps[p.n - 1]->kind].advice : NULL;
}

const char *sct_gap_place(const assign *a) {
  return a->gap >= 0 ? a->t[a->gaps[a->gap].at].text : NULL;
}
