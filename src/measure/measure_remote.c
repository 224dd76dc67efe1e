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
  if (!sct_child_alive(&m->worker)) { /* it may have been started to look */
    SCT_TRY(sct_worker_start(&m->worker, m->program, err));
  }
  char lock[80] = ""; /* the session holds the lock of the plain name */
  snprintf(lock, sizeof lock, "%s%s", m->lock_name, m->lock_name[0] ? ".worker" : "");
  const sct_ask_open request = {.ordinal = m->ordinal,
                                .generation = ++m->generation,
                                .script = m->fake,
                                .described = &m->device,
                                .n_described = m->is_virtual,
                                .lock = lock};
  sct_got_open got;
  sct_worker_ask(&m->worker, SCT_OP_OPEN, &request, OPEN_NS, reply, &got);
  if (reply->kind != SCT_REPLY_OK) {
    sct_worker_stop(&m->worker, STOP_NS);
    return sct_fail(err, reply->status, "%s", reply->text);
  }
  m->device = got.device;
  m->n_copies = got.n_copies;
  return SCT_OK;
}

sct_status sct_remote_ensure(sct_measure *m, sct_error *err) {
  if (m->lost) {
    return sct_fail(err, SCT_EUNHEALTHY, "%s failed before and is not used any more", m->device.id);
  }
  const bool first = m->generation == 0;
  if (sct_child_reap(&m->worker) && !first) {
    return SCT_OK;
  }
  SCT_SCOPED(sct_reply) reply = {0};
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
  return status;
}

/* Remembers a device that is at fault itself. Every reply about one passes here. */
static void note_loss(sct_measure *m) {
  m->lost = m->lost || (m->reply.kind == SCT_REPLY_FAILED && sct_cuda_is_lost(m->reply.result));
}

sct_status sct_remote_ask(sct_measure *m, sct_op op, const void *request, void *answer,
                          sct_error *err) {
  const sct_reply *reply = &m->reply;
  sct_worker_ask(&m->worker, op, request, m->request_ns, &m->reply, answer);
  note_loss(m);
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

/* ---- candidates ---- */

/* What a worker is sent of a binary. */
static const void *image_of(const sct_measure *m, const sct_binary *binary, size_t *bytes) {
  *bytes = !m->is_virtual ? binary->cubin_bytes : binary->ptx ? strlen(binary->ptx) : 0;
  return m->is_virtual ? (const void *)binary->ptx : binary->cubin;
}

/* The hash of the program that a worker is sent. */
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
  for (size_t k = 0; k < m->held.n_seen; k++) {
    if (sct_hash_equal(m->held.seen[k], both)) {
      return (int64_t)k + 1;
    }
  }
  SCT_GROW(m->held.seen, m->held.n_seen, m->held.cap_seen);
  m->held.seen[m->held.n_seen++] = both;
  return (int64_t)m->held.n_seen;
}

static sct_hash kernel_hash(const sct_binary *binary, sct_hash image) {
  const sct_hash entry = sct_hash_text(binary->entry);
  const uint64_t shared = (uint64_t)binary->code->shared_bytes;
  return (sct_hash){image.hi ^ sct_mix64(entry.hi, shared), image.lo ^ sct_mix64(entry.lo, shared)};
}

#define VIRTUAL_IMAGES 2 /* texts are large, and each process that checks has a worker */

/* The place of a program in the worker. It is sent once, unless very many others were since. */
static int place_of(sct_measure *m, sct_hash hash, bool *has_it) {
  const int n = m->is_virtual ? VIRTUAL_IMAGES : SCT_MAX_IMAGES;
  int place = 0;
  while (place < n && !(m->held.sent[place].generation == m->generation &&
                        sct_hash_equal(m->held.sent[place].image, hash))) {
    place++;
  }
  *has_it = place < n;
  return *has_it ? place : m->held.n_sent++ % n;
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
  return sct_is_naive(m, binary) ? &m->held.kept_naive : &m->held.kept;
}

