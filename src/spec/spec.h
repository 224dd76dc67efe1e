/* spec - layouts, kernels and devices as plain C data.
 *
 * A spec script runs once (module script) and becomes one sct_spec; from then on no Lua is needed
 * to know what the kernel is. All strings and arrays belong to the spec's arena, all expressions to
 * its pool.
 *
 * Variables of the pool, by name:
 *   "i"      a dimension's index, in [0, n_i): every name in dims
 *   "n_i"    an extent, >= 0: every name in dims and in the operands' own dims
 *   "pick"   what an index operand holds for the current element, in [0, extent it addresses), or
 *            below 0 where it may hold none; then places name max(pick, 0)
 *   "a.0"    index 0 of array a, whatever its place in the index space
 * Offsets are bytes from the operand's base pointer, which is at least 256-byte aligned while
 * tuning. */
#ifndef SCT_SPEC_H
#define SCT_SPEC_H

#include "expr/expr.h"

/* ---- types ---- */

typedef enum sct_type {
#define SCT_TYPE(id, name, cuda, bytes, align, kind, lanes, exponent, shared) SCT_TYPE_##id,
#include "spec_types.def"
#undef SCT_TYPE
  SCT_N_TYPES
} sct_type;

/* BOOL: a byte that is 0 or 1. */
typedef enum sct_type_kind {
  SCT_KIND_INT,
  SCT_KIND_UINT,
  SCT_KIND_FLOAT,
  SCT_KIND_BOOL
} sct_type_kind;

typedef struct sct_type_info {
  const char *name; /* "f32x4", as users write it */
  const char *cuda; /* "float4", as CUDA writes it */
  int bytes, align; /* of one value */
  sct_type_kind kind;
  int lanes;         /* 1, or the number of components */
  int exponent_bits; /* of a component, if it is a floating-point number */
  int shared;        /* neighbouring elements of an array that share the bytes; 1: none do */
} sct_type_info;
const sct_type_info *sct_type_get(sct_type type);
/* Is it one integer? */
static inline bool sct_type_is_integer(sct_type type) {
  const sct_type_info *info = sct_type_get(type);
  return info->lanes == 1 && info->shared == 1 &&
         (info->kind == SCT_KIND_INT || info->kind == SCT_KIND_UINT);
}
/* Is it a struct that kernels define, as CUDA has no such type without a header? */
bool sct_type_is_struct(sct_type type);
bool sct_type_find(sct_type *out, const char *name);
const char *const *sct_type_names(int *n); /* for error messages */
/* Values of this integer type that are indices below `limit` lie in [0, what this returns). */
int64_t sct_type_index_limit(sct_type type, int64_t limit);

/* ---- records ---- */

typedef struct sct_field {
  const char *name; /* "" for the only field of a bare type; "q[3]": an element of an array, or,
                       where elements share bytes, a byte of it */
  int element, n_elements; /* of an array: number `element` of n_elements; else 0 of 0 */
  sct_type type;
  int64_t bytes;
  int64_t offset; /* inside the record as C lays it out (aligned) or without gaps (packed) */
  int64_t prefix; /* sum of the bytes of the fields before it */
} sct_field;

typedef struct sct_record {
  const char *name; /* C struct tag; NULL for a bare type */
  sct_field *fields;
  int n_fields;
  int64_t bytes; /* with trailing padding: what an array of records steps by */
  int64_t align;
  int64_t data_bytes; /* sum of the fields' bytes */
  bool packed;
} sct_record;

/* For a field that is part of an array: the array's elements as bodies count them, and which of the
 * array's fields holds element `at`. */
static inline int sct_field_elements(const sct_field *field) {
  return field->n_elements * sct_type_get(field->type)->shared;
}
static inline int sct_field_of_element(const sct_field *field, int64_t at) {
  return (int)(at / sct_type_get(field->type)->shared);
}

/* A name for generated text: "q[3]" as "q_3". */
enum { SCT_FIELD_WORD = 64 };
void sct_field_word(char out[SCT_FIELD_WORD], const char *name);

/* Fills elements, offsets, prefixes, bytes and align from names and types. `align` 0: natural (1
 * when packed); else a power of two >= natural. SCT_ESPEC for no field, a duplicate or illegal
 * name, a bad align. */
sct_status sct_record_finish(sct_record *record, int64_t align, sct_error *err);

/* ---- operands and layouts ---- */

#define SCT_MAX_DIMS     12 /* of the index space, and of one operand */
#define SCT_MAX_EXTENTS  24
#define SCT_MAX_OPERANDS 32
#define SCT_MAX_FIELDS   64
/* Indices and extents are taken to lie in [0, SCT_MAX_EXTENT] when expressions are folded. */
#define SCT_MAX_EXTENT ((int64_t)1 << 40)
#define SCT_MAX_BYTES  ((int64_t)1 << 46) /* of an array */
#define SCT_MAX_PASSES 16                 /* launches of a sequence */
#define SCT_MAX_ARGS   74 /* of a kernel: arrays, scalars, extents, workspace, pass */

