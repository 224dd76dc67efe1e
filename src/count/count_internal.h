/* count_internal - what the files of this module share. */
#ifndef SCT_COUNT_INTERNAL_H
#define SCT_COUNT_INTERNAL_H

#include "count/count.h"
#include "json/json.h"

/* ---- manifests (count_manifest.c) */

/* Reads a document into `m`, whose path is set. `text` is that of the file, NULL: there is none. */
sct_status count_read_document(sct_count_manifest *m, json_t *doc, const char *text,
                               sct_error *err) SCT_MUST_USE;
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

/* Writes an argument for a parameter of `bytes` bytes. `address` holds those of the buffers. On
 * failure `why` receives a sentence without the place. */
bool count_encode(uint8_t *out, int64_t bytes, const sct_count_arg *arg, const uint64_t *address,
                  sct_str *why);

/* ---- buffers (count_buffers.c) */

extern const char *const count_fills[];
extern const int count_n_fills;

/* The buffers that every manifest has. */
extern const sct_count_buffer count_given[];
extern const int count_n_given;

/* A memory with the buffers that are used; `address` [n_buffers] receives theirs, 0 for others. */
sct_status count_memory_new(sct_ptx_memory **out, uint64_t *address,
                            const sct_count_manifest *manifest, sct_error *err) SCT_MUST_USE;

/* ---- speed (count_speed.c) */

/* The caches of a device as blocks of this shape see them. */
sct_ptx_cache_sizes count_caches(const sct_device_desc *device, int threads, int registers,
                                 int64_t shared_bytes);
/* What a row asks of a device, where its traffic is known. */
void count_demand(sct_count_row *row);
/* Fills the speed of a profile whose launch is filled in. */
void count_find_speed(sct_profile *p, const sct_count_row *row, const sct_device_desc *device);

/* ---- profiles (count_issues.c) */

/* Fills issues of a profile whose launch and accesses are filled in. */
void count_find_issues(sct_profile *p, const sct_count_row *row, const sct_device_desc *device);

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
