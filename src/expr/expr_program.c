/* expr_program - an expression as straight code, for millions of evaluations.
 *
 * Every distinct part is computed once, into a register that is handed on after its last use.
 * Floor division and remainder by a power of two become an arithmetic shift and a mask, which are
 * right for negative values too. */
#include "expr/expr_pool.h"

#include <string.h>

#define MAX_REGISTERS 96 /* live at once; a run keeps them on the stack */

typedef enum opcode {
  OP_CONST,  /* imm */
  OP_AFFINE, /* a * imm + imm2 */
  OP_MADD,   /* a * imm + b */
  OP_MUL,
  OP_DIV,
  OP_MOD,
  OP_SHIFT, /* a >> imm, arithmetic */
  OP_MASK,  /* a & imm */
  OP_MIN,
  OP_MAX,
  OP_XOR,
  OP_LT,
  OP_LE,
  OP_EQ,
  OP_NE,
  OP_AND,
  OP_OR,
  OP_NOT,
} opcode;

/* Operands below n_inputs are inputs, the others registers. */
typedef struct instruction {
  opcode op;
  int32_t dst, a, b;
  int64_t imm, imm2;
} instruction;

struct sct_expr_program {
  instruction *code;
  size_t n_code, cap_code;
  int n_inputs;
  int32_t result; /* operand */
};

/* ---- building */

/* One distinct part of the expression. */
typedef struct part {
  sct_expr e;
  int uses;        /* not yet emitted */
  int32_t operand; /* -1: not computed yet */
} part;

typedef struct builder {
  sct_expr_pool *pool;
  const sct_expr *inputs;
  sct_expr_program *program;
  part *parts;
  size_t n_parts, cap_parts;
  uint8_t busy[MAX_REGISTERS];
  sct_error *err;
} builder;

static part *find_part(const builder *b, sct_expr e) {
  for (size_t k = 0; k < b->n_parts; k++) {
    if (b->parts[k].e == e) {
      return &b->parts[k];
    }
  }
  return NULL;
}

/* Counts how often every part is used; inputs get their operand. */
static sct_status count_uses(builder *b, sct_expr e) {
  part *known = find_part(b, e);
  if (known != NULL) {
    known->uses++;
    return SCT_OK;
  }
  SCT_GROW(b->parts, b->n_parts, b->cap_parts);
  part made = {e, 1, -1};
  for (int k = 0; k < b->program->n_inputs; k++) {
    made.operand = b->inputs[k] == e ? k : made.operand;
  }
  b->parts[b->n_parts++] = made;
  const expr_node *node = expr_node_of(b->pool, e);
  if (made.operand >= 0) {
    return SCT_OK;
  }
  if (node->op == SCT_EXPR_VAR) {
    return sct_fail(b->err, SCT_ESPEC, "'%s' has no value here", node->name);
  }
  for (int k = 0; k < node->n; k++) {
    SCT_TRY(count_uses(b, expr_arg(b->pool, e, k).e));
  }
  return SCT_OK;
}

static sct_status take_register(builder *b, int32_t *operand) {
  for (int32_t k = 0; k < MAX_REGISTERS; k++) {
    if (!b->busy[k]) {
      b->busy[k] = 1;
      *operand = b->program->n_inputs + k;
      return SCT_OK;
    }
  }
  return sct_fail(b->err, SCT_ESPEC, "the expression needs more than %d values at once",
                  MAX_REGISTERS);
}

static void drop_register(builder *b, int32_t operand) {
  if (operand >= b->program->n_inputs) {
    b->busy[operand - b->program->n_inputs] = 0;
  }
}

static void emit(builder *b, instruction i) {
  sct_expr_program *p = b->program;
  SCT_GROW(p->code, p->n_code, p->cap_code);
  p->code[p->n_code++] = i;
}

/* One use of e is over. */
static void used(builder *b, sct_expr e) {
  part *p = find_part(b, e);
  if (--p->uses == 0) {
    drop_register(b, p->operand);
  }
}

static sct_status compute(builder *b, sct_expr e, int32_t *operand);

/* dst = constant + sum of coef * term, one multiply-add a term. */
static sct_status compute_sum(builder *b, sct_expr e, int32_t *dst) {
  const int n = expr_node_of(b->pool, e)->n;
  for (int k = 0; k < n; k++) {
    const expr_term term = expr_arg(b->pool, e, k);
    int32_t a = 0;
    SCT_TRY(compute(b, term.e, &a));
    if (k == 0) {
      SCT_TRY(take_register(b, dst));
    }
    const instruction first = {OP_AFFINE, *dst, a, 0, term.coef, expr_node_of(b->pool, e)->value};
    const instruction next = {OP_MADD, *dst, a, *dst, term.coef, 0};
    emit(b, k == 0 ? first : next);
    used(b, term.e);
  }
  return SCT_OK;
}

