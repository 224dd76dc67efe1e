/* compile_file - a CUDA file of somebody else, compiled as it stands: no namespace around it, its
 * own directory and the toolkit's as include directories, its kernels found by name. */
#include "compile/compile_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- headers that NVRTC does not have */

#define MACROS_FILE "sct_macros.h"
#define FROM_LIBCUXX(file)                                                                         \
  "#pragma once\n#include \"" MACROS_FILE "\"\n#include <" file ">\n"                              \
  "namespace cuda { namespace std {} }\nnamespace std { using namespace cuda::std; }\n"

/* Macros of <float.h> and <math.h>, which NVRTC has not. */
#define MACRO(name, value) "#ifndef " #name "\n#define " #name " " #value "\n#endif\n"
static const char macros[] =
#include "compile/compile_macros.def"
    ;
#undef MACRO

/* For code that names the namespace. */
#define EMPTY "#pragma once\nnamespace std {}\n"

/* The parts of CUB that NVRTC takes, as <cub/cub.cuh> has them for device code; not every release
 * has each. */
#define CUB_PART(file) "#if __has_include(<cub/" file ">)\n#include <cub/" file ">\n#endif\n"
static const char cub_parts[] = "#pragma once\n"
#include "compile/compile_cub.def"
    ;
#undef CUB_PART

#define MAX_MISSING 32

static const char *const header_names[] = {
    "cub/cub.cuh",
    MACROS_FILE,
#define SCT_COMPILE_HEADER(name, from) name,
#include "compile/compile_headers.def"
#undef SCT_COMPILE_HEADER
};

static const char *const header_texts[] = {
    cub_parts,
    macros,
#define SCT_COMPILE_HEADER(name, from) sizeof(from) > 1 ? FROM_LIBCUXX(from) : EMPTY,
#include "compile/compile_headers.def"
#undef SCT_COMPILE_HEADER
};

/* ---- options: those of the compiler, and include directories */

typedef struct option_list {
  sct_arena arena;
  const char **items;
  size_t n, cap;
} option_list;

static void add(option_list *l, const char *option) {
  SCT_GROW(l->items, l->n, l->cap);
  l->items[l->n++] = option;
}

static void add_directory(option_list *l, const char *directory, const char *below) {
  add(l, sct_arena_printf(&l->arena, "--include-path=%s%s", directory, below));
}

/* Is this the toolkit's include directory? Adds it, and what lies in it, if so. */
static bool try_toolkit(option_list *l, const char *root, const char *below) {
  if (root == NULL || root[0] != '/') {
    return false;
  }
  char *const directory = sct_arena_printf(&l->arena, "%s%s", root, below);
  const char *const sign = sct_arena_printf(&l->arena, "%s%s/cuda_fp16.h", root, below);
  if (!sct_file_exists(sign)) {
    return false;
  }
  add_directory(l, directory, "");
  const char *const cccl = sct_arena_printf(&l->arena, "%s/cccl/cuda/std/cstdint", directory);
  if (cccl != NULL && sct_file_exists(cccl)) {
    add_directory(l, directory, "/cccl");
  }
  return true;
}

/* Beside the library first: headers and compiler of one release belong together. A library in
 * lib64/ or targets/NAME/lib/ has them in ../include; as a Python package in a directory of its
 * own.
 */
static void add_toolkit(option_list *l, const sct_nvrtc *nvrtc) {
  static const char *const beside[] = {"/../include", "/../../include",
                                       "/../../cuda_runtime/include", "/../../../include"};
  char path[PATH_MAX];
  const char *const library = realpath(sct_compile_nvrtc_path(nvrtc), path);
  SCT_SCOPED(sct_str) directory = {0};
  bool found = false;
  sct_path_dirname(&directory, library != NULL ? library : "");
  for (int i = 0; i < SCT_COUNT(beside) && !found; ++i) {
    found = try_toolkit(l, sct_str_c(&directory), beside[i]);
  }
  found = found || try_toolkit(l, getenv("CUDA_HOME"), "/include") ||
          try_toolkit(l, getenv("CUDA_PATH"), "/include") ||
          try_toolkit(l, "/usr/local/cuda", "/include");
}

