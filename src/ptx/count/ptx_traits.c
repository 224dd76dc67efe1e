/* Numbers that a kernel's positions meet, found in its PTX: what is compared, divided and masked.
 *
 * Each register is described as factor * root + offset, where that is what it holds: compilers make
 * multiplications and shifts of divisions by constants, and whatever they make of x / d, its factor
 * is 1 / d. Of x % d == 0 they make a multiplication by the inverse of d, modulo 2^32 or 2^64, and
 * a comparison. Everything is flow-insensitive; registers with several definitions are roots. */
#include "ptx/exec/ptx_exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind {
  KIND_OTHER,
  KIND_MOVE,
  KIND_ADD,
  KIND_SUB,
  KIND_MUL,
  KIND_MAD,
  KIND_SHL,
  KIND_SHR,
  KIND_SHF,
  KIND_AND,
  KIND_BFE,
  KIND_DIV,
  KIND_REM,
  KIND_SETP,
  KIND_MINMAX,
  KIND_SELECT,
  KIND_SHFL,
  KIND_OUTSIDE /* answers that memory or other lanes give */
} kind;

typedef struct word {
  const char *names;
  kind kind;
} word;

static const word words[] = {{"mov cvt cvta", KIND_MOVE},
                             {"add", KIND_ADD},
                             {"sub", KIND_SUB},
                             {"mul", KIND_MUL},
                             {"mad", KIND_MAD},
                             {"shl", KIND_SHL},
                             {"shr", KIND_SHR},
                             {"shf", KIND_SHF},
                             {"and", KIND_AND},
                             {"bfe", KIND_BFE},
                             {"div", KIND_DIV},
                             {"rem", KIND_REM},
                             {"setp set", KIND_SETP},
                             {"min max", KIND_MINMAX},
                             {"selp slct", KIND_SELECT},
                             {"shfl", KIND_SHFL},
                             {"atom red tex tld4 vote match redux activemask", KIND_OUTSIDE}};

/* An instruction, read from its text: "mul.hi.s32 ...". */
typedef struct inst {
  uint8_t kind;
  bool high, left; /* mul.hi; shf.l */
  bool is_float, is_signed, from_float;
  bool to_wide, to_integer; /* mul.wide; cvt.rzi.s64.f32 */
  int bits, line;
  bool library;
} inst;

/* What registers hold comes from: */
enum {
  FROM_POSITION = 1, /* parameters, indices of blocks, sizes of the grid */
  FROM_DATA = 2,     /* memory */
  TO_COMPARE = 4,    /* or goes to: a comparison of integers */
  MAGIC = 8,         /* a product that only a division by a constant wanted */
  CONSTANT = 16,
  FROM_THREAD = 32, /* indices of threads, sizes of blocks: the same in every block */
  TO_ADDRESS = 64   /* goes to an address of global memory */
};

#define FROM_ANY (FROM_POSITION | FROM_DATA | FROM_THREAD)

typedef struct value {
  int32_t root;
  int32_t product;          /* register of the last multiplication, -1: none */
  int32_t n_defs, def;      /* def: a micro-operation */
  double factor, tolerance; /* relative: how far a multiplication may be from what it stands for */
  int64_t offset;
  int64_t inverse;  /* not 0: the root multiplied with the inverse of this */
  uint64_t bits;    /* of a constant */
  uint64_t pointer; /* parameters that it is computed from */
  uint8_t flags;
} value;

typedef struct candidate {
  int64_t number;
  int rank;
} candidate;

/* Comparisons first: which of too many constants are kept. */
enum { RANK_COMPARED, RANK_DIVISOR, RANK_FACTOR, RANK_THREAD };

typedef struct look {
  const ptx_func *func;
  const ptx_code *code;
  const ptx_body *body;
  bool of_thread; /* what is looked at is the same in every block */
  inst *insts;
  value *values; /* [n_slots] of the body */
  size_t first, end;
  uint64_t stored[2]; /* pointers that local and shared memory hold */
  uint8_t stored_flags[2];
  uint64_t params; /* of 8 bytes and more */
  bool changed;
  candidate *found;
  size_t n_found, cap_found;
  sct_ptx_traits *out;
} look;

/* ---- instructions */

