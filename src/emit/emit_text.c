/* Text that cannot break out of its place. Whatever the store holds (device names come from
 * drivers, labels and specs from users, and stores are passed around), a comment stays on its line,
 * a string between its quotes, a name is a name and an expression only computes. */
#include "emit/emit_internal.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- types ---- */

static const emit_type types[] = {
    {"i8", "signed char", 1, false, false, 1},    {"i16", "short", 2, false, false, 1},
    {"i32", "int", 4, false, false, 1},           {"i64", "long long", 8, false, false, 1},
    {"u8", "unsigned char", 1, false, false, 1},  {"u16", "unsigned short", 2, false, false, 1},
    {"u32", "unsigned int", 4, false, false, 1},  {"u64", "unsigned long long", 8, false, false, 1},
    {"f16", "unsigned short", 2, true, false, 1}, {"bf16", "unsigned short", 2, true, false, 1},
    {"f32", "float", 4, false, false, 1},         {"f64", "double", 8, false, false, 1},
    {"f32x2", "float2", 8, false, true, 1},       {"f32x4", "float4", 16, false, true, 1},
    {"f64x2", "double2", 16, false, true, 1},     {"i32x2", "int2", 8, false, true, 1},
    {"i32x4", "int4", 16, false, true, 1},        {"i8x4", "char4", 4, false, true, 1},
    {"u8x4", "uchar4", 4, false, true, 1},        {"f16x2", "ushort2", 4, true, true, 1},
    {"bf16x2", "ushort2", 4, true, true, 1},      {"i4", "unsigned char", 1, false, false, 2},
    {"u4", "unsigned char", 1, false, false, 2},  {"u1", "unsigned char", 1, false, false, 8},
    {"bool", "bool", 1, false, false, 1},         {"e4m3", "unsigned char", 1, true, false, 1},
    {"e5m2", "unsigned char", 1, true, false, 1},
};

const emit_type *emit_type_find(const char *name) {
  const int k = sct_names_find(SCT_NAMES_IN(types, SCT_COUNT(types), name), name);
  return k >= 0 ? &types[k] : NULL;
}

/* ---- names ---- */

/* Words that C++20, CUDA or the header's own text need. */
static const char *const taken_words[] = {
    "alignas",     "alignof",      "and",           "and_eq",       "asm",
    "auto",        "bitand",       "bitor",         "blockDim",     "blockIdx",
    "bool",        "break",        "case",          "catch",        "char",
    "char16_t",    "char32_t",     "char8_t",       "class",        "co_await",
    "co_return",   "co_yield",     "compl",         "concept",      "const",
    "const_cast",  "consteval",    "constexpr",     "constinit",    "continue",
    "cudaError_t", "cudaStream_t", "decltype",      "default",      "delete",
    "do",          "double",       "dynamic_cast",  "else",         "enum",
    "explicit",    "export",       "extern",        "false",        "float",
    "for",         "friend",       "goto",          "gridDim",      "if",
    "inline",      "int",          "linux",         "long",         "main",
    "mutable",     "namespace",    "new",           "noexcept",     "not",
    "not_eq",      "nullptr",      "operator",      "or",           "or_eq",
    "private",     "protected",    "public",        "register",     "reinterpret_cast",
    "requires",    "restrict",     "return",        "short",        "signed",
    "sizeof",      "static",       "static_assert", "static_cast",  "struct",
    "switch",      "template",     "this",          "thread_local", "threadIdx",
    "throw",       "true",         "try",           "typedef",      "typeid",
    "typename",    "union",        "unix",          "unsigned",     "using",
    "virtual",     "void",         "volatile",      "warpSize",     "wchar_t",
    "while",       "xor",          "xor_eq",
};

bool emit_is_name(const char *text) {
  return sct_is_identifier(text) && strstr(text, "__") == NULL && strlen(text) <= 200 &&
         !(text[0] == '_' && isupper((unsigned char)text[1])) &&
         sct_names_find(SCT_NAMES(taken_words, SCT_COUNT(taken_words)), text) < 0;
}

/* ---- expressions ---- */

/* The word of `n` characters is one that an expression may hold. */
static bool word_allowed(const char *word, size_t n, const emit_signature *sig,
                         const emit_operand *op) {
  static const char *const plain[] = {"min", "max", "long"};
  static const char *const floors[] = {"sct_floor_div", "sct_floor_mod"};
  if (sct_names_find_n(SCT_NAMES(plain, SCT_COUNT(plain)), word, n) >= 0 ||
      (op != NULL && (sct_names_find_n(SCT_NAMES(floors, SCT_COUNT(floors)), word, n) >= 0 ||
                      sct_names_find_n(SCT_NAMES(op->dims, op->n_dims), word, n) >= 0))) {
    return true;
  }
  const sct_names extents = SCT_NAMES_IN(sig->extents, sig->n_extents, name);
  return n > 2 && strncmp(word, "n_", 2) == 0 && sct_names_find_n(extents, word + 2, n - 2) >= 0;
}

