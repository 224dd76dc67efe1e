/* The command `report`: a session as one page that needs no network and no script. A complete
 * session only reads the store. */
#include "cli/cli_chart.h"
#include "cli/cli_count.h"

#include <math.h>
#include <string.h>

enum { SERIES = 8, SHOWN_ROWS = 10, SHOWN_PATTERNS = 4, MOST_STRATEGIES = 64 };

/* What a page is made of, at one size. */
typedef struct page {
  sct_str *out;
  const cli_args *args;
  const sct_tune_report *report;
  const sct_tune_size *size;
  const char *strategies[MOST_STRATEGIES]; /* labels that begin with each, in the order of rows */
  int n_strategies;
  sct_arena arena;
} page;

static bool is_timed(const page *p) {
  return p->size->n_rows > 0 && p->size->rows[0].median_ns > 0.0;
}

SCT_PRINTF(2, 3)
static void put(page *p, const char *fmt, ...) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_STR_FORMAT(&text, fmt);
  cli_html(p->out, sct_str_c(&text));
}

static void html(page *p, const char *markup) {
  sct_str_append(p->out, markup);
}

/* ---- strategies are colours; naive ones are the first ---- */

static size_t strategy_length(const char *label) {
  return strcspn(label, " ");
}

static bool same_strategy(const char *a, const char *b) {
  const size_t n = strategy_length(a);
  return n == strategy_length(b) && strncmp(a, b, n) == 0;
}

/* The colour of a row; more strategies than colours share some. */
static int series_of(page *p, const sct_tune_row *row) {
  int k = 0;
  if (row->naive) {
    return 0;
  }
  while (k < p->n_strategies && !same_strategy(p->strategies[k], row->label)) {
    k++;
  }
  if (k == p->n_strategies && k < MOST_STRATEGIES) {
    p->strategies[p->n_strategies++] = row->label;
  }
  return 1 + k % (SERIES - 1);
}

/* Of what series_of() was asked about. */
static void put_legend(page *p) {
  html(p, "<ul class=\"legend\"><li><i class=\"s0\">&#9679;</i> naive variants</li>");
  for (int k = 0; k < p->n_strategies; k++) {
    const char *label = p->strategies[k];
    sct_str_printf(p->out, "<li><i class=\"s%d\">&#9679;</i> ", 1 + k % (SERIES - 1));
    put(p, "%.*s", (int)strategy_length(label), label);
    html(p, "</li>");
  }
  html(p, "</ul>\n");
}

/* ---- candidates ---- */

static void put_scatter(page *p) {
  const int n = p->size->n_rows;
  cli_point *points = SCT_ARENA_NEW(&p->arena, cli_point, n + 1);
  p->n_strategies = 0;
  for (int r = 0; r < n; r++) {
    const sct_tune_row *row = &p->size->rows[r];
    char time[32];
    points[r] = (cli_point){.x = sct_tune_row_good(row) ? 32.0 * row->sectors : 0.0,
                            .y = 1e-9 * sct_tune_row_ns(row),
                            .series = series_of(p, row),
                            .ringed = row->winner,
                            .title = sct_arena_printf(&p->arena, "%s: %s", row->label,
                                                      sct_format_ns(time, sct_tune_row_ns(row)))};
  }
  html(p, "<h3>All candidates: time by bytes of the sectors that requests touch</h3>\n");
  const cli_axis time = {is_timed(p) ? "time" : "time, predicted", "s"};
  cli_chart(p->out, points, n, NULL, 0, (cli_axis){"bytes of sectors", "B"}, time);
  put_legend(p);
  if (is_timed(p)) {
    for (int r = 0; r < n; r++) {
      points[r].x = 1e-9 * p->size->rows[r].predicted_ns;
    }
    html(p, "<h3>Measured by predicted</h3>\n");
    cli_chart(p->out, points, n, NULL, 0, (cli_axis){"time, predicted", "s"}, time);
  }
}

static void put_row(page *p, const sct_tune_row *row, int rank) {
  char time[32];
  sct_str_printf(p->out, "<tr%s><td class=\"n\">%d</td><td class=\"n\">",
                 row->winner ? " class=\"winner\"" : "", rank);
  put(p, "%s",
      !sct_tune_row_good(row)      ? "failed"
      : sct_tune_row_ns(row) > 0.0 ? sct_format_ns(time, sct_tune_row_ns(row))
                                   : "");
  html(p, "</td><td class=\"code\">");
  put(p, "%s", row->label);
  if (!sct_tune_row_good(row)) {
    html(p, "</td><td colspan=\"5\">");
    put(p, "%s", row->outcome);
    html(p, "</td></tr>\n");
    return;
  }
  sct_str_printf(p->out,
                 "</td><td>%s</td><td class=\"n\">%.1f</td><td class=\"n\">%.1f</td>"
                 "<td class=\"n\">%.3g %%</td><td class=\"n\">%d</td></tr>\n",
                 row->predicted_limit ? row->predicted_limit : "", row->sectors_ld, row->sectors_st,
                 100.0 * row->degree, row->registers);
}

