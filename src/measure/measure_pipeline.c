/* From the host and back: what the worker is asked of a pipeline, and what came of it. */
#include "measure_session.h"

#include <string.h>

#define POISON 0xa5

/* What a pipeline has on the device, and the kernels that it launches. */
typedef struct run {
  sct_measure *m;
  const sct_pipeline *p;
  sct_job jobs[SCT_MAX_DEVICES][2]; /* of each device: the naive variant and the candidate */
  int64_t *buffers; /* [n_slots][n_operands]; arrays that all need in a device's first slot */
  int64_t workspace[SCT_MAX_SLOTS];
  sct_ask_launch *launches; /* [p->n_launches] */
  sct_launch_room *rooms;
  sct_host_op *ops;
} run;

static int first_slot(const run *r, int slot) {
  return r->p->parts[sct_pipeline_device(r->p, slot)].first_slot;
}

/* The buffer of a slot for an array that kernels do not use in place. */
static int64_t *buffer_at(const run *r, int slot, int op) {
  const int of = r->p->is_whole[op] ? first_slot(r, slot) : slot;
  return &r->buffers[of * r->p->spec->n_operands + op];
}

static int64_t workspace_bytes(const run *r) {
  const int64_t naive = r->jobs[0][0].binary->code->workspace_bytes;
  const int64_t other = r->jobs[0][1].binary->code->workspace_bytes;
  return naive > other ? naive : other;
}

static sct_status open_buffer(run *r, int slot, int64_t bytes, uint8_t byte, int64_t *buffer,
                              sct_error *err) {
  SCT_TRY(sct_remote_alloc_on(r->m, bytes, sct_pipeline_device(r->p, slot), buffer, err));
  return sct_ask_SET(r->m, &(sct_ask_set){*buffer, byte}, NULL, err);
}

static sct_status open_slots(run *r, sct_error *err) {
  const int n_operands = r->p->spec->n_operands;
  const int64_t workspace = workspace_bytes(r);
  for (int s = 0; s < r->p->n_slots; s++) {
    if (!sct_pipeline_uses(r->p, s)) {
      continue;
    }
    for (int k = 0; k < n_operands && r->p->way.memory != SCT_HOST_MAPPED; k++) {
      if ((s == first_slot(r, s) || !r->p->is_whole[k]) && !r->p->is_direct[k]) {
        SCT_TRY(open_buffer(r, s, r->p->room[k], POISON, buffer_at(r, s, k), err));
      }
    }
    if (workspace > 0) {
      SCT_TRY(open_buffer(r, s, workspace, 0, &r->workspace[s], err));
    }
  }
  return SCT_OK;
}

static void close_slots(run *r) {
  sct_wire freed = {0};
  sct_remote_put_freed(&freed, r->buffers, r->p->n_slots * r->p->spec->n_operands);
  sct_remote_put_freed(&freed, r->workspace, SCT_MAX_SLOTS);
  sct_remote_free(r->m, &freed);
}

/* What a kernel needs at these extents, of parts of the device's arrays too. */
static bool is_allowed(const run *r, const sct_kernel_code *code, const int64_t *extents,
                       int64_t first) {
  bool allowed = sct_code_allows(&r->m->addressing, code, extents);
  for (int k = 0; k < r->p->spec->n_operands; k++) {
    const int64_t at = first * r->p->step[k];
    allowed = allowed && (!r->p->is_direct[k] || !code->align || at % code->align[k] == 0);
  }
  return allowed;
}

/* An array of the device as it is, a mapped one, or what the slot has of it. */
static sct_ask_arg array_arg(const run *r, const sct_chunk_launch *l, int op) {
  if (r->p->is_direct[op]) {
    return (sct_ask_arg){.kind = SCT_ARG_BUFFER,
                         .number = r->m->timed.buffer[op],
                         .offset = l->first * r->p->step[op]};
  }
  return r->p->way.memory == SCT_HOST_MAPPED
             ? (sct_ask_arg){.kind = SCT_ARG_HOST, .number = op}
             : (sct_ask_arg){.kind = SCT_ARG_BUFFER, .number = *buffer_at(r, l->slot, op)};
}

