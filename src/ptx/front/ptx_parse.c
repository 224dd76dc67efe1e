/* Module level of PTX: variables with initialisers, functions with their parameters. */
#include "ptx/front/ptx_parse.h"

#include <stdarg.h>
#include <string.h>

#define MAX_VAR_BYTES (INT64_C(1) << 30)

sct_status sct_ptx_parse_fail(ptx_parser *p, int line, const char *fmt, ...) {
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return sct_fail(p->err, SCT_EDATA, "%s:%d: error: %s", p->m->name, line, text);
}

static sct_status fail_expected(ptx_parser *p, const char *what) {
  const ptx_tok *t = &p->lex.tok;
  if (t->kind == PTX_TOK_END) {
    return sct_ptx_parse_fail(p, t->line, "expected %s at the end of the text", what);
  }
  return sct_ptx_parse_fail(p, t->line, "expected %s, found '%.*s'", what,
                            t->span.len < 60 ? t->span.len : 60, t->span.p);
}

bool sct_ptx_parse_accept(ptx_parser *p, char punct) {
  const bool there = sct_ptx_lex_at(&p->lex, punct);
  if (there) {
    sct_ptx_lex_next(&p->lex);
  }
  return there;
}

sct_status sct_ptx_parse_expect(ptx_parser *p, char punct) {
  return sct_ptx_parse_accept(p, punct) ? SCT_OK
                                        : fail_expected(p, (char[]){'\'', punct, '\'', '\0'});
}

sct_status sct_ptx_parse_int(ptx_parser *p, int64_t *out) {
  const bool minus = sct_ptx_parse_accept(p, '-');
  if (p->lex.tok.kind != PTX_TOK_INT) {
    return fail_expected(p, "an integer");
  }
  const uint64_t bits = p->lex.tok.bits;
  *out = (int64_t)(minus ? 0 - bits : bits);
  sct_ptx_lex_next(&p->lex);
  return SCT_OK;
}

sct_status sct_ptx_parse_name(ptx_parser *p, ptx_span *out) {
  if (p->lex.tok.kind != PTX_TOK_WORD) {
    return fail_expected(p, "a name");
  }
  *out = p->lex.tok.span;
  sct_ptx_lex_next(&p->lex);
  return SCT_OK;
}

ptx_space sct_ptx_space_find(ptx_span word) {
  static const struct {
    const char *name;
    ptx_space space;
  } spaces[] = {{".param", PTX_SPACE_PARAM}, {".shared", PTX_SPACE_SHARED},
                {".local", PTX_SPACE_LOCAL}, {".global", PTX_SPACE_GLOBAL},
                {".const", PTX_SPACE_CONST}, {".shared::cta", PTX_SPACE_SHARED}};
  for (int i = 0; i < SCT_COUNT(spaces); i++) {
    if (sct_ptx_span_is(word, spaces[i].name)) {
      return spaces[i].space;
    }
  }
  return PTX_SPACE_NONE;
}

/* ---- initialisers */

/* Elements of an initialiser, written one after the other. */
typedef struct init_out {
  ptx_sym *sym;
  int64_t elem_bytes, at, cap;
} init_out;

static sct_status init_room(ptx_parser *p, init_out *o) {
  if (o->at + o->elem_bytes <= o->cap) {
    return SCT_OK;
  }
  const int64_t cap = o->cap * 2 > 64 ? o->cap * 2 : 64;
  if (cap > MAX_VAR_BYTES) {
    return sct_ptx_parse_fail(p, p->lex.tok.line, "initialiser too large");
  }
  uint8_t *grown = sct_arena_alloc(&p->m->arena, (size_t)cap);
  if (o->at > 0) {
    memcpy(grown, o->sym->init, (size_t)o->at);
  }
  o->sym->init = grown;
  o->cap = cap;
  return SCT_OK;
}

static sct_status init_address(ptx_parser *p, init_out *o) {
  ptx_reloc *r = SCT_ARENA_NEW(&p->m->arena, ptx_reloc, 1);
  r->offset = o->at;
  SCT_TRY(sct_ptx_parse_name(p, &r->name));
  if (sct_ptx_span_is(r->name, "generic") && sct_ptx_parse_accept(p, '(')) {
    r->generic = true;
    SCT_TRY(sct_ptx_parse_name(p, &r->name));
    SCT_TRY(sct_ptx_parse_expect(p, ')'));
  }
  if (sct_ptx_parse_accept(p, '+')) {
    SCT_TRY(sct_ptx_parse_int(p, &r->addend));
  }
  if (o->elem_bytes != 8) {
    return sct_ptx_parse_fail(p, p->lex.tok.line,
                              "address '%.*s' in an initialiser of %d-byte elements", r->name.len,
                              r->name.p, (int)o->elem_bytes);
  }
  r->next = o->sym->relocs;
  o->sym->relocs = r;
  return SCT_OK;
}

