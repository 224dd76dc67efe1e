/* NVIDIA's profiler `ncu`: where it is, run on a process that launches what was counted, and what
 * it prints read back. Its text comes from outside: whatever it holds, it is an error with its line
 * or numbers. */
#include "cli/cli_count.h"

#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_NS    ((int64_t)600000000000) /* passes over the launches of a manifest */
#define MOST_FIELDS 4096

/* ---- reading: CSV below lines of its own, which begin with "==" ---- */

typedef struct reader {
  const char *name;
  int line; /* of the text, counted from 1 */
  const bool *wanted;
  int n_fields;
  int column[CLI_N_METRICS];       /* of the wanted metrics; -1: it has none */
  double scale[CLI_N_METRICS];     /* of their units */
  const char *fields[MOST_FIELDS]; /* of the current line */
  sct_arena arena;
  sct_error *err;
} reader;

SCT_PRINTF(2, 3)
static sct_status fail_line(const reader *r, const char *fmt, ...) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_STR_FORMAT(&text, fmt);
  return sct_fail(r->err, SCT_EDATA, "%s:%d: error: %s", r->name, r->line, sct_str_c(&text));
}

/* One field, quoted or not; returns what follows it: a comma, or the line's end. NULL: it is not
 * closed. */
static const char *read_field(sct_arena *arena, const char **out, const char *at) {
  if (*at != '"') {
    const size_t n = strcspn(at, ",\r\n");
    *out = sct_arena_strndup(arena, at, n);
    return at + n;
  }
  SCT_SCOPED(sct_str) field = {0};
  for (at++; *at != '\0' && *at != '\n' && (*at != '"' || at[1] == '"'); at++) {
    at += *at == '"';
    sct_str_append_n(&field, at, 1);
  }
  *out = sct_arena_strdup(arena, sct_str_c(&field));
  return *at == '"' ? at + 1 : NULL;
}

static sct_status read_fields(reader *r, const char *at, int *n) {
  for (*n = 0; *n < MOST_FIELDS; at++) {
    at = read_field(&r->arena, &r->fields[(*n)++], at);
    if (at == NULL || (*at != ',' && *at != '\r' && *at != '\n' && *at != '\0')) {
      return fail_line(r, "field %d of the profiler's table is not closed", *n);
    }
    if (*at != ',') {
      return SCT_OK;
    }
  }
  return fail_line(r, "expected at most %d fields", MOST_FIELDS);
}

static sct_status read_head(reader *r, const char *at) {
  SCT_TRY(read_fields(r, at, &r->n_fields));
  for (int k = 0; k < CLI_N_METRICS; k++) {
    r->column[k] = -1;
    r->scale[k] = 1.0;
    for (int f = 0; f < r->n_fields && r->wanted[k]; f++) {
      r->column[k] = strcmp(r->fields[f], cli_metrics[k].name) == 0 ? f : r->column[k];
    }
  }
  return SCT_OK;
}

/* "Kbyte", "Mbyte/block": what a number is multiplied by. */
static double scale_of(const char *unit) {
  static const char prefixes[] = "KMGT";
  const char *prefix =
      unit[0] != '\0' && sct_has_prefix(unit + 1, "byte") ? strchr(prefixes, unit[0]) : NULL;
  return prefix != NULL ? pow(1000.0, (double)(prefix - prefixes + 1)) : 1.0;
}

static void read_units(reader *r) {
  for (int k = 0; k < CLI_N_METRICS; k++) {
    r->scale[k] = r->column[k] >= 0 ? scale_of(r->fields[r->column[k]]) : 1.0;
  }
}

/* "2359296", "2,359,296", "62.97"; with instances of a metric, "8 (4; 4)". */
static bool read_number(double *out, const char *text) {
  char plain[64];
  size_t n = 0;
  const char *at = text;
  bool good = isdigit((unsigned char)*at) || *at == '-';
  for (; good && *at != '\0' && *at != ' ' && n + 1 < sizeof plain; at++) {
    if (*at == ',') { /* between thousands */
      good = n > 0 && strspn(at + 1, "0123456789") == 3;
    } else {
      plain[n++] = *at;
    }
  }
  plain[n] = '\0';
  char *end = NULL;
  *out = strtod(plain, &end);
  return good && (*at == '\0' || sct_has_prefix(at, " (")) && *end == '\0' &&
         plain[strspn(plain, "0123456789.eE+-")] == '\0' && isfinite(*out);
}

static bool is_number_missing(const char *text) {
  return text[0] == '\0' || strcmp(text, "n/a") == 0 || strcmp(text, "nan") == 0 ||
         sct_has_prefix(text, "(!)");
}

static sct_status read_launch(reader *r, double values[CLI_N_METRICS]) {
  for (int k = 0; k < CLI_N_METRICS; k++) {
    const char *text = r->column[k] >= 0 ? r->fields[r->column[k]] : "";
    values[k] = NAN;
    if (is_number_missing(text)) {
      continue;
    }
    if (!read_number(&values[k], text)) {
      return fail_line(r, "'%s' of %s is no number", text, cli_metrics[k].name);
    }
    values[k] *= r->scale[k];
  }
  return SCT_OK;
}

