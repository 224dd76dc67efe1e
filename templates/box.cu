$(g:types())
constexpr int kThreads = $(threads);
constexpr int kBox = $(count); // elements of a box
//% if items > 1 then
constexpr int kItems = $(items); // boxes of a block, neighbours along $(k.dims[along])
constexpr int kKept = $(kept); // from box to box in shared memory
//% end
constexpr int kPasses = $(passes); // elements of a thread in a box

// What is computed for one element.
$(g:compute())
$(kit.comment(doc))
$(g:head(threads)) {
//% if is_dynamic then
  extern __shared__ __align__(128) unsigned char shared[];
//% end
  $(kit.each(memory, "{declare}"))
  $(cut)
  $(kit.each(operands, "{declare}"))

//% if is_async then
  // in, as the inputs lie, by copies that pass no register
#pragma unroll
  for (int pass = 0; pass < kPasses; pass++) {
    const int at = pass * kThreads + threadIdx.x;
    $(find_in)
    $(kit.unrolled("item", each_item)){
      if ($(inside_in)) {
        $(kit.each(exchanged, "{copy}"))
      }
    }
  }
  async_commit();
  async_wait<0>();
//% else
  // in, as the inputs lie: all loads before the first use
  $(kit.each(exchanged, "{type} {loaded}[kPasses]" .. (items > 1 and "[kItems]" or "") .. ";"))
#pragma unroll
  for (int pass = 0; pass < kPasses; pass++) {
    const int at = pass * kThreads + threadIdx.x;
    $(find_in)
    $(kit.unrolled("item", each_item)){
      const bool inside = $(inside_in);
      $(kit.each(exchanged, "{loaded}" .. here .. " = inside\n  ? {load} : {zero};"))
    }
  }
#pragma unroll
  for (int pass = 0; pass < kPasses; pass++) {
    const int at = pass * kThreads + threadIdx.x;
//% if count % threads ~= 0 then
    if (at >= kBox) break;
//% end
    $(kit.unrolled("item", each_item, kit.each(exchanged, "{put}")))
  }
//% end
  __syncthreads();

  // out, as the outputs lie
#pragma unroll
  for (int pass = 0; pass < kPasses; pass++) {
    const int at = pass * kThreads + threadIdx.x;
    $(find_out)
    $(kit.unrolled("item", each_item)){
//% if inside_out ~= "true" then
      if (!($(inside_out))) continue;
//% end
      $(kit.each(exchanged, "const {type} {value} = {tile}[" .. kept_out .. "];"))
      $(kit.each(direct, "const {type} {value} = {load};"))
      $(kit.each(results, "{type} {value};"))
      $(compute)
      $(kit.each(results, "{store}"))
    }
  }
}