static void put_table(page *p, int from, int to) {
  html(p, "<div class=\"wide\"><table><tr><th class=\"n\">#</th>"
          "<th class=\"n\">time</th><th>candidate</th><th>waits for</th><th class=\"n\">sectors a "
          "load</th>"
          "<th class=\"n\">a store</th><th class=\"n\">coalesced</th>"
          "<th class=\"n\">registers</th></tr>\n");
  for (int r = from; r < to; r++) {
    put_row(p, &p->size->rows[r], r + 1);
  }
  html(p, "</table></div>\n");
}

static void put_candidates(page *p) {
  const int n = p->size->n_rows, shown = n < SHOWN_ROWS ? n : SHOWN_ROWS;
  put_scatter(p);
  put_table(p, 0, shown);
  if (n > shown) {
    sct_str_printf(p->out, "<details><summary>%d more</summary>\n", n - shown);
    put_table(p, shown, n);
    html(p, "</details>\n");
  }
}

/* ---- the best by each value of each axis of the winner's strategy ---- */

/* Does the label hold this "key=value"? */
static bool has_token(const char *label, const char *token, size_t n) {
  for (const char *at = strchr(label, ' '); at; at = strchr(at + 1, ' ')) {
    if (strncmp(at + 1, token, n) == 0 && (at[1 + n] == ' ' || at[1 + n] == '\0')) {
      return true;
    }
  }
  return false;
}

/* The times of the winner's strategy, with this token or whatever they have (NULL): how many, in
 * `out` [n_rows]. They ascend, as rows do. */
static int times_with(const page *p, double *out, const char *token, size_t n) {
  const char *winner = p->size->rows[0].label;
  int found = 0;
  for (int r = 0; r < p->size->n_rows; r++) {
    const sct_tune_row *row = &p->size->rows[r];
    if (sct_tune_row_good(row) && sct_tune_row_ns(row) > 0.0 && same_strategy(row->label, winner) &&
        (!token || has_token(row->label, token, n))) {
      out[found++] = sct_tune_row_ns(row);
    }
  }
  sct_sort_doubles(out, (size_t)found);
  return found;
}

/* A value of an axis, as it stands in a label. */
typedef struct value {
  const char *text;
  size_t n;
} value;

/* The values that rows of the winner's strategy have of the axis of `token`, at most `most`. */
static int values_of(const page *p, const char *token, value *out, int most) {
  const char *winner = p->size->rows[0].label;
  const size_t key = strcspn(token, "= ") + 1;
  int n = 0;
  for (int r = 0; r < p->size->n_rows; r++) {
    const char *label = p->size->rows[r].label;
    const char *at = strchr(label, ' ');
    if (strncmp(label, winner, strategy_length(winner) + 1) != 0) {
      continue;
    }
    while (at && strncmp(at + 1, token, key) != 0) {
      at = strchr(at + 1, ' ');
    }
    bool known = !at || n == most;
    for (int k = 0; k < n && !known; k++) {
      known = has_token(label, out[k].text, out[k].n);
    }
    if (!known) {
      out[n++] = (value){at + 1, strcspn(at + 1, " ")};
    }
  }
  return n;
}

/* The times of one value: `all` are those of every value, `times` has room for as many. */
static void put_value(page *p, value v, const double *all, int n_all, double *times) {
  const double best = sct_tune_row_ns(&p->size->rows[0]);
  const int n = times_with(p, times, v.text, v.n);
  char text[32];
  if (n == 0) {
    return;
  }
  double quartile[5];
  for (int k = 0; k < 5; k++) {
    quartile[k] = sct_quantile(times, n, k / 4.0);
  }
  html(p, "<tr><td class=\"code\">");
  put(p, "%.*s", (int)v.n, v.text);
  sct_str_printf(p->out, "</td><td class=\"n\">%d</td><td class=\"n\">", n);
  put(p, "%s", sct_format_ns(text, times[0]));
  sct_str_printf(p->out, "</td><td class=\"n\">%+.1f %%</td><td class=\"n\">",
                 100.0 * (times[0] / best - 1.0));
  put(p, "%s", sct_format_ns(text, quartile[2]));
  html(p, "</td><td>");
  cli_range(p->out, quartile, all[0], all[n_all - 1]);
  html(p, "</td></tr>\n");
}

