/* cli_internal - what the commands share: parsed arguments, the two tables, tables of text, colour,
 * progress, JSON. */
#ifndef SCT_CLI_INTERNAL_H
#define SCT_CLI_INTERNAL_H

#include "base/base.h"
#include "search/search.h"
#include "spec/spec.h"
#include "tune/tune.h"
#include "json/json.h"

/* The device of `space`, `gen` and, where there is no GPU, of `tune`. */
#define CLI_VIRTUAL "h200"

/* ---- arguments ---- */

typedef enum cli_option_id {
#define CLI_OPTION(id, name, letter, arg, take, field, doc) CLI_OPT_##id,
#include "cli/cli_options.def"
#undef CLI_OPTION
  CLI_N_OPTIONS
} cli_option_id;

__extension__ typedef unsigned __int128 cli_option_set; /* a bit each: more than 64 */
#define CLI_BIT_OF(id) ((cli_option_set)1 << (id))
#define CLI_BIT(id)    CLI_BIT_OF(CLI_OPT_##id)
/* Options that every command takes, and that may stand in front of it. */
#define CLI_GLOBAL                                                                                 \
  (CLI_BIT(HELP) | CLI_BIT(VERSION) | CLI_BIT(JSON) | CLI_BIT(STORE) | CLI_BIT(ASSETS) |           \
   CLI_BIT(VERBOSE) | CLI_BIT(QUIET))

/* Values of an option that may be given several times. */
typedef struct cli_list {
  int n;
  const char *items[64];
} cli_list;

typedef enum cli_by { CLI_BY_CASE, CLI_BY_INSTRUCTION, CLI_BY_LINE } cli_by;

/* The field of an option, by how it is read. */
#define CLI_FIELD_flag(field)     bool field;
#define CLI_FIELD_select(field)   bool field;
#define CLI_FIELD_text(field)     const char *field; /* NULL: not given */
#define CLI_FIELD_search(field)   const char *field;
#define CLI_FIELD_label(field)    const char *field;
#define CLI_FIELD_added(field)    cli_list field;
#define CLI_FIELD_list(field)     cli_list field;
#define CLI_FIELD_more(field)     int field;
#define CLI_FIELD_less(field)     /* that of `more` */
#define CLI_FIELD_top(field)      int field;
#define CLI_FIELD_shards(field)   int field;
#define CLI_FIELD_threads(field)  int field;
#define CLI_FIELD_shard(field)    sct_tune_share field;
#define CLI_FIELD_duration(field) int64_t field;
#define CLI_FIELD_seed(field)     uint64_t field;
#define CLI_FIELD_by(field)       cli_by field;

typedef struct cli_args {
  const struct cli_command *command; /* NULL: none named */
#define CLI_OPTION(id, name, letter, arg, take, field, doc) CLI_FIELD_##take(field)
#include "cli/cli_options.def"
#undef CLI_OPTION
  int argc; /* all arguments, as main() got them; getopt may have moved options to the front */
  char **argv;
  int n_words; /* what is no option: specs, names, directories */
  char **words;
} cli_args;

typedef struct cli_option {
  const char *name;
  char letter;     /* 0: none */
  const char *arg; /* how help calls its value; NULL: a flag */
  /* Reads `value` (NULL for a flag) into the field. SCT_EUSAGE says what was expected. */
  sct_status (*take)(void *field, const char *name, const char *value, sct_error *err);
  size_t field; /* offset in cli_args */
  const char *doc;
} cli_option;
extern const cli_option cli_options[CLI_N_OPTIONS];

#define CLI_ANY_NUMBER 1000000

typedef struct cli_command {
  const char *name;
  const char *words; /* "SPEC..." in the usage line */
  int min_words, max_words;
  cli_option_set options; /* CLI_BIT of those it takes besides the global ones */
  /* Prints its result. On failure err's text is printed by the caller, unless the command has
   * reported it already and left the text empty. */
  sct_status (*run)(const cli_args *args, sct_error *err);
  const char *doc;     /* one line */
  const char *details; /* the help's paragraphs; lines of at most 80 columns */
  const char *example; /* arguments after the program's name */
} cli_command;
extern const cli_command cli_commands[];
extern const int cli_n_commands;

