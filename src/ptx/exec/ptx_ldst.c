/* Loads and stores of all spaces: data, definedness, races and counts of one warp access. */
#include "ptx/exec/ptx_exec.h"

#define FOR_LANES(i, mask)                                                                         \
  for (uint32_t m_ = (mask), i = m_ != 0 ? (uint32_t)__builtin_ctz(m_) : 0; m_ != 0;               \
       m_ &= m_ - 1, i = m_ != 0 ? (uint32_t)__builtin_ctz(m_) : 0)

static int64_t lane_offset(const ptx_access *acc, const ptx_part *part, uint32_t lane) {
  return (int64_t)((acc->addr[lane] - part->origin) & part->keep) + part->stride * (int64_t)lane;
}

/* ---- loads */

static uint64_t read_value(const uint8_t *p, int bytes, bool sign) {
  uint64_t v = 0;
  switch (bytes) {
  case 1:
    v = *p;
    break;
  case 2:
    memcpy(&v, p, 2);
    break;
  case 4:
    memcpy(&v, p, 4);
    break;
  default:
    memcpy(&v, p, 8);
    break;
  }
  const int drop = 64 - 8 * bytes;
  return sign ? (uint64_t)((int64_t)(v << drop) >> drop) : v;
}

/* Full warps, by far the most, in loops without a mask: `bytes` of every lane, a constant, from
 * memory to a register or back. */
__attribute__((always_inline)) static inline void copy_full(uint8_t *p, void *reg,
                                                            const ptx_access *acc,
                                                            const ptx_part *part, int bytes,
                                                            bool stores) {
  uint8_t *r = reg;
  if (acc->full_run && acc->width == bytes) {
    uint8_t *at = p + ((acc->addr[0] - part->origin) & part->keep);
    memcpy(stores ? at : r, stores ? r : at, (size_t)bytes * PTX_LANES);
    return;
  }
  for (int i = 0; i < PTX_LANES; i++, r += bytes) {
    uint8_t *at = p + ((acc->addr[i] - part->origin) & part->keep);
    memcpy(stores ? at : r, stores ? r : at, (size_t)bytes);
  }
}

/* Element `e` of the lanes of `part`, from memory to register `d`. */
static void load_values(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                        int e, uint32_t d) {
  uint8_t *p = part->host + e * u->bytes;
  const bool full = part->mask == PTX_ALL && part->stride == 0;
  if (full && u->bytes == 4 && u->to == 4) {
    copy_full(p, ptx_r32(x, d), acc, part, 4, false);
  } else if (full && u->bytes == 8) {
    copy_full(p, ptx_r64(x, d), acc, part, 8, false);
  } else if (u->wide) {
    uint64_t *r = ptx_r64(x, d);
    FOR_LANES(i, part->mask) {
      r[i] = read_value(p + lane_offset(acc, part, i), u->bytes, u->sign);
    }
  } else {
    uint32_t *r = ptx_r32(x, d);
    const uint32_t keep = u->to == 2 ? 0xffff : PTX_ALL;
    FOR_LANES(i, part->mask) {
      r[i] = (uint32_t)read_value(p + lane_offset(acc, part, i), u->bytes, u->sign) & keep;
    }
  }
}

static bool all_ones(const uint8_t *p, size_t n) {
  uint64_t and8 = UINT64_MAX;
  uint8_t and1 = 0xff;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t v = 0;
    memcpy(&v, p, 8);
    and8 &= v;
  }
  for (; n > 0; n--, p++) {
    and1 &= *p;
  }
  return and8 == UINT64_MAX && and1 == 0xff;
}

/* Lanes with an undefined bit in what they load. */
static uint32_t undefined_lanes(const ptx_access *acc, const ptx_part *part) {
  uint32_t lanes = 0;
  if (part->defined == NULL) {
    return 0;
  }
  if (acc->full_run && part->stride == 0 &&
      all_ones(part->defined + lane_offset(acc, part, 0), (size_t)acc->width * PTX_LANES)) {
    return 0;
  }
  FOR_LANES(i, part->mask) {
    lanes |= (uint32_t)!all_ones(part->defined + lane_offset(acc, part, i), (size_t)acc->width)
             << i;
  }
  return lanes;
}

