/* compile_elf - the bytes of one kernel inside a cubin.
 *
 * A cubin is an ELF64 file with the sections .text.NAME (machine code), .nv.constant<bank>.NAME and
 * .nv.info.NAME for each kernel. Names differ from batch to batch of equal kernels, so only bytes
 * are hashed, and symbol numbers in .nv.info are left out. Every offset is checked: the bytes may
 * come from a damaged file. */
#include "compile/compile_internal.h"

#include <elf.h>
#include <string.h>

typedef struct elf_view {
  const unsigned char *data;
  size_t bytes;
  size_t table; /* of section headers */
  int n_sections;
  const char *names; /* section names */
  size_t names_bytes;
  int sm; /* architecture */
} elf_view;

typedef struct elf_section {
  const char *name;
  const unsigned char *data;
  size_t bytes;
} elf_section;

static bool in_file(const elf_view *view, uint64_t offset, uint64_t bytes) {
  return offset <= view->bytes && bytes <= view->bytes - offset;
}

static bool section_header(const elf_view *view, int i, Elf64_Shdr *out) {
  memcpy(out, view->data + view->table + (size_t)i * sizeof(*out), sizeof(*out));
  return out->sh_type == SHT_NOBITS || in_file(view, out->sh_offset, out->sh_size);
}

/* e_flags holds the number of the architecture: in bits 8 to 15 as CUDA 13 writes it (ABI version
 * 8), in bits 0 to 7 before. */
static int architecture(const Elf64_Ehdr *header) {
  return (int)(header->e_ident[EI_ABIVERSION] >= 8 ? header->e_flags >> 8 : header->e_flags) & 0xff;
}

static bool open_elf(elf_view *view, const void *data, size_t bytes) {
  Elf64_Ehdr header;
  memset(view, 0, sizeof(*view));
  view->data = data;
  view->bytes = bytes;
  if (bytes < sizeof(header)) {
    return false;
  }
  memcpy(&header, data, sizeof(header));
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_CUDA || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum ||
      !in_file(view, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr))) {
    return false;
  }
  view->sm = architecture(&header);
  view->table = (size_t)header.e_shoff;
  view->n_sections = header.e_shnum;
  Elf64_Shdr names;
  if (!section_header(view, header.e_shstrndx, &names) || names.sh_type != SHT_STRTAB ||
      names.sh_size == 0 || view->data[names.sh_offset + names.sh_size - 1] != '\0') {
    return false;
  }
  view->names = (const char *)view->data + names.sh_offset;
  view->names_bytes = (size_t)names.sh_size;
  return true;
}

static bool section(const elf_view *view, int i, elf_section *out) {
  Elf64_Shdr header;
  if (!section_header(view, i, &header) || header.sh_name >= view->names_bytes) {
    return false;
  }
  out->name = view->names + header.sh_name;
  out->data = header.sh_type == SHT_NOBITS ? NULL : view->data + header.sh_offset;
  out->bytes = header.sh_type == SHT_NOBITS ? 0 : (size_t)header.sh_size;
  return true;
}

/* ".nv.constant0.<entry>": the bank's number, else -1. */
static int constant_bank(const char *name, const char *entry) {
  static const char prefix[] = ".nv.constant";
  const size_t n = sizeof(prefix) - 1;
  if (!sct_has_prefix(name, prefix) || name[n] < '0' || name[n] > '9' || name[n + 1] != '.' ||
      strcmp(name + n + 2, entry) != 0) {
    return -1;
  }
  return name[n] - '0';
}

/* Attributes of .nv.info.NAME that name symbols, or say what launches are allowed without changing
 * the code: the largest block (a launch bound) and register, frame and stack figures, which we take
 * from ptxas' own words. Numbers as printed by NVIDIA's tools, seen with CUDA 13.0. */
static bool attribute_left_out(unsigned char attribute) {
  switch (attribute) {
  case 0x05: /* MAX_THREADS */
  case 0x0a: /* PARAM_CBANK: symbol of the bank */
  case 0x0f: /* EXTERNS */
  case 0x11: /* FRAME_SIZE */
  case 0x12: /* MIN_STACK_SIZE */
  case 0x23: /* MAX_STACK_SIZE */
  case 0x2f: /* REGCOUNT */
    return true;
  default:
    return false;
  }
}

/* Records are: format byte, attribute byte, and 2 bytes of value or (format 4) of length. */
static bool hash_info(sct_hash *out, const elf_section *info) {
  enum { FORMAT_SIZED = 4, HEADER_BYTES = 4 };
  SCT_SCOPED(sct_str) kept = {0};
  size_t at = 0;
  while (at + HEADER_BYTES <= info->bytes) {
    const unsigned char *const record = info->data + at;
    size_t bytes = HEADER_BYTES;
    if (record[0] == FORMAT_SIZED) {
      bytes += (size_t)record[2] + ((size_t)record[3] << 8);
    }
    if (bytes > info->bytes - at) {
      break;
    }
    if (!attribute_left_out(record[1])) {
      sct_str_append_n(&kept, (const char *)record, bytes);
    }
    at += bytes;
  }
  const bool sound = at == info->bytes;
  *out = sct_hash_bytes(sct_str_c(&kept), kept.len);
  return sound;
}

