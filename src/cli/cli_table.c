/* Tables of text: cells first, widths when printed. */
#include "cli/cli_internal.h"

#include <assert.h>
#include <string.h>

void cli_table_columns(cli_table *t, const char *heads) {
  for (bool more = true; more; heads++) {
    assert(t->n_columns < SCT_COUNT(t->column));
    const bool right = heads[0] == '>';
    heads += right;
    const size_t n = strcspn(heads, ",");
    t->column[t->n_columns].right = right;
    t->column[t->n_columns++].head = sct_arena_strndup(&t->arena, heads, n);
    heads += n;
    more = heads[0] == ',';
  }
}

void cli_table_row(cli_table *t, cli_style style) {
  SCT_GROW(t->styles, t->n_rows, t->cap_rows);
  t->styles[t->n_rows++] = style;
  t->n_cells = (t->n_rows - 1) * (size_t)t->n_columns;
  for (int c = 0; c < t->n_columns; c++) { /* cells that are not given stay empty */
    SCT_GROW(t->cells, t->n_cells + (size_t)c, t->cap_cells);
    t->cells[t->n_cells + (size_t)c] = "";
  }
}

static void add_cells(cli_table *t, bool filled, const char *fmt, va_list args) {
  SCT_SCOPED(sct_str) text = {0};
  if (filled) {
    sct_str_vprintf(&text, fmt, args);
  }
  char *cell = sct_arena_strdup(&t->arena, sct_str_c(&text));
  while (cell) {
    assert(t->n_cells < t->n_rows * (size_t)t->n_columns);
    t->cells[t->n_cells++] = strsep(&cell, CLI_NEXT);
  }
}

void cli_table_cell(cli_table *t, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  add_cells(t, true, fmt, args);
  va_end(args);
}

void cli_table_cell_if(cli_table *t, bool filled, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  add_cells(t, filled, fmt, args);
  va_end(args);
}

/* Bytes of the widest cell, 0 if all are empty: then the column is left out. */
static int width_of(const cli_table *t, int column) {
  size_t width = 0;
  for (size_t r = 0; r < t->n_rows; r++) {
    const size_t n = strlen(t->cells[r * (size_t)t->n_columns + (size_t)column]);
    width = n > width ? n : width;
  }
  const size_t head = strlen(t->column[column].head);
  return (int)(width > 0 && head > width ? head : width);
}

static int width_of_all(const cli_table *t, int indent) {
  int all = indent;
  bool any = false;
  for (int c = 0; c < t->n_columns; c++) {
    const int width = width_of(t, c);
    all += width > 0 ? width + (any ? 2 : 0) : 0;
    any = any || width > 0;
  }
  return all;
}

static int column_called(const cli_table *t, const char *head) {
  return sct_names_find(SCT_NAMES_IN(t->column, t->n_columns, head), head);
}

int cli_table_fit(cli_table *t, int indent, int width, const char *last, const char *const *heads,
                  int n) {
  int left_out = 0;
  for (int k = 0; k < n && width_of_all(t, indent) > width; k++) {
    const int c = column_called(t, heads[k]);
    left_out += c >= 0 && width_of(t, c) > 0;
    for (size_t r = 0; r < t->n_rows && c >= 0; r++) {
      t->cells[r * (size_t)t->n_columns + (size_t)c] = "";
    }
  }
  if (width_of_all(t, indent) > width) {
    t->wrapped = 1 + column_called(t, last);
    t->width = width;
  }
  return left_out;
}

static const char *cell_at(const cli_table *t, size_t row, int column) {
  return row == SIZE_MAX ? t->column[column].head
                         : t->cells[row * (size_t)t->n_columns + (size_t)column];
}

/* Words in lines that begin where the first does; one that is too long has a line of its own. */
static void append_wrapped(sct_str *out, const char *text, int from, int width) {
  int column = from;
  while (*text != '\0') {
    const int n = (int)strcspn(text, " ");
    if (column > from && column + 1 + n > width) {
      sct_str_printf(out, "\n%*s", from, "");
      column = from;
    } else if (column > from) {
      sct_str_append(out, " ");
      column++;
    }
    sct_str_append_n(out, text, (size_t)n);
    column += n;
    text += n + (text[n] == ' ');
  }
}

