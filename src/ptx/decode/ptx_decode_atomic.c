/* Decoders of atom, red and of the fences. ptxas takes the modifiers of an atomic operation in any
 * order, so they are read as a set and the form is looked up in ptx_atomics.def. */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"

#include <string.h>

/* ---- modifiers */

typedef enum group { SEM, SCOPE, SPACE, OP, N_ELEMS, NOFTZ, HINT, N_GROUPS } group;
enum { RELAXED, ACQUIRE, RELEASE, ACQ_REL };
enum { CTA, CLUSTER, GPU, SYS };

/* The words of each group, in the order of their values. */
static const char *const words[N_GROUPS] = {
    [SEM] = "relaxed acquire release acq_rel",
    [SCOPE] = "cta cluster gpu sys",
    [SPACE] = "global shared shared::cta shared::cluster",
    [OP] = "add min max and or xor inc dec exch cas",
    [N_ELEMS] = "v2 v4 v8",
    [NOFTZ] = "noftz",
    [HINT] = "L2::cache_hint",
};

typedef struct atomic_mods {
  int of[N_GROUPS];
  ptx_type type;
} atomic_mods;

static int value_of(group g, int word) {
  switch (g) {
  case SPACE:
    return word == 0 ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
  case N_ELEMS:
    return 2 << word;
  case NOFTZ:
  case HINT:
    return 1;
  default:
    return word;
  }
}

static bool take_mods(ptx_dec *d, atomic_mods *m) {
  bool seen[N_GROUPS] = {false};
  *m = (atomic_mods){.of = {[SEM] = RELAXED, [SCOPE] = GPU, [OP] = -1, [N_ELEMS] = 1}};
  while (sct_ptx_dec_mods_left(d)) {
    const ptx_type type = sct_ptx_dec_take_type(d);
    int g = -1, word = -1;
    while (type == PTX_T_NONE && word < 0 && g + 1 < N_GROUPS) {
      word = sct_ptx_dec_choose(d, words[++g]);
    }
    if (type != PTX_T_NONE ? m->type != PTX_T_NONE : word < 0 || seen[g]) {
      return false; /* no word of these, or one of its kind a second time */
    }
    if (type != PTX_T_NONE) {
      m->type = type;
    } else {
      seen[g] = true;
      m->of[g] = value_of((group)g, word);
    }
  }
  return true;
}

static bool form_exists(const atomic_mods *m) {
  static const struct {
    int op, widths;
    const char *types;
  } forms[] = {
#define PTX_ATOMIC(op, types, widths) {PTX_ATOMIC_##op, widths, types},
#include "ptx_atomics.def"
#undef PTX_ATOMIC
  };
  for (int i = 0; i < SCT_COUNT(forms); i++) {
    if (forms[i].op == m->of[OP] && sct_ptx_type_in(m->type, forms[i].types)) {
      return (forms[i].widths & m->of[N_ELEMS]) != 0;
    }
  }
  return false;
}

static bool legal(const atomic_mods *m, bool returns) {
  const bool half = sct_ptx_type_kind(m->type) == PTX_KIND_H;
  const bool swaps = m->of[OP] == PTX_ATOMIC_EXCH || m->of[OP] == PTX_ATOMIC_CAS;
  const bool shared = m->of[SPACE] == PTX_SPACE_SHARED;
  const bool acquires = m->of[SEM] == ACQUIRE || m->of[SEM] == ACQ_REL;
  return form_exists(m) && (m->of[NOFTZ] != 0) == half && (returns || !(swaps || acquires)) &&
         !(shared && (m->of[N_ELEMS] > 1 || m->of[HINT])) &&
         !(m->of[OP] == PTX_ATOMIC_CAS && m->of[HINT]);
}

