/* cli_chart - pictures of a report as SVG text, without a script. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include "base/base.h"
#include "ptx/ptx.h"

/* Text that cannot break out of an element or of an attribute in double quotes. */
void cli_html(sct_str *out, const char *text);

typedef struct cli_point {
  double x, y;       /* above 0; others are left out */
  int series;        /* colour */
  bool ringed;       /* stands out */
  const char *title; /* shown where a pointer rests on it */
} cli_point;

/* A line from end to end. */
typedef struct cli_line {
  double x0, y0, x1, y1;
} cli_line;

/* What an axis shows, and the unit of its values ("s"). */
typedef struct cli_axis {
  const char *name, *unit;
} cli_axis;

/* Points, and lines (may be NULL), on two logarithmic axes. Those of series 0 are drawn last. */
void cli_chart(sct_str *out, const cli_point *points, int n, const cli_line *lines, int n_lines,
               cli_axis across, cli_axis up);

/* Sectors that a request touches, each filled by the share of it that is used. */
void cli_sectors(sct_str *out, double each, double used);

/* A page of HTML with this title and body (templates/report/page.html). */
sct_status cli_page_fill(sct_str *out, const char *title, const sct_str *body, sct_error *err);

/* ---- one request (cli_pattern.c) ---- */

/* How many lines of 128 bytes a picture of it needs room for. */
int cli_request_lines(const sct_ptx_request *request);
/* Its lanes over the sectors and lines that they touch, drawn with room for so many lines: what is
 * compared has the same room. */
void cli_lanes(sct_str *out, const sct_ptx_request *request, int lines);
/* The words that its lanes want of each bank of shared memory, row by row. */
void cli_banks(sct_str *out, const sct_ptx_request *request);

/* The best, the quartiles and the worst of some times, on a logarithmic scale from lo to hi. */
void cli_range(sct_str *out, const double quartile[5], double lo, double hi);

#endif
