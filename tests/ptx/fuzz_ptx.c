/* libFuzzer target for the PTX parser and interpreter (preset fuzz):
 *
 *   build/fuzz/tests/fuzz_ptx -max_len=16384 -timeout=20 NEW_DIR tests/ptx/corpus
 *
 * Half of the mutations keep the text close to PTX: they work on tokens and lines, with the
 * opcodes, types and operands that module ptx knows. The rest are libFuzzer's own, on bytes. */
#include "ptx_fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_size, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size <= FUZZ_MAX_TEXT) {
    (void)fuzz_input(data, size);
  }
  return 0;
}

/* ---- words that mean something */

static const char *const opcodes[] = {
#define PTX_ALU(op, sub, types, fn, sig, attrs, undef) op "." sub "." types,
#include "ptx/decode/ptx_alu.def"
#undef PTX_ALU
#define PTX_OP(op, decode) op,
#include "ptx/decode/ptx_ops.def"
#undef PTX_OP
};

static const char *const types[] = {
#define PTX_TYPE(id, name, bytes, kind) "." name,
#include "ptx/front/ptx_types.def"
#undef PTX_TYPE
    ".v2",    ".v4",  ".v8",   ".global", ".shared",      ".local",    ".param",
    ".const", ".rn",  ".rz",   ".ftz",    ".sat",         ".volatile", ".cc",
    ".wide",  ".lo",  ".hi",   ".nc",     ".relaxed.gpu", ".cg",       ".L2::128B",
    ".sync",  ".idx", ".bfly", ".ballot", ".uni",         ".eq",
};

static const char *const operands[] = {
    "0",
    "1",
    "-1",
    "31",
    "32",
    "0xffffffff",
    "0x7fffffffffffffff",
    "0f7fc00000",
    "0d0000000000000001",
    "%tid.x",
    "%r1",
    "%rd1",
    "%p1",
    "%f1",
    "%rs1",
    "{%r1, %r2}",
    "[%rd1+4]",
    "_",
    ";",
    ",",
    "{",
    "}",
    "@%p1 ",
    "@!%p1 ",
    ":",
    "%laneid",
    "[",
    "-2147483648",
    "9223372036854775807",
    "%r1|%p1",
    "18446744073709551616",
    "4096",
};

typedef struct rng {
  uint64_t s;
} rng;

static size_t pick(rng *r, size_t n) {
  r->s = sct_mix64(r->s, 1);
  return n == 0 ? 0 : (size_t)(r->s % n);
}

/* An opcode as PTX writes it: empty modifiers left out, of its types the first. */
static size_t write_opcode(char *to, size_t cap, const char *from) {
  size_t n = 0;
  for (const char *p = from; *p != '\0' && *p != ' ' && n + 1 < cap; p++) {
    if (*p == '.' && (p[1] == '.' || p[1] == '\0')) {
      continue;
    }
    to[n++] = *p;
  }
  to[n] = '\0';
  return n;
}

static size_t choose_word(rng *r, char *to, size_t cap) {
  switch (pick(r, 3)) {
  case 0:
    return write_opcode(to, cap, opcodes[pick(r, SCT_COUNT(opcodes))]);
  case 1:
    return (size_t)snprintf(to, cap, "%s", types[pick(r, SCT_COUNT(types))]);
  default:
    return (size_t)snprintf(to, cap, "%s", operands[pick(r, SCT_COUNT(operands))]);
  }
}

/* ---- pieces of text */

typedef struct span {
  size_t from, to;
} span;

static bool is_word(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '%' || c == '$';
}

/* A token near a random place: a word with a dot in front, if there is one, or one sign. */
static span token_at(rng *r, const uint8_t *data, size_t size) {
  span s = {pick(r, size), 0};
  while (s.from > 0 && is_word(data[s.from]) && is_word(data[s.from - 1])) {
    s.from--;
  }
  s.to = s.from;
  while (s.to < size && is_word(data[s.to])) {
    s.to++;
  }
  s.to += s.to == s.from && s.to < size;
  s.from -= s.from > 0 && data[s.from - 1] == '.';
  return s;
}

static span line_at(rng *r, const uint8_t *data, size_t size) {
  span s = {pick(r, size), 0};
  while (s.from > 0 && data[s.from - 1] != '\n') {
    s.from--;
  }
  s.to = s.from;
  while (s.to < size && data[s.to] != '\n') {
    s.to++;
  }
  s.to += s.to < size;
  return s;
}

/* Puts `n` bytes of `with` in the place of `s`; the size afterwards, the same if there is no room.
 */
static size_t replace(uint8_t *data, size_t size, size_t max_size, span s, const void *with,
                      size_t n) {
  const size_t rest = size - s.to;
  if (s.from + n + rest > max_size) {
    return size;
  }
  memmove(data + s.from + n, data + s.to, rest);
  memcpy(data + s.from, with, n);
  return s.from + n + rest;
}

/* ---- mutations */

static size_t mutate_once(rng *r, uint8_t *data, size_t size, size_t max_size) {
  uint8_t copy[512];
  char word[128];
  const bool lines = pick(r, 2) == 0;
  const span a = lines ? line_at(r, data, size) : token_at(r, data, size);
  const span b = lines ? line_at(r, data, size) : token_at(r, data, size);
  const size_t n = b.to - b.from < sizeof copy ? b.to - b.from : sizeof copy;
  memcpy(copy, data + b.from, n);
  switch (pick(r, lines ? 4 : 5)) {
  case 0: /* another piece of the text in this one's place */
    return replace(data, size, max_size, a, copy, n);
  case 1: /* ... or in front of it */
    return replace(data, size, max_size, (span){a.from, a.from}, copy, n);
  case 2:
    return replace(data, size, max_size, a, "", 0);
  default:
    return replace(data, size, max_size, lines ? (span){a.from, a.from} : a, word,
                   choose_word(r, word, sizeof word));
  }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  rng r = {seed};
  if (size == 0 || pick(&r, 4) == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  for (size_t k = 1 + pick(&r, 3); k > 0 && size > 0; k--) {
    size = mutate_once(&r, data, size, max_size);
  }
  return size;
}

/* Some lines of `b` go into `a`. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_size, unsigned seed) {
  rng r = {seed};
  size_t size = a_size < max_size ? a_size : max_size;
  memcpy(out, a, size);
  for (size_t k = 1 + pick(&r, 4); k > 0 && size > 0 && b_size > 0; k--) {
    const span to = line_at(&r, out, size), from = line_at(&r, b, b_size);
    size =
        replace(out, size, max_size, (span){to.from, to.from}, b + from.from, from.to - from.from);
  }
  return size;
}
