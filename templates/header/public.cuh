//% if is_inline then
#ifdef $(name)_IMPLEMENTATION
#define $(name)_LINKAGE
#else
#define $(name)_LINKAGE inline
#endif
//% end
//% if workspace then
$(linkage)size_t $(name)_workspace_bytes(void) {
  return $(workspace_bytes);
}
//% end
$(linkage)cudaError_t $(name)($(join(parameters)), cudaStream_t $(stream)) {
  const $(name)_args $(call) = {$(join(arguments))};
  return $(detail)_launch(&$(call), $(stream));
}
$(linkage)cudaError_t $(name)_launch(const $(name)_args *args, cudaStream_t stream) {
  return args == NULL ? cudaErrorInvalidValue : $(detail)_launch(args, stream);
}
$(linkage)$(name)_choice $(name)_variant($(join(parameters))) {
  const $(name)_args $(call) = {$(join(arguments))};
  return $(detail)_describe(&$(call));
}
//% if is_inline then
#undef $(name)_LINKAGE
//% end
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_$(name)
