/* Evaluates one PTX instruction for many operand values: the tests compare with arithmetic of their
 * own.
 *
 * The instruction is text over %d (destination), %a, %b, %c, %e (sources); `sig` says their classes
 * as in ptx_alu.def: destination first, '1' 16-bit, '3' 32-bit, '6' 64-bit, 'p' predicate. */
#ifndef TESTS_PTX_EVAL_H
#define TESTS_PTX_EVAL_H

#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const eval_regs[] = {"%d", "%a", "%b", "%c", "%e"};

static inline const char *eval_class(char c) {
  return c == '1' ? ".b16" : c == '3' ? ".b32" : c == '6' ? ".b64" : ".pred";
}

static inline void eval_write(sct_str *out, const char *instr, const char *sig) {
  const int n = (int)strlen(sig);
  sct_str_append(
      out, ".version 9.0\n.target sm_90\n.address_size 64\n"
           ".visible .entry k(.param .u64 po, .param .u64 p1, .param .u64 p2, .param .u64 p3, "
           ".param .u64 p4)\n{\n"
           ".reg .b32 %t<4>;\n.reg .b64 %w<12>;\n");
  for (int i = 0; i < n; i++) {
    sct_str_printf(out, ".reg %s %s;\n", eval_class(sig[i]), eval_regs[i]);
  }
  sct_str_append(out, "mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\nmov.u32 %t2, %ntid.x;\n"
                      "mad.lo.s32 %t3, %t1, %t2, %t0;\nmul.wide.u32 %w0, %t3, 8;\n");
  for (int i = 1; i < n; i++) {
    sct_str_printf(out, "ld.param.u64 %%w%d, [p%d];\nadd.s64 %%w%d, %%w%d, %%w0;\n", i, i, i, i);
    if (sig[i] == 'p') {
      sct_str_printf(out, "ld.global.u64 %%w6, [%%w%d];\nsetp.ne.u64 %s, %%w6, 0;\n", i,
                     eval_regs[i]);
    } else {
      sct_str_printf(out, "ld.global.%s %s, [%%w%d];\n",
                     sig[i] == '1'   ? "u16"
                     : sig[i] == '3' ? "u32"
                                     : "u64",
                     eval_regs[i], i);
    }
  }
  sct_str_printf(out, "%s;\nld.param.u64 %%w7, [po];\nadd.s64 %%w7, %%w7, %%w0;\n", instr);
  if (sig[0] == 'p') {
    sct_str_append(out, "selp.b64 %w8, 1, 0, %d;\n");
  } else if (sig[0] == '6') {
    sct_str_append(out, "mov.b64 %w8, %d;\n");
  } else {
    sct_str_printf(out, "cvt.u64.%s %%w8, %%d;\n", sig[0] == '1' ? "u16" : "u32");
  }
  sct_str_append(out, "st.global.u64 [%w7], %w8;\nret;\n}\n");
}

/* out[i] = instr(in[0][i], in[1][i], ...), i < n, n a multiple of 32. Fails the test on any error.
 */
static int eval_rounding; /* of launches */