static void append_row(sct_str *out, const cli_table *t, const int *widths, size_t row,
                       int indent) {
  const size_t start = out->len;
  sct_str_printf(out, "%*s", indent, "");
  const char *gap = "";
  for (int c = 0; c < t->n_columns; c++) {
    if (widths[c] == 0 || c + 1 == t->wrapped) {
      continue;
    }
    sct_str_printf(out, "%s%*s", gap, t->column[c].right ? widths[c] : -widths[c],
                   cell_at(t, row, c));
    gap = "  ";
  }
  if (t->wrapped > 0) {
    sct_str_append(out, gap);
    append_wrapped(out, cell_at(t, row, t->wrapped - 1), (int)(out->len - start), t->width);
  }
  while (out->len > start && out->data[out->len - 1] == ' ') {
    out->data[--out->len] = '\0';
  }
}

void cli_table_print(sct_str *out, const cli_table *t, int indent, bool colour) {
  int widths[SCT_COUNT(t->column)] = {0};
  bool heads = false;
  for (int c = 0; c < t->n_columns; c++) {
    widths[c] = width_of(t, c);
    heads |= widths[c] > 0 && t->column[c].head[0] != '\0';
  }
  if (heads) {
    sct_str_append(out, cli_paint(colour, CLI_DIM));
    append_row(out, t, widths, SIZE_MAX, indent);
    sct_str_printf(out, "%s\n", cli_unpaint(colour, CLI_DIM));
  }
  for (size_t r = 0; r < t->n_rows; r++) {
    sct_str_append(out, cli_paint(colour, t->styles[r]));
    append_row(out, t, widths, r, indent);
    sct_str_printf(out, "%s\n", cli_unpaint(colour, t->styles[r]));
  }
}

void cli_table_free(cli_table *t) {
  sct_free(t->cells);
  sct_free(t->styles);
  sct_arena_free(&t->arena);
  *t = (cli_table){0};
}

enum { WRAP_INDENT = 14, WRAP_WIDTH = 80 };

void cli_wrap(sct_str *out, const char *head, const char *text) {
  const int room = WRAP_INDENT - 2, n_head = (int)strlen(head);
  int column = n_head < room ? WRAP_INDENT : n_head + 4;
  sct_str_printf(out, "  %-*s%s", room, head, n_head < room ? "" : "  ");
  bool first = true;
  while (*text != '\0') {
    const size_t n = strcspn(text, " \n");
    if (!first && column + 1 + (int)n > WRAP_WIDTH) {
      sct_str_printf(out, "\n%*s", WRAP_INDENT, "");
      column = WRAP_INDENT;
    } else if (!first) {
      sct_str_append(out, " ");
      column++;
    }
    first = false;
    sct_str_append_n(out, text, n);
    column += (int)n;
    text += n;
    if (*text == '\n' && text[1] != '\0') {
      sct_str_printf(out, "\n%*s", WRAP_INDENT, "");
      column = WRAP_INDENT;
      first = true;
    }
    text += *text != '\0';
  }
  sct_str_append(out, "\n");
}

void cli_wrap_str(sct_str *out, const char *head, sct_str *text) {
  cli_wrap(out, head, sct_str_c(text));
  sct_str_free(text);
}

void cli_issue_print(sct_str *out, int number, const sct_advice *a, const char *place, int same) {
  sct_str text = {0};
  char head[24];
  snprintf(head, sizeof head, "issue %d", number);
  sct_str_printf(&text, "%s%s%s: %s\ntry: ", a->id, place[0] != '\0' ? ", " : "", place,
                 a->evidence);
  if (same > 0) {
    sct_str_printf(&text, "as of issue %d", same);
  } else {
    sct_str_append(&text, a->advice);
  }
  sct_str_printf(&text, "\ngain: up to %.3g %% of the %s", 100.0 * a->gain, a->of);
  cli_wrap_str(out, head, &text);
}

json_t *cli_issue_json(const sct_advice *a) {
  return json_pack("{s:s, s:o, s:s, s:o, s:s}", "id", a->id, "gain", sct_json_number(a->gain), "of",
                   a->of, "evidence", sct_json_string(a->evidence), "advice", a->advice);
}
