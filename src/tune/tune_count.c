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

void sct_tune_put_counts(tune_session *s, int k, int64_t max_blocks, tune_parsed *parsed,
                         const sct_compiled *compiled, sct_wire *out) {
  const sct_spec *spec = &s->plan.spec;
  const sct_kernel_code *code = &s->plan.items[k].code;
  for (int z = 0; z < spec->n_sizes; z++) {
    sct_counters c = {0};
    const bool counted = sct_codegen_fits(spec, code, &spec->sizes[z]) &&
                         count_cell(s, k, z, parsed, compiled, max_blocks, &c);
    sct_wire_put_bytes(out, &c, counted ? sizeof c : 0);
    sct_wire_put_bytes(out, counted ? c.operand : &(sct_count){0},
                       counted ? sizeof *c.operand * (size_t)c.n_operands : 0);
    sct_counters_free(&c);
  }
}

sct_status sct_tune_take_counts(tune_session *s, int k, bool rough, sct_wire *in, sct_error *err) {
  const size_t n_operands = (size_t)s->plan.spec.n_operands;
  for (int z = 0; z < s->plan.spec.n_sizes; z++) {
    size_t n = 0, n_each = 0;
    tune_cell *cell = sct_tune_cell(s, k, z);
    const uint8_t *counters = sct_wire_get_bytes(in, &n);
    const uint8_t *operands = sct_wire_get_bytes(in, &n_each);
    if (n != sizeof cell->counters || n_each != sizeof(sct_count) * n_operands || !cell->fits ||
        (cell->counted && !cell->rough)) {
      continue;
    }
    sct_count *each = sct_alloc(n_each + 1);
    sct_counters_free(&cell->counters);
    memcpy(each, operands, n_each);
    memcpy(&cell->counters, counters, n);
    cell->counters.operand = each; /* the other process' pointer came with it */
    cell->counted = true;
    cell->rough = rough;
    cell->estimated = false;
    SCT_TRY(predict(s, k, z, err));
  }
  return SCT_OK;
}
