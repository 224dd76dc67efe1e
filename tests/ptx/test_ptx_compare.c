/* setp, set, slct: all eighteen comparisons of every type with every way to combine them; carries
 * through chains of any length. Expectations are three-way orders (less, equal, greater,
 * unordered), not comparisons of the same C type. */
#include "ptx_eval.h"

__extension__ typedef unsigned __int128 ubig;

static const uint64_t corners[] = {0,
                                   1,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x3c00,
                                   0x7c00,
                                   0x7e00,
                                   0xfc00,
                                   0x0001,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x00000001,
                                   0x80000001,
                                   0x007fffff,
                                   0x3f800000,
                                   0xbf800000,
                                   0x7f800000,
                                   0xff800000,
                                   0x7fc00000,
                                   0x7f80,
                                   0x7fc0,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0x3ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000000};

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

/* Which orders make a comparison true; which families have it. */
static const struct {
  const char *name;
  int orders;
  bool ints, floats, bits;
} compares[] = {
    {"eq", EQUAL, true, true, true},
    {"ne", LESS | GREATER, true, true, true},
    {"lt", LESS, true, true, false},
    {"le", LESS | EQUAL, true, true, false},
    {"gt", GREATER, true, true, false},
    {"ge", GREATER | EQUAL, true, true, false},
    {"lo", LESS, true, false, false},
    {"ls", LESS | EQUAL, true, false, false},
    {"hi", GREATER, true, false, false},
    {"hs", GREATER | EQUAL, true, false, false},
    {"equ", EQUAL | UNORDERED, false, true, false},
    {"neu", LESS | GREATER | UNORDERED, false, true, false},
    {"ltu", LESS | UNORDERED, false, true, false},
    {"leu", LESS | EQUAL | UNORDERED, false, true, false},
    {"gtu", GREATER | UNORDERED, false, true, false},
    {"geu", GREATER | EQUAL | UNORDERED, false, true, false},
    {"num", LESS | EQUAL | GREATER, false, true, false},
    {"nan", UNORDERED, false, true, false},
};

static const struct {
  const char *name;
  char kind; /* 'u' 's' 'b', 'f' with its mantissa bits */
  int bits, mant;
} types[] = {{"b16", 'b', 16, 0}, {"u16", 'u', 16, 0},  {"s16", 's', 16, 0},  {"b32", 'b', 32, 0},
             {"u32", 'u', 32, 0}, {"s32", 's', 32, 0},  {"b64", 'b', 64, 0},  {"u64", 'u', 64, 0},
             {"s64", 's', 64, 0}, {"f16", 'f', 16, 10}, {"bf16", 'f', 16, 7}, {"f32", 'f', 32, 23},
             {"f64", 'f', 64, 52}};

static uint64_t cut(uint64_t v, int bits) {
  return bits == 64 ? v : v & (((uint64_t)1 << bits) - 1);
}

/* Patterns in the order of what they stand for, as unsigned numbers; both zeros are one. */
static uint64_t key(uint64_t v, int t, bool ftz, bool *nan) {
  const int bits = types[t].bits;
  const uint64_t sign = (uint64_t)1 << (bits - 1);
  v = cut(v, bits);
  *nan = false;
  if (types[t].kind == 's') {
    return v ^ sign;
  }
  if (types[t].kind != 'f') {
    return v;
  }
  const uint64_t inf = cut(~(((uint64_t)1 << types[t].mant) - 1), bits - 1);
  uint64_t m = v & (sign - 1);
  *nan = m > inf;
  if (ftz && m < (uint64_t)1 << types[t].mant) {
    m = 0;
  }
  return v & sign ? sign - m : sign + m;
}

static int order(uint64_t a, uint64_t b, int t, bool ftz) {
  bool an = false, bn = false;
  const uint64_t x = key(a, t, ftz, &an), y = key(b, t, ftz, &bn);
  return an || bn ? UNORDERED : x < y ? LESS : x == y ? EQUAL : GREATER;
}

static bool exists(int c, int t) {
  return types[t].kind == 'f'   ? compares[c].floats
         : types[t].kind == 'b' ? compares[c].bits
                                : compares[c].ints;
}

static char class_of(int bits) {
  return bits == 16 ? '1' : bits == 32 ? '3' : '6';
}

static const char *const joins[] = {"", ".and", ".or", ".xor"};
static bool joined(int join, bool m, bool c) {
  return join == 0 ? m : join == 1 ? m && c : join == 2 ? m || c : m != c;
}

