/* Decoders of moves, conversions, comparisons. */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"
#include "ptx/exec/ptx_values.h"

/* ---- mov */

/* Elements of a vector operand as consecutive entries of code->vec. */
bool sct_ptx_dec_vector(ptx_dec *d, const ptx_opd *opd, char cls, ptx_type type, bool dest,
                        uint32_t *first) {
  ptx_code *c = d->code;
  const ptx_opd *elems = opd->kind == PTX_OPD_VEC ? opd->elems : opd;
  const int n = opd->kind == PTX_OPD_VEC ? opd->n_elems : 1;
  uint32_t slots[16];
  for (int i = 0; i < n; i++) {
    const bool ok = dest ? sct_ptx_dec_dest(d, &elems[i], cls, &slots[i])
                         : sct_ptx_dec_source(d, &elems[i], cls, type, &slots[i]);
    if (!ok) {
      return false;
    }
  }
  *first = (uint32_t)c->n_vec;
  for (int i = 0; i < n; i++) {
    SCT_GROW(c->vec, c->n_vec, c->cap_vec);
    c->vec[c->n_vec++] = slots[i];
  }
  return true;
}

/* mov.b64 {lo, hi}, r and mov.b64 r, {lo, hi}: also four and two halves. */
static bool mov_vector(ptx_dec *d, ptx_type type, bool pack) {
  const ptx_opd *vec = &d->inst->opds[pack ? 1 : 0], *whole = &d->inst->opds[pack ? 0 : 1];
  const int bytes = sct_ptx_type_bytes(type);
  const int elem = vec->n_elems > 0 ? bytes / vec->n_elems : 0;
  const char cls = elem == 4 ? '3' : elem == 2 ? '1' : '?';
  uint32_t first = 0, slot = 0;
  if (cls == '?' || elem * vec->n_elems != bytes) {
    return sct_ptx_dec_unknown(d);
  }
  const bool ok = pack ? sct_ptx_dec_vector(d, vec, cls, PTX_T_NONE, false, &first) &&
                             sct_ptx_dec_dest(d, whole, sct_ptx_dec_class(type), &slot)
                       : sct_ptx_dec_source(d, whole, sct_ptx_dec_class(type), type, &slot) &&
                             sct_ptx_dec_vector(d, vec, cls, PTX_T_NONE, true, &first);
  ptx_uop *u = ok ? sct_ptx_dec_emit(d, pack ? sct_ptx_op_mov_pair : sct_ptx_op_mov_unpair) : NULL;
  if (u == NULL) {
    return false;
  }
  u->vec = first;
  u->n = (uint8_t)vec->n_elems;
  u->bytes = (uint8_t)elem;
  u->wide = bytes == 8;
  *(pack ? &u->d : &u->a) = slot;
  return true;
}

/* Local variables of a called function stand where its frame does. */
static bool in_frame(ptx_dec *d, uint32_t *slot) {
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_add_frame);
  u->a = *slot;
  u->d = sct_ptx_dec_temp(d);
  *slot = u->d;
  return true;
}

/* Address of a variable or a function as a constant. */
static bool mov_symbol(ptx_dec *d, const ptx_opd *opd, char cls, bool *found, uint32_t *slot) {
  const ptx_sym *sym = sct_ptx_sym_visible(d->m, d->func, d->inst->scope, opd->name);
  int64_t address = 0;
  *found = sym != NULL;
  if (sym == NULL) {
    return true;
  }
  if (sym->space == PTX_SPACE_FUNC) {
    const int body = sct_ptx_dec_body(d, sym->func);
    if (body < 0) {
      return false;
    }
    address = (int64_t)(PTX_WINDOW(PTX_WINDOW_FUNCS) + 16 * (uint64_t)body);
  } else if (!sct_ptx_dec_symbol(d, sym, &address)) {
    return false;
  }
  if (!sct_ptx_dec_const(d, (uint64_t)(address + opd->imm), cls == '6', slot)) {
    return false;
  }
  return sym->space != PTX_SPACE_LOCAL || d->func->is_entry || cls != '6' || in_frame(d, slot);
}

