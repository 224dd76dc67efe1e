/* What the parts of emit share: a header as plain data, before it is text.
 *
 *   emit_json.c    the stored JSON documents to emit_signature and emit_launch, checked
 *   emit_select.c  which runs, layouts and kernels go into the header
 *   emit_source.c  whether a stored kernel may stand in a header, and its parameters
 *   emit_choose.c  the best candidate among some
 *   emit_text.c    names, comments, strings and expressions that cannot break out of their place
 *   emit_data.c    a header as data for its templates, with
 *   emit_records.c   the record types of its arguments
 *   emit_layout.c    layouts
 *   emit_figures.c   devices, sizes, the table of the banner
 *   emit_kernels.c   the kernels
 *   emit_host.c    chunks of the host's arrays
 *   emit_code.c    the kernels compiled, of the form c
 *   emit_python.c  the module of Python next to it
 *   emit_selftest.c  the file of cases next to it
 *   emit_fill.c    the templates, templates/header, filled with that data
 *
 * Strings and arrays belong to the header's arena or to the store rows it holds. */
#ifndef SCT_EMIT_INTERNAL_H
#define SCT_EMIT_INTERNAL_H

#include "emit/emit.h"
#include "json/json.h"

/* ---- what the problem looks like (sct_row_problem.signature) ---- */

typedef struct emit_field {
  const char *name; /* "" in a bare record; "q[3]": an element of an array */
  const char *type; /* "f32", as the spec says */
  const char *cuda; /* "float": from the table of emit_text.c, never from the store */
  int64_t offset, bytes;
} emit_field;

typedef struct emit_record {
  const char *name; /* NULL: bare */
  emit_field *fields;
  int n_fields;
  int64_t bytes, align;
  bool packed;
} emit_record;

/* Where every byte of an array lies under one of its layouts, as C expressions. */
typedef struct emit_formula {
  const char *doc;      /* one sentence, may be "" */
  const char *bytes;    /* of the array, over n_<extent> */
  const char **offsets; /* [n_fields] over n_<extent> and the operand's indices, named as dims */
} emit_formula;

/* A place that is a sum: each step, and how often it is taken at most. */
typedef struct emit_steps {
  int n;
  const char **texts; /* [n] step, last, step, last, ... over n_<extent> */
} emit_steps;

typedef struct emit_operand {
  const char *name;
  bool is_output;
  bool is_inout, keeps; /* of an output: it is updated in place; elements stay as they were */
  emit_record record;
  int n_layouts;
  const char **layouts;
  const char **bytes; /* [n_layouts] of the array, over n_<extent>; NULL: the store has none */
  int n_dims, n_at;
  const char **dims;
  const char **at; /* [n_at] the place of an element, for each dimension; may be empty */
  int n_taps;
  const char **taps;  /* [n_taps] further places that are read: "north (-1, 0)" */
  const char *border; /* what they find outside of the array: "clamp" */
  const char *reduce; /* "sum", "max", "min": of the elements that meet in one place; "": none do */
  const char *scan;   /* "inclusive sum along i"; "": it is not scanned */
  const char *accumulate; /* "add", ...: of the points that fall on an element; "": none do */
  bool ordered;           /* ... in one order, the same in every launch */
  int64_t start;          /* what every byte is set to before they do; -1: nothing is set */
  bool offsets;           /* where ragged rows begin */
  int n_inside, n_apart, n_bounds;
  const char **inside;      /* conditions over n_<extent>: places lie in the array */
  emit_steps *apart;        /* no two elements are one */
  const char **bounds;      /* of intermediate values: sct_expr_print_bound() */
  emit_formula *formulas;   /* [n_layouts]; NULL: the store has none */
  bool stays;               /* on the device, where NAME_host copies others */
  const char **chunk_steps; /* [n_layouts] of the host's array, in bytes; with chunk_dim only */
  bool *writes_all;         /* [n_layouts] what the array holds before is not needed; with chunk_dim
                               only */
  const char **shape;       /* [n_dims] extents of the array over n_<extent>; with formulas only */
} emit_operand;

typedef struct emit_scalar {
  const char *name, *type, *cuda;
} emit_scalar;

typedef struct emit_extent {
  const char *name;
  bool is_dim;  /* part of the index space, not only the size of an operand */
  bool reduced; /* outputs have an element even where this extent is 0 */
  bool ragged;  /* rows have different lengths along it; the extent is that of all together */
  bool rows;    /* the number of such rows */
} emit_extent;

