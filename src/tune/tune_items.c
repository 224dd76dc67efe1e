/* Items: which have the same layouts, which is the naive one, and what a failure does to one. */
#include "tune/tune_internal.h"

#include <string.h>

/* An item whose template failed has no kernel, so it is of no group. */
bool sct_tune_same_layouts(const sct_tune_candidates *cands, int a, int b) {
  const int *x = cands->items[a].code.layout, *y = cands->items[b].code.layout;
  return x && y && memcmp(x, y, sizeof(int) * (size_t)cands->spec.n_operands) == 0;
}

bool sct_tune_is_direct(const sct_tune_candidates *cands, int k) {
  const int strategy = cands->space.candidates[cands->items[k].candidate].strategy;
  return cands->space.strategies[strategy].source == 0;
}

bool sct_tune_is_plain(const sct_tune_candidates *cands, int k) {
  const sct_kernel_code *code = &cands->items[k].code;
  bool plain = true;
  for (int op = 0; op < cands->spec.n_operands; op++) {
    plain = plain && code->align[op] <= cands->spec.operands[op].record.align;
  }
  return plain;
}

bool sct_tune_is_general(const sct_tune_candidates *cands, int k) {
  const sct_kernel_code *code = &cands->items[k].code;
  return code->launch && code->n_require == 0 && sct_tune_is_plain(cands, k);
}

int sct_tune_naive_item(const sct_tune_candidates *cands, int k) {
  for (int n = 0; n < cands->n_items; n++) {
    const sct_tune_item *item = &cands->items[n];
    if (item->outcome == SCT_OUT_OK && sct_tune_is_direct(cands, n) &&
        sct_tune_same_layouts(cands, n, k)) {
      return n;
    }
  }
  return -1;
}

bool sct_tune_is_for_size(const sct_tune_candidates *cands, const sct_tune_item *item, int z) {
  return item->outcome == SCT_OUT_OK && (!item->sizes || item->sizes[z]) &&
         sct_codegen_fits(&cands->spec, &item->code, &cands->spec.sizes[z]);
}

bool sct_tune_is_naive_item(const sct_tune_candidates *cands, int k, int size) {
  return cands->items[k].naive && cands->items[k].naive[size];
}

int sct_tune_naive_at(const sct_tune_candidates *cands, int k, int size) {
  for (int n = 0; n < cands->n_items; n++) {
    if (cands->items[n].outcome == SCT_OUT_OK && sct_tune_is_naive_item(cands, n, size) &&
        sct_tune_same_layouts(cands, n, k)) {
      return n;
    }
  }
  return sct_tune_naive_item(cands, k);
}

sct_binary sct_tune_binary(const sct_tune_item *item) {
  return (sct_binary){.code = &item->code,
                      .cubin = item->compiled.cubin,
                      .cubin_bytes = item->compiled.cubin_bytes,
                      .ptx = item->compiled.ptx,
                      .cubin_hash = item->compiled.cubin_hash,
                      .ptx_hash = item->compiled.ptx_hash,
                      .entry = item->compiled.entry};
}

/* Where a detail names a line of the source, it names the template's line instead. */
static char *map_detail(sct_tune_candidates *cands, const sct_tune_item *item, const char *detail) {
  SCT_SCOPED(sct_str) log = {0};
  sct_codegen_map_log(&log, &item->code, detail);
  return sct_arena_strndup(&cands->arena, sct_str_c(&log), strcspn(sct_str_c(&log), "\n"));
}

void sct_tune_fail_item(sct_tune_candidates *cands, int item, sct_outcome_kind outcome,
                        const char *detail) {
  sct_tune_item *failed = &cands->items[item];
  failed->outcome = outcome;
  failed->detail = map_detail(cands, failed, detail);
}

void sct_tune_warn_item(sct_tune_candidates *cands, int item, const char *warning) {
  sct_tune_item *warned = &cands->items[item];
  if (warning[0] != '\0' && warned->warning == NULL) {
    warned->warning = map_detail(cands, warned, warning);
    sct_log(SCT_LOG_INFO, "%s is verified, with a warning: %s", warned->label, warned->warning);
  }
}
