/* measure_data - what arrays hold, on the host: sizes, values, offsets, differences.
 *
 * sct_addressing has a problem's (spec, one layout per operand) expressions compiled to programs; a
 * shape is what they give at one size. The values of small sizes depend on (seed, operand, field,
 * element) only, not on the layout: other layouts hold the same logical data. All of it is plain C
 * on the host. */
#ifndef SCT_MEASURE_DATA_H
#define SCT_MEASURE_DATA_H

#include "measure/measure.h"
#include "worker/worker.h"

#include <string.h>

/* ---- fields ---- */

/* Copies n contiguous fields of `bytes` bytes each to the offsets at[] of `to`, and back. */
void sct_fields_scatter(uint8_t *to, const int64_t *at, const uint8_t *fields, int n,
                        int64_t bytes);
void sct_fields_gather(uint8_t *fields, const uint8_t *from, const int64_t *at, int n,
                       int64_t bytes);

/* ---- values ---- */

/* Ordinary values: a 64-bit pattern of random bits r becomes (r & and_mask) | or_mask. Floating
 * point in [1, 2), of one byte in [1/2, 2): no NaN, no denormal, no infinity. Integers: any bits.
 * bool: 0 or 1. */
typedef struct sct_masks {
  uint64_t and_mask, or_mask;
} sct_masks;
sct_masks sct_data_masks(sct_type type);
/* Masks for a whole buffer filled word by word: those of the fields' common type, or, for mixed
 * fields, a pattern of 0x3f803c00 .. 0x3fff3fff that reads as a normal number (2^-7 .. 2) in every
 * type at every offset aligned to it; for packed records 0x3c .. 0x3f in every byte, normal at
 * every offset whatever, but as an f64 far below 1, and so where a field is a float of one byte;
 * with a bool 0 or 1 in every byte. */
sct_masks sct_data_record_masks(const sct_record *record);
/* The numbers in a body's text, and in that of the user's own kernels. */
#define SCT_MAX_LITERALS 64
typedef struct sct_literals {
  int n, n_body; /* the body's come first */
  long double value[SCT_MAX_LITERALS];
  bool divides; /* the body divides by what is no number */
  bool places;  /* it shifts by such, has loops, or indices in brackets */
} sct_literals;
void sct_literals_find(sct_literals *out, const sct_spec *spec);

/* What is mixed into ordinary values, or takes their place. */
typedef enum sct_mix {
  SCT_MIX_NONE,
  /* One in each 32 lanes, round-robin, so that any SCT_DATA_PERIOD lanes from a multiple of 32 on
   * have all of them. Floating point: negative, 0, -0, below 1, from 2 to 8, denormal; integers: 0,
   * -1, the lowest and the highest. */
  SCT_MIX_FINITE,
  SCT_MIX_ANY,   /* near the largest, infinite and NaN too */
  SCT_MIX_STAYS, /* NaN and -0 only, which any operation changes: for elements that stay */
  /* Nothing but: every exponent and length in bits, ties between two values of each narrower type,
   * literals and their neighbours, small integers, the ends of types; some of them repeated. */
  SCT_MIX_WIDE,
  SCT_MIX_FEW,     /* three different small integers, 0 of either sign; in some rows NaN */
  SCT_MIX_ONE,     /* one value in all of a row */
  SCT_MIX_SCALED,  /* ordinary values times one power of two, or rising ones, of either sign */
  SCT_MIX_ENDS,    /* nothing but infinity, or -infinity, NaN, or 0 and -0; integers: an end */
  SCT_MIX_FACTORS, /* near 1, so that products of many stay in range; odd integers */
  SCT_MIX_RISES,   /* each above the one before, or below it: the last decides, or the first */
  SCT_N_MIXES
} sct_mix;
#define SCT_DATA_PERIOD 512
typedef struct sct_stream {
  uint64_t key;
  sct_mix mix;
  bool divides; /* integers divide: no 0, -1 or lowest value */
  bool near;    /* results are near: sums of squares stay finite in any order */
  bool finite;  /* of WIDE: no infinity and no NaN */
  bool round;   /* few significant bits, so that sums of one value many times are exact */
  bool bounded; /* NaN in place of infinity: times what is nearly 0 it is anything */
  uint64_t row; /* of ONE, SCALED, ENDS and RISES: a number of the row */
  int scale;    /* a power of two that all but zeros, subnormal values and ends are times */
  enum { SCT_AS_THEY_ARE, SCT_NEGATED, SCT_OF_BOTH_SIGNS } signs; /* of the same */
  const sct_literals *literals; /* of WIDE and ONE; NULL: there are none */
} sct_stream;
/* Value number `index` of the stream, all lanes of the type, to `out`. */
void sct_data_value(void *out, sct_type type, const sct_stream *stream, int64_t index);
/* Values number first, first + 1, ... of the stream to image + offsets[0..n). */
void sct_data_values(uint8_t *image, const int64_t *offsets, int n, sct_type type,
                     const sct_stream *stream, int64_t first);
