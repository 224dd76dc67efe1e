/* compile_compiler - the compiler object: what it knows of the library, its options, its end; and
 * whole files, which go past the cache. */
#include "compile/compile_internal.h"

#include <poll.h>
#include <string.h>

enum { DEFAULT_BATCH = 16 };
static const int64_t DEFAULT_LIMIT_NS = 60000000000;
static const int64_t DEFAULT_MEMORY_BYTES = (int64_t)4 << 30;

static void add_option(sct_compiler *compiler, const char *text) {
  char **const options =
      sct_realloc(compiler->options, (size_t)(compiler->n_options + 1) * sizeof(*options));
  compiler->options = options;
  options[compiler->n_options] = sct_strdup(text);
  sct_str_printf(&compiler->option_line, "%s%s", compiler->n_options > 0 ? " " : "", text);
  ++compiler->n_options;
}

static void set_options(sct_compiler *compiler, const sct_compile_opts *opts) {
  /* -lineinfo costs no time and does not change the code. Without warnings the log holds errors
   * only. The stack is that of a thread, which no limit of the process changes. */
  static const char *const fixed[] = {
      "--ptxas-options=-v", /* first: see compile_program.c */
      "-std=c++17",         "-default-device",           "-lineinfo",
      "--disable-warnings", "--modify-stack-limit=false"};
  char arch[64];
  (void)snprintf(arch, sizeof(arch), "--gpu-architecture=%s", opts->arch);
  for (int i = 0; i < SCT_COUNT(fixed); ++i) {
    add_option(compiler, fixed[i]);
  }
  add_option(compiler, arch);
  const int n_fixed = compiler->n_options;
  (void)snprintf(compiler->arch, sizeof(compiler->arch), "%s", opts->arch);
  for (int i = 0; opts->extra != NULL && opts->extra[i] != NULL; ++i) {
    add_option(compiler, opts->extra[i]);
  }
  compiler->n_extra = compiler->n_options - n_fixed;
}

/* ---- asking one worker, and waiting for it */

static sct_status ask(sct_compiler *compiler, sct_compile_worker *w, sct_compile_op op,
                      sct_compile_end *end, sct_error *err) {
  (void)sct_compile_worker_send(compiler, w, op); /* if it takes nothing, it has ended */
  for (;;) {
    const int64_t left = w->deadline_ns - sct_now_ns();
    struct pollfd ready = {.fd = w->child.fd, .events = POLLIN};
    if (left <= 0 || poll(&ready, 1, (int)((left + 999999) / 1000000)) > 0) {
      return sct_compile_worker_receive(compiler, w, end, err);
    }
  }
}

static sct_status learn_about(sct_compiler *compiler, sct_error *err) {
  sct_compile_worker *const w = &compiler->workers[0];
  sct_compile_end end;
  sct_got_about got;
  SCT_TRY(sct_compile_worker_ready(compiler, w, false, err));
  sct_wire_clear(&compiler->wire);
  SCT_TRY(ask(compiler, w, SCT_COMPILE_OP_ABOUT, &end, err));
  if (end.failure != SCT_COMPILE_NONE) {
    return sct_fail(err, SCT_ENVRTC, "no NVRTC: the worker that loads it dies: %s", end.text);
  }
  if (!sct_wire_get_whole(&compiler->reply, sct_got_about_table(), &got)) {
    return sct_fail(err, SCT_EINTERNAL, "the compile worker speaks another protocol");
  }
  compiler->about = got.about;
  return SCT_OK;
}

/* ---- the compiler */

static void set_limits(sct_compiler *compiler, const sct_compile_opts *opts) {
  const int most = SCT_COMPILE_MAX_WORKERS;
  compiler->n_workers = opts->threads > 0 ? opts->threads : sct_cores();
  compiler->n_workers = compiler->n_workers < most ? compiler->n_workers : most;
  compiler->batch = opts->batch > 0 ? opts->batch : DEFAULT_BATCH;
  compiler->limit_ns = opts->limit_ns > 0 ? opts->limit_ns : DEFAULT_LIMIT_NS;
  compiler->memory_bytes = opts->memory_bytes > 0 ? opts->memory_bytes : DEFAULT_MEMORY_BYTES;
  compiler->n_places = opts->n_places > 1 ? opts->n_places : 1;
  compiler->place = opts->place > 0 ? opts->place % compiler->n_places : 0;
  compiler->with = opts->with;
  compiler->program = opts->program != NULL ? sct_strdup(opts->program) : NULL;
}