/* Definedness of element `e`: what the memory's definedness bits say. */
static void load_state(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                       int e, uint32_t d, uint32_t undefined) {
  x->state[d] &= ~part->mask;
  if (undefined == 0) {
    return;
  }
  uint64_t bits[PTX_LANES] = {0};
  uint32_t lanes = 0;
  FOR_LANES(i, undefined) {
    const uint8_t *p = part->defined + lane_offset(acc, part, i) + e * u->bytes;
    const uint64_t all = u->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * u->bytes) - 1;
    const uint64_t missing = ~read_value(p, u->bytes, false) & all;
    const int drop = 64 - 8 * u->bytes;
    bits[i] = u->sign ? (uint64_t)((int64_t)(missing << drop) >> drop) : missing;
    lanes |= (uint32_t)(bits[i] != 0) << i;
  }
  if (lanes != 0) {
    sct_ptx_undef_set(x, d, lanes, bits);
    sct_ptx_origin_set(x, u, d, lanes);
  }
}

static bool early_copy(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                       uint32_t undefined) {
  if (!part->shared && part->buf == NULL) {
    return false;
  }
  const ptx_exec *of = part->peer != NULL ? part->peer : x;
  FOR_LANES(i, undefined) {
    if (part->shared ? sct_ptx_async_pending(of, lane_offset(acc, part, i), acc->width)
                     : sct_ptx_bulk_writes(x, part->buf, lane_offset(acc, part, i), acc->width)) {
      sct_ptx_fault(x, u, SCT_PTX_ASYNC_EARLY, (int)i, acc->addr[i],
                    "%s %d bytes that an asynchronous copy has not delivered: no wait in between",
                    acc->dir == PTX_READ ? "reads" : "writes", acc->width);
      return true;
    }
  }
  return false;
}

static void load_part(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part) {
  const uint32_t *slots = x->code->vec + u->vec;
  const uint32_t undefined = x->launch->definedness ? undefined_lanes(acc, part) : 0;
  if (undefined != 0 && early_copy(x, u, acc, part, undefined)) {
    return;
  }
  if (x->launch->races && !sct_ptx_race(x, u, acc, part, 0)) {
    return;
  }
  for (int e = 0; e < u->n; e++) {
    load_values(x, u, acc, part, e, slots[e]);
    load_state(x, u, acc, part, e, slots[e], undefined);
  }
}

/* ---- stores */

static void write_value(uint8_t *p, uint64_t v, int bytes) { /* little-endian host */
  switch (bytes) {
  case 1:
    *p = (uint8_t)v;
    break;
  case 2:
    memcpy(p, &v, 2);
    break;
  case 4:
    memcpy(p, &v, 4);
    break;
  default:
    memcpy(p, &v, 8);
    break;
  }
}

/* Element `e` of the lanes of `part`, from register `s` to memory. */
static void store_values(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                         const ptx_part *part, int e, uint32_t s) {
  uint8_t *p = part->host + e * u->bytes;
  const bool full = part->mask == PTX_ALL && part->stride == 0;
  if (full && u->bytes == 4 && u->to == 4) {
    copy_full(p, ptx_r32(x, s), acc, part, 4, true);
  } else if (full && u->bytes == 8) {
    copy_full(p, ptx_r64(x, s), acc, part, 8, true);
  } else if (u->wide) {
    const uint64_t *r = ptx_r64(x, s);
    FOR_LANES(i, part->mask) {
      write_value(p + lane_offset(acc, part, i), r[i], u->bytes);
    }
  } else {
    const uint32_t *r = ptx_r32(x, s);
    FOR_LANES(i, part->mask) {
      write_value(p + lane_offset(acc, part, i), r[i], u->bytes);
    }
  }
}

