/* The code of a header: the kernels as they were timed, the choice among them, the launch function.
 *
 * All but the public names stands in an unnamed namespace inside NAME_detail, so that several files
 * of a program may include the header. A call travels as one struct: the user's names are only ever
 * its members or the parameters of one-line functions, so they cannot meet a name of ours. */
#include "emit/emit_internal.h"

#include <string.h>

enum { SHARED_WITHOUT_OPTIN = 48 * 1024 }; /* bytes a block, CUDA programming guide */

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

static bool wants_optin(const emit_launch *launch) {
  return launch->shared_bytes + launch->static_shared_bytes > SHARED_WITHOUT_OPTIN;
}

static bool any_wants_optin(const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->n_kernels; k++) {
    any = any || wants_optin(&h->kernels[k].launch);
  }
  return any;
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
  if (wants_optin(launch)) {
    sct_str_printf(s, "%s%lld bytes of shared memory", between,
                   (long long)(launch->shared_bytes + launch->static_shared_bytes));
    between = ", ";
  }
  if (launch->exclusive) {
    sct_str_printf(s, "%sthat none of its launches overlaps another", between);
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
                      "struct bits {\n  unsigned short value;\n"
                      "  template <typename T> operator T() const {\n"
                      "    static_assert(sizeof(T) == 2, \"a 16-bit type\");\n"
                      "    T result;\n    memcpy(&result, &value, 2);\n    return result;\n"
                      "  }\n};\n\n");
  }
  sct_str_append(s, "inline bool aligned(const void *p, unsigned long long bytes) {\n"
                    "  return reinterpret_cast<unsigned long long>(p) % bytes == 0;\n}\n\n"
                    "constexpr long long kMaxBlocks = 0x7fffffff;  // of a grid, in x\n\n");
}

/* The arguments of a call, without the stream. */
static void call_struct(sct_str *s, const emit_signature *sig) {
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
  sct_str_append(s, "};\n\n");
}

/* "n_row, n_col" of those extents that `used` mentions (NULL: the dimensions); each with `before`
 * in front of it. */