/* One way to lay out one operand: what a layout script answered for symbolic indices. */
typedef struct sct_layout {
  const char *name;  /* "aosoa" */
  const char *label; /* "aosoa(lanes=32)": name and parameters */
  const char *doc;   /* one sentence of the layout script; NULL: it has none */
  const char *file;  /* the layout script, and the line of its offset function */
  int line;
  sct_expr *element; /* [n_fields] byte offset over the array's own indices (sct_operand.index) */
  sct_expr *offset;  /* [n_fields] the same with `at` put in: over dims, extents, index operands */
  sct_expr bytes;    /* size of the array, over extents */
  bool owns_gaps;    /* padding between fields belongs to the array and may be overwritten */
} sct_layout;

/* How the tuner fills an index operand, or a mask. */
typedef enum sct_fill {
#define SCT_FILL(id, name, of) SCT_FILL_##id,
#include "spec_fills.def"
#undef SCT_FILL
  SCT_N_FILLS
} sct_fill;
/* What is filled: an index array, offsets of ragged rows, a mask. */
enum { SCT_FILLS_INDEX = 1, SCT_FILLS_OFFSETS = 2, SCT_FILLS_MASK = 4 };
/* "permuted", "file:NAME"; NULL where it is none for these kinds. */
const char *sct_fill_name(sct_fill fill, int kinds);

/* What is read where a place, the array's own or a tap's, lies outside of the array. */
typedef enum sct_border {
  SCT_BORDER_NONE,    /* it never does: checked at every size, as is every dimension along which no
                         tap reaches */
  SCT_BORDER_CLAMP,   /* the nearest element of the array */
  SCT_BORDER_ZERO,    /* zero */
  SCT_BORDER_WRAP,    /* the element that follows when the array repeats */
  SCT_BORDER_REFLECT, /* its mirror image, the array's last element being the mirror */
  SCT_BORDER_SKIP,    /* nothing: windows leave it out */
  SCT_BORDER_VALUE    /* sct_operand.border_value */
} sct_border;
/* "none", "clamp", "zero", "wrap", "reflect", "skip", "value". */
const char *sct_border_name(sct_border border);
bool sct_border_find(sct_border *out, const char *name);

#define SCT_MAX_TAPS      64 /* of one array */
#define SCT_MAX_TAP_DELTA 65536
#define SCT_MAX_WINDOW    4096 /* elements of a window */

/* One more place at which the body reads an input, under a name of its own; or a window, whose
 * elements become one value. That may have the array's name: the body then reads nothing at the
 * array's own place. */
typedef struct sct_tap {
  const char *name;
  int64_t *delta;  /* [n_dims] elements from the operand's own place, one for each of its dims */
  const char *how; /* of a window: what its elements become: "sum", "max", "min", "mean" of all, or
                      "mean inside", of those that lie in the array; NULL: it is one element */
  int64_t *count;  /* [n_dims] of a window: how many elements it has along each dimension ... */
  int64_t *step;   /* [n_dims] ... and how far these are apart */
  bool *used;      /* [n_fields] set by sct_spec_finish(): the body reads this field here */
} sct_tap;
/* Elements of a tap: 1, or those of its window; along dimension d. */
static inline int64_t sct_tap_count(const sct_tap *tap, int d) {
  return tap->how ? tap->count[d] : 1;
}
static inline int64_t sct_tap_step(const sct_tap *tap, int d) {
  return tap->how ? tap->step[d] : 1;
}

/* How the values of the elements that meet in one place of an output become one. NONE: no two
 * elements meet. */
typedef enum sct_reduce {
  SCT_REDUCE_NONE,
#define SCT_REDUCE(id, name) SCT_REDUCE_##id,
#include "spec_reduce.def"
#undef SCT_REDUCE
} sct_reduce;
const char *sct_reduce_name(sct_reduce reduce); /* "sum"; NULL for NONE */
bool sct_reduce_find(sct_reduce *out, const char *name);
/* The result is an index; what the body gives is compared, in a type of its own. */
static inline bool sct_reduce_is_arg(sct_reduce reduce) {
  return reduce == SCT_REDUCE_ARGMAX || reduce == SCT_REDUCE_ARGMIN;
}
/* Is the result a number with a fraction, whatever is reduced? */
static inline bool sct_reduce_is_real(sct_reduce reduce) {
  return reduce == SCT_REDUCE_MEAN || reduce == SCT_REDUCE_VARIANCE ||
         reduce == SCT_REDUCE_LOGSUMEXP || reduce == SCT_REDUCE_SOFTMAX_SUM;
}
/* Do roundings of floats depend on the order? */
static inline bool sct_reduce_rounds(sct_reduce reduce) {
  return reduce == SCT_REDUCE_SUM || reduce == SCT_REDUCE_PRODUCT || sct_reduce_is_real(reduce);
}
/* The names that `accumulate` has for them: a sum is "add". */
const char *sct_accumulate_name(sct_reduce accumulate);
bool sct_accumulate_find(sct_reduce *out, const char *name);

