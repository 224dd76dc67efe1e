// Calls the emitted add3.h on a fake runtime and compares what it launches with what the contract
// says (docs/header_contract.md). add3 was tuned on an H200 (cc 9.0, 132 multiprocessors) at 2^20
// records: flat, and at 2^26: staged with 64 KiB of shared memory; on an A100 (cc 8.0, 108) at 2^24:
// staged with 12 KiB. Its naive variant is direct.
#include "add3.h"
#include "row_sum.h"

#include "fake_cudart.cuh"

#include <cstdio>
#include <cstring>

extern "C" cudaError_t add3_elsewhere(const vec3 *, vec3 *, double, long long, cudaStream_t);

static int failures = 0;

static void check(bool holds, const char *what, int line) {
  if (!holds) {
    failures++;
    std::printf("dispatch.cu:%d: %s\n", line, what);
  }
}
#define CHECK(what) check(what, #what, __LINE__)

static const char *const kFlat = "flat t256 w16";
static const char *const kBig = "staged t512 big";
static const char *const kStaged = "staged t512";
static const char *const kDirect = "direct t256";

static const vec3 *in(long long offset) { return reinterpret_cast<const vec3 *>(4096 + offset); }
static vec3 *out(long long offset) { return reinterpret_cast<vec3 *>(8192 + offset); }

struct Case {
  int line;
  FakeDevice device;
  long long n, offset_in, offset_out;
  const char *variant, *tuned_on, *rung;
};

static const FakeDevice kH200 = {9, 0, 132, 232448};
static const FakeDevice kH100 = {9, 0, 114, 232448};
static const FakeDevice kNext9 = {9, 1, 132, 232448};
static const FakeDevice kA100 = {8, 0, 108, 166912};
static const FakeDevice kA10 = {8, 6, 72, 101376};
static const FakeDevice kV100 = {7, 0, 80, 98304};
static const FakeDevice kSmall9 = {9, 0, 132, 49152};
static const char *const kSame = "same device", *const kCc = "same compute capability";
static const char *const kMajor = "same major version";
static const char *const kNone = "no tuned kernel fits: naive variant";

static const Case kCases[] = {
    // the nearest size, with the threshold at the geometric mean 2^23
    {__LINE__, kH200, 2, 0, 0, kFlat, "NVIDIA H200", kSame},
    {__LINE__, kH200, (1 << 23) - 2, 0, 0, kFlat, "NVIDIA H200", kSame},
    {__LINE__, kH200, (1 << 23) + 2, 0, 0, kBig, "NVIDIA H200", kSame},
    {__LINE__, kH200, 1LL << 33, 0, 0, kBig, "NVIDIA H200", kSame},
    // a condition that does not hold: the next nearest
    {__LINE__, kH200, 1001, 0, 0, kBig, "NVIDIA H200", kSame},
    {__LINE__, kH200, 1000, 8, 0, kBig, "NVIDIA H200", kSame},
    {__LINE__, kH200, 1000, 0, 8, kBig, "NVIDIA H200", kSame},
    {__LINE__, kH200, 1000, 16, 16, kFlat, "NVIDIA H200", kSame},
    // too little shared memory for the large kernel
    {__LINE__, kSmall9, 1 << 26, 0, 0, kFlat, "NVIDIA H200", kSame},
    {__LINE__, kSmall9, (1 << 26) + 1, 0, 0, kDirect, nullptr, kNone},
    // other devices
    {__LINE__, kH100, 1000, 0, 0, kFlat, "NVIDIA H200", kCc},
    {__LINE__, kNext9, 1000, 0, 0, kFlat, "NVIDIA H200", kMajor},
    {__LINE__, kA100, 1000, 0, 0, kStaged, "NVIDIA A100", kSame},
    {__LINE__, kA10, 1 << 26, 8, 8, kStaged, "NVIDIA A100", kMajor},
    {__LINE__, kV100, 1000, 0, 0, kDirect, nullptr, kNone},
    // a grid that is too large for the nearest kernel: 2^31 blocks of 256 words
    {__LINE__, kH200, (1LL << 39), 0, 0, kBig, "NVIDIA H200", kSame},
    {__LINE__, kA100, (1LL << 39), 0, 0, kStaged, "NVIDIA A100", kSame},
};

static bool same_text(const char *a, const char *b) {
  return a == nullptr || b == nullptr ? a == b : std::strcmp(a, b) == 0;
}