static void remove_option(option_list *l, const char *option) {
  for (size_t i = 0; i < l->n; ++i) {
    if (strcmp(l->items[i], option) == 0) {
      l->items[i] = l->items[--l->n];
    }
  }
}

void sct_compile_find_headers(char *out, size_t bytes, const sct_nvrtc *nvrtc) {
  static const char option[] = "--include-path=";
  option_list l = {0};
  add_toolkit(&l, nvrtc);
  const char *first = l.n > 0 ? l.items[0] : "";
  (void)snprintf(out, bytes, "%s", sct_has_prefix(first, option) ? first + strlen(option) : "");
  sct_free(l.items);
  sct_arena_free(&l.arena);
}

/* Lists the compiler's options from number `first` on; 0 is ptxas -v: see compile_program.c. */
static void list_options(option_list *l, const sct_compile_engine *engine, int first) {
  for (int i = first; i < engine->n_options; ++i) {
    add(l, engine->options[i]);
  }
  add_toolkit(l, &engine->nvrtc);
}

static void add_headers(sct_compile_input *in) {
  in->headers = header_texts;
  in->header_names = header_names;
  in->n_headers = SCT_COUNT(header_names);
}

/* Headers that were not found, in the place of which empty ones are put. */
typedef struct missing {
  const char *names[SCT_COUNT(header_names) + MAX_MISSING],
      *texts[SCT_COUNT(header_names) + MAX_MISSING];
  int n;
  sct_arena arena;
} missing;

/* Adds the header that the log names; false: it names none, or there are too many. */
static bool add_missing(missing *m, sct_compile_input *in, const char *log) {
  static const char word[] = "cannot open source file \"";
  const char *const at = strstr(log, word);
  if (at == NULL || m->n == MAX_MISSING) {
    return false;
  }
  memcpy(m->names, header_names, sizeof(header_names));
  memcpy(m->texts, header_texts, sizeof(header_texts));
  const char *const name = at + sizeof(word) - 1;
  const int k = SCT_COUNT(header_names) + m->n++;
  m->names[k] = sct_arena_strndup(&m->arena, name, strcspn(name, "\""));
  m->texts[k] = EMPTY;
  in->headers = m->texts;
  in->header_names = m->names;
  in->n_headers = k + 1;
  return true;
}

sct_status sct_compile_foreign(const sct_compile_engine *engine, sct_compile_build *b,
                               const sct_compile_input *unit, sct_error *err) {
  option_list options = {0};
  sct_compile_input in = *unit;
  list_options(&options, engine, (int)(unit->options - engine->options));
  remove_option(&options, "-default-device"); /* as nvcc has it, which compiles headers */
  in.options = options.items;
  in.n_options = (int)options.n;
  add_headers(&in);
  const sct_status status = sct_compile_build_run(&engine->nvrtc, b, &in, err);
  sct_free(options.items);
  sct_arena_free(&options.arena);
  return status;
}

/* ---- results */

static sct_status collect(sct_compile_engine *engine, sct_compiled_file *out,
                          const sct_compile_build *b, const sct_compile_file *file,
                          sct_error *err) {
  out->entries = file->n_kernels > 0 ? sct_alloc((size_t)file->n_kernels * sizeof(char *)) : NULL;
  out->n_entries = file->n_kernels;
  for (int i = 0; i < file->n_kernels; ++i) {
    SCT_TRY(sct_compile_build_entry(&engine->nvrtc, b, file->kernels[i], &out->entries[i], err));
  }
  SCT_TRY(sct_compile_build_object(&engine->nvrtc, b, &engine->objects, &out->object, err));
  out->ptx = out->object->ptx;
  out->cubin = out->object->cubin;
  out->cubin_bytes = out->object->cubin_bytes;
  out->ok = true;
  return SCT_OK;
}

/* Is every error of the log one of looking a name up? */
static bool only_names_fail(const char *log) {
  for (const char *line = log; *line != '\0'; line += *line == '\n') {
    const char *const end = line + strcspn(line, "\n");
    if (line[0] != ' ' && !sct_has_prefix(line, "__nv_name_map(") &&
        memmem(line, (size_t)(end - line), "error: ", 7) != NULL) {
      return false;
    }
    line = end;
  }
  return true;
}

