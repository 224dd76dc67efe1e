/* Every form of mbarrier, cp.async.mbarrier and cp.async.bulk as hand-written PTX, random sequences
 * of arrivals and bytes against a model of the phases, and forms that do not exist. */
#include "ptx_kernel.h"

#include "base/base.h"

#define BODY(text)                                                                                 \
  PTX_KERNEL ".shared .align 16 .b8 data[256];\n.shared .align 8 .b64 bar[4];\n"                   \
             ".reg .b32 %b, %t;\n.reg .b64 %g, %s, %gt;\n"                                         \
             "mov.u32 %b, bar;\nmov.u32 %t, data;\nmov.u64 %g, bar;\ncvta.shared.u64 %g, %g;\n"    \
             "mov.u32 %r0, 0;\nmov.u32 %r1, 1;\n" text "\nst.global.u32 [%po], %r0;\nret;\n}\n"
#define IS(p) "selp.u32 %r0, 1, 0, " p ";"

typedef struct row {
  const char *ptx;
  sct_ptx_kind kind;
  uint32_t out;     /* in every thread */
  const char *text; /* of the diagnosis */
  int threads;
} row;

#define OK(body, out)                                                                              \
  { BODY(body), SCT_PTX_CLEAN, out, "", 1 }
#define BAD(body, kind, text)                                                                      \
  { BODY(body), SCT_PTX_##kind, 0, text, 1 }

static const row rows[] = {
    /* pending count before each arrival; spaces, scopes and addresses */
    OK("mbarrier.init.shared::cta.b64 [bar], 5; mbarrier.arrive.shared::cta.b64 %d0, [bar];"
       "mbarrier.pending_count.b64 %r0, %d0;",
       5),
    OK("mbarrier.init.shared.b64 [%b+8], 5; mbarrier.arrive.shared.b64 %d0, [bar+8], 2;"
       "mbarrier.arrive.release.cta.shared::cta.b64 %d0, [%b+8];"
       "mbarrier.pending_count.b64 %r0, %d0;",
       3),
    OK("mbarrier.init.b64 [%g+8], 9; mbarrier.arrive.release.cluster.b64 %d0, [%g+8], 4;"
       "mbarrier.arrive.b64 %d0, [%g+8]; mbarrier.pending_count.b64 %r0, %d0;",
       5),
    OK("mbarrier.init.b64 [bar], 9; mbarrier.arrive.shared::cluster.b64 _, [%b], 4;"
       "mbarrier.arrive.relaxed.cta.shared.b64 %d0, [%b]; mbarrier.pending_count.b64 %r0, %d0;",
       5),
    OK("mbarrier.init.shared.b64 [%b], 7; mbarrier.arrive.noComplete.release.cta.shared::cta.b64 "
       "%d0, [%b], 6; mbarrier.arrive.shared.b64 %d0, [%b]; mbarrier.pending_count.b64 %r0, %d0;",
       1),
    /* arrive_drop: one less in the next phase, too */
    OK("mbarrier.init.shared.b64 [%b], 3; mbarrier.arrive_drop.shared.b64 %d0, [%b];"
       "mbarrier.arrive.shared.b64 %d0, [%b], 2; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mbarrier.pending_count.b64 %r0, %d0;",
       2),
    OK("mbarrier.init.shared.b64 [%b], 6;"
       "mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %d0, [%b], 2;"
       "mbarrier.arrive_drop.expect_tx.shared::cta.b64 %d0, [%b], 0;"
       "mbarrier.arrive_drop.release.cta.shared::cta.b64 %d0, [%b], 2;"
       "mbarrier.arrive.shared.b64 %d0, [%b]; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mbarrier.pending_count.b64 %r0, %d0;",
       1),
    /* waits by state and by parity, before and after the phase ends */
    OK("mbarrier.init.shared.b64 [%b], 2; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mbarrier.test_wait.shared.b64 %p1, [%b], %d0;" IS("%p1"),
       0),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mbarrier.test_wait.acquire.cta.shared::cta.b64 %p1, [%b], %d0;" IS("%p1"),
       1),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mbarrier.try_wait.shared::cta.b64 %p1, [%b], %d0;" IS("%p1"),
       1),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p1, [%b], %d0, 1000;" IS("%p1"),
       1),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.test_wait.parity.shared.b64 %p1, [%b], 0;" IS(
           "%p1"),
       0),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.test_wait.parity.shared.b64 %p1, [%b], 1;" IS(
           "%p1"),
       1),
    OK("mbarrier.init.b64 [%g], 1; mbarrier.arrive.b64 %d0, [%g];"
       "mbarrier.try_wait.parity.b64 %p1, [%g], 0;" IS("%p1"),
       1),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mov.u32 %r2, 20; mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [%b], %r1, "
       "%r2;" IS("%p1"),
       0),
    /* bytes: the phase ends with the last arrival or the last byte */
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.expect_tx.shared::cta.b64 %d0, [%b], 64;"
       "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%b], 48;"
       "mbarrier.test_wait.shared.b64 %p1, [%b], %d0;" IS("%p1"),
       0),
    OK("mbarrier.init.shared.b64 [%b], 1;"
       "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %d0, [%b], 64;"
       "mbarrier.complete_tx.shared::cta.b64 [%b], 48;"
       "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%b], 16;"
       "mbarrier.test_wait.shared.b64 %p1, [%b], %d0;" IS("%p1"),
       1),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.complete_tx.shared::cta.b64 [%b], 16;"
       "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], 16;"
       "mbarrier.arrive.shared.b64 %d0, [%b]; mbarrier.test_wait.shared.b64 %p1, [%b], %d0;" IS(
           "%p1"),
       1),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.inval.shared::cta.b64 [%b];"
       "mbarrier.init.shared.b64 [%b], 3; mbarrier.inval.shared.b64 [%b];"
       "mbarrier.init.b64 [%g], 2; mbarrier.inval.b64 [%g];"
       "mbarrier.init.shared.b64 [%b], 4; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mbarrier.pending_count.b64 %r0, %d0;",
       4),
    /* after one life with an odd number of phases the next one begins with parity 0 */
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mbarrier.inval.shared.b64 [%b]; mbarrier.init.shared.b64 [%b], 1;"
       "mbarrier.test_wait.parity.shared.b64 %p1, [%b], 0;" IS("%p1"),
       0),
    /* limits */
    OK("mbarrier.init.shared.b64 [%b], 1048575; mbarrier.arrive.shared.b64 %d0, [%b], 1048574;"
       "mbarrier.arrive.shared.b64 %d0, [%b]; mbarrier.pending_count.b64 %r0, %d0;",
       1),
    BAD("mbarrier.init.shared.b64 [%b], 1048576;", BAD_OPERAND, "count is 1048576"),
    BAD("mbarrier.init.shared.b64 [%b], 0;", BAD_OPERAND, "count is 0"),
    BAD("mbarrier.init.shared.b64 [%b], %r9;", UNDEFINED_BRANCH, "count was never set"),
    BAD("mbarrier.init.shared.b64 [%r9], 1;", UNDEFINED_ADDRESS, ""),
    BAD("mbarrier.init.shared.b64 [%b+4], 1;", MISALIGNED, "4 bytes past a multiple of 8"),
    BAD("mbarrier.init.shared.b64 [%b+32], 1;", OUT_OF_BOUNDS, "offset 32 of shared 'bar'"),
    BAD("mbarrier.init.b64 [%in], 1;", MBARRIER, "which is not in shared memory"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %d0, [%b], 2;", MBARRIER,
        "gets 2 arrivals in phase 0, which waits for 1 more"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %d0, [%b], 0;", BAD_OPERAND,
        "arrival count is 0"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.expect_tx.shared.b64 [%b], 1048575;"
        "mbarrier.expect_tx.shared.b64 [%b], 1;",
        MBARRIER, "would wait for 1048576 bytes"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.noComplete.shared.b64 %d0, [%b], 1;",
        MBARRIER, "ends phase 0 by an arrival with .noComplete"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.test_wait.parity.shared.b64 %p1, [%b], 2;",
        BAD_OPERAND, "parity of a phase is 2"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.test_wait.parity.shared.b64 %p1, [%b], %r9;",
        UNDEFINED_BRANCH, "parity was never set"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.test_wait.shared.b64 %p1, [%b], %d9;",
        UNDEFINED_BRANCH, "state was never set"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.init.shared.b64 [%b+8], 1;"
        "mbarrier.arrive.shared.b64 %d0, [%b]; mbarrier.test_wait.shared.b64 %p1, [%b+8], %d0;",
        MBARRIER, "with a state that it never gave"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %d0, [%b];"
        "mbarrier.arrive.shared.b64 %d1, [%b]; mbarrier.test_wait.shared.b64 %p1, [%b], %d0;",
        MBARRIER, "with the state of phase 0, but phase 2 is on"),
    BAD("mbarrier.inval.shared.b64 [%b];", MBARRIER, "before mbarrier.init"),
    BAD("mbarrier.init.shared.b64 [%b], 1; st.shared.u32 [%b+4], %r0;"
        "mbarrier.test_wait.parity.shared.b64 %p1, [%b], 0;",
        MBARRIER, "overwritten by a plain store"),
    /* cp.async.mbarrier.arrive */
    OK("mbarrier.init.shared.b64 [%b], 1; cp.async.ca.shared.global [%t], [%pi], 4;"
       "cp.async.mbarrier.arrive.noinc.shared.b64 [%b];"
       "A: mbarrier.test_wait.parity.shared.b64 %p1, [%b], 0; @!%p1 bra A;"
       "ld.shared.u32 %r0, [%t];",
       7),
    OK("mbarrier.init.shared.b64 [%b], 1; cp.async.ca.shared.global [%t], [%pi], 4;"
       "cp.async.mbarrier.arrive.b64 [%g]; mbarrier.arrive.shared.b64 %d0, [%b];"
       "mbarrier.test_wait.shared.b64 %p1, [%b], %d0; ld.shared.u32 %r0, [%t];",
       7),
    OK("mbarrier.init.shared.b64 [%b], 1; cp.async.ca.shared.global [%t], [%pi], 4;" /* both ways */
       "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%b]; cp.async.wait_all;"
       "ld.shared.u32 %r0, [%t];",
       7),
    BAD("mbarrier.init.shared.b64 [%b], 1; cp.async.ca.shared.global [%t], [%pi], 4;"
        "cp.async.mbarrier.arrive.noinc.b64 [%g]; ld.shared.u32 %r0, [%t];",
        ASYNC_EARLY, ""),
    BAD("mbarrier.init.shared.b64 [%b], 2; cp.async.ca.shared.global [%t], [%pi], 4;"
        "cp.async.mbarrier.arrive.noinc.b64 [%g];"
        "mbarrier.test_wait.parity.shared.b64 %p1, [%b], 1; ld.shared.u32 %r0, [%t];",
        ASYNC_EARLY, "reads 4 bytes"),
    BAD("cp.async.mbarrier.arrive.noinc.shared.b64 [%b];", MBARRIER, "before mbarrier.init"),
    BAD("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.expect_tx.shared.b64 %d0, [%b], 16;"
        "cp.async.mbarrier.arrive.noinc.shared.b64 [%b];",
        MBARRIER, "which waits for none"),
    /* cp.async.bulk */
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.expect_tx.shared.b64 %d0, [%b], 32;"
       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%t+16], [%in+16], 32, "
       "[%b];"
       "mbarrier.try_wait.shared.b64 %p1, [%b], %d0; ld.shared.u32 %r0, [%t+44];",
       22),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.expect_tx.shared.b64 %d0, [%b], 32;"
       "mov.u32 %r2, 32; mov.u64 %d1, 0;"
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [data], "
       "[%in], "
       "%r2, [bar], %d1; mbarrier.try_wait.shared.b64 %p1, [%b], %d0; ld.shared.u32 %r0, "
       "[data+28];",
       14),
    OK("mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.shared.b64 %d0, [%b];" /* no bytes */
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [data], [%in], 0, [bar];",
       0),
    /* the copy is there, the phase is not over: a wait for the phase before delivers nothing */
    BAD("mbarrier.init.shared.b64 [%b], 2; mbarrier.arrive.expect_tx.shared.b64 %d0, [%b], 16;"
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%t], [%in], 16, [%b];"
        "mbarrier.test_wait.parity.shared.b64 %p1, [%b], 0;"
        "mbarrier.test_wait.parity.shared.b64 %p1, [%b], 1; ld.shared.u32 %r0, [%t];",
        ASYNC_EARLY, "reads 4 bytes"),
    OK("mov.u32 %r0, 3; st.shared.u32 [%t], %r0; st.shared.u32 [%t+4], %r0;"
       "st.shared.u32 [%t+8], %r0; st.shared.u32 [%t+12], %r0; fence.proxy.async;"
       "cp.async.bulk.global.shared::cta.bulk_group [%out], [%t], 16; cp.async.bulk.commit_group;"
       "cp.async.bulk.wait_group 0; ld.global.u32 %r0, [%out];",
       3),
    OK("mov.u32 %r0, 3; mov.u64 %d1, 0; st.shared.v4.u32 [%t], {%r0, %r0, %r0, %r0};"
       "fence.proxy.async.shared::cta;"
       "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%out], [%t], 16, %d1;"
       "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; mov.u32 %r0, 9;"
       "st.shared.u32 [%t], %r0; cp.async.bulk.wait_group 0; ld.global.u32 %r0, [%out];",
       3),
    OK("cp.async.bulk.prefetch.L2.global [%in], 64;"
       "mov.u64 %d1, 0; cp.async.bulk.prefetch.L2.global.L2::cache_hint [%in], 64, %d1;",
       0),
    BAD("cp.async.bulk.prefetch.L2.global [%in], 60;", BAD_OPERAND, "60 bytes"),
    BAD("cp.async.bulk.prefetch.L2.global [%in+4], 64;", MISALIGNED, "4 bytes past"),
    BAD("cp.async.bulk.prefetch.L2.global [%in+16], 256;", OUT_OF_BOUNDS, "reads 256 bytes"),
    BAD("mov.u32 %r0, 3; st.shared.v4.u32 [%t], {%r0, %r0, %r0, %r0}; fence.proxy.async.global;"
        "cp.async.bulk.global.shared::cta.bulk_group [%out], [%t], 16;",
        PROXY_FENCE, "no fence.proxy.async"),
    BAD("mov.u32 %r0, 3; fence.proxy.async; st.shared.v4.u32 [%t], {%r0, %r0, %r0, %r0};"
        "cp.async.bulk.global.shared::cta.bulk_group [%out], [%t], 16;",
        PROXY_FENCE, "what warp 0 wrote"),
    BAD("mov.u32 %r0, 3; st.shared.v4.u32 [%t], {%r0, %r0, %r0, %r0}; fence.proxy.async;"
        "cp.async.bulk.global.shared::cta.bulk_group [%out], [%t], 16; cp.async.bulk.commit_group;"
        "red.shared.add.u32 [%t+12], 1; cp.async.bulk.wait_group 0;",
        ASYNC_EARLY, "updates 4 bytes that a bulk store may still read"),
    BAD("mov.u32 %r0, 3; st.shared.v4.u32 [%t], {%r0, %r0, %r0, %r0}; fence.proxy.async;"
        "cp.async.bulk.global.shared::cta.bulk_group [%out], [%t], 16; cp.async.bulk.commit_group;"
        "mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.expect_tx.shared.b64 %d0, [%b], 16;"
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%t], [%in], 16, [%b];",
        ASYNC_EARLY, "an earlier asynchronous copy may still read"),
    BAD("cp.async.bulk.global.shared::cta.bulk_group [%out], [%r9], 16;", UNDEFINED_ADDRESS,
        "shared address of a bulk copy"),
    BAD("cp.async.bulk.global.shared::cta.bulk_group [%out], [%t], %r9;", UNDEFINED_ADDRESS,
        "size of a bulk copy"),
};

