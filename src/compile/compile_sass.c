/* compile_sass - the memory instructions of a kernel's machine code, counted by what they access.
 *
 * There is no public description of the encoding: compile_sass.def holds what experiments show. So
 * a form that was not seen is an error, never a guess. */
#include "compile/compile_internal.h"

#include <string.h>

enum {
  INST_BYTES = 16,
  FIRST_SM = 75,
  LAST_SM = 121,
  OPCODE_MASK = 0x1ff,
  GUARD_SHIFT = 12,
  GUARD_NEVER = 15,
  WIDTH_SHIFT = 73 - 64,
  N_CODES = 16
};

typedef enum width_class { PLAIN, WIDE, ASYNC, ATOM, CAS, FLOAT } width_class;

typedef struct sass_width {
  width_class class;
  int sm;   /* from this architecture on */
  int mask; /* of the code */
  uint8_t bytes[N_CODES];
} sass_width;

static const sass_width widths[] = {
#define SCT_SASS_WIDTH(class, sm, mask, ...) {class, sm, mask, {__VA_ARGS__}},
#include "compile/compile_sass.def"
#undef SCT_SASS_WIDTH
};

typedef struct sass_op {
  int opcode;
  const char *name;
  sct_memop_space space;
  sct_memop_kind op;
  width_class width;
} sass_op;

static const sass_op ops[] = {
#define SCT_SASS(opcode, name, space, op, width)                                                   \
  {opcode, name, SCT_MEMOP_##space, SCT_MEMOP_##op, width},
#include "compile/compile_sass.def"
#undef SCT_SASS
};

/* Bytes a lane; 0: this form has not been seen. */
static int width_bytes(width_class class, int sm, uint64_t high) {
  int bytes = 0;
  for (int i = 0; i < SCT_COUNT(widths); ++i) {
    const sass_width *const w = &widths[i];
    if (w->class == class && w->sm <= sm) {
      bytes = w->bytes[(int)(high >> WIDTH_SHIFT) & w->mask];
    }
  }
  return bytes;
}

static bool is_bulk_copy(int opcode) {
  static const int opcodes[] = {
#define SCT_SASS_BULK(code, name) code,
#include "compile/compile_sass.def"
#undef SCT_SASS_BULK
  };
  bool found = false;
  for (int i = 0; i < SCT_COUNT(opcodes); ++i) {
    found = found || opcodes[i] == opcode;
  }
  return found;
}

static sct_status count_instruction(sct_memops *out, const sct_compile_text *text, size_t at,
                                    sct_error *err) {
  uint64_t low = 0;
  uint64_t high = 0;
  memcpy(&low, text->data + at, sizeof(low)); /* little-endian, as the host */
  memcpy(&high, text->data + at + sizeof(low), sizeof(high));
  const int opcode = (int)(low & OPCODE_MASK);
  if ((low >> GUARD_SHIFT & 15) == GUARD_NEVER) {
    return SCT_OK;
  }
  for (int i = 0; i < SCT_COUNT(ops); ++i) {
    if (ops[i].opcode != opcode) {
      continue;
    }
    const int index = sct_memop_width_index(width_bytes(ops[i].width, text->sm, high));
    if (index < 0) {
      return sct_fail(err, SCT_EDATA,
                      "machine code of sm_%d: %s of unknown width at byte %zu (%016llx %016llx)",
                      text->sm, ops[i].name, at, (unsigned long long)high, (unsigned long long)low);
    }
    ++out->n[ops[i].space][ops[i].op][index];
    return SCT_OK;
  }
  out->bulk += is_bulk_copy(opcode);
  return SCT_OK;
}

sct_status sct_sass_memops(sct_memops *out, const void *cubin, size_t bytes, const char *entry,
                           sct_error *err) {
  sct_compile_text text;
  if (!sct_compile_elf_text(&text, cubin, bytes, entry)) {
    return sct_fail(err, SCT_EDATA, "no sound cubin (%zu bytes)", bytes);
  }
  if (text.sm < FIRST_SM || text.sm > LAST_SM) {
    return sct_fail(err, SCT_EDATA, "machine code of sm_%d: known are sm_%d to sm_%d", text.sm,
                    FIRST_SM, LAST_SM);
  }
  if (text.data == NULL) {
    return sct_fail(err, SCT_EUSAGE, "the cubin has no kernel '%s'", entry);
  }
  if (text.bytes == 0 || text.bytes % INST_BYTES != 0) {
    return sct_fail(err, SCT_EDATA, "machine code of '%s': %zu bytes are no whole instructions",
                    entry, text.bytes);
  }
  sct_memops ops_found;
  memset(&ops_found, 0, sizeof(ops_found));
  for (size_t at = 0; at < text.bytes; at += INST_BYTES) {
    SCT_TRY(count_instruction(&ops_found, &text, at, err));
  }
  *out = ops_found;
  return SCT_OK;
}
