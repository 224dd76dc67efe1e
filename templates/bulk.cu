$(g:types())
$(g:helpers())
$(g:element())
$(kit.comment(doc))
$(g:head(bounds)) {
  $(map.constants(p))
  constexpr int kStages = $(stages);
  $(map.images(p))
  __shared__ unsigned long long arrived[kStages]; // mbarriers: a phase ends when a tile is there
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(g.k.prologue)
  const long long tiles = n_$(last) / kTile; // whole ones
  // starts the copies of one tile, if there is one
  const auto fetch_tile = [&](long long tile, int stage) {
    if (thread == 0 && tile < tiles) {
      expect_bytes(&arrived[stage], $(expected));
      $(cut)
      $(copy_in())
    }
  };
  if (thread == 0) {
    for (int stage = 0; stage < kStages; stage++)
      init_barrier(&arrived[stage], 1);
    fence_barrier_init();
  }
  __syncthreads(); // all may use the barriers
//% if stays then
  for (int ahead = 0; ahead < kStages; ahead++)
    fetch_tile(block + ahead * (long long)gridDim.x, ahead);
  int stage = 0, parity = 0; // where the tile is, and of the phase that it ends
//%   if #images_out > 0 then
  int out_slice = 0;
//%   end
  for (long long tile = block; tile < tiles; tile += gridDim.x) {
//% else
  constexpr int stage = 0;
  const long long tile = block;
  fetch_tile(tile, stage);
  if (tile < tiles) {
//% end
    wait_phase(&arrived[stage], $(stays and "parity" or "0"));
    $(cut)
    $(map.load_values(p))
    $(map.compute(p))
//% if stores then
    fence_async(); // what was put into the image is seen by the copy below
//%   if stays then
    if (thread == 0)
      bulk_wait_read(); // the image that the next round fills has been read
//%   end
//% end
//% if stays or #images_out > 0 then
    __syncthreads();
//% end
//% if stays then
    fetch_tile(tile + kStages * (long long)gridDim.x, stage); // all have picked what was there
//% end
//% if stores then
    if (thread == 0) {
      $(bulk_out())
      bulk_commit();
    }
//% elseif #images_out > 0 then
    $(map.copy_out(p))
//% end
//% if stays then
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
//%   if #images_out > 0 then
    out_slice ^= 1;
//%   end
//% end
  }
//% if stores then
  if (thread == 0)
    bulk_wait_read(); // shared memory lives until the copies have read it
//% end
  $(close_tiles())
  if (block == gridDim.x - 1) { // the last, partial tile
    const long long first = tiles * kTile;
    $(map.edge(p))
  }
}
