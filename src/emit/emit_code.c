/* The kernels of a header compiled: machine code for each architecture that was tuned, PTX of the
 * newest for later ones, as lists of bytes. Who asks for the header compiles (sct_emit_compile). */
#include "emit/emit_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARCHS = 16, BYTES_A_LINE = 24 };

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

json_t *emit_byte_lines(const char *bytes, size_t n) {
  json_t *lines = json_array();
  sct_str line = {0};
  for (size_t k = 0; k < n; k++) {
    sct_str_printf(&line, "%u,", (unsigned)(unsigned char)bytes[k]);
    if (k % BYTES_A_LINE == BYTES_A_LINE - 1 || k + 1 == n) {
      json_array_append_new(lines, emit_text_str(&line));
    }
  }
  return lines;
}

static json_t *image_data(const sct_row_device *device, bool is_ptx, const sct_str *code) {
  return json_pack("{s:o, s:i, s:i, s:s, s:o}", "name",
                   emit_textf("%s_%d%d", is_ptx ? "ptx" : "sm", device->cc_major, device->cc_minor),
                   "major", device->cc_major, "minor", device->cc_minor, "is_ptx",
                   is_ptx ? "true" : "false", "lines",
                   emit_byte_lines(sct_str_c(code), code->len + is_ptx)); /* with its NUL */
}

/* The kernels that an architecture has, as C++ names them. */
static int list_names(json_t *names, int *kernels, const emit_header *h,
                      const sct_row_device *device) {
  int n = 0;
  for (int k = 0; k < h->n_kernels; k++) {
    const emit_kernel *kernel = &h->kernels[k];
    if (device->cc_major >= 9 || emit_sm90_feature(kernel) == NULL) {
      kernels[n++] = k;
      const bool own = kernel->launch.n_params > 0;
      json_array_append_new(names, emit_textf("%s_detail::%s::%s%s%s", h->sig.name, kernel->space,
                                              own ? kernel->launch.kernel : h->sig.name,
                                              own ? "" : "_", own ? "" : kernel->space));
    }
  }
  return n;
}

/* Compiles for one architecture; what kernels are called in the code goes to their places. */
static sct_status compile_one(sct_emit_code *code, json_t *entries, const emit_header *h,
                              const sct_row_device *device, const sct_emit_request *request,
                              const char *source, sct_error *err) {
  SCT_OWNED_PTR(json_t) names = json_array();
  const char **texts = SCT_ARENA_NEW(&((emit_header *)h)->arena, const char *, h->n_kernels + 1);
  int *kernels = SCT_ARENA_NEW(&((emit_header *)h)->arena, int, h->n_kernels + 1);
  const int n = list_names(names, kernels, h, device);
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d%d", device->cc_major, device->cc_minor);
  for (int k = 0; k < n; k++) {
    texts[k] = json_string_value(json_array_get(names, (size_t)k));
  }
  const sct_status status = request->compile(request->context, code, source, arch, texts, n, err);
  const char *at = sct_str_c(&code->entries);
  for (int k = 0; k < n && status == SCT_OK; k++) {
    const size_t length = strcspn(at, "\n");
    json_array_set_new(entries, (size_t)kernels[k], json_stringn_nocheck(at, length));
    at += length + (at[length] == '\n');
  }
  return status;
}

sct_status emit_add_code(json_t *out, const emit_header *h, const sct_emit_request *request,
                         const char *source, sct_error *err) {
  arch_list archs = {0};
  json_t *images = json_array(), *entries = json_array();
  sct_status status = SCT_OK;
  list_archs(&archs, h);
  for (int k = 0; k < h->n_kernels; k++) {
    json_array_append_new(entries, emit_text(""));
  }
  for (int k = 0; k < archs.n && status == SCT_OK; k++) {
    sct_emit_code code = {0};
    status = compile_one(&code, entries, h, archs.items[k], request, source, err);
    if (status == SCT_OK) {
      json_array_append_new(images, image_data(archs.items[k], false, &code.cubin));
      json_object_set_new(out, "nvrtc", emit_text(code.nvrtc));
    }
    if (status == SCT_OK && k == archs.n - 1) { /* the first that is asked for */
      json_array_insert_new(images, 0, image_data(archs.items[k], true, &code.ptx));
    }
    sct_str_free(&code.cubin);
    sct_str_free(&code.ptx);
    sct_str_free(&code.entries);
  }
  json_object_set_new(out, "n_images", json_integer((json_int_t)json_array_size(images)));
  json_object_set_new(out, "n_kernels", json_integer(h->n_kernels));
  json_object_set_new(out, "images", images);
  json_object_set_new(out, "entries", entries);
  return status;
}