typedef struct sct_operand {
  const char *name;
  bool is_output;
  bool is_inout; /* an output that the body reads, too: it is updated in place; of one that is
                    reduced or accumulated: what it holds is the first of the values that become one
                  */
  bool has_none; /* an index array: a value below 0 says that there is no element */
  bool keeps;    /* an output that keep() leaves as it was; set by sct_spec_finish() */
  bool per_row;  /* an output without the dimensions that are reduced; set by sct_spec_bind() */
  int step;      /* of a kernel with steps: which one assigns it; set by sct_spec_finish() */
  sct_reduce
      reduce; /* of an output; its dims are then some of the kernel's, or none (one element) */
  sct_type compared; /* of an output that is an index: what the body gives for an element */
  sct_reduce scan;   /* of an output: an element has what those up to it along spec.scan_dim come
                        to, by this; NONE: it is not scanned */
  bool exclusive;    /* of a scanned output: the element itself is left out */
  const char *along; /* of a scanned output: the dimension as the spec names it; NULL: the last */
  sct_reduce accumulate; /* of an output: how its element and the values of all points that fall on
                            it become one, by atomic operations; NONE: no two points meet */
  bool deterministic;    /* of an accumulated output: it holds the same bits after every run */
  sct_record record;
  int n_dims;
  const char **dims;    /* [n_dims] names of its dimensions, slowest first */
  const char **at_text; /* [n_dims] as written; NULL before sct_spec_bind: the dimension itself */
  const char **extent_text; /* [n_dims] as written, NULL where the dimension's own extent counts */
  int64_t *pad;             /* [n_dims] added to the extent */
  int n_taps;               /* the array's own place is not among them */
  sct_tap *taps;
  sct_border border;
  double border_value; /* of SCT_BORDER_VALUE */
  const char *file;    /* where it was made */
  int line;
  bool host_given, stays; /* of sct_spec.host: the array has a `host` of its own; it stays on
                             the device and is not copied; not part of the hash */
  /* set by sct_spec_bind() */
  sct_expr *extent;     /* [n_dims] over extents: n_i, n_i + pad, 3 * n_i, ... */
  sct_expr *index;      /* [n_dims] the array's own index variables "<name>.0", ... */
  sct_expr *at;         /* [n_dims] the place, over dims, extents and index operands */
  sct_expr part;        /* of elements that share a byte: which one the place is */
  bool is_index;        /* another operand's `at` names it */
  sct_expr index_value; /* if is_index: the variable that stands for its value */
  sct_expr index_limit; /* if is_index: its values lie in [0, index_limit), over extents */
  bool index_scatters;  /* if is_index: an output is addressed through it, so its values must be
                           distinct */
  bool index_collects;  /* if is_index: an output is accumulated through it */
  bool through_index;   /* its own `at` names an index operand, or what the body computes */
  int index_depth;      /* index arrays that are read one after the other before it is read */
  /* set by the script between bind and finish; sct_spec_finish() adds the offsets */
  int n_layouts;     /* >= 1; more than one: the tuner chooses (axis "layout.<name>") */
  int choice_group;  /* operands of one number > 0 share one choice of a layout */
  int64_t converted; /* the user has the array in its first layout: launches for each conversion to
                        or from another layout; 0: it is never converted */
  sct_layout *layouts;
  /* set by sct_spec_finish() */
  bool *used;      /* [n_fields] the body reads or writes this field, taps included */
  bool *used_here; /* [n_fields] the same at the array's own place */
} sct_operand;

/* How many elements of the operand share a byte: more than one only in a bare array. Its extents,
 * places and layouts are those of the bytes. */
static inline int sct_operand_shared(const sct_operand *op) {
  const sct_field *first = &op->record.fields[0];
  return first->name[0] == '\0' ? sct_type_get(first->type)->shared : 1;
}

/* Whether it matters what an output holds before the kernel runs. */
static inline bool sct_operand_is_prefilled(const sct_operand *op) {
  return op->is_inout || op->keeps || op->accumulate != SCT_REDUCE_NONE;
}
/* Whether the body reads what an element held, and assigns what it holds next. It does not see
 * values that outputs are accumulated or reduced onto. */