static void check_row(int k, const row *r) {
  uint32_t in[64], out[64];
  sct_ptx_result result;
  for (int i = 0; i < SCT_COUNT(in); i++) {
    in[i] = i == 0 ? 7 : (uint32_t)(2 * i);
  }
  const kernel_run run = {.blocks = 1,
                          .threads = r->threads,
                          .in = in,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .out_zero = true};
  const sct_ptx_kind kind = run_kernel(r->ptx, &run, out, &result);
  if (kind != r->kind || strstr(result.diag.text, r->text) == NULL ||
      (kind == SCT_PTX_CLEAN && out[0] != r->out)) {
    fail_msg("row %d: %s \"%s\", %u; expected %s \"%s\", %u", k, sct_ptx_kind_name(kind),
             result.diag.text, out[0], sct_ptx_kind_name(r->kind), r->text, r->out);
  }
  sct_ptx_result_free(&result);
}

static void every_form(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(rows); k++) {
    check_row(k, &rows[k]);
  }
}

/* ---- random sequences against a model */

typedef struct model {
  int expected, pending, tx, phase;
} model;

static void end_phase(model *m) {
  if (m->pending == 0 && m->tx == 0) {
    m->phase++;
    m->pending = m->expected;
  }
}

static int pick(uint64_t seed, int k, int from, int to) {
  return from + (int)(sct_mix64(seed, (uint64_t)k) % (uint64_t)(to - from + 1));
}

