/* A random program (random_kernel.h) as PTX. Registers: %h %r %w %f %g %p as random_classes has
 * them, temporaries %s0 %t0 %u0 %q0, %in %own %me of the thread, %c0 ... of loops. */
#ifndef TESTS_RANDOM_EMIT_H
#define TESTS_RANDOM_EMIT_H

#include "random_kernel.h"

static inline void random_emit_reg(sct_str *out, int reg) {
  const int class = random_class_of_reg(reg);
  sct_str_printf(out, "%s%d", random_classes[class].name, reg - random_first_reg(class));
}

static inline void random_emit_source(sct_str *out, const random_node *n, int k, char letter) {
  if (!n->is_imm[k]) {
    random_emit_reg(out, n->src[k]);
  } else if (letter == 'f') {
    sct_str_printf(out, "0f%08llX", (unsigned long long)n->imm[k]);
  } else if (letter == 'd') {
    sct_str_printf(out, "0d%016llX", (unsigned long long)n->imm[k]);
  } else {
    sct_str_printf(out, "0x%llx", (unsigned long long)n->imm[k]);
  }
}

static inline void random_emit_operation(sct_str *out, const random_node *n) {
  const random_op *op = &random_ops[n->op];
  if (n->guard >= 0) {
    sct_str_append(out, n->unless ? "@!" : "@");
    random_emit_reg(out, n->guard);
    sct_str_append(out, " ");
  }
  if (strchr(op->text, '$') == NULL) {
    sct_str_printf(out, "%s ", op->text);
    random_emit_reg(out, n->dst[0]);
    for (int k = 1; op->sig[k] != '\0'; k++) {
      sct_str_append(out, ", ");
      random_emit_source(out, n, k - 1, op->sig[k]);
    }
    sct_str_append(out, ";\n");
    return;
  }
  for (const char *c = op->text; *c != '\0'; c++) {
    if (*c != '$') {
      sct_str_append_n(out, c, 1);
      continue;
    }
    c++;
    if (*c == 'd') {
      random_emit_reg(out, n->dst[0]);
    } else if (strchr("stuq", *c) != NULL) {
      sct_str_printf(out, "%%%c0", *c);
    } else {
      const int k = *c == 'e' ? 3 : *c - 'a';
      random_emit_source(out, n, k, op->sig[k + 1]);
    }
  }
  sct_str_append(out, op->text[0] == '{' ? "\n" : ";\n");
}

/* ld or st of an access at `address`. */
static inline void random_emit_access(sct_str *out, const char *what, const random_access *a,
                                      const int *regs, const char *address) {
  const bool load = what[0] == 'l';
  const char *open = a->n > 1 ? "{" : "", *close = a->n > 1 ? "}" : "";
  sct_str_printf(out, load ? "%s.%s %s" : "%s.%s ", what, a->text, load ? open : "");
  if (!load) {
    sct_str_printf(out, "[%s], %s", address, open);
  }
  for (int k = 0; k < a->n; k++) {
    sct_str_append(out, k > 0 ? ", " : "");
    random_emit_reg(out, regs[k]);
  }
  if (load) {
    sct_str_printf(out, "%s, [%s];\n", close, address);
  } else {
    sct_str_printf(out, "%s;\n", close);
  }
}

/* %u0 = base + (index & where an access of that width may lie in `bytes`) */
static inline void random_emit_place(sct_str *out, const random_node *n, int bytes,
                                     const char *base) {
  const random_access *a = &random_accesses[n->access];
  sct_str_append(out, "and.b32 %t0, ");
  random_emit_reg(out, n->index);
  sct_str_printf(out, ", %d; cvt.u64.u32 %%u0, %%t0; add.s64 %%u0, %%u0, %s;\n",
                 (bytes - 1) & ~(a->n * a->bytes - 1), base);
}

