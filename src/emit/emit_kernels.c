/* The kernels of a header as data: the comment above each, when it is right, how it is launched. */
#include "emit/emit_internal.h"

#include <string.h>

enum { SHARED_WITHOUT_OPTIN = 48 * 1024 }; /* bytes a block, CUDA programming guide */

/* The kernel needs more shared memory than a block has without asking for it. */
static bool wants_optin(const emit_launch *launch) {
  return launch->shared_bytes + launch->static_shared_bytes > SHARED_WITHOUT_OPTIN;
}

/* Takes over `value`, which the list gets unless it has it. */
static void add_once(json_t *list, json_t *value) {
  bool known = false;
  for (size_t k = 0; k < json_array_size(list); k++) {
    known = known || json_equal(json_array_get(list, k), value);
  }
  if (!known) {
    json_array_append(list, value);
  }
  json_decref(value);
}

/* ---- the comment above it ---- */

/* Describes the kernel unless its source does so itself, as the shipped templates do. */
static json_t *title(const emit_kernel *kernel, int index) {
  char start[25];
  snprintf(start, sizeof(start), "%s", kernel->launch.doc); /* short enough not to be wrapped */
  const bool said = start[0] == '\0' || strstr(kernel->source->source, start) != NULL;
  return emit_textf("%s%s.%s%s", kernel->source->label, index == 0 ? ", the naive variant" : "",
                    said ? "" : " ", said ? "" : kernel->launch.doc);
}

/* The sizes that it won. */
static json_t *wins(const emit_header *h, int index) {
  json_t *list = json_array();
  for (int d = 0; d < h->n_devices; d++) {
    for (int k = 0; k < h->devices[d].n_sizes; k++) {
      const emit_size *size = &h->devices[d].sizes[k];
      if (size->kernel == index) {
        json_array_append_new(
            list, emit_textf("%s at %s", h->devices[d].row->name, size->run->size_label));
      }
    }
  }
  return list;
}

const char *emit_sm90_feature(const emit_kernel *kernel) {
  const char *source = kernel->source->source;
  return strstr(source, "__cluster_dims__(") != NULL  ? "clusters of blocks"
         : strstr(source, "red.global.add.v") != NULL ? "atomic operations of vectors"
                                                      : NULL;
}

static json_t *needs(const emit_header *h, const emit_kernel *kernel) {
  const emit_launch *launch = &kernel->launch;
  json_t *list = json_array();
  for (int k = 0; k < h->sig.n_operands; k++) {
    if (launch->align[k] > 1) {
      json_array_append_new(list, emit_textf("%s aligned to %lld", h->sig.operands[k].name,
                                             (long long)launch->align[k]));
    }
  }
  for (int k = 0; k < launch->n_requires; k++) {
    json_array_append_new(list, emit_text(launch->requires[k]));
  }
  if (wants_optin(launch)) {
    json_array_append_new(
        list, emit_textf("%lld bytes of shared memory",
                         (long long)(launch->shared_bytes + launch->static_shared_bytes)));
  }
  if (emit_sm90_feature(kernel)) {
    json_array_append_new(list,
                          emit_textf("%s: compiled for sm_90 or later", emit_sm90_feature(kernel)));
  }
  if (launch->workspace_bytes > 0) {
    json_array_append_new(
        list, emit_textf("%lld bytes of workspace", (long long)launch->workspace_bytes));
  }
  return list;
}

/* The name that a line of a kernel of the user's own includes, "cuda_fp16.h"; NULL: none. */
static const char *included(const char *line, size_t *n) {
  line += strspn(line, " \t");
  if (*line != '#') {
    return NULL;
  }
  line += 1 + strspn(line + 1, " \t");
  line += sct_has_prefix(line, "include") ? strlen("include") : 0;
  line += strspn(line, " \t");
  *n = *line == '<' ? strcspn(line + 1, ">\n") : 0;
  return *n > 0 ? line + 1 : NULL;
}

