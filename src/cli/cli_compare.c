/* The command `compare`: two stores, or one at two dates, candidate by candidate. */
#include "cli/cli_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PREDICTED_SAME 0.005 /* of a time: quick passes scatter by more */

/* One candidate at one size as one side knows it; points into the side. */
typedef struct known {
  const char *problem, *label;
  const sct_row_device *device;
  const sct_row_run *run;
  const sct_row_result *result;
} known;

typedef struct side {
  sct_store *store;
  char *name;      /* of the kernel; NULL: all */
  char until[40];  /* no later than this; "": now */
  sct_arena arena; /* of the rows */
  sct_row_device *devices;
  int n_devices;
  known *all; /* sorted: by problem, size, device, label */
  size_t n_all, cap_all;
} side;

typedef struct comparing {
  const cli_args *args;
  side sides[2];
  json_t *groups; /* what both have */
  json_t *all;    /* these and the ones that only one side has, in order */
} comparing;

/* ---- loading ---- */

static const char *when(const sct_row_result *row, const sct_row_run *run) {
  return row->outcome.measured[0] ? row->outcome.measured : run->started;
}

static int by_place(const void *pa, const void *pb) {
  const known *a = pa, *b = pb;
  const int order[] = {strcmp(a->problem, b->problem),
                       strcmp(a->run->size_label, b->run->size_label),
                       strcmp(a->device->name, b->device->name), strcmp(a->label, b->label)};
  for (int k = 0; k < SCT_COUNT(order); k++) {
    if (order[k] != 0) {
      return order[k];
    }
  }
  return 0;
}

/* By place; of equal places the latest first. */
static int by_place_and_time(const void *pa, const void *pb) {
  const known *a = pa, *b = pb;
  const int order = by_place(a, b);
  return order != 0 ? order : strcmp(when(b->result, b->run), when(a->result, a->run));
}

static void add_rows(side *s, const sct_row_problem *problem, const sct_row_device *device,
                     const sct_row_run *run, const sct_row_result *rows, int n) {
  for (int k = 0; k < n; k++) {
    if (s->until[0] && strcmp(when(&rows[k], run), s->until) > 0) {
      continue;
    }
    SCT_GROW(s->all, s->n_all, s->cap_all);
    s->all[s->n_all++] = (known){problem->name, rows[k].candidate.label, device, run, &rows[k]};
  }
}

static sct_status load_run(side *s, const sct_row_problem *problem, const sct_row_run *run,
                           sct_error *err) {
  const sct_row_device *device = sct_row_device_find(s->devices, s->n_devices, run->device);
  if (!device) {
    return SCT_OK;
  }
  sct_row_result *rows = NULL;
  int n = 0;
  SCT_TRY(sct_store_results(s->store, &s->arena, run->id, true, &rows, &n, err));
  add_rows(s, problem, device, run, rows, n);
  if (s->until[0]) { /* those that others have replaced since, too */
    SCT_TRY(sct_store_earlier(s->store, &s->arena, run->id, &rows, &n, err));
    add_rows(s, problem, device, run, rows, n);
  }
  return SCT_OK;
}

/* Sorts the rows and keeps the latest of each place, where two drivers, say, have one each. */
static void sort_all(side *s) {
  size_t n = 0;
  if (s->n_all > 0) {
    qsort(s->all, s->n_all, sizeof s->all[0], by_place_and_time);
  }
  for (size_t k = 0; k < s->n_all; k++) {
    if (n == 0 || by_place(&s->all[n - 1], &s->all[k]) != 0) {
      s->all[n++] = s->all[k];
    }
  }
  s->n_all = n;
}

