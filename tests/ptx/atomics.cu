// Small kernels with atomic operations; those whose names begin with ok_ are right in every order of blocks,
// warps and lanes. test_ptx_atomic_kernels.c says what the others must be found guilty of, in the lines that say "here".
// in: n values, read-only; out: n words, all zero; aux: n words, all zero; fresh: n words that nobody has set.
typedef unsigned int u32;
typedef unsigned long long u64;
#define GID (blockIdx.x * blockDim.x + threadIdx.x)
#define K(name) extern "C" __global__ void name(const u32 *in, u32 *out, u32 *aux, u32 *fresh, int n)
#define BINS 64

// ---- right
K(ok_histogram) {
  __shared__ u32 bins[BINS];
  if (threadIdx.x < BINS) bins[threadIdx.x] = 0;
  __syncthreads();
  if (GID < n) atomicAdd(&bins[in[GID] % BINS], 1);
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
K(ok_global_histogram) {
  if (GID < n) atomicAdd(&out[in[GID] % BINS], 1);
}
K(ok_generic_histogram) { // one pointer, shared memory in even lanes and global in odd ones
  __shared__ u32 bins[BINS];
  if (threadIdx.x < BINS) bins[threadIdx.x] = 0;
  __syncthreads();
  u32 *to = threadIdx.x % 2 ? out : bins;
  if (GID < n) atomicAdd(&to[in[GID] % BINS], 1);
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
// As threadFenceReduction of the CUDA samples: the block that comes last adds up what the others wrote.
__device__ u32 n_done = 0;
K(ok_last_block) {
  __shared__ u32 sum, last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (GID < n) atomicAdd(&sum, in[GID]);
  __syncthreads();
  if (threadIdx.x == 0) {
    fresh[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&n_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    u32 all = 0;
    for (int b = 0; b < gridDim.x; b++) all += fresh[b];
    out[0] = all;
    out[1] = n_done;
  }
}
K(ok_warp_aggregated) { // one addition a distinct value of a warp
  const u32 bin = GID < n ? in[GID] % BINS : BINS;
  const u32 peers = __match_any_sync(0xffffffff, bin);
  if (bin < BINS && __ffs(peers) - 1 == threadIdx.x % 32) atomicAdd(&out[bin], __popc(peers));
}
K(ok_cas_sum) { // the loop of the CUDA programming guide
  u64 *place = (u64 *)out;
  if (GID >= n) return;
  u64 old = *place, seen;
  do {
    seen = old;
    old = atomicCAS(place, seen, __double_as_longlong(in[GID] + __longlong_as_double(seen)));
  } while (seen != old);
}
K(ok_cas_float_max) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  if (GID < n) {
    const float v = in[GID] * 0.5f;
    int old = most, seen;
    while (__int_as_float(old) < v) {
      seen = old;
      old = atomicCAS(&most, seen, __float_as_int(v));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicMax((int *)out, most); // bits of positive floats sort as integers do
}
K(ok_asks_first) {
  if (GID < n && out[0] < in[GID]) atomicMax(&out[0], in[GID]);
}
K(ok_warp_private) { // counters of one warp need no block barrier
  __shared__ u32 bins[32][8];
  const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane < 8) bins[w][lane] = 0;
  __syncwarp();
  if (GID < n) atomicAdd(&bins[w][in[GID] % 8], 1);
  __syncwarp();
  if (lane < 8) atomicAdd(&out[lane], bins[w][lane]);
}
K(ok_lock) { // one thread of each block at a time
  if (threadIdx.x == 0) {
    while (atomicCAS(&aux[0], 0, 1) != 0) {
    }
    __threadfence();
    out[0] = out[0] + blockIdx.x + 1;
    out[1]++;
    __threadfence();
    atomicExch(&aux[0], 0);
  }
}
K(ok_tickets) { // a block waits for the one that took the ticket before
  if (threadIdx.x == 0) {
    const u32 t = atomicAdd(&aux[0], 1);
    while (t > 0 && atomicAdd(&aux[t], 0) == 0) {
    }
    __threadfence();
    fresh[t] = t == 0 ? 1 : fresh[t - 1] + t + 1;
    __threadfence();
    atomicExch(&aux[t + 1], 1);
    if (t == gridDim.x - 1) out[0] = fresh[t];
  }
}
K(ok_bits) {
  if (GID >= n) return;
  atomicOr(&out[0], 1u << in[GID] % 32);
  atomicXor(&out[1], in[GID]);
  atomicAnd(&out[2], ~in[GID]);
  atomicMin((int *)&out[3], -(int)in[GID]);
  atomicMax((u64 *)out + 2, (u64)in[GID] << 20);
  atomicInc(&out[6], 10);
  atomicDec(&out[7], 10);
}
K(ok_float_sum) { // rounds in another way in every order
  if (GID < n) atomicAdd((float *)out, 1.0f / (1 + in[GID]));
}
K(ok_float_sum_by_shared) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (GID < n) atomicAdd(&sum, 1.0f / (1 + in[GID]));
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd((double *)out, (double)sum);
}
K(ok_half_vectors) {
  if (GID < n)
    asm volatile("{ .reg .b32 one; mov.b32 one, 0x3c003c00;\n"
                 "red.global.add.noftz.f16x2 [%0], one;\n"
                 "red.relaxed.gpu.global.v2.f32.add [%0+8], {%1, %1}; }" ::"l"(out), "f"(0.25f) : "memory");
}
K(ok_wide_cas) { // 128 bits: a count and its square, always together
  if (GID >= n) return;
  u64 lo = 0, hi = 0, seen_lo, seen_hi;
  do {
    seen_lo = lo;
    seen_hi = hi;
    asm volatile("{ .reg .b128 d, b, c; mov.b128 b, {%2, %3}; mov.b128 c, {%4, %5};\n"
                 "atom.relaxed.gpu.global.cas.b128 d, [%6], b, c; mov.b128 {%0, %1}, d; }"
                 : "=l"(lo), "=l"(hi)
                 : "l"(seen_lo), "l"(seen_hi), "l"(seen_lo + 1), "l"((seen_lo + 1) * (seen_lo + 1)), "l"(out)
                 : "memory");
  } while (lo != seen_lo || hi != seen_hi);
}
K(ok_last_warp) { // the warp that comes last adds up what the others left in shared memory
  __shared__ u32 part[32];
  __shared__ u32 arrived;
  const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  const u32 sum = __reduce_add_sync(0xffffffff, GID < n ? in[GID] : 0);
  u32 ticket = 0;
  if (lane == 0) {
    part[w] = sum;
    __threadfence_block();
    ticket = atomicAdd(&arrived, 1);
    __threadfence_block();
  }
  ticket = __shfl_sync(0xffffffff, ticket, 0);
  if (ticket == blockDim.x / 32 - 1 && lane < blockDim.x / 32) atomicAdd(&out[0], part[lane]);
}
K(ok_lock_of_warps) { // plain accesses between acquire and release
  __shared__ u32 lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    u32 busy;
    do
      asm volatile("atom.acquire.cta.shared.cas.b32 %0, [%1], 0, 1;"
                   : "=r"(busy)
                   : "r"((u32)__cvta_generic_to_shared(&lock))
                   : "memory");
    while (busy);
    sum = sum + threadIdx.x / 32 + 1;
    asm volatile("{ .reg .b32 old; atom.release.cta.shared.exch.b32 old, [%0], 0; }" ::"r"(
                     (u32)__cvta_generic_to_shared(&lock))
                 : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&out[0], sum);
}
K(ok_flag) { // the last warp produces, the others wait for its flag
  __shared__ u32 value, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  const u32 f = (u32)__cvta_generic_to_shared(&flag);
  if (threadIdx.x == blockDim.x - 32) {
    value = in[5];
    asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(f) : "memory");
  }
  u32 there = 0;
  while (there == 0) asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(there) : "r"(f) : "memory");
  if (GID < n) out[GID] = value;
}

