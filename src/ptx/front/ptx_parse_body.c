/* Function bodies of PTX: scopes, registers, labels, instructions with their operands. */
#include "ptx/front/ptx_parse.h"

#include <string.h>

#define MAX_ELEMS 16
#define MAX_REGS  (1 << 20)

/* ---- registers */

static int trailing_digits(ptx_span name) {
  int n = 0;
  while (n < name.len && n < 8 && name.p[name.len - 1 - n] >= '0' &&
         name.p[name.len - 1 - n] <= '9') {
    n++;
  }
  return n;
}

/* Number of `name` in a range declared as prefix<count>; -1: not of that range. */
static int32_t number_in_range(const ptx_reg_range *r, ptx_span name, int digits) {
  const int suffix = name.len - r->prefix.len;
  if (suffix <= 0 || suffix > digits || memcmp(r->prefix.p, name.p, (size_t)r->prefix.len) != 0 ||
      (suffix > 1 && name.p[r->prefix.len] == '0')) {
    return -1;
  }
  int32_t n = 0;
  for (int i = r->prefix.len; i < name.len; i++) {
    n = n * 10 + (name.p[i] - '0');
  }
  return n < r->count ? n : -1;
}

/* Register of that name in this scope or one around it; -1: none. */
static int32_t find_reg(const ptx_func *f, int scope, ptx_span name) {
  const int digits = trailing_digits(name);
  for (; scope >= 0; scope = f->scopes[scope].parent) {
    for (const ptx_reg_range *r = f->scopes[scope].regs; r != NULL; r = r->next) {
      if (r->ranged) {
        const int32_t n = number_in_range(r, name, digits);
        if (n >= 0) {
          return r->first + n;
        }
      } else if (sct_ptx_span_equal(r->prefix, name)) {
        return r->first;
      }
    }
  }
  return -1;
}

static sct_status reg_class_of(ptx_parser *p, ptx_type type, ptx_reg_class *out) {
  static const ptx_reg_class by_bytes[17] = {
      [0] = PTX_REG_PRED, [1] = PTX_REG_16, [2] = PTX_REG_16,
      [4] = PTX_REG_32,   [8] = PTX_REG_64, [16] = PTX_REG_128};
  if (type == PTX_T_NONE) {
    return sct_ptx_parse_fail(p, p->lex.tok.line, "register without a type");
  }
  *out = by_bytes[sct_ptx_type_bytes(type)];
  return SCT_OK;
}

static sct_status add_regs(ptx_parser *p, ptx_span name, int32_t count, bool ranged,
                           ptx_reg_class cls) {
  ptx_func *f = p->f;
  const int32_t slots = cls == PTX_REG_128 ? 2 * count : count; /* upper halves come after */
  if (count <= 0 || (size_t)slots + f->n_regs > MAX_REGS) {
    return sct_ptx_parse_fail(p, p->lex.tok.line, "bad number of registers '%.*s'", name.len,
                              name.p);
  }
  ptx_reg_range *r = SCT_ARENA_NEW(&p->m->arena, ptx_reg_range, 1);
  *r = (ptx_reg_range){.prefix = name,
                       .ranged = ranged,
                       .first = (int32_t)f->n_regs,
                       .count = count,
                       .cls = cls,
                       .next = f->scopes[p->scope].regs};
  f->scopes[p->scope].regs = r;
  for (int32_t i = 0; i < slots; i++) {
    SCT_GROW(f->reg_class, f->n_regs, f->cap_regs);
    f->reg_class[f->n_regs++] = cls;
  }
  return SCT_OK;
}

/* ".reg .b32 %r<17>, %x;" */
static sct_status parse_regs(ptx_parser *p) {
  ptx_span word;
  ptx_reg_class cls = PTX_REG_32;
  sct_ptx_lex_next(&p->lex);
  SCT_TRY(sct_ptx_parse_name(p, &word));
  SCT_TRY(reg_class_of(p, sct_ptx_type_find(word.p + 1, word.len - 1), &cls));
  for (;;) {
    int64_t count = 1;
    SCT_TRY(sct_ptx_parse_name(p, &word));
    const bool ranged = sct_ptx_parse_accept(p, '<');
    if (ranged) {
      SCT_TRY(sct_ptx_parse_int(p, &count));
      SCT_TRY(sct_ptx_parse_expect(p, '>'));
    }
    count = count > MAX_REGS || count < 0 ? 0 : count;
    SCT_TRY(add_regs(p, word, (int32_t)count, ranged, cls));
    if (!sct_ptx_parse_accept(p, ',')) {
      return sct_ptx_parse_expect(p, ';');
    }
  }
}

