/* Decoders of mbarriers, bulk copies. */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"

/* An address as one slot, the displacement added. */
static bool pointer(ptx_dec *d, const ptx_opd *opd, uint32_t *slot, ptx_space *space) {
  uint32_t base = 0, by = 0;
  int64_t imm = 0;
  if (!sct_ptx_dec_address(d, opd, &base, &imm, space)) {
    return false;
  }
  if (!sct_ptx_dec_const(d, (uint64_t)imm, true, &by)) {
    return false;
  }
  *slot = base == PTX_SLOT_ZERO ? by : base;
  if (base == PTX_SLOT_ZERO || imm == 0) {
    return true;
  }
  ptx_uop *u = sct_ptx_dec_emit(d, sct_ptx_op_add64);
  u->undef = PTX_UNDEF_ADD;
  u->bytes = 8;
  u->a = base;
  u->b = by;
  u->d = sct_ptx_dec_temp(d);
  *slot = u->d;
  return true;
}

static void note_shared(ptx_dec *d, int bytes) {
  int *min = &d->code->min_shared_bytes;
  *min = bytes < *min ? bytes : *min;
}

/* ---- mbarrier */

enum { D_NONE, D_STATE, D_PRED, D_COUNT }; /* destinations */
enum { S_NONE, S_32, S_MAY_32, S_64 };     /* the operand behind the address */

static const struct mbar_form {
  const char *name, *variant; /* variant: modifier behind the name, "" none */
  ptx_fn fn;
  uint8_t dest, source, flags;
  bool hint, ordered; /* may have a time to wait; .sem.scope */
} forms[] = {
    {"init", "", sct_ptx_op_mbarrier_init, D_NONE, S_32, 0, false, false},
    {"inval", "", sct_ptx_op_mbarrier_inval, D_NONE, S_NONE, 0, false, false},
    {"expect_tx", "", sct_ptx_op_mbarrier_expect, D_NONE, S_32, 0, false, true},
    {"complete_tx", "", sct_ptx_op_mbarrier_complete, D_NONE, S_32, 0, false, true},
    {"arrive", "expect_tx", sct_ptx_op_mbarrier_arrive, D_STATE, S_32, PTX_MBAR_EXPECT_TX, false,
     true},
    {"arrive", "noComplete", sct_ptx_op_mbarrier_arrive, D_STATE, S_32, PTX_MBAR_NO_COMPLETE, false,
     true},
    {"arrive", "", sct_ptx_op_mbarrier_arrive, D_STATE, S_MAY_32, 0, false, true},
    {"arrive_drop", "expect_tx", sct_ptx_op_mbarrier_arrive, D_STATE, S_32,
     PTX_MBAR_EXPECT_TX | PTX_MBAR_DROP, false, true},
    {"arrive_drop", "noComplete", sct_ptx_op_mbarrier_arrive, D_STATE, S_32,
     PTX_MBAR_NO_COMPLETE | PTX_MBAR_DROP, false, true},
    {"arrive_drop", "", sct_ptx_op_mbarrier_arrive, D_STATE, S_MAY_32, PTX_MBAR_DROP, false, true},
    {"test_wait", "parity", sct_ptx_op_mbarrier_wait, D_PRED, S_32, PTX_MBAR_PARITY, false, true},
    {"test_wait", "", sct_ptx_op_mbarrier_wait, D_PRED, S_64, PTX_MBAR_STATE, false, true},
    {"try_wait", "parity", sct_ptx_op_mbarrier_wait, D_PRED, S_32, PTX_MBAR_PARITY, true, true},
    {"try_wait", "", sct_ptx_op_mbarrier_wait, D_PRED, S_64, PTX_MBAR_STATE, true, true},
};

static const struct mbar_form *find_form(ptx_dec *d) {
  for (int i = 0; i < SCT_COUNT(forms); i++) {
    const int before = d->mod;
    if (sct_ptx_dec_take(d, forms[i].name) &&
        (forms[i].variant[0] == '\0' || sct_ptx_dec_take(d, forms[i].variant))) {
      return &forms[i];
    }
    d->mod = before;
  }
  return NULL;
}

/* .sem.scope of the form: any warp of the block sees what another one did, so they change nothing.
 */
static void take_order(ptx_dec *d) {
  static const char *const sems[] = {"relaxed", "acquire", "release"};
  for (int i = 0; i < SCT_COUNT(sems); i++) {
    if (sct_ptx_dec_take(d, sems[i])) {
      break;
    }
  }
  (void)(sct_ptx_dec_take(d, "cta") || sct_ptx_dec_take(d, "cluster"));
}

/* mbarrier.pending_count.b64 count, state */
static bool pending_count(ptx_dec *d) {
  uint32_t to = 0, from = 0;
  if (sct_ptx_dec_take_type(d) != PTX_T_B64) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 2) || !sct_ptx_dec_dest(d, &d->inst->opds[0], '3', &to) ||
      !sct_ptx_dec_source(d, &d->inst->opds[1], '6', PTX_T_B64, &from)) {
    return false;
  }
  return sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_mbarrier_pending, .a = from, .d = to});
}