sct_status sct_compiler_new(sct_compiler **out, const sct_compile_opts *opts, sct_error *err) {
  sct_compiler *const compiler = sct_alloc(sizeof(*compiler));
  sct_compile_cache_open(&compiler->cache, NULL);
  set_limits(compiler, opts);
  sct_status status = learn_about(compiler, err);
  SCT_THEN(sct_compile_nvrtc_check_arch(&compiler->about, opts->arch, err));
  if (status == SCT_OK) {
    set_options(compiler, opts);
  }
  if (status != SCT_OK) {
    sct_compiler_free(compiler);
    return status;
  }
  sct_compile_cache_open(&compiler->cache, opts->cache_dir);
  *out = compiler;
  return SCT_OK;
}

void sct_compiler_free(sct_compiler *compiler) {
  if (compiler == NULL) {
    return;
  }
  sct_compiler_end(compiler);
  sct_compile_workers_kill(compiler, 0);
  for (int i = 0; i < compiler->n_options; ++i) {
    sct_free(compiler->options[i]);
  }
  sct_free(compiler->options);
  sct_free(compiler->program);
  sct_str_free(&compiler->option_line);
  sct_wire_free(&compiler->wire);
  sct_wire_free(&compiler->reply);
  sct_compile_cache_close(&compiler->cache);
  sct_compile_objects_free(&compiler->objects);
  sct_free(compiler);
}

const char *sct_compiler_version(const sct_compiler *compiler) {
  return compiler->about.version;
}

const char *sct_compiler_path(const sct_compiler *compiler) {
  return compiler->about.path;
}

const char *sct_compiler_headers(const sct_compiler *compiler) {
  return compiler->about.headers;
}

bool sct_compiler_knows(const sct_compiler *compiler, int cc) {
  return sct_compile_nvrtc_knows(&compiler->about, cc);
}

void sct_compiler_archs(const sct_compiler *compiler, sct_str *out) {
  for (int i = 0; i < compiler->about.n_known; ++i) {
    sct_str_printf(out, "%ssm_%d", i > 0 ? " " : "", compiler->about.known[i]);
  }
}

const char *sct_compiler_options(const sct_compiler *compiler) {
  return sct_str_c(&compiler->option_line);
}

void sct_compiled_free(sct_compiled *result) {
  sct_free(result->log);
  sct_free(result->entry);
  sct_compile_object_release(result->object);
  memset(result, 0, sizeof(*result));
}

/* ---- whole files */

sct_status sct_compile_with_find(sct_compile_with *out, const char *name, sct_error *err) {
  static const char *const names[] = {"nvrtc", "stand-ins", "nvcc", "any"};
  int k = 0;
  SCT_TRY(sct_names_choose(&k, SCT_NAMES(names, SCT_COUNT(names)), name, err, "no compiler '%s'",
                           name));
  *out = (sct_compile_with)k;
  return SCT_OK;
}

static void fail_file(sct_compiled_file *out, const sct_compile_file *file,
                      const sct_compile_end *end) {
  sct_str text = {0};
  sct_str_printf(&text, "%s: error: %s\n", file->path, end->text);
  out->log = text.data;
}

static sct_status with_nvrtc(sct_compiler *compiler, sct_compiled_file *out,
                             const sct_compile_file *file, bool stand_ins, sct_error *err) {
  sct_compile_worker *const w = &compiler->workers[0];
  sct_compile_end end = {.failure = SCT_COMPILE_NONE};
  memset(out, 0, sizeof(*out));
  out->unknown = -1;
  const sct_ask_file request = {sct_compile_job_of(compiler),
                                file->path,
                                file->kernels,
                                file->n_kernels,
                                file->text,
                                stand_ins};
  for (int attempt = 0; attempt < 2; ++attempt) {
    SCT_TRY(sct_compile_worker_ready(compiler, w, attempt > 0, err));
    sct_wire_clear(&compiler->wire);
    sct_wire_put(&compiler->wire, sct_ask_file_table(), &request);
    const bool fresh = w->n_jobs == 0;
    SCT_TRY(ask(compiler, w, SCT_COMPILE_OP_FILE, &end, err));
    if (end.failure == SCT_COMPILE_NONE) {
      return sct_compile_get_file(&compiler->reply, &compiler->objects, out, err);
    }
    if (fresh) {
      break;
    }
  }
  fail_file(out, file, &end);
  return SCT_OK;
}

