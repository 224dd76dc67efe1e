// row_sum.h - written by sectile 0.1.0; do not edit. Again: sectile emit row_sum.lua -o row_sum.h
//
// For every (row, col) in [0, n_row) x [0, n_col):
//   total = a;
// where
//   a      in   f32, layout row_major; over (row, col)
//   total  out  f32, layout row_major; over (row), sum of what is computed for it
//
// device               variant         size                median us  GB/s  of copy  sectors/request ld (least) | st (least)
// NVIDIA H200 (sm_90)  reduce_rows b8  row=16 col=1048576       20.0  3355     80 %  8.0 (8.0) | 8.0 (8.0)
//   naive, same run    direct t256     row=16 col=1048576       70.0   959     23 %  8.0 (8.0) | 24.0 (8.0)
//   40 candidates: 38 verified, 1 tied with the winner, 2 failed
//
// NVIDIA H200: driver 580.1, NVRTC 13.0, sectile 0.1.0
// Spec 8a504888afceb3b29c785e42ad496245; the hash of each kernel's source stands above it.
// Calls that may overlap, such as on two streams, need a workspace each: blocks leave
// partial results there.
#pragma once
#ifndef SECTILE_HEADER_row_sum
#define SECTILE_HEADER_row_sum
#include <cuda_runtime.h>
#include <string.h>

#include <atomic>

// Which kernel a call takes, and why.
typedef struct row_sum_choice {
  const char *variant;  // null: nothing is launched
  const char *device;   // whose tuning decided, null: nobody's
  const char *match;    // how that device matches the current one
  const char *size;     // the tuned size whose kernel it is, null: none
  const char *reason;   // where the call lies among the tuned sizes; why naive, why nothing
} row_sum_choice;

namespace row_sum_detail {
namespace {  // every file that includes this header has its own kernels

#ifdef __NVCC__  // a variant may leave a variable of the computation unused
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif

// direct t256, the naive variant.
//   needs a aligned to 4, total aligned to 4
//   source 141cec08e480221e60a9b5e5a6c49c9a
namespace k0_direct {
// What is reduced: a field for each value of the outputs.
struct partial {
  float total;
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {0.0f};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {a.total + b.total};
}

// What one element of the index space gives, every access where its layout puts it.
__device__ __forceinline__ partial element(const float *__restrict__ a_in,
    float *__restrict__ total_out, long long n_row, long long n_col, long long row, long long col) {
  const float a = a_in[n_col * row + col];
  float total;
  { total = a; }
  return partial{total};
}

// A block of 256 threads an output element, each of which takes every 256-th of what is reduced.
__global__ void __launch_bounds__(256)
direct(const float *__restrict__ a_in, float *__restrict__ total_out, long long n_row,
       long long n_col) {
  constexpr int kThreads = 256;
  __shared__ partial partials[kThreads];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long row = block;
  partial mine = nothing();
  for (long long place = thread; place < n_col; place += kThreads) {
    const long long col = place;
    mine = combine(mine, element(a_in, total_out, n_row, n_col, row, col));
  }
  partials[thread] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) partials[thread] = combine(partials[thread], partials[thread + half]);
  }
  if (thread == 0) {
    mine = partials[0];
    total_out[row] = mine.total;
  }
}
}  // namespace k0_direct

// reduce_rows b8.
//   for NVIDIA H200 at row=16 col=1048576
//   needs a aligned to 16, total aligned to 4, n_col % 4 == 0, 8 * n_row <= 4096, 278528 bytes of workspace
//   source 437313759136bf67ef6bb3c6c2a9d488
namespace k1_reduce_rows {
// What is reduced: a field for each value of the outputs.
struct partial {
  float total;
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {0.0f};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {a.total + b.total};
}
// The partials of a warp's lanes as one, in every lane.
__device__ __forceinline__ partial combine_lanes(partial p) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    p = combine(p, {__shfl_xor_sync(0xffffffffu, p.total, distance)});
  return p;
}
// Another block's partial, which is not in this SM's L1.
__device__ __forceinline__ partial partial_at(const partial *partials, long long number) {
  return {__ldcg(&partials[number].total)};
}

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// kCount words from or to neighbouring addresses.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = static_cast<const Word *>(from)[k];
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stwb(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
}

