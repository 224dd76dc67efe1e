/* Random structured programs - nested branches, loops whose trip counts differ from lane to lane,
 * breaks, early returns, branch tables, calls, guards - run on the device and lane by lane by an
 * interpreter of their syntax tree. */
#include "ptx_kernel.h"

#define MAX_NODES 400
#define N_VARS    4

typedef enum kind { SEQ, ASSIGN, GUARDED, IF, LOOP, BREAK, SWITCH, CALL, RETURN, N_KINDS } kind;

/* first: the statements inside, linked by `next`; second: those of else. cases for SWITCH. */
typedef struct node {
  kind kind;
  int var, other, op;
  uint32_t imm;
  int first, second, next;
  int cases[4];
  int depth; /* loops around it */
} node;

typedef struct program {
  node nodes[MAX_NODES];
  int n, labels;
  sct_rng rng;
} program;

static int below(program *p, int n) {
  return (int)sct_rng_below(&p->rng, n);
}

static int make_list(program *p, int depth, int loops);

static int make(program *p, int depth, int loops) {
  static const kind leaf[] = {ASSIGN, ASSIGN, GUARDED, CALL};
  static const kind inner[] = {ASSIGN, GUARDED, IF, IF, LOOP, SWITCH, CALL, BREAK, RETURN};
  if (p->n >= MAX_NODES - 8) {
    return -1;
  }
  const int at = p->n++;
  node *n = &p->nodes[at];
  kind k = depth == 0 ? leaf[below(p, SCT_COUNT(leaf))] : inner[below(p, SCT_COUNT(inner))];
  k = (k == BREAK && loops == 0) || (k == LOOP && loops == 3) ? ASSIGN : k;
  k = k == RETURN && below(p, 3) != 0 ? GUARDED : k;
  *n = (node){.kind = k,
              .var = below(p, N_VARS),
              .other = below(p, N_VARS),
              .op = below(p, 5),
              .imm = (uint32_t)below(p, 60),
              .first = -1,
              .second = -1,
              .next = -1,
              .depth = loops};
  for (int i = 0; i < 4; i++) {
    n->cases[i] = -1;
  }
  if (k == IF) {
    n->first = make_list(p, depth - 1, loops);
    n->second = below(p, 2) ? make_list(p, depth - 1, loops) : -1;
  } else if (k == LOOP) {
    n->first = make_list(p, depth - 1, loops + 1);
  } else if (k == SWITCH) {
    for (int i = 0; i < 4; i++) {
      n->cases[i] = make_list(p, depth - 1, loops);
    }
  }
  return at;
}

static int make_list(program *p, int depth, int loops) {
  int first = -1, last = -1;
  for (int left = 1 + below(p, 3); left > 0; left--) {
    const int at = make(p, depth, loops);
    if (at < 0) {
      break;
    }
    if (first < 0) {
      first = at;
    } else {
      p->nodes[last].next = at;
    }
    last = at;
  }
  return first;
}

/* ---- as PTX: variables %r1 .. %r4, counters %r8 + depth; p1 is every condition */

static void emit_op(sct_str *out, const node *n, const char *guard) {
  static const char *const ops[] = {"add.u32", "xor.b32", "mul.lo.u32", "sub.u32", "shr.u32"};
  const int var = n->var + 1, other = n->other + 1;
  if (n->op == 4) {
    sct_str_printf(out, "%sshr.u32 %%r%d, %%r%d, %u;\n", guard, var, other, n->imm % 8);
  } else if (n->imm & 1) {
    sct_str_printf(out, "%s%s %%r%d, %%r%d, %%r%d;\n", guard, ops[n->op], var, var, other);
  } else {
    sct_str_printf(out, "%s%s %%r%d, %%r%d, %u;\n", guard, ops[n->op], var, other, n->imm);
  }
}

/* condition: (var & 15) < imm % 16 */
static void emit_condition(sct_str *out, const node *n) {
  sct_str_printf(out, "and.b32 %%r20, %%r%d, 15; setp.lt.u32 %%p1, %%r20, %u;\n", n->var + 1,
                 n->imm % 16);
}