/* Compiled, but for a name that means nothing. */
static bool is_taken(const sct_compiled_file *out) {
  return out->ok || (out->log && out->unknown >= 0);
}

/* May it be the file's host code that NVRTC does not take? */
static bool has_host_code(const sct_compile_file *file, const char *log) {
  SCT_SCOPED(sct_str) source = {0}, device = {0};
  sct_error ignored;
  if (strstr(log, "cannot open source file") || strstr(log, "not allowed in JIT mode")) {
    return true;
  }
  if (file->text == NULL && sct_file_read(&source, file->path, &ignored) != SCT_OK) {
    return false;
  }
  const char *const text = file->text ? file->text : sct_str_c(&source);
  sct_compile_without_host(&device, text);
  return strcmp(text, sct_str_c(&device)) != 0;
}

/* Why another has taken the file. */
static void say_why(sct_compiled_file *out, const char *log) {
  static const char word[] = "error: ";
  const char *const at = strstr(log, word);
  const char *const why = at ? at + sizeof(word) - 1 : log;
  sct_str text = {0};
  sct_str_append_n(&text, why, strcspn(why, "\n"));
  out->why = text.data;
}

static sct_status with_stand_ins(sct_compiler *compiler, sct_compiled_file *out,
                                 const sct_compile_file *file, sct_error *err) {
  sct_str text = {0};
  SCT_TRY(with_nvrtc(compiler, out, file, true, err));
  sct_str_printf(&text, "nvrtc %s without host code", compiler->about.version);
  out->by = text.data;
  return SCT_OK;
}

static sct_status with_any(sct_compiler *compiler, sct_compiled_file *out,
                           const sct_compile_file *file, sct_error *err) {
  sct_error ignored;
  SCT_SCOPED(sct_compiled_file) first = {0};
  SCT_TRY(with_nvrtc(compiler, out, file, false, err));
  if (is_taken(out)) {
    return SCT_OK;
  }
  first = *out;
  const bool host = has_host_code(file, first.log);
  const bool any = sct_compile_nvcc(compiler, out, file, &ignored) == SCT_OK;
  if (is_taken(out)) {
    compiler->with = SCT_COMPILE_NVCC;
    say_why(out, first.log);
    return SCT_OK;
  }
  SCT_SCOPED(sct_compiled_file) second = *out;
  *out = (sct_compiled_file){0};
  if (host) {
    SCT_TRY(with_stand_ins(compiler, out, file, err));
  }
  if (out->ok || (is_taken(out) && !strstr(first.log, "cannot open source file"))) {
    compiler->with = SCT_COMPILE_STAND_INS;
    say_why(out, first.log);
    return SCT_OK;
  }
  sct_compiled_file_free(out);
  const bool lacks = any && strstr(second.log, "No such file or directory");
  sct_compiled_file *const said = host && any && !lacks ? &second : &first; /* what is to mend */
  *out = *said;
  *said = (sct_compiled_file){0};
  return SCT_OK;
}

sct_status sct_compiler_file(sct_compiler *compiler, sct_compiled_file *out,
                             const sct_compile_file *file, sct_error *err) {
  switch (compiler->with) {
  case SCT_COMPILE_NVRTC:
    return with_nvrtc(compiler, out, file, false, err);
  case SCT_COMPILE_STAND_INS:
    return with_stand_ins(compiler, out, file, err);
  case SCT_COMPILE_NVCC:
    return sct_compile_nvcc(compiler, out, file, err);
  case SCT_COMPILE_ANY:
    break;
  }
  return with_any(compiler, out, file, err);
}