/* Decimal or 0x digits with a suffix of u, l. */
static bool number_allowed(const char *word, size_t n) {
  size_t k = 0;
  const bool hex = n > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  k = hex ? 2 : 0;
  const size_t first = k;
  while (k < n && (hex ? isxdigit((unsigned char)word[k]) : isdigit((unsigned char)word[k]))) {
    k++;
  }
  const size_t digits = k - first;
  while (k < n && strchr("uUlL", word[k]) != NULL) {
    k++;
  }
  return k == n && digits > 0;
}

/* Pairs that would be an assignment, an increment, a comment or another spelling of a bracket. */
static bool pair_refused(const char *at) {
  static const char *const pairs[] = {"++", "--", "//", "/*", "<:", ":>", "<%", "%>", "%:", "??"};
  for (int k = 0; k < SCT_COUNT(pairs); k++) {
    if (strncmp(at, pairs[k], 2) == 0) {
      return true;
    }
  }
  return false;
}

bool emit_is_expression(const char *text, const emit_signature *sig, const emit_operand *op) {
  int depth = 0;
  bool some = false;
  for (const char *at = text; *at != '\0';) {
    if (sct_is_word(*at)) {
      size_t n = 0;
      while (sct_is_word(at[n])) {
        n++;
      }
      if (!(isdigit((unsigned char)*at) ? number_allowed(at, n) : word_allowed(at, n, sig, op))) {
        return false;
      }
      some = true;
      at += n;
      continue;
    }
    const bool comparison = *at == '=' && (at[1] == '=' || (at > text && strchr("=<>!", at[-1])));
    if (strchr("+-*/%()<>!&|^~?:, =", *at) == NULL || pair_refused(at) ||
        (*at == '=' && !comparison) || (at[0] == '<' && at[1] == '<' && at[2] == '=') ||
        (at[0] == '>' && at[1] == '>' && at[2] == '=')) {
      return false;
    }
    depth += (*at == '(') - (*at == ')');
    if (depth < 0) {
      return false;
    }
    at++;
  }
  return some && depth == 0;
}

bool emit_mentions(const char *expression, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = expression; (at = strstr(at, name)) != NULL; at += n) {
    if ((at == expression || !sct_is_word(at[-1])) && !sct_is_word(at[n])) {
      return true;
    }
  }
  return false;
}

/* ---- comments, strings, numbers ---- */

/* Printable ASCII stays; a backslash (it could join the next line to the comment) and all else
 * become a neutral character. Doubled question marks and comment brackets are taken apart. */
static void comment_char(sct_str *s, char c, char before) {
  const unsigned char u = (unsigned char)c;
  if (u >= 0x80 && u < 0xc0) {
    return; /* the rest of a character of which the first byte is already written */
  }
  if (c == '\t' || c == '\n' || c == '\r') {
    c = ' ';
  } else if (c == '\\') {
    c = '/';
  } else if (u < 0x20 || u >= 0x7f) {
    c = '_';
  }
  if ((c == '?' && before == '?') || (c == '/' && before == '*') || (c == '*' && before == '/')) {
    sct_str_append_n(s, " ", 1);
  }
  sct_str_append_n(s, &c, 1);
}

void emit_comment(sct_str *s, const char *text) {
  for (const char *at = text; at != NULL && *at != '\0'; at++) {
    comment_char(s, *at, s->len > 0 ? s->data[s->len - 1] : '\0');
  }
}

void emit_string(sct_str *s, const char *text) {
  for (const char *at = text != NULL ? text : ""; *at != '\0'; at++) {
    const unsigned char u = (unsigned char)*at;
    if (u < 0x20 || u >= 0x7f) {
      sct_str_printf(s, "\\%03o", u);
    } else if (*at == '"' || *at == '\\' || *at == '?') {
      sct_str_printf(s, "\\%c", *at);
    } else {
      sct_str_append_n(s, at, 1);
    }
  }
}

void emit_number(sct_str *s, double value) {
  if (isfinite(value)) {
    sct_str_printf(s, "%.17g", value);
  } else {
    sct_str_append(s, "0");
  }
}

void emit_name_part(sct_str *s, const char *raw) {
  for (const char *at = raw; *at != '\0' && at - raw < 40; at++) {
    const bool doubled = s->len > 0 && s->data[s->len - 1] == '_';
    if (isalnum((unsigned char)*at)) {
      sct_str_append_n(s, at, 1);
    } else if (!doubled) {
      sct_str_append(s, "_");
    }
  }
}
