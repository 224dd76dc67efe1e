/* Decoders of products of matrices: mma, wmma, ldmatrix, stmatrix, movmatrix.
 *
 * Where a warp keeps the elements of a matrix is the manual's for mma (PTX ISA 9.0, 9.7.14.5). For
 * wmma it is not said; here its fragments are those of mma, side by side, as machine code has them.
 * A wmma.load is one load for each register, or for each pair of accumulators; where the elements
 * of a register are not neighbours in memory the 8 x 8 elements of a warp are read in the order of
 * memory, and transposed. */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"

#include <string.h>

/* ---- fragments */

static const struct {
  const char *name;
  int bits;
  bool is_float;
} elems[] = {
#define PTX_ELEM(id, name, bits, is_float) {name, bits, is_float},
#include "ptx_elems.def"
#undef PTX_ELEM
};

int sct_ptx_elem_bits(ptx_elem elem) {
  return elems[elem].bits;
}

static int per_register(ptx_elem elem) {
  return elems[elem].bits < 32 ? 32 / elems[elem].bits : 1;
}

/* A and B are pieces of 8 rows (columns) by 4 registers' worth of k, A's by pairs of 8 rows; C and
 * D of 8 by 8, two elements of a row a lane. */
ptx_spot sct_ptx_spot(const ptx_mma *p, ptx_matrix x, int lane, int r, int e) {
  const int group = lane / 4, in_group = lane % 4, n = per_register((ptx_elem)p->elem[x]);
  const int high = p->m > 8 ? 2 : 1; /* pieces of 8 rows that go together */
  if (x == PTX_MATRIX_A || x == PTX_MATRIX_B) {
    const int along = p->k / (4 * n), together = x == PTX_MATRIX_A ? high : 1;
    const int piece = r / (along * together) % ((x == PTX_MATRIX_A ? p->m : p->n) / (8 * together));
    const int in_piece = r % (along * together);
    const int other = 8 * (together * piece + in_piece % together) + group;
    const int k = 4 * n * (in_piece / together) + in_group * n + e;
    return x == PTX_MATRIX_A ? (ptx_spot){other, k} : (ptx_spot){k, other};
  }
  const int i = r * n + e, in_tile = i % (2 * high), tile = i / (2 * high);
  const int down = p->m / (8 * high);
  return (ptx_spot){8 * high * (tile % down) + 8 * (in_tile / 2) + group,
                    8 * (tile / down) + 2 * in_group + i % 2};
}

/* Registers that hold a matrix; wmma keeps those of f16 twice where they would be fewer than 8. */
static int registers_of(const ptx_mma *p, ptx_matrix x, bool wmma) {
  const ptx_elem elem = (ptx_elem)p->elem[x];
  const int size = x == PTX_MATRIX_A ? p->m * p->k : x == PTX_MATRIX_B ? p->k * p->n : p->m * p->n;
  const int n = size / PTX_LANES / per_register(elem);
  return wmma && elem == PTX_ELEM_F16 && x <= PTX_MATRIX_B ? 8 : n;
}

/* ---- modifiers */

static int take_elem(ptx_dec *d) {
  for (int i = 0; i < PTX_N_ELEMS; i++) {
    if (sct_ptx_dec_take(d, elems[i].name)) {
      return i;
    }
  }
  return -1;
}

/* "m16n8k16" */
static bool take_shape(ptx_dec *d, ptx_mma *p) {
  char text[24] = "", end = 0;
  if (d->mod < d->inst->n_mods && d->inst->mods[d->mod].len < (int)sizeof text) {
    memcpy(text, d->inst->mods[d->mod].p, (size_t)d->inst->mods[d->mod].len);
    d->mod++;
  }
  return sscanf(text, "m%dn%dk%d%c", &p->m, &p->n, &p->k, &end) == 3;
}