/* The key of the stream of one field of one operand. */
uint64_t sct_data_key(uint64_t seed, int op, int field);

/* What scalars are given. In variant 0 they are ordinary: floating point as above, integers in
 * [1, 100], true. In others of either sign, 0, large, or literals and their neighbours, as far as
 * the body does not shift by integers, divide by them or find places with them. */
typedef struct sct_scalar_values {
  const sct_spec *spec;
  uint64_t seed;
  int variant;
  bool near;
  const sct_literals *literals; /* needed from variant 1 on */
  uint64_t pick;                /* which of them */
} sct_scalar_values;
void sct_data_scalar(void *out, const sct_scalar_values *values, int scalar);
/* One lane of a floating-point type as a double, and back, rounded to nearest even. */
double sct_data_float(sct_type type, const void *lane);
void sct_data_put_float(void *lane, sct_type type, double value);
/* "0x40000000 (2)": one lane of a value, in hex and as a number. */
void sct_data_print(sct_str *out, sct_type type, int lane, const void *value);

/* What INDEX is asked for, but for the bytes of a value; not of offsets. */
sct_index_values sct_index_values_of(const sct_index_fill *fill);

/* ---- addressing ---- */

typedef struct sct_addressing_operand {
  const sct_operand *op;
  const sct_layout *layout;
  sct_expr_program **element;      /* [n_fields] over the array's index variables, then extents */
  sct_expr_program **offset;       /* [n_fields] over the inputs below */
  sct_expr_program **at;           /* [n_dims] over them */
  sct_expr_program **extent;       /* [n_dims] over them, of which only extents matter */
  sct_expr_program *bytes, *limit; /* over them; limit: of an index operand, else NULL */
  bool has_own_extents; /* where its elements lie depends on extents that no dimension has */
} sct_addressing_operand;

/* Inputs of the programs: dimensions, extents, values of index operands, in this order. */
typedef struct sct_addressing {
  const sct_spec *spec;
  uint64_t seed;
  int layout[SCT_MAX_OPERANDS];
  sct_addressing_operand *op; /* [n_operands] */
  sct_literals literals;
  /* Within a tolerance values are of one magnitude: integers are computed with, so that nobody
   * knows what cancelled, or fast arithmetic, whose errors are absolute. */
  bool alike;
} sct_addressing;
#define SCT_ADDRESSING_INPUTS (SCT_MAX_DIMS + SCT_MAX_EXTENTS + SCT_MAX_OPERANDS + SCT_MAX_VALUES)
sct_status sct_addressing_init(sct_addressing *out, const sct_spec *spec, const int *layout,
                               uint64_t seed, sct_error *err);
void sct_addressing_free(sct_addressing *addressing); /* leaves a zeroed struct */

/* ---- shapes ---- */

