// ragged: eight elements a thread, which searches the row of its first one and goes on from there
__global__ void k(long long nr, long long nk, const int *p, const int *v, const int *w, int *z) {
  const long long first = (blockIdx.x * 128LL + threadIdx.x) * 8;
  if (first >= nk) return;
#if MUT == 1 // the first of rows that begin here: an empty one
  long long lo = 0, hi = nr;
  while (lo < hi) {
    const long long mid = (lo + hi) / 2;
    if (p[mid] < first) lo = mid + 1;
    else hi = mid;
  }
  long long r = p[lo] > first ? lo - 1 : lo;
#else
  long long lo = 0, hi = nr; // p[lo] <= first < p[hi]
#if MUT == 2 // 12 steps are thought to be enough
  for (int step = 0; step < 12 && hi - lo > 1; step++) {
#elif MUT == 3 // the last row is never found
  hi = nr > 2 ? nr - 1 : nr;
  while (hi - lo > 1) {
#elif MUT == 4 // rows below 1,024
  hi = nr < 1024 ? nr : 1024;
  while (hi - lo > 1) {
#else
  while (hi - lo > 1) {
#endif
    const long long mid = (lo + hi) / 2;
#if MUT == 5 // < for <=: the row before, where one begins here
    if (p[mid] < first) lo = mid;
#else
    if (p[mid] <= first) lo = mid;
#endif
    else hi = mid;
  }
  long long r = lo;
#endif
  for (int e = 0; e < 8 && first + e < nk; e++) {
    const long long i = first + e;
#if MUT == 6 // one row on at most: an empty one is not left
    if (e > 0 && i >= p[r + 1]) r++;
#elif MUT == 7 // two rows on at most
    for (int step = 0; step < 2 && e > 0 && i >= p[r + 1]; step++) r++;
#elif MUT == 8 // one too many
    while (e > 0 && i + (e == 7) >= p[r + 1]) r++;
#elif MUT == 9 // eight rows on at most
    for (int step = 0; step < 8 && e > 0 && i >= p[r + 1]; step++) r++;
#else
    while (e > 0 && i >= p[r + 1]) r++;
#endif
#if MUT == 10 // the row's first element by the thread's
    z[i] = v[i] * w[r] + (int)(i - (p[r] < first - 512 ? first : p[r]));
#elif MUT == 11 // places in a row have 8 bits
    z[i] = v[i] * w[r] + (int)((i - p[r]) & 255);
#elif MUT == 12 // the factor of the row that the eight began with
    z[i] = v[i] * w[e == 7 && r > lo ? r - 1 : r] + (int)(i - p[r]);
#else
    z[i] = v[i] * w[r] + (int)(i - p[r]);
#endif
  }
}
