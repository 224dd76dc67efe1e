/* How arrays of the host go through a kernel in chunks, as a list of operations: what NAME_host of
 * a header does (templates/header/host.cuh), in the same order. */
#include "measure_session.h"

#include <string.h>

typedef struct cut {
  sct_pipeline *p;
  int64_t n, before, after;
  int thread;               /* that the current operations are of */
  int last[SCT_MAX_SLOTS];  /* the operation that a slot ends with; -1: it has none */
  int whole_there;          /* the last copy of what all chunks need; -1: there is none */
  int out[SCT_MAX_SLOTS];   /* the first copy out of a slot's last chunk, and ... */
  int n_out[SCT_MAX_SLOTS]; /* ... how many of them have not left the ring yet */
} cut;

static int64_t bytes_at(const sct_pipeline *p, int op, int64_t chunk) {
  int64_t extent[SCT_MAX_EXTENTS];
  const sct_size size = {.extent = extent, .fill = p->size->fill};
  memcpy(extent, p->size->extent, sizeof *extent * (size_t)p->spec->n_extents);
  extent[p->spec->chunk_dim] = chunk;
  return sct_spec_bytes(p->spec, op, p->layout[op], &size);
}

static int64_t step_of(const sct_pipeline *p, int op) {
  const sct_spec *spec = p->spec;
  const sct_expr_env env = {spec->extent_var, p->size->extent, spec->n_extents};
  int64_t step = 0;
  const sct_expr e = sct_spec_chunk_step(spec, op, p->layout[op], spec->chunk_dim);
  return sct_expr_eval(spec->pool, e, &env, &step, NULL) == SCT_OK ? step : 0;
}

static int add(cut *c, const sct_host_op *op) {
  sct_pipeline *p = c->p;
  const size_t n = (size_t)p->n_ops;
  if (p->n_ops == p->cap_ops) {
    p->cap_ops = p->cap_ops > 0 ? 2 * p->cap_ops : 64;
    p->ops = sct_realloc(p->ops, sizeof *p->ops * (size_t)p->cap_ops);
  }
  p->ops[n] = *op;
  return p->n_ops++;
}

/* For a slot, whose first operation waits for what all chunks need. */
static void queue(cut *c, int slot, sct_host_op op) {
  op.slot = slot;
  op.after = c->last[slot] < 0 ? c->whole_there : -1;
  c->last[slot] = add(c, &op);
}

static sct_host_op copy_of(const cut *c, sct_host_op_kind kind, int slot, int op) {
  const sct_pipeline *p = c->p;
  const int64_t number = (int64_t)slot * p->spec->n_operands + op;
  const bool staged = p->is_staged[op], in = kind == SCT_HOST_OP_IN;
  const sct_host_op_kind stage = in ? SCT_HOST_OP_STAGE_IN : SCT_HOST_OP_STAGE_OUT;
  return (sct_host_op){.kind = staged ? stage : kind,
                       .thread = c->thread,
                       .slot = slot,
                       .after = -1,
                       .array = op,
                       .buffer = p->is_whole[op] ? op : number,
                       .other = staged ? op : -1,
                       .ring = p->way.threads > 0 && !p->is_whole[op] && !staged ? number : -1};
}

/* The host brings what came to the ring to where it belongs. */
static void finish(cut *c, int slot) {
  for (int k = 0; k < c->n_out[slot]; k++) {
    sct_host_op op = c->p->ops[c->out[slot] + k];
    op.kind = SCT_HOST_OP_FROM_RING;
    op.after = c->last[slot];
    if (op.ring >= 0) {
      (void)add(c, &op);
    }
  }
  c->n_out[slot] = 0;
}

static void add_whole(cut *c) {
  c->thread = -1;
  for (int k = 0; k < c->p->spec->n_operands; k++) {
    if (c->p->is_whole[k] && c->p->bytes[k] > 0) {
      sct_host_op op = copy_of(c, SCT_HOST_OP_IN, 0, k);
      op.bytes = c->p->bytes[k];
      queue(c, 0, op);
    }
  }
  c->whole_there = c->last[0];
}

static void add_in(cut *c, int slot, int64_t first, int64_t end) {
  for (int k = 0; k < c->p->spec->n_operands; k++) {
    sct_host_op op = copy_of(c, SCT_HOST_OP_IN, slot, k);
    op.host_at = first * c->p->step[k];
    op.bytes = bytes_at(c->p, k, end - first);
    if (!c->p->is_in[k] || c->p->is_whole[k] || c->p->is_direct[k] || op.bytes == 0) {
      continue;
    }
    if (op.ring >= 0) {
      sct_host_op copy = op;
      copy.kind = SCT_HOST_OP_TO_RING;
      copy.after = c->last[slot];
      (void)add(c, &copy);
    }
    queue(c, slot, op);
  }
}

