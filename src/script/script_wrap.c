/* Lines of generated CUDA that are too long: broken where a reader would do so. */
#include <stdbool.h>
#include <string.h>

#include "script/script_strategy_internal.h"

enum {
  MAX_COLUMNS = 100,
  MAX_ALIGNED = 40, /* a bracket further to the right is followed by the break itself */
  CONTINUED = 4,    /* columns that further lines are indented by */
  MAX_DEPTH = 32,
  RANKS = 3 /* of places within the same brackets */
};

/* The brackets that are open at a place of a line. */
typedef struct brackets {
  int depth;
  size_t column[MAX_DEPTH]; /* after each of them; 0: a template's, where nothing is broken */
} brackets;

/* A place to break a line at; brackets and operators that bind weakly are the best. */
typedef struct place {
  size_t at; /* where the next line begins; 0: there is none */
  int rank;
  brackets open;
} place;

/* Past the string or the character that starts at p; p itself if none does. */
static const char *skip_quoted(const char *p) {
  const char quote = *p;
  if (quote != '"' && quote != '\'') {
    return p;
  }
  for (p++; *p && *p != quote; p++) {
    p += p[0] == '\\' && p[1];
  }
  return p + (*p == quote);
}

/* `<` after a name opens a template's arguments: other operators have blanks around them. */
static bool opens(const char *p, const char *line) {
  return strchr("([{", *p) || (*p == '<' && p > line && p[-1] != ' ' && p[-1] != '<' &&
                               p[1] != ' ' && p[1] != '<' && p[1] != '=');
}

static bool closes(const char *p, const char *line) {
  return strchr(")]}", *p) ||
         (*p == '>' && p > line && p[-1] != ' ' && p[-1] != '-' && p[1] != '=');
}

/* How well a line is broken at the blank p, lower is better; -1: not at all. */
static int rank_at(const char *p) {
  const bool binary = *p == ' ' && p[1] && p[2] == ' ';
  if (*p != ' ') {
    return -1;
  }
  if (strchr(",;", p[-1]) || (binary && strchr("?:", p[1])) || strncmp(p, " && ", 4) == 0 ||
      strncmp(p, " || ", 4) == 0) {
    return 0;
  }
  return binary && strchr("+-|", p[1]) ? 1 : strncmp(p - 2, " =", 2) == 0 ? 2 : -1;
}

/* The best place of a line, of which `open` were opened before, within MAX_COLUMNS. */
static place find_place(const char *line, const brackets *before) {
  place best = {0};
  brackets open = *before;
  const size_t indent = strspn(line, " ");
  for (const char *p = line + indent; *p && p <= line + MAX_COLUMNS;) {
    const bool in_template = open.depth > 0 && open.column[open.depth - 1] == 0;
    const int rank = p > line + indent + 2 && !in_template ? rank_at(p) : -1;
    if (rank >= 0 && (best.at == 0 || RANKS * open.depth + rank <= best.rank)) {
      best = (place){(size_t)(p + 1 - line), RANKS * open.depth + rank, open};
    }
    if (strncmp(p, "//", 2) == 0) {
      break;
    }
    if (opens(p, line) && open.depth < MAX_DEPTH) {
      open.column[open.depth++] = *p == '<' ? 0 : (size_t)(p - line) + 1;
    } else if (closes(p, line) && open.depth > 0) {
      open.depth--;
    }
    const char *const next = skip_quoted(p);
    p = next > p ? next : p + 1;
  }
  return best;
}

/* Is all of the line that is too long a comment behind it? */
static bool fits(const char *line) {
  const char *p = line;
  while (*p && strncmp(p, "//", 2) != 0) {
    const char *next = skip_quoted(p);
    p = next > p ? next : p + 1;
  }
  while (p > line && p[-1] == ' ') {
    p--;
  }
  return p - line <= MAX_COLUMNS;
}

size_t sct_wrap_line(sct_str *out, const char *text) {
  SCT_SCOPED(sct_str) rest = {0};
  SCT_SCOPED(sct_str) line = {0};
  const size_t indent = strspn(text, " ");
  brackets open = {0};
  size_t n = 0;
  sct_str_append(&line, text);
  while (!fits(sct_str_c(&line)) && text[indent] != '#') {
    place best = find_place(sct_str_c(&line), &open);
    if (best.at == 0) {
      break;
    }
    size_t column = strchr("?:&|+-", text[indent]) ? indent : indent + CONTINUED;
    if (best.open.depth > 0) {
      const int last = best.open.depth - 1;
      if (best.open.column[last] > MAX_ALIGNED && n == 0) {
        best.at = best.open.column[last];
        best.open.column[last] = column;
      }
      column = best.open.column[last];
    }
    sct_str_clear(&rest);
    sct_str_printf(&rest, "%*s%s", (int)column, "", sct_str_c(&line) + best.at);
    size_t end = best.at;
    while (end > 0 && sct_str_c(&line)[end - 1] == ' ') {
      end--;
    }
    sct_str_append_n(out, sct_str_c(&line), end);
    sct_str_append(out, "\n");
    sct_str_clear(&line);
    sct_str_append(&line, sct_str_c(&rest));
    open = best.open;
    n++;
  }
  sct_str_append(out, sct_str_c(&line));
  return n;
}
