/* Kernels of the user's own as strategies of the space, and a candidate of one as a kernel: the
 * text of its file between constants for the axes. No Lua is asked. */
#include <string.h>

#include "script/script_strategy_internal.h"

enum { MAX_THREADS = 1024, MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535, MAX_ALIGN = 4096 };
#define MAX_SHARED ((int64_t)1 << 30)

/* ---- strategies ---- */

static void add_axes(sct_arena *arena, sct_strategy *strategy, const sct_own *own) {
  for (int k = 0; k < own->n_axes; k++) {
    const sct_own_axis *from = &own->axes[k];
    sct_axis *axis = &strategy->axes[strategy->n_axes++];
    *axis = (sct_axis){.name = from->name,
                       .key = sct_arena_printf(arena, "%s=", from->name),
                       .doc = "of the kernel's own",
                       .n_values = from->n_values};
    axis->values = SCT_ARENA_NEW(arena, sct_axis_value, from->n_values);
    memcpy(axis->values, from->values, sizeof *axis->values * (size_t)from->n_values);
    for (int v = 0; v < axis->n_values; v++) {
      sct_axis_value *value = &axis->values[v];
      value->number = value->is_string ? sct_space_intern(value->text) : value->number;
    }
  }
}

void sct_own_strategy(sct_strategy *strategy, sct_arena *arena, const sct_spec *spec,
                      const sct_own *own) {
  *strategy =
      (sct_strategy){.name = own->name,
                     .doc = sct_arena_printf(arena, "The kernel %s of %s.", own->kernel, own->cuda),
                     .file = spec->file,
                     .template_name = own->cuda,
                     .source = -1,
                     .own = own,
                     .applies = true};
  strategy->axes = SCT_ARENA_NEW(arena, sct_axis, SCT_MAX_OPERANDS + own->n_axes);
  sct_script_layout_axes(strategy, arena, spec);
  add_axes(arena, strategy, own);
  strategy->where = SCT_ARENA_NEW(arena, sct_constraint, own->n_where);
  for (int k = 0; k < own->n_where; k++) {
    if (own->where[k] == SCT_EXPR_NONE) {
      strategy->where[strategy->n_where++] =
          (sct_constraint){own->where_text[k], spec->file,
                           sct_spec_text_line(spec, spec->file, own->line, own->where_text[k])};
    }
  }
}

/* ---- a candidate ---- */

typedef struct own_job {
  sct_spec *spec;
  const sct_own *own;
  const sct_axis_value *value[SCT_MAX_OWN_AXES];
  sct_expr vars[SCT_MAX_OWN_AXES], values[SCT_MAX_OWN_AXES];
  int n_vars;
  sct_rendered *out;
} own_job;

static void reject(own_job *job, const char *fmt, ...) SCT_PRINTF(2, 3);
static void reject(own_job *job, const char *fmt, ...) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_STR_FORMAT(&text, fmt);
  if (job->out->rejected == NULL) {
    job->out->rejected = sct_arena_strdup(&job->out->code.arena, sct_str_c(&text));
  }
}

static void bind_axes(own_job *job, const sct_strategy *strategy, const sct_candidate *cand) {
  const int first = strategy->n_axes - job->own->n_axes; /* those of layouts come before */
  for (int k = 0; k < job->own->n_axes; k++) {
    job->value[k] = &strategy->axes[first + k].values[cand->value[first + k]];
    if (job->own->axes[k].var != SCT_EXPR_NONE) {
      job->vars[job->n_vars] = job->own->axes[k].var;
      job->values[job->n_vars++] = sct_expr_const(job->spec->pool, job->value[k]->number);
    }
  }
}

/* An expression with this candidate's axes. */
static sct_expr bound(own_job *job, const char *what, sct_expr e) {
  const sct_expr out = sct_expr_subst(job->spec->pool, e, job->vars, job->values, job->n_vars);
  if (out == SCT_EXPR_NONE) {
    reject(job, "%s: %s", what, sct_expr_failure(job->spec->pool));
  }
  return out;
}

/* An expression with this candidate's axes that a launch computes: a header knows only division
 * that rounds to 0. */
static sct_expr launched(own_job *job, const char *what, sct_expr e) {
  const sct_expr out = bound(job, what, e);
  SCT_SCOPED(sct_str) text = {0};
  sct_expr_print_c(&text, job->spec->pool, out, true);
  if (strstr(sct_str_c(&text), "sct_floor_")) {
    reject(job, "%s: it divides what may be negative; write max(..., 0)", what);
  }
  return out;
}

