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

K(overflow_of_32_bits) { // rows from 2,147,483 on, 1,000 elements each; d tells the same places as n
  int row = d + GID / 1000;
  int i = GID;
  if (i < n) out[i] = in[row * 1000 + i % 1000 - 1000LL * d]; // here
}
K(ok_64_bits) {
  int row = d + GID / 1000;
  int i = GID;
  if (i < n) out[i] = in[row * 1000LL + i % 1000 - 1000LL * d];
}
K(overflow_of_unsigned) {
  u32 at = 4u * (u32)(d + GID); // a byte offset
  int i = GID;
  if (i < n) out[i] = *(const float *)((const char *)in + at - 4LL * d); // here
}
K(reversed_off_by_one) {
  int i = GID;
  if (i < n) out[i] = in[n - i]; // here
}
K(unrolled_without_rest) { // n is no multiple of three
  for (int i = 3 * GID; i < n; i += 3 * gridDim.x * blockDim.x)
    for (int k = 0; k < 3; k++) out[i + k] = in[min(i + k, n - 1)]; // here
}
K(halo_past_end) { // the halo of the last block has nobody to read
  __shared__ float t[258];
  int i = GID;
  if (i < n) t[threadIdx.x + 1] = in[i];
  if (threadIdx.x == 0) t[0] = i > 0 ? in[i - 1] : 0.f;
  if (threadIdx.x == blockDim.x - 1) t[257] = in[i + 1]; // here
  __syncthreads();
  if (i < n) out[i] = t[threadIdx.x] + t[threadIdx.x + 1];
}
K(local_past_end) {
  float t[8];
  for (int k = 0; k < 8; k++) t[(k + d) & 7] = in[threadIdx.x] + k;
  out[threadIdx.x] = t[d]; // here
}
K(shared_read_bytes_at) {
  __shared__ u8 t[1024];
  for (int k = threadIdx.x; k < 1024; k += 256) t[k] = (u8)k;
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x] + t[d]; // here
}
K(shared_write_bytes_at) {
  __shared__ u8 t[1024];
  for (int k = threadIdx.x; k < 1024; k += 256) t[k] = (u8)k;
  __syncthreads();
  if (threadIdx.x == 0) t[d] = 1; // here
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x] + t[threadIdx.x];
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

K(misaligned_by_pitch) { // rows of 33 floats, read in pairs
  int row = GID / 16, pair = GID % 16;
  if (33 * row + 2 * pair + 1 < n) ((float2 *)out)[GID] = *(const float2 *)(in + 33 * row + 2 * pair); // here
}
K(misaligned_double) {
  int i = GID;
  if (2 * i + 2 < n) ((double *)out)[i] = *(const double *)(in + 2 * i + 1); // here
}

// ---- permissions
K(writes_its_input) {
  int i = GID;
  if (i < n) {
    out[i] = in[i];
    ((float *)in)[i] = 0.f; // here
  }
}

