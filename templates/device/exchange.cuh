// Two rows of halves become columns: columns[x] has element x of both rows.
template <int kWords>
__device__ __forceinline__ void turn_halves(const unsigned int (&rows)[2][kWords],
                                            unsigned int (&columns)[2 * kWords]) {
#pragma unroll
  for (int w = 0; w < kWords; w++) {
    columns[2 * w] = __byte_perm(rows[0][w], rows[1][w], 0x5410);
    columns[2 * w + 1] = __byte_perm(rows[0][w], rows[1][w], 0x7632);
  }
}

// The way back: columns of halves become two rows.
template <int kWords>
__device__ __forceinline__ void turn_halves_back(const unsigned int (&columns)[2 * kWords],
                                                 unsigned int (&rows)[2][kWords]) {
#pragma unroll
  for (int w = 0; w < kWords; w++) {
    rows[0][w] = __byte_perm(columns[2 * w], columns[2 * w + 1], 0x5410);
    rows[1][w] = __byte_perm(columns[2 * w], columns[2 * w + 1], 0x7632);
  }
}

// Four rows of bytes become columns: columns[x] has element x of all rows.
template <int kWords>
__device__ __forceinline__ void turn_bytes(const unsigned int (&rows)[4][kWords],
                                           unsigned int (&columns)[4 * kWords]) {
#pragma unroll
  for (int w = 0; w < kWords; w++) {
    const unsigned int low01 = __byte_perm(rows[0][w], rows[1][w], 0x5140);
    const unsigned int high01 = __byte_perm(rows[0][w], rows[1][w], 0x7362);
    const unsigned int low23 = __byte_perm(rows[2][w], rows[3][w], 0x5140);
    const unsigned int high23 = __byte_perm(rows[2][w], rows[3][w], 0x7362);
    columns[4 * w] = __byte_perm(low01, low23, 0x5410);
    columns[4 * w + 1] = __byte_perm(low01, low23, 0x7632);
    columns[4 * w + 2] = __byte_perm(high01, high23, 0x5410);
    columns[4 * w + 3] = __byte_perm(high01, high23, 0x7632);
  }
}

// The way back: columns of bytes become four rows.
template <int kWords>
__device__ __forceinline__ void turn_bytes_back(const unsigned int (&columns)[4 * kWords],
                                                unsigned int (&rows)[4][kWords]) {
#pragma unroll
  for (int w = 0; w < kWords; w++) {
    const unsigned int low01 = __byte_perm(columns[4 * w], columns[4 * w + 1], 0x5140);
    const unsigned int high01 = __byte_perm(columns[4 * w], columns[4 * w + 1], 0x7362);
    const unsigned int low23 = __byte_perm(columns[4 * w + 2], columns[4 * w + 3], 0x5140);
    const unsigned int high23 = __byte_perm(columns[4 * w + 2], columns[4 * w + 3], 0x7362);
    rows[0][w] = __byte_perm(low01, low23, 0x5410);
    rows[1][w] = __byte_perm(low01, low23, 0x7632);
    rows[2][w] = __byte_perm(high01, high23, 0x5410);
    rows[3][w] = __byte_perm(high01, high23, 0x7632);
  }
}
