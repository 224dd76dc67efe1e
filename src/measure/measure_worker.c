/* The worker: reads a request, does it on the device, answers. It judges nothing.
 *
 * After a sticky result the process is of no more use: it answers and exits, without asking the
 * driver for anything more. */
#include "measure_worker.h"

#include "measure/measure.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the device ---- */

const sct_gpu_stand_in *sct_measure_stand_in;

/* NULL: the driver answers. */
static const sct_gpu_stand_in *stand_in(const char *script) {
  return script[0] != '\0' ? sct_measure_stand_in : NULL;
}

static sct_status handle_list(sct_worker_state *w, sct_wire *in, sct_wire *out, sct_error *err) {
  (void)w;
  const char *script = sct_wire_get_text(in);
  const sct_gpu_stand_in *other = stand_in(script);
  const int n = other ? other->count(script, err) : sct_cuda_count(err);
  if (n < 0) {
    return SCT_ENODEVICE;
  }
  sct_wire_put_i64(out, n);
  for (int k = 0; k < n; k++) {
    sct_device_desc desc;
    SCT_TRY(other ? other->peek(&desc, k, script, err) : sct_cuda_peek(&desc, k, err));
    sct_wire_put_bytes(out, &desc, sizeof desc);
  }
  return SCT_OK;
}

static sct_status handle_look(sct_worker_state *w, sct_wire *in, sct_wire *out, sct_error *err) {
  (void)w;
  const int ordinal = (int)sct_wire_get_i64(in);
  const char *script = sct_wire_get_text(in);
  sct_device_desc desc;
  sct_gpu_state state = {0};
  char lock[64] = "";
  if (stand_in(script)) {
    SCT_TRY(stand_in(script)->look(&desc, &state, lock, ordinal, script, err));
  } else {
    SCT_TRY(sct_cuda_look(&desc, &state, ordinal, err));
    snprintf(lock, sizeof lock, "%s", desc.uuid);
  }
  sct_wire_put_bytes(out, &desc, sizeof desc);
  sct_wire_put_bytes(out, &state, sizeof state);
  sct_wire_put_text(out, lock);
  return SCT_OK;
}

/* The session holds a lock of its own, so this one waits for nobody but the worker before this
 * one: a killed process may be busy in the driver for a while. */
#define LOCK_WAIT_NS ((int64_t)20000000000)

static sct_status take_lock(sct_worker_state *w, const char *name, sct_error *err) {
  const int64_t end = sct_now_ns() + LOCK_WAIT_NS;
  const struct timespec pause_time = {.tv_nsec = 20000000};
  if (name[0] == '\0' || w->lock >= 0) {
    return SCT_OK;
  }
  for (;;) {
    const sct_status status = sct_lock_take(&w->lock, name, err);
    if (status != SCT_EBUSY || sct_now_ns() > end) {
      return status == SCT_EBUSY
                 ? sct_fail_prefix(err, status, "a worker that does not end holds the GPU: ")
                 : status;
    }
    nanosleep(&pause_time, NULL);
  }
}

static sct_status handle_open(sct_worker_state *w, sct_wire *in, sct_wire *out, sct_error *err) {
  const int ordinal = (int)sct_wire_get_i64(in);
  const int64_t generation = sct_wire_get_i64(in);
  const char *script = sct_wire_get_text(in);
  sct_device_desc described;
  size_t n = 0;
  const uint8_t *desc = sct_wire_get_bytes(in, &n);
  const char *lock = sct_wire_get_text(in);
  if (in->failed || w->backend || (n != 0 && n != sizeof described)) {
    return sct_worker_malformed(err);
  }
  SCT_TRY(take_lock(w, lock, err));
  if (n != 0) {
    memcpy(&described, desc, sizeof described);
    sct_backend_ptx_open(&w->backend, &described);
  } else if (stand_in(script)) {
    SCT_TRY(stand_in(script)->open(&w->backend, ordinal, script, generation, err));
  } else {
    SCT_TRY(sct_backend_cuda_open(&w->backend, ordinal, err));
  }
  w->backend->ops->describe(w->backend, &w->desc);
  sct_wire_put_bytes(out, &w->desc, sizeof w->desc);
  sct_wire_put_i64(out, w->backend->ops->n_copies);
  return SCT_OK;
}

