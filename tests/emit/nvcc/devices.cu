// Headers tuned on each described device, and on each two of them, called on every one: whose
// kernel a call takes, and what it says of the match. The kernel of device d has 32 * (d + 2)
// threads. Of two devices that match equally the nearer one counts, then the second, which was
// tuned later.
#include "pairs.h"

#include "fake_cudart.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>

static const FakeDevice kDevices[] = {DEVICES};
static const int kCount = sizeof(kDevices) / sizeof(kDevices[0]);
static int failures = 0, cases = 0;

// 3: the same model, 2: the same compute capability, 1: the same major version, 0: none.
static int level(int tuned, int here) {
  const FakeDevice &a = kDevices[tuned], &b = kDevices[here];
  return tuned == here ? 3 : a.major != b.major ? 0 : a.minor != b.minor ? 1 : 2;
}

static int far(int tuned, int here) {
  const FakeDevice &a = kDevices[tuned], &b = kDevices[here];
  return 1000 * std::abs(a.major - b.major) + std::abs(a.minor - b.minor);
}

template <class Launch, class Variant>
static void check_pair(int a, int b, Launch launch, Variant variant) {
  static const char *const words[] = {"other major version, the nearest that was tuned",
                                      "same major version", "same compute capability, other model",
                                      "same device model"};
  const float *in = reinterpret_cast<const float *>(4096);
  float *out = reinterpret_cast<float *>(8192);
  for (int here = 0; here < kCount; here++) {
    const bool same = level(a, here) == level(b, here);
    const bool first = same ? far(a, here) < far(b, here) : level(a, here) > level(b, here);
    const int taken = first ? a : b;
    const int match = level(taken, here);
    fake_device = kDevices[here];
    const auto said = variant(in, out, 64);
    const bool launched = launch(in, out, 64, nullptr) == cudaSuccess;
    const unsigned threads = 32 * (taken + 2);
    const bool device_right =
        said.device != nullptr && std::strcmp(said.device, kDevices[taken].name) == 0;
    cases++;
    if (!launched || fake_launch.threads != threads || std::strcmp(said.match, words[match]) != 0 ||
        !device_right) {
      failures++;
      std::printf("devices.cu: tuned on %s and %s, called on %s: %s of %s (%s)\n", kDevices[a].name,
                  kDevices[b].name, kDevices[here].name, said.variant,
                  said.device ? said.device : "nobody", said.match);
    }
  }
}

int main() {
#define pair(a, b, launch, variant) check_pair(a, b, launch, variant);
  PAIRS
  std::printf("%d cases, %d failures\n", cases, failures);
  return failures == 0 && cases > 0 ? 0 : 1;
}