static void check(const char *text, const uint64_t *out, int i, uint64_t want, const eval_data *d) {
  if (out[i] != want) {
    fail_msg("%s: %#llx %#llx %#llx gives %#llx, not %#llx", text, (unsigned long long)d->in[0][i],
             (unsigned long long)d->in[1][i], (unsigned long long)d->in[2][i],
             (unsigned long long)out[i], (unsigned long long)want);
  }
}

/* Lanes of one operand equal to the other's, so that equality is common in every type. */
static eval_data operands(uint64_t seed) {
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), seed);
  for (int i = 0; i < d.n; i++) {
    d.in[1][i] = i % 5 == 0 ? d.in[0][i] : d.in[1][i];
    d.in[2][i] = i % 3 == 0 ? 0 : d.in[2][i];
  }
  return d;
}

/* setp.CMP.JOIN p|q, a, b, c: q is the same of the opposite; c also negated. */
static void setp_of_every_type(void **state) {
  (void)state;
  eval_data d = operands(81);
  uint64_t out[EVAL_MAX];
  for (int t = 0; t < SCT_COUNT(types); t++) {
    for (int c = 0; c < SCT_COUNT(compares); c++) {
      for (int join = 0; join < 4 && exists(c, t); join++) {
        const bool second = (c + join) & 1, negated = join > 0 && (c & 2) != 0;
        char text[200];
        const char sig[5] = {'p', class_of(types[t].bits), class_of(types[t].bits), 'p', '\0'};
        snprintf(text, sizeof text, "{ .reg .pred other; setp.%s%s.%s %s, %%a, %%b%s%s; }",
                 compares[c].name, joins[join], types[t].name, second ? "other|%d" : "%d|other",
                 join == 0 ? ""
                 : negated ? ", !"
                           : ", ",
                 join == 0 ? "" : "%c");
        eval(text, sig, (uint64_t *const *)d.in, d.n, out);
        for (int i = 0; i < d.n; i++) {
          const int o = order(d.in[0][i], d.in[1][i], t, false);
          const bool m = ((compares[c].orders & o) != 0) != second;
          const bool third = (d.in[2][i] != 0) != negated;
          check(text, out, i, joined(join, m, third), &d);
        }
      }
    }
  }
  eval_data_free(&d);
}

static void setp_flushes(void **state) {
  (void)state;
  const int f32 = 11;
  assert_string_equal(types[f32].name, "f32");
  eval_data d = operands(82);
  uint64_t out[EVAL_MAX];
  for (int i = 0; i < 64; i++) { /* subnormals against each other and zeros */
    d.in[0][i] = (uint64_t)(i * 3) | (i & 1 ? 0x80000000 : 0);
    d.in[1][i] = (uint64_t)(i & 2 ? 0x007fffff - i : 0) | (i & 4 ? 0x80000000 : 0);
  }
  for (int c = 0; c < SCT_COUNT(compares); c++) {
    char text[80];
    if (!compares[c].floats) {
      continue;
    }
    snprintf(text, sizeof text, "setp.%s.ftz.f32 %%d, %%a, %%b", compares[c].name);
    eval(text, "p33", (uint64_t *const *)d.in, d.n, out);
    for (int i = 0; i < d.n; i++) {
      const int o = order(d.in[0][i], d.in[1][i], f32, true);
      check(text, out, i, (compares[c].orders & o) != 0, &d);
    }
  }
  eval_data_free(&d);
}

/* A comparison that a family does not have is refused, not taken for another. */
static void comparisons_that_do_not_exist(void **state) {
  (void)state;
  int refused = 0;
  for (int t = 0; t < SCT_COUNT(types); t++) {
    for (int c = 0; c < SCT_COUNT(compares); c++) {
      sct_error err = {0};
      sct_str text = {0};
      sct_ptx_module *module = NULL;
      const char *cls = eval_class(class_of(types[t].bits));
      sct_str_printf(&text,
                     ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                     ".reg %s %%a, %%b;\n.reg .pred %%p;\nsetp.%s.%s %%p, %%a, %%b;\nret;\n}\n",
                     cls, compares[c].name, types[t].name);
      assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "setp.ptx", &err), SCT_OK);
      const char *why = sct_ptx_kernel_find(module, "k")->error;
      if ((why == NULL) != exists(c, t)) {
        fail_msg("setp.%s.%s: %s", compares[c].name, types[t].name, why != NULL ? why : "taken");
      }
      refused += why != NULL;
      sct_ptx_module_free(module);
      sct_str_free(&text);
    }
  }
  assert_int_equal(refused, 6 * 8 + 3 * 16 + 4 * 4);
}

