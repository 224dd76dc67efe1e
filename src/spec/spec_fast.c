/* Bodies in fast arithmetic: what CUDA computes of floats with fewer instructions and larger
 * errors.
 *
 * Functions get their approximate names, a division of floats becomes __fdividef, 1 / sqrtf(x)
 * becomes rsqrtf(x). Types decide; where one is not clear, the text stays. What bodies compute of
 * doubles, integers and halves stays as well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/spec_tree.h"

enum { MAX_EDITS = 512 }; /* compilers do not take calls that nest without end */

typedef struct fast {
  sct_spec *spec;
  const body_tree *tree;
  const edit *base; /* [tree->n] what it starts from */
  edit *edits;      /* [tree->n] */
  int n_edits;
} fast;

/* The left or the right side of a division. */
typedef struct side {
  int first, end;
  const node *only; /* it is this node; NULL: several operands of a list */
} side;

/* "before ... )", around what is there already. */
static void enclose(const fast *f, int first, int end, const char *before) {
  edit *from = &f->edits[first], *to = &f->edits[end - 1];
  from->before =
      sct_arena_printf(&f->spec->arena, "%s%s", before, from->before ? from->before : "");
  to->after = sct_arena_printf(&f->spec->arena, "%s)", to->after ? to->after : "");
}

static void drop_brackets(const fast *f, const side *s) {
  if (s->only && s->only->kind == NODE_BRACKETS) {
    f->edits[s->first].text = f->edits[s->end - 1].text = "";
  }
}

static bool is_number(const fast *f, const side *s, double *value) {
  const bool is = s->only && s->only->kind == NODE_NUMBER;
  *value = is ? strtod(f->tree->t[s->first].text, NULL) : 0;
  return is;
}

/* 1 / sqrtf(x), whose function has become sqrt_approx, becomes rsqrtf(x). */
static bool is_reciprocal_root(const fast *f, const side *a, const side *b) {
  double value = 0;
  edit *e = &f->edits[b->first];
  if (!is_number(f, a, &value) || value != 1.0 || !e->text || strcmp(e->text, "sqrt_approx") != 0) {
    return false;
  }
  e->text = "rsqrtf";
  for (int k = a->first; k < b->first; k++) {
    f->edits[k].text = "";
    f->edits[k + 1].joined = true;
  }
  return true;
}

/* a / b, or a /= b, at token `slash`. */
static void divide(fast *f, const side *a, const side *b, int slash) {
  const token *t = &f->tree->t[slash];
  double value = 0;
  int exponent = 0;
  if (is_number(f, b, &value) && frexp(value, &exponent) == 0.5) {
    return; /* compilers multiply by it, which is exact */
  }
  f->n_edits += 3;
  if (is_reciprocal_root(f, a, b)) {
    return;
  }
  if (sct_token_is(t, "/=")) {
    SCT_SCOPED(sct_str) name = {0};
    sct_tree_print(&name, f->tree, f->base, a->first, a->end, BLANKS_AS_WRITTEN);
    f->edits[slash].text = sct_arena_printf(&f->spec->arena, "= __fdividef(%s,", sct_str_c(&name));
    drop_brackets(f, b);
    enclose(f, b->first, b->end, "");
    return;
  }
  drop_brackets(f, a);
  drop_brackets(f, b);
  enclose(f, a->first, b->end, "__fdividef(");
  f->edits[slash].joined = true;
  f->edits[slash].text = t[1].text == t->text + t->len ? ", " : ",";
}

/* Divisions in "a * b / c". */
static void divide_list(fast *f, const node *n) {
  side left = {n->kid[0]->first, n->kid[0]->end, n->kid[0]};
  for (const node *k = n->kid[0]; k->next && f->n_edits <= MAX_EDITS; k = k->next) {
    const side right = {k->next->first, k->next->end, k->next};
    if (sct_token_is(&f->tree->t[k->end], "/") &&
        sct_value_type_joined(k->so_far, k->next->type) == VALUE_FLOAT) {
      divide(f, &left, &right, k->end);
    }
    left = (side){left.first, right.end, NULL};
  }
}

static void visit(fast *f, const node *n) {
  const token *t = &f->tree->t[n->first];
  bool generic = false;
  const char *other = n->kind == NODE_CALL ? sct_tree_fast_function(t, &generic) : NULL;
  if (other && (!generic || sct_tree_all_float(n->kid[0]))) {
    f->edits[n->first].text = other;
    f->n_edits++;
  } else if (n->kind == NODE_BINARY) {
    divide_list(f, n);
  } else if (n->kind == NODE_ASSIGN && sct_node_is(f->tree, n, "/=") &&
             n->kid[0]->type == VALUE_FLOAT &&
             sct_value_type_joined(VALUE_FLOAT, n->kid[1]->type) == VALUE_FLOAT) {
    const node *a = n->kid[0], *b = n->kid[1];
    divide(f, &(side){a->first, a->end, a}, &(side){b->first, b->end, b}, n->at);
  }
}

edit *sct_spec_fast_edits(sct_spec *spec, const body_tree *tree, const edit *edits) {
  fast f = {.spec = spec, .tree = tree, .base = edits};
  if (!spec->tolerance_given || !(spec->tolerance > 0.0)) {
    return NULL;
  }
  f.edits = SCT_ARENA_NEW(&spec->arena, edit, tree->n);
  memcpy(f.edits, edits, sizeof *edits * (size_t)tree->n);
  for (const node *n = tree->made; n && f.n_edits <= MAX_EDITS; n = n->made) {
    visit(&f, n);
  }
  return f.n_edits > 0 && f.n_edits <= MAX_EDITS ? f.edits : NULL;
}

bool sct_spec_has_fast(const sct_spec *spec) {
  bool any = spec->fast_body || spec->fast_component_body;
  for (int k = 0; k < spec->n_steps; k++) {
    any = any || spec->steps[k].fast_body;
  }
  return any;
}
