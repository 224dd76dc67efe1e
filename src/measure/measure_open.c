/* Before a session times on a GPU: who else is there? One session a GPU, by a lock; other programs
 * are seen through NVML. */
#include "measure_session.h"

#include <string.h>
#include <time.h>

#define LOOK_NS  ((int64_t)120000000000) /* cuInit on a machine with many GPUs is slow */
#define POLL_NS  50000000                /* between two tries for a lock */
#define CLOSE_NS ((int64_t)5000000000)

#define MODE_PROHIBITED 2
#define MODE_EXCLUSIVE  3

/* ---- looking ---- */

static sct_status look(sct_child *worker, int ordinal, const char *script, sct_device_desc *desc,
                       sct_gpu_state *state, char lock[64], sct_error *err) {
  SCT_SCOPED(sct_reply) reply = {0};
  sct_got_look got;
  sct_worker_ask(worker, SCT_OP_LOOK, &(sct_ask_look){ordinal, script}, LOOK_NS, &reply, &got);
  sct_status status = SCT_OK;
  if (reply.kind == SCT_REPLY_OK) {
    *desc = got.device;
    *state = got.state;
    snprintf(lock, 64, "%s", got.lock);
  } else {
    status = sct_fail(err, reply.status, "%s", reply.text);
  }
  return status;
}

sct_status sct_measure_look(sct_device_desc *desc, sct_gpu_state *state, char lock[64], int ordinal,
                            const sct_measure_opts *opts, sct_error *err) {
  sct_child worker;
  SCT_TRY(sct_worker_start(&worker, opts ? opts->program : NULL, err));
  const sct_status status =
      look(&worker, ordinal, sct_measure_script(opts), desc, state, lock, err);
  sct_worker_stop(&worker, CLOSE_NS);
  return status;
}

/* ---- the lock ---- */

static bool must_stop(const sct_measure_opts *opts) {
  return opts->stop && opts->stop(opts->stop_ctx);
}

/* Takes the lock, waiting as long as the options say. */
static sct_status hold(sct_measure *m, const sct_measure_opts *opts, sct_error *err) {
  const int64_t start = sct_now_ns();
  const struct timespec poll = {.tv_nsec = POLL_NS};
  sct_error holder = {0};
  char limit[32];
  for (bool said = false;; said = true) {
    const sct_status status = sct_lock_take(&m->lock, m->lock_name, &holder);
    m->conditions.waited_ns = said ? sct_now_ns() - start : 0;
    if (status != SCT_EBUSY) {
      return status == SCT_OK ? status : sct_fail(err, status, "%s", holder.text);
    }
    if (must_stop(opts)) {
      return sct_fail(err, SCT_EINTERRUPTED, "interrupted while waiting for %s", m->device.id);
    }
    if (sct_now_ns() - start >= opts->wait_ns) {
      return sct_fail(err, SCT_EBUSY, "%s (%s) is being timed by %s; %s%s", m->device.id,
                      m->device.name, holder.text,
                      opts->wait_ns > 0 ? "it was not free within " : "--wait TIME waits for it",
                      opts->wait_ns > 0 ? sct_format_ns(limit, (double)opts->wait_ns) : "");
    }
    if (!said) {
      sct_log(SCT_LOG_WARN, "%s is being timed by %s; waiting up to %s", m->device.id, holder.text,
              sct_format_ns(limit, (double)opts->wait_ns));
    }
    nanosleep(&poll, NULL);
  }
}

/* ---- who else is there ---- */

void sct_gpu_process_text(sct_str *out, const sct_gpu_process *p) {
  char bytes[32];
  sct_str_printf(out, "%lld", (long long)p->pid);
  if (p->name[0]) {
    sct_str_printf(out, " (%s)", p->name);
  }
  if (p->bytes >= 0) {
    sct_str_printf(out, " with %s", sct_format_bytes(bytes, (double)p->bytes));
  }
}