typedef struct emit_signature {
  const char *name, *body;
  int n_operands, n_scalars, n_extents;
  emit_operand *operands; /* inputs, then outputs: also the order of arguments */
  emit_scalar *scalars;
  emit_extent *extents;
  int chunk_dim; /* an extent: arrays of the host are cut along it; -1: there is no NAME_host */
  int64_t halo_before, halo_after;
} emit_signature;

/* ---- how a kernel is launched (sct_row_candidate.launch) ---- */

/* What a parameter of a kernel of the user's own receives. */
typedef struct emit_param {
  int argument;      /* of the launch function, an array or a scalar; -1: */
  const char *value; /* a C expression over long long n_<extent>, converted to ... */
  const char *cuda;  /* ... this type */
} emit_param;

typedef struct emit_launch {
  const char
      *kernel; /* name of the __global__ function; with template arguments if it has params */
  int64_t threads, shared_bytes, static_shared_bytes;
  const char *grid; /* C expression over long long n_<extent> */
  int n_requires;
  const char **requires; /* conditions, C expressions over long long n_<extent> */
  int64_t *align;        /* [n_operands] bytes */
  const char **layouts;  /* [n_operands] label of the layout the kernel is for */
  const char *doc;
  int n_params; /* of a kernel of the user's own, else 0 */
  emit_param *params;
  const char **grid_dims;  /* [3] x, y and z of the grid */
  int64_t block[3];        /* x, y and z of a block */
  int64_t workspace_bytes; /* of the kernel's last parameter; 0: it has none */
  int n_args;
  int *args; /* [n_args] what each parameter of the kernel receives: operands, scalars, extents,
                workspace, numbered through in this order */
} emit_launch;

/* ---- the header ---- */

typedef struct emit_kernel {
  const char *space;               /* inner namespace: "k1_staged" */
  const sct_row_candidate *source; /* of a row that the header holds */
  emit_launch launch;
} emit_kernel;

/* Where the winner of a size is predicted to be slower than naive: a digit a shape, '1' if it is,
 * at the tuned extents times 2^(step * k), k from -reach to reach, the last dimension fastest. */
typedef struct emit_shapes {
  const char *slower; /* NULL: not known */
  int step, reach;
} emit_shapes;

/* One size tuned on one device. */
typedef struct emit_size {
  sct_row_run *run;
  int64_t *extents; /* [n_extents] */
  double elements;
  const sct_row_result *winner, *naive; /* naive may be NULL: that run has none of these layouts */
  int kernel;                           /* index into emit_header.kernels */
  emit_shapes shapes;                   /* of the winner */
} emit_size;

/* What a size gave up because a header has one layout for each array. */
typedef struct emit_other {
  const sct_row_run *run;
  const sct_row_result *winner, *here; /* of the size; with the header's layouts, NULL: none */
  emit_launch launch;                  /* of the winner */
} emit_other;

/* Defaults of NAME_host, for page-locked arrays and for pageable ones. */
typedef struct emit_ways {
  const sct_row_device *on; /* where `transfer` timed them; NULL: those of all headers */
  int locked_mib, locked_streams, ring_mib, ring_streams, ring_threads;
} emit_ways;

typedef struct emit_device {
  const sct_row_device *row;
  int64_t n_sms; /* 0: unknown */
  int n_sizes;
  int n_alike; /* GPUs that a call cannot tell from this one, and that were tuned too */
  int n_other;
  emit_other *others; /* sizes that other layouts than the header's have won */
  const sct_row_device **alike;
  emit_size *sizes; /* by number of elements; a size whose layouts have no winner is left out */
} emit_device;

typedef struct emit_header {
  sct_arena arena;
  sct_emit_form form;
  sct_row_problem *problem; /* one row of `problems` */
  emit_signature sig;
  int n_devices;
  emit_device *devices; /* GPUs first, then the newest first */
  int n_kernels;
  emit_kernel *kernels;      /* [0] is the naive variant */
  const char *const *layout; /* [n_operands] the layouts this header is for */
  emit_ways ways;
  /* rows read from the store */
  sct_row_problem *problems;
  sct_row_device *device_rows;
  sct_row_run *runs;
  int n_problems, n_device_rows, n_runs;
} emit_header;