static inst read_inst(const sct_ptx_module *m, const ptx_origin *o) {
  inst in = {.kind = KIND_OTHER, .line = o->loc.line, .library = sct_ptx_is_library(m, o->loc)};
  const char *p = o->text.p, *end = p + o->text.len, *at = p;
  ptx_span last = {p, 0}, before = {p, 0};
  for (int n = 0; at < end && *at != ' ' && *at != '\t'; n++) {
    const char *from = at;
    while (at < end && *at != '.' && *at != ' ' && *at != '\t') {
      at++;
    }
    before = last;
    last = (ptx_span){from, (int)(at - from)};
    for (int k = 0; n == 0 && k < SCT_COUNT(words) && in.kind == KIND_OTHER; k++) {
      in.kind = sct_ptx_span_in(last, words[k].names) ? (uint8_t)words[k].kind : KIND_OTHER;
    }
    in.high |= sct_ptx_span_is(last, "hi");
    in.left |= sct_ptx_span_is(last, "l");
    in.to_wide |= sct_ptx_span_is(last, "wide");
    at += at < end && *at == '.';
  }
  in.is_float = last.len > 1 && (last.p[0] == 'f' || (last.p[0] == 'b' && last.p[1] == 'f'));
  in.from_float = in.is_float;
  in.is_float |= before.len > 1 && before.p[0] == 'f' && in.kind == KIND_MOVE;
  in.is_signed = last.len > 0 && last.p[0] == 's';
  in.to_integer = in.from_float && before.len > 1 && (before.p[0] == 's' || before.p[0] == 'u');
  for (int i = 1; i < last.len && last.p[i] >= '0' && last.p[i] <= '9'; i++) {
    in.bits = in.bits * 10 + (last.p[i] - '0');
  }
  return in;
}

static const inst *inst_of(const look *l, size_t i) {
  return &l->insts[l->code->uops[i].inst];
}

/* What comes before it widens and negates its operands. */
static bool is_main(const look *l, size_t i) {
  return i + 1 == l->code->n_uops || l->code->uops[i + 1].inst != l->code->uops[i].inst;
}

/* ---- where values come from */

static value *value_of(const look *l, uint32_t slot) {
  return &l->values[slot < l->body->n_slots ? slot : PTX_SLOT_ZERO];
}

static void flow(look *l, uint32_t to, uint8_t flags, uint64_t pointer) {
  value *v = value_of(l, to);
  const uint8_t keep = flags & FROM_ANY;
  if (to >= PTX_SLOT_REGS &&
      ((v->flags | keep) != v->flags || (v->pointer | pointer) != v->pointer)) {
    v->flags |= keep;
    v->pointer |= pointer;
    l->changed = true;
  }
}

static uint64_t param_at(const look *l, const ptx_uop *u) {
  uint64_t out = 0;
  for (int k = 0; k < l->func->n_params && k < 64; k++) {
    const ptx_sym *p = l->func->params[k];
    const bool hit = u->imm >= p->offset && u->imm < p->offset + p->bytes;
    out |= (uint64_t)(hit || u->a != PTX_SLOT_ZERO) << k;
  }
  return out & l->params;
}

static void flow_load(look *l, const ptx_uop *u) {
  uint8_t flags = FROM_DATA;
  uint64_t pointer = 0;
  if (u->fn == sct_ptx_op_ld_param) {
    flags = FROM_POSITION;
    pointer = param_at(l, u);
  } else if (u->fn == sct_ptx_op_ld_own_param || u->fn == sct_ptx_op_ld_call_param) {
    flags = FROM_POSITION; /* of a call: any of them */
    pointer = l->params;
  } else if (u->space == PTX_SPACE_LOCAL) {
    flags = l->stored_flags[0];
    pointer = l->stored[0];
  } else if (u->space == PTX_SPACE_SHARED || u->space == PTX_SPACE_NONE) {
    flags |= l->stored_flags[1];
    pointer = l->stored[1];
  }
  for (int k = 0; k < u->n; k++) {
    flow(l, l->code->vec[u->vec + (uint32_t)k], flags, pointer);
  }
}

static void flow_store(look *l, const ptx_uop *u) {
  const int to = u->space == PTX_SPACE_LOCAL ? 0 : 1;
  for (int k = 0; k < u->n && u->space != PTX_SPACE_GLOBAL; k++) {
    const value *v = value_of(l, l->code->vec[u->vec + (uint32_t)k]);
    l->changed |= (l->stored[to] | v->pointer) != l->stored[to];
    l->stored[to] |= v->pointer;
    l->stored_flags[to] |= v->flags & FROM_ANY;
  }
}

static bool is_store(const ptx_uop *u) {
  return u->fn == sct_ptx_op_st_global || u->fn == sct_ptx_op_st_shared ||
         u->fn == sct_ptx_op_st_local || u->fn == sct_ptx_op_st_generic;
}

static bool is_any_load(const ptx_uop *u) {
  return sct_ptx_is_load(u) || u->fn == sct_ptx_op_ld_param || u->fn == sct_ptx_op_ld_own_param ||
         u->fn == sct_ptx_op_ld_call_param;
}

/* The operands whose values the result is made of. */
static int sources(const look *l, size_t i, uint32_t out[16]) {
  const ptx_uop *u = &l->code->uops[i];
  const uint8_t k = inst_of(l, i)->kind;
  const bool main = is_main(l, i);
  int n = 0;
  if (u->fn == sct_ptx_op_mov_pair) {
    for (; n < u->n && n < 16; n++) {
      out[n] = l->code->vec[u->vec + (uint32_t)n];
    }
    return n;
  }
  const bool two = main && (k == KIND_SETP || k == KIND_SELECT || k == KIND_SHFL);
  const uint32_t all[] = {u->a, u->b, u->c, u->e};
  for (; n < (two ? 2 : 4); n++) {
    out[n] = all[n];
  }
  return n;
}