static inline bool sct_operand_is_updated(const sct_operand *op) {
  return op->is_inout && op->accumulate == SCT_REDUCE_NONE && op->reduce == SCT_REDUCE_NONE;
}
/* Whether each element that is written is read before. */
static inline bool sct_operand_is_read_too(const sct_operand *op) {
  return op->is_inout || op->accumulate != SCT_REDUCE_NONE;
}
/* Whether points must be combined in one order: for a deterministic sum of floats. All other
 * combinations give the same result in any order. */
bool sct_operand_is_ordered(const sct_operand *op);
/* The value of every byte of the identity element, 0 or 0xff, that an accumulated output starts
 * from; -1: it is accumulated onto what it holds, or not at all. */
int sct_operand_start_byte(const sct_operand *op);

/* How far the taps of `op` reach along its dimension `d`: *lo <= 0 <= *hi. */
void sct_operand_reach(const sct_operand *op, int d, int64_t *lo, int64_t *hi);
/* May what is read lie outside of the array along its dimension `d`, as the border says? Not where
 * taps and windows reach along others only. */
bool sct_operand_leaves(const sct_operand *op, int d);
/* Tap `n`: "north (-1, 0)"; of a window "a (-1, -1) max of (3, 3) by (1, 1)". */
void sct_tap_print(sct_str *out, const sct_operand *op, int n);
/* "clamp"; "value -inf". */
void sct_border_print(sct_str *out, const sct_operand *op);

/* ---- the kernel ---- */

typedef struct sct_scalar {
  const char *name;
  sct_type type;
} sct_scalar;

/* One problem size: a value for every extent, and how index operands are filled. */
typedef struct sct_size {
  int64_t *extent;   /* [spec.n_extents] */
  sct_fill *fill;    /* [spec.n_operands], SCT_FILL_DEFAULT where it does not apply */
  const char *label; /* "i=1048576 pick=identity" */
  int line;
  bool sampled;   /* of a range, or around listed sizes */
  bool around;    /* listed sizes, by itself: kept only where the spec allows it */
  bool refused;   /* while the spec is checked: the spec does not allow it */
  int64_t weight; /* calls that a program made at it; 0: unknown */
} sct_size;

#define SCT_MOST_AROUND 14 /* sizes around those that are listed */

/* A condition on the extents of a call, for operand `op`. Either places lie in the array where
 * `holds`, or (n_steps > 0) an output's place is a sum of n_steps indices from 0 to last[k], each
 * times step[k], and no two places are equal where each step is larger than what the smaller ones
 * reach. All are expressions over extents. */
typedef struct sct_condition {
  int op;
  sct_expr holds;
  int n_steps;
  sct_expr *step, *last;
} sct_condition;

#define SCT_MAX_VALUES 32 /* of all steps */

/* A value that a step of a kernel gives for each row, which later steps read by its name; in a
 * kernel without steps, a number that the body computes for each point and that `at` of outputs
 * names. */
typedef struct sct_value {
  const char *name;
  sct_reduce reduce; /* NONE: it is computed once a row */
  sct_type type;     /* as later steps read it */
  sct_type compared; /* of an index: what its step gives for an element */
  int step;          /* the step that gives it */
  unsigned dims;     /* of a nested kernel, a bit each: those along which it differs; set by
                        sct_spec_finish() */
  sct_expr index;    /* without steps: the variable that stands for it; set by sct_spec_bind() */
} sct_value;

/* A body of its own: what it is for one element of a row that is reduced to values, or is assigned
 * to outputs, for each element or, where these are per_row, once a row. */
typedef struct sct_step {
  const char *body; /* as written, trimmed; where it stands as of sct_spec.body */
  int body_line;
  bool body_in_file;
  bool reduces; /* to its values */
  int n_over;   /* names of the dimensions that it reduces; 0: those of the spec */
  const char **over;
  unsigned reduced; /* those, a bit each; set by sct_spec_bind() */
  unsigned domain;  /* of a nested kernel: those that its elements have; set, as what follows, by
                       sct_spec_finish() */
  unsigned uses;    /* steps whose values it names, a bit each */
  /* It sums what an earlier value is subtracted from, which one pass may find on its way: a
   * maximum, under an exponential, or a mean, in a product. NULL: it does not. */
  const struct sct_value *less;
  bool per_row; /* done once a row, for values or for outputs that are so; set, as what follows, by
                   sct_spec_finish() */
  const char *kernel_body, *fast_body; /* as of the spec */
  int first_line; /* of steps that became one body: where this one's first line stands there */
} sct_step;

/* One assignment of a body that only moves data: outputs[out].fields[out_field] =
 * inputs[in].fields[in_field], or, where the output is accumulated, a number. */
typedef struct sct_move {
  int out, out_field; /* operand indexes into sct_spec.operands */
  int in, in_field;   /* in -1: `number` is assigned */
  int64_t number;
} sct_move;

/* The dimension of which row r has the elements from offsets[r] to offsets[r + 1] - 1. Rows follow
 * each other: the first begins at 0, and the last ends at the dimension's extent. */
