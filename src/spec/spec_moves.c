/* What kind of body it is: does it only move data, does it treat every field alike?
 *
 * Only bodies that are a plain list of `output = expression;` statements qualify. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_internal.h"

enum { MAX_STATEMENTS = 256 };

/* "out[.field] = tokens first..end-1;" */
typedef struct statement {
  int out, field; /* field -1: the whole record */
  int first, end;
} statement;

typedef struct statement_list {
  statement at[MAX_STATEMENTS];
  int n;
} statement_list;

/* Reads "name[.field]" at token k, of an array with the number of its element. false: it is
 * something else. `next` is the token after it. */
static bool read_place(const sct_spec *spec, const token_list *body, int k, int *op, int *field,
                       int *next) {
  const token *t = body->tokens;
  *op = sct_spec_find_operand(spec, t[k].text, t[k].len);
  if (*op < 0) {
    return false;
  }
  const sct_record *record = &spec->operands[*op].record;
  const bool bare = record->fields[0].name[0] == '\0';
  *field = bare ? 0 : -1;
  *next = k + 1;
  if (!sct_token_is(&t[k + 1], ".")) {
    return true;
  }
  if (bare) {
    return false; /* a component of a vector */
  }
  *field = sct_spec_find_field(record, t[k + 2].text, t[k + 2].len);
  *next = k + 3;
  if (*field >= 0 && record->fields[*field].n_elements > 0) {
    const int64_t element = sct_spec_constant_index(&t[k + 3]);
    *field += element >= 0 ? sct_field_of_element(&record->fields[*field], element) : 0;
    *next = k + 6;
    return element >= 0;
  }
  return *field >= 0 && !sct_token_is(&t[k + 3], ".");
}

/* false: the body is no plain list of assignments to outputs. */
static bool split_statements(const sct_spec *spec, const token_list *body, statement_list *list) {
  const token *t = body->tokens;
  list->n = 0;
  for (int k = 0; k < body->n;) {
    if (sct_token_is(&t[k], ";") || sct_token_is(&t[k], "{") || sct_token_is(&t[k], "}")) {
      k++; /* of a block: what has conditions or loops begins otherwise */
      continue;
    }
    statement s = {0};
    int next = 0;
    if (list->n == MAX_STATEMENTS || !read_place(spec, body, k, &s.out, &s.field, &next) ||
        !spec->operands[s.out].is_output || !sct_token_is(&t[next], "=")) {
      return false;
    }
    s.first = next + 1;
    for (s.end = s.first; !sct_token_is(&t[s.end], ";"); s.end++) {
      const bool assigns = t[s.end].kind == TOKEN_PUNCT && t[s.end].len >= 1 &&
                           (sct_token_is(&t[s.end], "=") || sct_token_is(&t[s.end], "++") ||
                            sct_token_is(&t[s.end], "--"));
      if (s.end >= body->n || assigns || sct_token_is(&t[s.end], "{")) {
        return false;
      }
    }
    list->at[list->n++] = s;
    k = s.end + 1;
  }
  return list->n > 0;
}

/* Every field of every output exactly once? */
static bool assigns_once(const sct_spec *spec, const statement_list *list) {
  static const int once = 1;
  int count[SCT_MAX_OPERANDS][SCT_MAX_FIELDS] = {{0}};
  for (int k = 0; k < list->n; k++) {
    const sct_record *record = &spec->operands[list->at[k].out].record;
    for (int f = 0; f < record->n_fields; f++) {
      count[list->at[k].out][f] += list->at[k].field < 0 || list->at[k].field == f;
    }
  }
  for (int op = spec->n_inputs; op < spec->n_operands; op++) {
    for (int f = 0; f < spec->operands[op].record.n_fields; f++) {
      if (count[op][f] != once) {
        return false;
      }
    }
  }
  return true;
}

/* ---- moves ---- */

/* A whole number, as 1, 1u or 1.0f. */
static bool read_number(const token *t, int64_t *number) {
  char text[32] = "";
  char *end = text;
  if (t->kind != TOKEN_NUMBER || t->len >= sizeof text || (t->len > 1 && t->text[0] == '0')) {
    return false; /* what is octal or hexadecimal is left to the compiler */
  }
  memcpy(text, t->text, t->len);
  const double value = strtod(text, &end);
  *number = (int64_t)(value < 0x1p31 ? value : 0);
  return end > text && strspn(end, "uUlLfF") == strlen(end) && (double)*number == value;
}

