$(g:types())
// Computes one element.
$(g:compute())
$(kit.comment(doc))
$(g:head(g.threads)) {
  constexpr int kWord = $(per_word); // elements in a word of 4 bytes
//% if extents then
  constexpr int $(extents); // extents of a box
//% end
  constexpr int kLoads = $(into.passes), kStores = $(out.passes); // of a thread
//% if is_dynamic then
  extern __shared__ __align__(128) unsigned char shared[];
//% end
  $(kit.each(memory, "{declare}"))
  // where the box begins, and how much of it there is
  $(cut)
  $(kit.concat(lefts))
//% if #strides > 0 then
  // elements between neighbours along a mode
  $(kit.concat(strides))
//% end
  $(kit.each(operands, "{declare}"))
  // where the first line starts in a word
  $(kit.each(exchanged, "{declare_word}"))

  // in: words of the lines, from the one on that a line starts in, by asynchronous copies
  $(into.only){
    $(into.setup)
    $(kit.each(exchanged, "{start_of}"))
#pragma unroll
    for (int pass = 0; pass < kLoads; pass++) {
      $(into.find)
      $(kit.each(exchanged, into.guard .. "{fetch}"))
      $(kit.each(exchanged, "{go_on}"))
    }
    async_commit();
    async_wait<0>();
  }
  __syncthreads();

  // out: a thread puts words together
  $(out.leave)
  $(out.setup)
  $(y.start_of)
#pragma unroll
  for (int pass = 0; pass < kStores; pass++) {
    $(out.find)
    $(out.inside){
      const int first = $(word) * kWord - (int)((size_t)$(y.from) / sizeof($(y.type)) % kWord);
      const int length = $(out.length), from = max(first, 0);
      $(find_first)
      $(kit.each(exchanged, "{find_place}"))
      if (first >= 0 && first + kWord <= length) {
        vec<$(y.type), kWord> $(y.value);
#pragma unroll
        for (int e = 0; e < kWord; e++) {
          $(kit.each(exchanged, "{take}"))
          $(kit.each(direct, "const {type} {value} = {load};"))
          $(compute)
          $(advance)
        }
        $(store)(&$(y.from)[first], $(y.value));
      } else { // elements at an end of the line, one by one
        $(y.type) $(y.value)[kWord];
        for (int e = from - first; e < kWord && first + e < length; e++) {
          $(kit.each(exchanged, "{take}"))
          $(kit.each(direct, "const {type} {value} = {load};"))
          $(compute)
          $(store)(&$(y.from)[first + e], $(y.value)[e]);
          $(advance)
        }
      }
    }
    $(y.go_on)
  }
}
