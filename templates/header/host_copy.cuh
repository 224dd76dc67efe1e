static inline void $(detail)_copy_in(void *ring, const void *from, long long bytes) {
  memcpy(ring, from, (size_t)bytes);
}

// From the ring to the host's array, past the caches, which the ring has for itself.
static inline void $(detail)_copy_out(void *to, const void *from, long long bytes) {
  size_t left = (size_t)bytes;
#if defined(__SSE2__)
  const size_t aligned = (size_t)(-(intptr_t)to & 15), head = aligned < left ? aligned : left;
  memcpy(to, from, head);
  __m128i *out = (__m128i *)((char *)to + head);
  const __m128i *in = (const __m128i *)((const char *)from + head);
  for (left -= head; left >= 64; left -= 64, in += 4, out += 4) {
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  _mm_sfence();
  to = out;
  from = in;
#endif
  memcpy(to, from, left);
}

