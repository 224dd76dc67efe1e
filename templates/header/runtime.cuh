//% if #starts > 0 then
// ---- Which variant a call takes. Every header has this text, but for calls of start().
//% else
// ---- Which variant a call takes. Every header has this text.
//% end

// The current device, as far as the choice goes.
typedef struct $(detail)_place {
  const $(detail)_device *device;  // null: none matches
  int match, shared_bytes;
} $(detail)_place;

// 3: same device model, 2: same compute capability, 1: same major version, 0: none.
static inline int $(detail)_match(const $(detail)_device *d, const struct cudaDeviceProp *here) {
  if (d->major != here->major) return 0;
  if (d->minor != here->minor) return 1;
  return d->sms == here->multiProcessorCount && strcmp(d->name, here->name) == 0 ? 3 : 2;
}

// The tuned device that matches the current one best, the first among equals. Reading a
// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * device.
static inline cudaError_t $(detail)_find_place($(detail)_place *here) {
  enum { n_kept = 64, n_devices = sizeof $(detail)_devices / sizeof $(detail)_devices[0] };
  static $(detail)_atomic kept[n_kept];  // 0: not asked yet
  int ordinal = 0;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error == cudaSuccess && $(detail)_wants_shared) {
    error = cudaDeviceGetAttribute(&here->shared_bytes,
                                   cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  }
  if (error != cudaSuccess) return error;
  int found = ordinal < n_kept ? (int)kept[ordinal] : 0;
  if (found == 0) {
    struct cudaDeviceProp properties;
    error = cudaGetDeviceProperties(&properties, ordinal);
    if (error != cudaSuccess) return error;
    int best = 0;
    found = 1;
    for (int k = 0; k < n_devices; k++) {
      const int match = $(detail)_match(&$(detail)_devices[k], &properties);
      if (match > best) {
        best = match;
        found = 1 + best + 4 * k;
      }
    }
    if (ordinal < n_kept) kept[ordinal] = found;
  }
  here->match = (found - 1) % 4;
  here->device = here->match > 0 ? &$(detail)_devices[(found - 1) / 4] : NULL;
  return cudaSuccess;
}

static const long long $(detail)_max_blocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
static inline bool $(detail)_takes(const $(detail)_variant *v, const $(name)_args *c, const $(detail)_place *here) {
  const long long blocks = v->blocks(c);
  return blocks >= 1 && blocks <= $(detail)_max_blocks && v->shared_bytes <= here->shared_bytes &&
         v->takes(c);
}

// a / b, an extent of 0 taken for 1.
static inline double $(detail)_ratio(long long a, long long b) {
  return (double)(a < 1 ? 1 : a) / (double)(b < 1 ? 1 : b);
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
static inline double $(detail)_distance(const $(detail)_size *t, const long long *n) {
  double product = 1;
  for (int k = 0; k < $(detail)_n_extents; k++) {
    product *= n[k] < t->n[k] ? $(detail)_ratio(t->n[k], n[k]) : $(detail)_ratio(n[k], t->n[k]);
  }
  return product;
}

// Where a call lies among the sizes tuned on the device.
static inline const char *$(detail)_range(const $(detail)_device *d, const $(detail)_size *t, const long long *n) {
  if ($(detail)_distance(t, n) == 1) return "tuned size";
  for (int k = 0; k < $(detail)_n_extents; k++) {
    bool below = false, above = false;
    for (int s = 0; s < d->n_sizes; s++) {
      below = below || d->sizes[s].n[k] <= n[k];
      above = above || d->sizes[s].n[k] >= n[k];
    }
    if (!below || !above) return "outside the tuned sizes";
  }
  return "between tuned sizes";
}

// The number k of the shape next to `ratio` times the tuned extent, the one below or `above`, and
// never beyond the last.
static inline int $(detail)_shape(double ratio, const $(detail)_size *t, bool above) {
  double shape = 1;  // 2^(step * k)
  int k = 0;
  for (; k < t->reach && (above ? shape < ratio : shape * (double)(1 << t->step) <= ratio); k++) {
    shape *= (double)(1 << t->step);
  }
  for (; k > -t->reach && (above ? shape / (double)(1 << t->step) >= ratio : shape > ratio); k--) {
    shape /= (double)(1 << t->step);
  }
  return k;
}

// Whether one of the shapes around the call says that the kernel is slower than naive there.
static inline bool $(detail)_slower(const $(detail)_size *t, const long long *n) {
  if (t->slower == NULL) return false;
  for (int corner = 0; corner < 1 << $(detail)_n_dims; corner++) {
    int at = 0;
    for (int d = 0; d < $(detail)_n_dims; d++) {
      const int k = $(detail)_shape($(detail)_ratio(n[d], t->n[d]), t, (corner >> d & 1) != 0);
      at = at * (2 * t->reach + 1) + k + t->reach;
    }
    if (t->slower[at] == '1') return true;
  }
  return false;
}

typedef struct $(detail)_choice {
  int variant;  // -1: none
  int match;
  const $(detail)_device *device;  // with its size: whose variant it is, null: naive
  const $(detail)_size *size;
  const char *reason;
} $(detail)_choice;

// Of the device's tuned sizes the nearest whose variant is right for the call and worth it.
static inline void $(detail)_choose_tuned(const $(name)_args *c, const $(detail)_place *here, $(detail)_choice *out) {
  long long n[$(detail)_n_extents];
  double best = 0;
  $(detail)_extents(n, c);
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here->device->n_sizes; k++) {
    const $(detail)_size *const t = &here->device->sizes[k];
    const double away = $(detail)_distance(t, n);
    if ((out->variant >= 0 && away >= best) || !$(detail)_takes(&$(detail)_variants[t->variant], c, here)) continue;
    if (away != 1 && $(detail)_slower(t, n)) {
      if (out->variant < 0) {
        out->reason = "tuned kernels are predicted to be slower than naive here";
      }
      continue;
    }
    const $(detail)_choice chosen = {t->variant, here->match, here->device, t, $(detail)_range(here->device, t, n)};
    *out = chosen;
    best = away;
  }
}

