/* count_trace - where the address of a memory instruction comes from: back from its registers
 * through the instructions that write them, as a kernel's text has them.
 *
 * Order and branches are not looked at, so a register has all values that any instruction gives it:
 * an index that is loaded once is found, one that only decides a branch is not. */
#include "count/count_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS    4096 /* instructions that are looked at; the rest stays unknown */
#define MOST_OPERANDS 40

typedef struct name {
  const char *at;
  int len;
} name;

/* That instruction `inst` writes register `of`. */
typedef struct write {
  name of;
  int inst;
} write;

struct count_trace {
  const sct_ptx_inst_counters *insts;
  write *writes; /* by register */
  size_t n_writes, cap_writes;
  int *pending, n_insts;
  bool *seen; /* [n_insts] */
};

static bool is_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static int by_name(const void *pa, const void *pb) {
  const write *a = pa, *b = pb;
  const int n = a->of.len < b->of.len ? a->of.len : b->of.len;
  const int order = memcmp(a->of.at, b->of.at, (size_t)n);
  return order != 0 ? order : a->of.len - b->of.len;
}

const char *count_opcode(const sct_ptx_inst_counters *inst, int *len) {
  const char *at = inst->text, *const end = at + inst->text_len;
  if (at < end && *at == '@') {
    while (at < end && !isspace((unsigned char)*at)) {
      at++;
    }
  }
  while (at < end && isspace((unsigned char)*at)) {
    at++;
  }
  *len = (int)(end - at);
  return at;
}

bool count_is(const sct_ptx_inst_counters *inst, const char *start) {
  int len = 0;
  const char *const at = count_opcode(inst, &len);
  const size_t n = strlen(start);
  return (size_t)len >= n && memcmp(at, start, n) == 0;
}

bool count_has(const sct_ptx_inst_counters *inst, const char *part) {
  int len = 0;
  const char *at = count_opcode(inst, &len);
  const size_t n = strlen(part);
  for (; (size_t)len >= n; at++, len--) {
    if (memcmp(at, part, n) == 0) {
      return true;
    }
  }
  return false;
}

/* Registers that an instruction names; of them the first *n_written are those it writes. */
static int registers_of(name out[MOST_OPERANDS], int *n_written,
                        const sct_ptx_inst_counters *inst) {
  int len = 0, n = 0, depth = 0, commas = 0;
  const char *at = count_opcode(inst, &len), *const end = at + len;
  const bool writes = !count_is(inst, "st") && !count_is(inst, "red") && !count_is(inst, "bra") &&
                      !count_is(inst, "bar");
  *n_written = 0;
  for (; at < end; at++) {
    depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    commas += *at == ',' && depth == 0;
    if (*at != '%' || n == MOST_OPERANDS) {
      continue;
    }
    out[n].at = at++;
    while (at < end && is_name(*at)) {
      at++;
    }
    out[n].len = (int)(at-- - out[n].at);
    n++;
    *n_written += writes && commas == 0;
  }
  return n;
}

count_trace *count_trace_new(const sct_ptx_inst_counters *insts, int n) {
  count_trace *t = sct_alloc(sizeof *t);
  *t = (count_trace){.insts = insts, .n_insts = n};
  t->seen = sct_alloc((size_t)n + 1);
  t->pending = sct_alloc(sizeof *t->pending * (size_t)(n + 1));
  for (int k = 0; k < n; k++) {
    name used[MOST_OPERANDS];
    int n_written = 0;
    (void)registers_of(used, &n_written, &insts[k]);
    for (int r = 0; r < n_written; r++) {
      SCT_GROW(t->writes, t->n_writes, t->cap_writes);
      t->writes[t->n_writes++] = (write){used[r], k};
    }
  }
  if (t->n_writes > 0) {
    qsort(t->writes, t->n_writes, sizeof *t->writes, by_name);
  }
  return t;
}

void count_trace_free(count_trace *t) {
  if (t) {
    sct_free(t->writes);
    sct_free(t->pending);
    sct_free(t->seen);
    sct_free(t);
  }
}

static size_t first_write(const count_trace *t, const write *key) {
  size_t low = 0, high = t->n_writes;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (by_name(&t->writes[middle], key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool reads_memory(const sct_ptx_inst_counters *inst) {
  return (count_is(inst, "ld.") && !count_is(inst, "ld.param")) || count_is(inst, "atom.") ||
         count_is(inst, "tex.");
}

/* Puts off what writes the registers that `inst` reads: of a memory instruction its address. */
static int follow(count_trace *t, int inst, bool address_only, int n_pending) {
  name used[MOST_OPERANDS];
  int n_written = 0;
  const sct_ptx_inst_counters *const of = &t->insts[inst];
  const int n = registers_of(used, &n_written, of);
  const char *const bracket = memchr(of->text, '[', (size_t)of->text_len);
  for (int r = n_written; r < n; r++) {
    const write key = {used[r], 0};
    const char *const close =
        bracket ? memchr(bracket, ']', (size_t)(of->text + of->text_len - bracket)) : NULL;
    if (address_only && (!bracket || used[r].at < bracket || (close && used[r].at > close))) {
      continue;
    }
    for (size_t w = first_write(t, &key); w < t->n_writes && by_name(&t->writes[w], &key) == 0;
         w++) {
      if (!t->seen[t->writes[w].inst]) {
        t->seen[t->writes[w].inst] = true;
        t->pending[n_pending++] = t->writes[w].inst;
      }
    }
  }
  return n_pending;
}

count_origin count_trace_address(count_trace *t, int inst) {
  count_origin out = {0};
  memset(t->seen, 0, (size_t)t->n_insts);
  int n = follow(t, inst, true, 0);
  for (int k = 0; k < n && k < MOST_STEPS; k++) {
    const sct_ptx_inst_counters *const at = &t->insts[t->pending[k]];
    const bool loaded = reads_memory(at);
    out.loaded = out.loaded || loaded;
    out.library = out.library || count_has(at, "__cudart_");
    n = loaded ? n : follow(t, t->pending[k], false, n);
  }
  return out;
}