static uint64_t element_value(const ptx_exec *x, const ptx_uop *u, uint32_t slot, uint32_t lane) {
  return u->wide ? ptx_r64(x, slot)[lane] : ptx_r32(x, slot)[lane];
}

/* Whether memory holds what `lane` stores. */
static bool holds(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                  uint32_t lane) {
  const uint32_t *slots = x->code->vec + u->vec;
  const uint8_t *p = part->host + lane_offset(acc, part, lane);
  bool same = true;
  for (int e = 0; e < u->n && same; e++) {
    const uint64_t cut = u->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * u->bytes) - 1;
    const uint64_t v = element_value(x, u, slots[e], lane) & cut;
    same = read_value(p + e * u->bytes, u->bytes, false) == v;
  }
  return same;
}

/* Lanes whose store changes what is in memory; to set what was undefined is a change. */
static uint32_t changed_lanes(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                              const ptx_part *part) {
  uint32_t lanes = 0;
  FOR_LANES(i, part->mask) {
    const bool set = part->defined == NULL ||
                     all_ones(part->defined + lane_offset(acc, part, i), (size_t)acc->width);
    lanes |= (uint32_t) !(set && holds(x, u, acc, part, i)) << i;
  }
  return lanes;
}

/* Two lanes of one store that put different values in one place: one of them finds the other's. */
static bool lanes_conflict(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                           const ptx_part *part) {
  FOR_LANES(i, part->mask) {
    if (!holds(x, u, acc, part, i)) {
      sct_ptx_find(
          x, u, part->shared ? SCT_PTX_SHARED_RACE : SCT_PTX_GLOBAL_RACE, (int)i, acc->addr[i],
          "two lanes of one store write different values to the same %d bytes", acc->width);
      return true;
    }
  }
  return false;
}

/* Two lanes of one store that write to the same bytes, the same value. */
static void warn_shared_bytes(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                              const ptx_part *part) {
  bool ascends = true;
  int before = -1;
  FOR_LANES(i, part->mask) {
    ascends = ascends && (before < 0 || acc->addr[i] >= acc->addr[before] + (uint64_t)acc->width);
    before = (int)i;
  }
  if (ascends) {
    return;
  }
  FOR_LANES(i, part->mask) {
    for (uint32_t k = 0; k < i; k++) {
      const uint64_t apart = acc->addr[i] - acc->addr[k] + (uint64_t)acc->width - 1;
      if ((part->mask >> k & 1) != 0 && apart < 2 * (uint64_t)acc->width - 1) {
        sct_ptx_warn(x, u, SCT_PTX_GLOBAL_RACE, (int)i, acc->addr[i],
                     "two lanes of one store write the same value to the same %d bytes of '%s'",
                     acc->width, part->buf->name);
        return;
      }
    }
  }
}

static uint32_t undefined_sources(const ptx_exec *x, const ptx_uop *u) {
  const uint32_t *slots = x->code->vec + u->vec;
  uint32_t lanes = 0;
  for (int e = 0; e < u->n; e++) {
    lanes |= x->state[slots[e]];
  }
  return lanes;
}

/* First lane and offset that an undefined byte goes to, other than padding; false: none. */
static bool first_undefined(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                            const ptx_part *part, uint32_t lanes, int *lane, int64_t *offset) {
  const uint32_t *slots = x->code->vec + u->vec;
  FOR_LANES(i, lanes) {
    const int64_t off = lane_offset(acc, part, i);
    for (int e = 0; e < u->n; e++) {
      const uint64_t bits = sct_ptx_undef_get(x, slots[e], (int)i);
      for (int k = 0; k < u->bytes; k++) {
        const int64_t at = off + e * u->bytes + k;
        if ((bits >> 8 * k & 0xff) != 0 &&
            (part->buf->required == NULL || part->buf->required[at] != 0)) {
          *lane = (int)i;
          *offset = at;
          sct_ptx_before_undefined(x, slots[e], (int)i);
          return true;
        }
      }
    }
  }
  return false;
}

