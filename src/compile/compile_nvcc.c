/* compile_nvcc - files with host code, through the toolkit's nvcc, if there is one.
 *
 * nvcc knows no names to instantiate and to look up. So a variable a kernel stands behind the
 * source, which holds its address: naming it instantiates a template, and the variable's
 * initialiser in the PTX is the name of the entry. */
#include "compile/compile_internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMITS  5             /* of one program's time: the host's headers are large */
#define NAMES   "sct_kernels" /* the file in which variables stand, a line each */
#define ADDRESS "sct_kernel_"

bool sct_compile_find_tool(sct_str *out, const char *name) {
  static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
  for (int k = 0; k < SCT_COUNT(variables); ++k) {
    const char *const root = getenv(variables[k]);
    sct_str_clear(out);
    sct_str_printf(out, "%s/bin/%s", root ? root : "", name);
    if (root && root[0] == '/' && access(out->data, X_OK) == 0) {
      return true;
    }
  }
  const char *at = getenv("PATH");
  for (size_t n = 0; at != NULL && *at != '\0'; at += n + (at[n] == ':')) {
    n = strcspn(at, ":");
    sct_str_clear(out);
    sct_str_printf(out, "%.*s/%s", (int)n, at, name);
    if (at[0] == '/' && access(out->data, X_OK) == 0) {
      return true;
    }
  }
  sct_str_clear(out);
  sct_str_printf(out, "/usr/local/cuda/bin/%s", name);
  return access(out->data, X_OK) == 0;
}

/* ---- a directory for what nvcc leaves */

sct_status sct_compile_scratch_new(sct_str *out, sct_error *err) {
  const char *const root = getenv("TMPDIR");
  sct_str_printf(out, "%s/sectile-compile-XXXXXX", root && root[0] == '/' ? root : "/tmp");
  return mkdtemp(out->data) ? SCT_OK
                            : sct_fail(err, SCT_EIO, "cannot make directory '%s'", out->data);
}

void sct_compile_scratch_free(const char *path) {
  DIR *const directory = sct_opendir(path);
  for (const struct dirent *e = directory ? readdir(directory) : NULL; e; e = readdir(directory)) {
    SCT_SCOPED(sct_str) file = {0};
    sct_str_printf(&file, "%s/%s", path, e->d_name);
    if (e->d_name[0] != '.') {
      (void)unlink(sct_str_c(&file));
    }
  }
  if (directory) {
    closedir(directory);
  }
  (void)rmdir(path);
}

/* ---- source and results */

static sct_status write_source(const sct_compile_file *file, const char *path, sct_error *err) {
  SCT_SCOPED(sct_str) source = {0}, text = {0};
  if (file->text == NULL) {
    SCT_TRY(sct_file_read(&source, file->path, err));
  }
  sct_str_printf(&text, "#line 1 \"%s\"\n%s\n#line 1 \"" NAMES "\"\n", file->path,
                 file->text ? file->text : sct_str_c(&source));
  for (int k = 0; k < file->n_kernels; ++k) {
    sct_str_printf(&text, "extern \"C\" { __device__ auto " ADDRESS "%d = &%s; }\n", k,
                   file->kernels[k]);
  }
  return sct_file_write(path, text.data, text.len, err);
}

/* "FILE(12): error: text": the name on line 12 of those behind the source; -1: another error is
 * there. */
static int unknown_name(sct_str *why, const char *log, int n) {
  static const char word[] = "error";
  int found = -1;
  for (const char *line = log; *line != '\0'; line += *line == '\n') {
    const char *const end = line + strcspn(line, "\n");
    const char *const at = memmem(line, (size_t)(end - line), ": error", 7);
    const int k = sct_has_prefix(line, NAMES "(") ? atoi(line + sizeof(NAMES)) - 1 : -1;
    if (at != NULL && (k < 0 || k >= n)) {
      return -1;
    }
    if (at != NULL && found < 0) {
      found = k;
      sct_str_printf(why, "%s%.*s\n", word, (int)(end - at - 7), at + 7);
    }
    line = end;
  }
  return found;
}

/* The name behind ".global .align 8 .u64 sct_kernel_3 = NAME". */
static char *entry_of(const char *ptx, int k) {
  char word[48];
  const int n = snprintf(word, sizeof word, " " ADDRESS "%d = ", k);
  const char *const at = strstr(ptx, word);
  const size_t length = at ? strcspn(at + n, ";\n ") : 0;
  char *const name = sct_alloc(length + 1);
  memcpy(name, at ? at + n : "", length);
  return name;
}

/* "Cuda compilation tools, release 13.0, V13.0.88" */
static void say_version(sct_str *out, const char *ptx) {
  static const char word[] = "release ";
  const char *const at = strstr(ptx, word);
  sct_str_append(out, "nvcc");
  if (at) {
    sct_str_printf(out, " %.*s", (int)strcspn(at + sizeof(word) - 1, ",\n"), at + sizeof(word) - 1);
  }
}

