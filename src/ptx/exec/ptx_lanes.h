/* ptx_lanes - operations that are the same expression in each of a warp's 32 lanes. */
#ifndef SCT_PTX_LANES_H
#define SCT_PTX_LANES_H

#include "ptx/exec/ptx_exec.h"

#define LANES(i) for (int i = 0; i < PTX_LANES; i++)

/* The lane's value of an operand (a, b, c, e), read with 32 or 64 bits, as `name` of type T. */
#define LANE_IN(name, T, bits, operand)                                                            \
  const T name = (T)ptx_r##bits(x_, u->operand)[i];                                                \
  (void)name;

/* Operation `name`: in each lane `expr`, over what `values` reads, as a result of 32 or 64 bits. */
#define LANE_OP(name, bits, values, expr)                                                          \
  void sct_ptx_op_##name(ptx_exec *x_, const ptx_uop *u) {                                         \
    uint##bits##_t t[PTX_LANES];                                                                   \
    LANES(i) {                                                                                     \
      values;                                                                                      \
      t[i] = (uint##bits##_t)(expr);                                                               \
    }                                                                                              \
    ptx_put##bits(x_, u, t);                                                                       \
  }

#endif