/* The slot of an operand that may name a variable or a function. */
static bool mov_source(ptx_dec *d, const ptx_opd *opd, char cls, ptx_type type, uint32_t *slot) {
  bool found = false;
  if (opd->kind == PTX_OPD_NAME && !mov_symbol(d, opd, cls, &found, slot)) {
    return false;
  }
  return found || sct_ptx_dec_source(d, opd, cls, type, slot);
}

/* %clock and its like change while a block runs: class of such a register, 0 for others. */
static char clock_class(const ptx_opd *opd) {
  if (opd->kind != PTX_OPD_NAME) {
    return 0;
  }
  return sct_ptx_span_in(opd->name, "%clock %clock_hi %globaltimer_lo %globaltimer_hi") ? '3'
         : sct_ptx_span_in(opd->name, "%clock64 %globaltimer")                          ? '6'
                                                                                        : 0;
}

bool sct_ptx_decode_mov(ptx_dec *d) {
  const ptx_type type = sct_ptx_dec_take_type(d);
  const char cls = sct_ptx_dec_class(type);
  if (type == PTX_T_NONE || (cls == '?' && type != PTX_T_B128)) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 2)) {
    return false;
  }
  if (type == PTX_T_B128) {
    return sct_ptx_decode_mov128(d);
  }
  const ptx_opd *from = &d->inst->opds[1];
  if (d->inst->opds[0].kind == PTX_OPD_VEC || from->kind == PTX_OPD_VEC) {
    return mov_vector(d, type, from->kind == PTX_OPD_VEC);
  }
  uint32_t a = 0, slot = 0;
  const char clock = clock_class(from);
  if (clock != 0 && clock != cls) {
    return sct_ptx_dec_fail(d, "special register '%.*s' has another width", from->name.len,
                            from->name.p);
  }
  if ((clock == 0 && !mov_source(d, from, cls, type, &a)) ||
      !sct_ptx_dec_dest(d, &d->inst->opds[0], cls, &slot)) {
    return false;
  }
  return sct_ptx_dec_put(d, (ptx_uop){.fn = clock != 0   ? sct_ptx_op_mov_clock
                                            : cls == 'p' ? sct_ptx_op_mov_pred
                                            : cls == '6' ? sct_ptx_op_mov64
                                                         : sct_ptx_op_mov32,
                                      .a = a,
                                      .d = slot,
                                      .wide = cls == '6',
                                      .undef = PTX_UNDEF_MOV});
}

/* ---- cvt */

typedef struct cvt_mods {
  uint16_t flags;
  bool rounds, integral, finite;
  ptx_type to, from;
} cvt_mods;

static bool cvt_take(ptx_dec *d, cvt_mods *m) {
  static const uint16_t flags[] = {0, PTX_F_RZ, PTX_F_RM, PTX_F_RP, PTX_F_RNA};
  const int rounding = sct_ptx_dec_choose(d, "rn rz rm rp rna");
  const int integral = rounding < 0 ? sct_ptx_dec_choose(d, "rni rzi rmi rpi") : -1;
  m->integral = integral >= 0;
  m->rounds = rounding >= 0 || m->integral;
  m->flags = m->integral ? (uint16_t)(flags[integral] | PTX_F_INT)
             : m->rounds ? flags[rounding]
                         : 0;
  const bool relu = sct_ptx_dec_take(d, "relu"); /* before or after satfinite */
  m->finite = sct_ptx_dec_take(d, "satfinite");
  m->flags |= relu || sct_ptx_dec_take(d, "relu") ? PTX_F_RELU : 0;
  m->flags |= m->finite ? PTX_F_FINITE : 0;
  m->flags |= sct_ptx_dec_take(d, "ftz") ? PTX_F_FTZ : 0;
  m->flags |= sct_ptx_dec_take(d, "sat") ? PTX_F_SAT : 0;
  m->to = sct_ptx_dec_take_type(d);
  m->from = sct_ptx_dec_take_type(d);
  return m->to != PTX_T_NONE && m->from != PTX_T_NONE;
}

