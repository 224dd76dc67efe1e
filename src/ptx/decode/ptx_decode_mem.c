/* Decoders of memory instructions. */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"

typedef struct mem_mods {
  ptx_space space; /* PTX_SPACE_NONE: generic */
  bool nc;         /* read-only path */
  bool strong;     /* volatile, relaxed, acquire, release: synchronises, so no race */
  bool keep;       /* volatile, mmio, acquire: machine code keeps its width */
  uint8_t sync;    /* what it orders, as an atomic operation does */
  bool wide;       /* scope of the device or the system */
  bool uncached;   /* passes by L1 where global loads are cached there */
  bool cache_hint; /* a policy operand follows */
  int n;           /* elements */
  ptx_type type;
} mem_mods;

static bool take_any(ptx_dec *d, const char *const *names, int n) {
  for (int i = 0; i < n; i++) {
    if (sct_ptx_dec_take(d, names[i])) {
      return true;
    }
  }
  return false;
}

/* ".shared::cta" and its like */
ptx_space sct_ptx_dec_take_space(ptx_dec *d) {
  static const struct {
    const char *name;
    ptx_space space;
  } spaces[] = {{"global", PTX_SPACE_GLOBAL},      {"shared", PTX_SPACE_SHARED},
                {"shared::cta", PTX_SPACE_SHARED}, {"shared::cluster", PTX_SPACE_SHARED},
                {"local", PTX_SPACE_LOCAL},        {"param", PTX_SPACE_PARAM},
                {"param::entry", PTX_SPACE_PARAM}, {"param::func", PTX_SPACE_PARAM},
                {"const", PTX_SPACE_CONST}};
  for (int i = 0; i < SCT_COUNT(spaces); i++) {
    if (sct_ptx_dec_take(d, spaces[i].name)) {
      return spaces[i].space;
    }
  }
  return PTX_SPACE_NONE;
}

/* Order, scope, space, cache operators, eviction priorities and prefetch sizes in the order in
 * which PTX wants them; the hints change no result. */
static bool take_mem_mods(ptx_dec *d, mem_mods *m, bool load) {
  static const char *const strong[] = {"volatile", "relaxed", "mmio"};
  static const char *const near[] = {"cta", "cluster"}, *const wide[] = {"gpu", "sys"};
  static const char *const load_ops[] = {"ca", "cs", "lu"}, *const uncached[] = {"cg", "cv"};
  static const char *const store_ops[] = {"wb", "cg", "cs", "wt"};
  static const char *const kept[] = {"volatile", "mmio", "acquire"};
  *m = (mem_mods){.n = 1};
  for (int i = 0; i < SCT_COUNT(kept); i++) {
    m->keep |= d->mod < d->inst->n_mods && sct_ptx_span_is(d->inst->mods[d->mod], kept[i]);
  }
  m->strong = sct_ptx_dec_take(d, "mmio");
  m->sync = sct_ptx_dec_take(d, "acquire")   ? PTX_SYNC_ACQUIRE
            : sct_ptx_dec_take(d, "release") ? PTX_SYNC_RELEASE
                                             : 0;
  m->strong |= m->sync != 0 || take_any(d, strong, SCT_COUNT(strong));
  if (!m->strong) {
    (void)sct_ptx_dec_take(d, "weak");
  }
  m->wide = !take_any(d, near, SCT_COUNT(near)) && take_any(d, wide, SCT_COUNT(wide));
  m->space = sct_ptx_dec_take_space(d);
  if (load) {
    m->uncached = take_any(d, uncached, SCT_COUNT(uncached));
    (void)(m->uncached || take_any(d, load_ops, SCT_COUNT(load_ops)));
    m->nc = sct_ptx_dec_take(d, "nc");
  } else {
    (void)take_any(d, store_ops, SCT_COUNT(store_ops));
  }
  while (sct_ptx_dec_take_prefix(d, "L1::") ||
         (d->mod < d->inst->n_mods && !sct_ptx_span_is(d->inst->mods[d->mod], "L2::cache_hint") &&
          sct_ptx_dec_take_prefix(d, "L2::"))) {
  }
  m->cache_hint = sct_ptx_dec_take(d, "L2::cache_hint");
  (void)sct_ptx_dec_take_prefix(d, "L2::");
  (void)sct_ptx_dec_take(d, "unified");
  m->n = sct_ptx_dec_take(d, "v2")   ? 2
         : sct_ptx_dec_take(d, "v4") ? 4
         : sct_ptx_dec_take(d, "v8") ? 8
                                     : 1;
  m->type = sct_ptx_dec_take_type(d);
  const int bytes = sct_ptx_type_bytes(m->type);
  return bytes > 0 && bytes <= 8 && bytes * m->n <= 32 && !sct_ptx_dec_mods_left(d);
}

