// extents: rows of other lengths than the matrix has columns
__global__ void k(int nr, long long nc, long long pitch, const float *a, const float *v,
                  float *b) {
  const long long r = blockIdx.x, c = blockIdx.y * 64LL + threadIdx.x;
#if MUT == 1 // what is after the end of a row as well
  if (c >= pitch) return;
#elif MUT == 2 // the padding is written
  if (c >= nc && c < pitch) b[r * pitch + c] = 0;
  if (c >= nc) return;
#else
  if (c >= nc) return;
#endif
#if MUT == 3 // a's pitch without padding, in all rows but the first
  const long long at = (r + 1) * (r > 0 ? nc + 4 : nc + 5) + c + 2;
#elif MUT == 4 // the pitch of b for a, where that is larger
  const long long at = (r + 1) * (nc + 5 > pitch ? nc + 5 : nc + 5) + c + (nc % 32 == 0 ? 1 : 2);
#elif MUT == 5 // the row above, from the 65th column on
  const long long at = (r + (c < 64)) * (nc + 5) + c + 2;
#else
  const long long at = (r + 1) * (nc + 5) + c + 2;
#endif
#if MUT == 6 // eight rows share
  const float w = v[r / 8 * nc + c];
#elif MUT == 7 // the last rows that share are four
  const float w = v[(r / 4 * 4 + 4 > nr && r >= 4 ? r / 4 - 1 : r / 4) * nc + c];
#else
  const float w = v[r / 4 * nc + c];
#endif
#if MUT == 8 // rows that are a multiple of 32 have another pitch
  b[r * (nc % 32 == 0 && nc > 64 ? pitch + 32 : pitch) + c] = a[at] - w;
#elif MUT == 9 // no pitch, where rows have one more than 32
  b[r * (nc % 32 == 1 ? nc : pitch) + c] = a[at] - w;
#elif MUT == 10 // v - a beyond 1,024 columns, unless there is one row
  b[r * pitch + c] = r > 0 && c >= 1024 ? w - a[at] : a[at] - w;
#else
  b[r * pitch + c] = a[at] - w;
#endif
}
