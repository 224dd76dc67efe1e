/* Headers of all worked kernels, several in one file, as compilers take them that know no CUDA: C11
 * to C17 and C++11 to C++20, no warning; and as NVRTC takes them: kernels under C names. What nvcc
 * makes of headers is in tests/emit/test_emit_nvcc.c. A compiler that is not here is left out. A
 * run has a part of the standards. */
#include "cli/header_fixture.h"

#include "compile/compile.h"
#include "part.h"

static header_store here;

/* The worked kernels of this run's part, those that tests name, and one whose records are packed
 * and aligned: members cannot say both. */
static const char *chosen[SCT_COUNT(worked_kernels) + 1];
static int n_chosen;

static void choose(void) {
  static const char *const named[] = {"transpose_f32", "particle_energy", "softmax",
                                      "transpose_own", "transpose_f16",   "layer_norm_bf16",
                                      "saxpy_in_place"};
  for (int k = 0; k < worked_count(); k++) {
    bool is_named = false;
    for (int n = 0; n < SCT_COUNT(named); n++) {
      is_named = is_named || strcmp(worked_kernels[k].name, named[n]) == 0;
    }
    if (is_named || part_has(k)) {
      chosen[n_chosen++] = worked_kernels[k].name;
    }
  }
  chosen[n_chosen++] = "packed_aligned";
}

/* The last candidate in these layouts whose plan does not reject it; -1: there is none. */
static int64_t put_another(fixture *f, const sct_row_run *run, sct_id *out) {
  for (int64_t c = (int64_t)f->space.n_candidates - 1; c > 0; c--) {
    const sct_candidate *cand = &f->space.candidates[c];
    bool same = cand->strategy != f->space.candidates[0].strategy;
    for (int a = 0; a < f->space.strategies[cand->strategy].n_axes && same; a++) {
      const char *name = f->space.strategies[cand->strategy].axes[a].name;
      same = !sct_has_prefix(name, "layout_") || cand->value[a] == 0;
    }
    if (same && header_result(&here, out, f, run, c)) {
      return c;
    }
  }
  return -1;
}

/* The naive variant and another one, as if it had won. */
static void put_worked(const char *name) {
  static const int first[SCT_MAX_OPERANDS] = {0};
  fixture f;
  const bool is_worked = strcmp(name, "packed_aligned") != 0;
  fixture_open(&f, is_worked ? name : SCT_TESTS_DIR "/cases/packed_aligned.lua");
  sct_row_run run = header_run(&here, &f);
  assert_true(
      header_result(&here, &run.naive, &f, &run, sct_codegen_naive(&f.spec, &f.space, first)));
  run.winner = run.naive;
  (void)put_another(&f, &run, &run.winner);
  MUST(sct_store_finish_run(here.store, &run, err));
  fixture_close(&f);
}

/* The host's side does not depend on what the kernels became. */
static sct_status pretend(const char *context, sct_emit_code *out, const char *source,
                          const char *arch, const char *const *names, int n, sct_error *err) {
  (void)context, (void)source, (void)arch, (void)err;
  for (int k = 0; k < n; k++) {
    sct_str_printf(&out->entries, "%s\n", names[k]);
  }
  sct_str_append(&out->cubin, "cubin");
  return SCT_OK;
}

static void write_code(const char *name) {
  char path[256];
  const sct_emit_request request = {.name = name, .form = SCT_EMIT_C, .compile = pretend};
  snprintf(path, sizeof path, "%s/%s_code.h", here.folder, name);
  header_write_request(&here, &request, path);
}

/* A file that has the kernels of all. */
static void write_implementation(void) {
  sct_str text = {0};
  char path[256];
  for (int k = 0; k < n_chosen; k++) {
    const char *name = chosen[k];
    sct_str_printf(&text, "#define %s_IMPLEMENTATION\n#include \"%s_code.h\"\n", name, name);
  }
  snprintf(path, sizeof path, "%s/implementation.c", here.folder);
  MUST(sct_file_write(path, text.data, text.len, err));
  sct_str_free(&text);
}

