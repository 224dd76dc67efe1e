/* Random bodies of branches, loops and jumps against all of their paths: a body is accepted if and
 * only if every path assigns the output and reads the variable after it was assigned. Conditions
 * are independent of each other, so the analysis is exact. */
#include "spec_test.h"

enum { BODIES = 4000, MAX_NODES = 64, MAX_ITERATIONS = 2 };

typedef enum kind {
  ASSIGN_O, /* o = 1; */
  ASSIGN_T, /* t = 1; */
  READ_T,   /* o = t; */
  READ_O,   /* t = o; */
  NOTHING,
  SEQUENCE, /* { a b } */
  IF,
  IF_ELSE,
  AND_ASSIGN, /* if (c && (t = 1) > 0) a else b */
  OR_ASSIGN,
  WHILE,
  WHILE_TRUE,
  FOR_FOUR,
  FOR_N,
  DO,
  SWITCH, /* case 0: a; case 1: b; with or without break, default */
  BREAK,
  CONTINUE,
  N_KINDS
} kind;

typedef struct node {
  kind kind;
  int a, b;
  bool breaks, has_default;
} node;

static node nodes[MAX_NODES];
static int n_nodes;

static int grow(sct_rng *rng, int depth, bool in_loop, bool in_switch) {
  const int at = n_nodes++;
  node n = {.a = -1, .b = -1};
  do {
    n.kind = (kind)sct_rng_below(rng, N_KINDS);
  } while ((n.kind == BREAK && !in_loop && !in_switch) || (n.kind == CONTINUE && !in_loop) ||
           (depth == 0 && n.kind >= SEQUENCE && n.kind < BREAK));
  if (n.kind >= SEQUENCE && n.kind < BREAK) {
    const bool loop = n.kind >= WHILE && n.kind <= DO;
    n.a = grow(rng, depth - 1, in_loop || loop, in_switch || n.kind == SWITCH);
    n.b = loop || n.kind == IF ? -1 : grow(rng, depth - 1, in_loop, in_switch || n.kind == SWITCH);
    n.breaks = sct_rng_below(rng, 2) == 0;
    n.has_default = sct_rng_below(rng, 2) == 0;
  }
  nodes[at] = n;
  return at;
}

static void print(sct_str *out, int at) {
  static const char *const before[N_KINDS] = {"o = 1; ",
                                              "t = 1; ",
                                              "o = t; ",
                                              "t = o; ",
                                              "; ",
                                              "{ ",
                                              "if (n > 1) ",
                                              "if (n > 2) ",
                                              "if (n > 3 && (t = 1) > k) ",
                                              "if (n > 4 || (t = 1) > k) ",
                                              "while (n > 5) ",
                                              "while (true) ",
                                              "for (int q = 0; q < 4; q++) ",
                                              "for (int q = 0; q < n; q++) ",
                                              "do ",
                                              "switch (n) { case 0: ",
                                              "break; ",
                                              "continue; "};
  const node *n = &nodes[at];
  sct_str_append(out, before[n->kind]);
  if (n->kind < SEQUENCE || n->kind >= BREAK) {
    return;
  }
  sct_str_append(out, "{ ");
  print(out, n->a);
  sct_str_append(out, "} ");
  if (n->kind == DO) {
    sct_str_append(out, "while (n > 6); ");
  } else if (n->kind == SWITCH) {
    sct_str_printf(out, "%s%s ", n->breaks ? "break; " : "",
                   n->has_default ? "default:" : "case 1:");
  } else if (n->kind == IF_ELSE || n->kind == AND_ASSIGN || n->kind == OR_ASSIGN) {
    sct_str_append(out, "else ");
  }
  if (n->b >= 0) {
    sct_str_append(out, "{ ");
    print(out, n->b);
    sct_str_append(out, "} ");
  }
  sct_str_append(out, n->kind == SEQUENCE || n->kind == SWITCH ? "} " : "");
}

/* ---- all paths ---- */

/* Sets of states: bit s is there where a path comes with state s (1: o assigned, 2: t assigned). */
typedef struct ends {
  uint8_t normal, breaks, continues;
  bool undefined; /* some path reads what it has not assigned */
} ends;

static ends after(ends e, ends more) {
  return (ends){.normal = more.normal,
                .breaks = e.breaks | more.breaks,
                .continues = e.continues | more.continues,
                .undefined = e.undefined || more.undefined};
}

static ends either(ends x, ends y) {
  return (ends){.normal = x.normal | y.normal,
                .breaks = x.breaks | y.breaks,
                .continues = x.continues | y.continues,
                .undefined = x.undefined || y.undefined};
}

