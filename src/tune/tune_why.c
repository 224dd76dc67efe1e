/* tune_why - why a winner won, in whole sentences: how it works, what it waits for and how far it
 * is from the ceiling, what the naive variant wastes; and what of the layouts no candidate can
 * mend. */
#include "tune/tune_internal.h"

#include <string.h>

/* Share of the data sheet's bandwidth that a copy reaches, where none was measured
 * (model_predict.c). */
#define COPY_OF_PEAK 0.89

static void say_how(sct_str *out, const sct_tune_item *item) {
  const char *doc = item->code.launcher_doc;
  if (doc && doc[0] != '\0') {
    sct_str_printf(out, "%s%s\n", doc, sct_has_suffix(doc, ".") ? "" : ".");
  }
}

/* `limit`: NULL where nothing is predicted. */
static void say_limit(sct_str *out, const tune_table *t, const sct_tune_size *size,
                      const sct_tune_row *row, const char *limit) {
  const sct_device_desc *device = &t->cands->device;
  const double bytes = size->read_bytes + size->write_bytes;
  const double ns = row->median_ns > 0.0 ? row->median_ns : row->predicted_ns;
  const bool timed = row->median_ns > 0.0;
  const double copy = size->ceiling_bytes_s > 0.0  ? size->ceiling_bytes_s
                      : device->copy_bytes_s > 0.0 ? device->copy_bytes_s
                                                   : COPY_OF_PEAK * device->peak_bytes_s;
  if (ns <= 0.0) {
    return;
  }
  if (limit) {
    sct_str_printf(out, "By the model it waits for %s most; ", limit);
  }
  sct_str_printf(out, "%s %s %.0f GB/s of useful bytes", limit ? "it" : "It",
                 timed ? "moves" : "is predicted to move", bytes / ns);
  if (copy > 0.0) {
    sct_str_printf(out, ", %.0f %% of what a copy reaches", 100.0 * bytes / ns * 1e9 / copy);
  }
  sct_str_append(out, ".\n");
}

static const sct_tune_row *best_naive(const sct_tune_size *size) {
  for (int r = 0; r < size->n_rows; r++) {
    const sct_tune_row *row = &size->rows[r];
    if (row->naive && strcmp(row->outcome, sct_outcome_name(SCT_OUT_OK)) == 0) {
      return row;
    }
  }
  return NULL;
}

static void say_slower(sct_str *out, const sct_tune_row *winner, const sct_tune_row *naive) {
  const bool timed = winner->median_ns > 0.0 && naive->median_ns > 0.0;
  const double by = timed                        ? naive->median_ns / winner->median_ns
                    : winner->predicted_ns > 0.0 ? naive->predicted_ns / winner->predicted_ns
                                                 : 0.0;
  if (by > 0.0) {
    sct_str_printf(out, " and %s %.2f times as long", timed ? "takes" : "is predicted to take", by);
  }
}

static void say_naive(sct_str *out, const sct_tune_size *size, const sct_tune_row *winner) {
  const sct_tune_row *naive = best_naive(size);
  if (winner->naive) {
    sct_str_printf(out, "It is the naive variant: nothing that was tried is faster%s.\n",
                   size->converted ? ", conversions counted" : "");
    return;
  }
  if (!naive || !naive->counted || !winner->counted || winner->sectors <= 0.0) {
    return;
  }
  const double times = naive->sectors / winner->sectors;
  sct_str_append(out, "The naive variant touches ");
  if (times < 1.02) {
    sct_str_append(out, "no more sectors than the winner");
  } else if (naive->sectors_ld > 0.0) {
    sct_str_printf(out, "%.1f sectors a request of loads", naive->sectors_ld);
    if (naive->sectors_st > 0.0) {
      sct_str_printf(out, " and %.1f of stores", naive->sectors_st);
    }
  } else {
    sct_str_printf(out, "%.1f sectors a request of stores", naive->sectors_st);
  }
  if (times >= 1.02) {
    sct_str_printf(out, ", in all %.2f times the winner's,", times);
  }
  say_slower(out, winner, naive);
  sct_str_append(out, ".\n");
}

/* The best verified candidate with exact or with fast arithmetic; NULL. */
static const sct_tune_row *best_math(const sct_tune_size *size, const char *math) {
  const sct_tune_row *best = NULL;
  for (int r = 0; r < size->n_rows; r++) {
    const sct_tune_row *row = &size->rows[r];
    const bool good = strcmp(row->outcome, sct_outcome_name(SCT_OUT_OK)) == 0;
    if (good && sct_has_suffix(row->label, math) && sct_tune_row_ns(row) > 0.0 &&
        (!best || sct_tune_row_ns(row) < sct_tune_row_ns(best))) {
      best = row;
    }
  }
  return best;
}