K(writes_last_input) {
  int i = GID;
  if (i < n) out[i] = in[i];
  if (i == n - 1) ((float *)in)[i] = 0.f; // here
}
K(swapped_pointers) {
  int i = GID;
  if (i < n) ((float *)in)[i] = i; // here
  if (i < n) out[i] = i;
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

#define NEVER_SET(name)                                                                                               \
  int name;                                                                                                           \
  asm volatile("{ .reg .b32 never; mov.b32 %0, never; }" : "=r"(name))
K(register_to_address) {
  NEVER_SET(k);
  out[threadIdx.x] = in[k & 255]; // here
}
K(register_to_shared_address) {
  __shared__ float t[256];
  NEVER_SET(k);
  t[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = t[k & 255]; // here
}
K(register_to_result) {
  NEVER_SET(k);
  out[threadIdx.x] = in[threadIdx.x] + k; // here
}
K(register_to_branch) {
  NEVER_SET(k);
  float v = in[threadIdx.x];
  if (k > 0) // here
    for (int j = 0; j < n; j++) v = v * v + in[j];
  out[threadIdx.x] = v;
}
K(halo_not_loaded) { // a stencil whose right halo nobody loads
  __shared__ float t[258];
  t[threadIdx.x + 1] = in[threadIdx.x];
  if (threadIdx.x == 0) t[0] = 0.f;
  __syncthreads();
  out[threadIdx.x] = t[threadIdx.x] + t[threadIdx.x + 2]; // here
}
K(ok_register_unused) { // what it holds cancels out
  NEVER_SET(k);
  out[threadIdx.x] = in[(k & 0) + threadIdx.x];
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

K(missed_last) { // whole vectors, and a rest that ends too early
  int i = GID;
  if (4 * i + 3 < n) ((float4 *)out)[i] = ((const float4 *)in)[i];
  if (i < n % 4 - 1) out[n / 4 * 4 + i] = in[n / 4 * 4 + i];
}
K(missed_first) {
  int i = GID;
  if (i > 0 && i < n) out[i] = in[i];
}
K(last_block_gives_up) { // a block that is not whole does nothing
  if ((blockIdx.x + 1) * blockDim.x > n) return;
  out[GID] = in[GID];
}
K(half_of_each_element) {
  int i = GID;
  if (i < n) ((u16 *)out)[2 * i] = ((const u16 *)in)[2 * i];
}
K(wrong_stride) {
  int i = GID;
  if (2 * i < n) out[2 * i] = in[2 * i];
}
K(stale_second_half) { // the second half of the block waits for work that never comes
  int i = GID;
  if (i < n && threadIdx.x < 128) out[i] = in[i];
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

K(tree_without_barrier) {
  __shared__ float t[256];
  t[threadIdx.x] = in[threadIdx.x] + 1.f;
  __syncthreads();
  for (int s = 128; s >= 32; s >>= 1) // whole warps
    if (threadIdx.x < s) t[threadIdx.x] += t[threadIdx.x + s]; // here
  __syncthreads();
  out[threadIdx.x] = t[0];
}
K(barrier_of_a_half) { // the halves wait for themselves and read from each other
  __shared__ float t[256];
  t[threadIdx.x] = in[threadIdx.x] + 1.f; // here
  if (threadIdx.x < 128)
    asm volatile("bar.sync 1, 128;" ::: "memory");
  else
    asm volatile("bar.sync 2, 128;" ::: "memory");
  out[threadIdx.x] = t[255 - threadIdx.x]; // or here
}
K(producer_does_not_wait) { // one half fills the tile twice; the other says when it may, and nobody listens
  __shared__ float t[128];
  float s = 0;
  for (int r = 0; r < 2; r++) {
    if (threadIdx.x < 128) {
      t[threadIdx.x] = in[threadIdx.x] + r; // here
      asm volatile("bar.arrive 1, 256;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 256;" ::: "memory");
      s += t[255 - threadIdx.x]; // or here
    }
  }
  out[threadIdx.x] = s;
}
K(ok_producer) { // barrier 1: the tile is full; barrier 2: it may be filled again
  __shared__ float t[128];
  float s = 0;
  for (int r = 0; r < 3; r++) {
    if (threadIdx.x < 128) {
      if (r > 0) asm volatile("bar.sync 2, 256;" ::: "memory");
      t[threadIdx.x] = in[threadIdx.x] + r;
      asm volatile("bar.arrive 1, 256;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 256;" ::: "memory");
      s += t[255 - threadIdx.x];
      if (r < 2) asm volatile("bar.arrive 2, 256;" ::: "memory");
    }
  }
  out[threadIdx.x] = s;
}
K(one_buffer_for_two) { // double buffering, one barrier a round, that never changes the buffer
  __shared__ float t[2][256];
  float s = 0;
  for (int r = 0; r < 4; r++) {
    t[d][threadIdx.x] = in[threadIdx.x] + r; // here
    __syncthreads();
    s += t[d][255 - threadIdx.x]; // or here
  }
  out[threadIdx.x] = s;
}
K(ok_two_buffers) {
  __shared__ float t[2][256];
  float s = 0;
  for (int r = 0; r < 4; r++) {
    t[r & 1][threadIdx.x] = in[threadIdx.x] + r;
    __syncthreads();
    s += t[r & 1][255 - threadIdx.x];
  }
  out[threadIdx.x] = s;
}
K(in_place_reverse) {
  scratch[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  scratch[threadIdx.x] = scratch[255 - threadIdx.x]; // here
  out[threadIdx.x] = in[threadIdx.x];
}

// ---- races within a warp; 32 threads, or warps that keep to themselves
#define LANE (threadIdx.x & 31)
#define OWN (&t[threadIdx.x & ~31])
K(warp_no_sync) {
  __shared__ float t[256];
  OWN[LANE] = in[threadIdx.x];
  out[threadIdx.x] = OWN[31 - LANE]; // here
}
K(warp_no_sync_before_reuse) {
  __shared__ float t[256];
  float s = 0;
  for (int r = 0; r < 2; r++) {
    OWN[LANE] = in[threadIdx.x] + r; // here
    __syncwarp();
    s += OWN[31 - LANE];
  }
  out[threadIdx.x] = s;
}
K(warp_tree_no_sync) { // as it was written for GPUs whose warps ran in lockstep
  __shared__ float t[320];
  OWN[LANE] = in[threadIdx.x] + 1.f;
  __syncthreads();
  for (int s = 16; s > 0; s >>= 1)
    if (LANE < s) OWN[LANE] += OWN[LANE + s]; // here
  out[threadIdx.x] = in[threadIdx.x];
}
K(warp_halves_exchange) { // one half stores, the other half loads
  __shared__ float t[256];
  t[threadIdx.x] = 0.f;
  __syncthreads();
  float v = 0;
  if (LANE < 16)
    OWN[LANE] = in[threadIdx.x] + 1.f; // here
  else
    v = OWN[LANE - 16]; // or here
  out[threadIdx.x] = v;
}
K(warp_two_writers) { // which of the two stays
  __shared__ float t[256];
  OWN[LANE] = in[threadIdx.x];
  OWN[31 - LANE] = in[threadIdx.x] + 1.f; // here
  __syncwarp();
  out[threadIdx.x] = OWN[LANE];
}
K(warp_lost_update) { // a histogram without atomics
  __shared__ int t[256];
  t[threadIdx.x] = 0;
  __syncthreads();
  OWN[LANE / 4] += (int)in[threadIdx.x]; // here
  __syncthreads();
  out[threadIdx.x] = t[threadIdx.x];
}
K(warp_copy_no_sync) { // each lane has waited for its own copies only
  __shared__ float t[256];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((u32)__cvta_generic_to_shared(&t[threadIdx.x])),
               "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = OWN[31 - LANE]; // here
}
K(ok_warp_sync) {
  __shared__ float t[256];
  float s = 0;
  for (int r = 0; r < 2; r++) {
    OWN[LANE] = in[threadIdx.x] + r;
    __syncwarp();
    s += OWN[31 - LANE];
    __syncwarp();
  }
  out[threadIdx.x] = s;
}
K(ok_warp_tree) {
  __shared__ float t[256];
  OWN[LANE] = in[threadIdx.x] + 1.f;
  __syncwarp();
  for (int s = 16; s > 0; s >>= 1) {
    float v = LANE < s ? OWN[LANE + s] : 0.f;
    __syncwarp();
    if (LANE < s) OWN[LANE] += v;
    __syncwarp();
  }
  out[threadIdx.x] = OWN[0];
}
K(ok_own_words) { // no other lane looks
  __shared__ __align__(16) float t[1024];
  *(float4 *)(t + 4 * threadIdx.x) = ((const float4 *)in)[threadIdx.x];
  float s = 0;
  for (int k = 0; k < 4; k++) s += t[4 * threadIdx.x + k];
  for (int k = 0; k < 4; k++) t[4 * threadIdx.x + k] = s;
  ((float4 *)out)[threadIdx.x] = *(float4 *)(t + 4 * threadIdx.x);
}
K(ok_warp_same_value) { // lanes overwrite each other with what is there
  __shared__ float t[8];
  t[threadIdx.x / 32] = in[threadIdx.x & ~31];
  out[threadIdx.x] = t[threadIdx.x / 32];
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

K(tail_returns_early) {
  __shared__ float t[256];
  int i = GID;
  if (i >= n) return;
  t[threadIdx.x] = in[i];
  __syncthreads(); // here
  out[i] = t[threadIdx.x];
}
K(barrier_by_data) {
  float v = in[threadIdx.x];
  while (v > 100.f) {
    v *= 0.5f;
    __syncthreads(); // here
  }
  out[threadIdx.x] = v;
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

K(shuffle_from_exited) {
  if (LANE >= 20) {
    out[threadIdx.x] = 0.f;
    return;
  }
  float v = in[threadIdx.x];
  out[threadIdx.x] = __shfl_down_sync(0xffffffffu, v, 1); // here
}
K(shuffle_after_exit) {
  out[threadIdx.x] = 0.f;
  asm volatile("{ .reg .pred p; setp.ge.u32 p, %0, 20; @p exit; }" ::"r"(LANE));
  float v = in[threadIdx.x];
  out[threadIdx.x] = __shfl_down_sync(0xffffffffu, v, 1); // here
}
K(shuffle_in_tail) { // the last warp is not whole, and lanes that are not there are asked
  int i = GID;
  if (i >= n) return;
  out[i] = __shfl_down_sync(0xffffffffu, in[i], 1); // here
}
K(vote_in_branch) {
  u32 v = 0;
  if (in[threadIdx.x] > 3.f) v = __ballot_sync(0xffffffffu, 1); // here
  out[threadIdx.x] = v;
}
K(lane_left_out) {
  float v = in[threadIdx.x];
  out[threadIdx.x] = __all_sync(0xfffffffeu, v > 0.f); // here
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

K(copy_pipeline_late) { // waits for the round before last
  __shared__ float t[2][256];
  float s = 0;
  COPY(&t[0][threadIdx.x], in + threadIdx.x);
  COMMIT;
  for (int r = 0; r < 4; r++) {
    if (r < 3) COPY(&t[(r + 1) & 1][threadIdx.x], in + (threadIdx.x + 17 * r) % 256);
    COMMIT;
    WAIT(2);
    __syncthreads();
    s += t[r & 1][255 - threadIdx.x]; // here
    __syncthreads();
  }
  out[threadIdx.x] = s;
}
K(copy_misaligned) {
  __shared__ __align__(16) float t[1028];
  u32 to = (u32)__cvta_generic_to_shared(&t[4 * threadIdx.x]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * threadIdx.x + 1) : "memory"); // here
  COMMIT;
  WAIT(0);
  __syncthreads();
  ((float4 *)out)[threadIdx.x] = *(float4 *)(t + 4 * threadIdx.x);
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
K(last_warp_wins) {
  __shared__ volatile float t[32];
  t[LANE] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = t[LANE];
}
K(first_come) { // places in the order of arrival
  __shared__ volatile int turn;
  volatile float *p = out;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  if (LANE == 0) {
    int at = turn;
    turn = at + 1;
    for (int k = 0; k < 32; k++) p[32 * at + k] = in[threadIdx.x + k];
  }
}

// ---- clusters of four blocks: each gives its values to the next one
#define CK(name) extern "C" __global__ void __cluster_dims__(4, 1, 1) name(const float *in, float *out, float *scratch, int n, int d)
#define ARRIVE asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define WAIT asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
#define AT(to, p, rank) asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"((u32)__cvta_generic_to_shared(p)), "r"(rank))
#define PUT(to, v) asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(v) : "memory")
CK(ok_cluster) {
  __shared__ float t[256];
  u32 next;
  AT(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  ARRIVE; WAIT;
  PUT(next, in[GID]);
  ARRIVE; WAIT;
  float first = t[threadIdx.x];
  ARRIVE;
  out[GID] = first;
  WAIT;
  PUT(next, in[GID] + 1.f);
  ARRIVE; WAIT;
  out[GID] += t[threadIdx.x];
}
CK(ok_cluster_own) { // the own block by its rank, and by a plain address
  __shared__ float t[256];
  u32 rank, own;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  AT(own, &t[255 - threadIdx.x], rank);
  PUT(own, in[GID]);
  __syncthreads();
  float v = t[threadIdx.x];
  __syncthreads();
  own = (u32)__cvta_generic_to_shared(&t[threadIdx.x]);
  PUT(own, v);
  out[GID] = t[threadIdx.x];
}
CK(cluster_may_not_run) {
  __shared__ float t[256];
  u32 next;
  AT(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  PUT(next, in[GID]); // here
  ARRIVE; WAIT;
  out[GID] = t[threadIdx.x];
}
CK(cluster_no_barrier) {
  __shared__ float t[256];
  u32 next;
  AT(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  ARRIVE; WAIT;
  PUT(next, in[GID]); // here
  out[GID] = t[threadIdx.x]; // here
}
CK(cluster_block_barrier) {
  __shared__ float t[256];
  u32 next;
  AT(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  ARRIVE; WAIT;
  PUT(next, in[GID]); // here
  __syncthreads();
  out[GID] = t[threadIdx.x]; // here
}
CK(cluster_overwrites) {
  __shared__ float t[256];
  u32 next;
  AT(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  ARRIVE; WAIT;
  PUT(next, in[GID]);
  ARRIVE; WAIT;
  float v = t[threadIdx.x]; // here
  PUT(next, v + 1.f); // here
  ARRIVE; WAIT;
  out[GID] = v + t[threadIdx.x];
}
CK(cluster_warp_missing) {
  out[GID] = in[GID];
  if (threadIdx.x >= 32) {
    ARRIVE; WAIT; // here
  }
}
CK(cluster_arrives_twice) {
  out[GID] = in[GID];
  ARRIVE; ARRIVE; // here
  WAIT;
}
CK(cluster_never_arrives) {
  out[GID] = in[GID];
  WAIT; // here
}
CK(cluster_rank_too_high) {
  __shared__ float t[256];
  u32 next;
  AT(next, &t[threadIdx.x], blockIdx.x + 1); // here
  ARRIVE; WAIT;
  PUT(next, in[GID]);
  ARRIVE; WAIT;
  out[GID] = t[threadIdx.x];
}
CK(cluster_past_end) {
  __shared__ float t[256];
  u32 next;
  AT(next, &t[threadIdx.x + 1], (blockIdx.x + 1) % 4);
  ARRIVE; WAIT;
  PUT(next, in[GID]); // here
  ARRIVE; WAIT;
  out[GID] = t[threadIdx.x];
}
CK(ok_cluster_loads) {
  __shared__ float t[256];
  u32 next;
  t[threadIdx.x] = in[GID];
  AT(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  ARRIVE; WAIT;
  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(next));
  out[GID] = v;
  ARRIVE; WAIT;
  t[threadIdx.x] = v;
}
#define MAP(to, p, rank) asm volatile("mapa.u64 %0, %1, %2;" : "=l"(to) : "l"(p), "r"(rank))
#define RANK(to, p) asm volatile("getctarank.u64 %0, %1;" : "=r"(to) : "l"(p))
CK(ok_cluster_generic) { // loads, stores and atomics by generic addresses
  __shared__ float t[256];
  __shared__ int sum;
  float *next;
  int *first, left;
  u32 whose;
  t[threadIdx.x] = in[GID];
  sum = 0;
  MAP(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  MAP(first, &sum, 0);
  ARRIVE; WAIT;
  RANK(whose, next);
  float v = *next + (whose - (blockIdx.x + 1) % 4);
  RANK(whose, &t[0]);
  v += whose - blockIdx.x % 4;
  asm volatile("{ .reg .pred p, q; isspacep.shared::cta p, %1; isspacep.shared::cluster q, %1; selp.s32 %0, 1, 0, p;"
               " @!q add.s32 %0, %0, 2; }" : "=r"(left) : "l"(next));
  v += left;
  atomicAdd(first, 1);
  ARRIVE; WAIT;
  *next = v;
  ARRIVE; WAIT;
  out[GID] = t[threadIdx.x] + (blockIdx.x % 4 == 0 && sum != 4 * 256);
}
CK(cluster_reads_too_early) {
  __shared__ float t[256];
  float *next;
  MAP(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  t[threadIdx.x] = in[GID];
  ARRIVE; WAIT;
  t[threadIdx.x] += 1.f; // here
  out[GID] = *next; // here
  ARRIVE; WAIT;
}
CK(cluster_overwrites_what_others_read) {
  __shared__ float t[256];
  float *next;
  MAP(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  t[threadIdx.x] = in[GID];
  ARRIVE; WAIT;
  const float own = t[255 - threadIdx.x];
  const float v = *next; // here
  __syncthreads();
  t[threadIdx.x] = own; // here
  ARRIVE; WAIT;
  out[GID] = v + t[threadIdx.x];
}
CK(cluster_reads_what_others_update) {
  __shared__ int t[256];
  int *next;
  MAP(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  t[threadIdx.x] = 0;
  ARRIVE; WAIT;
  atomicAdd(next, 1); // here
  atomicAdd(&t[threadIdx.x], 1);
  __syncthreads();
  out[GID] = t[threadIdx.x]; // here
  ARRIVE; WAIT;
}
CK(cluster_reads_of_what_has_ended) {
  __shared__ float t[256];
  float *next;
  MAP(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  t[threadIdx.x] = in[GID];
  ARRIVE; WAIT;
  out[GID] = blockIdx.x % 4 == 0 ? *next : 1.f; // here
}
CK(cluster_maps_global) {
  float *next;
  MAP(next, out + threadIdx.x, (blockIdx.x + 1) % 4); // here
  out[GID] = *next;
}
// ---- the whole grid: as cooperative_groups does it
__device__ void grid_sync() {
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 low, high, old, now;
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    u64 at = ((u64)high << 32 | low) + 4;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(blockIdx.x == 0 ? 0x80000001u - gridDim.x : 1u) : "memory");
    do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(at) : "memory");
    while ((int)(old ^ now) >= 0); // here
  }
  __syncthreads();
}
K(ok_grid) {
  for (int r = 0; r < 3; r++) {
    if (GID < n) scratch[GID] = in[GID] + r;
    grid_sync();
    if (GID < n) out[GID] = scratch[n - 1 - GID];
    grid_sync();
  }
}
K(grid_no_barrier) {
  if (GID < n) scratch[GID] = in[GID];
  grid_sync();
  if (GID < n) out[GID] = scratch[n - 1 - GID]; // here
  if (GID < n) scratch[GID] = 1.f; // here
}
K(grid_block_leaves) {
  if (GID < n) out[GID] = in[GID];
  if (blockIdx.x == 2) return;
  grid_sync();
}
CK(ok_cluster_global) { // what one block writes all read, and what all have read one changes
  const int at = blockIdx.x / 4 * 1024 + threadIdx.x, one = blockIdx.x / 4 * 1024 + 512;
  if (blockIdx.x % 4 == 1) scratch[at] = in[GID];
  if (blockIdx.x % 4 == 2 && threadIdx.x == 40) scratch[one] = in[GID];
  ARRIVE; WAIT;
  const float held = scratch[at], same = scratch[one];
  ARRIVE; WAIT;
  if (blockIdx.x % 4 == 2) scratch[at] = held + 1.f;
  if (blockIdx.x % 4 == 3 && threadIdx.x == 70) scratch[one] = same + 1.f;
  ARRIVE; WAIT;
  out[GID] = held + same + scratch[at] + scratch[one];
}
CK(cluster_changes_what_others_read) {
  const int one = blockIdx.x / 4 * 1024;
  if (blockIdx.x % 4 == 0 && threadIdx.x == 5) scratch[one] = in[GID];
  ARRIVE; WAIT;
  const float held = scratch[one]; // here
  __syncthreads();
  if (blockIdx.x % 4 == 3 && threadIdx.x == 5) scratch[one] = held + 1.f; // here
  out[GID] = held;
}
CK(cluster_reads_after_it_arrives) {
  const int one = blockIdx.x / 4 * 1024;
  if (blockIdx.x % 4 == 0 && threadIdx.x == 5) scratch[one] = in[GID];
  ARRIVE; WAIT;
  ARRIVE;
  const float held = scratch[one]; // here
  WAIT;
  if (blockIdx.x % 4 == 3 && threadIdx.x == 5) scratch[one] = held + 1.f; // here
  out[GID] = held;
}
CK(cluster_changes_what_one_reads) {
  const int at = blockIdx.x / 4 * 1024 + threadIdx.x;
  scratch[GID] = in[GID];
  ARRIVE; WAIT;
  out[GID] = blockIdx.x % 4 == 0 ? scratch[at + 256] : 1.f; // here
  if (blockIdx.x % 4 == 2) scratch[at + 256] = 7.f; // here
}
CK(cluster_reads_what_one_writes) {
  const int at = blockIdx.x / 4 * 1024 + threadIdx.x;
  if (blockIdx.x % 4 == 0) scratch[at] = in[GID]; // here
  __syncthreads();
  out[GID] = blockIdx.x % 4 == 1 ? scratch[at] : 1.f; // here
}
CK(cluster_reads_from_another_cluster) {
  if (blockIdx.x == 0) scratch[threadIdx.x] = in[GID]; // here
  ARRIVE; WAIT;
  out[GID] = blockIdx.x == 4 ? scratch[threadIdx.x] : 1.f; // here
}
CK(cluster_after_the_end) {
  __shared__ float t[256];
  u32 last, next;
  AT(last, &t[threadIdx.x], (blockIdx.x + 3) % 4);
  AT(next, &t[threadIdx.x], (blockIdx.x + 1) % 4);
  t[threadIdx.x] = in[GID];
  ARRIVE; WAIT;
  out[GID] = in[GID];
  PUT(last, 1.f); // here
  PUT(next, 1.f); // here
}