static void emit_list(program *p, sct_str *out, int at, int exit_label);

static void emit(program *p, sct_str *out, const node *n, int exit_label) {
  const int label = p->labels;
  p->labels += 6;
  switch (n->kind) {
  case ASSIGN:
    emit_op(out, n, "");
    break;
  case GUARDED:
    emit_condition(out, n);
    emit_op(out, n, n->imm & 2 ? "@%p1 " : "@!%p1 ");
    break;
  case IF:
    emit_condition(out, n);
    sct_str_printf(out, "@!%%p1 bra L%d;\n", label);
    emit_list(p, out, n->first, exit_label);
    sct_str_printf(out, "bra L%d;\nL%d:\n", label + 1, label);
    emit_list(p, out, n->second, exit_label);
    sct_str_printf(out, "L%d:\n", label + 1);
    break;
  case LOOP: /* trips by lane: other & 7 */
    sct_str_printf(out, "and.b32 %%r%d, %%r%d, 7;\nL%d: setp.eq.u32 %%p1, %%r%d, 0;\n",
                   8 + n->depth, n->other + 1, label, 8 + n->depth);
    sct_str_printf(out, "@%%p1 bra L%d;\nsub.u32 %%r%d, %%r%d, 1;\n", label + 1, 8 + n->depth,
                   8 + n->depth);
    emit_list(p, out, n->first, label + 1);
    sct_str_printf(out, "bra.uni L%d;\nL%d:\n", label, label + 1);
    break;
  case BREAK:
    emit_condition(out, n);
    sct_str_printf(out, "@%%p1 bra L%d;\n", exit_label);
    break;
  case SWITCH:
    sct_str_printf(out, "and.b32 %%r21, %%r%d, 3;\nT%d: .branchtargets L%d, L%d, L%d, L%d;\n",
                   n->var + 1, label, label, label + 1, label + 2, label + 3);
    sct_str_printf(out, "brx.idx %%r21, T%d;\n", label);
    for (int i = 0; i < 4; i++) {
      sct_str_printf(out, "L%d:\n", label + i);
      emit_list(p, out, n->cases[i], exit_label);
      sct_str_printf(out, "bra L%d;\n", label + 4);
    }
    sct_str_printf(out, "L%d:\n", label + 4);
    break;
  case CALL:
    sct_str_printf(out,
                   "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %%r%d;\n"
                   "call.uni (b), mix, (a); ld.param.b32 %%r%d, [b]; }\n",
                   n->other + 1, n->var + 1);
    break;
  case RETURN:
    emit_condition(out, n);
    sct_str_append(out, "@%p1 st.global.u32 [%po], %r1;\n@%p1 ret;\n");
    break;
  default:
    break;
  }
}

static void emit_list(program *p, sct_str *out, int at, int exit_label) {
  for (; at >= 0; at = p->nodes[at].next) {
    emit(p, out, &p->nodes[at], exit_label);
  }
}

/* ---- one lane of it in C */

enum { GO_ON, LEAVE_LOOP, ENDED };

static uint32_t mix(uint32_t x) {
  return x & 1 ? x * 3 + 1 : x >> 1;
}

static void do_op(const node *n, uint32_t *v) {
  const uint32_t a = n->imm & 1 ? v[n->var] : v[n->other], b = n->imm & 1 ? v[n->other] : n->imm;
  switch (n->op) {
  case 0:
    v[n->var] = a + b;
    break;
  case 1:
    v[n->var] = a ^ b;
    break;
  case 2:
    v[n->var] = a * b;
    break;
  case 3:
    v[n->var] = a - b;
    break;
  default:
    v[n->var] = v[n->other] >> n->imm % 8;
    break;
  }
}

