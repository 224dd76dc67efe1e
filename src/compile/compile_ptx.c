/* compile_ptx - files that hold PTX: what any compiler wrote as text, or has put into a cubin with
 * line information, a fatbin, an object or a program. ptxas makes the machine code of PTX, where
 * there is one. */
#include "compile/compile_internal.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define FATBIN_MAGIC   0xba55ed50U
#define KIND_PTX       1
#define KIND_ELF       2
#define FLAG_LZ4       0x2000
#define FLAG_ZSTD      0x8000
#define MOST_PTX_BYTES (INT64_C(1) << 30)
#define ASSEMBLY_NS    INT64_C(300000000000)

/* ---- which files these are */

static const char *skip_comments(const char *at) {
  for (;;) {
    at += strspn(at, " \t\r\n");
    const char *const end = sct_has_prefix(at, "//")   ? at + strcspn(at, "\n")
                            : sct_has_prefix(at, "/*") ? strstr(at, "*/")
                                                       : NULL;
    if (end == NULL) {
      return at;
    }
    at = end + (*end == '*' ? 2 : 0);
  }
}

static bool is_text(const sct_str *file) {
  return sct_has_prefix(skip_comments(sct_str_c(file)), ".version");
}

static uint32_t word_at(const char *at) {
  uint32_t v;
  memcpy(&v, at, sizeof v);
  return v;
}

static bool is_binary(const sct_str *file) {
  return file->len >= 16 &&
         (memcmp(file->data, "\177ELF", 4) == 0 || word_at(file->data) == FATBIN_MAGIC);
}

bool sct_compile_holds_ptx(const char *path) {
  SCT_SCOPED(sct_str) file = {0};
  sct_error ignored;
  return sct_file_read_most(&file, path, MOST_PTX_BYTES, &ignored) == SCT_OK &&
         (is_text(&file) || is_binary(&file));
}

/* ---- what they hold */

typedef struct held {
  sct_str ptx, cubin; /* the best so far; empty: none */
  bool fits;          /* ptx has a kernel that is asked for */
  int arch;           /* of ptx */
  bool packed;        /* there is one that cannot be unpacked */
  int wanted;         /* architecture */
  const char *const *kernels;
  int n_kernels;
} held;

/* Is a kernel that is asked for in it, by the last part of its name? */
static bool has_kernel(const held *h, const char *ptx) {
  for (int k = 0; k < h->n_kernels; ++k) {
    const char *const kernel = h->kernels[k];
    size_t n = strcspn(kernel, "<("), from = n;
    while (from > 0 && sct_is_word(kernel[from - 1])) {
      from--;
    }
    if (memmem(ptx, strlen(ptx), kernel + from, n - from) != NULL) {
      return true;
    }
  }
  return false;
}

/* Takes over a text if it has what is asked for, or else is for the newest architecture. */
static void offer(held *h, sct_str *ptx, int arch) {
  const bool fits = has_kernel(h, sct_str_c(ptx));
  if (h->ptx.len == 0 || (fits && !h->fits) || (fits == h->fits && arch > h->arch)) {
    sct_str_free(&h->ptx);
    h->ptx = *ptx;
    h->fits = fits;
    h->arch = arch;
    *ptx = (sct_str){0};
  }
  sct_str_free(ptx);
}

/* The LZ4 block format (https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md). */
static bool unpack_lz4(char *out, size_t n_out, const unsigned char *in, size_t n_in) {
  size_t to = 0, at = 0;
  while (at < n_in) {
    const unsigned token = in[at++];
    size_t literals = token >> 4, match = (token & 15) + 4;
    for (unsigned more = 255; literals >= 15 && more == 255 && at < n_in; literals += more) {
      more = in[at++];
    }
    if (literals > n_in - at || literals > n_out - to) {
      return false;
    }
    memcpy(out + to, in + at, literals);
    at += literals;
    to += literals;
    if (at + 2 > n_in) {
      break; /* the last sequence has literals alone */
    }
    const size_t back = (size_t)in[at] | (size_t)in[at + 1] << 8;
    at += 2;
    for (unsigned more = 255; match >= 19 && more == 255 && at < n_in; match += more) {
      more = in[at++];
    }
    if (back == 0 || back > to || match > n_out - to) {
      return false;
    }
    for (; match > 0; --match, ++to) {
      out[to] = out[to - back];
    }
  }
  return to == n_out;
}

static bool unpack_zstd(char *out, size_t n_out, const void *in, size_t n_in) {
  void *const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  size_t (*decompress)(void *, size_t, const void *, size_t) = NULL;
  void *const symbol = library ? dlsym(library, "ZSTD_decompress") : NULL;
  memcpy(&decompress, &symbol, sizeof symbol);
  const bool good = symbol && decompress(out, n_out, in, n_in) == n_out;
  if (library) {
    (void)dlclose(library);
  }
  return good;
}

/* An entry of a fatbin: two bytes of kind, two of version, four of header, eight of contents; at 16
 * their length as packed, at 28 the architecture, at 40 flags, at 56 the length unpacked. */