/* One legal operation: its PTX, and what the pending count of the state must be (-1: no state). */
static int operate(sct_str *ptx, model *m, uint64_t seed) {
  const int kind = m->pending == 0 ? 5 : pick(seed, 0, 0, 5), before = m->pending;
  const int n = m->pending > 0 ? pick(seed, 1, 1, m->pending) : 0;
  switch (kind) {
  case 0:
    sct_str_printf(ptx, "mbarrier.arrive.shared.b64 %%d0, [%%b], %d;\n", n);
    m->pending -= n;
    break;
  case 1:
    sct_str_append(ptx, "mbarrier.arrive.expect_tx.shared.b64 %d0, [%b], 32;\n");
    m->pending--;
    m->tx += 32;
    break;
  case 2:
    if (m->expected - n < 1) {
      return -1;
    }
    sct_str_printf(ptx, "mbarrier.arrive_drop.shared.b64 %%d0, [%%b], %d;\n", n);
    m->pending -= n;
    m->expected -= n;
    break;
  case 3:
    sct_str_append(ptx, "mbarrier.expect_tx.shared.b64 [%b], 16;\n");
    m->tx += 16;
    return -1;
  case 4: /* before they are expected */
    sct_str_append(ptx, "mbarrier.complete_tx.shared.b64 [%b], 16;\n");
    m->tx -= 16;
    end_phase(m);
    return -1;
  default:
    if (m->tx > 0) {
      const int bytes = pick(seed, 2, 1, m->tx);
      sct_str_printf(ptx, "mbarrier.complete_tx.shared.b64 [%%b], %d;\n", bytes);
      m->tx -= bytes;
    } else {
      sct_str_printf(ptx, "mbarrier.expect_tx.shared.b64 [%%b], %d;\n", -m->tx);
      m->tx = 0;
    }
    end_phase(m);
    return -1;
  }
  end_phase(m);
  return before;
}

