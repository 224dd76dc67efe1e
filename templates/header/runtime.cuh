//% if #starts > 0 then
// ---- Which variant a call takes. Every header has this text, but for calls of start().
//% else
// ---- Which variant a call takes. Every header has this text.
//% end

// The current device, as far as the choice goes.
typedef struct $(detail)_place {
  const $(detail)_device *device;  // whose rule it has
  int match, shared_bytes;
} $(detail)_place;

// 3: same device model, 2: same compute capability, 1: same major version, 0: another one.
static inline int $(detail)_match(const $(detail)_device *d, const struct cudaDeviceProp *here) {
  if (d->major != here->major) return 0;
  if (d->minor != here->minor) return 1;
  return d->sms == here->multiProcessorCount && strcmp(d->name, here->name) == 0 ? 3 : 2;
}

// How far away a compute capability is: by its major version, then by its minor one.
static inline int $(detail)_far(const $(detail)_device *d, const struct cudaDeviceProp *here) {
  const int major = d->major - here->major, minor = d->minor - here->minor;
  return 1000 * (major < 0 ? -major : major) + (minor < 0 ? -minor : minor);
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
    int best = -1, least = 0;
    for (int k = 0; k < n_devices; k++) {
      const int match = $(detail)_match(&$(detail)_devices[k], &properties);
      const int far = $(detail)_far(&$(detail)_devices[k], &properties);
      if (match > best || (match == best && far < least)) {
        best = match;
        least = far;
        found = 1 + best + 4 * k;
      }
    }
    if (ordinal < n_kept) kept[ordinal] = found;
  }
  here->match = (found - 1) % 4;
  here->device = &$(detail)_devices[(found - 1) / 4];
  return cudaSuccess;
}

static const long long $(detail)_max_blocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
static inline bool $(detail)_takes(const $(detail)_variant *v, const $(name)_args *c, const $(detail)_place *here) {
  const long long blocks = v->blocks(c);
  return blocks >= 1 && blocks <= $(detail)_max_blocks && v->shared_bytes <= here->shared_bytes &&
         v->takes(c);
}

typedef struct $(detail)_choice {
  int variant, wanted;  // `wanted` does not take the call, where it is another one; -1: none
  $(detail)_place here;
  const $(detail)_size *size;  // null: by a branch of the rule
  const char *reason;
} $(detail)_choice;

// The kernel of a listed size, else those of a branch in turn, else the naive variant.
static inline void $(detail)_choose_tuned(const $(name)_args *c, $(detail)_choice *out) {
  const $(detail)_device *const d = out->here.device;
  const $(detail)_branch branch = d->rule(c);
  long long n[$(detail)_n_extents];
  $(detail)_extents(n, c);
  for (int k = 0; k < d->n_sizes && out->size == NULL; k++) {
    if (memcmp(n, d->sizes[k].n, sizeof n) == 0) out->size = &d->sizes[k];
  }
  const int tries[] = {out->size != NULL ? out->size->variant : branch.variants[0],
                       branch.variants[0], branch.variants[1], branch.variants[2], 0};
  int k = 0;
  while (k < 5 && !$(detail)_takes(&$(detail)_variants[tries[k]], c, &out->here)) k++;
  if (k > 0) out->size = NULL;
  out->reason = out->size != NULL ? "tuned size" : branch.where;
  out->wanted = tries[0];
  out->variant = k < 5 ? tries[k] : -1;
}

// Which variant a call that has work takes.
static inline cudaError_t $(detail)_choose(const $(name)_args *c, $(detail)_choice *out) {
  const $(detail)_choice none = {-1, -1, {NULL, 0, 0}, NULL, NULL};
  *out = none;
  const cudaError_t error = $(detail)_find_place(&out->here);
  if (error != cudaSuccess) {
    out->reason = cudaGetErrorString(error);
    return error;
  }
  if (c->$(forced) != 0) {
    const int k = c->$(forced) - 1;
    const bool takes = k >= 0 && k < $(name)_n_variants &&
                       $(detail)_takes(&$(detail)_variants[k], c, &out->here);
    out->variant = out->wanted = takes ? k : -1;
    out->reason = takes ? "the arguments name this variant"
                        : "invalid value: there is no such variant, or it does not take them";
    return takes ? cudaSuccess : cudaErrorInvalidValue;
  }
  $(detail)_choose_tuned(c, out);
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
  if (error == cudaSuccess && $(detail)_find_log()->state != 0) $(detail)_count_call(c);
  return error;
}

//% if onto then
static inline cudaError_t $(detail)_launch(const $(name)_args *c, cudaStream_t stream) {
  return $(detail)_launch_onto(c, stream, true);
}

//% end
static inline $(name)_choice $(detail)_describe(const $(name)_args *c) {
  static const char *const matches[] = {"other major version, the nearest that was tuned",
                                       "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  $(detail)_choice chosen;
  const char *why = $(detail)_no_work(c, &error);
  if (why == NULL && $(detail)_choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  $(name)_choice out = {NULL, NULL, "none", NULL, why, NULL};
  if (why == NULL) {
    out.variant = $(detail)_variants[chosen.variant].label;
    out.device = chosen.here.device->name;
    out.match = matches[chosen.here.match];
    out.size = chosen.size != NULL ? chosen.size->label : NULL;
    out.reason = chosen.reason;
    out.instead_of = chosen.wanted != chosen.variant ? $(detail)_variants[chosen.wanted].label : NULL;
  }
  return out;
}