static bool has_form(const ptx_mma *p, bool wmma) {
  static const struct {
    const char *in, *sum, *shapes[2];
  } forms[] = {
#define PTX_MMA(in, sum, mma, wmma) {in, sum, {mma, wmma}},
#include "ptx_mmas.def"
#undef PTX_MMA
  };
  char shape[40];
  snprintf(shape, sizeof shape, "m%dn%dk%d", p->m, p->n, p->k);
  for (int i = 0; i < SCT_COUNT(forms); i++) {
    bool has = sct_ptx_span_in((ptx_span){shape, (int)strlen(shape)}, forms[i].shapes[wmma]);
    for (int x = 0; x < 4; x++) {
      const char *const name = elems[p->elem[x]].name;
      has &= sct_ptx_span_in((ptx_span){name, (int)strlen(name)},
                             x <= PTX_MATRIX_B ? forms[i].in : forms[i].sum);
    }
    if (has) {
      return true;
    }
  }
  return false;
}

static void take_elems(ptx_dec *d, ptx_mma *p, bool *ok, const ptx_matrix *order, int n) {
  for (int i = 0; i < n; i++) {
    const int elem = take_elem(d);
    *ok &= elem >= 0;
    p->elem[order[i]] = (uint8_t)(elem >= 0 ? elem : 0);
  }
}

static bool take_sync(ptx_dec *d) {
  return sct_ptx_dec_take(d, "sync") && sct_ptx_dec_take(d, "aligned");
}

/* ---- mma and wmma.mma */

/* The registers of a matrix, consecutive in code->vec. */
static bool take_fragment(ptx_dec *d, int opd, const ptx_mma *p, ptx_matrix x) {
  const ptx_opd *o = &d->inst->opds[opd];
  const int n = o->kind == PTX_OPD_VEC ? o->n_elems : 1;
  const char cls = p->elem[x] == PTX_ELEM_F64 ? '6' : '3';
  const ptx_type type = p->elem[x] == PTX_ELEM_F64   ? PTX_T_F64
                        : p->elem[x] == PTX_ELEM_F32 ? PTX_T_F32
                                                     : PTX_T_B32;
  uint32_t first = 0;
  if (n != p->regs[x]) {
    return sct_ptx_dec_fail(d, "%d registers where a matrix has %d", n, p->regs[x]);
  }
  return sct_ptx_dec_vector(d, o, cls, type, x == PTX_MATRIX_D, &first);
}

/* The machine instructions that a wmma comes to. */
static void set_cost(ptx_dec *d, int n) {
  d->code->insts[d->code->n_insts - 1].cost[SCT_PIPE_ISSUE] = (uint8_t)(n > 0 ? n : 1);
}

/* Where elements lie, once for all. */
static void list_places(ptx_mma *p) {
  size_t n = 0;
  for (int x = 0; x <= PTX_MATRIX_D; x++) {
    n += (size_t)(p->regs[x] * PTX_LANES * per_register((ptx_elem)p->elem[x]));
  }
  p->places = sct_alloc(sizeof *p->places * n);
  uint16_t *at = p->places;
  for (int x = 0; x <= PTX_MATRIX_D; x++) {
    for (int r = 0; r < p->regs[x]; r++) {
      for (int i = 0; i < PTX_LANES; i++) {
        for (int e = 0; e < per_register((ptx_elem)p->elem[x]); e++) {
          const ptx_spot s = sct_ptx_spot(p, (ptx_matrix)x, i, r, e);
          *at++ = (uint16_t)(s.row * (x == PTX_MATRIX_A ? p->k : p->n) + s.col);
        }
      }
    }
  }
}

