$(g:types())
$(g:helpers())
$(g:element())
$(kit.comment(doc))
$(g:head(bounds)) {
  $(map.constants(p))
  $(map.images(p))
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(k.prologue)
  $(declare)
  $(cut)
  if ($(full_text)) {
    $(map.copy_in(p))
    $(map.load_values(p))
//% if #images_in > 0 then
    $(sync)
//% end
    $(map.compute(p))
//% if #images_out > 0 then
    $(sync)
    $(map.copy_out(p))
//% end
  } else { // the last, partial tile
    $(map.edge(p))
  }
}