/* ---- operands */

static sct_status parse_operand(ptx_parser *p, ptx_opd *out, int depth);

/* "a, b, c" up to `end`, which is eaten. */
static sct_status parse_elems(ptx_parser *p, ptx_opd *out, char end, int depth) {
  ptx_opd elems[MAX_ELEMS];
  int n = 0;
  if (depth > 3) {
    return sct_ptx_parse_fail(p, p->lex.tok.line, "operand nested too deep");
  }
  while (!sct_ptx_lex_at(&p->lex, end)) {
    if (n == MAX_ELEMS) {
      return sct_ptx_parse_fail(p, p->lex.tok.line, "more than %d elements in one operand",
                                MAX_ELEMS);
    }
    SCT_TRY(parse_operand(p, &elems[n], depth + 1));
    n++;
    if (!sct_ptx_lex_at(&p->lex, end)) {
      SCT_TRY(sct_ptx_parse_expect(p, ','));
    }
  }
  sct_ptx_lex_next(&p->lex);
  out->n_elems = n;
  if (n > 0) {
    out->elems = SCT_ARENA_NEW(&p->m->arena, ptx_opd, n);
    memcpy(out->elems, elems, sizeof elems[0] * (size_t)n);
  }
  return SCT_OK;
}

/* "+4", "+-4", "-4" after a name; adds to out->imm. */
static sct_status parse_offset(ptx_parser *p, ptx_opd *out) {
  int64_t value = 0;
  if (sct_ptx_parse_accept(p, '+')) {
    SCT_TRY(sct_ptx_parse_int(p, &value));
  } else if (sct_ptx_lex_at(&p->lex, '-')) {
    SCT_TRY(sct_ptx_parse_int(p, &value));
  }
  out->imm = (int64_t)((uint64_t)out->imm + (uint64_t)value);
  return SCT_OK;
}

static sct_status parse_word_operand(ptx_parser *p, ptx_opd *out) {
  SCT_TRY(sct_ptx_parse_name(p, &out->name));
  if (sct_ptx_span_is(out->name, "_")) {
    out->kind = PTX_OPD_SINK;
  } else {
    out->reg = find_reg(p->f, p->scope, out->name);
    out->kind = out->reg >= 0 ? PTX_OPD_REG : PTX_OPD_NAME;
  }
  if (sct_ptx_parse_accept(p, '|')) {
    ptx_span second;
    SCT_TRY(sct_ptx_parse_name(p, &second));
    out->pair = find_reg(p->f, p->scope, second);
    if (out->pair < 0 && !sct_ptx_span_is(second, "_")) {
      return sct_ptx_parse_fail(p, p->lex.tok.line, "unknown register '%.*s'", second.len,
                                second.p);
    }
  }
  return out->kind == PTX_OPD_NAME ? parse_offset(p, out) : SCT_OK;
}

/* "[base+4]", "[4]", "[base, {x, y}]" */
static sct_status parse_address(ptx_parser *p, ptx_opd *out, int depth) {
  ptx_opd parts[2];
  int n = 1;
  out->kind = PTX_OPD_ADDR;
  SCT_TRY(parse_operand(p, &parts[0], depth + 1));
  SCT_TRY(parse_offset(p, &parts[0]));
  if (sct_ptx_parse_accept(p, ',')) {
    SCT_TRY(parse_operand(p, &parts[1], depth + 1));
    n = 2;
  }
  SCT_TRY(sct_ptx_parse_expect(p, ']'));
  out->elems = SCT_ARENA_NEW(&p->m->arena, ptx_opd, 2);
  out->n_elems = n;
  memcpy(out->elems, parts, sizeof parts[0] * (size_t)n);
  out->imm = parts[0].imm;
  return SCT_OK;
}

