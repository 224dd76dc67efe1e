/* compile_program - several units as one NVRTC program, and what to do when it fails. */
#include "compile/compile_internal.h"

#include <string.h>

/* ---- one program */

typedef struct program {
  void *handle;
  int result; /* of nvrtcCompileProgram */
  sct_str log;
} program;

/* What the callback between compiler passes looks at. Once it says stop it must go on saying so. */
typedef struct flow {
  const atomic_bool *stop;
  int64_t deadline_ns;
  atomic_bool cancelled;
} flow;

static int on_flow(void *payload, void *unused) {
  flow *const f = payload;
  (void)unused;
  if (atomic_load(f->stop) || sct_now_ns() >= f->deadline_ns) {
    atomic_store(&f->cancelled, true);
  }
  return atomic_load(&f->cancelled) ? 1 : 0;
}

static sct_status nvrtc_fail(const sct_compiler *compiler, int result, const char *what,
                             sct_error *err) {
  const sct_status code = result == NVRTC_OUT_OF_MEMORY ? SCT_ENOMEM : SCT_ENVRTC;
  return sct_fail(err, code, "NVRTC %s: %s failed: %s", compiler->nvrtc.version_text, what,
                  compiler->nvrtc.error_string(result));
}

/* The blank line ends a last line that closes with a backslash or a comment. */
static void append_unit(sct_str *text, const sct_compile_item *unit) {
  if (!unit->alone) {
    sct_str_printf(text, "namespace %s {\n", unit->space);
  }
  sct_str_printf(text, "#line 1 \"/%s\"\n", unit->space);
  sct_str_append(text, unit->in->source);
  sct_str_append(text, unit->alone ? "\n\n" : "\n\n}\n");
}

static void program_free(const sct_compiler *compiler, program *p) {
  if (p->handle != NULL) {
    (void)compiler->nvrtc.destroy(&p->handle);
  }
  sct_str_free(&p->log);
  memset(p, 0, sizeof(*p));
}

static sct_status read_log(const sct_compiler *compiler, program *p, sct_error *err) {
  size_t bytes = 0;
  int result = compiler->nvrtc.log_size(p->handle, &bytes);
  char *const text = result == NVRTC_SUCCESS ? sct_alloc(bytes + 1) : NULL;
  if (result == NVRTC_SUCCESS && text == NULL) {
    return sct_fail(err, SCT_ENOMEM, "out of memory for a compiler log of %zu bytes", bytes);
  }
  if (text != NULL) {
    result = compiler->nvrtc.log(p->handle, text);
    sct_str_append(&p->log, text);
    sct_free(text);
  }
  if (result != NVRTC_SUCCESS) {
    return nvrtc_fail(compiler, result, "reading its log", err);
  }
  return sct_str_status(&p->log, err);
}

static sct_status create(const sct_compiler *compiler, program *p, sct_compile_item **units, int n,
                         sct_error *err) {
  sct_str text = {0};
  for (int i = 0; i < n; ++i) {
    append_unit(&text, units[i]);
  }
  sct_status status = sct_str_status(&text, err);
  if (status == SCT_OK) {
    const int result =
        compiler->nvrtc.create(&p->handle, sct_str_c(&text), "prog.cu", 0, NULL, NULL);
    status = result == NVRTC_SUCCESS ? SCT_OK : nvrtc_fail(compiler, result, "a program", err);
  }
  sct_str_free(&text);
  for (int i = 0; i < n && status == SCT_OK; ++i) {
    const int result = compiler->nvrtc.add_name(p->handle, units[i]->expression);
    if (result != NVRTC_SUCCESS) {
      status = nvrtc_fail(compiler, result, units[i]->expression, err);
    }
  }
  return status;
}

/* Runs the compiler. Without `figures`, ptxas -v is left out: with it, NVRTC 13.0 drops some of
 * ptxas' errors from the log. */
