/* expr_program - an expression as a list of its distinct parts, for millions of evaluations.
 *
 * Parts stand after what they are made of, so that a run computes each once, from left to right.
 * A program holds copies of what it needs of the pool. */
#include "expr/expr_pool.h"

#define MAX_PARTS 2048 /* distinct ones; a run keeps their values on the stack */

/* An operand below n_inputs is an input, the others are parts. */
typedef struct operand {
  int64_t coef;
  int32_t at;
} operand;

typedef struct part {
  sct_expr e;
  sct_expr_op op;
  int32_t first, n; /* operands */
  int64_t value;    /* of a constant; the constant part of a sum */
} part;

struct sct_expr_program {
  part *parts;
  size_t n_parts, cap_parts;
  operand *operands;
  size_t n_operands, cap_operands;
  int32_t n_inputs, result;
};

/* ---- building */

typedef struct builder {
  const sct_expr_pool *pool;
  const sct_expr *inputs;
  sct_expr_program *program;
  sct_error *err;
} builder;

static bool find(const builder *b, sct_expr e, int32_t *at) {
  const sct_expr_program *p = b->program;
  for (int32_t k = p->n_inputs - 1; k >= 0; k--) {
    if (b->inputs[k] == e) {
      *at = k;
      return true;
    }
  }
  for (size_t k = 0; k < p->n_parts; k++) {
    if (p->parts[k].e == e) {
      *at = p->n_inputs + (int32_t)k;
      return true;
    }
  }
  return false;
}

/* The operand that e is; its parts are added before it. */
static sct_status add(builder *b, sct_expr e, int32_t *at) {
  sct_expr_program *p = b->program;
  const expr_node *node = expr_node_of(b->pool, e);
  if (find(b, e, at)) {
    return SCT_OK;
  }
  if (node->op == SCT_EXPR_VAR) {
    return sct_fail(b->err, SCT_ESPEC, "'%s' has no value here", node->name);
  }
  for (int k = 0; k < node->n; k++) {
    SCT_TRY(add(b, expr_arg(b->pool, e, k).e, at));
  }
  if (p->n_parts == MAX_PARTS) {
    return sct_fail(b->err, SCT_ESPEC, "the expression has more than %d parts", MAX_PARTS);
  }
  const part made = {e, node->op, (int32_t)p->n_operands, node->n, node->value};
  for (int k = 0; k < node->n; k++) {
    const expr_term term = expr_arg(b->pool, e, k);
    (void)find(b, term.e, at);
    SCT_GROW(p->operands, p->n_operands, p->cap_operands);
    p->operands[p->n_operands++] = (operand){term.coef, *at};
  }
  SCT_GROW(p->parts, p->n_parts, p->cap_parts);
  *at = p->n_inputs + (int32_t)p->n_parts;
  p->parts[p->n_parts++] = made;
  return SCT_OK;
}

sct_status sct_expr_program_new(sct_expr_program **out, const sct_expr_pool *pool, sct_expr e,
                                const sct_expr *inputs, int n, sct_error *err) {
  if (e == SCT_EXPR_NONE) {
    return sct_fail(err, SCT_ESPEC, "there is no expression to evaluate: %s",
                    sct_expr_failure(pool));
  }
  builder b = {.pool = pool, .inputs = inputs, .err = err};
  b.program = sct_alloc(sizeof *b.program);
  b.program->n_inputs = n;
  const sct_status status = add(&b, e, &b.program->result);
  if (status == SCT_OK) {
    *out = b.program;
  } else {
    sct_expr_program_free(b.program);
  }
  return status;
}

void sct_expr_program_free(sct_expr_program *program) {
  if (program != NULL) {
    sct_free(program->parts);
    sct_free(program->operands);
    sct_free(program);
  }
}

/* ---- running */

static int64_t wrap_madd(int64_t a, int64_t k, int64_t b) {
  return (int64_t)((uint64_t)a * (uint64_t)k + (uint64_t)b);
}

/* Powers of two, which most divisors are, by an arithmetic shift and a mask. */
static int64_t divide(sct_expr_op op, int64_t a, int64_t b) {
  const bool mod = op == SCT_EXPR_MOD;
  if (b > 0 && (b & (b - 1)) == 0) {
    return mod ? a & (b - 1) : a >> __builtin_ctzll((unsigned long long)b);
  }
  if (b == 0 || (b == -1 && !mod)) {
    return wrap_madd(a, b, 0);
  }
  return mod ? expr_floor_mod(a, b) : expr_floor_div(a, b);
}

static int64_t combine(sct_expr_op op, int64_t a, int64_t b) {
  if (op == EXPR_PROD) {
    return wrap_madd(a, b, 0);
  }
  return op == SCT_EXPR_DIV || op == SCT_EXPR_MOD ? divide(op, a, b)
                                                  : sct_expr_eval_binary(op, a, b);
}

int64_t sct_expr_program_run(const sct_expr_program *program, const int64_t *values) {
  int64_t of_part[MAX_PARTS];
  const int32_t n_inputs = program->n_inputs;
#define VALUE_OF(o) ((o).at < n_inputs ? values[(o).at] : of_part[(o).at - n_inputs])
  for (size_t k = 0; k < program->n_parts; k++) {
    const part *p = &program->parts[k];
    const operand *o = p->n > 0 ? &program->operands[p->first] : NULL;
    int64_t x = p->value;
    if (p->op == SCT_EXPR_SUM) {
      for (int32_t i = 0; i < p->n; i++) {
        x = wrap_madd(VALUE_OF(o[i]), o[i].coef, x);
      }
    } else if (p->n > 0) {
      x = VALUE_OF(o[0]);
      for (int32_t i = 1; i < p->n; i++) {
        x = combine(p->op, x, VALUE_OF(o[i]));
      }
    }
    of_part[k] = p->op == SCT_EXPR_NOT ? x == 0 : x;
  }
  return VALUE_OF(((operand){0, program->result}));
#undef VALUE_OF
}

/* How a value depends on one input. */
typedef enum dependence { FIXED, AFFINE, OTHER } dependence;

bool sct_expr_program_is_affine(const sct_expr_program *program, int input) {
  const int32_t n_inputs = program->n_inputs;
  dependence of_part[MAX_PARTS];
  for (size_t k = 0; k < program->n_parts; k++) {
    const part *p = &program->parts[k];
    dependence most = FIXED;
    int n_moving = 0;
    for (int32_t i = 0; i < p->n; i++) {
      const int32_t at = program->operands[p->first + i].at;
      const dependence d = at >= n_inputs ? of_part[at - n_inputs] : at == input ? AFFINE : FIXED;
      most = d > most ? d : most;
      n_moving += d != FIXED;
    }
    const bool keeps = p->op == SCT_EXPR_SUM || (p->op == EXPR_PROD && n_moving == 1);
    of_part[k] = keeps || most == FIXED ? most : OTHER;
  }
  return program->result < n_inputs || of_part[program->result - n_inputs] != OTHER;
}