static inline void random_emit_memory(sct_str *out, const random_node *n) {
  const random_access *a = &random_accesses[n->access];
  char what[32];
  if (n->kind == RANDOM_LOAD) {
    snprintf(what, sizeof what, "ld.global%s", random_caches[n->choice]);
    random_emit_place(out, n, RANDOM_POOL_BYTES, "%in");
    random_emit_access(out, what, a, n->dst, "%u0");
  } else if (n->kind == RANDOM_OWN_LOAD || n->kind == RANDOM_OWN_STORE) {
    const bool load = n->kind == RANDOM_OWN_LOAD;
    random_emit_place(out, n, RANDOM_OWN_BYTES, "%own");
    random_emit_access(out, load ? "ld.global" : "st.global", a, load ? n->dst : n->src, "%u0");
  } else {
    const bool load = n->kind == RANDOM_LOCAL_LOAD;
    random_emit_place(out, n, RANDOM_OWN_BYTES, "%loc");
    random_emit_access(out, load ? "ld.local" : "st.local", a, load ? n->dst : n->src, "%u0");
  }
}

/* Where in a slot an access of that width may lie. */
static inline int random_slot_offset(const random_access *a, uint64_t random) {
  return (int)(random & (uint64_t)((RANDOM_SLOT_BYTES - 1) & ~(a->n * a->bytes - 1)));
}

/* Own slot, all meet, somebody's slot, all meet. choice: 0 the block, 1 a warp, 2 an asynchronous
 * copy. */
static inline void random_emit_exchange(sct_str *out, const random_node *n) {
  const random_access *to = &random_accesses[n->access], *from = &random_accesses[n->access2];
  const char *meet = n->choice == 1 ? "bar.warp.sync 0xffffffff" : "bar.sync 0";
  char address[32];
  if (n->choice == 2) {
    sct_str_append(out, "and.b32 %t0, ");
    random_emit_reg(out, n->index);
    sct_str_printf(out, ", %d; cvt.u64.u32 %%u0, %%t0; add.s64 %%u0, %%u0, %%in;\n",
                   RANDOM_POOL_BYTES - RANDOM_SLOT_BYTES);
    sct_str_append(out, "cp.async.ca.shared.global [%slot], [%u0], 16; cp.async.wait_all;\n");
  } else {
    snprintf(address, sizeof address, "%%slot+%d", random_slot_offset(to, n->imm[0]));
    random_emit_access(out, "st.shared", to, n->src, address);
  }
  sct_str_printf(out, "%s; and.b32 %%t0, ", meet);
  random_emit_reg(out, n->index);
  sct_str_printf(out, ", %d;%s shl.b32 %%t0, %%t0, 4; add.s32 %%t0, %%t0, %%sh;\n",
                 n->choice == 1 ? 31 : RANDOM_BLOCK - 1,
                 n->choice == 1 ? " and.b32 %t1, %me, 32; or.b32 %t0, %t0, %t1;" : "");
  snprintf(address, sizeof address, "%%t0+%d", random_slot_offset(from, n->imm[1]));
  random_emit_access(out, "ld.shared", from, n->dst, address);
  sct_str_printf(out, "%s;\n", meet);
}

static inline void random_emit_warp(sct_str *out, const random_node *n) {
  static const char *const shfl[] = {"idx", "up", "down", "bfly"},
                           *const vote[] = {"all.pred", "any.pred", "uni.pred", "ballot.b32"},
                           *const redux[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                             "max.s32", "and.b32", "or.b32",  "xor.b32"};
  if (n->kind == RANDOM_REDUX) {
    sct_str_printf(out, "redux.sync.%s ", redux[n->op]);
  } else if (n->kind == RANDOM_VOTE) {
    sct_str_printf(out, "vote.sync.%s ", vote[n->op]);
  } else {
    sct_str_printf(out, "shfl.sync.%s.b32 ", shfl[n->op]);
  }
  random_emit_reg(out, n->dst[n->kind == RANDOM_VOTE && n->op != 3]);
  if (n->kind == RANDOM_SHFL) {
    sct_str_append(out, "|");
    random_emit_reg(out, n->dst[1]);
  }
  sct_str_append(out, ", ");
  random_emit_reg(out, n->src[0]);
  if (n->kind == RANDOM_SHFL) {
    const int width = 32 >> n->choice;
    sct_str_append(out, ", ");
    if (n->is_imm[0]) {
      sct_str_printf(out, "%d", (int)n->imm[0]);
    } else {
      random_emit_reg(out, n->index);
    }
    sct_str_printf(out, ", 0x%x", (32 - width) << 8 | (n->op == 1 ? 0 : 31));
  }
  sct_str_append(out, ", 0xffffffff;\n");
}