static bool put_mma(ptx_dec *d, ptx_mma *p, bool wmma) {
  static const ptx_matrix order[] = {PTX_MATRIX_D, PTX_MATRIX_A, PTX_MATRIX_B, PTX_MATRIX_C};
  ptx_code *c = d->code;
  if (!has_form(p, wmma)) {
    return sct_ptx_dec_fail(d, "a shape of matrices that is not supported");
  }
  for (int x = 0; x < 4; x++) {
    p->regs[x] = (uint8_t)registers_of(p, (ptx_matrix)x, wmma);
  }
  const uint32_t first = (uint32_t)c->n_vec;
  bool ok = sct_ptx_dec_count(d, 4);
  for (int i = 0; ok && i < 4; i++) {
    ok = take_fragment(d, i, p, order[i]);
  }
  if (!ok) {
    return false;
  }
  list_places(p);
  SCT_GROW(c->mmas, c->n_mmas, c->cap_mmas);
  c->mmas[c->n_mmas++] = *p;
  c->insts[c->n_insts - 1].matrix_flops = (uint32_t)(2 * p->m * p->n * p->k);
  set_cost(d, p->m / (p->m > 8 ? 16 : 8) * (p->n / 8)); /* pieces of mma's sizes */
  c->has_approx |= elems[p->elem[PTX_MATRIX_D]].is_float;
  return sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_mma,
                                      .vec = first,
                                      .n = p->regs[PTX_MATRIX_D],
                                      .imm = (int64_t)c->n_mmas - 1});
}

/* mma.sync.aligned.m16n8k16.row.col{.satfinite}.f32.f16.f16.f32{.xor.popc} d, a, b, c */
bool sct_ptx_decode_mma(ptx_dec *d) {
  static const ptx_matrix order[] = {PTX_MATRIX_D, PTX_MATRIX_A, PTX_MATRIX_B, PTX_MATRIX_C};
  ptx_mma p = {0};
  if (sct_ptx_dec_take(d, "sp") || sct_ptx_dec_take(d, "sp::ordered_metadata")) {
    return sct_ptx_dec_fail(d, "products of sparse matrices (mma.sp) are not supported");
  }
  bool ok = take_sync(d) && take_shape(d, &p);
  ok = ok && sct_ptx_dec_take(d, "row") && sct_ptx_dec_take(d, "col");
  p.satfinite = sct_ptx_dec_take(d, "satfinite");
  take_elems(d, &p, &ok, order, 4);
  (void)(p.elem[PTX_MATRIX_A] == PTX_ELEM_F64 && sct_ptx_dec_take(d, "rn"));
  if (ok && p.elem[PTX_MATRIX_A] == PTX_ELEM_B1) {
    const int op = sct_ptx_dec_choose(d, "xor and");
    p.xors = op == 0;
    ok = op >= 0 && sct_ptx_dec_take(d, "popc");
  }
  return ok ? put_mma(d, &p, false) : sct_ptx_dec_unknown(d);
}

/* wmma.mma{.xor.popc}.sync.aligned.row.col.m16n16k16.f32{.a.b}.f32{.satfinite} d, a, b, c; halves
 * do not name a's and b's. */
static bool wmma_mma(ptx_dec *d) {
  static const ptx_matrix all[] = {PTX_MATRIX_D, PTX_MATRIX_A, PTX_MATRIX_B, PTX_MATRIX_C};
  static const ptx_matrix sums[] = {PTX_MATRIX_D, PTX_MATRIX_C};
  ptx_mma p = {0};
  const int op = sct_ptx_dec_choose(d, "xor and");
  p.xors = op == 0;
  bool ok = (op < 0 || sct_ptx_dec_take(d, "popc")) && take_sync(d);
  ok = ok && sct_ptx_dec_choose(d, "row col") >= 0 && sct_ptx_dec_choose(d, "row col") >= 0;
  ok = ok && take_shape(d, &p);
  const int left = d->inst->n_mods - d->mod;
  const bool named = left >= 4;
  if (!named) {
    p.elem[PTX_MATRIX_A] = p.elem[PTX_MATRIX_B] = PTX_ELEM_F16;
  }
  take_elems(d, &p, &ok, named ? all : sums, named ? 4 : 2);
  (void)(p.elem[PTX_MATRIX_A] == PTX_ELEM_F64 && sct_ptx_dec_take(d, "rn"));
  p.satfinite = sct_ptx_dec_take(d, "satfinite");
  return ok ? put_mma(d, &p, true) : sct_ptx_dec_unknown(d);
}

