/* The code of a header: the kernels as they were timed, the choice among them, the launch function.
 *
 * All but the public names stands in an unnamed namespace inside NAME_detail, so that several files
 * of a program may include the header. A call travels as one struct: the user's names are only ever
 * its members or the parameters of one-line functions, so they cannot meet a name of ours. */
#include "emit/emit_internal.h"

#include <string.h>

enum {
  SHARED_WITHOUT_OPTIN = 48 * 1024, /* bytes a block, CUDA programming guide */
  WORKSPACE_ALIGN = 16              /* the widest partial result takes 8 */
};

static const char *arg_cuda(const emit_signature *sig, int k) {
  return sig->scalars[k - sig->n_operands].cuda;
}

static bool is_scalar(const emit_signature *sig, int k) {
  return k >= sig->n_operands && k < sig->n_operands + sig->n_scalars;
}

static bool is_extent(const emit_signature *sig, int k) {
  return k >= sig->n_operands + sig->n_scalars;
}

/* "a", "k", "n_i" */
static void arg_name(sct_str *s, const emit_signature *sig, int k) {
  sct_str_printf(s, "%s%s", is_extent(sig, k) ? "n_" : "", emit_argument(sig, k));
}

bool emit_wants_optin(const emit_launch *launch) {
  return launch->shared_bytes + launch->static_shared_bytes > SHARED_WITHOUT_OPTIN;
}

static const char *plain_text(const char *text) {
  return text != NULL ? text : "";
}

/* ---- kernels ---- */

/* Which sizes a kernel won, for the comment above it. */
static void kernel_wins(sct_str *s, const emit_header *h, int index) {
  for (int d = 0; d < h->n_devices; d++) {
    for (int k = 0; k < h->devices[d].n_sizes; k++) {
      const emit_size *size = &h->devices[d].sizes[k];
      if (size->kernel == index) {
        sct_str_append(s, "//   for ");
        emit_comment(s, h->devices[d].row->name);
        sct_str_append(s, " at ");
        emit_comment(s, size->run->size_label);
        sct_str_append(s, "\n");
      }
    }
  }
}

/* The conditions of a kernel, for the comment above it. */
static void kernel_needs(sct_str *s, const emit_header *h, const emit_launch *launch) {
  const char *between = "//   needs ";
  for (int k = 0; k < h->sig.n_operands; k++) {
    if (launch->align[k] > 1) {
      sct_str_printf(s, "%s%s aligned to %lld", between, h->sig.operands[k].name,
                     (long long)launch->align[k]);
      between = ", ";
    }
  }
  for (int k = 0; k < launch->n_requires; k++) {
    sct_str_printf(s, "%s%s", between, launch->requires[k]);
    between = ", ";
  }
  if (emit_wants_optin(launch)) {
    sct_str_printf(s, "%s%lld bytes of shared memory", between,
                   (long long)(launch->shared_bytes + launch->static_shared_bytes));
    between = ", ";
  }
  if (launch->workspace_bytes > 0) {
    sct_str_printf(s, "%s%lld bytes of workspace", between, (long long)launch->workspace_bytes);
    between = ", ";
  }
  sct_str_append(s, between[0] == ',' ? "\n" : "");
}

/* What the kernel does, unless its source says so itself (the shipped templates do). */
static void kernel_doc(sct_str *s, const emit_kernel *kernel) {
  char start[25];
  snprintf(start, sizeof(start), "%s", kernel->launch.doc); /* short enough not to be wrapped */
  if (start[0] != '\0' && strstr(plain_text(kernel->source->source), start) == NULL) {
    sct_str_append(s, " ");
    emit_comment(s, kernel->launch.doc);
  }
}

static void kernel_text(sct_str *s, const emit_header *h, int index) {
  const emit_kernel *kernel = &h->kernels[index];
  const char *source = plain_text(kernel->source->source);
  sct_str_append(s, "// ");
  emit_comment(s, kernel->source->label);
  sct_str_append(s, index == 0 ? ", the naive variant." : ".");
  kernel_doc(s, kernel);
  sct_str_append(s, "\n");
  kernel_wins(s, h, index);
  kernel_needs(s, h, &kernel->launch);
  sct_str_append(s, "//   source ");
  emit_comment(s, kernel->source->source_hash);
  sct_str_printf(s, "\nnamespace %s {\n", kernel->space);
  sct_str_append(s, source);
  sct_str_append(s, sct_has_suffix(source, "\n") ? "" : "\n");
  sct_str_printf(s, "}  // namespace %s\n\n", kernel->space);
}

/* ---- what the rest is built from ---- */