static int interpret(const program *p, int at, uint32_t *v, int64_t *steps) {
  for (; at >= 0; at = p->nodes[at].next) {
    const node *n = &p->nodes[at];
    const bool cond = (v[n->var] & 15) < n->imm % 16;
    int what = GO_ON;
    (*steps)++;
    switch (n->kind) {
    case ASSIGN:
      do_op(n, v);
      break;
    case GUARDED:
      if (cond == ((n->imm & 2) != 0)) {
        do_op(n, v);
      }
      break;
    case IF:
      what = interpret(p, cond ? n->first : n->second, v, steps);
      break;
    case LOOP:
      for (uint32_t left = v[n->other] & 7; left > 0 && what == GO_ON; left--) {
        what = interpret(p, n->first, v, steps);
      }
      what = what == LEAVE_LOOP ? GO_ON : what;
      break;
    case BREAK:
      what = cond ? LEAVE_LOOP : GO_ON;
      break;
    case SWITCH:
      what = interpret(p, n->cases[v[n->var] & 3], v, steps);
      break;
    case CALL:
      v[n->var] = mix(v[n->other]);
      break;
    case RETURN:
      what = cond ? ENDED : GO_ON;
      break;
    default:
      break;
    }
    if (what != GO_ON) {
      return what;
    }
  }
  return GO_ON;
}

#define MIX                                                                                        \
  ".func (.param .b32 r) mix(.param .b32 x)\n{\n.reg .b32 %r<4>; .reg .pred %p1;\n"                \
  "ld.param.b32 %r1, [x]; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"          \
  "mad.lo.u32 %r3, %r1, 3, 1; st.param.b32 [r], %r3; ret;\n"                                       \
  "EVEN: shr.u32 %r3, %r1, 1; st.param.b32 [r], %r3; ret;\n}\n"

/* The text of PTX_KERNEL with a function in front of its kernel. */
static void write_program(program *p, sct_str *out, int root) {
  sct_str_append(out, PTX_HEAD MIX);
  sct_str_append(out, &PTX_KERNEL[sizeof PTX_HEAD - 1]);
  sct_str_append(out, "ld.global.u32 %r1, [%pi]; mov.u32 %r2, %i; xor.b32 %r3, %r1, 21;\n"
                      "mad.lo.u32 %r4, %i, 7, 3;\n");
  emit_list(p, out, root, -1);
  sct_str_append(out, "add.u32 %r1, %r1, %r2; xor.b32 %r1, %r1, %r3; mad.lo.u32 %r1, %r4, 5, %r1;\n"
                      "st.global.u32 [%po], %r1;\nret;\n}\n");
}

static uint32_t expected(const program *p, int root, uint32_t lane, uint32_t in, int64_t *steps) {
  uint32_t v[N_VARS] = {in, lane, in ^ 21, lane * 7 + 3};
  if (interpret(p, root, v, steps) == ENDED) {
    return v[0];
  }
  return ((v[0] + v[1]) ^ v[2]) + 5 * v[3];
}

