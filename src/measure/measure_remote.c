/* Requests to the worker, one function each: encode, ask, decode. */
#include "measure_session.h"

#include <string.h>

#define OPEN_NS       ((int64_t)120000000000) /* cuInit on a machine with many GPUs is slow */
#define HANG_FLOOR_NS ((int64_t)2000000000)
#define HANG_FACTOR   50
#define STOP_NS       ((int64_t)2000000000)
#define OTHER_UNIT_NS ((int64_t)500)        /* a stand-in's launches are slow for the host */
#define WAITS_NS      ((int64_t)320000000)  /* of a unit taken again and again at a low clock */
#define START_NS      ((int64_t)3000000000) /* of warming up and learning what a launch costs */
#define LEAST_NS      1.0

int64_t sct_launch_limit_ns(double naive_ns) {
  const double limit = naive_ns * HANG_FACTOR;
  return limit > (double)HANG_FLOOR_NS ? (int64_t)limit : HANG_FLOOR_NS;
}

/* ---- the worker ---- */

static sct_status start(sct_measure *m, sct_reply *reply, sct_error *err) {
  sct_wire request = {0};
  if (!sct_child_alive(&m->worker)) { /* it may have been started to look */
    SCT_TRY(sct_worker_start(&m->worker, m->program, err));
  }
  m->generation++;
  sct_wire_put_i64(&request, m->ordinal);
  sct_wire_put_i64(&request, m->generation);
  sct_wire_put_text(&request, m->fake);
  sct_wire_put_bytes(&request, &m->device, m->is_virtual ? sizeof m->device : 0);
  char lock[80] = ""; /* the session holds the lock of the plain name */
  snprintf(lock, sizeof lock, "%s%s", m->lock_name, m->lock_name[0] ? ".worker" : "");
  sct_wire_put_text(&request, lock);
  sct_worker_call(&m->worker, SCT_OP_OPEN, &request, OPEN_NS, reply);
  sct_wire_free(&request);
  if (reply->kind != SCT_REPLY_OK) {
    sct_worker_stop(&m->worker, STOP_NS);
    return sct_fail(err, reply->status, "%s", reply->text);
  }
  size_t n = 0;
  const uint8_t *desc = sct_wire_get_bytes(&reply->body, &n);
  if (n == sizeof m->device) {
    memcpy(&m->device, desc, sizeof m->device);
  }
  m->n_copies = (int)sct_wire_get_i64(&reply->body);
  if (reply->body.failed || n != sizeof m->device) {
    sct_child_kill(&m->worker);
    return sct_fail(err, SCT_EINTERNAL, "the worker speaks another protocol");
  }
  return SCT_OK;
}

sct_status sct_remote_ensure(sct_measure *m, sct_error *err) {
  if (m->lost) {
    return sct_fail(err, SCT_EUNHEALTHY, "%s failed before and is not used any more", m->device.id);
  }
  const bool first = m->generation == 0;
  if (sct_child_check(&m->worker) && !first) {
    return SCT_OK;
  }
  sct_reply reply = {0};
  sct_status status = start(m, &reply, err);
  if (status != SCT_OK && reply.kind == SCT_REPLY_DIED) { /* someone killed it */
    status = start(m, &reply, err);
  }
  if (status != SCT_OK && status != SCT_ENOMEM && !first) {
    (void)sct_fail_prefix(err, SCT_EUNHEALTHY, "after a failing candidate no new worker started: ");
    if (err) {
      err->code = SCT_EUNHEALTHY;
    }
    status = SCT_EUNHEALTHY;
  }
  sct_reply_free(&reply);
  return status;
}

/* Remembers a device that is at fault itself. Every reply about one passes here. */
static void note_loss(sct_measure *m, const sct_reply *reply) {
  m->lost = m->lost || (reply->kind == SCT_REPLY_FAILED && sct_cuda_is_lost(reply->result));
}

