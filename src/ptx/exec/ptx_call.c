/* Calls: the callee gets a frame after the caller's in the register file and in local memory; its
 * parameters are copied there and its results back, lane by lane. */
#include "ptx/exec/ptx_exec.h"

static int64_t align16(int64_t v) {
  return (v + 15) / 16 * 16;
}

static int64_t frame_bytes(const ptx_body *b) {
  return align16(b->local_bytes) + align16(b->call_bytes);
}

/* Local memory of one lane: the kernel's frame, and room for the deepest nest of calls. */
int64_t sct_ptx_local_bytes(const ptx_code *c) {
  int64_t deepest = 0;
  for (size_t i = 1; i < c->n_bodies; i++) {
    const int64_t bytes = align16(c->bodies[i].param_bytes) + frame_bytes(&c->bodies[i]);
    deepest = bytes > deepest ? bytes : deepest;
  }
  return frame_bytes(&c->bodies[0]) + (PTX_MAX_FRAMES - 1) * deepest;
}

/* Room for the frame that begins at `base`; the register file may move. */
static void grow_file(ptx_warp *w, size_t need) {
  if (need <= w->n_slots) {
    return;
  }
  const size_t n = need * 2;
  w->regs = sct_realloc(w->regs, n * PTX_SLOT_BYTES);
  w->state = sct_realloc(w->state, n * sizeof(*w->state));
  w->bits = sct_realloc(w->bits, n * PTX_LANES * sizeof(*w->bits));
  w->has_bits = sct_realloc(w->has_bits, n);
  memset(w->regs + w->n_slots * PTX_SLOT_BYTES, 0, (n - w->n_slots) * PTX_SLOT_BYTES);
  if (w->origins != NULL) {
    const size_t before = w->n_slots * PTX_LANES, all = n * PTX_LANES;
    w->origins = sct_realloc(w->origins, all * sizeof(*w->origins));
    memset(w->origins + before, 0, (all - before) * sizeof(*w->origins));
  }
  w->n_slots = n;
}

/* Copies one parameter or result of the lanes of `mask` within local memory. */
static void copy_param(ptx_warp *w, uint32_t mask, int64_t to, int64_t from, int64_t bytes) {
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const int64_t lane = ptx_first_lane(m) * w->local_bytes;
    memmove(w->local + lane + to, w->local + lane + from, (size_t)bytes);
    memmove(w->local_defined + lane + to, w->local_defined + lane + from, (size_t)bytes);
  }
}

int64_t sct_ptx_call_area(const ptx_exec *x, const ptx_frame *f) {
  return f->local_base + align16(x->code->bodies[f->body].local_bytes);
}

/* Body that a function pointer names; -1 after a fault. */
static int32_t pointed_body(ptx_exec *x, const ptx_uop *u, uint64_t pointer, int lane) {
  const uint64_t k = (pointer - PTX_WINDOW(PTX_WINDOW_FUNCS)) / 16;
  if (pointer >> PTX_WINDOW_SHIFT != PTX_WINDOW_FUNCS || k >= x->code->n_bodies) {
    sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, lane, pointer, "call of 0x%llx, which is no function",
                  (unsigned long long)pointer);
    return -1;
  }
  return (int32_t)k;
}

/* Lanes with different function pointers take turns: the block of an indirect call holds nothing
 * else, so it can be run again. */
static bool take_turns(ptx_exec *x, const ptx_uop *u, uint32_t mask, int32_t *body) {
  ptx_warp *w = x->warp;
  const uint64_t *pointer = ptx_r64(x, u->a);
  const int first = ptx_first_lane(mask);
  uint32_t same = 0;
  if ((uint32_t)x->state[u->a] & mask) {
    return sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_BRANCH, first, 0,
                         "the function pointer was never set");
  }
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    same |= (uint32_t)(pointer[ptx_first_lane(m)] == pointer[first]) << ptx_first_lane(m);
  }
  *body = pointed_body(x, u, pointer[first], first);
  if (*body < 0 || same == mask) {
    return *body >= 0;
  }
  const int32_t next = w->paths[w->n_paths - 1].pc;
  if (w->n_paths + 2 > w->cap_paths) {
    return sct_ptx_fault(x, u, SCT_PTX_CALL_DEPTH, first, 0, "branches nested too deep");
  }
  const int32_t again = next - 1; /* blocks of a function stand in order */
  w->paths[w->n_paths++] = (ptx_path){again, next, mask & ~same};
  w->paths[w->n_paths++] = (ptx_path){again, next, same};
  return false;
}