static void flow_uop(look *l, size_t i) {
  const ptx_uop *u = &l->code->uops[i];
  uint32_t from[16];
  if (is_any_load(u)) {
    flow_load(l, u);
    return;
  }
  if (is_store(u)) {
    flow_store(l, u);
    return;
  }
  const uint8_t k = inst_of(l, i)->kind;
  uint8_t flags = k == KIND_OUTSIDE ? FROM_DATA : 0;
  uint64_t pointer = 0;
  const int n = k == KIND_OUTSIDE || (k == KIND_SETP && is_main(l, i)) ? 0 : sources(l, i, from);
  for (int s = 0; s < n; s++) {
    flags |= value_of(l, from[s])->flags;
    pointer |= value_of(l, from[s])->pointer;
  }
  if (u->fn == sct_ptx_op_mov_unpair) {
    for (int s = 0; s < u->n; s++) {
      flow(l, l->code->vec[u->vec + (uint32_t)s], flags, pointer);
    }
  } else {
    flow(l, u->d, flags, pointer);
  }
}

static void flow_all(look *l) {
  do {
    l->changed = false;
    for (size_t i = l->first; i < l->end; i++) {
      flow_uop(l, i);
    }
  } while (l->changed);
}

/* Backwards: what goes to a comparison of integers. */
static void mark_compared(look *l) {
  do {
    l->changed = false;
    for (size_t i = l->end; i-- > l->first;) {
      const inst *in = inst_of(l, i);
      const ptx_uop *u = &l->code->uops[i];
      uint32_t from[16];
      const bool ends = (in->kind == KIND_SETP || in->kind == KIND_MINMAX) && !in->is_float;
      const int n = is_any_load(u) || is_store(u) ? 0 : sources(l, i, from);
      for (int s = 0; s < n; s++) {
        value *v = value_of(l, from[s]);
        if ((ends || (value_of(l, u->d)->flags & TO_COMPARE) != 0) &&
            (v->flags & TO_COMPARE) == 0) {
          v->flags |= TO_COMPARE;
          l->changed = true;
        }
      }
    }
  } while (l->changed);
}

/* Whether its result stays below a constant, whatever its operands are. */
static bool is_bounded(const look *l, size_t i) {
  const inst *in = inst_of(l, i);
  const ptx_uop *u = &l->code->uops[i];
  const bool by_constant =
      (value_of(l, u->a)->flags & CONSTANT) != 0 || (value_of(l, u->b)->flags & CONSTANT) != 0;
  return by_constant && (in->kind == KIND_AND || in->kind == KIND_REM || in->kind == KIND_BFE);
}

static void mark_addresses(look *l) {
  for (size_t i = l->first; i < l->end; i++) {
    const ptx_uop *u = &l->code->uops[i];
    const bool goes = is_any_load(u) || is_store(u) || inst_of(l, i)->kind == KIND_OUTSIDE;
    if (goes && (u->space == PTX_SPACE_GLOBAL || u->space == PTX_SPACE_NONE)) {
      value_of(l, u->a)->flags |= TO_ADDRESS;
    }
  }
  do {
    l->changed = false;
    for (size_t i = l->end; i-- > l->first;) {
      const ptx_uop *u = &l->code->uops[i];
      uint32_t from[16];
      const bool ends = is_any_load(u) || is_store(u) || inst_of(l, i)->kind == KIND_SETP ||
                        inst_of(l, i)->kind == KIND_OUTSIDE || is_bounded(l, i);
      uint8_t goes = value_of(l, u->d)->flags;
      for (int k = 0; u->fn == sct_ptx_op_mov_unpair && k < u->n; k++) {
        goes |= value_of(l, l->code->vec[u->vec + (uint32_t)k])->flags;
      }
      const int n = ends || !(goes & TO_ADDRESS) ? 0 : sources(l, i, from);
      for (int s = 0; s < n; s++) {
        value *v = value_of(l, from[s]);
        l->changed |= from[s] >= PTX_SLOT_REGS && !(v->flags & TO_ADDRESS);
        v->flags |= from[s] >= PTX_SLOT_REGS ? TO_ADDRESS : 0;
      }
    }
  } while (l->changed);
}

/* ---- what is reported */

/* Whether 64 bits become the lower 32 of a sum or product: by a conversion, by a mask, or by the
 * first of two shifts. */
