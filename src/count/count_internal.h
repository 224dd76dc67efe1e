/* count_internal - what the files of this module share. */
#ifndef SCT_COUNT_INTERNAL_H
#define SCT_COUNT_INTERNAL_H

#include "compile/compile.h"
#include "count/count.h"
#include "json/json.h"

/* ---- manifests (count_manifest.c) */

/* Reads a document into `m`, whose path is set. `text` is that of the file, NULL: there is none. */
sct_status count_read_document(sct_count_manifest *m, json_t *doc, const char *text,
                               sct_error *err);
/* Where a case stands, in front of what is wrong with it. */
void count_place(sct_str *out, const sct_count_manifest *m, int line, const char *name);

/* ---- types of arguments (count_args.c) */

typedef struct count_type {
  const char *name;
  int bytes;
  bool real;
  int exponent_bits;
} count_type;
extern const count_type count_types[];
extern const int count_n_types;

/* The addresses of buffers, and where encoded arguments hold them. */
typedef struct count_pointer {
  const uint8_t *at; /* eight bytes of an argument */
  int buffer;
  int64_t offset;
} count_pointer;
typedef struct count_addresses {
  uint64_t *of; /* [n_buffers] */
  count_pointer *pointers;
  size_t n, cap;
} count_addresses;

/* Where a value lies in a parameter, or an element. */
typedef struct count_layout {
  int64_t offset, bytes;
  char number;                  /* as in sct_ptx_param */
  struct count_layout *members; /* of a struct or an array, as many as were given; NULL: at their
                                   natural alignment */
} count_layout;

/* Writes an argument; the offset is not looked at. On failure `why` receives a sentence without the
 * place. */
bool count_encode(uint8_t *out, const count_layout *to, const sct_count_arg *arg,
                  count_addresses *addresses, sct_str *why);
/* Bytes of a list of members at their natural alignment, and that alignment. */
int64_t count_struct_bytes(const sct_count_arg *arg, int64_t *align);

/* ---- buffers (count_buffers.c) */

extern const char *const count_fills[];
extern const int count_n_fills;
enum {
#define COUNT_FILL(name, word) COUNT_IS_##name,
#include "count/count_fills.def"
#undef COUNT_FILL
};

#define COUNT_MOST_BYTES (INT64_C(1) << 32) /* of a buffer */

/* What a buffer, whose type is known, holds: text or a list of numbers. Sizes it if its bytes are 0
 * and the fill says how many. `manifest` is the path of that file, NULL: none. On failure `why`
 * receives a sentence without the place. */
bool count_read_fill(sct_count_buffer *b, sct_arena *arena, const json_t *given,
                     const char *manifest, sct_str *why);

/* The buffers that every manifest has. */
extern const sct_count_buffer count_given[];
extern const int count_n_given;

/* What a buffer holds at first, to be freed with sct_free(). */
void *count_contents(const sct_count_buffer *buffer);
/* A memory with the buffers that are used; `address` [n_buffers] receives theirs, 0 for others. */
sct_status count_memory_new(sct_ptx_memory **out, uint64_t *address,
                            const sct_count_manifest *manifest, sct_error *err);

/* ---- speed (count_speed.c) */

/* What a row asks of a device, where its traffic is known. */
void count_demand(sct_count_row *row);
/* Fills the speed of a profile whose launch is filled in. */
void count_find_speed(sct_profile *p, const sct_count_row *row, const sct_device_desc *device);

/* ---- profiles (count_issues.c) */

/* Fills issues of a profile whose launch and accesses are filled in. */
void count_find_issues(sct_profile *p, const sct_count_row *row, const sct_device_desc *device);

/* ---- what a run leaves in its report (count_run.c) */

