/* Decoding: from parsed instructions to micro-operations in basic blocks. Function by function,
 * first the block starts (labels), then the instructions, then branch targets and post-dominators.
 */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

/* ---- errors */

bool sct_ptx_dec_fail(ptx_dec *d, const char *fmt, ...) {
  char text[400];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (d->error == NULL) {
    const ptx_func *kernel = d->code->bodies[0].func;
    const ptx_span t = d->inst != NULL ? d->inst->text : (ptx_span){"", 0};
    d->error = sct_arena_printf(&d->m->arena, "%s:%d: error: kernel '%.*s': %s: '%.*s'", d->m->name,
                                d->inst != NULL ? d->inst->line : d->func->line, kernel->name.len,
                                kernel->name.p, text, t.len < 200 ? t.len : 200, t.p);
  }
  return false;
}

bool sct_ptx_dec_unknown(ptx_dec *d) {
  return sct_ptx_dec_fail(d, "unknown form of an instruction");
}

/* ---- modifiers */

bool sct_ptx_dec_take(ptx_dec *d, const char *name) {
  if (d->mod < d->inst->n_mods && sct_ptx_span_is(d->inst->mods[d->mod], name)) {
    d->mod++;
    return true;
  }
  return false;
}

int sct_ptx_dec_choose(ptx_dec *d, const char *words) {
  for (int n = 0; d->mod < d->inst->n_mods && *words != '\0'; n++) {
    const int len = (int)strcspn(words, " ");
    if (sct_ptx_span_equal(d->inst->mods[d->mod], (ptx_span){words, len})) {
      d->mod++;
      return n;
    }
    words += len + (words[len] == ' ');
  }
  return -1;
}

bool sct_ptx_dec_take_prefix(ptx_dec *d, const char *prefix) {
  const int n = (int)strlen(prefix);
  if (d->mod < d->inst->n_mods && d->inst->mods[d->mod].len > n &&
      memcmp(d->inst->mods[d->mod].p, prefix, (size_t)n) == 0) {
    d->mod++;
    return true;
  }
  return false;
}

ptx_type sct_ptx_dec_take_type(ptx_dec *d) {
  if (d->mod >= d->inst->n_mods) {
    return PTX_T_NONE;
  }
  const ptx_span m = d->inst->mods[d->mod];
  const ptx_type type = sct_ptx_type_find(m.p, m.len);
  d->mod += type != PTX_T_NONE;
  return type;
}

void sct_ptx_dec_set_kind(ptx_dec *d, ptx_inst_kind kind, int width) {
  ptx_origin *o = &d->code->insts[d->code->n_insts - 1];
  o->kind = (uint8_t)kind;
  o->width = (uint8_t)width;
}

bool sct_ptx_dec_mods_left(const ptx_dec *d) {
  return d->mod < d->inst->n_mods;
}

/* ---- slots */

bool sct_ptx_dec_put(ptx_dec *d, ptx_uop u) {
  ptx_code *c = d->code;
  u.guard = PTX_SLOT_TRUE;
  u.inst = (uint32_t)c->n_insts - 1;
  if (d->inst->guard >= 0) {
    u.guard = PTX_SLOT_REGS + (uint32_t)d->inst->guard;
    u.guard_flip = d->inst->guard_not ? PTX_ALL : 0;
  }
  SCT_GROW(c->uops, c->n_uops, c->cap_uops);
  c->uops[c->n_uops++] = u;
  return true;
}

ptx_uop *sct_ptx_dec_emit(ptx_dec *d, ptx_fn fn) {
  sct_ptx_dec_put(d, (ptx_uop){.fn = fn});
  return &d->code->uops[d->code->n_uops - 1];
}

uint32_t sct_ptx_dec_temp(ptx_dec *d) {
  return d->code->bodies[d->body].n_slots++;
}