static sct_status init_scalar(ptx_parser *p, init_out *o) {
  SCT_TRY(init_room(p, o));
  uint64_t bits = 0;
  if (p->lex.tok.kind == PTX_TOK_WORD) {
    SCT_TRY(init_address(p, o));
  } else if (p->lex.tok.kind == PTX_TOK_F32 || p->lex.tok.kind == PTX_TOK_F64) {
    bits = p->lex.tok.bits;
    if (p->lex.tok.kind == PTX_TOK_F64 && o->elem_bytes == 4) {
      double wide = 0;
      memcpy(&wide, &bits, 8);
      const float narrow = (float)wide;
      bits = 0;
      memcpy(&bits, &narrow, 4);
    }
    sct_ptx_lex_next(&p->lex);
  } else {
    int64_t value = 0;
    SCT_TRY(sct_ptx_parse_int(p, &value));
    bits = (uint64_t)value;
  }
  memcpy(o->sym->init + o->at, &bits, (size_t)(o->elem_bytes < 8 ? o->elem_bytes : 8));
  o->at += o->elem_bytes;
  return SCT_OK;
}

/* Nested braces are read flat: PTX pads no inner list. A counter stands for recursion, so that a
 * hostile text cannot exhaust the stack. */
static sct_status parse_init(ptx_parser *p, ptx_sym *sym, int64_t elem_bytes) {
  init_out o = {.sym = sym, .elem_bytes = elem_bytes};
  int depth = 0;
  do {
    if (sct_ptx_parse_accept(p, '{')) {
      depth++;
      continue;
    }
    if (!sct_ptx_lex_at(&p->lex, '}')) {
      SCT_TRY(init_scalar(p, &o));
    }
    while (depth > 0 && sct_ptx_parse_accept(p, '}')) {
      depth--;
    }
    if (depth > 0) {
      SCT_TRY(sct_ptx_parse_expect(p, ','));
    }
  } while (depth > 0);
  if (sym->bytes == 0) {
    sym->bytes = o.at;
  }
  if (o.at > sym->bytes) {
    return sct_ptx_parse_fail(p, p->lex.tok.line, "initialiser longer than '%.*s'", sym->name.len,
                              sym->name.p);
  }
  uint8_t *exact = sct_arena_alloc(&p->m->arena, (size_t)(sym->bytes > 0 ? sym->bytes : 1));
  if (o.at > 0) {
    memcpy(exact, sym->init, (size_t)o.at);
  }
  sym->init = exact;
  return SCT_OK;
}

/* ---- declarations */

typedef struct decl {
  ptx_type type;
  int64_t align, vec;
} decl;

/* ".align 16 .v4 .b8", ".u64 .ptr .global .align 4": everything before the name. */
static sct_status parse_decl(ptx_parser *p, decl *d) {
  *d = (decl){.vec = 1};
  while (p->lex.tok.kind == PTX_TOK_WORD && p->lex.tok.span.p[0] == '.') {
    const ptx_span w = p->lex.tok.span;
    const int line = p->lex.tok.line;
    sct_ptx_lex_next(&p->lex);
    const ptx_type type = sct_ptx_type_find(w.p + 1, w.len - 1);
    if (type != PTX_T_NONE) {
      d->type = type;
    } else if (sct_ptx_span_is(w, ".align")) {
      int64_t align = 0;
      SCT_TRY(sct_ptx_parse_int(p, &align));
      if (align <= 0 || align > 4096 || (align & (align - 1)) != 0) {
        return sct_ptx_parse_fail(p, line, "bad alignment");
      }
      d->align = d->type == PTX_T_NONE ? align : d->align; /* after the type: of a .ptr's target */
    } else if (sct_ptx_span_is(w, ".v2") || sct_ptx_span_is(w, ".v4")) {
      d->vec = w.p[2] - '0';
    } else if (sct_ptx_span_is(w, ".texref") || sct_ptx_span_is(w, ".samplerref") ||
               sct_ptx_span_is(w, ".surfref")) {
      d->type = PTX_T_U64;
    } else if (!sct_ptx_span_is(w, ".ptr") && sct_ptx_space_find(w) == PTX_SPACE_NONE) {
      return sct_ptx_parse_fail(p, line, "unknown '%.*s' in a declaration", w.len, w.p);
    }
  }
  if (d->type == PTX_T_NONE) {
    return fail_expected(p, "a type");
  }
  const int64_t natural = sct_ptx_type_bytes(d->type) * d->vec;
  d->align = d->align > 0 ? d->align : natural > 0 ? natural : 1;
  return SCT_OK;
}