static sct_status take(sct_compiler *compiler, sct_compiled_file *out, const sct_compile_file *file,
                       const char *directory, sct_error *err) {
  SCT_SCOPED(sct_str) path = {0}, ptx = {0}, cubin = {0}, by = {0};
  sct_str_printf(&path, "%s/file.ptx", directory);
  SCT_TRY(sct_file_read(&ptx, sct_str_c(&path), err));
  sct_str_clear(&path);
  sct_str_printf(&path, "%s/file.cubin", directory);
  SCT_TRY(sct_file_read_most(&cubin, sct_str_c(&path), INT32_MAX, err));
  say_version(&by, sct_str_c(&ptx));
  out->entries = sct_alloc((size_t)(file->n_kernels + 1) * sizeof(*out->entries));
  out->n_entries = file->n_kernels;
  for (int k = 0; k < file->n_kernels; ++k) {
    out->entries[k] = entry_of(sct_str_c(&ptx), k);
  }
  char *const code = sct_alloc(cubin.len + 1);
  memcpy(code, sct_str_c(&cubin), cubin.len);
  out->object =
      sct_compile_objects_add(&compiler->objects, code, cubin.len, sct_strdup(sct_str_c(&ptx)));
  out->ptx = out->object->ptx;
  out->cubin = out->object->cubin;
  out->cubin_bytes = out->object->cubin_bytes;
  out->by = sct_strdup(sct_str_c(&by));
  out->ok = true;
  return SCT_OK;
}

/* ---- running it */

static sct_status run(const sct_compiler *compiler, const sct_compile_file *file, const char *nvcc,
                      const char *directory, int *wait_status, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  SCT_SCOPED(sct_str) beside = {0};
  const int n_extra = compiler->n_extra;
  int n = 0;
  sct_path_dirname(&beside, file->path);
  const char *const fixed[] = {nvcc,
                               "-std=c++17",
                               "-w",
                               "--expt-relaxed-constexpr",
                               sct_arena_printf(&arena, "-arch=%s", compiler->arch),
                               sct_arena_printf(&arena, "-I%s", sct_str_c(&beside)),
                               "-cubin",
                               "--keep",
                               "--keep-dir",
                               directory,
                               "-o",
                               sct_arena_printf(&arena, "%s/file.cubin", directory),
                               sct_arena_printf(&arena, "%s/file.cu", directory)};
  const char **const argv = SCT_ARENA_NEW(&arena, const char *, SCT_COUNT(fixed) + n_extra + 2);
  for (int k = 0; k < SCT_COUNT(fixed); ++k) {
    argv[n++] = fixed[k];
  }
  for (int k = 0; k < n_extra; ++k) {
    argv[n++] = compiler->options[compiler->n_options - n_extra + k];
  }
  if (file->text == NULL) {
    argv[n++] = "-lineinfo";
  }
  const char *const log = sct_arena_printf(&arena, "%s/log", directory);
  return sct_program_run(wait_status, (char *const *)(uintptr_t)argv, log,
                         LIMITS * compiler->limit_ns, err);
}

static sct_status explain(sct_compiled_file *out, const sct_compile_file *file,
                          const char *directory, sct_error *err) {
  SCT_SCOPED(sct_str) path = {0}, log = {0};
  sct_str text = {0};
  sct_str_printf(&path, "%s/log", directory);
  SCT_TRY(sct_file_read(&log, sct_str_c(&path), err));
  out->unknown = unknown_name(&text, sct_str_c(&log), file->n_kernels);
  if (out->unknown < 0) {
    sct_str_clear(&text);
    sct_compile_log_places(&text, sct_str_c(&log));
  }
  out->log = text.data;
  return SCT_OK;
}

sct_status sct_compile_nvcc(sct_compiler *compiler, sct_compiled_file *out,
                            const sct_compile_file *file, sct_error *err) {
  SCT_SCOPED(sct_str) nvcc = {0}, directory = {0}, path = {0};
  int wait_status = 0;
  memset(out, 0, sizeof(*out));
  out->unknown = -1;
  if (!sct_compile_find_tool(&nvcc, "nvcc")) {
    return sct_fail(err, SCT_ENVRTC,
                    "no nvcc: looked in $CUDA_HOME/bin, $CUDA_PATH/bin, $PATH and "
                    "/usr/local/cuda/bin");
  }
  SCT_TRY(sct_compile_scratch_new(&directory, err));
  sct_str_printf(&path, "%s/file.cu", sct_str_c(&directory));
  sct_status status = write_source(file, sct_str_c(&path), err);
  SCT_THEN(run(compiler, file, sct_str_c(&nvcc), sct_str_c(&directory), &wait_status, err));
  if (status == SCT_OK && wait_status == 0) {
    status = take(compiler, out, file, sct_str_c(&directory), err);
  } else if (status == SCT_OK) {
    status = explain(out, file, sct_str_c(&directory), err);
  }
  sct_compile_scratch_free(sct_str_c(&directory));
  return status;
}