/* ---- emit_json.c ---- */

/* The name of argument `k` of the launch function as the spec has it: operands, scalars, extents
 * (without their n_). */
const char *emit_argument(const emit_signature *sig, int k);
int emit_n_arguments(const emit_signature *sig);

sct_status emit_read_signature(emit_signature *out, sct_arena *arena, const char *json,
                               sct_error *err);
/* `sig` gives the operands' order and what their alignment is where the document is silent. */
sct_status emit_read_launch(emit_launch *out, sct_arena *arena, const emit_signature *sig,
                            const char *json, sct_error *err);
/* {"i": 1048576, ...} in the order of sig->extents; extents and their product are positive. */
sct_status emit_read_extents(int64_t *out, double *elements, const emit_signature *sig,
                             const char *json, sct_error *err);
/* The number of multiprocessors in a device description; 0: not known. */
int64_t emit_read_n_sms(const char *json);
/* Whether two axes documents agree in all but the choice of layouts. */
bool emit_same_axes(const char *a, const char *b);

/* From a run's conditions; nothing for another kernel than `hash`, or where it does not fit. */
emit_shapes emit_read_shapes(sct_arena *arena, const char *conditions, const char *hash,
                             int n_dims);

/* What the run's winner was preferred to although that is faster, in words; NULL: nothing. */
const char *emit_passed_over(sct_arena *arena, const char *conditions);
/* Whether by the run's conditions a winner need not be coalesced. */
bool emit_selects_any(const char *conditions);

/* ---- emit_select.c, emit_choose.c ---- */

sct_status emit_header_load(emit_header *out, sct_store *store, const sct_emit_request *request,
                            sct_error *err);
void emit_header_free(emit_header *h);
/* Index of the best of rows[0..n) among those marked in legal[], -1 if none is. `naive` is the
 * index of the naive variant, or -1; with `any` what is not coalesced competes too. */
int emit_choose(const sct_row_result *rows, int n, const bool *legal, int naive, bool any);

/* ---- emit_text.c ---- */

typedef struct emit_type {
  const char *name, *cuda; /* "f32", "float" */
  int bytes;               /* also the alignment */
  bool bits;               /* a struct of the kernel's own: the header passes its bits */
  bool vector;             /* a struct of CUDA's */
  int shared;              /* neighbouring elements that share a byte; 1: none do */
} emit_type;
const emit_type *emit_type_find(const char *name); /* NULL: unknown */

bool emit_is_name(const char *text); /* an identifier that C++ and CUDA leave to the user */
/* An expression that can only compute with the numbers n_<extent>; where `op` is not NULL also with
 * the indices of that operand, and with sct_floor_div() and sct_floor_mod(). */
bool emit_is_expression(const char *text, const emit_signature *sig, const emit_operand *op);
bool emit_mentions(const char *expression, const char *name);

/* `text` on one line of a // comment. */
void emit_comment(sct_str *s, const char *text);
void emit_string(sct_str *s, const char *text);   /* between the quotes of a literal */
void emit_number(sct_str *s, double value);       /* a double literal that reads back equal */
void emit_name_part(sct_str *s, const char *raw); /* letters, digits, _ : inside a longer name */

/* ---- emit_source.c ---- */

/* A kernel's source may stand in a namespace: brackets, comments and strings close, and it holds no
 * directive but #pragma. Finds the parameters of the function `kernel` and writes to args[] which
 * of names[0..n) each of them is: by name, or by place where not all names are known and there are
 * n of them. SCT_EDATA says what is wrong. `args` holds at least n. */
sct_status emit_check_source(int *args, int *n_args, const char *source, const char *kernel,
                             const char *const *names, int n, sct_error *err);
/* Checks the source of a kernel of the user's own, which may hold directives that leave nothing
 * defined after it. */
sct_status emit_check_own(const char *source, const char *kernel, sct_error *err);

/* ---- emit_fill.c ---- */

/* Appends the asset `file` with its holes filled from `data`. SCT_ESPEC: "file:line: error: ...".
 */
sct_status emit_fill(sct_str *out, const char *file, const json_t *data, sct_error *err);

/* ---- a header as data for its templates; new references ---- */

