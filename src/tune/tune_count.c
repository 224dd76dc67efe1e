/* What the model says of an item at every size that it fits: counters, and the time predicted from
 * them. Counting takes as long as measuring does, so where items are checked on the CPU first, the
 * processes that check them count too. */
#include "tune/tune_internal.h"

#include <string.h>

/* Needs the counters. As long as these are estimates, nothing that is known of the compiled code
 * counts: a search begins with the same, whatever the cache holds. */
static sct_status predict(tune_session *s, int k, int size, sct_error *err) {
  const sct_tune_item *item = &s->plan.items[k];
  tune_cell *cell = sct_tune_cell(s, k, size);
  const bool known = item->compiled.ok && !cell->estimated;
  sct_workload work = {.spec = &s->plan.spec,
                       .code = &item->code,
                       .size = &s->plan.spec.sizes[size],
                       .counters = &cell->counters,
                       .registers = known ? item->compiled.registers : 0,
                       .shared_bytes =
                           item->code.shared_bytes + (known ? item->compiled.static_shared_bytes
                                                            : item->code.static_shared_bytes)};
  sct_tune_executed(s, k, size, work.machine);
  SCT_TRY(sct_model_predict(&cell->predicted, &s->rated, &work, err));
  sct_model_strain(cell->strain, &s->rated, &work, &cell->predicted);
  return SCT_OK;
}

/* What the plan says of its traffic stands in until the compiled code is counted. */
static void estimate(tune_session *s, int k, int size) {
  const sct_spec *spec = &s->plan.spec;
  tune_cell *cell = sct_tune_cell(s, k, size);
  sct_error err = {0};
  if (sct_model_estimate(&cell->counters, spec, &s->plan.items[k].code, &spec->sizes[size], &err) !=
      SCT_OK) {
    sct_log(SCT_LOG_WARN, "%s has no estimate: %s", s->plan.items[k].label, err.text);
    return;
  }
  cell->counted = cell->rough = cell->estimated = true;
  if (predict(s, k, size, &err) != SCT_OK) {
    sct_log(SCT_LOG_WARN, "%s is not predicted: %s", s->plan.items[k].label, err.text);
  }
}

void sct_tune_fit(tune_session *s, int k) {
  const sct_spec *spec = &s->plan.spec;
  const sct_tune_item *item = &s->plan.items[k];
  for (int z = 0; z < spec->n_sizes; z++) {
    tune_cell *cell = sct_tune_cell(s, k, z);
    cell->fits =
        item->outcome == SCT_OUT_OK && sct_codegen_fits(spec, &item->code, &spec->sizes[z]);
    if (cell->fits && !cell->counted && !item->code.counted) {
      estimate(s, k, z);
    }
  }
}

bool sct_tune_is_counted(tune_session *s, int k) {
  for (int z = 0; z < s->plan.spec.n_sizes; z++) {
    const tune_cell *cell = sct_tune_cell(s, k, z);
    if (cell->fits && (!cell->counted || cell->rough)) {
      return false;
    }
  }
  return true;
}

/* From some of its blocks, run as PTX. */
static sct_status count_blocks(tune_session *s, int k, int size, tune_parsed *parsed,
                               const sct_compiled *compiled, int64_t max_blocks, sct_counters *out,
                               sct_error *err) {
  const sct_spec *spec = &s->plan.spec;
  if (s->sampler == NULL) {
    sct_sampler_new(&s->sampler, spec, &s->device, s->opts->seed, 0);
  }
  SCT_TRY(sct_tune_parse(parsed, compiled->ptx, err));
  return sct_sampler_count(s->sampler, out, &s->plan.items[k].code, parsed->module, compiled->entry,
                           &spec->sizes[size], max_blocks, err);
}

/* From its compiled code, if that is known: what was counted there is what runs. Else, or where the
 * interpreter does not know the PTX, from the accesses that its plan records. false: neither. */