static void helpers(sct_str *s, const emit_header *h) {
  bool any_input = false;
  bool any_bits = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    any_input = any_input || !h->sig.operands[k].is_output;
  }
  for (int k = 0; k < h->sig.n_scalars; k++) {
    any_bits = any_bits || emit_type_find(h->sig.scalars[k].type)->bits;
  }
  sct_str_append(
      s,
      "// A pointer as the type that a kernel declares: each brings its own copy of the types.\n");
  if (any_input) {
    sct_str_append(s, "struct input {\n  const void *address;\n"
                      "  template <typename T> operator const T *() const {\n"
                      "    return static_cast<const T *>(address);\n  }\n};\n");
  }
  sct_str_append(s, "struct output {\n  void *address;\n"
                    "  template <typename T> operator T *() const {\n"
                    "    return static_cast<T *>(address);\n  }\n};\n\n");
  if (any_bits) {
    sct_str_append(s, "// A 16-bit float, given by its bits, as the type that a kernel declares.\n"
                      "template <typename T> T half_of(unsigned short bits) {\n"
                      "  T result;\n  result.bits = bits;\n  return result;\n}\n\n");
  }
  sct_str_append(s, "inline bool aligned(const void *p, unsigned long long bytes) {\n"
                    "  return reinterpret_cast<unsigned long long>(p) % bytes == 0;\n}\n\n"
                    "constexpr long long kMaxBlocks = 0x7fffffff;  // of a grid, in x\n\n");
}

/* The arguments of a call, without the stream. */
static void call_struct(sct_str *s, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  sct_str_append(s, "// The arguments of one call.\nstruct call {\n");
  for (int k = 0; k < emit_n_arguments(sig); k++) {
    sct_str_append(s, "  ");
    if (is_extent(sig, k)) {
      sct_str_append(s, "long long ");
    } else if (is_scalar(sig, k)) {
      sct_str_printf(s, "%s ", arg_cuda(sig, k));
    } else {
      sct_str_append(s, sig->operands[k].is_output ? "void *" : "const void *");
    }
    arg_name(s, sig, k);
    sct_str_append(s, ";\n");
  }
  if (emit_takes_workspace(h)) {
    sct_str_append(s, "  void *");
    emit_own_name(s, sig, "workspace");
    sct_str_append(s, ";\n");
  }
  sct_str_append(s, "};\n\n");
}

void emit_extent_list(sct_str *s, const emit_signature *sig, const char *used, const char *before) {
  bool first = true;
  for (int k = 0; k < sig->n_extents; k++) {
    char name[256];
    snprintf(name, sizeof(name), "n_%s", sig->extents[k].name);
    if (used != NULL ? emit_mentions(used, name) : sig->extents[k].is_dim) {
      sct_str_printf(s, "%s%s%s", first ? "" : ", ", before, name);
      first = false;
    }
  }
}

static void elements_function(sct_str *s, const emit_signature *sig) {
  sct_str_append(s, "// Elements of the index space; a double, because a product may be any size.\n"
                    "inline double elements(");
  emit_extent_list(s, sig, NULL, "long long ");
  sct_str_append(s, ") {\n  return ");
  bool first = true;
  for (int k = 0; k < sig->n_extents; k++) {
    if (sig->extents[k].is_dim) {
      sct_str_printf(s, "%sdouble(n_%s)", first ? "" : " * ", sig->extents[k].name);
      first = false;
    }
  }
  sct_str_append(s, ";\n}\n\n");
}

/* ---- launching ---- */

typedef enum extent_set { ALL_EXTENTS, DIMENSIONS, KEPT_DIMENSIONS } extent_set;

static bool in_set(const emit_extent *extent, extent_set set) {
  return set == ALL_EXTENTS || (extent->is_dim && (set == DIMENSIONS || !extent->reduced));
}

/* "c.n_row < 0 || c.n_col < 0"; false if the set is empty. */
static bool any_of(sct_str *s, const emit_signature *sig, const char *format, extent_set set,
                   const char *before) {
  bool any = false;
  for (int k = 0; k < sig->n_extents; k++) {
    if (in_set(&sig->extents[k], set)) {
      sct_str_printf(s, "%sc.n_%s%s", any ? " || " : before, sig->extents[k].name, format);
      any = true;
    }
  }
  return any;
}

bool emit_takes_workspace(const emit_header *h) {
  bool any = emit_workspace_bytes(h) > 0;
  for (int k = 0; k < h->sig.n_operands; k++) {
    any = any || h->sig.operands[k].reduce[0] != '\0';
  }
  return any;
}

int64_t emit_workspace_bytes(const emit_header *h) {
  int64_t most = 0;
  for (int k = 0; k < h->n_kernels; k++) {
    const int64_t bytes = h->kernels[k].launch.workspace_bytes;
    most = bytes > most ? bytes : most;
  }
  return most;
}

