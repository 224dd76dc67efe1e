/* Requests one by one: all of a launch for whoever watches it, and one of each instruction, to be
 * drawn: that with most active lanes; of several such that of the block nearest to the middle of
 * the grid, where borders change nothing; of a block the first. So it is the same for every number
 * of host threads. */
#include "ptx/exec/ptx_exec.h"

#include <string.h>

static int64_t from_middle(int64_t block, int64_t n_blocks) {
  return block > n_blocks / 2 ? block - n_blocks / 2 : n_blocks / 2 - block;
}

/* Is a request of `mask` in `block` to be kept in the place of `old`? */
static bool is_better(const sct_ptx_request *old, uint32_t mask, int64_t block, int64_t n_blocks) {
  const int lanes = __builtin_popcount(mask), before = __builtin_popcount(old->mask);
  if (lanes != before || block == old->block) {
    return lanes > before;
  }
  const int64_t here = from_middle(block, n_blocks), there = from_middle(old->block, n_blocks);
  return here < there || (here == there && block < old->block);
}

static int64_t blocks_of(const ptx_launch *l) {
  return l->grid[0] * l->grid[1] * l->grid[2];
}

static sct_ptx_request request_of(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  static const char *const names[] = {
      [PTX_READ] = "load", [PTX_WRITE] = "store", [PTX_ATOMIC] = "atomic"};
  const ptx_buf *buf = ptx_memory_window(x->launch->memory, acc->addr[ptx_first_lane(acc->mask)]);
  sct_ptx_request r = {.mask = acc->mask,
                       .width = acc->width,
                       .block = x->block_index,
                       .warp = x->warp->index,
                       .line = x->code->insts[u->inst].user.line,
                       .access = names[acc->dir],
                       .buffer = buf ? buf->name : NULL,
                       .base = buf ? buf->base : 0};
  memcpy(r.address, acc->addr, sizeof r.address);
  return r;
}

void sct_ptx_keep_request(ptx_exec *x, const ptx_uop *u, sct_ptx_request *to,
                          const ptx_access *acc) {
  if (is_better(to, acc->mask, x->block_index, blocks_of(x->launch))) {
    *to = request_of(x, u, acc);
  }
}

void sct_ptx_pass_request(ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  const sct_ptx_watch *watch = x->launch->opts->watch;
  const sct_ptx_request r = request_of(x, u, acc);
  watch->request(watch->ctx, &r);
}

void sct_ptx_pass_bulk(ptx_exec *x, const ptx_uop *u, uint64_t address, int64_t bytes, bool load) {
  const sct_ptx_watch *watch = x->launch->opts->watch;
  const ptx_access acc = {.addr = {address}, .mask = 1, .width = (int)bytes};
  sct_ptx_request r = request_of(x, u, &acc);
  r.access = load ? "bulk load" : "bulk store";
  watch->request(watch->ctx, &r);
}

static void merge(sct_ptx_request *to, const sct_ptx_request *from, int64_t n_blocks) {
  if (is_better(to, from->mask, from->block, n_blocks)) {
    *to = *from;
  }
}

void sct_ptx_merge_requests(sct_ptx_requests *to, const ptx_exec *x) {
  for (size_t i = 0; i < x->code->n_insts; i++) {
    merge(&to[i].global, &x->requests[i].global, blocks_of(x->launch));
    merge(&to[i].shared, &x->requests[i].shared, blocks_of(x->launch));
  }
}
