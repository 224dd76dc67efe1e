/* atom and red: one lane after the other reads, combines and writes back, so that contention within
 * a warp, between warps and between blocks needs nothing more. The order of the lanes follows the
 * order of the launch: what depends on it shows when the launch is run again in another one. */
#include "ptx/exec/ptx_exec.h"
#include "ptx/exec/ptx_values.h"

#include <math.h>

#define MAX_WORDS 8

/* What one lane does to its place in memory: words with their undefined bits. */
typedef struct update {
  uint64_t old[MAX_WORDS], old_bits[MAX_WORDS];
  uint64_t b[MAX_WORDS], b_bits[MAX_WORDS];
  uint64_t c[MAX_WORDS], c_bits[MAX_WORDS]; /* cas: b is what it compares with, c what it stores */
  uint64_t now[MAX_WORDS], now_bits[MAX_WORDS];
} update;

static uint64_t word_mask(const ptx_uop *u) {
  return u->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * u->bytes) - 1;
}

/* ---- values */

/* atom.add.f32 flushes subnormals on global memory and keeps them on shared memory (PTX ISA 9.0,
 * atom). */
static uint64_t add_f32(uint32_t a, uint32_t b, bool flush) {
  const uint32_t exponent = 0x7f800000, sign = 0x80000000;
  a = flush && (a & exponent) == 0 ? a & sign : a;
  b = flush && (b & exponent) == 0 ? b & sign : b;
  const uint32_t out = ptx_bits32(ptx_float(a) + ptx_float(b));
  if ((out & ~sign) > exponent) {
    return 0x7fffffff;
  }
  return flush && (out & exponent) == 0 ? out & sign : out;
}

/* Halves: f64 holds them and their sum to more than twice their digits, so rounding it again is
 * rounding once. Of two zeros min takes the negative one, max the other; NaN loses. */
static uint16_t half_op(uint16_t a, uint16_t b, int op, bool bf16) {
  const double x = bf16 ? sct_ptx_bf16_to_f32(a) : sct_ptx_f16_to_f32(a);
  const double y = bf16 ? sct_ptx_bf16_to_f32(b) : sct_ptx_f16_to_f32(b);
  if (op == PTX_ATOMIC_ADD) {
    return bf16 ? sct_ptx_f64_to_bf16(x + y, 0) : sct_ptx_f64_to_f16(x + y, 0);
  }
  if (isnan(x) || isnan(y)) {
    return isnan(x) && isnan(y) ? 0x7fff : isnan(x) ? b : a;
  }
  const bool less = x < y || (x == y && signbit(x) && !signbit(y));
  return less == (op == PTX_ATOMIC_MIN) ? a : b;
}

static uint64_t float_op(const ptx_uop *u, uint64_t a, uint64_t b, bool global) {
  const bool bf16 = u->to == PTX_T_BF16 || u->to == PTX_T_BF16X2;
  switch ((ptx_type)u->to) {
  case PTX_T_F32:
    return add_f32((uint32_t)a, (uint32_t)b, global);
  case PTX_T_F64:
    return ptx_bits64(ptx_double(a) + ptx_double(b));
  case PTX_T_F16X2:
  case PTX_T_BF16X2:
    return (uint64_t)half_op((uint16_t)(a >> 16), (uint16_t)(b >> 16), u->from, bf16) << 16 |
           half_op((uint16_t)a, (uint16_t)b, u->from, bf16);
  default:
    return half_op((uint16_t)a, (uint16_t)b, u->from, bf16);
  }
}

static bool is_float(const ptx_uop *u) {
  const ptx_type_kind kind = sct_ptx_type_kind((ptx_type)u->to);
  return kind == PTX_KIND_F || kind == PTX_KIND_H;
}

static bool less_than(const ptx_uop *u, uint64_t a, uint64_t b) {
  const int drop = 64 - 8 * u->bytes;
  return sct_ptx_type_kind((ptx_type)u->to) == PTX_KIND_S
             ? (int64_t)(a << drop) < (int64_t)(b << drop)
             : a < b;
}

