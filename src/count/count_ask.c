/* count_ask - asks the compiler what it alone knows of a kernel's parameters: what their default
 * values are, and where the members of a struct lie. The file is compiled with questions in it,
 * whose answers are variables of the PTX. */
#include "count/count_internal.h"

#include <string.h>

#define NUMBER(type, kind) "template <> constexpr long long number<" type "> = '" kind "';\n"

/* Types as functions of a kernel's type; what decomposes into n members; what converts to all. */
static const char helpers[] =
    "namespace sct_ask {\n"
    "template <int k, class A, class... B> struct nth : nth<k - 1, B...> {};\n"
    "template <class A, class... B> struct nth<0, A, B...> { using type = A; };\n"
    "template <int k, class R, class... A> __device__ typename nth<k, A...>::type param(R "
    "(*)(A...));\n"
    "template <class... A> struct list { template <int k> using at = typename nth<k, A...>::type; "
    "};\n"
    "template <class T> __device__ T &of();\n"
    "template <class T> struct no_ref;\n"
    "template <class T> struct no_ref<T &> { using type = T; };\n"
    "template <class T> using bare = typename no_ref<T>::type;\n"
    "template <class T> constexpr long long number = 0;\n"
    "template <class T> constexpr long long number<const T> = number<T>;\n" NUMBER("float", "f")
        NUMBER("double", "f") NUMBER("short", "i") NUMBER("int", "i") NUMBER("long", "i")
            NUMBER("long long", "i") NUMBER("unsigned short", "i") NUMBER("unsigned", "i")
                NUMBER("unsigned long", "i") NUMBER(
                    "unsigned long long", "i") "struct any { template <class T> __host__ "
                                               "__device__ constexpr operator T() const { return "
                                               "T{}; "
                                               "} };\n"
                                               "}\n";

bool count_must_ask(const sct_count_arg *arg, char number) {
  if (arg == NULL) {
    return true;
  }
  bool ask = false;
  for (int k = 0; arg->kind == SCT_COUNT_STRUCT && number != 'i' && !ask && k < arg->n_members;
       k++) {
    const sct_count_arg *const m = &arg->members[k];
    const bool is_number = m->kind == SCT_COUNT_INTEGER || m->kind == SCT_COUNT_REAL;
    ask = m->name != NULL || (is_number && m->type < 0) || count_must_ask(m, '\0');
  }
  return ask;
}

/* ---- questions */

typedef struct questions {
  sct_str head; /* functions in front of the kernel's declaration */
  sct_str tail; /* behind the file */
  int64_t at;   /* of the declaration */
  int n_types;  /* types sct_t0, sct_t1, ... */
  sct_arena *arena;
} questions;

/* How the members of a struct are found: by their names, or by taking it apart. */
static void name_members(questions *q, int of, const sct_count_arg *arg) {
  if (arg->n_members == 0 || arg->members[0].name != NULL) {
    return;
  }
  sct_str_printf(&q->tail, "template <class T> __device__ auto sct_parts%d(T &v) { auto &[", of);
  for (int k = 0; k < arg->n_members; k++) {
    sct_str_printf(&q->tail, "%sm%d", k > 0 ? ", " : "", k);
  }
  sct_str_append(&q->tail, "] = v; return sct_ask::list<");
  for (int k = 0; k < arg->n_members; k++) {
    sct_str_printf(&q->tail, "%sdecltype(m%d)", k > 0 ? ", " : "", k);
  }
  sct_str_printf(&q->tail,
                 ">{}; }\nusing sct_list%d = decltype(sct_parts%d(sct_ask::of<sct_t%d>()));\n", of,
                 of, of);
}