/* Operands from number `at` on: what the form takes, and the hint. */
static bool mbar_operands(ptx_dec *d, const struct mbar_form *f, int at, uint32_t *source) {
  const ptx_opd *o = d->inst->opds;
  const int n = d->inst->n_opds;
  const bool wants = f->source == S_32 || f->source == S_64 || (f->source == S_MAY_32 && n > at);
  uint32_t hint = 0;
  if (wants && n > at &&
      !sct_ptx_dec_source(d, &o[at], f->source == S_64 ? '6' : '3',
                          f->source == S_64 ? PTX_T_B64 : PTX_T_U32, source)) {
    return false;
  }
  at += wants;
  if (f->hint && n > at) {
    return sct_ptx_dec_count(d, at + 1) && sct_ptx_dec_source(d, &o[at], '3', PTX_T_U32, &hint);
  }
  return sct_ptx_dec_count(d, at) &&
         (wants || f->source == S_NONE || sct_ptx_dec_const(d, 1, false, source));
}

bool sct_ptx_decode_mbarrier(ptx_dec *d) {
  const ptx_opd *o = d->inst->opds;
  uint32_t base = 0, source = 0, dest = 0;
  int64_t imm = 0;
  if (sct_ptx_dec_take(d, "pending_count")) {
    return pending_count(d);
  }
  const struct mbar_form *f = find_form(d);
  if (f == NULL) {
    return sct_ptx_dec_unknown(d);
  }
  if (f->ordered) {
    take_order(d);
  }
  ptx_space space = sct_ptx_dec_take_space(d), seen = PTX_SPACE_NONE;
  if ((space != PTX_SPACE_NONE && space != PTX_SPACE_SHARED) ||
      sct_ptx_dec_take_type(d) != PTX_T_B64) {
    return sct_ptx_dec_unknown(d);
  }
  int at = f->dest != D_NONE;
  const bool no_state = f->dest == D_STATE && d->inst->n_opds > 0 && o[0].kind == PTX_OPD_ADDR;
  at -= no_state; /* arrive.shared::cluster.b64 [bar], as some compilers write it */
  if (d->inst->n_opds <= at) {
    return sct_ptx_dec_fail(d, "an operand is missing");
  }
  if ((at == 1 && !sct_ptx_dec_dest(d, &o[0], f->dest == D_PRED ? 'p' : '6', &dest)) ||
      !sct_ptx_dec_address(d, &o[at], &base, &imm, &seen) ||
      !mbar_operands(d, f, at + 1, &source)) {
    return false;
  }
  sct_ptx_dec_put(d, (ptx_uop){.fn = f->fn,
                               .a = base,
                               .imm = imm,
                               .b = source,
                               .d = no_state ? sct_ptx_dec_temp(d) : dest,
                               .flags = f->flags,
                               .bytes = 8,
                               .n = 1,
                               .space = (uint8_t)(space == PTX_SPACE_NONE ? seen : space)});
  note_shared(d, 8);
  return true;
}

/* cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [bar] */
bool sct_ptx_dec_cp_mbarrier(ptx_dec *d) {
  uint32_t base = 0;
  int64_t imm = 0;
  if (!sct_ptx_dec_take(d, "arrive")) {
    return sct_ptx_dec_unknown(d);
  }
  const bool noinc = sct_ptx_dec_take(d, "noinc");
  ptx_space space = sct_ptx_dec_take_space(d), seen = PTX_SPACE_NONE;
  if ((space != PTX_SPACE_NONE && space != PTX_SPACE_SHARED) ||
      sct_ptx_dec_take_type(d) != PTX_T_B64) {
    return sct_ptx_dec_unknown(d);
  }
  if (!sct_ptx_dec_count(d, 1) || !sct_ptx_dec_address(d, &d->inst->opds[0], &base, &imm, &seen)) {
    return false;
  }
  sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_cp_mbarrier_arrive,
                               .a = base,
                               .imm = imm,
                               .flags = noinc ? PTX_MBAR_NO_COMPLETE : 0,
                               .bytes = 8,
                               .n = 1,
                               .space = (uint8_t)(space == PTX_SPACE_NONE ? seen : space)});
  note_shared(d, 8);
  return true;
}

/* ---- cp.async.bulk */

/* The operand of a cache policy, last of n: it must be there and has no effect. */
static bool bulk_policy(ptx_dec *d, bool hint, int n) {
  uint32_t slot = 0;
  return sct_ptx_dec_count(d, n + hint) &&
         (!hint || sct_ptx_dec_source(d, &d->inst->opds[n], '6', PTX_T_B64, &slot));
}