sct_status sct_remote_settle(sct_measure *m, sct_op op, const sct_reply *reply, sct_error *err) {
  note_loss(m, reply);
  switch (reply->kind) {
  case SCT_REPLY_OK:
    return SCT_OK;
  case SCT_REPLY_FAILED:
    return sct_fail(err, sct_cuda_is_lost(reply->result) ? SCT_EUNHEALTHY : reply->status, "%s",
                    reply->text);
  default:
    return sct_fail(err, reply->status, "%s: %s", sct_op_name(op), reply->text);
  }
}

sct_status sct_remote_numbers(sct_measure *m, sct_op op, sct_reply *reply, int64_t *out, int n,
                              sct_error *err) {
  SCT_TRY(sct_remote_settle(m, op, reply, err));
  if (reply->body.len < sizeof *out * (size_t)n) {
    return sct_fail(err, SCT_EINTERNAL, "malformed answer to %s", sct_op_name(op));
  }
  for (int k = 0; k < n; k++) {
    out[k] = sct_wire_get_i64(&reply->body);
  }
  return SCT_OK;
}

/* ---- candidates ---- */

/* What a worker is sent of a binary. */
static const void *image_of(const sct_measure *m, const sct_binary *binary, size_t *bytes) {
  *bytes = !m->is_virtual ? binary->cubin_bytes : binary->ptx ? strlen(binary->ptx) : 0;
  return m->is_virtual ? (const void *)binary->ptx : binary->cubin;
}

/* Of what a worker is sent. */
static sct_hash image_hash(const sct_measure *m, const sct_binary *binary) {
  const sct_hash known = m->is_virtual ? binary->ptx_hash : binary->cubin_hash;
  size_t bytes = 0;
  const void *image = image_of(m, binary, &bytes);
  return known.hi != 0 || known.lo != 0 ? known : sct_hash_bytes(image, bytes);
}

/* Number of a binary in order of first loading; the naive variant is 0. Only a stand-in asks. */
static int64_t serial_of(sct_measure *m, const sct_binary *binary) {
  if (m->fake[0] == '\0' || sct_is_naive(m, binary)) {
    return 0;
  }
  const sct_hash image = image_hash(m, binary), entry = sct_hash_text(binary->entry);
  const sct_hash both = {image.hi ^ sct_mix64(entry.hi, 1), image.lo ^ sct_mix64(entry.lo, 2)};
  for (size_t k = 0; k < m->n_seen; k++) {
    if (sct_hash_equal(m->seen[k], both)) {
      return (int64_t)k + 1;
    }
  }
  SCT_GROW(m->seen, m->n_seen, m->cap_seen);
  m->seen[m->n_seen++] = both;
  return (int64_t)m->n_seen;
}

static sct_hash kernel_hash(const sct_binary *binary, sct_hash image) {
  const sct_hash entry = sct_hash_text(binary->entry);
  const uint64_t shared = (uint64_t)binary->code->shared_bytes;
  return (sct_hash){image.hi ^ sct_mix64(entry.hi, shared), image.lo ^ sct_mix64(entry.lo, shared)};
}

#define VIRTUAL_IMAGES 2 /* texts are large, and each process that checks has a worker */

/* A program is sent once, unless very many others were since. Returns its place in the worker. */
static int put_image(sct_measure *m, sct_wire *w, const sct_binary *binary, sct_hash hash) {
  const int n = m->is_virtual ? VIRTUAL_IMAGES : SCT_MAX_IMAGES;
  size_t bytes = 0;
  const void *image = image_of(m, binary, &bytes);
  int place = 0;
  while (place < n && !(m->sent[place].generation == m->generation &&
                        sct_hash_equal(m->sent[place].image, hash))) {
    place++;
  }
  const bool has_it = place < n;
  place = has_it ? place : m->n_sent++ % n;
  sct_wire_put_i64(w, place);
  sct_wire_put_i64(w, !has_it);
  sct_wire_put_tail(w, image, has_it ? 0 : bytes);
  return place;
}