typedef struct sct_ragged {
  const char *dim_name, *offsets_name; /* as the spec names them; NULL: it is not ragged */
  int dim, row;                        /* dimensions; set, as what follows, by sct_spec_bind() */
  int offsets;                         /* an operand: a bare integer for each row, and one more */
  const char *lengths_file; /* of SCT_FILL_FILE, below the spec's directory; NULL: there is none */
  int64_t n_lengths, *ends; /* [n_lengths] the lengths that it lists, summed up to each */
} sct_ragged;

/* ---- kernels of the user's own ---- */

typedef struct sct_axis_value {
  const char *text; /* "256" or "cs": as printed in labels and the store */
  int64_t number;   /* the value of an integer or boolean (0, 1); for a string its interned number
                       (sct_space_intern) */
  bool is_string;
  bool is_bool;
} sct_axis_value;

/* What a parameter of a kernel receives, where it is not the usual list. */
typedef enum sct_param_kind {
  SCT_PARAM_ARRAY,
  SCT_PARAM_SCALAR,
  SCT_PARAM_VALUE,
  SCT_N_PARAM_KINDS
} sct_param_kind;
typedef struct sct_param {
  sct_param_kind kind;
  int number;     /* of the array or the scalar */
  sct_expr value; /* else over extents, in sct_own over axes too */
  sct_type type;  /* that the value is converted to */
} sct_param;
/* The bytes of a value as `type`; false: it does not fit. */
bool sct_param_bytes(uint8_t out[16], sct_type type, int64_t value);

#define SCT_MAX_OWN      16
#define SCT_MAX_OWN_AXES 12

typedef struct sct_own_axis {
  const char *name;
  int n_values;
  sct_axis_value *values;
  sct_expr var; /* of whole numbers, in expressions; SCT_EXPR_NONE of others */
} sct_own_axis;

/* A kernel of the user's own that computes what the spec does, as one more candidate. Expressions
 * are over extents and axes. */
typedef struct sct_own {
  const char *name;   /* of its strategy: "own_transpose" */
  const char *cuda;   /* the file as the spec names it */
  const char *kernel; /* "transpose<{TILE}>": braces stand for an axis' value */
  int line;           /* of the entry, in sct_spec.file */
  const char *text;   /* the file, with the files that it includes in their places */
  const char *lines;  /* which line of which file each of its lines was (sct_codegen_line) */
  int n_axes;
  sct_own_axis *axes;
  int n_where;
  const char **where_text;
  int n_params;
  const char **param_text;
  const char *block_text[3], *grid_text[3], *shared_text; /* NULL: not given */
  const char **align_text;                                /* [n_operands], the same */
  /* set by sct_spec_bind() */
  sct_expr *where;   /* [n_where] SCT_EXPR_NONE: over axes alone, a constraint of the space */
  sct_param *params; /* [n_params]; the types are the script's */
  sct_expr block[3], grid[3], shared, *align;
  bool *is_argument; /* [n_axes] the axis stands in braces, so the text has no constant of it */
  bool *is_macro;    /* [n_axes] it is text, or some directive of the file names it */
  int n_macros;
  const char **macros; /* that the file defines */
} sct_own;

/* A script the spec came from, kept for the source lines of messages. */
typedef struct sct_source {
  const char *file;
  const char *text;
} sct_source;