// What one element of the index space gives, every access where its layout puts it.
__device__ __forceinline__ partial element(const float *__restrict__ a_in,
    float *__restrict__ total_out, long long n_row, long long n_col, long long row, long long col) {
  const float a = a_in[n_col * row + col];
  float total;
  { total = a; }
  return partial{total};
}

// 8 blocks an output element; 4 x 4 elements of col a thread are in flight.
__global__ void __launch_bounds__(256)
reduce_rows(const float *__restrict__ a_in, float *__restrict__ total_out, long long n_row,
            long long n_col, unsigned int *workspace) {
  constexpr int kThreads = 256, kItems = 4, kVec = 4;
  // elements of col that a block takes at once
  constexpr int kTile = kThreads * kItems * kVec;
  __shared__ partial from_warps[kThreads / 32];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  constexpr int kShares = 8; // blocks that share it
  const int share = (int)(block % kShares);
  const long long team = block / kShares;
  // what blocks leave for the one that comes last, and how many have come: 0 again at the end
  unsigned int *const arrived = workspace;
  partial *const partials = reinterpret_cast<partial *>(workspace + 65536);
  const long long row = team;
  partial mine = nothing();
  for (long long first = share * (long long)kTile; first + kTile <= n_col;
       first += kShares * (long long)kTile) {
    __align__(16) float a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * 256 + thread) * kVec;
      load_words<uint4, 1>(&a_v[item * kVec], &at<uint4>(a_in, 4 * n_col * row + 4 * col));
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        const float a = a_v[item * kVec + part];
        float total;
        { total = a; }
        mine = combine(mine, partial{total});
      }
    }
  }
  for (long long col = n_col / kTile * kTile + share * 256 + thread; col < n_col;
       col += kShares * 256)
    mine = combine(mine, element(a_in, total_out, n_row, n_col, row, col));
  mine = combine_lanes(mine);
  if (thread % 32 == 0) from_warps[thread / 32] = mine;
  __syncthreads();
  if (thread < 32) mine = combine_lanes(thread < kThreads / 32 ? from_warps[thread] : nothing());
  __shared__ bool last_block;
  if (thread == 0) {
    partials[block] = mine;
    __threadfence(); // before it counts as arrived
  }
  if (thread == 0) { // the counter goes from the last one to 0, for the next launch
    last_block = atomicInc(&arrived[team], kShares - 1) == kShares - 1;
  }
  __syncthreads();
  if (!last_block) return;
  __threadfence(); // what the others left is seen from here on
  mine = nothing();
  for (int other = thread; other < kShares; other += kThreads)
    mine = combine(mine, partial_at(partials, team * kShares + other));
  mine = combine_lanes(mine);
  if (thread % 32 == 0) from_warps[thread / 32] = mine;
  __syncthreads();
  if (thread < 32) mine = combine_lanes(thread < kThreads / 32 ? from_warps[thread] : nothing());
  if (thread == 0) {
    total_out[row] = mine.total;
  }
}
}  // namespace k1_reduce_rows

#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif

// A pointer as the type that a kernel declares: each brings its own copy of the types.
struct input {
  const void *address;
  template <typename T> operator const T *() const {
    return static_cast<const T *>(address);
  }
};
struct output {
  void *address;
  template <typename T> operator T *() const {
    return static_cast<T *>(address);
  }
};

inline bool aligned(const void *p, unsigned long long bytes) {
  return reinterpret_cast<unsigned long long>(p) % bytes == 0;
}

constexpr long long kMaxBlocks = 0x7fffffff;  // of a grid, in x