static const char text_prefix[] = ".text.";

static bool is_text_of(const elf_section *s, const char *entry) {
  return sct_has_prefix(s->name, text_prefix) &&
         strcmp(s->name + sizeof(text_prefix) - 1, entry) == 0;
}

bool sct_compile_elf_text(sct_compile_text *out, const void *cubin, size_t bytes,
                          const char *entry) {
  elf_view view;
  memset(out, 0, sizeof(*out));
  if (!open_elf(&view, cubin, bytes)) {
    return false;
  }
  out->sm = view.sm;
  for (int i = 0; i < view.n_sections; ++i) {
    elf_section s;
    if (!section(&view, i, &s)) {
      return false;
    }
    if (is_text_of(&s, entry)) {
      out->data = s.data;
      out->bytes = s.bytes;
    }
  }
  return true;
}

bool sct_compile_elf_kernel(sct_compile_bits *out, const void *cubin, size_t bytes,
                            const char *entry) {
  static const char info_prefix[] = ".nv.info.";
  memset(out, 0, sizeof(*out));
  elf_view view;
  if (!open_elf(&view, cubin, bytes)) {
    return false;
  }
  bool found = false;
  for (int i = 0; i < view.n_sections; ++i) {
    elf_section s;
    if (!section(&view, i, &s)) {
      return false;
    }
    const int bank = constant_bank(s.name, entry);
    if (bank >= 0) {
      const sct_hash pair[] = {out->constants, sct_hash_bytes(s.data, s.bytes)};
      out->constants = sct_hash_bytes(pair, sizeof(pair));
    } else if (is_text_of(&s, entry)) {
      out->text = sct_hash_bytes(s.data, s.bytes);
      found = s.bytes > 0;
    } else if (sct_has_prefix(s.name, info_prefix) &&
               strcmp(s.name + sizeof(info_prefix) - 1, entry) == 0) {
      if (!hash_info(&out->info, &s)) {
        return false;
      }
    }
  }
  return found;
}

/* ---- registers */

/* The name of symbol number `index`, or NULL. */
static const char *symbol_name(const elf_view *view, uint32_t index) {
  for (int i = 0; i < view->n_sections; ++i) {
    Elf64_Shdr table, strings;
    Elf64_Sym symbol;
    if (!section_header(view, i, &table) || table.sh_type != SHT_SYMTAB) {
      continue;
    }
    if (index >= table.sh_size / sizeof(symbol) || table.sh_link >= (uint32_t)view->n_sections ||
        !section_header(view, (int)table.sh_link, &strings) || strings.sh_type != SHT_STRTAB ||
        strings.sh_size == 0 || view->data[strings.sh_offset + strings.sh_size - 1] != '\0') {
      return NULL;
    }
    memcpy(&symbol, view->data + table.sh_offset + index * sizeof(symbol), sizeof(symbol));
    return symbol.st_name < strings.sh_size
               ? (const char *)view->data + strings.sh_offset + symbol.st_name
               : NULL;
  }
  return NULL;
}

/* Records of .nv.info with this attribute hold the numbers of a symbol and of its registers. */
bool sct_compile_elf_section(const void *cubin, size_t bytes, const char *name,
                             const unsigned char **data, size_t *n) {
  elf_view view;
  elf_section s;
  if (!open_elf(&view, cubin, bytes)) {
    return false;
  }
  for (int i = 0; i < view.n_sections; ++i) {
    if (section(&view, i, &s) && strcmp(s.name, name) == 0) {
      *data = s.data;
      *n = s.bytes;
      return true;
    }
  }
  return false;
}

int sct_cubin_registers(const void *cubin, size_t bytes, const char *entry) {
  enum { FORMAT_SIZED = 4, REGCOUNT = 0x2f, HEADER_BYTES = 4 };
  elf_view view;
  int registers = 0;
  if (!open_elf(&view, cubin, bytes)) {
    return 0;
  }
  for (int i = 0; i < view.n_sections; ++i) {
    elf_section s;
    if (!section(&view, i, &s) || strcmp(s.name, ".nv.info") != 0) {
      continue;
    }
    for (size_t at = 0; at + HEADER_BYTES <= s.bytes;) {
      const unsigned char *const record = s.data + at;
      const size_t length =
          record[0] == FORMAT_SIZED ? (size_t)record[2] + ((size_t)record[3] << 8) : 0;
      uint32_t pair[2];
      if (record[0] == FORMAT_SIZED && record[1] == REGCOUNT && length == sizeof(pair) &&
          at + HEADER_BYTES + length <= s.bytes) {
        memcpy(pair, record + HEADER_BYTES, sizeof(pair));
        const char *const name = symbol_name(&view, pair[0]);
        registers = name != NULL && strcmp(name, entry) == 0 ? (int)pair[1] : registers;
      }
      at += HEADER_BYTES + length;
    }
  }
  return registers;
}