/* Appends the moves of one statement; false: it computes something. */
static bool read_move(const sct_spec *spec, const token_list *body, const statement *s,
                      sct_move *moves, int *n) {
  int in = 0;
  int field = 0;
  int next = 0;
  if (spec->operands[s->out].accumulate != SCT_REDUCE_NONE && s->field >= 0 &&
      s->end == s->first + 1 && read_number(&body->tokens[s->first], &moves[*n].number)) {
    moves[*n].out = s->out;
    moves[*n].out_field = s->field;
    moves[(*n)++].in = -1;
    return true;
  }
  if (!read_place(spec, body, s->first, &in, &field, &next) || next != s->end ||
      spec->operands[in].is_output || (field < 0) != (s->field < 0)) {
    return false;
  }
  const sct_record *from = &spec->operands[in].record;
  const sct_record *to = &spec->operands[s->out].record;
  const int first = field < 0 ? 0 : field;
  const int last = field < 0 ? from->n_fields - 1 : field;
  const bool is_arg = sct_reduce_is_arg(spec->operands[s->out].reduce);
  for (int f = first; f <= last; f++) {
    const int out_field = s->field < 0 ? f : s->field;
    const sct_type wanted = is_arg ? spec->operands[s->out].compared : to->fields[out_field].type;
    if (from->fields[f].type != wanted) {
      return false;
    }
    moves[(*n)++] = (sct_move){.out = s->out, .out_field = out_field, .in = in, .in_field = f};
  }
  return true;
}

static void find_moves(sct_spec *spec, const token_list *body, const statement_list *list) {
  int n_fields = 0;
  for (int op = spec->n_inputs; op < spec->n_operands; op++) {
    n_fields += spec->operands[op].record.n_fields;
  }
  sct_move *moves = SCT_ARENA_NEW(&spec->arena, sct_move, n_fields);
  int n = 0;
  for (int k = 0; k < list->n; k++) {
    if (!read_move(spec, body, &list->at[k], moves, &n)) {
      return;
    }
  }
  spec->n_moves = n;
  spec->moves = moves;
}

/* ---- component-wise ---- */

static bool all_of_type(const sct_record *record, sct_type type, int n_fields) {
  bool alike = record->n_fields == n_fields;
  for (int f = 0; f < record->n_fields; f++) {
    alike = alike && record->fields[f].type == type;
  }
  return alike;
}

/* Operands that the body names have the same number of fields, all of one type; index arrays may
 * be anything as long as the body leaves them alone. */
static bool shapes_allow(const sct_spec *spec) {
  const sct_record *model = &spec->operands[spec->n_inputs].record;
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_operand *operand = &spec->operands[op];
    bool named = false;
    for (int f = 0; f < operand->record.n_fields; f++) {
      named = named || operand->used[f];
    }
    if (named && !all_of_type(&operand->record, model->fields[0].type, model->n_fields)) {
      return false;
    }
  }
  for (int d = 0; d < spec->n_dims; d++) {
    if (spec->body_uses_dim[d]) {
      return false;
    }
  }
  return true;
}

/* Blank between two tokens: as written when `pretty`, else always. */
static void print_gap(sct_str *out, const token *before, const token *t, bool pretty) {
  if (!pretty || before->text + before->len != t->text) {
    sct_str_append(out, " ");
  }
}

/* "uint8_t" as "unsigned char"; "uint8_t(x)" as a cast, which a type of two words needs. */
static void print_token(sct_str *out, const token *t) {
  const char *spelling = sct_spec_spelling(t->text, t->len);
  if (spelling) {
    sct_str_printf(out, sct_token_is(t + 1, "(") ? "static_cast<%s>" : "%s", spelling);
  } else {
    sct_str_append_n(out, t->text, t->len);
  }
}

/* Appends the statement with every mention of field `field` written as the bare operand name.
 * false: another field is mentioned. A whole record (field -1) stands for any field. */
static bool print_component(const sct_spec *spec, const token_list *body, const statement *s,
                            int field, bool pretty, sct_str *out) {
  sct_str_printf(out, "%s =", spec->operands[s->out].name);
  for (int k = s->first; k < s->end;) {
    int op = 0;
    int found = 0;
    int next = k + 1;
    const token *t = &body->tokens[k];
    print_gap(out, t - 1, t, pretty && k > s->first);
    if (read_place(spec, body, k, &op, &found, &next)) {
      if (found >= 0 && found != field) {
        return false;
      }
      sct_str_append(out, spec->operands[op].name);
    } else if (op >= 0) {
      return false; /* a component of a vector type */
    } else {
      print_token(out, t);
    }
    k = next;
  }
  sct_str_append(out, ";");
  return true;
}

/* The statements for one field, in the order they stand. */
static bool print_field(const sct_spec *spec, const token_list *body, const statement_list *list,
                        int field, bool pretty, sct_str *out) {
  sct_str_clear(out);
  for (int k = 0; k < list->n; k++) {
    const statement *s = &list->at[k];
    if (s->field >= 0 && s->field != field) {
      continue;
    }
    sct_str_append(out, out->len > 0 ? " " : "");
    if (!print_component(spec, body, s, field, pretty, out)) {
      return false;
    }
  }
  return true;
}