static bool holds(const sct_measure *m, const sct_kept *kept) {
  return kept->held && kept->generation == m->generation && sct_child_alive(&m->worker);
}

/* The kernel that the worker still holds and shall no more; -1: none. */
static int64_t give_up(sct_measure *m, sct_kept *kept) {
  const bool held = holds(m, kept);
  kept->held = false;
  return held ? kept->kernel : -1;
}

static void keep(sct_kept *kept, const sct_job *job) {
  *kept = (sct_kept){
      .held = true, .loaded = job->loaded, .kernel = job->kernel, .generation = job->generation};
}

static sct_kept *slot_of(sct_measure *m, const sct_binary *binary) {
  return sct_is_naive(m, binary) ? &m->kept_naive : &m->kept;
}

/* The parent numbers kernels, so that it need not wait for a number. */
static int64_t next_number(sct_measure *m) {
  if (m->numbers_of != m->generation) {
    m->numbers_of = m->generation;
    m->n_numbered = 0;
  }
  return m->n_numbered++;
}

void sct_remote_put_load(sct_measure *m, sct_series *s, sct_job *job) {
  const sct_binary *binary = job->binary;
  sct_kept *kept = slot_of(m, binary);
  if (job->kernel >= 0) {
    return;
  }
  job->generation = m->generation;
  job->loaded = kernel_hash(binary, image_hash(m, binary));
  if (holds(m, kept) && sct_hash_equal(kept->loaded, job->loaded)) {
    kept->held = kept == &m->kept_naive;
    job->kernel = kept->kernel;
    return;
  }
  job->kernel = next_number(m);
  job->pending = true;
  sct_wire_put_i64(&s->request, give_up(m, kept));
  sct_wire_put_i64(&s->request, job->kernel);
  sct_wire_put_i64(&s->request, serial_of(m, binary));
  sct_wire_put_text(&s->request, binary->entry);
  sct_wire_put_i64(&s->request, binary->code->shared_bytes);
  job->place = put_image(m, &s->request, binary, image_hash(m, binary));
  m->sent[job->place] = (sct_sent){0}; /* until the worker says that it took it */
  sct_series_add(s, SCT_OP_LOAD, &s->request);
}

sct_status sct_remote_take_load(sct_measure *m, sct_series *s, sct_job *job, sct_verdict *verdict,
                                sct_error *err) {
  if (!job->pending) {
    return SCT_OK;
  }
  const sct_reply *reply = sct_series_take(s, m, SCT_OP_LOAD, m->request_ns);
  note_loss(m, reply);
  job->pending = false;
  const sct_status status = sct_reply_judge(reply, " (loading)", verdict, err);
  if (reply->kind == SCT_REPLY_OK) {
    m->sent[job->place] = (sct_sent){image_hash(m, job->binary), m->generation};
    if (sct_is_naive(m, job->binary)) {
      keep(&m->kept_naive, job);
    }
    return status;
  }
  job->kernel = -1;
  if (status == SCT_OK && reply->result == 1 && job->binary->code->shared_bytes > 0) {
    verdict->outcome = SCT_OUT_TOO_LARGE; /* the driver refused that much shared memory */
  }
  return status;
}

sct_status sct_remote_load(sct_measure *m, const sct_binary *binary, sct_job *job,
                           sct_verdict *verdict, sct_error *err) {
  sct_series s = sct_series_begin(m);
  *job = (sct_job){.binary = binary, .kernel = -1};
  sct_remote_put_load(m, &s, job);
  if (job->pending) {
    sct_series_post(&s, m, SCT_OP_LOAD);
  }
  const sct_status status = sct_remote_take_load(m, &s, job, verdict, err);
  sct_series_end(&s, m, SCT_OP_LOAD);
  return status;
}

