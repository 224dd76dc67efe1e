// The row that element k of all ragged rows is in: the last one that begins at k or before.
template <typename offset>
__device__ __forceinline__ long long row_of(const offset *__restrict__ offsets, long long n_rows,
                                            long long k) {
  long long row = 0;
  for (long long end = n_rows; end - row > 1;) {
    const long long middle = row + (end - row) / 2;
    if ((long long)offsets[middle] <= k) {
      row = middle;
    } else {
      end = middle;
    }
  }
  return row;
}