static bool cuts(const look *l, size_t i) {
  const inst *in = inst_of(l, i);
  const ptx_uop *u = &l->code->uops[i];
  const value *a = value_of(l, u->a), *b = value_of(l, u->b);
  const uint8_t of = a->def >= 0 && a->n_defs == 1 ? inst_of(l, (size_t)a->def)->kind : KIND_OTHER;
  const bool product = of == KIND_MUL || of == KIND_MAD;
  const bool sum = (of == KIND_ADD || of == KIND_SUB) && (a->flags & FROM_DATA) == 0;
  const bool extends = u->fn == sct_ptx_op_cvt && u->wide && sct_ptx_type_bytes(u->from) == 4;
  return ((u->fn == sct_ptx_op_trunc32 || extends) && (sum || product)) ||
         (in->kind == KIND_SHL && in->bits == 64 && (b->flags & CONSTANT) && b->bits >= 32) ||
         (in->kind == KIND_AND && in->bits == 64 && (b->flags & CONSTANT) && b->bits == UINT32_MAX);
}

/* An index in a type that is too narrow for extents of 64 bits. */
static void report_narrow(look *l, size_t i) {
  const inst *in = inst_of(l, i);
  const ptx_uop *u = &l->code->uops[i];
  const value *a = value_of(l, u->a), *b = value_of(l, u->b), *d = value_of(l, u->d);
  const bool of_position = ((a->flags | b->flags) & FROM_POSITION) != 0;
  const bool constant = ((a->flags | b->flags) & CONSTANT) != 0;
  const bool no_larger = d->n_defs == 1 && d->root >= 0 && fabs(d->factor) <= 1; /* x / 3 * 3 */
  const bool grows = in->kind == KIND_MUL || in->kind == KIND_MAD || in->kind == KIND_SHL;
  int *line = NULL;
  if (in->library || !of_position) {
    return;
  }
  if (in->to_integer && in->bits <= 32) {
    line = &l->out->float_line;
  } else if ((d->flags & TO_ADDRESS) != 0 && cuts(l, i)) {
    line = &l->out->product_line;
  } else if ((d->flags & TO_ADDRESS) != 0 && grows && in->bits == 32 && !in->high && !in->to_wide &&
             !in->is_float) {
    line = !constant                   ? &l->out->product_line
           : !no_larger || d->root < 0 ? &l->out->scaled_line
                                       : NULL;
  }
  if (line != NULL) {
    *line = *line > 0 ? *line : in->line;
  }
}

static void report(look *l, const inst *in, int64_t number, int rank) {
  if (number < 2 || in->library || (l->of_thread && rank != RANK_COMPARED)) {
    return;
  }
  rank = l->of_thread ? RANK_THREAD : rank;
  for (size_t i = 0; i < l->n_found; i++) {
    if (l->found[i].number == number) {
      l->found[i].rank = rank < l->found[i].rank ? rank : l->found[i].rank;
      return;
    }
  }
  SCT_GROW(l->found, l->n_found, l->cap_found);
  l->found[l->n_found++] = (candidate){number, rank};
}

static bool positions(const value *v) {
  return (v->flags & FROM_DATA) == 0 && (v->flags & FROM_ANY) != 0;
}

/* The constant as the instruction has it. */
static int64_t number_of(const value *v, const inst *in) {
  const uint64_t b = v->bits;
  switch (in->bits) {
  case 16:
    return in->is_signed ? (int16_t)b : (int64_t)(uint16_t)b;
  case 32:
    return in->is_signed ? (int32_t)b : (int64_t)(uint32_t)b;
  default:
    return (int64_t)b;
  }
}

/* As a difference: additions have no sign. */
static int64_t signed_number(const value *v, const inst *in) {
  return in->bits == 16 ? (int16_t)v->bits : in->bits == 32 ? (int32_t)v->bits : (int64_t)v->bits;
}

static bool is_constant(const value *v) {
  return (v->flags & CONSTANT) != 0;
}

/* The divisor whose quotient this is; 0: none. Compilers multiply with 2^n / d, rounded up, which
 * is large enough that no other d comes near. */
static int64_t divisor(const value *v) {
  const double d = v->factor > 0 && v->factor < 0.75 ? ceil(1 / v->factor * (1 - 1e-14)) : 0;
  const double off = v->factor * d - 1;
  const bool exact = off >= -1e-14 && off <= v->tolerance * 1.01 + 1e-14 && v->tolerance < 1. / 16;
  return d >= 2 && d < 0x1p62 && exact ? (int64_t)d : 0;
}

static uint64_t inverse_of(uint64_t odd, int bits) {
  uint64_t x = odd; /* right in 3 bits, then in twice as many each time (Newton) */
  for (int k = 0; k < 5; k++) {
    x *= 2 - odd * x;
  }
  return bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
}

/* ---- factors */

static bool is_power(int64_t v) {
  return v > 0 && (v & (v - 1)) == 0;
}

static int64_t magnitude(int64_t v) {
  return v == INT64_MIN ? INT64_MAX : v < 0 ? -v : v;
}

static value scaled(const value *a, double by, double tolerance) {
  value v = *a;
  v.factor *= by;
  v.tolerance = tolerance > v.tolerance ? tolerance : v.tolerance;
  v.offset = 0;
  return v;
}