/* An undefined value on its way to global memory; `part` gets the buffer's `defined`. */
static void undefined_store(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, ptx_part *part,
                            uint32_t lanes) {
  int lane = 0;
  int64_t at = 0;
  if (!first_undefined(x, u, acc, part, lanes, &lane, &at)) {
    return;
  }
  sct_ptx_fault_unless_set(x, u, lane, acc->addr[lane], part->buf, at,
                           lane_offset(acc, part, (uint32_t)lane) + acc->width);
  part->defined = part->buf->defined;
}

/* Marks what was stored as defined, but for the undefined bits of `lanes`. */
static void store_state(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                        const ptx_part *part, uint32_t lanes) {
  const uint32_t *slots = x->code->vec + u->vec;
  if (part->defined == NULL) {
    return;
  }
  if (acc->full_run && part->stride == 0) {
    memset(part->defined + lane_offset(acc, part, 0), 0xff, (size_t)acc->width * PTX_LANES);
  } else {
    FOR_LANES(i, part->mask) {
      memset(part->defined + lane_offset(acc, part, i), 0xff, (size_t)acc->width);
    }
  }
  FOR_LANES(i, lanes & part->mask) {
    for (int e = 0; e < u->n; e++) {
      const uint64_t defined = ~sct_ptx_undef_get(x, slots[e], (int)i);
      memcpy(part->defined + lane_offset(acc, part, i) + e * u->bytes, &defined, u->bytes);
    }
  }
}

/* A store to what a bulk copy may still read. */
static bool overwrites_source(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                              const ptx_part *part) {
  FOR_LANES(i, part->mask) {
    if (sct_ptx_bulk_reads(x, (int64_t)acc->addr[i], acc->width)) {
      sct_ptx_fault(x, u, SCT_PTX_ASYNC_EARLY, (int)i, acc->addr[i],
                    "writes %d bytes that a bulk store may still read: no wait_group in between",
                    acc->width);
      return true;
    }
  }
  return false;
}

static void store_part(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, ptx_part *part) {
  const uint32_t *slots = x->code->vec + u->vec;
  const uint32_t undefined = undefined_sources(x, u) & part->mask;
  const bool races =
      x->launch->races && (part->shared || (part->buf && part->buf->last_access != NULL));
  if (undefined != 0 && part->buf != NULL) {
    undefined_store(x, u, acc, part, undefined);
    if (x->stop) {
      return;
    }
  }
  if (races && !sct_ptx_race(x, u, acc, part, changed_lanes(x, u, acc, part) | undefined)) {
    return;
  }
  if (part->shared && (x->warp->n_asyncs > 0 || x->n_bulks > 0) && x->launch->definedness &&
      early_copy(x, u, acc, part, undefined_lanes(acc, part))) {
    return;
  }
  if (part->shared && x->n_bulks > 0 && x->launch->definedness &&
      overwrites_source(x, u, acc, part)) {
    return;
  }
  x->changes++;
  for (int e = 0; e < u->n; e++) {
    store_values(x, u, acc, part, e, slots[e]);
  }
  store_state(x, u, acc, part, undefined);
  if (races && !acc->full_run && !lanes_conflict(x, u, acc, part) && part->buf != NULL &&
      sct_ptx_order_warning(x->launch->order)->kind == SCT_PTX_CLEAN) {
    warn_shared_bytes(x, u, acc, part);
  }
}

/* ---- one access of a space: all lanes of `acc` */

typedef ptx_part (*part_fn)(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t todo);

static void run_parts(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, part_fn find) {
  for (uint32_t todo = acc->mask; todo != 0 && !x->stop;) {
    ptx_part part = find(x, u, acc, todo);
    if (part.mask == 0) {
      return;
    }
    if (acc->dir == PTX_READ) {
      load_part(x, u, acc, &part);
    } else {
      store_part(x, u, acc, &part);
    }
    todo &= ~part.mask;
  }
}