static sct_status handle_quit(sct_worker_state *w, sct_wire *in, sct_wire *out, sct_error *err) {
  (void)in;
  (void)out;
  (void)err;
  w->quit = true;
  return SCT_OK;
}

/* ---- kernels ---- */

/* The image at the place that a request names, or that it brings for it: aligned, and with a NUL
 * behind, as it may be PTX. */
static sct_status take_image(sct_worker_state *w, sct_wire *in, const char **out, sct_error *err) {
  const int64_t place = sct_wire_get_i64(in);
  const bool comes = sct_wire_get_i64(in) != 0;
  size_t n = 0;
  const uint8_t *bytes = sct_wire_get_bytes(in, &n);
  if (in->failed || !w->backend || place < 0 || place >= SCT_MAX_IMAGES ||
      (!comes && !w->images[place])) {
    return sct_worker_malformed(err);
  }
  if (comes) {
    sct_free(w->images[place]);
    w->images[place] = sct_alloc(n + 1);
    memcpy(w->images[place], bytes, n);
  }
  *out = w->images[place];
  return SCT_OK;
}

static sct_status unload(sct_worker_state *w, int64_t id, sct_error *err) {
  if (id < 0 || (size_t)id >= w->n_kernels || !w->kernels[id].module) {
    return sct_worker_malformed(err);
  }
  w->backend->ops->unload(w->backend, &w->kernels[id]);
  if (w->workspace.kernel == id) { /* the number is given to another one */
    w->workspace.kernel = -1;
  }
  return SCT_OK;
}

/* A free place for kernel number `id`. */
static sct_status make_room(sct_worker_state *w, int64_t id, sct_error *err) {
  if (id < 0 || id >= SCT_MAX_KERNELS || ((size_t)id < w->n_kernels && w->kernels[id].module)) {
    return sct_worker_malformed(err);
  }
  while (w->n_kernels <= (size_t)id) {
    SCT_GROW(w->kernels, w->n_kernels, w->cap_kernels);
    w->kernels[w->n_kernels++] = (sct_cuda_kernel){0};
  }
  return SCT_OK;
}

static sct_status handle_load(sct_worker_state *w, sct_wire *in, sct_wire *out, sct_error *err) {
  (void)out;
  const int64_t before = sct_wire_get_i64(in);
  if (before != -1) {
    SCT_TRY(unload(w, before, err));
  }
  const int64_t id = sct_wire_get_i64(in), serial = sct_wire_get_i64(in);
  const char *entry = sct_wire_get_text(in);
  const int64_t shared_bytes = sct_wire_get_i64(in);
  const char *image = NULL;
  SCT_TRY(take_image(w, in, &image, err));
  SCT_TRY(make_room(w, id, err));
  sct_cuda_kernel kernel = {0};
  SCT_TRY(w->backend->ops->load(w->backend, &kernel, image, entry, shared_bytes, serial, err));
  w->kernels[id] = kernel;
  return SCT_OK;
}

static sct_status handle_unload(sct_worker_state *w, sct_wire *in, sct_wire *out, sct_error *err) {
  (void)out;
  const int64_t id = sct_wire_get_i64(in);
  return in->failed ? sct_worker_malformed(err) : unload(w, id, err);
}

