/* spec_internal - between the files of module spec. */
#ifndef SCT_SPEC_INTERNAL_H
#define SCT_SPEC_INTERNAL_H

#include "spec/spec.h"

/* ---- words and tokens of a body ---- */

typedef enum word_kind {
  WORD_NONE,
  WORD_TYPE,
  WORD_CONTROL,
  WORD_FUNCTION,
  WORD_REFUSED
} word_kind;

word_kind sct_spec_word(const char *text, size_t len); /* WORD_NONE: no special meaning */
/* What CUDA calls a type that has another name in C's headers ("uint8_t"); NULL: it is none. */
const char *sct_spec_spelling(const char *text, size_t len);

typedef enum token_kind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_PUNCT, TOKEN_END } token_kind;

typedef struct token {
  token_kind kind;
  const char *text; /* points into the body; not terminated */
  size_t len;
} token;

enum { TOKENS_AHEAD = 8 }; /* how far past a token its readers look */

typedef struct token_list {
  token *tokens; /* followed by TOKENS_AHEAD + 1 of kind TOKEN_END */
  int n;         /* without those */
} token_list;

bool sct_token_is(const token *t, const char *text);
/* Splits the body; comments vanish. Refuses what must not reach a compiler: preprocessor lines,
 * strings, continuation lines, digraphs, anything but printable ASCII. The tokens belong to the
 * spec's arena. */
sct_status sct_spec_tokenize(token_list *out, sct_spec *spec, sct_error *err);
/* The tree of the spec's body (spec_tree.h), which belongs to the spec's arena. Refuses what is no
 * body: a name that is not known, a statement that is none. */
typedef struct body_tree body_tree;
sct_status sct_spec_parse(body_tree **out, sct_spec *spec, sct_error *err);
/* Refuses shifts by more bits than a value has (spec_tree_type.c). */
sct_status sct_spec_check_shifts(const sct_spec *spec, const body_tree *tree, sct_error *err);
/* Refuses operands that a compiler would refuse (spec_operands.c). */
sct_status sct_spec_check_operands(const sct_spec *spec, const body_tree *tree, sct_error *err);
/* An error at a place of the body; NULL: of the whole body. */
sct_status sct_spec_fail_body(const sct_spec *spec, sct_error *err, const char *at, const char *fmt,
                              ...) SCT_PRINTF(4, 5);

/* The number of the line there for messages: of the file, or of the body where no file holds it. */
int sct_spec_body_line(const sct_spec *spec, const char *at);

/* ---- names ---- */

/* Index of the operand called so (len < 0: NUL-terminated), or -1. */
int sct_spec_find_operand(const sct_spec *spec, const char *name, size_t len);
int sct_spec_find_dim(const sct_spec *spec, const char *name, size_t len);
bool sct_spec_is_scalar(const sct_spec *spec, const token *t);
/* Does it name an extent, as "n_col" does? */
bool sct_spec_is_extent(const sct_spec *spec, const token *t);
/* The field called so; of an array, its first element. */
int sct_spec_find_field(const sct_record *record, const char *name, size_t len);
/* Which of x, y, z, w the token is, of a value of `lanes` components; -1: none. */
int sct_spec_component(const token *t, int lanes);
/* The operand that a body reads by this name: its own (*tap -1) or that of one of its taps. */
int sct_spec_find_value(const sct_spec *spec, const char *name, size_t len, int *tap);
bool sct_spec_has_taps(const sct_spec *spec);
/* Does `name` differ from all names of arrays, scalars, dimensions and generated code? */
sct_status sct_spec_check_value_name(const sct_spec *spec, const char *file, int line,
                                     const char *what, const char *name, sct_error *err);
sct_status sct_spec_check_taps(const sct_spec *spec, sct_error *err);
/* Does it read an element of the array where a place lies outside? */
bool sct_border_reads(sct_border border);
/* Is the place along dimension d of the operand the index of a dimension as long? */
bool sct_spec_is_own_dim(const sct_spec *spec, const sct_operand *op, int d);

