/* Counting all candidates before any of them is compiled, for a search that begins with what
 * promises most: forked processes share the items and send what they counted. */
#include "tune/tune_internal.h"

#include <poll.h>
#include <signal.h>

#define MAX_PROCESSES 64
#define A_PROCESS     16 /* items that are worth one */
#define ROUGH_BLOCKS  6  /* that are counted of an item that may never be tried */
#define WAIT_MS       20
#define DYING_NS      ((int64_t)2000000000)
#define MESSAGE_NS    ((int64_t)10000000000) /* of one that has begun */

/* What a process counts: every step-th item, in an order that meets all strategies early. */
typedef struct share {
  int first, step;
  int stride; /* has no divisor in common with the number of items */
} share;

static int common_divisor(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Near the golden ratio's part of n, so that however many are visited, they are spread evenly. */
static int spread_stride(int n) {
  int stride = (int)(0.618 * n);
  while (stride > 1 && common_divisor(n, stride) != 1) {
    stride--;
  }
  return stride > 0 ? stride : 1;
}

static bool is_missing(tune_session *s, int item) {
  bool missing = false;
  for (int z = 0; z < s->plan.spec.n_sizes && s->plan.items[item].code.counted; z++) {
    const tune_cell *cell = sct_tune_cell(s, item, z);
    missing = missing || (cell->fits && !cell->counted);
  }
  return missing && s->plan.items[item].outcome == SCT_OUT_OK;
}

static bool is_known(tune_session *s, int item) {
  bool known = false;
  for (int z = 0; z < s->plan.spec.n_sizes; z++) {
    known = known || sct_tune_cell(s, item, z)->from_store;
  }
  return known;
}

static void run_share(tune_session *s, int fd, const void *ctx) {
  const share *mine = ctx;
  const int n = s->plan.n_items;
  sct_wire out = {0};
  for (int at = mine->first; at < n; at += mine->step) {
    const int item = (int)((int64_t)at * mine->stride % n);
    if (!is_missing(s, item)) {
      continue;
    }
    sct_arena arena = {0};
    const int64_t most = is_known(s, item) ? 0 : ROUGH_BLOCKS;
    const tune_counted counted = {item, sct_tune_counts_of(s, item, most, NULL, NULL, &arena),
                                  s->plan.spec.n_sizes};
    sct_wire_clear(&out);
    sct_wire_put(&out, tune_counted_table(), &counted);
    const sct_io io = sct_wire_send(fd, SCT_OK, &out, SCT_NO_DEADLINE);
    sct_arena_free(&arena);
    if (io != SCT_IO_OK) {
      break;
    }
  }
  sct_wire_free(&out);
}

/* One message. false: there will be no more. */
static sct_status take(tune_session *s, int fd, sct_wire *in, bool *more, sct_error *err) {
  uint32_t code = 0;
  *more = sct_wire_recv(fd, &code, in, sct_now_ns() + MESSAGE_NS) == SCT_IO_OK;
  if (!*more) {
    return SCT_OK;
  }
  tune_counted got;
  if (!sct_wire_get_whole(in, tune_counted_table(), &got) || got.item >= s->plan.n_items) {
    *more = false;
    return SCT_OK;
  }
  return sct_tune_take_counts(s, got.item, !is_known(s, got.item), got.counts, got.n_counts, err);
}

static sct_status collect(tune_session *s, sct_child *children, int n, int total, int64_t until_ns,
                          sct_error *err) {
  struct pollfd ready[MAX_PROCESSES];
  sct_wire in = {0};
  sct_status status = SCT_OK;
  for (int left = n, done = 0; status == SCT_OK && left > 0 && !sct_tune_stop(s);) {
    if (until_ns > 0 && sct_now_ns() > until_ns) {
      break;
    }
    for (int k = 0; k < n; k++) {
      ready[k] = (struct pollfd){.fd = children[k].fd, .events = POLLIN};
    }
    const int n_ready = poll(ready, (nfds_t)n, WAIT_MS);
    for (int k = 0; status == SCT_OK && k < n && n_ready > 0; k++) {
      bool more = true;
      if (ready[k].revents == 0) {
        continue;
      }
      status = take(s, children[k].fd, &in, &more, err);
      if (more) {
        sct_tune_progress(s, "count", ++done, total, "");
      } else {
        (void)sct_child_end(&children[k], DYING_NS);
        left--;
      }
    }
    if (status == SCT_OK) {
      status = sct_tune_pump(s, 0, err); /* the naive variants are being compiled */
    }
  }
  sct_wire_free(&in);
  return status;
}

/* Where nothing can be forked. */
static sct_status count_here(tune_session *s, int64_t until_ns, sct_error *err) {
  for (int k = 0; k < s->plan.n_items && !sct_tune_stop(s); k++) {
    if (until_ns > 0 && sct_now_ns() > until_ns) {
      break;
    }
    if (is_missing(s, k)) {
      SCT_TRY(sct_tune_count(s, k, err));
    }
  }
  return SCT_OK;
}

sct_status sct_tune_count_all(tune_session *s, int64_t until_ns, sct_error *err) {
  sct_child children[MAX_PROCESSES];
  share shares[MAX_PROCESSES];
  int n = 0, total = 0;
  for (int k = 0; k < s->plan.n_items; k++) {
    total += is_missing(s, k);
  }
  int wanted = (total + A_PROCESS - 1) / A_PROCESS;
  wanted = wanted < sct_cores() ? wanted : sct_cores();
  wanted = wanted < MAX_PROCESSES ? wanted : MAX_PROCESSES;
  const int stride = spread_stride(s->plan.n_items);
  for (int k = 0; k < wanted && wanted > 1; k++) {
    shares[k] = (share){.first = k, .step = wanted, .stride = stride};
    n += sct_tune_fork(&children[n], s, run_share, &shares[k]);
  }
  const sct_status status = collect(s, children, n, total, until_ns, err);
  for (int k = 0; k < n; k++) {
    if (sct_child_alive(&children[k])) {
      (void)kill(children[k].pid, SIGKILL);
    }
  }
  for (int k = 0; k < n; k++) {
    (void)sct_child_end(&children[k], 0);
  }
  return status == SCT_OK && n == 0 ? count_here(s, until_ns, err) : status;
}