typedef struct sct_shape {
  const sct_addressing *addressing;
  int64_t extent[SCT_MAX_EXTENTS];
  sct_fill fill[SCT_MAX_OPERANDS];
  bool near;          /* some output is compared within a tolerance here */
  int variant;        /* of what arrays and scalars are given; 0: ordinary values mostly */
  int64_t n_elements; /* of the index space */
  struct {
    /* What an output is written for: the index space, but where there is one element a row only
     * index 0 of the reduced dimensions, which exists even where their extent is 0. What is
     * accumulated is written wherever the array has an element, by its own indices. */
    int write_dims;
    int64_t n_written, write_extent[SCT_MAX_DIMS];
    int64_t bytes, count; /* of the array */
    int64_t extent[SCT_MAX_DIMS];
    int64_t *values; /* of an index operand: [count]; NULL until sct_shape_index() */
    /* Of a large array with few elements: where these are, in order. Images of it have only these
     * bytes, and all others are its background. NULL: all of it is one span. */
    sct_span *spans;
    int n_spans;
  } op[SCT_MAX_OPERANDS];
} sct_shape;
/* SCT_ESPEC if an operand's extents or size are negative at these extents. */
sct_status sct_shape_init(sct_shape *out, const sct_addressing *addressing, const int64_t *extent,
                          const sct_fill *fill, sct_error *err);
/* How an index operand, or a mask, is filled here. */
sct_index_fill sct_shape_index_fill(const sct_shape *s, int op);
/* Are results compared within a tolerance that have many magnitudes? */
static inline bool sct_shape_is_wide(const sct_shape *s) {
  return s->near && s->variant != 0 && !s->addressing->alike;
}
/* sct_spec_tolerance() of an output at this size. */
double sct_shape_tolerance(const sct_shape *s, int op);
/* Computes the values of index operands, or of one (on several threads when they are many). */
void sct_shape_index(sct_shape *s);
void sct_shape_index_one(sct_shape *s, int op);
void sct_shape_unindex(sct_shape *s); /* frees them */
/* Ragged rows: puts the row that element idx[ragged.dim] is in into idx. Needs the index values. */
void sct_shape_put_row(const sct_shape *s, int64_t *idx);
/* Whether every index array can be filled, with as many distinct values as it needs. Needs no
 * values. */
bool sct_shape_indexes_fit(const sct_shape *s);
/* Every `at` of every element lies inside its array, and scatters are distinct. Needs the index
 * values; looks at every element. */
bool sct_shape_is_legal(const sct_shape *s);
/* (measure_image.c) Do the layouts allow these extents, those of the arrays that have own extents
 * or those of all others? Every element lies inside its array, and those of outputs and index
 * arrays share no byte: strides in plain numbers do not go on for ever. */
bool sct_shape_layouts_hold(const sct_shape *s, bool with_own_extents);
/* (measure_image.c) Finds the spans of arrays, all of whose elements lie inside. */
sct_status sct_shape_find_spans(sct_shape *s, sct_error *err);
static inline int sct_shape_n_spans(const sct_shape *s, int op) {
  return s->op[op].spans ? s->op[op].n_spans : 1;
}
static inline sct_span sct_shape_span(const sct_shape *s, int op, int k) {
  return s->op[op].spans ? s->op[op].spans[k] : (sct_span){0, s->op[op].bytes};
}
static inline bool sct_shape_is_sparse(const sct_shape *s, int op) {
  return s->op[op].spans != NULL;
}
/* An upper bound of the bytes of an array's image: a page for each element, at most all. */
int64_t sct_shape_image_bytes(const sct_shape *s, int op);
void sct_shape_free(sct_shape *s);
/* "n_row=33 n_col=1" */
void sct_shape_label(sct_str *out, const sct_shape *s);
/* Steps idx through [0, extent) in row-major order; false after the last. */
bool sct_next_index(int64_t *idx, const int64_t *extent, int n);
/* Inputs of the programs for the element idx. */
void sct_shape_inputs(const sct_shape *s, const int64_t *idx,
                      int64_t inputs[SCT_ADDRESSING_INPUTS]);
/* Row-major number of the element at which operand `op` is read or written; -1 if it lies outside.
 */
int64_t sct_shape_place(const sct_shape *s, int op, const int64_t *inputs);
/* (measure_image.c) Where the lanes of a field are in an array, for a device; false: their offsets
 * are no sums of strides, or not aligned as they are. */
