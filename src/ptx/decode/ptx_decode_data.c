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

/* %clock and its like change while a block runs: class of such a register, 0 for others. */
static char clock_class(const ptx_opd *opd) {
  static const struct {
    const char *name;
    char cls;
  } clocks[] = {{"%clock", '3'},          {"%clock_hi", '3'},       {"%clock64", '6'},
                {"%globaltimer_lo", '3'}, {"%globaltimer_hi", '3'}, {"%globaltimer", '6'}};
  for (int i = 0; opd->kind == PTX_OPD_NAME && i < SCT_COUNT(clocks); i++) {
    if (sct_ptx_span_is(opd->name, clocks[i].name)) {
      return clocks[i].cls;
    }
  }
  return 0;
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
  bool found = false;
  const char clock = clock_class(from);
  if (clock != 0 && clock != cls) {
    return sct_ptx_dec_fail(d, "special register '%.*s' has another width", from->name.len,
                            from->name.p);
  }
  if (from->kind == PTX_OPD_NAME && clock == 0 && !mov_symbol(d, from, cls, &found, &a)) {
    return false;
  }
  if (!found && clock == 0 && !sct_ptx_dec_source(d, from, cls, type, &a)) {
    return false;
  }
  if (!sct_ptx_dec_dest(d, &d->inst->opds[0], cls, &slot)) {
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
  bool rounds, integral;
  ptx_type to, from;
} cvt_mods;

static bool cvt_take(ptx_dec *d, cvt_mods *m) {
  static const struct {
    const char *name;
    uint16_t flag;
  } rounding[] = {
      {"rn", 0}, {"rz", PTX_F_RZ}, {"rm", PTX_F_RM}, {"rp", PTX_F_RP}, {"rna", PTX_F_RNA}};
  static const struct {
    const char *name;
    uint16_t flag;
  } integral[] = {{"rni", 0}, {"rzi", PTX_F_RZ}, {"rmi", PTX_F_RM}, {"rpi", PTX_F_RP}};
  for (int i = 0; i < SCT_COUNT(rounding) && !m->rounds; i++) {
    if (sct_ptx_dec_take(d, rounding[i].name)) {
      m->rounds = true;
      m->flags |= rounding[i].flag;
    }
  }
  for (int i = 0; i < SCT_COUNT(integral) && !m->rounds; i++) {
    if (sct_ptx_dec_take(d, integral[i].name)) {
      m->rounds = m->integral = true;
      m->flags |= (uint16_t)(integral[i].flag | PTX_F_INT);
    }
  }
  m->flags |= sct_ptx_dec_take(d, "relu") ? PTX_F_RELU : 0;
  m->flags |= sct_ptx_dec_take(d, "ftz") ? PTX_F_FTZ : 0;
  m->flags |= sct_ptx_dec_take(d, "sat") ? PTX_F_SAT : 0;
  m->to = sct_ptx_dec_take_type(d);
  m->from = sct_ptx_dec_take_type(d);
  return m->to != PTX_T_NONE && m->from != PTX_T_NONE;
}

/* Whether such a conversion needs, allows or forbids a rounding modifier. */
static bool cvt_legal(const cvt_mods *m) {
  const bool float_to = sct_ptx_value_is_float(m->to), float_from = sct_ptx_value_is_float(m->from);
  const int to = sct_ptx_type_bytes(m->to), from = sct_ptx_type_bytes(m->from);
  if (sct_ptx_value_of(m->to) < 0 || sct_ptx_value_of(m->from) < 0) {
    return false;
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

/* Register class of a conversion's operand: at least as wide as its type. */
static bool cvt_class(ptx_dec *d, const ptx_opd *opd, ptx_type type, char *cls) {
  *cls = sct_ptx_dec_class(type);
  if (opd->kind != PTX_OPD_REG) {
    return true;
  }
  *cls = sct_ptx_dec_reg_class(d, opd->reg);
  const int have = *cls == '1' ? 2 : *cls == '3' ? 4 : *cls == '6' ? 8 : 0;
  return have >= sct_ptx_type_bytes(type) ||
         sct_ptx_dec_fail(d, "register '%.*s' is narrower than its type", opd->name.len,
                          opd->name.p);
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

/* cvt.rn.f16x2.f32 d, a, b: a to the upper half. */
static bool cvt_pack(ptx_dec *d, const cvt_mods *m) {
  uint32_t a = 0, b = 0, slot = 0;
  if (!m->rounds || m->integral || m->from != PTX_T_F32 ||
      (m->flags & PTX_F_RND_MASK & ~PTX_F_RZ) != 0 || (m->flags & PTX_F_RNA) != 0) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 3) || !sct_ptx_dec_source(d, &d->inst->opds[1], '3', m->from, &a) ||
      !sct_ptx_dec_source(d, &d->inst->opds[2], '3', m->from, &b) ||
      !sct_ptx_dec_dest(d, &d->inst->opds[0], '3', &slot)) {
    return false;
  }
  return sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_cvt_pack,
                                      .a = a,
                                      .b = b,
                                      .d = slot,
                                      .flags = m->flags,
                                      .to = (uint8_t)m->to,
                                      .undef = PTX_UNDEF_ALL});
}