sct_status cli_devices(const cli_args *args, sct_error *err);
sct_status cli_check(const cli_args *args, sct_error *err);
sct_status cli_space(const cli_args *args, sct_error *err);
/* `space --modes` */
sct_status cli_modes(const cli_args *args, const sct_device_desc *device, sct_error *err);
sct_status cli_gen(const cli_args *args, sct_error *err);
sct_status cli_explain(const cli_args *args, sct_error *err);
sct_status cli_page(const cli_args *args, sct_error *err);
sct_status cli_tune(const cli_args *args, sct_error *err);
sct_status cli_submit(const cli_args *args, sct_error *err);
sct_status cli_status(const cli_args *args, sct_error *err);
sct_status cli_doctor(const cli_args *args, sct_error *err);
sct_status cli_transfer(const cli_args *args, sct_error *err);
sct_status cli_transfer_spec(const cli_args *args, sct_error *err);
/* Splits "cuda:0,cuda:1" into opts->device and opts->peer; parts of `text`, which is changed. */
sct_status cli_choose_devices(sct_tune_opts *opts, char *text, sct_error *err);
sct_status cli_emit(const cli_args *args, sct_error *err);
/* Cases for a self-test of the spec's kernels: `make` of sct_emit_tester, with its ctx. */
typedef struct cli_selftest cli_selftest;
void cli_selftest_new(cli_selftest **out, const char *spec);
void cli_selftest_free(cli_selftest *t);
struct sct_emit_cases;
sct_status cli_selftest_make(void *ctx, const char *const *layouts, int n_layouts,
                             const char *const *labels, int n_labels, struct sct_emit_cases *out,
                             sct_error *err);
double cli_selftest_tolerance(void *ctx, int operand, const int64_t *extents);
sct_status cli_count(const cli_args *args, sct_error *err);
sct_status cli_sanitize(const cli_args *args, sct_error *err);
/* Candidates of the command's spec for a device: the one with this label and the naive ones;
 * without a label all of them. */
sct_status cli_candidates_make(sct_tune_candidates *out, const cli_args *args,
                               const sct_device_desc *device, const char *label, sct_error *err);
/* The candidate with this label; without a label the naive one. It must have a kernel. */
sct_status cli_find_item(const sct_tune_item **out, const sct_tune_candidates *cands,
                         const char *label, sct_error *err);
/* The label and the hash of the kernel that won, of the devices and sizes that `args` names. */
sct_status cli_find_winner(sct_str *label, char hash[SCT_HASH_HEX], const cli_args *args,
                           sct_error *err);
sct_status cli_profile(const cli_args *args, sct_error *err);
sct_status cli_merge(const cli_args *args, sct_error *err);
sct_status cli_export(const cli_args *args, sct_error *err);
sct_status cli_import(const cli_args *args, sct_error *err);
sct_status cli_compare(const cli_args *args, sct_error *err);
sct_status cli_init(const cli_args *args, sct_error *err);
sct_status cli_examples(const cli_args *args, sct_error *err);
sct_status cli_generate(const cli_args *args, sct_error *err);

/* Parses the arguments after argv[0]; `out` borrows them. SCT_EUSAGE names the nearest command or
 * option. With --help or --version the words are not checked. */
sct_status cli_parse(cli_args *out, int argc, char **argv, sct_error *err);

/* "500ms", "1.5m", "2h" as ns. SCT_EUSAGE for anything else, with what was expected; `name` is the
 * option's, for the message. */
sct_status cli_read_duration(int64_t *out, const char *name, const char *text, sct_error *err);
/* Marks the names of a list such as "a,b,c"; NULL marks all. SCT_EUSAGE for a word that is none,
 * with the nearest; `what` is what they are: "metric". */