typedef struct sct_spec {
  const char *name;
  const char *file; /* the script that made the kernel, path as given, and the line of that call */
  int line;
  int n_sources;
  sct_source *sources;
  sct_expr_pool *pool;
  sct_arena arena;
  int n_dims;
  const char **dims; /* slowest first */
  int n_numbers;     /* further extents, of no array: places and other extents name them */
  const char **numbers;
  int n_scalars;
  sct_scalar *scalars;
  int n_operands; /* inputs first, then outputs; also the order of kernel arguments */
  int n_inputs;
  sct_operand *operands;
  int n_steps; /* > 0: the kernel reduces rows to values that later steps use */
  sct_step *steps;
  int n_maps; /* steps that became one body, a block each, as none reduces: steps[0 .. n_maps) */
  int n_values;
  sct_value *values; /* in order of their steps */
  int n_over;        /* the dimensions of a row, as the spec names them */
  const char **over;
  sct_ragged ragged;
  int n_own; /* not part of the hash: what else is measured does not depend on them */
  sct_own *own;
  int step;             /* whose body is being checked */
  const char *body;     /* as written, trimmed; of steps: one below the other */
  int body_line;        /* where its first line stands in `file` */
  bool body_in_file;    /* the file holds the body byte for byte, so its lines can be pointed at */
  int n_sizes, n_added; /* the last n_added come from outside; no part of the hash */
  sct_size *sizes;
  bool host;        /* arrays of the host are cut into chunks; not part of the hash */
  bool host_given;  /* ... by the kernel's `host`, not an array's */
  double tolerance; /* relative; 0: results must agree bit for bit (see sct_spec_tolerance) */
  bool tolerance_given;
  /* set by sct_spec_bind() */
  sct_expr *dim_var;         /* [n_dims] index variables */
  int n_extents;             /* dims first, then numbers, then the operands' own dims in order of
                                appearance */
  const char **extent_names; /* "i" */
  sct_expr *extent_var;      /* "n_i" */
  int n_index;               /* index operands, those first that others are read through */
  int *index_order;
  bool reduces;  /* every output has a `reduce` */
  bool scans;    /* every output has a `scan` */
  int scan_dim;  /* then: the dimension along which they are */
  bool *reduced; /* [n_dims] dimensions that are reduced: no output has them, or those of rows */
  bool nested;   /* steps reduce different ones, of which `reduced` are all */
  /* set by sct_spec_finish() */
  const char *kernel_body; /* the body, copies between records of different types by field */
  const char *fast_body; /* kernel_body in fast arithmetic (sinf as __sinf); NULL: the spec gives no
                            tolerance, or nothing would change */
  bool *body_uses_dim;   /* [n_dims] the body names this index */
  int chunk_dim;         /* of `host`: the dimension that is cut, else -1 */
  int64_t halo_before, halo_after; /* elements a chunk needs before and after its own */
  int n_limits;
  sct_condition *limits;
  int n_moves; /* > 0: the body only moves data, and these are all its assignments */
  sct_move *moves;
  int64_t counted; /* > 0: the body adds to its only output, of integers, this number or nothing */
  bool component_wise; /* every field of every operand is treated alike: a map over n x k scalars */
  const char *component_body; /* then: with operand names standing for one scalar, "b = a + k;" */
  const char *fast_component_body;   /* NULL as fast_body */
  const char *canonical;             /* all of the above as text, equal for equal specs */
  sct_hash hash;                     /* of canonical */
  struct sct_footprints *footprints; /* those that were worked out */
} sct_spec;

static inline bool sct_spec_is_ragged(const sct_spec *spec) {
  return spec->ragged.dim_name != NULL;
}
/* Does the index space grow with dimension `dim`? Ragged rows only share elements among them. */
static inline bool sct_spec_multiplies(const sct_spec *spec, int dim) {
  return !sct_spec_is_ragged(spec) || dim != spec->ragged.row;
}

/* Are elements along dimension `dim` combined, to one (reduced) or to as many (scanned)? */
static inline bool sct_spec_combines_along(const sct_spec *spec, int dim) {
  return spec->reduced[dim] || (spec->scans && dim == spec->scan_dim);
}

/* Is output `op` written for one index of dimension `dim` alone, which exists even where the extent
 * is 0? */
bool sct_spec_writes_once(const sct_spec *spec, const sct_operand *op, int dim);

/* Sums of floats in one order: the points that elements of an output look at, all together; 0:
 * there are none. */
int64_t sct_spec_ordered_tests(const sct_spec *spec, const sct_size *size);
/* Of a nested kernel: for how many elements the naive variant computes something at these extents,
 * as it computes values anew that differ along a row. */
double sct_spec_nested_work(const sct_spec *spec, const int64_t *extent);

/* Does one of the elements that are combined decide, as the largest or the smallest? */
bool sct_spec_orders(const sct_spec *spec);
/* Is some value a product? Its factors must be near 1, or nothing is left of them. */
bool sct_spec_has_product(const sct_spec *spec);

/* A spec is made in four steps: fill in the plain fields (pool and arena first); bind; trace the
 * layouts over each operand's index variables and fill in layouts and sizes; finish.
 *
 * Makes the variables and extents, parses `extents` and `at`, finds index operands, checks taps.
 * Errors point at the operand's line. SCT_ESPEC. */
sct_status sct_spec_bind(sct_spec *spec, sct_error *err);
/* Checks the body (unknown names, refused tokens, balanced brackets, values assigned before they
 * are read), finds moves and component-wise bodies, evaluates every `at` against the extents of
 * every size, checks each layout by brute force on small extents and at each size (no two (field,
 * element) of what is written share a byte, all lie in [0, bytes)), and writes canonical text and
 * hash. Errors are "file:line: error: ..." with the source line and the nearest legal name.
 * SCT_ESPEC. */
sct_status sct_spec_finish(sct_spec *spec, sct_error *err);
void sct_spec_free(sct_spec *spec); /* pool and arena; leaves a zeroed struct */

/* An error that points into a source: "file:line: error: text" followed by the source line, taken
 * from the spec's sources, or from disk or the assets where `spec` is NULL or has not the file. */