static inline void random_emit_list(random_program *p, sct_str *out, int at);

static inline void random_emit_flow(random_program *p, sct_str *out, const random_node *n) {
  const int label = p->labels;
  p->labels += 5;
  if (n->kind == RANDOM_IF) {
    sct_str_append(out, "@!");
    random_emit_reg(out, n->index);
    sct_str_printf(out, " bra L%d;\n", label);
    random_emit_list(p, out, n->first);
    sct_str_printf(out, "bra L%d;\nL%d:\n", label + 1, label);
    random_emit_list(p, out, n->second);
    sct_str_printf(out, "L%d:\n", label + 1);
  } else if (n->kind == RANDOM_SWITCH) {
    sct_str_append(out, "and.b32 %t0, ");
    random_emit_reg(out, n->index);
    sct_str_printf(out, ", 3;\nT%d: .branchtargets L%d, L%d, L%d, L%d;\nbrx.idx %%t0, T%d;\n",
                   label, label, label + 1, label + 2, label + 3, label);
    for (int i = 0; i < 4; i++) {
      sct_str_printf(out, "L%d:\n", label + i);
      random_emit_list(p, out, n->cases[i]);
      sct_str_printf(out, "bra L%d;\n", label + 4);
    }
    sct_str_printf(out, "L%d:\n", label + 4);
  } else {
    if (n->kind == RANDOM_LOOP) {
      sct_str_printf(out, "and.b32 %%c%d, ", n->depth);
      random_emit_reg(out, n->index);
      sct_str_append(out, ", 3;\n");
    } else {
      sct_str_printf(out, "mov.u32 %%c%d, %d;\n", n->depth, n->choice);
    }
    sct_str_printf(out,
                   "L%d: setp.eq.u32 %%q0, %%c%d, 0; @%%q0 bra L%d; sub.u32 %%c%d, %%c%d, 1;\n",
                   label, n->depth, label + 1, n->depth, n->depth);
    random_emit_list(p, out, n->first);
    sct_str_printf(out, "bra L%d;\nL%d:\n", label, label + 1);
  }
}

static inline void random_emit_list(random_program *p, sct_str *out, int at) {
  for (; at >= 0; at = p->nodes[at].next) {
    const random_node *n = &p->nodes[at];
    if (n->kind == RANDOM_OPERATION) {
      random_emit_operation(out, n);
    } else if (n->kind >= RANDOM_LOAD) {
      random_emit_memory(out, n);
    } else if (n->kind == RANDOM_EXCHANGE) {
      random_emit_exchange(out, n);
    } else if (n->kind >= RANDOM_SHFL) {
      random_emit_warp(out, n);
    } else {
      random_emit_flow(p, out, n);
    }
  }
}

#define RANDOM_MIX                                                                                 \
  ".func (.param .b32 r) mix(.param .b32 x)\n{\n.reg .b32 %r<4>; .reg .pred %p1;\n"                \
  "ld.param.b32 %r1, [x]; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"          \
  "mad.lo.u32 %r3, %r1, 3, 1; st.param.b32 [r], %r3; ret;\n"                                       \
  "EVEN: shr.u32 %r3, %r1, 1; st.param.b32 [r], %r3; ret;\n}\n"

