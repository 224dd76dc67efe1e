$(g:types())
$(g:helpers())
$(g:element())
$(kit.comment(doc))
$(g:head(bounds)) {
  $(map.constants(p))
  constexpr int kWindows = $(windows);
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(g.k.prologue)
  $(window.head)
  $(cut)
  if ($(full_text)) {
    $(map.load_values(p))
    $(map.compute(p))
  } $(last_tile) { // the last, partial tile
    $(map.edge(p))
  }
}