static opcode opcode_of(sct_expr_op op) {
  switch (op) {
  case SCT_EXPR_DIV:
    return OP_DIV;
  case SCT_EXPR_MOD:
    return OP_MOD;
  case SCT_EXPR_MIN:
    return OP_MIN;
  case SCT_EXPR_MAX:
    return OP_MAX;
  case SCT_EXPR_XOR:
    return OP_XOR;
  case SCT_EXPR_LT:
    return OP_LT;
  case SCT_EXPR_LE:
    return OP_LE;
  case SCT_EXPR_EQ:
    return OP_EQ;
  case SCT_EXPR_NE:
    return OP_NE;
  case SCT_EXPR_AND:
    return OP_AND;
  case SCT_EXPR_OR:
    return OP_OR;
  default:
    return OP_MUL; /* a product */
  }
}

/* dst = a op b op c ... from left to right. */
static sct_status compute_chain(builder *b, sct_expr e, int32_t *dst) {
  const sct_expr_op op = expr_op(b->pool, e);
  const int n = expr_node_of(b->pool, e)->n;
  const sct_expr first = expr_arg(b->pool, e, 0).e;
  int32_t left = 0;
  SCT_TRY(compute(b, first, &left));
  if (n == 1) {
    SCT_TRY(take_register(b, dst));
    emit(b, (instruction){OP_NOT, *dst, left, 0, 0, 0});
    used(b, first);
    return SCT_OK;
  }
  for (int k = 1; k < n; k++) {
    const sct_expr next = expr_arg(b->pool, e, k).e;
    int32_t right = 0;
    SCT_TRY(compute(b, next, &right));
    if (k == 1) {
      SCT_TRY(take_register(b, dst));
    }
    emit(b, (instruction){opcode_of(op), *dst, k == 1 ? left : *dst, right, 0, 0});
    if (k == 1) {
      used(b, first);
    }
    used(b, next);
  }
  return SCT_OK;
}

/* x // 2^k and x % 2^k. */
static sct_status compute_bits(builder *b, sct_expr e, int64_t c, int32_t *dst) {
  const sct_expr x = expr_arg(b->pool, e, 0).e;
  const bool shift = expr_op(b->pool, e) == SCT_EXPR_DIV;
  int32_t a = 0;
  SCT_TRY(compute(b, x, &a));
  SCT_TRY(take_register(b, dst));
  const instruction i = {shift ? OP_SHIFT : OP_MASK,
                         *dst,
                         a,
                         0,
                         shift ? __builtin_ctzll((unsigned long long)c) : c - 1,
                         0};
  emit(b, i);
  used(b, x);
  return SCT_OK;
}

static sct_status compute_new(builder *b, sct_expr e, int32_t *dst) {
  const expr_node *node = expr_node_of(b->pool, e);
  int64_t c = 0;
  if (node->op == SCT_EXPR_CONST) {
    SCT_TRY(take_register(b, dst));
    emit(b, (instruction){OP_CONST, *dst, 0, 0, node->value, 0});
    return SCT_OK;
  }
  if (node->op == SCT_EXPR_SUM) {
    return compute_sum(b, e, dst);
  }
  const bool division = node->op == SCT_EXPR_DIV || node->op == SCT_EXPR_MOD;
  if (division && sct_expr_is_const(b->pool, expr_arg(b->pool, e, 1).e, &c) && c > 0 &&
      (c & (c - 1)) == 0) {
    return compute_bits(b, e, c, dst);
  }
  return compute_chain(b, e, dst);
}

static sct_status compute(builder *b, sct_expr e, int32_t *operand) {
  const part *known = find_part(b, e);
  if (known->operand < 0) {
    int32_t dst = 0;
    SCT_TRY(compute_new(b, e, &dst));
    find_part(b, e)->operand = dst;
  }
  *operand = find_part(b, e)->operand;
  return SCT_OK;
}