static void set_to_every_type(void **state) {
  (void)state;
  static const struct {
    const char *name;
    char cls;
    uint64_t yes;
  } to[] = {{"u32", '3', 0xffffffff}, {"s32", '3', 0xffffffff}, {"f32", '3', 0x3f800000},
            {"u16", '1', 0xffff},     {"s16", '1', 0xffff},     {"f16", '1', 0x3c00},
            {"bf16", '1', 0x3f80}};
  eval_data d = operands(83);
  uint64_t out[EVAL_MAX];
  int at = 0;
  for (int t = 0; t < SCT_COUNT(types); t++) {
    for (int c = 0; c < SCT_COUNT(compares); c++) {
      if (!exists(c, t)) {
        continue;
      }
      const int k = at % SCT_COUNT(to), join = at / 2 % 4;
      char text[120];
      const char sig[5] = {to[k].cls, class_of(types[t].bits), class_of(types[t].bits), 'p', '\0'};
      at++;
      snprintf(text, sizeof text, "set.%s%s.%s.%s %%d, %%a, %%b%s", compares[c].name, joins[join],
               to[k].name, types[t].name, join == 0 ? "" : ", %c");
      eval(text, sig, (uint64_t *const *)d.in, d.n, out);
      for (int i = 0; i < d.n; i++) {
        const bool m = (compares[c].orders & order(d.in[0][i], d.in[1][i], t, false)) != 0;
        check(text, out, i, joined(join, m, d.in[2][i] != 0) ? to[k].yes : 0, &d);
      }
    }
  }
  assert_int_equal(at, 3 * 2 + 6 * 10 + 4 * 14);
  eval_data_free(&d);
}

/* slct by the sign of an integer or of a float: -0 counts as 0, NaN as below it. */
static void slct_of_every_type(void **state) {
  (void)state;
  eval_data d = operands(84);
  uint64_t out[EVAL_MAX];
  for (int i = 0; i < d.n; i++) {
    d.in[2][i] = i % 4 == 0 ? corners[i / 4 % SCT_COUNT(corners)] : d.in[2][i];
  }
  for (int t = 0; t < SCT_COUNT(types); t++) {
    if (types[t].kind == 'f' && types[t].bits == 16) {
      continue;
    }
    for (int k = 0; k < 3; k++) {
      char text[80];
      const char cls = class_of(types[t].bits);
      const char sig[5] = {cls, cls, cls, '3', '\0'};
      snprintf(text, sizeof text, "slct%s.%s.%s %%d, %%a, %%b, %%c", k == 2 ? ".ftz" : "",
               types[t].name, k == 0 ? "s32" : "f32");
      eval(text, sig, (uint64_t *const *)d.in, d.n, out);
      for (int i = 0; i < d.n; i++) {
        const uint64_t c = cut(d.in[2][i], 32), m = c & 0x7fffffff;
        const bool below_zero = c >> 31 && m != 0 && !(k == 2 && m < 0x00800000);
        const bool first = k == 0 ? c >> 31 == 0 : m <= 0x7f800000 && !below_zero;
        check(text, out, i, cut(first ? d.in[0][i] : d.in[1][i], types[t].bits), &d);
      }
    }
  }
  eval_data_free(&d);
}

/* ---- carries: numbers of 128 and 256 bits built from smaller ones */

/* (b:a) op (e:c), the upper half of the result: both halves are checked by two instructions. */
static void two_piece_sums(void **state) {
  (void)state;
  static const char *const type_names[] = {"u32", "s32", "u64", "s64"};
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 85);
  uint64_t out[EVAL_MAX];
  for (int t = 0; t < 4; t++) {
    const int bits = t < 2 ? 32 : 64;
    for (int form = 0; form < 4; form++) {
      const bool sub = form & 1, upper = form & 2;
      char text[200];
      snprintf(text, sizeof text,
               "{ .reg .b%d low, high; %s.cc.%s low, %%a, %%c;\n%s.%s high, %%b, "
               "%%e; mov.b%d %%d, %s; }",
               bits, sub ? "sub" : "add", type_names[t], sub ? "subc" : "addc", type_names[t], bits,
               upper ? "high" : "low");
      eval(text, t < 2 ? "33333" : "66666", (uint64_t *const *)d.in, d.n, out);
      for (int i = 0; i < d.n; i++) {
        const ubig x = (ubig)cut(d.in[1][i], bits) << bits | cut(d.in[0][i], bits);
        const ubig y = (ubig)cut(d.in[3][i], bits) << bits | cut(d.in[2][i], bits);
        const ubig r = sub ? x - y : x + y;
        check(text, out, i, cut((uint64_t)(upper ? r >> bits : r), bits), &d);
      }
    }
  }
  eval_data_free(&d);
}

