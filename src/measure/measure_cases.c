/* On which cases a candidate is verified: its tuples of extents, made such that the spec and its
 * own requirements allow them. Candidates of the same grid and requirements have one list. */
#include "measure_session.h"

#include <string.h>

static int64_t max_elements(const sct_measure *m) {
  return m->is_virtual ? SCT_MAX_VIRTUAL_ELEMENTS : SCT_MAX_VERIFY_ELEMENTS;
}

static const int64_t factors[] = {1,  2,  3,  4,  5,  6,   7,   8,   12,
                                  16, 24, 32, 48, 64, 128, 256, 512, 1024};

/* Elements of a tuple; of a large one, one more than may be. */
static int64_t elements_of(const sct_spec *spec, const int64_t *dims) {
  const int64_t most = SCT_MAX_VERIFY_ELEMENTS + 1;
  int64_t elements = 1;
  for (int d = 0; d < spec->n_dims; d++) {
    const int64_t times = sct_spec_multiplies(spec, d) || dims[d] == 0 ? dims[d] : 1;
    if (times == 0) {
      return 0;
    }
    elements = times > most / elements ? most : elements * times;
  }
  return elements;
}

/* The extents of a set of dimensions times the factor or, where that makes more elements than the
 * interpreter takes, the next multiple of it, which is nearer to the edge that the tuple is about.
 * Returns the elements. */
static int64_t scaled(int64_t *dims, const sct_spec *spec, const int64_t *tuple, unsigned set,
                      int64_t factor) {
  const int n_dims = spec->n_dims;
  for (int d = 0; d < n_dims; d++) {
    dims[d] = set >> d & 1 ? tuple[d] * factor : tuple[d];
  }
  const bool many = elements_of(spec, dims) > SCT_MAX_VIRTUAL_ELEMENTS;
  for (int d = 0; d < n_dims; d++) {
    if (many && set >> d & 1) {
      dims[d] = (tuple[d] + factor - 1) / factor * factor;
    }
  }
  return elements_of(spec, dims);
}

/* Is it no use to ask for the case? Extents that are no dimension's are found with the case. */
static bool is_refused(const sct_measure *m, const sct_kernel_code *code, const int64_t *dims) {
  const sct_spec *spec = m->addressing.spec;
  return spec->n_extents == spec->n_dims && !sct_code_allows(&m->addressing, code, dims);
}

#define MAX_SETS (SCT_MAX_DIMS * (SCT_MAX_DIMS + 1) / 2 + 1)

/* Sets of dimensions: each alone, then two, as kernels of words want multiples along the one that
 * they read along and the one that they write along, then all. */
static int list_sets(unsigned sets[MAX_SETS], int n_dims) {
  int n = 0;
  for (int apart = 0; apart < n_dims; apart++) {
    for (int d = 0; d + apart < n_dims; d++) {
      sets[n++] = 1u << d | 1u << (d + apart);
    }
  }
  sets[n++] = (1u << n_dims) - 1;
  return n;
}

/* The case for the tuple with the least factor that spec and candidate allow: of one extent or two,
 * so that the others stay odd, else of all. NULL: none. */
static void allowed_case(sct_measure *m, const sct_kernel_code *code, const int64_t *tuple,
                         int64_t most, sct_case **out) {
  const int n_dims = m->addressing.spec->n_dims;
  unsigned sets[MAX_SETS];
  const int n_sets = list_sets(sets, n_dims);
  *out = NULL;
  for (int f = 0; f < SCT_COUNT(factors); f++) {
    for (int k = f > 0 ? 0 : n_sets - 1; k < n_sets; k++) {
      int64_t dims[SCT_MAX_DIMS];
      const int64_t elements = scaled(dims, m->addressing.spec, tuple, sets[k], factors[f]);
      if (elements > most || (f > 0 && elements == 0) || is_refused(m, code, dims)) {
        continue;
      }
      sct_case *c = NULL;
      sct_case_get(m, dims, &c);
      if (c->legal && sct_code_allows(&m->addressing, code, c->shape.extent)) {
        *out = c;
        return;
      }
    }
  }
}

