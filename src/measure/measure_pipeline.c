/* From the host and back: what the worker is asked of a pipeline, and what came of it. */
#include "measure_session.h"

#include <string.h>

#define POISON 0xa5

/* What the worker is asked: launches for all extents that chunks have. */
typedef struct run {
  sct_measure *m;
  const sct_pipeline *p;
  sct_job jobs[SCT_MAX_DEVICES][2]; /* of each device: the candidate and the naive variant */
  sct_host_kernel kernels[SCT_MAX_DEVICES];
  sct_host_launch launches[SCT_MAX_HOST_LAUNCHES];
  sct_launch_room rooms[SCT_MAX_HOST_LAUNCHES];
  int n_launches;
} run;

static int64_t workspace_bytes(const run *r) {
  const int64_t one = r->jobs[0][0].binary->code->workspace_bytes;
  const int64_t other = r->jobs[0][1].binary->code->workspace_bytes;
  return one > other ? one : other;
}

static sct_status add_launch(run *r, int device, const sct_job *job, const sct_shape *shape,
                             sct_verdict *verdict, sct_error *err) {
  const sct_spec *spec = r->p->spec;
  const sct_kernel_code *code = job->binary->code;
  sct_target target = {.shape = shape, .buffer = r->m->timed.buffer};
  sct_launch_room *room = &r->rooms[r->n_launches];
  sct_param params[SCT_MAX_ARGS];
  SCT_TRY(sct_code_blocks(shape, code, &target.blocks, verdict, err));
  sct_host_launch *l = &r->launches[r->n_launches++];
  *l = (sct_host_launch){.device = device,
                         .extent = shape->extent[spec->chunk_dim],
                         .align = code->align,
                         .n_align = code->align ? spec->n_operands : 0,
                         .launch = sct_remote_launch(r->m, job, &target, room)};
  const int n = sct_code_params(params, spec, code);
  for (int k = 0; k < l->launch.n_args; k++) {
    sct_ask_arg *arg = &room->args[k];
    if (arg->kind == SCT_ARG_WORKSPACE) {
      *arg = (sct_ask_arg){.kind = SCT_ARG_CHUNK, .number = spec->n_operands};
    } else if (k < n && params[k].kind == SCT_PARAM_ARRAY) {
      *arg = (sct_ask_arg){.kind = SCT_ARG_CHUNK, .number = params[k].number};
    }
  }
  return SCT_OK;
}

/* The candidate where it is right, and behind it the naive variant, for what is not aligned. */
static sct_status add_launches(run *r, int device, int which, sct_verdict *verdict,
                               sct_error *err) {
  int64_t extents[SCT_MAX_EXTENTS];
  sct_shape shape;
  sct_status status = SCT_OK;
  sct_pipeline_extents(r->p, which, extents);
  SCT_TRY(sct_shape_init(&shape, &r->m->addressing, extents, r->p->size->fill, err));
  for (int k = 0; k < 2 && status == SCT_OK; k++) {
    const sct_job *job = &r->jobs[device][k];
    if (k > 0 || sct_code_allows(&r->m->addressing, job->binary->code, extents)) {
      status = add_launch(r, device, job, &shape, verdict, err);
    }
  }
  sct_shape_free(&shape);
  return status;
}

static sct_status set_launches(run *r, sct_verdict *verdict, sct_error *err) {
  for (int d = 0; d < r->p->way.devices; d++) {
    r->kernels[d] = r->p->kernels[d];
    r->kernels[d].workspace_bytes = workspace_bytes(r);
    for (int k = 0; k < r->p->dry.n_extents && verdict->outcome == SCT_OUT_OK; k++) {
      SCT_TRY(add_launches(r, d, k, verdict, err));
    }
  }
  return SCT_OK;
}

static void set_arrays(const run *r, sct_host_array arrays[SCT_MAX_OPERANDS]) {
  const sct_timed *t = &r->m->timed;
  for (int k = 0; k < r->p->spec->n_operands; k++) {
    const bool is_output = k >= r->p->spec->n_inputs, stays = r->p->spec->operands[k].stays;
    arrays[k] = (sct_host_array){.bytes = stays ? 0 : sct_pipeline_bytes(r->p, k),
                                 .from = stays       ? -1
                                         : is_output ? t->prefill[k]
                                                     : t->buffer[k],
                                 .to = is_output && !stays ? t->buffer[k] : -1,
                                 .buffer = stays ? t->buffer[k] : -1};
  }
}

/* false: what the worker says of an operation cannot be. */
static bool take_steps(const sct_got_host *got, sct_timeline *out) {
  out->steps = sct_realloc(out->steps, sizeof *out->steps * (size_t)(got->n_steps + 1));
  out->n_steps = (int)got->n_steps;
  for (int k = 0; k < out->n_steps; k++) {
    sct_pipe_step *s = &out->steps[k];
    *s = got->steps[k];
    if ((unsigned)s->engine >= SCT_N_ENGINES || s->device < 0 || s->device >= SCT_MAX_DEVICES ||
        s->thread < 0 || s->thread >= SCT_MAX_DEVICES * SCT_MAX_HOST_THREADS || s->stream < 0 ||
        s->stream >= SCT_MAX_STREAMS) {
      return false;
    }
    s->begin_ns = s->begin_ns > 0 ? s->begin_ns : 0; /* no NaN, whoever answers */
    s->end_ns = s->end_ns > 0 ? s->end_ns : 0;
  }
  sct_model_measured_begins(out->steps, out->n_steps);
  return true;
}

