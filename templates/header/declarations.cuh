// Where the kernels and figures come from, for a program to print.
typedef struct $(name)_tuning {
  const char *device, *arch, *figures, *driver, *nvrtc, *tool, *size, *variant, *source_hash;
  double median_us, gb_per_s, of_copy, naive_us;  // 0: not timed
  int candidates, verified, tied, failed;
} $(name)_tuning;
static const $(name)_tuning $(name)_tunings[] = {
//% for _, d in ipairs(devices) do
//%   for _, s in ipairs(d.sizes) do
    {"$(d.name)", "$(d.arch)", "$(d.figures)",
     "$(d.driver)", "$(d.nvrtc)", "$(d.tool)",
     "$(s.run.size_label)", "$(s.winner.label)", "$(s.winner.source_hash)",
     $(s.median_us), $(s.gb_per_s), $(s.of_copy), $(s.naive_us), $(s.run.n_candidates), $(s.run.n_verified), $(s.run.n_tied), $(s.run.n_failed)},
//%   end
//% end
};
static const struct {
  const char *kernel, *spec_hash, *written_by;
  int n_tunings;
  const $(name)_tuning *tunings;
} $(name)_provenance = {"$(name)", "$(spec_hash)", "sectile $(version)", $(n_tunings),
    $(name)_tunings};

// Which kernel a call takes, and why.
typedef struct $(name)_choice {
  const char *variant;     // null: nothing is launched
  const char *device;      // whose tuning decided; null: nothing is launched
  const char *match;       // how that device matches the current one
  const char *size;        // the listed size that the call has; null: none
  const char *reason;      // the branch of the rule; why nothing is launched
  const char *instead_of;  // the variant that would come first, and cannot take the arguments
} $(name)_choice;
enum { $(name)_n_variants = $(#kernels) };

#ifndef SECTILE_NO_RUNTIME
// The arguments of one call, by name.
typedef struct $(name)_args {
//% for _, parameter in ipairs(parameters) do
  $(parameter);
//% end
  int $(forced);  // 0: by the rule; k: variant number k - 1, an error where it does not take the call
} $(name)_args;

#ifdef __cplusplus
extern "C" {
#endif

//% if workspace then
// What the workspace of a call has, whatever its extents; 0: it may be null.
size_t $(name)_workspace_bytes(void);

//% end
// Launches on `$(stream)`; never synchronises, allocates nothing. An empty index space launches nothing.
// What is written must not overlap another array. That, a negative extent, a null pointer or a
// pointer below its type's alignment is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks
// cudaErrorInvalidConfiguration; other errors are those of the launch.
//% for _, s in ipairs(starts) do
// `$(s.op.name)` is set by a cudaMemsetAsync before the kernel, also where the index space is empty.
//% end
//% if workspace then
// `$(workspace)` has $(name)_workspace_bytes() bytes, set to 0 once before its first use; launches leave
//%   if scans then
// it ready for the next. Calls that may overlap need one each, and no other header may use it.
//%   else
// it ready for the next. Calls that may overlap need one each.
//%   end
//% end
//% for _, s in ipairs(scalars) do
//%   if s.bits then
// `$(s.name)` is given as the bits of a value of type $(s.type).
//%   end
//% end
cudaError_t $(name)($(join(parameters)), cudaStream_t $(stream));
// The same, every argument by its name. What `args` leaves out is 0; null is cudaErrorInvalidValue.
cudaError_t $(name)_launch(const $(name)_args *args, cudaStream_t stream);

// What $(name) would do with these arguments on the current device.
$(name)_choice $(name)_variant($(join(parameters)));
$(name)_choice $(name)_variant_of(const $(name)_args *args);

// From here on counts the calls that launch, by their extents, and adds them to the file `path`
// when the program exits or this is called again; null: counts no longer. `s.calls` reads it.
cudaError_t $(name)_log(const char *path);

//% if host then
// ---- Arrays of the host
// $(name)_host cuts $(host.extent) into chunks, which are copied to the device, computed and copied back on
// several streams, so that copies and kernels overlap. A plan owns the streams, the device's
// memory of the chunks and, for arrays that are not page-locked, a ring of page-locked memory; one
// call at a time may use it. Page-locking costs time for each page, and takes memory from the
// system: for arrays that are copied once the ring is faster than cudaHostRegister.
//%   if host.device_arrays then
// Of $(join(host.device_arrays, "`%s`")) it takes device pointers: what they point to stays there, and is no part of a plan.
//%   end
typedef struct $(name)_host_plan $(name)_host_plan;
//% if host.chosen then
// What is 0 has a default, the fastest of those timed on $(host.chosen).
//% else
// What is 0 has a default.
//% end
typedef struct $(name)_host_options {
  long long chunk;   // of $(host.extent); default: of the largest array $(host.ring_mib) MiB, page-locked $(host.locked_mib) MiB
  int streams;       // 1 to 8; default $(host.ring_streams), page-locked $(host.locked_streams)
  int threads;       // 1 to 64, that copy to the ring and back (C++); default: cores, $(host.ring_threads) at most
  bool page_locked;  // no ring: all arrays of all calls will be page-locked
} $(name)_host_options;
// For calls on the current device whose other extents are not larger. Leaves nothing behind where
// it fails; `$(host.options)` may be null.
cudaError_t $(name)_host_plan_create($(name)_host_plan **$(host.plan), $(join(host.extents)),
    const $(name)_host_options *$(host.options));
// Waits for its calls; null is fine.
cudaError_t $(name)_host_plan_destroy($(name)_host_plan *$(host.plan));
// What $(name) does, for arrays of the host. It starts when `$(stream)` has come to it, and what `$(stream)`
//%   if host.device_arrays then
// gets later waits for it. Where all arrays of the host are page-locked it only queues; else these
// are read and written when it returns. After an error nothing of it is on its way any more;
// outputs then hold anything.
//%   else
// gets later waits for it. Where all arrays are page-locked it only queues; else it is done when it
// returns. After an error nothing of it is on its way any more; outputs then hold anything.
//%   end
cudaError_t $(name)_host($(join(host.parameters)),
    const $(name)_host_plan *$(host.plan), cudaStream_t $(stream));

//% end
#ifdef __cplusplus
}
#endif
#endif  // SECTILE_NO_RUNTIME
#endif  // SECTILE_HEADER_$(name)

