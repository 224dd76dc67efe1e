$(g:types())
$(g:helpers())
$(kit.comment(doc))
$(g:head(bounds)) {
  constexpr int kThreads = $(threads);
  // a block's tile: inputs run along $(a), outputs along $(b)
  constexpr int k$(A) = $(tile_a), k$(B) = $(tile_b);
//% if skew > 0 then
  // elements in a 32-byte sector: each store run is moved back to start on one
  constexpr int kSkew = $(skew);
//% end
  $(tiles.declare(p))
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(k.prologue)
  $(cut)
  if ($(full_text)) {
//% for _, x in ipairs(exchanged) do
    $(load_tile(x))
//% end
    __syncthreads();
    $(store_tile())
  } else { // a tile on the border: $(border)
//% for _, x in ipairs(exchanged) do
    $(load_border(x))
//% end
    __syncthreads();
    $(store_border())
  }
}
