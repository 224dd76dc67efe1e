/* expr - integer expressions: build, fold, evaluate, analyse, print as C, parse.
 *
 * One representation serves layouts (offsets), the places of `at`, extents, grids and constraints.
 * Expressions live in a pool and are hash-consed: equal expressions have equal handles, so `==` on
 * handles is structural equality.
 *
 * Arithmetic is kept in a normal form: a sum of terms, each a coefficient times a product of atoms
 * (variables and floor-divisions, remainders, minima, maxima of normal forms), terms in a canonical
 * order. `/` and `%` are the floor division and the remainder with the divisor's sign (Lua's `//`
 * and `%`; for the non-negative values that indexes are, C's). All values are int64_t; building an
 * expression whose constants overflow gives SCT_EXPR_NONE. Folding takes for granted that no
 * divisor is 0 and that no value on the way overflows: where that holds, the folded expression has
 * the value of the written one.
 *
 * Folding uses what is known of every variable: a range [lo, hi] and a number it is a multiple of.
 *   (c*q + r) // c = q + r // c        (c*q + r) % c = r % c            for every integer r
 *   x // c = 0, x % c = x              when 0 <= x < c
 *   (a*x + r) // (a*b) = x // b,  (a*x + r) % (a*b) = a*(x % b) + r     when 0 <= r < a
 *   (x // a) // b = x // (a*b),  (x % (a*b)) % a = x % a,  x // c * c + x % c = x
 *   min, max and comparisons decide when the ranges do. */
#ifndef SCT_EXPR_H
#define SCT_EXPR_H

#include "base/base.h"

typedef struct sct_expr_pool sct_expr_pool;
typedef int32_t sct_expr; /* handle into a pool */
#define SCT_EXPR_NONE 0   /* no expression; every function accepts it and passes it on */

void sct_expr_pool_new(sct_expr_pool **out);
void sct_expr_pool_free(sct_expr_pool *pool);
/* A mark and a way back to it: everything built after the mark is dropped (variables too), handles
 * before stay valid. A hundred thousand candidates must not grow memory. */
int32_t sct_expr_mark(const sct_expr_pool *pool);
void sct_expr_reset(sct_expr_pool *pool, int32_t mark);
/* Why the last builder that failed gave SCT_EXPR_NONE: "division by zero", "a constant overflows 64
 * bits", ... A fixed phrase. */
const char *sct_expr_failure(const sct_expr_pool *pool);

/* ---- building ---- */

typedef enum sct_expr_op {
  SCT_EXPR_CONST,
  SCT_EXPR_VAR,
  SCT_EXPR_SUM, /* coefficient * product of atoms, summed */
  SCT_EXPR_DIV, /* floor division */
  SCT_EXPR_MOD,
  SCT_EXPR_MIN,
  SCT_EXPR_MAX,
  SCT_EXPR_XOR, /* bitwise, of values >= 0: swizzles */
  SCT_EXPR_LT,  /* comparisons and logic give 0 or 1 */
  SCT_EXPR_LE,
  SCT_EXPR_EQ,
  SCT_EXPR_NE,
  SCT_EXPR_AND,
  SCT_EXPR_OR,
  SCT_EXPR_NOT,
} sct_expr_op;

#define SCT_EXPR_MIN_VALUE                                                                         \
  (-((int64_t)1 << 62)) /* stands for "unbounded below" in ranges; arithmetic saturates */
#define SCT_EXPR_MAX_VALUE ((int64_t)1 << 62)

sct_expr sct_expr_const(sct_expr_pool *pool, int64_t value);
/* The variable `name`, made at first use. lo <= value <= hi and value % multiple == 0 are assumed
 * by folding; a later call with other bounds for a known name returns SCT_EXPR_NONE (use
 * sct_expr_var_find for lookups). */
sct_expr sct_expr_var(sct_expr_pool *pool, const char *name, int64_t lo, int64_t hi,
                      int64_t multiple);
