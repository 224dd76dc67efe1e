/* Every row of ptx_alu.def, taken from the table itself: which modifiers it takes and refuses, and
 * three things that hold for any operation whatever it computes - operands may share a register
 * with the destination, a guard leaves the other lanes alone, a constant means what a register
 * means. */
#include "ptx_eval.h"

enum {
#define PTX_TYPE(id, name, bytes, kind) TYPE_##id,
#include "ptx/front/ptx_types.def"
#undef PTX_TYPE
  N_TYPES
};

static const char *const type_names[N_TYPES] = {
#define PTX_TYPE(id, name, bytes, kind) name,
#include "ptx/front/ptx_types.def"
#undef PTX_TYPE
};

static const char type_kinds[N_TYPES] = {
#define PTX_TYPE(id, name, bytes, kind) #kind[0],
#include "ptx/front/ptx_types.def"
#undef PTX_TYPE
};

typedef struct row {
  const char *op, *sub, *types;
  const char *sig, *attrs;
  int type; /* one of `types` */
} row;

static const row lines[] = {
#define PTX_ALU(op, sub, types, fn, sig, attrs, undef) {op, sub, types, sig, attrs, 0},
#include "ptx/decode/ptx_alu.def"
#undef PTX_ALU
};

static row rows[512]; /* a line for each of its types */
static int n_rows;

static int list_rows(void **state) {
  (void)state;
  for (int i = 0; i < SCT_COUNT(lines); i++) {
    char types[64];
    snprintf(types, sizeof types, "%s", lines[i].types);
    for (char *name = strtok(types, " "); name != NULL; name = strtok(NULL, " ")) {
      assert_true(n_rows < SCT_COUNT(rows));
      row *r = &rows[n_rows++];
      *r = lines[i];
      while (r->type < N_TYPES && strcmp(type_names[r->type], name) != 0) {
        r->type++;
      }
      assert_true(r->type < N_TYPES);
    }
  }
  return 0;
}

static bool has(const row *r, char attr) {
  return strchr(r->attrs, attr) != NULL;
}

/* "mad.lo" + mods + ".u32": min.xorsign.abs.f32 has its modifier before what belongs to the form,
 * but the order does not matter here. */
static void opcode(sct_str *out, const row *r, const char *mods) {
  sct_str_printf(out, "%s%s%s%s.%s", r->op, r->sub[0] != '\0' ? "." : "", r->sub, mods,
                 type_names[r->type]);
}

static const char *least_mods(const row *r) {
  return has(r, '!')   ? ".rn"
         : has(r, 'X') ? ".xorsign"
         : has(r, 'F') ? ".ftz"
         : has(r, 'c') ? ".cc"
         : has(r, 's') ? ".sat"
                       : "";
}

/* Whether this row or another one of the same form has the attribute: add.s32 is three. */
static bool takes(const row *r, char attr) {
  bool found = false;
  for (int i = 0; i < n_rows; i++) {
    found |= strcmp(rows[i].op, r->op) == 0 && strcmp(rows[i].sub, r->sub) == 0 &&
             rows[i].type == r->type && has(&rows[i], attr);
  }
  return found;
}

/* ---- modifiers: NULL, or why the kernel cannot run */

