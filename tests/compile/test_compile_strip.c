/* Cubins without what is for debuggers: what goes, that all else stays as it was, and that a
 * damaged one is left alone. */
#include "compile/compile_internal.h"
#include "compile_fixture.h"

#include <elf.h>

static const char source[] =
    "namespace { __constant__ float factor[4] = {1, 2, 3, 4}; }\n"
    "__device__ float table[64] = {5, 6, 7};\n"
    "__device__ float sums[1024];\n"
    "extern __shared__ float room[];\n"
    "__device__ __noinline__ float far(const float *a) { return a[7] * a[9] + sums[3]; }\n"
    "__global__ void turn(const float *a, float *b) {\n"
    "  __shared__ float tile[16][17];\n"
    "  const int x = threadIdx.x % 16, y = threadIdx.x / 16;\n"
    "  tile[y][x] = a[threadIdx.x] * factor[x & 3];\n"
    "  __syncthreads();\n"
    "  b[threadIdx.x] = tile[x][y] + table[x];\n"
    "}\n"
    "__global__ void __launch_bounds__(128) call(const float *a, float *b) {\n"
    "  room[threadIdx.x] = far(a + threadIdx.x);\n"
    "  __syncthreads();\n"
    "  b[threadIdx.x] = room[threadIdx.x ^ 1];\n"
    "}\n";
static const char *const kernels[] = {"turn", "call"};
enum { KERNELS = 2 };

typedef struct program {
  unsigned char *cubin; /* as NVRTC makes it */
  size_t bytes;
  char *entries[KERNELS];
} program;

static sct_nvrtc nvrtc;

static void must(sct_status status, const sct_error *err) {
  if (status != SCT_OK) {
    fail_msg("%s", err->text);
  }
}

static program build(const char *arch, const char *info) {
  char option[64];
  sct_error err = {0};
  sct_compile_build b;
  program p = {0};
  if (nvrtc.handle == NULL) {
    must(sct_compile_nvrtc_load(&nvrtc, &err), &err);
  }
  (void)snprintf(option, sizeof(option), "--gpu-architecture=%s", arch);
  const char *const options[] = {option, "-std=c++17", "-default-device", info};
  const sct_compile_input in = {.source = source,
                                .name = "strip.cu",
                                .expressions = kernels,
                                .n_expressions = KERNELS,
                                .options = options,
                                .n_options = info != NULL ? 4 : 3,
                                .deadline_ns = INT64_MAX};
  must(sct_compile_build_run(&nvrtc, &b, &in, &err), &err);
  if (b.result != NVRTC_SUCCESS) {
    fail_msg("%s", sct_str_c(&b.log));
  }
  assert_int_equal(nvrtc.cubin_size(b.handle, &p.bytes), NVRTC_SUCCESS);
  p.cubin = malloc(p.bytes);
  assert_non_null(p.cubin);
  assert_int_equal(nvrtc.cubin(b.handle, (char *)p.cubin), NVRTC_SUCCESS);
  for (int i = 0; i < KERNELS; ++i) {
    must(sct_compile_build_entry(&nvrtc, &b, kernels[i], &p.entries[i], &err), &err);
  }
  sct_compile_build_free(&nvrtc, &b);
  return p;
}

static void program_free(program *p) {
  free(p->cubin);
  for (int i = 0; i < KERNELS; ++i) {
    sct_free(p->entries[i]);
  }
}

/* A copy in memory of its exact size, so that the sanitizers see what is read beyond. */
static unsigned char *copy_of(const program *p, size_t bytes) {
  unsigned char *const copy = malloc(bytes > 0 ? bytes : 1);
  assert_non_null(copy);
  memcpy(copy, p->cubin, bytes);
  return copy;
}

static Elf64_Ehdr file_header(const unsigned char *cubin) {
  Elf64_Ehdr h;
  memcpy(&h, cubin, sizeof(h));
  return h;
}

static Elf64_Shdr header_of(const unsigned char *cubin, int i) {
  Elf64_Shdr h;
  memcpy(&h, cubin + file_header(cubin).e_shoff + (size_t)i * sizeof(h), sizeof(h));
  return h;
}