sct_expr sct_expr_var_find(const sct_expr_pool *pool,
                           const char *name); /* SCT_EXPR_NONE if unknown */
const char *sct_expr_var_name(const sct_expr_pool *pool, sct_expr var);

sct_expr sct_expr_binary(sct_expr_pool *pool, sct_expr_op op, sct_expr a,
                         sct_expr b); /* DIV .. OR */
sct_expr sct_expr_add(sct_expr_pool *pool, sct_expr a, sct_expr b);
sct_expr sct_expr_sub(sct_expr_pool *pool, sct_expr a, sct_expr b);
sct_expr sct_expr_mul(sct_expr_pool *pool, sct_expr a, sct_expr b);
sct_expr sct_expr_div(sct_expr_pool *pool, sct_expr a, sct_expr b); /* NONE if b folds to 0 */
sct_expr sct_expr_mod(sct_expr_pool *pool, sct_expr a, sct_expr b); /* NONE if b folds to 0 */
sct_expr sct_expr_neg(sct_expr_pool *pool, sct_expr a);
sct_expr sct_expr_not(sct_expr_pool *pool, sct_expr a);

/* `e` with vars[k] replaced by with[k], all at once, refolded. vars[k] may be any part of e that
 * stands in it as it is: a variable, a quotient. */
sct_expr sct_expr_subst(sct_expr_pool *pool, sct_expr e, const sct_expr *vars, const sct_expr *with,
                        int n);

/* ---- asking ---- */

sct_expr_op sct_expr_op_of(const sct_expr_pool *pool, sct_expr e);
bool sct_expr_is_const(const sct_expr_pool *pool, sct_expr e,
                       int64_t *value); /* value may be NULL */
bool sct_expr_mentions(const sct_expr_pool *pool, sct_expr e, sct_expr var);
/* Variables of e, in order of first making. Returns how many there are; fills
 * at most cap. */
int sct_expr_vars(const sct_expr_pool *pool, sct_expr e, sct_expr *vars, int cap);
/* The divisions and remainders inside e, each pair of dividend and divisor once, inner
 * ones first. Returns how many there are; fills at most cap. */
int sct_expr_quotients(const sct_expr_pool *pool, sct_expr e, sct_expr *dividend, sct_expr *divisor,
                       int cap);
/* Bounds that hold for every value of the variables; saturated at +-2^62. */
void sct_expr_range(const sct_expr_pool *pool, sct_expr e, int64_t *lo, int64_t *hi);
/* A known d >= 1 with e % d == 0, as large as can be seen (0 for the constant 0). _if: where
 * vars[k] is taken to be a multiple of multiples[k]; nothing is built. */
int64_t sct_expr_divisor(const sct_expr_pool *pool, sct_expr e);
int64_t sct_expr_divisor_if(const sct_expr_pool *pool, sct_expr e, const sct_expr *vars,
                            const int64_t *multiples, int n);
/* e = *coef * var + *rest where rest and coef do not mention var and coef is a constant. false if
 * it is not so. */
bool sct_expr_linear(sct_expr_pool *pool, sct_expr e, sct_expr var, int64_t *coef, sct_expr *rest);
/* e = *with + *without: the terms that mention one of vars, and the others (constants go to
 * `without`). */
void sct_expr_split(sct_expr_pool *pool, sct_expr e, const sct_expr *vars, int n, sct_expr *with,
                    sct_expr *without);

/* ---- evaluating ---- */

/* The value of every variable of an evaluation: values[k] belongs to vars[k]. A variable that is
 * not listed makes evaluation fail. */
typedef struct sct_expr_env {
  const sct_expr *vars;
  const int64_t *values;
  int n;
} sct_expr_env;
/* SCT_ESPEC: unbound variable, division by zero, overflow of int64_t; the text names it. */
sct_status sct_expr_eval(const sct_expr_pool *pool, sct_expr e, const sct_expr_env *env,
                         int64_t *value, sct_error *err);

