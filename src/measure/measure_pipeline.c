/* From the host and back: what the worker is asked of a pipeline, and what came of it. */
#include "measure_session.h"

#include <string.h>

#define POISON 0xa5

/* What a pipeline has on the device, and the kernels that it launches. */
typedef struct run {
  sct_measure *m;
  const sct_pipeline *p;
  sct_job jobs[2];  /* the naive variant and the candidate */
  int64_t *buffers; /* [n_slots][n_operands]; arrays that all need in the first slot */
  int64_t workspace[SCT_MAX_STREAMS];
  int n_launches;
  sct_ask_launch *launches;
  sct_launch_room *rooms; /* [n_launches] */
  sct_host_op *ops;
} run;

static int64_t *buffer_at(const run *r, int slot, int op) {
  return &r->buffers[(r->p->is_whole[op] ? 0 : slot * r->p->spec->n_operands) + op];
}

static int64_t workspace_bytes(const run *r) {
  const int64_t naive = r->jobs[0].binary->code->workspace_bytes;
  const int64_t other = r->jobs[1].binary->code->workspace_bytes;
  return naive > other ? naive : other;
}

static sct_status open_slots(run *r, sct_error *err) {
  const int n_operands = r->p->spec->n_operands;
  const int64_t workspace = workspace_bytes(r);
  for (int s = 0; s < r->p->n_slots; s++) {
    if (!sct_pipeline_uses(r->p, s)) {
      continue;
    }
    for (int k = 0; k < n_operands && r->p->way.memory != SCT_HOST_MAPPED; k++) {
      if (s == 0 || !r->p->is_whole[k]) {
        int64_t *const buffer = buffer_at(r, s, k);
        SCT_TRY(sct_remote_alloc(r->m, r->p->room[k], 1, buffer, err));
        SCT_TRY(sct_ask_SET(r->m, &(sct_ask_set){*buffer, POISON}, NULL, err));
      }
    }
    if (workspace > 0) {
      SCT_TRY(sct_remote_alloc(r->m, workspace, 1, &r->workspace[s], err));
      SCT_TRY(sct_ask_SET(r->m, &(sct_ask_set){r->workspace[s], 0}, NULL, err));
    }
  }
  return SCT_OK;
}

static void close_slots(run *r) {
  sct_wire freed = {0};
  sct_remote_put_freed(&freed, r->buffers, r->p->n_slots * r->p->spec->n_operands);
  sct_remote_put_freed(&freed, r->workspace, SCT_MAX_STREAMS);
  sct_remote_free(r->m, &freed);
}

/* A launch of a slot at some extents. */
static sct_status set_launch(run *r, int slot, int extent, sct_verdict *verdict, sct_error *err) {
  const sct_spec *spec = r->p->spec;
  const bool mapped = r->p->way.memory == SCT_HOST_MAPPED;
  int64_t extents[SCT_MAX_EXTENTS], buffer[SCT_MAX_OPERANDS];
  sct_shape shape;
  sct_pipeline_extents(r->p, extent, extents);
  SCT_TRY(sct_shape_init(&shape, &r->m->plan, extents, r->p->size->fill, err));
  for (int k = 0; k < spec->n_operands; k++) {
    buffer[k] = mapped ? k : *buffer_at(r, slot, k);
  }
  const bool allowed = sct_code_allows(&r->m->plan, r->jobs[1].binary->code, extents);
  const sct_job *job = &r->jobs[allowed];
  sct_target target = {.shape = &shape, .buffer = buffer};
  const sct_status status =
      sct_code_blocks(&shape, job->binary->code, &target.blocks, verdict, err);
  sct_launch_room *room = &r->rooms[r->n_launches];
  sct_ask_launch *launch = &r->launches[r->n_launches++];
  if (status == SCT_OK) {
    *launch = sct_remote_launch(r->m, job, &target, room);
  }
  for (int k = 0; k < launch->n_args; k++) { /* each stream has a workspace of its own */
    sct_ask_arg *arg = &room->args[k];
    if (arg->kind == SCT_ARG_WORKSPACE) {
      *arg = (sct_ask_arg){SCT_ARG_BUFFER, r->workspace[slot], NULL, 0};
    } else if (arg->kind == SCT_ARG_BUFFER && mapped) {
      arg->kind = SCT_ARG_HOST;
    }
  }
  sct_shape_free(&shape);
  return status;
}

#define RING_ALIGN 4096