/* Each value of each axis that has several; of one value there is nothing to compare. */
static void put_axes(page *p) {
  const char *label = p->size->rows[0].label;
  double *all = SCT_ARENA_NEW(&p->arena, double, p->size->n_rows + 1);
  double *times = SCT_ARENA_NEW(&p->arena, double, p->size->n_rows + 1);
  const int n_all = times_with(p, all, NULL, 0);
  value values[64];
  html(p, "<h3>Time by each value of each axis</h3>\n<p class=\"note\">");
  put(p,
      "All candidates of '%.*s': the best (dot), the middle half (box), the median and the worst.",
      (int)strategy_length(label), label);
  html(p, "</p>\n<div class=\"wide\"><table><tr><th>value</th><th class=\"n\">candidates</th><th "
          "class=\"n\">best</th><th class=\"n\">to the winner</th><th class=\"n\">median</th>"
          "<th></th></tr>\n");
  for (const char *at = strchr(label, ' '); at; at = strchr(at + 1, ' ')) {
    const int n = values_of(p, at + 1, values, SCT_COUNT(values));
    for (int k = 0; k < n && n > 1; k++) {
      put_value(p, values[k], all, n_all, times);
    }
  }
  html(p, "</table></div>\n");
}

/* ---- the naive variant and the winner, access by access ---- */

static void put_accesses(page *p, const char *name, const sct_profile *profile) {
  for (int k = 0; k < profile->n_accesses; k++) {
    const sct_profile_access *a = &profile->accesses[k];
    const sct_ptx_global *g = &a->global;
    if (a->is_shared) {
      continue;
    }
    html(p, "<tr><td>");
    put(p, "%s, %s:%d", name, sct_path_basename(a->file), a->line);
    sct_str_printf(p->out,
                   "</td><td>%s</td><td class=\"n\">%.3g</td><td class=\"n\">%.1f</td>"
                   "<td class=\"n\">%.1f</td><td>",
                   sct_access_name(a->kind), sct_per(g->bytes, a->lanes),
                   sct_per(g->sectors, g->requests), sct_per(g->sectors_ideal, g->requests));
    cli_sectors(p->out, sct_per(g->sectors, g->requests), sct_per(g->distinct_bytes, g->moved));
    html(p, "</td></tr>\n");
  }
}

/* Appends line `line` of the kernel's text without its indent. */
static void put_line_of(page *p, const sct_count_row *row, const sct_profile_access *a) {
  const char *at = row->source;
  for (int line = 1; at && line < a->line; line++) {
    at = strchr(at, '\n');
    at = at ? at + 1 : NULL;
  }
  if (at && strcmp(a->file, "source") == 0) {
    at += strspn(at, " ");
    html(p, "<code>");
    put(p, "%.*s", (int)strcspn(at, "\n"), at);
    html(p, "</code> ");
  }
}

static void put_pattern(page *p, const sct_count_row *row, const sct_profile_access *a, int lines) {
  const sct_ptx_global *g = &a->global;
  html(p, "<figure><figcaption>");
  put_line_of(p, row, a);
  if (a->is_shared) {
    put(p, "%s:%d, %s of shared memory: %.1f wavefronts a request, %.1f would do",
        sct_path_basename(a->file), a->line, sct_access_name(a->kind),
        sct_per(a->shared.wavefronts, a->shared.requests),
        sct_per(a->shared.wavefronts_ideal, a->shared.requests));
  } else {
    put(p, "%s:%d, %s%s%s of %d bytes a lane: %.1f sectors a request, %.1f would do",
        sct_path_basename(a->file), a->line, sct_access_name(a->kind),
        a->request->buffer ? " of " : "", a->request->buffer ? a->request->buffer : "",
        a->request->width, sct_per(g->sectors, g->requests),
        sct_per(g->sectors_ideal, g->requests));
  }
  html(p, "</figcaption>\n");
  if (a->is_shared) {
    cli_banks(p->out, a->request);
  } else {
    cli_lanes(p->out, a->request, lines);
  }
  html(p, "</figure>\n");
}

static bool is_drawn(const sct_profile_access *a) {
  return a->request && a->request->mask != 0;
}