static bool halves(ptx_dec *d, int32_t reg, uint32_t out[2]) {
  for (size_t s = 0; s < d->func->n_scopes; s++) {
    for (const ptx_reg_range *r = d->func->scopes[s].regs; r != NULL; r = r->next) {
      if (r->cls == PTX_REG_128 && reg >= r->first && reg < r->first + r->count) {
        out[0] = PTX_SLOT_REGS + (uint32_t)reg;
        out[1] = out[0] + (uint32_t)r->count;
        return true;
      }
    }
  }
  return sct_ptx_dec_fail(d, "a 128-bit register is expected");
}

/* Slots of the lower and the upper half of a 128-bit register. */
static bool pair128(ptx_dec *d, const ptx_opd *opd, bool dest, uint32_t out[2]) {
  if (dest && opd->kind == PTX_OPD_SINK) {
    out[0] = sct_ptx_dec_temp(d);
    out[1] = sct_ptx_dec_temp(d);
    return true;
  }
  return opd->kind == PTX_OPD_REG ? halves(d, opd->reg, out)
                                  : sct_ptx_dec_fail(d, "a 128-bit operand must be a register");
}

/* ---- operands */

/* Slots of one operand, one a word: a 128-bit register has two. */
static bool take_words(ptx_dec *d, const ptx_opd *opd, const atomic_mods *m, bool dest) {
  uint32_t first = 0, pair[2] = {0};
  const int n = opd->kind == PTX_OPD_VEC ? opd->n_elems : 1;
  if (m->type != PTX_T_B128) {
    return (n == m->of[N_ELEMS] ||
            sct_ptx_dec_fail(d, "%d data operands for %d elements", n, m->of[N_ELEMS])) &&
           sct_ptx_dec_vector(d, opd, sct_ptx_dec_class(m->type), m->type, dest, &first);
  }
  if (!pair128(d, opd, dest, pair)) {
    return false;
  }
  for (int i = 0; i < 2; i++) {
    SCT_GROW(d->code->vec, d->code->n_vec, d->code->cap_vec);
    d->code->vec[d->code->n_vec++] = pair[i];
  }
  return true;
}

static ptx_mem_scope scope_of(const atomic_mods *m) {
  const int scope = m->of[SCOPE];
  return scope == CTA ? PTX_SCOPE_BLOCK : scope == CLUSTER ? PTX_SCOPE_CLUSTER : PTX_SCOPE_DEVICE;
}

static void note_use(ptx_dec *d, const atomic_mods *m, ptx_space space, int bytes) {
  ptx_code *c = d->code;
  const ptx_type_kind kind = sct_ptx_type_kind(m->type);
  const bool rounds = m->of[OP] == PTX_ATOMIC_ADD && (kind == PTX_KIND_F || kind == PTX_KIND_H);
  sct_ptx_dec_record_width(d, space, bytes);
  c->has_global_atomics |= space != PTX_SPACE_SHARED;
  c->has_approx |= rounds;
  if (m->of[SEM] != RELAXED) {
    sct_ptx_dec_record_order(d, scope_of(m));
  }
}

static bool is_word(ptx_type type) {
  return type == PTX_T_U32 || type == PTX_T_S32 || type == PTX_T_B32;
}

