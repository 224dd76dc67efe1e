/* What kind of body it is: does it only move data, does it treat every field alike? And what
 * kernels have in its place.
 *
 * Only bodies that are a plain list of `output = expression;` statements qualify. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_tree.h"

enum { MAX_STATEMENTS = 256 };

/* Statements `out[.field] = value;` */
typedef struct statement_list {
  const node *at[MAX_STATEMENTS];
  int n;
} statement_list;

/* The assignment that a statement begins with: the value may go on after a comma. */
static const node *assignment_of(const body_tree *tree, const node *statement) {
  const node *e = statement->kid[0];
  return sct_node_is(tree, e, ",") ? e->kid[0] : e;
}

/* Is it an array's element or its field, or a number that stands there of one's own arrays? */
static bool is_place(const node *n) {
  return n->kind == NODE_NAME && n->m.op >= 0 && n->m.lane < 0 &&
         (n->m.array < 0 || n->m.element >= 0);
}

/* Adds the assignments in a list of statements and in its blocks; false: it is no plain list. */
static bool add_statements(const sct_spec *spec, const body_tree *tree, const node *n,
                           statement_list *list) {
  for (; n; n = n->next) {
    if (n->kind == NODE_EMPTY || n->kind == NODE_BLOCK) {
      if (!add_statements(spec, tree, n->kid[0], list)) {
        return false;
      }
      continue;
    }
    const node *e = n->kind == NODE_EXPRESSION ? assignment_of(tree, n) : n;
    if (list->n == MAX_STATEMENTS || e->kind != NODE_ASSIGN || !sct_node_is(tree, e, "=") ||
        !is_place(e->kid[0]) || !spec->operands[e->kid[0]->m.op].is_output) {
      return false;
    }
    for (int k = e->at + 1; k < n->end; k++) {
      const token *t = &tree->t[k];
      if (sct_token_is(t, "=") || sct_token_is(t, "++") || sct_token_is(t, "--") ||
          sct_token_is(t, "{")) {
        return false;
      }
    }
    list->at[list->n++] = n;
  }
  return true;
}

