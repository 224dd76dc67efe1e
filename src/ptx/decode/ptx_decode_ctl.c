/* Decoders of control flow, barriers and warp operations. */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"

#include <string.h>

static bool branch(ptx_dec *d, ptx_term term, uint32_t index) {
  sct_ptx_dec_put(
      d, (ptx_uop){.fn = sct_ptx_op_terminator, .a = index, .imm = d->inst - d->func->insts});
  sct_ptx_dec_set_kind(d, PTX_INST_BRANCH, 0);
  return sct_ptx_dec_end_block(d, term);
}

bool sct_ptx_decode_bra(ptx_dec *d) {
  (void)sct_ptx_dec_take(d, "uni");
  if (!sct_ptx_dec_count(d, 1)) {
    return false;
  }
  return d->inst->opds[0].kind == PTX_OPD_NAME
             ? branch(d, PTX_TERM_BRANCH, 0)
             : sct_ptx_dec_fail(d, "branch to something else than a label");
}

/* brx.idx index, table; */
bool sct_ptx_decode_brx(ptx_dec *d) {
  uint32_t a = 0;
  if (!sct_ptx_dec_take(d, "idx")) {
    return sct_ptx_dec_unknown(d);
  }
  (void)sct_ptx_dec_take(d, "uni");
  return sct_ptx_dec_count(d, 2) && sct_ptx_dec_source(d, &d->inst->opds[0], '3', PTX_T_U32, &a) &&
         branch(d, PTX_TERM_TABLE, a);
}

bool sct_ptx_decode_table(ptx_dec *d, ptx_uop *u) {
  ptx_code *c = d->code;
  const ptx_label *table = NULL;
  for (size_t i = 0; i < d->func->n_labels; i++) {
    const ptx_label *label = &d->func->labels[i];
    if (label->n_targets > 0 && sct_ptx_span_equal(label->name, d->inst->opds[1].name)) {
      table = label;
    }
  }
  if (table == NULL) {
    return sct_ptx_dec_fail(d, "unknown branch table");
  }
  u->imm = (int64_t)c->n_tables;
  u->vec = (uint32_t)table->n_targets;
  for (int i = 0; i < table->n_targets; i++) {
    SCT_GROW(c->tables, c->n_tables, c->cap_tables);
    const int block = sct_ptx_dec_label(d, table->targets[i]);
    if (block < 0) {
      return sct_ptx_dec_fail(d, "unknown label '%.*s' in a branch table", table->targets[i].len,
                              table->targets[i].p);
    }
    c->tables[c->n_tables++] = block;
  }
  return true;
}

static bool leave(ptx_dec *d, ptx_term term) {
  return sct_ptx_dec_put_operands(d, "", PTX_T_NONE, (ptx_uop){.fn = sct_ptx_op_terminator}) &&
         sct_ptx_dec_end_block(d, term);
}

bool sct_ptx_decode_ret(ptx_dec *d) {
  (void)sct_ptx_dec_take(d, "uni");
  return leave(d, PTX_TERM_RET);
}

bool sct_ptx_decode_exit(ptx_dec *d) {
  return leave(d, PTX_TERM_EXIT);
}

/* trap, and brkpt: no debugger is there to go on after it. */
bool sct_ptx_decode_trap(ptx_dec *d) {
  return sct_ptx_dec_put_operands(d, "", PTX_T_NONE, (ptx_uop){.fn = sct_ptx_op_trap});
}

/* nanosleep.u32 t: time does not pass here, but other warps get their turn */
bool sct_ptx_decode_nanosleep(ptx_dec *d) {
  return sct_ptx_dec_take(d, "u32")
             ? sct_ptx_dec_put_operands(d, "-3", PTX_T_U32, (ptx_uop){.fn = sct_ptx_op_nanosleep})
             : sct_ptx_dec_unknown(d);
}

/* ---- calls */

static bool call_params(ptx_dec *d, const ptx_opd *list, const ptx_sym **out) {
  for (int i = 0; i < list->n_elems; i++) {
    const ptx_opd *e = &list->elems[i];
    out[i] = e->kind == PTX_OPD_NAME ? sct_ptx_sym_visible(d->m, d->func, d->inst->scope, e->name)
                                     : NULL;
    if (out[i] == NULL || out[i]->space != PTX_SPACE_PARAM) {
      return sct_ptx_dec_fail(d, "argument %d of the call is no .param variable", i + 1);
    }
  }
  return true;
}

