/* The worker's devices: its own, and a second one for copies between both and for lists that both
 * work on. A request begins with calls for its own; what is the second one's enters that first. */
#include "worker_state.h"

sct_status sct_worker_enter(sct_worker_state *w, int device, sct_error *err) {
  sct_backend *b = sct_worker_device(w, device);
  if (!b) {
    return sct_worker_malformed(err);
  }
  return b->ops->make_current ? b->ops->make_current(b, err) : SCT_OK;
}

void sct_worker_close_peer(sct_worker_state *w) {
  if (w->peer) {
    (void)sct_worker_enter(w, 1, NULL);
    w->peer->ops->close(w->peer);
    (void)sct_worker_enter(w, 0, NULL);
    w->peer = NULL;
  }
}

sct_status sct_worker_peer(sct_worker_state *w, const sct_ask_open *in, sct_error *err) {
  if (!w->backend) {
    return sct_worker_malformed(err);
  }
  if (w->peer) {
    return SCT_OK;
  }
  const sct_status status = sct_worker_open_backend(w, &w->peer, in, err);
  const sct_status back = sct_worker_enter(w, 0, status == SCT_OK ? err : NULL);
  if (status == SCT_OK && w->peer->ops != w->backend->ops) { /* neither knows the other */
    sct_worker_close_peer(w);
    return sct_worker_malformed(err);
  }
  return status == SCT_OK ? back : status;
}
