/* spec_assign - between the files of the analysis that spec_assign.c describes. */
#ifndef SCT_SPEC_ASSIGN_H
#define SCT_SPEC_ASSIGN_H

#include "spec/spec_internal.h"

/* What is assigned on every path to a point, of the 64 units of a pass; all of them where no path
 * leads. */
typedef uint64_t unit_set;
#define UNITS_ALL (~(unit_set)0)

/* What evaluating an expression leaves: the units assigned if it is true and if it is false, and
 * its value where that is known. Outside of conditions both count. */
typedef struct flow {
  unit_set yes, no;
  bool known, is_unsigned;
  int64_t value; /* of an integer, if known */
} flow;

/* A unit is what is assigned by itself: a component of an output's field or of a local vector, an
 * element of a local array of known length. */
typedef struct units {
  int first, n;
} units;

typedef struct local {
  const token *name;
  units units;
  int lanes; /* components that are units; 1: none */
  bool is_array, is_integer, is_const;
  bool by_element; /* a unit for each element */
  bool known, is_unsigned;
  int64_t value; /* if known; of one that is no constant only inside the head of a loop */
  bool counts;   /* a loop gives it each value from `low` to `high` */
  int64_t low, high;
} local;

/* Where `break` and `continue` lead. */
typedef struct target {
  struct target *outer;
  bool is_switch, has_default;
  unit_set entry; /* of a switch: what each of its labels starts with; of a loop: what it is
                     entered with */
  unit_set breaks, continues;
  int entry_gap, break_gap, continue_gap;
} target;

/* Why a path lacks the watched unit. */
typedef enum gap_kind {
  GAP_FALSE, /* the condition first..end-1 is false, and there is no else */
  GAP_IN_ELSE,
  GAP_IN_THEN,
  GAP_NO_CASE,
  GAP_LAST_CASE,
  GAP_NO_ITERATION,
  GAP_BREAK,
  GAP_CONTINUE
} gap_kind;

typedef struct gap {
  gap_kind kind;
  int first, end; /* tokens of the condition */
  int at;         /* token of the statement */
  int prior;      /* number of the gap before this statement, or -1 */
  int inner;      /* the last one inside its branch, whose chain ends at `prior` */
} gap;

enum { ASSIGN_MAX_LOCALS = 64, ASSIGN_MAX_GAPS = 256, ASSIGN_MAX_DEPTH = 400 };

typedef struct assign {
  sct_spec *spec;
  const token *t; /* t[n] is TOKEN_END */
  int n;
  int k; /* the token to be read next */
  sct_error *err;
  int first_unit; /* of the 64 of this pass */
  unit_set now;
  unit_set counted; /* elements that one iteration stands for, as a loop counts through them */
  bool by_counter;  /* the units that were read last are such elements */
  int n_units;
  int output_unit[SCT_MAX_OPERANDS][SCT_MAX_FIELDS];
  int value_unit;                  /* of a step's first value; they follow its outputs */
  local locals[ASSIGN_MAX_LOCALS]; /* of the open scopes */
  int n_locals;
  target *target;
  int depth;
  int lacking; /* the unit that failed, or -1 */
  /* The run that explains a failure: which unit it is about. */
  bool explains;
  int watched;
  bool ever_assigned;
  gap gaps[ASSIGN_MAX_GAPS];
  int n_gaps, gap; /* how many, the last one that counts or -1 */
} assign;

/* ---- spec_assign.c ---- */

unit_set sct_assign_bits(const assign *a, units u);
void sct_assign_set(assign *a, units u);
/* Fails unless all of them are assigned; token `at` reads what is called `name`. */
sct_status sct_assign_read(assign *a, units u, int at, const local *l);
local *sct_assign_find(assign *a, const token *t);
sct_status sct_assign_expect(assign *a, const char *text);
sct_status sct_assign_unexpected(const assign *a);
sct_status sct_assign_enter(assign *a); /* a level deeper; leave it by a->depth-- */
static inline bool sct_assign_at(const assign *a, const char *text) {
  return sct_token_is(&a->t[a->k], text);
}
bool sct_assign_at_type(const assign *a, int k); /* the words of a type, `const` among them */

/* ---- spec_assign_expr.c: each reads from a->k on and updates a->now ---- */

sct_status sct_assign_expression(assign *a, flow *out);        /* with commas */
sct_status sct_assign_one(assign *a, flow *out);               /* up to a comma */
units sct_assign_output(const assign *a, int op);              /* all of an output */
sct_status sct_assign_case(assign *a);                         /* what `case` names */
sct_status sct_assign_init(assign *a, flow *out);              /* a value or `{ ... }` */
sct_status sct_assign_arguments(assign *a, const char *close); /* with the closing */
/* Can the local hold this value as it is? */
bool sct_assign_holds(const local *l, const flow *f);

/* ---- spec_assign_stmt.c ---- */

sct_status sct_assign_statement(assign *a);

/* ---- spec_assign_path.c: the missing path, if this run explains ---- */

bool sct_gap_lacks(const assign *a, unit_set s);
/* A new gap over `prior`, with what is lost inside it; -1: this run explains nothing. */
int sct_gap_new(assign *a, gap g);
/* After two branches that left `yes` and `no`, whose last gaps are these. */
void sct_gap_branches(assign *a, gap g, unit_set yes, int yes_gap, unit_set no, int no_gap,
                      bool has_else);
/* " when `a > 0` and `b > 0` are both false", or "". */
void sct_gap_print_path(sct_str *out, const assign *a);
/* "add an `else` that assigns it"; NULL: no gap is known. */
const char *sct_gap_advice(const assign *a);
/* Where the last gap's statement stands in the body; NULL: no gap is known. */
const char *sct_gap_place(const assign *a);

#endif