/* ---- wmma.load, wmma.store */

typedef struct wmma_access {
  ptx_mma p;
  ptx_matrix x;
  bool row, load; /* rows are contiguous in memory */
  ptx_space space;
  uint32_t base, stride, regs[16];
} wmma_access;

/* The elements of a register follow each other along k in A and B, along a row in C and D. */
static bool along_rows(ptx_matrix x) {
  return x != PTX_MATRIX_B;
}

/* Adds the address of one access: of elements `e` of register r, or, transposed, of the same 8 x 8
 * elements in the order of memory. */
static uint32_t put_address(ptx_dec *d, const wmma_access *w, int r, int e, bool transposed) {
  ptx_code *c = d->code;
  SCT_GROW(c->tiles, c->n_tiles, c->cap_tiles);
  ptx_tile *t = &c->tiles[c->n_tiles++];
  t->bits = elems[w->p.elem[w->x]].bits;
  const ptx_spot corner = sct_ptx_spot(&w->p, w->x, 0, r, 0);
  for (int i = 0; i < PTX_LANES; i++) {
    ptx_spot s = sct_ptx_spot(&w->p, w->x, i, r, e);
    if (transposed) { /* the lane that would hold the transposed matrix here */
      s = (ptx_spot){corner.row + (s.col - corner.col), corner.col + (s.row - corner.row)};
    }
    t->outer[i] = (uint8_t)(w->row ? s.row : s.col);
    t->inner[i] = (uint8_t)(w->row ? s.col : s.row);
  }
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_tile_address);
  u->a = w->base;
  u->b = w->stride;
  u->d = sct_ptx_dec_temp(d);
  u->imm = (int64_t)c->n_tiles - 1;
  return u->d;
}

static uint32_t put_slots(ptx_code *c, const uint32_t *slots, int n) {
  const uint32_t first = (uint32_t)c->n_vec;
  for (int i = 0; i < n; i++) {
    SCT_GROW(c->vec, c->n_vec, c->cap_vec);
    c->vec[c->n_vec++] = slots[i];
  }
  return first;
}

/* n registers from slots[0] on, of `bytes` bytes each, at the address in `at`. */
static void put_access(ptx_dec *d, const wmma_access *w, uint32_t at, const uint32_t *slots, int n,
                       int bytes) {
  static const ptx_fn fns[][2] = {{sct_ptx_op_st_generic, sct_ptx_op_ld_generic},
                                  {sct_ptx_op_st_global, sct_ptx_op_ld_global},
                                  {sct_ptx_op_st_shared, sct_ptx_op_ld_shared}};
  const uint32_t first = put_slots(d->code, slots, n);
  const int kind = w->space == PTX_SPACE_GLOBAL ? 1 : w->space == PTX_SPACE_SHARED ? 2 : 0;
  ptx_uop *u = sct_ptx_dec_emit(d, fns[kind][w->load]);
  u->a = at;
  u->vec = first;
  u->n = (uint8_t)n;
  u->bytes = (uint8_t)bytes;
  u->wide = bytes == 8;
  u->to = bytes == 8 ? 8 : 4;
  u->space = (uint8_t)w->space;
  u->op = PTX_MEM_KEEP; /* all of it is read, perhaps by way of a temporary */
  sct_ptx_dec_set_kind(d, w->load ? PTX_INST_LOAD : PTX_INST_STORE, bytes * n);
  sct_ptx_dec_record_width(d, w->space, bytes * n);
}

static void put_transpose(ptx_dec *d, uint32_t to, uint32_t from) {
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_movmatrix);
  u->a = from;
  u->d = to;
}