bool sct_shape_places(const sct_shape *s, int op, int field, sct_places *out);
/* Every element of an output is written whole: its place in the index space is its own. */
bool sct_shape_writes_all(const sct_shape *s, int op);
/* The dimension of the index space that an array's dimension d is; -1: it is none by itself. */
int sct_shape_dim_of(const sct_shape *s, int op, int d);
/* The program for the offset of a field of what is written at an index below write_extent, and its
 * inputs there. */
const sct_expr_program *sct_shape_written(const sct_shape *s, int op, int field);
void sct_shape_written_inputs(const sct_shape *s, int op, const int64_t *idx,
                              int64_t inputs[SCT_ADDRESSING_INPUTS]);

/* ---- images: what buffers hold ---- */

#define SCT_BYTE_OWNED   1 /* belongs to a field of an element of the array */
#define SCT_BYTE_WRITTEN 2 /* belongs to a field of an element that the kernel writes */

/* Room for an image, all 0, at least one byte; and its end. Accepts NULL. */
uint8_t *sct_image_new(const sct_shape *s, int op);
void sct_image_free(uint8_t *image, const sct_shape *s, int op);
/* What lies outside the spans of an image: of an output that is not prefilled, the poison. */
uint8_t sct_image_background(const sct_shape *s, int op, uint8_t poison);

/* The content of an input, or what an output holds before; like the others below it is freed by
 * sct_image_free(). */
sct_status sct_image_input(uint8_t **out, const sct_shape *s, int op, sct_error *err);
/* What an output holds afterwards: `poison` where nothing is written, else what the spec's moves
 * bring from `inputs` ([n_operands] images), summed in long double where the spec reduces, or,
 * without moves, values of the output's own stream (only what runs no code computes those). */
sct_status sct_image_output(uint8_t **out, const sct_shape *s, int op, uint8_t *const *inputs,
                            uint8_t poison, sct_error *err);

/* What the move gives for the output element at `kept` (reduced dimensions: 0), to `to`: the sum,
 * maximum or minimum over the reduced dimensions of the `input` image's values; of an inout output
 * also of the value at `to`, which stays as it is where there are no others. */
sct_status sct_image_reduced(uint8_t *to, const sct_shape *s, const sct_move *move,
                             const uint8_t *input, const int64_t *kept, sct_error *err);

/* Writes what a scanned output must hold; each of its fields is assigned by a move. */
sct_status sct_image_scan(uint8_t *image, const sct_shape *s, int op, uint8_t *const *inputs,
                          sct_error *err);

/* Combines what the moves bring for each point with the image of what the accumulated output held
 * before. */
sct_status sct_image_accumulate(uint8_t *image, const sct_shape *s, int op, uint8_t *const *inputs,
                                sct_error *err);

/* SCT_BYTE_... per byte of an output. */
sct_status sct_image_flags(uint8_t **flags, const sct_shape *s, int op, sct_error *err);

/* ---- index values at any byte (measure_source.c) ---- */

/* What fills an index array, or a mask. */
typedef struct sct_index_source {
  sct_index_fill fill;
  int64_t bytes; /* of an element */
  sct_places at; /* if they lie at sums of strides: along the widest stride first, */
  int64_t weight[SCT_PLACE_DIMS]; /* and what a step there adds to an element's number */
  uint8_t *image;                 /* else the whole array */
} sct_index_source;
/* Arrays in no order of strides are made whole, if they have at most so many bytes; else SCT_ESPEC.
 */
sct_status sct_index_source_init(sct_index_source *out, sct_shape *shape, int op,
                                 int64_t most_bytes, sct_error *err);
void sct_index_source_free(sct_index_source *from);
/* Bytes from an element's first one on. ctx: the source. */
void sct_index_source_fill(void *ctx, uint8_t *out, int64_t offset, int64_t bytes);

/* ---- differences (measure_describe.c, measure_compare.c) ---- */

