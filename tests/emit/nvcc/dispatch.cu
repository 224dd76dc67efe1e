// Calls the emitted add3.h on a fake runtime and compares what it launches with what the contract
// says (docs/header_contract.md). add3 was tuned on an H200 (cc 9.0, 132 multiprocessors) at 2^20
// records: flat, and at 2^26: staged with 64 KiB of shared memory; on an A100 (cc 8.0, 108) at
// 2^24: staged with 12 KiB. Its naive variant is direct.
#include "add3.h"
#include "pitched.h"
#include "row_sum.h"
#include "strips.h"
#include "transpose.h"

#include "fake_cudart.cuh"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

extern "C" cudaError_t add3_elsewhere(const add3_vec3 *, add3_vec3 *, double, long long,
                                      cudaStream_t);

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

static const add3_vec3 *in(long long offset) {
  return reinterpret_cast<const add3_vec3 *>(4096 + offset);
}
static add3_vec3 *out(long long offset) {
  return reinterpret_cast<add3_vec3 *>((1LL << 50) + offset);
}

struct Case {
  int line;
  FakeDevice device;
  long long n, offset_in, offset_out;
  const char *variant, *tuned_on, *match, *reason, *instead_of;
};

static const FakeDevice kH200 = {9, 0, 132, 232448, "NVIDIA H200"};
static const FakeDevice kH100 = {9, 0, 132, 232448, "NVIDIA H100 80GB HBM3"};
static const FakeDevice kSlice = {9, 0, 16, 232448, "NVIDIA H200 MIG 1g.18gb"};
static const FakeDevice kPart = {9, 0, 66, 232448, "NVIDIA H200"}; // behind MPS, half of it
static const FakeDevice kNext9 = {9, 1, 132, 232448, "NVIDIA H200"};
static const FakeDevice kA100 = {8, 0, 108, 166912, "NVIDIA A100"};
static const FakeDevice kA10 = {8, 6, 72, 101376, "NVIDIA A10"};
static const FakeDevice kV100 = {7, 0, 80, 98304, "Tesla V100-SXM2-16GB"};
static const FakeDevice kSmall9 = {9, 0, 132, 49152, "NVIDIA H200"};
static const char *const kSame = "same device model";
static const char *const kCc = "same compute capability, other model";
static const char *const kMajor = "same major version";
static const char *const kOther = "other major version, the nearest that was tuned";
static const char *const kTuned = "tuned size", *const kAny = "any extents";
static const char *const kShort = "n_i <= 1 << 23", *const kLong = "n_i > 1 << 23";

