/* cli_count - what the commands share that run launches of a CUDA file. */
#ifndef CLI_COUNT_H
#define CLI_COUNT_H

#include "cli/cli_internal.h"
#include "count/count.h"

/* The launches of --cases, or that of --kernel, --grid, --block, --shared and --arg. Checks --out
 * against what is read. */
sct_status cli_count_read(sct_count_manifest *out, const cli_args *args, sct_error *err);
/* Is the word of a command a CUDA file, or one with PTX in it? */
bool cli_count_takes(const char *path);
/* What a run is to find, as sct_count_opts has it. */
typedef struct cli_count_want {
  bool per_instruction;
  int most_findings;
  const sct_device_desc *device; /* whose caches are looked at; NULL: none */
} cli_count_want;
/* Compiles and runs, with the options -I, -D, --arch, --threads and --coalescing. */
sct_status cli_count_run(sct_count_report *out, const sct_count_manifest *manifest,
                         const cli_args *args, cli_count_want want, sct_error *err);
#define CLI_DEFAULT_ARCH "sm_90"
/* Says on stderr why cases failed, and once a kernel why its counts are approximate. */
void cli_count_problems(const cli_args *args, const sct_count_report *report);

/* Files that lines are shown of (cli_sources.c). */
typedef struct cli_sources {
  sct_arena arena;
  struct {
    const char *path, *text;
  } * files; /* [n] */
  size_t n, cap;
} cli_sources;
/* A text that stands for a file of this path. */
void cli_sources_add(cli_sources *s, const char *path, const char *text);
/* A line without the blanks around it, at most `most` bytes of it; "": there is none. */
const char *cli_source_line(cli_sources *s, const char *path, int line, size_t most);
void cli_sources_free(cli_sources *s);

typedef sct_status cli_launches_fn(void *ctx, int ordinal, const char *path, sct_error *err);
/* A report as `profile` prints it; baseline may be NULL. With --counters `write` writes the
 * launches that have counts, for a GPU. */
sct_status cli_profile_print(const cli_args *args, const sct_count_report *report,
                             const sct_device_desc *device, const json_t *baseline,
                             cli_launches_fn *write, void *ctx, sct_error *err);
/* Adds to a row as cli_profile_json() has it what its pictures need: a request of each access. */
void cli_profile_add_pictures(json_t *doc, const sct_count_row *row, const sct_device_desc *device);
/* Writes the page --html of a document of `profile`, and how it is shown as text. */
sct_status cli_profile_page(const cli_args *args, const json_t *doc, const json_t *look,
                            const sct_count_report *report, const sct_device_desc *device,
                            sct_error *err);
/* `profile` of a spec's candidate (cli_profile_spec.c). */
sct_status cli_profile_spec(const cli_args *args, const sct_device_desc *device,
                            const json_t *baseline, sct_error *err);

/* The candidate --pick of a spec at --size, run as `profile` runs it. */
typedef struct cli_candidate cli_candidate;
sct_status cli_candidate_open(cli_candidate **out, const cli_args *args,
                              const sct_device_desc *device, sct_error *err);
const sct_count_row *cli_candidate_row(const cli_candidate *candidate);
void cli_candidate_free(cli_candidate *candidate); /* accepts NULL */

/* Adds predicted times and limits, and the mix of instructions (cli_speed.c). */
void cli_speed_json(json_t *doc, const sct_count_row *row, const sct_profile *p);
/* A row as `profile --json` has it (cli_profile.c). */
json_t *cli_profile_json(const sct_count_row *row, const sct_device_desc *device);
json_t *cli_global_json(const sct_ptx_global *g);
json_t *cli_shared_json(const sct_ptx_shared *s);
json_t *cli_diag_json(const sct_ptx_diag *d);

/* Figures under a profiler's names (cli_metrics.def). */
typedef struct cli_metric {
  const char *name;
  enum { CLI_EXACT, CLI_UNLESS_ASYNC, CLI_ESTIMATED, CLI_LESSON } kind;
} cli_metric;
enum {
  CLI_N_METRICS = 0
#define CLI_METRIC(kind, name, value) +1
#include "cli/cli_metrics.def"
#undef CLI_METRIC
};
extern const cli_metric cli_metrics[CLI_N_METRICS];
/* Whether a profiler's count of that launch is equal; else the figure is an estimate. */
bool cli_metric_is_exact(const cli_metric *m, const sct_count_row *row);
/* The values of all metrics; NAN: not known. */
void cli_metrics_of(double out[CLI_N_METRICS], const sct_count_row *row, const sct_profile *p);
/* Marks the metrics of the list, NULL: all. SCT_EUSAGE for an unknown name, with the nearest. */
sct_status cli_metrics_choose(bool wanted[CLI_N_METRICS], const char *list, sct_error *err);
/* Prints those of --metrics. */
sct_status cli_metrics_print(const cli_args *args, const sct_count_report *report,
                             const sct_device_desc *device, sct_error *err);

/* What NVIDIA's profiler counts of launches (cli_ncu.c): ours, on a GPU. */
typedef struct cli_ncu {
  int n_launches;
  double (*values)[CLI_N_METRICS]; /* [n_launches] NAN: not given */
} cli_ncu;
/* Has `write` write the launches, runs the profiler on a process that launches them, and reads what
 * its values of the metrics that are wanted. SCT_ENODEVICE: no profiler, or it may not count; says
 * what to do. SCT_EDATA: what it printed is not understood. */
sct_status cli_ncu_run(cli_ncu *out, const sct_device_desc *device, int n_launches,
                       const bool wanted[CLI_N_METRICS], cli_launches_fn *write, void *ctx,
                       sct_error *err);
/* Reads the profiler's output `text`; `name` stands for it in messages. */
sct_status cli_ncu_read(cli_ncu *out, const char *text, const char *name, int n_launches,
                        const bool wanted[CLI_N_METRICS], sct_error *err);
void cli_ncu_free(cli_ncu *ncu);

/* `profile --counters` (cli_counters.c): our counts of a case and the profiler's, which are those
 * of its launch number `launch`. */
typedef struct cli_counters {
  const cli_ncu *ncu;
  const sct_device_desc *device;
  bool wanted[CLI_N_METRICS];
} cli_counters;
json_t *cli_counters_json(const cli_counters *c, int launch, const sct_count_row *row);

/* `profile --baseline`: reads a profile that --json wrote, and adds the figures of the cases that
 * both have, as `changes` of the case. */
sct_status cli_baseline_read(json_t **out, const char *path, sct_error *err);
void cli_baseline_add(json_t *cases, const json_t *baseline);

#endif