static void write_form(sct_str *text, const row *r, const char *mods) {
  sct_str_printf(text, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n");
  static const char *const regs[] = {"%d", "%a", "%b", "%c", "%e"};
  const int n = (int)strlen(r->sig);
  for (int i = 0; i < n; i++) {
    if (r->sig[i] != 'i') {
      sct_str_printf(text, ".reg %s %s;\n", eval_class(r->sig[i]), regs[i]);
    }
  }
  opcode(text, r, mods);
  for (int i = 0; i < n; i++) {
    sct_str_printf(text, "%s%s", i > 0 ? ", " : " ", r->sig[i] == 'i' ? "150" : regs[i]);
  }
  sct_str_append(text, ";\nret;\n}\n");
}

static void check_form(const row *r, const char *mods, bool legal) {
  sct_error err = {0};
  sct_str text = {0};
  sct_ptx_module *module = NULL;
  write_form(&text, r, mods);
  if (sct_ptx_parse(&module, sct_str_c(&text), "row.ptx", &err) != SCT_OK) {
    fail_msg("%s\n%s", err.text, sct_str_c(&text));
  }
  const sct_ptx_kernel *k = sct_ptx_kernel_find(module, "k");
  assert_non_null(k);
  if (legal && k->error != NULL) {
    fail_msg("refused: %s", k->error);
  }
  if (!legal && (k->error == NULL || strstr(k->error, "unknown form") == NULL)) {
    fail_msg("%s%s%s.%s is taken although it is no PTX", r->op, r->sub, mods, type_names[r->type]);
  }
  if (legal) {
    assert_int_equal(k->exact, !has(r, 'A'));
    assert_int_equal(k->n_instructions, 2);
  }
  sct_ptx_module_free(module);
  sct_str_free(&text);
}

/* Another row may hold what this one lacks, as that of mad.lo.cc; min.f32 and min.s32 are told
 * apart by their type. Only the modifiers below belong to no form's name. */
static void modifiers(void **state) {
  (void)state;
  static const char *const rounding[] = {".rn", ".rz", ".rm", ".rp"};
  for (int i = 0; i < n_rows; i++) {
    const row *r = &rows[i];
    check_form(r, least_mods(r), true);
    const bool of_many = has(r, 'c') || has(r, 's'); /* without it another row holds */
    const char *least = of_many ? "" : least_mods(r);
    if (least[0] != '\0') {
      check_form(r, "", false);
    }
    for (int k = 0; k < 4; k++) {
      char mods[32];
      snprintf(mods, sizeof mods, "%s%s", has(r, '!') ? "" : least, rounding[k]);
      check_form(r, mods, has(r, 'R') || (k == 0 && has(r, 'N')));
    }
    static const struct {
      const char *mod;
      char attr;
    } others[] = {{".ftz", 'Z'}, {".sat", 'S'}, {".cc", 'C'}, {".NaN", 'n'}, {".relu", 'r'}};
    for (int k = 0; k < SCT_COUNT(others); k++) {
      char mods[32];
      snprintf(mods, sizeof mods, "%s%s", least, others[k].mod);
      check_form(r, mods, takes(r, others[k].attr));
    }
    if (!has(r, 'X')) {
      check_form(r, ".xorsign", false);
    }
    check_form(r, ".frob", false);
  }
}

/* A modifier twice, two rounding modes, saturation of a carry: all refused. */
static void modifiers_that_exclude_each_other(void **state) {
  (void)state;
  static const char *const doubled[] = {".rn.rz", ".rz.rz", ".rn.ftz.ftz", ".rn.sat.sat",
                                        ".rm.rp.ftz"};
  for (int i = 0; i < n_rows; i++) {
    const row *r = &rows[i];
    for (int k = 0; k < SCT_COUNT(doubled) && has(r, 'R'); k++) {
      check_form(r, doubled[k], false);
    }
    if (has(r, 'C')) {
      check_form(r, ".cc.cc", false);
      check_form(r, ".sat.cc", false);
    }
    if (has(r, 'S') && has(r, 'r')) {
      check_form(r, ".rn.sat.relu", false);
    }
  }
}

/* Every wrong number and every wrong width of an operand is refused. */
static void operands(void **state) {
  (void)state;
  for (int i = 0; i < n_rows; i++) {
    const row *r = &rows[i];
    const int n = (int)strlen(r->sig);
    for (int wrong = -2; wrong < n; wrong++) {
      sct_str text = {0};
      sct_error err = {0};
      sct_ptx_module *module = NULL;
      sct_str_append(&text, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n"
                            "{\n.reg .b16 %h; .reg .b32 %r; .reg .b64 %w; .reg .pred %p;\n");
      opcode(&text, r, least_mods(r));
      const int count = wrong == -2 ? n - 1 : wrong == -1 ? n + 1 : n;
      for (int k = 0; k < count; k++) {
        const char c = k < n ? r->sig[k] : '3';
        const char *reg = c == '1'   ? "%h"
                          : c == '3' ? "%r"
                          : c == '6' ? "%w"
                          : c == 'p' ? "%p"
                                     : "3";
        if (k == wrong) { /* half or twice as wide; a predicate for a number */
          reg = c == '1' ? "%r" : c == '3' ? "%w" : c == '6' ? "%r" : c == 'p' ? "%r" : "%r";
        }
        sct_str_printf(&text, "%s%s", k > 0 ? ", " : " ", reg);
      }
      sct_str_append(&text, ";\nret;\n}\n");
      assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "row.ptx", &err), SCT_OK);
      const char *why = sct_ptx_kernel_find(module, "k")->error;
      const char *want = wrong < 0              ? "operands where"
                         : r->sig[wrong] == 'i' ? "must be a constant"
                                                : "has the wrong width";
      if (why == NULL || strstr(why, want) == NULL) {
        fail_msg("%s lacks '%s': %s", sct_str_c(&text), want, why != NULL ? why : "no error");
      }
      sct_ptx_module_free(module);
      sct_str_free(&text);
    }
  }
}