/* The first name that NVRTC could not look up, if that is all that is wrong; -1: something else.
 * Its message is followed by the name, on a line of its own; `why` receives the message. */
static int unknown_name(sct_str *why, const char *log, const sct_compile_file *file) {
  static const char quoted[] = "#pragma nv_mangled_name ", error[] = "error: ";
  const char *const at = strstr(log, quoted);
  const char *const message = strstr(log, error);
  if (at == NULL || message == NULL || !only_names_fail(log)) {
    return -1;
  }
  const char *const name = at + sizeof(quoted) - 1;
  const size_t n = strcspn(name, "\n");
  const int i = sct_names_find_n(SCT_NAMES(file->kernels, file->n_kernels), name, n);
  if (i >= 0) {
    sct_str_append_n(why, message, strcspn(message, "\n") + 1);
  }
  return i;
}

static void explain(const sct_compile_engine *engine, sct_compiled_file *out, sct_compile_build *b,
                    const sct_compile_file *file) {
  sct_str text = {0};
  if (b->result == NVRTC_CANCELLED) {
    char limit[32];
    sct_str_printf(&text, "%s: error: compiling took longer than %s\n", file->path,
                   sct_format_ns(limit, (double)engine->limit_ns));
  } else {
    sct_compile_build_resolve(&engine->nvrtc, b);
    out->unknown = unknown_name(&text, sct_str_c(&b->log), file);
    if (out->unknown < 0) {
      sct_compile_log_places(&text, sct_str_c(&b->log));
    }
  }
  out->log = text.data;
}

sct_status sct_compile_whole(sct_compile_engine *engine, sct_compiled_file *out,
                             const sct_compile_file *file, bool stand_ins, sct_error *err) {
  SCT_SCOPED(sct_str) source = {0}, directory = {0}, device = {0};
  missing empty = {0};
  option_list options = {0};
  sct_compile_build b = {0};
  sct_compile_input in = {0};
  sct_status status = SCT_OK;
  sct_path_dirname(&directory, file->path);
  add_directory(&options, sct_str_c(&directory), "");
  list_options(&options, engine, 1);
  if (file->text != NULL) {
    sct_str_append(&source, file->text);
    remove_option(&options, "-lineinfo");
  } else {
    SCT_TRY_DONE(sct_file_read(&source, file->path, err));
  }
  if (stand_ins) {
    sct_compile_without_host(&device, sct_str_c(&source));
  }
  in = (sct_compile_input){.source = sct_str_c(stand_ins ? &device : &source),
                           .name = file->path,
                           .expressions = file->kernels,
                           .n_expressions = file->n_kernels,
                           .options = options.items,
                           .n_options = (int)options.n,
                           .deadline_ns = engine->deadline_ns};
  add_headers(&in);
  SCT_TRY_DONE(sct_compile_build_run(&engine->nvrtc, &b, &in, err));
  while (stand_ins && sct_compile_build_failed(&b) && add_missing(&empty, &in, sct_str_c(&b.log))) {
    sct_compile_build_free(&engine->nvrtc, &b);
    SCT_TRY_DONE(sct_compile_build_run(&engine->nvrtc, &b, &in, err));
  }
  if (b.result == NVRTC_SUCCESS) {
    status = collect(engine, out, &b, file, err);
  } else if (sct_compile_build_failed(&b)) {
    explain(engine, out, &b, file);
  } else {
    status = sct_compile_build_refused(&engine->nvrtc, &b, err);
  }
done:
  sct_compile_build_free(&engine->nvrtc, &b);
  sct_free(options.items);
  sct_arena_free(&options.arena);
  sct_arena_free(&empty.arena);
  return status;
}

void sct_compiled_file_free(sct_compiled_file *result) {
  for (int i = 0; i < result->n_entries; ++i) {
    sct_free(result->entries[i]);
  }
  sct_free(result->entries);
  sct_free(result->log);
  sct_free(result->by);
  sct_free(result->why);
  sct_compile_object_release(result->object);
  memset(result, 0, sizeof(*result));
}
