/* Charts as SVG text: a scale of logarithms, ticks, points, lines. */
#include "cli/cli_chart.h"

#include <math.h>

enum { WIDTH = 640, HEIGHT = 360, LEFT = 64, RIGHT = 16, TOP = 12, BOTTOM = 44, MOST_BOXES = 34 };

void cli_html(sct_str *out, const char *text) {
  for (; *text != '\0'; text++) {
    switch (*text) {
    case '&':
      sct_str_append(out, "&amp;");
      break;
    case '<':
      sct_str_append(out, "&lt;");
      break;
    case '>':
      sct_str_append(out, "&gt;");
      break;
    case '"':
      sct_str_append(out, "&quot;");
      break;
    default: /* control characters are none of HTML's */
      sct_str_append_n(out, (unsigned char)*text >= ' ' || *text == '\n' ? text : "?", 1);
    }
  }
}

/* ---- axes ---- */

typedef struct scale {
  double lo, hi; /* logarithms */
  double from, to;
} scale;

static double place(const scale *s, double value) {
  return s->from + (log10(value) - s->lo) / (s->hi - s->lo) * (s->to - s->from);
}

static void widen(scale *s, double value) {
  if (value > 0.0) {
    s->lo = fmin(s->lo, log10(value));
    s->hi = fmax(s->hi, log10(value));
  }
}

/* A margin on both sides, and at least a third of a decade. */
static void settle(scale *s) {
  if (s->lo > s->hi) {
    s->lo = 0.0;
    s->hi = 1.0;
  }
  const double margin = fmax(0.05 * (s->hi - s->lo), (0.34 - (s->hi - s->lo)) / 2.0);
  s->lo -= margin;
  s->hi += margin;
}

/* "1.5 M" */
static void append_tick(sct_str *out, double value, const char *unit) {
  static const char *const units[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
  int k = 3;
  if (unit[0] == '\0') {
    sct_str_printf(out, "%.3g", value);
    return;
  }
  for (; value >= 999.5 && k < 8; k++) {
    value /= 1e3;
  }
  for (; value < 0.9995 && k > 0; k--) {
    value *= 1e3;
  }
  sct_str_printf(out, "%.3g %s%s", value, units[k], unit);
}

/* Ticks at 1, 2 and 5 of every decade, where there are few decades; else at decades. */
static void append_ticks(sct_str *out, const scale *s, const char *unit, bool upright) {
  static const double steps[] = {1.0, 2.0, 5.0};
  const int n = s->hi - s->lo < 2.5 ? 3 : 1;
  for (double decade = floor(s->lo); decade <= s->hi; decade += 1.0) {
    for (int k = 0; k < n; k++) {
      const double value = steps[k] * pow(10.0, decade), at = place(s, value);
      if (log10(value) < s->lo || log10(value) > s->hi) {
        continue;
      }
      if (upright) {
        sct_str_printf(out,
                       "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                       "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                       LEFT, WIDTH - RIGHT, at, at, LEFT - 6, at + 4.0);
      } else {
        sct_str_printf(out,
                       "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
                       "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                       at, at, TOP, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 16);
      }
      append_tick(out, value, unit);
      sct_str_append(out, "</text>\n");
    }
  }
}

/* ---- charts ---- */

static void append_points(sct_str *out, const cli_point *points, int n, const scale *x,
                          const scale *y, bool first) {
  for (int k = 0; k < n; k++) {
    const cli_point *p = &points[k];
    if (!(p->x > 0.0 && p->y > 0.0) || (p->series == 0) != first) {
      continue;
    }
    const double at = place(x, p->x), up = place(y, p->y);
    sct_str_printf(out, "<circle class=\"s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", p->series,
                   at, up);
    cli_html(out, p->title);
    sct_str_append(out, "</title></circle>\n");
    if (p->ringed) {
      sct_str_printf(out, "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"8\"/>\n", at, up);
    }
  }
}

void cli_chart(sct_str *out, const cli_point *points, int n, const cli_line *lines, int n_lines,
               cli_axis across, cli_axis up) {
  scale x = {INFINITY, -INFINITY, LEFT, WIDTH - RIGHT};
  scale y = {INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP};
  for (int k = 0; k < n; k++) {
    const bool shown = points[k].x > 0.0 && points[k].y > 0.0;
    widen(&x, shown ? points[k].x : 0.0);
    widen(&y, shown ? points[k].y : 0.0);
  }
  for (int k = 0; k < n_lines; k++) {
    widen(&x, lines[k].x0);
    widen(&x, lines[k].x1);
    widen(&y, lines[k].y0);
    widen(&y, lines[k].y1);
  }
  settle(&x);
  settle(&y);
  sct_str_printf(out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                 WIDTH, HEIGHT);
  cli_html(out, up.name);
  sct_str_append(out, " by ");
  cli_html(out, across.name);
  sct_str_append(out, "\">\n");
  append_ticks(out, &x, across.unit, false);
  append_ticks(out, &y, up.unit, true);
  for (int k = 0; k < n_lines; k++) {
    sct_str_printf(out, "<line class=\"roof\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                   place(&x, lines[k].x0), place(&y, lines[k].y0), place(&x, lines[k].x1),
                   place(&y, lines[k].y1));
  }
  append_points(out, points, n, &x, &y, false);
  append_points(out, points, n, &x, &y, true);
  sct_str_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", WIDTH - RIGHT, HEIGHT - 8);
  cli_html(out, across.name);
  sct_str_printf(out, "</text><text x=\"%d\" y=\"%d\">", LEFT + 4, TOP + 12);
  cli_html(out, up.name);
  sct_str_append(out, "</text>\n</svg>\n");
}

void cli_sectors(sct_str *out, double each, double used) {
  const int n = (int)fmin(ceil(each - 1e-9), MOST_BOXES);
  sct_str_printf(out,
                 "<svg width=\"%d\" height=\"14\" role=\"img\" aria-label=\"%.1f sectors, "
                 "%.0f %% used\">",
                 9 * n + 2, each, 100.0 * used);
  for (int k = 0; k < n; k++) {
    sct_str_printf(out,
                   "<rect class=\"box\" x=\"%d\" y=\"1\" width=\"8\" height=\"12\"/>"
                   "<rect class=\"used\" x=\"%d\" y=\"%.1f\" width=\"8\" height=\"%.1f\"/>",
                   1 + 9 * k, 1 + 9 * k, 13.0 - 12.0 * used, 12.0 * used);
  }
  sct_str_append(out, "</svg>");
}