static sct_status parse_operand(ptx_parser *p, ptx_opd *out, int depth) {
  const ptx_tok tok = p->lex.tok;
  *out = (ptx_opd){.reg = -1, .pair = -1};
  if (depth > 4) {
    return sct_ptx_parse_fail(p, tok.line, "operand nested too deep");
  }
  if (tok.kind == PTX_TOK_WORD) {
    return parse_word_operand(p, out);
  }
  if (tok.kind == PTX_TOK_F32 || tok.kind == PTX_TOK_F64) {
    out->kind = tok.kind == PTX_TOK_F32 ? PTX_OPD_F32 : PTX_OPD_F64;
    out->imm = (int64_t)tok.bits;
    sct_ptx_lex_next(&p->lex);
    return SCT_OK;
  }
  if (sct_ptx_parse_accept(p, '[')) {
    return parse_address(p, out, depth);
  }
  if (sct_ptx_lex_at(&p->lex, '{') || sct_ptx_lex_at(&p->lex, '(')) {
    const bool vec = sct_ptx_lex_at(&p->lex, '{');
    out->kind = vec ? PTX_OPD_VEC : PTX_OPD_LIST;
    sct_ptx_lex_next(&p->lex);
    return parse_elems(p, out, vec ? '}' : ')', depth);
  }
  if (sct_ptx_parse_accept(p, '!')) {
    SCT_TRY(parse_operand(p, out, depth + 1));
    out->negated = true;
    return SCT_OK;
  }
  out->kind = PTX_OPD_INT;
  return sct_ptx_parse_int(p, &out->imm);
}

/* ---- instructions */

static sct_status split_opcode(ptx_parser *p, ptx_inst *inst, ptx_span op) {
  const char *start = op.p;
  for (int i = 0; i <= op.len; i++) {
    if (i < op.len && op.p[i] != '.') {
      continue;
    }
    if (inst->n_mods == PTX_MAX_MODS) {
      return sct_ptx_parse_fail(p, inst->line, "opcode with more than %d parts", PTX_MAX_MODS);
    }
    inst->mods[inst->n_mods++] = (ptx_span){start, (int)(op.p + i - start)};
    start = op.p + i + 1;
  }
  return SCT_OK;
}

static sct_status parse_guard(ptx_parser *p, ptx_inst *inst) {
  ptx_span name;
  sct_ptx_lex_next(&p->lex);
  if (sct_ptx_parse_accept(p, '!')) {
    inst->guard_not = true;
  }
  SCT_TRY(sct_ptx_parse_name(p, &name));
  inst->guard = find_reg(p->f, p->scope, name);
  if (inst->guard < 0 || p->f->reg_class[inst->guard] != PTX_REG_PRED) {
    return sct_ptx_parse_fail(p, inst->line, "guard '%.*s' is no predicate register", name.len,
                              name.p);
  }
  return SCT_OK;
}

static sct_status parse_inst(ptx_parser *p) {
  ptx_func *f = p->f;
  SCT_GROW(f->insts, f->n_insts, f->cap_insts);
  ptx_inst *inst = &f->insts[f->n_insts];
  *inst = (ptx_inst){.line = p->lex.tok.line, .loc = p->loc, .guard = -1, .scope = p->scope};
  if (sct_ptx_lex_at(&p->lex, '@')) {
    SCT_TRY(parse_guard(p, inst));
  }
  ptx_span op;
  SCT_TRY(sct_ptx_parse_name(p, &op));
  SCT_TRY(split_opcode(p, inst, op));
  while (!sct_ptx_lex_at(&p->lex, ';')) {
    if (inst->n_opds == PTX_MAX_OPDS) {
      return sct_ptx_parse_fail(p, inst->line, "more than %d operands", PTX_MAX_OPDS);
    }
    SCT_TRY(parse_operand(p, &inst->opds[inst->n_opds], 0));
    inst->n_opds++;
    if (!sct_ptx_lex_at(&p->lex, ';')) {
      SCT_TRY(sct_ptx_parse_expect(p, ','));
    }
  }
  inst->text = (ptx_span){op.p, (int)(p->lex.tok.span.p - op.p)};
  f->n_insts++;
  sct_ptx_lex_next(&p->lex);
  return SCT_OK;
}

/* ---- statements */

/* ".branchtargets L0, L1;" belongs to the label before it. */
static sct_status parse_targets(ptx_parser *p) {
  ptx_func *f = p->f;
  ptx_span names[1024];
  int n = 0;
  const int line = p->lex.tok.line;
  if (f->n_labels == 0) {
    return sct_ptx_parse_fail(p, line, ".branchtargets without a label");
  }
  do {
    sct_ptx_lex_next(&p->lex);
    if (n == SCT_COUNT(names)) {
      return sct_ptx_parse_fail(p, line, "more than %d branch targets", n);
    }
    SCT_TRY(sct_ptx_parse_name(p, &names[n]));
    n++;
  } while (sct_ptx_lex_at(&p->lex, ','));
  ptx_label *label = &f->labels[f->n_labels - 1];
  label->targets = SCT_ARENA_NEW(&p->m->arena, ptx_span, n);
  memcpy(label->targets, names, sizeof names[0] * (size_t)n);
  label->n_targets = n;
  return sct_ptx_parse_expect(p, ';');
}