static sct_status load(side *s, const cli_args *args, sct_error *err) {
  sct_row_problem *problems = NULL;
  int n_problems = 0;
  SCT_TRY(sct_store_problems(s->store, &s->arena, &problems, &n_problems, err));
  SCT_TRY(sct_store_devices(s->store, &s->arena, &s->devices, &s->n_devices, err));
  for (int p = 0; p < n_problems; p++) {
    sct_row_run *runs = NULL;
    int n_runs = 0;
    if (!s->name || strcmp(s->name, problems[p].name) == 0) {
      SCT_TRY(sct_store_runs(s->store, &s->arena, problems[p].id, 0, &runs, &n_runs, err));
    }
    for (int k = 0; k < n_runs; k++) {
      if (!args->size || strcmp(args->size, runs[k].size_label) == 0) {
        SCT_TRY(load_run(s, &problems[p], &runs[k], err));
      }
    }
  }
  sort_all(s);
  return SCT_OK;
}

/* The parts that may follow the year in a stored time. */
static const struct {
  char before; /* this part */
  int digits, least, most;
} parts[] = {{'-', 2, 1, 12}, {'-', 2, 1, 31}, {'T', 2, 0, 23},
             {':', 2, 0, 59}, {':', 2, 0, 60}, {'.', 3, 0, 999}};

/* The number that `n` digits are; -1: they are none. */
static int digits_at(const char *text, int n) {
  int number = 0;
  for (int k = 0; k < n; k++) {
    if (text[k] < '0' || text[k] > '9') {
      return -1;
    }
    number = 10 * number + (text[k] - '0');
  }
  return number;
}

/* Is it a time, or the start of one that ends with a whole part? "2026-1" would be no month, and
 * stand before those from October on. */
static bool is_date(const char *text) {
  if (digits_at(text, 4) < 0) {
    return false;
  }
  const char *at = text + 4;
  for (int k = 0; k < SCT_COUNT(parts) && *at == parts[k].before; k++) {
    const int number = digits_at(at + 1, parts[k].digits);
    if (number < parts[k].least || number > parts[k].most) {
      return false;
    }
    at += 1 + parts[k].digits;
  }
  const bool has_seconds = at - text >= 19;
  return *at == '\0' || (has_seconds && strcmp(at, "Z") == 0);
}

/* "FILE" or "name@date". */
static sct_status open_side(side *s, const cli_args *args, const char *word, sct_error *err) {
  const char *at = strrchr(word, '@');
  if (sct_file_exists(word) || !at) {
    return sct_store_open(&s->store, word, true, err);
  }
  if (at[1] != '\0' && !is_date(at + 1)) {
    return sct_fail(err, SCT_EUSAGE,
                    "'%s': expected a date after the @, as in move@2026-01-31 or "
                    "move@2026-01-31T12",
                    word);
  }
  if (at[1] != '\0') { /* "~" sorts after anything that continues a date */
    snprintf(s->until, sizeof s->until, "%s~", at + 1);
  }
  s->name = sct_strdup(word);
  s->name[at - word] = '\0';
  return cli_store_open(&s->store, args, true, err);
}

static void close_side(side *s) {
  sct_free(s->all);
  sct_free(s->name);
  sct_arena_free(&s->arena);
  sct_store_close(s->store);
}

/* ---- one kernel at one size on one device ---- */

typedef struct pair {
  const known *a, *b;
  bool compared;  /* both are timed, or predicted and neither is timed */
  bool predicted; /* then: by predictions, which have no interval */
  sct_comparison c;
} pair;

typedef struct group {
  const known *a, *b; /* the first of each */
  pair *pairs;
  size_t n, cap;
  int counts[4]; /* by verdict */
  json_t *only[2];
  const char *winner[2];
  const char *then[2]; /* the fastest of a side whose winner is not known any more; NULL */
} group;

static bool is_same_group(const known *a, const known *b) {
  return strcmp(a->problem, b->problem) == 0 &&
         strcmp(a->run->size_label, b->run->size_label) == 0 &&
         strcmp(a->device->name, b->device->name) == 0;
}

/* The time to compare by: measured, else predicted; 0: neither is known. */
static double time_of(const sct_row_outcome *o) {
  return sct_row_is_ok(o) ? sct_row_ns(o) : 0.0;
}