// The arguments of one call.
struct call {
  const void *a;
  void *total;
  long long n_row;
  long long n_col;
  void *workspace;
};

// Elements of the index space; a double, because a product may be any size.
inline double elements(long long n_row, long long n_col) {
  return double(n_row) * double(n_col);
}

// A tuned size, the kernel that won it, and where that is predicted to be slower than the
// naive variant: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
struct tuned {
  long long n_row, n_col;
  int kernel;
  const char *size;
  int step, reach;
  const char *slower;  // null: not known
};
const tuned sizes_0[] = {  // NVIDIA H200
    {16LL, 1048576LL, 1, "row=16 col=1048576", 0, 0, nullptr},
};

struct tuned_device {
  const char *name;
  int major, minor, sms;
  const tuned *sizes;
  int n_sizes;
};
const tuned_device devices[] = {
    {"NVIDIA H200", 9, 0, 132, sizes_0, 1},
};

// The current device, as far as the choice goes.
struct place {
  const tuned_device *device;  // null: none matches
  int match;
};

// 3: same device model, 2: same compute capability, 1: same major version, 0: none.
inline int match(const tuned_device &d, const cudaDeviceProp &here) {
  if (d.major != here.major) return 0;
  if (d.minor != here.minor) return 1;
  return d.sms == here.multiProcessorCount && strcmp(d.name, here.name) == 0 ? 3 : 2;
}

// The tuned device that matches the current one best, the first among equals. Reading a
// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * device.
inline cudaError_t find_place(place *here) {
  constexpr int kKept = 64;
  static std::atomic<int> kept[kKept];  // 0: not asked yet
  int ordinal = 0;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error != cudaSuccess) return error;
  int found = ordinal < kKept ? kept[ordinal].load(std::memory_order_relaxed) : 0;
  if (found == 0) {
    cudaDeviceProp properties;
    error = cudaGetDeviceProperties(&properties, ordinal);
    if (error != cudaSuccess) return error;
    int best = 0;
    int device = 0;
    found = 1;
    for (const tuned_device &d : devices) {
      if (match(d, properties) > best) {
        best = match(d, properties);
        found = 1 + best + 4 * device;
      }
      device++;
    }
    if (ordinal < kKept) kept[ordinal].store(found, std::memory_order_relaxed);
  }
  here->match = (found - 1) % 4;
  here->device = here->match > 0 ? &devices[(found - 1) / 4] : nullptr;
  return cudaSuccess;
}

// When each kernel is right: the size of its grid, alignments, conditions.
inline long long k0_blocks(long long n_row) {
  return n_row;
}
inline bool k0_takes(const call &c) {
  const long long blocks = k0_blocks(c.n_row);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.a, 4) &&
         aligned(c.total, 4);
}

inline long long k1_blocks(long long n_row) {
  return 8 * n_row;
}
inline bool k1_requires_0(long long n_col) {
  return n_col % 4 == 0;
}
inline bool k1_requires_1(long long n_row) {
  return 8 * n_row <= 4096;
}
inline bool k1_takes(const call &c) {
  const long long blocks = k1_blocks(c.n_row);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.a, 16) &&
         aligned(c.total, 4) &&
         k1_requires_0(c.n_col) &&
         k1_requires_1(c.n_row);
}

inline bool takes(int kernel, const call &c) {
  switch (kernel) {
  case 0: return k0_takes(c);
  case 1: return k1_takes(c);
  default: return false;
  }
}