/* 8 x 8 elements of 16 bits that lie across: by way of a temporary. */
static void put_across(ptx_dec *d, const wmma_access *w, int r) {
  const uint32_t at = put_address(d, w, r, 0, true), temp = sct_ptx_dec_temp(d);
  if (w->load) {
    put_access(d, w, at, &temp, 1, 4);
    put_transpose(d, w->regs[r], temp);
  } else {
    put_transpose(d, temp, w->regs[r]);
    put_access(d, w, at, &temp, 1, 4);
  }
}

/* Bytes that lie across: one by one. */
static bool put_bytes(ptx_dec *d, const wmma_access *w, int r) {
  uint32_t piece[4];
  if (!w->load || elems[w->p.elem[w->x]].bits != 8) {
    return sct_ptx_dec_unknown(d);
  }
  for (int e = 0; e < 4; e++) {
    piece[e] = sct_ptx_dec_temp(d);
    put_access(d, w, put_address(d, w, r, e, false), &piece[e], 1, 1);
  }
  const uint32_t first = put_slots(d->code, piece, 4);
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_mov_pair);
  u->vec = first;
  u->n = 4;
  u->bytes = 1;
  u->d = w->regs[r];
  return true;
}

/* Halves in shared memory come by ldmatrix, up to 4 registers at a time: a lane gives the address
 * of one row of 8 elements. */
static void put_rows(ptx_dec *d, const wmma_access *w, int n_regs, bool across) {
  ptx_code *c = d->code;
  for (int r = 0; r < n_regs; r += 4) {
    const int n = n_regs - r < 4 ? n_regs - r : 4;
    SCT_GROW(c->tiles, c->n_tiles, c->cap_tiles);
    ptx_tile *t = &c->tiles[c->n_tiles++];
    t->bits = 16;
    for (int i = 0; i < PTX_LANES; i++) {
      const ptx_spot corner = sct_ptx_spot(&w->p, w->x, 0, r + i / 8 % n, 0);
      t->outer[i] = (uint8_t)((w->row ? corner.row : corner.col) + i % 8);
      t->inner[i] = (uint8_t)(w->row ? corner.col : corner.row);
    }
    ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_tile_address);
    const uint32_t at = u->d = sct_ptx_dec_temp(d);
    u->a = w->base;
    u->b = w->stride;
    u->imm = (int64_t)c->n_tiles - 1;
    const uint32_t first = put_slots(c, &w->regs[r], n);
    u = sct_ptx_dec_emit(d, sct_ptx_op_ldmatrix);
    *u = (ptx_uop){.fn = u->fn,
                   .guard = u->guard,
                   .guard_flip = u->guard_flip,
                   .inst = u->inst,
                   .a = at,
                   .vec = first,
                   .n = (uint8_t)n,
                   .sign = across,
                   .bytes = 16,
                   .space = PTX_SPACE_SHARED};
  }
  sct_ptx_dec_set_kind(d, PTX_INST_LOAD, 16);
  sct_ptx_dec_record_width(d, PTX_SPACE_SHARED, 16);
}

static bool put_accesses(ptx_dec *d, const wmma_access *w) {
  const ptx_elem elem = (ptx_elem)w->p.elem[w->x];
  const int bits = elems[elem].bits, n_regs = registers_of(&w->p, w->x, false);
  const bool beside = along_rows(w->x) == w->row;
  const bool pairs = w->x >= PTX_MATRIX_C && bits >= 32 && beside;
  const size_t tiles = d->code->n_tiles;
  const bool by_rows =
      w->load && bits == 16 && w->x <= PTX_MATRIX_B && w->space == PTX_SPACE_SHARED;
  if (by_rows) {
    put_rows(d, w, n_regs, !beside);
  }
  for (int r = 0; r < n_regs && !by_rows; r += pairs ? 2 : 1) {
    if (bits >= 32 || beside) {
      put_access(d, w, put_address(d, w, r, 0, false), &w->regs[r], pairs ? 2 : 1,
                 bits == 64 ? 8 : 4);
    } else if (bits == 16) {
      put_across(d, w, r);
    } else if (!put_bytes(d, w, r)) {
      return false;
    }
  }
  set_cost(d, (int)(d->code->n_tiles - tiles) + 1);           /* an access each, and an address */
  for (int r = n_regs; w->load && r < w->p.regs[w->x]; r++) { /* kept twice */
    ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_mov32);
    u->a = w->regs[r % n_regs];
    u->d = w->regs[r];
    u->undef = PTX_UNDEF_MOV;
  }
  return true;
}