static bool atomic_access(ptx_dec *d, const atomic_mods *m, bool returns) {
  const ptx_opd *o = d->inst->opds;
  const int n_in = m->of[OP] == PTX_ATOMIC_CAS ? 2 : 1, at = returns ? 1 : 0;
  uint32_t base = 0, policy = 0;
  int64_t imm = 0;
  ptx_space space = (ptx_space)m->of[SPACE], seen = PTX_SPACE_NONE;
  if (!sct_ptx_dec_count(d, at + 1 + n_in + m->of[HINT]) ||
      (m->of[HINT] && !sct_ptx_dec_source(d, &o[at + 1 + n_in], '6', PTX_T_B64, &policy)) ||
      !sct_ptx_dec_address(d, &o[at], &base, &imm, &seen)) {
    return false;
  }
  const uint32_t first = (uint32_t)d->code->n_vec;
  if (returns && !take_words(d, &o[0], m, true)) {
    return false;
  }
  for (int i = 0; i < n_in; i++) {
    if (!take_words(d, &o[at + 1 + i], m, false)) {
      return false;
    }
  }
  space = space == PTX_SPACE_NONE ? seen : space;
  if (space != PTX_SPACE_NONE && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED) {
    return sct_ptx_dec_fail(d, "atomic operation on memory that is neither global nor shared");
  }
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_atomic);
  const int bytes = sct_ptx_type_bytes(m->type);
  u->a = base;
  u->b = m->of[OP] == PTX_ATOMIC_ADD && is_word(m->type) && o[at + 1].kind == PTX_OPD_INT &&
         o[at + 1].imm == 1; /* counted by lanes: ATOMS.POPC.INC */
  u->imm = imm;
  u->vec = first;
  u->e = returns;
  u->n = (uint8_t)(bytes == 16 ? 2 : m->of[N_ELEMS]);
  u->bytes = (uint8_t)(bytes == 16 ? 8 : bytes);
  u->wide = bytes >= 8;
  u->space = (uint8_t)space;
  u->from = (uint8_t)m->of[OP];
  u->to = (uint8_t)m->type;
  u->op = (uint8_t)((int)scope_of(m) << PTX_MEM_SCOPE_SHIFT);
  u->sync = (uint8_t)((m->of[SEM] == ACQUIRE || m->of[SEM] == ACQ_REL ? PTX_SYNC_ACQUIRE : 0) |
                      (m->of[SEM] == RELEASE || m->of[SEM] == ACQ_REL ? PTX_SYNC_RELEASE : 0));
  sct_ptx_dec_set_kind(d, PTX_INST_ATOMIC, u->bytes * u->n);
  note_use(d, m, space, u->bytes * u->n);
  return true;
}

bool sct_ptx_decode_atom(ptx_dec *d) {
  atomic_mods m;
  return take_mods(d, &m) && legal(&m, true) ? atomic_access(d, &m, true) : sct_ptx_dec_unknown(d);
}

bool sct_ptx_decode_red(ptx_dec *d) {
  atomic_mods m;
  return take_mods(d, &m) && legal(&m, false) ? atomic_access(d, &m, false)
                                              : sct_ptx_dec_unknown(d);
}

/* ---- loads that only guess */

/* An address as far as the text tells: what its base register was moved from. */
typedef struct place {
  uint32_t base;
  int64_t imm;
} place;

/* sources[slot]: what the one move into it reads, the slot itself if there is none, PTX_ALL if
 * there are several. */
static void find_moves(const ptx_code *c, size_t first, uint32_t *sources, uint32_t n_slots) {
  for (uint32_t i = 0; i < n_slots; i++) {
    sources[i] = i;
  }
  for (size_t i = first; i < c->n_uops; i++) {
    const ptx_uop *u = &c->uops[i];
    const bool move =
        u->fn == sct_ptx_op_mov64 || u->fn == sct_ptx_op_mov32 || u->fn == sct_ptx_op_zext64;
    if (move && u->d < n_slots) {
      sources[u->d] = sources[u->d] == u->d ? u->a : PTX_ALL;
    }
  }
}

static place place_of(const ptx_body *b, const ptx_uop *u, const uint32_t *sources) {
  place p = {u->a, u->imm};
  for (int steps = 0; steps < 8 && sources[p.base] < b->n_slots; steps++) {
    p.base = sources[p.base];
  }
  for (size_t i = 0; i < b->n_consts; i++) {
    if (b->consts[i].slot == p.base) {
      return (place){PTX_SLOT_ZERO, p.imm + (int64_t)b->consts[i].bits};
    }
  }
  return p;
}

static bool corrects(const ptx_uop *u) {
  return u->fn == sct_ptx_op_atomic &&
         (u->from == PTX_ATOMIC_CAS || u->from == PTX_ATOMIC_MIN || u->from == PTX_ATOMIC_MAX);
}

/* Marks the loads among the micro-operations from `first` on that stand before an operation which
 * corrects them; places: [n_uops - first]. */