static sct_status build(const sct_compiler *compiler, program *p, sct_compile_item **units, int n,
                        bool figures, const atomic_bool *stop, sct_error *err) {
  flow f = {stop, sct_now_ns() + compiler->limit_ns * n, false};
  memset(p, 0, sizeof(*p));
  SCT_TRY(create(compiler, p, units, n, err));
  if (compiler->nvrtc.set_flow_callback != NULL) {
    (void)compiler->nvrtc.set_flow_callback(p->handle, on_flow, &f);
  }
  const int skip = figures ? 0 : 1; /* -v is the first option */
  p->result = compiler->nvrtc.compile(p->handle, compiler->n_options - skip,
                                      (const char *const *)compiler->options + skip);
  return read_log(compiler, p, err);
}

/* ---- a program that compiled */

typedef int (*size_call)(void *program, size_t *bytes);
typedef int (*data_call)(void *program, char *data);

static sct_status take(const sct_compiler *compiler, void *handle, size_call size, data_call data,
                       const char *what, char **out, size_t *bytes, sct_error *err) {
  int result = size(handle, bytes);
  if (result != NVRTC_SUCCESS || *bytes == 0) {
    return nvrtc_fail(compiler, result, what, err);
  }
  *out = sct_alloc(*bytes + 1);
  if (*out == NULL) {
    return sct_fail(err, SCT_ENOMEM, "out of memory for %zu bytes of %s", *bytes, what);
  }
  result = data(handle, *out);
  return result == NVRTC_SUCCESS ? SCT_OK : nvrtc_fail(compiler, result, what, err);
}

static sct_status take_object(sct_compiler *compiler, void *handle, sct_compile_object **out,
                              sct_error *err) {
  char *cubin = NULL;
  char *ptx = NULL;
  size_t cubin_bytes = 0;
  size_t ptx_bytes = 0;
  sct_status status = take(compiler, handle, compiler->nvrtc.cubin_size, compiler->nvrtc.cubin,
                           "cubin", &cubin, &cubin_bytes, err);
  if (status == SCT_OK) {
    status = take(compiler, handle, compiler->nvrtc.ptx_size, compiler->nvrtc.ptx, "PTX", &ptx,
                  &ptx_bytes, err);
  }
  if (status != SCT_OK) {
    sct_free(cubin);
    sct_free(ptx);
    return status;
  }
  *out = sct_compile_objects_add(&compiler->objects, cubin, cubin_bytes, ptx, strlen(ptx));
  return *out != NULL ? SCT_OK : sct_fail(err, SCT_ENOMEM, "out of memory for a compiled program");
}

/* Does this line of PTX declare a variable in global or constant memory? */
static bool declares_data(const char *line) {
  static const char *const linkage[] = {".visible ", ".extern ", ".weak ", ".common "};
  line += strspn(line, " \t");
  for (int i = 0; i < SCT_COUNT(linkage); ++i) {
    line += sct_has_prefix(line, linkage[i]) ? strlen(linkage[i]) : 0;
  }
  return sct_has_prefix(line, ".global ") || sct_has_prefix(line, ".const ");
}

/* Does a unit own variables outside its function? Then its machine code holds places that depend on
 * the batch, and the values are elsewhere: equal bytes need not mean equal code. A variable without
 * the namespace of a unit (the text of a printf) counts for all. */
static bool has_module_data(const char *ptx, const sct_compile_item *unit,
                            sct_compile_item *const *units, int n) {
  for (const char *line = ptx; line != NULL && *line != '\0';) {
    const char *const end = strchr(line, '\n');
    const size_t len = end != NULL ? (size_t)(end - line) : strlen(line);
    if (declares_data(line)) {
      bool owned = false;
      for (int i = 0; i < n && !owned; ++i) {
        owned = memmem(line, len, units[i]->space, strlen(units[i]->space)) != NULL;
      }
      if (!owned || memmem(line, len, unit->space, strlen(unit->space)) != NULL) {
        return true;
      }
    }
    line = end != NULL ? end + 1 : NULL;
  }
  return false;
}