/* A sum as sct_ptx_launch_opts.rounding says. */
static uint64_t round_at_random(const ptx_uop *u, uint64_t a, uint64_t b, uint64_t sum,
                                int rounding) {
  const uint64_t random = sct_mix64(sct_mix64(a, b), (uint64_t)(int64_t)rounding);
  return u->to == PTX_T_F32
             ? ptx_bits32(sct_ptx_sum_at_random32(ptx_float((uint32_t)sum), ptx_float((uint32_t)a),
                                                  ptx_float((uint32_t)b), random, rounding))
             : ptx_bits64(sct_ptx_sum_at_random64(ptx_double(sum), ptx_double(a), ptx_double(b),
                                                  random, rounding));
}

static uint64_t combine(const ptx_uop *u, uint64_t a, uint64_t b, bool global) {
  if (is_float(u)) {
    return float_op(u, a, b, global);
  }
  switch (u->from) {
  case PTX_ATOMIC_ADD:
    return (a + b) & word_mask(u);
  case PTX_ATOMIC_MIN:
    return less_than(u, b, a) ? b : a;
  case PTX_ATOMIC_MAX:
    return less_than(u, a, b) ? b : a;
  case PTX_ATOMIC_AND:
    return a & b;
  case PTX_ATOMIC_OR:
    return a | b;
  case PTX_ATOMIC_XOR:
    return a ^ b;
  case PTX_ATOMIC_INC:
    return a >= b ? 0 : a + 1;
  case PTX_ATOMIC_DEC:
    return a == 0 || a > b ? b : a - 1;
  default:
    return b; /* exch */
  }
}

/* Undefined bits of the same, with the rules of ptx_undef.c. */
static uint64_t combine_bits(const ptx_uop *u, const update *w, int e) {
  const uint64_t va = w->old_bits[e], vb = w->b_bits[e], v = va | vb;
  if (u->from == PTX_ATOMIC_EXCH) {
    return vb;
  }
  if (v == 0) {
    return 0;
  }
  switch (u->from) {
  case PTX_ATOMIC_AND: /* a defined 0 decides */
    return (va & vb) | (va & w->b[e]) | (vb & w->old[e]);
  case PTX_ATOMIC_OR: /* a defined 1 decides */
    return (va & vb) | (va & ~w->b[e]) | (vb & ~w->old[e]);
  case PTX_ATOMIC_XOR:
    return v;
  case PTX_ATOMIC_ADD:
    return (is_float(u) ? UINT64_MAX : v | (0 - v)) & word_mask(u);
  default:
    return word_mask(u);
  }
}

/* All words of a cas together. Defined bits that differ decide, whatever the others are. */
static void compare_and_swap(const ptx_uop *u, update *w) {
  bool differs = false, unknown = false;
  for (int e = 0; e < u->n; e++) {
    const uint64_t v = w->old_bits[e] | w->b_bits[e];
    differs |= ((w->old[e] ^ w->b[e]) & ~v) != 0;
    unknown |= v != 0;
  }
  for (int e = 0; e < u->n; e++) {
    w->now[e] = differs ? w->old[e] : w->c[e];
    w->now_bits[e] = differs ? w->old_bits[e] : unknown ? word_mask(u) : w->c_bits[e];
  }
}

/* ---- one lane */

static uint64_t operand(const ptx_exec *x, const ptx_uop *u, int index, int lane, uint64_t *bits) {
  const uint32_t slot = x->code->vec[u->vec + (uint32_t)index];
  *bits = sct_ptx_undef_get(x, slot, lane) & word_mask(u);
  return (u->wide ? ptx_r64(x, slot)[lane] : ptx_r32(x, slot)[lane]) & word_mask(u);
}

static void read_update(const ptx_exec *x, const ptx_uop *u, const ptx_part *part, int64_t at,
                        int lane, update *w) {
  const int first = u->e ? u->n : 0; /* after the destinations */
  *w = (update){.old = {0}};
  for (int e = 0; e < u->n; e++) {
    memcpy(&w->old[e], part->host + at + e * u->bytes, u->bytes);
    if (part->defined != NULL && x->launch->definedness) {
      uint64_t defined = 0;
      memcpy(&defined, part->defined + at + e * u->bytes, u->bytes);
      w->old_bits[e] = ~defined & word_mask(u);
    }
    w->b[e] = operand(x, u, first + e, lane, &w->b_bits[e]);
    if (u->from == PTX_ATOMIC_CAS) {
      w->c[e] = operand(x, u, first + u->n + e, lane, &w->c_bits[e]);
    }
  }
}

