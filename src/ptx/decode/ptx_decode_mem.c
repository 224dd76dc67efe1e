/* Decoders of memory instructions. */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"

typedef struct mem_mods {
  ptx_space space;     /* PTX_SPACE_NONE: generic */
  bool nc;             /* read-only path */
  bool strong;         /* volatile, relaxed, acquire, release: synchronises, so no race */
  bool keep;           /* volatile, mmio, acquire: machine code keeps its width */
  uint8_t sync;        /* what it orders, as an atomic operation does */
  ptx_mem_scope scope; /* of a strong access */
  bool uncached;       /* passes by L1 where global loads are cached there */
  bool cluster;        /* any block's of the cluster: generic in machine code */
  bool cache_hint;     /* a policy operand follows */
  int n;               /* elements */
  ptx_type type;
} mem_mods;

/* ".shared::cta" and its like */
ptx_space sct_ptx_dec_take_space(ptx_dec *d) {
  static const uint8_t spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_SHARED,
                                   PTX_SPACE_SHARED, PTX_SPACE_LOCAL,  PTX_SPACE_PARAM,
                                   PTX_SPACE_PARAM,  PTX_SPACE_PARAM,  PTX_SPACE_CONST};
  const int k = sct_ptx_dec_choose(
      d, "global shared shared::cta shared::cluster local param param::entry param::func const");
  return k < 0 ? PTX_SPACE_NONE : (ptx_space)spaces[k];
}

ptx_mem_scope sct_ptx_dec_take_scope(ptx_dec *d, ptx_mem_scope otherwise) {
  static const ptx_mem_scope scopes[] = {PTX_SCOPE_BLOCK, PTX_SCOPE_CLUSTER, PTX_SCOPE_DEVICE,
                                         PTX_SCOPE_DEVICE};
  const int k = sct_ptx_dec_choose(d, "cta cluster gpu sys");
  return k < 0 ? otherwise : scopes[k];
}

void sct_ptx_dec_record_order(ptx_dec *d, ptx_mem_scope scope) {
  d->code->orders_blocks |= scope == PTX_SCOPE_DEVICE;
  d->code->orders_cluster |= scope != PTX_SCOPE_BLOCK;
}

static bool next_is(const ptx_dec *d, const char *words) {
  return d->mod < d->inst->n_mods && sct_ptx_span_in(d->inst->mods[d->mod], words);
}

/* Order, scope, space, cache operators, eviction priorities and prefetch sizes in the order in
 * which PTX wants them; the hints change no result. */
static bool take_mem_mods(ptx_dec *d, mem_mods *m, bool load) {
  *m = (mem_mods){.n = 1, .keep = next_is(d, "volatile mmio acquire")};
  m->strong = sct_ptx_dec_take(d, "mmio");
  m->sync = sct_ptx_dec_take(d, "acquire")   ? PTX_SYNC_ACQUIRE
            : sct_ptx_dec_take(d, "release") ? PTX_SYNC_RELEASE
                                             : 0;
  m->strong |= m->sync != 0 || sct_ptx_dec_choose(d, "volatile relaxed mmio") >= 0;
  if (!m->strong) {
    (void)sct_ptx_dec_take(d, "weak");
  }
  m->scope = sct_ptx_dec_take_scope(d, PTX_SCOPE_DEVICE);
  m->cluster = next_is(d, "shared::cluster");
  m->space = sct_ptx_dec_take_space(d);
  if (load) {
    m->uncached = next_is(d, "cg cv");
    (void)sct_ptx_dec_choose(d, "cg cv ca cs lu");
    m->nc = sct_ptx_dec_take(d, "nc");
  } else {
    (void)sct_ptx_dec_choose(d, "wb cg cs wt");
  }
  while (sct_ptx_dec_take_prefix(d, "L1::") ||
         (!next_is(d, "L2::cache_hint") && sct_ptx_dec_take_prefix(d, "L2::"))) {
  }
  m->cache_hint = sct_ptx_dec_take(d, "L2::cache_hint");
  (void)sct_ptx_dec_take_prefix(d, "L2::");
  (void)sct_ptx_dec_take(d, "unified");
  m->n = 1 << (1 + sct_ptx_dec_choose(d, "v2 v4 v8"));
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
  return sct_ptx_dec_wide_class(d, e, type, "the access", cls);
}

static ptx_fn mem_fn(ptx_space space, bool load) {
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
  const ptx_fn fn = space == PTX_SPACE_PARAM ? param_fn(d, address, load) : mem_fn(space, load);
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
  u->space = (uint8_t)(m->cluster ? PTX_SPACE_NONE : space);
  u->op = (uint8_t)((m->nc ? PTX_MEM_NC : 0) | (m->strong ? PTX_MEM_STRONG : 0) |
                    (m->keep ? PTX_MEM_KEEP : 0) | (m->uncached ? PTX_MEM_UNCACHED : 0) |
                    (m->strong ? (int)m->scope << PTX_MEM_SCOPE_SHIFT : 0));
  u->sync = m->sync;
  if (m->sync != 0) {
    sct_ptx_dec_record_order(d, m->scope);
  }
  sct_ptx_dec_set_kind(d, load ? PTX_INST_LOAD : PTX_INST_STORE, u->bytes * u->n);
  sct_ptx_dec_record_width(d, space, u->bytes * u->n);
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
  ptx_uop unused = {0};
  (void)sct_ptx_dec_take_space(d);
  if (sct_ptx_dec_choose(d, "L1 L2") < 0 && !sct_ptx_dec_take_prefix(d, "L2::")) {
    return sct_ptx_dec_unknown(d);
  }
  return sct_ptx_dec_operands(d, "-A", PTX_T_NONE, &unused) &&
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
  sct_ptx_dec_set_kind(d, PTX_INST_ASYNC, u->bytes);
  sct_ptx_dec_record_width(d, PTX_SPACE_NONE, u->bytes);
  return true;
}

bool sct_ptx_dec_wait(ptx_dec *d, ptx_fn fn, bool op, const char *name) {
  if (!sct_ptx_dec_count(d, 1) || d->inst->opds[0].kind != PTX_OPD_INT) {
    return sct_ptx_dec_fail(d, "%s.wait_group wants a constant", name);
  }
  return sct_ptx_dec_put(d, (ptx_uop){.fn = fn, .imm = d->inst->opds[0].imm, .op = op});
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
  switch (sct_ptx_dec_choose(d, "commit_group wait_group wait_all")) {
  case 0:
    return sct_ptx_dec_put_operands(d, "", PTX_T_NONE, (ptx_uop){.fn = sct_ptx_op_cp_commit});
  case 1:
    return sct_ptx_dec_wait(d, sct_ptx_op_cp_wait, false, "cp.async");
  case 2:
    return sct_ptx_dec_put_operands(d, "", PTX_T_NONE,
                                    (ptx_uop){.fn = sct_ptx_op_cp_wait, .op = 1});
  default:
    return cp_async_copy(d);
  }
}
