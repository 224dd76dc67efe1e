/* tune_why - why a winner won, in whole sentences: how it works, what it waits for and how far it
 * is from the ceiling, what the naive variant wastes; and what of the layouts no candidate can
 * mend. */
#include "tune/tune_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES          32
#define SEVERAL_PASSES 1.5

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
  const double ns = sct_row_ns(&row->outcome);
  const bool timed = row->outcome.times.median_ns > 0.0;
  const double copy =
      size->ceiling_bytes_s > 0.0 ? size->ceiling_bytes_s : sct_tune_copy_rate(device);
  if (ns <= 0.0) {
    return;
  }
  if (limit) {
    sct_str_printf(out, "Limited by %s, says the model; ", limit);
  }
  sct_str_printf(out, "%s %s %.0f GB/s of useful bytes", limit ? "it" : "It",
                 timed ? "moves" : "is predicted to move", bytes / ns);
  if (copy > 0.0) {
    sct_str_printf(out, ", %.0f %% of a copy's rate", 100.0 * bytes / ns * 1e9 / copy);
  }
  sct_str_append(out, !timed && row->incredible
                          ? ": more than memory can do, so the prediction is wrong.\n"
                          : ".\n");
}

static const sct_tune_row *best_naive(const sct_tune_size *size) {
  for (int r = 0; r < size->n_rows; r++) {
    const sct_tune_row *row = &size->rows[r];
    if (row->naive && sct_row_is_ok(&row->outcome)) {
      return row;
    }
  }
  return NULL;
}

static void say_slower(sct_str *out, const sct_tune_row *winner, const sct_tune_row *naive) {
  const sct_row_outcome *w = &winner->outcome, *n = &naive->outcome;
  const bool timed = w->times.median_ns > 0.0 && n->times.median_ns > 0.0;
  const double by = timed                   ? n->times.median_ns / w->times.median_ns
                    : w->predicted_ns > 0.0 ? n->predicted_ns / w->predicted_ns
                                            : 0.0;
  if (by > 0.0) {
    sct_str_printf(out, " and %s %.2f times as long", timed ? "takes" : "is predicted to take", by);
  }
}

static void say_naive(sct_str *out, const sct_tune_size *size, const sct_tune_row *winner) {
  const sct_tune_row *naive = best_naive(size);
  if (winner->naive) {
    sct_str_printf(out, "This is the naive variant: no other candidate is faster%s.\n",
                   size->converted ? ", conversions included" : "");
    return;
  }
  if (!naive || !naive->counted || !winner->counted || sct_row_sectors(&winner->outcome) <= 0.0) {
    return;
  }
  const double times = sct_row_sectors(&naive->outcome) / sct_row_sectors(&winner->outcome);
  const double loads = sct_tune_row_loads(naive), stores = sct_tune_row_stores(naive);
  sct_str_append(out, "The naive variant touches ");
  if (times < 1.02) {
    sct_str_append(out, "no more sectors than the winner");
  } else if (loads > 0.0) {
    sct_str_printf(out, "%.1f sectors per load request", loads);
    if (stores > 0.0) {
      sct_str_printf(out, " and %.1f per store request", stores);
    }
  } else {
    sct_str_printf(out, "%.1f sectors per store request", stores);
  }
  if (times >= 1.02) {
    sct_str_printf(out, ", %.2f times the winner's in total,", times);
  }
  say_slower(out, winner, naive);
  sct_str_append(out, ".\n");
}