bool sct_ptx_decode_cvt(ptx_dec *d) {
  cvt_mods m = {0};
  char to = 0, from = 0;
  uint32_t a = 0, slot = 0;
  if (!cvt_take(d, &m)) {
    return sct_ptx_dec_unknown(d);
  }
  if (m.to == PTX_T_F16X2 || m.to == PTX_T_BF16X2) {
    return cvt_pack(d, &m);
  }
  if (!cvt_legal(&m)) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 2) || !cvt_class(d, &d->inst->opds[0], m.to, &to) ||
      !cvt_class(d, &d->inst->opds[1], m.from, &from) ||
      !sct_ptx_dec_source(d, &d->inst->opds[1], from, m.from, &a) ||
      !sct_ptx_dec_dest(d, &d->inst->opds[0], to, &slot)) {
    return false;
  }
  const ptx_fn fast = cvt_int_fn(&m, to, from);
  ptx_uop *u = sct_ptx_dec_emit(d, fast != NULL ? fast : sct_ptx_op_cvt);
  u->a = a;
  u->d = slot;
  u->flags = m.flags;
  u->from = (uint8_t)m.from;
  u->to = (uint8_t)m.to;
  u->wide = from == '6';
  u->n = to == '6' ? 8 : to == '3' ? 4 : 2;
  u->undef = PTX_UNDEF_CVT;
  u->bytes = u->n;
  return true;
}

/* cvta.to.global.u64 d, a: between generic addresses and those of a space. Global addresses are
 * generic ones already; shared and local ones get or lose their window. */
bool sct_ptx_decode_cvta(ptx_dec *d) {
  const bool to = sct_ptx_dec_take(d, "to");
  static const struct {
    const char *name;
    int window;
  } spaces[] = {{"global", 0},
                {"const", 0},
                {"shared", PTX_WINDOW_SHARED},
                {"shared::cta", PTX_WINDOW_SHARED},
                {"shared::cluster", PTX_WINDOW_SHARED},
                {"local", PTX_WINDOW_LOCAL},
                {"param", PTX_WINDOW_PARAM},
                {"param::entry", PTX_WINDOW_PARAM}};
  int window = -1;
  for (int i = 0; i < SCT_COUNT(spaces) && window < 0; i++) {
    window = sct_ptx_dec_take(d, spaces[i].name) ? spaces[i].window : -1;
  }
  const ptx_type type = sct_ptx_dec_take_type(d);
  uint32_t a = 0, slot = 0;
  bool found = false;
  if (window < 0 || type != PTX_T_U64) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 2)) {
    return false;
  }
  const ptx_opd *from = &d->inst->opds[1];
  if (from->kind == PTX_OPD_NAME && !mov_symbol(d, from, '6', &found, &a)) {
    return false;
  }
  if ((!found && !sct_ptx_dec_source(d, from, '6', type, &a)) ||
      !sct_ptx_dec_dest(d, &d->inst->opds[0], '6', &slot)) {
    return false;
  }
  return sct_ptx_dec_put(
      d, (ptx_uop){.fn = window == 0 ? sct_ptx_op_mov64 : sct_ptx_op_add_window,
                   .a = a,
                   .d = slot,
                   .imm = (int64_t)(to ? 0 - PTX_WINDOW(window) : PTX_WINDOW(window)),
                   .undef = window == 0 ? PTX_UNDEF_MOV : PTX_UNDEF_ADD});
}

/* ---- comparisons */

static bool take_compare(ptx_dec *d, uint8_t *op) {
  static const char *const names[] = {
#define PTX_CMP(id, name, expr, unordered, ints, floats) name,
#include "ptx_cmps.def"
#undef PTX_CMP
  };
  for (int i = 0; i < SCT_COUNT(names); i++) {
    if (sct_ptx_dec_take(d, names[i])) {
      *op = (uint8_t)i;
      return true;
    }
  }
  return false;
}

static bool take_bool_op(ptx_dec *d, uint8_t *op) {
  *op = sct_ptx_dec_take(d, "and")   ? PTX_BOOL_AND
        : sct_ptx_dec_take(d, "or")  ? PTX_BOOL_OR
        : sct_ptx_dec_take(d, "xor") ? PTX_BOOL_XOR
                                     : PTX_BOOL_NONE;
  return *op != PTX_BOOL_NONE;
}

static bool compare_flushes(ptx_type type) {
  return type == PTX_T_F32 || type == PTX_T_F16 || type == PTX_T_F16X2;
}