// Which variant a call that has work takes.
static inline cudaError_t $(detail)_choose(const $(name)_args *c, $(detail)_choice *out) {
  $(detail)_place here = {NULL, 0, 0};
  const cudaError_t error = $(detail)_find_place(&here);
  const $(detail)_choice none = {-1, 0, NULL, NULL, NULL};
  *out = none;
  if (error != cudaSuccess) {
    out->reason = cudaGetErrorString(error);
    return error;
  }
  out->reason = "no device of this major version was tuned";
  if (here.device != NULL) $(detail)_choose_tuned(c, &here, out);
  if (out->variant < 0 && $(detail)_takes(&$(detail)_variants[0], c, &here)) out->variant = 0;
  if (out->variant >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if ($(detail)_variants[0].blocks(c) > $(detail)_max_blocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
static inline const char *$(detail)_no_work(const $(name)_args *c, cudaError_t *answer) {
  const long long most = 1LL << 48;  // elements: no product overflows
  long long n[$(detail)_n_extents];
  double elements = 1;  // of the index space; a double, because a product may be any size
  bool large = false, empty = false;
  $(detail)_extents(n, c);
  *answer = cudaErrorInvalidValue;
  for (int k = 0; k < $(detail)_n_extents; k++) {
    if (n[k] < 0) return "invalid value: an extent is negative";
    large = large || n[k] > most;
  }
  for (int d = 0; d < $(detail)_n_dims; d++) {
    elements *= d == $(detail)_rows ? 1.0 : (double)n[d];
    empty = empty || (n[d] == 0 && !$(detail)_reduced[d]);
  }
//% if #starts > 0 then
  if (empty && !large && $(detail)_bad_pointer(c, true) != NULL) return $(detail)_bad_pointer(c, true);
//% end
//% if checks_extents then
  const bool works = elements > 0 && !large && elements <= (double)most;
  if (works && $(detail)_bad_extents(c) != NULL) return $(detail)_bad_extents(c);
//% end
  if (!empty && !large && elements <= (double)most) return $(detail)_bad_pointer(c, elements == 0);
  *answer = empty ? cudaSuccess : cudaErrorInvalidConfiguration;
  return empty ? "nothing to launch: the index space is empty"
               : "invalid configuration: more than 2^48 elements";
}

//% if onto then
// clear: what points fall on; else it holds what was there, as earlier launches have left it
static inline cudaError_t $(detail)_launch_onto(const $(name)_args *c, cudaStream_t stream,
                                                bool clear) {
//% else
static inline cudaError_t $(detail)_launch(const $(name)_args *c, cudaStream_t stream) {
//% end
  $(detail)_choice chosen;
  const void *kernel = NULL;
  cudaError_t error = cudaSuccess;
//% if #starts > 0 then
  if ($(detail)_no_work(c, &error) != NULL) return $(onto and "clear && " or "")error == cudaSuccess ? $(detail)_start(c, stream) : error;
//% else
  if ($(detail)_no_work(c, &error) != NULL) return error;
//% end
  error = $(detail)_choose(c, &chosen);
//% if #starts > 0 then
  if ($(onto and "clear && " or "")error == cudaSuccess) error = $(detail)_start(c, stream);
//% end
  if (error == cudaSuccess) error = $(detail)_find_kernel(&kernel, chosen.variant);
  if (error != cudaSuccess) return error;
  error = $(detail)_variants[chosen.variant].launch(kernel, *c, stream);
  if (error != cudaSuccess) cudaGetLastError();  // it is returned, and need not be asked for
  return error;
}

//% if onto then
static inline cudaError_t $(detail)_launch(const $(name)_args *c, cudaStream_t stream) {
  return $(detail)_launch_onto(c, stream, true);
}

//% end
static inline $(name)_choice $(detail)_describe(const $(name)_args *c) {
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  $(detail)_choice chosen = {-1, 0, NULL, NULL, NULL};
  const char *why = $(detail)_no_work(c, &error);
  if (why == NULL && $(detail)_choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  $(name)_choice out = {NULL, NULL, matches[0], NULL, why};
  if (why == NULL) {
    out.variant = $(detail)_variants[chosen.variant].label;
    out.device = chosen.device != NULL ? chosen.device->name : NULL;
    out.match = matches[chosen.match];
    out.size = chosen.size != NULL ? chosen.size->label : NULL;
    out.reason = chosen.reason;
  }
  return out;
}