static sct_hash hash_code(const sct_compile_bits *bits, const sct_compile_item *unit,
                          bool module_data) {
  const sct_compiled *const out = unit->out;
  const uint64_t parts[] = {
      bits->text.hi,
      bits->text.lo,
      bits->constants.hi,
      bits->constants.lo,
      bits->info.hi,
      bits->info.lo,
      (uint64_t)out->registers,
      (uint64_t)out->spill_load_bytes,
      (uint64_t)out->spill_store_bytes,
      (uint64_t)out->stack_bytes,
      (uint64_t)out->static_shared_bytes,
      module_data ? unit->key.hi : 0,
      module_data ? unit->key.lo : 0,
  };
  return sct_hash_bytes(parts, sizeof(parts));
}

static sct_status set_entry(const sct_compiler *compiler, void *handle, sct_compile_item *unit,
                            sct_error *err) {
  const char *lowered = NULL;
  const int result = compiler->nvrtc.lowered_name(handle, unit->expression, &lowered);
  if (result != NVRTC_SUCCESS || lowered == NULL) {
    return nvrtc_fail(compiler, result, unit->expression, err);
  }
  unit->out->entry = sct_strdup(lowered);
  return unit->out->entry != NULL ? SCT_OK : sct_fail(err, SCT_ENOMEM, "out of memory for a name");
}

static sct_status finish_unit(sct_compiler *compiler, sct_compile_item *unit,
                              sct_compile_item *const *units, int n, sct_compile_object *object,
                              sct_error *err) {
  sct_compiled *const out = unit->out;
  sct_compile_bits bits;
  if (!sct_compile_elf_kernel(&bits, object->cubin, object->cubin_bytes, out->entry) ||
      out->registers == 0) {
    return sct_fail(err, SCT_ENVRTC, "NVRTC %s: cannot read code and registers of kernel '%s'",
                    compiler->nvrtc.version_text, unit->in->kernel);
  }
  atomic_fetch_add(&object->refs, 1);
  out->object = object;
  out->cubin = object->cubin;
  out->cubin_bytes = object->cubin_bytes;
  out->ptx = object->ptx;
  out->const_bytes = bits.const_bytes;
  out->code_hash = hash_code(&bits, unit, has_module_data(object->ptx, unit, units, n));
  out->ok = true;
  return SCT_OK;
}

static sct_status collect(sct_compiler *compiler, program *p, sct_compile_item **units, int n,
                          sct_error *err) {
  sct_compile_object *object = NULL;
  sct_status status = SCT_OK;
  for (int i = 0; i < n; ++i) {
    SCT_TRY_DONE(set_entry(compiler, p->handle, units[i], err));
  }
  sct_compile_log_resources(sct_str_c(&p->log), units, n);
  SCT_TRY_DONE(take_object(compiler, p->handle, &object, err));
  for (int i = 0; i < n; ++i) {
    SCT_TRY_DONE(finish_unit(compiler, units[i], units, n, object, err));
  }
  sct_compile_cache_put_object(&compiler->cache, object);
  for (int i = 0; i < n; ++i) {
    sct_compile_cache_put_entry(&compiler->cache, units[i]->key, units[i]->out);
  }
done:
  sct_compile_object_release(object);
  return status;
}

/* ---- a program that failed */

static bool has_error_text(const char *log) {
  return strstr(log, "error") != NULL || strstr(log, "fatal") != NULL;
}

/* Puts source lines in place of PTX lines; NVRTC keeps the PTX that ptxas refused. */
static sct_status resolve_log(const sct_compiler *compiler, program *p, sct_error *err) {
  size_t bytes = 0;
  char *ptx = NULL;
  sct_str resolved = {0};
  if (strstr(sct_str_c(&p->log), "ptxas") != NULL &&
      compiler->nvrtc.ptx_size(p->handle, &bytes) == NVRTC_SUCCESS && bytes > 0) {
    ptx = sct_alloc(bytes + 1);
    if (ptx != NULL && compiler->nvrtc.ptx(p->handle, ptx) != NVRTC_SUCCESS) {
      sct_free(ptx);
      ptx = NULL;
    }
  }
  sct_compile_log_resolve(&resolved, sct_str_c(&p->log), ptx);
  sct_free(ptx);
  sct_str_free(&p->log);
  p->log = resolved;
  return sct_str_status(&p->log, err);
}

