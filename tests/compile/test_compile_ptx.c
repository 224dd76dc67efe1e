/* Files that hold PTX: as text, and in fatbins of every packing. */
#include "compile/compile_internal.h"
#include "compile_fixture.h"

#include <sys/stat.h>

static char folder[64];

static const char *write_bytes(const char *name, const void *data, size_t n) {
  static char path[128];
  sct_error err = {0};
  (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
  assert_int_equal(sct_file_write(path, data, n, &err), SCT_OK);
  return path;
}

static const char ptx[] = "// of another compiler\n/* yes */\n.version 8.0\n.target sm_80\n"
                          ".address_size 64\n.visible .entry _ZN2in4copyIfLi4EEEvPT_(\n"
                          "\t.param .u64 p\n)\n{\n\tret;\n}\n";

/* Adds an entry of a fatbin. */
static void add_entry(sct_str *out, int kind, int arch, uint64_t flags, uint64_t unpacked,
                      const void *data, size_t n) {
  uint64_t head[8] = {0};
  const uint64_t padded = (n + 7) / 8 * 8;
  head[0] = (uint64_t)kind | 0x101U << 16 | (uint64_t)sizeof head << 32;
  head[1] = padded;
  head[2] = n;
  head[3] = (uint64_t)arch << 32;
  head[5] = flags;
  head[7] = unpacked;
  sct_str_append_n(out, (const char *)head, sizeof head);
  sct_str_append_n(out, data, n);
  sct_str_append_n(out, "\0\0\0\0\0\0\0", (size_t)padded - n);
}

static const char *write_fatbin(const sct_str *entries, size_t more) {
  sct_str file = {0};
  const uint64_t head[2] = {0xba55ed50U | 1ULL << 32 | 16ULL << 48, entries->len + more};
  sct_str_append_n(&file, (const char *)head, sizeof head);
  sct_str_append_n(&file, entries->data, entries->len);
  const char *const path = write_bytes("k.fatbin", file.data, file.len);
  sct_str_free(&file);
  return path;
}

static sct_status take(sct_compiled_file *out, const char *path, const char *kernel,
                       sct_error *err) {
  const sct_compile_file file = {.path = path, .kernels = &kernel, .n_kernels = 1};
  return sct_compile_ptx(out, &file, "sm_90", err);
}

static void test_files_are_known_by_their_contents(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t n;
    bool holds;
  } files[] = {{ptx, sizeof ptx - 1, true},
               {"\n\n.version 7.0\n", 15, true},
               {"__global__ void k() {}\n", 23, false},
               {"/* .version 8.0\n", 16, false},
               {"\177ELF567890123456", 16, true},
               {"\x50\xed\x55\xba"
                "567890123456",
                16, true},
               {"\177ELF", 4, false},
               {"", 0, false}};
  for (int k = 0; k < SCT_COUNT(files); k++) {
    const char *const path = write_bytes("k.any", files[k].text, files[k].n);
    assert_int_equal(sct_compile_holds_ptx(path), files[k].holds);
  }
  assert_false(sct_compile_holds_ptx("/nowhere/k.ptx"));
}

/* LZ4: 15 literals and more, then a match that repeats them, then literals. */
static void test_fatbins_are_unpacked(void **state) {
  (void)state;
  static const unsigned char packed[] = {0xf2, 1,   '.', 'v', 'e',  'r',  's',  'i',
                                         'o',  'n', ' ', '8', '.',  '0',  '\n', '/',
                                         '/',  'x', 1,   0,   0x30, '\n', 'o',  'k'};
  static const char unpacked[] = ".version 8.0\n//xxxxxxx\nok";
  sct_str entries = {0};
  sct_compiled_file out;
  sct_error err = {0};
  add_entry(&entries, 1, 80, 0x11, 0, ptx, sizeof ptx);
  add_entry(&entries, 1, 90, 0x2011, sizeof unpacked - 1, packed, sizeof packed);
  const char *path = write_fatbin(&entries, 0);
  assert_int_equal(take(&out, path, "nothing", &err), SCT_OK);
  assert_string_equal(out.ptx, unpacked); /* the newer one */
  sct_compiled_file_free(&out);
  assert_int_equal(take(&out, path, "in::copy<float, 4>", &err), SCT_OK);
  assert_string_equal(out.ptx, ptx); /* the one that has the kernel */
  sct_compiled_file_free(&out);
  for (size_t n = 0; n < entries.len;
       n += 3) { /* cut anywhere, or with contents that are no more */
    sct_str part = {.data = entries.data, .len = n, .cap = 0};
    path = write_fatbin(&part, n % 2 * 1000);
    if (take(&out, path, "copy", &err) == SCT_OK) {
      assert_true(strcmp(out.ptx, ptx) == 0 || strcmp(out.ptx, unpacked) == 0);
    }
    sct_compiled_file_free(&out);
  }
  sct_str_free(&entries);
}