/* The value of `op`, MIN to OR, on two values. */
int64_t sct_expr_eval_binary(sct_expr_op op, int64_t a, int64_t b);

/* For millions of evaluations: e as a list of its parts over a flat array of inputs. Division by
 * zero gives 0, overflow wraps; check once with sct_expr_eval. Thread-safe to run. */
typedef struct sct_expr_program sct_expr_program;
/* inputs[k] is read from values[k] at run time. SCT_ESPEC for a variable not in
 * inputs. */
sct_status sct_expr_program_new(sct_expr_program **out, const sct_expr_pool *pool, sct_expr e,
                                const sct_expr *inputs, int n, sct_error *err);
int64_t sct_expr_program_run(const sct_expr_program *program, const int64_t *values);
/* true: wherever the other inputs stand, each step of values[input] changes the result by the same
 * (modulo 2^64). false: not as far as can be seen. */
bool sct_expr_program_is_affine(const sct_expr_program *program, int input);
void sct_expr_program_free(sct_expr_program *program);

/* ---- text ---- */

/* Appends e as a C/CUDA expression that a person would write: "24 * i + 8", "row * n_col + col",
 * "(i >> 5) * 896". Divisions by powers of two of values known to be >= 0 print as shifts and
 * masks; other divisions as / and %, right for values >= 0 only (indexes); a possibly negative
 * dividend calls sct_floor_div(a, b) or sct_floor_mod(a, b), which the source must define (min and
 * max are CUDA's): never printed silently wrong. Constants above int's range carry LL.
 * Minimal parentheses. With `wide` every variable is taken as 64-bit already; without, the text is
 * an int expression. */
void sct_expr_print_c(sct_str *out, const sct_expr_pool *pool, sct_expr e, bool wide);
/* C text of a bound of |e| and of all values on the way to it: numbers that are not negative, added
 * and multiplied. Where the variables in it are of type double nothing overflows, so that it tells
 * whether e does. */
void sct_expr_print_bound(sct_str *out, const sct_expr_pool *pool, sct_expr e);
/* Canonical text in the syntax of sct_expr_parse; equal expressions give equal text on every
 * machine. */
void sct_expr_print(sct_str *out, const sct_expr_pool *pool, sct_expr e);

/* Appends e as JSON: a number, the name of a variable, or a list of an operation and what it takes:
 * "+", "*", "min", "max", "^", "and", "or" two or more, "//" and "%" (floor division and its
 * remainder), "<", "<=", "==", "!=" two, "not" one. Conditions are 0 or 1. */
void sct_expr_print_tree(sct_str *out, const sct_expr_pool *pool, sct_expr e);

/* How names in a text become expressions. `resolve` returns SCT_EXPR_NONE for an unknown name; the
 * error then suggests from `names`. A quoted string ('cs' or "cs") is given with is_string set. */
typedef struct sct_expr_names {
  sct_expr (*resolve)(void *ctx, sct_expr_pool *pool, const char *name, bool is_string);
  void *ctx;
  const char *const *names;
  int n_names;
} sct_expr_names;
/* Parses  + - * // / % ^  comparisons < <= > >= == ~= !=  and or not (also && || !)  min(a,b)
 * max(a,b)  ( ), decimal and 0x integers, names (dots inside: "layout.a"), strings. `/` means `//`.
 * Precedences are Lua's; `^` (or `~`) is exclusive or and binds as Lua's `~`: weaker than `+`,
 * stronger than comparisons. Comparisons chain only through `and`. `names` NULL: the pool's
 * variables. SCT_ESPEC with "column N: ..." and the nearest legal name. */
sct_status sct_expr_parse(sct_expr *out, sct_expr_pool *pool, const char *text,
                          const sct_expr_names *names, sct_error *err);

#endif