static void phases_follow_the_model(void **state) {
  (void)state;
  enum { STEPS = 40 };
  for (uint64_t seed = 1; seed <= 60; seed++) {
    sct_str ptx = {0};
    uint32_t expected[STEPS], out[STEPS];
    model m = {.expected = pick(seed, 0, 1, 9)};
    m.pending = m.expected;
    sct_str_append(&ptx,
                   PTX_KERNEL ".shared .align 8 .b64 bar;\n.reg .b32 %b;\nmov.u32 %b, bar;\n");
    sct_str_printf(&ptx, "mbarrier.init.shared.b64 [%%b], %d;\n", m.expected);
    for (int k = 0; k < STEPS; k++) {
      const int before = operate(&ptx, &m, sct_mix64(seed, (uint64_t)k));
      if (before >= 0) {
        sct_str_append(&ptx, "mbarrier.pending_count.b64 %r0, %d0;\n");
      } else {
        sct_str_append(&ptx, "mov.u32 %r0, 0;\n");
      }
      sct_str_printf(&ptx,
                     "mbarrier.test_wait.parity.shared.b64 %%p0, [%%b], 0;\n"
                     "selp.u32 %%r1, 256, 0, %%p0;\nadd.u32 %%r0, %%r0, %%r1;\n"
                     "st.global.u32 [%%out+%d], %%r0;\n",
                     4 * k);
      expected[k] = (uint32_t)(before > 0 ? before : 0) + (m.phase % 2 == 1 ? 256 : 0);
    }
    sct_str_append(&ptx, "ret;\n}\n");
    const kernel_run run = {.blocks = 1, .threads = 1, .in = out, .out_bytes = sizeof out};
    assert_int_equal(run_kernel(sct_str_c(&ptx), &run, out, NULL), SCT_PTX_CLEAN);
    for (int k = 0; k < STEPS; k++) {
      if (out[k] != expected[k]) {
        fail_msg("seed %d, step %d: %u instead of %u\n%s", (int)seed, k, out[k], expected[k],
                 sct_str_c(&ptx));
      }
    }
    sct_str_free(&ptx);
  }
}