/* A file that has the launch functions of all, for kernels that it compiles itself. */
static void write_finder(void) {
  sct_str text = {0};
  char path[256];
  sct_str_append(&text, "#include <cuda_runtime_api.h>\n"
                        "extern cudaError_t find_kernel(const void **out, const char *name);\n");
  for (int k = 0; k < n_chosen; k++) {
    const char *name = chosen[k];
    sct_str_printf(&text,
                   "#define %s_IMPLEMENTATION\n#define %s_FIND_KERNEL find_kernel\n"
                   "#include \"%s%s.h\"\n",
                   name, name, name, k % 2 ? "" : "_cuda");
  }
  snprintf(path, sizeof path, "%s/finder.c", here.folder);
  MUST(sct_file_write(path, text.data, text.len, err));
  sct_str_free(&text);
}

/* A file that includes each header twice and mentions what it declares. */
static void write_program(const char *suffix) {
  sct_str text = {0};
  char path[256];
  sct_str_append(&text, "#ifdef __cplusplus\n#include <algorithm>\n#include <cmath>\n"
                        "using namespace std;\n#endif\n");
  for (int k = 0; k < 2 * n_chosen; k++) {
    sct_str_printf(&text, "#include \"%s%s.h\"\n", chosen[k / 2], suffix);
  }
  sct_str_append(&text, "#ifndef SECTILE_NO_RUNTIME\nconst char *const *names[] = {\n");
  for (int k = 0; k < n_chosen; k++) {
    sct_str_printf(&text, "  &%s_provenance.kernel,\n", chosen[k]);
  }
  sct_str_append(&text, "};\nsize_t sizes[] = {\n");
  for (int k = 0; k < n_chosen; k++) {
    const char *name = chosen[k];
    sct_str_printf(&text, "  sizeof(&%s), sizeof(&%s_variant),\n", name, name);
  }
  sct_str_append(&text, "};\n#endif\n");
  snprintf(path, sizeof path, "%s/all%s.c", here.folder, suffix);
  MUST(sct_file_write(path, text.data, text.len, err));
  sct_str_free(&text);
}

static int setup(void **state) {
  (void)state;
  choose();
  header_store_open(&here);
  for (int k = 0; k < n_chosen; k++) {
    const char *name = chosen[k];
    char file[128];
    put_worked(name);
    snprintf(file, sizeof file, "%.100s.h", name);
    header_write(&here, name, file, SCT_EMIT_INLINE);
    snprintf(file, sizeof file, "%.100s_cuda.h", name);
    header_write(&here, name, file, SCT_EMIT_CUDA);
    write_code(name);
  }
  write_implementation();
  write_finder();
  write_program("");
  write_program("_cuda");
  return 0;
}

static int teardown(void **state) {
  (void)state;
  return header_store_close(&here);
}

/* ---- compilers of C and C++ ---- */

/* true: the compiler is here and knows the standard. */
static bool knows(const char *compiler, const char *standard) {
  char command[256];
  snprintf(command, sizeof command, "%s -std=%s -fsyntax-only -x %s /dev/null >/dev/null 2>&1",
           compiler, standard, strstr(standard, "++") ? "c++" : "c");
  return system(command) == 0;
}

static void compile_all(const char *compiler, const char *standard, const char *file,
                        const char *flags) {
  sct_str command = {0};
  sct_str_printf(&command,
                 "%s -std=%s -Wall -Wextra -Wpedantic -Werror -I. %s -x %s -c %s -o all.o",
                 compiler, standard, flags, strstr(standard, "++") ? "c++" : "c", file);
  if (header_shell(&here, sct_str_c(&command)) != 0) {
    fail_msg("%s: see above", sct_str_c(&command));
  }
  sct_str_free(&command);
}

static void every_compiler_takes_all_headers(void **state) {
  (void)state;
  static const char *const compilers[] = {"gcc", "clang", "g++", "clang++"};
  static const char *const standards[] = {"c11", "c17", "c++11", "c++17", "c++20"};
  const char *const home = header_toolkit();
  char flags[600] = "";
  if (home != NULL) {
    snprintf(flags, sizeof flags, "-isystem '%s/include'", home);
  } else {
    print_message("no toolkit here: headers are taken without their declarations\n");
  }
  for (int c = 0; c < SCT_COUNT(compilers); c++) {
    for (int s = 0; s < SCT_COUNT(standards); s++) {
      const bool cxx = strstr(standards[s], "++") != NULL;
      if (cxx != (strstr(compilers[c], "++") != NULL)) {
        continue;
      }
      if (!knows(compilers[c], standards[s])) {
        print_message("no %s -std=%s here: left out\n", compilers[c], standards[s]);
        continue;
      }
      compile_all(compilers[c], standards[s], s % 2 ? "all.c" : "all_cuda.c", flags);
    }
  }
}

