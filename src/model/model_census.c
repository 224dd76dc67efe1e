/* Whether what was counted from PTX is what the machine executes: the memory instructions of both
 * listings are compared, kind by kind.
 *
 * The rule. A kind is (space, operation, width). Counts are exact if every kind has as many
 * instructions in the machine code as in the PTX, or more of them only by whole copies of loop
 * bodies: there is a number of copies for each innermost loop, the same for all kinds, that
 * explains every kind. Copies change no executed count if the lanes of a warp leave the loop
 * together (then each copy runs with the lanes that the one body had), so a loop that lanes may
 * leave one by one must have one copy. Registers that are spilled and local arrays are not
 * compared: no counter that is called exact sees local memory. A generic access of PTX may be one
 * of any space. */
#include "model/model.h"

#define MAX_TRIALS 100000 /* of the search for copies; beyond: not explained */

/* Kinds in one list. Generic accesses of the PTX may have become those of any space, so of such an
 * operation and width all spaces are one kind (of SCT_MEMOP_GENERIC). */
typedef struct kind {
  sct_memop_space space;
  sct_memop_kind op;
  int width; /* index */
  int32_t ptx, sass;
  int32_t loops[SCT_MEMOP_MAX_LOOPS]; /* of `ptx`, those in each loop */
} kind;

#define MAX_KINDS ((int)SCT_MEMOP_N_SPACES * (int)SCT_MEMOP_N_OPS * (int)SCT_MEMOP_N_WIDTHS)

typedef struct census {
  kind kinds[MAX_KINDS];
  int n_kinds, n_loops;
  bool uniform[SCT_MEMOP_MAX_LOOPS];
  int trials;
} census;

static const char *const space_names[SCT_MEMOP_N_SPACES] = {
    [SCT_MEMOP_GLOBAL] = "global memory",
    [SCT_MEMOP_SHARED] = "shared memory",
    [SCT_MEMOP_LOCAL] = "local memory",
    [SCT_MEMOP_GENERIC] = "memory by generic addresses",
};

static const struct {
  const char *one, *many, *preposition;
} op_names[SCT_MEMOP_N_OPS] = {
    [SCT_MEMOP_LOAD] = {"load", "loads", "from"},
    [SCT_MEMOP_STORE] = {"store", "stores", "to"},
    [SCT_MEMOP_ATOMIC] = {"atomic operation", "atomic operations", "on"},
    [SCT_MEMOP_ASYNC] = {"asynchronous copy", "asynchronous copies", "from"},
};

static void add_space(kind *k, const sct_memops *ptx, const sct_memops *sass,
                      sct_memop_space space) {
  k->ptx += ptx->n[space][k->op][k->width];
  k->sass += sass->n[space][k->op][k->width];
  for (int i = 0; i < ptx->n_loops; i++) {
    k->loops[i] += ptx->loops[i].n[space][k->op][k->width];
  }
}

static void add_kind(census *c, const sct_memops *ptx, const sct_memops *sass, kind k,
                     sct_memop_space first, sct_memop_space last) {
  for (int space = (int)first; space <= (int)last; space++) {
    if (space != SCT_MEMOP_LOCAL) {
      add_space(&k, ptx, sass, (sct_memop_space)space);
    }
  }
  if (k.ptx != 0 || k.sass != 0) {
    c->kinds[c->n_kinds++] = k;
  }
}

static void list_kinds(census *c, const sct_memops *ptx, const sct_memops *sass) {
  for (int op = 0; op < SCT_MEMOP_N_OPS; op++) {
    for (int width = SCT_MEMOP_N_WIDTHS - 1; width >= 0; width--) {
      const bool generic = ptx->n[SCT_MEMOP_GENERIC][op][width] > 0;
      for (int space = generic ? SCT_MEMOP_GENERIC : 0; space < SCT_MEMOP_N_SPACES; space++) {
        const kind k = {.space = (sct_memop_space)space, .op = (sct_memop_kind)op, .width = width};
        add_kind(c, ptx, sass, k, generic ? SCT_MEMOP_GLOBAL : k.space, k.space);
      }
    }
  }
}

/* Extra copies of loops `loop` and up that make every kind come out; `left`: instructions of each
 * kind still to be explained. */
