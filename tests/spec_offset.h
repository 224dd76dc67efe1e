/* spec_offset - the byte offset of `field` of operand `op` for the element `idx` ([n_dims]) at a
 * size, index operands by their fill; -1: there is no such element. */
#ifndef SCT_TESTS_SPEC_OFFSET_H
#define SCT_TESTS_SPEC_OFFSET_H

#include "spec/spec_internal.h"

static inline int64_t spec_offset(const sct_spec *of, int op, int layout, int field,
                                  const int64_t *idx, const sct_size *size) {
  const sct_operand *operand = &of->operands[op];
  spec_env env = sct_spec_env_extents(of, size->extent);
  int64_t offset = 0;
  if (sct_spec_env_place(of, &env, operand, idx, size, NULL) != SCT_OK ||
      sct_spec_env_eval(of, &env, operand->layouts[layout].offset[field], &offset, NULL) !=
          SCT_OK) {
    return -1; /* no element exists at this size */
  }
  return offset;
}

#endif