static bool reduces(const emit_signature *sig) {
  bool any = false;
  for (int k = 0; k < sig->n_extents; k++) {
    any = any || sig->extents[k].reduced;
  }
  return any;
}

/* The end of "  if (<condition>) return refuse(answer, <error>, <reason>);" */
static void refusal(sct_str *s, const char *error, const char *reason) {
  sct_str_printf(s, ")\n    return refuse(answer, cuda%s, ", error);
  emit_string(s, reason);
  sct_str_append(s, ");\n");
}

/* A pointer is null or below the alignment of its type, which is that of the naive variant. */
static void pointer_checks(sct_str *s, const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const int64_t align = h->kernels[0].launch.align[operand];
  sct_str reason = {0};
  sct_str_printf(&reason, "invalid value: %s is null", op->name);
  sct_str_printf(s, "  if (c.%s == nullptr", op->name);
  sct_str_append(s, reduces(&h->sig) && !op->is_output ? " && !empty" : "");
  refusal(s, "ErrorInvalidValue", sct_str_c(&reason));
  if (align > 1) {
    sct_str_clear(&reason);
    sct_str_printf(&reason, "invalid value: %s is not aligned to %lld bytes", op->name,
                   (long long)align);
    sct_str_printf(s, "  if (!aligned(c.%s, %lld)", op->name, (long long)align);
    refusal(s, "ErrorInvalidValue", sct_str_c(&reason));
  }
  sct_str_free(&reason);
}

static void workspace_check(sct_str *s, const emit_header *h) {
  if (emit_workspace_bytes(h) == 0) {
    return;
  }
  sct_str name = {0};
  sct_str reason = {0};
  emit_own_name(&name, &h->sig, "workspace");
  sct_str_printf(&reason, "invalid value: %s is null or not aligned to %d bytes", sct_str_c(&name),
                 WORKSPACE_ALIGN);
  sct_str_printf(s, "  if (c.%s == nullptr || !aligned(c.%s, %d)", sct_str_c(&name),
                 sct_str_c(&name), WORKSPACE_ALIGN);
  refusal(s, "ErrorInvalidValue", sct_str_c(&reason));
  sct_str_free(&name);
  sct_str_free(&reason);
}

static void check_function(sct_str *s, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  sct_str_append(s,
                 "inline const char *refuse(cudaError_t *answer, cudaError_t error, const char "
                 "*reason) {\n  *answer = error;\n  return reason;\n}\n\n"
                 "// Why there is nothing to launch, and what the call then returns; null: there "
                 "is.\n"
                 "inline const char *no_work(const call &c, cudaError_t *answer) {\n"
                 "  constexpr long long kMost = 1LL << 48;  // elements: no product overflows\n");
  any_of(s, sig, " < 0", ALL_EXTENTS, "  if (");
  refusal(s, "ErrorInvalidValue", "invalid value: an extent is negative");
  if (any_of(s, sig, " == 0", KEPT_DIMENSIONS, "  if (")) {
    refusal(s, "Success", "nothing to launch: the index space is empty");
  }
  any_of(s, sig, " > kMost", ALL_EXTENTS, "  if (");
  sct_str_append(s, " || elements(");
  emit_extent_list(s, sig, NULL, "c.");
  sct_str_append(s, ") > double(kMost)");
  refusal(s, "ErrorInvalidConfiguration", "invalid configuration: more than 2^48 elements");
  if (reduces(sig)) {
    sct_str_append(s, "  const bool empty = elements(");
    emit_extent_list(s, sig, NULL, "c.");
    sct_str_append(s, ") == 0;  // then inputs may be null\n");
  }
  for (int k = 0; k < sig->n_operands; k++) {
    pointer_checks(s, h, k);
  }
  workspace_check(s, h);
  sct_str_append(s, "  return nullptr;\n}\n\n");
}

/* `space`: the kernel's, which brings its own types. */
static void kernel_argument(sct_str *s, const emit_signature *sig, int k, const char *space) {
  if (k == emit_n_arguments(sig)) {
    sct_str_append(s, "output{c.");
    emit_own_name(s, sig, "workspace");
    sct_str_append(s, "}");
  } else if (is_extent(sig, k)) {
    sct_str_printf(s, "c.n_%s", emit_argument(sig, k));
  } else if (is_scalar(sig, k)) {
    const emit_type *type = emit_type_find(sig->scalars[k - sig->n_operands].type);
    if (type->bits) {
      sct_str_printf(s, "half_of<%s::%s>(c.%s)", space, type->name, emit_argument(sig, k));
    } else {
      sct_str_printf(s, "c.%s", emit_argument(sig, k));
    }
  } else {
    sct_str_printf(s, "%s{c.%s}", sig->operands[k].is_output ? "output" : "input",
                   emit_argument(sig, k));
  }
}