/* The first values of all registers, or their last ones. */
static inline void random_emit_registers(sct_str *out, bool load) {
  for (int r = 0; r < RANDOM_REGS; r++) {
    const struct random_class *class = &random_classes[random_class_of_reg(r)];
    const int offset = 8 * r + (load ? 0 : RANDOM_OWN_BYTES);
    if (class->letter == 'p' && load) {
      sct_str_printf(out, "ld.global.u32 %%t0, [%%u0+%d]; and.b32 %%t0, %%t0, 1; setp.ne.u32 ",
                     offset);
      random_emit_reg(out, r);
      sct_str_append(out, ", %t0, 0;\n");
    } else if (class->letter == 'p') {
      sct_str_append(out, "selp.u32 %t0, 1, 0, ");
      random_emit_reg(out, r);
      sct_str_printf(out, "; st.global.u32 [%%own+%d], %%t0;\n", offset);
    } else if (load) {
      sct_str_printf(out, "ld.global.b%d ", 8 * class->bytes);
      random_emit_reg(out, r);
      sct_str_printf(out, ", [%%u0+%d];\n", offset);
    } else {
      sct_str_printf(out, "st.global.b%d [%%own+%d], ", 8 * class->bytes, offset);
      random_emit_reg(out, r);
      sct_str_append(out, ";\n");
    }
  }
}

/* Kernel `k` of (const void *in, void *out). */
static inline void random_emit(random_program *p, sct_str *out) {
  p->labels = 0;
  sct_str_printf(out, "// seed %llu\n", (unsigned long long)p->seed);
  sct_str_append(out, ".version 8.0\n.target sm_90\n.address_size 64\n" RANDOM_MIX);
  sct_str_append(out, ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n");
  for (int k = 0; k < SCT_COUNT(random_classes); k++) {
    const struct random_class *class = &random_classes[k];
    if (class->bytes == 0) {
      sct_str_printf(out, ".reg .pred %s<%d>;\n", class->name, class->n);
    } else {
      sct_str_printf(out, ".reg .b%d %s<%d>;\n", 8 * class->bytes, class->name, class->n);
    }
  }
  sct_str_printf(
      out,
      ".reg .b16 %%s<2>; .reg .b32 %%t<4>, %%c<8>, %%me, %%sh, %%slot;\n"
      ".reg .b64 %%u<4>, %%in, %%own, %%loc; .reg .pred %%q<2>;\n"
      ".shared .align 16 .b8 slots[%d];\n.local .align 16 .b8 locals[%d];\n"
      "mov.u32 %%me, %%tid.x; mov.u32 %%t1, %%ctaid.x; mad.lo.s32 %%t1, %%t1, %d, %%me;\n"
      "ld.param.u64 %%in, [in]; ld.param.u64 %%own, [out];\n"
      "mad.wide.u32 %%u0, %%t1, %d, %%in; add.s64 %%u0, %%u0, %d;\n"
      "mad.wide.u32 %%own, %%t1, %d, %%own; mov.u64 %%loc, locals;\n"
      "mov.u32 %%sh, slots; shl.b32 %%t0, %%me, 4; add.s32 %%slot, %%sh, %%t0;\n"
      "mov.b32 %%t0, 0; st.shared.v4.b32 [%%slot], {%%t0, %%t0, %%t0, %%t0};\n",
      RANDOM_SLOT_BYTES * RANDOM_BLOCK, RANDOM_OWN_BYTES, RANDOM_BLOCK, 8 * RANDOM_REGS,
      RANDOM_POOL_BYTES, RANDOM_THREAD_BYTES);
  for (int k = 0; k < RANDOM_OWN_BYTES; k += 16) {
    sct_str_printf(out, "st.local.v4.b32 [%%loc+%d], {%%t0, %%t0, %%t0, %%t0};\n", k);
  }
  random_emit_registers(out, true);
  sct_str_append(out, "bar.sync 0;\n");
  random_emit_list(p, out, p->root);
  random_emit_registers(out, false);
  sct_str_append(out, "ret;\n}\n");
}

/* The last statement of the outermost level: what a program that was cut ends with. */
static inline void random_emit_last(random_program *p, sct_str *out) {
  int at = p->root;
  while (at >= 0 && p->nodes[at].next >= 0) {
    at = p->nodes[at].next;
  }
  random_emit_list(p, out, at);
}

#endif