/* ---- lists ---- */

/* More threads take the interpreter long: a cluster of 4 blocks of 1024 for each of 1000 short rows
 * took more than a minute. Fewer rows of other lengths are among the cases. */
#define MAX_VIRTUAL_THREADS ((int64_t)1 << 18)

static bool has_too_many_threads(const sct_measure *m, const sct_kernel_code *code,
                                 const sct_case *c) {
  sct_verdict verdict = {0};
  int64_t blocks = 0;
  return m->is_virtual && sct_code_blocks(&c->shape, code, &blocks, &verdict, NULL) == SCT_OK &&
         sct_code_few_blocks(code, blocks) > MAX_VIRTUAL_THREADS / code->threads;
}

/* Sums of floats in one order: the naive variant goes through all points for each element, which
 * takes the interpreter some seconds for so many. */
#define MAX_VIRTUAL_TESTS ((int64_t)1 << 25)

static bool has_too_many_tests(const sct_measure *m, const sct_case *c) {
  const sct_spec *spec = m->addressing.spec;
  const int64_t most = MAX_VIRTUAL_TESTS / (c->shape.n_elements > 0 ? c->shape.n_elements : 1);
  return m->is_virtual && sct_spec_is_ordered(spec) &&
         c->shape.op[spec->n_operands - 1].count > most;
}

/* Strides in plain numbers may make arrays of many GiB of a few rows, and images of a page for each
 * element, which a process takes long to get from the system. Where there are cases of less, these
 * are left out. */
#define ENOUGH      4
#define LARGE_BYTES ((int64_t)1 << 30)
#define MOST_SPANS  ((int64_t)1 << 21) /* bytes of an array's */

static bool is_large(const sct_measure *m, const sct_case *c) {
  int64_t bytes = 0, in_spans = 0;
  for (int k = 0; k < m->addressing.spec->n_operands; k++) {
    int64_t mine = 0;
    for (int n = 0; n < c->shape.op[k].n_spans; n++) {
      mine += c->shape.op[k].spans[n].to - c->shape.op[k].spans[n].from;
    }
    in_spans = mine > in_spans ? mine : in_spans;
    bytes += c->shape.op[k].bytes;
  }
  return bytes > LARGE_BYTES || in_spans > MOST_SPANS;
}

static void add_case(sct_measure *m, const sct_kernel_code *code, const int64_t *tuple,
                     sct_case_list *list, bool *added) {
  sct_case *c = NULL;
  /* of scans a group of tiles is tried as it is, which others of its tuples are far below */
  const bool grouped = m->addressing.spec->scans && list->max_elements < SCT_MAX_VIRTUAL_SCAN;
  allowed_case(m, code, tuple, grouped ? SCT_MAX_VIRTUAL_SCAN : list->max_elements, &c);
  *added = c != NULL;
  c = c && (has_too_many_threads(m, code, c) || has_too_many_tests(m, c)) ? NULL : c;
  c = c && list->n_full >= ENOUGH && is_large(m, c) ? NULL : c;
  for (int other = 0; other < list->n && c; other++) {
    c = list->cases[other] == c ? NULL : c;
  }
  if (c) {
    list->n_full += c->shape.n_elements > 0;
    list->cases[list->n++] = c;
  }
}

/* The largest extent of a dimension, below the tuple's, with which all layouts hold; 0: none. */
static void longest(sct_measure *m, const int64_t *tuple, int dim, int64_t *out) {
  int64_t dims[SCT_MAX_DIMS], high = tuple[dim];
  memcpy(dims, tuple, sizeof *dims * (size_t)m->addressing.spec->n_dims);
  *out = 0;
  while (high - *out > 1) {
    sct_case *c = NULL;
    dims[dim] = *out + (high - *out) / 2;
    sct_case_get(m, dims, &c);
    *(c->too_long ? &high : out) = dims[dim];
  }
}