/* An accumulator of any type that goes with a shape stands for its matrix. */
static bool known_shape(wmma_access *w, int elem) {
  static const uint8_t in[] = {PTX_ELEM_F16, PTX_ELEM_BF16, PTX_ELEM_TF32, PTX_ELEM_F64,
                               PTX_ELEM_S8,  PTX_ELEM_S4,   PTX_ELEM_B1};
  static const uint8_t sums[] = {PTX_ELEM_F16, PTX_ELEM_F32, PTX_ELEM_F64, PTX_ELEM_S32};
  const bool sum = w->x >= PTX_MATRIX_C;
  for (int i = 0; i < (sum ? SCT_COUNT(in) : SCT_COUNT(sums)); i++) {
    ptx_mma p = w->p;
    p.elem[PTX_MATRIX_A] = p.elem[PTX_MATRIX_B] = (uint8_t)(sum ? in[i] : elem);
    p.elem[PTX_MATRIX_C] = p.elem[PTX_MATRIX_D] = (uint8_t)(sum ? elem : sums[i]);
    if (has_form(&p, true)) {
      w->p = p;
      return true;
    }
  }
  return false;
}

static bool wmma_operands(ptx_dec *d, wmma_access *w) {
  const ptx_opd *o = d->inst->opds, *data = &o[w->load ? 0 : 1], *address = &o[w->load ? 1 : 0];
  const int n = d->inst->n_opds;
  uint32_t first = 0;
  w->p.regs[w->x] = (uint8_t)registers_of(&w->p, w->x, true);
  if (n != 2 && n != 3) {
    return sct_ptx_dec_count(d, 3);
  }
  const int across = w->x == PTX_MATRIX_A ? w->p.k : w->p.n,
            down = w->x == PTX_MATRIX_B ? w->p.k : w->p.m;
  if (!(n == 3 ? sct_ptx_dec_source(d, &o[2], '3', PTX_T_U32, &w->stride)
               : sct_ptx_dec_const(d, (uint64_t)(w->row ? across : down), false, &w->stride)) ||
      !sct_ptx_dec_pointer(d, address, &w->base)) {
    return false;
  }
  const int given = data->kind == PTX_OPD_VEC ? data->n_elems : 1;
  const char cls = w->p.elem[w->x] == PTX_ELEM_F64 ? '6' : '3';
  if (given != w->p.regs[w->x]) {
    return sct_ptx_dec_fail(d, "%d registers where a matrix has %d", given, w->p.regs[w->x]);
  }
  if (!sct_ptx_dec_vector(d, data, cls, PTX_T_NONE, w->load, &first)) {
    return false;
  }
  memcpy(w->regs, &d->code->vec[first], sizeof *w->regs * (size_t)given);
  return put_accesses(d, w);
}

/* wmma.load.a.sync.aligned.row.m16n16k16{.global}.f16 r, [p]{, stride}; wmma.store.d ... [p], r */
static bool wmma_access_of(ptx_dec *d, bool load) {
  wmma_access w = {.load = load, .space = PTX_SPACE_NONE};
  const int which = load ? sct_ptx_dec_choose(d, "a b c") : sct_ptx_dec_choose(d, "d") + 3;
  bool ok = which >= 0 && (load || which == PTX_MATRIX_D) && take_sync(d);
  const int layout = ok ? sct_ptx_dec_choose(d, "row col") : -1;
  ok = layout >= 0 && take_shape(d, &w.p);
  w.x = (ptx_matrix)(which < 0 ? 0 : which);
  w.row = layout == 0;
  w.space = sct_ptx_dec_take_space(d);
  const int elem = ok ? take_elem(d) : -1;
  if (elem < 0 || !known_shape(&w, elem) ||
      (w.space != PTX_SPACE_NONE && w.space != PTX_SPACE_GLOBAL && w.space != PTX_SPACE_SHARED)) {
    return sct_ptx_dec_unknown(d);
  }
  return wmma_operands(d, &w);
}