static const Case kCases[] = {
    // listed sizes have their own; between them the rule has a threshold at 2^23
    {__LINE__, kH200, 2, 0, 0, kFlat, "NVIDIA H200", kSame, kShort, nullptr},
    {__LINE__, kH200, 1 << 20, 0, 0, kFlat, "NVIDIA H200", kSame, kTuned, nullptr},
    {__LINE__, kH200, 1 << 23, 0, 0, kFlat, "NVIDIA H200", kSame, kShort, nullptr},
    {__LINE__, kH200, (1 << 23) + 2, 0, 0, kBig, "NVIDIA H200", kSame, kLong, nullptr},
    {__LINE__, kH200, 1 << 26, 0, 0, kBig, "NVIDIA H200", kSame, kTuned, nullptr},
    {__LINE__, kH200, 1LL << 33, 0, 0, kBig, "NVIDIA H200", kSame, kLong, nullptr},
    // a condition that does not hold: the next of the branch, which is best at 2^26
    {__LINE__, kH200, 1001, 0, 0, kBig, "NVIDIA H200", kSame, kShort, kFlat},
    {__LINE__, kH200, 1000, 8, 0, kBig, "NVIDIA H200", kSame, kShort, kFlat},
    {__LINE__, kH200, 1000, 0, 8, kBig, "NVIDIA H200", kSame, kShort, kFlat},
    {__LINE__, kH200, 1 << 20, 0, 8, kBig, "NVIDIA H200", kSame, kShort, kFlat},
    {__LINE__, kH200, 1000, 16, 16, kFlat, "NVIDIA H200", kSame, kShort, nullptr},
    // too little shared memory for the large kernel
    {__LINE__, kSmall9, 1 << 26, 0, 0, kDirect, "NVIDIA H200", kSame, kLong, kBig},
    {__LINE__, kSmall9, (1 << 26) + 1, 0, 0, kDirect, "NVIDIA H200", kSame, kLong, kBig},
    // other devices
    {__LINE__, kH100, 1000, 0, 0, kFlat, "NVIDIA H200", kCc, kShort, nullptr},
    {__LINE__, kSlice, 1000, 0, 0, kFlat, "NVIDIA H200", kCc, kShort, nullptr},
    {__LINE__, kPart, 1000, 0, 0, kFlat, "NVIDIA H200", kCc, kShort, nullptr},
    {__LINE__, kNext9, 1000, 0, 0, kFlat, "NVIDIA H200", kMajor, kShort, nullptr},
    {__LINE__, kA100, 1000, 0, 0, kStaged, "NVIDIA A100", kSame, kAny, nullptr},
    {__LINE__, kA10, 1 << 26, 8, 8, kStaged, "NVIDIA A100", kMajor, kAny, nullptr},
    {__LINE__, kV100, 1000, 0, 0, kStaged, "NVIDIA A100", kOther, kAny, nullptr},
    // a grid that is too large for the nearest kernel: 2^31 blocks of 256 words
    {__LINE__, kH200, (1LL << 39), 0, 0, kBig, "NVIDIA H200", kSame, kLong, nullptr},
    {__LINE__, kA100, (1LL << 39), 0, 0, kStaged, "NVIDIA A100", kSame, kAny, nullptr},
};

static bool same_text(const char *a, const char *b) {
  return a == nullptr || b == nullptr ? a == b : std::strcmp(a, b) == 0;
}

static void run_case(const Case &t) {
  fake_device = t.device;
  const add3_vec3 *a = in(t.offset_in);
  add3_vec3 *b = out(t.offset_out);
  const add3_choice chosen = add3_variant(a, b, 1.0, t.n);
  if (!same_text(chosen.variant, t.variant) || !same_text(chosen.device, t.tuned_on) ||
      !same_text(chosen.match, t.match) || !same_text(chosen.reason, t.reason) ||
      !same_text(chosen.instead_of, t.instead_of)) {
    failures++;
    std::printf("dispatch.cu:%d: chose '%s' of '%s' (%s; %s; %s)\n", t.line,
                chosen.variant ? chosen.variant : "null", chosen.device ? chosen.device : "null",
                chosen.match, chosen.reason, chosen.instead_of ? chosen.instead_of : "null");
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
      fake_launch.shared_bytes != (big      ? 65536u
                                   : staged ? 12288u
                                            : 0u) ||
      fake_launch.grown_to != (big ? 65536 : 0)) {
    failures++;
    std::printf("dispatch.cu:%d: error %d, %d launches of %u blocks, %u threads, %zu shared\n",
                t.line, int(error), fake_launches, fake_launch.blocks, fake_launch.threads,
                fake_launch.shared_bytes);
  }
}

