/* Emitted headers through nvcc: no warning, several files of one program, hostile texts, records
 * with one name; and the host side run on a runtime of our own (tests/emit/nvcc), where no GPU
 * is needed to see which kernel a call takes. Skipped where there is no nvcc. */
#include <sys/stat.h>

#include "emit/emit_fixture.h"
#include "part.h"

#define WARNINGS "-Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror"

static char nvcc[512];

static bool find_nvcc(void) {
  const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  if (system("command -v nvcc >/dev/null 2>&1") == 0) {
    snprintf(nvcc, sizeof(nvcc), "nvcc");
    return true;
  }
  for (int k = 0; k < SCT_COUNT(homes); k++) {
    snprintf(nvcc, sizeof(nvcc), "%s/bin/nvcc", homes[k] != NULL ? homes[k] : "");
    if (homes[k] != NULL && access(nvcc, X_OK) == 0) {
      return true;
    }
  }
  return false;
}

static void write_form(fixture *f, const char *name, sct_emit_form form, const char *folder) {
  sct_str path = {0};
  const sct_emit_request request = {.name = name, .form = form};
  sct_str_printf(&path, "%s%s/%s.h", f->folder, folder, name);
  fixture_check(f, fixture_write(f, &request, sct_str_c(&path)));
  sct_str_free(&path);
}

static void write_header(fixture *f, const char *name) {
  write_form(f, name, SCT_EMIT_INLINE, "");
}

/* One store with all headers, written once: nvcc is slow. */
static int setup(void **state) {
  fixture *f = malloc(sizeof(*f));
  fixture_open(f);
  *state = f;
  if (!find_nvcc()) {
    return 0;
  }
  fixture_add_two_devices(f);
  fixture_transpose(f);
  fixture_scale(f);
  fixture_hostile(f);
  fixture_row_sum(f);
  fixture_strips(f);
  fixture_shift(f);
  fixture_pitched(f);
  static const char *const names[] = {"add3",    "transpose", "scale",  "hostile",
                                      "row_sum", "strips",    "shift2", "pitched"};
  sct_str once = {0};
  sct_str_printf(&once, "%s/once", f->folder);
  assert_int_equal(mkdir(sct_str_c(&once), 0777), 0);
  sct_str_free(&once);
  for (int k = 0; k < SCT_COUNT(names); k++) {
    write_header(f, names[k]);
    write_form(f, names[k], SCT_EMIT_CUDA, "/once");
  }
  return 0;
}

/* Runs nvcc with `arguments` in the folder of the headers and gives its status; what it says stays
 * in the file `said`. */
static int run_nvcc(fixture *f, const char *arguments) {
  sct_str command = {0};
  sct_str_printf(&command, "cd '%s' && %s -arch=sm_90 -I. -I'%s/emit/nvcc' %s >said 2>&1",
                 f->folder, nvcc, SCT_TESTS_DIR, arguments);
  const int status = system(sct_str_c(&command));
  sct_str_free(&command);
  return status;
}

static void show_said(fixture *f) {
  sct_str path = {0};
  sct_str said = {0};
  sct_str_printf(&path, "%s/said", f->folder);
  if (sct_file_read(&said, sct_str_c(&path), NULL) == SCT_OK) {
    print_message("%.4000s\n", sct_str_c(&said));
  }
  sct_str_free(&path);
  sct_str_free(&said);
}

static void need_nvcc(void) {
  if (!find_nvcc()) {
    print_message("no nvcc here: emitted headers are not compiled\n");
    skip();
  }
}

static void headers_compile_without_a_warning(void **state) {
  fixture *f = *state;
  need_nvcc();
  static const char *const standards[] = {"c++11", "c++17", "c++20"};
  for (int k = 0; k < SCT_COUNT(standards); k++) {
    if (!part_has(k)) {
      continue;
    }
    char arguments[512];
    snprintf(arguments, sizeof(arguments),
             "-std=%s %s -c '%s/emit/nvcc/includes_only.cu' -o includes_only.o", standards[k],
             WARNINGS, SCT_TESTS_DIR);
    if (run_nvcc(f, arguments) != 0) {
      show_said(f);
      fail_msg("-std=%s: see above", standards[k]);
    }
  }
}

