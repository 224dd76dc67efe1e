$(g:types())
$(g:helpers())
$(g:element())
$(kit.comment(doc))
$(g:head(bounds)) {
  $(map.constants(p))
  constexpr int kStages = $(stages);
  $(map.images(p))
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(g.k.prologue)
  const long long tiles = n_$(last) / kTile; // whole ones
  // starts the copies of one tile; no more than an empty group if there is none
  const auto fetch_tile = [&](long long tile, int stage) {
    if (tile < tiles) {
      $(cut)
      $(copy_in())
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int ahead = 0; ahead < kStages - 1; ahead++)
    fetch_tile(block + ahead * (long long)gridDim.x, ahead);
  int stage = 0;
  for (long long tile = block; tile < tiles; tile += gridDim.x) {
    // into the image that the round before has left
    fetch_tile(tile + (kStages - 1) * (long long)gridDim.x, (stage + kStages - 1) % kStages);
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1) : "memory");
    __syncthreads();
    $(cut)
    $(map.load_values(p))
    $(map.compute(p))
    __syncthreads();
//% if #images_out > 0 then
    $(map.copy_out(p))
//% end
    stage = (stage + 1) % kStages;
  }
  $(close_tiles())
  if (block == gridDim.x - 1) { // the last, partial tile
    const long long first = tiles * kTile;
    $(map.edge(p))
  }
}
