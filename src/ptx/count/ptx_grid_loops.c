/* Loops that advance by the number of blocks of the grid: what one block does then depends on how
 * many there are, and where a launch has few elements, their bodies run once.
 *
 * In the PTX such a loop adds to a register, once an iteration, something that comes from %nctaid:
 * the register depends on itself, what is added does not depend on it. Registers are followed
 * through arithmetic, not through memory or calls, and without regard to the order of instructions;
 * a loop that only ends at the number of blocks adds none of it. */
#include "ptx/exec/ptx_exec.h"

#include <string.h>

static bool is_grid_size(int sreg) {
  static const char *const names[] = {
#define PTX_SREG(name, wide, changes, value) name,
#include "ptx/decode/ptx_sregs.def"
#undef PTX_SREG
  };
  return sct_has_prefix(names[sreg], "%nctaid.") || sct_has_prefix(names[sreg], "%nclusterid.");
}

typedef struct finder {
  const ptx_code *code;
  const ptx_body *body;
  int32_t first, end; /* its micro-operations */
  uint8_t *by_grid;   /* [n_slots] values that come from the size of the grid */
  uint8_t *follows;   /* [n_slots] values that come from the register that is looked at */
} finder;

/* Arithmetic, whose operands are slots and whose result is in d. */
static bool computes(const finder *f, const ptx_uop *u) {
  return f->code->insts[u->inst].kind == PTX_INST_OTHER && u->d >= PTX_SLOT_REGS &&
         u->d < f->body->n_slots && u->fn != sct_ptx_op_ld_param;
}

static bool reads(const finder *f, const ptx_uop *u, const uint8_t *set) {
  const uint32_t from[] = {u->a, u->b, u->c, u->e};
  bool any = false;
  for (int k = 0; k < SCT_COUNT(from); k++) {
    any |= from[k] >= PTX_SLOT_REGS && from[k] < f->body->n_slots && set[from[k]] != 0;
  }
  return any;
}

/* All that is computed from what is in the set joins it. */
static void close_over(const finder *f, uint8_t *set) {
  for (bool grows = true; grows;) {
    grows = false;
    for (int32_t i = f->first; i < f->end; i++) {
      const ptx_uop *u = &f->code->uops[i];
      if (computes(f, u) && set[u->d] == 0 && reads(f, u, set)) {
        set[u->d] = 1;
        grows = true;
      }
    }
  }
}

/* Whether `u` adds to a register, which it has from an iteration before, a step of the grid. */
static bool steps(const finder *f, const ptx_uop *u) {
  const uint32_t from[] = {u->a, u->b, u->c, u->e};
  bool itself = false, step = false;
  if (!computes(f, u) || !reads(f, u, f->by_grid)) {
    return false;
  }
  memset(f->follows, 0, f->body->n_slots);
  f->follows[u->d] = 1;
  close_over(f, f->follows);
  for (int k = 0; k < SCT_COUNT(from); k++) {
    const uint32_t s = from[k];
    if (s >= PTX_SLOT_REGS && s < f->body->n_slots) {
      itself |= f->follows[s] != 0;
      step |= f->follows[s] == 0 && f->by_grid[s] != 0;
    }
  }
  return itself && step;
}

static bool body_steps(const ptx_code *code, const ptx_body *body, const ptx_loops *loops) {
  const ptx_block *last = &code->blocks[body->entry + body->n_blocks - 1];
  const finder f = {.code = code,
                    .body = body,
                    .first = code->blocks[body->entry].first,
                    .end = last->end,
                    .by_grid = sct_alloc(body->n_slots),
                    .follows = sct_alloc(body->n_slots)};
  bool any = false, found = false;
  for (size_t k = 0; k < body->n_sregs; k++) {
    f.by_grid[body->sregs[k].slot] = is_grid_size(body->sregs[k].sreg);
    any |= is_grid_size(body->sregs[k].sreg);
  }
  if (any) {
    close_over(&f, f.by_grid);
  }
  for (int32_t b = body->entry; any && !found && b < body->entry + body->n_blocks; b++) {
    for (int32_t i = code->blocks[b].first; loops->of[b] >= 0 && i < code->blocks[b].end; i++) {
      found = found || steps(&f, &code->uops[i]);
    }
  }
  sct_free(f.by_grid);
  sct_free(f.follows);
  return found;
}

bool sct_ptx_steps_by_grid(const sct_ptx_module *module, const char *kernel) {
  const ptx_func *f = sct_ptx_func_find(module, kernel);
  ptx_loops loops;
  bool found = false;
  if (f == NULL || f->code == NULL) {
    return false;
  }
  sct_ptx_loops_find(&loops, f->code, NULL);
  for (size_t k = 0; k < f->code->n_bodies && !found; k++) {
    found = body_steps(f->code, &f->code->bodies[k], &loops);
  }
  sct_ptx_loops_free(&loops);
  return found;
}
