// Peers of maps over records and of conversions between records (AoS) and one array a field (SoA):
// cub::DeviceTransform, Thrust, cuBLAS geam (a conversion of equal fields is a transpose).
#include "peers_blas.h"

#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>
#include <thrust/execution_policy.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include <type_traits>
#include <utility>

template <class T, int K> struct Record { T v[K]; };

template <class T, int K> struct AddOne {
  __host__ __device__ Record<T, K> operator()(Record<T, K> a) const {
#pragma unroll
    for (int k = 0; k < K; k++) a.v[k] = a.v[k] + T(1);
    return a;
  }
  __host__ __device__ T operator()(T a) const { return a + T(1); }
};

// Fields depend on each other, so that a record cannot be treated as so many scalars.
template <class T, int K> struct AddNext {
  __host__ __device__ Record<T, K> operator()(Record<T, K> a) const {
    Record<T, K> b;
#pragma unroll
    for (int k = 0; k < K; k++) b.v[k] = a.v[k] + a.v[(k + 1) % K];
    return b;
  }
};

template <class R, class Op> __global__ void map_reference(const R *in, R *out, long long n, Op op) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = op(in[i]);
}

template <class R, class Op> static void map_peers(Bench &b, long long n, Op op) {
  map_reference<<<blocks_for(n, 256), 256, 0, stream()>>>(b.in<R>(0), b.want<R>(), n, op);
  must(cudaGetLastError(), "reference");
  b.run("cub::DeviceTransform", [=, &b](int t) {
    cub::DeviceTransform::Transform(cuda::std::make_tuple(b.in<R>(t)), b.out<R>(t), n, op, stream());
  });
  b.run("thrust::transform", [=, &b](int t) {
    thrust::transform(thrust::cuda::par_nosync.on(stream()), b.in<R>(t), b.in<R>(t) + n, b.out<R>(t), op);
  });
}

template <class T, int K> static void map_records(const Job &job) {
  const long long n = job.number("n");
  Bench b(job, n * sizeof(Record<T, K>), n * sizeof(Record<T, K>), sizeof(T) == 8 ? FILL_F64 : FILL_F32);
  if (job.text("op") == "next") return map_peers<Record<T, K>>(b, n, AddNext<T, K>());
  const AddOne<T, K> op;
  map_peers<Record<T, K>>(b, n, op);
  b.run("cub::DeviceTransform of scalars", [=, &b](int t) {
    cub::DeviceTransform::Transform(cuda::std::make_tuple(b.in<T>(t)), b.out<T>(t), n * K, op, stream());
  });
}

// ---- conversions ----

template <class T, int K, class = std::make_index_sequence<K>> struct SplitEqual;
template <class T, int K, size_t... I> struct SplitEqual<T, K, std::index_sequence<I...>> {
  template <size_t> using Part = T;
  typedef cuda::std::tuple<Part<I>...> Tuple;
  __host__ __device__ Tuple operator()(const Record<T, K> &a) const { return Tuple(a.v[I]...); }
};
template <class T, int K, class = std::make_index_sequence<K>> struct JoinEqual;
template <class T, int K, size_t... I> struct JoinEqual<T, K, std::index_sequence<I...>> {
  template <size_t> using Part = T;
  __host__ __device__ Record<T, K> operator()(Part<I>... v) const { return Record<T, K>{{v...}}; }
  template <class Tuple> __host__ __device__ Record<T, K> operator()(const Tuple &t) const {
    return Record<T, K>{{cuda::std::get<I>(t)...}};
  }
};

template <class T, int K> __global__ void split_reference(const Record<T, K> *in, T *out, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
#pragma unroll
  for (int k = 0; k < K; k++) {
    if (i < n) out[k * n + i] = in[i].v[k];
  }
}
template <class T, int K> __global__ void join_reference(const T *in, Record<T, K> *out, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
#pragma unroll
  for (int k = 0; k < K; k++) {
    if (i < n) out[i].v[k] = in[k * n + i];
  }
}

