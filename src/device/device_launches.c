/* Launches from a file, on a GPU: the program that a profiler is given to run. It is the profiler's
 * child and not ours, so it keeps the descriptors that it inherits, through which the profiler
 * talks with what it has put into the process. */
#include "device/device.h"

#include <string.h>

#define SCT_MESSAGES "device/device_launches.def"
#include "process/process_describe.def"

#define UPLOAD_BYTES ((int64_t)16 << 20)

/* ---- the file: bytes of the message, the message, contents of the arrays ---- */

sct_status sct_launches_write(const char *path, const sct_launches *launches,
                              const void *const *contents, sct_error *err) {
  SCT_SCOPED(sct_wire) w = {0};
  SCT_SCOPED(sct_str) file = {0};
  sct_status status = SCT_OK;
  sct_wire_put(&w, sct_launches_table(), launches);
  if (w.failed) {
    status = sct_fail(err, SCT_EUSAGE, "the launches are too many, or their kernels too large");
  } else {
    const int64_t bytes = (int64_t)w.len;
    sct_str_append_n(&file, (const char *)&bytes, sizeof bytes);
    sct_str_append_n(&file, (const char *)w.data, w.len);
    for (int64_t k = 0; k < launches->n_arrays; k++) {
      sct_str_append_n(&file, contents[k], (size_t)launches->arrays[k].held);
    }
    status = sct_file_write(path, file.data, file.len, err);
  }
  return status;
}

typedef struct session {
  const char *path;
  sct_str file;
  sct_wire message;
  sct_launches launches;
  int64_t contents; /* where they begin in the file */
  void *image;      /* as the driver wants it: aligned */
  sct_cuda *cuda;
  sct_cuda_kernel kernel;
  sct_cuda_ptr *address; /* [n_arrays] */
  sct_arena arena;
} session;

static sct_status damaged(const session *s, sct_error *err) {
  return sct_fail(err, SCT_EDATA, "'%s' holds no launches", s->path);
}

/* Do pointers point at arrays, from within parameters? */
static bool is_sound(const sct_launches *l, const sct_launch_case *c) {
  for (int64_t k = 0; k < c->n_pointers; k++) {
    const sct_launch_pointer *p = &c->pointers[k];
    if (p->param >= c->n_params || p->array >= l->n_arrays ||
        p->at > c->params[p->param].n_bytes - (int64_t)sizeof(uint64_t) ||
        p->offset > l->arrays[p->array].bytes) {
      return false;
    }
  }
  return true;
}

static sct_status read_launches(session *s, sct_error *err) {
  int64_t bytes = -1;
  SCT_TRY(sct_file_read_most(&s->file, s->path, INT64_MAX, err));
  if (s->file.len >= sizeof bytes) {
    memcpy(&bytes, s->file.data, sizeof bytes);
  }
  const int64_t most = (int64_t)s->file.len - (int64_t)sizeof bytes;
  if (bytes < 0 || bytes > most) {
    return damaged(s, err);
  }
  sct_wire_put_raw(&s->message, s->file.data + sizeof bytes, (size_t)bytes);
  if (!sct_wire_get_whole(&s->message, sct_launches_table(), &s->launches)) {
    return damaged(s, err);
  }
  int64_t left = most - bytes;
  for (int64_t k = 0; k < s->launches.n_arrays; k++) {
    const sct_launch_array *a = &s->launches.arrays[k];
    left -= a->held <= left ? a->held : left + 1;
    if (left < 0) {
      return damaged(s, err);
    }
  }
  for (int64_t k = 0; k < s->launches.n_cases; k++) {
    if (!is_sound(&s->launches, &s->launches.cases[k])) {
      return damaged(s, err);
    }
  }
  s->contents = (int64_t)sizeof bytes + bytes;
  return SCT_OK;
}

/* ---- the GPU ---- */