/* satfinite: an f32 to nearest or towards zero. */
static bool finite_legal(const cvt_mods *m) {
  const unsigned rounding = m->flags & (PTX_F_RND_MASK | PTX_F_RNA);
  return m->from == PTX_T_F32 && m->rounds && !m->integral &&
         (rounding == 0 || rounding == PTX_F_RZ) && (m->flags & (PTX_F_FTZ | PTX_F_SAT)) == 0;
}

/* Whether such a conversion needs, allows or forbids a rounding modifier. */
static bool cvt_legal(const cvt_mods *m) {
  const bool float_to = sct_ptx_value_is_float(m->to), float_from = sct_ptx_value_is_float(m->from);
  const int to = sct_ptx_type_bytes(m->to), from = sct_ptx_type_bytes(m->from);
  if (sct_ptx_conversion_index(m->to) < 0 || sct_ptx_conversion_index(m->from) < 0) {
    return false;
  }
  if (m->finite) {
    return (m->to == PTX_T_F16 || m->to == PTX_T_BF16) && finite_legal(m);
  }
  if (!float_to && !float_from) {
    return !m->rounds && (m->flags & ~PTX_F_SAT) == 0;
  }
  if (float_to && float_from) {
    if (m->to == m->from) {
      return m->integral || !m->rounds;
    }
    return to < from || (to == 2 && from == 2) ? m->rounds && !m->integral : !m->rounds;
  }
  return float_to ? m->rounds && !m->integral : m->integral;
}

static ptx_fn cvt_int_fn(const cvt_mods *m, char to, char from) {
  if (m->flags != 0 || sct_ptx_value_is_float(m->to) || sct_ptx_value_is_float(m->from)) {
    return NULL;
  }
  const int tb = sct_ptx_type_bytes(m->to), fb = sct_ptx_type_bytes(m->from);
  if (tb == 8 && fb == 4 && to == '6' && from == '3') {
    return sct_ptx_type_kind(m->from) == PTX_KIND_S ? sct_ptx_op_sext64 : sct_ptx_op_zext64;
  }
  if (tb == 4 && fb == 8 && to == '3' && from == '6') {
    return sct_ptx_op_trunc32;
  }
  return NULL;
}

static bool is_bytes(ptx_type type) {
  return type == PTX_T_E4M3X2 || type == PTX_T_E5M2X2;
}

/* cvt.rn.f16x2.f32 d, a, b: a to the upper half. cvt.rn.satfinite.e4m3x2.f16x2 d, a. */
static bool cvt_pack(ptx_dec *d, const cvt_mods *m) {
  const unsigned rounding = m->flags & (PTX_F_RND_MASK | PTX_F_RNA);
  const bool bytes = is_bytes(m->to), halves = m->from == PTX_T_F16X2;
  if (!m->rounds || m->integral || (halves ? !bytes : m->from != PTX_T_F32) ||
      (bytes && !m->finite) || (rounding != 0 && (rounding != PTX_F_RZ || bytes))) {
    return sct_ptx_dec_unknown(d);
  }
  const char *const signature = halves ? "13" : bytes ? "133" : "333";
  return sct_ptx_dec_put_operands(d, signature, m->from,
                                  (ptx_uop){.fn = sct_ptx_op_cvt_pack,
                                            .flags = m->flags,
                                            .from = (uint8_t)m->from,
                                            .to = (uint8_t)m->to,
                                            .n = bytes ? 1 : 2});
}

/* cvt.rn.f16x2.e4m3x2 d, a */
static bool cvt_from_bytes(ptx_dec *d, const cvt_mods *m) {
  if (!m->rounds || (m->flags & ~PTX_F_RELU) != 0 || m->to != PTX_T_F16X2) {
    return sct_ptx_dec_unknown(d);
  }
  return sct_ptx_dec_put_operands(
      d, "31", m->from,
      (ptx_uop){.fn = sct_ptx_op_cvt_from_bytes, .flags = m->flags, .from = (uint8_t)m->from});
}