/* ---- lanes and warps */

/* Every lane of every warp arrives: the phases end as often as the arrivals allow. */
static void lanes_arrive_one_by_one(void **state) {
  (void)state;
  static const char text[] =
      PTX_KERNEL ".shared .align 8 .b64 bar;\n.reg .b32 %b;\nmov.u32 %b, bar;\n"
                 "setp.eq.u32 %p1, %i, 0;\n@%p1 mbarrier.init.shared.b64 [%b], 24;\nbar.sync 0;\n"
                 "mbarrier.arrive.shared.b64 %d0, [%b];\nmbarrier.pending_count.b64 %r0, %d0;\n"
                 "st.global.u32 [%po], %r0;\nret;\n}\n";
  uint32_t out[96];
  const kernel_run run = {.blocks = 1, .threads = 96, .in = out, .out_bytes = sizeof out};
  assert_int_equal(run_kernel(text, &run, out, NULL), SCT_PTX_CLEAN);
  for (int i = 0; i < 96; i++) {
    assert_int_equal(out[i], 24 - i % 24);
  }
}

/* Half of a warp waits for what the other half does behind the same branch. */
static void parted_lanes_go_on_while_others_wait(void **state) {
  (void)state;
  static const char text[] =
      PTX_KERNEL ".shared .align 8 .b64 bar;\n.reg .b32 %b;\nmov.u32 %b, bar;\n"
                 "setp.eq.u32 %p1, %i, 0;\n@%p1 mbarrier.init.shared.b64 [%b], 16;\nbar.sync 0;\n"
                 "setp.ge.u32 %p2, %i, 16;\nmov.u32 %r0, 1;\n@%p2 bra LAST;\n"
                 "mbarrier.arrive.shared.b64 %d0, [%b];\n"
                 "B: mbarrier.try_wait.parity.shared.b64 %p3, [%b], 0;\n@!%p3 bra B;\nbra DONE;\n"
                 "LAST: mov.u32 %r0, 2;\n"
                 "A: mbarrier.try_wait.parity.shared.b64 %p3, [%b], 0;\n@!%p3 bra A;\n"
                 "DONE: st.global.u32 [%po], %r0;\nret;\n}\n";
  uint32_t out[32];
  const kernel_run run = {.blocks = 1, .threads = 32, .in = out, .out_bytes = sizeof out};
  assert_int_equal(run_kernel(text, &run, out, NULL), SCT_PTX_CLEAN);
  for (int i = 0; i < 32; i++) {
    assert_int_equal(out[i], i < 16 ? 1 : 2);
  }
}

