/* The decoder's state and what its files share. Functions return false after sct_ptx_dec_fail(). */
#ifndef SCT_PTX_DECODE_H
#define SCT_PTX_DECODE_H

#include "ptx/decode/ptx_code.h"

#define PTX_CONST_HASH 256

typedef struct ptx_dec {
  sct_ptx_module *m;
  ptx_code *code;
  ptx_func *func;
  int body; /* index into code->bodies */
  const ptx_inst *inst;
  int mod; /* next modifier to be read */
  bool in_block;
  int32_t block_insts;           /* PTX instructions of the open block */
  uint8_t *read;                 /* [n_regs] whether an instruction uses the register's value */
  int32_t *block_of;             /* [n_insts + 1] block that starts at an instruction, -1 */
  int32_t heads[PTX_CONST_HASH]; /* of the constants' hash chains */
  char *error;
} ptx_dec;

typedef bool (*ptx_decode_fn)(ptx_dec *d);
/* One per entry of ptx_ops.def. */
#define PTX_OP(name, fn) bool fn(ptx_dec *d);
#include "ptx_ops.def"
#undef PTX_OP

bool sct_ptx_dec_fail(ptx_dec *d, const char *fmt, ...) SCT_PRINTF(2, 3);
/* "unknown form": for a modifier or a combination that the instruction does not have. */
bool sct_ptx_dec_unknown(ptx_dec *d);

/* Modifiers are consumed in the order of the text. Consumes the next one if it is `name`. */
bool sct_ptx_dec_take(ptx_dec *d, const char *name);
/* Consumes the next one if it is one of `words`, separated by blanks; its number, -1: none. */
int sct_ptx_dec_choose(ptx_dec *d, const char *words);
bool sct_ptx_dec_take_prefix(ptx_dec *d, const char *prefix); /* "L2::" */
ptx_type sct_ptx_dec_take_type(ptx_dec *d);                   /* PTX_T_NONE: no type there */
/* Machine instructions that `inst` comes to, by pipe (ptx_cost.c). */
void sct_ptx_cost(uint8_t out[SCT_N_PIPES], const ptx_inst *inst);
/* Floating-point operations of a lane, and their type (sct_ptx_flop); 0: none. */
uint8_t sct_ptx_flops(uint8_t *type, const ptx_inst *inst);
bool sct_ptx_dec_mods_left(const ptx_dec *d);

/* A new micro-operation; guard and instruction are filled in here. true. */
bool sct_ptx_dec_put(ptx_dec *d, ptx_uop uop);
ptx_uop *sct_ptx_dec_emit(ptx_dec *d, ptx_fn fn);
uint32_t sct_ptx_dec_temp(ptx_dec *d);
bool sct_ptx_dec_const(ptx_dec *d, uint64_t bits, bool wide, uint32_t *slot);

/* Operand `i` as a slot. cls: '1' 16-bit, '3' 32-bit, '6' 64-bit, 'p' predicate. `type` gives
 * literals their meaning. Negated predicates become a temporary. */
bool sct_ptx_dec_source(ptx_dec *d, const ptx_opd *opd, char cls, ptx_type type, uint32_t *slot);
bool sct_ptx_dec_dest(ptx_dec *d, const ptx_opd *opd, char cls,
                      uint32_t *slot); /* _ gives a temporary */
char sct_ptx_dec_class(ptx_type type); /* '1', '3', '6', 'p' */
char sct_ptx_dec_reg_class(const ptx_dec *d, int32_t reg);
bool sct_ptx_dec_count(ptx_dec *d, int n); /* the instruction must have n operands */

/* Address of a symbol as an instruction sees it, in its own space; marks shared arrays as used. */
bool sct_ptx_dec_symbol(ptx_dec *d, const ptx_sym *sym, int64_t *address);
/* [reg + imm], [symbol + imm], [imm]: slot of the base (PTX_SLOT_ZERO) and displacement, 64-bit
 * lanes. A 32-bit base is widened into a temporary. `space` receives the symbol's. */
bool sct_ptx_dec_address(ptx_dec *d, const ptx_opd *opd, uint32_t *base, int64_t *imm,
                         ptx_space *space);

