/* Whether the counts of a candidate are what its machine code executes: its memory instructions
 * against those of its PTX. Nothing has run here, so a loop that ptxas unrolled leaves doubt. */
#include "tune/tune_counting.h"

sct_status sct_tune_parse(tune_parsed *p, const char *text, sct_error *err) {
  if (p->text == text && p->module != NULL) {
    return SCT_OK;
  }
  sct_ptx_module_free(p->module);
  *p = (tune_parsed){.text = text};
  return sct_ptx_parse(&p->module, text, "candidate.ptx", err);
}

/* Appends to `cause` why the counts are approximate; nothing if they are exact. */
static void compare(tune_parsed *p, const sct_compiled *compiled, sct_str *cause) {
  sct_error err = {0};
  sct_memops ptx, sass;
  sct_status status = sct_tune_parse(p, compiled->ptx, &err);
  SCT_THEN(sct_ptx_memops(&ptx, p->module, compiled->entry, &err));
  SCT_THEN(sct_sass_memops(&sass, compiled->cubin, compiled->cubin_bytes, compiled->entry, &err));
  if (status != SCT_OK) {
    sct_str_printf(cause, "the machine code could not be compared: %s", err.text);
  } else {
    (void)sct_model_counts_exact(&ptx, &sass, cause);
  }
}

static void keep(sct_tune_candidates *cands, sct_tune_item *item, const char *cause) {
  item->compared = true;
  if (cause[0] != '\0') {
    item->approximate = sct_arena_strdup(&cands->arena, cause);
  }
}

void sct_tune_compare_code(tune_counting *c, int k) {
  sct_tune_item *item = &c->table->cands->items[k];
  if (item->compared || !item->compiled.ok || c->recorded) {
    return;
  }
  SCT_SCOPED(sct_str) cause = {0};
  compare(&c->parsed, &item->compiled, &cause);
  keep(c->table->cands, item, sct_str_c(&cause));
}

const char *sct_tune_comparison_of(tune_parsed *p, const sct_compiled *compiled, sct_arena *arena) {
  SCT_SCOPED(sct_str) cause = {0};
  compare(p, compiled, &cause);
  return sct_arena_strdup(arena, sct_str_c(&cause));
}

void sct_tune_apply_comparison(sct_tune_candidates *cands, int k, const char *cause) {
  keep(cands, &cands->items[k], cause);
}

void sct_tune_parsed_free(tune_parsed *p) {
  sct_ptx_module_free(p->module);
  *p = (tune_parsed){0};
}

void sct_tune_counting_free(tune_counting *c) {
  sct_tune_parsed_free(&c->parsed);
  sct_block_counter_free(c->block_counter);
}