/* Counts the parts of a load of which machine code leaves something out. */
static void count_parts(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, bool shared) {
  ptx_live_part parts[PTX_LIVE_PARTS];
  const int n = sct_ptx_live_parts(u, parts);
  for (int k = 0; k < n; k++) {
    ptx_access part = *acc;
    part.full_run = acc->full_run && parts[k].bytes == acc->width;
    part.width = parts[k].bytes;
    for (int i = 0; i < PTX_LANES; i++) {
      part.addr[i] = acc->addr[i] + (uint64_t)parts[k].offset;
    }
    if (shared) {
      ptx_count_shared(x, u, &part);
    } else {
      ptx_count_global(x, u, &part);
    }
  }
}

static void run_global(ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  if (x->launch->counters && u->space == PTX_SPACE_CONST) {
    x->counters.constant_requests++;
    x->counters.constant_words += sct_ptx_constant_words(acc);
  } else if (x->launch->counters) {
    if (u->flags != 0) {
      count_parts(x, u, acc, false);
    } else {
      ptx_count_global(x, u, acc);
    }
  }
  run_parts(x, u, acc, sct_ptx_part_global);
  if ((u->op & PTX_MEM_STRONG) != 0 && acc->dir == PTX_READ) {
    ptx_look(x, u);
  }
}

static void run_shared(ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  run_parts(x, u, acc, sct_ptx_part_shared);
  if (x->launch->counters && !x->stop) {
    if (u->flags != 0) {
      count_parts(x, u, acc, true);
    } else {
      ptx_count_shared(x, u, acc);
    }
  }
}

static void run_local(ptx_exec *x, const ptx_uop *u, ptx_access *acc) {
  if (u->a == PTX_SLOT_ZERO) { /* a variable by name: registers hold whole addresses */
    for (int i = 0; i < PTX_LANES; i++) {
      acc->addr[i] += (uint64_t)x->frame->local_base;
    }
  }
  x->counters.local_requests++;
  acc->full_run = false;
  run_parts(x, u, acc, sct_ptx_part_local);
}

#define ACCESS(name, direction, run)                                                               \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    ptx_access acc;                                                                                \
    acc.dir = direction;                                                                           \
    acc.uncached = (u->op & PTX_MEM_UNCACHED) != 0;                                                \
    if (sct_ptx_addresses(x, u, &acc)) {                                                           \
      run(x, u, &acc);                                                                             \
    }                                                                                              \
  }
ACCESS(ld_global, PTX_READ, run_global)
ACCESS(st_global, PTX_WRITE, run_global)
ACCESS(ld_shared, PTX_READ, run_shared)
ACCESS(st_shared, PTX_WRITE, run_shared)
ACCESS(ld_local, PTX_READ, run_local)
ACCESS(st_local, PTX_WRITE, run_local)

/* ---- parameters */

static void fault_param(ptx_exec *x, const ptx_uop *u, int64_t a, int width, int lane) {
  sct_ptx_fault(x, u, SCT_PTX_OUT_OF_BOUNDS, lane, (uint64_t)a,
                "reads %d bytes at offset %lld of the parameters, which have %lld bytes", width,
                (long long)a, (long long)x->launch->kernel->param_bytes);
}

static bool param_inside(const ptx_exec *x, int64_t a, int width) {
  return a >= 0 && a <= x->launch->kernel->param_bytes - width && (a & (width - 1)) == 0;
}

/* The kernel's parameter block by computed addresses: each lane may read another place. */
static void load_params(ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  const ptx_part part = {.host = x->launch->params, .mask = acc->mask};
  FOR_LANES(i, acc->mask) {
    if (!param_inside(x, (int64_t)acc->addr[i], acc->width)) {
      fault_param(x, u, (int64_t)acc->addr[i], acc->width, (int)i);
      return;
    }
  }
  load_part(x, u, acc, &part);
}

