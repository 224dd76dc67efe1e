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
//% if lanes > 1 then
  const long long team = block * $(lanes) + thread % $(lanes); // outputs side by side
//% end
  $(kept_text)
  partial mine = nothing();
//% local own = lanes > 1 and "thread / " .. lanes or "thread"
//% local stride = lanes > 1 and "kThreads / " .. lanes or "kThreads"
//% local has_team = lanes > 1 and "team < " .. kept_count .. " && " or ""
#pragma unroll 8 // one block may have everything to do: several loads at once
  for (long long place = $(own); $(has_team)place < $(count_text); place += $(stride)) {
    $(add())
  }
  partials[thread] = mine;
  for (int half = kThreads / 2; half >= $(lanes); half /= 2) {
    __syncthreads();
    if (thread < half) partials[thread] = combine(partials[thread], partials[thread + half]);
  }
  $(combine())
//% if lanes > 1 then
  if (thread < $(lanes) && team < $(kept_count)) {
    mine = partials[thread];
    $(store())
  }
//% else
  if (thread == 0) {
    mine = partials[0];
    $(store())
  }
//% end
//% end
}
