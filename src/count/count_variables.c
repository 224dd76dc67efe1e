/* count_variables - what a manifest has __device__ and __constant__ variables hold. */
#include "count/count_internal.h"

#include <string.h>

/* The index of the one variable of that name, as the source or the PTX has it; -1: none, or several
 * in namespaces. */
static int find(const sct_ptx_module *module, const char *name, sct_str *why) {
  const int n = sct_ptx_n_variables(module);
  SCT_SCOPED(sct_arena) arena = {0};
  const char **const plain = SCT_ARENA_NEW(&arena, const char *, n + 1);
  int found = -1, times = 0;
  for (int k = 0; k < n; k++) {
    const char *const entry = sct_ptx_variable_at(module, k)->name;
    SCT_SCOPED(sct_str) text = {0};
    count_plain_name(&text, entry);
    plain[k] = sct_arena_strdup(&arena, sct_str_c(&text));
    if (strcmp(entry, name) == 0 || strcmp(plain[k], name) == 0) {
      return k;
    }
    if (count_stands_for(name, plain[k])) {
      found = k;
      times++;
    }
  }
  if (times != 1) {
    sct_str_printf(why, "no kernel of the file has a use for a variable of this name");
    sct_str_suggest(why, name, SCT_NAMES(plain, n));
  }
  return times == 1 ? found : -1;
}

bool count_encode_setting(count_variable *out, const sct_count_setting *setting,
                          struct sct_count_session *s, sct_str *why) {
  sct_str_printf(why, "variable '%s': ", setting->name);
  out->index = find(s->module, setting->name, why);
  if (out->index < 0) {
    return false;
  }
  const sct_ptx_variable *const to = sct_ptx_variable_at(s->module, out->index);
  uint8_t *const data = sct_arena_alloc(&s->arena, (size_t)to->bytes + 1);
  out->data = data;
  out->bytes = to->bytes;
  const count_layout whole = {.bytes = to->bytes, .number = to->number};
  if (setting->contents == NULL) {
    return count_encode(data, &whole, &setting->value, &s->addresses, why);
  }
  sct_count_buffer given = *setting->contents;
  given.bytes = given.bytes > 0 ? given.bytes : to->bytes;
  const int element = given.type < 0 ? 1 : count_types[given.type].bytes;
  if (given.bytes > to->bytes || given.bytes % element != 0) {
    sct_str_printf(why, "%lld bytes were given, it has %lld%s", (long long)given.bytes,
                   (long long)to->bytes,
                   given.bytes > to->bytes ? "" : ", no whole number of elements");
    return false;
  }
  out->bytes = given.bytes;
  void *const contents = count_contents(&given);
  memcpy(data, contents, (size_t)given.bytes);
  sct_free(contents);
  return true;
}