static int64_t ring_room(const sct_pipeline *p, int op) {
  return p->is_whole[op] ? 0 : (p->room[op] + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
}

/* Where the ring of a slot and operand begins; `number` of all of them: the bytes of the ring. */
static int64_t ring_at(const sct_pipeline *p, int64_t number) {
  int64_t slot_bytes = 0, before = 0;
  for (int k = 0; k < p->spec->n_operands; k++) {
    before += k < number % p->spec->n_operands ? ring_room(p, k) : 0;
    slot_bytes += ring_room(p, k);
  }
  return number / p->spec->n_operands * slot_bytes + before;
}

/* Launches that the operations ask for, each once; and buffers, places in the ring and launches as
 * the worker has them. */
static sct_status set_ops(run *r, sct_verdict *verdict, sct_error *err) {
  int launch_of[SCT_MAX_HOST_LAUNCHES];
  memset(launch_of, 0xff, sizeof launch_of);
  for (int k = 0; k < r->p->n_ops; k++) {
    sct_host_op *op = &r->ops[k];
    *op = r->p->ops[k];
    if (op->kind != SCT_HOST_OP_KERNEL) {
      op->buffer = r->buffers[op->buffer];
      op->ring = op->ring >= 0 ? ring_at(r->p, op->ring) : -1;
      continue;
    }
    int *const launch = &launch_of[op->launch];
    if (*launch < 0) {
      *launch = r->n_launches;
      SCT_TRY(set_launch(r, (int)(op->launch / SCT_MAX_CHUNKS), (int)(op->launch % SCT_MAX_CHUNKS),
                         verdict, err));
    }
    op->launch = *launch;
  }
  return SCT_OK;
}

static void set_arrays(const run *r, sct_host_array arrays[SCT_MAX_OPERANDS]) {
  const sct_timed *t = &r->m->timed;
  for (int k = 0; k < r->p->spec->n_operands; k++) {
    const bool is_output = k >= r->p->spec->n_inputs;
    arrays[k] = (sct_host_array){.bytes = r->p->bytes[k],
                                 .from = is_output ? t->prefill[k] : t->buffer[k],
                                 .to = is_output ? t->buffer[k] : -1};
  }
}

static void take_times(const sct_got_host *got, sct_pipe_step *steps) {
  for (int64_t k = 0; k < got->n_times; k++) {
    const double begin = got->times[k].begin_ns, end = got->times[k].end_ns;
    steps[k].begin_ns = begin > 0 ? begin : 0; /* no NaN, whoever answers */
    steps[k].end_ns = end > 0 ? end : 0;
  }
  sct_model_measured(steps, (int)got->n_times);
}

static sct_status ask(run *r, const sct_sample_limits *limits, sct_timing *out,
                      sct_pipe_step *steps, sct_error *err) {
  sct_host_array arrays[SCT_MAX_OPERANDS];
  sct_got_host got = {0};
  set_arrays(r, arrays);
  const sct_ask_host request = {
      .memory = r->p->way.memory,
      .poison = POISON,
      .arrays = arrays,
      .n_arrays = r->p->spec->n_operands,
      .ring_bytes =
          r->p->way.threads > 0 ? ring_at(r->p, r->p->n_slots * r->p->spec->n_operands) : 0,
      .launches = r->launches,
      .n_launches = r->n_launches,
      .ops = r->ops,
      .n_ops = r->p->n_ops,
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
    out->n_samples = (int)got.n_samples_ns;
    out->samples_ns = sct_alloc(sizeof(double) * (size_t)(got.n_samples_ns + 1));
    for (int k = 0; k < out->n_samples; k++) {
      out->samples_ns[k] = got.samples_ns[k];
    }
    take_times(&got, steps);
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

static sct_status load_and_run(run *r, const sct_sample_limits *limits, sct_timing *out,
                               sct_pipe_step *steps, sct_error *err) {
  sct_verdict *v = &out->verdict;
  for (int k = 0; k < 2 && v->outcome == SCT_OUT_OK; k++) {
    SCT_TRY(sct_remote_load(r->m, r->jobs[k].binary, &r->jobs[k], v, err));
  }
  if (v->outcome == SCT_OUT_OK) {
    SCT_TRY(open_slots(r, err));
    SCT_TRY(set_ops(r, v, err));
  }
  if (v->outcome == SCT_OUT_OK) {
    SCT_TRY(ask(r, limits, out, steps, err));
  }
  return v->outcome == SCT_OUT_OK ? check(r, v, err) : SCT_OK;
}

static sct_status run_pipeline(sct_measure *m, const sct_binary *candidate, const sct_pipeline *p,
                               const sct_sample_limits *limits, sct_timing *out,
                               sct_pipe_step *steps, sct_error *err) {
  const size_t n_buffers = (size_t)(p->n_slots * p->spec->n_operands);
  const size_t n_launches = (size_t)(p->n_slots * p->n_extents);
  run r = {.m = m,
           .p = p,
           .jobs = {{.binary = &m->naive, .kernel = -1}, {.binary = candidate, .kernel = -1}},
           .buffers = sct_alloc(sizeof *r.buffers * (n_buffers + 1)),
           .launches = sct_alloc(sizeof *r.launches * (n_launches + 1)),
           .rooms = sct_alloc(sizeof *r.rooms * (n_launches + 1)),
           .ops = sct_alloc(sizeof *r.ops * (size_t)p->n_ops)};
  memset(r.buffers, 0xff, sizeof *r.buffers * n_buffers);
  memset(r.workspace, 0xff, sizeof r.workspace);
  sct_status status = load_and_run(&r, limits, out, steps, err);
  close_slots(&r);
  sct_remote_unload(m, &r.jobs[1]);
  sct_remote_unload(m, &r.jobs[0]);
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
    sct_free(out->samples_ns);
    out->samples_ns = NULL;
    out->n_samples = 0;
  } else if (out->n_samples > 0) {
    sct_stats_summary(out);
  }
  return SCT_OK;
}

bool sct_measure_small_size(sct_measure *m, const int64_t *dims, int64_t extent[SCT_MAX_EXTENTS]) {
  sct_case *c = NULL;
  sct_case_get(m, dims, &c);
  memcpy(extent, c->shape.extent, sizeof c->shape.extent);
  return c->legal;
}
