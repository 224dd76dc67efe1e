// mbarriers and bulk copies: correct pipelines (ok_*), and kernels with one mistake each. A comment
// that ends in "here" marks the line that the diagnosis must name.
typedef unsigned u32;
typedef unsigned long long u64;
#define K(name) extern "C" __global__ void name(const float *in, float *out, float *scratch, int n, int d)
#define T 256       // floats of a tile, threads of a block
#define BYTES 1024u // of a tile
#define S(p) ((u32)__cvta_generic_to_shared(p))
#define INIT(b, count) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(S(b)), "r"(count) : "memory")
#define INVAL(b) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(S(b)) : "memory")
#define EXPECT(b, bytes) asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1;}" ::"r"(S(b)), "r"(bytes) : "memory")
#define ARRIVE(b) asm volatile("{.reg .b64 s; mbarrier.arrive.release.cta.shared::cta.b64 s, [%0];}" ::"r"(S(b)) : "memory")
#define WAIT(b, parity) asm volatile("{.reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra AGAIN;}" ::"r"(S(b)), "r"(parity) : "memory")
#define POLL(b, parity) asm volatile("{.reg .pred p; AGAIN: mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1; @!p bra AGAIN;}" ::"r"(S(b)), "r"(parity) : "memory")
#define LOAD(to, from, bytes, b) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(S(to)), "l"(from), "r"(bytes), "r"(S(b)) : "memory")
#define STORE(to, from, bytes) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(S(from)), "r"(bytes) : "memory")
#define COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT_READ(k) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(k) : "memory")
#define WAIT_DONE(k) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(k) : "memory")
#define FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define NAMED(id, count) asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(count) : "memory")
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(S(to)), "l"(from) : "memory")
#define COPIES_ARRIVE(b) asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(S(b)) : "memory")
#define COPIES_ARRIVE_INC(b) asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(S(b)) : "memory")
#define TILE __shared__ __align__(128) float t[T]; __shared__ u64 full
#define BEGIN(count) do { if (threadIdx.x == 0) INIT(&full, count); __syncthreads(); } while (0)

// ---- one tile
K(ok_load) {
  TILE;
  BEGIN(1);
  if (threadIdx.x == 0) {
    EXPECT(&full, BYTES);
    LOAD(t, in + T * blockIdx.x, BYTES, &full);
  }
  WAIT(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x] + 1.f;
}
K(ok_load_in_parts) { // every warp brings its own part, all arrive
  TILE;
  BEGIN(T / 32);
  if (threadIdx.x % 32 == 0) {
    LOAD(t + threadIdx.x, in + T * blockIdx.x + threadIdx.x, 128, &full); // before its bytes are expected
    EXPECT(&full, 128);
  }
  POLL(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x] + 1.f;
}
K(ok_store) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = in[T * blockIdx.x + T - 1 - threadIdx.x] + 1.f;
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES);
    COMMIT;
    WAIT_READ(0);
  }
}
K(ok_store_fence_behind_barrier) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = in[T * blockIdx.x + T - 1 - threadIdx.x] + 1.f;
  __syncthreads();
  if (threadIdx.x == 0) {
    FENCE;
    STORE(out + T * blockIdx.x, t, BYTES);
    COMMIT;
    WAIT_DONE(0);
  }
}
K(ok_copies_arrive) { // cp.async that reports to an mbarrier, counted in its expected arrivals
  TILE;
  BEGIN(T);
  COPY(&t[threadIdx.x], in + T * blockIdx.x + threadIdx.x);
  COPIES_ARRIVE(&full);
  WAIT(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x] + 1.f;
}
K(ok_copies_arrive_inc) { // not counted: one arrival more for the phase, and it comes
  TILE;
  BEGIN(T);
  COPY(&t[threadIdx.x], in + T * blockIdx.x + threadIdx.x);
  COPIES_ARRIVE_INC(&full);
  ARRIVE(&full);
  WAIT(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x] + 1.f;
}
K(ok_inval) { // the bytes are reused for another barrier
  TILE;
  BEGIN(T);
  ARRIVE(&full);
  WAIT(&full, 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    INVAL(&full);
    INIT(&full, 1);
    EXPECT(&full, BYTES);
    LOAD(t, in + T * blockIdx.x, BYTES, &full);
  }
  __syncthreads();
  WAIT(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x] + 1.f;
}

