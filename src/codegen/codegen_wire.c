/* What became of a candidate, as a message from the process that rendered it. Who takes it believes
 * nothing: numbers and texts are held to their limits by the table (process.h), expressions are
 * parsed, over extents only, and what else a session relies on is checked here. */
#include "codegen/codegen.h"

#include <string.h>

#define SCT_MESSAGES "codegen/codegen_messages.def"
#include "process/process_describe.def"

/* ---- sending ---- */

typedef struct sender {
  const sct_expr_pool *pool;
  sct_arena arena;
} sender;

static const char *text_of(sender *s, sct_expr e) {
  if (e == SCT_EXPR_NONE) {
    return NULL;
  }
  SCT_SCOPED(sct_str) text = {0};
  sct_expr_print(&text, s->pool, e);
  return sct_arena_strdup(&s->arena, sct_str_c(&text));
}

static sct_sent_kernel describe(sender *s, const sct_spec *spec, const sct_kernel_code *code) {
  const char **require = SCT_ARENA_NEW(&s->arena, const char *, code->n_require + 1);
  sct_sent_operand *operands = SCT_ARENA_NEW(&s->arena, sct_sent_operand, spec->n_operands);
  for (int k = 0; k < code->n_require; k++) {
    require[k] = text_of(s, code->require[k]);
  }
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_traffic *t = &code->traffic[op];
    operands[op] = (sct_sent_operand){.align = code->align[op],
                                      .layout = code->layout[op],
                                      .traffic = *t,
                                      .bytes = text_of(s, t->bytes),
                                      .sectors = text_of(s, t->sectors),
                                      .lines = text_of(s, t->lines)};
  }
  sct_sent_param *params = SCT_ARENA_NEW(&s->arena, sct_sent_param, code->n_params + 1);
  const char **grid_dims = SCT_ARENA_NEW(&s->arena, const char *, 3);
  const char **tiles = SCT_ARENA_NEW(&s->arena, const char *, SCT_MAX_TILES);
  for (int k = 0; k < code->n_tiles; k++) {
    tiles[k] = text_of(s, code->tiles[k]);
  }
  for (int k = 0; k < code->n_params; k++) {
    const sct_param *p = &code->params[k];
    params[k] = (sct_sent_param){p->kind, p->number, text_of(s, p->value), p->type};
  }
  for (int d = 0; d < 3 && code->n_params > 0; d++) {
    grid_dims[d] = text_of(s, code->grid_dims[d]);
  }
  return (sct_sent_kernel){.code = *code,
                           .params = params,
                           .n_params = code->n_params,
                           .grid_dims = grid_dims,
                           .n_grid_dims = code->n_params > 0 ? 3 : 0,
                           .grid = text_of(s, code->grid),
                           .tiles = tiles,
                           .n_tiles = code->n_tiles,
                           .require = require,
                           .n_require = code->n_require,
                           .wavefronts = text_of(s, code->wavefronts),
                           .operands = operands,
                           .n_operands = spec->n_operands};
}

void sct_codegen_put(sct_wire *out, const sct_spec *spec, const sct_generated *g) {
  sender s = {.pool = spec->pool};
  const bool made = g->rendered && !g->rejected && !g->failure;
  const sct_sent_kernel kernel = made ? describe(&s, spec, &g->code) : (sct_sent_kernel){0};
  sct_wire_put(out, sct_sent_candidate_table(),
               &(sct_sent_candidate){g->rejected, g->failure, &kernel, made});
  sct_arena_free(&s.arena);
}

/* ---- taking ---- */

#define EXPR_BYTES ((size_t)1 << 20) /* of a candidate, so that parsing them comes to an end */

typedef struct taker {
  const sct_spec *spec;
  sct_arena *arena;
  size_t expr_bytes; /* so far */
  sct_status status; /* of the first thing that is wrong */
  sct_error *err;
} taker;

static sct_expr resolve(void *ctx, sct_expr_pool *pool, const char *name, bool is_string) {
  const sct_spec *spec = ctx;
  for (int k = 0; k < spec->n_extents && !is_string; k++) {
    if (strcmp(sct_expr_var_name(pool, spec->extent_var[k]), name) == 0) {
      return spec->extent_var[k];
    }
  }
  return SCT_EXPR_NONE;
}

static void demand(taker *t, bool holds, const char *what) {
  if (!holds && t->status == SCT_OK) {
    t->status = sct_fail(t->err, SCT_EDATA, "%s", what);
  }
}

static sct_expr take_expr(taker *t, const char *text) {
  const sct_expr_names extents = {.resolve = resolve, .ctx = (void *)(uintptr_t)t->spec};
  sct_expr e = SCT_EXPR_NONE;
  t->expr_bytes += text ? strlen(text) : 0;
  demand(t, t->expr_bytes <= EXPR_BYTES, "expressions that are too long");
  if (text && t->status == SCT_OK) {
    t->status = sct_expr_parse(&e, t->spec->pool, text, &extents, t->err);
  }
  return e;
}