/* The worst accesses of a profile to global or to shared memory, each by one request. */
static void put_patterns(page *p, const char *title, const sct_count_row *row,
                         const sct_profile *profile, bool shared, int lines) {
  int n = 0, left = 0;
  for (int k = 0; k < profile->n_accesses; k++) {
    const sct_profile_access *a = &profile->accesses[k];
    if (a->is_shared != shared || !is_drawn(a)) {
      continue;
    }
    if (n == 0) {
      html(p, "<h4>");
      put(p, "%s", title);
      html(p, "</h4>\n<div class=\"patterns\">\n");
    }
    if (n < SHOWN_PATTERNS) {
      put_pattern(p, row, a, lines);
      n++;
    } else {
      left++;
    }
  }
  html(p, n > 0 ? "</div>\n" : "");
  if (left > 0) {
    sct_str_printf(p->out, "<p class=\"note\">%d more lines.</p>\n", left);
  }
}

/* The room that pictures of both need: what is compared has one scale. */
static int lines_of(const sct_profile *profile, int least) {
  for (int k = 0; k < profile->n_accesses; k++) {
    const sct_profile_access *a = &profile->accesses[k];
    if (!a->is_shared && is_drawn(a)) {
      const int lines = cli_request_lines(a->request);
      least = lines > least ? lines : least;
    }
  }
  return least;
}

static void put_pictures(page *p, const sct_count_row *naive, const sct_profile *of_naive,
                         const sct_count_row *winner, const sct_profile *of_winner) {
  const int lines = lines_of(of_winner, lines_of(of_naive, 1));
  html(p, "<h3>Access patterns</h3>\n<p class=\"note\">One request of a line: 32 lanes over the "
          "lines of 128 bytes that they touch. Boxes are sectors of 32 bytes, which are moved "
          "whole: <i class=\"s1\">&#9632;</i> is used, <i class=\"waste\">&#9632;</i> is moved for "
          "nothing; empty ones stay where they are.</p>\n");
  put_patterns(p, "The naive variant", naive, of_naive, false, lines);
  put_patterns(p, "The winner", winner, of_winner, false, lines);
  put_patterns(p, "The winner's tile in shared memory: which lane wants which word of which bank",
               winner, of_winner, true, lines);
}

/* The kernel's text, with the sectors of a request and how many would do in front of its lines. */
static void put_source(page *p, const sct_count_row *row, const sct_profile *profile) {
  const char *at = row->source;
  html(p, "<details><summary>The winner's kernel, with the sectors of a request next to its lines"
          "</summary>\n<pre class=\"source\">");
  for (int line = 1; *at != '\0'; line++) {
    const size_t n = strcspn(at, "\n");
    double each = 0.0, ideal = 0.0;
    for (int k = 0; k < profile->n_accesses; k++) {
      const sct_profile_access *a = &profile->accesses[k];
      if (!a->is_shared && a->line == line && strcmp(a->file, "source") == 0) {
        each = fmax(each, sct_per(a->global.sectors, a->global.requests));
        ideal = fmax(ideal, sct_per(a->global.sectors_ideal, a->global.requests));
      }
    }
    if (each > 0.0) {
      sct_str_printf(p->out, "<b>%5.1f</b><u>/%-5.1f</u> ", each, ideal);
    } else {
      html(p, "            ");
    }
    put(p, "%.*s", (int)n, at);
    html(p, "\n");
    at += n + (at[n] == '\n');
  }
  html(p, "</pre></details>\n");
}

static cli_point point_of(const char *name, int series, const sct_speed *s) {
  double all = 0.0;
  for (int t = 0; t < SCT_PTX_N_FLOPS; t++) {
    all += s->flops[t];
  }
  return (cli_point){.x = s->known ? s->intensity : 0.0,
                     .y = s->known ? all / s->ns * 1e9 : 0.0,
                     .series = series,
                     .ringed = series > 0,
                     .title = name};
}