/* The best verified candidate with exact or with fast arithmetic; NULL. */
static const sct_tune_row *best_math(const sct_tune_size *size, const char *math) {
  const sct_tune_row *best = NULL;
  for (int r = 0; r < size->n_rows; r++) {
    const sct_tune_row *row = &size->rows[r];
    const bool good = sct_row_is_ok(&row->outcome);
    if (good && sct_has_suffix(row->label, math) && sct_row_ns(&row->outcome) > 0.0 &&
        (!best || sct_row_ns(&row->outcome) < sct_row_ns(&best->outcome))) {
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
  sct_format_ns(a, sct_row_ns(&fast->outcome));
  sct_format_ns(b, sct_row_ns(&exact->outcome));
  const double least = sct_row_ns(&fast->outcome);
  const double same = t->times ? (1.0 + SCT_LEAST_NOISE) * least
                               : fmax(SCT_PREDICTED_SLACK * least, least + SCT_PREDICTED_NS);
  if (same < sct_row_ns(&exact->outcome)) {
    sct_str_printf(out, "Fast arithmetic %s %s, exact arithmetic at best %s.\n", how, a, b);
  } else {
    sct_str_printf(out, "Fast arithmetic gains nothing: it %s %s%s.\n", how, a,
                   winner == fast ? ", like exact arithmetic" : "");
  }
}

/* NULL: nothing. */
static const char *kept(sct_arena *arena, const sct_str *text) {
  return text->len > 0 ? sct_arena_strdup(arena, text->data) : NULL;
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
    const bool good = sct_row_is_ok(&row->outcome);
    if (good && sct_row_ns(&row->outcome) > 0.0 && has_word(row->label, word, n) &&
        (!best || sct_row_ns(&row->outcome) < sct_row_ns(&best->outcome))) {
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
    list[n++] = (best){word, sct_row_ns(&row->outcome)};
  }
  return n;
}

static const char *best_lines(const tune_table *t, sct_tune_size *size) {
  const sct_space *space = &t->cands->space;
  const sct_spec *spec = &t->cands->spec;
  sct_arena *arena = &size->arena;
  SCT_SCOPED(sct_str) out = {0};
  best *list = SCT_ARENA_NEW(arena, best, space->n_strategies + 1);
  int n = 0;
  for (int k = 0; k < space->n_strategies; k++) {
    const char *name = space->strategies[k].name;
    const bool again = k > 0 && strcmp(space->strategies[k - 1].name, name) == 0;
    n = again ? n : add_best(list, n, size, name);
  }
  put_line(&out, list, n > 2 ? n : 0); /* the naive variant and another: the table has both */
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_operand *o = &spec->operands[op];
    list = SCT_ARENA_NEW(arena, best, o->n_layouts + 1);
    n = 0;
    for (int k = 0; k < o->n_layouts && o->n_layouts > 1; k++) {
      n = add_best(list, n, size, sct_arena_printf(arena, "%s=%s", o->name, o->layouts[k].label));
    }
    put_line(&out, list, n);
  }
  return kept(arena, &out);
}

/* What decided among candidates that are as good: of all that are tied, or of those that are so
 * close that times say nothing. */
static const char *decided_sentence(const sct_choice *choice, sct_arena *arena) {
  SCT_SCOPED(sct_str) text = {0};
  if (choice->rules != 0) {
    sct_str_append(&text, "picked by ");
    sct_choice_rules(&text, choice);
    if (choice->n_close < choice->n_tied) {
      sct_str_printf(&text, " among the %d fastest", choice->n_close);
    }
  }
  return kept(arena, &text);
}

/* ---- what is not coalesced ---- */

/* Accesses of the winner to an operand, one way, and what they take too much. */
typedef struct excess {
  const char *operand;
  bool is_load;
  sct_count count;
  double sectors, times; /* above the minimum; sectors by the minimum */
} excess;

static int by_excess(const void *pa, const void *pb) {
  const excess *a = pa, *b = pb;
  return (a->sectors < b->sectors) - (a->sectors > b->sectors);
}

static sct_count without(const sct_count *all, const sct_count *stored) {
  return (sct_count){.requests = all->requests - stored->requests,
                     .sectors = all->sectors - stored->sectors,
                     .tags = all->tags - stored->tags,
                     .distinct_bytes = all->distinct_bytes - stored->distinct_bytes};
}

/* list[2 n_operands], the largest excess first; those that hardly move more are left out. */
static int find_excess(excess *list, const sct_spec *spec, const sct_counters *c,
                       const sct_coalescing *found) {
  const double all = (double)(c->load.sectors + c->store.sectors);
  int n = 0;
  for (int k = 0; k < 2 * c->n_operands; k++) {
    const int op = k / 2;
    const sct_access *access = k % 2 == 0 ? &found->load[op] : &found->store[op];
    const double least = sct_access_minimum(access);
    if (access->sectors - least >= SCT_LEAST_EXCESS * all && least > 0.0) {
      list[n++] =
          (excess){.operand = spec->operands[op].name,
                   .is_load = k % 2 == 0,
                   .count = k % 2 == 0 ? without(&c->operand[op], &c->stored[op]) : c->stored[op],
                   .sectors = access->sectors - least,
                   .times = access->sectors / least};
    }
  }
  qsort(list, (size_t)n, sizeof *list, by_excess);
  return n;
}

/* What to write instead, by the rules for one access. */
static const char *advice_on(const excess *e, double all, sct_arena *arena) {
  const double requests = (double)e->count.requests;
  sct_advice found[SCT_N_RULES];
  const sct_facts facts = {.access = e->is_load ? "loads" : "stores",
                           .is_load = e->is_load,
                           .lanes = LANES,
                           .width = (double)e->count.distinct_bytes / requests / LANES,
                           .each = (double)e->count.sectors / requests,
                           .ideal = (double)e->count.sectors / requests / e->times,
                           .lines = (double)e->count.tags / requests,
                           .excess = e->sectors / all};
  return requests > 0.0 && sct_model_advise(found, SCT_SCOPE_GLOBAL, &facts, arena) > 0
             ? found[0].advice
             : NULL;
}

/* An array that is gone through several times, which no access shows. Passes in sectors may come
 * from where rows begin, so bytes have to be asked for several times too. */
static void say_passes(sct_str *out, const tune_table *t, int size) {
  const int winner = t->choices[size].winner;
  const sct_spec *spec = &t->cands->spec;
  const tune_cell *cell = sct_tune_cell(t, winner, size);
  const char *most = NULL;
  double again = 0.0, times = 0.0;
  sct_coalescing found;
  if (!cell->counted || cell->estimated || !(cell->row.how.passes >= SEVERAL_PASSES) ||
      sct_model_coalescing(&found, &cell->counters, spec, &t->cands->items[winner].code,
                           &spec->sizes[size], NULL) != SCT_OK) {
    return;
  }
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_access *access = &found.load[op];
    const sct_count asked = without(&cell->counters.operand[op], &cell->counters.stored[op]);
    if (access->ideal - access->footprint > again && access->footprint > 0.0 &&
        (double)asked.distinct_bytes >= SEVERAL_PASSES * access->used_bytes) {
      most = spec->operands[op].name;
      again = access->ideal - access->footprint;
      times = access->ideal / access->footprint;
    }
  }
  if (most) {
    sct_str_printf(out,
                   "It reads %s %.*f times over: keep what is used again in registers or shared "
                   "memory, or sort by the index that picks it.\n",
                   most, times < 10.0 ? 1 : 0, times);
  }
}

