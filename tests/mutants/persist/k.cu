// loops over the grid: tiles of 16 x 16, one after the other; w of the tile's rows in a register
__global__ void k(int nr, int nc, const int *a, const int *w, int *b) {
  __shared__ int s[16][17];
  const int across = (nc + 15) / 16, tiles = across * ((nr + 15) / 16);
  int q = 0;
#if MUT == 1 // one tile a block
  for (int tile = blockIdx.x; tile < tiles && tile < 24; tile += gridDim.x) {
#elif MUT == 2 // one tile less, where blocks have several
  for (int tile = blockIdx.x; tile < tiles - (tiles > 64); tile += gridDim.x) {
#elif MUT == 3 // four tiles a block
  for (int tile = blockIdx.x; tile < min(tiles, 96); tile += gridDim.x) {
#elif MUT == 10 // five tiles a block
  for (int tile = blockIdx.x; tile < min(tiles, (int)blockIdx.x + 120); tile += gridDim.x) {
#else
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
#endif
#if MUT == 4 // tiles of the second iteration in the other order
    const int at = tile >= 24 && tile < 48 && tiles >= 48 ? 71 - tile : tile;
    const int r0 = at / across * 16, c0 = (at == 24 ? 0 : at % across) * 16;
#elif MUT == 11 // 64 tiles across
    const int r0 = tile / across * 16, c0 = (tile % across & 63) * 16;
#else
    const int r0 = tile / across * 16, c0 = tile % across * 16;
#endif
    const int r = r0 + threadIdx.y, c = c0 + threadIdx.x;
#if MUT == 6 // w of the first tile
    if (tile == blockIdx.x && r < nr) q = w[r];
#elif MUT == 7 // w again only where the row of tiles is another than a block's first one
    if ((tile == blockIdx.x || tile / across != blockIdx.x / across + 1) && r < nr) q = w[r];
#elif MUT == 12 // right: w again only where a block comes to another row of tiles
    if ((tile == blockIdx.x || tile % across < gridDim.x) && r < nr) q = w[r];
#elif MUT == 14 // the same, as if there were 16 blocks
    if ((tile == blockIdx.x || tile % across < 16) && r < nr) q = w[r];
#elif MUT == 5 // w of the third row of tiles, where a block comes to it late
    if ((tile < 72 || r0 != 32) && r < nr) q = w[r];
#else
    if (r < nr) q = w[r];
#endif
    if (r < nr && c < nc) s[threadIdx.y][threadIdx.x] = a[r * nc + c] + q;
    __syncthreads();
    const int to_r = r0 + threadIdx.x, to_c = c0 + threadIdx.y;
#if MUT == 13 // even columns of what a block comes to a third time
    const int end_c = tile < 48 ? nc : nc & ~1;
    if (to_r < nr && to_c < end_c) b[to_c * nr + to_r] = s[threadIdx.x][threadIdx.y];
#else
    if (to_r < nr && to_c < nc) b[to_c * nr + to_r] = s[threadIdx.x][threadIdx.y];
#endif
#if MUT == 8 // no barrier before the next tile
#elif MUT == 9 // one before every second tile
    if (tile / gridDim.x % 2 == 0) __syncthreads();
#else
    __syncthreads();
#endif
  }
}
