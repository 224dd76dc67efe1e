/* What reaches the terminal: data on stdout, notes and errors on stderr, colour where it is wanted.
 */
#include "cli/cli_internal.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

sct_status cli_print(sct_str *text, sct_error *err) {
  sct_status status = SCT_OK;
  if (text->len > 0 && fwrite(text->data, 1, text->len, stdout) != text->len) {
    status = sct_fail(err, SCT_EIO, "cannot write to standard output: %s", strerror(errno));
  }
  sct_str_free(text);
  return status;
}

sct_status cli_write_output(const cli_args *args, sct_str *text, sct_error *err) {
  if (args->out == NULL) {
    return cli_print(text, err);
  }
  sct_status status = sct_file_write(args->out, sct_str_c(text), text->len, err);
  sct_str_free(text);
  return status;
}

sct_status cli_check_target(const cli_args *args, const char *path, const char *const *reads, int n,
                            sct_error *err) {
  SCT_SCOPED(sct_str) store = {0};
  sct_status status = SCT_OK;
  for (int k = 0; k < n && status == SCT_OK; k++) {
    if (sct_file_same(path, reads[k])) {
      status = sct_fail(
          err, SCT_EUSAGE,
          "'%s' is read by this command: it would be lost; name another file to write", path);
    }
  }
  if (status == SCT_OK && cli_store_path(&store, args, NULL) == SCT_OK &&
      sct_file_same(path, sct_str_c(&store))) {
    status =
        sct_fail(err, SCT_EUSAGE,
                 "'%s' is the store: all results would be lost; name another file to write", path);
  }
  return status;
}

void cli_note(const cli_args *args, const char *fmt, ...) {
  if (args->verbosity < 0) {
    return;
  }
  va_list list;
  va_start(list, fmt);
  fflush(stdout); /* in order, where both are one file */
  vfprintf(stderr, fmt, list);
  fputc('\n', stderr);
  va_end(list);
}

bool cli_starts_with_place(const char *text) {
  const char *colon = text + strcspn(text, ":\n");
  if (colon == text || *colon != ':' || !isdigit((unsigned char)colon[1])) {
    return false;
  }
  const char *end = colon + 1;
  while (isdigit((unsigned char)*end)) {
    end++;
  }
  return *end == ':';
}

/* What the system refused may be a limit of whoever started the program. */
void cli_blame_limits(sct_error *err) {
  static const sct_status refused[] = {SCT_ENOMEM, SCT_EIO, SCT_EINTERNAL, SCT_ENVRTC,
                                       SCT_EUNHEALTHY};
  SCT_SCOPED(sct_str) low = {0};
  for (int k = 0; k < SCT_COUNT(refused); k++) {
    if (err->code == refused[k] && !strstr(err->text, "ulimit") && sct_ulimits_low(&low)) {
      const size_t n = strlen(err->text);
      snprintf(err->text + n, sizeof err->text - n, "; it may be that %s", sct_str_c(&low));
    }
  }
}

void cli_report_of(const char *device, sct_error *err) {
  cli_blame_limits(err);
  const bool placed = cli_starts_with_place(err->text);
  SCT_SCOPED(sct_str) shown = {0}; /* messages quote files of others */
  sct_str_append_printable(&shown, err->text);
  fflush(stdout);
  fprintf(stderr, "%s%s%s%s%s", placed ? "" : "sectile: ", device && !placed ? device : "",
          device && !placed ? ": " : "", sct_str_c(&shown),
          sct_has_suffix(err->text, "\n") ? "" : "\n");
  err->text[0] = '\0';
}

void cli_report(sct_error *err) {
  cli_report_of(NULL, err);
}

bool cli_wants_colour(FILE *stream) {
  const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(fileno(stream)) && !(no_colour && no_colour[0] != '\0') &&
         !(term && strcmp(term, "dumb") == 0);
}

const char *cli_paint(bool colour, cli_style style) {
  static const char *const codes[] = {
      [CLI_PLAIN] = "",          [CLI_BOLD] = "\033[1m",  [CLI_DIM] = "\033[2m",
      [CLI_GOOD] = "\033[1;32m", [CLI_WARN] = "\033[33m", [CLI_BAD] = "\033[31m"};
  return colour ? codes[style] : "";
}

const char *cli_unpaint(bool colour, cli_style style) {
  return colour && style != CLI_PLAIN ? "\033[0m" : "";
}

int cli_output_width(FILE *stream) {
  const char *columns = getenv("COLUMNS");
  const long given = columns ? strtol(columns, NULL, 10) : 0;
  if (given > 0 && given <= INT_MAX) {
    return (int)given;
  }
  return isatty(fileno(stream)) ? cli_terminal_width(stream) : 0;
}

int cli_terminal_width(FILE *stream) {
  struct winsize size = {0};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 80;
}