bool sct_ptx_dec_const(ptx_dec *d, uint64_t bits, bool wide, uint32_t *slot) {
  ptx_body *b = &d->code->bodies[d->body];
  bits = wide ? bits : (uint32_t)bits;
  if (bits == 0) {
    *slot = PTX_SLOT_ZERO;
    return true;
  }
  const uint32_t h = (uint32_t)((bits * 0x9e3779b97f4a7c15u) >> 32) % PTX_CONST_HASH;
  for (int32_t i = d->heads[h]; i >= 0; i = b->consts[i].next) {
    if (b->consts[i].bits == bits && b->consts[i].wide == wide) {
      *slot = b->consts[i].slot;
      return true;
    }
  }
  SCT_GROW(b->consts, b->n_consts, b->cap_consts);
  *slot = b->n_slots++;
  b->consts[b->n_consts] =
      (ptx_const){.bits = bits, .slot = *slot, .wide = wide, .next = d->heads[h]};
  d->heads[h] = (int32_t)b->n_consts++;
  return true;
}

static void sreg_slot(ptx_dec *d, ptx_span name, bool *found, bool *wide, uint32_t *slot) {
  static const struct {
    const char *name;
    bool wide;
  } sregs[] = {
#define PTX_SREG(name, wide, changes, value) {name, wide},
#include "ptx_sregs.def"
#undef PTX_SREG
  };
  ptx_body *b = &d->code->bodies[d->body];
  *found = false;
  for (int i = 0; i < SCT_COUNT(sregs); i++) {
    if (!sct_ptx_span_is(name, sregs[i].name)) {
      continue;
    }
    *found = true;
    *wide = sregs[i].wide;
    d->code->syncs_grid |= sct_ptx_span_in(name, "%envreg1 %envreg2");
    for (size_t k = 0; k < b->n_sregs; k++) {
      if (b->sregs[k].sreg == i) {
        *slot = b->sregs[k].slot;
        return;
      }
    }
    SCT_GROW(b->sregs, b->n_sregs, b->cap_sregs);
    *slot = b->n_slots++;
    b->sregs[b->n_sregs++] = (ptx_sreg_use){.slot = *slot, .sreg = (uint8_t)i};
    return;
  }
}

/* ---- operands */

char sct_ptx_dec_class(ptx_type type) {
  switch (sct_ptx_type_bytes(type)) {
  case 0:
    return type == PTX_T_PRED ? 'p' : '?';
  case 1:
  case 2:
    return '1';
  case 4:
    return '3';
  case 8:
    return '6';
  default:
    return '?';
  }
}

char sct_ptx_dec_reg_class(const ptx_dec *d, int32_t reg) {
  return "p136w"[d->func->reg_class[reg]];
}

bool sct_ptx_dec_count(ptx_dec *d, int n) {
  if (d->inst->n_opds != n) {
    return sct_ptx_dec_fail(d, "%d operands where %d are expected", d->inst->n_opds, n);
  }
  return true;
}

static uint64_t literal_bits(const ptx_opd *opd, ptx_type type) {
  uint64_t bits = (uint64_t)opd->imm;
  if (opd->kind == PTX_OPD_F64 && sct_ptx_type_bytes(type) == 4) { /* a decimal literal */
    double wide = 0;
    memcpy(&wide, &bits, 8);
    const float narrow = (float)wide;
    bits = 0;
    memcpy(&bits, &narrow, 4);
  }
  return bits;
}

static bool source_literal(ptx_dec *d, const ptx_opd *opd, char cls, ptx_type type,
                           uint32_t *slot) {
  uint64_t bits = literal_bits(opd, type);
  if (cls == 'p') {
    *slot = bits != 0 ? PTX_SLOT_TRUE : PTX_SLOT_ZERO;
    return true;
  }
  if (opd->kind == PTX_OPD_INT && sct_ptx_type_kind(type) == PTX_KIND_F && bits != 0) {
    return sct_ptx_dec_fail(d, "integer literal for a float operand");
  }
  if (sct_ptx_type_kind(type) == PTX_KIND_H || type == PTX_T_F32X2) {
    return sct_ptx_dec_fail(d, "a literal where a register of type .%s is expected",
                            sct_ptx_type_name(type));
  }
  bits = cls == '1' ? bits & 0xffff : bits;
  return sct_ptx_dec_const(d, bits, cls == '6', slot);
}

static bool negate_pred(ptx_dec *d, uint32_t *slot) {
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_not_pred);
  u->a = *slot;
  u->d = sct_ptx_dec_temp(d);
  *slot = u->d;
  return true;
}