/* Data register of a load or store: may be wider than the type. */
static bool data_class(ptx_dec *d, const ptx_opd *opd, ptx_type type, char *cls) {
  const ptx_opd *e = opd->kind == PTX_OPD_VEC && opd->n_elems > 0 ? opd->elems : opd;
  for (int i = 0; opd->kind == PTX_OPD_VEC && i < opd->n_elems && e->kind != PTX_OPD_REG; i++) {
    e = &opd->elems[i];
  }
  *cls = sct_ptx_dec_class(type);
  if (e->kind != PTX_OPD_REG) {
    return true;
  }
  *cls = sct_ptx_dec_reg_class(d, e->reg);
  const int have = *cls == '1' ? 2 : *cls == '3' ? 4 : *cls == '6' ? 8 : 0;
  return have >= sct_ptx_type_bytes(type) ||
         sct_ptx_dec_fail(d, "register '%.*s' is narrower than the access", e->name.len, e->name.p);
}

static void note_width(int *min, int bytes) {
  *min = bytes < *min ? bytes : *min;
}

static ptx_fn mem_fn(ptx_dec *d, ptx_space space, bool load) {
  switch (space) {
  case PTX_SPACE_GLOBAL:
  case PTX_SPACE_CONST:
    return load ? sct_ptx_op_ld_global : sct_ptx_op_st_global;
  case PTX_SPACE_SHARED:
    return load ? sct_ptx_op_ld_shared : sct_ptx_op_st_shared;
  case PTX_SPACE_LOCAL:
    return load ? sct_ptx_op_ld_local : sct_ptx_op_st_local;
  case PTX_SPACE_NONE:
    return load ? sct_ptx_op_ld_generic : sct_ptx_op_st_generic;
  default:
    (void)d;
    return NULL;
  }
}

/* Parameters: the kernel's own are read from the parameter block, those of calls live in the frame.
 */
static ptx_fn param_fn(ptx_dec *d, const ptx_opd *address, bool load) {
  const ptx_opd *e = address->n_elems == 1 ? &address->elems[0] : address;
  const ptx_sym *sym =
      e->kind == PTX_OPD_NAME ? sct_ptx_sym_visible(d->m, d->func, d->inst->scope, e->name) : NULL;
  bool own = sym == NULL;
  for (int i = 0; sym != NULL && i < d->func->n_params; i++) {
    own |= d->func->params[i] == sym;
  }
  if (d->func->is_entry && own) {
    return load ? sct_ptx_op_ld_param : NULL;
  }
  for (int i = 0; sym != NULL && i < d->func->n_rets; i++) {
    own |= d->func->rets[i] == sym;
  }
  return own ? (load ? sct_ptx_op_ld_own_param : sct_ptx_op_st_own_param)
             : (load ? sct_ptx_op_ld_call_param : sct_ptx_op_st_call_param);
}

/* The operand of a cache policy: it must be there and has no effect here. */
static bool policy_operand(ptx_dec *d, const mem_mods *m, int n) {
  uint32_t slot = 0;
  return sct_ptx_dec_count(d, n + m->cache_hint) &&
         (!m->cache_hint || sct_ptx_dec_source(d, &d->inst->opds[n], '6', PTX_T_B64, &slot));
}