static value times(look *l, const inst *in, const value *a, const value *c, uint32_t d) {
  const int64_t m = number_of(c, in);
  const double by = in->bits == 64 && !in->is_signed ? (double)(uint64_t)m : (double)m;
  const int64_t small = magnitude(signed_number(c, in));
  value v = scaled(a, by, is_power(small) || small == 0 ? 0 : 1 / fabs(by));
  if (in->high) {
    v.factor /= in->bits == 64 ? 0x1p64 : in->bits == 32 ? 0x1p32 : 0x1p16;
    return v;
  }
  const uint64_t inverse = (m & 1) != 0 && in->bits >= 32 ? inverse_of((uint64_t)m, in->bits) : 0;
  v.inverse = small > 0xffff && inverse > 1 && inverse < (uint64_t)small ? (int64_t)inverse : 0;
  v.product = d < l->body->n_slots ? (int32_t)d : -1;
  const bool fits = magnitude(a->offset) < INT32_MAX && small < INT32_MAX;
  v.offset = fits ? a->offset * signed_number(c, in) : 0;
  return v;
}

static value plus(const value *a, const value *b, const inst *in, double sign) {
  value v = *a;
  if (is_constant(b)) {
    v.offset = (int64_t)((uint64_t)v.offset + (uint64_t)(signed_number(b, in) * (int64_t)sign));
    return v;
  }
  if (is_constant(a) || (a->factor == 0 && a->root >= 0)) { /* the sign of a dividend */
    const value *c = is_constant(a) ? a : NULL;
    v = *b;
    v.factor *= sign;
    v.offset = (int64_t)sign * v.offset + (c != NULL ? signed_number(c, in) : 0);
    return v;
  }
  if (b->factor == 0) {
    return v;
  }
  v.factor = a->factor + sign * b->factor;
  v.tolerance = a->tolerance > b->tolerance ? a->tolerance : b->tolerance;
  v.offset = 0;
  v.inverse = 0;
  v.root = a->root == b->root && fabs(v.factor) > 1e-6 ? a->root : -1;
  return v;
}

static value masked(const value *a, const value *c, const inst *in) {
  const int64_t m = signed_number(c, in);
  const uint64_t low = (uint64_t)m & (~(uint64_t)m + 1);
  const bool high = m < 0 || (in->bits == 64 && ((uint64_t)m + low) >> 32 == 1);
  value v = *a;
  v.root = high && is_power((int64_t)low) && ((uint64_t)m + low == 0 || m > 0) ? v.root : -1;
  return v;
}

/* The value of micro-operation i's result; root -1: its own. */
static value compute(look *l, size_t i) {
  const ptx_uop *u = &l->code->uops[i];
  const inst *in = inst_of(l, i);
  const value none = {.root = -1};
  const value *a = value_of(l, u->a), *b = value_of(l, u->b), *c = value_of(l, u->c);
  if (in->is_float) {
    return none;
  }
  if (!is_main(l, i)) {
    return in->kind == KIND_SETP ? none : *a;
  }
  const bool swap = is_constant(a) && !is_constant(b);
  switch (in->kind) {
  case KIND_MOVE:
    return u->fn == sct_ptx_op_mov_pair ? *value_of(l, l->code->vec[u->vec]) : *a;
  case KIND_ADD:
    return plus(a, b, in, 1);
  case KIND_SUB:
    return plus(a, b, in, -1);
  case KIND_MUL:
  case KIND_MAD: {
    const value *x = swap ? b : a, *by = swap ? a : b;
    const value v = is_constant(by) ? times(l, in, x, by, u->d) : none;
    return in->kind == KIND_MUL || v.root < 0 ? v : plus(&v, c, in, 1);
  }
  case KIND_SHL:
    return is_constant(b) && b->bits < 64 ? scaled(a, ldexp(1, (int)b->bits), 0) : none;
  case KIND_SHR:
    if (is_constant(b) && (int)b->bits == in->bits - 1) {
      return scaled(a, 0, 0);
    }
    return is_constant(b) && b->bits < 64 ? scaled(a, ldexp(1, -(int)b->bits), 0) : none;
  case KIND_SHF: {
    value v = *a;
    const int by = is_constant(c) ? (int)(in->left ? 32 - (c->bits & 31) : c->bits & 31) : 0;
    v.inverse = v.inverse != 0 ? v.inverse : b->inverse;
    v.inverse = by < 31 ? (int64_t)((uint64_t)v.inverse << by) : 0;
    return v.inverse != 0 ? v : none;
  }
  case KIND_AND:
    return is_constant(a) || is_constant(b) ? masked(swap ? b : a, swap ? a : b, in) : none;
  case KIND_DIV:
    return is_constant(b) && number_of(b, in) != 0 ? scaled(a, 1 / (double)number_of(b, in), 0)
                                                   : none;
  default:
    return none;
  }
}

