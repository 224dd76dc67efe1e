$(g:types())
$(g:compute())
$(kit.comment(doc))
$(g:head(threads)) {
  for (int item = 0; item < $(items); item++) {
    const long long $(dim) = ((long long)blockIdx.x * $(items) + item) * $(threads) + threadIdx.x;
    if ($(dim) < $(count)) $(call)
  }
}