sct_status sct_spec_fail_at(const sct_spec *spec, sct_error *err, const char *file, int line,
                            const char *fmt, ...) SCT_PRINTF(5, 6);
#define sct_spec_fail(err, file, ...) sct_spec_fail_at(NULL, err, file, __VA_ARGS__)
/* Appends "\n    the line" of a text (may be NULL) without its indentation; nothing if it is blank.
 */
void sct_spec_append_line(sct_str *out, const char *text, int line);
/* The line of `text` at or after `from_line` where `needle` stands in quotes (or, with is_key, as a
 * word before `=`) inside the statement that starts at from_line; from_line if it does not.
 * from_line 0: anywhere in the text. */
int sct_spec_find_line(const char *text, int from_line, const char *needle, bool is_key);
/* sct_spec_find_line() in a source of the spec; `line` if the source is not known. */
int sct_spec_text_line(const sct_spec *spec, const char *file, int line, const char *text);
int sct_spec_key_line(const sct_spec *spec, const char *file, int line, const char *text);
/* The line of a key of the call itself, not of a table within it. */
int sct_spec_own_key_line(const sct_spec *spec, const char *file, int line, const char *text);
/* The line where item `n` (from 0) of the list `key = { {...}, {...} }` opens, as above. */
int sct_spec_find_item(const char *text, int from_line, const char *key, int n);

/* Why `name` cannot name an operand, field, scalar or dimension (a C++ keyword, a CUDA name, a
 * macro of usual headers, not an identifier, reserved for generated code), or NULL if it can. */
const char *sct_spec_bad_name(const char *name);
/* Why `name` cannot name a kernel or a record, or NULL: the launch function and the type stand
 * outside of every namespace. */
const char *sct_spec_bad_kernel_name(const char *name);

/* Whether a call with these extents ([n_extents]) satisfies the condition. */
bool sct_spec_limit_holds(const sct_spec *spec, const sct_condition *limit, const int64_t *extent);
/* Does the expression mention an extent that is not one of the index space? */
bool sct_spec_has_numbers(const sct_spec *spec, sct_expr e);

/* Does the expression depend on what the body computes? */
bool sct_spec_is_computed(const sct_spec *spec, sct_expr e);
/* Is some output accumulated? */
bool sct_spec_accumulates(const sct_spec *spec);
/* Is the order in which points are combined always the same? */
bool sct_spec_is_ordered(const sct_spec *spec);

/* The layouts that the tuner chooses are one number for each choice, which operands of one
 * choice_group share. n_choices: how many there are. choice_leader: the first operand that shares
 * the choice of `op`, or `op` itself. choice_of: the choice that `op` follows; -1: it has one
 * layout. */
int sct_spec_n_choices(const sct_spec *spec);
int sct_spec_choice_leader(const sct_spec *spec, int op);
int sct_spec_choice_of(const sct_spec *spec, int op);

/* Bytes between elements of an array of the host along `dim`, over the other extents; 0: it does
 * not extend along it. SCT_EXPR_NONE: a chunk of it is no array of this layout. */
sct_expr sct_spec_chunk_step(const sct_spec *spec, int op, int layout, int dim);
/* Is it an output that all chunks along `dim` update, as they accumulate or reduce along it? */
bool sct_spec_is_shared(const sct_spec *spec, int op, int dim);
/* Is every byte of the output written by a launch, without reading one before? */
bool sct_spec_writes_all(const sct_spec *spec, int op, int layout);

/* ---- addresses and sizes ---- */

/* Bytes of operand `op` at `size` under `layout`. */
int64_t sct_spec_bytes(const sct_spec *spec, int op, int layout, const sct_size *size);
/* What index operand `op` holds for its element number `linear` (row-major over its extents) at
 * `size`. */
int64_t sct_spec_index_value(const sct_spec *spec, int op, int64_t linear, const sct_size *size);
/* How an index operand, or a mask that is filled as a prefix, is filled at a size: what does not
 * depend on the element, worked out once for millions of sct_index_fill_value(). */
typedef struct sct_index_fill {
  sct_fill fill; /* never SCT_FILL_DEFAULT */
  int64_t limit; /* values lie in [0, limit) */
  bool has_none; /* and some are -1 */
  bool are_offsets;
  int64_t rows;    /* of offsets: how many rows */
  int64_t columns; /* of a prefix: elements of a row */
  const sct_ragged *ragged;
  uint64_t seed;
  /* Of verification, set by who fills arrays: not 0, and values that stand for none are various,
   * the array's ends are so of the other, values come in runs, go up or down; rows that have no
   * element are beside long ones. */
  int variant;
  int64_t count, lowest; /* values in all; of the type */
  bool collects;
} sct_index_fill;
sct_index_fill sct_spec_index_fill(const sct_spec *spec, int op, const sct_size *size);
/* An input of bools, which may be filled as a prefix. */
bool sct_operand_is_mask(const sct_operand *op);
int64_t sct_index_fill_value(const sct_index_fill *fill, int64_t linear);
/* Number of elements of the index space at `size`. */
int64_t sct_spec_elements(const sct_spec *spec, const sct_size *size);
/* How many elements of the array the body reads for one of the index space: its own and those of
 * taps. */