static void excuse(ptx_code *c, size_t first, const place *places) {
  for (size_t k = first; k < c->n_uops; k++) {
    for (size_t i = first; i < k && corrects(&c->uops[k]); i++) {
      const place *to = &places[k - first], *from = &places[i - first];
      const bool guess =
          sct_ptx_is_load(&c->uops[i]) && from->base == to->base && from->imm == to->imm;
      c->uops[i].op |= guess ? PTX_MEM_STRONG | PTX_MEM_GUESS : 0;
    }
  }
}

/* The lanes of a warp reduce what they have for one word, whose address is a constant, and one of
 * them updates it. */
static void reduce_first(ptx_code *c, size_t first, const place *places) {
  for (size_t i = first; i < c->n_uops; i++) {
    ptx_uop *u = &c->uops[i];
    if (u->fn == sct_ptx_op_atomic && is_word((ptx_type)u->to) && u->from != PTX_ATOMIC_CAS &&
        u->from != PTX_ATOMIC_EXCH && places[i - first].base == PTX_SLOT_ZERO) {
      u->b = 1;
    }
  }
}

bool sct_ptx_dec_mark_guesses(ptx_dec *d, size_t first) {
  ptx_code *c = d->code;
  const ptx_body *b = &c->bodies[d->body];
  size_t n = first;
  while (n < c->n_uops && c->uops[n].fn != sct_ptx_op_atomic) {
    n++;
  }
  if (n == c->n_uops) {
    return true; /* as nearly always */
  }
  SCT_OWNED uint32_t *sources = sct_alloc(sizeof(*sources) * b->n_slots);
  SCT_OWNED place *places = sct_alloc(sizeof(*places) * (c->n_uops - first));
  find_moves(c, first, sources, b->n_slots);
  for (size_t i = first; i < c->n_uops; i++) {
    if (sct_ptx_is_load(&c->uops[i]) || c->uops[i].fn == sct_ptx_op_atomic) {
      places[i - first] = place_of(b, &c->uops[i], sources);
    }
  }
  excuse(c, first, places);
  reduce_first(c, first, places);
  return true;
}

/* ---- 128-bit registers: two slots, the upper half in a register of its own without a name */

/* mov.b128 %q, {lo, hi}; mov.b128 {lo, hi}, %q; mov.b128 %q, %p */
bool sct_ptx_decode_mov128(ptx_dec *d) {
  uint32_t slots[2][2];
  for (int k = 0; k < 2; k++) {
    const ptx_opd *o = &d->inst->opds[k];
    bool ok = true;
    for (int i = 0; o->kind == PTX_OPD_VEC && o->n_elems == 2 && i < 2 && ok; i++) {
      ok = k == 0 ? sct_ptx_dec_dest(d, &o->elems[i], '6', &slots[k][i])
                  : sct_ptx_dec_source(d, &o->elems[i], '6', PTX_T_B64, &slots[k][i]);
    }
    if (!ok || (!(o->kind == PTX_OPD_VEC && o->n_elems == 2) && !pair128(d, o, k == 0, slots[k]))) {
      return false;
    }
  }
  for (int i = 0; i < 2; i++) {
    sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_mov64,
                                 .d = slots[0][i],
                                 .a = slots[1][i],
                                 .wide = true,
                                 .undef = PTX_UNDEF_MOV});
  }
  return true;
}

/* ---- fences */

#define ANY_SCOPE "cta cluster gpu sys"

