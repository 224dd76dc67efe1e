/* Which kernel a call takes: the tuned device that matches the current one best, of its tuned sizes
 * the nearest whose kernel is right for the call and not slower there than the naive variant, else
 * the naive variant. docs/header_contract.md says why each rule is what it is. */
#include "emit/emit_internal.h"

static bool any_wants_optin(const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->n_kernels; k++) {
    any = any || emit_wants_optin(&h->kernels[k].launch);
  }
  return any;
}

int emit_n_dims(const emit_signature *sig) {
  int n = 0;
  for (int k = 0; k < sig->n_extents; k++) {
    n += sig->extents[k].is_dim;
  }
  return n;
}

/* ---- when a kernel is right ---- */

static void blocks_function(sct_str *s, const emit_signature *sig, const emit_launch *launch,
                            int index) {
  sct_str_printf(s, "inline long long k%d_blocks(", index);
  emit_extent_list(s, sig, launch->grid, "long long ");
  sct_str_printf(s, ") {\n  return %s;\n}\n", launch->grid);
}

static void requires_functions(sct_str *s, const emit_signature *sig, const emit_launch *launch,
                               int index) {
  for (int k = 0; k < launch->n_requires; k++) {
    sct_str_printf(s, "inline bool k%d_requires_%d(", index, k);
    emit_extent_list(s, sig, launch->requires[k], "long long ");
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
  if (any_wants_optin(h) && !emit_wants_optin(launch)) {
    sct_str_append(s, "  (void)here;\n");
  }
  sct_str_printf(s, "  const long long blocks = k%d_blocks(", index);
  emit_extent_list(s, sig, launch->grid, "c.");
  sct_str_append(s, ");\n  return blocks >= 1 && blocks <= kMaxBlocks");
  for (int k = 0; k < sig->n_operands; k++) {
    if (launch->align[k] > 1) {
      sct_str_printf(s, " &&\n         aligned(c.%s, %lld)", sig->operands[k].name,
                     (long long)launch->align[k]);
    }
  }
  for (int k = 0; k < launch->n_requires; k++) {
    sct_str_printf(s, " &&\n         k%d_requires_%d(", index, k);
    emit_extent_list(s, sig, launch->requires[k], "c.");
    sct_str_append(s, ")");
  }
  if (emit_wants_optin(launch)) {
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

/* ---- whose tuning ---- */

static void tuned_sizes(sct_str *s, const emit_header *h, int d) {
  const emit_device *device = &h->devices[d];
  sct_str_printf(s, "const tuned sizes_%d[] = {  // ", d);
  emit_comment(s, device->row->name);
  sct_str_append(s, "\n");
  for (int k = 0; k < device->n_sizes; k++) {
    const emit_size *size = &device->sizes[k];
    sct_str_append(s, "    {");
    for (int e = 0; e < h->sig.n_extents; e++) {
      sct_str_printf(s, "%lldLL, ", (long long)size->extents[e]);
    }
    sct_str_printf(s, "%d, ", size->kernel);
    emit_string(s, size->run->size_label);
    if (size->shapes.slower != NULL) {
      sct_str_printf(s, ", %d, %d,\n     ", size->shapes.step, size->shapes.reach);
      emit_string(s, size->shapes.slower);
    } else {
      sct_str_append(s, ", 0, 0, nullptr");
    }
    sct_str_append(s, "},\n");
  }
  sct_str_append(s, "};\n");
}

static void tuned_tables(sct_str *s, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  sct_str_append(
      s,
      "// A tuned size, the kernel that won it, and where that is predicted to be slower than the\n"
      "// naive variant: a digit for the extents times 2^(step * k), k from -reach to reach; 1: "
      "it is.\nstruct tuned {\n  long long ");
  for (int k = 0; k < sig->n_extents; k++) {
    sct_str_printf(s, "%sn_%s", k > 0 ? ", " : "", sig->extents[k].name);
  }
  sct_str_append(s, ";\n  int kernel;\n  const char *size;\n  int step, reach;\n  const char "
                    "*slower;  // null: not known\n};\n");
  for (int d = 0; d < h->n_devices; d++) {
    if (h->devices[d].n_sizes > 0) {
      tuned_sizes(s, h, d);
    }
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

static void match_function(sct_str *s) {
  sct_str_append(
      s, "// 3: same device model, 2: same compute capability, 1: same major version, 0: none.\n"
         "inline int match(const tuned_device &d, const cudaDeviceProp &here) {\n"
         "  if (d.major != here.major) return 0;\n"
         "  if (d.minor != here.minor) return 1;\n"
         "  return d.sms == here.multiProcessorCount && strcmp(d.name, here.name) == 0 ? 3 : 2;\n"
         "}\n\n");
}

static void find_place(sct_str *s, const emit_header *h) {
  const bool optin = any_wants_optin(h);
  sct_str_printf(
      s,
      "// The tuned device that matches the current one best, the first among equals. Reading a\n"
      "// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * "
      "device.\n"
      "inline cudaError_t find_place(place *here) {\n"
      "  constexpr int kKept = 64;\n"
      "  static std::atomic<int> kept[kKept];  // 0: not asked yet\n"
      "  int ordinal = 0;\n"
      "  cudaError_t error = cudaGetDevice(&ordinal);\n"
      "  if (error != cudaSuccess) return error;\n"
      "%s"
      "  int found = ordinal < kKept ? kept[ordinal].load(std::memory_order_relaxed) : 0;\n"
      "  if (found == 0) {\n"
      "    cudaDeviceProp properties;\n"
      "    error = cudaGetDeviceProperties(&properties, ordinal);\n"
      "    if (error != cudaSuccess) return error;\n"
      "    int best = 0;\n    int device = 0;\n    found = 1;\n"
      "    for (const tuned_device &d : devices) {\n"
      "      if (match(d, properties) > best) {\n"
      "        best = match(d, properties);\n"
      "        found = 1 + best + 4 * device;\n"
      "      }\n      device++;\n    }\n"
      "    if (ordinal < kKept) kept[ordinal].store(found, std::memory_order_relaxed);\n  }\n"
      "  here->match = (found - 1) %% 4;\n"
      "  here->device = here->match > 0 ? &devices[(found - 1) / 4] : nullptr;\n"
      "  return cudaSuccess;\n}\n\n",
      optin
          ? "  error = cudaDeviceGetAttribute(&here->shared_bytes,\n"
            "                                 cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);\n"
            "  if (error != cudaSuccess) return error;\n"
          : "");
}

/* ---- which size ---- */

static void distance_functions(sct_str *s, const emit_signature *sig) {
  sct_str_append(s, "inline double ratio(double x, double y) {\n"
                    "  x = x < 1 ? 1 : x;\n  y = y < 1 ? 1 : y;\n"
                    "  return x < y ? y / x : x / y;\n}\n\n"
                    "// How far a call is from a tuned size: by how much each extent differs, all "
                    "multiplied. 1: equal.\n"
                    "inline double distance(const tuned &t, const call &c) {\n  return ");
  for (int k = 0; k < sig->n_extents; k++) {
    const char *name = sig->extents[k].name;
    sct_str_printf(s, "%sratio(double(c.n_%s), double(t.n_%s))", k > 0 ? " *\n         " : "", name,
                   name);
  }
  sct_str_append(s,
                 ";\n}\n\n"
                 "// Where a call lies among the sizes tuned on the device.\n"
                 "inline const char *range(const tuned_device &d, const tuned &t, const call &c) "
                 "{\n  if (distance(t, c) == 1) return \"tuned size\";\n");
  for (int k = 0; k < sig->n_extents; k++) {
    sct_str_printf(s, "  bool below_%d = false, above_%d = false;\n", k, k);
  }
  sct_str_append(s, "  for (int k = 0; k < d.n_sizes; k++) {\n");
  for (int k = 0; k < sig->n_extents; k++) {
    const char *name = sig->extents[k].name;
    sct_str_printf(s,
                   "    below_%d = below_%d || d.sizes[k].n_%s <= c.n_%s;\n"
                   "    above_%d = above_%d || d.sizes[k].n_%s >= c.n_%s;\n",
                   k, k, name, name, k, k, name, name);
  }
  sct_str_append(s, "  }\n  return ");
  for (int k = 0; k < sig->n_extents; k++) {
    sct_str_printf(s, "%sbelow_%d && above_%d", k > 0 ? " && " : "", k, k);
  }
  sct_str_append(s, "\n             ? \"between tuned sizes\"\n             : \"outside the tuned "
                    "sizes\";\n}\n\n");
}

static void slower_function(sct_str *s, const emit_signature *sig) {
  const int n = emit_n_dims(sig);
  sct_str_append(
      s, "const char *const kSlower = \"tuned kernels are predicted to be slower than naive "
         "here\";\n\n"
         "// Whether one of the shapes around the call says so.\n"
         "inline bool slower(const tuned &t, const call &c) {\n"
         "  if (t.slower == nullptr) return false;\n"
         "  const double times[] = {");
  const char *between = "";
  for (int k = 0; k < sig->n_extents; k++) {
    if (sig->extents[k].is_dim) {
      const char *name = sig->extents[k].name;
      sct_str_printf(s, "%sdouble(c.n_%s < 1 ? 1 : c.n_%s) / double(t.n_%s < 1 ? 1 : t.n_%s)",
                     between, name, name, name, name);
      between = ",\n                          ";
    }
  }
  sct_str_printf(s,
                 "};\n  for (int corner = 0; corner < %d; corner++) {\n    int at = 0;\n"
                 "    for (int d = 0; d < %d; d++) {\n"
                 "      const double x = log2(times[d]) / t.step;\n"
                 "      int k = int((corner >> d & 1) != 0 ? ceil(x) : floor(x));\n"
                 "      k = k < -t.reach ? -t.reach : k > t.reach ? t.reach : k;\n"
                 "      at = at * (2 * t.reach + 1) + k + t.reach;\n    }\n"
                 "    if (t.slower[at] == '1') return true;\n  }\n  return false;\n}\n\n",
                 1 << n, n);
}

/* ---- the choice ---- */

static void choice_struct(sct_str *s) {
  sct_str_append(s, "struct choice {\n  int kernel;  // -1: none\n"
                    "  int match;\n  const tuned_device *device;  // with its size: whose kernel "
                    "it is, null: naive\n  const tuned *size;\n  const char *reason;\n};\n\n");
}

static void tuned_function(sct_str *s, const emit_header *h) {
  const bool optin = any_wants_optin(h);
  sct_str_printf(
      s,
      "// Of the device's tuned sizes the nearest whose kernel is right for the call and "
      "worth it.\n"
      "inline void choose_tuned(const call &c, const place &here, choice *out) {\n"
      "  double best = 0;\n"
      "  out->reason = \"no kernel of this device is right for these arguments\";\n"
      "  for (int k = 0; k < here.device->n_sizes; k++) {\n"
      "    const tuned &t = here.device->sizes[k];\n"
      "    const double away = distance(t, c);\n"
      "    if ((out->kernel >= 0 && away >= best) || !takes(t.kernel, c%s)) continue;\n",
      optin ? ", here" : "");
  sct_str_append(s, "    if (distance(t, c) != 1 && slower(t, c)) {\n"
                    "      if (out->kernel < 0) out->reason = kSlower;\n      continue;\n    }\n");
  sct_str_append(
      s, "    *out = choice{t.kernel, here.match, here.device, &t, range(*here.device, t, c)};\n"
         "    best = away;\n  }\n}\n\n");
}

static void choose_function(sct_str *s, const emit_header *h) {
  const bool optin = any_wants_optin(h);
  sct_str_printf(s,
                 "// Which kernel a call that has work takes.\n"
                 "inline cudaError_t choose(const call &c, choice *out) {\n"
                 "  place here = {};\n"
                 "  const cudaError_t error = find_place(&here);\n"
                 "  *out = choice{-1, 0, nullptr, nullptr, cudaGetErrorString(error)};\n"
                 "  if (error != cudaSuccess) return error;\n"
                 "  out->reason = \"no device of this major version was tuned\";\n"
                 "  if (here.device != nullptr) choose_tuned(c, here, out);\n"
                 "  if (out->kernel < 0 && takes(0, c%s)) out->kernel = 0;\n"
                 "  if (out->kernel >= 0) return cudaSuccess;\n"
                 "  out->reason = \"invalid configuration: more than 2^31 - 1 blocks\";\n"
                 "  if (k0_blocks(",
                 optin ? ", here" : "");
  emit_extent_list(s, &h->sig, h->kernels[0].launch.grid, "c.");
  sct_str_append(
      s, ") > kMaxBlocks) return cudaErrorInvalidConfiguration;\n"
         "  out->reason = \"invalid value: the naive variant cannot take these arguments\";\n"
         "  return cudaErrorInvalidValue;\n}\n\n");
}

void emit_dispatch(sct_str *s, const emit_header *h) {
  tuned_tables(s, h);
  sct_str_printf(s,
                 "// The current device, as far as the choice goes.\n"
                 "struct place {\n  const tuned_device *device;  // null: none matches\n"
                 "  int match%s;\n};\n\n",
                 any_wants_optin(h) ? ", shared_bytes" : "");
  match_function(s);
  find_place(s, h);
  sct_str_append(s,
                 "// When each kernel is right: the size of its grid, alignments, conditions.\n");
  for (int k = 0; k < h->n_kernels; k++) {
    takes_function(s, h, k);
  }
  takes_switch(s, h);
  distance_functions(s, &h->sig);
  slower_function(s, &h->sig);
  choice_struct(s);
  tuned_function(s, h);
  choose_function(s, h);
}