/* The parent numbers kernels, so that it need not wait for a number. */
static int64_t next_number(sct_held *held, int64_t generation) {
  if (held->numbers_of != generation) {
    held->numbers_of = generation;
    held->n_numbered = 0;
  }
  return held->n_numbered++;
}

/* For a job that is prepared; `unload`: another one, before it. -1: none. */
static sct_status load(sct_measure *m, sct_job *job, sct_hash hash, int64_t unload,
                       sct_verdict *verdict, sct_error *err) {
  const sct_binary *binary = job->binary;
  size_t bytes = 0;
  bool has_it = false;
  const void *image = image_of(m, binary, &bytes);
  const int place = place_of(m, hash, &has_it);
  const sct_ask_load request = {.unload = unload,
                                .kernel = next_number(&m->held, m->generation),
                                .serial = serial_of(m, binary),
                                .entry = binary->entry,
                                .shared_bytes = binary->code->shared_bytes,
                                .device = job->device,
                                .image = place,
                                .comes = !has_it,
                                .data = image,
                                .n_data = has_it ? 0 : (int64_t)bytes};
  m->held.sent[place] = (sct_sent){0}; /* until the worker has confirmed it */
  sct_worker_ask(&m->worker, SCT_OP_LOAD, &request, m->request_ns, &m->reply, NULL);
  note_loss(m);
  const sct_status status = sct_reply_evaluate(&m->reply, " (loading)", verdict, err);
  if (m->reply.kind == SCT_REPLY_OK) {
    m->held.sent[place] = (sct_sent){hash, m->generation};
    job->kernel = request.kernel;
  } else if (status == SCT_OK && m->reply.result == 1 && binary->code->shared_bytes > 0) {
    verdict->outcome = SCT_OUT_TOO_LARGE; /* the driver refused that much shared memory */
  }
  return status;
}

static sct_job job_of(const sct_measure *m, const sct_binary *binary, sct_hash hash) {
  return (sct_job){.binary = binary,
                   .kernel = -1,
                   .generation = m->generation,
                   .loaded = kernel_hash(binary, hash)};
}

sct_status sct_remote_load(sct_measure *m, const sct_binary *binary, sct_job *job,
                           sct_verdict *verdict, sct_error *err) {
  const sct_hash hash = image_hash(m, binary);
  sct_kept *kept = slot_of(m, binary);
  *job = job_of(m, binary, hash);
  if (holds(m, kept) && sct_hash_equal(kept->loaded, job->loaded)) {
    kept->held = kept == &m->held.kept_naive;
    job->kernel = kept->kernel;
    return SCT_OK;
  }
  SCT_TRY(load(m, job, hash, give_up(m, kept), verdict, err));
  if (job->kernel >= 0 && kept == &m->held.kept_naive) {
    keep(kept, job);
  }
  return SCT_OK;
}

sct_status sct_remote_load_peer(sct_measure *m, const sct_binary *binary, sct_job *job,
                                sct_verdict *verdict, sct_error *err) {
  const sct_hash hash = image_hash(m, binary);
  *job = job_of(m, binary, hash);
  job->device = 1;
  return load(m, job, hash, -1, verdict, err);
}

static void unload(sct_measure *m, int64_t kernel) {
  (void)sct_ask_UNLOAD(m, &(sct_ask_unload){kernel}, NULL, NULL);
}

void sct_remote_unload(sct_measure *m, sct_job *job) {
  const bool stays =
      job->device == 0 && holds(m, &m->held.kept_naive) && job->kernel == m->held.kept_naive.kernel;
  const bool there =
      job->kernel >= 0 && job->generation == m->generation && sct_child_alive(&m->worker);
  if (there && job->device > 0) {
    unload(m, job->kernel);
  } else if (there && !stays) {
    if (holds(m, &m->held.kept)) {
      unload(m, m->held.kept.kernel);
    }
    keep(&m->held.kept, job);
  }
  job->kernel = -1;
}

