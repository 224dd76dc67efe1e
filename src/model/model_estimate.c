/* model_estimate - the counters of a candidate that is not compiled, from its plan's estimate of
 * its traffic. Where that is nothing, each operand is moved once, in full sectors. */
#include "model/model.h"

#define LANES        32
#define SECTOR_BYTES 32
#define LINE_SECTORS 4
#define LINE_BYTES   128
#define MOST_WIDTH   16

static int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

static int64_t at_least(int64_t value, int64_t least) {
  return value > least ? value : least;
}

/* `e` at the size; `otherwise` where the plan has no expression. */
static sct_status amount(int64_t *out, const sct_spec *spec, const sct_size *size, sct_expr e,
                         int64_t otherwise, sct_error *err) {
  const sct_expr_env env = {spec->extent_var, size->extent, spec->n_extents};
  *out = otherwise;
  if (e != SCT_EXPR_NONE) {
    SCT_TRY(sct_expr_eval(spec->pool, e, &env, out, err));
  }
  *out = at_least(*out, 0);
  return SCT_OK;
}

/* Values that an index array finds in no order lie in sectors of their own. */
static int64_t usual_sectors(const sct_spec *spec, int op, const sct_size *size, int64_t bytes) {
  bool in_order = true;
  for (int k = 0; k < spec->n_operands && spec->operands[op].through_index; k++) {
    in_order = in_order && (!spec->operands[k].is_index ||
                            sct_spec_index_fill(spec, k, size).fill == SCT_FILL_IDENTITY);
  }
  const int64_t each = spec->operands[op].record.bytes;
  return in_order ? ceil_div(bytes, SECTOR_BYTES)
                  : ceil_div(bytes, each) * ceil_div(each, SECTOR_BYTES);
}

static sct_status estimate_operand(sct_count *out, const sct_spec *spec, const sct_traffic *t,
                                   int op, const sct_size *size, sct_error *err) {
  const int64_t record = spec->operands[op].record.bytes;
  const int64_t power = record & -record;
  const int64_t width = t->width > 0 ? t->width : power < MOST_WIDTH ? power : MOST_WIDTH;
  int64_t bytes = 0, sectors = 0, lines = 0;
  SCT_TRY(amount(&bytes, spec, size, t->bytes, sct_spec_touched_bytes(spec, op, size), err));
  SCT_TRY(amount(&sectors, spec, size, t->sectors, usual_sectors(spec, op, size, bytes), err));
  SCT_TRY(amount(&lines, spec, size, t->lines, 0, err));
  const int64_t requests = ceil_div(bytes, t->is_bulk ? width : LANES * width);
  const int64_t packed = at_least(requests, ceil_div(sectors, LINE_SECTORS));
  *out = (sct_count){.requests = requests,
                     .sectors = sectors,
                     .sectors_ideal = ceil_div(bytes, SECTOR_BYTES),
                     .tags = lines > 0          ? lines
                             : packed < sectors ? packed
                                                : sectors,
                     .distinct_bytes = bytes,
                     .contiguous_bytes = ceil_div(bytes, SECTOR_BYTES) * SECTOR_BYTES};
  out->sectors_ideal = out->sectors_ideal < sectors ? out->sectors_ideal : sectors;
  return SCT_OK;
}

static void add(sct_count *to, const sct_count *c) {
  to->requests += c->requests;
  to->sectors += c->sectors;
  to->sectors_ideal += c->sectors_ideal;
  to->tags += c->tags;
  to->distinct_bytes += c->distinct_bytes;
  to->contiguous_bytes += c->contiguous_bytes;
}

/* Do all index arrays that say where an output is accumulated hold one value? */
static bool falls_on_one(const sct_spec *spec, int op, const sct_size *size) {
  bool one = spec->operands[op].through_index;
  for (int k = 0; k < spec->n_operands; k++) {
    one = one && (!spec->operands[k].is_index ||
                  sct_spec_index_fill(spec, k, size).fill == SCT_FILL_CONSTANT);
  }
  return one;
}

/* Requests of points meet on a line as the index arrays' values do; what blocks have combined
 * before, as the plan's traffic then says, is spread evenly. */
static sct_status estimate_line(sct_counters *c, const sct_spec *spec, const sct_kernel_code *code,
                                int op, const sct_size *size, sct_error *err) {
  const sct_traffic *const t = &code->traffic[op];
  const bool combined = t->bytes != SCT_EXPR_NONE;
  const int64_t lines =
      at_least(ceil_div(sct_spec_bytes(spec, op, code->layout[op], size), LINE_BYTES), 1);
  const bool one = !combined && falls_on_one(spec, op, size);
  int64_t lanes = 0;
  SCT_TRY(amount(&lanes, spec, size, t->bytes, 0, err));
  lanes =
      combined ? ceil_div(lanes, spec->operands[op].record.bytes) : sct_spec_elements(spec, size);
  const int64_t requests = ceil_div(lanes, LANES), on_line = one ? lanes : ceil_div(lanes, lines);
  if (on_line > c->line_lanes) {
    c->line_lanes = on_line;
    c->line_requests = combined             ? ceil_div(on_line, LANES)
                       : requests < on_line ? requests
                                            : on_line;
  }
  return SCT_OK;
}

static sct_status estimate(sct_counters *c, const sct_spec *spec, const sct_kernel_code *code,
                           const sct_size *size, sct_error *err) {
  int64_t wavefronts = 0;
  SCT_TRY(amount(&c->blocks, spec, size, code->grid, 0, err));
  c->blocks *= code->passes > 0 ? code->passes : 1;
  SCT_TRY(amount(&wavefronts, spec, size, code->wavefronts, 0, err));
  c->wavefronts_ld = c->wavefronts_ld_ideal = wavefronts / 2;
  c->wavefronts_st = c->wavefronts_st_ideal = wavefronts - wavefronts / 2;
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_traffic *const t = &code->traffic[op];
    const bool is_store = t->width > 0 ? t->is_store : spec->operands[op].is_output;
    SCT_TRY(estimate_operand(&c->operand[op], spec, t, op, size, err));
    add(is_store ? &c->store : &c->load, &c->operand[op]);
    if (is_store) {
      c->stored[op] = c->operand[op];
    }
    if (sct_operand_is_read_too(&spec->operands[op])) {
      const sct_count once = c->operand[op];
      add(&c->load, &once);
      add(&c->operand[op], &once);
    }
    if (spec->operands[op].accumulate != SCT_REDUCE_NONE) {
      SCT_TRY(estimate_line(c, spec, code, op, size, err));
    }
    if (t->is_bulk && !is_store) {
      add(&c->bulk_load, &c->operand[op]);
    }
  }
  return SCT_OK;
}

sct_status sct_model_estimate(sct_counters *out, const sct_spec *spec, const sct_kernel_code *code,
                              const sct_size *size, sct_error *err) {
  sct_counters c = {.n_operands = spec->n_operands};
  c.operand = sct_alloc(sizeof *c.operand * (size_t)(spec->n_operands + 1));
  c.stored = sct_alloc(sizeof *c.stored * (size_t)(spec->n_operands + 1));
  const sct_status status = estimate(&c, spec, code, size, err);
  if (status != SCT_OK) {
    sct_counters_free(&c);
    return status;
  }
  *out = c;
  return SCT_OK;
}
