/* The public part of a header: provenance as data, the launch function, the question which kernel a
 * call would take. */
#include "emit/emit_internal.h"

#include <string.h>

/* ---- provenance ---- */

static void tuning_row(sct_str *s, const emit_device *device, const emit_size *size) {
  const sct_row_device *d = device->row;
  const sct_row_run *run = size->run;
  const sct_row_outcome *o = &size->winner->outcome;
  const double naive_ns = size->naive != NULL ? size->naive->outcome.median_ns : 0;
  const double bytes = run->read_bytes + run->write_bytes;
  const bool timed = !d->is_virtual && o->median_ns > 0;
  const char *const texts[] = {d->name,
                               d->arch,
                               d->is_virtual ? "counted and predicted, not timed" : "timed",
                               d->driver,
                               d->nvrtc,
                               d->tool,
                               run->size_label,
                               size->winner->candidate.label,
                               size->winner->candidate.source_hash};
  const double numbers[] = {
      timed ? o->median_ns / 1e3 : 0, timed ? bytes / o->median_ns : 0,
      timed && run->ceiling_bytes_s > 0 ? bytes / o->median_ns * 1e9 / run->ceiling_bytes_s : 0,
      timed ? naive_ns / 1e3 : 0};
  sct_str_append(s, "    {");
  for (int k = 0; k < SCT_COUNT(texts); k++) {
    emit_string(s, texts[k]);
    sct_str_append(s, k % 3 == 2 ? ",\n     " : ", ");
  }
  for (int k = 0; k < SCT_COUNT(numbers); k++) {
    emit_number(s, numbers[k]);
    sct_str_append(s, ", ");
  }
  sct_str_printf(s, "%d, %d, %d, %d},\n", run->n_candidates, run->n_verified, run->n_tied,
                 run->n_failed);
}

static void provenance(sct_str *s, const emit_header *h) {
  const char *name = h->sig.name;
  sct_str_printf(s,
                 "// Where the kernels and figures come from, for a program to print.\n"
                 "typedef struct %s_tuning {\n"
                 "  const char *device, *arch, *figures, *driver, *nvrtc, *tool, *size, *variant, "
                 "*source_hash;\n"
                 "  double median_us, gb_per_s, of_copy, naive_us;  // 0: not timed\n"
                 "  int candidates, verified, tied, failed;\n} %s_tuning;\n"
                 "static const %s_tuning %s_tunings[] = {\n",
                 name, name, name, name);
  int n = 0;
  for (int d = 0; d < h->n_devices; d++) {
    for (int k = 0; k < h->devices[d].n_sizes; k++) {
      tuning_row(s, &h->devices[d], &h->devices[d].sizes[k]);
      n++;
    }
  }
  sct_str_printf(s,
                 "};\nstatic const struct {\n  const char *kernel, *spec_hash, *written_by;\n"
                 "  int n_tunings;\n  const %s_tuning *tunings;\n} %s_provenance = {",
                 name, name);
  emit_string(s, name);
  sct_str_append(s, ", ");
  emit_string(s, h->problem->spec_hash);
  sct_str_printf(s, ", \"sectile %s\", %d,\n    %s_tunings};\n\n", SCT_VERSION, n, name);
}

/* ---- functions ---- */

static void workspace_parameter(sct_str *s, const emit_header *h, const char *type) {
  if (emit_takes_workspace(h)) {
    sct_str_printf(s, ", %s", type);
    emit_own_name(s, &h->sig, "workspace");
  }
}

/* "const vec3 *a, vec3 *b, double k, long long n_i" */
static void parameters(sct_str *s, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  for (int k = 0; k < sig->n_operands; k++) {
    const emit_operand *op = &sig->operands[k];
    const emit_type *bare =
        op->record.name == NULL ? emit_type_find(op->record.fields[0].type) : NULL;
    sct_str_printf(s, "%s%s", k > 0 ? ", " : "", op->is_output ? "" : "const ");
    if (emit_takes_struct(h, k)) {
      emit_record_type(s, h, &op->record);
    } else {
      sct_str_append(s, bare != NULL && !bare->bits ? bare->cuda : "void");
    }
    sct_str_printf(s, " *%s", op->name);
  }
  for (int k = 0; k < sig->n_scalars; k++) {
    sct_str_printf(s, ", %s %s", sig->scalars[k].cuda, sig->scalars[k].name);
  }
  for (int k = 0; k < sig->n_extents; k++) {
    sct_str_printf(s, ", long long n_%s", sig->extents[k].name);
  }
  workspace_parameter(s, h, "void *");
}

static void arguments(sct_str *s, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  for (int k = 0; k < emit_n_arguments(sig); k++) {
    const bool extent = k >= sig->n_operands + sig->n_scalars;
    sct_str_printf(s, "%s%s%s", k > 0 ? ", " : "", extent ? "n_" : "", emit_argument(sig, k));
  }
  workspace_parameter(s, h, "");
}

