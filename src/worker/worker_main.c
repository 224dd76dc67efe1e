/* The worker: reads a request, does it on the device, answers. It evaluates nothing.
 *
 * After a sticky result the process is of no more use: it answers and exits, without asking the
 * driver for anything more. */
#include "worker_state.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the device ---- */

const sct_gpu_stand_in *sct_worker_stand_in;

#define LOCK_NAME_BYTES 64

const char *sct_worker_script(const char *script) {
  const char *found = script || !sct_worker_stand_in ? script : sct_worker_stand_in->script();
  return sct_worker_stand_in && found ? found : "";
}

/* NULL: the driver answers. */
static const sct_gpu_stand_in *stand_in(const char *script) {
  return script[0] != '\0' ? sct_worker_stand_in : NULL;
}

sct_status sct_worker_list(sct_worker_state *w, const sct_ask_list *in, sct_got_list *out,
                           sct_error *err) {
  const sct_gpu_stand_in *other = stand_in(in->script);
  const int n = other ? other->count(in->script, err) : sct_cuda_count(err);
  if (n < 0) {
    return SCT_ENODEVICE;
  }
  sct_device_desc *devices = SCT_ARENA_NEW(&w->memory, sct_device_desc, n + 1);
  *out = (sct_got_list){devices, n};
  for (int k = 0; k < n; k++) {
    SCT_TRY(other ? other->peek(&devices[k], k, in->script, err)
                  : sct_cuda_peek(&devices[k], k, err));
  }
  return SCT_OK;
}