bool sct_ptx_dec_source(ptx_dec *d, const ptx_opd *opd, char cls, ptx_type type, uint32_t *slot) {
  bool found = false, wide = false;
  switch (opd->kind) {
  case PTX_OPD_REG:
    if (sct_ptx_dec_reg_class(d, opd->reg) != cls) {
      return sct_ptx_dec_fail(d, "register '%.*s' has the wrong width", opd->name.len, opd->name.p);
    }
    *slot = PTX_SLOT_REGS + (uint32_t)opd->reg;
    d->read[opd->reg] = 1;
    return opd->negated ? negate_pred(d, slot) : true;
  case PTX_OPD_INT:
  case PTX_OPD_F32:
  case PTX_OPD_F64:
    return source_literal(d, opd, cls, type, slot);
  case PTX_OPD_NAME:
    if (sct_ptx_span_is(opd->name, "WARP_SZ")) {
      return sct_ptx_dec_const(d, PTX_LANES, cls == '6', slot);
    }
    if (cls == 'p' && sct_ptx_span_is(opd->name, "%is_explicit_cluster")) {
      *slot = d->code->bodies[0].func->cluster > 0 ? PTX_SLOT_TRUE : PTX_SLOT_ZERO;
      return true;
    }
    sreg_slot(d, opd->name, &found, &wide, slot);
    if (found && wide == (cls == '6') && cls != 'p') {
      return true;
    }
    return sct_ptx_dec_fail(
        d, found ? "special register '%.*s' has another width" : "unknown name '%.*s'",
        opd->name.len, opd->name.p);
  default:
    return sct_ptx_dec_fail(d, "operand of the wrong kind");
  }
}

bool sct_ptx_dec_dest(ptx_dec *d, const ptx_opd *opd, char cls, uint32_t *slot) {
  if (opd->kind == PTX_OPD_SINK) {
    *slot = sct_ptx_dec_temp(d);
    return true;
  }
  if (opd->kind != PTX_OPD_REG) {
    return sct_ptx_dec_fail(d, "the destination is no register");
  }
  const uint8_t read = d->read[opd->reg];
  const bool ok = sct_ptx_dec_source(d, opd, cls, PTX_T_NONE, slot);
  d->read[opd->reg] = read;
  return ok;
}

/* ---- symbols and addresses */

static bool place_shared(ptx_dec *d, const ptx_sym *sym, int64_t *address) {
  ptx_code *c = d->code;
  for (size_t i = 0; i < c->n_shared; i++) {
    if (c->shared[i].sym == sym) {
      *address = c->shared[i].address;
      return true;
    }
  }
  SCT_GROW(c->shared, c->n_shared, c->cap_shared);
  ptx_shared_sym *s = &c->shared[c->n_shared];
  const int64_t word = sym->align < 16 ? sym->align : 16;
  *s = (ptx_shared_sym){
      .sym = sym, .bytes = sym->bytes, .padded = (sym->bytes + word - 1) / word * word};
  c->n_shared++;
  if (sym->is_extern) { /* its bytes are known at launch */
    *address = s->address = PTX_SHARED_DYNAMIC;
    return true;
  }
  const int64_t packed = (c->shared_packed + sym->align - 1) / sym->align * sym->align;
  s->address = PTX_SHARED_BASE + packed + (int64_t)(c->n_shared - 1) * PTX_SHARED_GAP;
  c->shared_packed = packed + sym->bytes;
  *address = s->address;
  if (s->address + sym->bytes + PTX_SHARED_GAP > PTX_SHARED_DYNAMIC) {
    return sct_ptx_dec_fail(d, "too much static shared memory");
  }
  return true;
}

bool sct_ptx_dec_symbol(ptx_dec *d, const ptx_sym *sym, int64_t *address) {
  switch (sym->space) {
  case PTX_SPACE_SHARED:
    return place_shared(d, sym, address);
  case PTX_SPACE_GLOBAL:
  case PTX_SPACE_CONST:
    *address = (int64_t)PTX_WINDOW(PTX_WINDOW_VARS) + sym->offset;
    return true;
  case PTX_SPACE_LOCAL:
  case PTX_SPACE_PARAM:
    *address = sym->offset;
    return true;
  default:
    return sct_ptx_dec_fail(d, "'%.*s' has no address here", sym->name.len, sym->name.p);
  }
}