/* cvt.rna.tf32.f32 d, a: to 10 bits behind the point, in a register of 32 */
static bool cvt_tf32(ptx_dec *d) {
  const int rounding = sct_ptx_dec_choose(d, "rna rn rz");
  return rounding >= 0 && sct_ptx_dec_take(d, "tf32") && sct_ptx_dec_take(d, "f32")
             ? sct_ptx_dec_put_operands(
                   d, "33", PTX_T_F32,
                   (ptx_uop){.fn = sct_ptx_op_cvt_tf32, .op = (uint8_t)rounding})
             : sct_ptx_dec_unknown(d);
}

bool sct_ptx_decode_cvt(ptx_dec *d) {
  if (d->inst->n_mods == 4 && sct_ptx_span_is(d->inst->mods[2], "tf32")) {
    return cvt_tf32(d);
  }
  cvt_mods m = {0};
  char to = 0, from = 0;
  if (!cvt_take(d, &m)) {
    return sct_ptx_dec_unknown(d);
  }
  if (is_bytes(m.from)) {
    return cvt_from_bytes(d, &m);
  }
  if (m.to == PTX_T_F16X2 || m.to == PTX_T_BF16X2 || is_bytes(m.to)) {
    return cvt_pack(d, &m);
  }
  if (!cvt_legal(&m)) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 2) ||
      !sct_ptx_dec_wide_class(d, &d->inst->opds[0], m.to, "its type", &to) ||
      !sct_ptx_dec_wide_class(d, &d->inst->opds[1], m.from, "its type", &from)) {
    return false;
  }
  const ptx_fn fast = cvt_int_fn(&m, to, from);
  const uint8_t bytes = to == '6' ? 8 : to == '3' ? 4 : 2;
  return sct_ptx_dec_put_operands(d, (char[]){to, from, '\0'}, m.from,
                                  (ptx_uop){.fn = fast != NULL ? fast : sct_ptx_op_cvt,
                                            .flags = m.flags,
                                            .from = (uint8_t)m.from,
                                            .to = (uint8_t)m.to,
                                            .wide = from == '6',
                                            .n = bytes,
                                            .undef = PTX_UNDEF_CVT,
                                            .bytes = bytes});
}

/* cvta.to.global.u64 d, a: between generic addresses and those of a space. Global addresses are
 * generic ones already; shared and local ones get or lose their window. */
bool sct_ptx_decode_cvta(ptx_dec *d) {
  const bool to = sct_ptx_dec_take(d, "to");
  const ptx_space space = sct_ptx_dec_take_space(d);
  const uint64_t window = PTX_WINDOW(space == PTX_SPACE_SHARED  ? PTX_WINDOW_SHARED
                                     : space == PTX_SPACE_LOCAL ? PTX_WINDOW_LOCAL
                                     : space == PTX_SPACE_PARAM ? PTX_WINDOW_PARAM
                                                                : 0);
  uint32_t a = 0, slot = 0;
  if (space == PTX_SPACE_NONE || sct_ptx_dec_take_type(d) != PTX_T_U64) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 2)) {
    return false;
  }
  if (!mov_source(d, &d->inst->opds[1], '6', PTX_T_U64, &a) ||
      !sct_ptx_dec_dest(d, &d->inst->opds[0], '6', &slot)) {
    return false;
  }
  return sct_ptx_dec_put(d, (ptx_uop){.fn = window == 0 ? sct_ptx_op_mov64 : sct_ptx_op_add_window,
                                      .a = a,
                                      .d = slot,
                                      .imm = (int64_t)(to ? 0 - window : window),
                                      .undef = window == 0 ? PTX_UNDEF_MOV : PTX_UNDEF_ADD});
}