/* The text as it was timed, without the last line's end. Headers that it includes stand outside of
 * its namespace, in `includes`. */
static json_t *source_text(const emit_kernel *kernel, json_t *includes) {
  const char *source = kernel->source->source;
  const size_t n = strlen(source);
  if (kernel->launch.n_params == 0) {
    return json_stringn_nocheck(source, n - (n > 0 && source[n - 1] == '\n'));
  }
  sct_str text = {0};
  for (const char *line = source; *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    size_t n_name = 0;
    const char *name = included(line, &n_name);
    if (name != NULL) {
      json_t *header = json_stringn_nocheck(name, n_name);
      add_once(includes, header);
    } else {
      sct_str_append(&text, text.len > 0 ? "\n" : "");
      sct_str_append_n(&text, line, length);
    }
    line += length + (line[length] == '\n');
  }
  return emit_text_str(&text);
}

/* ---- what it takes, and its launch ---- */

static json_t *alignments(const emit_header *h, const emit_launch *launch) {
  json_t *list = json_array();
  for (int k = 0; k < h->sig.n_operands; k++) {
    json_array_append_new(list, json_pack("{s:o, s:I}", "name", emit_text(h->sig.operands[k].name),
                                          "bytes", (json_int_t)launch->align[k]));
  }
  return list;
}

/* Argument `k` of the launch function, of which kernels get the address. */
static json_t *argument(const emit_signature *sig, int k) {
  SCT_SCOPED(sct_str) own = {0};
  const bool extent = k >= sig->n_operands + sig->n_scalars;
  if (k < emit_n_arguments(sig)) {
    return emit_textf("c.%s%s", extent ? "n_" : "", emit_argument(sig, k));
  }
  emit_unused_name(&own, sig, "workspace");
  return emit_textf("c.%s", sct_str_c(&own));
}

/* What kernels get, in their order; of one of the user's own also the values that are worked out,
 * as declarations: "int p2 = (int)(2 * n_row)". */
static void add_arguments(json_t *out, const emit_signature *sig, const emit_launch *launch) {
  json_t *list = json_array(), *values = json_array();
  for (int k = 0; k < launch->n_params; k++) {
    const emit_param *param = &launch->params[k];
    if (param->argument >= 0) {
      json_array_append_new(list, argument(sig, param->argument));
    } else {
      json_t *value = emit_host_text(sig, param->value);
      const bool simple = sct_is_identifier(param->value);
      json_array_append_new(values,
                            emit_textf(simple ? "%s p%d = (%s)%s" : "%s p%d = (%s)(%s)",
                                       param->cuda, k, param->cuda, json_string_value(value)));
      json_array_append_new(list, emit_textf("p%d", k));
      json_decref(value);
    }
  }
  for (int k = 0; k < launch->n_args; k++) {
    json_array_append_new(list, argument(sig, launch->args[k]));
  }
  json_object_set_new(out, "arguments", list);
  json_object_set_new(out, "values", values);
}

/* Grid and block, three numbers each, and the extents that they and the arguments mention. */
static void add_configuration(json_t *out, const emit_header *h, int index) {
  const emit_launch *launch = &h->kernels[index].launch;
  json_t *grid = json_array(), *block = json_array();
  SCT_SCOPED(sct_str) all = {0};
  for (int d = 0; d < 3; d++) {
    const bool own = launch->n_params > 0;
    json_t *side = own ? emit_host_text(&h->sig, launch->grid_dims[d]) : NULL;
    json_array_append_new(
        grid, own      ? emit_textf("(unsigned)(%s)", json_string_value(side))
              : d == 0 ? emit_textf("(unsigned)%s_detail_k%d_blocks(&c)", h->sig.name, index)
                       : emit_text("1"));
    json_array_append_new(block, json_integer(own      ? launch->block[d]
                                              : d == 0 ? launch->threads
                                                       : 1));
    sct_str_printf(&all, "%s ", own ? launch->grid_dims[d] : "");
    json_decref(side);
  }
  for (int k = 0; k < launch->n_params; k++) {
    sct_str_printf(&all, "%s ", launch->params[k].value != NULL ? launch->params[k].value : "");
  }
  json_object_set_new(out, "grid_sides", grid);
  json_object_set_new(out, "block_sides", block);
  json_object_set_new(out, "launch_over", emit_mentioned(&h->sig, sct_str_c(&all)));
}

