$(g:types())
//% if g.k.reduces then
$(reduce.types(p))
//% end
//% local body = g.k.reduces and reduce.element(p) or g:element()
$(g:helpers())
$(body)
$(kit.comment(doc))
$(g:head(threads)) {
//% if not g.k.reduces then
  constexpr int kTile = $(threads); // one element a thread
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(g.k.prologue)
  $(cut)
  const long long $(last) = first + thread;
  if ($(last) < n_$(last)) $(g:call_element(inside))
//% else
  constexpr int kThreads = $(threads);
  __shared__ partial partials[kThreads];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(g.k.prologue)
  $(kept_text)
  partial mine = nothing();
#pragma unroll 8 // one block may have everything to do: several loads at once
  for (long long place = thread; place < $(count_text); place += kThreads) {
    $(add())
  }
  partials[thread] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) partials[thread] = combine(partials[thread], partials[thread + half]);
  }
  $(combine())
  if (thread == 0) {
    mine = partials[0];
    $(store())
  }
//% end
}
