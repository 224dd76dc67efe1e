//% if form == "inline" then
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
  const $(name)_args $(call) = {$(join(arguments)), 0};
  return $(detail)_launch(&$(call), $(stream));
}
$(linkage)cudaError_t $(name)_launch(const $(name)_args *args, cudaStream_t stream) {
  return args == NULL ? cudaErrorInvalidValue : $(detail)_launch(args, stream);
}
$(linkage)$(name)_choice $(name)_variant($(join(parameters))) {
  const $(name)_args $(call) = {$(join(arguments)), 0};
  return $(detail)_describe(&$(call));
}
$(linkage)$(name)_choice $(name)_variant_of(const $(name)_args *args) {
  const $(name)_choice none = {NULL, NULL, "none", NULL, "invalid value: no arguments", NULL};
  return args == NULL ? none : $(detail)_describe(args);
}
$(linkage)cudaError_t $(name)_log(const char *path) {
  return $(detail)_set_log(path);
}
//% if host then
$(linkage)cudaError_t $(name)_host_plan_create($(name)_host_plan **$(host.plan), $(join(host.extents)), const $(name)_host_options *$(host.options)) {
  $(name)_args $(call);
  memset(&$(call), 0, sizeof $(call));
//%   for _, x in ipairs(extents) do
  $(call).n_$(x) = n_$(x);
//%   end
  return $(detail)_create($(host.plan), &$(call), $(host.options));
}
$(linkage)cudaError_t $(name)_host_plan_destroy($(name)_host_plan *$(host.plan)) {
  if ($(host.plan) != NULL) $(detail)_close_plan($(host.plan));
  return cudaSuccess;
}
$(linkage)cudaError_t $(name)_host($(join(host.parameters)), const $(name)_host_plan *$(host.plan), cudaStream_t $(stream)) {
  $(name)_args $(call) = {$(join(host.arguments)), 0};
  return $(detail)_host(&$(call), $(host.plan), $(stream));
}
//% end
//% if form == "inline" then
#undef $(name)_LINKAGE
//% end
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_$(name)
