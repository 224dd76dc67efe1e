/* A kernel as a message to a process that knows the same spec: what most of a session needs of it.
 */
#include "codegen/codegen.h"

#include <string.h>

/* ---- writing ---- */

static void put_text(sct_wire *out, const char *text) { /* none is no bytes */
  sct_wire_put_bytes(out, text ? text : "", text ? strlen(text) + 1 : 0);
}

/* false: read back it would be another. */
static bool put_expr(sct_wire *out, sct_str *scratch, sct_expr_pool *pool, sct_expr e) {
  const int32_t mark = sct_expr_mark(pool);
  sct_str_clear(scratch);
  sct_expr_write(scratch, pool, e);
  sct_wire_put_bytes(out, sct_str_c(scratch), scratch->len);
  const bool same = sct_expr_read(pool, sct_str_c(scratch), scratch->len) == e;
  sct_expr_reset(pool, mark);
  return same;
}

/* No expression is no bytes. */
static bool put_optional(sct_wire *out, sct_str *scratch, sct_expr_pool *pool, sct_expr e) {
  if (e == SCT_EXPR_NONE) {
    sct_wire_put_bytes(out, "", 0);
    return true;
  }
  return put_expr(out, scratch, pool, e);
}

static bool put_traffic(sct_wire *out, sct_str *scratch, sct_expr_pool *pool,
                        const sct_traffic *t) {
  sct_wire_put_i64(out, t->width);
  sct_wire_put_i64(out, t->is_store);
  sct_wire_put_i64(out, t->is_bulk);
  const bool good = put_optional(out, scratch, pool, t->bytes);
  return put_optional(out, scratch, pool, t->sectors) &&
         put_optional(out, scratch, pool, t->lines) && good;
}

bool sct_codegen_put(sct_wire *out, const sct_spec *spec, const sct_kernel_code *code) {
  const int64_t numbers[] = {code->threads,
                             code->rounds,
                             code->windows,
                             code->shared_bytes,
                             code->static_shared_bytes,
                             code->workspace_bytes,
                             code->counted,
                             code->indexed,
                             code->n_require};
  sct_wire body = {0};
  sct_str scratch = {0};
  put_text(&body, code->source);
  put_text(&body, code->kernel);
  put_text(&body, code->launcher_doc);
  put_text(&body, code->launch);
  sct_wire_put_bytes(&body, &code->hash, sizeof code->hash);
  for (int k = 0; k < SCT_COUNT(numbers); k++) {
    sct_wire_put_i64(&body, numbers[k]);
  }
  bool good = put_expr(&body, &scratch, spec->pool, code->grid);
  for (int k = 0; k < code->n_require; k++) {
    good = put_expr(&body, &scratch, spec->pool, code->require[k]) && good;
  }
  for (int op = 0; op < spec->n_operands; op++) {
    sct_wire_put_i64(&body, code->align[op]);
    sct_wire_put_i64(&body, code->layout[op]);
    put_text(&body, code->argument[op]);
    good = put_traffic(&body, &scratch, spec->pool, &code->traffic[op]) && good;
  }
  good = put_optional(&body, &scratch, spec->pool, code->wavefronts) && good;
  good = good && !body.failed;
  if (good) {
    sct_wire_put_bytes(out, body.data, body.len);
  }
  sct_wire_free(&body);
  sct_str_free(&scratch);
  return good;
}

/* ---- reading ---- */

static const char *get_text(sct_wire *in) {
  size_t n = 0;
  const char *text = (const char *)sct_wire_get_bytes(in, &n);
  in->failed = in->failed || (n > 0 && text[n - 1] != '\0');
  return n > 0 && !in->failed ? text : NULL;
}

static sct_expr get_expr(sct_wire *in, sct_expr_pool *pool) {
  size_t n = 0;
  const uint8_t *bytes = sct_wire_get_bytes(in, &n);
  const sct_expr e = sct_expr_read(pool, bytes, n);
  in->failed = in->failed || e == SCT_EXPR_NONE;
  return e;
}