K(ok_flag_chain) { // the first warp tells the second, which tells the third
  __shared__ u32 value, flags[2];
  const int w = threadIdx.x / 32;
  if (threadIdx.x < 2) flags[threadIdx.x] = 0;
  __syncthreads();
  if (w == 0) value = in[5];
  if (w == 1 || w == 2) {
    while (atomicAdd(&flags[w - 1], 0) == 0) {
    }
    __threadfence_block();
  }
  if (w < 2) {
    __threadfence_block();
    atomicExch(&flags[w], 1);
  }
  if (w == 2) out[threadIdx.x] = value;
}
K(ok_tickets_by_acquire) {
  if (threadIdx.x == 0) {
    const u32 t = atomicAdd(&aux[0], 1);
    u32 there = t == 0;
    while (there == 0) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(aux + t) : "memory");
    fresh[t] = t == 0 ? 1 : fresh[t - 1] + t + 1;
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(aux + t + 1) : "memory");
    if (t == gridDim.x - 1) out[0] = fresh[t];
  }
}
K(ok_float_sum_in_shared) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1.0f / (1 + in[GID % n]));
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = __float_as_int(sum);
}
K(ok_float_sums_so_far) { // what it was before is as approximate as the sum
  if (GID < n) out[GID] = __float_as_int(atomicAdd((float *)aux, 1.0f / (1 + in[GID])));
}

