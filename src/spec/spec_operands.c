/* spec_operands - what a compiler would refuse of a body's operators, as far as types are clear:
 * arithmetic of vectors, bits of floats, values that are assigned to another kind of variable. */
#include "spec/spec_tree.h"

static sct_status refuse_vector(const sct_spec *spec, const token *op, sct_error *err) {
  return sct_spec_fail_body(spec, err, op->text,
                            "`%.*s` is not defined for vector types such as float4; write it for "
                            "each component, as in `b.x = 2.0f * a.x; b.y = 2.0f * a.y;`",
                            (int)op->len, op->text);
}

/* "%", "&", "<<" and the like, with "=" after it or not. */
static bool is_of_integers(const token *op) {
  static const char *const bits[] = {"%", "&", "|", "^", "<<", ">>", "~"};
  const size_t n = op->text[op->len - 1] == '=' ? op->len - 1 : op->len;
  return sct_names_find_n(SCT_NAMES(bits, SCT_COUNT(bits)), op->text, n) >= 0;
}

/* An operator and one of its operands. */
static sct_status check_operand(const sct_spec *spec, const token *op, value_type type,
                                sct_error *err) {
  if (sct_is_vector(type)) {
    return refuse_vector(spec, op, err);
  }
  if (type != VALUE_FLOAT || !is_of_integers(op)) {
    return SCT_OK;
  }
  return sct_spec_fail_body(spec, err, op->text, "`%.*s` takes integers, and this is a float; %s",
                            (int)op->len, op->text,
                            op->text[0] == '%' ? "write fmodf(x, y)"
                                               : "convert it, or take its bits by "
                                                 "__float_as_int(x)");
}

/* A value that goes into a variable or an element of type `to`. */
static sct_status check_value(const sct_spec *spec, const token *at, value_type to, value_type from,
                              sct_error *err) {
  const bool known = to != VALUE_UNKNOWN && from != VALUE_UNKNOWN;
  return !known || sct_is_vector(to) == sct_is_vector(from)
             ? SCT_OK
             : sct_spec_fail_body(
                   spec, err, at->text, "%s",
                   sct_is_vector(to) ? "a number is assigned to a vector; assign its components "
                                       "(.x, .y, ...), or write make_float4(x, y, z, w) or the like"
                                     : "a vector is assigned to a number; name a component, as "
                                       "in a.x");
}

static sct_status check_assign(const sct_spec *spec, const body_tree *tree, const node *n,
                               sct_error *err) {
  const node *to = n->kid[0], *value = n->kid[1];
  const token *op = &tree->t[n->at];
  if (to->kind == NODE_NAME && to->local >= 0 && tree->locals[to->local].is_const) {
    return sct_spec_fail_body(spec, err, tree->t[to->first].text,
                              "'%.*s' is const and cannot be assigned", (int)tree->t[to->first].len,
                              tree->t[to->first].text);
  }
  if (op->len > 1) {
    SCT_TRY(check_operand(spec, op, to->type, err));
    return check_operand(spec, op, value->type, err);
  }
  return check_value(spec, op, to->type, value->type, err);
}

static sct_status check_node(const sct_spec *spec, const body_tree *tree, const node *n,
                             sct_error *err) {
  const token *t = tree->t;
  switch (n->kind) {
  case NODE_BINARY:
    for (const node *k = n->kid[0]; k->next; k = k->next) {
      if (!sct_token_is(&t[k->end], ",")) {
        SCT_TRY(check_operand(spec, &t[k->end], k->so_far, err));
        SCT_TRY(check_operand(spec, &t[k->end], k->next->type, err));
      }
    }
    return SCT_OK;
  case NODE_UNARY:
    return sct_token_is(&t[n->at], "&") || sct_token_is(&t[n->at], "*")
               ? SCT_OK
               : check_operand(spec, &t[n->at], n->kid[0]->type, err);
  case NODE_CONDITIONAL:
    return check_value(spec, &t[n->at], n->kid[1]->type, n->kid[2]->type, err);
  case NODE_ASSIGN:
    return check_assign(spec, tree, n, err);
  case NODE_DECLARATOR:
    return n->kid[0] || !n->kid[1] || tree->locals[n->local].is_auto
               ? SCT_OK
               : check_value(spec, &t[n->first], tree->locals[n->local].type, n->kid[1]->type, err);
  case NODE_CALL:
    for (const node *k = n->kid[0]; k; k = k->next) {
      if (sct_is_vector(k->type)) {
        return refuse_vector(spec, &t[n->first], err);
      }
    }
    return SCT_OK;
  default:
    return SCT_OK;
  }
}

sct_status sct_spec_check_operands(const sct_spec *spec, const body_tree *tree, sct_error *err) {
  for (const node *n = tree->made; n; n = n->made) {
    SCT_TRY(check_node(spec, tree, n, err));
  }
  return SCT_OK;
}