static void the_host_side_of_all_headers_is_c(void **state) {
  (void)state;
  static const char *const pairs[][2] = {{"gcc", "c11"}, {"clang++", "c++11"}};
  const char *const home = header_toolkit();
  char flags[600];
  if (home == NULL) {
    print_message("no toolkit here: nothing is launched\n");
    skip();
  }
  snprintf(flags, sizeof flags, "-O0 -isystem '%s/include'", home);
  for (int k = 0; k < SCT_COUNT(pairs); k++) {
    if (knows(pairs[k][0], pairs[k][1])) {
      compile_all(pairs[k][0], pairs[k][1], "implementation.c", flags);
      compile_all(pairs[k][0], pairs[k][1], "finder.c", flags);
    } else {
      print_message("no %s -std=%s here: left out\n", pairs[k][0], pairs[k][1]);
    }
  }
}

/* Where a program asks for it, pointers to f16 and bf16 are CUDA's, and no others are taken. */
static void pointers_to_halves_have_types(void **state) {
  (void)state;
  static const char program[] =
      "#define SECTILE_TYPED_POINTERS\n#include \"transpose_f16.h\"\n"
      "#include \"layer_norm_bf16_cuda.h\"\n"
      "cudaError_t turn(const __half *a, TYPE *b) { return transpose_f16(a, b, 1, 1, 0); }\n"
      "cudaError_t norm(const __nv_bfloat16 *x, TYPE2 *y) {\n"
      "  const layer_norm_bf16_args args = {x, x, x, y, 1e-5f, 1, 1, 0};\n"
      "  return layer_norm_bf16_launch(&args, 0);\n}\n";
  const char *const home = header_toolkit();
  char path[256], command[1024];
  if (home == NULL || !knows("c++", "c++11")) {
    print_message("no toolkit or no C++ compiler here\n");
    skip();
  }
  snprintf(path, sizeof path, "%s/typed.cc", here.folder);
  MUST(sct_file_write(path, program, strlen(program), err));
  snprintf(command, sizeof command,
           "f() { c++ -std=c++11 -Wall -Wextra -Werror -isystem '%s/include' -fsyntax-only \"$@\" "
           "typed.cc; }; f -DTYPE=__half -DTYPE2=__nv_bfloat16 && ! f -DTYPE=float "
           "-DTYPE2=__nv_bfloat16 2>/dev/null && ! f -DTYPE=__half -DTYPE2=__half 2>/dev/null",
           home);
  assert_int_equal(header_shell(&here, command), 0);
}

static void an_implementation_is_compiled_as_cuda(void **state) {
  (void)state;
  if (!knows("cc", "c11")) {
    print_message("no C compiler here\n");
    skip();
  }
  static const char *const wrong =
      "for form in '' _cuda; do "
      "! cc -fsyntax-only -x c -Dsaxpy_in_place_IMPLEMENTATION saxpy_in_place$form.h 2>err || exit "
      "1; grep -q 'compile this file as CUDA' err || exit 1; done";
  assert_int_equal(header_shell(&here, wrong), 0);
}

/* ---- NVRTC ---- */

/* Each line `#define FUNCTION NAME` of the header names a kernel of the PTX. */
static int count_named(const char *header, const char *ptx) {
  int n = 0;
  for (const char *at = header; (at = strstr(at, "\n#define ")) != NULL; at++) {
    char function[200], name[200], entry[256];
    if (sscanf(at, " #define %199s %199[^ \n]", function, name) == 2 &&
        strstr(name, "_k") != NULL) {
      snprintf(entry, sizeof entry, ".entry %s(", name);
      if (strstr(ptx, entry) == NULL) {
        fail_msg("no '%s' in the PTX", entry);
      }
      n++;
    }
  }
  return n;
}

