/* Whether a stored kernel may stand inside a namespace of a header. The text goes in byte for byte,
 * so it must be whole (sct_cuda_structure). The compiler checks everything else. */
#include "emit/emit_internal.h"

#include <ctype.h>
#include <string.h>

/* The parameter list of the function `name`, past its bracket; NULL: there is none. */
static const char *find_parameters(const char *text, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += n) {
    const char *after = at + n + strspn(at + n, " \n");
    if (*after == '(' && at > text && isspace((unsigned char)at[-1])) {
      return after + 1;
    }
  }
  return NULL;
}

/* The name of the parameter that ends before `end`: its last word. */
static int parameter_index(const char *begin, const char *end, const char *const *names, int n) {
  while (end > begin && !sct_is_word(end[-1])) {
    end--;
  }
  const char *word = end;
  while (word > begin && sct_is_word(word[-1])) {
    word--;
  }
  for (int k = 0; k < n; k++) {
    if (strlen(names[k]) == (size_t)(end - word) &&
        strncmp(names[k], word, (size_t)(end - word)) == 0) {
      return k;
    }
  }
  return -1;
}

/* Writes the index of each parameter's name to args; -1 where it is none of names. Returns how many
 * parameters there are, n + 1 for more than n. */
static int list_parameters(int *args, const char *list, const char *const *names, int n) {
  int count = 0;
  int depth = 0;
  const char *begin = list;
  for (const char *at = list; *at != '\0'; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth < 0 || (depth == 0 && *at == ',')) {
      const bool empty = strspn(begin, " \n") >= (size_t)(at - begin);
      if (!empty && count == n) {
        return n + 1;
      }
      if (!empty) {
        args[count++] = parameter_index(begin, at, names, n);
      }
      begin = at + 1;
    }
    if (depth < 0) {
      break;
    }
  }
  return count;
}

static sct_status match_parameters(int *args, int *n_args, const char *list, const char *kernel,
                                   const char *const *names, int n, sct_error *err) {
  const int count = list_parameters(args, list, names, n);
  bool by_name = count <= n;
  for (int k = 0; k < count && by_name; k++) {
    by_name = args[k] >= 0;
    for (int other = 0; other < k; other++) {
      by_name = by_name && args[other] != args[k];
    }
  }
  if (!by_name && count != n) {
    return sct_fail(err, SCT_EDATA,
                    "the parameters of the stored kernel '%s' are not the arguments of its spec: "
                    "expected %d, operands then scalars then extents",
                    kernel, n);
  }
  for (int k = 0; k < count && !by_name; k++) {
    args[k] = k;
  }
  *n_args = count;
  return SCT_OK;
}

static sct_status check_text(sct_str *blanked, const char *source, const char *kernel, bool macros,
                             sct_error *err) {
  const char *wrong = sct_cuda_blank(blanked, source);
  if (wrong == NULL) {
    wrong = sct_cuda_structure(sct_str_c(blanked), macros, NULL);
  }
  return wrong == NULL
             ? SCT_OK
             : sct_fail(err, SCT_EDATA,
                        "the stored source of kernel '%s' cannot stand in a header: it holds %s",
                        kernel, wrong);
}

sct_status emit_check_own(const char *source, const char *kernel, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  return check_text(&text, source, kernel, true, err);
}

sct_status emit_check_source(int *args, int *n_args, const char *source, const char *kernel,
                             const char *const *names, int n, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  sct_status status = check_text(&text, source, kernel, false, err);
  const char *list = status == SCT_OK ? find_parameters(sct_str_c(&text), kernel) : NULL;
  if (status != SCT_OK) {
    goto done;
  }
  if (list == NULL) {
    status = sct_fail(err, SCT_EDATA, "the stored source holds no function '%s'", kernel);
  } else {
    status = match_parameters(args, n_args, list, kernel, names, n, err);
  }
done:
  return status;
}

const char *emit_sm90_feature(const char *source) {
  return strstr(source, "__cluster_dims__(") != NULL  ? "clusters of blocks"
         : strstr(source, "red.global.add.v") != NULL ? "atomic operations of vectors"
                                                      : NULL;
}