static inline void eval(const char *instr, const char *sig, uint64_t *const in[4], int n,
                        uint64_t *out) {
  sct_error err = {0};
  sct_str text = {0};
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  sct_ptx_result result;
  uint64_t address[5];
  const void *args[5];
  const int n_in = (int)strlen(sig) - 1;
  eval_write(&text, instr, sig);
  if (sct_ptx_parse(&module, sct_str_c(&text), "eval", &err) != SCT_OK) {
    fail_msg("%s\n%s", err.text, sct_str_c(&text));
  }
  sct_ptx_memory_new(&memory);
  for (int i = 0; i < 5; i++) {
    const bool used = i >= 1 && i <= n_in;
    const sct_ptx_buffer b = {.name = i == 0 ? "out" : "in",
                              .bytes = 8LL * n,
                              .data = used ? (const void *)in[i - 1] : NULL,
                              .output = i == 0,
                              .read_only = i > 0};
    assert_int_equal(sct_ptx_memory_add(memory, &address[i], &b, &err), SCT_OK);
    args[i] = &address[i];
  }
  const sct_ptx_launch_opts opts = {.module = module,
                                    .rounding = eval_rounding,
                                    .kernel = "k",
                                    .grid = {n / 32, 1, 1},
                                    .block = {32, 1, 1},
                                    .args = args,
                                    .n_args = 5};
  if (sct_ptx_launch(&result, memory, &opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  if (result.diag.kind != SCT_PTX_CLEAN) {
    fail_msg("%s: %s", instr, result.diag.text);
  }
  memcpy(out, sct_ptx_memory_data(memory, address[0]), 8 * (size_t)n);
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
  sct_str_free(&text);
}

/* ---- operand values: every pair of corners, then random ones */

#define EVAL_MAX 4096

typedef struct eval_data {
  uint64_t *in[4];
  int n;
} eval_data;

static inline void eval_data_free(eval_data *d) {
  for (int k = 0; k < 4; k++) {
    free(d->in[k]);
  }
}

/* Operands 1 and 2 run over all pairs of `corners`, 3 and 4 over corners too, rotated; the rest is
 * random, half of it small. */
static inline eval_data eval_data_new(const uint64_t *corners, int n_corners, uint64_t seed) {
  eval_data d = {.n = 0};
  sct_rng rng = sct_rng_new(seed);
  for (int k = 0; k < 4; k++) {
    d.in[k] = calloc(EVAL_MAX, sizeof(uint64_t));
    assert_non_null(d.in[k]);
  }
  const int pairs = n_corners * n_corners;
  d.n = (pairs + 512 + 31) / 32 * 32;
  assert_true(d.n <= EVAL_MAX);
  for (int i = 0; i < d.n; i++) {
    for (int k = 0; k < 4; k++) {
      const uint64_t r = sct_rng_u64(&rng);
      d.in[k][i] = i & 1 ? r : r >> (r & 63);
    }
    if (i < pairs) {
      d.in[0][i] = corners[i % n_corners];
      d.in[1][i] = corners[i / n_corners];
      d.in[2][i] = corners[(i * 7 + i / n_corners) % n_corners];
      d.in[3][i] = corners[(i * 5 + 3 * (i / n_corners)) % n_corners];
    }
  }
  return d;
}

typedef uint64_t (*eval_fn)(uint64_t a, uint64_t b, uint64_t c, uint64_t e);

typedef struct eval_case {
  const char *instr, *sig;
  eval_fn want;
} eval_case;

static inline uint64_t eval_mask(char cls) {
  return cls == '1' ? 0xffff : cls == '3' ? 0xffffffffu : cls == 'p' ? 1 : UINT64_MAX;
}

/* Operands are cut to their class before `want` sees them, and its result to the destination's. */
static inline void eval_check(const eval_case *cases, int n_cases, const eval_data *d) {
  uint64_t *out = calloc(EVAL_MAX, sizeof *out);
  assert_non_null(out);
  for (int k = 0; k < n_cases; k++) {
    const eval_case *c = &cases[k];
    const int n_in = (int)strlen(c->sig) - 1;
    eval(c->instr, c->sig, (uint64_t *const *)d->in, d->n, out);
    for (int i = 0; i < d->n; i++) {
      uint64_t v[4] = {0};
      for (int j = 0; j < n_in; j++) {
        v[j] = c->sig[j + 1] == 'p' ? d->in[j][i] != 0 : d->in[j][i] & eval_mask(c->sig[j + 1]);
      }
      const uint64_t want = c->want(v[0], v[1], v[2], v[3]) & eval_mask(c->sig[0]);
      if (out[i] != want) {
        fail_msg("%s: a %#llx b %#llx c %#llx e %#llx gives %#llx, not %#llx", c->instr,
                 (unsigned long long)v[0], (unsigned long long)v[1], (unsigned long long)v[2],
                 (unsigned long long)v[3], (unsigned long long)out[i], (unsigned long long)want);
      }
    }
  }
  free(out);
}

#endif