static void take_entry(held *h, const char *entry, size_t header, size_t bytes) {
  uint64_t flags = 0, unpacked = 0;
  uint16_t kind;
  sct_str ptx = {0};
  memcpy(&kind, entry, sizeof kind);
  memcpy(&flags, entry + 40, sizeof flags);
  memcpy(&unpacked, entry + 56, sizeof unpacked);
  const uint32_t packed = word_at(entry + 16);
  const int arch = (int)word_at(entry + 28);
  const bool is_packed = (flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
  const char *const data = entry + header;
  if (kind == KIND_ELF && !is_packed && (h->cubin.len == 0 || arch == h->wanted)) {
    sct_str_clear(&h->cubin);
    sct_str_append_n(&h->cubin, data, bytes);
  }
  if (kind != KIND_PTX || unpacked > MOST_PTX_BYTES || packed > bytes) {
    return;
  }
  if (!is_packed) {
    sct_str_append_n(&ptx, data, strnlen(data, bytes));
    offer(h, &ptx, arch);
    return;
  }
  SCT_OWNED char *const text = sct_alloc((size_t)unpacked + 1);
  const bool good = (flags & FLAG_LZ4)
                        ? unpack_lz4(text, (size_t)unpacked, (const unsigned char *)data, packed)
                        : unpack_zstd(text, (size_t)unpacked, data, packed);
  h->packed = h->packed || !good;
  if (good) {
    sct_str_append(&ptx, text);
    offer(h, &ptx, arch);
  }
}

/* A fatbin: magic, two bytes of version, two of header, eight of contents; returns its length. */
static size_t take_fatbin(held *h, const char *data, size_t bytes) {
  enum { HEADER = 16, LEAST = 64 };
  uint64_t contents;
  memcpy(&contents, data + 8, sizeof contents);
  const size_t end = contents <= bytes - HEADER ? HEADER + (size_t)contents : bytes;
  for (size_t at = HEADER; at + LEAST <= end;) {
    const uint32_t header = word_at(data + at + 4);
    uint64_t length;
    memcpy(&length, data + at + 8, sizeof length);
    if (header < LEAST || header > end - at || length > end - at - header) {
      break;
    }
    take_entry(h, data + at, header, (size_t)length);
    at += header + (size_t)length;
  }
  return end;
}

/* The text that -lineinfo leaves in a cubin has NULs for line ends, and some in front. */
static void take_cubin(held *h, const sct_str *file) {
  const unsigned char *data;
  size_t bytes;
  sct_str ptx = {0};
  if (!sct_compile_elf_section(file->data, file->len, ".nv_debug_ptx_txt", &data, &bytes)) {
    return;
  }
  sct_str_append_n(&h->cubin, file->data, file->len);
  for (size_t k = 0; k < bytes; ++k) {
    sct_str_append_n(&ptx, data[k] != 0 ? (const char *)&data[k] : "\n", 1);
  }
  offer(h, &ptx, h->wanted);
}

static sct_status find(held *h, const sct_str *file, const char *path, sct_error *err) {
  if (is_text(file)) {
    sct_str_append(&h->ptx, sct_str_c(file));
    return SCT_OK;
  }
  take_cubin(h, file);
  for (size_t at = 0; at + 16 <= file->len;) {
    const bool begins = word_at(file->data + at) == FATBIN_MAGIC;
    at += begins ? (take_fatbin(h, file->data + at, file->len - at) + 7) / 8 * 8 : 8;
  }
  if (h->ptx.len > 0) {
    return SCT_OK;
  }
  return sct_fail(err, SCT_ESPEC,
                  h->packed
                      ? "%s: error: its PTX is packed with zstd, and there is no libzstd.so.1 to "
                        "unpack it; `cuobjdump -ptx` does"
                      : "%s: error: it holds no PTX: machine code alone cannot be run here; nvcc "
                        "adds PTX with -gencode arch=compute_90,code=[sm_90,compute_90], or to a "
                        "cubin with -lineinfo",
                  path);
}

/* ---- names */

/* From "void (anonymous namespace)::copy<float, 4>(float const*)" what is called. */
static void append_called(sct_str *out, const char *text) {
  static const char anonymous[] = "(anonymous namespace)";
  const char *from = text, *at = text;
  for (int depth = 0; *at != '\0' && !(*at == '(' && depth == 0); ++at) {
    depth += *at == '<';
    depth -= *at == '>';
    from = *at == ' ' && depth == 0 ? at + 1 : from;
    if (sct_has_prefix(at + 1, anonymous)) {
      at += sizeof(anonymous) - 1;
    }
  }
  for (; from < at; ++from) {
    sct_str_append_n(out, from, *from != ' ');
  }
}

bool sct_compile_demangle(sct_str *out, const char *entry) {
  struct {
    char *(*demangle)(const char *, char *, size_t *, int *);
    void (*free)(void *); /* what it has from malloc() */
  } door = {NULL, free};
  void *const library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
  void *const symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
  int status = -1;
  memcpy(&door.demangle, &symbol, sizeof symbol);
  char *const text = symbol ? door.demangle(entry, NULL, NULL, &status) : NULL;
  const bool good = text != NULL && status == 0;
  if (good) {
    append_called(out, text);
  }
  door.free(text);
  if (library) {
    (void)dlclose(library);
  }
  return good;
}

/* ---- machine code */

/* "sm_90a" of ".target sm_90a, debug", if that is newer than `arch` or has a suffix; else `arch`.
 */
static void choose_arch(char *out, size_t bytes, const char *ptx, const char *arch) {
  const char *const at = strstr(ptx, ".target");
  const char *const target =
      at ? at + strlen(".target") + strspn(at + strlen(".target"), " \t") : "";
  const size_t n = strspn(target, "sm_0123456789af");
  const bool newer = n > 3 && (isalpha((unsigned char)target[n - 1]) ||
                               atoi(target + 3) > atoi(arch + (strlen(arch) > 3 ? 3 : 0)));
  snprintf(out, bytes, "%.*s", (int)(newer ? n : strlen(arch)), newer ? target : arch);
}

/* Leaves `cubin` empty, and says why, where there is no ptxas or it takes the text not. */
static sct_status assemble(sct_str *cubin, sct_str *why, const char *ptx, const char *arch,
                           sct_error *err) {
  SCT_SCOPED(sct_str) tool = {0}, directory = {0}, in = {0}, out = {0}, log = {0}, says = {0};
  char target[24], option[48];
  int wait_status = 0;
  if (!sct_compile_find_tool(&tool, "ptxas")) {
    sct_str_append(why, "there is no ptxas in $CUDA_HOME/bin, $CUDA_PATH/bin, $PATH and "
                        "/usr/local/cuda/bin");
    return SCT_OK;
  }
  SCT_TRY(sct_compile_scratch_new(&directory, err));
  sct_str_printf(&in, "%s/file.ptx", sct_str_c(&directory));
  sct_str_printf(&out, "%s/file.cubin", sct_str_c(&directory));
  sct_str_printf(&log, "%s/log", sct_str_c(&directory));
  choose_arch(target, sizeof target, ptx, arch);
  snprintf(option, sizeof option, "-arch=%s", target);
  const char *const argv[] = {sct_str_c(&tool), option,         "-o",
                              sct_str_c(&out),  sct_str_c(&in), NULL};
  sct_status status = sct_file_write(sct_str_c(&in), ptx, strlen(ptx), err);
  SCT_THEN(sct_program_run(&wait_status, (char *const *)(uintptr_t)argv, sct_str_c(&log),
                           ASSEMBLY_NS, err));
  if (status == SCT_OK && wait_status == 0) {
    status = sct_file_read_most(cubin, sct_str_c(&out), MOST_PTX_BYTES, err);
  } else if (status == SCT_OK && sct_file_read(&says, sct_str_c(&log), err) == SCT_OK) {
    const char *const text = sct_str_c(&says);
    const char *const file = strstr(text, sct_str_c(&in)); /* the user has another one */
    const char *const from = file ? file + in.len + strspn(file + in.len, ", ") : text;
    sct_str_printf(why, "ptxas says: %.*s", (int)strcspn(from, "\n"), from);
  }
  sct_compile_scratch_free(sct_str_c(&directory));
  return status;
}

sct_status sct_compile_ptx(sct_compiled_file *out, const sct_compile_file *file, const char *arch,
                           sct_error *err) {
  SCT_SCOPED(sct_str) text = {0}, why = {0};
  sct_compile_object *list = NULL;
  memset(out, 0, sizeof(*out));
  out->unknown = -1;
  SCT_TRY(sct_file_read_most(&text, file->path, MOST_PTX_BYTES, err));
  held h = {.wanted = atoi(arch + (strlen(arch) > 3 ? 3 : 0)),
            .kernels = file->kernels,
            .n_kernels = file->n_kernels};
  sct_status status = find(&h, &text, file->path, err);
  if (status == SCT_OK && h.cubin.len == 0) {
    status = assemble(&h.cubin, &why, sct_str_c(&h.ptx), arch, err);
  }
  if (status == SCT_OK) {
    char *const code = sct_alloc(h.cubin.len + 1);
    memcpy(code, sct_str_c(&h.cubin), h.cubin.len);
    out->object = sct_compile_objects_add(&list, code, h.cubin.len, sct_strdup(sct_str_c(&h.ptx)));
    out->ptx = out->object->ptx;
    out->cubin = out->object->cubin;
    out->cubin_bytes = out->object->cubin_bytes;
    out->why = why.len > 0 ? sct_strdup(sct_str_c(&why)) : NULL;
    out->ok = true;
    sct_compile_objects_free(&list);
  }
  sct_str_free(&h.ptx);
  sct_str_free(&h.cubin);
  return status;
}
