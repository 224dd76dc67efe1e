/* Pictures of one request: its lanes over the sectors and lines of global memory that they touch,
 * or its words over the banks of shared memory. */
#include "cli/cli_chart.h"

#include <math.h>

enum {
  LANES = 32,
  SECTOR_BYTES = 32,
  LINE_BYTES = 128, /* also a row of shared memory: 32 banks of 4 bytes */
  CELL = 20,        /* width of a lane, and of a bank */
  SIDE = 4,
  LABEL = 64, /* in front of the banks */
  WIDTH = LANES * CELL + 2 * SIDE,
  LANE_TOP = 2,
  LANE_END = 17, /* links to the sectors begin here ... */
  TOP = 66,      /* ... and end here */
  END = 88,
  GAP = 4,         /* between lines */
  LEAST_LINES = 8, /* that a picture has room for */
  MOST_LINES = 64,
  MOST_ROWS = 32,
  ROW = 14 /* height of a row of banks */
};

/* The distinct values, ascending, that the bytes of all lanes have over `bytes`. */
static int distinct(uint64_t out[MOST_LINES], const sct_ptx_request *r, uint64_t bytes) {
  int n = 0;
  for (int lane = 0; lane < LANES; lane++) {
    const uint64_t last = (r->address[lane] + (uint64_t)r->width - 1) / bytes;
    for (uint64_t v = r->address[lane] / bytes; r->mask >> lane & 1 && v <= last; v++) {
      int at = n;
      while (at > 0 && out[at - 1] > v) {
        at--;
      }
      if (n == MOST_LINES || (at > 0 && out[at - 1] == v)) {
        continue;
      }
      for (int k = n++; k > at; k--) {
        out[k] = out[k - 1];
      }
      out[at] = v;
    }
  }
  return n;
}

int cli_request_lines(const sct_ptx_request *request) {
  uint64_t lines[MOST_LINES];
  const int n = distinct(lines, request, LINE_BYTES);
  return n > LEAST_LINES ? n : LEAST_LINES;
}

static int index_of(const uint64_t *values, int n, uint64_t value) {
  int k = 0;
  while (k < n && values[k] != value) {
    k++;
  }
  return k;
}