/* A mention of an operand: the tap it is named by (-1: its own name), the first field (-1: the
 * whole record) and the number of fields; -1 where there is none: the component of a vector, the
 * element whose number stands there, the first field of its array. */
typedef struct sct_mention {
  int op, tap, field, n_fields, lane;
  int64_t element;
  int array;
} sct_mention;
/* The array's name there, or the tap's. */
const char *sct_spec_mention_name(const sct_spec *spec, const sct_mention *m);

/* ---- the steps of sct_spec_finish ---- */

/* Sets reduces and reduced; refuses outputs that cannot be reduced together. */
sct_status sct_spec_bind_reduce(sct_spec *spec, sct_error *err);
/* "scanned" or "reduced" of such an output, and how; else "" and NONE. */
static inline const char *sct_spec_combining_word(const sct_operand *op, sct_reduce *how) {
  *how = op->scan != SCT_REDUCE_NONE ? op->scan : op->reduce;
  return op->scan != SCT_REDUCE_NONE ? "scanned" : *how != SCT_REDUCE_NONE ? "reduced" : "";
}
/* Sets scans and scan_dim; refuses outputs that cannot be scanned together. */
sct_status sct_spec_bind_scan(sct_spec *spec, sct_error *err);
/* Refuses outputs that are reduced or scanned whose type cannot be that of the result. */
sct_status sct_spec_check_result(const sct_spec *spec, const sct_operand *op, sct_error *err);
/* Refuses outputs of reduce = "argmax" or "argmin" whose type cannot hold the indices of a size. */
sct_status sct_spec_check_found(const sct_spec *spec, const sct_size *size, sct_error *err);
/* What places call the value of an index operand: 0 stands for none. */
sct_expr sct_spec_index_place(const sct_spec *spec, const sct_operand *index);
/* Order and limits of index operands; what is read through one. */
sct_status sct_spec_bind_indexes(sct_spec *spec, sct_error *err);
/* Refuses accumulated outputs that atomic operations do not reach; _check_: their layouts too. */
sct_status sct_spec_bind_accumulate(const sct_spec *spec, sct_error *err);
sct_status sct_spec_check_accumulate(const sct_spec *spec, sct_error *err);
sct_status sct_spec_check_ordered(const sct_spec *spec, sct_error *err);
/* Sets limits; refuses a size at which an output is written twice. */
void sct_spec_find_limits(sct_spec *spec);
sct_status sct_spec_check_limits(const sct_spec *spec, const sct_size *size, sct_error *err);
/* Turns extents and places of elements that share bytes into those of the bytes. */
sct_status sct_spec_bind_shared(sct_spec *spec, sct_error *err);
/* Appends what to write where a record whose elements share bytes is copied; nothing if none do, or
 * if `out` holds text already. */
void sct_spec_hint_bytes(sct_str *out, const sct_record *record);
/* Finds the array of offsets, which has an element more than there are rows. */
sct_status sct_spec_bind_offsets(sct_spec *spec, sct_error *err);
/* Refuses ragged kernels that cannot be computed; sets the offsets' limit. */
sct_status sct_spec_check_ragged(sct_spec *spec, sct_error *err);
sct_status sct_spec_check_offsets_layout(const sct_spec *spec, sct_error *err);
/* Steps that neither reduce nor compute once a row are one body: a block for each, in their order.
 */
sct_status sct_spec_join_maps(sct_spec *spec, sct_error *err);
/* Binds the expressions of the user's own kernels, then checks their texts. */
sct_status sct_spec_bind_own(sct_spec *spec, sct_error *err);
/* Finds the kernel in its file, counts its parameters and lists the macros. */
sct_status sct_spec_check_own_text(sct_spec *spec, sct_own *own, sct_error *err);
/* Dimensions of rows, names of values, outputs of kernels with steps. */
sct_status sct_spec_bind_steps(sct_spec *spec, sct_error *err);
/* Checks the bodies of all steps, which are then written below each other as the kernel's. Appends
 * what canonical text has of them. */
