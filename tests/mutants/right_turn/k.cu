__global__ void plain(int nr, int nc, const unsigned *a, unsigned *b) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  for (int r = blockIdx.y * 32 + threadIdx.y; r < min(nr, (int)blockIdx.y * 32 + 32); r += 8) {
    if (c < nc) b[c * nr + r] = a[r * nc + c];
  }
}

__global__ void padded(int nr, int nc, const unsigned *a, unsigned *b) {
  __shared__ unsigned s[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    if (r + j < nr && c < nc) s[threadIdx.y + j][threadIdx.x] = a[(r + j) * nc + c];
  }
  __syncthreads();
  r = blockIdx.y * 32 + threadIdx.x, c = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    if (r < nr && c + j < nc) b[(c + j) * nr + r] = s[threadIdx.x][threadIdx.y + j];
  }
}

// Columns of row j are exchanged by the bits of j.
__global__ void swizzled(int nr, int nc, const unsigned *a, unsigned *b) {
  __shared__ unsigned s[32 * 32];
  const int x = threadIdx.x, c0 = blockIdx.x * 32, r0 = blockIdx.y * 32;
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8) {
    s[y * 32 + (x ^ y)] = r0 + y < nr && c0 + x < nc ? a[(r0 + y) * nc + c0 + x] : 0u;
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8) {
    if (c0 + y < nc && r0 + x < nr) b[(c0 + y) * nr + r0 + x] = s[x * 32 + (y ^ x)];
  }
}

__device__ __forceinline__ unsigned &at(unsigned *s, int j, int i) { return s[j * 33 + i]; }
__global__ void dynamic(int nr, int nc, const unsigned *a, unsigned *b) {
  extern __shared__ unsigned s[];
  const int t = threadIdx.y * 32 + threadIdx.x;
  const int width = min(32, nc - (int)blockIdx.x * 32), height = min(32, nr - (int)blockIdx.y * 32);
  a += blockIdx.y * 32 * nc + blockIdx.x * 32;
  b += blockIdx.x * 32 * nr + blockIdx.y * 32;
  for (int e = t; e < width * height; e += 256) {
    at(s, e / width, e % width) = a[e / width * nc + e % width];
  }
  __syncthreads();
  for (int e = t; e < width * height; e += 256) {
    b[e / height * nr + e % height] = at(s, e % height, e / height);
  }
}

// A warp has a tile in registers and turns it in five steps.
__global__ void shuffled(int nr, int nc, const unsigned *a, unsigned *b) {
  const int lane = threadIdx.x, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
  unsigned v[32];
#pragma unroll
  for (int j = 0; j < 32; j++) {
    v[j] = r0 + j < nr && c0 + lane < nc ? a[(r0 + j) * nc + c0 + lane] : 0;
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) {
#pragma unroll
    for (int j = 0; j < 32; j++) {
      if (j & o) continue;
      const unsigned sent = lane & o ? v[j] : v[j | o];
      const unsigned got = __shfl_xor_sync(~0u, sent, o);
      if (lane & o) v[j] = got;
      else v[j | o] = got;
    }
  }
#pragma unroll
  for (int j = 0; j < 32; j++) {
    if (c0 + j < nc && r0 + lane < nr) b[(c0 + j) * nr + r0 + lane] = v[j];
  }
}

__global__ void persistent(int nr, int nc, const unsigned *a, unsigned *b) {
  __shared__ unsigned s[32][33];
  const int across = (nc + 31) / 32, tiles = across * ((nr + 31) / 32);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int c0 = tile % across * 32, r0 = tile / across * 32;
    for (int j = threadIdx.y; j < 32 && r0 + j < nr; j += 8) {
      if (c0 + (int)threadIdx.x < nc) s[j][threadIdx.x] = a[(r0 + j) * nc + c0 + threadIdx.x];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < 32 && c0 + j < nc; j += 8) {
      if (r0 + (int)threadIdx.x < nr) b[(c0 + j) * nr + r0 + threadIdx.x] = s[threadIdx.x][j];
    }
    __syncthreads();
  }
}