static void append_box(sct_str *out, double x, double y, double width, double height) {
  sct_str_printf(out, "M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, width, height, -width);
}

static void append_lanes(sct_str *out, int left, uint32_t mask) {
  sct_str_append(out, "<path class=\"lane\" d=\"");
  for (int lane = 0; lane < LANES; lane++) {
    if (mask >> lane & 1) {
      append_box(out, left + CELL * lane + 1, LANE_TOP, CELL - 2, LANE_END - LANE_TOP);
    }
  }
  sct_str_append(out, "\"/>");
  for (int lane = 0; lane < LANES; lane++) {
    sct_str_printf(out, "<text class=\"tiny\" x=\"%d\" y=\"%d\">%d</text>",
                   left + CELL * lane + CELL / 2, LANE_END - 4, lane);
  }
}

/* ---- global memory ---- */

typedef struct strip {
  uint64_t lines[MOST_LINES];
  int n_lines;
  double byte; /* width of one */
} strip;

static double x_of(const strip *s, uint64_t address) {
  const int k = index_of(s->lines, s->n_lines, address / LINE_BYTES);
  return SIDE + k * (LINE_BYTES * s->byte + GAP) + (double)(address % LINE_BYTES) * s->byte;
}

/* The sectors of all lines, those that are touched or the others. */
static void append_sectors(sct_str *out, const strip *s, const sct_ptx_request *r, bool touched) {
  sct_str_printf(out, "<path class=\"%s\" d=\"", touched ? "sector" : "rest");
  for (int k = 0; k < s->n_lines; k++) {
    for (uint64_t at = 0; at < LINE_BYTES; at += SECTOR_BYTES) {
      const uint64_t from = s->lines[k] * LINE_BYTES + at;
      bool hit = false;
      for (int lane = 0; lane < LANES; lane++) {
        hit = hit || (r->mask >> lane & 1 && r->address[lane] < from + SECTOR_BYTES &&
                      r->address[lane] + (uint64_t)r->width > from);
      }
      if (hit == touched) {
        append_box(out, x_of(s, from), TOP, SECTOR_BYTES * s->byte, END - TOP);
      }
    }
  }
  sct_str_append(out, "\"/>");
}

/* Where lines follow that do not lie next to the last. */
static void append_offsets(sct_str *out, const strip *s) {
  double free_from = 0.0;
  for (int k = 0; k < s->n_lines; k++) {
    const double x = x_of(s, s->lines[k] * LINE_BYTES);
    const bool jumps = k == 0 || s->lines[k] != s->lines[k - 1] + 1;
    char text[32];
    if (jumps && x >= free_from && x < WIDTH - 50) {
      sct_str_printf(
          out, "<text x=\"%.1f\" y=\"%d\">+%s</text>", x, END + 14,
          sct_format_bytes(text, (double)(s->lines[k] - s->lines[0]) * (double)LINE_BYTES));
      free_from = x + 70.0;
    }
  }
}

void cli_lanes(sct_str *out, const sct_ptx_request *r, int lines) {
  strip s = {0};
  s.n_lines = distinct(s.lines, r, LINE_BYTES);
  lines = lines > s.n_lines ? lines : s.n_lines;
  s.byte = (WIDTH - 2.0 * SIDE - GAP * (lines - 1.0)) / (LINE_BYTES * (lines > 0 ? lines : 1));
  sct_str_printf(
      out,
      "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%d lanes over "
      "%d lines\">",
      WIDTH, END + 18, __builtin_popcount(r->mask), s.n_lines);
  sct_str_append(out, "<path class=\"link\" d=\"");
  for (int lane = 0; lane < LANES; lane++) {
    if (r->mask >> lane & 1) {
      sct_str_printf(out, "M%d %dL%.1f %d", SIDE + CELL * lane + CELL / 2, LANE_END,
                     x_of(&s, r->address[lane]) + r->width * s.byte / 2.0, TOP);
    }
  }
  sct_str_append(out, "\"/>");
  append_lanes(out, SIDE, r->mask);
  append_sectors(out, &s, r, false);
  append_sectors(out, &s, r, true);
  sct_str_append(out, "<path class=\"used\" d=\"");
  for (int lane = 0; lane < LANES; lane++) {
    if (r->mask >> lane & 1) {
      append_box(out, x_of(&s, r->address[lane]), TOP, r->width * s.byte, END - TOP);
    }
  }
  sct_str_append(out, "\"/>");
  append_offsets(out, &s);
  sct_str_append(out, "</svg>\n");
}

/* ---- shared memory ---- */

/* The first lane that wants this word; -1: none. */
static int lane_of(const sct_ptx_request *r, uint64_t word) {
  for (int lane = 0; lane < LANES; lane++) {
    const uint64_t end = r->address[lane] + (uint64_t)r->width;
    if (r->mask >> lane & 1 && r->address[lane] < 4 * word + 4 && end > 4 * word) {
      return lane;
    }
  }
  return -1;
}

/* The words that are wanted: of banks of which more are wanted than the access is wide, or of the
 * others. */
static void append_words(sct_str *out, const sct_ptx_request *r, const uint64_t *rows, int n,
                         bool clashes) {
  const int fair = r->width > 4 ? r->width / 4 : 1;
  sct_str_printf(out, "<path class=\"%s\" d=\"", clashes ? "clash" : "used");
  for (int bank = 0; bank < LANES; bank++) {
    int wanted = 0;
    for (int k = 0; k < n; k++) {
      wanted += lane_of(r, rows[k] * LANES + (uint64_t)bank) >= 0;
    }
    for (int k = 0; k < n && (wanted > fair) == clashes; k++) {
      if (lane_of(r, rows[k] * LANES + (uint64_t)bank) >= 0) {
        append_box(out, LABEL + CELL * bank + 1, LANE_END + 3 + ROW * k, CELL - 2, ROW - 2);
      }
    }
  }
  sct_str_append(out, "\"/>");
}

static void append_row(sct_str *out, const sct_ptx_request *r, const uint64_t *rows, int k) {
  const int y = LANE_END + 1 + ROW * k;
  sct_str_printf(out,
                 "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">+%lld</text>"
                 "<path class=\"rest\" d=\"M%d %dh%d\"/>",
                 LABEL - 6, y + 11, (long long)((rows[k] - rows[0]) * LINE_BYTES), LABEL, y + ROW,
                 LANES * CELL);
  for (int bank = 0; bank < LANES; bank++) {
    const int lane = lane_of(r, rows[k] * LANES + (uint64_t)bank);
    if (lane >= 0) {
      sct_str_printf(out, "<text class=\"tiny in\" x=\"%d\" y=\"%d\">%d</text>",
                     LABEL + CELL * bank + CELL / 2, y + 11, lane);
    }
  }
}

void cli_banks(sct_str *out, const sct_ptx_request *r) {
  uint64_t rows[MOST_LINES];
  const int all = distinct(rows, r, LINE_BYTES), n = all < MOST_ROWS ? all : MOST_ROWS;
  sct_str_printf(
      out,
      "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%d lanes over "
      "32 banks, %d rows\">",
      LABEL + LANES * CELL + SIDE, LANE_END + ROW * n + 6, __builtin_popcount(r->mask), all);
  append_lanes(out, LABEL, 0);
  sct_str_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">bank</text>", LABEL - 6,
                 LANE_END - 4);
  append_words(out, r, rows, n, false);
  append_words(out, r, rows, n, true);
  for (int k = 0; k < n; k++) {
    append_row(out, r, rows, k);
  }
  sct_str_append(out, "</svg>\n");
}

/* ---- distributions ---- */

void cli_range(sct_str *out, const double quartile[5], double lo, double hi) {
  enum { RANGE = 240, HEIGHT = 14 };
  double x[5];
  for (int k = 0; k < 5; k++) {
    x[k] = hi > lo && lo > 0.0 ? 4.0 + (RANGE - 8.0) * log(quartile[k] / lo) / log(hi / lo) : 4.0;
  }
  sct_str_printf(out,
                 "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"from the best to the "
                 "worst\"><path class=\"whisker\" d=\"M%.1f 7H%.1f\"/>",
                 RANGE, HEIGHT, x[0], x[4]);
  sct_str_append(out, "<path class=\"box\" d=\"");
  append_box(out, x[1], 2.0, x[3] - x[1], 10.0);
  sct_str_printf(out,
                 "\"/><path class=\"whisker\" d=\"M%.1f 2v10\"/><circle class=\"s1\" cx=\"%.1f\" "
                 "cy=\"7\" r=\"3.5\"/></svg>",
                 x[2], x[0]);
}