static sct_status fail_unit(sct_compile_item *unit, const program *p, int64_t limit_ns,
                            sct_error *err) {
  sct_str text = {0};
  if (p->result == NVRTC_CANCELLED) {
    char limit[32];
    sct_str_printf(&text, "error: compiling took longer than %s\n",
                   sct_format_ns(limit, (double)limit_ns));
  } else {
    sct_compile_log_rewrite(&text, sct_str_c(&p->log), unit, &unit->out->error_line);
  }
  const sct_status status = sct_str_status(&text, err);
  if (status != SCT_OK) {
    sct_str_free(&text);
    return status;
  }
  unit->out->log = text.data;
  return SCT_OK;
}

/* Compiles a failed program's units again: those that its errors name one by one, the others
 * together; in halves if none is named. `blamed` units stand first. */
static sct_status retry(sct_compiler *compiler, sct_compile_item **units, int n, int blamed,
                        const atomic_bool *stop, sct_error *err) {
  if (blamed == 0) {
    SCT_TRY(sct_compile_group(compiler, units, n / 2, stop, err));
    return sct_compile_group(compiler, units + n / 2, n - n / 2, stop, err);
  }
  for (int i = 0; i < blamed; ++i) {
    SCT_TRY(sct_compile_group(compiler, units + i, 1, stop, err));
  }
  return blamed < n ? sct_compile_group(compiler, units + blamed, n - blamed, stop, err) : SCT_OK;
}

static int blamed_first(sct_compile_item **units, int n, const char *log) {
  int blamed = 0;
  for (int i = 0; i < n; ++i) {
    if (sct_compile_log_blames(log, units[i])) {
      sct_compile_item *const unit = units[i];
      memmove(units + blamed + 1, units + blamed, (size_t)(i - blamed) * sizeof(*units));
      units[blamed++] = unit;
    }
  }
  return blamed;
}

/* A result that is the fault of the source, as against one of the options or the machine. */
static bool is_unit_failure(int result) {
  return result == NVRTC_COMPILATION || result == NVRTC_INTERNAL || result == NVRTC_CANCELLED;
}

sct_status sct_compile_group(sct_compiler *compiler, sct_compile_item **units, int n,
                             const atomic_bool *stop, sct_error *err) {
  program p;
  int blamed = 0;
  sct_status status = build(compiler, &p, units, n, true, stop, err);
  if (status == SCT_OK && n == 1 && p.result == NVRTC_COMPILATION &&
      !has_error_text(sct_str_c(&p.log))) {
    program_free(compiler, &p);
    status = build(compiler, &p, units, n, false, stop, err);
  }
  if (status != SCT_OK) {
    goto done;
  }
  if (atomic_load(stop)) {
    status = sct_fail(err, SCT_EINTERRUPTED, "compiling was stopped");
    goto done;
  }
  if (p.result == NVRTC_SUCCESS) {
    status = collect(compiler, &p, units, n, err);
    goto done;
  }
  if (!is_unit_failure(p.result)) {
    const sct_status code = p.result == NVRTC_INVALID_OPTION ? SCT_EUSAGE : SCT_ENVRTC;
    status = sct_fail(err, p.result == NVRTC_OUT_OF_MEMORY ? SCT_ENOMEM : code, "NVRTC %s: %s: %s",
                      compiler->nvrtc.version_text, compiler->nvrtc.error_string(p.result),
                      sct_str_c(&p.log));
    goto done;
  }
  SCT_TRY_DONE(resolve_log(compiler, &p, err));
  if (n == 1) {
    status = fail_unit(units[0], &p, compiler->limit_ns, err);
    goto done;
  }
  blamed = blamed_first(units, n, sct_str_c(&p.log));
  program_free(compiler, &p);
  return retry(compiler, units, n, blamed, stop, err);
done:
  program_free(compiler, &p);
  return status;
}