// rows x cols of the input, row by row; the output is its transpose.
template <class T> static void geam(Bench &b, long long rows, long long cols) {
  std::string why;
  const Blas *l = blas(&why);
  if (!l) return b.missing("cuBLAS geam", why);
  b.run("cuBLAS geam", [=, &b](int t) {
    const T one = 1, zero = 0;
    const int m = (int)rows, n = (int)cols;
    T *in = b.in<T>(t), *out = b.out<T>(t);
    if constexpr (sizeof(T) == 4) {
      l->sgeam(l->handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, in, n, &zero, out, m, out, m);
    } else {
      l->dgeam(l->handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, in, n, &zero, out, m, out, m);
    }
  });
}

template <class T, int K, size_t... I>
static void to_soa_peers(Bench &b, long long n, std::index_sequence<I...>) {
  typedef Record<T, K> R;
  split_reference<T, K><<<blocks_for(n, 256), 256, 0, stream()>>>(b.in<R>(0), b.want<T>(), n);
  must(cudaGetLastError(), "reference");
  b.run("thrust::transform to zip", [=, &b](int t) {
    T *to = b.out<T>(t);
    thrust::transform(thrust::cuda::par_nosync.on(stream()), b.in<R>(t), b.in<R>(t) + n,
                      thrust::make_zip_iterator(thrust::make_tuple((to + I * n)...)), SplitEqual<T, K>());
  });
  geam<T>(b, n, K);
}

template <class T, int K, size_t... I>
static void to_aos_peers(Bench &b, long long n, std::index_sequence<I...>) {
  typedef Record<T, K> R;
  join_reference<T, K><<<blocks_for(n, 256), 256, 0, stream()>>>(b.in<T>(0), b.want<R>(), n);
  must(cudaGetLastError(), "reference");
  b.run("cub::DeviceTransform", [=, &b](int t) {
    const T *from = b.in<T>(t);
    cub::DeviceTransform::Transform(cuda::std::make_tuple((from + I * n)...), b.out<R>(t), n, JoinEqual<T, K>(), stream());
  });
  b.run("thrust::transform of zip", [=, &b](int t) {
    const T *from = b.in<T>(t);
    const auto zip = thrust::make_zip_iterator(thrust::make_tuple((from + I * n)...));
    thrust::transform(thrust::cuda::par_nosync.on(stream()), zip, zip + n, b.out<R>(t), JoinEqual<T, K>());
  });
  geam<T>(b, K, n);
}

template <class T, int K> static void convert(const Job &job) {
  const long long n = job.number("n");
  Bench b(job, n * sizeof(Record<T, K>), n * sizeof(Record<T, K>), sizeof(T) == 8 ? FILL_F64 : FILL_F32);
  if (job.kind == "to_soa") {
    to_soa_peers<T, K>(b, n, std::make_index_sequence<K>());
  } else {
    to_aos_peers<T, K>(b, n, std::make_index_sequence<K>());
  }
}

// ---- the mixed record of 24 bytes ----

struct Mixed {
  double energy;
  float weight;
  int id;
  unsigned short cell;
  unsigned char flags, padding[5];
};
static_assert(sizeof(Mixed) == 24, "as the specs have it");
typedef cuda::std::tuple<double, float, int, unsigned short, unsigned char> MixedTuple;
struct SplitMixed {
  __host__ __device__ MixedTuple operator()(const Mixed &m) const {
    return MixedTuple(m.energy, m.weight, m.id, m.cell, m.flags);
  }
};
struct JoinMixed {
  __host__ __device__ Mixed operator()(double e, float w, int i, unsigned short c, unsigned char f) const {
    return Mixed{e, w, i, c, f, {0, 0, 0, 0, 0}};
  }
  template <class Tuple> __host__ __device__ Mixed operator()(const Tuple &t) const {
    return (*this)(cuda::std::get<0>(t), cuda::std::get<1>(t), cuda::std::get<2>(t), cuda::std::get<3>(t),
                   cuda::std::get<4>(t));
  }
};
template <class P> struct MixedArrays {  // one array behind the other, each on 512 bytes
  double *energy;
  float *weight;
  int *id;
  unsigned short *cell;
  unsigned char *flags;
  MixedArrays(P *base, long long n) {
    char *at = (char *)base;
    auto take = [&](size_t bytes) { char *p = at; at += (n * bytes + 511) / 512 * 512; return p; };
    energy = (double *)take(8), weight = (float *)take(4), id = (int *)take(4);
    cell = (unsigned short *)take(2), flags = (unsigned char *)take(1);
  }
};
static size_t mixed_bytes(long long n) { return (size_t)n * 19 + 5 * 512; }

