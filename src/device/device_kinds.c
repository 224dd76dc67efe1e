/* The table of device kinds: one line each. */
#include "device/device.h"

#include <string.h>

static const sct_device_kind kinds[] = {
    {"cuda", "a GPU of this machine, by number: cuda:0", "timed", true, true, false},
    {"virtual", "a described GPU, by name: virtual:h200",
     "verified on the virtual GPU, counted and predicted, not timed", true, false, false},
    {"replay", "recorded results of a store in place of a GPU: replay:FILE, replay:FILE#DEVICE",
     "a replay: drawn from recorded samples, nothing is measured, nothing is stored", false, true,
     true},
};

const sct_device_kind *sct_device_kinds(int *n) {
  *n = SCT_COUNT(kinds);
  return kinds;
}

sct_status sct_device_parse(const sct_device_kind **kind, const char **name, const char *id,
                            sct_error *err) {
  const char *colon = strchr(id, ':');
  const size_t len = colon ? (size_t)(colon - id) : strlen(id);
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    if (strlen(kinds[k].prefix) != len || strncmp(kinds[k].prefix, id, len) != 0) {
      continue;
    }
    if (!colon || colon[1] == '\0') {
      return sct_fail(err, SCT_EUSAGE, "device '%s': expected %s:NAME: %s", id, kinds[k].prefix,
                      kinds[k].doc);
    }
    *kind = &kinds[k];
    *name = colon + 1;
    return SCT_OK;
  }
  SCT_SCOPED(sct_str) given = {0}, text = {0};
  sct_str_append_n(&given, id, len);
  sct_str_printf(&text, "device '%s': unknown kind '%s'", id, sct_str_c(&given));
  sct_str_suggest(&text, sct_str_c(&given), SCT_NAMES_IN(kinds, SCT_COUNT(kinds), prefix));
  return sct_fail(err, SCT_EUSAGE, "%s", sct_str_c(&text));
}