static void set_header(unsigned char *cubin, int i, const Elf64_Shdr *h) {
  memcpy(cubin + file_header(cubin).e_shoff + (size_t)i * sizeof(*h), h, sizeof(*h));
}

static const char *name_of(const unsigned char *cubin, int i) {
  const Elf64_Shdr names = header_of(cubin, file_header(cubin).e_shstrndx);
  return (const char *)cubin + names.sh_offset + header_of(cubin, i).sh_name;
}

/* Index of the first section of that name; -1: none. */
static int find(const unsigned char *cubin, const char *name) {
  for (int i = 0; i < file_header(cubin).e_shnum; ++i) {
    if (strcmp(name_of(cubin, i), name) == 0) {
      return i;
    }
  }
  return -1;
}

static bool names_a_debugger(const char *name) {
  return strstr(name, ".debug_") != NULL || strstr(name, ".nv_debug_") != NULL;
}

/* Every section but those is at its index, with its header but for the place, and its bytes. */
static int compare_sections(const unsigned char *before, const unsigned char *after, size_t bytes) {
  int n_gone = 0;
  for (int i = 0; i < file_header(before).e_shnum; ++i) {
    const Elf64_Shdr old = header_of(before, i);
    Elf64_Shdr kept = header_of(after, i);
    if (names_a_debugger(name_of(before, i))) {
      assert_int_equal(kept.sh_type, SHT_NULL);
      assert_int_equal(kept.sh_size, 0);
      ++n_gone;
      continue;
    }
    if (old.sh_type != SHT_NOBITS) {
      assert_true(kept.sh_offset <= bytes && kept.sh_size <= bytes - kept.sh_offset);
      assert_memory_equal(after + kept.sh_offset, before + old.sh_offset, old.sh_size);
    }
    if (old.sh_addralign > 1) {
      assert_int_equal(kept.sh_offset % old.sh_addralign, old.sh_offset % old.sh_addralign);
    }
    kept.sh_offset = old.sh_offset;
    assert_memory_equal(&kept, &old, sizeof(old));
  }
  return n_gone;
}

/* Segments cover the same bytes, that of the program headers themselves what these are now. */
static void compare_segments(const unsigned char *before, const unsigned char *after,
                             size_t bytes) {
  const Elf64_Ehdr from = file_header(before);
  const Elf64_Ehdr to = file_header(after);
  assert_true(from.e_phnum > 0);
  assert_int_equal(from.e_phnum, to.e_phnum);
  for (int i = 0; i < from.e_phnum; ++i) {
    Elf64_Phdr old;
    Elf64_Phdr kept;
    memcpy(&old, before + from.e_phoff + (size_t)i * sizeof(old), sizeof(old));
    memcpy(&kept, after + to.e_phoff + (size_t)i * sizeof(kept), sizeof(kept));
    assert_true(kept.p_offset <= bytes && kept.p_filesz <= bytes - kept.p_offset);
    if (old.p_offset == from.e_phoff) {
      assert_int_equal(kept.p_offset, to.e_phoff);
    } else {
      assert_memory_equal(after + kept.p_offset, before + old.p_offset, old.p_filesz);
    }
    kept.p_offset = old.p_offset;
    assert_memory_equal(&kept, &old, sizeof(old));
  }
}

static void compare_kernels(const program *p, const unsigned char *after, size_t bytes) {
  for (int i = 0; i < KERNELS; ++i) {
    sct_compile_bits old;
    sct_compile_bits kept;
    assert_true(sct_compile_elf_kernel(&old, p->cubin, p->bytes, p->entries[i]));
    assert_true(sct_compile_elf_kernel(&kept, after, bytes, p->entries[i]));
    assert_memory_equal(&kept, &old, sizeof(old));
    sct_memops in = {0};
    sct_memops out = {0};
    sct_error err = {0};
    must(sct_sass_memops(&in, p->cubin, p->bytes, p->entries[i], &err), &err);
    must(sct_sass_memops(&out, after, bytes, p->entries[i], &err), &err);
    assert_memory_equal(&out, &in, sizeof(in));
  }
}