sct_status sct_expr_program_new(sct_expr_program **out, sct_expr_pool *pool, sct_expr e,
                                const sct_expr *inputs, int n, sct_error *err) {
  sct_status status = SCT_OK;
  if (e == SCT_EXPR_NONE) {
    return sct_fail(err, SCT_ESPEC, "there is no expression to evaluate: %s",
                    sct_expr_failure(pool));
  }
  builder b = {.pool = pool, .inputs = inputs, .err = err};
  b.program = sct_alloc(sizeof *b.program);
  b.program->n_inputs = n;
  SCT_TRY_DONE(count_uses(&b, e));
  SCT_TRY_DONE(compute(&b, e, &b.program->result));
done:
  sct_free(b.parts);
  if (status == SCT_OK) {
    *out = b.program;
  } else {
    sct_expr_program_free(b.program);
  }
  return status;
}

void sct_expr_program_free(sct_expr_program *program) {
  if (program != NULL) {
    sct_free(program->code);
    sct_free(program);
  }
}

/* ---- running */

static int64_t wrap_madd(int64_t a, int64_t k, int64_t b) {
  return (int64_t)((uint64_t)a * (uint64_t)k + (uint64_t)b);
}

static int64_t safe_div(int64_t a, int64_t b) {
  if (b == 0) {
    return 0;
  }
  return b == -1 ? wrap_madd(a, -1, 0) : expr_floor_div(a, b);
}

static int64_t safe_mod(int64_t a, int64_t b) {
  return b == 0 ? 0 : expr_floor_mod(a, b);
}

/* What an instruction makes of its operands' values. */
static int64_t result_of(const instruction *i, int64_t a, int64_t b) {
  switch (i->op) {
  case OP_CONST:
    return i->imm;
  case OP_AFFINE:
    return wrap_madd(a, i->imm, i->imm2);
  case OP_MADD:
    return wrap_madd(a, i->imm, b);
  case OP_MUL:
    return wrap_madd(a, b, 0);
  case OP_DIV:
    return safe_div(a, b);
  case OP_MOD:
    return safe_mod(a, b);
  case OP_SHIFT:
    return a >> i->imm;
  case OP_MASK:
    return a & i->imm;
  case OP_MIN:
    return a < b ? a : b;
  case OP_MAX:
    return a > b ? a : b;
  case OP_XOR:
    return a ^ b;
  case OP_LT:
    return a < b;
  case OP_LE:
    return a <= b;
  case OP_EQ:
    return a == b;
  case OP_NE:
    return a != b;
  case OP_AND:
    return a != 0 && b != 0;
  case OP_OR:
    return a != 0 || b != 0;
  case OP_NOT:
    return a == 0;
  }
  return 0;
}

int64_t sct_expr_program_run(const sct_expr_program *program, const int64_t *values) {
  int64_t registers[MAX_REGISTERS];
  registers[0] = 0; /* what operands that an instruction does not have read, without inputs */
  const int n_inputs = program->n_inputs;
  for (size_t k = 0; k < program->n_code; k++) {
    const instruction *i = &program->code[k];
    const int64_t a = i->a < n_inputs ? values[i->a] : registers[i->a - n_inputs];
    const int64_t b = i->b < n_inputs ? values[i->b] : registers[i->b - n_inputs];
    registers[i->dst - n_inputs] = result_of(i, a, b);
  }
  return program->result < n_inputs ? values[program->result]
                                    : registers[program->result - n_inputs];
}

/* How a value depends on one input. */
typedef enum dependence { FIXED, AFFINE, OTHER } dependence;

static dependence depends(const instruction *i, dependence a, dependence b) {
  switch (i->op) {
  case OP_CONST:
    return FIXED;
  case OP_AFFINE:
    return a;
  case OP_MADD:
    return a > b ? a : b;
  case OP_MUL:
    return a == FIXED ? b : b == FIXED ? a : OTHER;
  case OP_SHIFT:
  case OP_MASK:
  case OP_NOT: /* b is not read */
    return a == FIXED ? FIXED : OTHER;
  default:
    return a == FIXED && b == FIXED ? FIXED : OTHER;
  }
}

bool sct_expr_program_is_affine(const sct_expr_program *program, int input) {
  const int n_inputs = program->n_inputs;
  dependence registers[MAX_REGISTERS] = {FIXED};
  for (size_t k = 0; k < program->n_code; k++) {
    const instruction *i = &program->code[k];
    const dependence a = i->a >= n_inputs ? registers[i->a - n_inputs]
                         : i->a == input  ? AFFINE
                                          : FIXED;
    const dependence b = i->b >= n_inputs ? registers[i->b - n_inputs]
                         : i->b == input  ? AFFINE
                                          : FIXED;
    registers[i->dst - n_inputs] = depends(i, a, b);
  }
  return program->result < n_inputs || registers[program->result - n_inputs] != OTHER;
}
