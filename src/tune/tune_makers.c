/* Making many candidates beside each other: processes that are forked once the spec and the
 * strategies have been tried. Candidates are dealt out in turn; each process has its share tried in
 * a limited child one step ahead (module script), as a session that makes all by itself has, and
 * sends what most of a session needs of a kernel. What is left out is rendered again by the few who
 * ask for it. Kernels are sent many at a time, in files in memory that the plan keeps mapped: a
 * session has megabytes of sources, and touching pages of its own for them costs more than all else
 * of taking them. */
#include "tune/tune_internal.h"

#include <signal.h>
#include <string.h>

#define MAX_PROCESSES 64
#define A_PROCESS     32 /* candidates that are worth one */
#define DYING_NS      ((int64_t)2000000000)
#define TOGETHER      ((size_t)256 << 10) /* bytes, or more, that are sent at once */

struct tune_makers {
  sct_tune_plan *plan;
  const tune_sample *sample;
  sct_child child[MAX_PROCESSES];
  sct_wire inbox[MAX_PROCESSES]; /* what is left of the last message of each; the plan's memory */
  bool over[MAX_PROCESSES];
  int n;
  bool lost;
};

/* ---- a process ---- */

typedef struct share {
  sct_tune_plan *plan;
  const tune_sample *sample;
  const char *spec_path;
  int first, step;
  bool over; /* it ended before all was made */
  int fd;    /* -1: in the child that tries */
} share;

/* All that was made since the last time. */
static sct_status send_made(const share *mine, sct_wire *made, sct_error *err) {
  const sct_io io =
      made->len > 0 ? sct_wire_send_shared(mine->fd, SCT_OK, made, SCT_NO_DEADLINE) : SCT_IO_OK;
  sct_wire_clear(made);
  return io == SCT_IO_OK ? SCT_OK : sct_fail(err, SCT_EIO, "nobody takes what was rendered");
}

static void put_rendered(sct_wire *out, const tune_rendered *r) {
  sct_wire_put(out, tune_rendered_table(), r);
}

static void put_made(const share *mine, const tune_made *made, sct_wire *out) {
  sct_arena arena = {0};
  sct_sent_kernel kernel;
  if (made->failure || made->rejected) {
    put_rendered(out, &(tune_rendered){.what = made->failure ? TUNE_FAILED : TUNE_REJECTED,
                                       .text = made->failure ? made->failure : made->rejected});
  } else if (sct_codegen_send(&kernel, &arena, &mine->plan->spec, &made->code)) {
    put_rendered(out, &(tune_rendered){.what = TUNE_MADE, .kernel = &kernel, .n_kernel = 1});
  } else {
    put_rendered(out, &(tune_rendered){.what = TUNE_HERE});
  }
  sct_arena_free(&arena);
}

/* The child that tries goes on: it cannot know when the one that waits for it ends. */
static bool is_over(const share *mine, size_t k) {
  const tune_sample *sample = mine->sample;
  return mine->fd >= 0 && sample->order && k >= sample->n_least && sct_now_ns() > sample->until_ns;
}

static sct_status make_share(share *mine, sct_trial *trial, sct_error *err) {
  sct_wire out = {0};
  sct_status status = SCT_OK;
  const size_t n = mine->plan->space.n_candidates;
  for (size_t k = (size_t)mine->first; status == SCT_OK && k < n; k += (size_t)mine->step) {
    tune_made made;
    if (is_over(mine, k)) {
      mine->over = true;
      put_rendered(&out, &(tune_rendered){.what = TUNE_OVER});
      break;
    }
    SCT_TRY_DONE(sct_trial_gate(trial, err));
    sct_tune_generate(&made, mine->plan, sct_tune_sampled(mine->sample, k));
    sct_trial_note(trial, sct_tune_made_hash(&made));
    if (mine->fd >= 0) {
      put_made(mine, &made, &out);
    }
    sct_kernel_code_free(&made.code);
    if (out.len >= TOGETHER) {
      status = send_made(mine, &out, err);
    }
  }
done:
  if (mine->fd >= 0) { /* an error comes behind what was made before it */
    sct_error unsent;
    const sct_status sent = send_made(mine, &out, &unsent);
    status = status == SCT_OK ? sent : status;
  }
  sct_wire_free(&out);
  return status;
}

static sct_status try_share(void *ctx, sct_trial *trial, sct_error *err) {
  share mine = *(const share *)ctx;
  mine.fd = -1;
  return make_share(&mine, trial, err);
}