sct_ask_launch sct_remote_launch(const sct_measure *m, const sct_job *job, const sct_target *target,
                                 sct_launch_room *room) {
  const sct_spec *spec = m->addressing.spec;
  const sct_kernel_code *code = job->binary->code;
  const int64_t *extent = target->shape->extent;
  sct_param params[SCT_MAX_ARGS];
  const int n = sct_code_params(params, spec, code);
  const sct_scalar_values scalars = sct_shape_scalars(target->shape);
  sct_ask_arg *arg = room->args;
  for (int k = 0; k < n; k++) {
    const sct_param *p = &params[k];
    if (p->kind == SCT_PARAM_ARRAY) {
      *arg++ = (sct_ask_arg){.kind = SCT_ARG_BUFFER, .number = target->buffer[p->number]};
    } else {
      const int bytes = sct_code_value(room->values[k], &scalars, p, extent);
      *arg++ = (sct_ask_arg){.kind = SCT_ARG_VALUE, .value = room->values[k], .n_value = bytes};
    }
  }
  if (code->workspace_bytes > 0) {
    *arg++ = (sct_ask_arg){.kind = SCT_ARG_WORKSPACE, .number = code->workspace_bytes};
  }
  if (code->passes > 0) {
    *arg++ = (sct_ask_arg){.kind = SCT_ARG_VALUE, .value = room->values[n], .n_value = sizeof(int)};
  }
  int yz[2];
  sct_code_grid_yz(yz, spec, code, extent);
  return (sct_ask_launch){.kernel = job->kernel,
                          .blocks = target->blocks,
                          .threads = code->threads,
                          .shared_bytes = code->shared_bytes,
                          .grid_y = yz[0],
                          .grid_z = yz[1],
                          .block_y = code->block[1],
                          .block_z = code->block[2],
                          .passes = code->passes,
                          .args = room->args,
                          .n_args = arg - room->args};
}

sct_status sct_remote_read_launch(sct_measure *m, const sct_target *target,
                                  const sct_got_launch *got, sct_verdict *verdict, sct_error *err) {
  note_loss(m);
  if (m->reply.kind == SCT_REPLY_OK && got->n_counts > 0) {
    sct_work_add(m, verdict, target, got->counts);
    if (verdict->warning[0] == '\0') {
      snprintf(verdict->warning, sizeof verdict->warning, "%.*s",
               (int)sizeof got->counts->warning - 1, got->counts->warning);
    }
  }
  return sct_reply_evaluate(&m->reply, target->where, verdict, err);
}

sct_status sct_remote_run(sct_measure *m, const sct_job *job, const sct_target *target, double *ns,
                          sct_verdict *verdict, sct_error *err) {
  sct_launch_room room;
  sct_got_launch got = {0};
  *ns = 0;
  if (target->blocks == 0) {
    return SCT_OK;
  }
  const sct_ask_launch request = sct_remote_launch(m, job, target, &room);
  sct_worker_ask(&m->worker, SCT_OP_RUN, &request, target->limit_ns, &m->reply, &got);
  *ns = got.ns;
  return sct_remote_read_launch(m, target, &got, verdict, err);
}

/* Appends what a timing reply holds. A sample is the time of one launch, less what an empty one
 * takes. */
static sct_status take_samples(sct_times *t, const sct_got_time *got, const sct_sampling *how,
                               sct_error *err) {
  if ((got->n_units != how->n && got->n_units != how->few) || got->n_units > how->n) {
    return sct_fail(err, SCT_EINTERNAL, "malformed answer to TIME");
  }
  t->samples_ns =
      sct_realloc(t->samples_ns, sizeof *t->samples_ns * (size_t)(t->n_samples + got->n_units + 1));
  t->n_slow += got->n_slow;
  t->n_repeated += got->n_repeated;
  t->throttle |= got->throttle;
  t->n_contended += got->n_contended;
  t->launches = got->launches;
  t->overhead_ns = (got->first_ns + (got->launches - 1) * got->next_ns) / got->launches;
  for (int64_t k = 0; k < got->n_units; k++) {
    const sct_unit_time *unit = &got->units[k];
    const double ns = unit->ns / got->launches - t->overhead_ns;
    t->samples_ns[t->n_samples++] = ns > LEAST_NS ? ns : LEAST_NS;
    t->sm_clock_mhz = unit->mhz > 0 ? unit->mhz : t->sm_clock_mhz;
  }
  return SCT_OK;
}

