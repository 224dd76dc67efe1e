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

/* Writes an argument for a parameter of `bytes` bytes. On failure `why` receives a sentence without
 * the place. */
bool count_encode(uint8_t *out, int64_t bytes, const sct_count_arg *arg, count_addresses *addresses,
                  sct_str *why);

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

/* ---- a kernel's text (count_trace.c) */

/* Is the opcode, after a guard, one that begins like this; does the instruction have this part? */
bool count_is(const sct_ptx_inst_counters *inst, const char *start);
bool count_has(const sct_ptx_inst_counters *inst, const char *part);
/* The instruction after its guard, `*len` characters. */
const char *count_opcode(const sct_ptx_inst_counters *inst, int *len);

typedef struct count_trace count_trace;
typedef struct count_origin {
  bool loaded;  /* of a value that was loaded: an index, a pointer */
  bool library; /* in a table of the device library, as of sinf */
} count_origin;
count_trace *count_trace_new(const sct_ptx_inst_counters *insts, int n);
void count_trace_free(count_trace *trace);
/* What the address of memory instruction number `inst` is made of. */
count_origin count_trace_address(count_trace *trace, int inst);

/* ---- speed (count_speed.c) */

/* What a row asks of a device, where its traffic is known. */
void count_demand(sct_count_row *row);
/* Adds what is moved and issued, so many times. */
void count_add_demand(sct_demand *to, const sct_demand *from, double by);
/* Adds to a row's demand, and keeps by itself, what spilled registers and arrays in local memory
 * ask for. */
void count_local(sct_count_row *row, const sct_device_desc *device);
/* Fills the local arrays of the kernel, of its PTX, and what machine code spills; of code that it
 * cannot read nothing. */
void count_spills(sct_count_row *row, const sct_ptx_module *module, const char *text,
                  const void *cubin, size_t bytes);
/* Atomics of the last launch that come to one line, the most of any buffer. */
void count_atomics(sct_count_row *row, const sct_ptx_memory *memory, const uint64_t *addresses,
                   int n);
/* Of 16-bit floats, which machine code does as loops of compare and swap. */
bool count_is_swap(const sct_ptx_inst_counters *inst);
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
  const void ***args; /* [n_cases] values of the parameters */
  count_addresses addresses;
  int threads;
};

/* ---- names (count_names.c) */

/* Names of the parameters of a kernel that has `n` of them, as the source text has them; false
 * where it does not show them. */
bool count_parameters(const char **names, int n, sct_arena *arena, const char *kernel,
                      const char *source);

/* Appends "; did you mean 'x'?" or the kernels there are: those of `module` (may be NULL) with
 * their names in the source, and those of templates in the source text. */
void count_suggest_kernel(sct_str *out, const char *kernel, const sct_ptx_module *module,
                          const char *source);

#endif