static void refuses(const add3_vec3 *a, add3_vec3 *b, long long n, const char *reason) {
  const add3_choice chosen = add3_variant(a, b, 1.0, n);
  if (chosen.variant != nullptr || chosen.size != nullptr || !same_text(chosen.reason, reason)) {
    failures++;
    std::printf("dispatch.cu: '%s', not '%s'\n", chosen.reason, reason);
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
  refuses(in(0), out(0), 0, "nothing to launch: the index space is empty");
  refuses(in(0), out(0), -1, "invalid value: an extent is negative");
  refuses(nullptr, out(0), 1, "invalid value: a is null");
  refuses(in(0), out(4), 1, "invalid value: b is not aligned to 8 bytes");
  refuses(in(0), out(0), 1LL << 49, "invalid configuration: more than 2^48 elements");
  refuses(in(0), out(0), 1LL << 41, "invalid configuration: more than 2^31 - 1 blocks");
  fake_device.major = -1;
  CHECK(add3(in(0), out(0), 1.0, 1, nullptr) == cudaErrorNoDevice);
  refuses(in(0), out(0), 1, "no device");
  CHECK(fake_launches == 0);
}

// What is written may not overlap what is read.
static void overlaps() {
  fake_device = kH200;
  for (const long long at : {0LL, 24LL, 24 * 99LL, -24LL, -24 * 99LL}) {
    add3_vec3 *const b = reinterpret_cast<add3_vec3 *>((1LL << 30) + at);
    const add3_vec3 *const a = reinterpret_cast<const add3_vec3 *>(1LL << 30);
    CHECK(add3(a, b, 1.0, 100, nullptr) == cudaErrorInvalidValue);
    CHECK(strstr(add3_variant(a, b, 1.0, 100).reason, "overlaps") != nullptr);
    CHECK((add3(a, b, 1.0, 1, nullptr) == cudaErrorInvalidValue) == (at == 0));
  }
  for (const long long at : {24 * 100LL, -24 * 100LL}) {
    const add3_vec3 *const a = reinterpret_cast<const add3_vec3 *>(1LL << 30);
    CHECK(add3(a, reinterpret_cast<add3_vec3 *>((1LL << 30) + at), 1.0, 100, nullptr) ==
          cudaSuccess);
  }
}

// Row sums: reduce_rows of 8 blocks a row, else direct. A row of nothing has a sum too.
static void sums() {
  const float *a = reinterpret_cast<const float *>(4096);
  float *total = reinterpret_cast<float *>(8192);
  void *const w = reinterpret_cast<void *>(12288);
  fake_device = kH200;
  fake_launches = 0;
  CHECK(row_sum_workspace_bytes() == 4 * 65536 + 4 * 4096);
  CHECK(same_text(row_sum_variant(a, total, 16, 1 << 20, w).variant, "reduce_rows b8"));
  fake_reads_last = true;
  CHECK(row_sum(a, total, 16, 1 << 20, w, nullptr) == cudaSuccess);
  fake_reads_last = false;
  CHECK(fake_launches == 1 && fake_launch.blocks == 128 && fake_launch.last == w);
  CHECK(same_text(row_sum_variant(a, total, 16, (1 << 20) + 1, w).variant, "direct t256"));
  CHECK(same_text(row_sum_variant(a, total, 513, 1 << 20, w).variant, "direct t256"));
  CHECK(row_sum(nullptr, total, 5, 0, w, nullptr) == cudaSuccess);
  CHECK(fake_launches == 2 && fake_launch.blocks >= 5 && fake_launch.second == total);
  CHECK(row_sum(nullptr, nullptr, 0, 7, nullptr, nullptr) == cudaSuccess);
  CHECK(fake_launches == 2);
  CHECK(row_sum(nullptr, total, 5, 1, w, nullptr) == cudaErrorInvalidValue);
  CHECK(row_sum(a, nullptr, 5, 0, w, nullptr) == cudaErrorInvalidValue);
  CHECK(row_sum(a, total, 5, -1, w, nullptr) == cudaErrorInvalidValue);
  CHECK(row_sum(a, total, 16, 1 << 20, nullptr, nullptr) == cudaErrorInvalidValue);
  CHECK(row_sum(a, total, 16, 1 << 20, static_cast<char *>(w) + 8, nullptr) ==
        cudaErrorInvalidValue);
  CHECK(same_text(row_sum_variant(a, total, 16, 1 << 20, nullptr).reason,
                  "invalid value: workspace is null or not aligned to 16 bytes"));
  CHECK(fake_launches == 2);
}

// Matrices to their transposes, on tiles of 32 x 32. Both were tuned at 4096 x 4096, `strips` at
// 7 x 500000 too, where another kernel has won: the threshold between is 128 rows.
static void shapes() {
  const float *a = reinterpret_cast<const float *>(4096);
  float *b = reinterpret_cast<float *>(8192);
  const char *const few = "n_row <= 128", *const many = "n_row > 128";
  const struct {
    long long rows, cols;
    const char *why_square, *strip, *why_strip;
  } cases[] = {
      {4096, 4096, kTuned, "tile 32x32", kTuned},
      {2048, 8192, kAny, "tile 32x32", many},
      {128, 40, kAny, "strip 8", few},
      {129, 40, kAny, "tile 32x32", many},
      {7, 500000, kAny, "strip 8", kTuned},
      {7, 500001, kAny, "strip 8", few},
      {500000, 7, kAny, "tile 32x32", many},
      {1, 1 << 24, kAny, "strip 8", few},
      {1LL << 30, 1, kAny, "tile 32x32", many},
  };
  fake_device = kH200;
  for (const auto &t : cases) {
    const transpose_choice square = transpose_variant(a, b, t.rows, t.cols);
    const strips_choice strip = strips_variant(a, b, t.rows, t.cols);
    if (!same_text(square.variant, "tile 32x32") || !same_text(square.reason, t.why_square) ||
        !same_text(strip.variant, t.strip) || !same_text(strip.reason, t.why_strip)) {
      failures++;
      std::printf("dispatch.cu: %lld x %lld: %s (%s), strips %s (%s)\n", t.rows, t.cols,
                  square.variant, square.reason, strip.variant, strip.reason);
    }
  }
  CHECK(same_text(strips_variant(a, b, 7, 500000).size, "row=7 col=500000"));
  CHECK(strips_variant(a, b, 7, 500001).size == nullptr);
}

// A call may name the variant.
static void named() {
  fake_device = kH200;
  const char *const labels[] = {kDirect, kFlat, kBig, kStaged};
  add3_args call = add3_args();
  call.a = in(0);
  call.b = out(0);
  call.n_i = 1000;
  CHECK(add3_n_variants == 4);
  for (int k = 0; k < add3_n_variants; k++) {
    call.variant = k + 1;
    fake_launches = 0;
    CHECK(same_text(add3_variant_of(&call).variant, labels[k]));
    CHECK(same_text(add3_variant_of(&call).reason, "the arguments name this variant"));
    CHECK(add3_launch(&call, nullptr) == cudaSuccess && fake_launches == 1);
    CHECK(fake_launch.threads == (k < 2 ? 256u : 512u));
  }
  const char *const wrong = "invalid value: there is no such variant, or it does not take them";
  for (const int k : {-1, 5, 0x7fffffff}) {
    call.variant = k;
    CHECK(add3_launch(&call, nullptr) == cudaErrorInvalidValue);
    CHECK(same_text(add3_variant_of(&call).reason, wrong));
  }
  call.variant = 2; // flat takes even numbers only
  call.n_i = 1001;
  CHECK(add3_launch(&call, nullptr) == cudaErrorInvalidValue);
  CHECK(same_text(add3_variant_of(&call).reason, wrong));
  call.n_i = 0; // nothing to launch is no error
  CHECK(add3_launch(&call, nullptr) == cudaSuccess);
  call.variant = 0;
  call.n_i = 1000;
  CHECK(same_text(add3_variant_of(&call).variant, kFlat));
  CHECK(add3_variant_of(nullptr).variant == nullptr);
}

// Calls are counted by their extents, of all files of the program, while it asks for it.
static void logged() {
  const char *const file = "calls.csv";
  fake_device = kH200;
  std::remove(file);
  CHECK(add3(in(0), out(0), 1.0, 77, nullptr) == cudaSuccess);
  CHECK(add3_log("no/such/directory") == cudaErrorFileNotFound);
  CHECK(add3_log(file) == cudaSuccess);
  for (int k = 0; k < 3; k++)
    CHECK(add3_elsewhere(in(0), out(0), 1.0, 1000, nullptr) == cudaSuccess);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([] {
      for (int n = 1; n <= 600; n++)
        CHECK(add3(in(0), out(0), 1.0, 2000 + n, nullptr) == cudaSuccess);
    });
  for (std::thread &t : threads)
    t.join();
  CHECK(add3(in(0), out(0), 1.0, 0, nullptr) == cudaSuccess);
  CHECK(add3(in(0), out(0), 1.0, -1, nullptr) == cudaErrorInvalidValue);
  CHECK(add3_variant(in(0), out(0), 1.0, 5).variant != nullptr); // launches nothing
  CHECK(add3_log(file) == cudaSuccess);                          // goes on in the same file
  CHECK(add3_elsewhere(in(0), out(0), 1.0, 1000, nullptr) == cudaSuccess);
  CHECK(add3_log(nullptr) == cudaSuccess);
  CHECK(add3(in(0), out(0), 1.0, 77, nullptr) == cudaSuccess);
  std::map<std::string, long long> counts;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const size_t comma = line.find(',');
    counts[line.substr(0, comma)] += std::atoll(line.c_str() + comma + 1);
    CHECK(line == "i,count" || std::isdigit(line[0]));
  }
  CHECK(counts.size() == 602 && counts.count("i") == 1);
  CHECK(counts["1000"] == 4 && counts["2001"] == 4 && counts["2600"] == 4);
  add3_log("atexit.csv"); // at exit, of one that did not end it
  CHECK(add3(in(0), out(0), 1.0, 42, nullptr) == cudaSuccess);
}