/* A warp that computes for long between its polls is not stuck, and one that spins is cheap. */
static void a_slow_warp_is_no_deadlock(void **state) {
  (void)state;
  static const char text[] =
      PTX_KERNEL ".shared .align 8 .b64 bar;\n.reg .b32 %b;\nmov.u32 %b, bar;\n"
                 "setp.eq.u32 %p1, %i, 0;\n@%p1 mbarrier.init.shared.b64 [%b], 32;\nbar.sync 0;\n"
                 "setp.lt.u32 %p2, %i, 32;\n@%p2 bra WORK;\n"
                 "A: mbarrier.try_wait.parity.shared.b64 %p3, [%b], 0;\n@!%p3 bra A;\nbra DONE;\n"
                 "WORK: mov.u32 %r0, 0;\n"
                 "L: add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p4, %r0, 200000;\n@%p4 bra L;\n"
                 "mbarrier.arrive.shared.b64 %d0, [%b];\n"
                 "DONE: st.global.u32 [%po], %i;\nret;\n}\n";
  uint32_t out[64];
  sct_ptx_result result;
  const kernel_run run = {.blocks = 1, .threads = 64, .in = out, .out_bytes = sizeof out};
  assert_int_equal(run_kernel(text, &run, out, &result), SCT_PTX_CLEAN);
  assert_true(result.counters.warp_instructions < 602000); /* 600,000 are the work */
  sct_ptx_result_free(&result);
}