static void define(look *l, uint32_t slot, size_t i, value v) {
  value *to = value_of(l, slot);
  if (slot < PTX_SLOT_REGS || slot >= l->body->n_slots || to->n_defs != 1) {
    return;
  }
  to->def = (int32_t)i;
  if (v.root < 0) {
    return;
  }
  to->root = v.root;
  to->product = v.product;
  to->factor = v.factor;
  to->tolerance = v.tolerance;
  to->offset = v.offset;
  to->inverse = v.inverse;
  to->bits = v.bits;
  to->flags |= v.flags & CONSTANT;
}

static bool keeps_constant(const look *l, size_t i) {
  return inst_of(l, i)->kind == KIND_MOVE && l->code->uops[i].fn != sct_ptx_op_mov_pair;
}

static void compute_all(look *l) {
  for (size_t i = l->first; i < l->end; i++) {
    const ptx_uop *u = &l->code->uops[i];
    value v = is_any_load(u) || is_store(u) ? (value){.root = -1} : compute(l, i);
    v.flags = keeps_constant(l, i) ? v.flags : 0;
    if (u->fn == sct_ptx_op_mov_unpair) {
      for (int k = 0; k < u->n; k++) {
        define(l, l->code->vec[u->vec + (uint32_t)k], i, v);
      }
    } else {
      define(l, u->d, i, v);
    }
  }
}

/* ---- reports */

static void add_literal(look *l, const inst *in, uint64_t bits, ptx_type type) {
  sct_ptx_traits *t = l->out;
  for (int i = 0; i < t->n_literals; i++) {
    if (t->literal[i].bits == bits && strcmp(t->literal[i].type, sct_ptx_type_name(type)) == 0) {
      return;
    }
  }
  if (t->n_literals < SCT_PTX_MAX_CONSTANTS && !in->library) {
    t->literal[t->n_literals++] = (sct_ptx_literal){bits, sct_ptx_type_name(type)};
  }
}

/* Where the answer of a comparison with `c` changes, and what the root is there. */
static void report_threshold(look *l, const inst *in, const value *v, int64_t c) {
  const double root = v->factor != 0 ? ((double)c - (double)v->offset) / v->factor : 0;
  const double from = v->factor != 0 ? -(double)v->offset / v->factor : 0; /* x - 5 < 100 */
  if (v->inverse != 0) {
    report(l, in, v->inverse, RANK_DIVISOR);
    return;
  }
  report(l, in, c, RANK_COMPARED);
  if (fabs(root) < 0x1p62) {
    report(l, in, llround(root), RANK_COMPARED);
  }
  if (!in->is_signed && from >= 2 && from < 0x1p31) {
    report(l, in, llround(from), RANK_COMPARED);
  }
}

enum { CMP_LE = 3, CMP_GT = 4, CMP_LT = 2, CMP_GE = 5, CMP_LO, CMP_LS, CMP_HI, CMP_HS };

static void report_compare(look *l, size_t i) {
  const inst *in = inst_of(l, i);
  const ptx_uop *u = &l->code->uops[i];
  const bool swap = is_constant(value_of(l, u->a));
  const value *v = value_of(l, swap ? u->b : u->a), *c = value_of(l, swap ? u->a : u->b);
  const bool minmax = in->kind == KIND_MINMAX;
  if (!is_constant(c) || is_constant(v)) {
    return;
  }
  if (in->from_float || (v->flags & FROM_DATA) != 0) {
    const ptx_span text = l->code->insts[u->inst].text;
    const char *end = memchr(text.p, ' ', (size_t)text.len),
               *tab = memchr(text.p, '\t', (size_t)text.len);
    end = end == NULL || (tab != NULL && tab < end) ? tab : end;
    const char *dot = end;
    while (dot != NULL && dot > text.p && dot[-1] != '.') {
      dot--;
    }
    add_literal(l, in, c->bits,
                dot != NULL ? sct_ptx_type_find(dot, (int)(end - dot)) : PTX_T_NONE);
    return;
  }
  const bool above = u->op == CMP_LE || u->op == CMP_GT || u->op == CMP_LS || u->op == CMP_HI;
  const bool below = u->op == CMP_LT || u->op == CMP_GE || u->op == CMP_LO || u->op == CMP_HS;
  const int64_t number = number_of(c, in);
  if (positions(v)) {
    l->of_thread = (v->flags & FROM_POSITION) == 0;
    report_threshold(l, in, v, number + (!minmax && (swap ? below : above) && number < INT64_MAX));
  }
}

/* In terms of the root where shifts lead to it: (2 * n) & -4 is of n & -2. */
static int64_t unshifted(const value *v, int64_t number) {
  int exponent = 0;
  const bool shifts = v->factor > 0 && frexp(v->factor, &exponent) == 0.5;
  return shifts ? llround((double)number / v->factor) : number;
}

/* The lowest bit of a mask, and the one after its highest. */
static void report_mask(look *l, const inst *in, const value *v, const value *c) {
  const int64_t m = signed_number(c, in);
  const int64_t part = m & INT32_MAX, low = part & -part;
  int64_t end = 1;
  while (m > 0 && m <= INT32_MAX && end <= m) {
    end *= 2;
  }
  const int64_t period = unshifted(v, end);
  report(l, in, period <= INT32_MAX ? period : 0, RANK_DIVISOR); /* else that of a type */
  report(l, in, unshifted(v, low), RANK_DIVISOR);
}