static void run_case(const Case &t) {
  fake_device = t.device;
  const vec3 *a = in(t.offset_in);
  vec3 *b = out(t.offset_out);
  const add3_choice chosen = add3_variant(a, b, 1.0, t.n);
  if (!same_text(chosen.variant, t.variant) || !same_text(chosen.device, t.tuned_on) ||
      !same_text(chosen.rung, t.rung)) {
    failures++;
    std::printf("dispatch.cu:%d: chose '%s' of '%s' (%s)\n", t.line,
                chosen.variant ? chosen.variant : "null", chosen.device ? chosen.device : "null",
                chosen.rung);
  }
  char stream;
  fake_launch = FakeLaunch();
  fake_launches = 0;
  const cudaError_t error = add3(a, b, 1.0, t.n, reinterpret_cast<cudaStream_t>(&stream));
  const bool big = t.variant == kBig, staged = big || t.variant == kStaged;
  const long long blocks = t.variant == kFlat ? (3 * t.n / 2 + 255) / 256
                           : staged           ? (t.n + 511) / 512
                                              : (t.n + 255) / 256;
  if (error != cudaSuccess || fake_launches != 1 || fake_launch.blocks != blocks ||
      fake_launch.threads != (staged ? 512u : 256u) || fake_launch.first != a ||
      fake_launch.second != b || fake_launch.stream != reinterpret_cast<cudaStream_t>(&stream) ||
      fake_launch.shared_bytes != (big ? 65536u : staged ? 12288u : 0u) ||
      fake_launch.grown_to != (big ? 65536 : 0)) {
    failures++;
    std::printf("dispatch.cu:%d: error %d, %d launches of %u blocks, %u threads, %zu shared\n",
                t.line, int(error), fake_launches, fake_launch.blocks, fake_launch.threads,
                fake_launch.shared_bytes);
  }
}

static void refusals() {
  fake_device = kH200;
  fake_launches = 0;
  CHECK(add3(nullptr, nullptr, 1.0, 0, nullptr) == cudaSuccess);
  CHECK(add3(in(0), out(0), 1.0, -1, nullptr) == cudaErrorInvalidValue);
  CHECK(add3(nullptr, out(0), 1.0, 1, nullptr) == cudaErrorInvalidValue);
  CHECK(add3(in(0), nullptr, 1.0, 1, nullptr) == cudaErrorInvalidValue);
  CHECK(add3(in(4), out(0), 1.0, 1, nullptr) == cudaErrorInvalidValue); // no double starts there
  CHECK(add3(in(0), out(0), 1.0, 1LL << 40, nullptr) == cudaErrorInvalidConfiguration);
  CHECK(add3(in(0), out(0), 1.0, 0x7fffffffffffffffLL, nullptr) == cudaErrorInvalidConfiguration);
  CHECK(add3_variant(in(0), out(0), 1.0, 0).variant == nullptr);
  fake_device.major = -1;
  CHECK(add3(in(0), out(0), 1.0, 1, nullptr) == cudaErrorNoDevice);
  CHECK(add3_variant(in(0), out(0), 1.0, 1).variant == nullptr);
  CHECK(fake_launches == 0);
}

// Row sums: reduce_rows of 8 blocks a row, else direct. A row of nothing has a sum too.
static void sums() {
  const float *a = reinterpret_cast<const float *>(4096);
  float *total = reinterpret_cast<float *>(8192);
  fake_device = kH200;
  fake_launches = 0;
  CHECK(same_text(row_sum_variant(a, total, 16, 1 << 20).variant, "reduce_rows b8"));
  CHECK(row_sum(a, total, 16, 1 << 20, nullptr) == cudaSuccess);
  CHECK(fake_launches == 1 && fake_launch.blocks == 128);
  CHECK(same_text(row_sum_variant(a, total, 16, (1 << 20) + 1).variant, "direct t256"));
  CHECK(same_text(row_sum_variant(a, total, 513, 1 << 20).variant, "direct t256"));
  CHECK(row_sum(nullptr, total, 5, 0, nullptr) == cudaSuccess);
  CHECK(fake_launches == 2 && fake_launch.blocks >= 5 && fake_launch.second == total);
  CHECK(row_sum(nullptr, nullptr, 0, 7, nullptr) == cudaSuccess);
  CHECK(fake_launches == 2);
  CHECK(row_sum(nullptr, total, 5, 1, nullptr) == cudaErrorInvalidValue);
  CHECK(row_sum(a, nullptr, 5, 0, nullptr) == cudaErrorInvalidValue);
  CHECK(row_sum(a, total, 5, -1, nullptr) == cudaErrorInvalidValue);
  CHECK(fake_launches == 2);
}

static void provenance() {
  CHECK(std::strcmp(add3_provenance.kernel, "add3") == 0);
  CHECK(add3_provenance.n_tunings == 3);
  CHECK(std::strcmp(add3_provenance.tunings[0].size, "i=1048576") == 0);
  CHECK(std::strcmp(add3_provenance.tunings[0].figures, "timed") == 0);
  CHECK(add3_provenance.tunings[0].median_us == 14);
  CHECK(std::strcmp(add3_provenance.tunings[2].device, "NVIDIA A100") == 0);
}

int main() {
  for (const Case &t : kCases) {
    run_case(t);
  }
  refusals();
  sums();
  provenance();
  fake_device = kH200;
  fake_launches = 0;
  CHECK(add3_elsewhere(in(0), out(0), 1.0, 1000, nullptr) == cudaSuccess); // the other file's copy
  CHECK(fake_launches == 1 && fake_launch.threads == 256);
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
