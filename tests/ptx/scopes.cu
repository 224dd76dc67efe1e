// Kernels whose blocks talk to each other. Those named ok_ order what they do, each in a way that people write;
// the others lack an order or have one of too narrow a scope: test_ptx_scopes.c says what they must be found guilty
// of, in the lines that say "here". Those named same_ store one value from several places, which is a warning.
// in: n values, read-only; out, aux: n words, all zero; fresh: n words that nobody has set. Blocks of 64 threads.
typedef unsigned int u32;
typedef unsigned long long u64;
#define GID (blockIdx.x * blockDim.x + threadIdx.x)
#define K(name) extern "C" __global__ void name(const u32 *in, u32 *out, u32 *aux, u32 *fresh, int n)
#define CK(name) extern "C" __global__ void __cluster_dims__(2, 1, 1) name(const u32 *in, u32 *out, u32 *aux, u32 *fresh, int n)
#define ASM(...) asm volatile(__VA_ARGS__ : "memory")
__device__ __forceinline__ u32 load_acquire_gpu(const u32 *p) {
  u32 v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ u32 sum_of(const u32 *p, u32 count) {
  u32 all = 0;
  for (u32 b = 0; b < count; b++) all += p[b];
  return all;
}
// what every last block below has in common
#define TICKET(add) if (threadIdx.x == 0) last = add == gridDim.x - 1

// ---- right
K(ok_own_partial) { // thread 0 writes, fences and counts
  __shared__ bool last;
  if (threadIdx.x == 0) {
    fresh[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(&aux[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) out[threadIdx.x] = fresh[threadIdx.x];
}
K(ok_all_fence) { // every thread writes and fences, then thread 0 counts
  __shared__ bool last;
  fresh[GID] = in[GID];
  __threadfence();
  __syncthreads();
  TICKET(atomicAdd(&aux[0], 1));
  __syncthreads();
  if (last) for (u32 i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) out[i] = fresh[i];
}
K(ok_fence_after_barrier) { // thread 0 fences for the block
  __shared__ bool last;
  fresh[GID] = in[GID];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(&aux[0], gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) for (u32 i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) out[i] = fresh[i];
}
K(ok_acq_rel) { // what cuda::atomic_ref makes of fetch_add(1, memory_order_acq_rel)
  __shared__ u32 ticket;
  fresh[GID] = in[GID];
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 t;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(t) : "l"(aux) : "memory");
    ticket = t;
  }
  __syncthreads();
  if (ticket == gridDim.x - 1 && threadIdx.x == 0) out[0] = sum_of(fresh, gridDim.x * 64);
}
K(ok_seq_cst) { // and of memory_order_seq_cst
  __shared__ u32 ticket;
  fresh[GID] = in[GID];
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 t;
    ASM("fence.sc.gpu;" ::);
    asm volatile("atom.add.acquire.gpu.global.u32 %0, [%1], 1;" : "=r"(t) : "l"(aux) : "memory");
    ticket = t;
  }
  __syncthreads();
  if (ticket == gridDim.x - 1 && threadIdx.x == 0) out[0] = sum_of(fresh, gridDim.x * 64);
}
K(ok_counter_reset) { // the last block resets what all have counted on
  __shared__ bool last;
  if (threadIdx.x == 0) {
    atomicAdd(&aux[1], in[blockIdx.x]);
    __threadfence();
    last = atomicAdd(&aux[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    out[0] = aux[1];
    aux[0] = 0;
    aux[1] = 0;
  }
}
// all blocks read what the last one overwrites
K(ok_last_overwrites) {
  __shared__ bool last;
  out[1 + GID] = aux[63];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&aux[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) aux[63] = 7;
}
K(ok_chain) { // one block after the other by flags; each takes what the one before left
  if (threadIdx.x == 0) {
    const u32 t = atomicAdd(&aux[0], 1);
    while (t > 0 && load_acquire_gpu(&aux[t]) == 0) {
    }
    fresh[t] = t == 0 ? in[0] : fresh[t - 1] + in[t];
    if (t > 1) fresh[t] += fresh[0] - in[0]; // by way of others
    ASM("st.release.gpu.global.u32 [%0], 1;" ::"l"(&aux[t + 1]));
  }
}
K(ok_spin_lock) { // a lock as books have it
  if (threadIdx.x == 0) {
    while (atomicCAS(&aux[0], 0u, 1u) != 0) {
    }
    __threadfence();
    out[0] += in[blockIdx.x];
    out[1]++;
    __threadfence();
    atomicExch(&aux[0], 0u);
  }
}
K(ok_cas_max) {
  u32 old = out[0], seen;
  while (old < in[GID]) {
    seen = old;
    old = atomicCAS(&out[0], seen, in[GID]);
    if (old == seen) break;
  }
}
K(ok_volatile_cas) { // the loop reads by itself
  u32 seen, old = *(volatile u32 *)&out[0];
  do {
    seen = old;
    old = atomicCAS(&out[0], seen, seen + in[GID]);
  } while (old != seen);
}
K(ok_volatile_partials) { // the sample of the programming guide
  __shared__ bool last;
  volatile u32 *result = fresh;
  if (threadIdx.x == 0) {
    result[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicInc(&aux[0], gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    u32 all = 0;
    for (u32 b = 0; b < gridDim.x; b++) all += result[b];
    out[0] = all;
    aux[0] = 0;
  }
}
K(ok_block_scope_in_a_block) { // a counter of each block, by operations of block scope
  atomicAdd_block(&aux[blockIdx.x], 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = aux[blockIdx.x];
}
K(ok_block_scope_then_published) { // by operations of block scope in the block, and to others by a fence
  __shared__ bool last;
  atomicAdd_block(&aux[1 + blockIdx.x], in[GID]);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&aux[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) out[0] = sum_of(aux + 1, gridDim.x);
}
K(ok_system_scope) {
  atomicAdd_system(&out[in[GID] % 32], 1);
  if (GID % 2) atomicAdd(&out[in[GID] % 32], 1);
}
CK(ok_cluster_scope) { // a word for each cluster
  ASM("red.relaxed.cluster.global.add.u32 [%0], 1;" ::"l"(&out[blockIdx.x / 2]));
}
CK(ok_cluster_fence) {
  u32 t = 0;
  fresh[GID] = in[GID];
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("atom.add.acq_rel.cluster.global.u32 %0, [%1], 1;" : "=r"(t) : "l"(&aux[blockIdx.x / 2]) : "memory");
    if (t == 1) out[blockIdx.x / 2] = sum_of(fresh + blockIdx.x / 2 * 128, 128);
  }
}
CK(ok_cluster_then_device) { // by the cluster's barrier to one of its blocks, which counts for both
  __shared__ bool last;
  fresh[GID] = in[GID];
  ASM("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::);
  if (blockIdx.x % 2 == 0) {
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(&aux[0], 1) == gridDim.x / 2 - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) out[0] = sum_of(fresh, gridDim.x * 64);
  }
}
K(ok_flag_of_a_warp) { // a warp of the block produces for other blocks, another one consumes
  if (threadIdx.x >= 32) {
    const u32 lane = threadIdx.x - 32;
    fresh[blockIdx.x * 32 + lane] = in[GID];
    __syncwarp();
    if (lane == 0) {
      __threadfence();
      atomicExch(&aux[1 + blockIdx.x], 1);
    }
  } else if (blockIdx.x > 0) {
    u32 there = atomicAdd(&aux[blockIdx.x], 0);
    __threadfence();
    if (there) out[GID] = fresh[(blockIdx.x - 1) * 32 + threadIdx.x];
  }
}
__device__ u32 counted, partial[64]; // variables of the module are memory as any
K(ok_variables) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicInc(&counted, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) out[0] = sum_of(partial, gridDim.x);
}

// ---- wrong
K(variables_without_fence) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    last = atomicInc(&counted, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) out[threadIdx.x] = partial[threadIdx.x]; // here
}
K(block_scope_histogram) {
  atomicAdd_block(&out[in[GID] % 4], 1); // here
}
K(block_scope_without_result) {
  ASM("red.relaxed.cta.global.max.u32 [%0], %1;" ::"l"(&out[0]), "r"(in[GID])); // here
}
K(block_scope_cas) {
  u32 *p = &out[in[GID] % 4], old = *(volatile u32 *)p, seen; // here
  do {
    seen = old;
    old = atomicCAS_block(p, seen, seen + 1); // here
  } while (old != seen);
}
K(block_scope_beside_device) { // one of the two is enough
  if (blockIdx.x == 0) atomicAdd_block(&out[0], 1); // here
  else atomicAdd(&out[0], 1);                       // here
}
K(block_scope_store) {
  ASM("st.relaxed.cta.global.u32 [%0], %1;" ::"l"(&out[0]), "r"(GID)); // here
}
CK(cluster_scope_across_clusters) {
  ASM("red.relaxed.cluster.global.add.u32 [%0], 1;" ::"l"(&out[0])); // here
}
K(fence_of_block_scope) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    fresh[blockIdx.x] = in[blockIdx.x];
    __threadfence_block();
    last = atomicAdd(&aux[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) out[threadIdx.x] = fresh[threadIdx.x]; // here
}
K(fence_elsewhere) { // what it had to cover comes after it
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();
    fresh[blockIdx.x] = in[blockIdx.x];
    last = atomicAdd(&aux[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) out[threadIdx.x] = fresh[threadIdx.x]; // here
}
K(fence_at_the_end) { // no fence of other places helps
  __shared__ bool last;
  if (threadIdx.x == 0) {
    fresh[blockIdx.x] = in[blockIdx.x];
    last = atomicAdd(&aux[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) out[threadIdx.x] = fresh[threadIdx.x]; // here
  __threadfence();
}
K(no_barrier_before_count) { // the other warp may not have written yet
  __shared__ bool last;
  fresh[GID] = in[GID];
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&aux[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) for (u32 i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) out[i] = fresh[i]; // here
}
K(no_barrier_after_count) { // the other warp does not wait for the flag
  if (threadIdx.x == 0) {
    atomicAdd(&aux[1], 0);
    if (blockIdx.x == 0) {
      fresh[0] = in[0];
      __threadfence();
      atomicExch(&aux[1], 1);
    }
  }
  if (threadIdx.x == 32 && blockIdx.x > 0) out[blockIdx.x] = fresh[0]; // here
}
K(asks_another_flag) {
  if (threadIdx.x != 0) return;
  fresh[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  atomicExch(&aux[blockIdx.x], 1);
  if (blockIdx.x > 1 && atomicAdd(&aux[blockIdx.x - 1], 0) != 0) out[blockIdx.x] = fresh[blockIdx.x - 2]; // here
}
K(flag_of_block_scope) {
  u32 there;
  if (threadIdx.x != 0) return;
  asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(there) : "l"(aux) : "memory"); // here
  if (blockIdx.x > 0 && there) out[blockIdx.x] = fresh[0]; // here
  if (blockIdx.x == 0) {
    fresh[0] = in[0];
    ASM("st.release.cta.global.u32 [%0], 1;" ::"l"(aux));
  }
}
K(release_of_block_scope) { // the fence of the reader is right
  if (threadIdx.x != 0) return;
  if (blockIdx.x > 0) {
    atomicAdd(&aux[0], 0);
    __threadfence();
    out[blockIdx.x] = fresh[0]; // here
  } else {
    fresh[0] = in[0];
    ASM("fence.acq_rel.cta;" ::);
    atomicExch(&aux[0], 1);
  }
}
CK(cluster_fence_across_clusters) {
  __shared__ u32 ticket;
  fresh[GID] = in[GID];
  __syncthreads();
  if (threadIdx.x == 0) {
    ASM("fence.acq_rel.cluster;" ::);
    ticket = atomicAdd(&aux[0], 1);
  }
  __syncthreads();
  if (ticket == gridDim.x - 1) out[threadIdx.x] = fresh[threadIdx.x] + fresh[threadIdx.x + 128]; // here
}
K(atomic_and_store) {
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = 5; // here
  else if (blockIdx.x > 0) atomicAdd(&out[0], 1);      // here
}
K(atomic_and_load) {
  if (blockIdx.x % 2 == 0) atomicAdd(&out[0], 1);   // here
  else if (threadIdx.x == 0) out[GID] = out[0] + 1; // here
}
K(volatile_and_store) { // only one of the two is volatile
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) fresh[0] = in[0];                  // here
  else out[blockIdx.x] = *(volatile u32 *)&fresh[0] + 1; // here
}
K(volatile_store_and_load) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) *(volatile u32 *)&fresh[0] = in[0]; // here
  else out[blockIdx.x] = fresh[0] + 1;                     // here
}
K(lock_without_fence) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&aux[0], 0u, 1u) != 0) {
    }
    out[0] = out[0] + in[blockIdx.x]; // here
    atomicExch(&aux[0], 0u);
  }
}

// ---- the same value
K(same_by_blocks) {
  if (threadIdx.x == 0) out[5] = 7; // here
}
K(same_by_warps) {
  if (threadIdx.x % 32 == 0) out[blockIdx.x] = 7; // here
}
K(same_by_lanes) {
  out[blockIdx.x * 32 + threadIdx.x / 2] = 3; // here
}
K(same_in_shared) {
  __shared__ u32 any[64];
  any[in[0]] = 1; // here
  __syncthreads();
  out[GID] = any[1];
}
K(ok_same_after_barrier) {
  if (threadIdx.x == 0) out[blockIdx.x] = 7;
  __syncthreads();
  if (threadIdx.x == 32) out[blockIdx.x] = 7;
}