static void calls_take_the_kernel_that_the_contract_says(void **state) {
  fixture *f = *state;
  need_nvcc();
  const int built =
      run_nvcc(f, WARNINGS " -cudart none -o dispatch '" SCT_TESTS_DIR
                           "/emit/nvcc/dispatch.cu' '" SCT_TESTS_DIR
                           "/emit/nvcc/elsewhere.cu' '" SCT_TESTS_DIR "/emit/nvcc/fake_cudart.cc'");
  if (built != 0) {
    show_said(f);
    fail_msg("the program does not build: see above");
  }
  char command[128];
  snprintf(command, sizeof(command), "cd '%s' && ./dispatch && grep -qx 42,1 atexit.csv",
           f->folder);
  assert_int_equal(system(command), 0);
}

/* A program whose main file is C11, and whose kernels are in one of its two CUDA files. */
static void build_in_c(fixture *f, const char *flags) {
  sct_str command = {0};
  sct_str_printf(&command,
                 "cd '%s' && bash '" SCT_TESTS_DIR "/emit/nvcc/plain.sh' '%s' %s >said 2>&1",
                 f->folder, nvcc, flags);
  if (system(sct_str_c(&command)) != 0) {
    show_said(f);
    fail_msg("%s: see above", flags);
  }
  sct_str_free(&command);
}

/* Does the object of the file that does not define NAME_IMPLEMENTATION hold kernels? */
static bool elsewhere_has_kernels(fixture *f) {
  char command[512];
  snprintf(command, sizeof command, "nm '%s/elsewhere.o' | grep -q add3_detail", f->folder);
  return system(command) == 0;
}

static void a_program_in_c_calls_kernels_of_one_file(void **state) {
  fixture *f = *state;
  need_nvcc();
  build_in_c(f, "-Ionce");
  assert_false(elsewhere_has_kernels(f));
  build_in_c(f, "-Ionce -DDECLARED_BEFORE");
  build_in_c(f, "-I.");
  assert_true(elsewhere_has_kernels(f));
}

static void records_with_one_name_stand_in_one_program(void **state) {
  fixture *f = *state;
  need_nvcc();
  static const char *const standards[] = {"c++11", "c++17"};
  for (int k = 0; k < SCT_COUNT(standards); k++) {
    char arguments[512];
    snprintf(arguments, sizeof(arguments), "-std=%s %s -c '%s/emit/nvcc/names.cu' -o names.o",
             standards[k], WARNINGS, SCT_TESTS_DIR);
    if (run_nvcc(f, arguments) != 0) {
      show_said(f);
      fail_msg("-std=%s: see above", standards[k]);
    }
  }
}

/* ---- every pair of the described devices ---- */

typedef struct described {
  char name[64];
  int cc, n_sms;
} described;

/* All pairs of these: most compute capabilities, two GPUs that differ in their name only. */
static const char *const taken[] = {"a100", "b200", "c2050", "geforce_8800", "gtx1070", "gtx280",
                                    "h100", "h200", "l40",   "rtx_a2000",    "t4",      "v100"};

/* `name = "NVIDIA H200", cc = "9.0", sms = 132,` of tuning/devices. */
static int read_devices(fixture *f, described *out) {
  for (int k = 0; k < SCT_COUNT(taken); k++) {
    sct_str text = {0};
    char path[256];
    int major = 0;
    int minor = 0;
    snprintf(path, sizeof(path), SCT_TESTS_DIR "/../tuning/devices/%s.lua", taken[k]);
    fixture_check(f, sct_file_read(&text, path, &f->err));
    const char *name = strstr(sct_str_c(&text), " name = \"");
    const char *cc = strstr(sct_str_c(&text), " cc = \"");
    const char *sms = strstr(sct_str_c(&text), " sms = ");
    assert_true(name != NULL && cc != NULL && sms != NULL);
    assert_int_equal(sscanf(name, " name = \"%63[^\"]", out[k].name), 1);
    assert_int_equal(sscanf(cc, " cc = \"%d.%d\"", &major, &minor), 2);
    assert_int_equal(sscanf(sms, " sms = %d", &out[k].n_sms), 1);
    out[k].cc = 10 * major + minor;
    sct_str_free(&text);
  }
  return SCT_COUNT(taken);
}

#define COPY_SIGNATURE                                                                             \
  "{\"name\": \"%s\", \"dims\": [\"i\"], \"extents\": [{\"name\": \"i\", \"dim\": true}], "        \
  "\"scalars\": [], \"operands\": [" OPERAND("a", "in", BARE_F32, "true", "\"row_major\"",         \
                                             "\"i\"") ", " OPERAND("b", "out", BARE_F32, "true",   \
                                                                   "\"row_major\"",                \
                                                                   "\"i\"") "], \"body\": \"\"}"