static bool mem_access(ptx_dec *d, const mem_mods *m, bool load) {
  const ptx_opd *data = &d->inst->opds[load ? 0 : 1], *address = &d->inst->opds[load ? 1 : 0];
  const int n_data = data->kind == PTX_OPD_VEC ? data->n_elems : 1;
  char cls = 0;
  uint32_t base = 0, first = 0;
  int64_t imm = 0;
  ptx_space seen = PTX_SPACE_NONE;
  if (!policy_operand(d, m, 2)) {
    return false;
  }
  if (n_data != m->n) {
    return sct_ptx_dec_fail(d, "%d data operands for %d elements", n_data, m->n);
  }
  if (!data_class(d, data, m->type, &cls) ||
      !sct_ptx_dec_vector(d, data, cls, m->type, load, &first) ||
      !sct_ptx_dec_address(d, address, &base, &imm, &seen)) {
    return false;
  }
  ptx_space space = m->space;
  if (space == PTX_SPACE_NONE && seen != PTX_SPACE_NONE) {
    space = seen;
  }
  const ptx_fn fn = space == PTX_SPACE_PARAM ? param_fn(d, address, load) : mem_fn(d, space, load);
  if (fn == NULL) {
    return sct_ptx_dec_unknown(d);
  }
  ptx_uop *u = sct_ptx_dec_emit(d, fn);
  u->a = base;
  u->imm = imm;
  u->vec = first;
  u->n = (uint8_t)m->n;
  u->bytes = (uint8_t)sct_ptx_type_bytes(m->type);
  u->wide = cls == '6';
  u->to = cls == '1' ? 2 : cls == '3' ? 4 : 8;
  u->sign = sct_ptx_type_kind(m->type) == PTX_KIND_S;
  u->space = (uint8_t)space;
  u->op = (uint8_t)((m->nc ? PTX_MEM_NC : 0) | (m->strong ? PTX_MEM_STRONG : 0) |
                    (m->keep ? PTX_MEM_KEEP : 0) | (m->uncached ? PTX_MEM_UNCACHED : 0));
  u->sync = m->sync;
  d->code->orders_blocks |= m->sync != 0 && m->wide;
  sct_ptx_dec_kind(d, load ? PTX_INST_LOAD : PTX_INST_STORE, u->bytes * u->n);
  if (space == PTX_SPACE_SHARED || space == PTX_SPACE_NONE) {
    note_width(&d->code->min_shared_bytes, u->bytes * u->n);
  }
  if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_NONE) {
    note_width(&d->code->min_global_bytes, u->bytes * u->n);
  }
  return true;
}

bool sct_ptx_decode_ld(ptx_dec *d) {
  mem_mods m;
  return take_mem_mods(d, &m, true) ? mem_access(d, &m, true) : sct_ptx_dec_unknown(d);
}

bool sct_ptx_decode_st(ptx_dec *d) {
  mem_mods m;
  return take_mem_mods(d, &m, false) ? mem_access(d, &m, false) : sct_ptx_dec_unknown(d);
}

/* prefetch.global.L2 [a]: no effect, but its operand must be well-formed. */
bool sct_ptx_decode_prefetch(ptx_dec *d) {
  uint32_t base = 0;
  int64_t imm = 0;
  ptx_space space = sct_ptx_dec_take_space(d);
  if (!sct_ptx_dec_take(d, "L1") && !sct_ptx_dec_take(d, "L2") &&
      !sct_ptx_dec_take_prefix(d, "L2::")) {
    return sct_ptx_dec_unknown(d);
  }
  return sct_ptx_dec_count(d, 1) &&
         sct_ptx_dec_address(d, &d->inst->opds[0], &base, &imm, &space) &&
         sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_nop});
}