/* A product of 64 (128) bits and a sum, from pieces of 32 (64): what compilers make of wide
 * multiplications. x = (b:a), y = (e:c). */
static void two_piece_products(void **state) {
  (void)state;
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 86);
  uint64_t out[EVAL_MAX];
  for (int bits = 32; bits <= 64; bits += 32) {
    for (int piece = 0; piece < 2; piece++) {
      char text[500];
      snprintf(text, sizeof text,
               "{ .reg .b%d l, h; mul.lo.u%d l, %%a, %%c; mul.hi.u%d h, %%a, %%c;\n"
               "mad.lo.u%d h, %%a, %%e, h; mad.lo.u%d h, %%b, %%c, h; mov.b%d %%d, %s; }",
               bits, bits, bits, bits, bits, bits, piece ? "h" : "l");
      eval(text, bits == 32 ? "33333" : "66666", (uint64_t *const *)d.in, d.n, out);
      for (int i = 0; i < d.n; i++) {
        const ubig x = (ubig)cut(d.in[1][i], bits) << bits | cut(d.in[0][i], bits);
        const ubig y = (ubig)cut(d.in[3][i], bits) << bits | cut(d.in[2][i], bits);
        const ubig r = x * y;
        check(text, out, i, cut((uint64_t)(piece ? r >> bits : r), bits), &d);
      }
      /* with carries: the whole product a * (e:c) + (0:b), three pieces of it */
      snprintf(text, sizeof text,
               "{ .reg .b%d l, m, h; mad.lo.cc.u%d l, %%a, %%c, %%b; madc.hi.u%d m, %%a, %%c, 0;\n"
               "mad.lo.cc.u%d m, %%a, %%e, m; madc.hi.u%d h, %%a, %%e, 0; mov.b%d %%d, %s; }",
               bits, bits, bits, bits, bits, bits, piece ? "h" : "m");
      eval(text, bits == 32 ? "33333" : "66666", (uint64_t *const *)d.in, d.n, out);
      for (int i = 0; i < d.n; i++) {
        const ubig a = cut(d.in[0][i], bits);
        const ubig low = a * cut(d.in[2][i], bits) + cut(d.in[1][i], bits);
        const ubig high = a * cut(d.in[3][i], bits) + (low >> bits);
        check(text, out, i, cut((uint64_t)(piece ? high >> bits : high), bits), &d);
      }
    }
  }
  eval_data_free(&d);
}

/* madc takes the carry in and, with .cc, gives one out: every type of both halves. */
static void carries_in_and_out(void **state) {
  (void)state;
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 87);
  uint64_t out[EVAL_MAX];
  for (int form = 0; form < 8; form++) {
    const int bits = form & 1 ? 64 : 32;
    const bool is_signed = form & 2, hi = form & 4;
    char text[300];
    /* carry in: a + a overflows; the sum of product half, c and carry may overflow again */
    snprintf(text, sizeof text,
             "{ .reg .b%d x; add.cc.u%d x, %%a, %%a; madc.%s.cc.%c%d x, %%a, %%b, %%c;\n"
             "addc.u%d %%d, x, %%e; }",
             bits, bits, hi ? "hi" : "lo", is_signed ? 's' : 'u', bits, bits);
    eval(text, bits == 32 ? "33333" : "66666", (uint64_t *const *)d.in, d.n, out);
    for (int i = 0; i < d.n; i++) {
      const uint64_t a = cut(d.in[0][i], bits), b = cut(d.in[1][i], bits);
      const uint64_t c = cut(d.in[2][i], bits), e = cut(d.in[3][i], bits);
      const ubig carry = ((ubig)a + a) >> bits;
      ubig half = (ubig)a * b;
      if (hi) {
        half >>= bits;
        if (is_signed) { /* the signed upper half, from the unsigned one */
          half -= a >> (bits - 1) ? b : 0;
          half -= b >> (bits - 1) ? a : 0;
        }
      }
      const ubig sum = (ubig)cut((uint64_t)half, bits) + c + carry;
      const ubig want = (ubig)cut((uint64_t)sum, bits) + e + (sum >> bits);
      check(text, out, i, cut((uint64_t)want, bits), &d);
    }
  }
  eval_data_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(setp_of_every_type),
                                     cmocka_unit_test(setp_flushes),
                                     cmocka_unit_test(comparisons_that_do_not_exist),
                                     cmocka_unit_test(set_to_every_type),
                                     cmocka_unit_test(slct_of_every_type),
                                     cmocka_unit_test(two_piece_sums),
                                     cmocka_unit_test(two_piece_products),
                                     cmocka_unit_test(carries_in_and_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