static sct_status ask(run *r, const sct_sample_limits *limits, sct_timing *out,
                      sct_timeline *timeline, sct_audit *audit, sct_error *err) {
  sct_host_array arrays[SCT_MAX_OPERANDS];
  int64_t n_steps[SCT_MAX_DEVICES] = {0};
  sct_got_host got = {0};
  set_arrays(r, arrays);
  for (int k = 0; k < r->p->dry.n_steps; k++) {
    n_steps[r->p->dry.steps[k].device]++;
  }
  const sct_ask_host request = {.memory = r->p->way.memory,
                                .poison = POISON,
                                .arrays = arrays,
                                .n_arrays = r->p->spec->n_operands,
                                .kernels = r->kernels,
                                .n_kernels = r->p->way.devices,
                                .options = r->p->options,
                                .n_options = r->p->way.devices,
                                .most_steps = n_steps,
                                .n_most_steps = r->p->way.devices,
                                .launches = r->launches,
                                .n_launches = r->n_launches,
                                .least = limits->least,
                                .most = limits->most,
                                .limit_ns = limits->limit_ns};
  sct_worker_ask(&r->m->worker, SCT_OP_HOST, &request, 3 * r->m->request_ns + limits->limit_ns,
                 &r->m->reply, &got);
  if (r->m->reply.kind == SCT_REPLY_NOMEM) { /* of the host, or the device */
    sct_verdict_set(&out->verdict, SCT_OUT_TOO_LARGE, "%s", r->m->reply.text);
    return SCT_OK;
  }
  SCT_TRY(sct_reply_evaluate(&r->m->reply, "", &out->verdict, err));
  if (out->verdict.outcome != SCT_OUT_OK) {
    return SCT_OK;
  }
  *audit = got.audit;
  out->times.n_samples = (int)got.n_samples_ns;
  out->times.samples_ns = sct_alloc(sizeof(double) * (size_t)(got.n_samples_ns + 1));
  for (int k = 0; k < out->times.n_samples; k++) {
    out->times.samples_ns[k] = got.samples_ns[k];
  }
  return take_steps(&got, timeline) ? SCT_OK
                                    : sct_fail(err, SCT_EINTERNAL, "malformed answer to HOST");
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
                          sct_timeline *timeline, sct_audit *audit, sct_error *err) {
  const sct_sample_limits none = {0};
  if (!has_outputs_that_stay(r)) {
    return ask(r, limits, out, timeline, audit, err);
  }
  SCT_TRY(sct_timed_poison(r->m, err));
  SCT_TRY(ask(r, limits, out, timeline, audit, err));
  if (limits->most > 0 && out->verdict.outcome == SCT_OUT_OK) {
    sct_timing compared = {.verdict = {.outcome = SCT_OUT_OK}};
    SCT_TRY(sct_timed_poison(r->m, err));
    const sct_status status = ask(r, &none, &compared, timeline, audit, err);
    out->verdict = compared.verdict;
    sct_free(compared.times.samples_ns);
    return status;
  }
  return SCT_OK;
}

static sct_status check(run *r, const sct_audit *audit, sct_verdict *verdict, sct_error *err) {
  SCT_TRY(sct_timed_compare_all(r->m, verdict, err));
  sct_evaluate_audit(verdict, &r->m->timed.shape, r->m->timed.buffer, audit);
  if (audit->damage != SCT_DAMAGE_NONE) {
    sct_child_kill(&r->m->worker);
  }
  return SCT_OK;
}

/* Both kernels, on each device that has chunks. */
static sct_status load_kernels(run *r, sct_verdict *v, sct_error *err) {
  for (int k = 0; k < 2 && v->outcome == SCT_OUT_OK; k++) {
    SCT_TRY(sct_remote_load(r->m, r->jobs[0][k].binary, &r->jobs[0][k], v, err));
  }
  if (r->p->way.devices == 1 || v->outcome != SCT_OUT_OK) {
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
                               sct_timeline *timeline, sct_error *err) {
  sct_verdict *v = &out->verdict;
  sct_audit audit = {0};
  SCT_TRY(load_kernels(r, v, err));
  if (v->outcome == SCT_OUT_OK) {
    SCT_TRY(set_launches(r, v, err));
  }
  if (v->outcome == SCT_OUT_OK) {
    SCT_TRY(ask_all(r, limits, out, timeline, &audit, err));
  }
  return v->outcome == SCT_OUT_OK ? check(r, &audit, v, err) : SCT_OK;
}

static sct_status run_pipeline(sct_measure *m, const sct_binary *candidate, const sct_pipeline *p,
                               const sct_sample_limits *limits, sct_timing *out,
                               sct_timeline *timeline, sct_error *err) {
  SCT_OWNED run *r = sct_alloc(sizeof *r);
  r->m = m;
  r->p = p;
  for (int d = 0; d < SCT_MAX_DEVICES; d++) {
    r->jobs[d][0] = (sct_job){.binary = candidate, .kernel = -1};
    r->jobs[d][1] = (sct_job){.binary = &m->naive, .kernel = -1};
  }
  const sct_status status = load_and_run(r, limits, out, timeline, err);
  for (int k = 2 * SCT_MAX_DEVICES - 1; k >= 0; k--) {
    sct_remote_unload(m, &r->jobs[k / 2][k % 2]);
  }
  return status;
}

void sct_measure_set_peer(sct_measure *m, const sct_measure *peer) {
  m->peer = peer;
}

sct_status sct_measure_pipeline(sct_measure *m, const sct_binary *candidate, const sct_pipeline *p,
                                const sct_sample_limits *limits, sct_timing *out,
                                sct_timeline *timeline, sct_error *err) {
  char where[128];
  *out = (sct_timing){.verdict = {.outcome = SCT_OUT_OK}};
  if (!m->has_problem || p->dry.n_chunks == 0) {
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
  SCT_TRY(run_pipeline(m, candidate, p, limits, out, timeline, err));
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