/* A prediction follows from counts alone, so any change of it is one of the kernel or the model;
 * what no measurement could tell apart is the same. */
static sct_comparison compare_predicted(double a, double b) {
  const double ratio = b / a;
  return (sct_comparison){.kind = ratio < 1.0 - PREDICTED_SAME   ? SCT_FAST
                                  : ratio > 1.0 + PREDICTED_SAME ? SCT_SLOW
                                                                 : SCT_SAME,
                          .ratio = ratio,
                          .low = ratio,
                          .high = ratio};
}

static pair compare_pair(const known *a, const known *b) {
  const sct_row_outcome *of_a = &a->result->outcome, *of_b = &b->result->outcome;
  const sct_times *x = &of_a->times, *y = &of_b->times;
  pair p = {.a = a, .b = b, .compared = x->n_samples > 0 && y->n_samples > 0};
  if (p.compared) {
    const bool paired = sct_row_same_race(of_a, of_b) && x->n_samples == y->n_samples;
    p.c = sct_stats_compare(x->samples_ns, x->n_samples, y->samples_ns, y->n_samples, paired);
  } else if (x->n_samples == 0 && y->n_samples == 0 && time_of(of_a) > 0 && time_of(of_b) > 0) {
    p.compared = p.predicted = true;
    p.c = compare_predicted(time_of(of_a), time_of(of_b));
  }
  return p;
}

/* The winner; where none was ever decided (other programs' results) the fastest. *then: that, where
 * another winner may have been decided at the time, which the store does not keep: NULL is given.
 */
static const char *winner_of(const side *s, const known *first, const known *end,
                             const char **then) {
  const known *best = NULL;
  bool forgotten = false;
  for (const known *k = first; k < end; k++) {
    const sct_row_outcome *o = &k->result->outcome;
    const bool decided = !s->until[0] || strcmp(k->run->finished, s->until) <= 0;
    if (decided && k->run->winner != 0 && k->run->winner == o->id && !o->content) {
      return k->label;
    }
    forgotten = forgotten || (k->run->winner != 0 && !decided);
    const double ns = time_of(o);
    if (ns > 0 && (!best || ns < time_of(&best->result->outcome))) {
      best = k;
    }
  }
  *then = best && forgotten ? best->label : NULL;
  return best && !forgotten ? best->label : NULL;
}

static int by_time(const void *pa, const void *pb) {
  const pair *a = pa, *b = pb;
  const double x = time_of(&a->b->result->outcome), y = time_of(&b->b->result->outcome);
  if (a->compared != b->compared) {
    return a->compared ? -1 : 1;
  }
  return x != y ? (x > y) - (x < y) : strcmp(a->a->label, b->a->label);
}

static const struct {
  const char *name;
  size_t offset;
} texts[] = {{"uuid", offsetof(sct_row_device, uuid)},
             {"driver", offsetof(sct_row_device, driver)},
             {"NVRTC", offsetof(sct_row_device, nvrtc)},
             {"options", offsetof(sct_row_device, options)},
             {"version", offsetof(sct_row_device, tool)}};

static void add_condition(json_t *list, const char *name, const char *a, const char *b) {
  if (strcmp(a, b) != 0) {
    json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "name", name, "a", sct_json_string(a),
                                          "b", sct_json_string(b)));
  }
}

static json_t *conditions_of(const known *a, const known *b) {
  json_t *list = json_array();
  char x[32], y[32];
  for (int k = 0; k < SCT_COUNT(texts); k++) {
    add_condition(list, texts[k].name, *(char *const *)((const char *)a->device + texts[k].offset),
                  *(char *const *)((const char *)b->device + texts[k].offset));
  }
  snprintf(x, sizeof x, "%d", a->device->measurement);
  snprintf(y, sizeof y, "%d", b->device->measurement);
  add_condition(list, "measurement", x, y);
  snprintf(x, sizeof x, "%d MHz", a->device->clock_khz / 1000);
  snprintf(y, sizeof y, "%d MHz", b->device->clock_khz / 1000);
  add_condition(list, "clock", x, y);
  add_condition(list, "run", a->run->conditions, b->run->conditions);
  return list;
}