/* "name", "name[4][8]", "name[]" */
static sct_status parse_declarator(ptx_parser *p, const decl *d, ptx_space space, ptx_sym **out) {
  ptx_sym *sym = SCT_ARENA_NEW(&p->m->arena, ptx_sym, 1);
  sym->space = space;
  sym->type = d->type;
  sym->align = d->align;
  sym->bytes = sct_ptx_type_bytes(d->type) * d->vec;
  SCT_TRY(sct_ptx_parse_name(p, &sym->name));
  while (sct_ptx_parse_accept(p, '[')) {
    int64_t n = 0;
    if (!sct_ptx_lex_at(&p->lex, ']')) {
      SCT_TRY(sct_ptx_parse_int(p, &n));
    }
    if (n < 0 || n > MAX_VAR_BYTES || sym->bytes * n > MAX_VAR_BYTES) {
      return sct_ptx_parse_fail(p, p->lex.tok.line, "bad size of '%.*s'", sym->name.len,
                                sym->name.p);
    }
    sym->bytes *= n;
    SCT_TRY(sct_ptx_parse_expect(p, ']'));
  }
  *out = sym;
  return SCT_OK;
}

sct_status sct_ptx_parse_vars(ptx_parser *p, ptx_space space, bool is_extern, ptx_sym **list) {
  decl d;
  SCT_TRY(parse_decl(p, &d));
  for (;;) {
    ptx_sym *sym = NULL;
    const int line = p->lex.tok.line;
    SCT_TRY(parse_declarator(p, &d, space, &sym));
    sym->is_extern = is_extern && space == PTX_SPACE_SHARED;
    if (sct_ptx_parse_accept(p, '=')) {
      SCT_TRY(parse_init(p, sym, sct_ptx_type_bytes(d.type)));
    }
    if (sct_ptx_sym_find(*list, sym->name) != NULL && !is_extern) {
      return sct_ptx_parse_fail(p, line, "'%.*s' declared twice", sym->name.len, sym->name.p);
    }
    sym->next = *list;
    *list = sym;
    if (!sct_ptx_parse_accept(p, ',')) {
      return sct_ptx_parse_expect(p, ';');
    }
  }
}

sct_status sct_ptx_parse_params(ptx_parser *p, ptx_sym ***out, int *n, int64_t *bytes) {
  size_t cap = 0;
  sct_status status = SCT_OK;
  ptx_sym **list = NULL;
  *n = 0;
  *bytes = 0;
  SCT_TRY(sct_ptx_parse_expect(p, '('));
  while (!sct_ptx_lex_at(&p->lex, ')')) {
    if (!sct_ptx_lex_word(&p->lex, ".param")) {
      status = fail_expected(p, "'.param'");
      goto done;
    }
    sct_ptx_lex_next(&p->lex);
    decl d;
    ptx_sym *sym = NULL;
    SCT_TRY_DONE(parse_decl(p, &d));
    SCT_TRY_DONE(parse_declarator(p, &d, PTX_SPACE_PARAM, &sym));
    *bytes = (*bytes + sym->align - 1) / sym->align * sym->align;
    sym->offset = *bytes;
    *bytes += sym->bytes;
    SCT_GROW(list, *n, cap);
    list[(*n)++] = sym;
    if (!sct_ptx_lex_at(&p->lex, ')')) {
      SCT_TRY_DONE(sct_ptx_parse_expect(p, ','));
    }
  }
  sct_ptx_lex_next(&p->lex);
  if (*n > 0) {
    *out = SCT_ARENA_NEW(&p->m->arena, ptx_sym *, *n);
    memcpy(*out, list, sizeof(*list) * (size_t)*n);
  }
done:
  sct_free(list);
  return status;
}

/* ---- functions */

