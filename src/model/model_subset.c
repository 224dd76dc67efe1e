/* model_subset - which of many blocks or iterations stand for all of them. */
#include "model/model.h"

sct_subset sct_subset_of(int64_t total, int64_t at_most) {
  const int64_t n = at_most < 3 ? 3 : at_most;
  return (sct_subset){total, total < n ? total : n};
}

int64_t sct_subset_at(sct_subset s, int64_t k) {
  if (s.n == s.total || k == 0) {
    return k;
  }
  if (k == s.n - 1) {
    return s.total - 1;
  }
  const int64_t part = (s.total - 2) / (s.n - 2);
  const int64_t rest = (s.total - 2) % (s.n - 2);
  const int64_t from = 1 + (k - 1) * part + (k - 1) * rest / (s.n - 2);
  return from + (int64_t)(sct_mix64(0, (uint64_t)k) % (uint64_t)part);
}

double sct_subset_weight(sct_subset s, int64_t k) {
  const bool itself = s.n == s.total || k == 0 || k == s.n - 1;
  return itself ? 1.0 : (double)(s.total - 2) / (double)(s.n - 2);
}