static bool widen_base(ptx_dec *d, uint32_t *base) {
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_zext64);
  u->undef = PTX_UNDEF_ZEXT;
  u->bytes = 4;
  u->a = *base;
  u->d = sct_ptx_dec_temp(d);
  *base = u->d;
  return true;
}

bool sct_ptx_dec_address(ptx_dec *d, const ptx_opd *opd, uint32_t *base, int64_t *imm,
                         ptx_space *space) {
  if (opd->kind != PTX_OPD_ADDR || opd->n_elems != 1) {
    return sct_ptx_dec_fail(d, "expected an address");
  }
  const ptx_opd *e = &opd->elems[0];
  *base = PTX_SLOT_ZERO;
  *imm = opd->imm;
  if (e->kind == PTX_OPD_REG) {
    const char cls = sct_ptx_dec_reg_class(d, e->reg);
    *base = PTX_SLOT_REGS + (uint32_t)e->reg;
    d->read[e->reg] = 1;
    if (cls != '6' && cls != '3') {
      return sct_ptx_dec_fail(d, "register '%.*s' cannot hold an address", e->name.len, e->name.p);
    }
    return cls == '6' ? true : widen_base(d, base);
  }
  if (e->kind == PTX_OPD_INT) {
    return true;
  }
  if (e->kind != PTX_OPD_NAME) {
    return sct_ptx_dec_fail(d, "expected an address");
  }
  const ptx_sym *sym = sct_ptx_sym_visible(d->m, d->func, d->inst->scope, e->name);
  int64_t address = 0;
  if (sym == NULL) {
    return sct_ptx_dec_fail(d, "unknown name '%.*s'", e->name.len, e->name.p);
  }
  *space = sym->space;
  if (!sct_ptx_dec_symbol(d, sym, &address)) {
    return false;
  }
  *imm += address;
  return true;
}

bool sct_ptx_dec_pointer(ptx_dec *d, const ptx_opd *opd, uint32_t *slot) {
  uint32_t base = 0, by = 0;
  int64_t imm = 0;
  ptx_space space = PTX_SPACE_NONE;
  if (!sct_ptx_dec_address(d, opd, &base, &imm, &space) ||
      !sct_ptx_dec_const(d, (uint64_t)imm, true, &by)) {
    return false;
  }
  *slot = base == PTX_SLOT_ZERO ? by : base;
  if (base == PTX_SLOT_ZERO || imm == 0) {
    return true;
  }
  *slot = sct_ptx_dec_temp(d);
  return sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_add64,
                                      .a = base,
                                      .b = by,
                                      .d = *slot,
                                      .undef = PTX_UNDEF_ADD,
                                      .bytes = 8});
}

/* ---- all operands of an instruction */

static bool one_operand(ptx_dec *d, int i, char letter, ptx_type type, ptx_uop *u, uint32_t *slot) {
  const ptx_opd *opd = &d->inst->opds[i];
  ptx_space space = PTX_SPACE_NONE;
  switch (letter) {
  case 'i':
    u->imm = opd->imm;
    return opd->kind == PTX_OPD_INT || sct_ptx_dec_fail(d, "operand %d must be a constant", i + 1);
  case 'A':
    if (!sct_ptx_dec_address(d, opd, &u->a, &u->imm, &space)) {
      return false;
    }
    u->space = u->space == PTX_SPACE_NONE ? (uint8_t)space : u->space;
    return true;
  case '@':
    return sct_ptx_dec_pointer(d, opd, slot);
  case 'P':
    return sct_ptx_dec_source(d, opd, '6', PTX_T_B64, slot);
  default:
    return sct_ptx_dec_source(d, opd, letter, type, slot);
  }
}