bool sct_ptx_decode_wmma(ptx_dec *d) {
  switch (sct_ptx_dec_choose(d, "load store mma")) {
  case 0:
    return wmma_access_of(d, true);
  case 1:
    return wmma_access_of(d, false);
  case 2:
    return wmma_mma(d);
  default:
    return sct_ptx_dec_unknown(d);
  }
}

/* ---- ldmatrix, stmatrix, movmatrix */

/* ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 r, [p]; stmatrix ... [p], r */
static bool matrices(ptx_dec *d, bool load) {
  bool ok = take_sync(d) && sct_ptx_dec_take(d, "m8n8");
  const int how_many = sct_ptx_dec_choose(d, "x1 x2 x4"), n = how_many < 0 ? 0 : 1 << how_many;
  const bool trans = sct_ptx_dec_take(d, "trans");
  const ptx_space space = sct_ptx_dec_take_space(d);
  ok = ok && n > 0 && sct_ptx_dec_take(d, "b16") &&
       (space == PTX_SPACE_NONE || space == PTX_SPACE_SHARED);
  if (!ok) {
    return sct_ptx_dec_fail(d, "only matrices of 8 x 8 elements of 16 bits are supported");
  }
  const ptx_opd *o = d->inst->opds, *data = &o[load ? 0 : 1];
  ptx_uop u = {.fn = load ? sct_ptx_op_ldmatrix : sct_ptx_op_stmatrix,
               .n = (uint8_t)n,
               .sign = trans,
               .bytes = 16,
               .space = PTX_SPACE_SHARED,
               .from = space == PTX_SPACE_NONE};
  ptx_space seen = PTX_SPACE_NONE;
  if (!sct_ptx_dec_count(d, 2) || !sct_ptx_dec_address(d, &o[load ? 1 : 0], &u.a, &u.imm, &seen)) {
    return false;
  }
  if ((data->kind == PTX_OPD_VEC ? data->n_elems : 1) != n) {
    return sct_ptx_dec_fail(d, "%d registers are expected", n);
  }
  u.from = u.from && seen != PTX_SPACE_SHARED;
  sct_ptx_dec_set_kind(d, load ? PTX_INST_LOAD : PTX_INST_STORE, 16);
  sct_ptx_dec_record_width(d, PTX_SPACE_SHARED, 16);
  return sct_ptx_dec_vector(d, data, '3', PTX_T_B32, load, &u.vec) && sct_ptx_dec_put(d, u);
}

bool sct_ptx_decode_ldmatrix(ptx_dec *d) {
  return matrices(d, true);
}

bool sct_ptx_decode_stmatrix(ptx_dec *d) {
  return matrices(d, false);
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
bool sct_ptx_decode_movmatrix(ptx_dec *d) {
  return take_sync(d) && sct_ptx_dec_take(d, "m8n8") && sct_ptx_dec_take(d, "trans") &&
                 sct_ptx_dec_take(d, "b16")
             ? sct_ptx_dec_put_operands(d, "33", PTX_T_B32, (ptx_uop){.fn = sct_ptx_op_movmatrix})
             : sct_ptx_dec_unknown(d);
}

bool sct_ptx_decode_large_mma(ptx_dec *d) {
  d->mod = d->inst->n_mods;
  return sct_ptx_dec_fail(
      d, "the %.*s operations of %s are not supported", d->inst->mods[0].len, d->inst->mods[0].p,
      sct_ptx_span_is(d->inst->mods[0], "wgmma") ? "four warps" : "tensor memory");
}
