/* The program of gpu.h: calls a header's launch function at all of its spec's extents, with every
 * pointer at exactly the alignment that its type asks for and at 256 bytes; between guard zones,
 * over poison; and holds results to the reference. A line for each header:
 *
 *   NAME ok CALLS NOT_NAIVE        NAME DIFFERS extents ...: what     (exit code 1) */
#include "gpu.h"

#include <string>

Case *fuzz_cases = nullptr;

Case::Case(const fz_spec *s, std::vector<Align> a) : spec(s), aligns(a), next(fuzz_cases) {
  fuzz_cases = this;
}

static const size_t kGuard = 4096;
static const unsigned char kPattern = 0x5e;

[[noreturn]] static void fail(const Case &c, const char *how, const std::string &what) {
  std::string at;
  for (int k = 0; c.run.n && k < c.spec->n_extents; k++) {
    at += " " + std::to_string(c.run.n[k]);
  }
  printf("%s\tDIFFERS\t%s\textents%s: %s\n", c.spec->name, how, at.c_str(), what.c_str());
  exit(1);
}

static void must(const Case &c, cudaError_t e, const char *what) {
  if (e != cudaSuccess) {
    fail(c, what, cudaGetErrorString(e));
  }
}

typedef std::vector<unsigned char> Bytes;

/* An array on the device: guard, shift, the array, guard. */
struct Placed {
  unsigned char *base = nullptr;
  size_t shift = 0;
  Bytes before;
};

static int align_of(const Case &c, const char *name) {
  for (const Align &a : c.aligns) {
    if (strcmp(a.first, name) == 0) {
      return a.second;
    }
  }
  return 256;
}

/* What lies on the device for array k: as the reference has it, or packed by the header. */
static Bytes contents(Case &c, int k) {
  const fz_run &r = c.run;
  Bytes plain((size_t)r.bytes[k]);
  for (size_t b = 0; b < plain.size(); b++) {
    const fz_array &a = r.spec->arrays[k];
    plain[b] = !a.is_output    ? r.data[k][b]
               : a.is_cleared ? fz_poison(&r, k, (int64_t)b)
                              : fz_start(&r, k, (int64_t)b);
  }
  if (r.spec->arrays[k].n_layouts == 1) {
    return plain;
  }
  c.wanted = r.spec->arrays[k].name;
  c.wants_bytes = true;
  if (!c.convert(nullptr, nullptr, true)) {
    fail(c, "pack", "the header has no packing of a chosen layout");
  }
  Bytes packed((size_t)c.bytes);
  c.wants_bytes = false;
  if (!c.convert(packed.data(), plain.data(), true)) {
    fail(c, "pack", "pack() refused");
  }
  return packed;
}

static Placed place(Case &c, int k, bool exact) {
  Placed p;
  p.shift = exact ? (size_t)align_of(c, c.spec->arrays[k].name) : 0;
  const Bytes bytes = contents(c, k);
  p.before.assign(bytes.size() + 2 * kGuard + p.shift, kPattern);
  if (!bytes.empty()) {
    memcpy(&p.before[kGuard + p.shift], bytes.data(), bytes.size());
  }
  must(c, cudaMalloc(&p.base, p.before.size()), "cudaMalloc");
  must(c, cudaMemcpy(p.base, p.before.data(), p.before.size(), cudaMemcpyDefault), "cudaMemcpy");
  c.device[k] = p.base + kGuard + p.shift;
  return p;
}

/* Guards, inputs, results. */
static void check_array(Case &c, int k, const Placed &p) {
  const fz_array &a = c.spec->arrays[k];
  Bytes after(p.before.size());
  must(c, cudaMemcpy(after.data(), p.base, after.size(), cudaMemcpyDefault), "cudaMemcpy");
  const size_t from = kGuard + p.shift, to = after.size() - kGuard;
  for (size_t b = 0; b < after.size(); b++) {
    if ((b < from || b >= to || !a.is_output) && after[b] != p.before[b]) {
      fail(c, a.is_output ? "guard" : "input", std::string(a.name) + " was written at byte " +
           std::to_string((long long)b - (long long)from));
    }
  }
  if (!a.is_output) {
    return;
  }
  Bytes plain(after.begin() + (long)from, after.begin() + (long)to);
  if (a.n_layouts > 1) {
    Bytes unpacked((size_t)c.run.bytes[k]);
    for (size_t b = 0; b < unpacked.size(); b++) {
      unpacked[b] = fz_poison(&c.run, k, (int64_t)b);
    }
    c.wanted = a.name;
    if (!c.convert(unpacked.data(), plain.data(), false)) {
      fail(c, "unpack", "unpack() refused");
    }
    plain = unpacked;
  }
  char text[512];
  plain.push_back(0);
  const bool right = a.n_layouts > 1 ? fz_check_values(&c.run, k, plain.data(), text, sizeof text)
                                     : fz_check(&c.run, k, plain.data(), text, sizeof text);
  if (!right) {
    fail(c, "result", text);
  }
}

/* One call; true: it took another kernel than the naive one. */
static bool try_call(Case &c, const int64_t *n, bool exact, uint64_t seed) {
  fz_run_open(&c.run, c.spec, n, nullptr, seed);
  std::vector<Placed> arrays;
  for (int k = 0; k < c.spec->n_arrays; k++) {
    arrays.push_back(place(c, k, exact));
  }
  const size_t room = c.workspace_bytes();
  if (room > 0 && !c.workspace) { /* set to 0 once, for all calls */
    must(c, cudaMalloc(&c.workspace, room), "cudaMalloc");
    must(c, cudaMemset(c.workspace, 0, room), "cudaMemset");
  }
  const char *name = c.variant();
  const std::string variant = name ? name : "nothing";
  must(c, c.call(), ("launch of " + variant).c_str());
  must(c, cudaDeviceSynchronize(), ("run of " + variant).c_str());
  for (int k = 0; k < c.spec->n_arrays; k++) {
    check_array(c, k, arrays[(size_t)k]);
    must(c, cudaFree(arrays[(size_t)k].base), "cudaFree");
  }
  fz_run_close(&c.run);
  return variant.compare(0, 6, "direct") != 0 && variant != "nothing";
}

int main(int argc, char **argv) {
  for (Case *c = fuzz_cases; c; c = c->next) {
    if (argc < 2) {
      printf("%s\n", c->spec->name);
    } else if (strcmp(argv[1], c->spec->name) == 0) {
      int calls = 0, others = 0;
      for (int k = 0; k < c->spec->n_runs + c->spec->n_sizes; k++) {
        const int64_t *n =
            k < c->spec->n_runs ? c->spec->runs[k] : c->spec->sizes[k - c->spec->n_runs];
        for (int exact = 0; exact < 2; exact++) {
          others += try_call(*c, n, exact, (uint64_t)(1000 + 2 * k + exact));
          calls++;
        }
      }
      printf("%s\tok\t%d\t%d\n", argv[1], calls, others);
    }
  }
  return 0;
}
