/* compile_needs - which sources an older NVRTC cannot compile, known before it has tried. */
#include "compile/compile.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *text;
  int arch, version; /* 100 * major + minor */
  const char *reason;
} needs[] = {
#define SCT_NEEDS(text, arch, major, minor, what)                                                  \
  {text, arch, 100 * (major) + (minor), "NVRTC " #major "." #minor " or later has " what},
#include "compile/compile_needs.def"
#undef SCT_NEEDS
};

const char *sct_compile_unsupported(const char *version, int arch, const char *source) {
  int major = 0, minor = 0;
  if (version == NULL || sscanf(version, "%d.%d", &major, &minor) != 2) {
    return NULL;
  }
  for (int k = 0; k < SCT_COUNT(needs); ++k) {
    if (100 * major + minor < needs[k].version && (needs[k].arch == 0 || needs[k].arch == arch) &&
        strstr(source, needs[k].text) != NULL) {
      return needs[k].reason;
    }
  }
  return NULL;
}