static void put_roofline(page *p, const sct_profile *naive, const sct_profile *winner) {
  const sct_speed *s = &winner->speed;
  const double bandwidth = p->report->device.peak_bytes_s, peak = s->peak_flops[s->main_type];
  const cli_point points[] = {point_of("the naive variant", 0, &naive->speed),
                              point_of("the winner", 1, s)};
  if (!s->known || s->intensity <= 0.0 || peak <= 0.0) {
    html(p, "<p class=\"note\">No roofline: the kernel has no floating-point operations.</p>\n");
    return;
  }
  const double from = fmin(s->intensity, s->ridge) / 4.0, to = fmax(s->intensity, s->ridge) * 4.0;
  const cli_line roofs[] = {{from, from * bandwidth, s->ridge, peak}, {s->ridge, peak, to, peak}};
  html(p, "<h3>Roofline, predicted</h3>\n");
  cli_chart(p->out, points, 2, roofs, 2, (cli_axis){"operations a byte of DRAM", ""},
            (cli_axis){"operations a second", "/s"});
  html(p, "<ul class=\"legend\"><li><i class=\"s0\">&#9679;</i> the naive variant</li>"
          "<li><i class=\"s1\">&#9679;</i> the winner</li></ul>\n");
}

static sct_status open_row(const page *p, cli_candidate **out, const char *label, sct_error *err) {
  cli_args args = *p->args;
  args.pick = label;
  args.size = p->size->label;
  return cli_candidate_open(out, &args, &p->report->device, err);
}

static sct_status put_profiles(page *p, sct_error *err) {
  cli_candidate *naive = NULL, *winner = NULL;
  const sct_tune_row *first = NULL;
  for (int r = 0; r < p->size->n_rows && !first; r++) {
    first =
        p->size->rows[r].naive && sct_tune_row_good(&p->size->rows[r]) ? &p->size->rows[r] : NULL;
  }
  sct_status status = open_row(p, &winner, p->size->rows[0].label, err);
  SCT_THEN(open_row(p, &naive, first ? first->label : p->size->rows[0].label, err));
  if (status == SCT_OK) {
    sct_profile of_naive, of_winner;
    sct_count_profile(&of_naive, cli_candidate_row(naive), &p->report->device);
    sct_count_profile(&of_winner, cli_candidate_row(winner), &p->report->device);
    html(p, "<h3>Sectors that a request touches, and how much of each is used</h3>\n"
            "<div class=\"wide\"><table><tr><th>line</th><th>access</th><th class=\"n\">bytes a "
            "lane</th><th class=\"n\">sectors</th><th class=\"n\">ideal</th><th></th></tr>\n");
    put_accesses(p, "naive", &of_naive);
    put_accesses(p, "winner", &of_winner);
    html(p, "</table></div>\n");
    put_pictures(p, cli_candidate_row(naive), &of_naive, cli_candidate_row(winner), &of_winner);
    put_source(p, cli_candidate_row(winner), &of_winner);
    put_roofline(p, &of_naive, &of_winner);
    sct_profile_free(&of_naive);
    sct_profile_free(&of_winner);
  }
  cli_candidate_free(naive);
  cli_candidate_free(winner);
  return status;
}

/* ---- the page ---- */

static void put_lines(page *p, const char *lines) {
  for (const char *at = lines; at && *at != '\0';) {
    const size_t n = strcspn(at, "\n");
    html(p, "<p>");
    put(p, "%.*s", (int)n, at);
    html(p, "</p>\n");
    at += n + (at[n] == '\n');
  }
}

static void put_note(page *p, const char *text) {
  if (text) {
    html(p, "<p class=\"note\">");
    put(p, "%s.", text);
    html(p, "</p>\n");
  }
}

/* Which state the rows of a size are of. */
static void put_notes(page *p) {
  const sct_tune_size *z = p->size;
  put_note(p, z->faster);
  put_note(p, z->converted);
  put_note(p, z->kept);
  put_note(p, z->recorded);
  if (is_timed(p) && z->n_stored > 0 && z->n_stored < z->n_rows) {
    html(p, "<p class=\"note\">");
    put(p,
        "%d rows were measured by this session; %d, whose kernels are still the same, by earlier "
        "ones.",
        z->n_rows - z->n_stored, z->n_stored);
    html(p, "</p>\n");
  }
}

static sct_status put_size(page *p, sct_error *err) {
  const sct_tune_size *z = p->size;
  char read[32], write[32];
  html(p, "<h2>");
  put(p, "%s", z->label);
  html(p, "</h2>\n<p class=\"note\">");
  put(p, "Reads %s, writes %s. %d verified, %d failed, %d not tried%s%s.",
      sct_format_bytes(read, z->read_bytes), sct_format_bytes(write, z->write_bytes), z->n_verified,
      z->n_failed, z->n_untried, z->decided ? "; " : "", z->decided ? z->decided : "");
  html(p, "</p>\n");
  if (z->n_rows == 0 || !z->rows[0].winner) {
    html(p, "<p>No candidate passed.</p>\n");
    return SCT_OK;
  }
  put_notes(p);
  html(p, "<p><strong><code>");
  put(p, "%s", z->rows[0].label);
  html(p, "</code></strong></p>\n");
  put_lines(p, z->why);
  put_lines(p, z->best);
  for (int k = 0; k < z->n_issues; k++) {
    const sct_advice *a = &z->issues[k];
    html(p, "<p><strong>Issue: ");
    put(p, "%s.", a->id);
    html(p, "</strong> ");
    put(p, "%s. Try: %s. Gain: up to %.3g %% of the %s.", a->evidence, a->advice, 100.0 * a->gain,
        a->of);
    html(p, "</p>\n");
  }
  SCT_TRY(put_profiles(p, err));
  put_candidates(p);
  put_axes(p);
  return SCT_OK;
}