/* The field of an element that holds a byte. */
typedef struct sct_place {
  int field;      /* -1: no element holds it */
  bool in_space;  /* idx is of the index space; else of the array */
  int64_t offset; /* of the field */
  int64_t idx[SCT_MAX_DIMS];
} sct_place;
void sct_find_byte(const sct_shape *s, int op, int64_t byte, sct_place *out);
/* In place of a poison byte: the output held the complement of what it must hold. */
#define SCT_POISON_UNLIKE (-1)
/* Fills `out` with the outcome and the sentence for a field whose bytes are `got` instead of
 * `want` (for a byte of no element: one byte each). */
void sct_describe_difference(sct_verdict *out, const sct_shape *s, int op, int64_t byte,
                             const sct_place *place, const uint8_t *got, const uint8_t *want,
                             int poison);
/* The median of the finite magnitudes; 0: there are none. Reorders.
 */
double sct_median_magnitude(double *values, int64_t n);
/* What is usual by some values of an output's field: their median magnitude, and of an accumulated
 * output that of what is not 0. Reorders. */
double sct_usual_of(const sct_operand *op, double *values, int64_t n);
/* The offsets of a field that its median magnitude is of, at most SCT_USUAL_VALUES; how many. */
#define SCT_USUAL_VALUES 1000
int sct_usual_offsets(const sct_shape *s, int op, int field, int64_t offsets[SCT_USUAL_VALUES]);
/* The median magnitude of what a field must hold, of about 1000 values; 0 if it is no floating
 * point. */
double sct_usual_magnitude(const sct_shape *s, int op, int field, const uint8_t *want);
/* What outputs become where inputs are off by a little: each value that is not met exactly times
 * 1 + change or 1 - change. */
#define SCT_MAX_DRAWS 8
typedef struct sct_draws {
  int n;
  double change;
  uint8_t *image[SCT_MAX_DRAWS][SCT_MAX_OPERANDS];
} sct_draws;
/* How much inputs must be changed: by the greatest tolerance of an output, but by no less than what
 * their types can tell apart. */
double sct_shape_change(const sct_shape *s);
/* Is what an output holds at this index the sum of few? */
bool sct_shape_sums_few(const sct_shape *s, int op, const int64_t *idx);
/* How the interpreter rounds in run number n of some, for sct_ptx_launch_opts: at random. Where
 * there may be sums of few, two of three runs round all up, or all down, and count for these only:
 * n summands are off by n units at most, and what is lost beside a large one shows. */
#define SCT_N_ROUNDINGS 3
int sct_shape_rounding(const sct_shape *s, int n);
/* Changes the image of an input, or of what an output holds before, for draw number `draw`. */
sct_status sct_image_change(uint8_t *image, const sct_shape *s, int op, int draw, double change,
                            sct_error *err);

/* Are an output's values computed, NaN among them, by whatever is between it and the inputs? */
bool sct_shape_computes(const sct_shape *s, int op);
/* Compares an output, within its spans. tolerance 0: bit for bit, but for the bits of a NaN that is
 * computed. Else relative to the value or, if that is greater, to the median magnitude of its
 * field; with draws (which may be none yet) to the value and to how much it changes in them, and in
 * the candidate's own runs whose roundings are random (NULL: none). Bytes
 * that no element owns must hold the poison unless the layout gives them away. */
void sct_check_output(sct_verdict *out, const sct_shape *s, int op, const uint8_t *got,
                      const uint8_t *want, const uint8_t *flags, int poison, double tolerance,
                      const sct_draws *draws, const sct_draws *own);

/* ---- launches ---- */

/* What the parameters of a kernel receive, without the workspace; returns how many there are. */
int sct_code_params(sct_param out[SCT_MAX_ARGS], const sct_spec *spec, const sct_kernel_code *code);
/* The value of a parameter that is no array at these extents; returns its size in bytes. */
int sct_code_value(uint8_t out[16], const sct_scalar_values *scalars, const sct_param *param,
                   const int64_t *extent);
sct_scalar_values sct_shape_scalars(const sct_shape *s);
/* Blocks along y and z of a grid at these extents, at least 1; 1 where the kernel is flat. */
void sct_code_grid_yz(int yz[2], const sct_spec *spec, const sct_kernel_code *code,
                      const int64_t *extent);

#endif
