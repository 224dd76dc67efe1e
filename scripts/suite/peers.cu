// Peers of the suite: what people run today for each of its rows, timed as docs/measure.md says.
//
//   peers < JOBS      a job a line: "ID kind key=value ..."; answers are lines of JSON
//
// Answers of a job: {"job", "begin"} before each peer, so that a crash can be laid at its door;
// {"job", "peer", "median_ns", "q1_ns", "q3_ns", "launches", "units", "verified"} or {"job", "peer",
// "failed"}; {"job", "end"} last. skip=N leaves out the first N peers of a job.
#include "peers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>

#include <unistd.h>

namespace {
const double kUnitNs = 200e3;
const int kMaxLaunches = 256, kLeastUnits = 15, kMostUnits = 31, kMostCopies = 256;
const double kBudgetNs = 0.4e9, kWarmNs = 20e6, kHoldLimitNs = 2e9, kSlowNs = 10e6;

cudaStream_t the_stream;
cudaEvent_t start, stop;
int *held;  // pinned and mapped: 0 as long as the device has to wait
int *held_there;
double first_launch_ns = -1, next_launch_ns;
size_t l2_bytes, memory_bytes;

double now_ns() {
  using namespace std::chrono;
  return (double)duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= 0 && c < ' ' ? ' ' : c;
  }
  return out + "\"";
}

__global__ void hold(volatile int *flag) {
  unsigned long long begin, at;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(at));
  } while (*flag == 0 && at - begin < 2000000000ull);
}
__global__ void empty() {}

__device__ uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

__global__ void fill_words(uint32_t *to, size_t n, Fill fill, uint32_t seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const uint32_t bits = mix((uint32_t)i ^ mix((uint32_t)(i >> 32) + seed));
    // ordinary numbers from 1 to 2: the upper word of a double, or any float
    to[i] = fill == FILL_F32 ? 0x3f800000u | bits >> 9
          : fill == FILL_F64 && i % 2 == 1 ? 0x3ff00000u | bits >> 12 : bits;
  }
}

__global__ void fill_feistel(int *to, int n, int half_bits, uint32_t seed) {
  const uint32_t mask = (1u << half_bits) - 1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint32_t x = (uint32_t)i;
    do {
      uint32_t left = x >> half_bits, right = x & mask;
      for (uint32_t round = 0; round < 4; round++) {
        const uint32_t next = left ^ (mix(right + mix(seed + round)) & mask);
        left = right;
        right = next;
      }
      x = left << half_bits | right;
    } while (x >= (uint32_t)n);
    to[i] = (int)x;
  }
}

__global__ void count_bytes(const uint8_t *a, const uint8_t *b, size_t n, unsigned long long *bad) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    if (a[i] != b[i]) atomicAdd(bad, 1ull);
  }
}
__global__ void count_words(const uint4 *a, const uint4 *b, size_t n, unsigned long long *bad) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const uint4 x = a[i], y = b[i];
    if (x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w) atomicAdd(bad, 1ull);
  }
}
__global__ void count_far(const float *a, const float *b, size_t n, double tolerance, unsigned long long *bad) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const double x = a[i], y = b[i];
    if (!(fabs(x - y) <= tolerance * fmax(fabs(y), 1e-30))) atomicAdd(bad, 1ull);
  }
}

double unit(const std::function<void(int)> &launch, int launches, int *turn) {
  for (;;) {
    *(volatile int *)held = 0;
    const double begin = now_ns();
    hold<<<1, 1, 0, the_stream>>>(held_there);
    must(cudaEventRecord(start, the_stream), "event");
    for (int k = 0; k < launches; k++) launch((*turn)++);
    must(cudaEventRecord(stop, the_stream), "event");
    const bool in_time = now_ns() - begin < 0.9 * kHoldLimitNs;
    *(volatile int *)held = 1;
    must(cudaStreamSynchronize(the_stream), "unit");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, start, stop), "elapsed");
    if (in_time || launches == 1) return ms * 1e6;
    launches = 1;  // queueing outlasted the holding kernel
  }
}

double median_of(std::vector<double> v, double q = 0.5) {
  std::sort(v.begin(), v.end());
  const double at = q * (double)(v.size() - 1);
  const size_t k = (size_t)at;
  return k + 1 < v.size() ? v[k] + (at - (double)k) * (v[k + 1] - v[k]) : v[k];
}

void learn_launch_cost() {
  int turn = 0;
  auto nothing = [](int) { empty<<<1, 1, 0, the_stream>>>(); };
  std::vector<double> one, many;
  for (int k = 0; k < 12; k++) {
    const double a = unit(nothing, 1, &turn), b = unit(nothing, 129, &turn);
    if (k >= 3) one.push_back(a), many.push_back(b);
  }
  first_launch_ns = median_of(one);
  next_launch_ns = std::max(0.0, (median_of(many) - first_launch_ns) / 128);
}
}  // namespace

cudaStream_t stream() { return the_stream; }