static void grow_paths(ptx_warp *w) {
  if (w->n_paths + PTX_MAX_PATHS <= w->cap_paths) {
    return;
  }
  const int cap = w->cap_paths + 4 * PTX_MAX_PATHS;
  ptx_path *paths = sct_realloc(w->paths, sizeof(*paths) * (size_t)cap);
  w->paths = paths;
  w->cap_paths = cap;
}

static bool push_frame(ptx_exec *x, const ptx_uop *u, uint32_t mask, int32_t body) {
  ptx_warp *w = x->warp;
  const ptx_body *from = &x->code->bodies[x->frame->body], *to = &x->code->bodies[body];
  const size_t slot_base = x->frame->slot_base + from->n_slots;
  if (w->n_frames == PTX_MAX_FRAMES) {
    return sct_ptx_fault(x, u, SCT_PTX_CALL_DEPTH, ptx_first_lane(mask), 0,
                         "calls nested deeper than %d", PTX_MAX_FRAMES);
  }
  grow_file(w, slot_base + to->n_slots);
  grow_paths(w);
  const ptx_frame *caller = &w->frames[w->n_frames - 1];
  ptx_frame *f = &w->frames[w->n_frames];
  *f = (ptx_frame){.body = body,
                   .call = (int32_t)u->imm,
                   .path_base = w->n_paths,
                   .mask = mask,
                   .slot_base = slot_base};
  f->param_base = sct_ptx_call_area(x, caller) + align16(from->call_bytes);
  f->local_base = f->param_base + align16(to->param_bytes);
  w->n_frames++;
  w->paths[w->n_paths++] = (ptx_path){to->entry, -1, mask};
  sct_ptx_fill_consts(x, w, body, slot_base);
  sct_ptx_fill_sregs(x, w, body, slot_base, true);
  sct_ptx_clear_state(x, w, body, slot_base);
  return true;
}

void sct_ptx_call(ptx_exec *x, const ptx_uop *u, uint32_t mask) {
  const ptx_call *c = &x->code->calls[u->imm];
  int32_t body = c->body;
  if (body < 0 && !take_turns(x, u, mask, &body)) {
    return;
  }
  const int64_t args = sct_ptx_call_area(x, x->frame);
  if (!push_frame(x, u, mask, body)) {
    return;
  }
  ptx_warp *w = x->warp;
  const ptx_frame *f = &w->frames[w->n_frames - 1];
  const ptx_func *callee = x->code->bodies[body].func;
  const int64_t top = f->local_base + frame_bytes(&x->code->bodies[body]);
  const uint32_t with_frame =
      top > f->param_base ? mask : 0; /* a kernel may have no local memory */
  for (uint32_t m = with_frame; m != 0; m &= m - 1) {
    memset(w->local_defined + ptx_first_lane(m) * w->local_bytes + f->param_base, 0,
           (size_t)(top - f->param_base));
  }
  for (int i = 0; i < c->n_args && i < callee->n_params; i++) {
    copy_param(w, mask, f->param_base + callee->params[i]->offset, args + c->args[i]->offset,
               callee->params[i]->bytes);
  }
}

void sct_ptx_return(ptx_exec *x) {
  ptx_warp *w = x->warp;
  const ptx_frame *f = &w->frames[w->n_frames - 1], *caller = f - 1;
  const ptx_call *c = &x->code->calls[f->call];
  const ptx_func *callee = x->code->bodies[f->body].func;
  for (int i = 0; i < c->n_rets && i < callee->n_rets; i++) {
    copy_param(w, f->mask & ~w->exited, sct_ptx_call_area(x, caller) + c->rets[i]->offset,
               f->param_base + callee->rets[i]->offset, callee->rets[i]->bytes);
  }
  w->n_frames--;
}

/* At the start of a block local memory is undefined; frames of calls are cleared when they are
 * made. */
void sct_ptx_clear_locals(const ptx_code *c, ptx_warp *w, bool definedness) {
  const int64_t bytes = frame_bytes(&c->bodies[0]);
  for (int64_t lane = 0; lane < PTX_LANES; lane++) {
    memset(w->local_defined + lane * w->local_bytes, definedness ? 0 : 0xff, (size_t)bytes);
  }
}
