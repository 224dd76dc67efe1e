/* count_bind - the arguments of a case as the parameters of its kernel: in their order, with what
 * was left out, as bytes. */
#include "count/count_internal.h"

#include <string.h>

sct_status count_fail_case(const sct_count_manifest *m, const sct_count_case *c,
                           const sct_str *text, sct_error *err) {
  SCT_SCOPED(sct_str) place = {0};
  count_place(&place, m, c->line, c->name);
  return sct_fail(err, SCT_ESPEC, "%s%s", sct_str_c(&place), sct_str_c(text));
}

typedef struct binding {
  const sct_count_manifest *m;
  const sct_count_case *c;
  const sct_ptx_kernel *kernel;
  const char *source;  /* "": there is none */
  count_signature sig; /* params NULL: the source does not show it */
  const char **names;  /* [n] of the parameters; NULL: some have none */
  count_call call;
} binding;

/* "(a, b, n)" */
static void append_names(sct_str *out, const binding *b) {
  for (int k = 0; b->names && k < b->call.n; k++) {
    sct_str_printf(out, "%s%s", k > 0 ? ", " : " (", b->names[k]);
  }
  sct_str_append(out, b->names && b->call.n > 0 ? ")" : "");
}

static int arg_named(const sct_count_case *c, const char *name) {
  return sct_names_find(SCT_NAMES_IN(c->args, c->n_args, name), name);
}

static bool has_default(const binding *b, sct_arena *arena, int k) {
  count_signature ignored;
  return count_signature_read(&ignored, arena, b->c->kernel, b->call.n, k, b->source);
}

/* A name that the kernel has not, or one that is missing; `text` stays empty where all is well. */
static void order_by_name(binding *b, sct_arena *arena, sct_str *text) {
  const sct_count_case *const c = b->c;
  const int n = b->call.n;
  if (!b->names) {
    sct_str_printf(text,
                   "the names of the parameters of kernel '%s' are not to be found in the file; "
                   "give their values in order, without names",
                   c->kernel);
    return;
  }
  for (int k = 0; k < c->n_args; k++) {
    const char *const given = c->args[k].name;
    if (sct_names_find(SCT_NAMES(b->names, n), given) < 0) {
      sct_str_printf(text, "kernel '%s' has no parameter '%s'", c->kernel, given);
      sct_str_suggest(text, given, SCT_NAMES(b->names, n));
      return;
    }
  }
  for (int p = 0; p < n; p++) {
    const int k = arg_named(c, b->names[p]);
    b->call.args[p] = k >= 0 ? &c->args[k] : NULL;
    if (k < 0 && !has_default(b, arena, p)) {
      sct_str_printf(text, "argument '%s' is missing: kernel '%s' takes %d", b->names[p], c->kernel,
                     n);
      append_names(text, b);
      return;
    }
  }
}

static void order_as_given(binding *b, sct_arena *arena, sct_str *text) {
  const sct_count_case *const c = b->c;
  const int n = b->call.n;
  bool good = c->n_args <= n;
  for (int p = c->n_args; good && p < n; p++) {
    good = has_default(b, arena, p);
  }
  for (int p = 0; good && p < n; p++) {
    b->call.args[p] = p < c->n_args ? &c->args[p] : NULL;
  }
  if (!good) {
    sct_str_printf(text, "%s: kernel '%s' takes %d", b->m->path ? "'args'" : "--arg", c->kernel, n);
    append_names(text, b);
    sct_str_printf(text, ", not %d", c->n_args);
  }
}

static void read_names(binding *b, sct_arena *arena) {
  const int n = b->call.n;
  const char **const names = SCT_ARENA_NEW(arena, const char *, n + 1);
  if (!count_signature_read(&b->sig, arena, b->c->kernel, n, -1, b->source)) {
    b->sig.params = NULL;
    return;
  }
  b->names = names;
  for (int k = 0; k < n; k++) {
    names[k] = b->sig.params[k].name;
    b->names = names[k][0] != '\0' ? b->names : NULL;
  }
}

