/* A session with one device: opening, the current problem, closing. */
#include "measure_session.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_REQUEST_NS ((int64_t)20000000000)
#define VIRTUAL_REQUEST_NS                                                                         \
  ((int64_t)120000000000) /* interpreted, on a machine that may be busy                            \
                           */
#define LIST_NS  ((int64_t)120000000000)
#define CLOSE_NS ((int64_t)5000000000)

static void drop_problem(sct_measure *m) {
  sct_cases_drop(m);
  sct_timed_drop(m);
  sct_addressing_free(&m->addressing);
  m->has_problem = false;
  m->naive_verdict = (sct_verdict){.outcome = SCT_OUT_OK};
}

void sct_measure_end_worker(sct_measure *m) {
  if (sct_child_alive(&m->worker) && !m->leaving) {
    m->leaving = sct_worker_end_later(&m->worker);
  }
}

void sct_measure_close(sct_measure *m) {
  if (!m) {
    return;
  }
  sct_measure_end_worker(m); /* first: no need to free its buffers one by one */
  (void)sct_child_wait(&m->worker, m->leaving ? CLOSE_NS : 0);
  sct_lock_release(&m->lock);
  drop_problem(m);
  sct_reply_free(&m->reply);
  sct_ptx_module_free(m->read.module);
  sct_free(m->held.seen);
  sct_free(m->program);
  sct_free(m->fake);
  sct_free(m);
}

const char *sct_measure_script(const sct_measure_opts *opts) {
  const char *script = opts ? opts->fake : NULL;
  return opts && opts->described && !script ? "" : sct_worker_script(script);
}

sct_status sct_measure_open(sct_measure **out, int ordinal, const sct_measure_opts *opts,
                            sct_error *err) {
  const sct_measure_opts none = {0};
  const sct_measure_opts *o = opts ? opts : &none;
  sct_measure *m = sct_alloc(sizeof *m);
  sct_status status = SCT_OK;
  m->ordinal = ordinal;
  m->worker.fd = -1;
  m->lock = -1;
  m->seed = o->seed;
  m->is_virtual = o->described != NULL;
  m->request_ns = o->request_ns > 0 ? o->request_ns
                  : m->is_virtual   ? VIRTUAL_REQUEST_NS
                                    : DEFAULT_REQUEST_NS;
  if (o->described) {
    m->device = *o->described;
  }
  m->recording = o->recording;
  if (o->recording) {
    m->device = *o->recording->device;
    m->replay_rng = sct_rng_new(sct_mix64(o->seed, 2));
  }
  m->last_timed_ns = INT64_MIN / 2;
  m->program = o->program ? sct_strdup(o->program) : NULL;
  m->fake = sct_strdup(sct_measure_script(o));
  if (m->recording) {
    *out = m;
    return SCT_OK; /* nothing runs */
  }
  if (!m->is_virtual) {
    status = sct_remote_lock_gpu(m, o, err);
    if (status == SCT_EUNHEALTHY && !sct_child_alive(&m->worker)) {
      status = sct_remote_lock_gpu(m, o, err); /* someone killed the worker: through a new one */
    }
    SCT_TRY_DONE(status);
  }
  if (!o->hold_only) {
    SCT_TRY_DONE(sct_remote_ensure(m, err));
  }
  sct_cases_limit(m);
  *out = m;
  return SCT_OK;
done:
  sct_measure_close(m);
  return status;
}

const sct_conditions *sct_measure_conditions(const sct_measure *m) {
  return &m->conditions;
}

const sct_device_desc *sct_measure_device(const sct_measure *m) {
  return &m->device;
}

sct_status sct_measure_problem(sct_measure *m, const sct_spec *spec, const int *layout,
                               const sct_binary *naive, sct_error *err) {
  drop_problem(m);
  if (m->recording) {
    m->has_problem = true;
    return SCT_OK;
  }
  SCT_TRY(sct_addressing_init(&m->addressing, spec, layout, m->seed, err));
  m->naive = *naive;
  m->has_problem = true;
  return SCT_OK;
}

sct_status sct_measure_list(sct_device_desc **out, int *n, const sct_measure_opts *opts,
                            sct_error *err) {
  sct_child worker;
  SCT_SCOPED(sct_reply) reply = {0};
  sct_got_list got;
  *out = NULL;
  *n = 0;
  SCT_TRY(sct_worker_start(&worker, opts ? opts->program : NULL, err));
  sct_worker_ask(&worker, SCT_OP_LIST, &(sct_ask_list){sct_measure_script(opts)}, LIST_NS, &reply,
                 &got);
  sct_status status = SCT_OK;
  if (reply.kind == SCT_REPLY_OK) {
    *n = (int)got.n_devices;
    *out = *n > 0 ? sct_alloc(sizeof **out * (size_t)*n) : NULL;
    if (*n > 0) {
      memcpy(*out, got.devices, sizeof **out * (size_t)*n);
    } else {
      (void)sct_fail(err, SCT_ENODEVICE, "the CUDA driver sees no GPU");
    }
  } else if (reply.kind == SCT_REPLY_FAILED && reply.status == SCT_ENODEVICE) {
    (void)sct_fail(err, SCT_ENODEVICE, "%s", reply.text); /* no driver: an empty list, and why */
  } else {
    status = sct_fail(err, reply.status, "%s", reply.text);
  }
  sct_worker_stop(&worker, CLOSE_NS);
  return status;
}