/* ---- JSON ---- */

static bool winner_changed(const group *g) {
  return g->winner[0] && g->winner[1] && strcmp(g->winner[0], g->winner[1]) != 0;
}

static json_t *pair_json(const pair *p) {
  const sct_row_outcome *x = &p->a->result->outcome, *y = &p->b->result->outcome;
  const bool same_source =
      strcmp(p->a->result->candidate.source_hash, p->b->result->candidate.source_hash) == 0;
  const bool timed = p->compared && !p->predicted;
  return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:b}", "label",
                   sct_json_string(p->a->label), "verdict",
                   p->compared ? json_string(sct_verdict_name(p->c.kind)) : json_null(),
                   "predicted", p->predicted, "ratio",
                   p->compared ? sct_json_number(p->c.ratio) : json_null(), "low",
                   timed ? sct_json_number(p->c.low) : json_null(), "high",
                   timed ? sct_json_number(p->c.high) : json_null(), "a_ns",
                   cli_json_positive(time_of(x)), "b_ns", cli_json_positive(time_of(y)),
                   "a_outcome", x->outcome, "b_outcome", y->outcome, "same_source", same_source);
}

static json_t *group_json(const group *g) {
  json_t *pairs = json_array();
  for (size_t k = 0; k < g->n; k++) {
    json_array_append_new(pairs, pair_json(&g->pairs[k]));
  }
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:i, s:i, s:i, s:i, s:O, s:O, s:o}", "problem",
      sct_json_string(g->a->problem), "size", sct_json_string(g->a->run->size_label), "device",
      sct_json_string(g->a->device->name), "conditions", conditions_of(g->a, g->b), "winner_a",
      sct_json_string(g->winner[0]), "winner_b", sct_json_string(g->winner[1]), "winner_changed",
      winner_changed(g), "fastest_a", sct_json_string(g->then[0]), "fastest_b",
      sct_json_string(g->then[1]), "fast", g->counts[SCT_FAST], "slow", g->counts[SCT_SLOW], "same",
      g->counts[SCT_SAME], "ambiguous", g->counts[SCT_AMBIGUOUS], "only_a", g->only[0], "only_b",
      g->only[1], "candidates", pairs);
}

/* ---- the whole ---- */

static const known *end_of_group(const side *s, const known *first) {
  const known *end = first, *last = s->all + s->n_all;
  while (end < last && is_same_group(first, end)) {
    end++;
  }
  return end;
}

/* Both are sorted by label. */
static void join(group *g, const known *a, const known *end_a, const known *b, const known *end_b) {
  while (a < end_a || b < end_b) {
    const int order = a == end_a ? 1 : b == end_b ? -1 : strcmp(a->label, b->label);
    if (order != 0) {
      json_array_append_new(g->only[order > 0], sct_json_string(order > 0 ? b->label : a->label));
    } else {
      SCT_GROW(g->pairs, g->n, g->cap);
      const pair p = compare_pair(a, b);
      g->pairs[g->n++] = p;
      if (p.compared) {
        g->counts[p.c.kind]++;
      }
    }
    a += order <= 0;
    b += order >= 0;
  }
  if (g->n > 0) {
    qsort(g->pairs, g->n, sizeof g->pairs[0], by_time);
  }
}

static void compare_group(comparing *c, const known *a, const known *b) {
  const known *end_a = end_of_group(&c->sides[0], a), *end_b = end_of_group(&c->sides[1], b);
  group g = {.a = a, .b = b, .only = {json_array(), json_array()}};
  g.winner[0] = winner_of(&c->sides[0], a, end_a, &g.then[0]);
  g.winner[1] = winner_of(&c->sides[1], b, end_b, &g.then[1]);
  join(&g, a, end_a, b, end_b);
  json_t *doc = group_json(&g);
  json_array_append(c->all, doc);
  json_array_append_new(c->groups, doc);
  json_decref(g.only[0]);
  json_decref(g.only[1]);
  sct_free(g.pairs);
}