sct_status sct_worker_look(sct_worker_state *w, const sct_ask_look *in, sct_got_look *out,
                           sct_error *err) {
  char *lock = SCT_ARENA_NEW(&w->memory, char, LOCK_NAME_BYTES);
  out->lock = lock;
  if (stand_in(in->script)) {
    return stand_in(in->script)
        ->look(&out->device, &out->state, lock, in->ordinal, in->script, err);
  }
  SCT_TRY(sct_cuda_peek_state(&out->device, &out->state, in->ordinal, err));
  snprintf(lock, LOCK_NAME_BYTES, "%s", out->device.uuid);
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

sct_status sct_worker_open_backend(sct_worker_state *w, sct_backend **out, const sct_ask_open *in,
                                   sct_error *err) {
  SCT_TRY(take_lock(w, in->lock, err));
  if (in->n_described > 0) {
    sct_backend_ptx_open(out, in->described);
    return SCT_OK;
  }
  return stand_in(in->script)
             ? stand_in(in->script)->open(out, in->ordinal, in->script, in->generation, err)
             : sct_backend_cuda_open(out, in->ordinal, err);
}

sct_status sct_worker_open(sct_worker_state *w, const sct_ask_open *in, sct_got_open *out,
                           sct_error *err) {
  if (w->backend) {
    return sct_worker_malformed(err);
  }
  SCT_TRY(sct_worker_open_backend(w, &w->backend, in, err));
  out->device = w->backend->desc;
  out->n_copies = w->backend->ops->n_copies;
  return SCT_OK;
}

sct_status sct_worker_quit(sct_worker_state *w, const sct_nothing *in, sct_error *err) {
  (void)in;
  (void)err;
  w->quit = true;
  return SCT_OK;
}

/* ---- kernels ---- */

/* The image at the place that a request names, or that it brings for it: aligned, and with a NUL
 * after, as it may be PTX. NULL: there is none. */
static const char *take_image(sct_worker_state *w, const sct_ask_load *in) {
  if (in->comes) {
    sct_free(w->images[in->image]);
    w->images[in->image] = sct_alloc((size_t)in->n_data + 1);
    memcpy(w->images[in->image], in->data, (size_t)in->n_data);
  }
  return w->images[in->image];
}

static sct_status unload(sct_worker_state *w, int64_t id, sct_error *err) {
  if (id < 0 || (size_t)id >= w->n_kernels || !w->kernels[id].loaded.module) {
    return sct_worker_malformed(err);
  }
  sct_worker_kernel *k = &w->kernels[id];
  sct_backend *on = sct_worker_device(w, k->device);
  SCT_TRY(sct_worker_enter(w, k->device, err));
  on->ops->unload(on, &k->loaded);
  if (w->workspace.kernel == id) { /* the number is given to another one */
    w->workspace.kernel = -1;
  }
  return SCT_OK;
}

/* A free place for kernel number `id`. */
static sct_status make_room(sct_worker_state *w, int64_t id, sct_error *err) {
  if ((size_t)id < w->n_kernels && w->kernels[id].loaded.module) {
    return sct_worker_malformed(err);
  }
  while (w->n_kernels <= (size_t)id) {
    SCT_GROW(w->kernels, w->n_kernels, w->cap_kernels);
    w->kernels[w->n_kernels++] = (sct_worker_kernel){0};
  }
  return SCT_OK;
}

sct_status sct_worker_load(sct_worker_state *w, const sct_ask_load *in, sct_error *err) {
  if (in->unload >= 0) {
    SCT_TRY(unload(w, in->unload, err));
  }
  const char *image = w->backend ? take_image(w, in) : NULL;
  if (!image) {
    return sct_worker_malformed(err);
  }
  SCT_TRY(make_room(w, in->kernel, err));
  sct_worker_kernel kernel = {.device = in->device};
  sct_backend *on = sct_worker_device(w, in->device);
  SCT_TRY(sct_worker_enter(w, in->device, err));
  SCT_TRY(on->ops->load(on, &kernel.loaded, image, in->entry, in->shared_bytes, in->serial, err));
  w->kernels[in->kernel] = kernel;
  return SCT_OK;
}

sct_status sct_worker_unload(sct_worker_state *w, const sct_ask_unload *in, sct_error *err) {
  return unload(w, in->kernel, err);
}

sct_status sct_worker_guards(sct_worker_state *w, const sct_ask_unload *in, sct_got_guards *out,
                             sct_error *err) {
  if ((size_t)in->kernel >= w->n_kernels || !w->kernels[in->kernel].loaded.module) {
    return sct_worker_malformed(err);
  }
  sct_backend *on = sct_worker_device(w, w->kernels[in->kernel].device);
  SCT_SCOPED(sct_str) places = {0};
  out->n =
      on->ops->uncovered ? on->ops->uncovered(on, &w->kernels[in->kernel].loaded, &places) : -1;
  out->places = sct_arena_strdup(&w->memory, sct_str_c(&places));
  return SCT_OK;
}

static sct_status set_arg(sct_worker_state *w, int64_t kernel, const sct_ask_arg *in, sct_arg *arg,
                          sct_error *err) {
  const sct_worker_buffer *b = NULL;
  switch (in->kind) {
  case SCT_ARG_WORKSPACE:
    if (in->number == 0 || w->kernels[kernel].device > 0) {
      return sct_worker_malformed(err);
    }
    SCT_TRY(sct_worker_get_workspace(w, kernel, in->number, err));
    *arg = (sct_arg){.value = {w->workspace.p},
                     .bytes = sizeof arg->value[0],
                     .is_buffer = true,
                     .is_workspace = true,
                     .buffer_bytes = in->number,
                     .copies = 1,
                     .name = "the workspace"};
    return SCT_OK;
  case SCT_ARG_BUFFER:
    b = sct_worker_any_buffer_at(w, in->number, err);
    if (!b) {
      return SCT_EINTERNAL;
    }
    if (in->offset > b->bytes || b->device != w->kernels[kernel].device) {
      return sct_worker_malformed(err);
    }
    *arg = (sct_arg){.value = {sct_worker_data(b) + (uint64_t)in->offset},
                     .bytes = sizeof arg->value[0],
                     .is_buffer = true,
                     .read_only = b->sealed,
                     .buffer_bytes = b->bytes - in->offset,
                     .residue = b->residue + in->offset,
                     .copies = (uint64_t)b->copies,
                     .stride = b->stride,
                     .name = b->name};
    return SCT_OK;
  case SCT_ARG_CHUNK: /* which a run from the host and back knows */
    *arg = (sct_arg){.bytes = sizeof arg->value[0], .is_buffer = true, .copies = 1, .name = ""};
    return SCT_OK;
  default:
    *arg = (sct_arg){.bytes = (size_t)in->n_value};
    memcpy(arg->value, in->value, arg->bytes);
    return SCT_OK;
  }
}

static int64_t at_least_1(int side) {
  return side > 0 ? side : 1;
}

/* What is left of blocks and threads lies along x. */
static sct_status set_sides(const sct_ask_launch *in, sct_launch *launch, sct_error *err) {
  const int64_t grid_yz = at_least_1(in->grid_y) * at_least_1(in->grid_z);
  const int64_t block_yz = at_least_1(in->block_y) * at_least_1(in->block_z);
  if (in->blocks % grid_yz != 0 || in->threads % block_yz != 0) {
    return sct_worker_malformed(err);
  }
  const int64_t sides[] = {in->blocks / grid_yz,    at_least_1(in->grid_y),
                           at_least_1(in->grid_z),  in->threads / block_yz,
                           at_least_1(in->block_y), at_least_1(in->block_z)};
  memcpy(launch->grid, sides, sizeof launch->grid);
  memcpy(launch->block, sides + 3, sizeof launch->block);
  return SCT_OK;
}

sct_status sct_worker_set_any_launch(sct_worker_state *w, const sct_ask_launch *in,
                                     sct_launch *launch, sct_error *err) {
  if ((size_t)in->kernel >= w->n_kernels || !w->kernels[in->kernel].loaded.module) {
    return sct_worker_malformed(err);
  }
  launch->kernel = (int)in->kernel;
  launch->blocks = in->blocks;
  launch->threads = in->threads;
  SCT_TRY(set_sides(in, launch, err));
  launch->reversed = in->reversed;
  launch->rounding = in->rounding;
  launch->passes = in->passes;
  launch->shared_bytes = in->shared_bytes;
  launch->n_args = (int)in->n_args;
  for (int k = 0; k < launch->n_args; k++) {
    SCT_TRY(set_arg(w, in->kernel, &in->args[k], &launch->args[k], err));
  }
  const bool numbered = launch->n_args > 0 && !launch->args[launch->n_args - 1].is_buffer;
  return launch->passes == 0 || numbered ? SCT_OK : sct_worker_malformed(err);
}

sct_status sct_worker_set_launch(sct_worker_state *w, const sct_ask_launch *in, sct_launch *launch,
                                 sct_error *err) {
  SCT_TRY(sct_worker_set_any_launch(w, in, launch, err));
  return w->kernels[launch->kernel].device == 0 ? SCT_OK : sct_worker_malformed(err);
}

static sct_status run_launch(sct_worker_state *w, const sct_launch *launch, sct_got_launch *out,
                             sct_error *err) {
  const sct_backend_ops *ops = w->backend->ops;
  SCT_TRY(ops->timer_start(w->backend, err));
  SCT_TRY(ops->launch(w->backend, &w->kernels[launch->kernel].loaded, launch, err));
  SCT_TRY(ops->timer_stop(w->backend, &out->ns, err));
  SCT_TRY(ops->sync(w->backend, err));
  if (ops->counts) {
    sct_launch_counts *counts = SCT_ARENA_NEW(&w->memory, sct_launch_counts, 1);
    ops->counts(w->backend, counts);
    out->counts = counts;
    out->n_counts = 1;
  }
  return SCT_OK;
}

sct_status sct_worker_run(sct_worker_state *w, const sct_ask_launch *in, sct_got_launch *out,
                          sct_error *err) {
  sct_launch launch;
  SCT_TRY(sct_worker_set_launch(w, in, &launch, err));
  return run_launch(w, &launch, out, err);
}

/* What verification asks for over and over, in one request. */
sct_status sct_worker_trial(sct_worker_state *w, const sct_ask_trial *in, sct_got_trial *out,
                            sct_error *err) {
  sct_launch launch;
  SCT_TRY(sct_worker_set_launch(w, &in->launch, &launch, err));
  for (int64_t k = 0; k < in->n_outputs; k++) {
    SCT_TRY(sct_worker_poison(w, &in->outputs[k], in->poison, err));
  }
  if (launch.blocks > 0) {
    SCT_TRY(run_launch(w, &launch, &out->launch, err));
  }
  SCT_TRY(sct_worker_audit(w, &in->audit, &out->audit, err));
  sct_difference *differences = SCT_ARENA_NEW(&w->memory, sct_difference, in->n_compare + 1);
  out->differences = differences;
  out->n_differences = in->n_compare;
  for (int64_t k = 0; k < in->n_compare; k++) {
    SCT_TRY(sct_worker_compare(w, &in->compare[k], &differences[k], err));
  }
  return SCT_OK;
}

/* ---- the loop ---- */

static sct_status dispatch(sct_worker_state *w, uint32_t op, sct_wire *in, sct_wire *out,
                           sct_error *err) {
  if (w->peer) { /* the request before may have ended with calls for it */
    SCT_TRY(sct_worker_enter(w, 0, err));
  }
  switch (op) {
#define SCT_OP(id, handler, request, answer)                                                       \
  case SCT_OP_##id: {                                                                              \
    request asked;                                                                                 \
    answer given = {0};                                                                            \
    if (!sct_wire_get_whole(in, request##_table(), &asked)) {                                      \
      break;                                                                                       \
    }                                                                                              \
    SCT_TRY(handler(w, &asked, &given, err));                                                      \
    sct_wire_put(out, answer##_table(), &given);                                                   \
    return SCT_OK;                                                                                 \
  }
#define SCT_OP_DO(id, handler, request)                                                            \
  case SCT_OP_##id: {                                                                              \
    request asked;                                                                                 \
    if (!sct_wire_get_whole(in, request##_table(), &asked)) {                                      \
      break;                                                                                       \
    }                                                                                              \
    return handler(w, &asked, err);                                                                \
  }
#include "worker/worker_ops.def"
  default:
    break;
  }
  return sct_worker_malformed(err);
}

static void close_worker(sct_worker_state *w) {
  sct_worker_free_buffers(w);
  sct_worker_close_ends(w);
  sct_worker_close_host(w);
  for (size_t k = 0; k < w->n_kernels; k++) {
    (void)unload(w, (int64_t)k, NULL); /* those that are there */
  }
  sct_worker_close_peer(w);
  if (w->backend) {
    w->backend->ops->close(w->backend);
  }
  for (int k = 0; k < SCT_MAX_IMAGES; k++) {
    sct_free(w->images[k]);
  }
  sct_free(w->kernels);
}

/* The driver's result for the request that failed. */
static int last_result(sct_worker_state *w) {
  const int result = w->backend ? w->backend->ops->last(w->backend) : 0;
  const int of_peer = w->peer ? w->peer->ops->last(w->peer) : 0;
  return result != 0 ? result : of_peer;
}

/* One request. Returns false when the worker must end. */
static bool serve(sct_worker_state *w, sct_wire *in, sct_wire *out) {
  uint32_t code = 0;
  sct_error err = {0};
  sct_wire_clear(out);
  if (sct_wire_recv(SCT_WORKER_FD, &code, in, SCT_NO_DEADLINE) != SCT_IO_OK) {
    return false; /* the parent is gone */
  }
  sct_status status = dispatch(w, code, in, out, &err);
  int result = 0;
  if (status != SCT_OK) {
    result = last_result(w);
    sct_wire_clear(out);
    sct_wire_put(out, sct_got_failure_table(), &(sct_got_failure){result, err.text});
  }
  const sct_io io = sct_wire_send(SCT_WORKER_FD, (uint32_t)status, out, SCT_NO_DEADLINE);
  sct_arena_free(&w->memory);
  if (status != SCT_OK && sct_cuda_is_sticky(result)) {
    _exit(0);
  }
  return io == SCT_IO_OK && !w->quit;
}

int sct_worker_main(int argc, char **argv) {
  const int refused = sct_process_enter(argc, argv);
  if (refused != 0) {
    return refused;
  }
  sct_worker_state w = {.lock = -1};
  SCT_SCOPED(sct_wire) in = {0}, out = {0};
  while (serve(&w, &in, &out)) {
  }
  close_worker(&w);
  return 0;
}
