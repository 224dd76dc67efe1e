$(g:types())
$(g:helpers())
$(kit.comment(doc))
$(g:head(bounds)) {
  constexpr int kThreads = $(threads);
  constexpr int kCells = $(cells); // elements that a tile has at most
//% for _, x in ipairs(exchanged) do
  // $(x.op.name)'s tile in the order of its memory, swizzled: columns fall into different banks
  __shared__ __align__(16) $(x.type) $(x.op.name)_tile[kCells];
//% end
  const int block = blockIdx.x, blocks = gridDim.x;
  const int thread = threadIdx.x, lane = thread % 32;
  $(k.prologue)
  $(cut)
  $(declare)
//% if #exchanged > 0 then
  for (int round = 0; round <= rounds; round++) {
    int member = thread;
    asm volatile("" : "+r"(member)); // what follows from it is not kept: registers are dear
    $(keep)
    if (round < rounds) { // in: runs of $(into), all loads before the first use
      $(load_in)
    }
    if (round > 0) { // out: runs of $(out), from the tile before
      $(store_out)
    }
    __syncthreads(); // all have left the tile
    if (round < rounds) {
      $(put)
    }
    __syncthreads();
  }
//% else
  for (int round = 0; round < rounds; round++) {
    int member = thread;
    asm volatile("" : "+r"(member)); // what follows from it is not kept: registers are dear
    $(move)
  }
//% end
}