/* The last message says how it went. */
static void run_share(tune_session *unused, int fd, const void *ctx) {
  share mine = *(const share *)ctx;
  sct_trial *trial = NULL;
  sct_error err = {0};
  sct_wire out = {0};
  (void)unused;
  mine.fd = fd;
  sct_status status = sct_trial_start(&trial, mine.spec_path, try_share, &mine, &err);
  if (status == SCT_OK) {
    status = make_share(&mine, trial, &err);
  }
  if (status == SCT_OK && !mine.over) {
    status = sct_trial_finish(trial, &err);
  }
  sct_trial_free(trial);
  sct_wire_put_text(&out, err.text);
  (void)sct_wire_send(fd, (uint32_t)status, &out, SCT_NO_DEADLINE);
  sct_wire_free(&out);
}

/* ---- the parent ---- */

bool sct_tune_makers_start(tune_makers **out, sct_tune_plan *plan, const tune_sample *sample,
                           const char *spec_path) {
  tune_makers *m = *out = sct_alloc(sizeof *m);
  int n = (int)(plan->space.n_candidates / A_PROCESS);
  n = n < sct_cores() ? n : sct_cores();
  n = n < MAX_PROCESSES ? n : MAX_PROCESSES;
  if (!m) {
    return false;
  }
  m->plan = plan;
  m->sample = sample;
  while (m->n < n) {
    const share mine = {
        .plan = plan, .sample = sample, .spec_path = spec_path, .first = m->n, .step = n, .fd = -1};
    if (!sct_tune_fork(&m->child[m->n], NULL, run_share, &mine)) {
      break;
    }
    m->n++;
  }
  if (m->n < n || n < 1) {
    sct_tune_makers_free(m);
    *out = NULL;
    return false;
  }
  return true;
}

/* The next message of process k, for the plan to keep. */
static sct_status receive(tune_makers *m, int k, sct_error *err) {
  sct_tune_plan *plan = m->plan;
  uint32_t code = 0;
  SCT_GROW(plan->sent, plan->n_sent, plan->cap_sent);
  sct_wire *message = &plan->sent[plan->n_sent];
  *message = (sct_wire){0};
  const sct_io io = sct_wire_recv_shared(m->child[k].fd, &code, message, SCT_NO_DEADLINE);
  sct_wire_close(message);
  plan->n_sent++;
  if (io == SCT_IO_REFUSED) {
    return sct_fail(err, SCT_EIO, "the system gives no file for what was rendered");
  }
  if (io == SCT_IO_OK && code > SCT_OK && code < SCT_N_STATUS) {
    return sct_fail(err, (sct_status)code, "%s", sct_wire_get_text(message));
  }
  m->inbox[k] = (sct_wire){.data = message->data, .len = message->len};
  m->lost = io != SCT_IO_OK || code != SCT_OK;
  return m->lost ? sct_fail(err, SCT_EINTERNAL, "a process that renders candidates ended") : SCT_OK;
}

sct_status sct_tune_makers_next(tune_makers *m, tune_made *out, size_t next, sct_error *err) {
  const int k = (int)(next % (size_t)m->n);
  sct_wire *in = &m->inbox[k];
  *out = (tune_made){.rendered = false};
  if (m->over[k]) {
    return SCT_OK;
  }
  if (in->at == in->len) {
    SCT_TRY(receive(m, k, err));
  }
  tune_rendered got;
  bool good = sct_wire_get(in, tune_rendered_table(), &got) &&
              (got.what == TUNE_MADE) == (got.n_kernel == 1) &&
              (got.what == TUNE_REJECTED || got.what == TUNE_FAILED) == (got.text != NULL);
  out->rendered = got.what != TUNE_OVER;
  m->over[k] = got.what == TUNE_OVER;
  out->rejected = got.what == TUNE_REJECTED ? got.text : NULL;
  out->failure = got.what == TUNE_FAILED ? got.text : NULL;
  if (good && got.what == TUNE_MADE) {
    good = sct_codegen_take(&out->code, &m->plan->spec, &m->plan->arena, got.kernel, err) == SCT_OK;
  } else if (good && got.what == TUNE_HERE) {
    sct_tune_generate(out, m->plan, sct_tune_sampled(m->sample, next));
  }
  sct_arena_free(&in->arena);
  m->lost = !good;
  return good ? SCT_OK : sct_fail(err, SCT_EINTERNAL, "a process that renders candidates lies");
}

sct_status sct_tune_makers_finish(tune_makers *m, sct_error *err) {
  for (int k = 0; k < m->n; k++) {
    SCT_TRY(receive(m, k, err));
    (void)sct_child_end(&m->child[k], DYING_NS);
  }
  return SCT_OK;
}

bool sct_tune_makers_lost(const tune_makers *m) {
  return m->lost;
}

void sct_tune_makers_free(tune_makers *m) {
  if (!m) {
    return;
  }
  for (int k = 0; k < m->n; k++) {
    if (sct_child_alive(&m->child[k])) {
      (void)kill(m->child[k].pid, SIGKILL); /* what it has tried dies with it */
    }
  }
  for (int k = 0; k < m->n; k++) {
    (void)sct_child_end(&m->child[k], 0);
  }
  sct_free(m);
}