void sct_remote_unload(sct_measure *m, sct_job *job) {
  const bool stays = holds(m, &m->kept_naive) && job->kernel == m->kept_naive.kernel;
  if (job->kernel >= 0 && job->generation == m->generation && sct_child_alive(&m->worker) &&
      !stays) {
    if (holds(m, &m->kept)) {
      (void)sct_remote_ask(m, SCT_OP_UNLOAD, &m->kept.kernel, 1, NULL, 0, NULL);
    }
    keep(&m->kept, job);
  }
  job->kernel = -1;
}

/* Arguments: a pointer per operand, the scalars, the extents, the workspace. */
void sct_remote_put_launch(const sct_measure *m, sct_wire *w, const sct_job *job,
                           const sct_target *target) {
  const sct_spec *spec = m->plan.spec;
  const sct_kernel_code *code = job->binary->code;
  sct_wire_put_i64(w, job->kernel);
  sct_wire_put_i64(w, target->blocks);
  sct_wire_put_i64(w, code->threads);
  sct_wire_put_i64(w, code->shared_bytes);
  const bool has_workspace = code->workspace_bytes > 0;
  sct_wire_put_i64(w, spec->n_operands + spec->n_scalars + spec->n_extents + has_workspace);
  for (int k = 0; k < spec->n_operands; k++) {
    sct_wire_put_i64(w, SCT_ARG_BUFFER);
    sct_wire_put_i64(w, target->buffer[k]);
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    uint8_t value[16] = {0};
    sct_data_scalar(value, spec->scalars[k].type, m->seed, k);
    sct_wire_put_i64(w, SCT_ARG_VALUE);
    sct_wire_put_bytes(w, value, (size_t)sct_type_get(spec->scalars[k].type)->bytes);
  }
  for (int k = 0; k < spec->n_extents; k++) {
    sct_wire_put_i64(w, SCT_ARG_VALUE);
    sct_wire_put_bytes(w, &target->shape->extent[k], sizeof target->shape->extent[k]);
  }
  if (has_workspace) {
    sct_wire_put_i64(w, SCT_ARG_WORKSPACE);
    sct_wire_put_i64(w, code->workspace_bytes);
  }
}

sct_status sct_remote_take_launch(sct_measure *m, const sct_target *target, double *ns,
                                  sct_reply *reply, sct_verdict *verdict, sct_error *err) {
  note_loss(m, reply);
  if (reply->kind == SCT_REPLY_OK) {
    *ns = sct_wire_get_f64(&reply->body);
    sct_work_take(m, verdict, target, &reply->body);
  }
  return sct_reply_judge(reply, target->where, verdict, err);
}

sct_status sct_remote_run(sct_measure *m, const sct_job *job, const sct_target *target, double *ns,
                          sct_verdict *verdict, sct_error *err) {
  sct_wire request = {0};
  sct_reply reply = {0};
  *ns = 0;
  if (target->blocks == 0) {
    return SCT_OK;
  }
  sct_remote_put_launch(m, &request, job, target);
  sct_worker_call(&m->worker, SCT_OP_RUN, &request, target->limit_ns, &reply);
  const sct_status status = sct_remote_take_launch(m, target, ns, &reply, verdict, err);
  sct_wire_free(&request);
  sct_reply_free(&reply);
  return status;
}

/* Appends what a timing reply holds. A sample is the time of one launch, less what an empty one
 * takes. */