/* Undefined bits that would stay in global memory, where padding may have them. */
static bool undefined_result(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                             const ptx_part *part, int64_t at, int lane, const update *w) {
  for (int k = 0; part->buf != NULL && k < u->n * u->bytes; k++) {
    const int e = k / u->bytes, byte = k % u->bytes;
    const bool cared = part->buf->required == NULL || part->buf->required[at + k] != 0;
    if ((w->now_bits[e] >> 8 * byte & 0xff) != 0 && cared) {
      const bool memory = (w->old_bits[e] >> 8 * byte & 0xff) != 0 || w->b_bits[e] == 0;
      sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_STORE, lane, acc->addr[lane],
                    "updates%s offset %lld of '%s'%s",
                    memory ? "" : " with a value that was never set,", (long long)at + k,
                    part->buf->name, memory ? ", which was never set" : "");
      return true;
    }
  }
  return false;
}

static bool pending_copy(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                         int lane, const update *w) {
  uint64_t undefined = 0;
  for (int e = 0; e < u->n; e++) {
    undefined |= w->old_bits[e];
  }
  if (part->shared && sct_ptx_bulk_reads(x, (int64_t)acc->addr[lane], acc->width)) {
    sct_ptx_fault(x, u, SCT_PTX_ASYNC_EARLY, lane, acc->addr[lane],
                  "updates %d bytes that a bulk store may still read: no wait_group in between",
                  acc->width);
    return true;
  }
  if (!part->shared || undefined == 0 ||
      !sct_ptx_async_pending(x, (int64_t)acc->addr[lane], acc->width)) {
    return false;
  }
  sct_ptx_fault(x, u, SCT_PTX_ASYNC_EARLY, lane, acc->addr[lane],
                "updates %d bytes that an asynchronous copy has not delivered: no wait in between",
                acc->width);
  return true;
}

/* Writes back; true if that changes what is there. To define what was undefined is a change. */
static bool write_update(const ptx_uop *u, const ptx_part *part, int64_t at, const update *w) {
  bool changed = false;
  for (int e = 0; e < u->n; e++) {
    const uint64_t defined = ~w->now_bits[e];
    changed |= w->now[e] != w->old[e] || w->now_bits[e] != w->old_bits[e];
    memcpy(part->host + at + e * u->bytes, &w->now[e], u->bytes);
    if (part->defined != NULL) {
      memcpy(part->defined + at + e * u->bytes, &defined, u->bytes);
    }
  }
  return changed;
}

/* ---- a warp */

/* Old values on their way to the destinations: the registers are written when all lanes are done,
 * for a destination may be a source as well. */
typedef struct results {
  uint64_t value[MAX_WORDS][PTX_LANES], bits[MAX_WORDS][PTX_LANES];
} results;

static void put_results(ptx_exec *x, const ptx_uop *u, uint32_t mask, const results *r) {
  for (int e = 0; e < u->n; e++) {
    const uint32_t d = x->code->vec[u->vec + (uint32_t)e];
    uint32_t undefined = 0;
    x->state[d] &= ~mask;
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const int i = ptx_first_lane(m);
      if (u->wide) {
        ptx_r64(x, d)[i] = r->value[e][i];
      } else {
        ptx_r32(x, d)[i] = (uint32_t)r->value[e][i];
      }
      undefined |= (uint32_t)(r->bits[e][i] != 0) << i;
    }
    if (undefined != 0) {
      sct_ptx_undef_set(x, d, undefined, r->bits[e]);
    }
  }
}

/* Lane number `k` in the order of this launch. */
static int lane_at(const ptx_exec *x, int k) {
  const sct_ptx_launch_opts *o = x->launch->opts;
  if (o->order == SCT_PTX_FORWARD) {
    return k;
  }
  if (o->order == SCT_PTX_REVERSE) {
    return PTX_LANES - 1 - k;
  }
  const uint64_t mix = sct_mix64(o->seed, (uint64_t)x->block_index);
  return (int)(((uint64_t)k * (mix | 1) + (mix >> 32)) % PTX_LANES); /* odd: every lane once */
}