sct_status cli_read_names(bool wanted[], const char *list, sct_names names, const char *what,
                          sct_error *err);
/* "4K,1.5M,1G" as bytes, ascending, each once: at most `most`, multiples of `unit` up to `largest`.
 */
sct_status cli_read_sizes(int64_t *out, int *n, int most, const char *name, const char *text,
                          int64_t unit, int64_t largest, sct_error *err);
/* A whole number in [lo, hi]. */
sct_status cli_read_number(int64_t *out, const char *name, const char *text, int64_t lo, int64_t hi,
                           sct_error *err);

/* Sets up a process of this program (signals, memory of JSON), then a command. */
void cli_prepare(void);
sct_status cli_set_up(const cli_args *args, sct_error *err);

/* Prints the help of a command; NULL: of the program. */
sct_status cli_help(const cli_command *command, sct_error *err);

/* ---- output ---- */

/* Writes to the file of --out, or to stdout, and frees the text. */
sct_status cli_write_output(const cli_args *args, sct_str *text, sct_error *err);
/* SCT_EUSAGE if `path`, which would be written over, is the store or one of the files that the
 * command reads, by whatever name. Asked before anything is read. */
sct_status cli_check_target(const cli_args *args, const char *path, const char *const *reads, int n,
                            sct_error *err);
/* Writes to stdout and frees the text. SCT_EIO if not all is written. */
sct_status cli_print(sct_str *text, sct_error *err);
/* A line on stderr, unless -q. */
void cli_note(const cli_args *args, const char *fmt, ...) SCT_PRINTF(2, 3);
/* Prints the error on stderr, with the program's name in front unless it starts with a place in a
 * file, and empties its text. */
void cli_report(sct_error *err);
/* Reports an error of one of several devices and names the device; NULL: there is but one. */
void cli_report_of(const char *device, sct_error *err);
/* "kernels/a.lua:12: error: ...": is it about a place in a file? */
bool cli_starts_with_place(const char *text);
/* Adds which limits of the system are low to an error that one of them may have caused. */
void cli_blame_limits(sct_error *err);

typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_GOOD, CLI_WARN, CLI_BAD } cli_style;
/* Whether the stream is a terminal that shows colour: NO_COLOR unset or empty, TERM not "dumb". */
bool cli_wants_colour(FILE *stream);
/* Columns that output to a stream may have: COLUMNS if it is a number, else a terminal's width; 0:
 * any number. */
int cli_output_width(FILE *stream);
const char *cli_paint(bool colour, cli_style style); /* escape sequence, "" without colour */
const char *cli_unpaint(bool colour, cli_style style);
int cli_terminal_width(FILE *stream); /* 80 where it is not known */

json_t *cli_issue_json(const sct_advice *advice);

/* ---- JSON ---- */

json_t *cli_json_positive(double value); /* null for 0 and below as well: "not measured" */
/* The document as text with a newline at its end; releases it. */
sct_status cli_json_dump(sct_str *out, json_t *doc, sct_error *err);
/* Prints the document and releases it. */
sct_status cli_json_print(json_t *doc, sct_error *err);
json_t *cli_json_error(sct_status status, const char *text);
json_t *cli_json_device(const sct_device_desc *device);
/* top: keep only the rows that a leaderboard of `top` rows needs, or CLI_ALL_ROWS. */
json_t *cli_json_report(const sct_tune_report *report, int top);
#define CLI_ALL_ROWS INT32_MAX
json_t *cli_lines_json(const char *text); /* a list */
/* Prints a document, to --out if there is one, and ends it: with --json as it is, else as text that
 * a function of a module of tuning/sectile ("sectile.show") makes of it and of `look`, which is
 * ended, too. */
sct_status cli_show(const cli_args *args, const char *module, const char *function, json_t *doc,
                    json_t *look, sct_error *err);
/* Colour and width of standard output; --out has neither. */
json_t *cli_output_style(const cli_args *args);

