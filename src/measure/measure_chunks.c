/* A way from the host and back for a size: what the host's code has to know of arrays and chunks.
 * Which chunk goes when is that code's own (src/host). */
#include "measure_session.h"

#include <assert.h>
#include <string.h>

/* Bytes of an operand with so many elements of the dimension that is cut. */
static int64_t bytes_at(const sct_pipeline *p, int op, int64_t n) {
  int64_t extent[SCT_MAX_EXTENTS];
  const sct_size size = {.extent = extent, .fill = p->size->fill};
  memcpy(extent, p->size->extent, sizeof *extent * (size_t)p->spec->n_extents);
  extent[p->spec->chunk_dim] = n;
  return sct_spec_bytes(p->spec, op, p->layout[op], &size);
}

static int64_t step_of(const sct_pipeline *p, int op) {
  const sct_spec *spec = p->spec;
  const sct_expr_env env = {spec->extent_var, p->size->extent, spec->n_extents};
  int64_t step = 0;
  const sct_expr e = sct_spec_chunk_step(spec, op, p->layout[op], spec->chunk_dim);
  return sct_expr_eval(spec->pool, e, &env, &step, NULL) == SCT_OK ? step : 0;
}

static bool is_in(const sct_pipeline *p, int op) {
  return !p->spec->operands[op].is_output || !sct_spec_writes_all(p->spec, op, p->layout[op]);
}

/* Arrays that stay are used in place, or, where a chunk also computes elements of another one, as a
 * copy. Mapped ones are used in place, too. */
static void add_array(const sct_pipeline *p, sct_host_kernel *kernel, int op) {
  const sct_operand *operand = &p->spec->operands[op];
  const bool mapped = p->way.memory == SCT_HOST_MAPPED;
  const bool shares = operand->is_output && kernel->before + kernel->after > 0 && !mapped;
  const bool direct = mapped || (operand->stays && !shares);
  kernel->step[op] = step_of(p, op);
  kernel->base[op] = bytes_at(p, op, kernel->n) - kernel->n * kernel->step[op];
  kernel->is_in[op] = !direct && is_in(p, op);
  kernel->is_out[op] = !direct && operand->is_output;
  kernel->is_shared[op] = sct_spec_is_shared(p->spec, op, p->spec->chunk_dim);
  kernel->is_direct[op] = direct;
  kernel->is_staged[op] = operand->stays && !direct;
  kernel->start[op] = operand->is_output ? sct_operand_start_byte(operand) : -1;
}

/* Arrays that there are not are the device's, of no bytes. */
static void add_arrays(const sct_pipeline *p, sct_host_kernel *kernel) {
  kernel->n_arrays = p->spec->n_operands;
  for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
    kernel->is_direct[k] = 1;
    kernel->start[k] = -1;
    if (k < kernel->n_arrays) {
      add_array(p, kernel, k);
    }
  }
}

int sct_pipeline_shared(const sct_pipeline *p) {
  for (int k = 0; k < p->spec->n_operands; k++) {
    const sct_operand *op = &p->spec->operands[k];
    if (op->stays || (op->is_output && p->kernels[0].step[k] == 0)) {
      return k;
    }
  }
  return -1;
}

int64_t sct_pipeline_bytes(const sct_pipeline *p, int op) {
  return sct_spec_bytes(p->spec, op, p->layout[op], p->size);
}

int64_t sct_pipeline_copied(const sct_pipeline *p, int op, bool back) {
  const sct_operand *operand = &p->spec->operands[op];
  const bool copied = !operand->stays && (back ? operand->is_output : is_in(p, op));
  return copied ? sct_pipeline_bytes(p, op) : 0;
}

