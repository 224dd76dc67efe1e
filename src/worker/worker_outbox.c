/* Answers on their way to the parent. While more of its requests wait already, they are held back
 * and go together: each message would wake the parent up. None waits longer than HOLD_NS, so that a
 * launch that hangs does not hold up what is known of those before it; a thread sees to that. */
#include "worker_state.h"

#include "base/base.h"

#include <poll.h>
#include <time.h>

#define HOLD_NS ((int64_t)20000000) /* a candidate's verification and quick pass take less */

static sct_io send_held(sct_outbox *o) {
  const sct_io io = sct_wire_send_batch(SCT_WORKER_FD, &o->held, SCT_NO_DEADLINE);
  sct_wire_clear(&o->held);
  return io;
}

static void sleep_until(int64_t end_ns) {
  const int64_t left = end_ns - sct_now_ns();
  if (left > 0) {
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)left}, NULL);
  }
}

/* The thread: sends what has been held for long enough. */
static void *watch(void *ctx) {
  sct_outbox *o = ctx;
  (void)pthread_mutex_lock(&o->lock);
  while (!o->ending) {
    if (o->held.len == 0) {
      (void)pthread_cond_wait(&o->begun, &o->lock);
      continue;
    }
    const int64_t end_ns = o->since_ns + HOLD_NS;
    if (sct_now_ns() >= end_ns) {
      (void)send_held(o); /* if the parent is gone, the next request says so */
      continue;
    }
    (void)pthread_mutex_unlock(&o->lock);
    sleep_until(end_ns);
    (void)pthread_mutex_lock(&o->lock);
  }
  (void)pthread_mutex_unlock(&o->lock);
  return NULL;
}

void sct_outbox_open(sct_outbox *o) {
  *o = (sct_outbox){0};
  (void)pthread_mutex_init(&o->lock, NULL);
  (void)pthread_cond_init(&o->begun, NULL);
  o->watched = sct_thread_create(&o->thread, NULL, watch, o) == 0;
}

void sct_outbox_close(sct_outbox *o) {
  (void)pthread_mutex_lock(&o->lock);
  o->ending = true;
  (void)pthread_cond_signal(&o->begun);
  (void)pthread_mutex_unlock(&o->lock);
  if (o->watched) {
    (void)pthread_join(o->thread, NULL);
  }
  (void)pthread_cond_destroy(&o->begun);
  (void)pthread_mutex_destroy(&o->lock);
  sct_wire_free(&o->held);
}

static bool more_requests(void) {
  struct pollfd p = {.fd = SCT_WORKER_FD, .events = POLLIN};
  return poll(&p, 1, 0) > 0 && (p.revents & POLLIN) != 0;
}

sct_io sct_outbox_put(sct_outbox *o, uint32_t code, const sct_wire *body, bool last) {
  const bool hold = !last && o->watched && more_requests();
  sct_io io = SCT_IO_OK;
  (void)pthread_mutex_lock(&o->lock);
  const bool first = o->held.len == 0;
  if (!hold && first) {
    io = sct_wire_send(SCT_WORKER_FD, code, body, SCT_NO_DEADLINE);
  } else {
    const size_t before = o->held.len;
    sct_wire_put_message(&o->held, code, body);
    o->since_ns = first ? sct_now_ns() : o->since_ns;
    if (o->held.failed) { /* too much to hold: all goes at once */
      o->held.len = before;
      o->held.failed = false;
      io = send_held(o);
      io = io == SCT_IO_OK ? sct_wire_send(SCT_WORKER_FD, code, body, SCT_NO_DEADLINE) : io;
    } else if (!hold) {
      io = send_held(o);
    } else if (first) {
      (void)pthread_cond_signal(&o->begun);
    }
  }
  (void)pthread_mutex_unlock(&o->lock);
  return io;
}