/* A number, which must lie between two others. */
static int64_t number(own_job *job, const char *what, sct_expr e, int64_t least, int64_t most) {
  int64_t value = least;
  const sct_expr at = bound(job, what, e);
  if (at != SCT_EXPR_NONE && sct_expr_is_const(job->spec->pool, at, &value) &&
      (value < least || value > most)) {
    reject(job, "%s: %lld; expected %lld to %lld", what, (long long)value, (long long)least,
           (long long)most);
  }
  return value;
}

static void require(own_job *job, const char *text, sct_expr condition) {
  sct_kernel_code *code = &job->out->code;
  int64_t holds = 0;
  if (!sct_expr_is_const(job->spec->pool, condition, &holds)) {
    code->require[code->n_require++] = condition;
  } else if (!holds) {
    reject(job, "%s", text);
  }
}

static void require_at_most(own_job *job, const char *what, sct_expr e, int64_t most) {
  const sct_expr limit = sct_expr_const(job->spec->pool, most);
  require(job, what, sct_expr_binary(job->spec->pool, SCT_EXPR_LE, e, limit));
}

static void read_launch(own_job *job) {
  static const char *const sides[] = {"block x", "block y", "block z"};
  const sct_own *own = job->own;
  sct_kernel_code *code = &job->out->code;
  code->threads = 1;
  code->grid = sct_expr_const(job->spec->pool, 1);
  for (int d = 0; d < 3; d++) {
    const int most = d < 2 ? MAX_THREADS : MAX_BLOCK_Z;
    code->block[d] = (int)number(job, sides[d], own->block[d], 1, most);
    code->threads *= code->block[d];
    code->grid_dims[d] = launched(job, "grid", own->grid[d]);
    code->grid = sct_expr_mul(job->spec->pool, code->grid, code->grid_dims[d]);
    if (d > 0 && code->grid_dims[d] != SCT_EXPR_NONE) {
      require_at_most(job, "more than 65535 blocks along y or z", code->grid_dims[d], MAX_GRID_YZ);
    }
  }
  if (code->threads > MAX_THREADS) {
    reject(job, "%d threads a block; at most 1024", code->threads);
  }
  if (code->grid == SCT_EXPR_NONE) {
    reject(job, "grid: %s", sct_expr_failure(job->spec->pool));
  }
  code->shared_bytes = number(job, "shared", own->shared, 0, MAX_SHARED);
}

static void read_params(own_job *job) {
  const sct_own *own = job->own;
  sct_kernel_code *code = &job->out->code;
  code->n_params = own->n_params;
  code->params = SCT_ARENA_NEW(&code->arena, sct_param, own->n_params);
  for (int k = 0; k < own->n_params; k++) {
    code->params[k] = own->params[k];
    if (own->params[k].kind != SCT_PARAM_VALUE) {
      continue;
    }
    const sct_expr value = launched(job, "args", own->params[k].value);
    code->params[k].value = value;
    if (value != SCT_EXPR_NONE && own->params[k].type == SCT_TYPE_I32) {
      require_at_most(job, "an argument that no int holds", value, INT32_MAX);
    } else if (value != SCT_EXPR_NONE && own->params[k].type == SCT_TYPE_U32) {
      require_at_most(job, "an argument that no unsigned int holds", value, UINT32_MAX);
    }
  }
}

static void read_conditions(own_job *job) {
  const sct_own *own = job->own;
  for (int k = 0; k < own->n_where; k++) {
    const sct_expr condition =
        own->where[k] != SCT_EXPR_NONE ? launched(job, "where", own->where[k]) : SCT_EXPR_NONE;
    if (condition != SCT_EXPR_NONE) {
      require(job, own->where_text[k], condition);
    }
  }
}

static void read_arrays(own_job *job, const sct_candidate *cand) {
  const sct_spec *spec = job->spec;
  sct_kernel_code *code = &job->out->code;
  for (int op = 0; op < spec->n_operands; op++) {
    const int choice = sct_spec_choice_of(spec, op);
    code->align[op] = number(job, "align", job->own->align[op], 1, MAX_ALIGN);
    if ((code->align[op] & (code->align[op] - 1)) != 0) {
      reject(job, "align: %lld is no power of two", (long long)code->align[op]);
    }
    code->layout[op] = choice >= 0 ? cand->value[choice] : 0;
    code->indexed = code->indexed || spec->operands[op].through_index;
  }
}

/* ---- its text ---- */

/* The kernel's name with values for what stands in braces. */
static const char *name_of(const own_job *job) {
  SCT_SCOPED(sct_str) text = {0};
  for (const char *at = job->own->kernel; *at != '\0';) {
    const size_t n = strcspn(at, "{");
    sct_str_append_n(&text, at, n);
    at += n;
    const size_t word = strcspn(at, "}");
    for (int k = 0; *at == '{' && k < job->own->n_axes; k++) {
      const char *name = job->own->axes[k].name;
      if (strlen(name) == word - 1 && strncmp(name, at + 1, word - 1) == 0) {
        sct_str_append(&text, job->value[k]->text);
      }
    }
    at += *at == '{' ? word + 1 : 0;
  }
  return sct_arena_strdup(&job->out->code.arena, sct_str_c(&text));
}