static bool copies_explain(census *c, int loop, int32_t *left) {
  if (++c->trials > MAX_TRIALS) {
    return false;
  }
  int32_t most = loop < c->n_loops && c->uniform[loop] ? INT32_MAX : 0;
  bool any = false, done = true;
  for (int k = 0; k < c->n_kinds; k++) {
    const int32_t here = loop < c->n_loops ? c->kinds[k].loops[loop] : 0;
    done &= left[k] == 0;
    any |= here > 0;
    if (here > 0 && left[k] / here < most) {
      most = left[k] / here;
    }
  }
  if (done || loop == c->n_loops) {
    return done;
  }
  for (int32_t copies = any ? most : 0; copies >= 0; copies--) {
    int32_t rest[MAX_KINDS];
    for (int k = 0; k < c->n_kinds; k++) {
      rest[k] = left[k] - copies * c->kinds[k].loops[loop];
    }
    if (copies_explain(c, loop + 1, rest)) {
      return true;
    }
  }
  return false;
}

static bool in_loop(const census *c, const kind *k, bool uniform) {
  for (int i = 0; i < c->n_loops; i++) {
    if (k->loops[i] > 0 && c->uniform[i] == uniform) {
      return true;
    }
  }
  return false;
}

/* Whether other widths of the same accesses changed the other way. */
static bool traded(const census *c, const kind *k, bool wider) {
  for (int i = 0; i < c->n_kinds; i++) {
    const kind *o = &c->kinds[i];
    const bool other = o->space == k->space && o->op == k->op && o->width != k->width;
    if (other && (o->width > k->width) == wider && (o->sass > o->ptx) == (k->sass < k->ptx) &&
        o->sass != o->ptx) {
      return true;
    }
  }
  return false;
}

static const char *reason(const census *c, const kind *k) {
  if (k->sass < k->ptx) {
    return traded(c, k, true)    ? "accesses were merged into wider ones"
           : traded(c, k, false) ? "accesses were split into narrower ones"
                                 : "accesses were left out or merged";
  }
  return traded(c, k, true)     ? "wider accesses were split"
         : traded(c, k, false)  ? "narrower accesses were merged"
         : in_loop(c, k, false) ? "a loop that lanes may leave one by one was unrolled"
         : in_loop(c, k, true)  ? "code was copied, not only loops unrolled"
                                : "code was copied or accesses were added";
}

static void explain(const census *c, const kind *k, sct_str *cause) {
  const int n = k->sass;
  sct_str_printf(cause,
                 "the machine code has %d %s of %d byte%s %s %s where the PTX has %d: %s; executed "
                 "counts may differ",
                 n, n == 1 ? op_names[k->op].one : op_names[k->op].many, 1 << k->width,
                 k->width == 0 ? "" : "s", op_names[k->op].preposition, space_names[k->space],
                 k->ptx, reason(c, k));
}

static bool waits(const sct_memops *ptx, sct_str *cause) {
  if (ptx->waiting > 0) {
    sct_str_append(cause,
                   "a loop reads global memory until another block has written it: how often "
                   "depends on when the blocks run");
  }
  return ptx->waiting > 0;
}

static bool same_others(const sct_memops *ptx, const sct_memops *sass, sct_str *cause) {
  if (ptx->bulk != sass->bulk) {
    sct_str_printf(
        cause,
        "the machine code has %d bulk copies where the PTX has %d; executed counts may differ",
        sass->bulk, ptx->bulk);
  }
  return ptx->bulk == sass->bulk;
}

bool sct_model_counts_exact(const sct_memops *ptx, const sct_memops *sass, sct_str *cause) {
  census c = {.n_loops = ptx->n_loops};
  int32_t left[MAX_KINDS];
  bool more = true;
  const kind *differs = NULL;
  for (int i = 0; i < c.n_loops; i++) {
    c.uniform[i] = ptx->loops[i].uniform;
  }
  list_kinds(&c, ptx, sass);
  for (int k = 0; k < c.n_kinds; k++) {
    left[k] = c.kinds[k].sass - c.kinds[k].ptx;
    more &= left[k] >= 0;
    differs = differs == NULL && left[k] != 0 ? &c.kinds[k] : differs;
  }
  if (differs != NULL && !(more && copies_explain(&c, 0, left))) {
    explain(&c, differs, cause);
    return false;
  }
  return same_others(ptx, sass, cause) && !waits(ptx, cause);
}