static void nvrtc_finds_kernels_by_their_names(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int n; /* kernels under C names; one of the user's own has its name of C++ */
  } cases[] = {{"transpose_f32", 2}, {"particle_energy", 2}, {"softmax", 2}, {"transpose_own", 1}};
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .program = SCT_PROGRAM};
  sct_compiler *compiler = NULL;
  sct_error missing = {0};
  const sct_status status = sct_compiler_new(&compiler, &opts, &missing);
  if (status == SCT_ENVRTC) {
    print_message("no NVRTC here: %s\n", missing.text);
    skip();
  }
  assert_int_equal(status, SCT_OK);
  for (int k = 0; k < 2 * SCT_COUNT(cases); k++) {
    char path[256];
    sct_str header = {0};
    sct_compiled_file out;
    snprintf(path, sizeof path, "%s/%s%s.h", here.folder, cases[k / 2].name, k % 2 ? "" : "_cuda");
    const sct_compile_file file = {.path = path};
    MUST(sct_file_read(&header, path, err));
    MUST(sct_compiler_file(compiler, &out, &file, err));
    if (!out.ok) {
      fail_msg("%s", out.log);
    }
    assert_int_equal(count_named(sct_str_c(&header), out.ptx), cases[k / 2].n);
    sct_compiled_file_free(&out);
    sct_str_free(&header);
  }
  sct_compiler_free(compiler);
}

/* ---- compiled kernels ---- */

#define CODE_NAMES "transpose_f32 softmax particle_energy transpose_own"
static const char code_program[] =
    "#include \"code.h\"\n#include <stdio.h>\n#include <string.h>\n"
    "int main(void) {\n"
    "  const unsigned char *cubin = softmax_detail_sm_90;\n"
    "  const char *ptx = (const char *)softmax_detail_ptx_90;\n"
    "  if (memcmp(cubin, \"\\177ELF\", 4) != 0 || strlen(ptx) + 1 != sizeof softmax_detail_ptx_90 "
    "||\n"
    "      strstr(ptx, \".entry softmax_k0_direct(\") == NULL) return 1;\n"
    "  float in[4] = {0}, out[4];\n" /* without a GPU the runtime says so */
    "  printf(\"%s\\n\", cudaGetErrorString(transpose_f32(in, out, -1, 2, NULL)));\n"
    "  return transpose_f32(in, out, -1, 2, NULL) != cudaErrorInvalidValue;\n}\n";

static void compiled_kernels_stand_in_files_of_c(void **state) {
  (void)state;
  const char *const home = header_toolkit();
  char command[2048], path[256];
  if (home == NULL || !knows("cc", "c11")) {
    print_message("no toolkit or no C compiler here\n");
    skip();
  }
  snprintf(path, sizeof path, "%s/code.c", here.folder);
  MUST(sct_file_write(path, code_program, strlen(code_program), err));
  assert_int_equal(header_shell(&here, "for n in " CODE_NAMES "; do '" SCT_PROGRAM
                                       "' emit $n --store store.db --form c -o "
                                       "code_$n.h && printf '#define %s_IMPLEMENTATION\\n#include "
                                       "\"code_%s.h\"\\n' $n $n >>code.h || exit 1; done"),
                   0);
  /* equal bytes, written from another directory */
  assert_int_equal(header_shell(&here, "here=$PWD; cd / && '" SCT_PROGRAM
                                       "' emit softmax --store $here/store.db --form c -q | cmp - "
                                       "$here/code_softmax.h"),
                   0);
  snprintf(command, sizeof command,
           "cc -std=c11 -Wall -Wextra -Wpedantic -Werror -isystem '%s/include' code.c -o code "
           "-L'%s/lib64' -lcudart -Wl,-rpath,'%s/lib64' && ./code",
           home, home, home);
  assert_int_equal(header_shell(&here, command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_compiler_takes_all_headers),
      cmocka_unit_test(the_host_side_of_all_headers_is_c),
      cmocka_unit_test(an_implementation_is_compiled_as_cuda),
      cmocka_unit_test(pointers_to_halves_have_types),
      cmocka_unit_test(compiled_kernels_stand_in_files_of_c),
      cmocka_unit_test(nvrtc_finds_kernels_by_their_names),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