static void append_constant(sct_str *text, const own_job *job, int axis) {
  const char *name = job->own->axes[axis].name;
  const sct_axis_value *value = job->value[axis];
  if (job->own->is_macro[axis]) {
    sct_str_printf(text, "#define %s %s\n", name, value->text);
  } else if (value->is_bool) {
    sct_str_printf(text, "constexpr bool %s = %s;\n", name, value->number ? "true" : "false");
  } else {
    const bool is_int = value->number >= INT32_MIN && value->number <= INT32_MAX;
    sct_str_printf(text, "constexpr %s %s = %s;\n", is_int ? "int" : "long long", name,
                   value->text);
  }
}

static bool is_defined(const own_job *job, int axis) {
  return !job->own->is_argument[axis];
}

/* Is the macro one that an axis defines? Then it has been listed with these. */
static bool is_axis_macro(const own_job *job, const char *macro) {
  bool found = false;
  for (int k = 0; k < job->own->n_axes; k++) {
    found = found || (is_defined(job, k) && job->own->is_macro[k] &&
                      strcmp(job->own->axes[k].name, macro) == 0);
  }
  return found;
}

/* Programs that include the header may have macros of these names, before it and after it. */
static void save_macros(sct_str *text, const own_job *job, bool restore) {
  const sct_own *own = job->own;
  for (int k = 0; k < own->n_axes + own->n_macros; k++) {
    const char *name = k < own->n_axes ? own->axes[k].name : own->macros[k - own->n_axes];
    const bool is_macro =
        k < own->n_axes ? is_defined(job, k) && own->is_macro[k] : !is_axis_macro(job, name);
    if (is_macro && restore) {
      sct_str_printf(text, "#pragma pop_macro(\"%s\")\n", name);
    } else if (is_macro) {
      sct_str_printf(text, "#pragma push_macro(\"%s\")\n#undef %s\n", name, name);
    }
  }
}

/* Appends `text` to the source; all its lines are the spec's entry. */
static void add_ours(const own_job *job, sct_str *source, sct_str *lines, const sct_str *text) {
  for (const char *at = strchr(sct_str_c(text), '\n'); at != NULL; at = strchr(at + 1, '\n')) {
    sct_str_printf(lines, "1 %d %s\n", job->own->line, job->spec->file);
  }
  sct_str_append(source, sct_str_c(text));
}

static void write_source(own_job *job) {
  const sct_own *own = job->own;
  sct_kernel_code *code = &job->out->code;
  SCT_SCOPED(sct_str) source = {0}, lines = {0}, ours = {0};
  save_macros(&ours, job, false);
  for (int k = 0; k < own->n_axes; k++) {
    if (is_defined(job, k)) {
      append_constant(&ours, job, k);
    }
  }
  add_ours(job, &source, &lines, &ours);
  sct_str_append(&source, own->text);
  sct_str_append(&lines, own->lines);
  sct_str_clear(&ours);
  save_macros(&ours, job, true);
  add_ours(job, &source, &lines, &ours);
  code->source = sct_arena_strdup(&code->arena, sct_str_c(&source));
  code->lines = sct_arena_strdup(&code->arena, sct_str_c(&lines));
}

void sct_own_render(sct_rendered *out, sct_spec *spec, const sct_strategy *strategy,
                    const sct_candidate *cand) {
  own_job job = {.spec = spec, .own = strategy->own, .out = out};
  sct_kernel_code *code = &out->code;
  const int n = spec->n_operands;
  code->align = SCT_ARENA_NEW(&code->arena, int64_t, n);
  code->layout = SCT_ARENA_NEW(&code->arena, int, n);
  code->traffic = SCT_ARENA_NEW(&code->arena, sct_traffic, n);
  code->require = SCT_ARENA_NEW(&code->arena, sct_expr, job.own->n_where + job.own->n_params + 3);
  code->launcher_doc =
      sct_arena_printf(&code->arena, "The kernel %s of %s.", job.own->kernel, job.own->cuda);
  bind_axes(&job, strategy, cand);
  code->kernel = name_of(&job);
  if (!sct_is_kernel_name(code->kernel)) {
    reject(&job, "'%s' is no name of a kernel", code->kernel);
  }
  read_launch(&job);
  read_params(&job);
  read_conditions(&job);
  read_arrays(&job, cand);
  write_source(&job);
}