/* Devices have halves, and share the threads of the host evenly. */
static void divide(sct_pipeline *p, int64_t n) {
  const int devices = p->way.devices;
  const int64_t half = (n + devices - 1) / devices;
  p->way.chunk = p->way.chunk > 0 ? p->way.chunk : half > 0 ? half : 1;
  for (int d = 0; d < devices; d++) {
    sct_host_kernel *kernel = &p->kernels[d];
    const int threads = p->way.threads / devices + (d < p->way.threads % devices);
    *kernel = (sct_host_kernel){.n = n,
                                .begin = d > 0 ? half : 0,
                                .end = d + 1 < devices ? half : n,
                                .before = p->spec->halo_before,
                                .after = p->spec->halo_after,
                                .pageable = p->way.threads > 0};
    add_arrays(p, kernel);
    p->options[d] = (sct_host_options){.chunk = p->way.chunk,
                                       .streams = p->way.streams,
                                       .threads = threads > 0 ? threads : 1,
                                       .page_locked = p->way.threads == 0};
  }
}

sct_status sct_pipeline_make(sct_pipeline *out, const sct_spec *spec, const int *layout,
                             const sct_size *size, const sct_host_way *way, sct_error *err) {
  const int64_t n = size->extent[spec->chunk_dim];
  *out = (sct_pipeline){.spec = spec, .way = *way, .size = size};
  memcpy(out->layout, layout, sizeof *layout * (size_t)spec->n_operands);
  assert(way->memory != SCT_HOST_MAPPED ||
         !sct_spec_accumulates(spec)); /* they begin on a device */
  out->way.devices = way->devices > 1 && way->memory != SCT_HOST_MAPPED ? way->devices : 1;
  divide(out, n);
  const int shared = sct_pipeline_shared(out);
  if (shared >= 0 && out->way.devices > 1) {
    return sct_fail(err, SCT_EUSAGE, "%s is one for all chunks: they are of one device",
                    spec->operands[shared].name);
  }
  const int64_t n_chunks = n / out->way.chunk;
  if (n_chunks > SCT_MAX_HOST_OPS / (4 * spec->n_operands + 1)) {
    return sct_fail(err, SCT_EUSAGE, "%lld chunks are too many: take larger ones",
                    (long long)n_chunks);
  }
  if (sct_spec_elements(spec, size) == 0) {
    return SCT_OK;
  }
  SCT_TRY(sct_model_pipeline(&out->dry, out->kernels, out->options, out->way.devices, NULL, err));
  out->way.chunk = out->dry.chunk;
  return SCT_OK;
}

void sct_pipeline_free(sct_pipeline *p) {
  sct_timeline_free(&p->dry);
}

void sct_pipeline_extents(const sct_pipeline *p, int k, int64_t out[SCT_MAX_EXTENTS]) {
  memcpy(out, p->size->extent, sizeof *out * (size_t)p->spec->n_extents);
  out[p->spec->chunk_dim] = p->dry.extent[k];
}

/* ---- small sizes ---- */

#define SMALL 64 /* of what is longer by multiples of it: alignments stay the same */

static int64_t small(int64_t n) {
  return n > 2 * SMALL ? SMALL + n % SMALL : n;
}

void sct_pipeline_small(const sct_spec *spec, const sct_size *size, sct_host_way *way,
                        int64_t *dims) {
  const int64_t n = size->extent[spec->chunk_dim], chunk = way->chunk;
  for (int d = 0; d < spec->n_dims; d++) {
    dims[d] = small(size->extent[d]);
  }
  if (chunk > 0 && chunk < n) { /* each stream has more than one chunk, if it had */
    const int64_t n_chunks = n / chunk;
    way->threads = way->threads < 3 ? way->threads : 3;
    const int devices = way->devices > 1 ? way->devices : 1;
    const int64_t most = 2 * way->streams * (way->threads > 0 ? way->threads : devices) + 1;
    way->chunk = small(chunk);
    dims[spec->chunk_dim] =
        (n_chunks < most ? n_chunks : most) * way->chunk + small(n % chunk) % way->chunk;
  }
}