/* Refuses a text that cannot be shown to users. */
static void demand_printable(taker *t, const char *text) {
  demand(t, !text || sct_is_printable(text), "a text that cannot be shown");
}

static void take_operand(taker *t, sct_kernel_code *code, int op, const sct_sent_operand *sent) {
  demand(t, sent->layout < t->spec->operands[op].n_layouts, "an unknown layout");
  demand(t, (sent->align & (sent->align - 1)) == 0, "an alignment that is no power of two");
  code->align[op] = sent->align;
  code->layout[op] = sent->layout;
  code->traffic[op] = sent->traffic;
  code->traffic[op].bytes = take_expr(t, sent->bytes);
  code->traffic[op].sectors = take_expr(t, sent->sectors);
  code->traffic[op].lines = take_expr(t, sent->lines);
}

/* Reads how a kernel of the user's own is launched. */
static void take_own(taker *t, sct_kernel_code *code, const sct_sent_kernel *sent) {
  const int n = (int)sent->n_params;
  int64_t threads = 1;
  demand(t, sent->n_grid_dims == 3, "a grid without sides");
  for (int d = 0; d < 3 && t->status == SCT_OK; d++) {
    code->grid_dims[d] = take_expr(t, sent->grid_dims[d]);
    demand(t, code->block[d] >= 1 && code->block[d] <= 1024, "a block without threads");
    threads *= code->block[d];
  }
  demand(t, threads == code->threads, "a block of other threads");
  code->n_params = n;
  code->params = SCT_ARENA_NEW(t->arena, sct_param, n);
  for (int k = 0; k < n && t->status == SCT_OK; k++) {
    const sct_sent_param *p = &sent->params[k];
    const int most = p->kind == SCT_PARAM_ARRAY    ? t->spec->n_operands
                     : p->kind == SCT_PARAM_SCALAR ? t->spec->n_scalars
                                                   : 1;
    demand(t, p->number < most && (p->kind == SCT_PARAM_VALUE) == (p->value != NULL),
           "an argument that there is not");
    code->params[k] = (sct_param){p->kind, p->number, take_expr(t, p->value), p->type};
  }
}

static void take_kernel(taker *t, sct_kernel_code *out, const sct_sent_kernel *sent) {
  const int n_operands = t->spec->n_operands;
  sct_kernel_code code = sent->code;
  const bool is_own = sent->n_params > 0;
  demand(t, is_own ? sct_is_kernel_name(code.kernel) : sct_is_identifier(code.kernel),
         "a kernel without a name");
  demand(t, sent->n_operands == n_operands, "operands of another spec");
  demand_printable(t, code.launcher_doc);
  code.n_require = (int)sent->n_require;
  code.require = SCT_ARENA_NEW(t->arena, sct_expr, code.n_require + 1);
  code.align = SCT_ARENA_NEW(t->arena, int64_t, n_operands);
  code.layout = SCT_ARENA_NEW(t->arena, int, n_operands);
  code.traffic = SCT_ARENA_NEW(t->arena, sct_traffic, n_operands);
  code.grid = take_expr(t, sent->grid);
  code.n_tiles = (int)sent->n_tiles;
  for (int k = 0; k < code.n_tiles; k++) {
    code.tiles[k] = take_expr(t, sent->tiles[k]);
  }
  if (is_own) {
    take_own(t, &code, sent);
  }
  code.wavefronts = take_expr(t, sent->wavefronts);
  for (int k = 0; k < code.n_require; k++) {
    code.require[k] = take_expr(t, sent->require[k]);
  }
  for (int op = 0; op < n_operands && t->status == SCT_OK; op++) {
    take_operand(t, &code, op, &sent->operands[op]);
  }
  sct_codegen_identify(&code);
  *out = t->status == SCT_OK ? code : (sct_kernel_code){0};
}

bool sct_codegen_get(sct_generated *out, sct_wire *in, const sct_spec *spec, sct_arena *arena) {
  sct_sent_candidate sent;
  sct_error err = {0};
  taker t = {.spec = spec, .arena = arena, .status = SCT_OK, .err = &err};
  *out = (sct_generated){.rendered = false};
  if (!sct_wire_get(in, sct_sent_candidate_table(), &sent) ||
      (sent.rejected != NULL) + (sent.failure != NULL) + sent.n_kernel > 1) {
    return false;
  }
  demand_printable(&t, sent.rejected);
  demand_printable(&t, sent.failure);
  if (sent.n_kernel == 1) {
    take_kernel(&t, &out->code, sent.kernel);
  }
  out->rendered = sent.n_kernel == 1 || sent.rejected || sent.failure;
  out->rejected = t.status == SCT_OK ? sent.rejected : NULL;
  out->failure = t.status == SCT_OK ? sent.failure
                                    : sct_arena_printf(arena, "what was rendered: %s", err.text);
  return true;
}