/* Polls a thousand times and more, with work in between, before it does what the others wait for.
 */
static void polling_at_work_is_no_deadlock(void **state) {
  (void)state;
  static const char text[] =
      PTX_KERNEL ".shared .align 8 .b64 bar;\n.reg .b32 %b;\nmov.u32 %b, bar;\n"
                 "setp.eq.u32 %p1, %i, 0;\n@%p1 mbarrier.init.shared.b64 [%b], 32;\nbar.sync 0;\n"
                 "setp.lt.u32 %p2, %i, 32;\nmov.u32 %r0, 0;\n@%p2 bra WORK;\n"
                 "A: mbarrier.try_wait.parity.shared.b64 %p3, [%b], 0;\n@!%p3 bra A;\nbra DONE;\n"
                 "WORK: mov.u32 %r1, 0;\n"
                 "L: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p4, %r1, 30;\n@%p4 bra L;\n"
                 "mbarrier.test_wait.parity.shared.b64 %p3, [%b], 0;\n"
                 "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p4, %r0, 1500;\n@%p4 bra WORK;\n"
                 "mbarrier.arrive.shared.b64 %d0, [%b];\n"
                 "DONE: st.global.u32 [%po], %i;\nret;\n}\n";
  uint32_t out[64];
  const kernel_run run = {.blocks = 1, .threads = 64, .in = out, .out_bytes = sizeof out};
  assert_int_equal(run_kernel(text, &run, out, NULL), SCT_PTX_CLEAN);
}

/* Waits that succeed are no sign of being stuck. */
static void two_barriers_polled_in_turn(void **state) {
  (void)state;
  static const char text[] =
      PTX_KERNEL ".shared .align 8 .b64 bar;\n.reg .b32 %b;\nmov.u32 %b, bar;\nmov.u32 %r0, 0;\n"
                 "mbarrier.init.shared.b64 [%b], 1;\n"
                 "L: mbarrier.test_wait.parity.shared.b64 %p3, [%b], 0;\n"
                 "mbarrier.test_wait.parity.shared.b64 %p4, [%b], 1;\n"
                 "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p5, %r0, 1500;\n@%p5 bra L;\n"
                 "st.global.u32 [%po], %i;\nret;\n}\n";
  uint32_t out[1];
  const kernel_run run = {.blocks = 1, .threads = 1, .in = out, .out_bytes = sizeof out};
  assert_int_equal(run_kernel(text, &run, out, NULL), SCT_PTX_CLEAN);
}