// ---- pipelines over the tiles of a persistent grid: tile = blockIdx, + gridDim, ...
#define TILES(tile) for (int tile = blockIdx.x, i = 0; tile < n / T; tile += gridDim.x, i++)
#define STAGE(i) ((i) % STAGES)
#define PARITY(i) ((i) / STAGES & 1)
template <int STAGES> __device__ inline void block_pipeline(const float *in, float *out, int n, int refill_waits) {
  __shared__ __align__(128) float t[STAGES][T];
  __shared__ u64 full[STAGES];
  if (threadIdx.x == 0)
    for (int s = 0; s < STAGES; s++) INIT(&full[s], 1);
  __syncthreads();
  const int tiles = (n / T - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
  for (int i = 0; i < STAGES && i < tiles; i++)
    if (threadIdx.x == 0) {
      EXPECT(&full[i], BYTES);
      LOAD(t[i], in + T * (blockIdx.x + i * gridDim.x), BYTES, &full[i]);
    }
  TILES(tile) {
    WAIT(&full[STAGE(i)], PARITY(i));
    out[T * tile + threadIdx.x] = t[STAGE(i)][T - 1 - threadIdx.x] + 1.f;
    if (refill_waits == 2) __syncthreads(); // 1: only the warp, 0: nobody
    if (refill_waits == 1) __syncwarp();
    if (threadIdx.x == 0 && i + STAGES < tiles) {
      EXPECT(&full[STAGE(i)], BYTES);
      LOAD(t[STAGE(i)], in + T * (tile + STAGES * gridDim.x), BYTES, &full[STAGE(i)]);
    }
  }
}
K(ok_pipeline2) { block_pipeline<2>(in, out, n, 2); }
K(ok_pipeline3) { block_pipeline<3>(in, out, n, 2); }
K(ok_pipeline4) { block_pipeline<4>(in, out, n, 2); }

// A warp of its own loads, the others compute into a second pair of buffers, one thread stores them.
// mistake: 0 none, 1 the producer does not wait for empty stages, 2 no fence, 3 no wait before reuse,
// 4 the consumers do not say that a stage is empty, 5 no barrier before the store
template <int STAGES> __device__ inline void specialised(const float *in, float *out, int n, int mistake) {
  __shared__ __align__(128) float t[STAGES][T];
  __shared__ __align__(128) float r[2][T];
  __shared__ u64 full[STAGES], empty[STAGES];
  if (threadIdx.x == 0)
    for (int s = 0; s < STAGES; s++) {
      INIT(&full[s], 1);
      INIT(&empty[s], T / 32);
    }
  __syncthreads();
  if (threadIdx.x >= T) {
    if (threadIdx.x == T) TILES(tile) {
        if (mistake != 1) WAIT(&empty[STAGE(i)], PARITY(i) ^ 1);
        EXPECT(&full[STAGE(i)], BYTES);
        LOAD(t[STAGE(i)], in + T * tile, BYTES, &full[STAGE(i)]);
      }
    return;
  }
  TILES(tile) {
    WAIT(&full[STAGE(i)], PARITY(i));
    const float v = t[STAGE(i)][T - 1 - threadIdx.x] + 1.f;
    __syncwarp();
    if (threadIdx.x % 32 == 0 && mistake != 4) ARRIVE(&empty[STAGE(i)]);
    if (threadIdx.x == 0 && mistake != 3) WAIT_READ(1);
    NAMED(1, T);
    r[i & 1][threadIdx.x] = v;
    if (mistake != 2) FENCE;
    if (mistake != 5) NAMED(1, T);
    if (threadIdx.x == 0) {
      STORE(out + T * tile, r[i & 1], BYTES);
      COMMIT;
    }
  }
  if (threadIdx.x == 0) WAIT_DONE(0);
}
K(ok_specialised2) { specialised<2>(in, out, n, 0); }
K(ok_specialised4) { specialised<4>(in, out, n, 0); }
K(stage_not_awaited) { specialised<2>(in, out, n, 1); }
K(pipeline_no_fence) { specialised<2>(in, out, n, 2); }
K(pipeline_source_reused) { specialised<2>(in, out, n, 3); }
K(stage_never_empty) { specialised<2>(in, out, n, 4); }
K(pipeline_no_barrier) { specialised<2>(in, out, n, 5); }

// Producer and consumers in one warp: the lanes part for the whole loop.
K(ok_lane_produces) {
  __shared__ __align__(128) float t[2][T];
  __shared__ u64 full[2], empty[2];
  const int STAGES = 2;
  if (threadIdx.x == 0)
    for (int s = 0; s < STAGES; s++) {
      INIT(&full[s], 1);
      INIT(&empty[s], T - 1);
    }
  __syncthreads();
  if (threadIdx.x == 0) {
    TILES(tile) {
      WAIT(&empty[STAGE(i)], PARITY(i) ^ 1);
      EXPECT(&full[STAGE(i)], BYTES);
      LOAD(t[STAGE(i)], in + T * tile, BYTES, &full[STAGE(i)]);
    }
  } else {
    TILES(tile) {
      WAIT(&full[STAGE(i)], PARITY(i));
      out[T * tile + threadIdx.x] = t[STAGE(i)][T - 1 - threadIdx.x] + 1.f;
      if (threadIdx.x == 1) out[T * tile] = t[STAGE(i)][T - 1] + 1.f;
      ARRIVE(&empty[STAGE(i)]);
    }
  }
}
// Warps pass a value on, each through the mbarrier of the next one: no block barrier.
K(ok_chain) {
  __shared__ float v[T / 32 + 1];
  __shared__ u64 bar[T / 32 + 1];
  const int w = threadIdx.x / 32;
  if (threadIdx.x <= T / 32) INIT(&bar[threadIdx.x], 1);
  if (threadIdx.x == 0) v[0] = 1.f;
  __syncthreads();
  if (w > 0) WAIT(&bar[w], 0);
  const float own = v[w];
  if (threadIdx.x % 32 == 0) {
    v[w + 1] = own;
    ARRIVE(&bar[w + 1]);
  }
  out[T * blockIdx.x + threadIdx.x] = in[T * blockIdx.x + T - 1 - threadIdx.x] + own;
}
K(chain_broken) { // waits for another warp than the one that wrote
  __shared__ float v[T / 32 + 1];
  __shared__ u64 bar[T / 32 + 1];
  const int w = threadIdx.x / 32;
  if (threadIdx.x <= T / 32) INIT(&bar[threadIdx.x], 1);
  __syncthreads();
  if (threadIdx.x == 0) ARRIVE(&bar[3]);
  if (threadIdx.x == 32) v[d] = in[5]; // here
  if (w == 5) {
    WAIT(&bar[3], 0);
    scratch[threadIdx.x] = v[d]; // or here
  }
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}

K(writes_after_its_arrival) { // the second value comes behind the arrival
  __shared__ float v[2];
  __shared__ u64 bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    v[d] = in[5];
    ARRIVE(&bar);
    v[d + 1] = in[6]; // here
  }
  if (threadIdx.x / 32 == 2) {
    WAIT(&bar, 0);
    scratch[threadIdx.x] = v[d] + v[d + 1]; // or here
  }
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}