/* [dst], [src], size and, for a load, [mbar] */
static bool bulk_copy(ptx_dec *d, bool load, bool hint) {
  const ptx_opd *o = d->inst->opds;
  uint32_t to = 0, from = 0, size = 0, mbar = 0;
  ptx_space space = PTX_SPACE_NONE, mbar_space = PTX_SPACE_NONE;
  if (!bulk_policy(d, hint, load ? 4 : 3) || !pointer(d, &o[0], &to, &space) ||
      !pointer(d, &o[1], &from, &space) || !sct_ptx_dec_source(d, &o[2], '3', PTX_T_U32, &size) ||
      (load && !pointer(d, &o[3], &mbar, &mbar_space))) {
    return false;
  }
  ptx_uop *u = sct_ptx_dec_emit(d, load ? sct_ptx_op_bulk_load : sct_ptx_op_bulk_store);
  u->a = load ? from : to;
  u->b = load ? to : from;
  u->c = size;
  u->e = mbar;
  u->space = PTX_SPACE_SHARED; /* of the mbarrier, as of the data */
  d->code->uses_bulk = true;
  sct_ptx_dec_kind(d, load ? PTX_INST_BULK_LOAD : PTX_INST_BULK_STORE, 0);
  return true;
}

static bool bulk_prefetch(ptx_dec *d) {
  uint32_t from = 0, size = 0;
  ptx_space space = PTX_SPACE_NONE;
  if (!sct_ptx_dec_take(d, "L2") || !sct_ptx_dec_take(d, "global")) {
    return sct_ptx_dec_unknown(d);
  }
  if (!bulk_policy(d, sct_ptx_dec_take(d, "L2::cache_hint"), 2) ||
      !pointer(d, &d->inst->opds[0], &from, &space) ||
      !sct_ptx_dec_source(d, &d->inst->opds[1], '3', PTX_T_U32, &size)) {
    return false;
  }
  return sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_bulk_prefetch, .a = from, .c = size});
}

static bool bulk_wait(ptx_dec *d) {
  const bool read = sct_ptx_dec_take(d, "read");
  if (!sct_ptx_dec_count(d, 1) || d->inst->opds[0].kind != PTX_OPD_INT) {
    return sct_ptx_dec_fail(d, "cp.async.bulk.wait_group wants a constant");
  }
  return sct_ptx_dec_put(
      d, (ptx_uop){.fn = sct_ptx_op_bulk_wait, .imm = d->inst->opds[0].imm, .op = read});
}

bool sct_ptx_dec_bulk(ptx_dec *d) {
  const bool to_cluster =
      d->mod < d->inst->n_mods && sct_ptx_span_is(d->inst->mods[d->mod], "shared::cluster");
  if (sct_ptx_dec_take(d, "commit_group")) {
    return sct_ptx_dec_count(d, 0) && sct_ptx_dec_put(d, (ptx_uop){.fn = sct_ptx_op_bulk_commit});
  }
  if (sct_ptx_dec_take(d, "wait_group")) {
    return bulk_wait(d);
  }
  if (sct_ptx_dec_take(d, "tensor")) {
    return sct_ptx_dec_fail(d, "copies by tensor map (cp.async.bulk.tensor) are not supported");
  }
  if (sct_ptx_dec_take(d, "prefetch")) {
    return sct_ptx_dec_take(d, "tensor")
               ? sct_ptx_dec_fail(d, "prefetches by tensor map are not supported")
               : bulk_prefetch(d);
  }
  if (to_cluster ||
      (d->mod < d->inst->n_mods && sct_ptx_span_is(d->inst->mods[d->mod], "shared::cta"))) {
    d->mod++;
    if (sct_ptx_dec_take(d, "shared::cta")) {
      return sct_ptx_dec_fail(d, "copies between the blocks of a cluster are not supported");
    }
    if (!sct_ptx_dec_take(d, "global") || !sct_ptx_dec_take(d, "mbarrier::complete_tx::bytes")) {
      return sct_ptx_dec_unknown(d);
    }
    if (to_cluster && sct_ptx_dec_take(d, "multicast::cluster")) {
      return sct_ptx_dec_fail(d, "copies to several blocks of a cluster are not supported");
    }
    return bulk_copy(d, true, sct_ptx_dec_take(d, "L2::cache_hint"));
  }
  if (!sct_ptx_dec_take(d, "global") || !sct_ptx_dec_take(d, "shared::cta") ||
      !sct_ptx_dec_take(d, "bulk_group")) {
    return sct_ptx_dec_unknown(d);
  }
  const bool hint = sct_ptx_dec_take(d, "L2::cache_hint");
  if (sct_ptx_dec_take(d, "cp_mask")) {
    return sct_ptx_dec_fail(d, "bulk stores with a byte mask (.cp_mask) are not supported");
  }
  return bulk_copy(d, false, hint);
}

/* ---- tex */

bool sct_ptx_decode_tex(ptx_dec *d) {
  return sct_ptx_dec_fail(d, "texture fetches are not supported");
}