static json_t *only_in(const char *name, const known *k) {
  return json_pack("{s:o, s:o, s:o, s:s}", "problem", sct_json_string(k->problem), "size",
                   sct_json_string(k->run->size_label), "device", sct_json_string(k->device->name),
                   "only_in", name);
}

static void compare_all(comparing *c) {
  const side *x = &c->sides[0], *y = &c->sides[1];
  const known *a = x->all, *b = y->all, *last_a = a + x->n_all, *last_b = b + y->n_all;
  while (a < last_a || b < last_b) {
    known first_a = a < last_a ? *a : (known){0}, first_b = b < last_b ? *b : (known){0};
    first_a.label = first_b.label = "";
    const int order = a == last_a ? 1 : b == last_b ? -1 : by_place(&first_a, &first_b);
    if (order == 0) {
      compare_group(c, a, b);
    } else {
      json_array_append_new(c->all, order < 0 ? only_in("A", a) : only_in("B", b));
    }
    a = order <= 0 ? end_of_group(x, a) : a;
    b = order >= 0 ? end_of_group(y, b) : b;
  }
}

static sct_status print(comparing *c, sct_error *err) {
  cli_args args = *c->args;
  args.out = NULL; /* which has the page */
  json_t *doc = json_pack("{s:o, s:o, s:O}", "a", sct_json_string(args.words[0]), "b",
                          sct_json_string(args.words[1]), "groups", c->groups);
  json_t *look = cli_output_style(&args);
  json_object_set_new(look, "top", json_integer(args.top));
  if (!args.json) {
    json_object_set(doc, "all", c->all);
  }
  return cli_show(&args, "sectile.show", "compare", doc, look, err);
}

static sct_status write_page(const comparing *c, sct_error *err) {
  SCT_SCOPED(sct_str) title = {0}, page = {0};
  sct_str_printf(&title, "%s and %s", sct_path_basename(c->args->words[0]),
                 sct_path_basename(c->args->words[1]));
  SCT_OWNED_PTR(json_t) doc = json_pack("{s:O, s:O}", "groups", c->groups, "all", c->all);
  SCT_OWNED_PTR(json_t)
  look = json_pack("{s:o, s:i}", "title", sct_json_string(sct_str_c(&title)), "top", c->args->top);
  SCT_TRY(sct_script_page(&page, "sectile.report", "comparison", doc, look, err));
  return sct_file_write(c->args->out, page.data, page.len, err);
}

sct_status cli_compare(const cli_args *args, sct_error *err) {
  comparing c = {.args = args, .groups = json_array(), .all = json_array()};
  const char *const reads[] = {args->words[0], args->words[1]};
  sct_status status = args->out ? cli_check_target(args, args->out, reads, 2, err) : SCT_OK;
  for (int k = 0; k < 2; k++) {
    SCT_TRY_DONE(status);
    SCT_TRY_DONE(open_side(&c.sides[k], args, args->words[k], err));
    SCT_TRY_DONE(load(&c.sides[k], args, err));
    if (c.sides[k].n_all == 0) {
      status = sct_fail(err, SCT_EDATA, "'%s' has no results%s%s%s%s", args->words[k],
                        c.sides[k].until[0] ? " of that time" : "", args->size ? " at size '" : "",
                        args->size ? args->size : "", args->size ? "'" : "");
      goto done;
    }
  }
  compare_all(&c);
  status = args->out ? write_page(&c, err) : SCT_OK;
  SCT_THEN(print(&c, err));
done:
  close_side(&c.sides[0]);
  close_side(&c.sides[1]);
  json_decref(c.groups);
  json_decref(c.all);
  return status;
}