static void extent_list(sct_str *s, const emit_signature *sig, const char *used,
                        const char *before) {
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
  extent_list(s, sig, NULL, "long long ");
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

/* ---- when a kernel is right ---- */

static void blocks_function(sct_str *s, const emit_signature *sig, const emit_launch *launch,
                            int index) {
  sct_str_printf(s, "inline long long k%d_blocks(", index);
  extent_list(s, sig, launch->grid, "long long ");
  sct_str_printf(s, ") {\n  return %s;\n}\n", launch->grid);
}

static void requires_functions(sct_str *s, const emit_signature *sig, const emit_launch *launch,
                               int index) {
  for (int k = 0; k < launch->n_requires; k++) {
    sct_str_printf(s, "inline bool k%d_requires_%d(", index, k);
    extent_list(s, sig, launch->requires[k], "long long ");
    sct_str_printf(s, ") {\n  return %s;\n}\n", launch->requires[k]);
  }
}

static void takes_function(sct_str *s, const emit_header *h, int index) {
  const emit_signature *sig = &h->sig;
  const emit_launch *launch = &h->kernels[index].launch;
  blocks_function(s, sig, launch, index);
  requires_functions(s, sig, launch, index);
  sct_str_printf(s, "inline bool k%d_takes(const call &c%s) {\n", index,
                 any_wants_optin(h) ? ", const place &here" : "");
  if (any_wants_optin(h) && !wants_optin(launch)) {
    sct_str_append(s, "  (void)here;\n");
  }
  sct_str_printf(s, "  const long long blocks = k%d_blocks(", index);
  extent_list(s, sig, launch->grid, "c.");
  sct_str_append(s, ");\n  return blocks >= 1 && blocks <= kMaxBlocks");
  for (int k = 0; k < sig->n_operands; k++) {
    if (launch->align[k] > 1) {
      sct_str_printf(s, " &&\n         aligned(c.%s, %lld)", sig->operands[k].name,
                     (long long)launch->align[k]);
    }
  }
  for (int k = 0; k < launch->n_requires; k++) {
    sct_str_printf(s, " &&\n         k%d_requires_%d(", index, k);
    extent_list(s, sig, launch->requires[k], "c.");
    sct_str_append(s, ")");
  }
  if (wants_optin(launch)) {
    sct_str_printf(s, " &&\n         here.shared_bytes >= %lld",
                   (long long)(launch->shared_bytes + launch->static_shared_bytes));
  }
  sct_str_append(s, ";\n}\n\n");
}

static void takes_switch(sct_str *s, const emit_header *h) {
  const bool optin = any_wants_optin(h);
  sct_str_printf(s, "inline bool takes(int kernel, const call &c%s) {\n  switch (kernel) {\n",
                 optin ? ", const place &here" : "");
  for (int k = 0; k < h->n_kernels; k++) {
    sct_str_printf(s, "  case %d: return k%d_takes(c%s);\n", k, k, optin ? ", here" : "");
  }
  sct_str_append(s, "  default: return false;\n  }\n}\n\n");
}

/* ---- which kernel a call takes ---- */

static void place_struct(sct_str *s, const emit_header *h) {
  const bool optin = any_wants_optin(h);
  sct_str_printf(s,
                 "// The current device, as far as the choice goes.\n"
                 "struct place {\n  int major, minor, sms%s;\n};\n\n",
                 optin ? ", shared_bytes" : "");
  sct_str_append(
      s, "inline cudaError_t find_place(place *here) {\n  int device = 0;\n"
         "  const cudaError_t error = cudaGetDevice(&device);\n"
         "  if (error != cudaSuccess) return error;\n"
         "  const struct {\n    int *value;\n    cudaDeviceAttr attribute;\n  } wanted[] = {\n"
         "      {&here->major, cudaDevAttrComputeCapabilityMajor},\n"
         "      {&here->minor, cudaDevAttrComputeCapabilityMinor},\n"
         "      {&here->sms, cudaDevAttrMultiProcessorCount},\n");
  if (optin) {
    sct_str_append(s, "      {&here->shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin},\n");
  }
  sct_str_append(s, "  };\n  for (const auto &w : wanted) {\n"
                    "    const cudaError_t e = cudaDeviceGetAttribute(w.value, w.attribute, "
                    "device);\n"
                    "    if (e != cudaSuccess) return e;\n  }\n  return cudaSuccess;\n}\n\n");
}

static void tuned_tables(sct_str *s, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  sct_str_append(s, "// A tuned size and the kernel that won it.\nstruct tuned {\n  long long ");
  for (int k = 0; k < sig->n_extents; k++) {
    sct_str_printf(s, "%sn_%s", k > 0 ? ", " : "", sig->extents[k].name);
  }
  sct_str_append(s, ";\n  int kernel;\n};\n");
  for (int d = 0; d < h->n_devices; d++) {
    const emit_device *device = &h->devices[d];
    if (device->n_sizes == 0) {
      continue;
    }
    sct_str_printf(s, "const tuned sizes_%d[] = {  // ", d);
    emit_comment(s, device->row->name);
    sct_str_append(s, "\n");
    for (int k = 0; k < device->n_sizes; k++) {
      sct_str_append(s, "    {");
      for (int e = 0; e < sig->n_extents; e++) {
        sct_str_printf(s, "%lldLL, ", (long long)device->sizes[k].extents[e]);
      }
      sct_str_printf(s, "%d},\n", device->sizes[k].kernel);
    }
    sct_str_append(s, "};\n");
  }
  sct_str_append(s, "\nstruct tuned_device {\n  const char *name;\n  int major, minor, sms;\n"
                    "  const tuned *sizes;\n  int n_sizes;\n};\n"
                    "const tuned_device devices[] = {\n");
  for (int d = 0; d < h->n_devices; d++) {
    const emit_device *device = &h->devices[d];
    if (device->n_sizes > 0) {
      sct_str_append(s, "    {");
      emit_string(s, device->row->name);
      sct_str_printf(s, ", %d, %d, %lld, sizes_%d, %d},\n", device->row->cc_major,
                     device->row->cc_minor, (long long)device->n_sms, d, device->n_sizes);
    }
  }
  sct_str_append(s, "};\n\n");
}

static void distance_functions(sct_str *s, const emit_signature *sig) {
  sct_str_append(s,
                 "// How far a call is from a tuned size: the ratio of their numbers of elements "
                 "(1: equal),\n// and among equals that of their extents.\n"
                 "struct distance {\n  double elements, shape;\n};\n\n"
                 "inline double ratio(double x, double y) {\n"
                 "  x = x < 1 ? 1 : x;\n  y = y < 1 ? 1 : y;\n"
                 "  return x < y ? y / x : x / y;\n}\n\n"
                 "inline distance far_from(const tuned &t, const call &c) {\n"
                 "  return {ratio(elements(");
  extent_list(s, sig, NULL, "c.");
  sct_str_append(s, "), elements(");
  extent_list(s, sig, NULL, "t.");
  sct_str_append(s, ")),\n          ");
  for (int k = 0; k < sig->n_extents; k++) {
    const char *name = sig->extents[k].name;
    sct_str_printf(s, "%sratio(double(c.n_%s), double(t.n_%s))", k > 0 ? " * " : "", name, name);
  }
  sct_str_append(s, "};\n}\n\n"
                    "inline bool nearer(const distance &a, const distance &b) {\n"
                    "  return a.elements < b.elements || (a.elements == b.elements && a.shape < "
                    "b.shape);\n}\n\n");
}

/* Fixed text, but for what the choice needs to know of the place. */
static void choose_function(sct_str *s, const emit_header *h) {
  const bool optin = any_wants_optin(h);
  sct_str_append(
      s, "// Which kernel a call takes, and why.\n"
         "struct choice {\n  int kernel;  // -1: none\n  const tuned_device *device;\n"
         "  int rung;  // 3 same device, 2 same compute capability, 1 same major version, 0 none\n"
         "};\n\n"
         "inline int rung_of(const tuned_device &d, const place &here) {\n"
         "  if (d.major != here.major) return 0;\n"
         "  if (d.minor != here.minor) return 1;\n"
         "  return d.sms == here.sms ? 3 : 2;\n}\n\n"
         "// Of the best device's tuned sizes the nearest whose kernel is right for this call;\n"
         "// without one, the naive variant.\n"
         "inline cudaError_t choose(const call &c, choice *out) {\n"
         "  place here = {};\n"
         "  const cudaError_t error = find_place(&here);\n"
         "  if (error != cudaSuccess) return error;\n");
  sct_str_append(s, "  *out = choice{-1, nullptr, 0};\n"
                    "  for (const tuned_device &d : devices) {\n"
                    "    const int rung = rung_of(d, here);\n"
                    "    if (rung > out->rung) *out = choice{-1, &d, rung};\n  }\n"
                    "  distance best = {};\n"
                    "  for (int k = 0; out->device != nullptr && k < out->device->n_sizes; k++) {\n"
                    "    const tuned &t = out->device->sizes[k];\n"
                    "    const distance d = far_from(t, c);\n"
                    "    if ((out->kernel < 0 || nearer(d, best)) && ");
  sct_str_printf(s, "takes(t.kernel, c%s)) {\n", optin ? ", here" : "");
  sct_str_append(s, "      out->kernel = t.kernel;\n      best = d;\n    }\n  }\n"
                    "  if (out->kernel < 0 && ");
  sct_str_printf(s, "takes(0, c%s)) *out = choice{0, nullptr, 0};\n", optin ? ", here" : "");
  sct_str_append(s, "  if (out->kernel >= 0) return cudaSuccess;\n"
                    "  const bool fits = k0_blocks(");
  extent_list(s, &h->sig, h->kernels[0].launch.grid, "c.");
  sct_str_append(s,
                 ") <= kMaxBlocks;\n"
                 "  return fits ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;\n}\n\n");
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

static bool reduces(const emit_signature *sig) {
  bool any = false;
  for (int k = 0; k < sig->n_extents; k++) {
    any = any || sig->extents[k].reduced;
  }
  return any;
}

/* "c.a != nullptr && c.b != nullptr" of the inputs or of the outputs; "true" if there are none. */
static void no_null(sct_str *s, const emit_signature *sig, bool outputs) {
  const char *between = "";
  for (int k = 0; k < sig->n_operands; k++) {
    if (sig->operands[k].is_output == outputs) {
      sct_str_printf(s, "%sc.%s != nullptr", between, sig->operands[k].name);
      between = " && ";
    }
  }
  sct_str_append(s, between[0] == '\0' ? "true" : "");
}

static void check_function(sct_str *s, const emit_signature *sig) {
  sct_str_append(s, "// Whether there is anything to launch; otherwise *answer is the result.\n"
                    "inline bool has_work(const call &c, cudaError_t *answer) {\n"
                    "  constexpr long long kMost = 1LL << 48;  // elements: no product overflows\n"
                    "  *answer = cudaErrorInvalidValue;\n");
  any_of(s, sig, " < 0", ALL_EXTENTS, "  if (");
  sct_str_append(s, ") return false;\n  *answer = cudaSuccess;\n");
  if (any_of(s, sig, " == 0", KEPT_DIMENSIONS, "  if (")) {
    sct_str_append(s, ") return false;\n");
  }
  sct_str_append(s, "  *answer = cudaErrorInvalidConfiguration;\n");
  any_of(s, sig, " > kMost", ALL_EXTENTS, "  if (");
  sct_str_append(s, " ||\n      elements(");
  extent_list(s, sig, NULL, "c.");
  sct_str_append(s, ") > double(kMost)) {\n    return false;\n  }\n"
                    "  *answer = cudaErrorInvalidValue;\n");
  if (reduces(sig)) {
    sct_str_append(s, "  const bool empty = elements(");
    extent_list(s, sig, NULL, "c.");
    sct_str_append(s, ") == 0;  // then inputs may be null\n  return (empty || (");
    no_null(s, sig, false);
    sct_str_append(s, ")) && ");
    no_null(s, sig, true);
  } else {
    sct_str_append(s, "  return ");
    for (int k = 0; k < sig->n_operands; k++) {
      sct_str_printf(s, "%sc.%s != nullptr", k > 0 ? " && " : "", sig->operands[k].name);
    }
  }
  sct_str_append(s, ";\n}\n\n");
}

static void kernel_argument(sct_str *s, const emit_signature *sig, int k) {
  if (is_extent(sig, k)) {
    sct_str_printf(s, "c.n_%s", emit_argument(sig, k));
  } else if (is_scalar(sig, k)) {
    const bool bits = emit_type_find(sig->scalars[k - sig->n_operands].type)->bits;
    sct_str_printf(s, bits ? "bits{c.%s}" : "c.%s", emit_argument(sig, k));
  } else {
    sct_str_printf(s, "%s{c.%s}", sig->operands[k].is_output ? "output" : "input",
                   emit_argument(sig, k));
  }
}

static void launch_case(sct_str *s, const emit_header *h, int index) {
  const emit_kernel *kernel = &h->kernels[index];
  const emit_launch *launch = &kernel->launch;
  const bool grow = wants_optin(launch);
  sct_str_printf(s, "  case %d:\n", index);
  if (grow) {
    sct_str_printf(s,
                   "    error = cudaFuncSetAttribute(%s::%s,\n"
                   "                                 cudaFuncAttributeMaxDynamicSharedMemorySize, "
                   "%lld);\n    if (error != cudaSuccess) return error;\n",
                   kernel->space, launch->kernel, (long long)launch->shared_bytes);
  }
  sct_str_printf(s, "    %s::%s<<<unsigned(k%d_blocks(", kernel->space, launch->kernel, index);
  extent_list(s, &h->sig, launch->grid, "c.");
  sct_str_printf(s, ")), %lld, %lld, stream>>>(\n        ", (long long)launch->threads,
                 (long long)launch->shared_bytes);
  for (int k = 0; k < launch->n_args; k++) {
    sct_str_append(s, k > 0 ? ", " : "");
    kernel_argument(s, &h->sig, launch->args[k]);
  }
  sct_str_append(s, ");\n    break;\n");
}

static void launch_function(sct_str *s, const emit_header *h) {
  sct_str_append(s, "inline cudaError_t launch(const call &c, cudaStream_t stream) {\n"
                    "  cudaError_t error = cudaSuccess;\n"
                    "  if (!has_work(c, &error)) return error;\n"
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
    sct_str_append(s, "#include <cuda_runtime.h>\n\n");
    return;
  }
  sct_str_append(s, "#ifdef __CUDACC__\n#include <cuda_runtime.h>\n#endif\n"
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
  call_struct(s, &h->sig);
  elements_function(s, &h->sig);
  place_struct(s, h);
  sct_str_append(s,
                 "// When each kernel is right: the size of its grid, alignments, conditions.\n");
  for (int k = 0; k < h->n_kernels; k++) {
    takes_function(s, h, k);
  }
  takes_switch(s, h);
  tuned_tables(s, h);
  distance_functions(s, &h->sig);
  choose_function(s, h);
  check_function(s, &h->sig);
  launch_function(s, h);
  emit_describe_function(s, h);
  sct_str_printf(s, "}  // namespace\n}  // namespace %s_detail\n\n", name);
  emit_public(s, h);
  sct_str_append(s, packs ? "#endif  // __CUDACC__\n" : "");
  sct_str_printf(s, "#endif  // SECTILE_HEADER_%s\n", name);
  return SCT_OK;
}
