/* The model's figures of an item at every size that it fits: counters, and the time predicted from
 * them. Counting takes as long as measuring does, so where items are checked on the CPU first, the
 * processes that check them count too. */
#include "tune/tune_internal.h"

#include <string.h>

/* What its row says of its counts, and by them alone, of how it is coalesced. */
static sct_status note_counts(tune_counting *c, int k, int size, sct_error *err) {
  tune_cell *cell = sct_tune_cell(c->table, k, size);
  const sct_counters *of = &cell->counters;
  const sct_spec *spec = &c->table->cands->spec;
  sct_row_outcome *row = &cell->row;
  sct_coalescing found;
  row->requests_ld = (double)of->load.requests;
  row->sectors_ld = (double)of->load.sectors;
  row->sectors_ld_ideal = (double)of->load.sectors_ideal;
  row->requests_st = (double)of->store.requests;
  row->sectors_st = (double)of->store.sectors;
  row->sectors_st_ideal = (double)of->store.sectors_ideal;
  row->wavefronts = sct_model_exchange_wavefronts(of);
  row->degree = sct_model_degrees(of, spec, &spec->sizes[size]).both;
  SCT_TRY(sct_model_coalescing(&found, of, spec, &c->table->cands->items[k].code,
                               &spec->sizes[size], err));
  row->how = (sct_row_coalesced){.rule = SCT_COALESCED_ABSOLUTE,
                                 .coalesced = found.coalesced,
                                 .unknown = found.unknown,
                                 .share = found.share,
                                 .utilisation = found.utilisation,
                                 .passes = found.passes,
                                 .sectors_error = of->error};
  return SCT_OK;
}

/* Needs the counters. As long as these are estimates, nothing that is known of the compiled code
 * counts: a search begins with the same, whatever the cache holds. */
static sct_status predict(tune_counting *c, int k, int size, sct_error *err) {
  const sct_tune_item *item = &c->table->cands->items[k];
  tune_cell *cell = sct_tune_cell(c->table, k, size);
  const bool known = item->compiled.ok && !cell->estimated;
  sct_workload work = {.spec = &c->table->cands->spec,
                       .code = &item->code,
                       .size = &c->table->cands->spec.sizes[size],
                       .counters = &cell->counters,
                       .registers = known ? item->compiled.registers : 0,
                       .shared_bytes =
                           item->code.shared_bytes + (known ? item->compiled.static_shared_bytes
                                                            : item->code.static_shared_bytes)};
  sct_tune_machine_instructions(c->table, k, size, work.machine);
  SCT_TRY(sct_model_predict(&cell->predicted, c->rated, &work, err));
  cell->row.predicted_ns = cell->predicted.ns;
  sct_model_penalty(cell->penalty, c->rated, &work, &cell->predicted);
  return SCT_OK;
}

/* A strategy's plan estimates the traffic until the compiled code is counted. */
static void estimate(tune_counting *c, int k, int size) {
  const sct_spec *spec = &c->table->cands->spec;
  tune_cell *cell = sct_tune_cell(c->table, k, size);
  sct_error err = {0};
  if (sct_model_estimate(&cell->counters, spec, &c->table->cands->items[k].code, &spec->sizes[size],
                         &err) != SCT_OK) {
    sct_log(SCT_LOG_WARN, "%s has no estimate: %s", c->table->cands->items[k].label, err.text);
    return;
  }
  cell->counted = cell->estimated = true;
  if (predict(c, k, size, &err) != SCT_OK) {
    sct_log(SCT_LOG_WARN, "%s is not predicted: %s", c->table->cands->items[k].label, err.text);
  }
}

void sct_tune_find_sizes(tune_counting *c, int k) {
  const sct_spec *spec = &c->table->cands->spec;
  const sct_tune_item *item = &c->table->cands->items[k];
  for (int z = 0; z < spec->n_sizes; z++) {
    tune_cell *cell = sct_tune_cell(c->table, k, z);
    cell->fits = sct_tune_is_for_size(c->table->cands, item, z);
    if (cell->fits && !cell->counted) {
      estimate(c, k, z);
    }
  }
}

bool sct_tune_estimate(tune_counting *c, int k, int size) {
  const sct_spec *spec = &c->table->cands->spec;
  const sct_tune_item *item = &c->table->cands->items[k];
  tune_cell *cell = sct_tune_cell(c->table, k, size);
  cell->fits = cell->fits || (item->outcome == SCT_OUT_OK && item->code.source &&
                              sct_codegen_fits(spec, &item->code, &spec->sizes[size]));
  if (cell->fits && !cell->counted) {
    estimate(c, k, size);
  }
  return cell->fits;
}

bool sct_tune_is_due(const tune_table *t, int k, int size) {
  const tune_cell *cell = sct_tune_cell(t, k, size);
  return cell->fits && (!cell->counted || cell->estimated) && sct_tune_matters(t, k, size);
}