json_t *emit_text(const char *text); /* NULL: "" */
json_t *emit_textf(const char *format, ...) SCT_PRINTF(1, 2);
json_t *emit_text_str(sct_str *text); /* leaves an empty string */
/* The names of the extents whose n_<name> an expression mentions. */
json_t *emit_mentioned(const emit_signature *sig, const char *expression);
bool emit_mentions_extent(const char *expression, const emit_signature *sig, int k);

sct_status emit_data(json_t **out, const emit_header *h, sct_error *err);
sct_status emit_records(json_t **out, const emit_header *h, sct_error *err);
/* emit_code.c: compiles `source` for each architecture that was tuned. */
sct_status emit_add_code(json_t *out, const emit_header *h, const sct_emit_request *request,
                         const char *source, sct_error *err);
/* The feature of the kernel that needs sm_90, NULL: none. Below sm_90 the kernel is left out. */
const char *emit_sm90_feature(const emit_kernel *kernel);
/* What NVRTC calls a kernel of the header: a name of C, of one of the user's own a name of C++. */
json_t *emit_entry(const emit_header *h, int index);
/* Each adds its part to the object of the whole, or of an operand. */
void emit_add_other_sizes(json_t *out, const emit_header *h);
void emit_add_figures(json_t *out, const emit_header *h);
void emit_add_devices(json_t *out, const emit_header *h);
void emit_add_kernels(json_t *out, const emit_header *h);
/* The expression as the header's host functions have it, which call NAME_min and the like. */
json_t *emit_host_text(const emit_signature *sig, const char *expression);
void emit_add_layouts(json_t *out, const emit_header *h);
void emit_add_layout(json_t *out, const emit_header *h, int operand);

/* The bytes of an array as the header's host functions have them; and with emit_packs() the stride
 * of a dimension in values of `bytes`, which needs an offset that is linear in the indices. */
json_t *emit_bytes(const emit_header *h, int operand);
bool emit_is_linear(const emit_header *h, int operand);
json_t *emit_stride(const emit_header *h, int operand, int dim, int64_t bytes);
/* Element (i, j) of the index space is element (i, j) of the operand: no `at` says otherwise. */
bool emit_at_its_own_place(const emit_operand *op);

/* SCT_EDATA unless the store has the formulas of all arrays' offsets. */
sct_status emit_check_formulas(const emit_header *h, sct_error *err);
/* emit_selftest.c: what its template needs in addition. */
void emit_add_selftest(json_t *out, const emit_header *h, const sct_emit_cases *cases);
/* emit_host.c: functions for arrays of the host. */
void emit_add_host(json_t *out, const emit_header *h);
/* An output that chunks of the host go onto. */
bool emit_is_shared(const emit_header *h, int operand);
bool emit_combines(const emit_header *h); /* there is such an output */
/* Defaults of NAME_host that `transfer` has found for a device of the header, else the usual ones.
 */
sct_status emit_load_ways(emit_header *h, sct_store *store, sct_error *err);
/* emit_code.c: bytes as lines of numbers with commas. */
json_t *emit_byte_lines(const char *bytes, size_t n);
/* emit_python.c: what its template needs in addition. */
sct_status emit_add_python(json_t *out, const emit_header *h, sct_error *err);

/* Appends `wish`, or with as much after it as it takes to be no operand's and no scalar's name. */
void emit_unused_name(sct_str *s, const emit_signature *sig, const char *wish);
int emit_n_dims(const emit_signature *sig); /* of the index space */
/* The argument is a pointer to the operand's record: it has a name and the layout aos. Other
 * layouts of records are plain bytes to C. */
bool emit_takes_struct(const emit_header *h, int operand);
/* The header has host functions that pack and unpack the operand: its elements do not lie as C has
 * them, or its layout was left to the tuner, and the store has the formulas of its offsets. */
bool emit_packs(const emit_header *h, int operand);
bool emit_names_vectors(const emit_header *h);
/* How many fields from number k on are one array; 1: it is none. */
int emit_array_length(const emit_record *record, int k);
/* What C++ would align the fields to by itself: the largest of them. */
int64_t emit_natural_align(const emit_record *record);
/* "q[19]", or "x": field number k as a member, whose fields are `shared` elements each. */
void emit_declare(sct_str *s, const emit_record *record, int k, int shared);
/* Appends the name of the record's type in the header. */
void emit_record_type(sct_str *s, const emit_header *h, const emit_record *record);

#endif