#define COPY_LAUNCH                                                                                \
  "{\"kernel\": \"copy_kernel\", \"threads\": %d, \"grid\": \"n_i\", \"shared_bytes\": 0, "        \
  "\"static_shared_bytes\": 0, \"requires\": [], \"align\": {\"a\": 4, \"b\": 4}, \"layouts\": "   \
  "{\"a\": \"row_major\", \"b\": \"row_major\"}, \"doc\": \"\"}"

/* A header tuned on devices `a` and, later, `b` (-1: on `a` only). The kernel of device d has
 * 32 * (d + 2) threads, the naive variant 32. */
static void write_pair(fixture *f, const described *devices, int a, int b, sct_str *program) {
  static const char *const source =
      "__global__ void copy_kernel(const float *a, float *b, long long n_i) {\n"
      "  (void)a, (void)b, (void)n_i;\n}\n";
  const int tuned[] = {a, b};
  char name[32];
  char launch[512];
  char signature[1024];
  snprintf(name, sizeof(name), "p_%d_%d", a, b < 0 ? a : b);
  snprintf(signature, sizeof(signature), COPY_SIGNATURE, name);
  fixture_problem(f, name, signature);
  for (int k = 0; k < 2 && tuned[k] >= 0; k++) {
    const described *d = &devices[tuned[k]];
    const sct_id id =
        fixture_device_with(f, d->name, k == 0 ? "GPU-A" : "GPU-B", "580.1", d->cc, d->n_sms);
    sct_row_run run = fixture_run(f, id, "i=64", "{\"i\": 64}", 512,
                                  k == 0 ? "2025-01-01T00:00:00Z" : "2025-01-02T00:00:00Z");
    kernel naive = {"", "naive", "direct", "{}", launch, 8};
    snprintf(launch, sizeof(launch), COPY_LAUNCH, 32);
    const sct_id slow = fixture_result_with(f, &run, &naive, source, 2000, true);
    kernel best = {"", d->name, "flat", "{}", launch, 8};
    snprintf(launch, sizeof(launch), COPY_LAUNCH, 32 * (tuned[k] + 2));
    fixture_finish(f, &run, fixture_result_with(f, &run, &best, source, 1000, true), slow);
  }
  write_header(f, name);
  sct_str_printf(program, "#include \"%s.h\"\n", name);
}

static void every_pair_of_devices_finds_its_own(void **state) {
  fixture *f = *state;
  need_nvcc();
  static described devices[SCT_COUNT(taken)];
  const int n = read_devices(f, devices);
  sct_str includes = {0};
  sct_str table = {0};
  for (int a = 0; a < n; a++) {
    for (int b = a; b < n; b++) {
      write_pair(f, devices, a, b == a ? -1 : b, &includes);
      sct_str_printf(&table, "  pair(%d, %d, p_%d_%d, p_%d_%d_variant)\n", a, b, a, b, a, b);
    }
  }
  sct_str_append(&includes, "#define DEVICES");
  for (int k = 0; k < n; k++) {
    sct_str_printf(&includes, " {%d, %d, %d, 49152, \"%s\"},", devices[k].cc / 10,
                   devices[k].cc % 10, devices[k].n_sms, devices[k].name);
  }
  sct_str_printf(&includes, "\n#define PAIRS \\\n");
  for (char *at = table.data; *at != '\0'; at++) {
    sct_str_append(&includes, *at == '\n' ? " \\\n" : "");
    sct_str_append_n(&includes, at, *at == '\n' ? 0 : 1);
  }
  sct_str_append(&includes, "\n");
  sct_str path = {0};
  sct_str_printf(&path, "%s/pairs.h", f->folder);
  fixture_check(f, sct_file_write(sct_str_c(&path), includes.data, includes.len, &f->err));
  if (run_nvcc(f, WARNINGS " -Xptxas -O0 -cudart none -o devices '" SCT_TESTS_DIR
                           "/emit/nvcc/devices.cu' '" SCT_TESTS_DIR
                           "/emit/nvcc/fake_cudart.cc'") != 0) {
    show_said(f);
    fail_msg("the program does not build: see above");
  }
  char command[128];
  snprintf(command, sizeof(command), "'%s/devices'", f->folder);
  assert_int_equal(system(command), 0);
  sct_str_free(&path);
  sct_str_free(&table);
  sct_str_free(&includes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(headers_compile_without_a_warning),
      cmocka_unit_test(calls_take_the_kernel_that_the_contract_says),
      cmocka_unit_test(a_program_in_c_calls_kernels_of_one_file),
      cmocka_unit_test(every_pair_of_devices_finds_its_own),
      cmocka_unit_test(records_with_one_name_stand_in_one_program),
  };
  return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
