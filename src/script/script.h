/* script - the only door to Lua: specs, layouts, device descriptions, strategies and templates.
 *
 * Spec scripts run once in a sandbox (text chunks only, an allow-list of functions, memory cap,
 * instruction budget, no file access but `include`, `s.layout` below the spec's directory) and
 * become plain C data. Strategies and templates run in a second state that lives as long as a
 * tuning session. */
#ifndef SCT_SCRIPT_H
#define SCT_SCRIPT_H

#include "process/process.h"
#include "space/space.h"
#include "spec/spec.h"
#include "json/json.h"

/* ---- children for scripts ----
 *
 * What scripts do is done in a limited child: bounded processor time, memory and files, no writing,
 * no further processes, killed with its group when it makes no headway for SECTILE_SCRIPT_SECONDS
 * (10). Candidates are rendered there only, and come in messages. A spec and its strategies are
 * loaded in the process that needs them, after a dry run in a child. */
typedef struct sct_script_child sct_script_child;
typedef sct_status (*sct_script_fn)(void *ctx, sct_script_child *self, sct_error *err);

/* In the child calls fn(ctx, itself, err), whose status is its end. `subject`: the file to name
 * where no line is known; borrowed. SCT_EIO: there is no child. */
sct_status sct_script_child_start(sct_script_child **out, const char *subject, sct_script_fn fn,
                                  void *ctx, sct_error *err);
/* In the child: a step of the work begins, which is given some time. Does nothing for NULL. */
sct_status sct_script_child_step(sct_script_child *self, sct_error *err);
sct_status sct_script_child_send(sct_script_child *self, const sct_wire *body, sct_error *err);
/* In the parent: waits for the next message, or for the end. An error of the child is the parent's;
 * a child that is lost is SCT_ESPEC at the line where it was last seen. */
sct_status sct_script_child_receive(sct_script_child *c, sct_wire *body, bool *ended,
                                    sct_error *err);
/* Waits for the end; a message is SCT_EINTERNAL. */
sct_status sct_script_child_finish(sct_script_child *c, sct_error *err);
void sct_script_child_free(sct_script_child *c); /* kills it if it still runs; NULL is fine */
/* start, finish and free. */
sct_status sct_script_dry_run(const char *subject, sct_script_fn fn, void *ctx, sct_error *err);

/* ---- specs ---- */

/* Values for the parameters (`s.params`) of every spec that is loaded from here on, in this process
 * and those that it forks: `texts` of the form NAME=VALUE, borrowed. SCT_EUSAGE for another form or
 * a name that is given twice. */
sct_status sct_script_set_params(const char *const *texts, int n, sct_error *err);
/* More sizes for every spec that is loaded from here on, in such processes: `texts` of the form
 * row=1000,col=2000, borrowed. */
void sct_script_set_sizes(const char *const *texts, int n);
/* From here on, in such processes, a spec that lists sizes only has some more around them by itself
 * (sct_size.around), whose arrays have at most so many bytes together; 0: none. */
void sct_script_set_around(int64_t bytes);
/* Appends parameters as they are written on a command line: " -p fields=7 -p 'unit=m s'". */
void sct_script_show_params(sct_str *out);
/* Runs the spec at `path` and fills `out` (finished: sct_spec_finish has run). On failure `out` is
 * zeroed and err holds "file:line: error: ..." with the source line and the nearest legal name.
 * SCT_ESPEC, SCT_EIO if it cannot be read. */
sct_status sct_script_load_spec(sct_spec *out, const char *path, sct_error *err);
/* Loads the spec as sct_script_load_spec() does, after a dry run. */
sct_status sct_script_try_spec(sct_spec *out, const char *path, sct_error *err);
/* Loads the spec `text`, without a dry run; `path` is used in messages and to resolve layout files.
 */
sct_status sct_script_load_spec_text(sct_spec *out, const char *path, const char *text,
                                     sct_error *err);

/* ---- devices ---- */

/* The description tuning/devices/NAME.lua as a device "virtual:NAME". SCT_ENODEVICE with the
 * nearest name. */
sct_status sct_script_load_device(sct_device_desc *out, const char *name, sct_error *err);
/* The description in a file, without an id. */
sct_status sct_script_read_device(sct_device_desc *out, const char *path, sct_error *err);
/* Names of all described devices, in order. The list and its strings belong to `arena`. */
void sct_script_device_names(const char ***out, int *n, sct_arena *arena);
/* All of them, in the order of their names; the arena's. Without `err` those that are wrong are
 * left out. */
sct_status sct_script_load_devices(sct_device_desc **out, int *n, sct_arena *arena, sct_error *err);

/* ---- strategies and templates ---- */

typedef struct sct_script sct_script;

/* A state with every strategy of tuning/strategies (assets) and of `strategy_dir` (NULL: none)
 * loaded for this spec and device. Borrows both. */
sct_status sct_script_new(sct_script **out, sct_spec *spec, const sct_device_desc *device,
                          const char *strategy_dir, sct_error *err);
void sct_script_free(sct_script *script);
/* Strategies with their axes, constraints and facts; layout axes of operands that leave a choice
 * are put in front of each strategy's own. Not yet enumerated. */
sct_status sct_script_space(sct_space *out, sct_script *script, sct_error *err);

/* A mode of the kernel as strategies see it. */
typedef struct sct_mode {
  const char *name;
  int n_from;
  const char **from;    /* the user's dimensions that it comes from */
  const char *extent;   /* over the user's extents, as C: "16 * n_head * n_d" */
  int64_t *sizes;       /* [spec.n_sizes] the extent */
  const char **strides; /* [spec.n_operands] bytes of one step, as C: "4", "2 * n_d", "by pick" */
} sct_mode;

typedef struct sct_mode_list {
  int n;
  sct_mode *modes; /* slowest first */
  int n_requires;
  const char **requires; /* what must hold of extents, as C */
  sct_arena arena;
} sct_mode_list;
/* What the dimensions became under every operand's first layout, for strategies that take the
 * splits "none", "merging" or "all" (tuning/sectile/modes.lua). */
sct_status sct_script_modes(sct_mode_list *out, sct_script *script, const char *splits,
                            sct_error *err);
void sct_mode_list_free(sct_mode_list *list);

/* The result of rendering a template. */
typedef struct sct_rendered {
  sct_kernel_code code; /* source is the template's text only; hash not set */
  const char *rejected; /* reason, if the plan turned the candidate down (then there is no code); in
                           code.arena */
} sct_rendered;
/* Makes one candidate's plan and renders it. SCT_ESPEC: "template:line: error: ..." if strategy or
 * template fail. */
sct_status sct_script_render(sct_rendered *out, sct_script *script, const sct_space *space,
                             const sct_candidate *cand, sct_error *err);

/* ---- what people read ---- */

/* One of our modules ("sectile.report"), whose functions make texts of documents. What a function
 * leaves in the module's own variables is there for the next. */
typedef struct sct_page sct_page;
sct_status sct_page_open(sct_page **out, const char *module, sct_error *err);
/* Appends the texts that a function makes of a document and of options for its look (may be NULL),
 * which it gets as tables. SCT_EDATA: it gives nil, and what is wrong with the document. */
sct_status sct_page_call(sct_page *page, sct_str *out, const char *function, const json_t *doc,
                         const json_t *look, sct_error *err);
void sct_page_close(sct_page *page); /* NULL is fine */
/* One call of a module that is opened for it. */
sct_status sct_script_page(sct_str *out, const char *module, const char *function,
                           const json_t *doc, const json_t *look, sct_error *err);

#endif
