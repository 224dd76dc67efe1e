/* codegen - candidates to self-contained CUDA kernels, and kernels to the documents the store
 * keeps.
 *
 * The text itself comes from the strategies' Lua and the templates (module script); here it gets
 * its identity (the hash of source and launch), its place in errors (source line to template line),
 * and its description for emit. */
#ifndef SCT_CODEGEN_H
#define SCT_CODEGEN_H

#include "process/process.h"
#include "script/script.h"
#include "space/space.h"

/* Generates the kernel of one candidate.
 *
 * out       receives the kernel; free with sct_kernel_code_free(). Zeroed when rejected or failed.
 * rejected  receives NULL, or why the strategy's plan turned the candidate down (text in `arena`).
 * Returns SCT_ESPEC ("template:line: error: ...") if strategy or template fail. */
sct_status sct_codegen_make(sct_kernel_code *out, const char **rejected, sct_arena *arena,
                            sct_script *script, const sct_spec *spec, const sct_space *space,
                            const sct_candidate *cand, sct_error *err);

/* What became of a candidate: a kernel, or why its plan rejected it, or why it failed; or there was
 * no time to render it. */
typedef struct sct_generated {
  bool rendered;
  const char *rejected, *failure; /* NULL: it was not; it did not */
  sct_kernel_code code;
  const bool *sizes;          /* [n_sizes] the tuned sizes that it is for; NULL: all */
  struct sct_generated *next; /* what became of the same candidate at other sizes; NULL: the same */
} sct_generated;

const sct_message *sct_traffic_table(void), *sct_kernel_code_table(void);
#define SCT_MESSAGES "codegen/codegen_messages.def"
#include "process/process_declare.def"

/* From the process that rendered it to one that knows the same spec, but for `sizes` and `next`.
 * get: a kernel that cannot be one of this spec is a failure; texts stay where they are in the
 * message, lists are in `arena`, and both must outlive `out`. false: it is no such message. */
void sct_codegen_put(sct_wire *out, const sct_spec *spec, const sct_generated *g);
bool sct_codegen_get(sct_generated *out, sct_wire *in, const sct_spec *spec, sct_arena *arena);

/* Sets the hash: it covers what a measurement depends on, the text and how it is launched. */
void sct_codegen_identify(sct_kernel_code *code);

/* Which line of which template wrote a line of the source (from 1). `file` is a part of a text,
 * n_file characters. false: it is not known. */
bool sct_codegen_line(const sct_kernel_code *code, int line, const char **file, int *n_file,
                      int *file_line);

/* Appends a compiler's log with the lines of `code` it names replaced by the template's:
 * "line 12: error: ..." becomes "templates/direct.cu:7: error: ... (line 12 of the source)". Of
 * "line 3, called in line 12, 40: ..." the first is named that is no part of the device library. */
void sct_codegen_map_log(sct_str *out, const sct_kernel_code *code, const char *log);

/* true if every requirement of the kernel holds for these extents. */
bool sct_codegen_fits(const sct_spec *spec, const sct_kernel_code *code, const sct_size *size);

/* The JSON documents of docs/store.md. */
sct_status sct_codegen_signature(sct_str *out, const sct_spec *spec, sct_error *err);
sct_status sct_codegen_launch(sct_str *out, const sct_spec *spec, const sct_kernel_code *code,
                              sct_error *err);
/* {"grid": [x, y, z], "requires": [...]} of sct_expr_print_tree(), "arguments" by name: for
 * programs that launch the kernel without C. */
sct_status sct_codegen_trees(sct_str *out, const sct_spec *spec, const sct_kernel_code *code,
                             sct_error *err);
void sct_codegen_axes(sct_str *out, const sct_space *space, const sct_candidate *cand);

/* A naive variant of a choice of layouts: the first candidate of the first strategy that has it.
 * Index into space->candidates, or -1. */
int64_t sct_codegen_naive(const sct_spec *spec, const sct_space *space, const int *layout);
/* Is candidate c that of its layouts, at the sizes that its strategy is for? */
bool sct_codegen_is_naive(const sct_spec *spec, const sct_space *space, int64_t c);

#endif