/* The address of an operand as one slot, the displacement added. */
bool sct_ptx_dec_pointer(ptx_dec *d, const ptx_opd *opd, uint32_t *slot);

/* All operands by `sig`, a letter each: the destination (to u->d), '-' for none, then the sources,
 * of which those with a slot go to u->a, b, c, e in this order. Letters are the classes of
 * sct_ptx_dec_source() and
 *   'i'  a constant, to u->imm         'A'  an address, to u->a, u->imm and, if none, u->space
 *   '@'  an address as one slot        'P'  a cache policy, which has no effect */
bool sct_ptx_dec_operands(ptx_dec *d, const char *sig, ptx_type type, ptx_uop *u);
/* Reads the operands by `sig` into `u`, which is then put. */
bool sct_ptx_dec_put_operands(ptx_dec *d, const char *sig, ptx_type type, ptx_uop u);
/* Class of a register that may be wider than its type. */
bool sct_ptx_dec_wide_class(ptx_dec *d, const ptx_opd *opd, ptx_type type, const char *what,
                            char *cls);
/* Slot of the second destination, of d|p; 0: none. */
uint32_t sct_ptx_dec_pair(const ptx_dec *d);
/* Records that the kernel has an access of `bytes` bytes; a generic one may be of either space. */
void sct_ptx_dec_record_width(ptx_dec *d, ptx_space space, int bytes);

/* Consumes ".cta" and its like; `otherwise`: none there. */
ptx_mem_scope sct_ptx_dec_take_scope(ptx_dec *d, ptx_mem_scope otherwise);
/* Records that the kernel has a fence, an acquire or a release of this scope. */
void sct_ptx_dec_record_order(ptx_dec *d, ptx_mem_scope scope);
/* ".shared::cta" and its like; PTX_SPACE_NONE: none there */
ptx_space sct_ptx_dec_take_space(ptx_dec *d);

/* Elements of {a, b, ...}, or the one operand itself, as consecutive entries of code->vec. */
bool sct_ptx_dec_vector(ptx_dec *d, const ptx_opd *opd, char cls, ptx_type type, bool dest,
                        uint32_t *first);

bool sct_ptx_decode_mov128(ptx_dec *d); /* both operands are there */

/* "old = *p; do old = atomicCAS(p, seen = old, f(old)); while (old != seen)" and "if (*p < v)
 * atomicMax(p, v)": a load that stands before such an operation on the same address only guesses,
 * and the operation corrects the guess. It is no race, plain as it is. `first`: micro-operation
 * with which the current body, now complete, begins. Marks updates of a constant address too. */
bool sct_ptx_dec_mark_guesses(ptx_dec *d, size_t first);

/* Opens a block, ending an open one that falls through to it. */
bool sct_ptx_dec_begin_block(ptx_dec *d);
/* Ends the open block with the micro-operation `term` that was emitted last. */
bool sct_ptx_dec_end_block(ptx_dec *d, ptx_term term);
/* Block of a label as seen from the current instruction; -1: none. Valid in the second pass. */
int sct_ptx_dec_label(const ptx_dec *d, ptx_span name);
/* Number of the body of `func` in the code, decoding it later; -1: failed. */
int sct_ptx_dec_body(ptx_dec *d, ptx_func *func);

/* Targets of the current brx.idx: fills the code's table. */
bool sct_ptx_decode_table(ptx_dec *d, ptx_uop *u);

/* Sets which counters the current instruction adds to. */
void sct_ptx_dec_set_kind(ptx_dec *d, ptx_inst_kind kind, int width);

bool sct_ptx_dec_bulk(ptx_dec *d);        /* the rest of cp.async.bulk */
bool sct_ptx_dec_cp_mbarrier(ptx_dec *d); /* the rest of cp.async.mbarrier */
/* wait_group{.read} of `name`, with its number as a constant */
bool sct_ptx_dec_wait(ptx_dec *d, ptx_fn fn, bool op, const char *name);
bool sct_ptx_dec_alu(ptx_dec *d); /* by ptx_alu.def */

#endif