void must(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  printf("{\"lost\": %s}\n", quoted(std::string(what) + ": " + cudaGetErrorString(error)).c_str());
  fflush(stdout);
  _exit(3);
}

void fill_device(void *to, size_t bytes, Fill fill, uint32_t seed) {
  fill_words<<<2048, 256, 0, the_stream>>>((uint32_t *)to, bytes / 4, fill, seed);
  must(cudaGetLastError(), "fill");
}

void fill_permutation(int *to, int n, uint32_t seed) {
  int bits = 1;
  while ((1ll << 2 * bits) < n) bits++;
  fill_feistel<<<2048, 256, 0, the_stream>>>(to, n, bits, seed);
  must(cudaGetLastError(), "permutation");
}

long long Job::number(const char *key) const { return (long long)real(key); }
double Job::real(const char *key) const {
  const std::string v = text(key);
  char *end = nullptr;
  const double x = strtod(v.c_str(), &end);
  if (v.empty() || *end != '\0') throw std::string("job ") + id + ": " + key + "=" + v + " is no number";
  return x;
}
std::string Job::text(const char *key) const {
  auto it = values.find(key);
  return it == values.end() ? "" : it->second;
}
std::vector<long long> Job::list(const char *key) const {
  std::vector<long long> out;
  std::stringstream in(text(key));
  for (std::string part; std::getline(in, part, ',');) out.push_back(atoll(part.c_str()));
  return out;
}

Timing time_units(const std::function<void(int)> &launch, int kernels) {
  if (first_launch_ns < 0) learn_launch_cost();
  int turn = 0, launches = 1;
  cudaCtxResetPersistingL2Cache();  // what another peer marked as the last that L2 gives up stays otherwise
  launch(turn++);  // the first loads code, which cannot be done behind a kernel that waits
  must(cudaStreamSynchronize(the_stream), "first launch");
  unit(launch, 1, &turn);
  const double once = std::max(1.0, std::min(unit(launch, 1, &turn), unit(launch, 1, &turn)) - first_launch_ns);
  launches = (int)std::min((double)std::max(1, kMaxLaunches / kernels), std::max(1.0, std::ceil(kUnitNs / once)));
  for (const double begin = now_ns(); now_ns() - begin < kWarmNs;) unit(launch, launches, &turn);
  const double cost = (first_launch_ns + (launches - 1) * next_launch_ns) / launches;
  std::vector<double> each;
  for (const double begin = now_ns();
       (int)each.size() < (once > kSlowNs ? 5 : kLeastUnits) || ((int)each.size() < kMostUnits && now_ns() - begin < kBudgetNs);) {
    each.push_back(unit(launch, launches, &turn) / launches - cost);
  }
  return {median_of(each), median_of(each, 0.25), median_of(each, 0.75), launches, (int)each.size()};
}

void report(const Job &job, const std::string &peer, const Timing &t, const char *detail) {
  printf("{\"job\": %s, \"peer\": %s, \"median_ns\": %.1f, \"q1_ns\": %.1f, \"q3_ns\": %.1f, \"launches\": %d, "
         "\"units\": %d, \"verified\": true%s%s}\n",
         quoted(job.id).c_str(), quoted(peer).c_str(), t.median, t.q1, t.q3, t.launches, t.units,
         detail ? ", \"detail\": " : "", detail ? quoted(detail).c_str() : "");
  fflush(stdout);
}

Bench::Bench(const Job &job, size_t in_bytes, size_t out_bytes, Fill fill, double tolerance)
    : job_(job), out_bytes_(out_bytes), fill_(fill), tolerance_(tolerance) {
  in_stride_ = (in_bytes + 511) / 512 * 512 + 512;
  out_stride_ = (out_bytes + 511) / 512 * 512 + 512;
  const size_t both = in_stride_ + out_stride_;
  copies_ = (int)std::min<size_t>((3 * l2_bytes + both - 1) / both, kMostCopies);
  copies_ = std::max(1, std::min<int>(copies_, (int)(memory_bytes / 2 / both)));
  skip_ = job.text("skip").empty() ? 0 : (int)job.number("skip");
  must(cudaMalloc(&in_, in_stride_ * copies_), "inputs");
  must(cudaMalloc(&out_, out_stride_ * copies_), "outputs");
  must(cudaMalloc(&want_, out_stride_), "reference");
  for (int k = 0; k < copies_; k++) fill_device(in<char>(k), in_stride_, fill, 1);
}

Bench::~Bench() {
  cudaStreamSynchronize(the_stream);
  for (void *p : extras_) cudaFree(p);
  cudaFree(in_);
  cudaFree(out_);
  cudaFree(want_);
}

void *Bench::extra(size_t bytes) {
  void *p = nullptr;
  must(cudaMalloc(&p, bytes + 512), "extra array");
  extras_.push_back(p);
  return p;
}

bool Bench::begins(const std::string &peer) {
  if (seen_++ < skip_) return false;
  printf("{\"job\": %s, \"begin\": %s}\n", quoted(job_.id).c_str(), quoted(peer).c_str());
  fflush(stdout);
  return true;
}