/* mapa{.shared::cluster}.u32 d, a, b: what address a is in the shared memory of block b of the
 * cluster; getctarank{.shared::cluster}.u32 d, a: whose it is. Without a space a is generic. */
static bool cluster_address(ptx_dec *d, bool map) {
  const bool generic = !sct_ptx_dec_take(d, "shared::cluster");
  const ptx_type type = sct_ptx_dec_take_type(d);
  const char cls = sct_ptx_dec_class(type);
  ptx_uop u = {.fn = map ? sct_ptx_op_mapa : sct_ptx_op_getctarank,
               .wide = type == PTX_T_U64,
               .op = generic};
  if (type != PTX_T_U32 && type != PTX_T_U64) {
    return sct_ptx_dec_unknown(d);
  }
  const ptx_opd *o = d->inst->opds;
  return sct_ptx_dec_count(d, map ? 3 : 2) && mov_source(d, &o[1], cls, type, &u.a) &&
         (!map || sct_ptx_dec_source(d, &o[2], '3', PTX_T_U32, &u.b)) &&
         sct_ptx_dec_dest(d, &o[0], map ? cls : '3', &u.d) && sct_ptx_dec_put(d, u);
}

bool sct_ptx_decode_mapa(ptx_dec *d) {
  return cluster_address(d, true);
}

bool sct_ptx_decode_getctarank(ptx_dec *d) {
  return cluster_address(d, false);
}

/* ---- comparisons */

static bool is_pair(ptx_type type) {
  return type == PTX_T_F16X2 || type == PTX_T_BF16X2;
}

/* Whether set has results of type `to` for operands of type `from`. */
static bool set_yields(ptx_type to, ptx_type from) {
  if (is_pair(from)) {
    return to == from || to == PTX_T_U32 || to == PTX_T_S32;
  }
  const char cls = sct_ptx_dec_class(to);
  return !is_pair(to) && (cls == '1' || cls == '3') && sct_ptx_conversion_index(to) >= 0;
}

/* setp.lt.and.ftz.f32 p|q, a, b, !c; set.lt.f32.f32 d, a, b: all ones or 1.0 where true */
static bool comparison(ptx_dec *d, bool sets) {
  const int cmp = sct_ptx_dec_choose(d,
#define PTX_CMP(id, name, expr, unordered, ints, floats) name " "
#include "ptx_cmps.def"
#undef PTX_CMP
  );
  const int combine = 1 + sct_ptx_dec_choose(d, "and or xor");
  const bool ftz = sct_ptx_dec_take(d, "ftz");
  const ptx_type to = sets ? sct_ptx_dec_take_type(d) : PTX_T_PRED;
  const ptx_type type = sct_ptx_dec_take_type(d);
  const bool flushes = type == PTX_T_F32 || type == PTX_T_F16 || type == PTX_T_F16X2;
  if (cmp < 0 || !sct_ptx_compare_known((uint8_t)cmp, type) || (ftz && !flushes) ||
      (sets && !set_yields(to, type))) {
    return sct_ptx_dec_unknown(d);
  }
  const char cls = sct_ptx_dec_class(type);
  const char sig[] = {sct_ptx_dec_class(to), cls, cls, combine > 0 ? 'p' : '\0', '\0'};
  const ptx_fn fns[2][2] = {{sct_ptx_op_setp, sct_ptx_op_setp_pair},
                            {sct_ptx_op_set, sct_ptx_op_set_pair}};
  return sct_ptx_dec_put_operands(
      d, sig, type,
      (ptx_uop){.fn = fns[sets][is_pair(type)],
                .c = PTX_SLOT_TRUE,
                .op = (uint8_t)cmp,
                .from = (uint8_t)type,
                .to = (uint8_t)to,
                .n = (uint8_t)combine,
                .flags = ftz ? PTX_F_FTZ : 0,
                .vec = sets ? 0 : sct_ptx_dec_pair(d),
                .undef = sets && is_pair(type) ? PTX_UNDEF_PACK2 : PTX_UNDEF_ALL,
                .bytes = sets ? 4 : 0});
}

