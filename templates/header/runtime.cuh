//% if #starts > 0 then
// ---- Which variant a call takes. Every header has this text, but for calls of start().
//% else
// ---- Which variant a call takes. Up to the end of the namespace every header has this text.
//% end

// The current device, as far as the choice goes.
struct place {
  const tuned_device *device;  // null: none matches
  int match, shared_bytes;
};

// 3: same device model, 2: same compute capability, 1: same major version, 0: none.
inline int match(const tuned_device &d, const cudaDeviceProp &here) {
  if (d.major != here.major) return 0;
  if (d.minor != here.minor) return 1;
  return d.sms == here.multiProcessorCount && strcmp(d.name, here.name) == 0 ? 3 : 2;
}

// The tuned device that matches the current one best, the first among equals. Reading a
// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * device.
inline cudaError_t find_place(place *here) {
  constexpr int kKept = 64;
  static std::atomic<int> kept[kKept];  // 0: not asked yet
  int ordinal = 0;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error == cudaSuccess && kWantsShared) {
    error = cudaDeviceGetAttribute(&here->shared_bytes,
                                   cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  }
  if (error != cudaSuccess) return error;
  int found = ordinal < kKept ? kept[ordinal].load(std::memory_order_relaxed) : 0;
  if (found == 0) {
    cudaDeviceProp properties;
    error = cudaGetDeviceProperties(&properties, ordinal);
    if (error != cudaSuccess) return error;
    int best = 0;
    int device = 0;
    found = 1;
    for (const tuned_device &d : devices) {
      if (match(d, properties) > best) {
        best = match(d, properties);
        found = 1 + best + 4 * device;
      }
      device++;
    }
    if (ordinal < kKept) kept[ordinal].store(found, std::memory_order_relaxed);
  }
  here->match = (found - 1) % 4;
  here->device = here->match > 0 ? &devices[(found - 1) / 4] : nullptr;
  return cudaSuccess;
}

constexpr long long kMaxBlocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
inline bool takes(const variant &v, const call &c, const place &here) {
  const long long blocks = v.blocks(c);
  return blocks >= 1 && blocks <= kMaxBlocks && v.shared_bytes <= here.shared_bytes && v.takes(c);
}

// a / b, an extent of 0 taken for 1.
inline double ratio(long long a, long long b) {
  return double(a < 1 ? 1 : a) / double(b < 1 ? 1 : b);
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
inline double distance(const tuned &t, const extents &e) {
  double product = 1;
  for (int k = 0; k < kExtents; k++) {
    product *= e.n[k] < t.n[k] ? ratio(t.n[k], e.n[k]) : ratio(e.n[k], t.n[k]);
  }
  return product;
}

// Where a call lies among the sizes tuned on the device.
inline const char *range(const tuned_device &d, const tuned &t, const extents &e) {
  if (distance(t, e) == 1) return "tuned size";
  for (int k = 0; k < kExtents; k++) {
    bool below = false, above = false;
    for (int s = 0; s < d.n_sizes; s++) {
      below = below || d.sizes[s].n[k] <= e.n[k];
      above = above || d.sizes[s].n[k] >= e.n[k];
    }
    if (!below || !above) return "outside the tuned sizes";
  }
  return "between tuned sizes";
}

// Whether one of the shapes around the call says that the kernel is slower than naive there.
inline bool slower(const tuned &t, const extents &e) {
  if (t.slower == nullptr) return false;
  for (int corner = 0; corner < 1 << kDims; corner++) {
    int at = 0;
    for (int d = 0; d < kDims; d++) {
      const double x = log2(ratio(e.n[d], t.n[d])) / t.step;
      int k = int((corner >> d & 1) != 0 ? ceil(x) : floor(x));
      k = k < -t.reach ? -t.reach : k > t.reach ? t.reach : k;
      at = at * (2 * t.reach + 1) + k + t.reach;
    }
    if (t.slower[at] == '1') return true;
  }
  return false;
}

struct choice {
  int variant;  // -1: none
  int match;
  const tuned_device *device;  // with its size: whose variant it is, null: naive
  const tuned *size;
  const char *reason;
};

// Of the device's tuned sizes the nearest whose variant is right for the call and worth it.
inline void choose_tuned(const call &c, const place &here, choice *out) {
  const extents e = extents_of(c);
  double best = 0;
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here.device->n_sizes; k++) {
    const tuned &t = here.device->sizes[k];
    const double away = distance(t, e);
    if ((out->variant >= 0 && away >= best) || !takes(variants[t.variant], c, here)) continue;
    if (away != 1 && slower(t, e)) {
      if (out->variant < 0) {
        out->reason = "tuned kernels are predicted to be slower than naive here";
      }
      continue;
    }
    *out = choice{t.variant, here.match, here.device, &t, range(*here.device, t, e)};
    best = away;
  }
}

// Which variant a call that has work takes.
inline cudaError_t choose(const call &c, choice *out) {
  place here = {};
  const cudaError_t error = find_place(&here);
  *out = choice{-1, 0, nullptr, nullptr, cudaGetErrorString(error)};
  if (error != cudaSuccess) return error;
  out->reason = "no device of this major version was tuned";
  if (here.device != nullptr) choose_tuned(c, here, out);
  if (out->variant < 0 && takes(variants[0], c, here)) out->variant = 0;
  if (out->variant >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (variants[0].blocks(c) > kMaxBlocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
inline const char *no_work(const call &c, cudaError_t *answer) {
  constexpr long long kMost = 1LL << 48;  // elements: no product overflows
  const extents e = extents_of(c);
  double elements = 1;  // of the index space; a double, because a product may be any size
  bool large = false, empty = false;
  *answer = cudaErrorInvalidValue;
  for (int k = 0; k < kExtents; k++) {
    if (e.n[k] < 0) return "invalid value: an extent is negative";
    large = large || e.n[k] > kMost;
  }
  for (int d = 0; d < kDims; d++) {
    elements *= d == kRows ? 1.0 : double(e.n[d]);
    empty = empty || (e.n[d] == 0 && !kReduced[d]);
  }
//% if #starts > 0 then
  if (empty && !large && bad_pointer(c, true) != nullptr) return bad_pointer(c, true);
//% end
//% if checks_extents then
  const bool works = elements > 0 && !large && elements <= double(kMost);
  if (works && bad_extents(c) != nullptr) return bad_extents(c);
//% end
  if (!empty && !large && elements <= double(kMost)) return bad_pointer(c, elements == 0);
  *answer = empty ? cudaSuccess : cudaErrorInvalidConfiguration;
  return empty ? "nothing to launch: the index space is empty"
               : "invalid configuration: more than 2^48 elements";
}

inline cudaError_t launch(const call &c, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
//% if #starts > 0 then
  if (no_work(c, &error) != nullptr) return error == cudaSuccess ? start(c, stream) : error;
//% else
  if (no_work(c, &error) != nullptr) return error;
//% end
  choice chosen = {};
  error = choose(c, &chosen);
//% if #starts > 0 then
  if (error == cudaSuccess) error = start(c, stream);
//% end
  return error == cudaSuccess ? variants[chosen.variant].launch(c, stream) : error;
}

inline $(name)_choice describe(const call &c) {
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  choice chosen = {};
  const char *why = no_work(c, &error);
  if (why == nullptr && choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  if (why != nullptr) return {nullptr, nullptr, matches[0], nullptr, why};
  return {variants[chosen.variant].label, chosen.device ? chosen.device->name : nullptr,
          matches[chosen.match], chosen.size ? chosen.size->size : nullptr, chosen.reason};
}

}  // namespace
}  // namespace $(name)_detail