/* Asks for type number `of` and, of a struct, for those of its members. */
static void ask_type(questions *q, int of, const char *offset, const sct_count_arg *arg) {
  sct_str_printf(&q->tail,
                 "extern \"C\" { __device__ long long sct_v%d[4] = {sizeof(sct_t%d), "
                 "alignof(sct_t%d), sct_ask::number<sct_t%d>, %s}; }\n",
                 of, of, of, of, offset);
  if (arg->kind != SCT_COUNT_STRUCT) {
    return;
  }
  name_members(q, of, arg);
  for (int k = 0; k < arg->n_members; k++) {
    const int type = q->n_types++;
    const char *const name = arg->members[k].name;
    const char *at = "-1";
    if (name != NULL) {
      sct_str_printf(&q->tail,
                     "using sct_t%d = sct_ask::bare<decltype((sct_ask::of<sct_t%d>().%s))>;\n",
                     type, of, name);
      at = sct_arena_printf(q->arena, "(long long)__INTADDR__(&((sct_t%d *)0)->%s)", of, name);
    } else {
      sct_str_printf(&q->tail, "using sct_t%d = sct_list%d::at<%d>;\n", type, of, k);
    }
    ask_type(q, type, at, &arg->members[k]);
  }
}

static void ask_struct(questions *q, const count_call *call, int k) {
  const int type = q->n_types++;
  sct_str_printf(&q->tail, "using sct_t%d = decltype(sct_ask::param<%d>(&%s));\n", type, k,
                 call->kernel);
  ask_type(q, type, "0", call->args[k]);
}

/* A function with the kernel's parameters that returns number k of them, and a call of it without
 * this one. false: the source does not show the declaration. */
static bool ask_default(questions *q, const char *source, const count_call *call, int k) {
  count_signature sig;
  if (!count_signature_read(&sig, q->arena, call->kernel, call->n, k, source) ||
      sig.params[k].name[0] == '\0') {
    return false;
  }
  const size_t whole = strcspn(call->kernel, "<");
  size_t first = whole;
  while (first > 0 && sct_is_word(call->kernel[first - 1])) {
    first--;
  }
  q->at = sig.at;
  sct_str_printf(&q->head, "%s __host__ __device__ constexpr auto sct_default%d%s { return %s; }\n",
                 sig.head, k, sig.list, sig.params[k].name);
  sct_str_printf(&q->tail, "extern \"C\" { __device__ auto sct_d%d = %.*ssct_default%d%s(", k,
                 (int)first, call->kernel, k, call->kernel + whole);
  for (int i = 0; i < k; i++) {
    sct_str_printf(&q->tail, "%ssct_ask::any{}", i > 0 ? ", " : "");
  }
  sct_str_append(&q->tail, "); }\n");
  return true;
}

/* ---- answers */

typedef struct answers {
  sct_ptx_module *module;
  struct ptx_buf *variables;
  int n_types; /* read so far */
  sct_arena *arena;
} answers;

/* The bytes of a variable; NULL: there is none. */
static const uint8_t *answer(answers *a, const char *name, int64_t *bytes) {
  for (int k = 0; k < sct_ptx_n_variables(a->module); k++) {
    const sct_ptx_variable *const v = sct_ptx_variable_at(a->module, k);
    if (strcmp(v->name, name) == 0) {
      *bytes = v->bytes;
      return sct_ptx_variable_data(&a->variables, a->module, NULL, k);
    }
  }
  return NULL;
}

static bool read_type(answers *a, count_layout *out, int64_t *align, const sct_count_arg *arg) {
  const char *const name = sct_arena_printf(a->arena, "sct_v%d", a->n_types++);
  int64_t v[4], bytes = 0, at = 0;
  const uint8_t *const data = answer(a, name, &bytes);
  if (data == NULL || bytes != (int64_t)sizeof v) {
    return false;
  }
  memcpy(v, data, sizeof v);
  *out = (count_layout){.bytes = v[0], .number = (char)v[2], .offset = v[3]};
  *align = v[1];
  if (arg->kind != SCT_COUNT_STRUCT) {
    return true;
  }
  out->members = SCT_ARENA_NEW(a->arena, count_layout, arg->n_members + 1);
  for (int k = 0; k < arg->n_members; k++) {
    count_layout *const m = &out->members[k];
    int64_t step = 1;
    if (!read_type(a, m, &step, &arg->members[k])) {
      return false;
    }
    at = (at + step - 1) / step * step;
    m->offset = m->offset < 0 ? at : m->offset;
    at += m->bytes;
  }
  return true;
}

