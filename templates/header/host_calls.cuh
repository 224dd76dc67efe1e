static inline cudaError_t $(detail)_run_threads($(detail)_host_call *h) {
  cudaError_t errors[$(detail)_most_threads], error = cudaSuccess;
  int n = 1;  // those that have begun, with this one
#if defined(__cplusplus) && defined(__cpp_exceptions)
  std::thread others[$(detail)_most_threads];
  try {
    for (; n < h->threads; n++) {
      others[n] = std::thread([=, &errors] { errors[n] = $(detail)_run_thread(h, n); });
    }
  } catch (const std::system_error &) {
  }  // no further thread: those that have begun take all chunks
#endif
  errors[0] = $(detail)_run_thread(h, 0);
#if defined(__cplusplus) && defined(__cpp_exceptions)
  for (int k = 1; k < n; k++) others[k].join();
#endif
  for (int k = 0; k < n; k++) error = error == cudaSuccess ? errors[k] : error;
  return error;
}

static inline cudaError_t $(detail)_host($(name)_args *c, const $(name)_host_plan *plan,
                                         cudaStream_t stream) {
  $(detail)_host_call h;
  cudaError_t error = cudaErrorInvalidValue;
  if (plan == NULL) return error;
//% if workspace then
  c->$(workspace) = plan->slots[0].workspace;
//% end
//% if onto then
  if ($(detail)_no_work(c, &error) != NULL && error != cudaSuccess) return error;
//% else
  if ($(detail)_no_work(c, &error) != NULL) return error;
//% end
  h.c = c;
  h.plan = ($(name)_host_plan *)plan;
  error = $(detail)_run_call(&h, stream);
  if (error != cudaSuccess) cudaGetLastError();  // it is returned, and need not be asked for
  return error;
}

static inline cudaError_t $(detail)_create($(name)_host_plan **out, const $(name)_args *c,
                                           const $(name)_host_options *options) {
  const $(name)_host_options none = {0, 0, 0, false};
  const $(name)_host_options *const o = options != NULL ? options : &none;
  long long n[$(detail)_n_extents];
  $(detail)_extents(n, c);
  if (out == NULL || o->chunk < 0 || o->threads < 0 || o->streams < 0 ||
      o->streams > $(detail)_most_streams || o->threads > $(detail)_most_threads) {
    return cudaErrorInvalidValue;
  }
  *out = NULL;
  for (int k = 0; k < $(detail)_n_extents; k++) {
    if (n[k] < 0 || n[k] > 1LL << 48) return cudaErrorInvalidValue;
  }
//% if checks_extents then
  if ($(detail)_bad_extents(c) != NULL) return cudaErrorInvalidValue;
//% end
  $(name)_host_options chosen = *o;
  chosen.streams = o->streams > 0 ? o->streams : o->page_locked ? $(host.locked_streams) : $(host.ring_streams);
  chosen.threads = 1;
#if defined(__cplusplus) && defined(__cpp_exceptions)
  if (!o->page_locked) {
    const int cores = (int)std::thread::hardware_concurrency();  // 0: unknown
    chosen.threads = o->threads > 0 ? o->threads : cores == 0 ? 8 : cores < $(host.ring_threads) ? cores : $(host.ring_threads);
  }
#endif
  return $(detail)_make_plan(out, c, &chosen);
}