/* A function pointer may name any function of the module. */
static bool all_bodies(ptx_dec *d) {
  for (ptx_func *f = d->m->funcs; f != NULL; f = f->next) {
    if (!f->is_entry && f->has_body && sct_ptx_dec_body(d, f) < 0) {
      return false;
    }
  }
  return true;
}

/* Number and sizes of the parameters must agree, so that copies stay within both frames. */
static bool call_fits(ptx_dec *d, const ptx_call *c, const ptx_func *f) {
  bool fits = c->n_args == f->n_params && c->n_rets == f->n_rets;
  for (int i = 0; fits && i < c->n_args; i++) {
    fits = c->args[i]->bytes == f->params[i]->bytes;
  }
  for (int i = 0; fits && i < c->n_rets; i++) {
    fits = c->rets[i]->bytes == f->rets[i]->bytes;
  }
  return fits || sct_ptx_dec_fail(d, "arguments do not fit '%.*s'", f->name.len, f->name.p);
}

static const ptx_func *prototype(const ptx_dec *d, ptx_span name) {
  for (size_t i = 0; i < d->func->n_labels; i++) {
    if (d->func->labels[i].prototype != NULL && sct_ptx_span_equal(d->func->labels[i].name, name)) {
      return d->func->labels[i].prototype;
    }
  }
  return NULL;
}

static const struct {
  const char *name, *args, *ret;
} systems[] = {
    {"", "", ""},
#define PTX_SYSTEM(id, name, args, ret) {name, args, ret},
#include "ptx_system.def"
#undef PTX_SYSTEM
};

static ptx_system system_function(const ptx_sym *sym) {
  for (int i = 1; i < SCT_COUNT(systems) && !sym->func->has_body; i++) {
    if (sct_ptx_span_is(sym->name, systems[i].name)) {
      return (ptx_system)i;
    }
  }
  return PTX_SYSTEM_NONE;
}

static bool sizes_are(const ptx_sym *const *params, int n, const char *bytes) {
  bool fits = n == (int)strlen(bytes);
  for (int i = 0; fits && i < n; i++) {
    fits = params[i]->bytes == bytes[i] - '0';
  }
  return fits;
}

static bool call_system(ptx_dec *d, const ptx_call *c, ptx_system system) {
  if (!sizes_are(c->args, c->n_args, systems[system].args) ||
      (c->n_rets > 0 && !sizes_are(c->rets, c->n_rets, systems[system].ret))) {
    return sct_ptx_dec_fail(d, "arguments do not fit '%s'", systems[system].name);
  }
  d->code->uses_system |= system != PTX_SYSTEM_ASSERT; /* which does nothing, or ends it all */
  return sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_system,
                                      .op = (uint8_t)system,
                                      .imm = (int64_t)d->code->n_calls - 1});
}

typedef struct call_opds {
  const ptx_opd *rets, *callee, *args, *proto;
} call_opds;

/* (ret), name, (args), prototype: all but the name may be missing. */
static bool split_call(ptx_dec *d, call_opds *o) {
  int i = 0;
  const int n = d->inst->n_opds;
  const ptx_opd *opds = d->inst->opds;
  *o = (call_opds){0};
  o->rets = n > i && opds[i].kind == PTX_OPD_LIST ? &opds[i++] : NULL;
  o->callee = n > i ? &opds[i++] : NULL;
  o->args = n > i && opds[i].kind == PTX_OPD_LIST ? &opds[i++] : NULL;
  o->proto = n > i ? &opds[i++] : NULL;
  return (o->callee != NULL && i == n &&
          (o->callee->kind == PTX_OPD_NAME || o->callee->kind == PTX_OPD_REG)) ||
         sct_ptx_dec_fail(d, "malformed call");
}

static bool call_target(ptx_dec *d, const call_opds *o, ptx_call *c, uint32_t *pointer,
                        ptx_system *system) {
  const ptx_func *f = NULL;
  if (o->callee->kind == PTX_OPD_REG) {
    c->body = -1;
    f = o->proto != NULL ? prototype(d, o->proto->name) : NULL;
    if (f == NULL) {
      return sct_ptx_dec_fail(d, "indirect call without a prototype");
    }
    return sct_ptx_dec_source(d, o->callee, '6', PTX_T_U64, pointer) && all_bodies(d) &&
           call_fits(d, c, f);
  }
  const ptx_sym *sym = sct_ptx_sym_visible(d->m, d->func, d->inst->scope, o->callee->name);
  if (sym == NULL || sym->space != PTX_SPACE_FUNC) {
    return sct_ptx_dec_fail(d, "unknown function '%.*s'", o->callee->name.len, o->callee->name.p);
  }
  *system = system_function(sym);
  if (*system != PTX_SYSTEM_NONE) {
    return true;
  }
  c->body = sct_ptx_dec_body(d, sym->func);
  return c->body >= 0 && call_fits(d, c, sym->func);
}

