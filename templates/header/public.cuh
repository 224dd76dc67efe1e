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
     "$(s.label)", "$(s.variant)", "$(s.source_hash)",
     $(s.median_us), $(s.gb_per_s), $(s.of_copy), $(s.naive_us), $(s.candidates), $(s.verified), $(s.tied), $(s.failed)},
//%   end
//% end
};
static const struct {
  const char *kernel, *spec_hash, *written_by;
  int n_tunings;
  const $(name)_tuning *tunings;
} $(name)_provenance = {"$(name)", "$(spec_hash)", "sectile $(version)", $(n_tunings),
    $(name)_tunings};

//% if workspace then
// What the workspace of a call has, whatever its extents; 0: it may be null.
extern "C" inline size_t $(name)_workspace_bytes(void) {
  return $(workspace_bytes);
}

//% end
// Launches on `$(stream)`; never synchronises, allocates nothing. An empty index space launches nothing.
// What is written must not overlap another array. That, a negative extent, a null pointer or a
// pointer below its type's alignment is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks
// cudaErrorInvalidConfiguration; other errors are those of the launch.
//% for _, s in ipairs(starts) do
// `$(s.name)` is set by a cudaMemsetAsync before the kernel, also where the index space is empty.
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
extern "C" inline cudaError_t $(name)($(join(parameters)), cudaStream_t $(stream)) {
  return $(name)_detail::launch({$(join(arguments))}, $(stream));
}

// What $(name) would do with these arguments on the current device.
extern "C" inline $(name)_choice $(name)_variant($(join(parameters))) {
  return $(name)_detail::describe({$(join(arguments))});
}

//% if has_packing then
#endif  // __CUDACC__
//% end
#endif  // SECTILE_HEADER_$(name)