void Bench::missing(const std::string &peer, const std::string &why) {
  if (!begins(peer)) return;
  printf("{\"job\": %s, \"peer\": %s, \"failed\": %s}\n", quoted(job_.id).c_str(), quoted(peer).c_str(),
         quoted(why).c_str());
  fflush(stdout);
}

bool Bench::matches(std::string *why) {
  static unsigned long long *bad = nullptr;
  if (!bad) must(cudaMalloc(&bad, sizeof *bad), "counter");
  unsigned long long n = 0;
  must(cudaMemsetAsync(bad, 0, sizeof *bad, the_stream), "counter");
  if (tolerance_ > 0) {
    count_far<<<2048, 256, 0, the_stream>>>(out<float>(0), want<float>(), out_bytes_ / 4, tolerance_, bad);
  } else {
    const size_t whole = out_bytes_ / 16;
    if (whole) count_words<<<2048, 256, 0, the_stream>>>(out<uint4>(0), want<uint4>(), whole, bad);
    count_bytes<<<1, 256, 0, the_stream>>>(out<uint8_t>(0) + whole * 16, want<uint8_t>() + whole * 16,
                                           out_bytes_ - whole * 16, bad);
  }
  must(cudaMemcpyAsync(&n, bad, sizeof n, cudaMemcpyDeviceToHost, the_stream), "counter");
  must(cudaStreamSynchronize(the_stream), "comparison");
  if (n) *why = std::to_string(n) + " places differ from the reference";
  return n == 0;
}

void Bench::run(const std::string &peer, const std::function<void(int)> &launch, int kernels) {
  if (!begins(peer)) return;
  std::string why;
  must(cudaMemsetAsync(out_, 0xa5, out_stride_, the_stream), "poison");
  launch(0);
  const cudaError_t refused = cudaGetLastError();
  must(cudaStreamSynchronize(the_stream), peer.c_str());  // an error that is not the launch's own ends all
  bool good = refused == cudaSuccess;
  if (good) {
    good = matches(&why);
  } else {
    why = cudaGetErrorString(refused);
  }
  if (good) {
    const Timing t = time_units(launch, kernels);
    good = matches(&why) && t.median > 0;  // as the timed launches left it
    if (why.empty() && !good) why = "its launches were refused";
    if (good) report(job_, peer, t);
  }
  if (!good) {
    printf("{\"job\": %s, \"peer\": %s, \"failed\": %s}\n", quoted(job_.id).c_str(), quoted(peer).c_str(),
           quoted(why).c_str());
    fflush(stdout);
  }
}

static bool read_job(Job *job) {
  std::string line, word;
  if (!std::getline(std::cin, line)) return false;
  std::stringstream words(line);
  words >> job->id >> job->kind;
  while (words >> word) {
    const size_t at = word.find('=');
    if (at != std::string::npos) job->values[word.substr(0, at)] = word.substr(at + 1);
  }
  return true;
}

static void run_job(const Job &job) {
  for (const std::vector<JobKind> *kinds : {&map_jobs, &move_jobs, &index_jobs, &sum_jobs, &ragged_jobs,
                                              &ceiling_jobs}) {
    for (const JobKind &kind : *kinds) {
      if (job.kind == kind.name) return kind.run(job);
    }
  }
  throw std::string("job ") + job.id + ": there is no kind '" + job.kind + "'";
}

int main() {
  cudaDeviceProp prop;
  size_t free_bytes = 0;
  must(cudaSetDeviceFlags(cudaDeviceMapHost | cudaDeviceScheduleSpin), "device");
  must(cudaGetDeviceProperties(&prop, 0), "device");
  must(cudaMemGetInfo(&free_bytes, &memory_bytes), "memory");
  memory_bytes = free_bytes;
  l2_bytes = (size_t)prop.l2CacheSize;
  must(cudaStreamCreateWithFlags(&the_stream, cudaStreamNonBlocking), "stream");
  must(cudaEventCreate(&start), "event");
  must(cudaEventCreate(&stop), "event");
  must(cudaHostAlloc(&held, sizeof *held, cudaHostAllocMapped), "flag");
  must(cudaHostGetDevicePointer(&held_there, held, 0), "flag");
  learn_launch_cost();
  printf("{\"device\": %s, \"l2_bytes\": %zu, \"first_launch_ns\": %.0f, \"next_launch_ns\": %.0f}\n",
         quoted(prop.name).c_str(), l2_bytes, first_launch_ns, next_launch_ns);
  fflush(stdout);
  for (Job job; read_job(&job); job = Job()) {
    try {
      run_job(job);
    } catch (const std::string &text) {
      printf("{\"job\": %s, \"refused\": %s}\n", quoted(job.id).c_str(), quoted(text).c_str());
    }
    printf("{\"job\": %s, \"end\": true}\n", quoted(job.id).c_str());
    fflush(stdout);
  }
  return 0;
}