/* ---- stores ---- */

/* Appends the path of --store, or of the default store. */
sct_status cli_store_path(sct_str *out, const cli_args *args, sct_error *err);
/* Opens it; for reading it must exist (the text of SCT_EDATA tells how to make one). */
sct_status cli_store_open(sct_store **out, const cli_args *args, bool read_only, sct_error *err);

/* ---- specs and devices ---- */

/* Adds to the message of a spec that cannot be read which built-in example has that name. Returns
 * `status`. */
sct_status cli_hint_example(sct_status status, const char *word, sct_error *err);

/* The device of `space` and `gen`: --device, else the virtual H200. Starts a worker only for a GPU.
 */
sct_status cli_device_describe(sct_device_desc *out, const cli_args *args, sct_error *err);
/* How workers are started: --wait, --force. */
sct_measure_opts cli_measure_opts(const cli_args *args);
/* How figures of this device come about. */
const char *cli_device_says(const char *id);

/* ---- tune: progress and leaderboard
 * --------------------------------------------------------------------------------- */

/* Lines of several sessions, drawn anew together on a terminal. */
typedef struct cli_progress_group {
  int n;
  char **lines; /* [n] NULL: nothing yet; each from sct_strdup */
  int n_drawn;  /* lines that stand on the terminal */
} cli_progress_group;
void cli_progress_group_free(cli_progress_group *g); /* the lines, not their array */

/* One line that is drawn anew on a terminal; else a line when a phase is complete, and one every
 * ten seconds. */
typedef struct cli_progress {
  FILE *out;
  bool quiet, terminal;
  int width;
  const char *subject; /* the spec's file */
  char phase[24];
  int64_t start_ns;                    /* when the session began */
  int64_t phase_start_ns, phase_first; /* when the phase began, and what was done then */
  int64_t step_ns, shown_ns;           /* the last step, and the last that was shown */
  int64_t done, total;                 /* by the last step */
  char item[96];                       /* its item */
  bool settles;                        /* candidates are tried until the search ends by itself */
  bool drawn;                          /* a line stands on the terminal */
  cli_progress_group *group;           /* NULL: it is alone there */
  int line;                            /* its own of the group */
  const char *device;                  /* what stands in front of it then */
} cli_progress;
bool cli_settles(const cli_args *args);              /* the search ends by itself */
cli_progress cli_progress_new(const cli_args *args); /* on stderr */
void cli_progress_start(cli_progress *p, int64_t now_ns, const char *subject);
void cli_progress_step(cli_progress *p, int64_t now_ns, const char *phase, int64_t done,
                       int64_t total, const char *item);
void cli_progress_tick(cli_progress *p, int64_t now_ns); /* draws the time that has passed */
void cli_progress_clear(cli_progress *p);                /* wipes the line from the terminal */
/* "[#####-----] 5/10  3 s left": how the line goes on after the phase. left_ns < 0: not known. */
void cli_progress_bar(sct_str *out, int64_t done, int64_t total, int64_t left_ns, int cells);
void cli_format_left(char out[32], int64_t ns); /* "45 s", "3 min 20 s", "2 h 5 min" */

/* The stream of --events: a line of JSON an event. */
typedef struct cli_events {
  int fd; /* -1: none */
  int64_t start_ns;
  int lost; /* errno: a line could not be written, though there was a reader */
} cli_events;
/* path NULL: no stream; "-": stdout. SCT_EIO. */
sct_status cli_events_open(cli_events *e, const char *path, sct_error *err);
void cli_events_close(cli_events *e);
/* An event of a session: its name and members. */
json_t *cli_events_members(const char **name, const sct_tune_event *event);
void cli_events_write(cli_events *e, const char *event, json_t *members); /* takes `members` */

/* Appends the leaderboard of a report as --json has it: the best `top` of each size; ends `look`.
 */
sct_status cli_leaderboard(sct_str *out, const json_t *report, int top, json_t *look,
                           sct_error *err);

#endif