int64_t sct_operand_reads(const sct_operand *op);
/* Bytes of operand `op` that the elements of the index space ask for at `size`, each for itself:
 * the fields that the body uses, at its place and at each tap. */
int64_t sct_spec_element_bytes(const sct_spec *spec, int op, const sct_size *size);
/* Does the offset of `op` move with dimension `dim`, on its own or by an index array? */
bool sct_spec_moves_with(const sct_spec *spec, const sct_operand *op, int dim);
/* The number of disjoint sets of elements that an array with taps is read in: 1 where the taps are
 * neighbours that other elements read too, 4 where squares of four are reduced to one. */
int64_t sct_spec_tap_sets(const sct_spec *spec, const sct_operand *op);
/* Bytes of operand `op` that the index space touches at `size`: overlapping reads count once, what
 * is found through an index array each time. */
int64_t sct_spec_touched_bytes(const sct_spec *spec, int op, const sct_size *size);
/* What the index space touches of operand `op` under `layout`: bytes of the fields that the body
 * uses, at the element's own place and its taps, each once, and the distinct sectors of 32 bytes
 * that they lie in, at most the array. Through an index array every entry's row counts at its real
 * address, without the sectors that the entry before touched too; of many entries from a sample.
 * !known: the layout is too irregular, and each element is taken to ask for bytes of its own. */
typedef struct sct_footprint {
  double sectors, bytes;
  bool known;
} sct_footprint;
sct_footprint sct_spec_footprint(const sct_spec *spec, int op, int layout, const sct_size *size);
/* The bytes of operand `op` that the index space may use: behind an index array, those of any
 * element. NULL: all bytes of the array, or it is not known which. within: how many of them lie in
 * [offset, offset + bytes). */
typedef struct sct_spans sct_spans;
sct_spans *sct_spec_used_bytes(const sct_spec *spec, int op, int layout, const sct_size *size);
int64_t sct_spans_within(const sct_spans *used, int64_t offset, int64_t bytes);
void sct_spans_end(sct_spans *used);
/* Useful bytes read and written once at `size`: each field of each operand that the body uses,
 * times the elements that the index space touches (an operand without some dimension counts once
 * along it). Gathers count what they gather. An output that keep() leaves as it was on some paths
 * counts as written nowhere: what must move depends on the data. */
void sct_spec_traffic(const sct_spec *spec, const sct_size *size, int64_t *read_bytes,
                      int64_t *write_bytes);

/* How near output `op` must come to the reference at this size, relative. Where the spec gives no
 * tolerance a sum of floats, which depends on the order of its n summands, gets 4 u sqrt(n) (u:
 * half a unit in the last place of a float or double; n at least 16,384 in kernels with steps, and
 * of short rows there 2^13 u / n), where only d < n of them have different values sqrt(n / d) times
 * that, halves 2 u of their own besides; halves that are accumulated u n (n: points that fall on
 * one element), above 1 any result is right; everything else 0. */
#define SCT_ANY_RESULT 2.0
double sct_spec_tolerance(const sct_spec *spec, int op, const sct_size *size);
bool sct_spec_has_fast(const sct_spec *spec); /* a body has a form in fast arithmetic */

/* ---- devices ---- */

/* A GPU as the tuner sees it: read from the driver for cuda:N, from tuning/devices/NAME.lua for
 * virtual:NAME. Limits are per the CUDA programming guide's compute-capability table. */
typedef struct sct_device_desc {
  char name[96];         /* "NVIDIA H200" */
  char id[24];           /* "cuda:0" or "virtual:h200" */
  char uuid[48];         /* "GPU-..." or "" for a virtual device */
  char driver[32];       /* "580.159.04" or "" */
  char coalescing[8];    /* counting model of its accesses, as in "cc12"; "": that of CC 7.0 */
  char held_against[96]; /* measured figures that predictions were held against; "": none */
  double held_error;     /* and how far they are off, relative */
  bool is_virtual;
  bool counting_only;        /* a description that no toolkit compiles for */
  bool regs_by_block;        /* regs_unit is of a block (CC 1.x) */
  int pipe_clk[SCT_N_PIPES]; /* results of an SM a cycle, by pipe; 0: unknown */
#define SCT_SMALL(name)  int name;
#define SCT_NUMBER(name) int64_t name;
#define SCT_RATE(name)   double name;
#include "spec_device.def"
#undef SCT_SMALL
#undef SCT_NUMBER
#undef SCT_RATE
} sct_device_desc;

#endif