__global__ void split_mixed(const Mixed *in, MixedArrays<char> to, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  to.energy[i] = in[i].energy, to.weight[i] = in[i].weight, to.id[i] = in[i].id;
  to.cell[i] = in[i].cell, to.flags[i] = in[i].flags;
}
__global__ void join_mixed(MixedArrays<char> from, Mixed *out, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = JoinMixed()(from.energy[i], from.weight[i], from.id[i], from.cell[i], from.flags[i]);
}

static void mixed_to_soa(const Job &job) {
  const long long n = job.number("n");
  Bench b(job, n * sizeof(Mixed), mixed_bytes(n), FILL_BITS);
  must(cudaMemsetAsync(b.want<char>(), 0xa5, mixed_bytes(n), stream()), "poison");
  split_mixed<<<blocks_for(n, 256), 256, 0, stream()>>>(b.in<Mixed>(0), MixedArrays<char>(b.want<char>(), n), n);
  must(cudaGetLastError(), "reference");
  b.run("thrust::transform to zip", [=, &b](int t) {
    const MixedArrays<char> to(b.out<char>(t), n);
    thrust::transform(thrust::cuda::par_nosync.on(stream()), b.in<Mixed>(t), b.in<Mixed>(t) + n,
                      thrust::make_zip_iterator(thrust::make_tuple(to.energy, to.weight, to.id, to.cell, to.flags)),
                      SplitMixed());
  });
}

static void mixed_to_aos(const Job &job) {
  const long long n = job.number("n");
  Bench b(job, mixed_bytes(n), n * sizeof(Mixed), FILL_BITS);
  join_mixed<<<blocks_for(n, 256), 256, 0, stream()>>>(MixedArrays<char>(b.in<char>(0), n), b.want<Mixed>(), n);
  must(cudaGetLastError(), "reference");
  b.run("cub::DeviceTransform", [=, &b](int t) {
    const MixedArrays<char> f(b.in<char>(t), n);
    cub::DeviceTransform::Transform(cuda::std::make_tuple(f.energy, f.weight, f.id, f.cell, f.flags), b.out<Mixed>(t),
                                    n, JoinMixed(), stream());
  });
  b.run("thrust::transform of zip", [=, &b](int t) {
    const MixedArrays<char> f(b.in<char>(t), n);
    const auto zip = thrust::make_zip_iterator(thrust::make_tuple(f.energy, f.weight, f.id, f.cell, f.flags));
    thrust::transform(thrust::cuda::par_nosync.on(stream()), zip, zip + n, b.out<Mixed>(t), JoinMixed());
  });
}

// ---- by type and number of fields ----

struct Shape {
  const char *type;
  int fields;
  JobFunction map, convert;
};
#define SHAPE(name, type, k) {name, k, map_records<type, k>, convert<type, k>}
static const Shape shapes[] = {SHAPE("f32", float, 3), SHAPE("f32", float, 5), SHAPE("f32", float, 6),
                               SHAPE("f32", float, 7), SHAPE("f32", float, 9), SHAPE("f32", float, 12),
                               SHAPE("f32", float, 16), SHAPE("f64", double, 3)};

static const Shape &shape_of(const Job &job) {
  for (const Shape &s : shapes) {
    if (job.text("type") == s.type && job.number("fields") == s.fields) return s;
  }
  throw std::string("there are no records of ") + job.text("fields") + " x " + job.text("type");
}
static void map(const Job &job) { shape_of(job).map(job); }
static void convert_any(const Job &job) { shape_of(job).convert(job); }

const std::vector<JobKind> map_jobs = {{"map", map},
                                       {"to_soa", convert_any},
                                       {"to_aos", convert_any},
                                       {"mixed_to_soa", mixed_to_soa},
                                       {"mixed_to_aos", mixed_to_aos}};
