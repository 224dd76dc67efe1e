/* ptx_orders - the same launch in several orders of blocks, warps and lanes: results that differ
 * depend on what no program may rely on, even where the race check saw nothing. */
#ifndef SCT_TESTS_PTX_ORDERS_H
#define SCT_TESTS_PTX_ORDERS_H

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

/* The first byte that differs from `im` and is no padding, as text. */
static bool image_differs(const image *im, const char *order, char *text, size_t bytes) {
  for (int i = 0; i < im->n; i++) {
    const ptx_buf *b = im->buf[i];
    for (int64_t k = 0; k < b->bytes; k++) {
      const bool cared = b->required == NULL || b->required[k] != 0;
      if (b->host[k] != im->host[i][k] && cared) {
        snprintf(text, bytes, "byte %lld of '%s' is another one when blocks and warps run %s",
                 (long long)k, b->name, order);
        return true;
      }
    }
  }
  return false;
}

/* One more run from `before`, unless `out` has a diagnosis or a difference. */
static sct_status run_again(sct_ptx_result *out, sct_ptx_memory *m,
                            const sct_ptx_launch_opts *given, sct_ptx_order order,
                            const image *before, const image *after, sct_error *err) {
  sct_ptx_launch_opts o = *given;
  sct_ptx_result again;
  if (out->diag.kind != SCT_PTX_CLEAN || out->diag.text[0] != '\0') {
    return SCT_OK;
  }
  o.order = order;
  o.no_counters = true;
  o.per_instruction = false;
  image_restore(before);
  SCT_TRY(sct_ptx_launch(&again, m, &o, err));
  if (again.diag.kind != SCT_PTX_CLEAN) {
    out->diag = again.diag;
  } else if (sct_ptx_kernel_find(o.module, o.kernel)->exact) { /* sums of floats may differ */
    (void)image_differs(after, order == SCT_PTX_REVERSE ? "in reverse" : "shuffled", out->diag.text,
                        sizeof out->diag.text);
  }
  sct_ptx_result_free(&again);
  return SCT_OK;
}

/* As sct_ptx_launch(), and then again from the same memory contents with blocks, warps and lanes of
 * atomic operations in reverse and in a shuffled order. Results that differ in a writable buffer
 * are a text without a kind, but for kernels that are not exact. Counters are of the first run; the
 * memory holds its results. */
static inline sct_status ptx_launch_orders(sct_ptx_result *out, sct_ptx_memory *memory,
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

#endif