/* "proto : .callprototype (.param .b32 _) _ (.param .b64 _);" */
static sct_status parse_prototype(ptx_parser *p) {
  ptx_func *proto = SCT_ARENA_NEW(&p->m->arena, ptx_func, 1);
  int64_t bytes = 0;
  ptx_span name;
  if (p->f->n_labels == 0) {
    return sct_ptx_parse_fail(p, p->lex.tok.line, ".callprototype without a label");
  }
  sct_ptx_lex_next(&p->lex);
  if (sct_ptx_lex_at(&p->lex, '(')) {
    SCT_TRY(sct_ptx_parse_params(p, &proto->rets, &proto->n_rets, &bytes));
  }
  SCT_TRY(sct_ptx_parse_name(p, &name));
  if (sct_ptx_lex_at(&p->lex, '(')) {
    SCT_TRY(sct_ptx_parse_params(p, &proto->params, &proto->n_params, &bytes));
  }
  while (p->lex.tok.kind == PTX_TOK_WORD) { /* .noreturn and its like */
    sct_ptx_lex_next(&p->lex);
  }
  p->f->labels[p->f->n_labels - 1].prototype = proto;
  return sct_ptx_parse_expect(p, ';');
}

static sct_status parse_place(ptx_parser *p, ptx_call_site *out) {
  int64_t file = 0, line = 0, column = 0;
  SCT_TRY(sct_ptx_parse_int(p, &file));
  SCT_TRY(sct_ptx_parse_int(p, &line));
  SCT_TRY(sct_ptx_parse_int(p, &column));
  *out = (ptx_call_site){{(int)(file & 0xffff), (int)(line & 0x7fffffff), 0, 0},
                         (int)(column & 0x7fffffff)};
  return SCT_OK;
}

#define LAST_PLACES                                                                                \
  512 /* a call is among these, or taken for one of the kernel's own                               \
       */

/* The number of this place as a caller: that of the last .loc that named it, which says who called
 * the function around it; `exact`: one that says the same. */
static int place_number(ptx_parser *p, const ptx_call_site *at, bool exact) {
  sct_ptx_module *m = p->m;
  const size_t end = m->n_calls > LAST_PLACES ? m->n_calls - LAST_PLACES : 0;
  for (size_t k = m->n_calls; k > end; k--) {
    const ptx_call_site *c = &m->calls[k - 1];
    if (c->loc.file == at->loc.file && c->loc.line == at->loc.line && c->column == at->column &&
        (!exact || c->loc.call == at->loc.call)) {
      return (int)k;
    }
  }
  SCT_GROW(m->calls, m->n_calls, m->cap_calls);
  m->calls[m->n_calls++] = *at;
  return (int)m->n_calls;
}

static int function_number(ptx_parser *p, ptx_span label) {
  sct_ptx_module *m = p->m;
  for (size_t k = m->n_functions; k > 0; k--) {
    if (sct_ptx_span_equal(m->functions[k - 1].label, label)) {
      return (int)k;
    }
  }
  SCT_GROW(m->functions, m->n_functions, m->cap_functions);
  m->functions[m->n_functions++] = (ptx_inlined){.label = label, .name = ""};
  return (int)m->n_functions;
}

/* ".loc 1 30 28" with ", function_name $L, inlined_at 1 40 3" after inlined code. */
static sct_status parse_loc(ptx_parser *p) {
  ptx_call_site here, caller;
  int64_t column = 0;
  sct_ptx_lex_next(&p->lex);
  SCT_TRY(parse_place(p, &here));
  while (sct_ptx_parse_accept(p, ',')) {
    SCT_TRY(sct_ptx_parse_name(p, &(ptx_span){NULL, 0}));
    if (p->lex.tok.kind == PTX_TOK_WORD) {
      here.loc.function = function_number(p, p->lex.tok.span);
      sct_ptx_lex_next(&p->lex);
      if (sct_ptx_parse_accept(p, '+')) {
        SCT_TRY(sct_ptx_parse_int(p, &column));
      }
    } else {
      SCT_TRY(parse_place(p, &caller));
      here.loc.call = place_number(p, &caller, false);
    }
  }
  p->loc = here.loc;
  (void)place_number(p, &here, true);
  return SCT_OK;
}

/* .local, .shared and .param variables of a body get their place in the function's frame; shared
 * ones when the kernel that uses them is decoded. */