static bool is_pair(ptx_type type) {
  return type == PTX_T_F16X2 || type == PTX_T_BF16X2;
}

/* setp.lt.and.ftz.f32 p|q, a, b, !c */
bool sct_ptx_decode_setp(ptx_dec *d) {
  uint8_t cmp = 0, combine = 0;
  uint32_t a = 0, b = 0, c = PTX_SLOT_TRUE, p = 0;
  if (!take_compare(d, &cmp)) {
    return sct_ptx_dec_unknown(d);
  }
  const bool combined = take_bool_op(d, &combine);
  const bool ftz = sct_ptx_dec_take(d, "ftz");
  const ptx_type type = sct_ptx_dec_take_type(d);
  const char cls = sct_ptx_dec_class(type);
  if (!sct_ptx_compare_known(cmp, type) || (ftz && !compare_flushes(type))) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, combined ? 4 : 3) ||
      !sct_ptx_dec_source(d, &d->inst->opds[1], cls, type, &a) ||
      !sct_ptx_dec_source(d, &d->inst->opds[2], cls, type, &b) ||
      (combined && !sct_ptx_dec_source(d, &d->inst->opds[3], 'p', PTX_T_PRED, &c)) ||
      !sct_ptx_dec_dest(d, &d->inst->opds[0], 'p', &p)) {
    return false;
  }
  const int32_t pair = d->inst->opds[0].pair;
  return sct_ptx_dec_put(d, (ptx_uop){.fn = is_pair(type) ? sct_ptx_op_setp_pair : sct_ptx_op_setp,
                                      .a = a,
                                      .b = b,
                                      .c = c,
                                      .d = p,
                                      .op = cmp,
                                      .from = (uint8_t)type,
                                      .n = combine,
                                      .flags = ftz ? PTX_F_FTZ : 0,
                                      .vec = pair >= 0 ? PTX_SLOT_REGS + (uint32_t)pair : 0});
}

/* Whether set has results of type `to` for operands of type `from`. */
static bool set_yields(ptx_type to, ptx_type from) {
  if (is_pair(from)) {
    return to == from || to == PTX_T_U32 || to == PTX_T_S32;
  }
  const char cls = sct_ptx_dec_class(to);
  return !is_pair(to) && (cls == '1' || cls == '3') && sct_ptx_value_of(to) >= 0;
}

/* set.lt.f32.f32 d, a, b: all ones or 1.0 where true */
bool sct_ptx_decode_set(ptx_dec *d) {
  uint8_t cmp = 0, combine = 0;
  uint32_t a = 0, b = 0, c = PTX_SLOT_TRUE, slot = 0;
  if (!take_compare(d, &cmp)) {
    return sct_ptx_dec_unknown(d);
  }
  const bool combined = take_bool_op(d, &combine);
  const bool ftz = sct_ptx_dec_take(d, "ftz");
  const ptx_type to = sct_ptx_dec_take_type(d), type = sct_ptx_dec_take_type(d);
  const char cls = sct_ptx_dec_class(type), to_cls = sct_ptx_dec_class(to);
  if (!sct_ptx_compare_known(cmp, type) || !set_yields(to, type) ||
      (ftz && !compare_flushes(type))) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, combined ? 4 : 3) ||
      !sct_ptx_dec_source(d, &d->inst->opds[1], cls, type, &a) ||
      !sct_ptx_dec_source(d, &d->inst->opds[2], cls, type, &b) ||
      (combined && !sct_ptx_dec_source(d, &d->inst->opds[3], 'p', PTX_T_PRED, &c)) ||
      !sct_ptx_dec_dest(d, &d->inst->opds[0], to_cls, &slot)) {
    return false;
  }
  return sct_ptx_dec_put(d, (ptx_uop){.fn = is_pair(type) ? sct_ptx_op_set_pair : sct_ptx_op_set,
                                      .a = a,
                                      .b = b,
                                      .c = c,
                                      .d = slot,
                                      .op = cmp,
                                      .from = (uint8_t)type,
                                      .to = (uint8_t)to,
                                      .n = combine,
                                      .flags = ftz ? PTX_F_FTZ : 0,
                                      .undef = is_pair(type) ? PTX_UNDEF_PACK2 : PTX_UNDEF_ALL,
                                      .bytes = 4});
}