static bool read_all(answers *a, const count_call *call, const sct_ptx_kernel *kernel,
                     const uint8_t **values, const count_layout **layouts) {
  for (int k = 0; k < call->n; k++) {
    int64_t bytes = 0, align;
    if (!count_must_ask(call->args[k], kernel->params[k].number)) {
      continue;
    }
    if (call->args[k] != NULL) {
      count_layout *const layout = SCT_ARENA_NEW(a->arena, count_layout, 1);
      layouts[k] = layout;
      if (!read_type(a, layout, &align, call->args[k])) {
        return false;
      }
      continue;
    }
    const uint8_t *const data = answer(a, sct_arena_printf(a->arena, "sct_d%d", k), &bytes);
    if (data == NULL || bytes != kernel->params[k].bytes) {
      return false;
    }
    uint8_t *const value = sct_arena_alloc(a->arena, (size_t)bytes);
    memcpy(value, data, (size_t)bytes);
    values[k] = value;
  }
  return true;
}

/* ---- both */

/* Cases of one kernel ask the same. */
struct count_asked {
  sct_hash text;
  sct_compiled_file compiled;
  struct count_asked *next;
};

void count_asked_free(struct count_asked *asked) {
  while (asked != NULL) {
    struct count_asked *const next = asked->next;
    sct_compiled_file_free(&asked->compiled);
    sct_free(asked);
    asked = next;
  }
}

static sct_status compile(const sct_compiled_file **out, struct sct_count_session *s,
                          const sct_compile_file *file, sct_error *err) {
  const sct_hash text = sct_hash_text(file->text);
  struct count_asked *a = s->asked;
  while (a != NULL && !sct_hash_equal(a->text, text)) {
    a = a->next;
  }
  if (a == NULL) {
    a = sct_alloc(sizeof(*a));
    *a = (struct count_asked){.text = text, .next = s->asked};
    s->asked = a;
    SCT_TRY(sct_compiler_file(s->compiler, &a->compiled, file, err));
  }
  *out = &a->compiled;
  return SCT_OK;
}

/* "argument 2 (shape s): the compiler says: ..." of the first error of its log. */
static void explain(sct_str *why, const char *log) {
  static const char word[] = "error: ";
  const char *const at = strstr(log, word);
  const char *const text = at != NULL ? at + sizeof(word) - 1 : log;
  sct_str_printf(why, "the compiler says: %.*s", (int)strcspn(text, "\n"), text);
}

sct_status count_ask(struct sct_count_session *s, const char *file, const char *source,
                     const count_call *call, const sct_ptx_kernel *kernel, const uint8_t **values,
                     const count_layout **layouts, sct_str *why, sct_error *err) {
  questions q = {.arena = &s->arena};
  answers a = {.arena = &s->arena};
  SCT_SCOPED(sct_str) text = {0};
  const sct_compiled_file *compiled = NULL;
  sct_status status = SCT_OK;
  for (int k = 0; k < call->n && why->len == 0; k++) {
    if (!count_must_ask(call->args[k], kernel->params[k].number)) {
      continue;
    }
    if (call->args[k] != NULL) {
      ask_struct(&q, call, k);
    } else if (!ask_default(&q, source, call, k)) {
      sct_str_printf(why, "argument %d is missing, and the source shows no default value of it",
                     k + 1);
    }
  }
  sct_str_append_n(&text, source, (size_t)q.at);
  sct_str_printf(&text, "%s%s\n%s%s", sct_str_c(&q.head), source + q.at, helpers,
                 sct_str_c(&q.tail));
  const sct_compile_file asked = {.path = file, .text = sct_str_c(&text)};
  if (why->len == 0) {
    SCT_TRY_DONE(compile(&compiled, s, &asked, err));
    if (!compiled->ok) {
      explain(why, compiled->log);
    }
  }
  if (why->len == 0) {
    SCT_TRY_DONE(sct_ptx_parse(&a.module, compiled->ptx, file, err));
    if (!read_all(&a, call, kernel, values, layouts)) {
      sct_str_append(why, "the compiler does not say how the arguments lie");
    }
  }
done:
  sct_ptx_variables_free(a.variables);
  sct_ptx_module_free(a.module);
  sct_str_free(&q.head);
  sct_str_free(&q.tail);
  return status;
}
