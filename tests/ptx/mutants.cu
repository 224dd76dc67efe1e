// Small kernels with one mistake each; those whose names begin with ok_ have none. test_ptx_mutants.c says
// which diagnosis each must get. Where comments say "here", one of these lines must be named.
// Buffers: in and out hold n floats, in is read-only; scratch holds n floats that nobody has set.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define GID (blockIdx.x * blockDim.x + threadIdx.x)
#define K(name) extern "C" __global__ void name(const float *in, float *out, float *scratch, int n, int d)

// ---- bounds
K(ok_map) {
  int i = GID;
  if (i < n) out[i] = in[i] + 1.f;
}
K(off_by_one_read) {
  int i = GID;
  if (i < n) out[i] = in[i + 1]; // here
}
K(read_before_first) {
  int i = GID;
  if (i < n) out[i] = in[i - 1]; // here
}
K(no_tail_guard) {
  int i = GID;
  out[i] = in[i < n ? i : 0]; // here
}
K(guard_less_or_equal) {
  int i = GID;
  if (i <= n) out[i] = in[i < n ? i : 0]; // here
}
K(wrong_pitch) { // n is 32 x 32
  int i = GID;
  if (i < n) out[i / 32 * 33 + i % 32] = in[i]; // here
}
K(read_bytes_at) { // d bytes off the end of the element
  int i = GID;
  if (i < n) out[i] = in[i] + ((const u8 *)in)[d]; // here
}
K(write_bytes_at) {
  int i = GID;
  if (i < n) out[i] = in[i];
  if (i == 0) ((u8 *)out)[d] = 1; // here
}
K(wide_read_past_end) { // the last vector hangs over
  int i = GID;
  if (4 * i < n) ((float4 *)out)[i] = ((const float4 *)in)[i + 1]; // here
}
K(shared_past_end) {
  __shared__ float t[256];
  t[threadIdx.x + 1] = in[threadIdx.x]; // here
  __syncthreads();
  out[threadIdx.x] = t[threadIdx.x];
}
K(shared_before_first) {
  __shared__ float t[256];
  t[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = t[(int)threadIdx.x - 1]; // here
}
K(shared_into_next_array) {
  __shared__ float a[256], b[256];
  a[threadIdx.x] = in[threadIdx.x];
  b[threadIdx.x] = 2.f * in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x + d] + b[threadIdx.x]; // here
}
K(dynamic_shared_too_small) { // needs 1024 bytes, gets 1020
  extern __shared__ float t[];
  t[threadIdx.x] = in[threadIdx.x]; // here
  __syncthreads();
  out[threadIdx.x] = t[255 - threadIdx.x];
}
K(wild_index) {
  int i = GID;
  if (i < n) out[i] = in[(long long)i << 33]; // here
}
K(null_pointer) {
  const float *p = (const float *)(u64)d;
  out[GID] = *p; // here
}

// ---- alignment
K(misaligned_float4) {
  int i = GID;
  if (4 * i + 4 < n) ((float4 *)out)[i] = *(const float4 *)(in + 4 * i + 1); // here
}
K(misaligned_float2_store) {
  int i = GID;
  if (2 * i + 2 < n) *(float2 *)(out + 2 * i + 1) = *(const float2 *)(in + 2 * i); // here
}
K(misaligned_short) {
  int i = GID;
  if (i + 1 < n) out[i] = *(const u16 *)((const u8 *)in + 4 * i + 1); // here
}
K(misaligned_shared) {
  __shared__ __align__(16) float t[1280];
  for (int k = threadIdx.x; k < 1280; k += blockDim.x) t[k] = in[0];
  __syncthreads();
  ((float4 *)out)[threadIdx.x] = *(float4 *)(t + 5 * threadIdx.x); // here
}

// ---- permissions
K(writes_its_input) {
  int i = GID;
  if (i < n) {
    out[i] = in[i];
    ((float *)in)[i] = 0.f; // here
  }
}