static void test_what_goes_and_what_stays(void **state) {
  (void)state;
  static const char *const archs[] = {"sm_75", "sm_80", "sm_90"};
  for (int i = 0; i < SCT_COUNT(archs); ++i) {
    program p = build(archs[i], "-lineinfo");
    unsigned char *const copy = copy_of(&p, p.bytes);
    assert_true(find(p.cubin, ".nv_debug_ptx_txt") > 0);
    const Elf64_Shdr text = header_of(p.cubin, find(p.cubin, ".nv_debug_ptx_txt"));
    const size_t left = sct_compile_elf_strip(copy, p.bytes);
    print_message("%s: %zu of %zu bytes left\n", archs[i], left, p.bytes);
    assert_true(left + text.sh_size < p.bytes + 128); /* it, but for an alignment, and more */
    assert_true(compare_sections(p.cubin, copy, left) >= 5);
    compare_segments(p.cubin, copy, left);
    compare_kernels(&p, copy, left);
    assert_int_equal(find(copy, ".nv_debug_ptx_txt"), -1);

    unsigned char *const again = malloc(left);
    assert_non_null(again);
    memcpy(again, copy, left);
    assert_int_equal(sct_compile_elf_strip(again, left), left);
    assert_memory_equal(again, copy, left);
    free(again);
    free(copy);
    program_free(&p);
  }
}

/* From sm_100 on a cubin holds its code in a second form too, which shares sections with the first.
 */
static void test_a_cubin_of_two_forms(void **state) {
  (void)state;
  program p = build("sm_120", "-lineinfo");
  unsigned char *const copy = copy_of(&p, p.bytes);
  const int second = find(p.cubin, ".nv.merc.nv_debug_ptx_txt");
  assert_true(second > 0);
  assert_int_equal(header_of(p.cubin, second).sh_offset,
                   header_of(p.cubin, find(p.cubin, ".nv_debug_ptx_txt")).sh_offset);
  assert_int_equal(sct_compile_elf_strip(copy, p.bytes), p.bytes);
  assert_memory_equal(copy, p.cubin, p.bytes);
  free(copy);
  program_free(&p);
}

static void test_nothing_for_debuggers(void **state) {
  (void)state;
  program p = build("sm_90", NULL);
  unsigned char *const copy = copy_of(&p, p.bytes);
  assert_int_equal(find(p.cubin, ".nv_debug_ptx_txt"), -1);
  const size_t left = sct_compile_elf_strip(copy, p.bytes);
  (void)compare_sections(p.cubin, copy, left);
  compare_kernels(&p, copy, left);
  free(copy);
  program_free(&p);
}

/* Applies one change to a cubin, which must then be left alone. */
static void expect_untouched(const program *p, const char *section, uint64_t offset, uint64_t bytes,
                             uint64_t align) {
  unsigned char *const damaged = copy_of(p, p->bytes);
  const int i = find(p->cubin, section);
  Elf64_Shdr h = header_of(p->cubin, i);
  h.sh_offset = offset;
  h.sh_size = bytes;
  h.sh_addralign = align;
  set_header(damaged, i, &h);
  unsigned char *const copy = malloc(p->bytes);
  assert_non_null(copy);
  memcpy(copy, damaged, p->bytes);
  assert_int_equal(sct_compile_elf_strip(copy, p->bytes), p->bytes);
  assert_memory_equal(copy, damaged, p->bytes);
  free(copy);
  free(damaged);
}

