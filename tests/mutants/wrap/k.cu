// extents: periodic in three dimensions; extents of 1 and 2 wrap onto themselves
__device__ int wrap(int i, int n) {
#if MUT == 1 // once around at most
  return i < 0 ? i + n : i >= n ? i - n : i;
#elif MUT == 2 // held to the edge
  return min(max(i, 0), n - 1);
#elif MUT == 3 // the remainder of a negative number
  return i < 0 ? (i % n == 0 ? 0 : n - 1) : i % n;
#elif MUT == 4 // of unsigned numbers
  return (unsigned)i % n;
#elif MUT == 5 // powers of two only
  return n > 1 ? i & (n - 1) : 0;
#else
  return ((i % n) + n) % n;
#endif
}
__global__ void k(int nz, int ny, int nx, const float *a, const float *c, float *b) {
  const int x = blockIdx.x * 32 + threadIdx.x;
#if MUT == 6 // y and z in each other's place
  const int y = blockIdx.z * 2 + threadIdx.y, z = blockIdx.y * 2 + threadIdx.z;
#else
  const int y = blockIdx.y * 2 + threadIdx.y, z = blockIdx.z * 2 + threadIdx.z;
#endif
  if (x >= nx || y >= ny || z >= nz) return;
#define AT(z, y, x) ((wrap(z, nz) * ny + wrap(y, ny)) * nx + wrap(x, nx))
#if MUT == 7 // the plane below the first is the second
  float v = a[z == 0 && nz > 4 ? AT(1, y, x) : AT(z - 1, y, x)] + a[AT(z + 1, y, x)];
#elif MUT == 8 // planes beyond the third
  float v = a[AT(z - 1, y, x)] + a[z > 3 ? AT(z, y, x) : AT(z + 1, y, x)];
#else
  float v = a[AT(z - 1, y, x)] + a[AT(z + 1, y, x)];
#endif
#if MUT == 9 // the second row wraps like the first
  v = v + a[y == 1 && ny > 2 ? AT(z, -2, x) : AT(z, y - 2, x)];
#else
  v = v + a[AT(z, y - 2, x)];
#endif
  v = v + a[AT(z, y, x - 1)];
#if MUT == 10 // the last column's neighbour is in the next row
  v = v + a[x == nx - 1 && y + 1 < ny ? AT(z, y + 1, 0) : AT(z, y, x + 1)];
#else
  v = v + a[AT(z, y, x + 1)];
#endif
#if MUT == 11 // the row before, left of a row
  const int at = (z * ny + y) * nx + x - 3;
  b[at + 3] = v + (at >= 0 ? c[at] : 0.0f);
#elif MUT == 12 // x of 3 is left of it, too
  b[(z * ny + y) * nx + x] = v + (x > 3 ? c[(z * ny + y) * nx + x - 3] : 0.0f);
#else
  b[(z * ny + y) * nx + x] = v + (x >= 3 ? c[(z * ny + y) * nx + x - 3] : 0.0f);
#endif
}