inline double ratio(double x, double y) {
  x = x < 1 ? 1 : x;
  y = y < 1 ? 1 : y;
  return x < y ? y / x : x / y;
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
inline double distance(const tuned &t, const call &c) {
  return ratio(double(c.n_row), double(t.n_row)) *
         ratio(double(c.n_col), double(t.n_col));
}

// Where a call lies among the sizes tuned on the device.
inline const char *range(const tuned_device &d, const tuned &t, const call &c) {
  if (distance(t, c) == 1) return "tuned size";
  bool below_0 = false, above_0 = false;
  bool below_1 = false, above_1 = false;
  for (int k = 0; k < d.n_sizes; k++) {
    below_0 = below_0 || d.sizes[k].n_row <= c.n_row;
    above_0 = above_0 || d.sizes[k].n_row >= c.n_row;
    below_1 = below_1 || d.sizes[k].n_col <= c.n_col;
    above_1 = above_1 || d.sizes[k].n_col >= c.n_col;
  }
  return below_0 && above_0 && below_1 && above_1
             ? "between tuned sizes"
             : "outside the tuned sizes";
}

const char *const kSlower = "tuned kernels are predicted to be slower than naive here";

// Whether one of the shapes around the call says so.
inline bool slower(const tuned &t, const call &c) {
  if (t.slower == nullptr) return false;
  const double times[] = {double(c.n_row < 1 ? 1 : c.n_row) / double(t.n_row < 1 ? 1 : t.n_row),
                          double(c.n_col < 1 ? 1 : c.n_col) / double(t.n_col < 1 ? 1 : t.n_col)};
  for (int corner = 0; corner < 4; corner++) {
    int at = 0;
    for (int d = 0; d < 2; d++) {
      const double x = log2(times[d]) / t.step;
      int k = int((corner >> d & 1) != 0 ? ceil(x) : floor(x));
      k = k < -t.reach ? -t.reach : k > t.reach ? t.reach : k;
      at = at * (2 * t.reach + 1) + k + t.reach;
    }
    if (t.slower[at] == '1') return true;
  }
  return false;
}

struct choice {
  int kernel;  // -1: none
  int match;
  const tuned_device *device;  // with its size: whose kernel it is, null: naive
  const tuned *size;
  const char *reason;
};

// Of the device's tuned sizes the nearest whose kernel is right for the call and worth it.
inline void choose_tuned(const call &c, const place &here, choice *out) {
  double best = 0;
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here.device->n_sizes; k++) {
    const tuned &t = here.device->sizes[k];
    const double away = distance(t, c);
    if ((out->kernel >= 0 && away >= best) || !takes(t.kernel, c)) continue;
    if (distance(t, c) != 1 && slower(t, c)) {
      if (out->kernel < 0) out->reason = kSlower;
      continue;
    }
    *out = choice{t.kernel, here.match, here.device, &t, range(*here.device, t, c)};
    best = away;
  }
}

