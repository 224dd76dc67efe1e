//% if is_inline then
#ifdef $(name)_IMPLEMENTATION
#define $(name)_LINKAGE extern "C"
#else
#define $(name)_LINKAGE extern "C" inline
#endif
//% end
//% if workspace then
$(linkage) size_t $(name)_workspace_bytes(void) {
  return $(workspace_bytes);
}
//% end
$(linkage) cudaError_t $(name)($(join(parameters)), cudaStream_t $(stream)) {
  return $(name)_detail::launch({$(join(arguments))}, $(stream));
}
$(linkage) cudaError_t $(name)_launch(const $(name)_args *args, cudaStream_t stream) {
  return args == nullptr ? cudaErrorInvalidValue : $(name)_detail::launch(*args, stream);
}
$(linkage) $(name)_choice $(name)_variant($(join(parameters))) {
  return $(name)_detail::describe({$(join(arguments))});
}
//% if is_inline then
#undef $(name)_LINKAGE
//% end
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_$(name)