static sct_status set_launch(run *r, int which, sct_verdict *verdict, sct_error *err) {
  const sct_spec *spec = r->p->spec;
  const sct_chunk_launch *l = &r->p->launches[which];
  int64_t extents[SCT_MAX_EXTENTS];
  sct_param params[SCT_MAX_ARGS];
  sct_shape shape;
  sct_pipeline_extents(r->p, l->extent, extents);
  SCT_TRY(sct_shape_init(&shape, &r->m->addressing, extents, r->p->size->fill, err));
  const sct_job *jobs = r->jobs[sct_pipeline_device(r->p, l->slot)];
  const sct_job *job = &jobs[is_allowed(r, jobs[1].binary->code, extents, l->first)];
  sct_target target = {.shape = &shape, .buffer = r->m->timed.buffer};
  const sct_status status =
      sct_code_blocks(&shape, job->binary->code, &target.blocks, verdict, err);
  if (status == SCT_OK) {
    r->launches[which] = sct_remote_launch(r->m, job, &target, &r->rooms[which]);
  }
  const int n = sct_code_params(params, spec, job->binary->code);
  for (int k = 0; k < r->launches[which].n_args; k++) {
    sct_ask_arg *arg = &r->rooms[which].args[k];
    if (arg->kind == SCT_ARG_WORKSPACE) { /* each slot has one of its own */
      *arg = (sct_ask_arg){.kind = SCT_ARG_BUFFER, .number = r->workspace[l->slot]};
    } else if (k < n && params[k].kind == SCT_PARAM_ARRAY) {
      *arg = array_arg(r, l, params[k].number);
    }
  }
  sct_shape_free(&shape);
  return status;
}

#define RING_ALIGN 4096