void emit_own_name(sct_str *s, const emit_signature *sig, const char *wish) {
  const size_t start = s->len;
  bool taken = true;
  for (sct_str_append(s, wish); taken;) {
    taken = false;
    for (int k = 0; k < sig->n_operands + sig->n_scalars; k++) {
      taken = taken || strcmp(emit_argument(sig, k), s->data + start) == 0;
    }
    sct_str_append(s, taken ? "_x" : "");
  }
}

static void stream_name(sct_str *s, const emit_signature *sig) {
  emit_own_name(s, sig, "stream");
}

/* The type that NAME_variant() returns; the code of the choice needs it before. */
void emit_choice_type(sct_str *s, const emit_header *h) {
  const char *name = h->sig.name;
  sct_str_printf(s,
                 "// Which kernel a call takes, and why.\n"
                 "typedef struct %s_choice {\n"
                 "  const char *variant;  // null: nothing is launched\n"
                 "  const char *device;   // whose tuning decided, null: nobody's\n"
                 "  const char *match;    // how that device matches the current one\n"
                 "  const char *size;     // the tuned size whose kernel it is, null: none\n"
                 "  const char *reason;   // where the call lies among the tuned sizes; why naive, "
                 "why nothing\n} %s_choice;\n\n",
                 name, name);
}

void emit_describe_function(sct_str *s, const emit_header *h) {
  sct_str_printf(s,
                 "inline %s_choice describe(const call &c) {\n"
                 "  static const char *const variants[] = {",
                 h->sig.name);
  for (int k = 0; k < h->n_kernels; k++) {
    sct_str_append(s, k > 0 ? ", " : "");
    emit_string(s, h->kernels[k].source->label);
  }
  sct_str_append(
      s, "};\n  static const char *const matches[] = {\"none\", \"same major version\",\n"
         "                                       \"same compute capability, other model\",\n"
         "                                       \"same device model\"};\n"
         "  cudaError_t error = cudaSuccess;\n  const char *const why = no_work(c, &error);\n"
         "  if (why != nullptr) return {nullptr, nullptr, matches[0], nullptr, why};\n"
         "  choice chosen = {};\n"
         "  if (choose(c, &chosen) != cudaSuccess) {\n"
         "    return {nullptr, nullptr, matches[0], nullptr, chosen.reason};\n  }\n"
         "  return {variants[chosen.kernel], chosen.device ? chosen.device->name : nullptr,\n"
         "          matches[chosen.match], chosen.size ? chosen.size->size : nullptr,\n"
         "          chosen.reason};\n}\n\n");
}

static void launch_comment(sct_str *s, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  sct_str_append(s, "// Launches on `");
  stream_name(s, sig);
  sct_str_append(
      s, "`; never synchronises, allocates nothing. An empty index space launches nothing.\n"
         "// Arrays must not overlap. A negative extent, a null pointer or a pointer below its "
         "type's alignment\n// is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks "
         "cudaErrorInvalidConfiguration; other errors\n// are those of the launch.\n");
  if (emit_takes_workspace(h)) {
    sct_str_append(s, "// `");
    emit_own_name(s, sig, "workspace");
    sct_str_printf(s,
                   "` has %s_workspace_bytes() bytes, set to 0 once before its first use; launches "
                   "leave\n// it ready for the next. Calls that may overlap need one each.\n",
                   sig->name);
  }
  for (int k = 0; k < sig->n_scalars; k++) {
    if (emit_type_find(sig->scalars[k].type)->bits) {
      sct_str_printf(s, "// `%s` is given as the bits of a value of type %s.\n",
                     sig->scalars[k].name, sig->scalars[k].type);
    }
  }
}

void emit_public(sct_str *s, const emit_header *h) {
  const char *name = h->sig.name;
  provenance(s, h);
  if (emit_takes_workspace(h)) {
    sct_str_printf(s,
                   "// What the workspace of a call has, whatever its extents; 0: it may be null.\n"
                   "extern \"C\" inline size_t %s_workspace_bytes(void) {\n  return %lld;\n}\n\n",
                   name, (long long)emit_workspace_bytes(h));
  }
  launch_comment(s, h);
  sct_str_printf(s, "extern \"C\" inline cudaError_t %s(", name);
  parameters(s, h);
  sct_str_append(s, ", cudaStream_t ");
  stream_name(s, &h->sig);
  sct_str_printf(s, ") {\n  return %s_detail::launch({", name);
  arguments(s, h);
  sct_str_append(s, "}, ");
  stream_name(s, &h->sig);
  sct_str_printf(s,
                 ");\n}\n\n"
                 "// What %s would do with these arguments on the current device.\n"
                 "extern \"C\" inline %s_choice %s_variant(",
                 name, name, name);
  parameters(s, h);
  sct_str_printf(s, ") {\n  return %s_detail::describe({", name);
  arguments(s, h);
  sct_str_append(s, "});\n}\n\n");
}