static sct_status take_samples(sct_timing *t, sct_wire *body, const sct_sampling *how,
                               sct_gpu_process *other, sct_error *err) {
  const int64_t launches = sct_wire_get_i64(body);
  const double first = sct_wire_get_f64(body), next = sct_wire_get_f64(body);
  t->n_slow += (int)sct_wire_get_i64(body);
  t->n_repeated += (int)sct_wire_get_i64(body);
  t->throttle |= sct_wire_get_u64(body);
  t->n_contended += (int)sct_wire_get_i64(body);
  size_t n_other = 0;
  const uint8_t *bytes = sct_wire_get_bytes(body, &n_other);
  if (n_other != sizeof *other) {
    return sct_fail(err, SCT_EINTERNAL, "malformed answer to TIME");
  }
  memcpy(other, bytes, sizeof *other);
  const int64_t got = sct_wire_get_i64(body);
  if (body->failed || (got != how->n && got != how->few) || got > how->n || launches < 1) {
    return sct_fail(err, SCT_EINTERNAL, "malformed answer to TIME");
  }
  t->launches = (int)launches;
  t->overhead_ns = (first + (double)(launches - 1) * next) / (double)launches;
  for (int64_t k = 0; k < got; k++) {
    const double ns = sct_wire_get_f64(body) / (double)launches - t->overhead_ns;
    const double mhz = sct_wire_get_f64(body);
    t->samples_ns[t->n_samples++] = ns > LEAST_NS ? ns : LEAST_NS;
    t->sm_clock_mhz = mhz > 0 ? mhz : t->sm_clock_mhz;
  }
  return body->failed ? sct_fail(err, SCT_EINTERNAL, "malformed answer to TIME") : SCT_OK;
}

/* What the samples after `before` add to the session's conditions. */
static void sum_up(sct_conditions *c, const sct_timing *t, const sct_timing *before) {
  c->n_samples += t->n_samples - before->n_samples;
  c->n_slow += t->n_slow - before->n_slow;
  c->n_repeated += t->n_repeated - before->n_repeated;
  c->throttle |= t->throttle;
  c->n_contended += t->n_contended - before->n_contended;
  if (t->sm_clock_mhz > 0) {
    c->sm_min_mhz =
        c->sm_min_mhz > 0 && c->sm_min_mhz < t->sm_clock_mhz ? c->sm_min_mhz : t->sm_clock_mhz;
    c->sm_max_mhz = c->sm_max_mhz > t->sm_clock_mhz ? c->sm_max_mhz : t->sm_clock_mhz;
  }
}

/* Says when another process begins to compute on the device, and when it has ended. */
static void tell_contention(sct_measure *m, bool contended, const sct_gpu_process *other) {
  sct_str who = {0};
  if (contended && !m->contended_now) {
    m->conditions.joined = *other;
    m->contended_by = m->generation;
    sct_gpu_process_text(&who, other);
    sct_log(SCT_LOG_WARN,
            "%s is contended: process %s began to compute on it; times may be too long, and the "
            "samples are marked",
            m->device.id, sct_str_c(&who));
  } else if (!contended && m->contended_now && m->contended_by == m->generation) {
    sct_log(SCT_LOG_WARN, "%s is no longer contended", m->device.id);
  }
  m->contended_now = contended;
  sct_str_free(&who);
}

static void put_sampling(const sct_measure *m, sct_wire *request, const sct_sampling *how) {
  sct_wire_put_i64(request, how->warm_ns);
  sct_wire_put_i64(request, m->fake[0] != '\0' ? OTHER_UNIT_NS : SCT_UNIT_NS);
  sct_wire_put_i64(request, how->launches);
  sct_wire_put_i64(request, how->guess);
  sct_wire_put_i64(request, how->resident);
  sct_wire_put_i64(request, how->n);
  sct_wire_put_i64(request, how->few);
  sct_wire_put_f64(request, how->above_ns);
}

/* What the answer to a timing request says: appends the samples. */
static sct_status take_answer(sct_measure *m, sct_reply *reply, const sct_sampling *how,
                              const char *where, sct_timing *t, sct_error *err) {
  const sct_timing before = *t;
  double *samples =
      sct_realloc(t->samples_ns, sizeof *samples * (size_t)(t->n_samples + how->n + 1));
  t->samples_ns = samples;
  note_loss(m, reply);
  sct_status status = sct_reply_judge(reply, where, &t->verdict, err);
  if (reply->kind == SCT_REPLY_OK) {
    sct_gpu_process other = {0};
    status = take_samples(t, &reply->body, how, &other, err);
    sum_up(&m->conditions, t, &before);
    tell_contention(m, t->n_contended > before.n_contended, &other);
  }
  return status;
}