/* A part of a parameter is n % 256 without a mask, unless a mask follows. */
static void report_part(look *l, const inst *in, const ptx_uop *u) {
  const uint32_t to_slot = l->code->vec[u->vec];
  bool used = false;
  for (size_t i = l->first; i < l->end; i++) {
    const ptx_uop *by = &l->code->uops[i];
    used |= inst_of(l, i)->kind != KIND_AND && (by->a == to_slot || by->b == to_slot);
    used |= is_store(by) && l->code->vec[by->vec] == to_slot;
  }
  for (int k = 0; k < l->func->n_params && used && u->a == PTX_SLOT_ZERO && u->n == 1; k++) {
    const ptx_sym *p = l->func->params[k];
    const int64_t from = u->imm - p->offset, to = from + u->bytes;
    if (from >= 0 && to <= p->bytes && p->bytes == sct_ptx_type_bytes(p->type)) {
      report(l, in, from > 0 ? INT64_C(1) << 8 * from : 0, RANK_DIVISOR);
      report(l, in, to < p->bytes ? INT64_C(1) << 8 * to : 0, RANK_DIVISOR);
    }
  }
}

/* Whether a loop goes on from micro-operation i's sum: x = x + 256. */
static bool is_step(const look *l, size_t i) {
  const ptx_uop *sum = &l->code->uops[i];
  if (sum->d == sum->a) {
    return true;
  }
  for (size_t k = l->first; k < l->end; k++) {
    const ptx_uop *u = &l->code->uops[k];
    if (u->d == sum->a && u->a == sum->d && inst_of(l, k)->kind == KIND_MOVE) {
      return true;
    }
  }
  return false;
}

static void report_uop(look *l, size_t i) {
  const inst *in = inst_of(l, i);
  const ptx_uop *u = &l->code->uops[i];
  const value *a = value_of(l, u->a), *b = value_of(l, u->b), *d = value_of(l, u->d);
  const bool swap = is_constant(a) && !is_constant(b);
  const value *x = swap ? b : a, *c = swap ? a : b;
  const bool guards = (d->flags & TO_COMPARE) != 0;
  if (in->kind == KIND_SETP || in->kind == KIND_MINMAX) {
    report_compare(l, i);
    return;
  }
  if (u->fn == sct_ptx_op_ld_param) {
    l->of_thread = false;
    report_part(l, in, u);
  }
  const bool steps = in->kind == KIND_ADD && (x->flags & FROM_DATA) == 0;
  if (in->is_float || !(positions(x) || steps) || !is_constant(c)) {
    return;
  }
  l->of_thread = (x->flags & FROM_ANY) == FROM_THREAD;
  const int64_t m = magnitude(signed_number(c, in));
  const bool own = d->n_defs == 1;
  switch (in->kind) {
  case KIND_MUL:
  case KIND_MAD:
    if (in->high) {
      report(l, in, own ? divisor(d) : 0, RANK_DIVISOR);
    } else if (guards && (d->flags & MAGIC) == 0 && d->inverse == 0) {
      report(l, in, m, RANK_FACTOR);
    }
    break;
  case KIND_SHL:
    report(l, in, guards && m < 62 ? INT64_C(1) << m : 0, RANK_FACTOR);
    break;
  case KIND_SHR:
    report(l, in, own ? divisor(d) : 0, RANK_DIVISOR);
    report(l, in, !own && m < 62 ? INT64_C(1) << m : 0, RANK_DIVISOR);
    break;
  case KIND_BFE:
    report(l, in, m < 62 ? INT64_C(1) << m : 0, RANK_DIVISOR);
    break;
  case KIND_AND:
    report_mask(l, in, x, c);
    break;
  case KIND_DIV:
  case KIND_REM:
    report(l, in, swap ? 0 : m, RANK_DIVISOR);
    report(l, in, own && in->kind == KIND_DIV ? divisor(d) : 0, RANK_DIVISOR);
    break;
  case KIND_ADD:
    report(l, in, guards && m > 1 && is_step(l, i) ? m : 0, steps ? RANK_DIVISOR : RANK_FACTOR);
    break;
  default:
    break;
  }
}

/* Products whose quotient is a division: their factors are nothing that the source names. */
static void mark_magic(look *l) {
  for (size_t i = l->first; i < l->end; i++) {
    const ptx_uop *u = &l->code->uops[i];
    const value *a = value_of(l, u->a), *d = value_of(l, u->d);
    if (inst_of(l, i)->kind == KIND_SHR && is_main(l, i) && a->product >= 0 && d->n_defs == 1 &&
        (a->factor >= 0x1p16 || (divisor(d) != 0 && a->tolerance > 0))) {
      l->values[a->product].flags |= MAGIC;
    }
  }
}