static sct_status parse_body_vars(ptx_parser *p, ptx_space space) {
  ptx_func *f = p->f;
  ptx_sym **list = &f->scopes[p->scope].syms;
  const ptx_sym *before = *list;
  sct_ptx_lex_next(&p->lex);
  SCT_TRY(sct_ptx_parse_vars(p, space, false, list));
  int64_t *frame = space == PTX_SPACE_LOCAL ? &f->local_bytes : &f->call_bytes;
  for (ptx_sym *sym = *list; sym != before && space != PTX_SPACE_SHARED; sym = sym->next) {
    *frame = (*frame + sym->align - 1) / sym->align * sym->align;
    sym->offset = *frame;
    *frame += sym->bytes;
    if (*frame > (1 << 20)) {
      return sct_ptx_parse_fail(p, p->lex.tok.line, "more than 1 MiB of variables in one function");
    }
  }
  return SCT_OK;
}

static void push_scope(ptx_parser *p) {
  ptx_func *f = p->f;
  SCT_GROW(f->scopes, f->n_scopes, f->cap_scopes);
  f->scopes[f->n_scopes] = (ptx_scope){.parent = p->scope};
  p->scope = (int)f->n_scopes++;
}

static sct_status parse_directive(ptx_parser *p) {
  const ptx_span word = p->lex.tok.span;
  const ptx_space space = sct_ptx_space_find(word);
  if (sct_ptx_span_is(word, ".reg")) {
    return parse_regs(p);
  }
  if (word.len > 5 && memcmp(word.p, ".reg.", 5) == 0) { /* cuda_fp16.hpp writes ".reg.b32 r;" */
    p->lex.p = word.p + 4;
    return parse_regs(p);
  }
  if (sct_ptx_span_is(word, ".loc")) {
    return parse_loc(p);
  }
  if (sct_ptx_span_is(word, ".file")) {
    return sct_ptx_parse_file(p);
  }
  if (sct_ptx_span_is(word, ".branchtargets")) {
    return parse_targets(p);
  }
  if (sct_ptx_span_is(word, ".callprototype")) {
    return parse_prototype(p);
  }
  if (space == PTX_SPACE_LOCAL || space == PTX_SPACE_SHARED || space == PTX_SPACE_PARAM) {
    return parse_body_vars(p, space);
  }
  if (sct_ptx_span_is(word, ".pragma")) {
    sct_ptx_lex_next(&p->lex);
    sct_ptx_lex_next(&p->lex); /* the string: advice to ptxas */
    return sct_ptx_parse_expect(p, ';');
  }
  return sct_ptx_parse_fail(p, p->lex.tok.line, "unknown directive '%.*s'", word.len, word.p);
}

/* A word that is no directive: a label if a colon follows, else an opcode. */
static sct_status parse_label_or_inst(ptx_parser *p) {
  ptx_func *f = p->f;
  const char *after = p->lex.p;
  after += strspn(after, " \t");
  if (*after != ':') {
    return parse_inst(p);
  }
  SCT_GROW(f->labels, f->n_labels, f->cap_labels);
  f->labels[f->n_labels++] =
      (ptx_label){.name = p->lex.tok.span, .scope = p->scope, .inst = (int)f->n_insts};
  sct_ptx_lex_next(&p->lex);
  return sct_ptx_parse_expect(p, ':');
}

sct_status sct_ptx_parse_body(ptx_parser *p) {
  p->scope = -1;
  p->loc = (ptx_loc){0};
  if (!sct_ptx_lex_at(&p->lex, '{')) { /* all below stands in a scope */
    return sct_ptx_parse_expect(p, '{');
  }
  do {
    const ptx_tok *tok = &p->lex.tok;
    if (sct_ptx_parse_accept(p, '{')) {
      push_scope(p);
    } else if (sct_ptx_parse_accept(p, '}')) {
      p->scope = p->f->scopes[p->scope].parent;
    } else if (tok->kind == PTX_TOK_END) {
      return sct_ptx_parse_fail(p, tok->line, "body of '%.*s' has no end", p->f->name.len,
                                p->f->name.p);
    } else if (sct_ptx_parse_accept(p, ';')) {
    } else if (tok->kind == PTX_TOK_WORD && tok->span.p[0] == '.') {
      SCT_TRY(parse_directive(p));
    } else if (tok->kind == PTX_TOK_WORD) {
      SCT_TRY(parse_label_or_inst(p));
    } else {
      SCT_TRY(parse_inst(p));
    }
  } while (p->scope >= 0);
  return SCT_OK;
}