static bool read_call(ptx_dec *d, ptx_call *c, uint32_t *pointer, ptx_system *system) {
  call_opds o;
  if (!split_call(d, &o)) {
    return false;
  }
  c->n_args = o.args != NULL ? o.args->n_elems : 0;
  c->n_rets = o.rets != NULL ? o.rets->n_elems : 0;
  c->args = sct_alloc(sizeof(*c->args) * (size_t)(c->n_args + c->n_rets + 1));
  c->rets = c->args + c->n_args;
  return (o.args == NULL || call_params(d, o.args, c->args)) &&
         (o.rets == NULL || call_params(d, o.rets, c->rets)) &&
         call_target(d, &o, c, pointer, system);
}

bool sct_ptx_decode_call(ptx_dec *d) {
  ptx_code *code = d->code;
  ptx_call c = {0};
  uint32_t pointer = 0;
  ptx_system system = PTX_SYSTEM_NONE;
  (void)sct_ptx_dec_take(d, "uni");
  SCT_GROW(code->calls, code->n_calls, code->cap_calls);
  const bool ok = read_call(d, &c, &pointer, &system);
  code->calls[code->n_calls++] = c; /* owns its lists from here on */
  if (!ok || system != PTX_SYSTEM_NONE) {
    return ok && call_system(d, &c, system);
  }
  if (c.body < 0 && !sct_ptx_dec_begin_block(d)) { /* alone in its block: lanes may take turns */
    return false;
  }
  sct_ptx_dec_put(
      d, (ptx_uop){.fn = sct_ptx_op_terminator, .a = pointer, .imm = (int64_t)code->n_calls - 1});
  return sct_ptx_dec_end_block(d, PTX_TERM_CALL);
}

/* ---- barriers */

/* bar.red.popc.u32 d, a{, b}, {!}c */
static bool bar_red(ptx_dec *d, ptx_uop *u) {
  const int op = sct_ptx_dec_choose(d, "popc and or");
  const ptx_type type = op == 0 ? PTX_T_U32 : PTX_T_PRED;
  if (op < 0 || sct_ptx_dec_take_type(d) != type) {
    return sct_ptx_dec_unknown(d);
  }
  const char dest = op == 0 ? '3' : 'p';
  const bool counted = d->inst->n_opds == 4;
  const char sig[] = {dest, '3', counted ? '3' : 'p', counted ? 'p' : '\0', '\0'};
  u->op = (uint8_t)(PTX_BAR_POPC + op);
  if (!sct_ptx_dec_operands(d, sig, type, u)) {
    return false;
  }
  u->c = counted ? u->c : u->b;
  u->b = counted ? u->b : PTX_SLOT_ZERO;
  return true;
}

/* barrier.cluster.arrive{.release|.relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned} */
static bool bar_cluster(ptx_dec *d) {
  const int what = sct_ptx_dec_choose(d, "arrive wait");
  if (what < 0) {
    return sct_ptx_dec_unknown(d);
  }
  (void)sct_ptx_dec_choose(d, what == 0 ? "release relaxed" : "acquire");
  (void)sct_ptx_dec_take(d, "aligned");
  ptx_uop u = {.fn = sct_ptx_op_terminator, .op = (uint8_t)(PTX_BAR_CLUSTER_ARRIVE + what)};
  if (!sct_ptx_dec_operands(d, "", PTX_T_NONE, &u)) {
    return false;
  }
  sct_ptx_dec_put(d, u);
  sct_ptx_dec_set_kind(d, PTX_INST_BARRIER, 0);
  return sct_ptx_dec_end_block(d, PTX_TERM_BARRIER);
}

/* bar{.cta}.sync a{, b}, .arrive a, b, .red; barrier.* the same with .aligned */
bool sct_ptx_decode_bar(ptx_dec *d) {
  ptx_uop u = {.fn = sct_ptx_op_terminator};
  if (sct_ptx_dec_take(d, "warp")) {
    return sct_ptx_dec_take(d, "sync")
               ? sct_ptx_dec_put_operands(d, "-3", PTX_T_U32, (ptx_uop){.fn = sct_ptx_op_syncwarp})
               : sct_ptx_dec_unknown(d);
  }
  if (sct_ptx_dec_take(d, "cluster")) {
    return bar_cluster(d);
  }
  (void)sct_ptx_dec_take(d, "cta");
  const int what = sct_ptx_dec_choose(d, "sync arrive red");
  if (what < 0) {
    return sct_ptx_dec_unknown(d);
  }
  (void)sct_ptx_dec_take(d, "aligned");
  const bool alone = what == PTX_BAR_SYNC && d->inst->n_opds == 1;
  u.op = (uint8_t)what;
  if (what == 2 ? !bar_red(d, &u) : !sct_ptx_dec_operands(d, alone ? "-3" : "-33", PTX_T_U32, &u)) {
    return false;
  }
  sct_ptx_dec_put(d, u);
  sct_ptx_dec_set_kind(d, PTX_INST_BARRIER, 0);
  return sct_ptx_dec_end_block(d, PTX_TERM_BARRIER);
}