/* Sends a timing request (all but how to sample is in it) and appends the samples. */
static sct_status collect(sct_measure *m, sct_op op, sct_wire *request, int64_t limit_ns,
                          const sct_sampling *how, const char *where, sct_timing *t,
                          sct_error *err) {
  sct_reply reply = {0};
  put_sampling(m, request, how);
  sct_worker_call(&m->worker, op, request, limit_ns, &reply);
  const sct_status status = take_answer(m, &reply, how, where, t, err);
  sct_reply_free(&reply);
  return status;
}

static int64_t sampling_limit_ns(const sct_target *target, const sct_sampling *how) {
  const int64_t each = (int64_t)(3 * target->run_ns) + 4 * SCT_UNIT_NS + WAITS_NS;
  return how->warm_ns + target->limit_ns + START_NS + (how->n + 4) * each;
}

sct_status sct_remote_time(sct_measure *m, const sct_job *job, const sct_target *target,
                           const sct_sampling *how, sct_timing *t, sct_error *err) {
  sct_wire request = {0};
  sct_remote_put_launch(m, &request, job, target);
  const sct_status status =
      collect(m, SCT_OP_TIME, &request, sampling_limit_ns(target, how), how, target->where, t, err);
  sct_wire_free(&request);
  return status;
}

void sct_remote_put_time(const sct_measure *m, sct_series *s, const sct_job *job,
                         const sct_target *target, const sct_sampling *how) {
  sct_remote_put_launch(m, &s->request, job, target);
  put_sampling(m, &s->request, how);
  sct_series_add(s, SCT_OP_TIME, &s->request);
}

sct_status sct_remote_take_time(sct_measure *m, sct_series *s, const sct_target *target,
                                const sct_sampling *how, sct_timing *t, sct_error *err) {
  sct_reply *reply = sct_series_take(s, m, SCT_OP_TIME, sampling_limit_ns(target, how));
  return take_answer(m, reply, how, target->where, t, err);
}

sct_status sct_remote_time_copy(sct_measure *m, int64_t to, int64_t from, int variant,
                                const sct_sampling *how, sct_timing *t, sct_error *err) {
  sct_wire request = {0};
  sct_wire_put_i64(&request, to);
  sct_wire_put_i64(&request, from);
  sct_wire_put_i64(&request, variant);
  const sct_status status =
      collect(m, SCT_OP_TIME_COPY, &request, m->request_ns, how, " (copy)", t, err);
  sct_wire_free(&request);
  return status;
}

sct_status sct_remote_time_words(sct_measure *m, const sct_job *job, int64_t to, int64_t from,
                                 int64_t words, const sct_sampling *how, sct_timing *t,
                                 sct_error *err) {
  sct_wire request = {0};
  const sct_kernel_code *code = job->binary->code;
  sct_wire_put_i64(&request, job->kernel);
  sct_wire_put_i64(&request, (words + code->threads - 1) / code->threads);
  sct_wire_put_i64(&request, code->threads);
  sct_wire_put_i64(&request, code->shared_bytes);
  sct_wire_put_i64(&request, 3);
  sct_wire_put_i64(&request, 1);
  sct_wire_put_i64(&request, from);
  sct_wire_put_i64(&request, 1);
  sct_wire_put_i64(&request, to);
  sct_wire_put_i64(&request, 0);
  sct_wire_put_bytes(&request, &words, sizeof words);
  const sct_status status =
      collect(m, SCT_OP_TIME, &request, m->request_ns, how, " (copy kernel)", t, err);
  sct_wire_free(&request);
  return status;
}
