/* The leaderboard: what a person wants to know of a session, size by size. */
#include "cli/cli_internal.h"

#include <math.h>
#include <string.h>

#define MAX_FAILURES     3 /* shown with their reasons; --json has all */
#define MAX_OWN_FAILURES 8 /* the same of kernels of the user's own */

static bool is_good(const sct_tune_row *row) {
  return strcmp(row->outcome, sct_outcome_name(SCT_OUT_OK)) == 0;
}

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
  cli_table_columns(t, ">GB/s,>of copy,>predicted,>GB/s predicted,by,>sectors ld | st,"
                       ">coalesced ld | st,>regs,>spilled,>occupancy");
}

static void percent_cell(cli_table *t, double share) {
  cli_table_cell_if(t, share > 0.0, "%.0f %%", 100.0 * share);
}

static void predicted_cells(cli_table *t, const sct_tune_row *row, double bytes) {
  char time[32];
  if (row->predicted_ns > 0.0 && row->median_ns <= 0.0) {
    cli_table_cell(t, "%s" CLI_NEXT "%.0f" CLI_NEXT "%s", sct_format_ns(time, row->predicted_ns),
                   bytes / row->predicted_ns, row->predicted_limit);
  } else {
    cli_table_cell(t, CLI_NEXT CLI_NEXT);
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

static void add_row(cli_table *t, const sct_tune_size *size, const sct_tune_row *row, int rank) {
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
  predicted_cells(t, row, size->read_bytes + size->write_bytes);
  count_cells(t, row);
  cli_table_cell(t, "%d", row->registers);
  cli_table_cell_if(t, row->spill_bytes > 0, "%d B", row->spill_bytes);
  percent_cell(t, row->occupancy);
}

/* ---- one size ---- */

static void append_table(sct_str *out, const sct_tune_size *size, bool replayed, int top,
                         bool colour) {
  cli_table table = {0};
  bool naive_shown = false, own_shown[SCT_MAX_OWN + 1] = {true};
  add_columns(&table, replayed);
  for (int r = 0, shown = 0; r < size->n_rows; r++) {
    const sct_tune_row *row = &size->rows[r];
    const bool wanted = (row->naive && !naive_shown) || !own_shown[row->own];
    if (!is_good(row) || !(shown < top || wanted)) {
      continue;
    }
    add_row(&table, size, row, r + 1);
    naive_shown |= row->naive;
    own_shown[row->own] = true;
    shown++;
  }
  if (table.n_rows > 0) {
    cli_table_print(out, &table, 2, colour);
  } else {
    sct_str_append(out, "  no candidate passed\n");
  }
  cli_table_free(&table);
}

/* The user's own first: these can be mended. */
static int append_failed(sct_str *out, const sct_tune_size *size, bool own, int most, bool colour) {
  int shown = 0;
  for (int r = 0; r < size->n_rows; r++) {
    const sct_tune_row *row = &size->rows[r];
    if (is_good(row) || shown == most || (row->own > 0) != own) {
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
                        int top, bool colour) {
  char read[32], write[32];
  sct_str_printf(out, "\n%s%s%s: reads %s, writes %s", cli_paint(colour, CLI_BOLD), size->label,
                 cli_unpaint(colour, CLI_BOLD), sct_format_bytes(read, size->read_bytes),
                 sct_format_bytes(write, size->write_bytes));
  if (size->ceiling_bytes_s > 0.0) {
    sct_str_printf(out, "; a copy moves %.0f GB/s", size->ceiling_bytes_s / 1e9);
  }
  sct_str_append(out, "\n");
  append_table(out, size, report->replayed, top, colour);
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
  if (size->why) {
    cli_wrap(out, "why", size->why);
  }
  for (int k = 0; k < size->n_issues; k++) {
    cli_issue_print(out, k + 1, &size->issues[k], "", 0);
  }
}

void cli_board(sct_str *out, const sct_tune_report *report, int top, bool colour) {
  const sct_device_desc *d = &report->device;
  sct_str_printf(out, "%s%s%s on %s (%s, CC %d.%d): %s\n", cli_paint(colour, CLI_BOLD),
                 report->name, cli_unpaint(colour, CLI_BOLD), d->id, d->name, d->cc_major,
                 d->cc_minor, report->says);
  sct_str_printf(out, "%lld points, %lld candidates, %lld different kernels%s\n",
                 (long long)report->n_points, (long long)report->n_candidates,
                 (long long)report->n_sources,
                 report->stopped_early ? "; stopped early, so not all were evaluated" : "");
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
    append_size(out, &report->sizes[z], report, top, colour);
    for (int r = 0; r < report->sizes[z].n_rows; r++) {
      own = own || report->sizes[z].rows[r].own > 0;
    }
  }
  sct_str_printf(out,
                 "\n* winner   = tied with it   n naive%s   ! not coalesced   sectors: of 32 "
                 "bytes, a request of a warp\n",
                 own ? "   o your own" : "");
}