bool sct_ptx_dec_operands(ptx_dec *d, const char *sig, ptx_type type, ptx_uop *u) {
  uint32_t unused = 0, *const slots[] = {&u->a, &u->b, &u->c, &u->e};
  const bool returns = sig[0] != '-' && sig[0] != '\0';
  const char *sources = sig[0] != '\0' ? sig + 1 : sig;
  const int n = (int)strlen(sources);
  int at = 0;
  if (!sct_ptx_dec_count(d, n + returns)) {
    return false;
  }
  for (int i = 0; i < n; i++) {
    const bool has_slot = sources[i] != 'i' && sources[i] != 'P' && at < SCT_COUNT(slots);
    if (!one_operand(d, i + returns, sources[i], type, u, has_slot ? slots[at] : &unused)) {
      return false;
    }
    at += has_slot;
  }
  return !returns || sct_ptx_dec_dest(d, &d->inst->opds[0], sig[0], &u->d);
}

bool sct_ptx_dec_put_operands(ptx_dec *d, const char *sig, ptx_type type, ptx_uop u) {
  return sct_ptx_dec_operands(d, sig, type, &u) && sct_ptx_dec_put(d, u);
}

bool sct_ptx_dec_wide_class(ptx_dec *d, const ptx_opd *opd, ptx_type type, const char *what,
                            char *cls) {
  *cls = sct_ptx_dec_class(type);
  if (opd->kind != PTX_OPD_REG) {
    return true;
  }
  *cls = sct_ptx_dec_reg_class(d, opd->reg);
  const int have = *cls == '1' ? 2 : *cls == '3' ? 4 : *cls == '6' ? 8 : 0;
  return have >= sct_ptx_type_bytes(type) ||
         sct_ptx_dec_fail(d, "register '%.*s' is narrower than %s", opd->name.len, opd->name.p,
                          what);
}

uint32_t sct_ptx_dec_pair(const ptx_dec *d) {
  const int32_t pair = d->inst->n_opds > 0 ? d->inst->opds[0].pair : -1;
  return pair >= 0 ? PTX_SLOT_REGS + (uint32_t)pair : 0;
}

void sct_ptx_dec_record_width(ptx_dec *d, ptx_space space, int bytes) {
  int *const shared = &d->code->min_shared_bytes, *const global = &d->code->min_global_bytes;
  if (space == PTX_SPACE_SHARED || space == PTX_SPACE_NONE) {
    *shared = bytes < *shared ? bytes : *shared;
  }
  if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_NONE) {
    *global = bytes < *global ? bytes : *global;
  }
}

/* ---- blocks */

bool sct_ptx_dec_end_block(ptx_dec *d, ptx_term term) {
  ptx_code *c = d->code;
  ptx_block *b = &c->blocks[c->n_blocks - 1];
  b->term = (uint8_t)term;
  b->end = (int32_t)c->n_uops - (term == PTX_TERM_FALL ? 0 : 1);
  b->n_insts = d->block_insts;
  d->block_insts = 0;
  d->in_block = false;
  return true;
}

bool sct_ptx_dec_begin_block(ptx_dec *d) {
  ptx_code *c = d->code;
  if (d->in_block) {
    sct_ptx_dec_end_block(d, PTX_TERM_FALL);
    c->blocks[c->n_blocks - 1].next = (int32_t)c->n_blocks;
  }
  SCT_GROW(c->blocks, c->n_blocks, c->cap_blocks);
  c->blocks[c->n_blocks++] = (ptx_block){.first = (int32_t)c->n_uops,
                                         .first_inst = (int32_t)c->n_insts,
                                         .target = -1,
                                         .next = -1,
                                         .ipdom = -1};
  d->in_block = true;
  return true;
}

int sct_ptx_dec_label(const ptx_dec *d, ptx_span name) {
  for (int scope = d->inst->scope; scope >= 0; scope = d->func->scopes[scope].parent) {
    for (size_t i = 0; i < d->func->n_labels; i++) {
      const ptx_label *label = &d->func->labels[i];
      if (label->scope == scope && sct_ptx_span_equal(label->name, name)) {
        return d->block_of[label->inst];
      }
    }
  }
  return -1;
}