/* Why it wins all the same. `some`: others are coalesced. */
static void say_uncoalesced(sct_str *out, const tune_table *t, int size, bool some) {
  const int item = t->choices[size].winner;
  const sct_row_coalesced *how = &sct_tune_cell(t, item, size)->row.how;
  const char *reason =
      !some           ? ": the fastest of them wins"
      : t->select_any ? ""
      : sct_tune_is_naive_item(t->cands, item, size)
          ? ": the naive variant is faster than all that are"
          : ": it is faster than all that are, and moves no more sectors than the fastest of them";
  sct_str_printf(out, "%s %scoalesced%s", some ? "the winner is not" : "no candidate is",
                 how->unknown ? "known to be " : "", reason);
  if (how->unknown) {
    sct_str_printf(out, "; its sectors are from a sample, to within %.2g %%",
                   100.0 * how->sectors_error);
  }
}

/* Lines: the winner is not coalesced, at which accesses, and what would be. */
static const char *uncoalesced_lines(const tune_table *t, int size, sct_arena *arena) {
  const sct_spec *spec = &t->cands->spec;
  const int winner = t->choices[size].winner;
  const tune_cell *cell = sct_tune_cell(t, winner, size);
  sct_coalescing found;
  excess list[2 * SCT_MAX_OPERANDS];
  SCT_SCOPED(sct_str) out = {0};
  bool some = false;
  for (int k = 0; k < t->cands->n_items; k++) {
    const tune_cell *other = sct_tune_cell(t, k, size);
    const bool good = t->cands->items[k].outcome == SCT_OUT_OK && sct_row_is_ok(&other->row) &&
                      sct_tune_is_measured(t, other);
    some = some || (good && other->row.how.coalesced);
  }
  if (cell->row.how.coalesced) {
    return NULL;
  }
  say_uncoalesced(&out, t, size, some);
  if (cell->counted && !cell->estimated &&
      sct_model_coalescing(&found, &cell->counters, spec, &t->cands->items[winner].code,
                           &spec->sizes[size], NULL) == SCT_OK) {
    const double all = (double)(cell->counters.load.sectors + cell->counters.store.sectors);
    const int n = find_excess(list, spec, &cell->counters, &found);
    for (int k = 0; k < n; k++) {
      const char *advice = advice_on(&list[k], all, arena);
      sct_str_printf(&out, "\n%s of %s take %.3g times the sectors that they need%s%s",
                     list[k].is_load ? "loads" : "stores", list[k].operand, list[k].times,
                     advice ? ": " : "", advice ? advice : "");
    }
  }
  return kept(arena, &out);
}

void sct_tune_why(const tune_table *t, int size, sct_tune_size *report) {
  const sct_choice *choice = &t->choices[size];
  const sct_tune_row *row = report->n_rows > 0 ? &report->rows[0] : NULL;
  if (choice->winner < 0 || !row || !row->winner) {
    return;
  }
  const sct_tune_item *item = &t->cands->items[choice->winner];
  SCT_SCOPED(sct_str) text = {0};
  say_how(&text, item);
  const sct_limit limit = sct_tune_cell(t, choice->winner, size)->predicted.limit;
  say_limit(&text, t, report, row, row->predicted_limit ? sct_limit_phrase(limit) : NULL);
  say_passes(&text, t, size);
  say_naive(&text, report, row);
  say_math(&text, t, report, row);
  report->why = kept(&report->arena, &text);
  report->decided = decided_sentence(choice, &report->arena);
  report->uncoalesced = uncoalesced_lines(t, size, &report->arena);
  report->best = best_lines(t, report);
  report->n_issues = sct_model_layout_issues(&report->issues, &t->cands->spec, item->code.layout,
                                             &t->cands->spec.sizes[size], &report->arena);
}
