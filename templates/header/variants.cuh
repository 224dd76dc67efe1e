// ---- Variants and where they were tuned. From here on it is C11 and C++11.

#include <string.h>
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> $(detail)_atomic;
#else
#include <stdatomic.h>
typedef atomic_int $(detail)_atomic;
#endif

// The extents of a call, those of the index space first.
enum {
  $(detail)_n_extents = $(#extents),
  $(detail)_n_dims = $(#dims),
  $(detail)_rows = $(rows),  // the dimension of rows with different lengths, which share elements; -1: none
  $(detail)_wants_shared = $(wants_shared)  // some variant asks for more shared memory than all have
};
static const bool $(detail)_reduced[] = {$(join(reduced))};  // outputs have elements even where it is 0
static inline void $(detail)_extents(long long *n, const $(name)_args *c) {
  const long long all[] = {$(join(extents, "c->n_%s"))};
  memcpy(n, all, sizeof all);
}

static inline bool $(detail)_aligned(const void *p, unsigned long long bytes) {
  return (unsigned long long)p % bytes == 0;
}

//% if wants_recent then
// Was the code that runs here compiled for sm_90 or later, which a kernel needs?
static inline bool $(detail)_is_recent(int variant) {
  const void *kernel = NULL;
  struct cudaFuncAttributes attributes;
  cudaError_t error = $(detail)_find_kernel(&kernel, variant);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, kernel);
  if (error != cudaSuccess) cudaGetLastError();  // as if it was not asked
  return error == cudaSuccess && attributes.ptxVersion >= 90;
}

//% end
//% if #ranges > 0 then
// Does an array that is written overlap another one?
static inline bool $(detail)_overlap(const $(name)_args *c) {
//%   if #ranges_over > 0 then
  const long long $(join(ranges_over, "n_%s = c->n_%s"));
//%   end
  const struct {
    const void *first;
    long long bytes;
    bool written;
  } arrays[] = {
//%   for _, r in ipairs(ranges) do
      {c->$(r.op.name), $(r.bytes), $(r.op.is_output)},
//%   end
  };
  const int n = (int)(sizeof arrays / sizeof arrays[0]);
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < n; b++) {
      const char *const from = (const char *)arrays[a].first;
      const char *const other = (const char *)arrays[b].first;
      const bool meet = from < other + arrays[b].bytes && other < from + arrays[a].bytes;
      const bool some = arrays[a].bytes > 0 && arrays[b].bytes > 0;
      if (a != b && arrays[a].written && some && meet) return true;
    }
  }
  return false;
}

//% end
//% if has_steps then
// A step of a place, taken up to `last` times.
typedef struct $(detail)_step {
  long long by, last;
} $(detail)_step;

// Does each step go beyond all that the smaller ones reach? Else two elements may be one.
static inline bool $(detail)_apart($(detail)_step *steps, int n) {
  long long reached = 0;
  for (int k = 0; k < n; k++) {
    int least = k;
    for (int other = k + 1; other < n; other++) {
      if (steps[other].by < steps[least].by) least = other;
    }
    const $(detail)_step next = steps[least];
    steps[least] = steps[k];
    if (next.last > 0 && next.by <= reached) return false;
    reached += next.last > 0 ? next.by * next.last : 0;
  }
  return true;
}

