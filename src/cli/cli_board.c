/* The leaderboard: what a person wants to know of a session, size by size. */
#include "cli/cli_internal.h"

#include <math.h>
#include <string.h>

#define MAX_FAILURES     3 /* shown with their reasons; --json has all */
#define EQUALS           3 /* rows of one time that are shown before they are counted */
#define MAX_OWN_FAILURES 8 /* the same of kernels of the user's own */

/* "did not compile" for "compile_error" */
static const char *outcome_text(const char *name) {
  for (int k = 0; k < SCT_N_OUTCOMES; k++) {
    if (strcmp(sct_outcome_name((sct_outcome_kind)k), name) == 0) {
      return sct_outcome_text((sct_outcome_kind)k);
    }
  }
  return name;
}

/* ---- one row ---- */

/* Columns without a figure are left out, so a table has those of a time or of a prediction. */
static void add_columns(cli_table *t, bool replayed) {
  cli_table_columns(t, ",>#,candidate"); /* marks first */
  cli_table_columns(t, replayed ? ">replayed" : ">time");
  cli_table_columns(t, ">GB/s,>of copy,>predicted,>GB/s predicted,>x naive,by,>sectors ld | st,"
                       ">coalesced ld | st,>regs,>spilled,>occupancy");
}

/* What a narrow terminal does without, the first first. */
static const char *const optional[] = {
    "occupancy",      "regs", "spilled", "coalesced ld | st", "of copy",
    "GB/s predicted", "GB/s", "by",      "sectors ld | st"};

static void percent_cell(cli_table *t, double share) {
  cli_table_cell_if(t, share > 0.0, "%.0f %%", 100.0 * share);
}

static void predicted_time(cli_table *t, const sct_tune_row *row, double bytes) {
  char time[32];
  if (row->predicted_ns > 0.0 && row->median_ns <= 0.0) {
    cli_table_cell(t, "%s" CLI_NEXT "%.0f", sct_format_ns(time, row->predicted_ns),
                   bytes / row->predicted_ns);
  } else {
    cli_table_cell(t, CLI_NEXT);
  }
}

/* Sectors a request, and the degree of coalescing, where they were counted. */
static void count_cells(cli_table *t, const sct_tune_row *row) {
  if (row->sectors <= 0.0) {
    cli_table_cell(t, CLI_NEXT);
  } else {
    cli_table_cell(t, "%.1f | %4.1f" CLI_NEXT "%.3g | %4.3g %%", row->sectors_ld, row->sectors_st,
                   100.0 * row->degree_ld, 100.0 * row->degree_st);
  }
}

/* naive_ns: of the best naive variant; 0: not known. */
static void add_row(cli_table *t, const sct_tune_size *size, const sct_tune_row *row, int rank,
                    double naive_ns) {
  char time[32] = "";
  if (row->median_ns > 0.0) {
    sct_format_ns(time, row->median_ns);
  }
  cli_table_row(t, row->winner       ? CLI_GOOD
                   : !row->coalesced ? CLI_WARN
                   : row->naive      ? CLI_BOLD
                                     : CLI_PLAIN);
  cli_table_cell(t, "%s%s%s",
                 row->winner ? "*"
                 : row->tied ? "="
                             : "",
                 row->naive ? "n"
                 : row->own ? "o"
                            : "",
                 row->coalesced ? "" : "!");
  cli_table_cell(t, "%d" CLI_NEXT "%s" CLI_NEXT "%s", rank, row->label, time);
  cli_table_cell_if(t, row->bytes_per_s > 0.0, "%.0f", row->bytes_per_s / 1e9);
  percent_cell(t, row->share);
  predicted_time(t, row, size->read_bytes + size->write_bytes);
  cli_table_cell_if(t, naive_ns > 0.0 && sct_tune_row_ns(row) > 0.0, "%.2f",
                    naive_ns / sct_tune_row_ns(row));
  cli_table_cell(t, "%s",
                 row->median_ns > 0.0 || !row->predicted_limit ? "" : row->predicted_limit);
  count_cells(t, row);
  cli_table_cell(t, "%d", row->registers);
  cli_table_cell_if(t, row->spill_bytes > 0, "%d B", row->spill_bytes);
  percent_cell(t, row->occupancy);
}

/* ---- one size ---- */

static double best_naive(const sct_tune_size *size) {
  for (int r = 0; r < size->n_rows; r++) {
    if (size->rows[r].naive && sct_tune_row_good(&size->rows[r])) {
      return sct_tune_row_ns(&size->rows[r]);
    }
  }
  return 0.0;
}

/* Rows of the same printed time from row `from` on: how many follow it. */
static int as_fast(const sct_tune_size *size, int from) {
  char a[32], b[32];
  int n = 0;
  sct_format_ns(a, sct_tune_row_ns(&size->rows[from]));
  for (int r = from + 1; r < size->n_rows && sct_tune_row_good(&size->rows[r]); r++, n++) {
    if (strcmp(a, sct_format_ns(b, sct_tune_row_ns(&size->rows[r]))) != 0) {
      break;
    }
  }
  return n;
}