static sct_status put_body(page *p, sct_error *err) {
  const sct_tune_report *r = p->report;
  html(p, "<h1>");
  put(p, "%s", r->name);
  html(p, "</h1>\n<p class=\"note\">");
  put(p, "%s (%s, compute capability %d.%d): %s. %lld candidates. Sectile %s.", r->device.name,
      r->device.id, r->device.cc_major, r->device.cc_minor, r->says, (long long)r->n_candidates,
      SCT_VERSION);
  html(p, "</p>\n");
  put_note(p, r->stale);
  sct_status status = SCT_OK;
  for (int z = 0; status == SCT_OK && z < r->n_sizes; z++) {
    p->size = &r->sizes[z];
    status = put_size(p, err);
  }
  if (r->conditions.len > 0) {
    html(p, "<h2>Conditions</h2>\n<pre class=\"source\">");
    cli_html(p->out, sct_str_c(&r->conditions));
    html(p, "</pre>\n");
  }
  return status;
}

/* The template with the title and the body in their places. */
sct_status cli_page_fill(sct_str *out, const char *title, const sct_str *body, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(sct_asset_read(&text, "templates/report/page.html", err));
  for (const char *at = sct_str_c(&text); *at != '\0';) {
    const char *hole = strchr(at, '@');
    const size_t n = hole ? (size_t)(hole - at) : strlen(at);
    sct_str_append_n(out, at, n);
    at += n;
    if (sct_has_prefix(at, "@title@")) {
      cli_html(out, title);
      at += strlen("@title@");
    } else if (sct_has_prefix(at, "@body@")) {
      sct_str_append_n(out, sct_str_c(body), body->len);
      at += strlen("@body@");
    } else if (*at == '@') { /* of CSS */
      sct_str_append_n(out, at++, 1);
    }
  }
  return SCT_OK;
}

static sct_status write_page(const cli_args *args, const sct_tune_report *report, sct_error *err) {
  SCT_SCOPED(sct_str) body = {0}, text = {0};
  page p = {.out = &body, .args = args, .report = report};
  sct_status status = put_body(&p, err);
  SCT_THEN(cli_page_fill(&text, report->name, &body, err));
  if (status == SCT_OK) {
    status = cli_put(args, &text, err);
  }
  sct_arena_free(&p.arena);
  return status;
}

typedef struct session {
  cli_progress progress;
} session;

static void on_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  session *s = ctx;
  cli_progress_step(&s->progress, sct_now_ns(), phase, done, total, item);
}

sct_status cli_page(const cli_args *args, sct_error *err) {
  session s = {.progress = cli_progress_new(args)};
  const sct_tune_opts opts = {.device = args->device,
                              .store_path = args->store,
                              .strategy_dir = args->strategies,
                              .only = {args->only.n, args->only.items},
                              .seed = args->seed,
                              .settle = args->max_candidates == 0 && args->only.n == 0,
                              .max_candidates = args->max_candidates,
                              .measure = cli_measure_opts(args)};
  const sct_tune_events events = {.ctx = &s, .progress = on_progress};
  SCT_SCOPED(sct_tune_report) report = {0};
  if (args->out) {
    const char *const reads[] = {args->words[0]};
    SCT_TRY(cli_check_target(args, args->out, reads, 1, err));
  }
  cli_progress_start(&s.progress, sct_now_ns(), args->words[0]);
  const sct_status outcome = cli_hint_example(
      sct_tune_run(&report, args->words[0], &opts, &events, err), args->words[0], err);
  cli_progress_clear(&s.progress);
  sct_status status = outcome;
  if (report.name) {
    sct_error why = {0};
    status = write_page(args, &report, &why);
    if (status != SCT_OK) {
      *err = why;
    }
    status = status == SCT_OK ? outcome : status;
  }
  return status;
}
