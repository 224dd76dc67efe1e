// templates/device/async.cuh: smem_address, async_copy_some, async_copy_word, async_commit, async_wait
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, store

// Computes one element.
__device__ __forceinline__ void compute(unsigned char a, unsigned char &b) {
  b = a;
}

// A block moves a box of 7320 elements (40 x 61 x 3) through shared memory: in as inputs lie, out
// as outputs lie.
__global__ void __launch_bounds__(256)
box_words(const unsigned char *__restrict__ a, unsigned char *__restrict__ b, long long n_at,
          long long n_row, long long n_column) {
  constexpr int kWord = 4; // elements in a word of 4 bytes
  constexpr int kBoxAt = 40; // extents of a box
  constexpr int kLoads = 8, kStores = 8; // of a thread
  __shared__ __align__(16) unsigned char a_box[7564]; // lines of a
  // where the box begins, and how much of it there is
  unsigned int block = blockIdx.x;
  const long long first_at = (long long)block * kBoxAt;
  const int left_at = (int)min((long long)kBoxAt, n_at - first_at);
  // elements between neighbours along a mode
  const long long a_stride_row = 3 * n_at;
  const unsigned char *const a_first = &a[3 * first_at];
  unsigned char *const b_first = &b[183 * first_at];
  // where the first line starts in a word
  const unsigned int a_word =
      (unsigned int)((size_t)a_first / sizeof(unsigned char) % kWord);

  // in: words of the lines, from the one on that a line starts in, by asynchronous copies
  if (threadIdx.x < 248) {
    const int word = threadIdx.x % 31;
    const int row_ = threadIdx.x / 31;
    const unsigned char *a_from = a_first + a_stride_row * row_;
#pragma unroll
    for (int pass = 0; pass < kLoads; pass++) {
      const int row = pass * 8 + row_;
      if (pass < 7 || row < 61)
        async_copy_word(&a_box[124 * row], a_from, word, left_at * 3, a + 183 * n_at);
      a_from += 8 * a_stride_row;
    }
    async_commit();
    async_wait<0>();
  }
  __syncthreads();

  // out: a thread puts words together
  const int row_ = threadIdx.x;
  unsigned char *b_to = b_first;
#pragma unroll
  for (int pass = 0; pass < kStores; pass++) {
    const int word = pass * 256 + row_;
    if (pass < 7 || word < 1831) {
      const int first = word * kWord - (int)((size_t)b_to / sizeof(unsigned char) % kWord);
      const int length = left_at * 183, from = max(first, 0);
      int column = from % 3;
      int row = from / 3 % 61;
      int at = from / 183;
      int a_place = 124 * row + 3 * at + column;
      unsigned int a_start = (unsigned int)(3 * n_at * row + a_word);
      if (first >= 0 && first + kWord <= length) {
        vec<unsigned char, kWord> b_v;
#pragma unroll
        for (int e = 0; e < kWord; e++) {
          const unsigned char a_v = a_box[a_place + a_start % kWord];
          compute(a_v, b_v[e]);
          a_place += 1;
          if (++column == 3) {
            column = 0;
            a_place += 121;
            a_start += (unsigned int)(3 * n_at);
            if (++row == 61) {
              row = 0;
              a_place += -7561;
              a_start += (unsigned int)(-183 * n_at);
            }
          }
        }
        store(&b_to[first], b_v);
      } else { // elements at an end of the line, one by one
        unsigned char b_v[kWord];
        for (int e = from - first; e < kWord && first + e < length; e++) {
          const unsigned char a_v = a_box[a_place + a_start % kWord];
          compute(a_v, b_v[e]);
          store(&b_to[first + e], b_v[e]);
          a_place += 1;
          if (++column == 3) {
            column = 0;
            a_place += 121;
            a_start += (unsigned int)(3 * n_at);
            if (++row == 61) {
              row = 0;
              a_place += -7561;
              a_start += (unsigned int)(-183 * n_at);
            }
          }
        }
      }
    }
  }
}