/* In the place of all rows that take as long as the EQUALS before them. */
static void add_equals(cli_table *t, const sct_tune_size *size, int from, int n) {
  char time[32];
  cli_table_row(t, CLI_DIM);
  cli_table_cell(t, CLI_NEXT "%d" CLI_NEXT "to %d: %d more as fast", from + 1, from + n, n);
  sct_format_ns(time, sct_tune_row_ns(&size->rows[from]));
  if (size->rows[from].median_ns > 0.0) {
    cli_table_cell(t, "%s", time);
  } else {
    cli_table_cell(t, CLI_NEXT CLI_NEXT CLI_NEXT "%s", time);
  }
}

typedef struct board {
  const sct_tune_size *size;
  cli_table table;
  double naive_ns;
  bool naive_shown, own_shown[SCT_MAX_OWN + 1];
} board;

static bool is_wanted(const board *b, const sct_tune_row *row) {
  return (row->naive && !b->naive_shown) || !b->own_shown[row->own];
}

static void show(board *b, int r) {
  const sct_tune_row *row = &b->size->rows[r];
  add_row(&b->table, b->size, row, r + 1, b->naive_ns);
  b->naive_shown |= row->naive;
  b->own_shown[row->own] = true;
}

/* Rows from `r` on that nothing but their label tells from those before: as one, but for what is
 * shown in any case. Returns how many these are. */
static int show_equals(board *b, int r) {
  const int n = as_fast(b->size, r - 1);
  if (n > 1) {
    add_equals(&b->table, b->size, r, n);
    for (int k = r; k < r + n; k++) {
      if (is_wanted(b, &b->size->rows[k])) {
        show(b, k);
      }
    }
  }
  return n > 1 ? n : 0;
}

static void append_table(sct_str *out, const sct_tune_size *size, bool replayed, int top, int width,
                         bool colour) {
  board b = {.size = size, .naive_ns = best_naive(size), .own_shown = {true}};
  add_columns(&b.table, replayed);
  for (int r = 0, shown = 0, same = 0; r < size->n_rows && sct_tune_row_good(&size->rows[r]);) {
    same = r > 0 && as_fast(size, r - 1) > 0 ? same + 1 : 0;
    const int equals = shown < top && same == EQUALS ? show_equals(&b, r) : 0;
    if (equals == 0 && (shown < top || is_wanted(&b, &size->rows[r]))) {
      show(&b, r);
    }
    shown += equals > 0 || shown < top;
    r += equals > 0 ? equals : 1;
  }
  if (b.table.n_rows == 0) {
    sct_str_append(out, "  no candidate passed\n");
  } else {
    const int left_out =
        width > 0 ? cli_table_fit(&b.table, 2, width, "candidate", optional, SCT_COUNT(optional))
                  : 0;
    cli_table_print(out, &b.table, 2, colour);
    if (left_out > 0) {
      sct_str_printf(out, "  %d columns are left out: COLUMNS=160 shows them\n", left_out);
    }
  }
  cli_table_free(&b.table);
}

/* The user's own first: these can be mended. */
static int append_failed(sct_str *out, const sct_tune_size *size, bool own, int most, bool colour) {
  int shown = 0;
  for (int r = 0; r < size->n_rows; r++) {
    const sct_tune_row *row = &size->rows[r];
    if (sct_tune_row_good(row) || shown == most || (row->own > 0) != own) {
      continue;
    }
    const int line = row->detail ? (int)strcspn(row->detail, "\n") : 0;
    sct_str_printf(out, "  %sfailed:%s %s: %s%s%.*s\n", cli_paint(colour, CLI_BAD),
                   cli_unpaint(colour, CLI_BAD), row->label, outcome_text(row->outcome),
                   line > 0 ? ": " : "", line, row->detail ? row->detail : "");
    shown++;
  }
  return shown;
}

static void append_failures(sct_str *out, const sct_tune_size *size, bool colour) {
  const int shown = append_failed(out, size, true, MAX_OWN_FAILURES, colour) +
                    append_failed(out, size, false, MAX_FAILURES, colour);
  if (size->n_failed > shown) {
    sct_str_printf(out, "  and %d more; --json has all of them\n", size->n_failed - shown);
  }
}

static void append_note(sct_str *out, const char *sentence, bool colour) {
  if (sentence) {
    sct_str_printf(out, "  %snote:%s %s\n", cli_paint(colour, CLI_WARN),
                   cli_unpaint(colour, CLI_WARN), sentence);
  }
}