/* createpolicy.fractional.L2::evict_first.b64 policy, 1.0: policies have no effect; give zero. */
bool sct_ptx_decode_createpolicy(ptx_dec *d) {
  uint32_t slot = 0;
  if (!sct_ptx_dec_take(d, "fractional") || !sct_ptx_dec_take_prefix(d, "L2::")) {
    return sct_ptx_dec_unknown(d);
  }
  (void)sct_ptx_dec_take_prefix(d, "L2::");
  if (sct_ptx_dec_take_type(d) != PTX_T_B64) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_dest(d, &d->inst->opds[0], '6', &slot)) {
    return false;
  }
  return sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_mov64, .d = slot});
}

/* ---- cp.async */

/* cp.async.ca.shared.global{.L2::128B} [dst], [src], 16{, src_size}{, policy} */
static bool cp_async_copy(ptx_dec *d) {
  const bool cg = sct_ptx_dec_take(d, "cg");
  uint32_t to = 0, from = 0, size = 0;
  int64_t to_imm = 0, from_imm = 0;
  ptx_space space = PTX_SPACE_NONE;
  if ((!cg && !sct_ptx_dec_take(d, "ca")) || sct_ptx_dec_take_space(d) != PTX_SPACE_SHARED ||
      !sct_ptx_dec_take(d, "global")) {
    return sct_ptx_dec_unknown(d);
  }
  const bool hint = sct_ptx_dec_take(d, "L2::cache_hint");
  (void)sct_ptx_dec_take_prefix(d, "L2::");
  const int n = d->inst->n_opds - (hint ? 1 : 0);
  const ptx_opd *o = d->inst->opds;
  if ((n != 3 && n != 4) || o[2].kind != PTX_OPD_INT ||
      !(o[2].imm == 16 || (!cg && (o[2].imm == 4 || o[2].imm == 8)))) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_address(d, &o[0], &to, &to_imm, &space) ||
      !sct_ptx_dec_address(d, &o[1], &from, &from_imm, &space) ||
      !sct_ptx_dec_const(d, (uint64_t)o[2].imm, false, &size) ||
      (n == 4 && !sct_ptx_dec_source(d, &o[3], '3', PTX_T_U32, &size))) {
    return false;
  }
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_cp_async);
  u->a = from;
  u->imm = from_imm;
  u->b = to;
  u->vec = (uint32_t)to_imm; /* shared addresses are small */
  u->c = size;
  u->bytes = (uint8_t)o[2].imm;
  u->n = 1;
  u->space = PTX_SPACE_GLOBAL;
  sct_ptx_dec_kind(d, PTX_INST_ASYNC, u->bytes);
  note_width(&d->code->min_shared_bytes, u->bytes);
  note_width(&d->code->min_global_bytes, u->bytes);
  return true;
}

static bool cp_async_wait(ptx_dec *d, bool all) {
  if (!sct_ptx_dec_count(d, all ? 0 : 1) || (!all && d->inst->opds[0].kind != PTX_OPD_INT)) {
    return sct_ptx_dec_fail(d, "cp.async.wait_group wants a constant");
  }
  return sct_ptx_dec_put(
      d, (ptx_uop){.fn = sct_ptx_op_cp_wait, .imm = all ? 0 : d->inst->opds[0].imm, .op = all});
}

bool sct_ptx_decode_cp(ptx_dec *d) {
  if (sct_ptx_dec_take(d, "reduce")) {
    return sct_ptx_dec_fail(d, "reducing copies (cp.reduce.async.bulk) are not supported");
  }
  if (!sct_ptx_dec_take(d, "async")) {
    return sct_ptx_dec_unknown(d);
  }
  if (sct_ptx_dec_take(d, "bulk")) {
    return sct_ptx_dec_bulk(d);
  }
  if (sct_ptx_dec_take(d, "mbarrier")) {
    return sct_ptx_dec_cp_mbarrier(d);
  }
  if (sct_ptx_dec_take(d, "commit_group")) {
    return sct_ptx_dec_count(d, 0) && sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_cp_commit});
  }
  if (sct_ptx_dec_take(d, "wait_group")) {
    return cp_async_wait(d, false);
  }
  if (sct_ptx_dec_take(d, "wait_all")) {
    return cp_async_wait(d, true);
  }
  return cp_async_copy(d);
}
