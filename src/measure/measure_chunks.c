/* How arrays of the host go through a kernel in chunks, as a list of operations: what NAME_host of
 * a header does (templates/header/host.cuh), in the same order. */
#include "measure_session.h"

#include <assert.h>
#include <string.h>

typedef struct cut {
  sct_pipeline *p;
  int64_t n, before, after;
  int device, thread;       /* that the current operations are of */
  int last[SCT_MAX_SLOTS];  /* the operation that a slot ends with; -1: it has none */
  int whole_there;          /* the last copy of what all chunks need; -1: there is none */
  int combined;             /* the last kernel, where chunks go onto what those before have left */
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

static const sct_host_part *part_of(const cut *c) {
  return &c->p->parts[c->device];
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
  const int64_t whole = (int64_t)part_of(c)->first_slot * p->spec->n_operands + op;
  const bool staged = p->is_staged[op], in = kind == SCT_HOST_OP_IN;
  const sct_host_op_kind stage = in ? SCT_HOST_OP_STAGE_IN : SCT_HOST_OP_STAGE_OUT;
  return (sct_host_op){.kind = staged ? stage : kind,
                       .device = c->device,
                       .thread = c->thread,
                       .slot = slot,
                       .after = -1,
                       .array = op,
                       .buffer = p->is_whole[op] ? whole : number,
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

/* What points fall on begins at the identity element: `bytes` of the array, from `at` of what a
 * slot or all have of it, or of the device's own array. */
static void add_start(cut *c, int slot, int op, int64_t at, int64_t bytes) {
  sct_host_op set = copy_of(c, SCT_HOST_OP_SET, slot, op);
  set.kind = SCT_HOST_OP_SET;
  set.ring = -1;
  set.other = c->p->is_direct[op] ? op : -1;
  set.device_at = at;
  set.bytes = bytes;
  set.value = (uint8_t)c->p->start[op];
  if (bytes > 0) {
    queue(c, slot, set);
  }
}

static void add_whole(cut *c) {
  const int slot = part_of(c)->first_slot;
  c->thread = -1;
  for (int k = 0; k < c->p->spec->n_operands; k++) {
    if (c->p->start[k] >= 0 && c->p->is_shared[k]) {
      add_start(c, slot, k, 0, c->p->bytes[k]);
    } else if (c->p->is_whole[k] && c->p->bytes[k] > 0) {
      sct_host_op op = copy_of(c, SCT_HOST_OP_IN, slot, k);
      op.bytes = c->p->bytes[k];
      queue(c, slot, op);
    }
  }
  c->whole_there = c->last[slot];
}

/* What all chunks went onto. */
static void add_whole_out(cut *c) {
  const int slot = part_of(c)->first_slot;
  c->thread = part_of(c)->first_thread;
  for (int k = c->p->spec->n_inputs; k < c->p->spec->n_operands; k++) {
    if (c->p->is_shared[k] && c->p->is_whole[k] && c->p->bytes[k] > 0) {
      sct_host_op op = copy_of(c, SCT_HOST_OP_OUT, slot, k);
      op.bytes = c->p->bytes[k];
      queue(c, slot, op);
      c->p->ops[c->last[slot]].after = c->combined;
    }
  }
}

static void add_in(cut *c, int slot, int64_t first, int64_t end) {
  const int before = c->last[slot]; /* of the chunk whose place in the ring this one takes */
  for (int k = 0; k < c->p->spec->n_operands; k++) {
    if (c->p->start[k] >= 0 && !c->p->is_shared[k]) {
      add_start(c, slot, k, c->p->is_direct[k] ? first * c->p->step[k] : 0,
                (end - first) * c->p->step[k]);
      continue;
    }
    sct_host_op op = copy_of(c, SCT_HOST_OP_IN, slot, k);
    op.host_at = first * c->p->step[k];
    op.bytes = bytes_at(c->p, k, end - first);
    if (!c->p->is_in[k] || c->p->is_whole[k] || c->p->is_direct[k] || op.bytes == 0) {
      continue;
    }
    if (op.ring >= 0) {
      sct_host_op copy = op;
      copy.kind = SCT_HOST_OP_TO_RING;
      copy.after = before;
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
                      .device = c->device,
                      .thread = c->thread,
                      .ring = -1,
                      .other = -1,
                      .launch = add_launch(p, (sct_chunk_launch){slot, k, first})});
  if (sct_pipeline_combines(p)) { /* one kernel after the other */
    sct_host_op *const op = &p->ops[c->last[slot]];
    op->after = c->combined >= 0 ? c->combined : op->after;
    c->combined = c->last[slot];
  }
}

static int slot_of(const sct_host_part *part, int64_t chunk) {
  const int each = part->n_slots / part->n_threads;
  return part->first_slot + (int)(chunk % part->n_threads * each + chunk / part->n_threads % each);
}

/* Chunks of a device's part are dealt round-robin to its threads, each with slots of its own.
 * (NAME_host lets a thread have the next one when it gets to it.) */
static void add_chunk(cut *c, int64_t which) {
  const sct_host_part *part = part_of(c);
  const int64_t chunk = c->p->way.chunk, own = part->begin + which * chunk;
  const int slot = slot_of(part, which);
  const int64_t own_end = chunk < part->end - own ? own + chunk : part->end;
  const int64_t first = own > c->before ? own - c->before : 0;
  const int64_t end = c->n - own_end > c->after ? own_end + c->after : c->n;
  const bool mapped = c->p->way.memory == SCT_HOST_MAPPED;
  c->thread = part->first_thread + (int)(which % part->n_threads);
  finish(c, slot);
  if (!mapped) {
    add_in(c, slot, first, end);
  }
  add_kernel(c, slot, end - first, first);
  if (!mapped) {
    add_out(c, slot, first, own, own_end);
  }
}

static void add_part(cut *c, int device) {
  const sct_host_part *part = &c->p->parts[device];
  c->device = device;
  c->whole_there = c->combined = -1;
  if (part->n_chunks == 0) {
    return;
  }
  add_whole(c);
  for (int64_t k = 0; k < part->n_chunks; k++) {
    add_chunk(c, k);
  }
  for (int s = 0; s < part->n_slots; s++) {
    c->thread = part->first_thread + s / (part->n_slots / part->n_threads);
    finish(c, part->first_slot + s);
  }
  add_whole_out(c);
}

static void measure_arrays(sct_pipeline *p, int64_t n, int64_t halo) {
  const int64_t most = p->way.chunk + halo < n ? p->way.chunk + halo : n;
  for (int k = 0; k < p->spec->n_operands; k++) {
    p->step[k] = step_of(p, k);
    p->is_whole[k] = p->step[k] == 0 && p->way.memory != SCT_HOST_MAPPED && !p->is_direct[k];
    p->is_shared[k] = sct_spec_is_shared(p->spec, k, p->spec->chunk_dim);
    p->start[k] =
        p->spec->operands[k].is_output ? sct_operand_start_byte(&p->spec->operands[k]) : -1;
    p->is_in[k] = !p->spec->operands[k].is_output || !sct_spec_writes_all(p->spec, k, p->layout[k]);
    p->bytes[k] = bytes_at(p, k, n);
    p->room[k] = bytes_at(p, k, most);
  }
}

int sct_pipeline_shared(const sct_pipeline *p) {
  for (int k = 0; k < p->spec->n_operands; k++) {
    const sct_operand *op = &p->spec->operands[k];
    if (op->stays || (op->is_output && p->step[k] == 0)) {
      return k;
    }
  }
  return -1;
}

int sct_pipeline_device(const sct_pipeline *p, int slot) {
  return p->n_parts > 1 && slot >= p->parts[1].first_slot;
}

bool sct_pipeline_combines(const sct_pipeline *p) {
  bool any = false;
  for (int k = 0; k < p->spec->n_operands; k++) {
    any = any || p->is_shared[k];
  }
  return any;
}

bool sct_pipeline_uses(const sct_pipeline *p, int slot) {
  const sct_host_part *part = &p->parts[sct_pipeline_device(p, slot)];
  const int each = part->n_slots / part->n_threads, own = slot - part->first_slot;
  return own / each + own % each * part->n_threads < part->n_chunks;
}

#define RING_SLOTS    2  /* of each thread of the host, as in headers */
#define ALIGNED_CHUNK 32 /* elements, as in headers: parts of the device's arrays begin aligned */

/* A device's part, which follows that of the device before. Threads of the host are shared evenly.
 */
static void add_device(sct_pipeline *p, int64_t end) {
  const int d = p->n_parts++, devices = p->way.devices;
  const int64_t begin = d > 0 ? p->parts[d - 1].end : 0;
  const int64_t n_chunks = (end - begin + p->way.chunk - 1) / p->way.chunk;
  const int shared = p->way.threads / devices + (d < p->way.threads % devices);
  const int own = shared < n_chunks ? shared : (int)n_chunks;
  const int n_threads = own > 0 ? own : 1;
  p->parts[d] =
      (sct_host_part){.begin = begin,
                      .end = end,
                      .n_chunks = n_chunks,
                      .n_threads = n_threads,
                      .n_slots = p->way.threads > 0 ? n_threads * RING_SLOTS : p->way.streams,
                      .first_thread = p->n_threads,
                      .first_slot = p->n_slots};
  p->n_chunks += n_chunks;
  p->n_threads += n_threads;
  p->n_slots += p->parts[d].n_slots;
}

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
  p->way.devices = p->way.devices > 1 && p->way.memory != SCT_HOST_MAPPED ? p->way.devices : 1;
  const int64_t half = (c->n + p->way.devices - 1) / p->way.devices;
  p->way.chunk = p->way.chunk == 0 ? half : p->way.chunk < halo ? halo : p->way.chunk;
  p->way.chunk = p->way.chunk > 0 ? p->way.chunk : 1;
  if (any_direct(p) && p->way.chunk > ALIGNED_CHUNK && p->way.chunk < c->n) {
    p->way.chunk -= p->way.chunk % ALIGNED_CHUNK;
  }
  for (int d = 0; d < p->way.devices; d++) {
    add_device(p, d + 1 < p->way.devices ? half : c->n);
  }
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
           .after = spec->halo_after};
  *out = (sct_pipeline){.spec = spec, .way = *way, .size = size};
  memcpy(out->layout, layout, sizeof *layout * (size_t)spec->n_operands);
  memset(c.last, 0xff, sizeof c.last);
  SCT_TRY(cut_up(&c, err));
  measure_arrays(out, c.n, c.before + c.after);
  assert(way->memory != SCT_HOST_MAPPED ||
         !sct_spec_accumulates(spec)); /* they begin on a device */
  const int shared = sct_pipeline_shared(out);
  if (shared >= 0 && out->n_parts > 1) {
    return sct_fail(err, SCT_EUSAGE, "%s is one for all chunks: they are of one device",
                    spec->operands[shared].name);
  }
  if (sct_spec_elements(spec, size) == 0) {
    return SCT_OK;
  }
  for (int d = 0; d < out->n_parts; d++) {
    add_part(&c, d);
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
      [SCT_HOST_OP_SET] = SCT_ENGINE_KERNEL,
  };
  for (int k = 0; k < p->n_ops; k++) {
    const sct_host_op *op = &p->ops[k];
    const bool copies = op->kind == SCT_HOST_OP_IN || op->kind == SCT_HOST_OP_OUT;
    out[k] =
        (sct_pipe_step){.engine = engines[op->kind],
                        .device = op->device,
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
    const int devices = way->devices > 1 ? way->devices : 1;
    const int64_t most = 2 * way->streams * (way->threads > 0 ? way->threads : devices) + 1;
    way->chunk = small(chunk);
    dims[spec->chunk_dim] =
        (n_chunks < most ? n_chunks : most) * way->chunk + small(n % chunk) % way->chunk;
  }
}
