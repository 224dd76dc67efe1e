/* Names with a meaning of their own in CUDA C++, and what a user may call things. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_internal.h"

static const struct {
  const char *word;
  word_kind kind;
} words[] = {
#define SCT_WORD(word, kind) {word, WORD_##kind},
#include "spec_words.def"
#undef SCT_WORD
};

static const struct {
  const char *name, *write;
} spellings[] = {
#define HINT_SPELLING(name, write) {name, write},
#define HINT_TYPE(name, write)
#define HINT_VALUE(name, write)
#define SCT_HINT(name, kind, write) HINT_##kind(name, write)
#include "spec_hints.def"
#undef SCT_HINT
};

/* Both in alphabetical order. */
static const char *const macros[] = {
#include "spec_macros.def"
};
static const char *const functions[] = {
#include "spec_functions.def"
};

static int compare_names(const void *name, const void *listed) {
  return strcmp(name, *(const char *const *)listed);
}

word_kind sct_spec_word(const char *text, size_t len) {
  const int k = sct_names_find_n(SCT_NAMES_IN(words, SCT_COUNT(words), word), text, len);
  return k >= 0 ? words[k].kind : sct_spec_spelling(text, len) ? WORD_TYPE : WORD_NONE;
}

const char *sct_spec_spelling(const char *text, size_t len) {
  const int k = sct_names_find_n(SCT_NAMES_IN(spellings, SCT_COUNT(spellings), name), text, len);
  return k >= 0 ? spellings[k].write : NULL;
}

const char *sct_spec_bad_name(const char *name) {
  if (!sct_is_identifier(name)) {
    return "is not a name: letters, digits and _ only, and no digit in front";
  }
  if (strlen(name) > 48) {
    return "is too long: at most 48 characters";
  }
  if (sct_has_prefix(name, "_") || strstr(name, "__") || sct_has_prefix(name, "sct_")) {
    return "is reserved: no _ in front, no __ inside, no sct_ in front";
  }
  sct_type type;
  switch (sct_spec_word(name, strlen(name))) {
  case WORD_NONE:
    break;
  case WORD_FUNCTION:
    return "is the name of a CUDA function";
  default:
    if (sct_type_find(&type, name)) {
      return "is the name of a type";
    }
    return "is a word of CUDA C++";
  }
  if (sct_has_prefix(name, "cuda") && name[4] >= 'A' && name[4] <= 'Z') {
    return "is reserved: names with cuda in front are CUDA's";
  }
  return bsearch(name, macros, SCT_COUNT(macros), sizeof macros[0], compare_names)
             ? "is a macro of C or CUDA headers"
             : NULL;
}

static bool is_function(const char *name) {
  return sct_spec_word(name, strlen(name)) == WORD_FUNCTION ||
         bsearch(name, functions, SCT_COUNT(functions), sizeof functions[0], compare_names) != NULL;
}

/* acosf128: glibc's names of a function for types of a number of bits. */
static bool is_function_of_bits(const char *name) {
  static const char *const bits[] = {"f32", "f32x", "f64", "f64x", "f128"};
  for (int k = 0; k < SCT_COUNT(bits); k++) {
    char base[64] = "";
    if (sct_has_suffix(name, bits[k])) {
      snprintf(base, sizeof base, "%.*s", (int)(strlen(name) - strlen(bits[k])), name);
    }
    if (is_function(base)) {
      return true;
    }
  }
  return false;
}

const char *sct_spec_bad_kernel_name(const char *name) {
  const char *bad = sct_spec_bad_name(name);
  const bool taken =
      !bad && (is_function(name) || is_function_of_bits(name) || sct_has_prefix(name, "pthread_") ||
               sct_has_prefix(name, "posix_") || sct_has_prefix(name, "CUDA_"));
  return taken ? "is declared by C or CUDA headers" : bad;
}