/* By name, as nearly always: one value for all lanes. */
static void broadcast_param(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *slots = x->code->vec + u->vec;
  if (!param_inside(x, u->imm, u->bytes * u->n)) {
    fault_param(x, u, u->imm, u->bytes * u->n, ptx_first_lane(x->mask));
    return;
  }
  for (int e = 0; e < u->n; e++) {
    const uint64_t v = read_value(x->launch->params + u->imm + e * u->bytes, u->bytes, u->sign);
    const ptx_uop put = {.d = slots[e]};
    uint64_t t[PTX_LANES];
    for (int i = 0; i < PTX_LANES; i++) {
      t[i] = v;
    }
    sct_ptx_put(x, &put, u->to, t);
  }
}

void sct_ptx_op_ld_param(ptx_exec *x, const ptx_uop *u) {
  ptx_access acc;
  acc.dir = PTX_READ;
  if (u->a == PTX_SLOT_ZERO) {
    broadcast_param(x, u);
  } else if (sct_ptx_addresses(x, u, &acc)) {
    load_params(x, u, &acc);
  }
}

static void own_params(ptx_exec *x, const ptx_uop *u, ptx_access *acc) {
  for (int i = 0; i < PTX_LANES; i++) {
    acc->addr[i] += (uint64_t)x->frame->param_base;
  }
  acc->full_run = false;
  run_parts(x, u, acc, sct_ptx_part_local);
}
ACCESS(ld_own_param, PTX_READ, own_params)
ACCESS(st_own_param, PTX_WRITE, own_params)

/* Parameters of calls stand after the .local arrays of the caller's frame. */
static void call_params(ptx_exec *x, const ptx_uop *u, ptx_access *acc) {
  const int64_t base = x->frame->local_base + x->code->bodies[x->frame->body].local_bytes;
  for (int i = 0; i < PTX_LANES; i++) {
    acc->addr[i] += (uint64_t)((base + 15) / 16 * 16);
  }
  acc->full_run = false;
  run_parts(x, u, acc, sct_ptx_part_local);
}
ACCESS(ld_call_param, PTX_READ, call_params)
ACCESS(st_call_param, PTX_WRITE, call_params)

/* ---- generic addresses: lanes by window */

static void run_generic(ptx_exec *x, const ptx_uop *u, ptx_access *acc) {
  for (uint32_t todo = acc->mask; todo != 0 && !x->stop;) {
    const uint64_t window = acc->addr[ptx_first_lane(todo)] >> PTX_WINDOW_SHIFT;
    ptx_access some = *acc;
    const bool near =
        window == PTX_WINDOW_SHARED || window == PTX_WINDOW_LOCAL || window == PTX_WINDOW_PARAM;
    some.mask = 0;
    FOR_LANES(i, todo) {
      const uint64_t w = acc->addr[i] >> PTX_WINDOW_SHIFT;
      const bool near_too =
          w == PTX_WINDOW_SHARED || w == PTX_WINDOW_LOCAL || w == PTX_WINDOW_PARAM;
      if (near ? w == window : !near_too) {
        some.mask |= 1u << i;
        some.addr[i] = near ? acc->addr[i] - PTX_WINDOW(window) : acc->addr[i];
      }
    }
    some.full_run = acc->full_run && some.mask == PTX_ALL;
    if (window == PTX_WINDOW_SHARED) {
      run_shared(x, u, &some);
    } else if (window == PTX_WINDOW_LOCAL) {
      run_local(x, u, &some);
    } else if (window == PTX_WINDOW_PARAM && acc->dir == PTX_READ) {
      load_params(x, u, &some);
    } else {
      run_global(x, u, &some);
    }
    todo &= ~some.mask;
  }
}
ACCESS(ld_generic, PTX_READ, run_generic)
ACCESS(st_generic, PTX_WRITE, run_generic)
