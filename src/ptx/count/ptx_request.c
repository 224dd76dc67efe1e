/* One request of each instruction, to be drawn: that with most active lanes; of several such that
 * of the block nearest to the middle of the grid, where borders change nothing; of a block the
 * first. So it is the same for every number of host threads. */
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

void sct_ptx_keep_request(ptx_exec *x, sct_ptx_request *to, const ptx_access *acc) {
  if (is_better(to, acc->mask, x->block_index, blocks_of(x->launch))) {
    const ptx_buf *buf = ptx_memory_window(x->launch->memory, acc->addr[ptx_first_lane(acc->mask)]);
    *to = (sct_ptx_request){.mask = acc->mask,
                            .width = acc->width,
                            .block = x->block_index,
                            .buffer = buf ? buf->name : NULL};
    memcpy(to->address, acc->addr, sizeof to->address);
  }
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