/* A tuple that is longer than a layout allows, with one extent after the other at its limit, and
 * just below. */
static void add_limits(sct_measure *m, const sct_kernel_code *code, const int64_t *tuple,
                       sct_case_list *list) {
  const int n_dims = m->addressing.spec->n_dims;
  sct_case *c = NULL;
  if (elements_of(m->addressing.spec, tuple) > list->max_elements) {
    return;
  }
  sct_case_get(m, tuple, &c);
  for (int d = 0; d < n_dims && c->too_long; d++) {
    int64_t dims[SCT_MAX_DIMS], most = 0;
    bool added = false;
    memcpy(dims, tuple, sizeof *dims * (size_t)n_dims);
    longest(m, tuple, d, &most);
    for (dims[d] = most; dims[d] > 0 && dims[d] > most - 2; dims[d]--) {
      add_case(m, code, dims, list, &added);
    }
  }
}

/* All that decides about a list. Equal expressions of a pool have equal handles. */
static sct_hash key_of(const sct_kernel_code *code) {
  sct_hash key = {sct_mix64((uint64_t)code->grid, (uint64_t)code->threads),
                  sct_mix64((uint64_t)code->rounds, (uint64_t)code->n_require)};
  for (int k = 0; k < code->n_require; k++) {
    key.hi = sct_mix64(key.hi, (uint64_t)code->require[k]);
    key.lo = sct_mix64(key.lo, key.hi);
  }
  return key;
}

/* Tuples as long in each dimension as there is room for, the others being 3: they find the limits
 * of layouts that none of the others exceeds. */
static void add_far_limits(sct_measure *m, const sct_kernel_code *code, sct_case_list *list) {
  const int n_dims = m->addressing.spec->n_dims;
  for (int far = 0; far < n_dims; far++) {
    int64_t tuple[SCT_MAX_DIMS], most = list->max_elements;
    for (int d = 0; d < n_dims; d++) {
      tuple[d] = 3;
      most /= d == far ? 1 : 3;
    }
    tuple[far] = most;
    add_limits(m, code, tuple, list);
  }
}

/* The distinct cases of a list of tuples. */
static void collect_cases(sct_measure *m, const sct_kernel_code *code, const sct_tuples *t,
                          sct_case_list *list) {
  const size_t n_limits = 2 * (size_t)t->n_dims; /* that one tuple may add */
  const size_t most = (size_t)t->n * (1 + n_limits) + (size_t)t->n_dims * n_limits + 1;
  list->cases = sct_alloc(sizeof *list->cases * most);
  for (int k = 0; k < t->n; k++) {
    const int64_t *tuple = t->values + k * t->n_dims;
    bool added = false;
    add_case(m, code, tuple, list, &added);
    if (!added) {
      add_limits(m, code, tuple, list);
    }
  }
  add_far_limits(m, code, list);
}

void sct_cases_for(sct_measure *m, const sct_kernel_code *code, const sct_case_list **out) {
  const sct_hash key = key_of(code);
  for (size_t k = 0; k < m->cases.n_lists; k++) {
    if (sct_hash_equal(m->cases.lists[k].key, key)) {
      *out = &m->cases.lists[k];
      return;
    }
  }
  sct_case_list list = {.key = key};
  SCT_SCOPED(sct_tuples) tuples = {0};
  sct_extents_list(&tuples, &m->addressing, code, max_elements(m));
  list.max_elements = tuples.max_elements;
  collect_cases(m, code, &tuples, &list);
  SCT_GROW(m->cases.lists, m->cases.n_lists, m->cases.cap_lists);
  m->cases.lists[m->cases.n_lists] = list;
  *out = &m->cases.lists[m->cases.n_lists++];
}

void sct_case_lists_drop(sct_case_table *t) {
  for (size_t k = 0; k < t->n_lists; k++) {
    sct_free(t->lists[k].cases);
  }
  sct_free(t->lists);
  t->lists = NULL;
  t->n_lists = t->cap_lists = 0;
}