/* What the first n operands need of a slot's ring, on one of the two ways. */
static int64_t ring_room(const sct_pipeline *p, int n, bool is_out) {
  int64_t bytes = 0;
  for (int k = 0; k < n; k++) {
    const bool goes = is_out ? p->spec->operands[k].is_output : p->is_in[k];
    if (goes && !p->is_whole[k] && !p->spec->operands[k].stays) {
      bytes += (p->room[k] + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
    }
  }
  return bytes;
}

/* What comes back takes the place of what went. */
static int64_t slot_bytes(const sct_pipeline *p) {
  const int64_t in = ring_room(p, p->spec->n_operands, false);
  const int64_t out = ring_room(p, p->spec->n_operands, true);
  return in > out ? in : out;
}

static int64_t ring_at(const sct_pipeline *p, const sct_host_op *op) {
  const bool is_out = op->kind == SCT_HOST_OP_OUT || op->kind == SCT_HOST_OP_FROM_RING;
  return op->ring / p->spec->n_operands * slot_bytes(p) + ring_room(p, op->array, is_out);
}

/* Buffers and places in the ring as the worker has them. */
static sct_status set_ops(run *r, sct_verdict *verdict, sct_error *err) {
  for (int k = 0; k < r->p->n_launches; k++) {
    SCT_TRY(set_launch(r, k, verdict, err));
  }
  for (int k = 0; k < r->p->n_ops; k++) {
    sct_host_op *op = &r->ops[k];
    *op = r->p->ops[k];
    if (op->kind != SCT_HOST_OP_KERNEL) {
      const bool own = op->kind == SCT_HOST_OP_SET && op->other >= 0;
      op->buffer = own ? r->m->timed.buffer[op->other] : r->buffers[op->buffer];
      op->other = op->other >= 0 ? r->m->timed.buffer[op->other] : -1;
      op->ring = op->ring >= 0 ? ring_at(r->p, op) : -1;
    }
  }
  return SCT_OK;
}

static void set_arrays(const run *r, sct_host_array arrays[SCT_MAX_OPERANDS]) {
  const sct_timed *t = &r->m->timed;
  for (int k = 0; k < r->p->spec->n_operands; k++) {
    const bool is_output = k >= r->p->spec->n_inputs, stays = r->p->spec->operands[k].stays;
    arrays[k] = (sct_host_array){.bytes = stays ? 0 : r->p->bytes[k],
                                 .from = stays       ? -1
                                         : is_output ? t->prefill[k]
                                                     : t->buffer[k],
                                 .to = is_output && !stays ? t->buffer[k] : -1};
  }
}

static void take_times(const sct_got_host *got, sct_pipe_step *steps) {
  for (int64_t k = 0; k < got->n_times; k++) {
    const double begin = got->times[k].begin_ns, end = got->times[k].end_ns;
    steps[k].begin_ns = begin > 0 ? begin : 0; /* no NaN, whoever answers */
    steps[k].end_ns = end > 0 ? end : 0;
  }
  sct_model_measured_begins(steps, (int)got->n_times);
}

static sct_status ask(run *r, const sct_sample_limits *limits, sct_timing *out,
                      sct_pipe_step *steps, sct_error *err) {
  sct_host_array arrays[SCT_MAX_OPERANDS];
  sct_got_host got = {0};
  set_arrays(r, arrays);
  const sct_ask_host request = {.memory = r->p->way.memory,
                                .poison = POISON,
                                .arrays = arrays,
                                .n_arrays = r->p->spec->n_operands,
                                .ring_bytes =
                                    r->p->way.threads > 0 ? r->p->n_slots * slot_bytes(r->p) : 0,
                                .launches = r->launches,
                                .n_launches = r->p->n_launches,
                                .ops = r->ops,
                                .n_ops = r->p->n_ops,
                                .n_streams = r->p->way.streams,
                                .least = limits->least,
                                .most = limits->most,
                                .limit_ns = limits->limit_ns};
  sct_worker_ask(&r->m->worker, SCT_OP_HOST, &request, 3 * r->m->request_ns + limits->limit_ns,
                 &r->m->reply, &got);
  if (r->m->reply.kind == SCT_REPLY_NOMEM) { /* of the host */
    sct_verdict_set(&out->verdict, SCT_OUT_TOO_LARGE, "%s", r->m->reply.text);
    return SCT_OK;
  }
  SCT_TRY(sct_reply_evaluate(&r->m->reply, "", &out->verdict, err));
  if (out->verdict.outcome == SCT_OUT_OK && got.n_times != r->p->n_ops) {
    return sct_fail(err, SCT_EINTERNAL, "malformed answer to HOST");
  }
  if (out->verdict.outcome == SCT_OUT_OK) {
    out->times.n_samples = (int)got.n_samples_ns;
    out->times.samples_ns = sct_alloc(sizeof(double) * (size_t)(got.n_samples_ns + 1));
    for (int k = 0; k < out->times.n_samples; k++) {
      out->times.samples_ns[k] = got.samples_ns[k];
    }
    take_times(&got, steps);
  }
  return SCT_OK;
}

static bool has_outputs_that_stay(const run *r) {
  bool any = false;
  for (int k = r->p->spec->n_inputs; k < r->p->spec->n_operands; k++) {
    any = any || r->p->spec->operands[k].stays;
  }
  return any;
}

/* Outputs that stay are set anew for the run that is compared: samples may have updated them. */
static sct_status ask_all(run *r, const sct_sample_limits *limits, sct_timing *out,
                          sct_pipe_step *steps, sct_error *err) {
  const sct_sample_limits none = {0};
  if (!has_outputs_that_stay(r)) {
    return ask(r, limits, out, steps, err);
  }
  SCT_TRY(sct_timed_poison(r->m, err));
  SCT_TRY(ask(r, limits, out, steps, err));
  if (limits->most > 0 && out->verdict.outcome == SCT_OUT_OK) {
    sct_timing compared = {.verdict = {.outcome = SCT_OUT_OK}};
    SCT_TRY(sct_timed_poison(r->m, err));
    const sct_status status = ask(r, &none, &compared, steps, err);
    out->verdict = compared.verdict;
    sct_free(compared.times.samples_ns);
    return status;
  }
  return SCT_OK;
}

static sct_status check(run *r, sct_verdict *verdict, sct_error *err) {
  sct_audit audit;
  SCT_TRY(sct_timed_compare_all(r->m, verdict, err));
  SCT_TRY(sct_ask_AUDIT(r->m, &(sct_ask_audit){.n_buffers = 0}, &audit, err));
  sct_evaluate_audit(verdict, &r->m->timed.shape, r->m->timed.buffer, &audit);
  if (audit.damage != SCT_DAMAGE_NONE) {
    sct_child_kill(&r->m->worker);
  }
  return SCT_OK;
}

/* Both kernels, on each device that has chunks. */
static sct_status load_kernels(run *r, sct_verdict *v, sct_error *err) {
  for (int k = 0; k < 2 && v->outcome == SCT_OUT_OK; k++) {
    SCT_TRY(sct_remote_load(r->m, r->jobs[0][k].binary, &r->jobs[0][k], v, err));
  }
  if (r->p->n_parts == 1 || v->outcome != SCT_OUT_OK) {
    return SCT_OK;
  }
  if (!r->m->peer) {
    return sct_fail(err, SCT_EUSAGE, "there is no second device for its part");
  }
  const sct_ask_open second = sct_remote_open_peer(r->m, r->m->peer);
  SCT_TRY(sct_ask_PEER(r->m, &second, NULL, err));
  for (int k = 0; k < 2 && v->outcome == SCT_OUT_OK; k++) {
    SCT_TRY(sct_remote_load_peer(r->m, r->jobs[1][k].binary, &r->jobs[1][k], v, err));
  }
  return SCT_OK;
}

static sct_status load_and_run(run *r, const sct_sample_limits *limits, sct_timing *out,
                               sct_pipe_step *steps, sct_error *err) {
  sct_verdict *v = &out->verdict;
  SCT_TRY(load_kernels(r, v, err));
  if (v->outcome == SCT_OUT_OK) {
    SCT_TRY(open_slots(r, err));
    SCT_TRY(set_ops(r, v, err));
  }
  if (v->outcome == SCT_OUT_OK) {
    SCT_TRY(ask_all(r, limits, out, steps, err));
  }
  return v->outcome == SCT_OUT_OK ? check(r, v, err) : SCT_OK;
}

static sct_status run_pipeline(sct_measure *m, const sct_binary *candidate, const sct_pipeline *p,
                               const sct_sample_limits *limits, sct_timing *out,
                               sct_pipe_step *steps, sct_error *err) {
  const size_t n_buffers = (size_t)(p->n_slots * p->spec->n_operands);
  const size_t n_launches = (size_t)p->n_launches;
  run r = {.m = m,
           .p = p,
           .buffers = sct_alloc(sizeof *r.buffers * (n_buffers + 1)),
           .launches = sct_alloc(sizeof *r.launches * (n_launches + 1)),
           .rooms = sct_alloc(sizeof *r.rooms * (n_launches + 1)),
           .ops = sct_alloc(sizeof *r.ops * (size_t)p->n_ops)};
  for (int d = 0; d < SCT_MAX_DEVICES; d++) {
    r.jobs[d][0] = (sct_job){.binary = &m->naive, .kernel = -1};
    r.jobs[d][1] = (sct_job){.binary = candidate, .kernel = -1};
  }
  memset(r.buffers, 0xff, sizeof *r.buffers * n_buffers);
  memset(r.workspace, 0xff, sizeof r.workspace);
  sct_status status = load_and_run(&r, limits, out, steps, err);
  close_slots(&r);
  for (int k = 2 * SCT_MAX_DEVICES - 1; k >= 0; k--) {
    sct_remote_unload(m, &r.jobs[k / 2][k % 2]);
  }
  sct_free(r.buffers);
  sct_free(r.launches);
  sct_free(r.rooms);
  sct_free(r.ops);
  if (status == SCT_ENOMEM) { /* of the device */
    sct_verdict_set(&out->verdict, SCT_OUT_TOO_LARGE, "%s", err ? err->text : "");
    status = SCT_OK;
  }
  return status;
}

void sct_measure_set_peer(sct_measure *m, const sct_measure *peer) {
  m->peer = peer;
}

sct_status sct_measure_pipeline(sct_measure *m, const sct_binary *candidate, const sct_pipeline *p,
                                const sct_sample_limits *limits, sct_timing *out,
                                sct_pipe_step *steps, sct_error *err) {
  char where[128];
  *out = (sct_timing){.verdict = {.outcome = SCT_OUT_OK}};
  if (!m->has_problem || p->n_ops == 0) {
    return sct_fail(err, SCT_EUSAGE, "there is nothing to run from the host and back");
  }
  SCT_TRY(sct_remote_ensure(m, err));
  snprintf(where, sizeof where, " (%s)", p->size->label ? p->size->label : "this size");
  const sct_status prepared = sct_timed_prepare(m, p->size, where, err);
  if (prepared == SCT_ENOMEM) { /* of the device, which has all at once to compare with */
    sct_verdict_set(&out->verdict, SCT_OUT_TOO_LARGE, "%s", err ? err->text : "");
    return SCT_OK;
  }
  SCT_TRY(prepared);
  if (m->timed.naive_verdict.outcome != SCT_OUT_OK) {
    return sct_fail(err, SCT_ENOTVERIFIED, "the naive variant fails at this size: %s: %s",
                    sct_outcome_text(m->timed.naive_verdict.outcome),
                    m->timed.naive_verdict.detail);
  }
  sct_pipeline_steps(p, steps);
  SCT_TRY(run_pipeline(m, candidate, p, limits, out, steps, err));
  if (out->verdict.outcome != SCT_OUT_OK) {
    sct_free(out->times.samples_ns);
    out->times.samples_ns = NULL;
    out->times.n_samples = 0;
  } else if (out->times.n_samples > 0) {
    sct_times_summarise(&out->times);
  }
  return SCT_OK;
}

bool sct_measure_small_size(sct_measure *m, const int64_t *dims, int64_t extent[SCT_MAX_EXTENTS]) {
  sct_case *c = NULL;
  sct_case_get(m, dims, &c);
  memcpy(extent, c->shape.extent, sizeof c->shape.extent);
  return c->legal;
}
