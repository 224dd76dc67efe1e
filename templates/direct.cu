$(g:types())
//% local body = g:element()
$(g:helpers())
$(body)
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kTile = $(threads); // one element a thread
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(cut)
  const long long $(last) = first + thread;
  if ($(last) < n_$(last)) $(g:call_element(inside))
}
