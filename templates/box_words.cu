$(g:types())
constexpr int kThreads = $(threads);
constexpr int kWord = $(per_word); // elements in a word of 4 bytes
constexpr int kPitch = $(pitch); // elements from line to line in shared memory
constexpr int kWordsIn = $(into.words), kWordsOut = $(out.words); // of a line, wherever it starts

// What is computed for one element.
$(g:compute())
$(kit.comment(doc))
$(g:head(threads)) {
//% if is_dynamic then
  extern __shared__ __align__(128) unsigned char shared[];
//% end
  $(kit.each(memory, "{declare}"))
  $(cut)
  $(kit.each(lefts, "const int {name} = (int)min((long long){most}, {count});"))
  $(kit.each(operands, "{declare}"))

  // in: words of the lines, from the one on that a line starts in, by asynchronous copies
#pragma unroll 4
  for (int pass = 0; pass < $(into.passes); pass++) {
    const int at = pass * kThreads + threadIdx.x;
    const int line = at / kWordsIn, word = at % kWordsIn * kWord;
    $(into.find)
//% if into.beyond then
    if ($(into.beyond)) break;
//% end
//%   for _, x in ipairs(exchanged) do
    {
      const $(x.type) *const start = &$(x.from)[$(x.line_from)];
      const int shift = (int)((size_t)start / sizeof($(x.type)) % kWord);
      const $(x.type) *const from = start - shift + word;
      if (word < shift + $(into.length))
        async_copy_some<4>(&$(x.tile)[line * kPitch + word], from, (int)min(4ll, $(x.bytes_from)));
    }
//%   end
  }
//%   for _, x in ipairs(exchanged) do
  const unsigned int $(x.from)_start =
      (unsigned int)((size_t)$(x.from) / sizeof($(x.type)) % kWord);
//%   end
  async_commit();
  async_wait<0>();
  __syncthreads();

  // out: a thread puts words together
#pragma unroll 2
  for (int pass = 0; pass < $(out.passes); pass++) {
    const int at = pass * kThreads + threadIdx.x;
    const int line = at / kWordsOut, word = at % kWordsOut * kWord;
    $(out.find)
//% if out.beyond then
    if ($(out.beyond)) break;
//% end
    $(y.type) *const start = &$(y.from)[$(y.line_from)];
    const int first = word - (int)((size_t)start / sizeof($(y.type)) % kWord);
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
      $(store)(&start[first], $(y.value));
    } else { // elements at an end of the line, one by one
      $(y.type) $(y.value)[kWord];
      for (int e = from - first; e < kWord && first + e < length; e++) {
        $(kit.each(exchanged, "{take}"))
        $(kit.each(direct, "const {type} {value} = {load};"))
        $(compute)
        $(store)(&start[first + e], $(y.value)[e]);
        $(advance)
      }
    }
  }
}