// ---- one mistake each
#define ONE_LOAD(count, expect, size, from, to, bar_of_load, parity) \
  TILE; \
  BEGIN(count); \
  if (threadIdx.x == 0) { \
    expect; \
    LOAD(to, from, size, bar_of_load); \
  } \
  WAIT(&full, parity); \
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x] + 1.f
#define FROM (in + T * blockIdx.x)
K(no_expect_tx) { ONE_LOAD(1, ARRIVE(&full), BYTES, FROM, t, &full, 0); } // here
K(expects_too_little) { ONE_LOAD(1, EXPECT(&full, BYTES - 16), BYTES, FROM, t, &full, 0); } // here
K(expects_too_much) { ONE_LOAD(1, EXPECT(&full, BYTES + 16), BYTES, FROM, t, &full, 0); } // here
K(copies_too_little) { ONE_LOAD(1, EXPECT(&full, BYTES - 16), BYTES - 16, FROM, t, &full, 0); } // here
K(wrong_parity) { ONE_LOAD(1, EXPECT(&full, BYTES), BYTES, FROM, t, &full, 1); } // here
K(count_too_high) { ONE_LOAD(2, EXPECT(&full, BYTES), BYTES, FROM, t, &full, 0); } // here
K(odd_size) { ONE_LOAD(1, EXPECT(&full, 1000), 1000, FROM, t, &full, 0); } // here
K(odd_source) { ONE_LOAD(1, EXPECT(&full, 512), 512, FROM + 1, t, &full, 0); } // here
K(odd_destination) { ONE_LOAD(1, EXPECT(&full, 512), 512, FROM, t + 2, &full, 0); } // here
K(past_the_end) { ONE_LOAD(1, EXPECT(&full, BYTES), BYTES, in + n - T + 4, t, &full, 0); } // here
K(past_shared) { ONE_LOAD(1, EXPECT(&full, BYTES), BYTES, FROM, t + 4, &full, 0); } // here
K(two_expect) { ONE_LOAD(1, EXPECT(&full, BYTES); ARRIVE(&full), BYTES, FROM, t, &full, 0); } // here
K(no_wait) {
  TILE;
  BEGIN(1);
  if (threadIdx.x == 0) {
    EXPECT(&full, BYTES);
    LOAD(t, FROM, BYTES, &full);
  }
  __syncthreads();
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x]; // here
}
K(one_warp_does_not_wait) {
  TILE;
  BEGIN(1);
  if (threadIdx.x == 0) {
    EXPECT(&full, BYTES);
    LOAD(t, FROM, BYTES, &full);
  }
  if (threadIdx.x / 32 != 3) WAIT(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x]; // here
}
K(waits_for_the_other) {
  __shared__ __align__(128) float t[2][T];
  __shared__ u64 full[2];
  if (threadIdx.x == 0) {
    INIT(&full[0], 1);
    INIT(&full[1], 1);
    for (int s = 0; s < 2; s++) {
      EXPECT(&full[s], BYTES);
      LOAD(t[s], FROM, BYTES, &full[s]);
    }
  }
  __syncthreads();
  WAIT(&full[1], 0);
  out[T * blockIdx.x + threadIdx.x] = t[0][T - 1 - threadIdx.x]; // here
  WAIT(&full[0], 0);
}
K(refilled_early) { block_pipeline<2>(in, out, n, 0); }
K(refilled_early_by_warps) { block_pipeline<2>(in, out, n, 1); }
K(overwrites_the_load) {
  TILE;
  BEGIN(1);
  if (threadIdx.x == 0) {
    EXPECT(&full, BYTES);
    LOAD(t, FROM, BYTES, &full);
    t[5] = 0.f; // here
  }
  WAIT(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = t[threadIdx.x];
}
K(ends_before_the_load) {
  TILE;
  BEGIN(1);
  if (threadIdx.x == 0) {
    EXPECT(&full, BYTES);
    LOAD(t, FROM, BYTES, &full); // here
  }
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(init_twice) {
  TILE;
  if (threadIdx.x == 0) INIT(&full, 1);
  if (threadIdx.x == 0) INIT(&full, 2); // here
  __syncthreads();
  out[T * blockIdx.x + threadIdx.x] = t[threadIdx.x];
}
K(not_initialised) {
  __shared__ u64 full;
  ARRIVE(&full); // here
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(no_barrier_after_init) {
  __shared__ u64 full;
  if (threadIdx.x == 0) INIT(&full, T); // here
  ARRIVE(&full); // or here
  WAIT(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(no_barrier_after_init_by_warps) {
  __shared__ u64 full;
  if (threadIdx.x == 0) INIT(&full, T); // here
  __syncwarp();
  ARRIVE(&full); // or here
  WAIT(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(overwritten_barrier) {
  TILE;
  BEGIN(T);
  if (threadIdx.x == 255) full = 0;
  __syncthreads();
  ARRIVE(&full); // here
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(misaligned_barrier) {
  __shared__ __align__(16) u32 full[4];
  if (threadIdx.x == 0) INIT(full + 1, 1); // here
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(too_many_arrivals) {
  __shared__ u64 full, other;
  if (threadIdx.x == 0) {
    INIT(&full, T - 1);
    INIT(&other, 1);
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(S(&full)) : "memory");
  }
  __syncthreads();
  ARRIVE(&full); // here
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(used_after_inval) {
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    INIT(&full, 1);
    INVAL(&full);
    ARRIVE(&full); // here
  }
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(inval_while_others_wait) {
  __shared__ u64 full;
  if (threadIdx.x == 0) INIT(&full, T);
  __syncthreads();
  ARRIVE(&full);
  WAIT(&full, 0); // here
  if (threadIdx.x == 0) INVAL(&full); // or here
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(inval_while_warps_wait) {
  __shared__ u64 full;
  if (threadIdx.x == 0) INIT(&full, T);
  __syncthreads();
  ARRIVE(&full);
  WAIT(&full, 0); // here
  __syncwarp();
  if (threadIdx.x == 0) INVAL(&full); // or here
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(no_proxy_fence) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES); // here
    COMMIT;
    WAIT_READ(0);
  }
}
K(fence_before_the_write) {
  __shared__ __align__(128) float t[T];
  FENCE;
  t[threadIdx.x] = FROM[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES); // here
    COMMIT;
    WAIT_READ(0);
  }
}
K(one_warp_fences) { // each warp must fence its own writes, or somebody after the barrier
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x];
  if (threadIdx.x < 32) FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES); // here
    COMMIT;
    WAIT_READ(0);
  }
}
K(store_without_barrier) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x]; // here
  FENCE;
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES); // or here
    COMMIT;
    WAIT_READ(0);
  }
}
K(store_without_barrier_by_warps) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x]; // here
  FENCE;
  __syncwarp();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES); // or here
    COMMIT;
    WAIT_READ(0);
  }
}
K(source_overwritten) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x];
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES);
    COMMIT;
  }
  __syncthreads();
  t[threadIdx.x] = 0.f; // here
  if (threadIdx.x == 0) WAIT_READ(0);
}
K(group_not_committed) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x];
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES);
    WAIT_READ(0);
    t[0] = 0.f; // here
  }
}
K(wait_too_loose) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x];
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES);
    COMMIT;
    WAIT_READ(1);
    t[0] = 0.f; // here
    WAIT_READ(0);
  }
}
K(another_thread_waits) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x];
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES); // here
    COMMIT;
  }
  if (threadIdx.x == 1) WAIT_DONE(0);
}
K(reads_the_stored_early) { // .read is about the source, not about the destination
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x];
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES);
    COMMIT;
    WAIT_READ(0);
    scratch[blockIdx.x] = ((volatile float *)out)[T * blockIdx.x]; // here
  }
}
K(ok_reads_the_stored) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[T - 1 - threadIdx.x] + 1.f;
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES);
    COMMIT;
    WAIT_DONE(0);
    scratch[blockIdx.x] = ((volatile float *)out)[T * blockIdx.x];
  }
}
K(stores_to_input) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = 0.f;
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE((float *)in + T * blockIdx.x, t, BYTES); // here
    COMMIT;
    WAIT_READ(0);
  }
}
K(stores_past_the_end) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = 0.f;
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + n - T / 2, t, BYTES); // here
    COMMIT;
    WAIT_READ(0);
  }
}
K(stores_unset_bytes) {
  __shared__ __align__(128) float t[T];
  if (threadIdx.x != 77) t[threadIdx.x] = FROM[threadIdx.x];
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out + T * blockIdx.x, t, BYTES); // here
    COMMIT;
    WAIT_READ(0);
  }
}
K(stores_what_is_not_loaded) {
  TILE;
  BEGIN(1);
  if (threadIdx.x == 0) {
    EXPECT(&full, BYTES);
    LOAD(t, FROM, BYTES, &full);
    STORE(out + T * blockIdx.x, t, BYTES); // here
    COMMIT;
    WAIT_READ(0);
  }
  WAIT(&full, 0);
}
K(ok_load_then_store) { // no plain write, no fence
  TILE;
  BEGIN(1);
  if (threadIdx.x == 0) {
    EXPECT(&full, BYTES);
    LOAD(t, FROM, BYTES, &full);
    WAIT(&full, 0);
    STORE(scratch + T * blockIdx.x, t, BYTES);
    COMMIT;
    WAIT_READ(0);
  }
  __syncthreads();
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x] + 1.f;
}
K(blocks_store_one_tile) {
  __shared__ __align__(128) float t[T];
  t[threadIdx.x] = FROM[threadIdx.x];
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE(out, t, BYTES); // here
    COMMIT;
    WAIT_READ(0);
  }
}
K(copies_arrive_no_wait) {
  TILE;
  BEGIN(T);
  COPY(&t[threadIdx.x], FROM + threadIdx.x);
  COPIES_ARRIVE(&full);
  __syncthreads();
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x]; // here
}
K(copies_arrive_before_they_start) {
  TILE;
  BEGIN(T);
  COPIES_ARRIVE(&full);
  COPY(&t[threadIdx.x], FROM + threadIdx.x);
  WAIT(&full, 0);
  out[T * blockIdx.x + threadIdx.x] = t[T - 1 - threadIdx.x]; // here
}
K(lanes_wait_for_themselves) { // half of the lanes wait for an arrival that comes behind the wait
  __shared__ u64 full;
  if (threadIdx.x == 0) INIT(&full, T);
  __syncthreads();
  WAIT(&full, 0); // here
  ARRIVE(&full);
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
K(barrier_against_mbarrier) { // one warp at the block's barrier, the others at the mbarrier
  __shared__ u64 full;
  if (threadIdx.x == 0) INIT(&full, 1);
  __syncthreads();
  if (threadIdx.x < 32) {
    __syncthreads();
    if (threadIdx.x == 0) ARRIVE(&full);
  } else {
    WAIT(&full, 0); // here
    __syncthreads();
  }
  out[T * blockIdx.x + threadIdx.x] = 0.f;
}