static void random_programs(void **state) {
  (void)state;
  program *p = calloc(1, sizeof *p);
  uint32_t in[96], out[96];
  int kinds[N_KINDS] = {0};
  int64_t steps = 0;
  assert_non_null(p);
  for (uint64_t seed = 1; seed <= 250; seed++) {
    sct_str text = {0};
    p->n = 0;
    p->labels = 0;
    p->rng = sct_rng_new(seed);
    for (int i = 0; i < 96; i++) {
      in[i] = (uint32_t)sct_rng_u64(&p->rng) >> (i & 24);
    }
    const int root = make_list(p, 4, 0);
    p->nodes[root].next = p->nodes[root].next < 0 ? make_list(p, 4, 0) : p->nodes[root].next;
    write_program(p, &text, root);
    const kernel_run r = {
        .blocks = 2, .threads = 48, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
    const sct_ptx_kind got = run_kernel(sct_str_c(&text), &r, out, NULL);
    if (got != SCT_PTX_CLEAN) {
      fail_msg("seed %llu\n%s", (unsigned long long)seed, sct_str_c(&text));
    }
    for (uint32_t i = 0; i < 96; i++) {
      const uint32_t want = expected(p, root, i, in[i], &steps);
      if (out[i] != want) {
        fail_msg("seed %llu: thread %u has %u, not %u\n%s", (unsigned long long)seed, i, out[i],
                 want, sct_str_c(&text));
      }
    }
    for (int i = 0; i < p->n; i++) {
      kinds[p->nodes[i].kind]++;
    }
    sct_str_free(&text);
  }
  for (int k = ASSIGN; k < N_KINDS; k++) { /* every kind of statement was there */
    assert_true(kinds[k] > 20);
  }
  assert_true(steps > 100000);
  free(p);
}

/* After a loop that lanes leave one by one, and after nested branches, all are together again. */
static void lanes_meet_again(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "mov.u32 %r1, %i;\nA: setp.eq.u32 %p1, %r1, 0; @%p1 bra B; sub.u32 %r1, %r1, 1; bra A;\nB:",
      "setp.lt.u32 %p1, %i, 7; @%p1 bra A; setp.lt.u32 %p2, %i, 20; @%p2 bra B;\n"
      "mov.u32 %r2, 1; bra C;\nB: mov.u32 %r2, 2;\nC: mov.u32 %r3, 1;\nA:",
      "and.b32 %r1, %i, 3; T: .branchtargets A, B, C, D; brx.idx %r1, T;\n"
      "A: mov.u32 %r2, 1; bra E;\nB: bra E;\nC: mov.u32 %r2, 3;\nD: mov.u32 %r2, 5;\nE:",
      /* from the middle of one loop to behind the outer one */
      "mov.u32 %r1, %i; mov.u32 %r2, 0;\n"
      "A: setp.gt.u32 %p1, %r2, 6; @%p1 bra Z; add.u32 %r2, %r2, 1; mov.u32 %r3, 0;\n"
      "B: setp.gt.u32 %p2, %r3, 4; @%p2 bra A; add.u32 %r3, %r3, 1;\n"
      "mad.lo.u32 %r4, %r2, %r3, 0; setp.gt.u32 %p3, %r4, %r1; @%p3 bra Z; bra B;\nZ:",
  };
  for (int k = 0; k < SCT_COUNT(bodies); k++) {
    uint32_t in[32] = {0}, out[32];
    sct_str text = {0};
    sct_str_printf(&text, "%s%s\nactivemask.b32 %%r9; st.global.u32 [%%po], %%r9; ret;\n}\n",
                   PTX_KERNEL, bodies[k]);
    const kernel_run r = {
        .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
    assert_int_equal(run_kernel(sct_str_c(&text), &r, out, NULL), SCT_PTX_CLEAN);
    for (int i = 0; i < 32; i++) {
      assert_int_equal(out[i], 0xffffffff);
    }
    sct_str_free(&text);
  }
}

/* A function without an instruction is one that returns. */
static void an_empty_function_returns(void **state) {
  (void)state;
  uint32_t in[32] = {0}, out[32];
  sct_str text = {0};
  sct_str_append(&text, PTX_HEAD ".func nothing()\n{\n.reg .b32 %r<4>;\n}\n");
  sct_str_append(&text, &PTX_KERNEL[sizeof PTX_HEAD - 1]);
  sct_str_append(&text, "mov.u32 %r31, %i; call nothing, (); add.u32 %r31, %r31, 5;\n"
                        "call nothing, (); st.global.u32 [%po], %r31; ret;\n}\n");
  const kernel_run r = {
      .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
  assert_int_equal(run_kernel(sct_str_c(&text), &r, out, NULL), SCT_PTX_CLEAN);
  for (uint32_t i = 0; i < 32; i++) {
    assert_int_equal(out[i], i + 5);
  }
  sct_str_free(&text);
}

/* Within a side of a branch only its lanes are active; partial warps have only theirs. */
static void active_lanes(void **state) {
  (void)state;
  uint32_t in[48] = {0}, out[48];
  const kernel_run r = {
      .blocks = 1, .threads = 44, .in = in, .in_bytes = sizeof in, .out_bytes = 4 * 44};
  assert_int_equal(run_kernel(PTX_KERNEL "rem.u32 %r1, %i, 3; setp.eq.u32 %p1, %r1, 0;\n"
                                         "@%p1 bra A; activemask.b32 %r2; bra B;\n"
                                         "A: activemask.b32 %r2;\n"
                                         "B: st.global.u32 [%po], %r2; ret;\n}\n",
                              &r, out, NULL),
                   SCT_PTX_CLEAN);
  for (int i = 0; i < 44; i++) {
    uint32_t want = 0;
    for (int j = i / 32 * 32; j < (i < 32 ? 32 : 44); j++) {
      want |= (uint32_t)((j % 3 == 0) == (i % 3 == 0)) << j % 32;
    }
    assert_int_equal(out[i], want);
  }
}

/* A branch table's index beyond its end, calls without end, loops without end: diagnoses. */
static void flow_that_leads_nowhere(void **state) {
  (void)state;
  static const char deep[] =
      PTX_HEAD ".func down() { call down, (); ret; }\n"
               ".visible .entry k(.param .u64 in, .param .u64 out) { call down, (); ret; }\n";
  static const struct {
    const char *text;
    sct_ptx_kind kind;
  } cases[] = {
      {PTX_KERNEL "T: .branchtargets A, B; brx.idx %i, T; A: ret; B: ret;\n}\n",
       SCT_PTX_BAD_OPERAND},
      {deep, SCT_PTX_CALL_DEPTH},
      {PTX_KERNEL "L: bra L;\n}\n", SCT_PTX_STEP_LIMIT},
      {PTX_KERNEL "setp.eq.u32 %p1, %i, 5; @%p1 trap; ret;\n}\n", SCT_PTX_TRAP},
      {PTX_HEAD
       ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d,"
       " .param .b64 e);\n"
       ".visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b32 %i; .reg .pred %p1;\n"
       "mov.u32 %i, %tid.x; setp.eq.u32 %p1, %i, 40; @%p1 brkpt; setp.eq.u32 %p1, %i, 5;\n"
       "@!%p1 bra L; { .param .b64 a, b, d, e; .param .b32 c; st.param.b64 [a], 0;"
       " st.param.b64 [b], 0; st.param.b32 [c], 3; st.param.b64 [d], 0;"
       " call.uni __assertfail, (a, b, c, d, e); } L: ret;\n}\n",
       SCT_PTX_ASSERT},
      {PTX_KERNEL ".reg .pred %q; @%q bra L; L: ret;\n}\n", SCT_PTX_UNDEFINED_BRANCH},
      {PTX_KERNEL ".reg .b32 %q; T: .branchtargets A, A; brx.idx %q, T; A: ret;\n}\n",
       SCT_PTX_UNDEFINED_BRANCH},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_error err = {0};
    sct_ptx_module *module = NULL;
    sct_ptx_memory *memory = NULL;
    sct_ptx_result result;
    uint64_t address = 0;
    const sct_ptx_buffer b = {.name = "b", .bytes = 128};
    assert_int_equal(sct_ptx_parse(&module, cases[k].text, "flow.ptx", &err), SCT_OK);
    sct_ptx_memory_new(&memory);
    assert_int_equal(sct_ptx_memory_add(memory, &address, &b, &err), SCT_OK);
    const void *args[] = {&address, &address};
    const sct_ptx_launch_opts opts = {.module = module,
                                      .kernel = "k",
                                      .block = {32, 1, 1},
                                      .args = args,
                                      .n_args = 2,
                                      .max_steps = 10000};
    if (sct_ptx_launch(&result, memory, &opts, &err) != SCT_OK) {
      fail_msg("%s", err.text);
    }
    if (result.diag.kind != cases[k].kind) {
      fail_msg("case %d: %s %s", k, sct_ptx_kind_name(result.diag.kind), result.diag.text);
    }
    assert_true(result.diag.text[0] != '\0');
    sct_ptx_result_free(&result);
    sct_ptx_memory_free(memory);
    sct_ptx_module_free(module);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_programs), cmocka_unit_test(lanes_meet_again),
      cmocka_unit_test(an_empty_function_returns), cmocka_unit_test(active_lanes),
      cmocka_unit_test(flow_that_leads_nowhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
