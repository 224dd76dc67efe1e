// Kernels whose coalescing is known by hand: test_tune_coalescing.c has their specs.
typedef long long extent;

struct vec3d {
  double x, y, z;
};

struct vec3 {
  float x, y, z;
};

struct vec4 {
  float x, y, z, w;
};

__device__ extent thread_index() {
  return blockIdx.x * (extent)blockDim.x + threadIdx.x;
}

extern "C" __global__ void copy(const float *a, float *b, extent n_i) {
  const extent i = thread_index();
  if (i < n_i) {
    b[i] = a[i];
  }
}

extern "C" __global__ void records(const vec3d *a, vec3d *b, extent n_i) {
  const extent i = thread_index();
  if (i < n_i) {
    b[i].x = a[i].x + 1.0;
    b[i].y = a[i].y + 1.0;
    b[i].z = a[i].z + 1.0;
  }
}

extern "C" __global__ void field(const vec3d *a, double *b, extent n_i) {
  const extent i = thread_index();
  if (i < n_i) {
    b[i] = a[i].y;
  }
}

extern "C" __global__ void shifted(const float *a, float *b, extent n_i) {
  const extent i = thread_index();
  if (i < n_i) {
    b[i] = a[i + 1];
  }
}

extern "C" __global__ void odd_rows(const unsigned char *a, unsigned char *b, extent n_row,
                                    extent n_col) {
  const extent row = blockIdx.x;
  for (extent col = threadIdx.x; col < n_col; col += blockDim.x) {
    b[row * n_col + col] = a[row * n_col + col];
  }
}

// kLanes threads a row.
template <int kLanes>
__device__ void copy_rows(const float *a, float *b, extent n_row, extent n_col) {
  const extent row = thread_index() / kLanes;
  for (extent col = threadIdx.x % kLanes; row < n_row && col < n_col; col += kLanes) {
    b[row * n_col + col] = a[row * n_col + col];
  }
}

extern "C" __global__ void rows_by_8(const float *a, float *b, extent n_row, extent n_col) {
  copy_rows<8>(a, b, n_row, n_col);
}

extern "C" __global__ void rows_by_16(const float *a, float *b, extent n_row, extent n_col) {
  copy_rows<16>(a, b, n_row, n_col);
}

extern "C" __global__ void rows_by_32(const float *a, float *b, extent n_row, extent n_col) {
  copy_rows<32>(a, b, n_row, n_col);
}

extern "C" __global__ void transpose(const float *a, float *b, extent n_row, extent n_col) {
  const extent i = thread_index(), row = i / n_col, col = i % n_col;
  if (row < n_row) {
    b[col * n_row + row] = a[i];
  }
}

extern "C" __global__ void strided(const float *a, float *b, extent n_i) {
  const extent i = thread_index();
  if (i < n_i) {
    b[i] = a[8 * i];
  }
}

extern "C" __global__ void gather(const int *pick, const float *a, float *b, extent n_i, extent) {
  const extent i = thread_index();
  if (i < n_i) {
    b[i] = a[pick[i]];
  }
}

extern "C" __global__ void gather_records(const int *pick, const vec3 *a, vec3 *b, extent n_i,
                                          extent) {
  const extent i = thread_index();
  if (i < n_i) {
    b[i].x = a[pick[i]].x;
    b[i].y = a[pick[i]].y;
    b[i].z = a[pick[i]].z;
  }
}

// Lane 0 loads for its warp.
extern "C" __global__ void one_lane(const float *a, float *b, extent n_i) {
  const extent i = thread_index();
  float mine = 0;
  for (int k = 0; k < 32; k++) {
    float loaded = 0;
    if (threadIdx.x % 32 == 0 && i + k < n_i) {
      loaded = *(const volatile float *)&a[i + k];
    }
    loaded = __shfl_sync(~0u, loaded, 0);
    mine = threadIdx.x % 32 == k ? loaded : mine;
  }
  if (i < n_i) {
    b[i] = mine;
  }
}

// Every second row is loaded and thrown away: 2 x 32 columns a block.
extern "C" __global__ void thrown_away(const float *a, float *b, extent n_row, extent n_col) {
  const extent row = blockIdx.x;
  for (extent col = threadIdx.x; col < n_col; col += blockDim.x) {
    const float kept = *(const volatile float *)&a[2 * row * n_col + col];
    const float lost = *(const volatile float *)&a[(2 * row + 1) * n_col + col];
    b[row * n_col + col] = lost == 0.5f ? kept : kept;
  }
}

// Whole records, of which one field is used: as good as the layout allows.
extern "C" __global__ void whole_records(const vec4 *a, float *b, extent n_i) {
  const extent i = thread_index();
  if (i < n_i) {
    b[i] = reinterpret_cast<const float4 *>(a)[i].x;
  }
}

// Each row is read by every block.
extern "C" __global__ void broadcast(const float *a, const float *c, float *b, extent n_row,
                                     extent n_col) {
  const extent row = blockIdx.x;
  for (extent col = threadIdx.x; col < n_col; col += blockDim.x) {
    b[row * n_col + col] = a[row * n_col + col] + c[col];
  }
}
