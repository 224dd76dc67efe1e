// extents: a tile of 16 rows of 32 in shared memory with what is around it, held to the edges
__global__ void k(int ny, int nx, const int *a, int *b) {
  __shared__ int s[18][35];
  const int y0 = blockIdx.y * 16, x0 = blockIdx.x * 32;
  for (int t = threadIdx.y * 32 + threadIdx.x; t < 18 * 35; t += 128) {
    const int j = t / 35, i = t % 35;
#if MUT == 1 // wraps on the left
    const int y = min(max(y0 + j - 1, 0), ny - 1);
    const int x = x0 + i < 1 ? nx - 1 : min(x0 + i - 1, nx - 1);
#elif MUT == 2 // held to the first column of the last tile on the right
    const int y = min(max(y0 + j - 1, 0), ny - 1), last = nx > 64 ? nx - 2 : nx - 1;
    const int x = x0 + i - 1 >= nx + 1 ? last : min(max(x0 + i - 1, 0), nx - 1);
#elif MUT == 3 // held below where rows are a multiple of 16
    const int edge = ny % 16 == 0 && ny > 16 ? ny - 2 : ny - 1;
    const int y = y0 + j - 1 >= ny ? edge : max(y0 + j - 1, 0);
    const int x = min(max(x0 + i - 1, 0), nx - 1);
#elif MUT == 4 // the corner on the lower right
    int y = min(max(y0 + j - 1, 0), ny - 1);
    const int x = min(max(x0 + i - 1, 0), nx - 1);
    if (y0 + j - 1 >= ny && x0 + i - 1 >= nx && ny > 16 && nx > 32) y = max(ny - 2, 0);
#elif MUT == 5 // the second column beyond a tile, where one follows
    const int y = min(max(y0 + j - 1, 0), ny - 1);
    const int x = min(max(x0 + i - 1 - (i == 34 && x0 + 64 < nx), 0), nx - 1);
#elif MUT == 6 // 0 above
    const int y = min(max(y0 + j - 1, 0), ny - 1), x = min(max(x0 + i - 1, 0), nx - 1);
    if (y0 + j < 1) { s[j][i] = 0; continue; }
#elif MUT == 7 // the row above in blocks of the fourth row and beyond
    const int y = min(max(y0 + j - (j > 0 || blockIdx.y < 3), 0), ny - 1);
    const int x = min(max(x0 + i - 1, 0), nx - 1);
#elif MUT == 8 // the row below a tile, next to the last one
    const int y = min(max(y0 + j - 1 - (j == 17 && y0 + 32 >= ny && y0 > 16), 0), ny - 1);
    const int x = min(max(x0 + i - 1, 0), nx - 1);
#else
    const int y = min(max(y0 + j - 1, 0), ny - 1), x = min(max(x0 + i - 1, 0), nx - 1);
#endif
    s[j][i] = a[y * nx + x];
  }
#if MUT == 9 // no barrier
#else
  __syncthreads();
#endif
  for (int j = threadIdx.y; j < 16; j += 4) {
    const int y = y0 + j, x = x0 + threadIdx.x, i = threadIdx.x + 1;
    if (y >= ny || x >= nx) continue;
    const int row = j + 1;
#if MUT == 10 // the tap of the row below and two to the right, at the last column but one
    const int d = x == nx - 2 && nx > 34 ? s[row + 1][i] : s[row + 1][i + 2];
#elif MUT == 11 // south and east, of square matrices
    const int d = nx == ny && nx > 40 ? s[row + 1][i + 1] : s[row + 1][i + 2];
#elif MUT == 12 // a matrix of one row
    const int d = ny == 1 && nx > 32 ? s[row][i + 1] : s[row + 1][i + 2];
#else
    const int d = s[row + 1][i + 2];
#endif
    b[y * nx + x] = s[row][i] + 2 * s[row - 1][i] + 3 * s[row + 1][i] + 5 * s[row][i - 1] +
                    7 * s[row][i + 1] + 11 * d;
  }
}