static sct_status count_blocks(tune_counting *c, int k, int size, const sct_compiled *compiled,
                               sct_counters *out, sct_error *err) {
  const sct_spec *spec = &c->table->cands->spec;
  if (c->block_counter == NULL) {
    sct_block_counter_new(&c->block_counter, spec, &c->table->cands->device, c->seed, 0);
  }
  SCT_TRY(sct_tune_parse(&c->parsed, compiled->ptx, err));
  return sct_block_counter_count(c->block_counter, out, &c->table->cands->items[k].code,
                                 c->parsed.module, compiled->entry, &spec->sizes[size], 0, err);
}

/* From some of its blocks, run as PTX. false: it is not compiled, or the interpreter does not know
 * its PTX. */
static bool count_cell(tune_counting *c, int k, int size, const sct_compiled *compiled,
                       sct_counters *out) {
  sct_error err = {0};
  if (!compiled->ok || c->recorded) {
    return false;
  }
  const bool good = count_blocks(c, k, size, compiled, out, &err) == SCT_OK;
  if (!good) {
    sct_log(SCT_LOG_WARN, "%s is not counted at %s: %s", c->table->cands->items[k].label,
            c->table->cands->spec.sizes[size].label, err.text);
  }
  return good;
}

sct_status sct_tune_count(tune_counting *c, int k, sct_error *err) {
  const sct_spec *spec = &c->table->cands->spec;
  const sct_tune_item *item = &c->table->cands->items[k];
  for (int z = 0; z < spec->n_sizes && item->outcome == SCT_OUT_OK; z++) {
    tune_cell *cell = sct_tune_cell(c->table, k, z);
    sct_counters counters;
    if (!sct_tune_is_due(c->table, k, z) || !count_cell(c, k, z, &item->compiled, &counters)) {
      continue;
    }
    sct_counters_free(&cell->counters);
    cell->counters = counters;
    cell->counted = true;
    cell->estimated = false;
    SCT_TRY(note_counts(c, k, z, err));
    SCT_TRY(predict(c, k, z, err));
  }
  return SCT_OK;
}

sct_status sct_tune_predict(tune_counting *c, int k, sct_error *err) {
  for (int z = 0;
       z < c->table->cands->spec.n_sizes && c->table->cands->items[k].outcome == SCT_OUT_OK; z++) {
    if (sct_tune_cell(c->table, k, z)->counted) {
      SCT_TRY(predict(c, k, z, err));
    }
  }
  return SCT_OK;
}

static sct_count *copy_counts(sct_arena *arena, const sct_count *counts, int n) {
  sct_count *const copy = SCT_ARENA_NEW(arena, sct_count, n);
  memcpy(copy, counts, sizeof *copy * (size_t)n);
  return copy;
}

const tune_size_counts *sct_tune_counts_of(tune_counting *c, int k, const sct_compiled *compiled,
                                           const uint8_t *at, sct_arena *arena) {
  const sct_spec *spec = &c->table->cands->spec;
  tune_size_counts *list = SCT_ARENA_NEW(arena, tune_size_counts, spec->n_sizes);
  for (int z = 0; z < spec->n_sizes; z++) {
    sct_counters *got = SCT_ARENA_NEW(arena, sct_counters, 1);
    if (!at[z] || !sct_tune_is_for_size(c->table->cands, &c->table->cands->items[k], z) ||
        !count_cell(c, k, z, compiled, got)) {
      continue;
    }
    const int n = got->n_operands;
    list[z] = (tune_size_counts){
        got, 1, copy_counts(arena, got->operand, n), n, copy_counts(arena, got->stored, n), n};
    sct_free(got->operand);
    sct_free(got->stored);
    got->operand = got->stored = NULL;
  }
  return list;
}

sct_status sct_tune_apply_counts(tune_counting *c, int k, const tune_size_counts *list, int64_t n,
                                 sct_error *err) {
  const int n_operands = c->table->cands->spec.n_operands;
  for (int z = 0; z < c->table->cands->spec.n_sizes && z < n; z++) {
    tune_cell *cell = sct_tune_cell(c->table, k, z);
    if (list[z].n_counters == 0 || list[z].n_operands != n_operands ||
        list[z].n_stored != n_operands || !cell->fits || (cell->counted && !cell->estimated)) {
      continue;
    }
    const size_t bytes = sizeof(sct_count) * (size_t)n_operands;
    sct_counters_free(&cell->counters);
    cell->counters = *list[z].counters;
    cell->counters.operand = sct_alloc(bytes + 1);
    cell->counters.stored = sct_alloc(bytes + 1);
    memcpy(cell->counters.operand, list[z].operands, bytes);
    memcpy(cell->counters.stored, list[z].stored, bytes);
    cell->counters.n_operands = n_operands;
    cell->counted = true;
    cell->estimated = false;
    SCT_TRY(note_counts(c, k, z, err));
    SCT_TRY(predict(c, k, z, err));
  }
  return SCT_OK;
}