static sct_expr get_optional(sct_wire *in, sct_expr_pool *pool) {
  size_t n = 0;
  const uint8_t *bytes = sct_wire_get_bytes(in, &n);
  const sct_expr e = n > 0 ? sct_expr_read(pool, bytes, n) : SCT_EXPR_NONE;
  in->failed = in->failed || (n > 0 && e == SCT_EXPR_NONE);
  return e;
}

static sct_traffic get_traffic(sct_wire *in, sct_expr_pool *pool) {
  sct_traffic t = {.width = (int)sct_wire_get_i64(in)};
  t.is_store = sct_wire_get_i64(in) != 0;
  t.is_bulk = sct_wire_get_i64(in) != 0;
  t.bytes = get_optional(in, pool);
  t.sectors = get_optional(in, pool);
  t.lines = get_optional(in, pool);
  return t;
}

static void get_numbers(sct_kernel_code *code, sct_wire *in) {
  code->threads = (int)sct_wire_get_i64(in);
  code->rounds = (int)sct_wire_get_i64(in);
  code->windows = (int)sct_wire_get_i64(in);
  code->shared_bytes = sct_wire_get_i64(in);
  code->static_shared_bytes = sct_wire_get_i64(in);
  code->workspace_bytes = sct_wire_get_i64(in);
  code->counted = sct_wire_get_i64(in) != 0;
  code->indexed = sct_wire_get_i64(in) != 0;
}

/* What is in the lists may point into the message. */
static void get_lists(sct_kernel_code *code, const sct_spec *spec, sct_arena *arena, sct_wire *in) {
  const int n_operands = spec->n_operands;
  const int64_t n_require = sct_wire_get_i64(in);
  in->failed = in->failed || n_require < 0 || (uint64_t)n_require > in->len;
  code->n_require = in->failed ? 0 : (int)n_require;
  code->require = SCT_ARENA_NEW(arena, sct_expr, code->n_require + 1);
  code->align = SCT_ARENA_NEW(arena, int64_t, n_operands);
  code->layout = SCT_ARENA_NEW(arena, int, n_operands);
  code->argument = SCT_ARENA_NEW(arena, const char *, n_operands);
  code->traffic = SCT_ARENA_NEW(arena, sct_traffic, n_operands);
  code->grid = get_expr(in, spec->pool);
  for (int k = 0; k < code->n_require; k++) {
    code->require[k] = get_expr(in, spec->pool);
  }
  for (int op = 0; op < n_operands; op++) {
    code->align[op] = sct_wire_get_i64(in);
    code->layout[op] = (int)sct_wire_get_i64(in);
    code->argument[op] = get_text(in);
    code->traffic[op] = get_traffic(in, spec->pool);
    in->failed =
        in->failed || code->layout[op] < 0 || code->layout[op] >= spec->operands[op].n_layouts;
  }
  code->wavefronts = get_optional(in, spec->pool);
}

sct_status sct_codegen_get(sct_kernel_code *out, const sct_spec *spec, sct_arena *arena,
                           sct_wire *in, sct_error *err) {
  sct_kernel_code code = {.brief = true};
  size_t n = 0;
  const uint8_t *bytes = sct_wire_get_bytes(in, &n);
  sct_wire body = {.data = (uint8_t *)(uintptr_t)bytes, .len = n, .failed = in->failed};
  *out = (sct_kernel_code){0};
  code.source = get_text(&body);
  code.kernel = get_text(&body);
  code.launcher_doc = get_text(&body);
  code.launch = get_text(&body);
  const uint8_t *hash = sct_wire_get_bytes(&body, &n);
  if (n == sizeof code.hash) {
    memcpy(&code.hash, hash, n);
  }
  get_numbers(&code, &body);
  get_lists(&code, spec, arena, &body);
  if (body.failed || n != sizeof code.hash || !code.source || !code.kernel || !code.launch) {
    return sct_fail(err, SCT_EDATA, "a message that is no kernel");
  }
  *out = code;
  return SCT_OK;
}