static sct_status read_workspace(sct_worker_state *w, sct_wire *in, sct_arg *arg, int64_t kernel,
                                 sct_error *err) {
  const int64_t bytes = sct_wire_get_i64(in);
  if (in->failed || bytes <= 0) {
    return sct_worker_malformed(err);
  }
  SCT_TRY(sct_worker_get_workspace(w, kernel, bytes, err));
  *arg = (sct_arg){.value = {w->workspace.p},
                   .bytes = sizeof arg->value[0],
                   .is_buffer = true,
                   .buffer_bytes = bytes,
                   .copies = 1,
                   .name = "the workspace"};
  return SCT_OK;
}

sct_status sct_worker_read_launch(sct_worker_state *w, sct_wire *in, sct_launch *launch,
                                  sct_error *err) {
  const int64_t id = sct_wire_get_i64(in);
  launch->kernel = (int)id;
  launch->blocks = sct_wire_get_i64(in);
  launch->threads = (int)sct_wire_get_i64(in);
  launch->shared_bytes = sct_wire_get_i64(in);
  const int64_t n_args = sct_wire_get_i64(in);
  if (in->failed || id < 0 || (size_t)id >= w->n_kernels || !w->kernels[id].module || n_args < 0 ||
      n_args > SCT_MAX_ARGS) {
    return sct_worker_malformed(err);
  }
  launch->n_args = (int)n_args;
  for (int k = 0; k < launch->n_args; k++) {
    sct_arg *arg = &launch->args[k];
    *arg = (sct_arg){0};
    const int64_t kind = sct_wire_get_i64(in);
    if (kind == SCT_ARG_WORKSPACE) {
      SCT_TRY(read_workspace(w, in, arg, id, err));
    } else if (kind == SCT_ARG_BUFFER) {
      const sct_worker_buffer *b = sct_worker_buffer_next(w, in, err);
      if (!b) {
        return SCT_EINTERNAL;
      }
      *arg = (sct_arg){.value = {sct_worker_data(b)},
                       .bytes = sizeof arg->value[0],
                       .is_buffer = true,
                       .read_only = b->sealed,
                       .buffer_bytes = b->bytes,
                       .align = b->align,
                       .copies = (uint64_t)b->copies,
                       .stride = b->stride,
                       .name = b->name};
    } else {
      const uint8_t *bytes = sct_wire_get_bytes(in, &arg->bytes);
      if (in->failed || arg->bytes > sizeof arg->value) {
        return sct_worker_malformed(err);
      }
      memcpy(arg->value, bytes, arg->bytes);
    }
  }
  return SCT_OK;
}

static sct_status run_launch(sct_worker_state *w, const sct_launch *launch, sct_wire *out,
                             sct_error *err) {
  const sct_backend_ops *ops = w->backend->ops;
  double ns = 0;
  SCT_TRY(ops->timer_start(w->backend, err));
  SCT_TRY(ops->launch(w->backend, &w->kernels[launch->kernel], launch, err));
  SCT_TRY(ops->timer_stop(w->backend, &ns, err));
  SCT_TRY(ops->sync(w->backend, err));
  sct_launch_counts run = {0};
  if (ops->counts) {
    ops->counts(w->backend, &run);
  }
  w->trial_ns = ns;
  sct_wire_put_f64(out, ns);
  sct_wire_put_bytes(out, &run, ops->counts ? sizeof run : 0);
  return SCT_OK;
}

static sct_status handle_run(sct_worker_state *w, sct_wire *in, sct_wire *out, sct_error *err) {
  sct_launch launch;
  SCT_TRY(sct_worker_read_launch(w, in, &launch, err));
  return run_launch(w, &launch, out, err);
}