/* ".maxntid 256, 1, 1 .minnctapersm 2 .noreturn ..." between parameters and body. */
static sct_status parse_performance(ptx_parser *p, ptx_func *f) {
  while (p->lex.tok.kind == PTX_TOK_WORD && p->lex.tok.span.p[0] == '.') {
    const bool maxntid =
        sct_ptx_lex_word(&p->lex, ".maxntid") || sct_ptx_lex_word(&p->lex, ".reqntid");
    const bool cluster = sct_ptx_lex_word(&p->lex, ".reqnctapercluster");
    const bool pragma = sct_ptx_lex_word(&p->lex, ".pragma");
    int64_t product = 1, first = 0;
    sct_ptx_lex_next(&p->lex);
    while (p->lex.tok.kind == PTX_TOK_INT || p->lex.tok.kind == PTX_TOK_STRING ||
           sct_ptx_lex_at(&p->lex, ',')) {
      if (p->lex.tok.kind == PTX_TOK_INT && p->lex.tok.bits < 65536 && product < 65536) {
        product *= (int64_t)p->lex.tok.bits;
        first = first == 0 ? product : first;
      }
      sct_ptx_lex_next(&p->lex);
    }
    f->max_threads = maxntid ? product : f->max_threads;
    f->cluster = cluster ? product : f->cluster;
    f->cluster_is_row = cluster ? product == first : f->cluster_is_row;
    if (pragma) {
      SCT_TRY(sct_ptx_parse_expect(p, ';'));
    }
  }
  return SCT_OK;
}

static ptx_func *func_find(const sct_ptx_module *m, ptx_span name) {
  for (ptx_func *f = m->funcs; f != NULL; f = f->next) {
    if (sct_ptx_span_equal(f->name, name)) {
      return f;
    }
  }
  return NULL;
}

/* Makes the function and, for a new name, its symbol. A forward declaration is replaced by its
 * definition in place. */
static sct_status add_func(ptx_parser *p, ptx_func *read, ptx_func **out) {
  ptx_func *f = func_find(p->m, read->name);
  if (f != NULL && f->has_body && sct_ptx_lex_at(&p->lex, '{')) {
    return sct_ptx_parse_fail(p, read->line, "'%.*s' defined twice", read->name.len, read->name.p);
  }
  if (f != NULL) {
    if (!f->has_body) {
      read->next = f->next;
      *f = *read;
    }
    *out = f;
    return SCT_OK;
  }
  f = SCT_ARENA_NEW(&p->m->arena, ptx_func, 1);
  ptx_sym *sym = SCT_ARENA_NEW(&p->m->arena, ptx_sym, 1);
  *f = *read;
  *p->m->funcs_tail = f;
  p->m->funcs_tail = &f->next;
  *sym = (ptx_sym){.name = f->name, .space = PTX_SPACE_FUNC, .func = f, .next = p->m->syms};
  p->m->syms = sym;
  *out = f;
  return SCT_OK;
}

static sct_status parse_func(ptx_parser *p, bool is_entry) {
  ptx_func read = {.is_entry = is_entry, .line = p->lex.tok.line};
  sct_ptx_lex_next(&p->lex);
  if (sct_ptx_lex_at(&p->lex, '(')) {
    int64_t bytes = 0;
    SCT_TRY(sct_ptx_parse_params(p, &read.rets, &read.n_rets, &bytes));
  }
  SCT_TRY(sct_ptx_parse_name(p, &read.name));
  if (sct_ptx_lex_at(&p->lex, '(')) {
    SCT_TRY(sct_ptx_parse_params(p, &read.params, &read.n_params, &read.param_bytes));
  }
  for (int i = 0; i < read.n_rets; i++) { /* results stand after the parameters */
    ptx_sym *ret = read.rets[i];
    read.param_bytes = (read.param_bytes + ret->align - 1) / ret->align * ret->align;
    ret->offset = read.param_bytes;
    read.param_bytes += ret->bytes;
  }
  SCT_TRY(parse_performance(p, &read));
  ptx_func *f = NULL;
  SCT_TRY(add_func(p, &read, &f));
  if (sct_ptx_parse_accept(p, ';')) {
    return SCT_OK;
  }
  f->has_body = true;
  p->f = f;
  return sct_ptx_parse_body(p);
}

sct_status sct_ptx_parse_file(ptx_parser *p) {
  int64_t number = 0;
  const int line = p->lex.tok.line;
  sct_ptx_lex_next(&p->lex);
  SCT_TRY(sct_ptx_parse_int(p, &number));
  if (number < 0 || number > 10000 || p->lex.tok.kind != PTX_TOK_STRING) {
    return sct_ptx_parse_fail(p, line, "bad .file");
  }
  if (number >= p->m->n_files) {
    const char **files = SCT_ARENA_NEW(&p->m->arena, const char *, number + 8);
    for (int i = 0; i < p->m->n_files; i++) {
      files[i] = p->m->files[i];
    }
    p->m->files = files;
    p->m->n_files = (int)number + 8;
  }
  p->m->files[number] =
      sct_arena_strndup(&p->m->arena, p->lex.tok.span.p, (size_t)p->lex.tok.span.len);
  sct_ptx_lex_next(&p->lex);
  while (sct_ptx_lex_at(&p->lex, ',')) { /* time stamp and size */
    sct_ptx_lex_next(&p->lex);
    SCT_TRY(sct_ptx_parse_int(p, &number));
  }
  return SCT_OK;
}

