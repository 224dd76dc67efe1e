/* count_lines - the instructions of a case, summed by source line. */
#include "count/count_internal.h"

#include <stdlib.h>
#include <string.h>

static int by_place(const void *a, const void *b) {
  const sct_count_line *const x = a, *const y = b;
  const int files = strcmp(x->file, y->file);
  return files != 0 ? files : (x->line > y->line) - (x->line < y->line);
}

static void add(sct_count_line *to, const sct_count_line *from) {
  to->instructions += from->instructions;
  to->executed += from->executed;
  to->lanes += from->lanes;
  to->divergent += from->divergent;
  sct_ptx_global_add(&to->global, &from->global);
  sct_ptx_shared_add(&to->shared, &from->shared);
}

void sct_count_lines(sct_count_line **lines, int *n_lines, const sct_count_row *row) {
  *lines = NULL;
  *n_lines = 0;
  if (row->n_insts == 0) {
    return;
  }
  sct_count_line *const list = sct_alloc((size_t)row->n_insts * sizeof(*list));
  for (int i = 0; i < row->n_insts; i++) {
    const sct_ptx_inst_counters *const from = &row->insts[i];
    list[i] = (sct_count_line){.file = from->file,
                               .line = from->line,
                               .instructions = 1,
                               .executed = from->executed,
                               .lanes = from->lanes,
                               .divergent = from->divergent,
                               .global = from->global,
                               .shared = from->shared};
  }
  qsort(list, (size_t)row->n_insts, sizeof(*list), by_place);
  int n = 0;
  for (int i = 1; i < row->n_insts; i++) {
    if (by_place(&list[n], &list[i]) == 0) {
      add(&list[n], &list[i]);
    } else {
      list[++n] = list[i];
    }
  }
  *lines = list;
  *n_lines = n + 1;
}