K(ok_builtins) { // vectors, 16 and 128 bits, and the built-in functions with orders and scopes; one thread
  if (GID != 0) return;
  float4 *f4 = (float4 *)aux;
  float2 *f2 = (float2 *)(aux + 8);
  u64 *w = (u64 *)(aux + 16);
  u64 expected = 4;
  atomicAdd(f4, make_float4(1, 2, 3, 4));
  const float4 was = atomicAdd(f4, make_float4(10, 20, 30, 40));
  atomicAdd(f2, make_float2(0.5f, was.w));
  const float2 two = atomicAdd(f2, make_float2(0.25f, 0));
  out[0] = was.x + 10 * was.y + 100 * was.z + 1000 * was.w;
  out[1] = f4->x + f4->w;
  out[2] = two.x * 100 + two.y;
  out[3] = atomicCAS((unsigned short *)&aux[12], (unsigned short)0, (unsigned short)0xbeef);
  out[4] = atomicCAS((unsigned short *)&aux[12], (unsigned short)0, (unsigned short)1);
  out[5] = __nv_atomic_fetch_add(w, 4ull, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  out[6] = __nv_atomic_compare_exchange_n(w, &expected, 9ull, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED,
                                          __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_store_n(w + 1, 5ull, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
  out[7] = __nv_atomic_load_n(w + 1, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_CLUSTER);
  out[8] = __nv_atomic_fetch_max((long long *)w, -3ll, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
  ulonglong2 pair = {11, 12};
  pair = atomicExch((ulonglong2 *)(aux + 24), pair);
  out[9] = pair.x + pair.y;
  pair = atomicExch((ulonglong2 *)(aux + 24), pair);
  out[10] = pair.x * 100 + pair.y;
  out[11] = atomicSub((int *)&aux[40], 3) + atomicMin_block((int *)&aux[40], -8);
  out[12] = atomicMax_system((int *)&aux[40], 7) == -8;
  out[13] = atomicAdd_system((double *)(aux + 42), 3.0) == 0 && atomicExch((float *)&aux[44], 1.0f) == 0;
}

// ---- wrong
K(bins_not_zeroed) {
  __shared__ u32 bins[BINS];
  if (GID < n) atomicAdd(&bins[in[GID] % BINS], 1);
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]); // here
}
K(no_barrier_behind_zeroing) {
  __shared__ u32 bins[BINS];
  if (threadIdx.x < BINS) bins[threadIdx.x] = 0; // here
  atomicAdd(&bins[in[GID] % BINS], 1); // here
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
K(no_barrier_behind_counting) {
  __shared__ u32 bins[BINS];
  if (threadIdx.x < BINS) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[GID] % BINS], 1); // here
  if (threadIdx.x < BINS) out[threadIdx.x] = bins[threadIdx.x]; // here
}
K(reads_its_own_count) {
  const u32 i = in[GID] % BINS;
  atomicAdd(&aux[i], 1); // here
  if (aux[i] == 3) out[i] = 1; // here
}
K(cleared_by_one_block) {
  if (blockIdx.x == 0 && threadIdx.x < BINS) out[threadIdx.x] = 7; // here
  __syncthreads();
  atomicAdd(&out[in[GID] % BINS], 1); // here
}
K(last_block_without_fence) {
  __shared__ u32 last;
  if (threadIdx.x == 0) {
    fresh[blockIdx.x] = in[blockIdx.x];
    last = atomicAdd(&aux[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    u32 all = 0;
    for (int b = 0; b < gridDim.x; b++) all += fresh[b]; // here
    out[0] = all;
  }
}
K(counts_in_fresh_memory) {
  if (GID < n) atomicAdd(&fresh[in[GID] % BINS], 1); // here
}
K(compares_with_fresh_memory) {
  if (GID < n) atomicCAS(&fresh[GID], 0, 1); // here
}
K(adds_what_nobody_set) {
  asm volatile("{ .reg .b32 v; red.global.add.u32 [%0], v; }" ::"l"(out) : "memory"); // here
}
K(past_the_end) {
  atomicAdd(&out[GID + 1], 1); // here
}
K(shared_past_the_end) {
  __shared__ u32 bins[BINS];
  bins[threadIdx.x % BINS] = 0;
  __syncthreads();
  atomicAdd(&bins[in[GID] % (BINS + 1)], 1); // here
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x % BINS];
}
K(misaligned_64) {
  atomicAdd((u64 *)(out + 1), 1ull); // here
}
K(misaligned_vector) {
  asm volatile("red.global.v4.f32.add [%0+8], {%1, %1, %1, %1};" ::"l"(out), "f"(1.f) : "memory"); // here
}
K(updates_its_input) {
  atomicMax((u32 *)&in[GID], 5u); // here
}
K(updates_a_local) {
  volatile u32 mine[4] = {1, 2, 3, 4};
  u32 *p = (u32 *)&mine[in[GID] % 4];
  asm volatile("red.add.u32 [%0], 1;" ::"l"(p) : "memory"); // here
  out[GID] = mine[0];
}
K(index_nobody_set) {
  __shared__ u32 t[BINS];
  if (threadIdx.x < BINS - 1) t[threadIdx.x] = in[threadIdx.x] % BINS;
  __syncthreads();
  atomicAdd(&out[t[threadIdx.x % BINS]], 1); // here
}
K(updates_an_early_copy) {
  __shared__ u32 t[256];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((u32)__cvta_generic_to_shared(&t[threadIdx.x])),
               "l"(in + threadIdx.x)
               : "memory");
  atomicAdd(&t[threadIdx.x], 1); // here
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = t[threadIdx.x];
}
K(waits_for_the_next_block) {
  if (threadIdx.x == 0) {
    while (blockIdx.x + 1 < gridDim.x && atomicAdd(&aux[blockIdx.x + 1], 0) == 0) {
    }
    atomicExch(&aux[blockIdx.x], 1);
  }
}
K(lock_in_a_warp) {
  while (atomicCAS(&aux[0], 0, 1) != 0) {
  }
  out[0]++;
  __threadfence();
  atomicExch(&aux[0], 0);
}
K(last_one_wins) {
  atomicExch(&out[0], GID);
}
K(last_lane_wins) {
  if (GID < 32) atomicExch(&out[0], GID);
}
K(places_by_ticket) {
  if (GID < n) out[atomicAdd(&aux[0], 1)] = in[GID];
}
K(last_warp_without_fence) {
  __shared__ u32 part[32];
  __shared__ u32 arrived;
  const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  u32 ticket = 0;
  if (lane == 0) {
    part[w] = in[GID];
    ticket = atomicAdd(&arrived, 1);
  }
  ticket = __shfl_sync(0xffffffff, ticket, 0);
  if (ticket == blockDim.x / 32 - 1 && lane < blockDim.x / 32) atomicAdd(&out[0], part[lane]); // here
}
K(last_warp_asks_another_flag) { // what it read is no release of the others
  __shared__ u32 part[32];
  __shared__ u32 arrived, other;
  const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) arrived = other = 0;
  __syncthreads();
  if (lane == 0) {
    part[w] = in[GID];
    __threadfence_block();
    atomicAdd(w == 7 ? &other : &arrived, 1);
    __threadfence_block();
    if (w == 7) out[0] = part[3]; // here
  }
}
K(flag_is_plain) {
  __shared__ u32 value;
  __shared__ volatile u32 flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = in[5];
    flag = 1; // no fence
  }
  while (flag == 0) {
  }
  if (threadIdx.x >= 32) out[GID] = value; // here
}
K(fence_only_acquires) {
  __shared__ u32 part[32];
  __shared__ u32 arrived;
  const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  if (lane == 0) {
    part[w] = in[GID];
    asm volatile("fence.acquire.cta;" ::: "memory");
    const u32 ticket = atomicAdd(&arrived, 1);
    asm volatile("fence.acquire.cta;" ::: "memory");
    if (ticket == blockDim.x / 32 - 1) out[0] = part[0]; // here
  }
}
K(last_warp_reads_the_count) {
  __shared__ u32 count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  if (threadIdx.x / 32 == 7) out[threadIdx.x] = count; // here
}
K(last_block_reads_the_count) {
  atomicAdd(&aux[0], 1);
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 1) out[0] = aux[0]; // here
}