static const struct {
  const char *op, *kind, *scopes;
  uint8_t sync; /* what it orders for plain accesses */
  int n_opds;
} fences[] = {
    {"membar", "", "cta gl sys", PTX_SYNC_ACQUIRE | PTX_SYNC_RELEASE, 0},
    {"membar", "proxy.alias", "", 0, 0},
    {"fence", "", ANY_SCOPE, PTX_SYNC_ACQUIRE | PTX_SYNC_RELEASE, 0},
    {"fence", "sc", ANY_SCOPE, PTX_SYNC_ACQUIRE | PTX_SYNC_RELEASE, 0},
    {"fence", "acq_rel", ANY_SCOPE, PTX_SYNC_ACQUIRE | PTX_SYNC_RELEASE, 0},
    {"fence", "acquire", ANY_SCOPE, PTX_SYNC_ACQUIRE, 0},
    {"fence", "release", ANY_SCOPE, PTX_SYNC_RELEASE, 0},
    {"fence", "acquire.sync_restrict::shared::cluster", "cluster", 0, 0},
    {"fence", "release.sync_restrict::shared::cta", "cluster", 0, 0},
    {"fence", "mbarrier_init.release", "cluster", 0, 0},
    {"fence", "proxy.alias", "", 0, 0},
    {"fence", "proxy.async", "", PTX_SYNC_PROXY, 0},
    {"fence", "proxy.async.global", "", 0, 0},
    {"fence", "proxy.async.shared::cta", "", PTX_SYNC_PROXY, 0},
    {"fence", "proxy.async.shared::cluster", "", PTX_SYNC_PROXY, 0},
    {"fence", "proxy.async::generic.acquire.sync_restrict::shared::cluster", "cluster", 0, 0},
    {"fence", "proxy.async::generic.release.sync_restrict::shared::cta", "cluster", 0, 0},
    {"fence", "proxy.tensormap::generic.release", ANY_SCOPE, 0, 0},
    {"fence", "proxy.tensormap::generic.acquire", ANY_SCOPE, 0, 2},
};

static int find_fence(const ptx_dec *d, ptx_span kind, ptx_span scope) {
  for (int i = 0; i < SCT_COUNT(fences); i++) {
    if (sct_ptx_span_is(d->inst->mods[0], fences[i].op) && sct_ptx_span_is(kind, fences[i].kind) &&
        (scope.len == 0 ? fences[i].scopes[0] == '\0' : sct_ptx_span_in(scope, fences[i].scopes))) {
      return i;
    }
  }
  return -1;
}

/* Warps run one after the other, so a fence moves no data; it tells the race check what is ordered.
 * One that is wider than a block says that blocks talk to each other. */
bool sct_ptx_decode_fence(ptx_dec *d) {
  const int n = d->inst->n_mods;
  const ptx_span *mods = d->inst->mods, none = {"", 0};
  const ptx_span last = n > 1 ? mods[n - 1] : none;
  const bool scoped = sct_ptx_span_in(last, ANY_SCOPE " gl");
  const int n_kind = n - 1 - scoped; /* modifiers before the scope; they stand together */
  const ptx_span kind = {n_kind > 0 ? mods[1].p : "",
                         n_kind > 0 ? (int)(mods[n_kind].p + mods[n_kind].len - mods[1].p) : 0};
  const int f = find_fence(d, kind, scoped ? last : none);
  uint32_t base = 0;
  int64_t imm = 0;
  ptx_space space = PTX_SPACE_NONE;
  if (f < 0) {
    return sct_ptx_dec_unknown(d);
  }
  d->mod = n;
  if (!sct_ptx_dec_count(d, fences[f].n_opds) ||
      (fences[f].n_opds > 0 && !sct_ptx_dec_address(d, &d->inst->opds[0], &base, &imm, &space))) {
    return false;
  }
  const bool proxy = fences[f].sync == PTX_SYNC_PROXY;
  d->mod = n - scoped;
  const bool gl = sct_ptx_span_is(last, "gl");
  const ptx_mem_scope scope = gl ? PTX_SCOPE_DEVICE : sct_ptx_dec_take_scope(d, PTX_SCOPE_BLOCK);
  d->mod = n;
  sct_ptx_dec_put(d, (ptx_uop){.fn = proxy ? sct_ptx_op_fence_async : sct_ptx_op_fence,
                               .op = (uint8_t)((int)scope << PTX_MEM_SCOPE_SHIFT),
                               .sync = fences[f].sync});
  if (fences[f].sync != 0) {
    sct_ptx_dec_record_order(d, scope);
  }
  return true;
}