/* Every field of every output exactly once? */
static bool assigns_once(const sct_spec *spec, const body_tree *tree, const statement_list *list) {
  static const int once = 1;
  int count[SCT_MAX_OPERANDS][SCT_MAX_FIELDS] = {{0}};
  for (int k = 0; k < list->n; k++) {
    const sct_mention *to = &assignment_of(tree, list->at[k])->kid[0]->m;
    for (int f = 0; f < spec->operands[to->op].record.n_fields; f++) {
      count[to->op][f] += to->field < 0 || to->field == f;
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
static bool read_move(const sct_spec *spec, const body_tree *tree, const node *statement,
                      sct_move *moves, int *n) {
  const node *s = assignment_of(tree, statement);
  const sct_mention *m = &s->kid[0]->m, *in = &s->kid[1]->m;
  const sct_operand *output = &spec->operands[m->op];
  if (output->accumulate != SCT_REDUCE_NONE && m->field >= 0 && s->kid[1]->kind == NODE_NUMBER &&
      read_number(&tree->t[s->kid[1]->first], &moves[*n].number)) {
    moves[*n].out = m->op;
    moves[*n].out_field = m->field;
    moves[(*n)++].in = -1;
    return true;
  }
  if (s != statement->kid[0] || !is_place(s->kid[1]) || spec->operands[in->op].is_output ||
      (in->field < 0) != (m->field < 0)) {
    return false;
  }
  const sct_record *from = &spec->operands[in->op].record;
  const int first = in->field < 0 ? 0 : in->field;
  const int last = in->field < 0 ? from->n_fields - 1 : in->field;
  const bool is_arg = sct_reduce_is_arg(output->reduce) || sct_reduce_is_arg(output->scan);
  for (int f = first; f <= last; f++) {
    const int out_field = m->field < 0 ? f : m->field;
    const sct_type wanted = is_arg ? output->compared : output->record.fields[out_field].type;
    if (from->fields[f].type != wanted) {
      return false;
    }
    moves[(*n)++] = (sct_move){.out = m->op, .out_field = out_field, .in = in->op, .in_field = f};
  }
  return true;
}

static void find_moves(sct_spec *spec, const body_tree *tree, const statement_list *list) {
  int n_fields = 0;
  for (int op = spec->n_inputs; op < spec->n_operands; op++) {
    n_fields += spec->operands[op].record.n_fields;
  }
  sct_move *moves = SCT_ARENA_NEW(&spec->arena, sct_move, n_fields);
  int n = 0;
  for (int k = 0; k < list->n; k++) {
    if (!read_move(spec, tree, list->at[k], moves, &n)) {
      return;
    }
  }
  spec->n_moves = n;
  spec->moves = moves;
}

/* What all assignments to the only output give, which stand in no branch of a line; 0: no number.
 */
static int64_t find_counted(const sct_spec *spec, const body_tree *tree) {
  const sct_operand *out = &spec->operands[spec->n_inputs];
  const bool one = spec->n_operands == spec->n_inputs + 1 && !out->record.name &&
                   out->accumulate == SCT_REDUCE_SUM &&
                   sct_type_get(out->record.fields[0].type)->kind != SCT_KIND_FLOAT;
  int64_t number = 0, value = 0;
  int left = 0; /* mentions that are no such assignments */
  for (const node *n = one ? tree->made : NULL; n; n = n->made) {
    const node *e = n->kind == NODE_EXPRESSION ? n->kid[0] : NULL;
    const bool gives = e && e->kind == NODE_ASSIGN && sct_node_is(tree, e, "=") &&
                       e->kid[0]->m.op == spec->n_inputs && e->kid[1]->kind == NODE_NUMBER &&
                       read_number(&tree->t[e->kid[1]->first], &value) &&
                       (number == 0 || value == number) &&
                       (n->first == 0 || strchr(";{}", tree->t[n->first - 1].text[0]));
    number = gives ? value : number;
    left += (n->kind == NODE_NAME && n->m.op == spec->n_inputs) - gives;
  }
  return left == 0 && number > 0 && number < 32768 ? number : 0;
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

/* Every array's name without its field; false: some field is an element of a vector or one whose
 * number is not known. */
static bool drop_fields(const body_tree *tree, edit *edits) {
  bool all = true;
  for (const node *n = tree->made; n; n = n->made) {
    const bool is_array = n->kind == NODE_NAME && n->m.op >= 0;
    all = all && (!is_array || is_place(n));
    for (int k = n->first + 1; k < n->end && is_array; k++) {
      edits[k] = (edit){.text = "", .joined = true};
    }
  }
  return all;
}

/* Does a statement name a field other than this one? */
static bool names_other_field(const body_tree *tree, const node *s, int field) {
  bool other = false;
  for (const node *n = tree->made; n; n = n->made) {
    other = other || (n->kind == NODE_NAME && n->m.op >= 0 && n->first > s->first &&
                      n->end <= s->end && n->m.field >= 0 && n->m.field != field);
  }
  return other;
}

/* The statements for one field, in the order they stand; false: they name others. A whole record
 * stands for any field. */
static bool print_field(const sct_spec *spec, const body_tree *tree, const statement_list *list,
                        int field, const edit *edits, gap_text between, sct_str *out) {
  sct_str_clear(out);
  for (int k = 0; k < list->n; k++) {
    const node *s = list->at[k];
    const node *a = assignment_of(tree, s);
    const sct_mention *to = &a->kid[0]->m;
    if (to->field >= 0 && to->field != field) {
      continue;
    }
    if (names_other_field(tree, s, field)) {
      return false;
    }
    sct_str_printf(out, "%s%s = ", out->len > 0 ? " " : "", spec->operands[to->op].name);
    sct_tree_print(out, tree, edits, a->at + 1, s->end - 1, between);
    sct_str_append(out, ";");
  }
  return true;
}

static bool copies_record(const node *n) {
  return n->kind == NODE_NAME && n->m.op >= 0 && n->pair && n->use == USE_ASSIGN && n->m.field < 0;
}

static void find_component_body(sct_spec *spec, const body_tree *tree, const statement_list *list) {
  SCT_SCOPED(sct_str) first = {0}, other = {0};
  edit *edits = SCT_ARENA_NEW(&spec->arena, edit, tree->n);
  memcpy(edits, tree->edits, sizeof *edits * (size_t)tree->n);
  for (const node *n = tree->made; n; n = n->made) { /* one scalar is not copied by fields */
    for (int k = n->first; copies_record(n) && k < n->pair->end + 1; k++) {
      edits[k] = (edit){0};
    }
  }
  if (!shapes_allow(spec) || !drop_fields(tree, edits)) {
    return;
  }
  const int n_fields = spec->operands[spec->n_inputs].record.n_fields;
  bool alike = print_field(spec, tree, list, 0, edits, BLANKS_ALWAYS, &first);
  for (int f = 1; f < n_fields && alike; f++) {
    alike = print_field(spec, tree, list, f, edits, BLANKS_ALWAYS, &other) &&
            strcmp(sct_str_c(&first), sct_str_c(&other)) == 0;
  }
  if (!alike) {
    return;
  }
  (void)print_field(spec, tree, list, 0, edits, BLANKS_ONE, &first);
  spec->component_body = sct_arena_strdup(&spec->arena, sct_str_c(&first));
  spec->component_wise = true;
  const edit *fast = sct_spec_fast_edits(spec, tree, edits);
  if (fast) {
    (void)print_field(spec, tree, list, 0, fast, BLANKS_ONE, &other);
    const bool same = strcmp(sct_str_c(&first), sct_str_c(&other)) == 0;
    spec->fast_component_body = same ? NULL : sct_arena_strdup(&spec->arena, sct_str_c(&other));
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

void sct_spec_classify_body(sct_spec *spec, const body_tree *tree) {
  statement_list *list = sct_arena_alloc(&spec->arena, sizeof(*list));
  spec->counted = find_counted(spec, tree);
  if (sct_spec_has_taps(spec) || !add_statements(spec, tree, tree->statements, list) ||
      !assigns_once(spec, tree, list)) {
    return; /* what lies beyond a border is no move */
  }
  if (!reads_outputs(spec)) {
    find_moves(spec, tree, list);
  }
  if (!sct_spec_accumulates(spec) && !spec->scans) {
    find_component_body(spec, tree, list);
  }
}

/* ---- the kernel's text ---- */

/* Tokens first to end - 1 become `text`. */
static void replace(body_tree *tree, int first, int end, const char *text) {
  for (int k = first; k < end; k++) {
    tree->edits[k].text = k == first ? text : "";
    tree->edits[k].joined = k > first;
  }
}

/* Where C types differ, "b = a;" becomes "b.x = a.x; b.y = a.y;", in braces where it may be the
 * branch of an `if`. */
static void copy_fields(sct_spec *spec, body_tree *tree, const node *to) {
  const sct_record *a = &spec->operands[to->m.op].record;
  const sct_record *b = &spec->operands[to->pair->m.op].record;
  if (!a->name || !b->name || strcmp(a->name, b->name) == 0) {
    return;
  }
  const token *t = &tree->t[to->first], *from = &tree->t[to->pair->first];
  const bool first = to->first == 0 || strchr(";{}", t[-1].text[0]);
  SCT_SCOPED(sct_str) text = {0};
  sct_str_append(&text, first ? "" : "{ ");
  for (int f = 0; f < a->n_fields; f++) {
    const char *field = a->fields[f].name;
    sct_str_printf(&text, "%s%.*s.%s = %.*s.%s;", f > 0 ? " " : "", (int)t->len, t->text, field,
                   (int)from->len, from->text, field);
  }
  sct_str_append(&text, first ? "" : " }");
  replace(tree, to->first, to->pair->end + 1, sct_arena_strdup(&spec->arena, sct_str_c(&text)));
}

/* Does the body say the word, whatever it is there? */
static bool says(const body_tree *tree, const char *word) {
  bool any = false;
  for (int k = 0; k < tree->n; k++) {
    any = any || sct_token_is(&tree->t[k], word);
  }
  return any;
}

/* Variables that are called as a dimension is get names of their own: kernels have the index by
 * that name. */
static void rename_locals(sct_spec *spec, body_tree *tree) {
  for (int k = 0; k < tree->n_locals; k++) {
    const token *t = tree->locals[k].name;
    if (sct_spec_find_dim(spec, t->text, t->len) < 0) {
      continue;
    }
    char *name = sct_arena_printf(&spec->arena, "%.*s_here", (int)t->len, t->text);
    int tap = -1;
    while (says(tree, name) || sct_spec_find_value(spec, name, strlen(name), &tap) >= 0 ||
           sct_spec_find_dim(spec, name, strlen(name)) >= 0 ||
           sct_spec_find_step_value(spec, name, strlen(name))) {
      name = sct_arena_printf(&spec->arena, "%s_", name);
    }
    tree->edits[t - tree->t].text = name;
    for (const node *n = tree->made; n; n = n->made) {
      if (n->kind == NODE_NAME && n->local == k) {
        tree->edits[n->first].text = name;
      }
    }
  }
}

/* Types are spelled without headers: "uint8_t" as "unsigned char"; "uint8_t(x)" as a cast, which a
 * type of two words needs. C++ copies a struct only to one of the same type; records that differ in
 * name, packing or alignment alone are copied field by field. */
void sct_spec_write_bodies(sct_spec *spec, body_tree *tree, const char **kernel,
                           const char **fast) {
  tree->edits = SCT_ARENA_NEW(&spec->arena, edit, tree->n);
  for (int k = 0; k < tree->n; k++) {
    const token *t = &tree->t[k];
    const char *spelling = sct_spec_spelling(t->text, t->len);
    const bool calls = sct_token_is(t + 1, "(");
    if (spelling) {
      tree->edits[k].text =
          calls ? sct_arena_printf(&spec->arena, "static_cast<%s>", spelling) : spelling;
    }
  }
  for (const node *n = tree->made; n; n = n->made) {
    if (n->kind == NODE_KEEP) { /* sets a flag beside o */
      replace(tree, n->first, n->end - 1,
              sct_arena_printf(&spec->arena, "%s_kept = true", spec->operands[n->m.op].name));
    } else if (copies_record(n)) {
      copy_fields(spec, tree, n);
    } else if (n->kind == NODE_NAME && n->m.op >= 0) {
      sct_spec_read_shared(spec, tree, n);
    }
  }
  rename_locals(spec, tree);
  *kernel = sct_tree_text(tree, tree->edits, spec);
  const edit *edits = sct_spec_fast_edits(spec, tree, tree->edits);
  *fast = edits ? sct_tree_text(tree, edits, spec) : NULL;
}