struct sct_count_session {
  sct_arena arena; /* texts and arguments */
  sct_compiler *compiler;
  sct_compiled_file compiled;
  const char **entries;   /* of the kernels, in PTX and cubin; NULL: not known yet */
  sct_ptx_module *module; /* of `compiled`; where a name is unknown, of the file without names */
  sct_ptx_memory *memory;
  const void ***args;        /* [n_cases] values of the parameters */
  struct ptx_buf *variables; /* NULL: no launch has made them yet */
  count_addresses addresses;
  struct count_asked *asked; /* what the compiler has answered (count_ask.c) */
  int threads;
};

/* ---- variables (count_variables.c) */

/* A setting as bytes of a variable of the module. */
typedef struct count_variable {
  int index; /* of the module's */
  const void *data;
  int64_t bytes;
} count_variable;

/* Finds the variable and writes its bytes, from the arena. On failure `why` receives a sentence
 * without the place. */
bool count_encode_setting(count_variable *out, const sct_count_setting *setting,
                          struct sct_count_session *s, sct_str *why);

/* ---- what the source says of a kernel (count_signature.c) */

typedef struct count_param {
  const char *name; /* "": none */
  const char *text; /* "const float *in" */
  bool has_default;
} count_param;

/* A declaration of a kernel. */
typedef struct count_signature {
  count_param *params; /* [n] */
  int n;
  const char *head; /* "template <class T>" or "" */
  const char *list; /* "(const T *in, T k = 1)" */
  int64_t at;       /* where the declaration begins in the source */
} count_signature;

/* Reads the first declaration of a kernel with `n` parameters in which all have names, else the
 * first; with `of` from 0 on, of those where this parameter has a default value. false: the source
 * shows none. */
bool count_signature_read(count_signature *out, sct_arena *arena, const char *kernel, int n, int of,
                          const char *source);

/* ---- what the compiler knows of arguments (count_ask.c) */

/* A kernel's arguments in the order of parameters, NULL where the default value is meant. */
typedef struct count_call {
  const char *kernel;
  const sct_count_arg **args;
  int n;
} count_call;

/* Does the compiler have to be asked about this argument? A default value, and a struct whose
 * members are named, or numbers without a type. */
bool count_must_ask(const sct_count_arg *arg, char number);
/* Compiles the file with questions in it: values[k] receives the bytes of a default value,
 * layouts[k] where the members of a struct lie; NULL where nothing had to be asked. Memory is the
 * session's. `why` receives what the compiler has against it. */
sct_status count_ask(struct sct_count_session *s, const char *file, const char *source,
                     const count_call *call, const sct_ptx_kernel *kernel, const uint8_t **values,
                     const count_layout **layouts, sct_str *why, sct_error *err);

void count_asked_free(struct count_asked *asked);

/* ---- arguments of a case (count_bind.c) */

/* Writes the values of a case's parameters; what does not fit is an error with its place. */
sct_status count_bind(struct sct_count_session *s, const sct_count_manifest *m, const char *file,
                      const sct_count_case *c, const sct_ptx_kernel *kernel, const void **args,
                      sct_error *err);
/* "FILE:line: error: case 'x': TEXT" for a case of the manifest. */
sct_status count_fail_case(const sct_count_manifest *m, const sct_count_case *c,
                           const sct_str *text, sct_error *err);

/* ---- names (count_names.c) */

/* The name of the function declared after `__global__`, and its end: what stands before the first
 * parenthesis that is not an attribute's, as that of __launch_bounds__(256). NULL: none. */
const char *count_declared(const char **name, const char *at);
/* The closing parenthesis of the one at `at`, or the end. */
const char *count_skip_parens(const char *at);

/* "_ZN3foo4copyIfEEvPT_" is "foo::copy"; a name that is not mangled is itself. */
void count_plain_name(sct_str *out, const char *entry);
/* Is `name` this one, or this one without its namespace? */
bool count_stands_for(const char *name, const char *full);

/* Appends "; did you mean 'x'?" or the kernels there are: those of `module` (may be NULL) with
 * their names in the source, and those of templates in the source text. */
void count_suggest_kernel(sct_str *out, const char *kernel, const sct_ptx_module *module,
                          const char *source);

#endif