static bool count_cell(tune_session *s, int k, int size, tune_parsed *parsed,
                       const sct_compiled *compiled, int64_t max_blocks, sct_counters *out) {
  const sct_spec *spec = &s->plan.spec;
  const sct_kernel_code *code = &s->plan.items[k].code;
  const bool runs = compiled != NULL && compiled->ok && s->replay == NULL;
  sct_error err = {0};
  if (runs && count_blocks(s, k, size, parsed, compiled, max_blocks, out, &err) == SCT_OK) {
    return true;
  }
  if (code->counted && sct_tune_plan_complete(&s->plan, k, &err) == SCT_OK &&
      sct_model_count(out, spec, code, &spec->sizes[size], max_blocks, &err) == SCT_OK) {
    return true;
  }
  if (err.text[0] != '\0') {
    sct_log(SCT_LOG_WARN, "%s is not counted at %s: %s", s->plan.items[k].label,
            spec->sizes[size].label, err.text);
  }
  return false;
}

sct_status sct_tune_count(tune_session *s, int k, sct_error *err) {
  const sct_spec *spec = &s->plan.spec;
  const sct_tune_item *item = &s->plan.items[k];
  for (int z = 0; z < spec->n_sizes && item->outcome == SCT_OUT_OK; z++) {
    tune_cell *cell = sct_tune_cell(s, k, z);
    sct_counters counters;
    if (!cell->fits || (cell->counted && !cell->rough)) {
      continue;
    }
    if (!count_cell(s, k, z, &s->parsed, &item->compiled, 0, &counters)) {
      continue;
    }
    sct_counters_free(&cell->counters);
    cell->counters = counters;
    cell->counted = true;
    cell->rough = cell->estimated = false;
    SCT_TRY(predict(s, k, z, err));
  }
  return SCT_OK;
}

sct_status sct_tune_predict(tune_session *s, int k, sct_error *err) {
  for (int z = 0; z < s->plan.spec.n_sizes && s->plan.items[k].outcome == SCT_OUT_OK; z++) {
    if (sct_tune_cell(s, k, z)->counted) {
      SCT_TRY(predict(s, k, z, err));
    }
  }
  return SCT_OK;
}

const tune_size_counts *sct_tune_counts_of(tune_session *s, int k, int64_t max_blocks,
                                           tune_parsed *parsed, const sct_compiled *compiled,
                                           sct_arena *arena) {
  const sct_spec *spec = &s->plan.spec;
  tune_size_counts *list = SCT_ARENA_NEW(arena, tune_size_counts, spec->n_sizes);
  for (int z = 0; z < spec->n_sizes; z++) {
    sct_counters *c = SCT_ARENA_NEW(arena, sct_counters, 1);
    if (!sct_codegen_fits(spec, &s->plan.items[k].code, &spec->sizes[z]) ||
        !count_cell(s, k, z, parsed, compiled, max_blocks, c)) {
      continue;
    }
    sct_count *each = SCT_ARENA_NEW(arena, sct_count, c->n_operands);
    memcpy(each, c->operand, sizeof *each * (size_t)c->n_operands);
    list[z] = (tune_size_counts){c, 1, each, c->n_operands};
    sct_free(c->operand);
    c->operand = NULL;
  }
  return list;
}

sct_status sct_tune_take_counts(tune_session *s, int k, bool rough, const tune_size_counts *list,
                                int64_t n, sct_error *err) {
  const int n_operands = s->plan.spec.n_operands;
  for (int z = 0; z < s->plan.spec.n_sizes && z < n; z++) {
    tune_cell *cell = sct_tune_cell(s, k, z);
    if (list[z].n_counters == 0 || list[z].n_operands != n_operands || !cell->fits ||
        (cell->counted && !cell->rough)) {
      continue;
    }
    sct_count *each = sct_alloc(sizeof *each * (size_t)(n_operands + 1));
    memcpy(each, list[z].operands, sizeof *each * (size_t)n_operands);
    sct_counters_free(&cell->counters);
    cell->counters = *list[z].counters;
    cell->counters.operand = each;
    cell->counters.n_operands = n_operands;
    cell->counted = true;
    cell->rough = rough;
    cell->estimated = false;
    SCT_TRY(predict(s, k, z, err));
  }
  return SCT_OK;
}
