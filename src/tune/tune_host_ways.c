/* Which ways from the host and back are tried, and which of them are worth a run. */
#include "tune/tune_host.h"

#define MIB            ((int64_t)1 << 20)
#define TIMED_OF_EACH  4 /* ways of page-locked arrays, and of pageable ones through rings */
#define HALVES_OF_EACH 3 /* of these, by two devices */
#define RING_STREAMS   8 /* fewer have too little on their way, more take turns that cost time */

static void add_way(sct_host_size *z, sct_host_way way, int chunk_mib) {
  z->rows[z->n_rows++] = (sct_host_row){.way = way, .chunk_mib = chunk_mib};
}

void sct_host_list_ways(sct_host_size *z, const sct_spec *spec, int64_t step) {
  const int64_t halo = spec->halo_before + spec->halo_after;
  add_way(z, (sct_host_way){SCT_HOST_PAGEABLE, 0, 1, 0, 1}, 0);
  add_way(z, (sct_host_way){SCT_HOST_LOCKED, 0, 1, 0, 1}, 0);
  if (!sct_spec_accumulates(spec)) { /* over the link, element by element */
    add_way(z, (sct_host_way){SCT_HOST_MAPPED, 0, 1, 0, 1}, 0);
  }
  for (int mib = 4; mib <= 64; mib *= 4) {
    const int64_t chunk = sct_host_chunk_of(mib * MIB, step, halo);
    for (int streams = 2; streams <= 4 && chunk < z->n; streams++) {
      add_way(z, (sct_host_way){SCT_HOST_LOCKED, chunk, streams, 0, 1}, mib);
    }
  }
  for (int mib = 1; mib <= 4; mib *= 2) {
    const int64_t chunk = sct_host_chunk_of(mib * MIB, step, halo);
    for (int threads = 4; threads <= 16 && chunk < z->n; threads *= 2) {
      add_way(z, (sct_host_way){SCT_HOST_PAGEABLE, chunk, RING_STREAMS, threads, 1}, mib);
    }
  }
}

static bool is_ring(const sct_host_row *row) {
  return row->way.threads > 0;
}

/* How many ways in chunks of the same sort and of as many devices are faster by the model. */
static int rank(const sct_host_size *z, int k) {
  const sct_host_row *row = &z->rows[k];
  int before = 0;
  for (int other = 0; other < z->n_rows; other++) {
    const sct_host_row *o = &z->rows[other];
    before +=
        o->way.chunk > 0 && is_ring(o) == is_ring(row) && o->way.devices == row->way.devices &&
        (o->modelled_ns < row->modelled_ns || (o->modelled_ns == row->modelled_ns && other < k));
  }
  return before;
}

int64_t sct_host_half(int64_t n) {
  return n / 2 + n % 2;
}

void sct_host_list_halves(sct_host_size *z) {
  const int n_rows = z->n_rows;
  add_way(z, (sct_host_way){SCT_HOST_PAGEABLE, 0, 1, 0, 2}, 0);
  add_way(z, (sct_host_way){SCT_HOST_LOCKED, 0, 1, 0, 2}, 0);
  for (int k = 0; k < n_rows; k++) {
    const sct_host_row *row = &z->rows[k];
    sct_host_way way = row->way;
    if (way.chunk == 0 || way.chunk >= sct_host_half(z->n)) {
      continue;
    }
    const int before = rank(z, k);
    way.devices = 2;
    if (before < HALVES_OF_EACH - is_ring(row)) {
      add_way(z, way, row->chunk_mib);
    }
    if (before == 0 && is_ring(row)) { /* as many threads for each as for one alone */
      way.threads *= 2;
      add_way(z, way, row->chunk_mib);
    }
  }
}

bool sct_host_is_wanted(const sct_host_report *r, const sct_host_size *z, int k) {
  return !r->timed || z->rows[k].way.chunk == 0 || rank(z, k) < TIMED_OF_EACH;
}
