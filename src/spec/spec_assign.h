/* spec_assign - between the files of the analysis that spec_assign.c describes. */
#ifndef SCT_SPEC_ASSIGN_H
#define SCT_SPEC_ASSIGN_H

#include "spec/spec_tree.h"

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
 * element of a local array of known length. `n` of them, each `step` after the one before. */
typedef struct units {
  int first, n, step;
} units;

/* What is known of a local. */
typedef struct variable {
  units units;
  int lanes; /* units of an element, or of a vector */
  bool is_array;
  bool by_element; /* units for each element */
  bool known;
  int64_t value; /* if known; of one that is no constant only inside the head of a loop */
  bool counts;   /* a loop gives it each value from `low` to `high` */
  int64_t low, high;
} variable;

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

enum { ASSIGN_MAX_GAPS = 256 };

typedef struct assign {
  sct_spec *spec;
  const body_tree *tree;
  const token *t; /* its tokens */
  sct_error *err;
  int first_unit; /* of the 64 of this pass */
  unit_set now;
  unit_set counted; /* elements that one iteration stands for, as a loop counts through them */
  bool by_counter;  /* the units that were read last are such elements */
  int n_units;
  int output_unit[SCT_MAX_OPERANDS][SCT_MAX_FIELDS];
  int value_unit; /* of a step's first value; they follow its outputs */
  variable variables[MAX_LOCALS];
  target *target;
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
/* Fails unless all of them are assigned, which `name` reads. */
sct_status sct_assign_read(assign *a, units u, const node *name);

/* ---- spec_assign_expr.c: each updates a->now ---- */

sct_status sct_assign_value(assign *a, const node *n, flow *out); /* of an expression */
sct_status sct_assign_values(assign *a, const node *list);
units sct_assign_output(const assign *a, int op); /* all of an output */
/* The variable that a node names as it is, without an index; NULL: none. */
variable *sct_assign_variable(assign *a, const node *n);
/* Can local number `k` hold this value as it is? */
bool sct_assign_holds(const assign *a, int k, const flow *f);

/* ---- spec_assign_stmt.c ---- */

sct_status sct_assign_statements(assign *a, const node *list);

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
