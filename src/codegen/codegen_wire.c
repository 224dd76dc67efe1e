/* A kernel as a message to a process that knows the same spec: what most of a session needs of it.
 */
#include "codegen/codegen.h"

#include <string.h>

#define SCT_MESSAGES "codegen/codegen_messages.def"
#include "process/process_describe.def"

/* ---- sending ---- */

typedef struct sender {
  sct_expr_pool *pool;
  sct_arena *arena;
  sct_str scratch;
  bool same; /* false: read back some expression would be another */
} sender;

static sct_sent_expr send_expr(sender *s, sct_expr e) {
  const int32_t mark = sct_expr_mark(s->pool);
  sct_str_clear(&s->scratch);
  sct_expr_write(&s->scratch, s->pool, e);
  s->same = s->same && sct_expr_read(s->pool, sct_str_c(&s->scratch), s->scratch.len) == e;
  sct_expr_reset(s->pool, mark);
  uint8_t *bytes = sct_arena_alloc(s->arena, s->scratch.len + 1);
  memcpy(bytes, sct_str_c(&s->scratch), s->scratch.len);
  return (sct_sent_expr){bytes, (int64_t)s->scratch.len};
}

bool sct_codegen_send(sct_sent_kernel *out, sct_arena *arena, const sct_spec *spec,
                      const sct_kernel_code *code) {
  sender s = {.pool = spec->pool, .arena = arena, .same = true};
  sct_sent_expr *require = SCT_ARENA_NEW(arena, sct_sent_expr, code->n_require + 1);
  sct_sent_operand *operands = SCT_ARENA_NEW(arena, sct_sent_operand, spec->n_operands);
  for (int k = 0; k < code->n_require; k++) {
    require[k] = send_expr(&s, code->require[k]);
  }
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_traffic *t = &code->traffic[op];
    operands[op] = (sct_sent_operand){.align = code->align[op],
                                      .layout = code->layout[op],
                                      .argument = code->argument[op],
                                      .traffic = *t,
                                      .bytes = send_expr(&s, t->bytes),
                                      .sectors = send_expr(&s, t->sectors),
                                      .lines = send_expr(&s, t->lines)};
  }
  *out = (sct_sent_kernel){.code = *code,
                           .grid = send_expr(&s, code->grid),
                           .require = require,
                           .n_require = code->n_require,
                           .operands = operands,
                           .n_operands = spec->n_operands,
                           .wavefronts = send_expr(&s, code->wavefronts)};
  sct_str_free(&s.scratch);
  return s.same;
}

/* ---- taking ---- */

static sct_expr take_optional(sct_expr_pool *pool, const sct_sent_expr *sent, bool *good) {
  const sct_expr e = sct_expr_read(pool, sent->bytes, (size_t)sent->n_bytes);
  *good = *good && (e != SCT_EXPR_NONE || sent->n_bytes == 0);
  return e;
}

static sct_expr take_expr(sct_expr_pool *pool, const sct_sent_expr *sent, bool *good) {
  *good = *good && sent->n_bytes > 0;
  return take_optional(pool, sent, good);
}

static sct_traffic take_traffic(sct_expr_pool *pool, const sct_sent_operand *sent, bool *good) {
  return (sct_traffic){.width = sent->traffic.width,
                       .is_store = sent->traffic.is_store,
                       .is_bulk = sent->traffic.is_bulk,
                       .bytes = take_optional(pool, &sent->bytes, good),
                       .sectors = take_optional(pool, &sent->sectors, good),
                       .lines = take_optional(pool, &sent->lines, good)};
}

sct_status sct_codegen_take(sct_kernel_code *out, const sct_spec *spec, sct_arena *arena,
                            const sct_sent_kernel *sent, sct_error *err) {
  const int n_operands = spec->n_operands;
  sct_kernel_code code = sent->code;
  bool good = sent->n_operands == n_operands;
  code.brief = true;
  code.n_require = (int)sent->n_require;
  code.require = SCT_ARENA_NEW(arena, sct_expr, code.n_require + 1);
  code.align = SCT_ARENA_NEW(arena, int64_t, n_operands);
  code.layout = SCT_ARENA_NEW(arena, int, n_operands);
  code.argument = SCT_ARENA_NEW(arena, const char *, n_operands);
  code.traffic = SCT_ARENA_NEW(arena, sct_traffic, n_operands);
  code.grid = take_expr(spec->pool, &sent->grid, &good);
  code.wavefronts = take_optional(spec->pool, &sent->wavefronts, &good);
  for (int k = 0; k < code.n_require; k++) {
    code.require[k] = take_expr(spec->pool, &sent->require[k], &good);
  }
  for (int op = 0; op < n_operands && good; op++) {
    const sct_sent_operand *operand = &sent->operands[op];
    good = operand->layout < spec->operands[op].n_layouts;
    code.align[op] = operand->align;
    code.layout[op] = operand->layout;
    code.argument[op] = operand->argument;
    code.traffic[op] = take_traffic(spec->pool, operand, &good);
  }
  *out = good ? code : (sct_kernel_code){0};
  return good ? SCT_OK : sct_fail(err, SCT_EDATA, "a message that is no kernel");
}
