/* How far a session is: one line drawn anew on a terminal, sparse lines elsewhere. */
#include "cli/cli_internal.h"

#include <string.h>
#include <unistd.h>

#define REDRAW_NS  ((int64_t)100 * 1000000)       /* on a terminal */
#define TICK_NS    ((int64_t)500 * 1000000)       /* there, while a step takes long */
#define SPARSE_NS  ((int64_t)10 * 1000 * 1000000) /* between lines elsewhere */
#define SETTLED_NS ((int64_t)500 * 1000000)       /* no guess at the time left before */
#define BAR_CELLS  24

void cli_format_left(char out[32], int64_t ns) {
  const long long s = (long long)((ns + 999999999) / 1000000000);
  if (s < 60) {
    snprintf(out, 32, "%lld s", s);
  } else if (s < 3600) {
    snprintf(out, 32, "%lld min %lld s", s / 60, s % 60);
  } else {
    snprintf(out, 32, "%lld h %lld min", s / 3600, s % 3600 / 60);
  }
}

void cli_progress_bar(sct_str *out, int64_t done, int64_t total, int64_t left_ns, int cells) {
  const int64_t full = total > 0 && done < total ? done * cells / total : cells;
  sct_str_append(out, "[");
  for (int64_t c = 0; c < cells; c++) {
    sct_str_append(out, c < full ? "#" : "-");
  }
  sct_str_printf(out, "] %lld/%lld", (long long)done, (long long)total);
  if (left_ns >= 0) {
    char left[32];
    cli_format_left(left, left_ns);
    sct_str_printf(out, "  %s left", left);
  }
}

/* Estimated from the pace of this phase so far; -1 while that is too early. */
static int64_t time_left(const cli_progress *p, int64_t now_ns, int64_t done, int64_t total) {
  const int64_t elapsed = now_ns - p->phase_start_ns, made = done - p->phase_first;
  if (elapsed < SETTLED_NS || made < 1 || done >= total) {
    return -1;
  }
  return (int64_t)((double)elapsed / (double)made * (double)(total - done));
}

/* The lines below each other; the cursor stays in the line under them. */
static void draw_group(cli_progress *p, const char *line) {
  cli_progress_group *g = p->group;
  const int room = p->width - 1;
  sct_free(g->lines[p->line]);
  g->lines[p->line] = sct_strdup(line);
  if (g->n_drawn > 0) {
    fprintf(p->out, "\033[%dA", g->n_drawn);
  }
  for (int k = 0; k < g->n; k++) {
    fprintf(p->out, "\r\033[K%.*s\n", room > 0 ? room : 0, g->lines[k] ? g->lines[k] : "");
  }
  fflush(p->out);
  g->n_drawn = g->n;
}

/* Is it known how many steps the phase has? A search that ends by itself leaves candidates out. */
static bool has_end(const cli_progress *p) {
  static const char *const open[] = {"compile", "check", "verify", "time"};
  for (int k = 0; p->settles && k < SCT_COUNT(open); k++) {
    if (strcmp(p->phase, open[k]) == 0) {
      return false;
    }
  }
  return true;
}

static void draw(cli_progress *p, int64_t now_ns) {
  SCT_SCOPED(sct_str) line = {0};
  char passed[32];
  cli_format_left(passed, now_ns - (p->start_ns ? p->start_ns : p->phase_start_ns));
  if (p->group) {
    sct_str_printf(&line, "%-8s ", p->device);
  }
  sct_str_printf(&line, "%-8s ", p->phase);
  if (has_end(p)) {
    cli_progress_bar(&line, p->done, p->total, time_left(p, now_ns, p->done, p->total), BAR_CELLS);
  } else {
    sct_str_printf(&line, "%lld of at most %lld", (long long)p->done, (long long)p->total);
  }
  sct_str_printf(&line, "  %s", passed);
  if (p->item[0] != '\0') {
    sct_str_printf(&line, "  %s", p->item);
  }
  const int room = p->width - 1; /* a full line would wrap and stay */
  if (p->group) {
    draw_group(p, line.data);
  } else {
    fprintf(p->out, "\r\033[K%.*s", room > 0 ? room : 0, line.data);
    fflush(p->out);
  }
  p->drawn = true;
}

static void print_sparse(cli_progress *p, int64_t now_ns, int64_t done, int64_t total) {
  char took[32];
  fprintf(p->out, "%s: %s %lld/%lld (%s)\n", p->subject ? p->subject : "", p->phase,
          (long long)done, (long long)total,
          sct_format_ns(took, (double)(now_ns - p->phase_start_ns)));
  fflush(p->out);
}

void cli_progress_start(cli_progress *p, int64_t now_ns, const char *subject) {
  p->subject = subject;
  p->start_ns = p->step_ns = now_ns;
  p->phase[0] = '\0';
}

void cli_progress_step(cli_progress *p, int64_t now_ns, const char *phase, int64_t done,
                       int64_t total, const char *item) {
  if (p->quiet) {
    return;
  }
  const bool begins = strcmp(phase, p->phase) != 0;
  if (begins) {
    snprintf(p->phase, sizeof p->phase, "%s", phase);
    p->phase_start_ns = p->step_ns; /* the first step is done when it is reported */
    p->phase_first = done > 0 ? done - 1 : 0;
    if (!p->terminal) { /* a phase that ends at once needs one line only */
      p->shown_ns = now_ns;
    }
  }
  p->step_ns = now_ns;
  p->done = done;
  p->total = total;
  snprintf(p->item, sizeof p->item, "%s", item ? item : "");
  const bool ends = done >= total;
  const int64_t pause = p->terminal ? REDRAW_NS : SPARSE_NS;
  if (!ends && !(begins && p->terminal) && now_ns - p->shown_ns < pause) {
    return;
  }
  p->shown_ns = now_ns;
  if (p->terminal) {
    draw(p, now_ns);
  } else {
    print_sparse(p, now_ns, done, total);
  }
}

void cli_progress_tick(cli_progress *p, int64_t now_ns) {
  if (p->terminal && p->drawn && now_ns - p->shown_ns >= TICK_NS) {
    p->shown_ns = now_ns;
    draw(p, now_ns);
  }
}

static void clear_group(cli_progress *p) {
  if (p->group->n_drawn > 0) {
    fprintf(p->out, "\033[%dA\r\033[J", p->group->n_drawn);
    fflush(p->out);
  }
  p->group->n_drawn = 0;
  sct_free(p->group->lines[p->line]); /* the others' are drawn again with the next step */
  p->group->lines[p->line] = NULL;
}

void cli_progress_clear(cli_progress *p) {
  if (p->group) {
    clear_group(p);
  } else if (p->drawn) {
    fputs("\r\033[K", p->out);
    fflush(p->out);
  }
  p->drawn = false;
  p->phase[0] = '\0';
}

void cli_progress_group_free(cli_progress_group *g) {
  for (int k = 0; g->lines && k < g->n; k++) {
    sct_free(g->lines[k]);
  }
}

bool cli_settles(const cli_args *args) {
  return args->search == NULL && args->max_candidates == 0 && args->only.n == 0 && !args->top_of;
}

cli_progress cli_progress_new(const cli_args *args) {
  return (cli_progress){.out = stderr,
                        .settles = cli_settles(args),
                        .quiet = args->verbosity < 0,
                        .terminal = isatty(STDERR_FILENO) != 0,
                        .width = cli_terminal_width(stderr)};
}