static void add_out(cut *c, int slot, int64_t first, int64_t own, int64_t own_end) {
  for (int k = c->p->spec->n_inputs; k < c->p->spec->n_operands; k++) {
    sct_host_op op = copy_of(c, SCT_HOST_OP_OUT, slot, k);
    op.host_at = own * c->p->step[k];
    op.device_at = (own - first) * c->p->step[k];
    op.bytes = (own_end - own) * c->p->step[k];
    if (op.bytes > 0 && !c->p->is_direct[k]) {
      queue(c, slot, op);
      c->out[slot] = c->n_out[slot] == 0 ? c->last[slot] : c->out[slot];
      c->n_out[slot] += c->p->way.threads > 0;
    }
  }
}

static bool any_direct(const sct_pipeline *p) {
  bool any = false;
  for (int k = 0; k < p->spec->n_operands; k++) {
    any = any || p->is_direct[k];
  }
  return any;
}

static int add_launch(sct_pipeline *p, sct_chunk_launch launch) {
  launch.first = any_direct(p) ? launch.first : 0;
  for (int k = 0; k < p->n_launches; k++) {
    const sct_chunk_launch *l = &p->launches[k];
    if (l->slot == launch.slot && l->extent == launch.extent && l->first == launch.first) {
      return k;
    }
  }
  if (p->n_launches == p->cap_launches) {
    p->cap_launches = p->cap_launches > 0 ? 2 * p->cap_launches : 16;
    p->launches = sct_realloc(p->launches, sizeof *p->launches * (size_t)p->cap_launches);
  }
  p->launches[p->n_launches] = launch;
  return p->n_launches++;
}

static void add_kernel(cut *c, int slot, int64_t extent, int64_t first) {
  sct_pipeline *p = c->p;
  int k = 0;
  while (k < p->n_extents && p->extent[k] != extent) {
    k++;
  }
  p->extent[k] = extent;
  p->n_extents += k == p->n_extents;
  queue(c, slot,
        (sct_host_op){.kind = SCT_HOST_OP_KERNEL,
                      .thread = c->thread,
                      .ring = -1,
                      .other = -1,
                      .launch = add_launch(p, (sct_chunk_launch){slot, k, first})});
}

/* Each thread takes every so many-th chunk, in slots of its own. (NAME_host lets a thread have the
 * next one when it gets to it.) */
static void add_chunk(cut *c, int64_t which) {
  const int64_t chunk = c->p->way.chunk, own = which * chunk;
  const int slot = sct_pipeline_slot(c->p, which);
  const int64_t own_end = chunk < c->n - own ? own + chunk : c->n;
  const int64_t first = own > c->before ? own - c->before : 0;
  const int64_t end = c->n - own_end > c->after ? own_end + c->after : c->n;
  const bool mapped = c->p->way.memory == SCT_HOST_MAPPED;
  c->thread = (int)(which % c->p->n_threads);
  finish(c, slot);
  if (!mapped) {
    add_in(c, slot, first, end);
  }
  add_kernel(c, slot, end - first, first);
  if (!mapped) {
    add_out(c, slot, first, own, own_end);
  }
}

static void measure_arrays(sct_pipeline *p, int64_t n, int64_t halo) {
  const int64_t most = p->way.chunk + halo < n ? p->way.chunk + halo : n;
  for (int k = 0; k < p->spec->n_operands; k++) {
    p->step[k] = step_of(p, k);
    p->is_whole[k] = p->step[k] == 0 && p->way.memory != SCT_HOST_MAPPED && !p->is_direct[k];
    p->is_in[k] = !p->spec->operands[k].is_output || !sct_spec_writes_all(p->spec, k, p->layout[k]);
    p->bytes[k] = bytes_at(p, k, n);
    p->room[k] = bytes_at(p, k, most);
  }
}

int sct_pipeline_slot(const sct_pipeline *p, int64_t chunk) {
  const int each = p->n_slots / p->n_threads;
  return (int)(chunk % p->n_threads * each + chunk / p->n_threads % each);
}

bool sct_pipeline_uses(const sct_pipeline *p, int slot) {
  const int each = p->n_slots / p->n_threads;
  return slot / each + slot % each * p->n_threads < p->n_chunks;
}

#define RING_SLOTS    2  /* of each thread of the host, as in headers */
#define ALIGNED_CHUNK 32 /* elements, as in headers: parts of the device's arrays begin aligned */