// Numbers that places follow from: a is read at row * n_from + col of n_row * n_from elements, b is
// written at row * n_to + col.
static void pitches() {
  const float *a = reinterpret_cast<const float *>(1LL << 40);
  float *b = reinterpret_cast<float *>(1LL << 20);
  const char *const outside = "invalid value: extents give a elements outside of it";
  const char *const one = "invalid value: extents make elements of b one";
  const char *const large = "invalid value: extents make an array too large for 64 bits";
  const char *const negative = "invalid value: an extent is negative";
  const struct {
    long long rows, cols, from, to;
    const char *why; // null: it launches, or there is nothing to do
  } cases[] = {
      {8, 8, 8, 8, nullptr},
      {8, 8, 8, 9, nullptr},
      {8, 8, 7, 8, outside},
      {8, 8, 0, 8, outside},
      {8, 8, -8, 8, negative},
      {8, 8, 8, 7, one},
      {8, 8, 8, 1, one},
      {8, 8, 8, 0, one},
      {8, 8, 8, -1, negative},
      {8, 1, 1, 1, nullptr},
      {8, 1, 1, 0, one},     // rows on the same element
      {1, 8, 8, 0, nullptr}, // one row
      {0, 8, 7, 7, nullptr}, // no elements
      {8, 0, 0, 0, nullptr},
      {0, 8, -1, 8, negative},       // an argument is wrong where there is no work, too
      {2, 4, 1LL << 47, 4, nullptr}, // far apart, in an address space that has room
      {1LL << 20, 4, 1LL << 48, 4, large},
      {1LL << 20, 4, 4, 1LL << 41, large},
      {4, 4, 1LL << 62, 4, "invalid configuration: more than 2^48 elements"},
  };
  fake_device = kH200;
  for (const auto &t : cases) {
    const auto said = pitched_variant(a, b, t.rows, t.cols, t.from, t.to);
    const cudaError_t error = pitched(a, b, t.rows, t.cols, t.from, t.to, nullptr);
    const bool good = t.why == nullptr ? error == cudaSuccess
                                       : same_text(said.reason, t.why) &&
                                             error == (t.from >> 62 != 0 && t.from > 0
                                                           ? cudaErrorInvalidConfiguration
                                                           : cudaErrorInvalidValue);
    if (!good) {
      failures++;
      std::printf("dispatch.cu: %lld x %lld, pitches %lld and %lld: %s\n", t.rows, t.cols, t.from,
                  t.to, said.reason);
    }
  }
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
  const int read = fake_names_read;
  for (const Case &t : kCases) {
    run_case(t);
  }
  CHECK(fake_names_read == read); // a device is asked once
  refusals();
  overlaps();
  sums();
  shapes();
  named();
  logged();
  pitches();
  provenance();
  fake_device = kH200;
  fake_launches = 0;
  CHECK(add3_elsewhere(in(0), out(0), 1.0, 1000, nullptr) == cudaSuccess); // the other file's copy
  CHECK(fake_launches == 1 && fake_launch.threads == 256);
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
