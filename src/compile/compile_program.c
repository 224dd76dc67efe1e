/* compile_program - several units as one NVRTC program, and what to do when it fails. */
#include "compile/compile_internal.h"

#include <string.h>

/* ---- one program */

/* The blank line ends a last line that closes with a backslash or a comment. */
static void append_unit(sct_str *text, const sct_compile_item *unit) {
  if (!unit->alone) {
    sct_str_printf(text, "namespace %s {\n", unit->space);
  }
  sct_str_printf(text, "#line 1 \"/%s\"\n", unit->space);
  sct_str_append(text, unit->in->source);
  sct_str_append(text, unit->alone ? "\n\n" : "\n\n}\n");
}

/* Runs the compiler. Without `figures`, ptxas -v is left out: with it, NVRTC 13.0 drops some of
 * ptxas' errors from the log. */
static sct_status build(const sct_compile_engine *engine, sct_compile_build *p,
                        sct_compile_item **units, int n, bool figures, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  const char **const names = sct_alloc((size_t)n * sizeof(*names));
  memset(p, 0, sizeof(*p));
  for (int i = 0; i < n; ++i) {
    append_unit(&text, units[i]);
    names[i] = units[i]->expression;
  }
  const int skip = figures ? 0 : 1; /* -v is the first option */
  const sct_compile_input in = {.source = sct_str_c(&text),
                                .name = "prog.cu",
                                .expressions = names,
                                .n_expressions = n,
                                .options = engine->options + skip,
                                .n_options = engine->n_options - skip,
                                .deadline_ns = engine->deadline_ns};
  sct_status status = units[0]->in->foreign ? sct_compile_foreign(engine, p, &in, err)
                                            : sct_compile_build_run(&engine->nvrtc, p, &in, err);
  sct_free(names);
  return status;
}

/* ---- a program that compiled */

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

static sct_status finish_unit(sct_compile_engine *engine, sct_compile_item *unit,
                              sct_compile_item *const *units, int n, sct_compile_object *object,
                              sct_error *err) {
  sct_compiled *const out = unit->out;
  sct_compile_bits bits;
  if (!sct_compile_elf_kernel(&bits, object->cubin, object->cubin_bytes, out->entry) ||
      out->registers == 0) {
    return sct_fail(err, SCT_ENVRTC, "NVRTC %s: cannot read code and registers of kernel '%s'",
                    engine->nvrtc.about.version, unit->in->kernel);
  }
  sct_compile_object_hold(out, object);
  out->code_hash = hash_code(&bits, unit, has_module_data(object->ptx, unit, units, n));
  out->ok = true;
  return SCT_OK;
}

static sct_status collect(sct_compile_engine *engine, sct_compile_build *p,
                          sct_compile_item **units, int n, sct_error *err) {
  sct_compile_object *object = NULL;
  sct_status status = SCT_OK;
  for (int i = 0; i < n; ++i) {
    SCT_TRY_DONE(sct_compile_build_entry(&engine->nvrtc, p, units[i]->expression,
                                         &units[i]->out->entry, err));
  }
  sct_compile_log_resources(sct_str_c(&p->log), units, n);
  SCT_TRY_DONE(sct_compile_build_object(&engine->nvrtc, p, &engine->objects, &object, err));
  for (int i = 0; i < n; ++i) {
    SCT_TRY_DONE(finish_unit(engine, units[i], units, n, object, err));
  }
done:
  sct_compile_object_release(object);
  return status;
}

/* ---- a program that failed */

static bool has_error_text(const char *log) {
  return strstr(log, "error") != NULL || strstr(log, "fatal") != NULL;
}

/* Either the figures are in the way of ptxas' errors, or the source is not at fault. */
static bool gave_no_reason(const sct_compile_build *p) {
  return (p->result == NVRTC_COMPILATION || p->result == NVRTC_INTERNAL) &&
         !has_error_text(sct_str_c(&p->log));
}

static void fail_unit(sct_compile_item *unit, const sct_compile_build *p, int64_t limit_ns) {
  sct_str text = {0};
  unit->out->failure = SCT_COMPILE_ERROR;
  if (p->result == NVRTC_CANCELLED) {
    char limit[32];
    unit->out->failure = SCT_COMPILE_TIMEOUT;
    sct_str_printf(&text, "error: compiling took longer than %s\n",
                   sct_format_ns(limit, (double)limit_ns));
  } else {
    sct_compile_log_rewrite(&text, sct_str_c(&p->log), unit);
  }
  unit->out->log = text.data;
}

/* Compiles a failed program's units again: those that its errors name one by one, the others
 * together; in halves if none is named. `blamed` units stand first. */
static sct_status retry(sct_compile_engine *engine, sct_compile_item **units, int n, int blamed,
                        sct_error *err) {
  if (blamed == 0) {
    SCT_TRY(sct_compile_group(engine, units, n / 2, err));
    return sct_compile_group(engine, units + n / 2, n - n / 2, err);
  }
  for (int i = 0; i < blamed; ++i) {
    SCT_TRY(sct_compile_group(engine, units + i, 1, err));
  }
  return blamed < n ? sct_compile_group(engine, units + blamed, n - blamed, err) : SCT_OK;
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

sct_status sct_compile_group(sct_compile_engine *engine, sct_compile_item **units, int n,
                             sct_error *err) {
  sct_compile_build p;
  int blamed = 0;
  sct_status status = build(engine, &p, units, n, true, err);
  if (status == SCT_OK && n == 1 && gave_no_reason(&p)) {
    const bool figures = p.result != NVRTC_COMPILATION;
    sct_compile_build_free(&engine->nvrtc, &p);
    status = build(engine, &p, units, n, figures, err);
  }
  if (status != SCT_OK) {
    goto done;
  }
  if (p.result == NVRTC_SUCCESS) {
    status = collect(engine, &p, units, n, err);
    goto done;
  }
  if (!sct_compile_build_failed(&p)) {
    status = sct_compile_build_refused(&engine->nvrtc, &p, err);
    goto done;
  }
  if (n > 1 && p.result == NVRTC_CANCELLED) {
    status = sct_fail(err, SCT_ESTOPPED, "compiling took too long");
    goto done;
  }
  sct_compile_build_resolve(&engine->nvrtc, &p);
  if (n == 1) {
    fail_unit(units[0], &p, engine->limit_ns);
    goto done;
  }
  blamed = blamed_first(units, n, sct_str_c(&p.log));
  sct_compile_build_free(&engine->nvrtc, &p);
  return retry(engine, units, n, blamed, err);
done:
  sct_compile_build_free(&engine->nvrtc, &p);
  return status;
}
