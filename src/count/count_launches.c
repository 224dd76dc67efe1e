/* count_launches - what was counted as launches in a file, for a GPU to run. */
#include "count/count_internal.h"
#include "device/device.h"

#include <string.h>

typedef struct writer {
  const sct_count_report *report;
  const sct_count_manifest *m;
  int64_t *array_of; /* [n_buffers] of the buffers that are used */
  void **contents;   /* [n_arrays] */
  sct_launches out;
  sct_arena arena;
} writer;

static void add_arrays(writer *w) {
  sct_launch_array *arrays = SCT_ARENA_NEW(&w->arena, sct_launch_array, w->m->n_buffers + 1);
  w->array_of = SCT_ARENA_NEW(&w->arena, int64_t, w->m->n_buffers + 1);
  w->contents = SCT_ARENA_NEW(&w->arena, void *, w->m->n_buffers + 1);
  for (int b = 0; b < w->m->n_buffers; b++) {
    if (w->m->buffers[b].used) {
      const int64_t k = w->array_of[b] = w->out.n_arrays++;
      arrays[k].bytes = arrays[k].held = w->m->buffers[b].bytes;
      w->contents[k] = count_contents(&w->m->buffers[b]);
    }
  }
  w->out.arrays = arrays;
}

/* The addresses that parameter number `param` holds. */
static void add_pointers(const writer *w, sct_launch_pointer *to, int64_t *n, int64_t param,
                         const sct_launch_param *value) {
  const count_addresses *all = &w->report->session->addresses;
  for (size_t k = 0; k < all->n; k++) {
    const count_pointer *p = &all->pointers[k];
    if (p->at >= value->bytes && p->at < value->bytes + value->n_bytes) {
      to[(*n)++] = (sct_launch_pointer){.param = param,
                                        .at = p->at - value->bytes,
                                        .array = w->array_of[p->buffer],
                                        .offset = p->offset};
    }
  }
}

static void add_case(writer *w, sct_launch_case *out, int i) {
  const sct_count_row *row = &w->report->rows[i];
  const struct sct_count_session *s = w->report->session;
  const sct_ptx_kernel *kernel = sct_ptx_kernel_find(s->module, row->entry);
  const int n = kernel->n_params;
  sct_launch_param *params = SCT_ARENA_NEW(&w->arena, sct_launch_param, n + 1);
  sct_launch_pointer *pointers = SCT_ARENA_NEW(&w->arena, sct_launch_pointer, s->addresses.n + 1);
  *out = (sct_launch_case){.entry = row->entry,
                           .grid = row->grid,
                           .n_grid = 3,
                           .block = row->block,
                           .n_block = 3,
                           .shared_bytes = row->shared_bytes,
                           .params = params,
                           .n_params = n,
                           .pointers = pointers};
  for (int k = 0; k < n; k++) {
    params[k] = (sct_launch_param){.bytes = s->args[i][k], .n_bytes = kernel->params[k].bytes};
    add_pointers(w, pointers, &out->n_pointers, k, &params[k]);
  }
}

sct_status sct_count_launches(const sct_count_report *report, const sct_count_manifest *manifest,
                              int ordinal, const char *path, sct_error *err) {
  writer w = {.report = report, .m = manifest};
  bool sets = manifest->n_settings > 0, lists = false;
  for (int i = 0; i < manifest->n_cases; i++) {
    sets = sets || manifest->cases[i].n_settings > 0;
  }
  for (size_t k = 0; k < report->session->addresses.n; k++) {
    lists = lists || manifest->buffers[report->session->addresses.pointers[k].buffer].list;
  }
  if (sets || lists) {
    return sct_fail(err, SCT_EUSAGE, "%s of a manifest are not there on a GPU",
                    sets ? "'variables'" : "lists of addresses");
  }
  const sct_compiled_file *compiled = &report->session->compiled;
  sct_launch_case *cases = SCT_ARENA_NEW(&w.arena, sct_launch_case, report->n_rows + 1);
  add_arrays(&w);
  for (int i = 0; i < report->n_rows; i++) {
    if (report->rows[i].problem == NULL) {
      add_case(&w, &cases[w.out.n_cases++], i);
    }
  }
  w.out.ordinal = ordinal;
  const bool machine = compiled->cubin_bytes > 0; /* else the driver compiles the PTX */
  w.out.image = machine ? compiled->cubin : (const void *)compiled->ptx;
  w.out.n_image = (int64_t)(machine ? compiled->cubin_bytes : strlen(compiled->ptx) + 1);
  w.out.cases = cases;
  const sct_status status = sct_launches_write(path, &w.out, (const void *const *)w.contents, err);
  for (int64_t k = 0; k < w.out.n_arrays; k++) {
    sct_free(w.contents[k]);
  }
  sct_arena_free(&w.arena);
  return status;
}