static void append_size(sct_str *out, const sct_tune_size *size, const sct_tune_report *report,
                        int top, int width, bool colour) {
  char read[32], write[32];
  sct_str_printf(out, "\n%s%s%s: reads %s, writes %s", cli_paint(colour, CLI_BOLD), size->label,
                 cli_unpaint(colour, CLI_BOLD), sct_format_bytes(read, size->read_bytes),
                 sct_format_bytes(write, size->write_bytes));
  if (size->ceiling_bytes_s > 0.0) {
    sct_str_printf(out, "; a copy moves %.0f GB/s", size->ceiling_bytes_s / 1e9);
  }
  sct_str_append(out, "\n");
  append_table(out, size, report->replayed, top, width, colour);
  sct_str_printf(out, "  %d %s, %d failed, %d tied for the best", size->n_verified,
                 size->verified_only_counted ? "verified, counted and predicted"
                 : report->replayed          ? "recorded as verified"
                                             : "verified",
                 size->n_failed, size->n_tied);
  if (size->n_unfit > 0) {
    sct_str_printf(out, ", %d not for this size", size->n_unfit);
  }
  sct_str_printf(out, "%s%s\n", size->decided ? "; " : "", size->decided ? size->decided : "");
  if (size->n_untried > 0 && report->settled) {
    sct_str_printf(
        out,
        "  tried %d of %d candidates: the last %d were at most %.1f %% better, and in 96 %% of "
        "recorded searches the best then was within 1 %% of the best of all; --search "
        "exhaustive tries all\n",
        size->n_rows, size->n_rows + size->n_untried, SCT_SEARCH_PATIENCE, 100.0 * SCT_SEARCH_GAIN);
  } else if (size->n_untried > 0) {
    sct_str_printf(
        out, "  tried %d of %d candidates (search: %s): the best of these, others may be better\n",
        size->n_rows, size->n_rows + size->n_untried, report->search);
  }
  if (size->recorded) {
    sct_str_printf(out, "  %s\n", size->recorded);
  }
  append_failures(out, size, colour);
  append_note(out, size->converted, colour);
  append_note(out, size->kept, colour);
  append_note(out, size->faster, colour);
  if (size->best) {
    cli_wrap(out, "best of", size->best);
  }
  if (size->why) {
    cli_wrap(out, "why", size->why);
  }
  for (int k = 0; k < size->n_issues; k++) {
    cli_issue_print(out, k + 1, &size->issues[k], "", 0);
  }
}

void cli_board(sct_str *out, const sct_tune_report *report, int top, int width, bool colour) {
  const sct_device_desc *d = &report->device;
  sct_str_printf(out, "%s%s%s on %s (%s, CC %d.%d): %s\n", cli_paint(colour, CLI_BOLD),
                 report->name, cli_unpaint(colour, CLI_BOLD), d->id, d->name, d->cc_major,
                 d->cc_minor, report->says);
  sct_str_printf(out, "%lld points, %lld candidates, %lld different kernels%s\n",
                 (long long)report->n_points, (long long)report->n_candidates,
                 (long long)report->n_sources,
                 report->stopped_early ? "; stopped early, so not all were evaluated" : "");
  if (report->share.n > 0) {
    sct_str_printf(out,
                   "share %d of %d of the candidates: others may be better; `sectile merge` joins "
                   "the stores of all shares\n",
                   report->share.k, report->share.n);
  }
  if (report->heat.store_path) {
    sct_str_printf(out, "final heat: the %d best of each size in %s, and the naive variants\n",
                   report->heat.n, report->heat.store_path);
  }
  if (report->n_ungenerated > 0) {
    sct_str_printf(out,
                   "generated %lld of %lld candidates in the time that --budget leaves for it; a "
                   "longer --budget, or none, goes on with the others\n",
                   (long long)(report->n_candidates - report->n_ungenerated),
                   (long long)report->n_candidates);
  }
  if (report->n_checked > 0) {
    sct_str_printf(out, "%d checked on the CPU before the GPU, %d failed there\n",
                   report->n_checked, report->n_caught);
  }
  if (report->contended) {
    sct_str_append(out, "contended: other processes computed on the GPU; --json lists them\n");
  }
  if (report->n_contended > 0) {
    sct_str_printf(out,
                   "contended: %lld of %lld samples were taken next to a process that came during "
                   "the session; --json says which and whose\n",
                   (long long)report->n_contended, (long long)report->n_samples);
  }
  if (report->n_slow > 0) {
    sct_str_printf(out, "%lld of %lld samples at a low clock or under hardware slowdown",
                   (long long)report->n_slow, (long long)report->n_samples);
    const uint64_t hardware = sct_throttle_hardware(report->throttle);
    sct_str_printf(out, "%s%s\n", hardware ? ": " : "", sct_throttle_meaning(hardware));
  }
  bool own = false;
  for (int z = 0; z < report->n_sizes; z++) {
    append_size(out, &report->sizes[z], report, top, width, colour);
    for (int r = 0; r < report->sizes[z].n_rows; r++) {
      own = own || report->sizes[z].rows[r].own > 0;
    }
  }
  sct_str_printf(out,
                 "\n* winner   = tied with it   n naive%s   ! not coalesced   sectors: of 32 "
                 "bytes, a request of a warp\n",
                 own ? "   o your own" : "");
}