static void update_part(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                        const ptx_part *part) {
  results r;
  const bool is_sum = u->from == PTX_ATOMIC_ADD && (u->to == PTX_T_F32 || u->to == PTX_T_F64);
  const int rounding = is_sum ? x->launch->opts->rounding : 0;
  uint32_t changed = 0;
  for (int k = 0; k < PTX_LANES; k++) {
    const int i = lane_at(x, k);
    if ((part->mask >> i & 1) == 0) {
      continue;
    }
    const int64_t at = (int64_t)((acc->addr[i] - part->origin) & part->keep);
    update w;
    read_update(x, u, part, at, i, &w);
    if (pending_copy(x, u, acc, part, i, &w)) {
      return;
    }
    for (int e = 0; e < u->n; e++) {
      w.now[e] = combine(u, w.old[e], w.b[e], part->buf != NULL);
      w.now[e] = rounding ? round_at_random(u, w.old[e], w.b[e], w.now[e], rounding) : w.now[e];
      w.now_bits[e] = combine_bits(u, &w, e);
      r.value[e][i] = w.old[e];
      r.bits[e][i] = w.old_bits[e];
    }
    if (u->from == PTX_ATOMIC_CAS) {
      compare_and_swap(u, &w);
    }
    if (undefined_result(x, u, acc, part, at, i, &w)) {
      return;
    }
    changed |= (uint32_t)write_update(u, part, at, &w) << i;
  }
  x->changes += changed != 0;
  ptx_look(x, u);
  if (x->launch->races && !sct_ptx_race(x, u, acc, part, changed)) {
    return;
  }
  if (u->e) {
    put_results(x, u, part->mask, &r);
  }
}

/* Whether machine code has a loop of loads and compare-and-swaps for it, or the kernel itself: by
 * what ptxas 13.0 makes of every form for sm_90. */
static bool is_swap_loop(const ptx_uop *u, bool shared) {
  const bool swaps = u->from == PTX_ATOMIC_CAS || u->from == PTX_ATOMIC_EXCH;
  return u->flags != 0 || (u->bytes == 2 && u->n == 1) ||
         (shared && !swaps && (u->bytes == 8 || is_float(u)));
}

static void run_space(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, bool shared) {
  x->insts[u->inst].swap_loops += is_swap_loop(u, shared);
  if (x->launch->counters && shared && x->launch->rules == NULL) {
    sct_ptx_count_shared_atomic(&x->insts[u->inst].shared, acc, u->b != 0,
                                u->from == PTX_ATOMIC_CAS ? 2 : 1);
    ptx_keep_shared(x, u, acc);
  } else if (x->launch->counters && shared) {
    ptx_count_shared(x, u, acc);
  } else if (x->launch->counters) {
    ptx_count_global(x, u, acc);
  }
  for (uint32_t todo = acc->mask; todo != 0 && !x->stop;) {
    const ptx_part part =
        shared ? sct_ptx_part_shared(x, u, acc, todo) : sct_ptx_part_global(x, u, acc, todo);
    if (part.mask == 0) {
      return;
    }
    update_part(x, u, acc, &part);
    todo &= ~part.mask;
  }
}

/* Generic addresses: the lanes in shared memory, then the others. */
static void run_generic(ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  ptx_access near = *acc, far = *acc;
  near.mask = 0;
  for (uint32_t m = acc->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint64_t window = acc->addr[i] >> PTX_WINDOW_SHIFT;
    if (window == PTX_WINDOW_LOCAL || window == PTX_WINDOW_PARAM) {
      sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, i, acc->addr[i],
                    "updates memory that is neither global nor shared");
      return;
    }
    if (window == PTX_WINDOW_SHARED) {
      near.mask |= 1u << i;
      near.addr[i] -= PTX_WINDOW(PTX_WINDOW_SHARED);
    }
  }
  far.mask &= ~near.mask;
  near.full_run = far.full_run = false;
  if (near.mask != 0) {
    run_space(x, u, &near, true);
  }
  if (far.mask != 0 && !x->stop) {
    far.full_run = acc->full_run && far.mask == PTX_ALL;
    run_space(x, u, &far, false);
  }
}

void sct_ptx_op_atomic(ptx_exec *x, const ptx_uop *u) {
  ptx_access acc;
  acc.dir = PTX_ATOMIC;
  acc.uncached = false;
  if (!sct_ptx_addresses(x, u, &acc)) {
    return;
  }
  if (u->space == PTX_SPACE_NONE) {
    run_generic(x, u, &acc);
  } else {
    run_space(x, u, &acc, u->space == PTX_SPACE_SHARED);
  }
}
