/* Findings: where a launch is to say all that is wrong, races and undefined values are kept and the
 * launch goes on. What came before them is followed for that purpose alone: every granule has the
 * instructions that wrote and read it last, every undefined register the load that brought it. */
#include "ptx/exec/ptx_exec.h"

struct ptx_findings {
  sct_ptx_diag *list; /* [n] */
  size_t n, cap;
  int most;
};

ptx_findings *sct_ptx_findings_new(int most) {
  ptx_findings *f = most > 0 ? sct_alloc(sizeof *f) : NULL;
  if (f != NULL) {
    f->most = most;
  }
  return f;
}

/* A place without who was there. */
typedef struct spot {
  const char *file;
  int line, ptx;
} spot;

static spot spot_of(const sct_ptx_diag *d) {
  return (spot){d->file, d->line, d->ptx_line};
}

static spot spot_before(const sct_ptx_diag *d) {
  return (spot){d->before.file, d->before.line, d->before.ptx_line};
}

/* By its line, or by its instruction where the PTX has no lines. */
static bool same(spot a, spot b) {
  return a.line > 0 ? a.line == b.line && strcmp(a.file, b.file) == 0 : a.ptx == b.ptx;
}

/* A race is known by both of its places, whichever came first. */
static bool same_race(const sct_ptx_diag *a, const sct_ptx_diag *b) {
  const spot x = spot_of(a), y = spot_of(b), x_before = spot_before(a), y_before = spot_before(b);
  return (same(x, y) && same(x_before, y_before)) || (same(x, y_before) && same(x_before, y));
}

static bool is_known(const ptx_findings *f, const sct_ptx_diag *d) {
  for (size_t k = 0; k < f->n; k++) {
    const sct_ptx_diag *old = &f->list[k];
    if (ptx_is_race(d->kind) && ptx_is_race(old->kind)
            ? same_race(d, old)
            : d->kind == old->kind && same(spot_of(d), spot_of(old))) {
      return true;
    }
  }
  return false;
}

void sct_ptx_findings_add(ptx_findings *f, const sct_ptx_diag *d) {
  if (f->n < (size_t)f->most && !is_known(f, d)) {
    SCT_GROW(f->list, f->n, f->cap);
    f->list[f->n++] = *d;
  }
}

/* What ended the launch comes last, and takes the last place if there is none left. */
void sct_ptx_findings_end(sct_ptx_result *out, ptx_findings *f) {
  if (f == NULL) {
    return;
  }
  if (out->diag.kind != SCT_PTX_CLEAN && !is_known(f, &out->diag)) {
    f->n -= f->n == (size_t)f->most;
    sct_ptx_findings_add(f, &out->diag);
  }
  out->findings = f->list;
  out->n_findings = (int)f->n;
  sct_free(f);
}

/* ---- what came before */

void sct_ptx_touch(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                   const ptx_part *part) {
  const int shift =
      sct_ptx_granule_shift(part->shared ? x->code->min_shared_bytes : x->code->min_global_bytes);
  ptx_touch *const all = part->shared ? x->shared_touches : part->buf ? part->buf->touches : NULL;
  const bool writes = acc->dir != PTX_READ;
  for (uint32_t m = all == NULL || part->peer != NULL ? 0 : part->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint64_t first = (acc->addr[i] >> shift) - (part->origin >> shift);
    const uint64_t last =
        ((acc->addr[i] + (uint64_t)acc->width - 1) >> shift) - (part->origin >> shift);
    for (uint64_t g = first; g <= last; g++) {
      all[g].inst[writes] = u->inst + 1;
      all[g].lane[writes] = (uint8_t)i;
      all[g].warp[writes] = (uint8_t)x->warp->index;
    }
  }
}

void sct_ptx_before_race(ptx_exec *x, const ptx_part *part, const ptx_touch *t, bool wrote) {
  const bool known = t != NULL && part->peer == NULL && t->inst[wrote] != 0;
  x->before =
      known ? (ptx_before){t->inst[wrote], t->warp[wrote], t->lane[wrote]} : (ptx_before){0};
}

void sct_ptx_origin_set(ptx_exec *x, const ptx_uop *u, uint32_t slot, uint32_t lanes) {
  ptx_warp *w = x->warp;
  if (x->launch->findings == NULL) {
    return;
  }
  if (w->origins == NULL) {
    w->origins = sct_alloc(w->n_slots * PTX_LANES * sizeof *w->origins);
  }
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    w->origins[(x->frame->slot_base + slot) * PTX_LANES + (size_t)ptx_first_lane(m)] = u->inst + 1;
  }
}

/* The first of the operands that is undefined and came from memory. */
void sct_ptx_origin_pass(ptx_exec *x, const ptx_uop *u, uint32_t lanes) {
  const uint32_t from[] = {u->a, u->b, u->c, u->e};
  uint32_t *const all = x->warp->origins;
  const size_t base = x->frame->slot_base;
  for (uint32_t m = all != NULL ? lanes : 0; m != 0; m &= m - 1) {
    const size_t lane = (size_t)ptx_first_lane(m);
    uint32_t origin = 0;
    for (int k = 0; k < SCT_COUNT(from) && origin == 0; k++) {
      const bool undefined = (x->state[from[k]] >> lane & 1) != 0;
      origin = undefined ? all[(base + from[k]) * PTX_LANES + lane] : 0;
    }
    all[(base + u->d) * PTX_LANES + lane] = origin;
  }
}

void sct_ptx_before_undefined(ptx_exec *x, uint32_t slot, int lane) {
  const uint32_t *const all = x->warp->origins;
  const size_t at = (x->frame->slot_base + slot) * PTX_LANES + (size_t)lane;
  x->before =
      all != NULL && all[at] != 0 ? (ptx_before){all[at], x->warp->index, lane} : (ptx_before){0};
}
