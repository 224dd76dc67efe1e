/* compile_places - directories in which an NVRTC may lie that the loader does not know: of
 * toolkits, of conda, and of Python packages, which put it below site-packages/nvidia. */
#include "compile/compile_internal.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKAGES  "/lib/python3*/site-packages/nvidia/*/lib"
#define PACKAGES2 "/local/lib/python3*/dist-packages/nvidia/*/lib" /* Debian's, below /usr */

/* Of `variable` in place of an environment variable: the prefix of the program's own bin/, which
 * pip has put beside the packages that the program came with. */
static const char OWN[] = "";

/* In the order of looking. `variable` NULL: `below` is a path. */
static const struct {
  const char *variable, *below;
} places[] = {
    {"CUDA_HOME", "/lib64"},
    {"CUDA_HOME", "/lib"},
    {"CUDA_PATH", "/lib64"},
    {"CUDA_PATH", "/lib"},
    {OWN, PACKAGES},
    {OWN, "/lib/python3*/dist-packages/nvidia/*/lib"}, /* Debian's, by root */
    {OWN, "/nvidia/*/lib"},                            /* pip install --target */
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda-*/lib64"},
    {"VIRTUAL_ENV", PACKAGES},
    {"CONDA_PREFIX", "/lib"},
    {"CONDA_PREFIX", "/targets/*/lib"},
    {"CONDA_PREFIX", PACKAGES},
};

/* The directory two above a file: the prefix that its bin/ belongs to. */
static void prefix_of(sct_str *out, const char *file) {
  SCT_SCOPED(sct_str) directory = {0};
  sct_path_dirname(&directory, file);
  sct_path_dirname(out, sct_str_c(&directory));
}

/* The first python3 of PATH; directories that are not absolute are passed over. */
static bool find_python(sct_str *out) {
  const char *at = getenv("PATH");
  for (size_t n = 0; at != NULL && *at != '\0'; at += n + (at[n] == ':')) {
    n = strcspn(at, ":");
    sct_str_clear(out);
    sct_str_printf(out, "%.*s/python3", (int)n, at);
    if (at[0] == '/' && access(out->data, X_OK) == 0) {
      return true;
    }
  }
  return false;
}

typedef struct visit {
  sct_nvrtc_visit *look;
  void *ctx;
  sct_str *looked;
} visit;

/* Directories that match, the newest version first, as far as names tell. */
static bool look_in(const visit *v, const char *root, const char *below) {
  SCT_SCOPED(sct_str) pattern = {0};
  glob_t found = {0};
  bool done = false;
  sct_str_printf(&pattern, "%s%s", root, below);
  if (pattern.data[0] != '/') { /* no library comes from the current directory */
    return false;
  }
  sct_str_printf(v->looked, ", %s", pattern.data);
  if (strchr(below, '*') == NULL) {
    done = access(pattern.data, F_OK) == 0 && v->look(v->ctx, pattern.data);
  } else if (glob(pattern.data, 0, NULL, &found) == 0) {
    for (size_t k = found.gl_pathc; k-- > 0 && !done;) {
      done = v->look(v->ctx, found.gl_pathv[k]);
    }
  }
  globfree(&found);
  return done;
}

static bool look_at_python(const visit *v) {
  SCT_SCOPED(sct_str) python = {0}, prefix = {0};
  char file[PATH_MAX];
  bool done = false;
  if (find_python(&python)) {
    prefix_of(&prefix, python.data); /* of a virtual environment, where it is a link */
    const bool shim = strstr(python.data, "/shims/") != NULL; /* of pyenv */
    done = look_in(v, sct_str_c(&prefix), shim ? "/versions/*" PACKAGES : PACKAGES);
    if (!done && !shim && realpath(python.data, file) != NULL) {
      sct_str_clear(&prefix);
      prefix_of(&prefix, file);
      done = look_in(v, sct_str_c(&prefix), PACKAGES) || look_in(v, sct_str_c(&prefix), PACKAGES2);
    }
  }
  const char *const home = getenv("HOME");
  return done || (home != NULL && home[0] == '/' && look_in(v, home, "/.local" PACKAGES));
}

bool sct_compile_nvrtc_places(sct_nvrtc_visit *look, void *ctx, sct_str *looked) {
  const visit v = {look, ctx, looked};
  SCT_SCOPED(sct_str) own = {0};
  char file[PATH_MAX];
  bool done = false;
  if (realpath("/proc/self/exe", file) != NULL) {
    prefix_of(&own, file);
  }
  for (int k = 0; k < SCT_COUNT(places) && !done; ++k) {
    const char *const variable = places[k].variable;
    const char *const root = variable == NULL  ? ""
                             : variable == OWN ? sct_str_c(&own)
                                               : getenv(variable);
    done = root != NULL && look_in(&v, root, places[k].below);
  }
  return done || look_at_python(&v);
}