static void launch_case(sct_str *s, const emit_header *h, int index) {
  const emit_kernel *kernel = &h->kernels[index];
  const emit_launch *launch = &kernel->launch;
  const bool grow = emit_wants_optin(launch);
  sct_str_printf(s, "  case %d:\n", index);
  if (grow) {
    sct_str_printf(s,
                   "    error = cudaFuncSetAttribute(%s::%s,\n"
                   "                                 cudaFuncAttributeMaxDynamicSharedMemorySize, "
                   "%lld);\n    if (error != cudaSuccess) return error;\n",
                   kernel->space, launch->kernel, (long long)launch->shared_bytes);
  }
  sct_str_printf(s, "    %s::%s<<<unsigned(k%d_blocks(", kernel->space, launch->kernel, index);
  emit_extent_list(s, &h->sig, launch->grid, "c.");
  sct_str_printf(s, ")), %lld, %lld, stream>>>(\n        ", (long long)launch->threads,
                 (long long)launch->shared_bytes);
  for (int k = 0; k < launch->n_args; k++) {
    sct_str_append(s, k > 0 ? ", " : "");
    kernel_argument(s, &h->sig, launch->args[k], kernel->space);
  }
  sct_str_append(s, ");\n    break;\n");
}

static void launch_function(sct_str *s, const emit_header *h) {
  sct_str_append(s, "inline cudaError_t launch(const call &c, cudaStream_t stream) {\n"
                    "  cudaError_t error = cudaSuccess;\n"
                    "  if (no_work(c, &error) != nullptr) return error;\n"
                    "  choice chosen = {};\n  error = choose(c, &chosen);\n"
                    "  if (error != cudaSuccess) return error;\n  switch (chosen.kernel) {\n");
  for (int k = 0; k < h->n_kernels; k++) {
    launch_case(s, h, k);
  }
  sct_str_append(s, "  }\n  return cudaGetLastError();\n}\n\n");
}

/* Some type that the host part names is one of CUDA's structs. */
static bool names_vector(const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    const emit_record *record = &h->sig.operands[k].record;
    for (int f = 0; f < record->n_fields && (emit_has_struct(h, k) || emit_packs(h, k)); f++) {
      any = any || emit_type_find(record->fields[f].type)->vector;
    }
  }
  return any;
}

/* A header with functions for the host is of use to a compiler that knows no CUDA. */
static void includes(sct_str *s, const emit_header *h) {
  if (!emit_packs_any(h)) {
    sct_str_append(s, "#include <cuda_runtime.h>\n#include <string.h>\n\n#include <atomic>\n\n");
    return;
  }
  sct_str_append(s, "#ifdef __CUDACC__\n#include <cuda_runtime.h>\n\n#include <atomic>\n#endif\n"
                    "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n");
  sct_str_append(s, names_vector(h) ? "#include <vector_types.h>  // of the CUDA toolkit\n" : "");
  sct_str_append(s, "\n");
}

sct_status emit_code(sct_str *s, const emit_header *h, sct_error *err) {
  const char *name = h->sig.name;
  const bool packs = emit_packs_any(h);
  sct_str_printf(s, "#pragma once\n#ifndef SECTILE_HEADER_%s\n#define SECTILE_HEADER_%s\n", name,
                 name);
  includes(s, h);
  SCT_TRY(emit_records(s, h, err));
  emit_packing(s, h);
  sct_str_append(s, packs ? "#ifdef __CUDACC__  // kernels and launching\n\n" : "");
  emit_choice_type(s, h);
  sct_str_printf(s,
                 "namespace %s_detail {\n"
                 "namespace {  // every file that includes this header has its own kernels\n\n",
                 name);
  sct_str_append(s, "#ifdef __NVCC__  // a variant may leave a variable of the computation unused\n"
                    "#pragma nv_diagnostic push\n"
                    "#pragma nv_diag_suppress 177, 550\n#endif\n\n");
  for (int k = 0; k < h->n_kernels; k++) {
    kernel_text(s, h, k);
  }
  sct_str_append(s, "#ifdef __NVCC__\n#pragma nv_diagnostic pop\n#endif\n\n");
  helpers(s, h);
  call_struct(s, h);
  elements_function(s, &h->sig);
  emit_dispatch(s, h);
  check_function(s, h);
  launch_function(s, h);
  emit_describe_function(s, h);
  sct_str_printf(s, "}  // namespace\n}  // namespace %s_detail\n\n", name);
  emit_public(s, h);
  sct_str_append(s, packs ? "#endif  // __CUDACC__\n" : "");
  sct_str_printf(s, "#endif  // SECTILE_HEADER_%s\n", name);
  return SCT_OK;
}