/* What verification asks for over and over, in one request; many of them come at once. */
static sct_status handle_trial(sct_worker_state *w, sct_wire *in, sct_wire *out, sct_error *err) {
  sct_launch launch;
  SCT_TRY(sct_worker_read_launch(w, in, &launch, err));
  const int64_t poison = sct_wire_get_i64(in), n = sct_wire_get_i64(in);
  if (in->failed || n < 0 || n > launch.n_args) {
    return sct_worker_malformed(err);
  }
  for (int64_t k = 0; k < n; k++) {
    SCT_TRY(sct_worker_poison(w, in, (uint8_t)poison, err));
  }
  w->trial_ns = 0;
  if (launch.blocks > 0) {
    SCT_TRY(run_launch(w, &launch, out, err));
  } else {
    sct_wire_put_f64(out, 0);
    sct_wire_put_bytes(out, &launch, 0);
  }
  SCT_TRY(sct_worker_audit(w, in, out, err));
  const int64_t n_compared = sct_wire_get_i64(in);
  for (int64_t k = 0; k < n_compared; k++) { /* a request that is too short ends it */
    SCT_TRY(sct_worker_compare(w, in, out, err));
  }
  return in->failed ? sct_worker_malformed(err) : SCT_OK;
}

/* ---- the loop ---- */

static sct_worker_handler *const handlers[] = {
#define SCT_OP(id, handler, doc) [SCT_OP_##id] = handler,
#include "measure_ops.def"
#undef SCT_OP
};

sct_worker_handler *sct_worker_handler_of(uint32_t op) {
  return op < SCT_N_OPS ? handlers[op] : NULL;
}

static void close_worker(sct_worker_state *w) {
  sct_worker_free_buffers(w);
  if (w->backend) {
    for (size_t k = 0; k < w->n_kernels; k++) {
      if (w->kernels[k].module) {
        w->backend->ops->unload(w->backend, &w->kernels[k]);
      }
    }
    w->backend->ops->close(w->backend);
  }
  for (int k = 0; k < SCT_MAX_IMAGES; k++) {
    sct_free(w->images[k]);
  }
  sct_free(w->kernels);
}

static sct_status handle(sct_worker_state *w, uint32_t code, sct_wire *in, sct_wire *out,
                         sct_error *err) {
  const bool follows = (code & SCT_OP_FOLLOWS) != 0;
  sct_worker_handler *handler = sct_worker_handler_of(code & ~SCT_OP_FOLLOWS);
  if (follows && !w->well) {
    return SCT_OK; /* nobody reads this answer */
  }
  w->well = true; /* until a handler finds something */
  const sct_status status = handler ? handler(w, in, out, err) : sct_worker_malformed(err);
  w->well = w->well && status == SCT_OK;
  return status;
}

/* One request. Returns false when the worker must end. */
static bool serve(sct_worker_state *w, sct_outbox *outbox, sct_wire *in, sct_wire *out) {
  uint32_t code = 0;
  sct_error err = {0};
  sct_wire_clear(out);
  if (sct_wire_recv(SCT_WORKER_FD, &code, in, SCT_NO_DEADLINE) != SCT_IO_OK) {
    return false; /* the parent is gone */
  }
  sct_status status = handle(w, code, in, out, &err);
  int result = 0;
  if (status != SCT_OK) {
    result = w->backend ? w->backend->ops->last(w->backend) : 0;
    sct_wire_clear(out);
    sct_wire_put_i64(out, result);
    sct_wire_put_text(out, err.text);
  }
  const bool last = status != SCT_OK || w->quit;
  const sct_io io = sct_outbox_put(outbox, (uint32_t)status, out, last);
  if (status != SCT_OK && sct_cuda_is_sticky(result)) {
    _exit(0);
  }
  return io == SCT_IO_OK && !w->quit;
}

int sct_measure_worker_main(int argc, char **argv) {
  const int refused = sct_process_enter(argc, argv);
  if (refused != 0) {
    return refused;
  }
  sct_worker_state w = {.lock = -1};
  sct_wire in = {0}, out = {0};
  sct_outbox outbox;
  sct_outbox_open(&outbox);
  while (serve(&w, &outbox, &in, &out)) {
  }
  sct_outbox_close(&outbox);
  close_worker(&w);
  sct_wire_free(&in);
  sct_wire_free(&out);
  return 0;
}
