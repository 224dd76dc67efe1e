/* Indices that are too narrow for extents of 64 bits: what no launch of a verification shows, as
 * arrays of 2^31 elements are none of its cases. The PTX does, and a kernel of the user's own whose
 * requirements allow such extents is verified with a warning. */
#include "measure_session.h"

#include "ptx/ptx.h"

/* Do the requirements hold where extents are `extent` in the dimensions of the mask? */
static bool allows(const sct_measure *m, const sct_kernel_code *code, unsigned mask,
                   int64_t extent) {
  static const int64_t others[] = {1, 256, 1024}; /* multiples that vectors want */
  const sct_spec *spec = m->addressing.spec;
  bool any = false;
  for (int k = 0; k < SCT_COUNT(others) && !any; k++) {
    int64_t all[SCT_MAX_EXTENTS];
    for (int d = 0; d < spec->n_extents; d++) {
      all[d] = mask >> d & 1 ? extent : others[k];
    }
    any = sct_code_allows(&m->addressing, code, all);
  }
  return any;
}

/* Some dimension of 2^bits; or, of products, two of half as many bits and one more. */
static bool allows_long(const sct_measure *m, const sct_kernel_code *code, int bits,
                        bool products) {
  const int n = m->addressing.spec->n_dims;
  bool any = false;
  for (int d = 0; d < n && !any; d++) {
    any = allows(m, code, 1u << d, (int64_t)1 << bits);
    for (int other = 0; other < d && products && !any; other++) {
      any = allows(m, code, 1u << d | 1u << other, (int64_t)1 << (bits / 2 + 1));
    }
  }
  return any;
}

void sct_warn_narrow(const sct_measure *m, const sct_kernel_code *code,
                     const sct_ptx_traits *traits, sct_verdict *out) {
  const int product = traits->product_line, scaled = traits->scaled_line;
  const int in_float = traits->float_line;
  if (code->n_params == 0 || out->outcome != SCT_OUT_OK || out->warning[0] != '\0') {
    return; /* strategies state what their kernels allow */
  }
  if (in_float > 0 && allows_long(m, code, 24, true)) {
    snprintf(out->warning, sizeof out->warning,
             "line %d: an index passes through a float, which is exact up to 2^24; its "
             "requirements allow longer arrays",
             in_float);
  } else if (product > 0 && allows_long(m, code, 31, true)) {
    snprintf(out->warning, sizeof out->warning,
             "line %d: an index is a product of 32 bits; its requirements allow arrays of 2^31 "
             "elements and more, where it overflows",
             product);
  } else if (scaled > 0 && allows_long(m, code, 31, false)) {
    snprintf(out->warning, sizeof out->warning,
             "line %d: an index is computed in 32 bits; its requirements allow an extent of 2^31 "
             "and more, where it overflows",
             scaled);
  }
}