/* An array's contents, as often as they fit. */
static sct_status fill(const session *s, sct_cuda_ptr to, const sct_launch_array *a,
                       const char *held, sct_error *err) {
  const int64_t times = a->held < UPLOAD_BYTES ? UPLOAD_BYTES / a->held : 1;
  const int64_t least = times * a->held < a->bytes ? times * a->held : a->bytes;
  SCT_OWNED char *const piece = sct_alloc((size_t)least + 1);
  sct_status status = SCT_OK;
  for (int64_t at = 0; at < least; at += a->held) {
    memcpy(piece + at, held, (size_t)(a->held < least - at ? a->held : least - at));
  }
  for (int64_t at = 0; status == SCT_OK && at < a->bytes; at += least) {
    const int64_t n = least < a->bytes - at ? least : a->bytes - at;
    status = sct_cuda_upload(s->cuda, to + (uint64_t)at, piece, n, err);
  }
  return status;
}

static sct_status make_arrays(session *s, sct_error *err) {
  const sct_launches *l = &s->launches;
  const char *held = s->file.data + s->contents;
  s->address = SCT_ARENA_NEW(&s->arena, sct_cuda_ptr, l->n_arrays + 1);
  for (int64_t k = 0; k < l->n_arrays; k++) {
    SCT_TRY(sct_cuda_alloc(s->cuda, &s->address[k], l->arrays[k].bytes, err));
    if (l->arrays[k].held > 0) {
      SCT_TRY(fill(s, s->address[k], &l->arrays[k], held, err));
    }
    held += l->arrays[k].held;
  }
  return SCT_OK;
}

static sct_status launch(session *s, const sct_launch_case *c, sct_error *err) {
  void **const args = SCT_ARENA_NEW(&s->arena, void *, c->n_params + 1);
  for (int64_t k = 0; k < c->n_params; k++) {
    const size_t n = (size_t)c->params[k].n_bytes;
    args[k] = sct_arena_alloc(&s->arena, n);
    memcpy(args[k], c->params[k].bytes, n);
  }
  for (int64_t k = 0; k < c->n_pointers; k++) {
    const sct_launch_pointer *p = &c->pointers[k];
    const uint64_t address = s->address[p->array] + (uint64_t)p->offset;
    memcpy((char *)args[p->param] + p->at, &address, sizeof address);
  }
  sct_cuda_kernel *const kernel = &s->kernel; /* one module, as its variables live on */
  SCT_TRY(kernel->module
              ? sct_cuda_function(s->cuda, kernel, c->entry, c->shared_bytes, err)
              : sct_cuda_load(s->cuda, kernel, s->image, c->entry, c->shared_bytes, err));
  SCT_TRY(sct_cuda_launch_3d(s->cuda, kernel, c->grid, c->block, c->shared_bytes, args, err));
  return sct_cuda_sync(s->cuda, err);
}

static sct_status run(session *s, sct_error *err) {
  const sct_launches *l = &s->launches;
  SCT_TRY(read_launches(s, err));
  s->image = sct_alloc((size_t)l->n_image + 1); /* a text ends in NUL */
  memcpy(s->image, l->image, (size_t)l->n_image);
  SCT_TRY(sct_cuda_open(&s->cuda, l->ordinal, err));
  SCT_TRY(make_arrays(s, err));
  for (int64_t k = 0; k < l->n_cases; k++) {
    SCT_TRY(launch(s, &l->cases[k], err));
  }
  return SCT_OK;
}

sct_status sct_launches_run(const char *path, sct_error *err) {
  session s = {.path = path};
  const sct_status status = run(&s, err);
  for (int64_t k = 0; s.address && k < s.launches.n_arrays; k++) {
    sct_cuda_release(s.cuda, s.address[k]);
  }
  if (s.cuda) {
    sct_cuda_unload(s.cuda, &s.kernel);
  }
  sct_cuda_close(s.cuda);
  sct_free(s.image);
  sct_wire_free(&s.message);
  sct_str_free(&s.file);
  sct_arena_free(&s.arena);
  return status;
}

int sct_launches_main(int argc, char **argv) {
  sct_error err = {0};
  const sct_status status =
      argc == 3 ? sct_launches_run(argv[2], &err)
                : sct_fail(&err, SCT_EUSAGE, "this is started by the program itself, not by hand");
  if (status != SCT_OK) {
    fprintf(stderr, "sectile: %s\n", err.text);
  }
  return sct_exit_code(status);
}