static sct_status read_line(reader *r, cli_ncu *out, const char *at, int n_launches) {
  int n = 0;
  if (r->n_fields == 0) {
    return sct_has_prefix(at, "\"ID\"") ? read_head(r, at) : SCT_OK;
  }
  if (*at == '\n' || *at == '\r' || sct_has_prefix(at, "==")) {
    return SCT_OK;
  }
  SCT_TRY(read_fields(r, at, &n));
  if (n != r->n_fields) {
    return fail_line(r, "%d fields, where the profiler's table has %d columns", n, r->n_fields);
  }
  if (r->fields[0][0] == '\0') {
    read_units(r);
    return SCT_OK;
  }
  if (out->n_launches == n_launches) {
    return fail_line(r, "the profiler shows more than the %d launches that were made", n_launches);
  }
  return read_launch(r, out->values[out->n_launches++]);
}

/* The last line that is not blank, trimmed. */
static const char *last_words(sct_arena *arena, const char *text) {
  const char *last = "nothing";
  size_t n = strlen(last);
  for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
    const size_t length = strcspn(at, "\r\n");
    if (length > 0) {
      last = at;
      n = length;
    }
  }
  return sct_arena_strndup(arena, last, n < 300 ? n : 300);
}

sct_status cli_ncu_read(cli_ncu *out, const char *text, const char *name, int n_launches,
                        const bool wanted[CLI_N_METRICS], sct_error *err) {
  reader r = {.name = name, .wanted = wanted, .err = err};
  sct_status status = SCT_OK;
  *out = (cli_ncu){.values = sct_alloc((size_t)(n_launches + 1) * sizeof *out->values)};
  for (const char *at = text; status == SCT_OK && *at != '\0';) {
    r.line++;
    status = read_line(&r, out, at, n_launches);
    at += strcspn(at, "\n");
    at += *at == '\n';
  }
  if (status == SCT_OK && r.n_fields == 0) {
    status = sct_fail(err, SCT_EDATA, "the profiler printed no table; it said: %s",
                      last_words(&r.arena, text));
  } else if (status == SCT_OK && out->n_launches < n_launches) {
    status = sct_fail(err, SCT_EDATA, "%s: the profiler shows %d of the %d launches that were made",
                      name, out->n_launches, n_launches);
  }
  sct_arena_free(&r.arena);
  if (status != SCT_OK) {
    cli_ncu_free(out);
  }
  return status;
}

void cli_ncu_free(cli_ncu *ncu) {
  sct_free(ncu->values);
  *ncu = (cli_ncu){0};
}

/* ---- finding ---- */

/* The last file of the pattern, by name the newest version, that may be run. */
static bool find_pattern(sct_str *out, const char *directory, const char *pattern) {
  SCT_SCOPED(sct_str) whole = {0};
  glob_t found = {0};
  if (!directory || directory[0] == '\0') {
    return false;
  }
  sct_str_printf(&whole, "%s%s", directory, pattern);
  const int result = glob(sct_str_c(&whole), 0, NULL, &found);
  for (size_t k = found.gl_pathc; result == 0 && out->len == 0 && k > 0; k--) {
    if (access(found.gl_pathv[k - 1], X_OK) == 0) {
      sct_str_append(out, found.gl_pathv[k - 1]);
    }
  }
  globfree(&found);
  return out->len > 0;
}

static bool find_in_path(sct_str *out) {
  const char *at = getenv("PATH");
  while (at != NULL && *at != '\0') {
    const size_t n = strcspn(at, ":");
    SCT_SCOPED(sct_str) file = {0};
    sct_str_append_n(&file, at, n);
    sct_str_append(&file, "/ncu");
    const bool found = n > 0 && access(sct_str_c(&file), X_OK) == 0;
    sct_str_append(out, found ? sct_str_c(&file) : "");
    if (found) {
      return true;
    }
    at += n + (at[n] == ':');
  }
  return false;
}

