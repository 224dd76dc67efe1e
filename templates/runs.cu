$(g:types())
$(g:helpers())
$(kit.comment(doc))
$(g:head(bounds)) {
  constexpr int kThreads = $(threads), kWarps = kThreads / 32;
  constexpr int kCells = $(room); // elements that a tile has at most, but for padding
//% if #exchanged > 0 then
  extern __shared__ __align__(16) unsigned char shared_tiles[];
//% end
//% for n, x in ipairs(exchanged) do
  // $(x.op.name)'s tile in the order of its memory, its rows padded to odd numbers of words
  $(x.type) *const $(x.op.name)_tile = reinterpret_cast<$(x.type) *>(shared_tiles + $(x.at));
//% end
  const int block = blockIdx.x;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  $(k.prologue)
  $(cut)
//% for _, x in ipairs(exchanged) do
  { // in: runs of $(into), on their way at once
    $(x.load)
  }
//% end
//% if #exchanged > 0 then
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
//% end
  { // out: runs of $(out)
    $(store)
  }
}