/* slct.type.s32 d, a, b, c: a where c >= 0 */
bool sct_ptx_decode_slct(ptx_dec *d) {
  uint32_t a = 0, b = 0, c = 0, slot = 0;
  const bool ftz = sct_ptx_dec_take(d, "ftz");
  const ptx_type type = sct_ptx_dec_take_type(d), by = sct_ptx_dec_take_type(d);
  const char cls = sct_ptx_dec_class(type);
  if ((by != PTX_T_S32 && by != PTX_T_F32) || (cls != '1' && cls != '3' && cls != '6') ||
      (ftz && by != PTX_T_F32)) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 4) || !sct_ptx_dec_source(d, &d->inst->opds[1], cls, type, &a) ||
      !sct_ptx_dec_source(d, &d->inst->opds[2], cls, type, &b) ||
      !sct_ptx_dec_source(d, &d->inst->opds[3], '3', by, &c) ||
      !sct_ptx_dec_dest(d, &d->inst->opds[0], cls, &slot)) {
    return false;
  }
  return sct_ptx_dec_put(d, (ptx_uop){.fn = cls == '6' ? sct_ptx_op_slct64 : sct_ptx_op_slct32,
                                      .a = a,
                                      .b = b,
                                      .c = c,
                                      .d = slot,
                                      .from = (uint8_t)by,
                                      .flags = ftz ? PTX_F_FTZ : 0});
}

/* isspacep.shared p, a: whether a generic address lies in the space */
bool sct_ptx_decode_isspacep(ptx_dec *d) {
  static const struct {
    const char *name;
    ptx_space space;
  } spaces[] = {{"global", PTX_SPACE_GLOBAL},      {"shared", PTX_SPACE_SHARED},
                {"shared::cta", PTX_SPACE_SHARED}, {"shared::cluster", PTX_SPACE_SHARED},
                {"local", PTX_SPACE_LOCAL},        {"const", PTX_SPACE_CONST},
                {"param", PTX_SPACE_PARAM},        {"param::entry", PTX_SPACE_PARAM}};
  ptx_space space = PTX_SPACE_NONE;
  uint32_t a = 0, p = 0;
  for (int i = 0; i < SCT_COUNT(spaces) && space == PTX_SPACE_NONE; i++) {
    space = sct_ptx_dec_take(d, spaces[i].name) ? spaces[i].space : PTX_SPACE_NONE;
  }
  if (space == PTX_SPACE_NONE) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 2)) {
    return false;
  }
  const ptx_opd *from = &d->inst->opds[1];
  const bool narrow = from->kind == PTX_OPD_REG && sct_ptx_dec_reg_class(d, from->reg) == '3';
  if (!sct_ptx_dec_source(d, from, narrow ? '3' : '6', narrow ? PTX_T_U32 : PTX_T_U64, &a) ||
      !sct_ptx_dec_dest(d, &d->inst->opds[0], 'p', &p)) {
    return false;
  }
  return sct_ptx_dec_put(
      d, (ptx_uop){
             .fn = sct_ptx_op_isspacep, .a = a, .d = p, .wide = !narrow, .space = (uint8_t)space});
}

/* The compare that follows lop3.and.b32 d|p, a, b, c, lut, q: p = (d != 0) and q. */
static bool lop3_compare(ptx_dec *d, uint8_t combine, uint32_t result) {
  uint32_t q = 0;
  const int32_t pair = d->inst->opds[0].pair;
  if (pair < 0) {
    return sct_ptx_dec_fail(d, "a second destination, d|p, is missing");
  }
  if (!sct_ptx_dec_source(d, &d->inst->opds[5], 'p', PTX_T_PRED, &q)) {
    return false;
  }
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_setp);
  u->a = result;
  u->b = PTX_SLOT_ZERO;
  u->c = q;
  u->d = PTX_SLOT_REGS + (uint32_t)pair;
  u->op = 1; /* ne, the second line of ptx_cmps.def */
  u->from = PTX_T_B32;
  u->n = combine;
  return true;
}

/* lop3.b32 is a row of ptx_alu.def; with a boolean operation it also answers in a predicate. */
bool sct_ptx_decode_lop3(ptx_dec *d) {
  uint8_t combine = 0;
  uint32_t in[3], slot = 0;
  if (d->inst->n_mods == 2) {
    d->mod = 2;
    return sct_ptx_dec_alu(d);
  }
  if (!take_bool_op(d, &combine) || combine == PTX_BOOL_XOR || !sct_ptx_dec_take(d, "b32")) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 6)) {
    return false;
  }
  for (int i = 0; i < 3; i++) {
    if (!sct_ptx_dec_source(d, &d->inst->opds[1 + i], '3', PTX_T_B32, &in[i])) {
      return false;
    }
  }
  if (d->inst->opds[4].kind != PTX_OPD_INT) {
    return sct_ptx_dec_fail(d, "operand 5 must be a constant");
  }
  if (!sct_ptx_dec_dest(d, &d->inst->opds[0], '3', &slot)) {
    return false;
  }
  sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_lop3,
                               .a = in[0],
                               .b = in[1],
                               .c = in[2],
                               .d = slot,
                               .imm = d->inst->opds[4].imm});
  return lop3_compare(d, combine, slot);
}