/* ---- what holds for every operation */

static const uint64_t corners[] = {
    0,          1,          0x7f,       0x80ff,     0x7fffffff,         0x80000000,
    0x3f800000, 0x7fc00000, 0xffffffff, 0x40490fdb, 0x4000000000000000, 0xfff0000000000000};

/* d = op(a, b, c, e), as text for eval(), over the given names. */
static void write_instr(sct_str *out, const row *r, const char *const names[5]) {
  opcode(out, r, least_mods(r));
  const int n = (int)strlen(r->sig);
  for (int i = 0; i < n; i++) {
    sct_str_printf(out, "%s%s", i > 0 ? ", " : " ", r->sig[i] == 'i' ? "0x96" : names[i]);
  }
}

/* The classes of registers alone: constants are no operands of eval(). */
static void reg_sig(const row *r, char sig[8]) {
  int at = 0;
  for (const char *s = r->sig; *s != '\0'; s++) {
    if (*s != 'i') {
      sig[at++] = *s;
    }
  }
  sig[at] = '\0';
}

static void compare(const row *r, const char *what, const uint64_t *got, const uint64_t *want,
                    int n) {
  for (int i = 0; i < n; i++) {
    if (got[i] != want[i]) {
      fail_msg("%s.%s.%s %s: lane %d has %#llx, not %#llx", r->op, r->sub, type_names[r->type],
               what, i, (unsigned long long)got[i], (unsigned long long)want[i]);
    }
  }
}

static void destination_is_also_a_source(void **state) {
  (void)state;
  static const char *const plain[5] = {"%d", "%a", "%b", "%c", "%e"};
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 51);
  uint64_t want[EVAL_MAX], got[EVAL_MAX];
  d.n = 160;
  for (int i = 0; i < n_rows; i++) {
    const row *r = &rows[i];
    char sig[8];
    sct_str text = {0};
    reg_sig(r, sig);
    write_instr(&text, r, plain);
    eval(sct_str_c(&text), sig, (uint64_t *const *)d.in, d.n, want);
    for (int k = 1; sig[k] != '\0'; k++) {
      if (sig[k] != sig[0]) {
        continue;
      }
      const char *names[5] = {plain[k], "%a", "%b", "%c", "%e"};
      sct_str shared = {0};
      write_instr(&shared, r, names);
      sct_str_printf(&shared, ";\nmov.%s %%d, %s", sig[0] == 'p' ? "pred" : eval_class(sig[0]) + 1,
                     plain[k]);
      eval(sct_str_c(&shared), sig, (uint64_t *const *)d.in, d.n, got);
      compare(r, "with its destination as a source", got, want, d.n);
      sct_str_free(&shared);
    }
    sct_str_free(&text);
  }
  eval_data_free(&d);
}