static void list_others(sct_str *out, const sct_gpu_state *s) {
  for (int k = 0; k < s->n_processes; k++) {
    sct_str_append(out, k > 0 ? ", " : "");
    sct_gpu_process_text(out, &s->processes[k]);
  }
  if (s->n_others > s->n_processes) {
    sct_str_printf(out, ", %d more", s->n_others - s->n_processes);
  }
}

static sct_status refuse_mps(const sct_measure *m, const sct_mps *mps, bool daemon,
                             sct_error *err) {
  char who[96] = "";
  if (daemon && mps->pid > 0) {
    snprintf(who, sizeof who, " (%s, process %ld)", mps->program, mps->pid);
  }
  return sct_fail(err, SCT_EBUSY,
                  "the Multi-Process Service (MPS) is in front of %s%s%s%s: its clients share the "
                  "GPU, so times would be theirs too, and a fault of one candidate would end them "
                  "all; stop it (`echo quit | nvidia-cuda-mps-control`) or give --force",
                  m->device.id, who, daemon ? ", pipe in " : "", daemon ? mps->directory : "");
}

static sct_status evaluate_modes(const sct_measure *m, sct_error *err) {
  const sct_gpu_state *s = &m->conditions.start;
  if (s->compute_mode == MODE_PROHIBITED) {
    return sct_fail(
        err, SCT_ENODEVICE,
        "%s is in prohibited compute mode: nothing may compute on it (`nvidia-smi -c 0` "
        "by an administrator allows it)",
        m->device.id);
  }
  if (s->compute_mode == MODE_EXCLUSIVE && s->n_others > 0) {
    SCT_SCOPED(sct_str) others = {0};
    list_others(&others, s);
    return sct_fail(err, SCT_EBUSY, "%s is in exclusive-process mode and taken by process %s",
                    m->device.id, sct_str_c(&others));
  }
  if (s->mig) {
    sct_log(SCT_LOG_INFO,
            "%s is cut into slices (MIG); without CUDA_VISIBLE_DEVICES=MIG-... CUDA "
            "takes the first",
            m->device.id);
  }
  return SCT_OK;
}

/* MPS, modes, other processes: refuses, warns, or is content. */
static sct_status evaluate(sct_measure *m, const sct_measure_opts *opts, sct_error *err) {
  const sct_gpu_state *s = &m->conditions.start;
  sct_mps mps = {0};
  const bool daemon = m->fake[0] == '\0' && sct_mps_find(&mps);
  m->conditions.mps = daemon || s->mps_clients > 0;
  if (m->conditions.mps && !opts->force) {
    return refuse_mps(m, &mps, daemon, err);
  }
  SCT_TRY(evaluate_modes(m, err));
  if (s->n_others > 0) {
    SCT_SCOPED(sct_str) others = {0};
    list_others(&others, s);
    sct_log(SCT_LOG_WARN,
            "%s is contended: process %s computes on it too; times may be too long, and are marked",
            m->device.id, sct_str_c(&others));
  }
  return SCT_OK;
}

sct_status sct_remote_lock_gpu(sct_measure *m, const sct_measure_opts *opts, sct_error *err) {
  SCT_TRY(sct_worker_start(&m->worker, m->program, err));
  SCT_TRY(
      look(&m->worker, m->ordinal, m->fake, &m->device, &m->conditions.start, m->lock_name, err));
  if (opts->look_only) {
    m->lock_name[0] = '\0';
    return SCT_OK;
  }
  if (m->lock_name[0] != '\0') {
    SCT_TRY(hold(m, opts, err));
  }
  if (m->conditions.waited_ns > 0) { /* much may have changed */
    char name[64];
    SCT_TRY(look(&m->worker, m->ordinal, m->fake, &m->device, &m->conditions.start, name, err));
  }
  return evaluate(m, opts, err);
}

bool sct_measure_stands_in(const sct_measure *m) {
  return m->fake[0] != '\0';
}