sct_status sct_spec_check_steps(sct_spec *spec, sct_str *canonical, sct_error *err);
/* The numbers that the body computes for `at`: their names and variables. */
sct_status sct_spec_bind_computed(sct_spec *spec, sct_error *err);
/* Refuses computed numbers that no `at` of an accumulated output names. */
sct_status sct_spec_check_computed(const sct_spec *spec, sct_error *err);
/* The value called so, or NULL. */
const sct_value *sct_spec_find_step_value(const sct_spec *spec, const char *name, size_t len);
/* Clears what bodies use, before they are checked. */
void sct_spec_begin_bodies(sct_spec *spec);
/* Finds the dimension that is cut into chunks, where the spec asks for that (spec_chunks.c). */
sct_status sct_spec_find_chunks(sct_spec *spec, sct_error *err);
/* Checks the body; sets operand.used, body_uses_dim; assigned[n_operands]: what it assigns. */
sct_status sct_spec_check_body(sct_spec *spec, const body_tree *tree, bool *assigned,
                               sct_error *err);
/* Does the body that is being checked assign output `op`? That of a step does so with its own. */
bool sct_spec_is_of_step(const sct_spec *spec, int op);
/* Does the body find in output `op` what it held before the kernel, as a later step updates it? */
bool sct_spec_is_old_value(const sct_spec *spec, int op);
/* Every output is assigned on every path, and every local before it is read: spec_assign.c. */
sct_status sct_spec_check_assigned(sct_spec *spec, const body_tree *tree, sct_error *err);
/* The body as kernels have it and in fast arithmetic (NULL: the spec has no tolerance, or nothing
 * would change); sets the tree's edits that make the first. */
void sct_spec_write_bodies(sct_spec *spec, body_tree *tree, const char **kernel, const char **fast);
/* "body", its tokens with blanks between them, and the end of the line. */
void sct_spec_print_tokens(sct_str *out, const body_tree *tree);
/* Sets moves, counted, component_wise, component_body, fast_component_body. */
void sct_spec_classify_body(sct_spec *spec, const body_tree *tree);
/* What a check came to at a size: one around listed ones is refused, which is no error. */
sct_status sct_spec_at_size(sct_size *size, sct_status status);
/* Takes refused sizes out, and those around listed ones that are too many. */
void sct_spec_leave_refused(sct_spec *spec);
sct_status sct_spec_check_sizes(sct_spec *spec, sct_error *err);
sct_status sct_spec_check_places(sct_spec *spec, sct_error *err);
sct_status sct_spec_check_layouts(sct_spec *spec, sct_error *err);

bool sct_spec_mentions_dims(const sct_spec *spec, sct_expr e);

/* Footprints that were worked out, by array, layout and size. */
struct sct_footprints *sct_footprints_new(void);
void sct_footprints_end(struct sct_footprints *known);

/* ---- evaluation ---- */

/* Offset number `row` of an array of offsets with this fill. */
int64_t sct_spec_offset(const sct_index_fill *fill, int64_t row);

enum { ENV_CAP = SCT_MAX_EXTENTS + SCT_MAX_DIMS + SCT_MAX_OPERANDS };

/* Variables and values of one evaluation: extents, then whatever is added. */
typedef struct spec_env {
  sct_expr vars[ENV_CAP];
  int64_t values[ENV_CAP];
  int n;
} spec_env;

spec_env sct_spec_env_extents(const sct_spec *spec, const int64_t *extent);
void sct_spec_env_add(spec_env *env, sct_expr var, int64_t value);
sct_status sct_spec_env_eval(const sct_spec *spec, const spec_env *env, sct_expr e, int64_t *value,
                             sct_error *err);
/* Adds dims (idx) and the values of all index operands that `op` is addressed through. */
sct_status sct_spec_env_place(const sct_spec *spec, spec_env *env, const sct_operand *op,
                              const int64_t *idx, const sct_size *size, sct_error *err);
/* Product with saturation at 2^62. */
int64_t sct_spec_mul(int64_t a, int64_t b);

#endif