static void find_component_body(sct_spec *spec, const token_list *body,
                                const statement_list *list) {
  if (!shapes_allow(spec)) {
    return;
  }
  SCT_SCOPED(sct_str) first = {0};
  SCT_SCOPED(sct_str) other = {0};
  const int n_fields = spec->operands[spec->n_inputs].record.n_fields;
  bool alike = print_field(spec, body, list, 0, false, &first);
  for (int f = 1; f < n_fields && alike; f++) {
    alike = print_field(spec, body, list, f, false, &other) &&
            strcmp(sct_str_c(&first), sct_str_c(&other)) == 0;
  }
  alike = alike && print_field(spec, body, list, 0, true, &first);
  if (alike) {
    spec->component_body = sct_arena_strdup(&spec->arena, sct_str_c(&first));
    spec->component_wise = true;
  }
}

/* Does the body depend on what an output holds? What it adds to that does not. */
static bool reads_outputs(const sct_spec *spec) {
  bool any = false;
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    any = any || spec->operands[k].keeps || sct_operand_is_updated(&spec->operands[k]);
  }
  return any;
}

void sct_spec_classify_body(sct_spec *spec, const token_list *body) {
  statement_list *list = sct_arena_alloc(&spec->arena, sizeof(*list));
  if (sct_spec_has_taps(spec) || !split_statements(spec, body, list) || !assigns_once(spec, list)) {
    return; /* what lies beyond a border is no move */
  }
  if (!reads_outputs(spec)) {
    find_moves(spec, body, list);
  }
  if (!sct_spec_accumulates(spec) && !spec->scans) {
    find_component_body(spec, body, list);
  }
}

/* ---- copies between records of different types ---- */

/* Does "b = a;" of whole records stand at token k, and are their C types different? */
static bool copies_other_type(const sct_spec *spec, const token_list *body, int k,
                              const sct_operand **to, const sct_operand **from) {
  const token *t = &body->tokens[k];
  int tap = -1;
  const int out = sct_spec_find_operand(spec, t[0].text, t[0].len);
  const int in = sct_token_is(&t[1], "=") && sct_token_is(&t[3], ";")
                     ? sct_spec_find_value(spec, t[2].text, t[2].len, &tap)
                     : -1;
  const char *before = k > 0 ? t[-1].text : "";
  if (t[0].kind != TOKEN_NAME || *before == '.' || out < 0 || in < 0) {
    return false;
  }
  *to = &spec->operands[out];
  *from = &spec->operands[in];
  return (*to)->record.name && (*from)->record.name &&
         strcmp((*to)->record.name, (*from)->record.name) != 0;
}

/* "b.x = a.x; b.y = a.y;" for the tokens at k, in braces where it may be the branch of an `if`. */
static void print_copy(sct_str *out, const token_list *body, int k, const sct_record *record) {
  const token *t = &body->tokens[k];
  const bool first = k == 0 || (t[-1].len == 1 && strchr(";{}", t[-1].text[0]));
  sct_str_append(out, first ? "" : "{ ");
  for (int f = 0; f < record->n_fields; f++) {
    const char *field = record->fields[f].name;
    sct_str_printf(out, "%s%.*s.%s = %.*s.%s;", f > 0 ? " " : "", (int)t[0].len, t[0].text, field,
                   (int)t[2].len, t[2].text, field);
  }
  sct_str_append(out, first ? "" : " }");
}

/* What kernels have in the place of the tokens at k. Returns how many tokens that are; 0: the text
 * stays. closes: [n] brackets that close an element of an array whose elements share bytes. */
static int print_rewritten(sct_str *out, const sct_spec *spec, const token_list *body, int k,
                           bool *closes) {
  const token *t = &body->tokens[k];
  const sct_operand *to, *from;
  if (copies_other_type(spec, body, k, &to, &from)) {
    print_copy(out, body, k, &to->record);
    return 4;
  }
  if (sct_token_is(t, "keep")) { /* sets a flag beside o */
    sct_str_printf(out, "%.*s_kept = true", (int)t[2].len, t[2].text);
    return 4;
  }
  if (closes[k]) {
    sct_str_append(out, ")");
    return 1;
  }
  if (sct_spec_spelling(t->text, t->len)) {
    print_token(out, t);
    return 1;
  }
  return sct_spec_print_shared(out, spec, body, k, closes);
}

/* Types are spelled without headers. C++ copies a struct only to one of the same type; records that
 * differ in name, packing or alignment alone are copied field by field. */
void sct_spec_write_kernel_body(sct_spec *spec, const token_list *body) {
  SCT_SCOPED(sct_str) out = {0};
  SCT_SCOPED(sct_str) text = {0};
  bool *closes = SCT_ARENA_NEW(&spec->arena, bool, body->n + 1);
  const char *rest = spec->body;
  for (int k = 0; k < body->n;) {
    const token *t = &body->tokens[k];
    sct_str_clear(&text);
    const int n = print_rewritten(&text, spec, body, k, closes);
    if (n > 0) {
      sct_str_append_n(&out, rest, (size_t)(t->text - rest));
      sct_str_append(&out, sct_str_c(&text));
      rest = t[n - 1].text + t[n - 1].len;
    }
    k += n > 0 ? n : 1;
  }
  sct_str_append(&out, rest);
  spec->kernel_body = sct_arena_strdup(&spec->arena, sct_str_c(&out));
}