// ---- values that were never set
K(undefined_index) {
  __shared__ int t[256];
  if (threadIdx.x < 255) t[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = in[t[threadIdx.x]]; // here
}
K(undefined_condition) {
  __shared__ int t[256];
  if (threadIdx.x != 7) t[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float v = in[threadIdx.x];
  if (t[threadIdx.x] > 100) // here
    for (int k = 0; k < n; k++) v = v * v + in[k];
  out[threadIdx.x] = v;
}
K(undefined_result) {
  __shared__ float t[512];
  t[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = t[threadIdx.x + 1]; // here
}
K(undefined_scratch) {
  int i = GID;
  if (i < n) out[i] = in[i] + scratch[i]; // here
}
K(undefined_byte_of_a_word) { // three of four bytes are set
  __shared__ __align__(4) u8 t[1024];
  for (int k = 0; k < 3; k++) t[4 * threadIdx.x + k] = (u8)k;
  __syncthreads();
  ((u32 *)out)[threadIdx.x] = ((u32 *)t)[threadIdx.x]; // here
}
K(wrong_pad) { // rows of 33 words written with a pitch of 32
  __shared__ float t[33 * 32];
  for (int r = threadIdx.y; r < 32; r += 8) t[32 * r + threadIdx.x] = in[32 * r + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) out[32 * r + threadIdx.x] = t[33 * threadIdx.x + r]; // here
}
K(ok_undefined_unused) { // the tail lanes hold undefined bytes that go nowhere
  __shared__ __align__(4) u8 t[1024];
  for (int k = 0; k < 3; k++) t[4 * threadIdx.x + k] = (u8)k;
  __syncthreads();
  u32 w = ((u32 *)t)[threadIdx.x];
  out[threadIdx.x] = (float)(w & 0xff) + (float)(w >> 16 & 0xff);
}
K(ok_undefined_permuted) { // an undefined byte is moved about and dropped
  __shared__ __align__(4) u8 t[1024];
  for (int k = 1; k < 4; k++) t[4 * threadIdx.x + k] = (u8)k;
  __syncthreads();
  u32 w = ((u32 *)t)[threadIdx.x];
  ((u32 *)out)[threadIdx.x] = __byte_perm(w, 0x55, 0x4321);
}

// ---- outputs
K(missed_tail) {
  int i = GID;
  if (i < n - 1) out[i] = in[i];
}
K(missed_field) { // records of three
  int i = GID;
  if (3 * i + 2 < n) {
    out[3 * i] = in[3 * i];
    out[3 * i + 1] = in[3 * i + 1];
  }
}
K(missed_blocks) { // a grid-stride loop without the loop
  int i = GID;
  if (i < 256) out[i] = in[i];
}
K(partial_vector) {
  int i = GID;
  if (4 * i + 3 < n) ((float4 *)out)[i] = ((const float4 *)in)[i];
}
K(stale_output) { // writes only where the value is new
  int i = GID;
  if (i < n && in[i] != 5.f) out[i] = in[i];
}

// ---- races
K(missing_barrier) {
  __shared__ float t[256];
  t[threadIdx.x] = in[threadIdx.x]; // here
  out[threadIdx.x] = t[255 - threadIdx.x]; // or here
}
K(missing_barrier_in_loop) { // the second round overwrites what others still read
  __shared__ float t[256];
  float s = 0;
  for (int r = 0; r < 2; r++) {
    t[threadIdx.x] = in[threadIdx.x] + r; // here
    __syncthreads();
    s += t[255 - threadIdx.x]; // or here
  }
  out[threadIdx.x] = s;
}
K(all_to_one_word) {
  __shared__ float t;
  t = in[threadIdx.x]; // here
  __syncthreads();
  out[threadIdx.x] = t;
}
K(warps_overlap) { // each warp writes 33 words
  __shared__ float t[512];
  int w = threadIdx.x / 32, l = threadIdx.x % 32;
  for (int k = l; k < 33; k += 32) t[32 * w + k] = in[threadIdx.x] + 2 * k; // here
  __syncthreads();
  out[threadIdx.x] = t[threadIdx.x];
}
K(blocks_overlap) {
  int i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
  if (i < n) out[i] = in[GID]; // here
}
K(reads_other_block) {
  int i = GID;
  if (i < n) {
    scratch[i] = in[i]; // here
    out[i] = scratch[n - 1 - i]; // or here
  }
}
K(in_place_shift) { // scratch is filled first, in the same block
  int i = threadIdx.x;
  scratch[i] = in[i];
  __syncthreads();
  if (i < 255) scratch[i] = scratch[i + 1]; // here
  out[i] = in[i];
}
extern "C" __global__ void restrict_lies(const float *__restrict__ in, float *__restrict__ out, float *scratch,
                                         int n, int d) { // in and out are the same buffer
  int i = GID;
  if (i < n) out[i] = in[i] + 1.f; // here
}
K(ok_tile) {
  __shared__ float t[32][33];
  for (int r = threadIdx.y; r < 32; r += 8) t[r][threadIdx.x] = in[32 * r + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) out[32 * r + threadIdx.x] = t[threadIdx.x][r];
}
K(ok_same_value) { // all warps write the same
  __shared__ float t;
  t = in[0];
  __syncthreads();
  out[threadIdx.x] = t;
}
K(ok_tree) {
  __shared__ float t[256];
  t[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) t[threadIdx.x] += t[threadIdx.x + s];
    __syncthreads();
  }
  out[threadIdx.x] = t[0];
}

// ---- barriers
K(barrier_in_half_warp) {
  if (threadIdx.x % 32 < 16) __syncthreads(); // here
  out[threadIdx.x] = in[threadIdx.x];
}
K(barrier_skipped_by_warps) {
  if (threadIdx.x < 128) __syncthreads(); // here
  out[threadIdx.x] = in[threadIdx.x];
}
K(barrier_after_return) {
  if (threadIdx.x >= 200) return;
  out[threadIdx.x] = in[threadIdx.x];
  __syncthreads(); // here
  out[threadIdx.x] += 1.f;
}
K(barrier_in_uneven_loop) {
  for (int k = 0; k < threadIdx.x % 3; k++) __syncthreads(); // here
  out[threadIdx.x] = in[threadIdx.x];
}
K(barriers_crossed) { // two numbers, each waits for all
  if (threadIdx.x < 128)
    asm volatile("bar.sync 1;");
  else
    asm volatile("bar.sync 2;");
  out[threadIdx.x] = in[threadIdx.x];
}
K(ok_named_barriers) { // halves of the block, 128 threads each
  __shared__ float t[256];
  t[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 128)
    asm volatile("bar.sync 1, 128;" ::: "memory");
  else
    asm volatile("bar.sync 2, 128;" ::: "memory");
  out[threadIdx.x] = t[threadIdx.x ^ 127];
}

// ---- lanes
K(shuffle_in_branch) {
  float v = in[threadIdx.x];
  if (threadIdx.x % 32 < 20) v = __shfl_down_sync(0xffffffffu, v, 1); // here
  out[threadIdx.x] = v;
}
K(shuffle_without_itself) {
  float v = in[threadIdx.x];
  out[threadIdx.x] = __shfl_sync(0x0000ffffu, v, 0); // here
}
K(syncwarp_in_branch) {
  float v = in[threadIdx.x];
  if (threadIdx.x & 1) {
    __syncwarp(); // here
    v += 1.f;
  }
  out[threadIdx.x] = v;
}
K(shuffle_from_outside) { // the block has 40 threads: lane 16 of the second warp does not exist
  float v = in[threadIdx.x];
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, v, 16); // here
}
K(ok_shuffle) {
  float v = in[threadIdx.x];
  for (int k = 16; k > 0; k >>= 1) v += __shfl_xor_sync(0xffffffffu, v, k);
  out[threadIdx.x] = v;
}

// ---- asynchronous copies
#define COPY(dst, src) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((u32)__cvta_generic_to_shared(dst)), "l"(src) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(k) asm volatile("cp.async.wait_group %0;" ::"n"(k) : "memory")
K(copy_without_wait) {
  __shared__ float t[256];
  COPY(&t[threadIdx.x], in + threadIdx.x);
  COMMIT;
  __syncthreads();
  out[threadIdx.x] = t[255 - threadIdx.x]; // here
}
K(copy_wait_too_loose) { // two groups, waits for all but one
  __shared__ float t[512];
  COPY(&t[threadIdx.x], in + threadIdx.x);
  COMMIT;
  COPY(&t[256 + threadIdx.x], in + threadIdx.x);
  COMMIT;
  WAIT(1);
  __syncthreads();
  out[threadIdx.x] = t[threadIdx.x] + t[511 - threadIdx.x]; // here
}
K(copy_to_a_used_buffer) { // the old contents are there, the new ones are read too early
  __shared__ float t[256];
  t[threadIdx.x] = 1.f;
  __syncthreads();
  float old = t[255 - threadIdx.x];
  __syncthreads();
  COPY(&t[threadIdx.x], in + threadIdx.x);
  COMMIT;
  __syncthreads();
  out[threadIdx.x] = old + t[255 - threadIdx.x]; // here
  WAIT(0);
}
K(copy_not_committed) {
  __shared__ float t[256];
  COPY(&t[threadIdx.x], in + threadIdx.x);
  WAIT(0);
  __syncthreads();
  out[threadIdx.x] = t[255 - threadIdx.x]; // here
}
K(copy_without_barrier) {
  __shared__ float t[256];
  COPY(&t[threadIdx.x], in + threadIdx.x); // here
  COMMIT;
  WAIT(0); // or here
  out[threadIdx.x] = t[255 - threadIdx.x]; // or here
}
K(copy_overwritten) { // the store may come before or after the copy
  __shared__ float t[256];
  COPY(&t[threadIdx.x], in + threadIdx.x);
  t[threadIdx.x] = 0.f; // here
  COMMIT;
  WAIT(0);
  __syncthreads();
  out[threadIdx.x] = t[255 - threadIdx.x];
}
K(copy_out_of_bounds) {
  __shared__ float t[256];
  COPY(&t[threadIdx.x], in + threadIdx.x + n - 255); // here
  COMMIT;
  WAIT(0);
  __syncthreads();
  out[threadIdx.x] = t[threadIdx.x];
}
K(ok_copy) { // double buffering
  __shared__ float t[2][256];
  float s = 0;
  COPY(&t[0][threadIdx.x], in + threadIdx.x);
  COMMIT;
  for (int r = 0; r < 4; r++) {
    if (r < 3) COPY(&t[(r + 1) & 1][threadIdx.x], in + (threadIdx.x + 17 * r) % 256);
    COMMIT;
    WAIT(1);
    __syncthreads();
    s += t[r & 1][255 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = s;
}

// ---- the rest
K(gives_up) {
  if (in[threadIdx.x] == 5.f) __trap(); // here
  out[threadIdx.x] = in[threadIdx.x];
}
K(endless) {
  volatile float *p = scratch;
  p[threadIdx.x] = 0;
  while (p[threadIdx.x] >= 0) p[threadIdx.x] = p[threadIdx.x] + 1.f;
  out[threadIdx.x] = in[threadIdx.x];
}
K(waits_for_nobody) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  while (flag == 0) {
  }
  out[threadIdx.x] = in[threadIdx.x];
}
K(ok_waits_for_a_warp) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x >= 224) flag = 1;
  while (flag == 0) {
  }
  out[threadIdx.x] = in[threadIdx.x];
}
K(last_block_wins) {
  volatile float *p = out;
  p[threadIdx.x] = in[threadIdx.x] + blockIdx.x;
}
