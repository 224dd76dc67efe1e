/* What the store has of this kernel that a session does not use, and why: results that were
 * measured on the same device under other conditions, for another version of the spec, or of
 * kernels that other templates or strategies make of it. */
#include "tune/tune_record.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CAUSES 4 /* named in the sentence; the rest is summed up */

typedef struct causes {
  struct {
    char text[160];
    int n;
  } cause[MOST_CAUSES + 1];
  int n_causes;
} causes;

static void count(causes *c, const char *text, int n) {
  int k = 0;
  while (k < c->n_causes && strcmp(c->cause[k].text, text) != 0) {
    k++;
  }
  if (k == c->n_causes && k < MOST_CAUSES) {
    snprintf(c->cause[k].text, sizeof c->cause[k].text, "%s", text);
    c->n_causes++;
  } else if (k == MOST_CAUSES) {
    snprintf(c->cause[k].text, sizeof c->cause[k].text, "other conditions");
  }
  c->cause[k].n += n;
}

static bool is_same_hardware(const sct_row_device *a, const sct_row_device *b) {
  const bool has_uuid = a->uuid[0] != '\0';
  return a->is_virtual == b->is_virtual && strcmp(a->uuid, b->uuid) == 0 &&
         (has_uuid || strcmp(a->device_id, b->device_id) == 0);
}

/* The first condition in which `old` differs from the current device; false: none. */
static bool differs(char out[160], const sct_row_device *old, const sct_row_device *now) {
  const struct {
    const char *name, *old, *now;
  } text[] = {{"driver", old->driver, now->driver},
              {"NVRTC", old->nvrtc, now->nvrtc},
              {"options", old->options, now->options},
              {"a device called", old->name, now->name}};
  if (old->measurement != now->measurement) {
    snprintf(out, 160, "another way of measuring (sectile %s)", old->tool);
    return true;
  }
  for (int k = 0; k < SCT_COUNT(text); k++) {
    if (strcmp(text[k].old, text[k].now) != 0) {
      snprintf(out, 160, "%s %s", text[k].name, text[k].old[0] ? text[k].old : "unknown");
      return true;
    }
  }
  if (old->clock_khz != now->clock_khz) {
    snprintf(out, 160, "a clock of %d MHz", old->clock_khz / 1000);
    return true;
  }
  return false;
}

/* Counts the outcomes of one problem; `other_spec`: it is not the current problem. */
static sct_status count_problem(tune_record *r, causes *c, sct_id problem, bool other_spec,
                                const sct_row_device *devices, int n_devices, sct_error *err) {
  for (int d = 0; d < n_devices; d++) {
    char why[160];
    const sct_row_device *device = &devices[d];
    if (!is_same_hardware(device, &r->device)) {
      continue;
    }
    const bool other = differs(why, device, &r->device);
    if (!other && !other_spec) {
      continue;
    }
    int n = 0;
    SCT_TRY(sct_store_count(r->store, problem, device->id, &n, err));
    if (n > 0) {
      count(c, other_spec ? "another version of the spec" : why, n);
    }
  }
  return SCT_OK;
}

static int by_text(const void *a, const void *b) {
  return strcmp(a, b);
}

/* Counts the results of a run whose kernels this session does not have. */
static sct_status count_strangers(const tune_record *r, causes *c, sct_id run,
                                  const char (*made)[SCT_HASH_HEX], sct_error *err) {
  sct_row_result *rows = NULL;
  int n = 0, n_strangers = 0;
  SCT_TRY(sct_store_results(r->store, &r->table->cands->arena, run, false, &rows, &n, err));
  for (int k = 0; k < n; k++) {
    n_strangers += bsearch(rows[k].candidate.source_hash, made, (size_t)r->table->cands->n_items,
                           sizeof *made, by_text) == NULL;
  }
  if (n_strangers > 0) {
    count(c, "kernels that these templates and strategies do not make", n_strangers);
  }
  return SCT_OK;
}

/* Counts them for each size. A session of a part of the candidates is no evidence for others. */
static sct_status count_others(const tune_record *r, causes *c, sct_error *err) {
  if (r->nothing_known || r->table->partial) {
    return SCT_OK;
  }
  const sct_tune_candidates *cands = r->table->cands;
  char(*made)[SCT_HASH_HEX] = sct_alloc(sizeof *made * (size_t)(cands->n_items + 1));
  sct_status status = SCT_OK;
  for (int k = 0; k < cands->n_items; k++) {
    (void)sct_hash_hex(made[k], cands->items[k].code.hash);
  }
  qsort(made, (size_t)cands->n_items, sizeof *made, by_text);
  for (int z = 0; status == SCT_OK && z < cands->spec.n_sizes; z++) {
    status = count_strangers(r, c, r->runs[z].id, (const char(*)[SCT_HASH_HEX])made, err);
  }
  sct_free(made);
  return status;
}

static void say(tune_record *r, const causes *c) {
  SCT_SCOPED(sct_str) text = {0};
  const int n = c->n_causes + (c->cause[MOST_CAUSES].n > 0);
  for (int k = 0; k < n; k++) {
    const char *between = k == 0 ? "" : k + 1 < n ? ", " : " and ";
    const char *noun = k > 0 ? "" : c->cause[k].n == 1 ? " result" : " results";
    sct_str_printf(&text, "%s%d%s of %s", between, c->cause[k].n, noun, c->cause[k].text);
  }
  if (n > 0) {
    sct_str_append(&text, n == 1 && c->cause[0].n == 1 ? " is not used" : " are not used");
  }
  r->stale = n > 0 ? sct_strdup(sct_str_c(&text)) : NULL;
}

sct_status sct_tune_find_stale(tune_record *r, sct_error *err) {
  sct_row_problem *problems = NULL;
  sct_row_device *devices = NULL;
  int n_problems = 0, n_devices = 0;
  causes c = {0};
  SCT_TRY(sct_store_problem_by_name(r->store, &r->table->cands->arena, r->problem.name, &problems,
                                    &n_problems, err));
  SCT_TRY(sct_store_devices(r->store, &r->table->cands->arena, &devices, &n_devices, err));
  for (int p = 0; p < n_problems; p++) {
    const bool other_spec = problems[p].id != r->problem.id;
    SCT_TRY(count_problem(r, &c, problems[p].id, other_spec, devices, n_devices, err));
  }
  SCT_TRY(count_others(r, &c, err));
  say(r, &c);
  return SCT_OK;
}