int sct_ptx_dec_body(ptx_dec *d, ptx_func *func) {
  ptx_code *c = d->code;
  for (size_t i = 0; i < c->n_bodies; i++) {
    if (c->bodies[i].func == func) {
      return (int)i;
    }
  }
  SCT_GROW(c->bodies, c->n_bodies, c->cap_bodies);
  c->bodies[c->n_bodies] = (ptx_body){.func = func,
                                      .n_regs = (uint32_t)func->n_regs,
                                      .n_slots = PTX_SLOT_REGS + (uint32_t)func->n_regs,
                                      .local_bytes = func->local_bytes,
                                      .call_bytes = func->call_bytes,
                                      .param_bytes = func->param_bytes};
  return (int)c->n_bodies++;
}

/* ---- functions */

static bool decode_inst(ptx_dec *d) {
  static const struct {
    const char *name;
    ptx_decode_fn fn;
  } ops[] = {
#define PTX_OP(name, fn) {name, fn},
#include "ptx_ops.def"
#undef PTX_OP
  };
  ptx_code *c = d->code;
  SCT_GROW(c->insts, c->n_insts, c->cap_insts);
  c->insts[c->n_insts++] =
      (ptx_origin){.line = d->inst->line, .text = d->inst->text, .loc = d->inst->loc};
  c->insts[c->n_insts - 1].user = sct_ptx_user_place(d->m, d->inst->loc);
  ptx_origin *const origin = &c->insts[c->n_insts - 1];
  sct_ptx_cost(origin->cost, d->inst);
  origin->flops = sct_ptx_flops(&origin->flop_type, d->inst);
  d->mod = 1;
  d->block_insts++;
  if (d->inst->guard >= 0) {
    d->read[d->inst->guard] = 1;
  }
  for (int i = 0; i < SCT_COUNT(ops); i++) {
    if (sct_ptx_span_is(d->inst->mods[0], ops[i].name)) {
      return ops[i].fn(d) && (!sct_ptx_dec_mods_left(d) || sct_ptx_dec_unknown(d));
    }
  }
  return sct_ptx_dec_alu(d);
}

/* Blocks start at the entry, at labels and after terminators. */
static bool decode_insts(ptx_dec *d) {
  ptx_func *f = d->func;
  for (size_t i = 0; i <= f->n_insts; i++) {
    d->block_of[i] = -1;
  }
  for (size_t i = 0; i < f->n_labels; i++) {
    d->block_of[f->labels[i].inst] = 0;
  }
  for (size_t i = 0; i < f->n_insts; i++) {
    d->inst = &f->insts[i];
    if (!d->in_block || d->block_of[i] == 0) {
      if (!sct_ptx_dec_begin_block(d)) {
        return false;
      }
      d->block_of[i] = (int32_t)d->code->n_blocks - 1;
    }
    if (!decode_inst(d)) {
      return false;
    }
  }
  /* an end without ret, a label at the very end, or nothing at all */
  static const ptx_inst ret = {.guard = -1, .n_mods = 1, .mods = {{"ret", 3}}, .text = {"ret", 3}};
  ptx_inst last = ret;
  last.line = f->n_insts > 0 ? f->insts[f->n_insts - 1].line : f->line;
  if (d->in_block || d->block_of[f->n_insts] == 0 || f->n_insts == 0) {
    d->inst = &last;
    if (!d->in_block || d->block_of[f->n_insts] == 0) {
      if (!sct_ptx_dec_begin_block(d)) {
        return false;
      }
    }
    d->block_of[f->n_insts] = (int32_t)d->code->n_blocks - 1;
    return decode_inst(d);
  }
  return true;
}

/* Second pass: labels become blocks. Branch micro-operations hold the index of their instruction in
 * the function until then (imm). */
static bool resolve_branches(ptx_dec *d, const ptx_body *body) {
  ptx_code *c = d->code;
  for (int32_t i = body->entry; i < (int32_t)c->n_blocks; i++) {
    ptx_block *b = &c->blocks[i];
    if (b->term != PTX_TERM_RET && b->term != PTX_TERM_EXIT && i + 1 < (int32_t)c->n_blocks) {
      b->next = i + 1;
    }
    if ((b->term == PTX_TERM_RET || b->term == PTX_TERM_EXIT) && i + 1 < (int32_t)c->n_blocks &&
        c->uops[b->end].guard != PTX_SLOT_TRUE) {
      b->next = i + 1;
    }
    if (b->term != PTX_TERM_BRANCH && b->term != PTX_TERM_TABLE) {
      continue;
    }
    ptx_uop *u = &c->uops[b->end];
    d->inst = &d->func->insts[u->imm];
    if (b->term == PTX_TERM_BRANCH) {
      b->target = sct_ptx_dec_label(d, d->inst->opds[0].name);
      if (b->target < 0) {
        return sct_ptx_dec_fail(d, "unknown label");
      }
    } else if (!sct_ptx_decode_table(d, u)) {
      return false;
    }
  }
  return true;
}