//% end
//% if checks_extents then
// What is wrong with the extents of a call that has work, null: nothing.
static inline const char *$(detail)_bad_extents(const $(name)_args *c) {
//%   if #bounds > 0 then
  {  // a bound of each number on the way to an offset
    const double most = 4611686018427387904.0;  // 2^62
    const double $(join(bounds_over, "n_%s = (double)c->n_%s"));
//%     for _, bound in ipairs(bounds) do
    if ($(bound) > most) return "invalid value: extents make an array too large for 64 bits";
//%     end
  }
//%   end
//%   if #limits_over > 0 then
  const long long $(join(limits_over, "n_%s = c->n_%s"));
//%   end
//%   for _, limit in ipairs(limits) do
//%     for _, condition in ipairs(limit.inside) do
  if (!($(condition))) return "invalid value: extents give $(limit.name) elements outside of it";
//%     end
//%     for _, steps in ipairs(limit.apart) do
  {
    $(detail)_step steps[] = {$(join(steps))};
    if (!$(detail)_apart(steps, $(#steps))) return "invalid value: extents make elements of $(limit.name) one";
  }
//%     end
//%   end
  return NULL;
}

//% end
// What is wrong with a pointer of the call, null: nothing. Where there is nothing to sum, `empty`,
// inputs may be null.
static inline const char *$(detail)_bad_pointer(const $(name)_args *c, bool empty) {
  (void)empty;
//% for n, o in ipairs(operands) do
//%   if o.never_null then
  if (c->$(o.name) == NULL) return "invalid value: $(o.name) is null";
//%   else
  if (c->$(o.name) == NULL && !empty) return "invalid value: $(o.name) is null";
//%   end
  if (!$(detail)_aligned(c->$(o.name), $(kernels[1].launch.align[n]))) return "invalid value: $(o.name) is not aligned to $(kernels[1].launch.align[n]) bytes";
//% end
//% if #ranges > 0 then
  if ($(detail)_overlap(c)) return "invalid value: an array that is written overlaps another one";
//% end
//% if workspace_bytes > 0 then
  if (c->$(workspace) == NULL || !$(detail)_aligned(c->$(workspace), 16)) {
    return "invalid value: $(workspace) is null or not aligned to 16 bytes";
  }
//% end
  return NULL;
}

//% if #starts > 0 then
// What points fall on begins at the identity element.
static inline cudaError_t $(detail)_start(const $(name)_args *c, cudaStream_t stream) {
//%   if #starts_over > 0 then
  const long long $(join(starts_over, "n_%s = c->n_%s"));
  double elements = 1;  // no product overflows, where there is nothing to launch either
//%     for _, extent in ipairs(starts_over) do
  elements *= n_$(extent) > 0 ? (double)n_$(extent) : 1.0;
//%     end
  if (elements > 281474976710656.0) return cudaErrorInvalidConfiguration;  // 2^48
//%   end
  cudaError_t error = cudaSuccess;
//%   for _, s in ipairs(starts) do
  if (error == cudaSuccess) {
    error = cudaMemsetAsync(c->$(s.op.name), $(s.op.start), (size_t)($(s.bytes)), stream);
  }
//%   end
  return error;
}

//% end
// Of each variant the blocks of its grid, whether it is right for a call, its launch.
//% for _, k in ipairs(kernels) do
static inline long long $(detail)_k$(k.index)_blocks(const $(name)_args *c) {
//%   if #k.grid_over > 0 then
  const long long $(join(k.grid_over, "n_%s = c->n_%s"));
//%   else
  (void)c;
//%   end
  return $(k.grid);
}
static inline bool $(detail)_k$(k.index)_takes(const $(name)_args *c) {
//%   if #k.requires_over > 0 then
  const long long $(join(k.requires_over, "n_%s = c->n_%s"));
//%   end
//%   if k.feature then
  if (!$(detail)_is_recent($(k.index))) return false;
//%   end
//%   for n, o in ipairs(operands) do
  if (!$(detail)_aligned(c->$(o.name), $(k.launch.align[n]))) return false;
//%   end
//%   for _, condition in ipairs(k.requires) do
  if (!($(condition))) return false;
//%   end
  return true;
}
static inline cudaError_t $(detail)_k$(k.index)_launch(const void *kernel, $(name)_args c, cudaStream_t stream) {
//%   if #k.launch_over > 0 then
  const long long $(join(k.launch_over, "n_%s = c.n_%s"));
//%   end
//%   for _, value in ipairs(k.values) do
  $(value);
//%   end
//%   if k.launch.passes > 0 then
  int pass = 0;
//%   end
  void *args[] = {$(join(k.arguments, "&%s"))};
  const dim3 grid = {$(join(k.grid_sides))}, block = {$(join(k.block_sides))};
//%   if k.optin_bytes > 0 then
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, $(k.launch.shared_bytes));
  if (error != cudaSuccess) return error;
//%   end
//%   if k.launch.passes > 0 then
  cudaError_t launched = cudaSuccess;
  for (; pass < $(k.launch.passes) && launched == cudaSuccess; pass++) {
    launched = cudaLaunchKernel(kernel, grid, block, args, $(k.launch.shared_bytes), stream);
  }
  return launched;
//%   else
  return cudaLaunchKernel(kernel, grid, block, args, $(k.launch.shared_bytes), stream);
//%   end
}

//% end
typedef struct $(detail)_variant {
  const char *label;
  int shared_bytes;  // that a block has to ask for; 0: it need not
  long long (*blocks)(const $(name)_args *c);
  bool (*takes)(const $(name)_args *c);
  cudaError_t (*launch)(const void *kernel, $(name)_args c, cudaStream_t stream);
} $(detail)_variant;
static const $(detail)_variant $(detail)_variants[] = {
//% for _, k in ipairs(kernels) do
    {"$(k.label)", $(k.optin_bytes), $(detail)_k$(k.index)_blocks, $(detail)_k$(k.index)_takes, $(detail)_k$(k.index)_launch},
//% end
};

// The variants that a call tries, in this order, and by which branch of the rule.
typedef struct $(detail)_branch {
  int variants[3];
  const char *where;
} $(detail)_branch;
static inline $(detail)_branch $(detail)_take(int first, int second, int third, const char *where) {
  const $(detail)_branch out = {{first, second, third}, where};
  return out;
}
//% for _, d in ipairs(devices) do
//%   if d.rule.sizes > 0 then

// $(d.name): of $(d.rule.sizes) sizes. After a branch: its kernels, at how many of the sizes, and by how
// much they miss the best that was found there, in the mean and at worst.
static inline $(detail)_branch $(detail)_rule_$(d.index)(const $(name)_args *c) {
//%     if #d.rule.over > 0 then
  const long long $(join(d.rule.over, "n_%s = c->n_%s"));
//%     else
  (void)c;
//%     end
//%     for _, line in ipairs(d.rule.lines) do
//%       if line.note then
$(line.text)  // $(line.note)
//%       else
$(line.text)
//%       end
//%     end
}
//%   end
//% end

// Listed sizes have kernels of their own.
typedef struct $(detail)_size {
  long long n[$(#extents)];  // $(join(extents, "n_%s"))
  int variant;
  const char *label;
} $(detail)_size;
//% for _, d in ipairs(devices) do
//%   if d.listed then
static const $(detail)_size $(detail)_sizes_$(d.index)[] = {
//%     for _, s in ipairs(d.sizes) do
    {{$(join(s.extents))}, $(s.kernel), "$(s.run.size_label)"},
//%     end
};
//%   end
//% end

typedef struct $(detail)_device {
  const char *name;
  int major, minor, sms;
  $(detail)_branch (*rule)(const $(name)_args *c);
  const $(detail)_size *sizes;
  int n_sizes;
} $(detail)_device;
static const $(detail)_device $(detail)_devices[] = {
//% for _, d in ipairs(devices) do
//%   if d.listed then
    {"$(d.name)", $(d.cc_major), $(d.cc_minor), $(d.n_sms), $(detail)_rule_$(d.index), $(detail)_sizes_$(d.index), $(#d.sizes)},
//%   elseif d.rule.sizes > 0 then
    {"$(d.name)", $(d.cc_major), $(d.cc_minor), $(d.n_sms), $(detail)_rule_$(d.index), NULL, 0},
//%   end
//% end
};

