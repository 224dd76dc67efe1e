/* Elements that share a byte: i4, u4 and u1. Two or eight neighbours along an array's last
 * dimension have one, the first in its lowest bits, and every row begins with a byte of its own. So
 * do the elements of an array in a record, which fill whole bytes.
 *
 * For all but the body the array is one of bytes: places and extents are divided here, once, and
 * the body gets the part of the byte that it asks for. So loads of bytes are what layouts,
 * strategies and counting see. */
#include <string.h>

#include "spec/spec_internal.h"

/* Records have such elements in inputs only. */
static sct_status check_fields(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  for (int f = 0; f < op->record.n_fields && op->is_output; f++) {
    const sct_field *field = &op->record.fields[f];
    const sct_type_info *type = sct_type_get(field->type);
    if (field->n_elements > 0 && type->shared > 1) {
      const int base = (int)strcspn(field->name, "[");
      return sct_spec_fail_at(
          spec, err, op->file, op->line,
          "field '%.*s' of output '%s' cannot be of type %s: %d of its elements share a byte, "
          "which "
          "one assignment has to write; write { \"%.*s\", \"u8\", %d }, where each holds %d of "
          "them",
          base, field->name, op->name, type->name, type->shared, base, field->name,
          field->n_elements, type->shared);
    }
  }
  return SCT_OK;
}

static sct_status check_shared(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  const sct_type_info *type = sct_type_get(op->record.fields[0].type);
  if (op->is_output) {
    return sct_spec_fail_at(
        spec, err, op->file, op->line,
        "output '%s' cannot be of type %s: %d of its elements share a byte, which "
        "one thread has to write; write u8, whose element is all %d of them",
        op->name, type->name, type->shared, type->shared);
  }
  if (op->n_taps > 0) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "'%s' of type %s has no taps: %d of its elements share a byte; read it "
                            "again under another name, with `at`",
                            op->name, type->name, type->shared);
  }
  if (op->n_dims < 1) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "'%s' of type %s has no dimension along which its elements share bytes",
                            op->name, type->name);
  }
  for (int k = 0; k < spec->n_inputs; k++) {
    const sct_operand *index = &spec->operands[k];
    if (index->is_index &&
        sct_expr_mentions(spec->pool, op->at[op->n_dims - 1], index->index_value)) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "'%s' of type %s is addressed through '%s' along its last dimension, "
                              "where elements share bytes; an index array gives another dimension, "
                              "as in at = { \"%s\", ... }",
                              op->name, type->name, index->name, index->name);
    }
  }
  return SCT_OK;
}

sct_status sct_spec_bind_shared(sct_spec *spec, sct_error *err) {
  sct_expr_pool *pool = spec->pool;
  for (int k = 0; k < spec->n_scalars; k++) {
    const sct_type_info *type = sct_type_get(spec->scalars[k].type);
    if (type->shared > 1) {
      return sct_spec_fail_at(spec, err, spec->file, spec->line,
                              "scalar '%s' cannot be of type %s: it has no byte to share; write i8 "
                              "or u8",
                              spec->scalars[k].name, type->name);
    }
  }
  for (int k = 0; k < spec->n_operands; k++) {
    sct_operand *op = &spec->operands[k];
    const int64_t shared = sct_operand_shared(op);
    SCT_TRY(check_fields(spec, op, err));
    if (shared == 1) {
      continue;
    }
    SCT_TRY(check_shared(spec, op, err));
    const int last = op->n_dims - 1;
    const sct_expr count = sct_expr_const(pool, shared);
    op->part = sct_expr_mod(pool, op->at[last], count);
    op->at[last] = sct_expr_div(pool, op->at[last], count);
    op->extent[last] = sct_expr_div(
        pool, sct_expr_add(pool, op->extent[last], sct_expr_const(pool, shared - 1)), count);
  }
  return SCT_OK;
}

void sct_spec_hint_bytes(sct_str *out, const sct_record *record) {
  for (int f = 0; f < record->n_fields && out->len == 0; f++) {
    const sct_field *field = &record->fields[f];
    if (field->n_elements > 0 && sct_type_get(field->type)->shared > 1) {
      sct_str_printf(out,
                     "; elements of %s that are only moved are { \"%.*s\", \"u8\", %d } in both",
                     sct_type_get(field->type)->name, (int)strcspn(field->name, "["), field->name,
                     field->n_elements);
    }
  }
}

/* ---- what bodies read ---- */

/* "signed_bits<4>(", or where the byte is not known "signed_bits_in<4>(" */
static void print_reader(sct_str *out, sct_type type, const char *of_array) {
  sct_str_printf(out, "%s_bits%s<%d>(", type == SCT_TYPE_I4 ? "signed" : "unsigned", of_array,
                 8 / sct_type_get(type)->shared);
}

bool sct_spec_is_reader(const token *t) {
  static const char *const names[] = {"signed_bits", "signed_bits_in", "unsigned_bits",
                                      "unsigned_bits_in"};
  bool is = false;
  for (int k = 0; k < SCT_COUNT(names); k++) {
    is = is || sct_token_is(t, names[k]);
  }
  return is;
}

int sct_spec_print_shared(sct_str *out, const sct_spec *spec, const token_list *body, int k,
                          bool *closes) {
  const token *t = &body->tokens[k];
  int tap = -1;
  const bool own = t->kind == TOKEN_NAME && (k == 0 || !sct_token_is(&t[-1], "."));
  const int at = own ? sct_spec_find_value(spec, t->text, t->len, &tap) : -1;
  if (at < 0) {
    return 0;
  }
  const sct_operand *op = &spec->operands[at];
  if (sct_operand_shared(op) > 1) {
    print_reader(out, op->record.fields[0].type, "");
    sct_str_printf(out, "%s, (int)(", op->name);
    sct_expr_print_c(out, spec->pool, op->part, true);
    sct_str_append(out, "))");
    return 1;
  }
  const int f = sct_token_is(&t[1], ".") && sct_token_is(&t[3], "[")
                    ? sct_spec_find_field(&op->record, t[2].text, t[2].len)
                    : -1;
  const sct_field *field = f < 0 ? NULL : &op->record.fields[f];
  const int shared = field ? sct_type_get(field->type)->shared : 1;
  if (shared == 1) {
    return 0;
  }
  const int64_t element = sct_spec_constant_index(&t[3]);
  print_reader(out, field->type, element < 0 ? "_in" : "");
  sct_str_printf(out, "%.*s.%.*s", (int)t->len, t->text, (int)t[2].len, t[2].text);
  if (element >= 0) { /* so that strategies see which byte is read */
    sct_str_printf(out, "[%d], %d)", sct_field_of_element(field, element), (int)(element % shared));
    return 6;
  }
  sct_str_append(out, ", ");
  closes[sct_spec_after_bracket(body->tokens, k + 3) - 1] = true;
  return 4;
}