static sct_status find_ncu(sct_str *out, sct_error *err) {
  const char *const toolkits[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  bool found = find_in_path(out);
  for (int k = 0; k < SCT_COUNT(toolkits) && !found; k++) {
    found = find_pattern(out, toolkits[k], "/bin/ncu") ||
            find_pattern(out, toolkits[k], "/nsight-compute*/ncu");
  }
  found = found || find_pattern(out, "/opt/nvidia/nsight-compute", "/*/ncu");
  return found ? SCT_OK
               : sct_fail(err, SCT_ENODEVICE,
                          "NVIDIA's profiler `ncu` was not found in PATH, in CUDA_HOME, CUDA_PATH "
                          "and /usr/local/cuda (bin, nsight-compute*), nor in "
                          "/opt/nvidia/nsight-compute: install Nsight Compute, which CUDA toolkits "
                          "have, or add its directory to PATH");
}

/* ---- running ---- */

/* A new empty file; its name. */
static sct_status make_file(sct_str *out, const char *what, sct_error *err) {
  const char *directory = getenv("TMPDIR");
  sct_str_printf(out, "%s/sectile-%s-XXXXXX", directory && directory[0] ? directory : "/tmp", what);
  const int fd = sct_mkostemp(out->data, O_CLOEXEC);
  if (fd < 0) {
    out->len = 0;
    return sct_fail(err, SCT_EIO, "cannot make a file '%s'", out->data);
  }
  (void)sct_close(fd);
  return SCT_OK;
}

static sct_status find_self(char out[4096], sct_error *err) {
  const ssize_t n = readlink("/proc/self/exe", out, 4095);
  if (n <= 0) {
    return sct_fail(err, SCT_EIO, "cannot read the link /proc/self/exe");
  }
  out[n] = '\0';
  return SCT_OK;
}

static sct_status run_ncu(int *wait_status, const char *launches, const char *log,
                          const bool wanted[CLI_N_METRICS], sct_error *err) {
  char self[4096];
  SCT_SCOPED(sct_str) ncu = {0}, metrics = {0};
  for (int k = 0; k < CLI_N_METRICS; k++) {
    if (wanted[k]) {
      sct_str_printf(&metrics, "%s%s", metrics.len > 0 ? "," : "", cli_metrics[k].name);
    }
  }
  SCT_TRY(find_self(self, err));
  SCT_TRY(find_ncu(&ncu, err));
  const char *const argv[] = {sct_str_c(&ncu),
                              "--csv",
                              "--page",
                              "raw",
                              "--print-units",
                              "base", /* no Kbyte */
                              "--clock-control",
                              "none",
                              "--metrics",
                              sct_str_c(&metrics),
                              self,
                              SCT_LAUNCHES_ARG,
                              launches,
                              NULL};
  return sct_program_run(wait_status, (char *const *)(uintptr_t)argv, log, LIMIT_NS, err);
}

/* The line that holds `mark`, from there on; NULL: none does. */
static const char *line_with(sct_arena *arena, const char *text, const char *mark) {
  const char *at = strstr(text, mark);
  return at ? sct_arena_strndup(arena, at, strcspn(at, "\r\n")) : NULL;
}

/* The message of the profiler, or of the process that it ran, about a failure. */
static sct_status check_log(const char *text, int wait_status, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  sct_status status = SCT_OK;
  char ended[64];
  const char *ours = line_with(&arena, text, "sectile: ");
  const char *theirs = line_with(&arena, text, "==ERROR== ");
  sct_child_describe_end(ended, sizeof ended, wait_status);
  if (strstr(text, "ERR_NVGPUCTRPERM")) {
    status = sct_fail(err, SCT_ENODEVICE,
                      "the driver lets only administrators count (ERR_NVGPUCTRPERM): run as root, "
                      "or load the driver's module nvidia with the option "
                      "NVreg_RestrictProfilingToAdminUsers=0");
  } else if (ours) {
    status = sct_fail(err, SCT_ENODEVICE, "the launches on the GPU failed: %s", ours + 9);
  } else if (theirs) {
    status = sct_fail(err, SCT_ENODEVICE, "the profiler refused: %s", theirs + 10);
  } else if (wait_status != 0) {
    status = sct_fail(err, SCT_ENODEVICE, "the profiler %s; it said: %s", ended,
                      last_words(&arena, text));
  }
  return status;
}

static void remove_file(sct_str *path) {
  if (path->len > 0) {
    (void)unlink(sct_str_c(path));
  }
  sct_str_free(path);
}

sct_status cli_ncu_run(cli_ncu *out, const sct_device_desc *device, int n_launches,
                       const bool wanted[CLI_N_METRICS], cli_launches_fn *write_launches, void *ctx,
                       sct_error *err) {
  sct_str launches = {0}, log = {0}, text = {0};
  int wait_status = 0;
  *out = (cli_ncu){0};
  if (n_launches == 0) {
    return SCT_OK;
  }
  sct_status status = make_file(&launches, "launches", err);
  SCT_THEN(make_file(&log, "ncu", err));
  SCT_THEN(write_launches(ctx, (int)strtol(device->id + strlen("cuda:"), NULL, 10),
                          sct_str_c(&launches), err));
  SCT_THEN(run_ncu(&wait_status, sct_str_c(&launches), sct_str_c(&log), wanted, err));
  SCT_THEN(sct_file_read(&text, sct_str_c(&log), err));
  SCT_THEN(check_log(sct_str_c(&text), wait_status, err));
  SCT_THEN(cli_ncu_read(out, sct_str_c(&text), "ncu", n_launches, wanted, err));
  remove_file(&launches);
  remove_file(&log);
  sct_str_free(&text);
  return status;
}
