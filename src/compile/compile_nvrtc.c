/* compile_nvrtc - finds libnvrtc with dlopen, so that the program starts without a toolkit.
 *
 * A library that serves is never closed: it keeps memory of its own (72 KB) that closing would
 * lose, each time anew. */
#include "compile/compile_internal.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Newest first. The .alt library is the same compiler under another name. */
static const char *const SONAMES[] = {
    "libnvrtc.so.13",     "libnvrtc.so.12",     "libnvrtc.so",
    "libnvrtc.alt.so.13", "libnvrtc.alt.so.12", "libnvrtc.alt.so",
};

/* Names one library file, and no other is tried: for odd installations and for tests. */
static const char OVERRIDE[] = "SECTILE_NVRTC";

static bool bind_symbols(sct_nvrtc *nvrtc, const char **missing) {
  /* POSIX's way to store a function from dlsym: through a pointer to a data pointer. */
#define SCT_NVRTC(field, symbol, type, params, required)                                           \
  *(void **)&nvrtc->field = dlsym(nvrtc->handle, #symbol);                                         \
  if (required && nvrtc->field == NULL) {                                                          \
    *missing = #symbol;                                                                            \
    return false;                                                                                  \
  }
#include "compile/compile_nvrtc.def"
#undef SCT_NVRTC
  return true;
}

const char *sct_compile_nvrtc_path(const sct_nvrtc *nvrtc) {
  const struct link_map *map = NULL;
  const bool known = dlinfo(nvrtc->handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL;
  return known && map->l_name != NULL ? map->l_name : "";
}

/* The library opens its other half by name when it first compiles, which finds only what the loader
 * knows; one that is loaded already serves too, so the one beside it is. It is never closed. */
static bool open_builtins(const sct_nvrtc *nvrtc, sct_str *why) {
  const char *const path = sct_compile_nvrtc_path(nvrtc);
  char name[64];
  int major = 0, minor = 0;
  char file[PATH_MAX];
  SCT_SCOPED(sct_str) beside = {0};
  if (nvrtc->version(&major, &minor) != NVRTC_SUCCESS) {
    return true; /* reported later */
  }
  (void)snprintf(name, sizeof(name), "libnvrtc-builtins%s.so.%d.%d",
                 strstr(sct_path_basename(path), ".alt") != NULL ? ".alt" : "", major, minor);
  sct_path_dirname(&beside, realpath(path, file) != NULL ? file : path);
  sct_str_printf(&beside, "/%s", name);
  bool found = dlopen(beside.data, RTLD_NOW | RTLD_GLOBAL) != NULL;
  if (!found && access(beside.data, F_OK) == 0 && why->len == 0) {
    const char *const text = dlerror(); /* libstdc++ is not there, say */
    sct_str_printf(why, "%s compiles nothing without %s: %s", path, name,
                   text != NULL ? text : "it does not load");
  }
  found = found || dlopen(name, RTLD_NOW | RTLD_GLOBAL) != NULL;
  if (!found && why->len == 0) {
    sct_str_printf(why,
                   "%s compiles nothing without %s, which is neither next to it nor known to the "
                   "loader (LD_LIBRARY_PATH)",
                   path, name);
  }
  return found;
}

/* Opens one file; on failure keeps the first reason other than "not there". */
static bool try_open(sct_nvrtc *nvrtc, const char *file, sct_str *why) {
  nvrtc->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (nvrtc->handle == NULL) {
    const char *text = dlerror();
    if (text != NULL && why->len == 0 && strstr(text, "No such file") == NULL) {
      sct_str_append(why, text);
    }
    return false;
  }
  const char *missing = NULL;
  if (!bind_symbols(nvrtc, &missing)) {
    if (why->len == 0) {
      sct_str_printf(why, "%s has no function %s", file, missing);
    }
  } else if (open_builtins(nvrtc, why)) {
    sct_compile_faults_wrap(nvrtc);
    return true;
  }
  (void)dlclose(nvrtc->handle);
  memset(nvrtc, 0, sizeof(*nvrtc));
  return false;
}

typedef struct search {
  sct_nvrtc *nvrtc;
  sct_str *why;
} search;

/* Any of the names in a directory, "" for the loader's path. */
static bool try_directory(void *ctx, const char *directory) {
  const search *const s = ctx;
  SCT_SCOPED(sct_str) file = {0};
  bool found = false;
  for (int k = 0; k < SCT_COUNT(SONAMES) && !found; ++k) {
    sct_str_clear(&file);
    sct_str_printf(&file, "%s%s%s", directory, directory[0] != '\0' ? "/" : "", SONAMES[k]);
    found = try_open(s->nvrtc, file.data, s->why);
  }
  return found;
}

/* The loader's own path first, then the directories of what did not register with it. */
static bool find(sct_nvrtc *nvrtc, sct_str *looked, sct_str *why) {
  search s = {nvrtc, why};
  sct_str_append(looked, "the loader's path");
  return try_directory(&s, "") || sct_compile_nvrtc_places(try_directory, &s, looked);
}

static int64_t library_bytes(const sct_nvrtc *nvrtc) {
  struct stat st;
  return stat(sct_compile_nvrtc_path(nvrtc), &st) == 0 ? (int64_t)st.st_size : 0;
}

static sct_status read_version(sct_nvrtc *nvrtc, sct_error *err) {
  int major = 0;
  int minor = 0;
  int n = 0;
  if (nvrtc->version(&major, &minor) != NVRTC_SUCCESS || nvrtc->n_archs(&n) != NVRTC_SUCCESS ||
      n < 1 || n > SCT_MAX_ARCHS || nvrtc->archs(nvrtc->about.known) != NVRTC_SUCCESS) {
    return sct_fail(err, SCT_ENVRTC, "NVRTC does not report its version and architectures");
  }
  nvrtc->about.n_known = n;
  nvrtc->about.file_bytes = library_bytes(nvrtc);
  (void)snprintf(nvrtc->about.version, sizeof(nvrtc->about.version), "%d.%d", major, minor);
  (void)snprintf(nvrtc->about.path, sizeof(nvrtc->about.path), "%s", sct_compile_nvrtc_path(nvrtc));
  sct_compile_find_headers(nvrtc->about.headers, sizeof(nvrtc->about.headers), nvrtc);
  return SCT_OK;
}

sct_status sct_compile_nvrtc_load(sct_nvrtc *nvrtc, sct_error *err) {
  memset(nvrtc, 0, sizeof(*nvrtc));
  SCT_SCOPED(sct_str) looked = {0};
  SCT_SCOPED(sct_str) why = {0};
  const char *const file = getenv(OVERRIDE);
  if (file != NULL && file[0] != '\0') {
    sct_str_printf(&looked, "%s (%s)", file, OVERRIDE);
    if (!try_open(nvrtc, file, &why)) {
      return sct_fail(
          err, SCT_ENVRTC,
          "no NVRTC: unset SECTILE_NVRTC, or set it to another file; %s cannot be loaded%s%s",
          sct_str_c(&looked), why.len > 0 ? ": " : "", sct_str_c(&why));
    }
  } else if (!find(nvrtc, &looked, &why)) {
    return sct_fail(
        err, SCT_ENVRTC,
        "no NVRTC: install it with `pip install nvidia-cuda-nvrtc`, or install the CUDA toolkit "
        "and set CUDA_HOME to its directory; looked for %s, %s, %s (and libnvrtc.alt) in %s%s%s",
        SONAMES[0], SONAMES[1], SONAMES[2], sct_str_c(&looked),
        why.len > 0 ? "; the loader says: " : "", sct_str_c(&why));
  }
  return read_version(nvrtc, err);
}

bool sct_compile_nvrtc_knows(const sct_nvrtc_about *about, long cc) {
  for (int i = 0; i < about->n_known; ++i) {
    if (about->known[i] == cc) {
      return true;
    }
  }
  return false;
}

/* "sm_90", and from 90 on with the suffix of an architecture- or family-specific target. */
static bool arch_known(const sct_nvrtc_about *about, const char *arch) {
  if (!sct_has_prefix(arch, "sm_")) {
    return false;
  }
  char *end = NULL;
  const long number = strtol(arch + 3, &end, 10);
  const bool suffix = (*end == 'a' || *end == 'f') && end[1] == '\0' && number >= 90;
  if (arch[3] < '0' || arch[3] > '9' || (*end != '\0' && !suffix)) {
    return false;
  }
  return sct_compile_nvrtc_knows(about, number);
}

sct_status sct_compile_nvrtc_check_arch(const sct_nvrtc_about *about, const char *arch,
                                        sct_error *err) {
  if (arch != NULL && arch_known(about, arch)) {
    return SCT_OK;
  }
  char text[SCT_MAX_ARCHS][16];
  const char *names[SCT_MAX_ARCHS];
  for (int i = 0; i < about->n_known; ++i) {
    (void)snprintf(text[i], sizeof(text[i]), "sm_%d", about->known[i]);
    names[i] = text[i];
  }
  SCT_SCOPED(sct_str) hint = {0};
  sct_str_suggest(&hint, arch != NULL ? arch : "", SCT_NAMES(names, about->n_known));
  return sct_fail(err, SCT_EUSAGE, "NVRTC %s does not compile for architecture '%s'%s",
                  about->version, arch != NULL ? arch : "(none)", sct_str_c(&hint));
}