/* ---- what there is not */

static void other_forms_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *ptx, *text;
  } forms[] = {
      {"mbarrier.init.global.b64 [%d0], 1;", "unknown form"},
      {"mbarrier.init.shared.b32 [%d0], 1;", "unknown form"},
      {"mbarrier.arrive.cta.release.shared.b64 %d0, [%d0];", "unknown form"},
      {"mbarrier.arrive.parity.shared.b64 %d0, [%d0];", "unknown form"},
      {"mbarrier.wait.shared.b64 %p0, [%d0], %d0;", "unknown form"},
      {"mbarrier.test_wait.shared.b64 %p0, [%d0], %d0, 5;", "operands"},
      {"mbarrier.init.shared.b64 [%d0];", "operand"},
      {"mbarrier.arrive.expect_tx.shared.b64 %d0, [%d0];", "operand"},
      {"mbarrier.arrive.shared.b64;", "operand"},
      {"mbarrier.inval.shared.b64 [%d0], 3;", "operands"},
      {"mbarrier.pending_count.b64 %d0, %d0;", "width"},
      {"cp.async.mbarrier.wait.shared.b64 [%d0];", "unknown form"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%d0], [%d0, "
       "{%r0, %r0}], [%d0];",
       "cp.async.bulk.tensor) are not supported"},
      {"cp.async.bulk.prefetch.tensor.2d.L2.global [%d0, {%r0, %r0}];", "tensor map"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d0], [%d0], 16;",
       "cp.reduce.async.bulk) are not supported"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
       "[%d0], [%d0], 16, [%d0], %h0;",
       "several blocks of a cluster"},
      {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%d0], [%d0], 16, "
       "[%d0];",
       "between the blocks of a cluster"},
      {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d0], [%d0], 16, %h0;", "byte mask"},
      {"cp.async.bulk.shared::cta.global.bulk_group [%d0], [%d0], 16;", "unknown form"},
      {"cp.async.bulk.global.shared::cta.bulk_group [%d0], [%d0];", "operands"},
      {"cp.async.bulk.wait_group %r0;", "constant"},
  };
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    sct_error err = {0};
    sct_ptx_module *module = NULL;
    sct_str text = {0};
    sct_str_printf(&text,
                   PTX_HEAD ".visible .entry k()\n{\n.reg .pred %%p<2>;\n.reg .b16 %%h<2>;\n"
                            ".reg .b32 %%r<2>;\n.reg .b64 %%d<2>;\n%s\nret;\n}\n",
                   forms[k].ptx);
    if (sct_ptx_parse(&module, sct_str_c(&text), "f.ptx", &err) != SCT_OK) {
      fail_msg("%s: %s", forms[k].ptx, err.text);
    }
    const char *error = sct_ptx_kernel_at(module, 0)->error;
    if (error == NULL || strstr(error, forms[k].text) == NULL ||
        strstr(error, "f.ptx:10: error: kernel 'k'") == NULL) {
      fail_msg("%s: %s", forms[k].ptx, error != NULL ? error : "accepted");
    }
    sct_ptx_module_free(module);
    sct_str_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_form),
                                     cmocka_unit_test(phases_follow_the_model),
                                     cmocka_unit_test(lanes_arrive_one_by_one),
                                     cmocka_unit_test(parted_lanes_go_on_while_others_wait),
                                     cmocka_unit_test(a_slow_warp_is_no_deadlock),
                                     cmocka_unit_test(polling_at_work_is_no_deadlock),
                                     cmocka_unit_test(two_barriers_polled_in_turn),
                                     cmocka_unit_test(other_forms_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
