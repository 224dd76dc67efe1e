/* The kernels of a header compiled: machine code for each architecture that was tuned, PTX of the
 * newest for later ones, as lists of bytes. Who asks for the header compiles (sct_emit_compile). */
#include "emit/emit_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARCHS = 16 };

typedef struct arch_list {
  const sct_row_device *items[MAX_ARCHS];
  int n;
} arch_list;

static int order(const sct_row_device *d) {
  return 10 * d->cc_major + d->cc_minor;
}

/* Each architecture once, the oldest first. */
static void list_archs(arch_list *out, const emit_header *h) {
  for (int d = 0; d < h->n_devices; d++) {
    const sct_row_device *device = h->devices[d].row;
    int at = 0;
    while (at < out->n && order(out->items[at]) < order(device)) {
      at++;
    }
    const bool known = at < out->n && order(out->items[at]) == order(device);
    if (h->devices[d].n_sizes > 0 && !known && out->n < MAX_ARCHS) {
      memmove(&out->items[at + 1], &out->items[at], (size_t)(out->n - at) * sizeof out->items[0]);
      out->items[at] = device;
      out->n++;
    }
  }
}

static json_t *image_data(const sct_row_device *device, bool is_ptx, const sct_str *code) {
  return json_pack("{s:i, s:i, s:b, s:o}", "major", device->cc_major, "minor", device->cc_minor,
                   "is_ptx", is_ptx, "lines",
                   emit_byte_lines(sct_str_c(code), code->len + is_ptx)); /* with its NUL */
}

/* The kernels that an architecture has, as C++ names them. */
static int list_names(const char **names, int *kernels, const emit_header *h,
                      const sct_row_device *device) {
  int n = 0;
  for (int k = 0; k < h->n_kernels; k++) {
    const emit_kernel *kernel = &h->kernels[k];
    if (device->cc_major >= 9 || emit_sm90_feature(kernel->source->source) == NULL) {
      const char *name = kernel->is_own ? kernel->function
                                        : sct_arena_printf(&((emit_header *)h)->arena, "%s_%s",
                                                           h->sig.name, kernel->space);
      names[n] = sct_arena_printf(&((emit_header *)h)->arena, "%s_detail::%s::%s", h->sig.name,
                                  kernel->space, name);
      kernels[n++] = k;
    }
  }
  return n;
}

/* Compiles for one architecture; what kernels are called in the code goes to their places. */
static sct_status compile_one(sct_emit_code *code, json_t *entries, const emit_header *h,
                              const sct_row_device *device, const sct_emit_request *request,
                              const char *source, sct_error *err) {
  const char **names = SCT_ARENA_NEW(&((emit_header *)h)->arena, const char *, h->n_kernels + 1);
  int *kernels = SCT_ARENA_NEW(&((emit_header *)h)->arena, int, h->n_kernels + 1);
  const int n = list_names(names, kernels, h, device);
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d%d", device->cc_major, device->cc_minor);
  const sct_status status = request->compile(request->context, code, source, arch, names, n, err);
  const char *at = sct_str_c(&code->entries);
  for (int k = 0; k < n && status == SCT_OK; k++) {
    const size_t length = strcspn(at, "\n");
    json_array_set_new(entries, (size_t)kernels[k], json_stringn_nocheck(at, length));
    at += length + (at[length] == '\n');
  }
  return status;
}

sct_status emit_add_code(json_t *doc, const emit_header *h, const sct_emit_request *request,
                         const char *source, sct_error *err) {
  arch_list archs = {0};
  json_t *images = json_array(), *entries = json_array();
  sct_status status = SCT_OK;
  list_archs(&archs, h);
  for (int k = 0; k < h->n_kernels; k++) {
    json_array_append_new(entries, json_string(""));
  }
  for (int k = 0; k < archs.n && status == SCT_OK; k++) {
    sct_emit_code code = {0};
    status = compile_one(&code, entries, h, archs.items[k], request, source, err);
    if (status == SCT_OK) {
      json_array_append_new(images, image_data(archs.items[k], false, &code.cubin));
      json_object_set_new(doc, "nvrtc", json_string(code.nvrtc));
    }
    if (status == SCT_OK && k == archs.n - 1) { /* the first that is asked for */
      json_array_insert_new(images, 0, image_data(archs.items[k], true, &code.ptx));
    }
    sct_str_free(&code.cubin);
    sct_str_free(&code.ptx);
    sct_str_free(&code.entries);
  }
  json_object_set_new(doc, "images", images);
  json_object_set_new(doc, "entries", entries);
  return status;
}