static json_t *host_texts(const emit_signature *sig, const char *const *texts, int n) {
  json_t *list = json_array();
  for (int k = 0; k < n; k++) {
    json_array_append_new(list, emit_host_text(sig, texts[k]));
  }
  return list;
}

/* The extents that some condition mentions. */
static json_t *required_extents(const emit_signature *sig, const emit_launch *launch) {
  SCT_SCOPED(sct_str) all = {0};
  for (int k = 0; k < launch->n_requires; k++) {
    sct_str_printf(&all, "%s ", launch->requires[k]);
  }
  return emit_mentioned(sig, sct_str_c(&all));
}

json_t *emit_entry(const emit_header *h, int index) {
  const emit_kernel *kernel = &h->kernels[index];
  return kernel->launch.n_params > 0
             ? emit_textf("%s_detail::%s::%s", h->sig.name, kernel->space, kernel->launch.kernel)
             : emit_textf("%s_%s", h->sig.name, kernel->space);
}

static json_t *kernel_data(const emit_header *h, int index, json_t *includes) {
  const emit_kernel *kernel = &h->kernels[index];
  const emit_launch *launch = &kernel->launch;
  const int64_t bytes = launch->shared_bytes + launch->static_shared_bytes;
  json_t *out =
      json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "index", index, "space",
                emit_text(kernel->space), "label", emit_text(kernel->source->label), "title",
                title(kernel, index), "wins", wins(h, index), "needs", needs(h, kernel),
                "source_hash", emit_text(kernel->source->source_hash), "source",
                source_text(kernel, includes), "function", emit_text(launch->kernel));
  json_t *rest = json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:I}", "grid",
      emit_host_text(&h->sig, launch->grid), "grid_over", emit_mentioned(&h->sig, launch->grid),
      "requires", host_texts(&h->sig, launch->requires, launch->n_requires), "requires_over",
      required_extents(&h->sig, launch), "aligned", alignments(h, launch), "threads",
      (json_int_t)launch->threads, "shared_bytes", (json_int_t)launch->shared_bytes, "wants_optin",
      wants_optin(launch), "optin_bytes", (json_int_t)(wants_optin(launch) ? bytes : 0));
  const bool is_own = launch->n_params > 0;
  json_object_set_new(out, "recent", json_boolean(emit_sm90_feature(kernel) != NULL));
  json_object_set_new(out, "is_own", json_boolean(is_own));
  json_object_set_new(out, "name",
                      is_own ? emit_text(launch->kernel)
                             : emit_textf("%s_%s", h->sig.name, kernel->space));
  json_object_set_new(out, "entry", emit_entry(h, index));
  json_object_update(out, rest);
  json_decref(rest);
  add_arguments(out, &h->sig, launch);
  add_configuration(out, h, index);
  return out;
}

void emit_add_kernels(json_t *out, const emit_header *h) {
  json_t *kernels = json_array(), *includes = json_array();
  bool optin = false, is_recent = false;
  for (int k = 0; k < h->n_kernels; k++) {
    json_array_append_new(kernels, kernel_data(h, k, includes));
    optin = optin || wants_optin(&h->kernels[k].launch);
    is_recent = is_recent || emit_sm90_feature(&h->kernels[k]) != NULL;
  }
  json_object_set_new(out, "kernels", kernels);
  json_object_set_new(out, "includes", includes);
  json_object_set_new(out, "wants_shared", json_integer(optin));
  json_object_set_new(out, "wants_recent", json_boolean(is_recent));
}