/* ".section .debug_str { ... }" */
static sct_status skip_section(ptx_parser *p) {
  const int line = p->lex.tok.line;
  int depth = 0;
  do {
    depth += sct_ptx_lex_at(&p->lex, '{');
    depth -= sct_ptx_lex_at(&p->lex, '}');
    if (p->lex.tok.kind == PTX_TOK_END) {
      return sct_ptx_parse_fail(p, line, "section without an end");
    }
    const bool ends = sct_ptx_lex_at(&p->lex, '}') && depth == 0;
    sct_ptx_lex_next(&p->lex);
    if (ends) {
      break;
    }
  } while (true);
  return SCT_OK;
}

static sct_status parse_target(ptx_parser *p) {
  ptx_span name = {NULL, 0};
  sct_ptx_lex_next(&p->lex);
  SCT_TRY(sct_ptx_parse_name(p, &name));
  if (name.len > 3 && memcmp(name.p, "sm_", 3) == 0) {
    p->m->target = 0; /* of the last directive, if there are several */
    for (int i = 3; i < name.len && name.p[i] >= '0' && name.p[i] <= '9' && i < 7; i++) {
      p->m->target = p->m->target * 10 + (name.p[i] - '0');
    }
  }
  while (sct_ptx_parse_accept(p, ',')) {
    SCT_TRY(sct_ptx_parse_name(p, &name));
  }
  return SCT_OK;
}

/* One directive of the module level. */
static sct_status parse_top(ptx_parser *p) {
  bool is_extern = false;
  while (sct_ptx_lex_word(&p->lex, ".visible") || sct_ptx_lex_word(&p->lex, ".weak") ||
         sct_ptx_lex_word(&p->lex, ".extern") || sct_ptx_lex_word(&p->lex, ".common")) {
    is_extern |= sct_ptx_lex_word(&p->lex, ".extern");
    sct_ptx_lex_next(&p->lex);
  }
  const ptx_lex *lex = &p->lex;
  const ptx_space space =
      lex->tok.kind == PTX_TOK_WORD ? sct_ptx_space_find(lex->tok.span) : PTX_SPACE_NONE;
  if (sct_ptx_lex_word(lex, ".version") || sct_ptx_lex_word(lex, ".address_size")) {
    sct_ptx_lex_next(&p->lex);
    sct_ptx_lex_next(&p->lex); /* a number */
    return SCT_OK;
  }
  if (sct_ptx_lex_word(lex, ".target")) {
    return parse_target(p);
  }
  if (sct_ptx_lex_word(lex, ".file")) {
    return sct_ptx_parse_file(p);
  }
  if (sct_ptx_lex_word(lex, ".section")) {
    return skip_section(p);
  }
  if (sct_ptx_lex_word(lex, ".entry") || sct_ptx_lex_word(lex, ".func")) {
    return parse_func(p, sct_ptx_lex_word(lex, ".entry"));
  }
  if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST || space == PTX_SPACE_SHARED) {
    sct_ptx_lex_next(&p->lex);
    return sct_ptx_parse_vars(p, space, is_extern, &p->m->syms);
  }
  return fail_expected(p, "a directive (.entry, .func, .global, ...)");
}

/* The module's variables share one window, far enough apart that a small overrun shows. */
static void place_variables(sct_ptx_module *m) {
  int64_t at = 512;
  for (ptx_sym *sym = m->syms; sym != NULL; sym = sym->next) {
    if (sct_ptx_is_variable(sym)) {
      at = (at + 511) / 512 * 512;
      sym->offset = at;
      at += sym->bytes + 8192;
    }
  }
  m->window_bytes = at;
}

static sct_status parse_module(ptx_parser *p) {
  if (!sct_ptx_lex_word(&p->lex, ".version")) {
    return fail_expected(p, "'.version' (this is no PTX)");
  }
  while (p->lex.tok.kind != PTX_TOK_END) {
    SCT_TRY(parse_top(p));
  }
  place_variables(p->m);
  return SCT_OK;
}

sct_status sct_ptx_parse_text(sct_ptx_module *m, sct_error *err) {
  ptx_parser p = {.m = m, .err = err};
  m->funcs_tail = &m->funcs;
  sct_ptx_lex_start(&p.lex, m->text);
  return parse_module(&p);
}
