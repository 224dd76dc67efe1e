/* The same launch in several orders of blocks and warps: results that differ depend on what no
 * program may rely on, even where the race check saw nothing. */
#include "ptx/exec/ptx_memory.h"

#include <string.h>

/* Contents of the writable buffers. */
typedef struct image {
  int n;
  ptx_buf **buf;
  uint8_t **host, **defined;
} image;

static void image_free(image *im) {
  for (int i = 0; i < im->n; i++) {
    sct_free(im->host[i]);
    sct_free(im->defined[i]);
  }
  sct_free(im->buf);
  sct_free(im->host);
  sct_free(im->defined);
  *im = (image){0};
}

static uint8_t *copy_of(const uint8_t *bytes, int64_t n) {
  uint8_t *copy = sct_alloc((size_t)(n > 0 ? n : 1));
  if (n > 0) {
    memcpy(copy, bytes, (size_t)n);
  }
  return copy;
}

static void image_take(image *im, const sct_ptx_memory *m) {
  *im = (image){0};
  const size_t n = (size_t)m->n_buffers + 1;
  im->buf = sct_alloc(sizeof(*im->buf) * n);
  im->host = sct_alloc(sizeof(*im->host) * n);
  im->defined = sct_alloc(sizeof(*im->defined) * n);
  for (int k = PTX_WINDOW_FIRST; k < PTX_N_WINDOWS; k++) {
    ptx_buf *b = m->table[k];
    if (b == NULL || b->read_only) {
      continue;
    }
    im->buf[im->n] = b;
    im->host[im->n] = copy_of(b->host, b->bytes);
    im->defined[im->n] = b->defined != NULL ? copy_of(b->defined, b->bytes) : NULL;
    im->n++;
  }
}

static void image_restore(const image *im) {
  for (int i = 0; i < im->n; i++) {
    if (im->buf[i]->bytes > 0) {
      memcpy(im->buf[i]->host, im->host[i], (size_t)im->buf[i]->bytes);
    }
    if (im->defined[i] != NULL && im->buf[i]->bytes > 0) {
      memcpy(im->buf[i]->defined, im->defined[i], (size_t)im->buf[i]->bytes);
    }
  }
}

/* First byte that differs from `im` and is neither padding nor undefined; false: none. Where a
 * kernel adds floats atomically (`sums`), buffers with approximate values hold what such sums gave:
 * their last digits may differ. */
static bool image_differs(const image *im, bool sums, const ptx_buf **buf, int64_t *at) {
  for (int i = 0; i < im->n; i++) {
    const ptx_buf *b = im->buf[i];
    if (sums && b->approx) {
      continue;
    }
    for (int64_t k = 0; k < b->bytes; k++) {
      const bool cared = b->required == NULL || b->required[k] != 0;
      if (b->host[k] != im->host[i][k] && cared) {
        *buf = b;
        *at = k;
        return true;
      }
    }
  }
  return false;
}

static void set_diag(sct_ptx_diag *d, const sct_ptx_launch_opts *o, const ptx_buf *b, int64_t at,
                     const char *order) {
  *d = (sct_ptx_diag){
      .kind = SCT_PTX_ORDER_DEPENDENT, .warp = -1, .lane = -1, .address = b->base + (uint64_t)at};
  snprintf(d->kernel, sizeof d->kernel, "%s", o->kernel);
  snprintf(d->text, sizeof d->text, "byte %lld of '%s' is another one when blocks and warps run %s",
           (long long)at, b->name, order);
}

static bool adds_floats(const sct_ptx_launch_opts *o) {
  for (int i = 0; i < o->module->n_kernels; i++) {
    if (strcmp(o->module->kernels[i].name, o->kernel) == 0) {
      return o->module->kernel_funcs[i]->code->has_float_sums;
    }
  }
  return false;
}

/* One more run from `before`; a diagnosis goes to `out` unless it has one. */
static sct_status run_again(sct_ptx_result *out, sct_ptx_memory *m,
                            const sct_ptx_launch_opts *given, sct_ptx_order order,
                            const image *before, const image *after, sct_error *err) {
  sct_ptx_launch_opts o = *given;
  sct_ptx_result again;
  const ptx_buf *b = NULL;
  int64_t at = 0;
  o.order = order;
  o.no_counters = true;
  o.per_instruction = false;
  image_restore(before);
  SCT_TRY(sct_ptx_launch(&again, m, &o, err));
  if (out->diag.kind == SCT_PTX_CLEAN && again.diag.kind != SCT_PTX_CLEAN) {
    out->diag = again.diag;
  } else if (out->diag.kind == SCT_PTX_CLEAN && image_differs(after, adds_floats(given), &b, &at)) {
    set_diag(&out->diag, given, b, at, order == SCT_PTX_REVERSE ? "in reverse" : "shuffled");
  }
  sct_ptx_result_free(&again);
  return SCT_OK;
}

sct_status sct_ptx_launch_orders(sct_ptx_result *out, sct_ptx_memory *memory,
                                 const sct_ptx_launch_opts *opts, sct_error *err) {
  image before = {0}, after = {0};
  sct_status status = SCT_OK;
  *out = (sct_ptx_result){0};
  image_take(&before, memory);
  SCT_TRY_DONE(sct_ptx_launch(out, memory, opts, err));
  if (out->diag.kind != SCT_PTX_CLEAN) {
    goto done;
  }
  image_take(&after, memory);
  SCT_TRY_DONE(run_again(out, memory, opts, SCT_PTX_REVERSE, &before, &after, err));
  SCT_TRY_DONE(run_again(out, memory, opts, SCT_PTX_SHUFFLED, &before, &after, err));
  image_restore(&after);
done:
  if (status != SCT_OK) {
    sct_ptx_result_free(out);
  }
  image_free(&before);
  image_free(&after);
  return status;
}