static void test_damaged_packing_is_no_ptx(void **state) {
  (void)state;
  static const unsigned char bad[][6] = {
      {0x10, 'a', 5, 0, 0, 0}, {0xf0, 255, 255, 255, 255, 0}, {0x1f, 'a', 1, 0, 255, 255}};
  sct_compiled_file out;
  sct_error err = {0};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    sct_str entries = {0};
    add_entry(&entries, 1, 90, 0x2011, 20, bad[k], sizeof bad[k]);
    assert_int_equal(take(&out, write_fatbin(&entries, 0), "k", &err), SCT_ESPEC);
    sct_compiled_file_free(&out);
    sct_str_free(&entries);
  }
  sct_str entries = {0};
  add_entry(&entries, 2, 90, 0x11, 0, "machine code", 12);
  assert_int_equal(take(&out, write_fatbin(&entries, 0), "k", &err), SCT_ESPEC);
  assert_non_null(strstr(err.text, "it holds no PTX: machine code alone cannot be run here"));
  sct_compiled_file_free(&out);
  sct_str_free(&entries);
}

/* A ptxas of our own, which says what it was called with, and fails. */
static void test_machine_code_may_be_unknown(void **state) {
  (void)state;
  static const char *const targets[][2] = {
      {"sm_80", "sm_90"}, {"sm_90a", "sm_90a"}, {"sm_100, debug", "sm_100"}, {"sm_90", "sm_90"}};
  static const char script[] = "#!/bin/sh\necho \"ptxas fatal: $1\"\nexit 1\n";
  sct_error err = {0};
  char path[128];
  (void)snprintf(path, sizeof path, "mkdir -p %s/bin", folder);
  assert_int_equal(system(path), 0);
  (void)snprintf(path, sizeof path, "%s", write_bytes("bin/ptxas", script, sizeof script - 1));
  assert_int_equal(chmod(path, 0755), 0);
  setenv("CUDA_HOME", folder, 1);
  for (int k = 0; k < SCT_COUNT(targets); k++) {
    char text[128], says[64];
    sct_compiled_file out;
    (void)snprintf(text, sizeof text, ".version 8.0\n.target %s\n", targets[k][0]);
    (void)snprintf(says, sizeof says, "ptxas says: ptxas fatal: -arch=%s", targets[k][1]);
    assert_int_equal(take(&out, write_bytes("k.ptx", text, strlen(text)), "k", &err), SCT_OK);
    assert_true(out.ok && out.cubin_bytes == 0);
    assert_string_equal(out.why, says);
    sct_compiled_file_free(&out);
  }
  unsetenv("CUDA_HOME");
}

static void test_names_are_those_of_the_source(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"_ZN2in4copyIfLi4EEEvPT_", "in::copy<float,4>"},
      {"_Z1fPfi", "f"},
      {"_ZN12_GLOBAL__N_14copyIfEEvPT_", "(anonymousnamespace)::copy<float>"}};
  sct_str got = {0};
  for (int k = 0; k < SCT_COUNT(names); k++) {
    sct_str_clear(&got);
    if (!sct_compile_demangle(&got, names[k][0])) {
      skip(); /* no C++ library */
    }
    assert_string_equal(sct_str_c(&got), names[k][1]);
  }
  assert_false(sct_compile_demangle(&got, "add_kernel"));
  sct_str_free(&got);
}

static int setup(void **state) {
  (void)state;
  fx_temp_dir(folder);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  fx_remove_dir(folder);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_files_are_known_by_their_contents),
      cmocka_unit_test(test_fatbins_are_unpacked),
      cmocka_unit_test(test_damaged_packing_is_no_ptx),
      cmocka_unit_test(test_machine_code_may_be_unknown),
      cmocka_unit_test(test_names_are_those_of_the_source),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