/* ---- operations of a warp */

bool sct_ptx_decode_activemask(ptx_dec *d) {
  return sct_ptx_dec_take_type(d) == PTX_T_B32
             ? sct_ptx_dec_put_operands(d, "3", PTX_T_B32,
                                        (ptx_uop){.fn = sct_ptx_op_mov_activemask})
             : sct_ptx_dec_unknown(d);
}

/* shfl.sync.idx.b32 d|p, a, b, c, membermask */
bool sct_ptx_decode_shfl(ptx_dec *d) {
  const bool sync = sct_ptx_dec_take(d, "sync");
  const int mode = sct_ptx_dec_choose(d, "up down bfly idx");
  if (!sync || mode < 0 || sct_ptx_dec_take_type(d) != PTX_T_B32) {
    return sct_ptx_dec_unknown(d);
  }
  sct_ptx_dec_set_kind(d, PTX_INST_SHUFFLE, 0);
  return sct_ptx_dec_put_operands(
      d, "33333", PTX_T_B32,
      (ptx_uop){.fn = sct_ptx_op_shfl, .op = (uint8_t)mode, .vec = sct_ptx_dec_pair(d)});
}

/* vote.sync.all.pred d, {!}a, membermask; vote.sync.ballot.b32 */
bool sct_ptx_decode_vote(ptx_dec *d) {
  const bool sync = sct_ptx_dec_take(d, "sync");
  const int mode = sct_ptx_dec_choose(d, "all any uni ballot");
  const bool ballot = mode == PTX_VOTE_BALLOT;
  if (!sync || mode < 0 || sct_ptx_dec_take_type(d) != (ballot ? PTX_T_B32 : PTX_T_PRED)) {
    return sct_ptx_dec_unknown(d);
  }
  return sct_ptx_dec_put_operands(d, ballot ? "3p3" : "pp3", PTX_T_PRED,
                                  (ptx_uop){.fn = sct_ptx_op_vote, .op = (uint8_t)mode});
}

/* redux.sync.add.u32 d, a, membermask */
bool sct_ptx_decode_redux(ptx_dec *d) {
  const bool sync = sct_ptx_dec_take(d, "sync");
  const int op = sct_ptx_dec_choose(d, "add min max and or xor");
  const ptx_type type = sct_ptx_dec_take_type(d);
  const bool legal =
      op >= PTX_REDUX_AND ? type == PTX_T_B32 : type == PTX_T_U32 || type == PTX_T_S32;
  if (!sync || op < 0 || !legal) {
    return sct_ptx_dec_unknown(d);
  }
  return sct_ptx_dec_put_operands(
      d, "333", type,
      (ptx_uop){.fn = sct_ptx_op_redux, .op = (uint8_t)op, .sign = type == PTX_T_S32});
}

/* match.any.sync.b32 d, a, membermask; match.all.sync.b64 d{|p}, a, membermask */
bool sct_ptx_decode_match(ptx_dec *d) {
  const int all = sct_ptx_dec_choose(d, "any all");
  const bool sync = sct_ptx_dec_take(d, "sync");
  const ptx_type type = sct_ptx_dec_take_type(d);
  const uint32_t pair = sct_ptx_dec_pair(d);
  if (all < 0 || !sync || (type != PTX_T_B32 && type != PTX_T_B64) || (all == 0 && pair != 0)) {
    return sct_ptx_dec_unknown(d);
  }
  if (pair != 0 && sct_ptx_dec_reg_class(d, d->inst->opds[0].pair) != 'p') {
    return sct_ptx_dec_fail(d, "the second destination is no predicate");
  }
  return sct_ptx_dec_put_operands(
      d, type == PTX_T_B64 ? "363" : "333", type,
      (ptx_uop){
          .fn = sct_ptx_op_match, .op = (uint8_t)all, .wide = type == PTX_T_B64, .vec = pair});
}
