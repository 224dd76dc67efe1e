$(g:types())
// Computes one element.
$(g:compute())
$(kit.comment(doc))
$(g:head(g.threads)) {
//% if width > 1 then
  constexpr int kVec = $(width); // elements of a vector
//% end
//% if extents then
  constexpr int $(extents); // extents of a box
//% end
  constexpr int kLoads = $(into.passes), kStores = $(out.passes); // of a thread
//% if is_dynamic then
  extern __shared__ __align__(128) unsigned char shared[];
//% end
  $(kit.each(memory, "{declare}"))
  // where the box begins
  $(cut)
//% if #strides > 0 then
  // elements between neighbours along a mode
  $(kit.concat(strides))
//% end
  $(kit.each(operands, "{declare}"))

  // guarded: the box crosses the end of a mode.
  const auto move_box = [&](bool guarded) {
    $(kit.concat(lefts))

    // in, as the inputs lie$(how)
    $(into.only){
      $(into.setup)
      $(kit.each(exchanged, "{start}"))
//% if not is_async then
      $(kit.each(exchanged, "{vector} {loaded}[kLoads];"))
//% end
      each_pass<kLoads>(guarded, [&](int pass) {
        $(into.find)
        $(kit.each(exchanged, into.guard .. "{fetch}"))
        $(kit.each(exchanged, "{go_on}"))
      });
//% if is_async then
      async_commit();
      async_wait<0>();
//% else
#pragma unroll
      for (int pass = 0; !guarded && pass < kLoads; pass++) {
        $(into.find)
        $(kit.each(exchanged, into.guard_whole .. "{put} = {loaded}[pass];"))
      }
//% end
    }
    __syncthreads();

    // out, as the outputs lie
    $(out.only){
      $(out.setup)
      $(kit.each(at_outputs, "{start}"))
      each_pass<kStores>(guarded, [&](int pass) {
        $(out.find)
        $(out.inside){
          $(kit.each(exchanged, "{take}"))
          $(kit.each(direct, "{take}"))
          $(kit.each(results, "{vector} {value};"))
//% if width > 1 then
#pragma unroll
          for (int e = 0; e < kVec; e++) {
            $(compute)
          }
//% else
          $(compute)
//% end
          $(kit.each(results, "{store}"))
        }
        $(kit.each(at_outputs, "{go_on}"))
      });
    }
  };

//% if whole then
  if ($(whole))
    move_box(false);
  else
    move_box(true);
//% else
  move_box(false);
//% end
}