static bool decode_body(ptx_dec *d, int index) {
  d->body = index;
  d->func = (ptx_func *)d->code->bodies[index].func;
  d->in_block = false;
  d->block_insts = 0;
  d->inst = NULL;
  memset(d->heads, -1, sizeof d->heads);
  if (!d->func->has_body) {
    return sct_ptx_dec_fail(d, "function '%.*s' has no body", d->func->name.len, d->func->name.p);
  }
  d->block_of = sct_alloc(sizeof(*d->block_of) * (d->func->n_insts + 1));
  d->read = sct_alloc(d->func->n_regs + 1);
  const int32_t entry = (int32_t)d->code->n_blocks;
  const size_t first = d->code->n_uops;
  bool ok = decode_insts(d);
  if (ok) {
    sct_ptx_live_mark(d->code, first, d->read, d->func->n_regs);
  }
  ptx_body *body = &d->code->bodies[index];
  body->entry = entry;
  ok = ok && resolve_branches(d, body) && sct_ptx_dec_mark_guesses(d, first);
  body = &d->code->bodies[index];
  body->n_blocks = (int32_t)d->code->n_blocks - entry;
  if (ok) {
    sct_ptx_cfg_ipdoms(d->code, body);
  }
  sct_free(d->block_of);
  sct_free(d->read);
  d->block_of = NULL;
  d->read = NULL;
  return ok;
}

/* Compare-and-swaps in loops: until no other thread comes between. */
static void mark_swaps(ptx_code *c) {
  ptx_loops loops = {0};
  for (size_t b = 0; b < c->n_blocks; b++) {
    for (int32_t i = c->blocks[b].first; i < c->blocks[b].end; i++) {
      ptx_uop *const u = &c->uops[i];
      if (u->fn != sct_ptx_op_atomic || u->from != PTX_ATOMIC_CAS) {
        continue;
      }
      if (loops.of == NULL) {
        sct_ptx_loops_find(&loops, c, NULL);
      }
      u->flags = loops.of[b] >= 0;
    }
  }
  if (loops.of != NULL) {
    sct_ptx_loops_free(&loops);
  }
}

ptx_code *sct_ptx_decode(sct_ptx_module *m, ptx_func *kernel, char **error) {
  ptx_dec d = {.m = m, .func = kernel};
  d.code = sct_alloc(sizeof *d.code);
  d.code->min_shared_bytes = d.code->min_global_bytes = 16;
  bool ok = sct_ptx_dec_body(&d, kernel) == 0;
  for (int i = 0; ok && i < (int)d.code->n_bodies; i++) { /* grows while functions are called */
    ok = decode_body(&d, i);
  }
  if (!ok) {
    assert(d.error != NULL);
    *error = d.error;
    sct_ptx_code_free(d.code);
    return NULL;
  }
  mark_swaps(d.code);
  return d.code;
}

void sct_ptx_code_free(ptx_code *code) {
  if (code == NULL) {
    return;
  }
  for (size_t i = 0; i < code->n_bodies; i++) {
    sct_free(code->bodies[i].consts);
    sct_free(code->bodies[i].sregs);
  }
  for (size_t i = 0; i < code->n_calls; i++) {
    sct_free(code->calls[i].args);
  }
  sct_free(code->uops);
  sct_free(code->blocks);
  sct_free(code->vec);
  sct_free(code->tables);
  sct_free(code->insts);
  sct_free(code->bodies);
  sct_free(code->calls);
  sct_free(code->shared);
  for (size_t i = 0; i < code->n_mmas; i++) {
    sct_free(code->mmas[i].places);
  }
  sct_free(code->mmas);
  sct_free(code->tiles);
  sct_free(code);
}
