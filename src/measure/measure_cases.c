/* Cases for tuples of extents, made such that the spec and a candidate's requirements allow them,
 * and what they would take. */
#include "measure_session.h"

#include <string.h>

static const int64_t factors[] = {1,  2,  3,  4,  5,  6,   7,   8,   12,
                                  16, 24, 32, 48, 64, 128, 256, 512, 1024};

int64_t sct_tuple_elements(const sct_spec *spec, const int64_t *dims) {
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
  const bool many = sct_tuple_elements(spec, dims) > SCT_MAX_VIRTUAL_ELEMENTS;
  for (int d = 0; d < n_dims; d++) {
    if (many && set >> d & 1) {
      dims[d] = (tuple[d] + factor - 1) / factor * factor;
    }
  }
  return sct_tuple_elements(spec, dims);
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

/* The least factor is taken: of one extent or two, so that the others stay odd, else of all. */
void sct_case_allowed(sct_measure *m, const sct_kernel_code *code, const sct_case_want *want,
                      int64_t most, sct_case **out) {
  const int n_dims = m->addressing.spec->n_dims;
  unsigned sets[MAX_SETS];
  const int n_sets = list_sets(sets, n_dims);
  *out = NULL;
  for (int f = 0; f < SCT_COUNT(factors); f++) {
    for (int k = f > 0 ? 0 : n_sets - 1; k < n_sets; k++) {
      int64_t dims[SCT_MAX_DIMS];
      const int64_t elements = scaled(dims, m->addressing.spec, want->dims, sets[k], factors[f]);
      if (elements > most || (f > 0 && elements == 0) || is_refused(m, code, dims)) {
        continue;
      }
      sct_case *c = NULL;
      sct_case_get_as(m, &(sct_case_want){dims, want->variant, want->own}, &c);
      if (c->legal && sct_code_allows(&m->addressing, code, c->shape.extent)) {
        *out = c;
        return;
      }
    }
  }
}

/* More threads take the interpreter long: a cluster of 4 blocks of 1024 for each of 1000 short rows
 * took more than a minute. Fewer rows of other lengths are among the cases. A user's kernel may
 * have a block for a row, and an index of rows that is too narrow: twice as many. Where each of few
 * elements has a block for each of many bins there is little else: four times, until there are
 * enough, and more of the least cases, where there are none of less. */
#define MAX_VIRTUAL_THREADS ((int64_t)1 << 18)

static bool has_too_many_threads(const sct_measure *m, const sct_kernel_code *code,
                                 const sct_case *c, int64_t times) {
  sct_verdict verdict = {0};
  int64_t blocks = 0;
  const int64_t most = times * MAX_VIRTUAL_THREADS;
  return m->is_virtual && sct_code_blocks(&c->shape, code, &blocks, &verdict, NULL) == SCT_OK &&
         sct_code_few_blocks(code, blocks) > most / code->threads;
}

/* Sums of floats in one order: the naive variant goes through all points for each element, which
 * takes the interpreter some seconds for so many. */
#define MAX_VIRTUAL_TESTS ((int64_t)1 << 25)
/* The same of values that are computed anew for each element, where steps reduce different ones. */
#define MAX_VIRTUAL_NESTED (double)(1 << 21)

static bool has_too_many_tests(const sct_measure *m, const sct_case *c) {
  const sct_spec *spec = m->addressing.spec;
  if (m->is_virtual && spec->nested &&
      sct_spec_nested_work(spec, c->shape.extent) > MAX_VIRTUAL_NESTED) {
    return true;
  }
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

bool sct_case_takes_long(const sct_measure *m, const sct_kernel_code *code, const sct_case *c,
                         int n_others) {
  const bool is_enough = n_others >= ENOUGH;
  const int times = n_others == SCT_LEAST_CASES ? 64 : !is_enough ? 4 : code->n_params > 0 ? 2 : 1;
  return has_too_many_threads(m, code, c, times) || has_too_many_tests(m, c) ||
         (is_enough && is_large(m, c));
}

int64_t sct_case_longest(sct_measure *m, const int64_t *tuple, int dim) {
  int64_t dims[SCT_MAX_DIMS], high = tuple[dim], longest = 0;
  memcpy(dims, tuple, sizeof *dims * (size_t)m->addressing.spec->n_dims);
  while (high - longest > 1) {
    sct_case *c = NULL;
    dims[dim] = longest + (high - longest) / 2;
    sct_case_get(m, dims, &c);
    *(c->too_long ? &high : &longest) = dims[dim];
  }
  return longest;
}