static void test_what_does_not_fit_together(void **state) {
  (void)state;
  program p = build("sm_90", "-lineinfo");
  const Elf64_Ehdr file = file_header(p.cubin);
  const Elf64_Shdr text = header_of(p.cubin, find(p.cubin, ".nv_debug_ptx_txt"));
  const Elf64_Shdr symbols = header_of(p.cubin, find(p.cubin, ".symtab"));
  char name[160];
  (void)snprintf(name, sizeof(name), ".text.%s", p.entries[0]);
  const Elf64_Shdr code = header_of(p.cubin, find(p.cubin, name));
  /* a section that stays lies in one that goes, and the other way round */
  expect_untouched(&p, ".symtab", text.sh_offset + 8, symbols.sh_size, 8);
  expect_untouched(&p, ".nv_debug_ptx_txt", code.sh_offset - 4, 400, 1);
  /* it holds the headers, or a segment */
  expect_untouched(&p, ".nv_debug_ptx_txt", 8, 400, 1);
  expect_untouched(&p, ".nv_debug_ptx_txt", file.e_shoff - 64, 400, 1);
  expect_untouched(&p, ".nv_debug_ptx_txt", file.e_phoff + 8, 16, 1);
  /* it ends behind the file, and where a sum of both is small */
  expect_untouched(&p, ".nv_debug_ptx_txt", text.sh_offset, p.bytes, 1);
  expect_untouched(&p, ".nv_debug_ptx_txt", UINT64_MAX - 64, 128, 1);
  /* two that go overlap */
  expect_untouched(&p, ".debug_line", text.sh_offset + 1, 300, 1);
  /* no alignment */
  expect_untouched(&p, ".symtab", symbols.sh_offset, symbols.sh_size, 24);
  expect_untouched(&p, ".symtab", symbols.sh_offset, symbols.sh_size, (uint64_t)1 << 40);
  program_free(&p);
}

/* Every truncation and many wrong bytes: nothing is read or written outside, and a kernel that can
 * be read before can be read after. */
static void test_damaged(void **state) {
  (void)state;
  program p = build("sm_90", "-lineinfo");
  for (size_t n = 0; n < p.bytes; n += 1 + n / 64) {
    unsigned char *const part = copy_of(&p, n);
    assert_true(sct_compile_elf_strip(part, n) <= n);
    free(part);
  }
  const uint64_t seed = 20251122;
  print_message("seed %llu\n", (unsigned long long)seed);
  sct_rng rng = sct_rng_new(seed);
  const Elf64_Ehdr file = file_header(p.cubin);
  int n_cut = 0;
  int n_left = 0;
  for (int i = 0; i < 4000; ++i) {
    unsigned char *const copy = copy_of(&p, p.bytes);
    const int64_t size = (int64_t)p.bytes;
    const int64_t tables = size - (int64_t)file.e_shoff;
    const int64_t at = i % 4 == 0   ? sct_rng_below(&rng, size)
                       : i % 4 == 1 ? sct_rng_below(&rng, 64)
                                    : size - 1 - sct_rng_below(&rng, tables);
    copy[at] ^= (unsigned char)(1 + sct_rng_below(&rng, 255));
    sct_compile_bits old;
    sct_compile_bits kept;
    const bool good = sct_compile_elf_kernel(&old, copy, p.bytes, p.entries[1]);
    const size_t left = sct_compile_elf_strip(copy, p.bytes);
    assert_true(left <= p.bytes);
    if (good) {
      assert_true(sct_compile_elf_kernel(&kept, copy, left, p.entries[1]));
      assert_memory_equal(&kept, &old, sizeof(old));
    }
    n_cut += left < p.bytes;
    n_left += left == p.bytes;
    free(copy);
  }
  assert_in_range(n_cut, 1000, 3999);
  assert_in_range(n_left, 100, 3999);
  program_free(&p);
}

/* A compiler gives cubins without them, and PTX that still says which line it comes from. */
static void test_results_of_a_compiler(void **state) {
  (void)state;
  sct_compiler *compiler = NULL;
  sct_compiled r = fx_one(&compiler, source, "turn");
  assert_true(r.ok);
  assert_non_null(strstr(r.ptx, ".loc"));
  assert_int_equal(find(r.cubin, ".nv_debug_ptx_txt"), -1);
  assert_null(memmem(r.cubin, r.cubin_bytes, ".loc", 4));
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
}

int main(int argc, char **argv) {
  FX_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_goes_and_what_stays),
      cmocka_unit_test(test_a_cubin_of_two_forms),
      cmocka_unit_test(test_nothing_for_debuggers),
      cmocka_unit_test(test_what_does_not_fit_together),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_results_of_a_compiler),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
