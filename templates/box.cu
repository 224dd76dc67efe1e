$(g:types())
constexpr int kThreads = $(threads);
//% if uses_count then
constexpr int kBox = $(count); // elements of a box
//% end
//% if items > 1 then
constexpr int kItems = $(items); // boxes of a block, neighbours along $(k.dims[along])
constexpr int kKept = $(kept); // from box to box in shared memory
//% end

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
  { // in, as the inputs lie, by asynchronous copies
    $(into.setup)
#pragma unroll
    for (int pass = 0; pass < $(into.passes); pass++) {
      $(into.find)
      $(into.number)
      $(kit.unrolled("item", each_item)){
        if ($(into.inside)) {
          $(kit.each(exchanged, "{copy}"))
        }
      }
    }
    async_commit();
    async_wait<0>();
  }
//% else
  { // in, as the inputs lie: all loads before the first use
    $(into.setup)
    $(kit.each(exchanged, "{declare_loaded}"))
#pragma unroll
    for (int pass = 0; pass < $(into.passes); pass++) {
      $(into.find)
      $(kit.unrolled("item", each_item)){
        const bool inside = $(into.inside);
        $(kit.each(exchanged, "{loaded}" .. here .. " = inside\n  ? {load} : {zero};"))
      }
    }
#pragma unroll
    for (int pass = 0; pass < $(into.passes); pass++) {
      $(into.find)
      $(into.number)
      $(kit.unrolled("item", each_item)){
        if ($(into.inside)) {
          $(kit.each(exchanged, "{put}"))
        }
      }
    }
  }
//% end
  __syncthreads();

  // out, as the outputs lie
  $(out.setup)
#pragma unroll
  for (int pass = 0; pass < $(out.passes); pass++) {
    $(out.find)
    $(kit.unrolled("item", each_item)){
//% if out.inside ~= "true" then
      if (!($(out.inside))) continue;
//% end
      $(kit.each(exchanged, "const {type} {value} = {tile}[" .. kept_out .. "];"))
      $(kit.each(direct, "const {type} {value} = {load};"))
      $(kit.each(results, "{type} {value};"))
      $(compute)
      $(kit.each(results, "{store}"))
    }
  }
}