static void report_inspected(look *l, size_t i) {
  const inst *in = inst_of(l, i);
  const ptx_uop *u = &l->code->uops[i];
  const bool looks = in->kind == KIND_SETP || in->kind == KIND_MINMAX || in->kind == KIND_AND ||
                     in->kind == KIND_REM || in->kind == KIND_DIV || in->kind == KIND_BFE;
  const bool table = u->fn == sct_ptx_op_terminator;
  if (!in->library && !in->is_float && (looks || table)) {
    l->out->inspected |= value_of(l, u->a)->pointer;
    l->out->inspected |= looks ? value_of(l, u->b)->pointer : 0;
  }
}

static void count_defs(look *l) {
  for (uint32_t s = 0; s < l->body->n_slots; s++) {
    l->values[s] = (value){.root = (int32_t)s, .product = -1, .def = -1, .factor = 1};
  }
  for (size_t i = l->first; i < l->end; i++) {
    const ptx_uop *u = &l->code->uops[i];
    const bool many = is_any_load(u) || u->fn == sct_ptx_op_mov_unpair;
    for (int k = 0; many && k < u->n; k++) {
      value_of(l, l->code->vec[u->vec + (uint32_t)k])->n_defs++;
    }
    if (!many && !is_store(u)) {
      value_of(l, u->d)->n_defs++;
    }
  }
  value *zero = &l->values[PTX_SLOT_ZERO];
  *zero = (value){.product = -1, .flags = CONSTANT, .factor = 1};
  for (size_t i = 0; i < l->body->n_consts; i++) {
    value *v = value_of(l, l->body->consts[i].slot);
    v->bits = l->body->consts[i].bits;
    v->flags = CONSTANT;
  }
  for (size_t i = 0; i < l->body->n_sregs; i++) {
    const bool changes = sct_ptx_sreg_changes(l->body->sregs[i].sreg);
    value_of(l, l->body->sregs[i].slot)->flags = changes ? FROM_POSITION : FROM_THREAD;
  }
}

static void look_at_body(look *l, const ptx_body *body) {
  const ptx_code *c = l->code;
  const int32_t last = body->entry + body->n_blocks - 1;
  l->body = body;
  l->first = (size_t)c->blocks[body->entry].first;
  l->end = (size_t)c->blocks[last].end + (c->blocks[last].term != PTX_TERM_FALL);
  l->values = sct_alloc(sizeof(*l->values) * (body->n_slots + 1));
  count_defs(l);
  flow_all(l);
  compute_all(l);
  mark_compared(l);
  mark_addresses(l);
  mark_magic(l);
  for (size_t i = l->first; i < l->end; i++) {
    if (is_main(l, i)) {
      report_uop(l, i);
      report_narrow(l, i);
      report_inspected(l, i);
    }
  }
  sct_free(l->values);
}

static int by_rank(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  return x->rank != y->rank ? x->rank - y->rank : (x->number > y->number) - (x->number < y->number);
}

static int ascending(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

static void keep_best(look *l) {
  sct_ptx_traits *out = l->out;
  const size_t n = l->n_found < SCT_PTX_MAX_CONSTANTS ? l->n_found : SCT_PTX_MAX_CONSTANTS;
  if (n > 0) {
    qsort(l->found, l->n_found, sizeof l->found[0], by_rank);
    qsort(l->found, n, sizeof l->found[0], ascending);
  }
  for (; out->n_constants < (int)n; out->n_constants++) {
    out->constant[out->n_constants] = l->found[out->n_constants].number;
    out->multiplied[out->n_constants] = l->found[out->n_constants].rank == RANK_FACTOR;
    out->of_threads[out->n_constants] = l->found[out->n_constants].rank == RANK_THREAD;
  }
}

sct_status sct_ptx_traits_of(sct_ptx_traits *out, const sct_ptx_module *m, const char *kernel,
                             sct_error *err) {
  const ptx_func *f = sct_ptx_func_find(m, kernel);
  *out = (sct_ptx_traits){.n_constants = 0};
  if (f == NULL) {
    return sct_fail(err, SCT_EUSAGE, "%s: no kernel '%s'", m->name, kernel);
  }
  if (f->code == NULL) {
    return sct_fail(err, SCT_EDATA, "%s", f->error);
  }
  look l = {.func = f, .code = f->code, .out = out};
  for (int k = 0; k < f->n_params && k < 64; k++) {
    l.params |= (uint64_t)(f->params[k]->bytes >= 8) << k;
  }
  l.insts = sct_alloc(sizeof(*l.insts) * (f->code->n_insts + 1));
  for (size_t i = 0; i < f->code->n_insts; i++) {
    l.insts[i] = read_inst(m, &f->code->insts[i]);
  }
  for (size_t i = 0; i < f->code->n_bodies; i++) {
    look_at_body(&l, &f->code->bodies[i]);
  }
  keep_best(&l);
  sct_free(l.insts);
  sct_free(l.found);
  return SCT_OK;
}
