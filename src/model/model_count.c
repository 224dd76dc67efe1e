/* model_count - figures that follow from a kernel's counters. */
#include "model/model.h"

#define SECTOR_BYTES 32

double sct_model_degree(const sct_count *c) {
  return c->sectors > 0 ? (double)c->distinct_bytes / (double)(SECTOR_BYTES * c->sectors) : 1.0;
}

sct_degrees sct_model_degrees(const sct_counters *c, const sct_spec *spec, const sct_size *size) {
  sct_count load = c->load, store = c->store;
  for (int op = 0; op < c->n_operands; op++) {
    const sct_operand *operand = &spec->operands[op];
    const int ways = sct_operand_is_prefilled(operand) ? 2 : 1; /* there and back */
    const int64_t excess =
        c->operand[op].distinct_bytes - ways * sct_spec_element_bytes(spec, op, size);
    /* what is updated in place may be read again, by each step, and is written once */
    const bool rereads = sct_operand_is_updated(operand);
    sct_count *const way = operand->is_output && !rereads ? &store : &load;
    way->distinct_bytes -= excess < 0                     ? 0
                           : excess < way->distinct_bytes ? excess
                                                          : way->distinct_bytes;
  }
  const sct_count both = {.sectors = load.sectors + store.sectors,
                          .distinct_bytes = load.distinct_bytes + store.distinct_bytes};
  return (sct_degrees){sct_model_degree(&load), sct_model_degree(&store), sct_model_degree(&both)};
}

double sct_model_exchange_wavefronts(const sct_counters *c) {
  return (double)(c->wavefronts_ld + c->wavefronts_st + c->shuffles);
}

void sct_counters_free(sct_counters *c) {
  if (c != NULL) {
    sct_free(c->operand);
    sct_free(c->stored);
    *c = (sct_counters){0};
  }
}
