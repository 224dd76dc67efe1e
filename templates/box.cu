$(g:types())
//% if width > 1 then
constexpr int kVec = $(width); // elements of a vector
//% end

// What is computed for one element.
$(g:compute())
// kGuarded: the box crosses the end of a mode; less is unrolled, as few blocks have such a box.
template <bool kGuarded>
__device__ __forceinline__ void move_box($(g:params()), $(place_params)) {
  constexpr int kUnrolled = kGuarded ? 4 : $(math.max(into.passes, out.passes));
  $(kit.each(operands, "{declare}"))
  $(kit.each(lefts, "const int {name} = (int)min((long long){most}, {count});"))

  // in, as the inputs lie$(how)
  $(into.only){
    $(into.setup)
    $(kit.each(exchanged, "{start}"))
//% if not is_async then
    $(kit.each(exchanged, "{vector} {loaded}[" .. into.passes .. "];"))
//% end
#pragma unroll kUnrolled
    for (int pass = 0; pass < $(into.passes); pass++) {
      $(into.find)
      $(kit.each(exchanged, into.guard .. "{fetch}"))
      $(kit.each(exchanged, "{go_on}"))
    }
//% if is_async then
    async_commit();
    async_wait<0>();
//% else
#pragma unroll
    for (int pass = 0; !kGuarded && pass < $(into.passes); pass++) {
      $(into.find)
      $(kit.each(exchanged, into.guard .. "{put} = {loaded}[pass];"))
    }
//% end
  }
  __syncthreads();

  // out, as the outputs lie
  $(out.only){
    $(out.setup)
    $(kit.each(at_outputs, "{start}"))
#pragma unroll kUnrolled
    for (int pass = 0; pass < $(out.passes); pass++) {
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
    }
  }
}

$(kit.comment(doc))
$(g:head(g.threads)) {
//% if is_dynamic then
  extern __shared__ __align__(128) unsigned char shared[];
//% end
  $(kit.each(memory, "{declare}"))
  $(cut)
//% if whole then
  if ($(whole))
    move_box<false>($(call));
  else
    move_box<true>($(call));
//% else
  move_box<false>($(call));
//% end
}