/* Every state of `from` with the bits of `add`. */
static uint8_t assigned(uint8_t from, int add) {
  uint8_t to = 0;
  for (int s = 0; s < 4; s++) {
    to = (uint8_t)(from >> s & 1 ? to | 1 << (s | add) : to);
  }
  return to;
}

/* Is there a state without the bit? */
static bool some_lacks(uint8_t from, int bit) {
  return (from & ~assigned(from, bit)) != 0;
}

static ends run(int at, uint8_t from);

/* Runs a loop that may end at its head, but not before `least` iterations. */
static ends run_loop(const node *n, uint8_t from, int least, bool head_ends, bool tail_ends) {
  ends out = {0};
  uint8_t head = from;
  for (int k = 0; k < MAX_ITERATIONS + 2 && head != 0; k++) {
    out.normal |= head_ends && k >= least ? head : 0;
    const ends e = run(n->a, head);
    out.undefined = out.undefined || e.undefined;
    out.normal |= e.breaks;
    head = e.normal | e.continues;
    out.normal |= tail_ends ? head : 0;
  }
  return out;
}

static ends run_switch(const node *n, uint8_t from) {
  ends a = run(n->a, from);
  ends b = run(n->b, from);
  ends out = {.undefined = a.undefined || b.undefined, .continues = a.continues | b.continues};
  out.normal = a.breaks | b.normal | b.breaks | (n->has_default ? 0 : from);
  if (n->breaks) {
    out.normal |= a.normal;
  } else {
    b = run(n->b, a.normal);
    out.normal |= b.normal | b.breaks;
    out.continues |= b.continues;
    out.undefined = out.undefined || b.undefined;
  }
  return out;
}

static ends run(int at, uint8_t from) {
  const node *n = &nodes[at];
  if (from == 0) {
    return (ends){0};
  }
  switch (n->kind) {
  case ASSIGN_O:
    return (ends){.normal = assigned(from, 1)};
  case ASSIGN_T:
    return (ends){.normal = assigned(from, 2)};
  case READ_T:
    return (ends){.normal = assigned(from, 1), .undefined = some_lacks(from, 2)};
  case READ_O:
    return (ends){.normal = assigned(from, 2), .undefined = some_lacks(from, 1)};
  case SEQUENCE: {
    const ends first = run(n->a, from);
    return after(first, run(n->b, first.normal));
  }
  case IF:
    return either(run(n->a, from), (ends){.normal = from});
  case IF_ELSE:
    return either(run(n->a, from), run(n->b, from));
  case AND_ASSIGN:
    return either(run(n->a, assigned(from, 2)), run(n->b, from | assigned(from, 2)));
  case OR_ASSIGN:
    return either(run(n->a, from | assigned(from, 2)), run(n->b, assigned(from, 2)));
  case WHILE:
  case FOR_N:
    return run_loop(n, from, 0, true, false);
  case WHILE_TRUE:
    return run_loop(n, from, 0, false, false);
  case FOR_FOUR:
    return run_loop(n, from, 1, true, false);
  case DO:
    return run_loop(n, from, 0, false, true);
  case SWITCH:
    return run_switch(n, from);
  case BREAK:
    return (ends){.breaks = from};
  case CONTINUE:
    return (ends){.continues = from};
  default:
    return (ends){.normal = from};
  }
}

/* ---- the test ---- */

static void open_kernel(void) {
  open_spec("i");
  add_scalar("k", "f32");
  add_scalar("n", "i32");
  add_array("o", "f32", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=4");
}

static void the_paths_decide(void **state) {
  (void)state;
  const uint64_t seed = 20261123;
  sct_rng rng = sct_rng_new(seed);
  int n_accepted = 0;
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int k = 0; k < BODIES; k++) {
    sct_str body = {0};
    n_nodes = 0;
    const int root = grow(&rng, 4, false, false);
    const ends e = run(root, 1);
    const bool right = !e.undefined && !some_lacks(e.normal, 1);
    sct_str_append(&body, "float t; ");
    print(&body, root);
    open_kernel();
    const bool accepted = try_finish(sct_str_c(&body)) == SCT_OK;
    if (accepted != right) {
      fail_msg("%s: %s\n%s", accepted ? "accepted" : "refused", sct_str_c(&body), err.text);
    }
    n_accepted += accepted;
    close_spec();
    sct_str_free(&body);
  }
  print_message("%d of %d accepted\n", n_accepted, BODIES);
  assert_in_range(n_accepted, BODIES / 20, BODIES - BODIES / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_paths_decide)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