bool sct_ptx_decode_setp(ptx_dec *d) {
  return comparison(d, false);
}

bool sct_ptx_decode_set(ptx_dec *d) {
  return comparison(d, true);
}

/* slct.type.s32 d, a, b, c: a where c >= 0 */
bool sct_ptx_decode_slct(ptx_dec *d) {
  const bool ftz = sct_ptx_dec_take(d, "ftz");
  const ptx_type type = sct_ptx_dec_take_type(d), by = sct_ptx_dec_take_type(d);
  const char cls = sct_ptx_dec_class(type);
  ptx_uop u = {.fn = cls == '6' ? sct_ptx_op_slct64 : sct_ptx_op_slct32,
               .from = (uint8_t)by,
               .flags = ftz ? PTX_F_FTZ : 0};
  const ptx_opd *o = d->inst->opds;
  if ((by != PTX_T_S32 && by != PTX_T_F32) || (cls != '1' && cls != '3' && cls != '6') ||
      (ftz && by != PTX_T_F32)) {
    return sct_ptx_dec_unknown(d);
  }
  return sct_ptx_dec_count(d, 4) && sct_ptx_dec_source(d, &o[1], cls, type, &u.a) &&
         sct_ptx_dec_source(d, &o[2], cls, type, &u.b) &&
         sct_ptx_dec_source(d, &o[3], '3', by, &u.c) && sct_ptx_dec_dest(d, &o[0], cls, &u.d) &&
         sct_ptx_dec_put(d, u);
}

/* isspacep.shared p, a: whether a generic address lies in the space */
bool sct_ptx_decode_isspacep(ptx_dec *d) {
  const bool own = d->mod < d->inst->n_mods && /* and no other block's of the cluster */
                   sct_ptx_span_in(d->inst->mods[d->mod], "shared shared::cta");
  const ptx_space space = sct_ptx_dec_take_space(d);
  const ptx_opd *from = &d->inst->opds[1];
  const bool narrow = d->inst->n_opds > 1 && from->kind == PTX_OPD_REG &&
                      sct_ptx_dec_reg_class(d, from->reg) == '3';
  if (space == PTX_SPACE_NONE) {
    return sct_ptx_dec_unknown(d);
  }
  return sct_ptx_dec_put_operands(
      d, narrow ? "p3" : "p6", PTX_T_U64,
      (ptx_uop){.fn = sct_ptx_op_isspacep, .wide = !narrow, .op = own, .space = (uint8_t)space});
}

/* lop3.b32 is a row of ptx_alu.def. With a boolean operation it also answers in a predicate:
 * lop3.and.b32 d|p, a, b, c, lut, q has p = (d != 0) and q. */
bool sct_ptx_decode_lop3(ptx_dec *d) {
  if (d->inst->n_mods == 2) {
    d->mod = 2;
    return sct_ptx_dec_alu(d);
  }
  const int combine = 1 + sct_ptx_dec_choose(d, "and or");
  const uint32_t pair = sct_ptx_dec_pair(d);
  ptx_uop u = {.fn = sct_ptx_op_lop3};
  if (combine == 0 || !sct_ptx_dec_take(d, "b32")) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_operands(d, "3333ip", PTX_T_B32, &u)) {
    return false;
  }
  if (pair == 0) {
    return sct_ptx_dec_fail(d, "a second destination, d|p, is missing");
  }
  const ptx_uop compare = {.fn = sct_ptx_op_setp,
                           .a = u.d,
                           .b = PTX_SLOT_ZERO,
                           .c = u.e,
                           .d = pair,
                           .op = 1, /* ne, the second line of ptx_cmps.def */
                           .from = PTX_T_B32,
                           .n = (uint8_t)combine};
  u.e = PTX_SLOT_ZERO;
  return sct_ptx_dec_put(d, u) && sct_ptx_dec_put(d, compare);
}