/* Lanes that the guard leaves out keep what they had; the others compute the same as without. */
static void guards(void **state) {
  (void)state;
  static const char *const plain[5] = {"%d", "%a", "%b", "%c", "%e"};
  static const uint32_t masks[] = {0x00000001, 0x80000000, 0x5a5a1234, 0xfffffffe};
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 52);
  uint64_t want[EVAL_MAX], got[EVAL_MAX];
  d.n = 64;
  for (int i = 0; i < n_rows; i++) {
    const row *r = &rows[i];
    char sig[8];
    sct_str text = {0}, guarded = {0};
    const uint32_t mask = masks[i % SCT_COUNT(masks)];
    reg_sig(r, sig);
    write_instr(&text, r, plain);
    eval(sct_str_c(&text), sig, (uint64_t *const *)d.in, d.n, want);
    sct_str_printf(&guarded, "{ .reg .pred go; .reg .b32 bit; shr.u32 bit, 0x%x, %%t0;\n", mask);
    sct_str_append(&guarded, "and.b32 bit, bit, 1; setp.ne.u32 go, bit, 0;\n");
    if (sig[0] == 'p') {
      sct_str_append(&guarded, "setp.eq.u32 %d, 0, 0;\n@go ");
    } else {
      sct_str_printf(&guarded, "mov%s %%d, 0x55;\n@go ", eval_class(sig[0]));
    }
    sct_str_printf(&guarded, "%s; }", sct_str_c(&text));
    eval(sct_str_c(&guarded), sig, (uint64_t *const *)d.in, d.n, got);
    for (int k = 0; k < d.n; k++) {
      if ((mask >> (k % 32) & 1) == 0) {
        want[k] = sig[0] == 'p' ? 1 : 0x55;
      }
    }
    compare(r, "under a guard", got, want, d.n);
    sct_str_free(&text);
    sct_str_free(&guarded);
  }
  eval_data_free(&d);
}

/* Constants in the place of each integer operand. */
static void constants(void **state) {
  (void)state;
  static const uint64_t values[] = {0, 1, 5, 33, 0x7fff, 0xffff};
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 53);
  uint64_t want[EVAL_MAX], got[EVAL_MAX];
  d.n = 32;
  for (int i = 0; i < n_rows; i++) {
    const row *r = &rows[i];
    char sig[8];
    reg_sig(r, sig);
    for (int k = 1; sig[k] != '\0' && strchr("FHP", type_kinds[r->type]) == NULL; k++) {
      if (sig[k] == 'p') {
        continue;
      }
      const uint64_t v = values[(i + k) % SCT_COUNT(values)];
      const char *names[5] = {"%d", "%a", "%b", "%c", "%e"};
      char number[24];
      sct_str text = {0};
      for (int j = 0; j < d.n; j++) {
        d.in[k - 1][j] = v;
      }
      write_instr(&text, r, names);
      eval(sct_str_c(&text), sig, (uint64_t *const *)d.in, d.n, want);
      sct_str_free(&text);
      snprintf(number, sizeof number, "%llu", (unsigned long long)v);
      names[k] = number;
      write_instr(&text, r, names);
      eval(sct_str_c(&text), sig, (uint64_t *const *)d.in, d.n, got);
      compare(r, "with a constant", got, want, d.n);
      sct_str_free(&text);
    }
  }
  eval_data_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modifiers), cmocka_unit_test(modifiers_that_exclude_each_other),
      cmocka_unit_test(operands),  cmocka_unit_test(destination_is_also_a_source),
      cmocka_unit_test(guards),    cmocka_unit_test(constants)};
  return cmocka_run_group_tests(tests, list_rows, NULL);
}