/* What fast arithmetic bought, where there is the choice. */
static void say_math(sct_str *out, const tune_table *t, const sct_tune_size *size,
                     const sct_tune_row *winner) {
  const sct_tune_row *exact = best_math(size, " math=exact"), *fast = best_math(size, " math=fast");
  const char *how = t->times ? "takes" : "is predicted to take";
  char a[32], b[32];
  if (!exact || !fast) {
    return;
  }
  sct_format_ns(a, sct_tune_row_ns(fast));
  sct_format_ns(b, sct_tune_row_ns(exact));
  if (sct_tune_row_ns(fast) < sct_tune_row_ns(exact)) {
    sct_str_printf(out, "Fast arithmetic %s %s, exact arithmetic at best %s.\n", how, a, b);
  } else {
    sct_str_printf(out, "Fast arithmetic gains nothing: it %s %s%s.\n", how, a,
                   winner == fast ? ", as exact does" : "");
  }
}

/* ---- the best of each strategy, and of each layout ---- */

static bool has_word(const char *label, const char *word, size_t n) {
  for (const char *at = label; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL) {
    if (strncmp(at, word, n) == 0 && (at[n] == ' ' || at[n] == '\0')) {
      return true;
    }
  }
  return false;
}

/* The best verified row whose label has the word; NULL. */
static const sct_tune_row *best_with(const sct_tune_size *size, const char *word, size_t n) {
  const sct_tune_row *best = NULL;
  for (int r = 0; r < size->n_rows; r++) {
    const sct_tune_row *row = &size->rows[r];
    const bool good = strcmp(row->outcome, sct_outcome_name(SCT_OUT_OK)) == 0;
    if (good && sct_tune_row_ns(row) > 0.0 && has_word(row->label, word, n) &&
        (!best || sct_tune_row_ns(row) < sct_tune_row_ns(best))) {
      best = row;
    }
  }
  return best;
}

typedef struct best {
  const char *word;
  double ns;
} best;

/* "exchange 34.39 us, map 139.5 us", the fastest first; nothing where there are fewer than two. */
static void put_line(sct_str *out, best *list, int n) {
  for (int k = 0; k < n && n > 1; k++) {
    int least = k;
    char time[32];
    for (int other = k + 1; other < n; other++) {
      least = list[other].ns < list[least].ns ? other : least;
    }
    const best here = list[least];
    list[least] = list[k];
    list[k] = here;
    sct_str_printf(out, "%s%s %s%s", k > 0 ? ", " : "", here.word, sct_format_ns(time, here.ns),
                   k == n - 1 ? "\n" : "");
  }
}

static int add_best(best *list, int n, const sct_tune_size *size, const char *word) {
  const sct_tune_row *row = best_with(size, word, strlen(word));
  if (row) {
    list[n++] = (best){word, sct_tune_row_ns(row)};
  }
  return n;
}

static char *best_lines(const tune_table *t, const sct_tune_size *size) {
  const sct_space *space = &t->cands->space;
  const sct_spec *spec = &t->cands->spec;
  SCT_SCOPED(sct_arena) arena = {0};
  sct_str out = {0};
  best *list = SCT_ARENA_NEW(&arena, best, space->n_strategies + 1);
  int n = 0;
  for (int k = 0; k < space->n_strategies; k++) {
    const char *name = space->strategies[k].name;
    const bool again = k > 0 && strcmp(space->strategies[k - 1].name, name) == 0;
    n = again ? n : add_best(list, n, size, name);
  }
  put_line(&out, list, n > 2 ? n : 0); /* the naive variant and another: the table has both */
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_operand *o = &spec->operands[op];
    list = SCT_ARENA_NEW(&arena, best, o->n_layouts + 1);
    n = 0;
    for (int k = 0; k < o->n_layouts && o->n_layouts > 1; k++) {
      n = add_best(list, n, size, sct_arena_printf(&arena, "%s=%s", o->name, o->layouts[k].label));
    }
    put_line(&out, list, n);
  }
  return out.data;
}

/* What decided among candidates that are as good. */
static char *decided_sentence(const tune_table *t, const sct_choice *choice) {
  sct_str text = {0};
  if (choice->rule) {
    sct_str_printf(&text, "%d are as good%s: %s decided", choice->n_close,
                   t->times ? "" : " by the model", choice->rule);
  }
  return text.data;
}

void sct_tune_why(const tune_table *t, int size, sct_tune_size *report) {
  const sct_choice *choice = &t->choices[size];
  const sct_tune_row *row = report->n_rows > 0 ? &report->rows[0] : NULL;
  if (choice->winner < 0 || !row || !row->winner) {
    return;
  }
  const sct_tune_item *item = &t->cands->items[choice->winner];
  sct_str text = {0};
  say_how(&text, item);
  const sct_limit limit = sct_tune_cell(t, choice->winner, size)->predicted.limit;
  say_limit(&text, t, report, row, row->predicted_limit ? sct_limit_phrase(limit) : NULL);
  say_naive(&text, report, row);
  say_math(&text, t, report, row);
  report->why = text.data;
  report->decided = decided_sentence(t, choice);
  report->best = best_lines(t, report);
  report->n_issues = sct_model_layout_issues(&report->issues, &t->cands->spec, item->code.layout,
                                             &t->cands->spec.sizes[size], &report->arena);
}