/* What the samples after `before` add to the session's conditions. */
static void sum_up(sct_conditions *c, const sct_times *t, const sct_times *before) {
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
static void report_contention(sct_measure *m, bool contended, const sct_gpu_process *other) {
  SCT_SCOPED(sct_str) who = {0};
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
}

/* Asks for samples and appends them. */
static sct_status collect(sct_measure *m, sct_op op, const void *request, int64_t limit_ns,
                          const sct_sampling *how, const char *where, sct_timing *t,
                          sct_error *err) {
  const sct_times before = t->times;
  sct_got_time got;
  sct_worker_ask(&m->worker, op, request, limit_ns, &m->reply, &got);
  note_loss(m);
  sct_status status = sct_reply_evaluate(&m->reply, where, &t->verdict, err);
  if (m->reply.kind == SCT_REPLY_OK) {
    status = take_samples(&t->times, &got, how, err);
    sum_up(&m->conditions, &t->times, &before);
    report_contention(m, t->times.n_contended > before.n_contended, &got.other);
  }
  return status;
}

static sct_sampling sampling_of(const sct_measure *m, const sct_sampling *how) {
  sct_sampling sent = *how;
  sent.unit_ns = m->fake[0] != '\0' ? OTHER_UNIT_NS : SCT_UNIT_NS;
  return sent;
}

sct_status sct_remote_time(sct_measure *m, const sct_job *job, const sct_target *target,
                           const sct_sampling *how, sct_timing *t, sct_error *err) {
  sct_launch_room room;
  const sct_ask_time request = {sct_remote_launch(m, job, target, &room), sampling_of(m, how)};
  const int64_t each = (int64_t)(3 * target->run_ns) + 4 * SCT_UNIT_NS + WAITS_NS;
  const int64_t limit_ns = how->warm_ns + target->limit_ns + START_NS + (how->n + 4) * each;
  return collect(m, SCT_OP_TIME, &request, limit_ns, how, target->where, t, err);
}

sct_status sct_remote_time_copy(sct_measure *m, int64_t to, int64_t from, int variant,
                                const sct_sampling *how, sct_timing *t, sct_error *err) {
  const sct_ask_time_copy request = {{to, from}, variant, sampling_of(m, how)};
  return collect(m, SCT_OP_TIME_COPY, &request, m->request_ns, how, " (copy)", t, err);
}

sct_status sct_remote_time_words(sct_measure *m, const sct_job *job, int64_t to, int64_t from,
                                 int64_t words, int64_t blocks, const sct_sampling *how,
                                 sct_timing *t, sct_error *err) {
  const sct_kernel_code *code = job->binary->code;
  const sct_ask_arg args[] = {
      {.kind = SCT_ARG_BUFFER, .number = from},
      {.kind = SCT_ARG_BUFFER, .number = to},
      {.kind = SCT_ARG_VALUE, .value = (const uint8_t *)&words, .n_value = sizeof words}};
  const sct_ask_launch launch = {.kernel = job->kernel,
                                 .blocks = blocks,
                                 .threads = code->threads,
                                 .shared_bytes = code->shared_bytes,
                                 .args = args,
                                 .n_args = SCT_COUNT(args)};
  const sct_ask_time request = {launch, sampling_of(m, how)};
  return collect(m, SCT_OP_TIME, &request, m->request_ns, how, "", t, err);
}