/* "argument 2 (int n): " */
static void append_argument(sct_str *out, const binding *b, int k) {
  sct_str_printf(out, "argument %d", k + 1);
  if (b->sig.params) {
    sct_str_printf(out, " (%s)", b->sig.params[k].text);
  }
  sct_str_append(out, ": ");
}

static sct_status encode(const binding *b, struct sct_count_session *s, const void **args,
                         const uint8_t *const *values, const count_layout *const *layouts,
                         sct_error *err) {
  for (int k = 0; k < b->call.n; k++) {
    const sct_ptx_param *const p = &b->kernel->params[k];
    const count_layout plain = {.bytes = p->bytes, .number = p->number};
    SCT_SCOPED(sct_str) text = {0}, why = {0};
    args[k] = values[k];
    if (b->call.args[k] == NULL) {
      continue;
    }
    uint8_t *const value = sct_arena_alloc(&s->arena, (size_t)p->bytes);
    args[k] = value;
    if (!count_encode(value, layouts[k] ? layouts[k] : &plain, b->call.args[k], &s->addresses,
                      &why)) {
      append_argument(&text, b, k);
      sct_str_append(&text, sct_str_c(&why));
      return count_fail_case(b->m, b->c, &text, err);
    }
  }
  return SCT_OK;
}

/* Structs as lists of what lies in them, without lists for the structs and arrays in it: as long as
 * the size is right their members are taken to be at their natural alignment. */
static bool lies_naturally(const binding *b) {
  for (int k = 0; k < b->call.n; k++) {
    const sct_count_arg *const arg = b->call.args[k];
    const sct_ptx_param *const p = &b->kernel->params[k];
    int64_t align;
    if (arg == NULL || (count_must_ask(arg, p->number) &&
                        (arg->members[0].name || count_struct_bytes(arg, &align) != p->bytes))) {
      return false;
    }
  }
  return true;
}

sct_status count_bind(struct sct_count_session *s, const sct_count_manifest *m, const char *file,
                      const sct_count_case *c, const sct_ptx_kernel *kernel, const void **args,
                      sct_error *err) {
  const int n = kernel->n_params;
  const uint8_t **const values = SCT_ARENA_NEW(&s->arena, const uint8_t *, n + 1);
  const count_layout **const layouts = SCT_ARENA_NEW(&s->arena, const count_layout *, n + 1);
  SCT_SCOPED(sct_str) source = {0}, text = {0}, why = {0};
  sct_error ignored;
  (void)!sct_file_read(&source, file, &ignored);
  binding b = {.m = m,
               .c = c,
               .kernel = kernel,
               .source = sct_str_c(&source),
               .call = {c->kernel, SCT_ARENA_NEW(&s->arena, const sct_count_arg *, n + 1), n}};
  read_names(&b, &s->arena);
  if (c->n_args > 0 && c->args[0].name) {
    order_by_name(&b, &s->arena, &text);
  } else {
    order_as_given(&b, &s->arena, &text);
  }
  bool ask = false;
  for (int k = 0; k < n; k++) {
    ask = ask || count_must_ask(b.call.args[k], kernel->params[k].number);
  }
  if (text.len == 0 && ask && s->compiler == NULL && !lies_naturally(&b)) {
    sct_str_append(&text, "PTX does not say where the members of a struct lie: expected them in "
                          "order, each number with its type, as in {\"i32\": 3}");
  } else if (text.len == 0 && ask && s->compiler != NULL) {
    SCT_TRY(count_ask(s, file, b.source, &b.call, kernel, values, layouts, &why, err));
    if (why.len > 0 && !lies_naturally(&b)) {
      sct_str_printf(&text, "the arguments of kernel '%s' do not fit: %s", c->kernel,
                     sct_str_c(&why));
    }
  }
  return text.len > 0 ? count_fail_case(m, c, &text, err)
                      : encode(&b, s, args, values, layouts, err);
}