/* Which arrays stay where they are, how long chunks are, and who takes them. */
static sct_status cut_up(cut *c, sct_error *err) {
  sct_pipeline *p = c->p;
  const int64_t halo = c->before + c->after;
  for (int k = 0; k < p->spec->n_operands; k++) {
    const sct_operand *op = &p->spec->operands[k];
    const bool shared = op->is_output && halo > 0 && p->way.memory != SCT_HOST_MAPPED;
    p->is_direct[k] = op->stays && !shared;
    p->is_staged[k] = op->stays && shared;
  }
  p->way.chunk = p->way.chunk == 0 ? c->n : p->way.chunk < halo ? halo : p->way.chunk;
  p->way.chunk = p->way.chunk > 0 ? p->way.chunk : 1;
  if (any_direct(p) && p->way.chunk > ALIGNED_CHUNK && p->way.chunk < c->n) {
    p->way.chunk -= p->way.chunk % ALIGNED_CHUNK;
  }
  p->n_chunks = (c->n + p->way.chunk - 1) / p->way.chunk;
  p->n_threads = p->way.threads < p->n_chunks ? p->way.threads : (int)p->n_chunks;
  p->n_threads = p->n_threads > 0 ? p->n_threads : 1;
  p->n_slots = p->way.threads > 0 ? p->n_threads * RING_SLOTS : p->way.streams;
  return p->n_chunks <= SCT_MAX_HOST_OPS / (4 * p->spec->n_operands + 1) &&
                 (!any_direct(p) || p->n_chunks <= SCT_MAX_HOST_LAUNCHES)
             ? SCT_OK
             : sct_fail(err, SCT_EUSAGE, "%lld chunks are too many: take larger ones",
                        (long long)p->n_chunks);
}

sct_status sct_pipeline_make(sct_pipeline *out, const sct_spec *spec, const int *layout,
                             const sct_size *size, const sct_host_way *way, sct_error *err) {
  cut c = {.p = out,
           .n = size->extent[spec->chunk_dim],
           .before = spec->halo_before,
           .after = spec->halo_after,
           .whole_there = -1};
  *out = (sct_pipeline){.spec = spec, .way = *way, .size = size};
  memcpy(out->layout, layout, sizeof *layout * (size_t)spec->n_operands);
  memset(c.last, 0xff, sizeof c.last);
  SCT_TRY(cut_up(&c, err));
  measure_arrays(out, c.n, c.before + c.after);
  if (sct_spec_elements(spec, size) == 0) {
    return SCT_OK;
  }
  add_whole(&c);
  for (int64_t k = 0; k < out->n_chunks; k++) {
    add_chunk(&c, k);
  }
  for (int s = 0; s < out->n_slots; s++) {
    c.thread = s / (out->n_slots / out->n_threads);
    finish(&c, s);
  }
  return SCT_OK;
}

void sct_pipeline_free(sct_pipeline *p) {
  sct_free(p->ops);
  sct_free(p->launches);
  *p = (sct_pipeline){0};
}

void sct_pipeline_extents(const sct_pipeline *p, int k, int64_t out[SCT_MAX_EXTENTS]) {
  memcpy(out, p->size->extent, sizeof *out * (size_t)p->spec->n_extents);
  out[p->spec->chunk_dim] = p->extent[k];
}

void sct_pipeline_steps(const sct_pipeline *p, sct_pipe_step *out) {
  static const sct_engine engines[SCT_N_HOST_OPS] = {
      [SCT_HOST_OP_IN] = SCT_ENGINE_IN,
      [SCT_HOST_OP_KERNEL] = SCT_ENGINE_KERNEL,
      [SCT_HOST_OP_OUT] = SCT_ENGINE_OUT,
      [SCT_HOST_OP_TO_RING] = SCT_ENGINE_HOST,
      [SCT_HOST_OP_FROM_RING] = SCT_ENGINE_HOST,
      [SCT_HOST_OP_STAGE_IN] = SCT_ENGINE_KERNEL,
      [SCT_HOST_OP_STAGE_OUT] = SCT_ENGINE_KERNEL,
  };
  for (int k = 0; k < p->n_ops; k++) {
    const sct_host_op *op = &p->ops[k];
    const bool copies = op->kind == SCT_HOST_OP_IN || op->kind == SCT_HOST_OP_OUT;
    out[k] =
        (sct_pipe_step){.engine = engines[op->kind],
                        .thread = op->thread,
                        .stream = op->slot % p->way.streams,
                        .after = op->after,
                        .blocks = copies && op->ring < 0 && p->way.memory == SCT_HOST_PAGEABLE};
  }
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
    const int64_t most = 2 * way->streams * (way->threads > 0 ? way->threads : 1) + 1;
    way->chunk = small(chunk);
    dims[spec->chunk_dim] =
        (n_chunks < most ? n_chunks : most) * way->chunk + small(n % chunk) % way->chunk;
  }
}
