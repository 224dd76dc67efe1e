/* Decoders of mbarriers, bulk copies. */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"

/* ---- mbarrier */

enum { D_NONE, D_STATE, D_PRED, D_COUNT }; /* destinations */
enum { S_NONE, S_32, S_MAY_32, S_64 };     /* the operand after the address */

static const struct mbar_form {
  const char *name, *variant; /* variant: modifier after the name, "" none */
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
  (void)sct_ptx_dec_choose(d, "relaxed acquire release");
  (void)sct_ptx_dec_choose(d, "cta cluster");
}

/* {.shared{::cta}}.b64 after the form, and a micro-operation on such an object. */
static bool begin_object(ptx_dec *d, ptx_uop *u) {
  u->space = (uint8_t)sct_ptx_dec_take_space(d);
  u->bytes = 8;
  u->n = 1;
  sct_ptx_dec_record_width(d, PTX_SPACE_SHARED, 8);
  return ((u->space == PTX_SPACE_NONE || u->space == PTX_SPACE_SHARED) &&
          sct_ptx_dec_take_type(d) == PTX_T_B64) ||
         sct_ptx_dec_unknown(d);
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
  if (sct_ptx_dec_take(d, "pending_count")) { /* mbarrier.pending_count.b64 count, state */
    return sct_ptx_dec_take_type(d) == PTX_T_B64
               ? sct_ptx_dec_put_operands(d, "36", PTX_T_B64,
                                          (ptx_uop){.fn = sct_ptx_op_mbarrier_pending})
               : sct_ptx_dec_unknown(d);
  }
  const struct mbar_form *f = find_form(d);
  if (f == NULL) {
    return sct_ptx_dec_unknown(d);
  }
  if (f->ordered) {
    take_order(d);
  }
  ptx_uop u = {.fn = f->fn, .flags = f->flags};
  ptx_space seen = PTX_SPACE_NONE;
  if (!begin_object(d, &u)) {
    return false;
  }
  const bool no_state = f->dest == D_STATE && d->inst->n_opds > 0 && o[0].kind == PTX_OPD_ADDR;
  const int at = f->dest != D_NONE && !no_state; /* arrive.shared::cluster.b64 [bar] has none */
  if (d->inst->n_opds <= at) {
    return sct_ptx_dec_fail(d, "an operand is missing");
  }
  if ((at == 1 && !sct_ptx_dec_dest(d, &o[0], f->dest == D_PRED ? 'p' : '6', &u.d)) ||
      !sct_ptx_dec_address(d, &o[at], &u.a, &u.imm, &seen) || !mbar_operands(d, f, at + 1, &u.b)) {
    return false;
  }
  u.space = u.space == PTX_SPACE_NONE ? (uint8_t)seen : u.space;
  u.d = no_state ? sct_ptx_dec_temp(d) : u.d;
  return sct_ptx_dec_put(d, u);
}

/* cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [bar] */
bool sct_ptx_dec_cp_mbarrier(ptx_dec *d) {
  ptx_uop u = {.fn = sct_ptx_op_cp_mbarrier_arrive};
  if (!sct_ptx_dec_take(d, "arrive")) {
    return sct_ptx_dec_unknown(d);
  }
  u.flags = sct_ptx_dec_take(d, "noinc") ? PTX_MBAR_NO_COMPLETE : 0;
  return begin_object(d, &u) && sct_ptx_dec_put_operands(d, "-A", PTX_T_NONE, u);
}

/* ---- cp.async.bulk */

/* [dst], [src], size and, for a load, [mbar] */
static bool bulk_copy(ptx_dec *d, bool load, bool hint) {
  ptx_uop u = {.fn = load ? sct_ptx_op_bulk_load : sct_ptx_op_bulk_store};
  const char *sig = load ? (hint ? "-@@3@P" : "-@@3@") : (hint ? "-@@3P" : "-@@3");
  if (!sct_ptx_dec_operands(d, sig, PTX_T_U32, &u)) {
    return false;
  }
  const uint32_t to = u.a, from = u.b;
  u.a = load ? from : to; /* the global address */
  u.b = load ? to : from;
  u.space = PTX_SPACE_SHARED; /* of the mbarrier, as of the data */
  d->code->uses_bulk = true;
  sct_ptx_dec_set_kind(d, load ? PTX_INST_BULK_LOAD : PTX_INST_BULK_STORE, 0);
  return sct_ptx_dec_put(d, u);
}

static bool bulk_prefetch(ptx_dec *d) {
  if (!sct_ptx_dec_take(d, "L2") || !sct_ptx_dec_take(d, "global")) {
    return sct_ptx_dec_unknown(d);
  }
  const bool hint = sct_ptx_dec_take(d, "L2::cache_hint");
  return sct_ptx_dec_put_operands(d, hint ? "-@3P" : "-@3", PTX_T_U32,
                                  (ptx_uop){.fn = sct_ptx_op_bulk_prefetch});
}

bool sct_ptx_dec_bulk(ptx_dec *d) {
  const bool to_cluster =
      d->mod < d->inst->n_mods && sct_ptx_span_is(d->inst->mods[d->mod], "shared::cluster");
  if (sct_ptx_dec_take(d, "commit_group")) {
    return sct_ptx_dec_put_operands(d, "", PTX_T_NONE, (ptx_uop){.fn = sct_ptx_op_bulk_commit});
  }
  if (sct_ptx_dec_take(d, "wait_group")) {
    const bool read = sct_ptx_dec_take(d, "read");
    return sct_ptx_dec_wait(d, sct_ptx_op_bulk_wait, read, "cp.async.bulk");
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