// Which kernel a call that has work takes.
inline cudaError_t choose(const call &c, choice *out) {
  place here = {};
  const cudaError_t error = find_place(&here);
  *out = choice{-1, 0, nullptr, nullptr, cudaGetErrorString(error)};
  if (error != cudaSuccess) return error;
  out->reason = "no device of this major version was tuned";
  if (here.device != nullptr) choose_tuned(c, here, out);
  if (out->kernel < 0 && takes(0, c)) out->kernel = 0;
  if (out->kernel >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (k0_blocks(c.n_row) > kMaxBlocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

inline const char *refuse(cudaError_t *answer, cudaError_t error, const char *reason) {
  *answer = error;
  return reason;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
inline const char *no_work(const call &c, cudaError_t *answer) {
  constexpr long long kMost = 1LL << 48;  // elements: no product overflows
  if (c.n_row < 0 || c.n_col < 0)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: an extent is negative");
  if (c.n_row == 0)
    return refuse(answer, cudaSuccess, "nothing to launch: the index space is empty");
  if (c.n_row > kMost || c.n_col > kMost || elements(c.n_row, c.n_col) > double(kMost))
    return refuse(answer, cudaErrorInvalidConfiguration, "invalid configuration: more than 2^48 elements");
  const bool empty = elements(c.n_row, c.n_col) == 0;  // then inputs may be null
  if (c.a == nullptr && !empty)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: a is null");
  if (!aligned(c.a, 4))
    return refuse(answer, cudaErrorInvalidValue, "invalid value: a is not aligned to 4 bytes");
  if (c.total == nullptr)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: total is null");
  if (!aligned(c.total, 4))
    return refuse(answer, cudaErrorInvalidValue, "invalid value: total is not aligned to 4 bytes");
  if (c.workspace == nullptr || !aligned(c.workspace, 16))
    return refuse(answer, cudaErrorInvalidValue, "invalid value: workspace is null or not aligned to 16 bytes");
  return nullptr;
}

inline cudaError_t launch(const call &c, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  if (no_work(c, &error) != nullptr) return error;
  choice chosen = {};
  error = choose(c, &chosen);
  if (error != cudaSuccess) return error;
  switch (chosen.kernel) {
  case 0:
    k0_direct::direct<<<unsigned(k0_blocks(c.n_row)), 256, 0, stream>>>(
        input{c.a}, output{c.total}, c.n_row, c.n_col);
    break;
  case 1:
    k1_reduce_rows::reduce_rows<<<unsigned(k1_blocks(c.n_row)), 256, 0, stream>>>(
        input{c.a}, output{c.total}, c.n_row, c.n_col, output{c.workspace});
    break;
  }
  return cudaGetLastError();
}

inline row_sum_choice describe(const call &c) {
  static const char *const variants[] = {"direct t256", "reduce_rows b8"};
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  const char *const why = no_work(c, &error);
  if (why != nullptr) return {nullptr, nullptr, matches[0], nullptr, why};
  choice chosen = {};
  if (choose(c, &chosen) != cudaSuccess) {
    return {nullptr, nullptr, matches[0], nullptr, chosen.reason};
  }
  return {variants[chosen.kernel], chosen.device ? chosen.device->name : nullptr,
          matches[chosen.match], chosen.size ? chosen.size->size : nullptr,
          chosen.reason};
}

}  // namespace
}  // namespace row_sum_detail

// Where the kernels and figures come from, for a program to print.
typedef struct row_sum_tuning {
  const char *device, *arch, *figures, *driver, *nvrtc, *tool, *size, *variant, *source_hash;
  double median_us, gb_per_s, of_copy, naive_us;  // 0: not timed
  int candidates, verified, tied, failed;
} row_sum_tuning;
static const row_sum_tuning row_sum_tunings[] = {
    {"NVIDIA H200", "sm_90", "timed",
     "580.1", "13.0", "0.1.0",
     "row=16 col=1048576", "reduce_rows b8", "437313759136bf67ef6bb3c6c2a9d488",
     20, 3355.4463999999998, 0.79891580952380947, 70, 40, 38, 1, 2},
};
static const struct {
  const char *kernel, *spec_hash, *written_by;
  int n_tunings;
  const row_sum_tuning *tunings;
} row_sum_provenance = {"row_sum", "8a504888afceb3b29c785e42ad496245", "sectile 0.1.0", 1,
    row_sum_tunings};

// What the workspace of a call has, whatever its extents; 0: it may be null.
extern "C" inline size_t row_sum_workspace_bytes(void) {
  return 278528;
}

// Launches on `stream`; never synchronises, allocates nothing. An empty index space launches nothing.
// Arrays must not overlap. A negative extent, a null pointer or a pointer below its type's alignment
// is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks cudaErrorInvalidConfiguration; other errors
// are those of the launch.
// `workspace` has row_sum_workspace_bytes() bytes, set to 0 once before its first use; launches leave
// it ready for the next. Calls that may overlap need one each.
extern "C" inline cudaError_t row_sum(const float *a, float *total, long long n_row, long long n_col, void *workspace, cudaStream_t stream) {
  return row_sum_detail::launch({a, total, n_row, n_col, workspace}, stream);
}

// What row_sum would do with these arguments on the current device.
extern "C" inline row_sum_choice row_sum_variant(const float *a, float *total, long long n_row, long long n_col, void *workspace) {
  return row_sum_detail::describe({a, total, n_row, n_col, workspace});
}

#endif  // SECTILE_HEADER_row_sum
