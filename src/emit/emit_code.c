/* The kernels of a header compiled: machine code for each architecture that is asked for, by
 * default those that were tuned, and PTX for devices of major versions that have none, as lists of
 * bytes. Who asks for the header compiles (sct_emit_compile). */
#include "emit/emit_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TARGETS = 32 };

typedef struct emit_target {
  char name[16]; /* "sm_90" */
  int major, minor;
} emit_target;
typedef struct target_list {
  emit_target items[MAX_TARGETS];
  int n;
} target_list;

static int order(const emit_target *a) {
  return 10 * a->major + a->minor;
}

/* Each once, the oldest first. */
static void add_target(target_list *out, int major, int minor) {
  emit_target it = {.major = major, .minor = minor};
  int at = 0;
  snprintf(it.name, sizeof it.name, "sm_%d%d", major, minor);
  while (at < out->n && order(&out->items[at]) < order(&it)) {
    at++;
  }
  const bool known = at < out->n && order(&out->items[at]) == order(&it);
  if (!known && out->n < MAX_TARGETS) {
    memmove(&out->items[at + 1], &out->items[at], (size_t)(out->n - at) * sizeof it);
    out->items[at] = it;
    out->n++;
  }
}

static void list_tuned(target_list *out, const emit_header *h) {
  for (int d = 0; d < h->n_devices; d++) {
    if (h->devices[d].n_sizes > 0) {
      add_target(out, h->devices[d].row->cc_major, h->devices[d].row->cc_minor);
    }
  }
}

/* One of a list with commas. Whether there is such an architecture says the compiler. */
static sct_status read_target(target_list *out, const char *text, size_t n, sct_error *err) {
  char *end = NULL;
  const long number = n > 3 && strncmp(text, "sm_", 3) == 0 ? strtol(text + 3, &end, 10) : 0;
  if (end != text + n || number < 10 || number > 999) {
    return sct_fail(err, SCT_EUSAGE,
                    "--targets: '%.*s' is no architecture; expected numbers with commas between, "
                    "such as sm_80,sm_90 (without a suffix: no call knows which device has it)",
                    (int)n, text);
  }
  add_target(out, (int)number / 10, (int)number % 10);
  return SCT_OK;
}

static sct_status list_targets(target_list *out, const emit_header *h, sct_error *err) {
  const char *at = h->request.targets;
  if (at == NULL) {
    list_tuned(out, h);
  }
  while (at != NULL) {
    const size_t n = strcspn(at, ",");
    SCT_TRY(read_target(out, at, n, err));
    at = at[n] == ',' ? at + n + 1 : NULL;
  }
  return SCT_OK;
}

static json_t *image_data(const emit_target *target, bool is_ptx, const sct_str *code) {
  return json_pack("{s:i, s:i, s:b, s:o}", "major", target->major, "minor", target->minor, "is_ptx",
                   is_ptx, "lines",
                   emit_byte_lines(sct_str_c(code), code->len + is_ptx)); /* with its NUL */
}

/* The kernels that an architecture has, as C++ names them. */
static int list_names(const char **names, int *kernels, emit_header *h, const emit_target *target) {
  int n = 0;
  for (int k = 0; k < h->n_kernels; k++) {
    const emit_kernel *kernel = &h->kernels[k];
    if (target->major >= 9 || emit_sm90_feature(kernel->source->source) == NULL) {
      const char *name = kernel->is_own
                             ? kernel->function
                             : sct_arena_printf(&h->arena, "%s_%s", h->sig.name, kernel->space);
      names[n] = sct_arena_printf(&h->arena, "%s_detail::%s::%s", h->sig.name, kernel->space, name);
      kernels[n++] = k;
    }
  }
  return n;
}

/* Compiles for one architecture; what kernels are called in the code goes to their places. */
static sct_status compile_one(sct_emit_code *code, json_t *entries, emit_header *h,
                              const emit_target *target, const char *source, sct_error *err) {
  const sct_emit_request *const request = &h->request;
  const char **names = SCT_ARENA_NEW(&h->arena, const char *, h->n_kernels + 1);
  int *kernels = SCT_ARENA_NEW(&h->arena, int, h->n_kernels + 1);
  const int n = list_names(names, kernels, h, target);
  const sct_status status =
      request->compile(request->context, code, source, target->name, names, n, err);
  const char *at = sct_str_c(&code->entries);
  for (int k = 0; k < n && status == SCT_OK; k++) {
    const size_t length = strcspn(at, "\n");
    json_array_set_new(entries, (size_t)kernels[k], json_stringn_nocheck(at, length));
    at += length + (at[length] == '\n');
  }
  return status;
}

/* Devices of the next major version have no machine code: they take PTX of this one. */
static bool has_gap_after(const target_list *targets, int k) {
  return k == targets->n - 1 || targets->items[k + 1].major > targets->items[k].major + 1;
}

sct_status emit_add_code(json_t *doc, emit_header *h, const char *source, sct_error *err) {
  target_list targets = {0};
  json_t *images = json_array(), *entries = json_array();
  sct_status status = list_targets(&targets, h, err);
  size_t n_ptx = 0;
  for (int k = 0; k < h->n_kernels; k++) {
    json_array_append_new(entries, json_string(""));
  }
  for (int k = 0; k < targets.n && status == SCT_OK; k++) {
    sct_emit_code code = {0};
    status = compile_one(&code, entries, h, &targets.items[k], source, err);
    if (status == SCT_OK) {
      json_array_append_new(images, image_data(&targets.items[k], false, &code.cubin));
      json_object_set_new(doc, "nvrtc", json_string(code.nvrtc));
    }
    if (status == SCT_OK && has_gap_after(&targets, k)) { /* PTX stands first, the oldest first */
      json_array_insert_new(images, n_ptx++, image_data(&targets.items[k], true, &code.ptx));
    }
    sct_str_free(&code.cubin);
    sct_str_free(&code.ptx);
    sct_str_free(&code.entries);
  }
  json_object_set_new(doc, "images", images);
  json_object_set_new(doc, "entries", entries);
  return status;
}
