/* Elements that share a byte: i4, u4 and u1. Two or eight neighbours along an array's last
 * dimension have one, the first in its lowest bits, and every row begins with a byte of its own. So
 * do the elements of an array in a record, which fill whole bytes.
 *
 * For all but the body the array is one of bytes: places and extents are divided here, once, and
 * the body gets the part of the byte that it asks for. So loads of bytes are what layouts,
 * strategies and counting see. */
#include <string.h>

#include "spec/spec_tree.h"

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
  if (op->n_taps > 0 || op->border != SCT_BORDER_NONE) {
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

void sct_spec_read_shared(sct_spec *spec, body_tree *tree, const node *n) {
  const sct_operand *op = &spec->operands[n->m.op];
  const sct_field *field = &op->record.fields[n->m.array >= 0 ? n->m.array : 0];
  const int shared = sct_type_get(field->type)->shared;
  const bool whole = sct_operand_shared(op) > 1;
  const token *t = &tree->t[n->first];
  edit *e = &tree->edits[n->first];
  SCT_SCOPED(sct_str) text = {0};
  if (!whole && (n->m.array < 0 || shared == 1)) {
    return;
  }
  print_reader(&text, field->type, whole || n->m.element >= 0 ? "" : "_in");
  if (whole) {
    sct_str_printf(&text, "%s, (int)(", op->name);
    sct_expr_print_c(&text, spec->pool, op->part, true);
    sct_str_append(&text, "))");
  } else {
    sct_str_printf(&text, "%.*s.%.*s", (int)t->len, t->text, (int)t[2].len, t[2].text);
    const int last = n->m.element >= 0 ? n->end : n->first + 4;
    for (int k = 1; n->first + k < last; k++) {
      e[k] = (edit){.text = "", .joined = true};
    }
    if (n->m.element >= 0) { /* so that strategies see which byte is read */
      sct_str_printf(&text, "[%d], %d)", sct_field_of_element(field, n->m.element),
                     (int)(n->m.element % shared));
    } else {
      sct_str_append(&text, ", ");
      tree->edits[n->end - 1].text = ")";
    }
  }
  e->text = sct_arena_strdup(&spec->arena, sct_str_c(&text));
}
