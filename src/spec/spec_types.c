/* Types and records: the table of spec_types.def, and where C puts the fields of a struct. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec.h"

static const sct_type_info infos[SCT_N_TYPES] = {
#define SCT_TYPE(id, name, cuda, bytes, align, kind, lanes, exponent, shared)                      \
  {name, cuda, bytes, align, kind, lanes, exponent, shared},
#include "spec_types.def"
#undef SCT_TYPE
};

static const char *const type_names[SCT_N_TYPES] = {
#define SCT_TYPE(id, name, cuda, bytes, align, kind, lanes, exponent, shared) name,
#include "spec_types.def"
#undef SCT_TYPE
};

const sct_type_info *sct_type_get(sct_type type) {
  return &infos[type];
}

bool sct_type_is_struct(sct_type type) {
  return infos[type].kind == SCT_KIND_FLOAT && infos[type].bytes / infos[type].lanes < 4;
}

bool sct_type_find(sct_type *out, const char *name) {
  const int k = sct_names_find(SCT_NAMES(type_names, SCT_N_TYPES), name);
  if (k >= 0) {
    *out = (sct_type)k;
  }
  return k >= 0;
}

int64_t sct_type_index_limit(sct_type type, int64_t limit) {
  const sct_type_info *info = sct_type_get(type);
  const int bits = info->bytes * 8 - (info->kind == SCT_KIND_INT ? 1 : 0);
  return bits >= 62 || limit <= (int64_t)1 << bits ? limit : (int64_t)1 << bits;
}

const char *const *sct_type_names(int *n) {
  *n = SCT_N_TYPES;
  return type_names;
}

/* ---- records ---- */

static int64_t round_up(int64_t x, int64_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

void sct_field_word(char out[SCT_FIELD_WORD], const char *name) {
  const size_t base = strcspn(name, "[");
  snprintf(out, SCT_FIELD_WORD, "%.*s%s%.*s", (int)base, name, name[base] ? "_" : "",
           (int)strcspn(name + base + (name[base] != '\0'), "]"),
           name + base + (name[base] != '\0'));
}

/* Arrays are fields "q[0]", "q[1]", ... that follow each other. */
static void number_elements(sct_record *record) {
  for (int k = 0; k < record->n_fields; k++) {
    const char *name = record->fields[k].name;
    const size_t base = strcspn(name, "[");
    int n = 0;
    while (name[base] == '[' && k + n < record->n_fields &&
           strncmp(record->fields[k + n].name, name, base + 1) == 0) {
      n++;
    }
    for (int element = 0; element < n; element++) {
      record->fields[k + element].element = element;
      record->fields[k + element].n_elements = n;
    }
    k += n > 0 ? n - 1 : 0;
  }
}

/* Why a field cannot be called so; `others` come before it. */
static sct_status check_field_name(const sct_field *field, const sct_field *others, int n_others,
                                   sct_error *err) {
  char word[SCT_FIELD_WORD], other[SCT_FIELD_WORD], name[SCT_FIELD_WORD];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(field->name, "["), field->name);
  const char *bad = sct_spec_bad_name(name);
  if (bad) {
    return sct_fail(err, SCT_ESPEC, "field name '%s' %s", name, bad);
  }
  sct_field_word(word, field->name);
  for (int k = 0; k < n_others; k++) {
    sct_field_word(other, others[k].name);
    const size_t base = strcspn(others[k].name, "[");
    const bool same_array = field->element > 0 && others[k].n_elements == field->n_elements;
    const bool same = strlen(name) == base && strncmp(name, others[k].name, base) == 0;
    if (strcmp(word, other) == 0 || (same && !same_array)) {
      return sct_fail(err, SCT_ESPEC, "field '%s' appears twice%s", same ? name : word,
                      same ? "" : ", as arrays have such names for their elements");
    }
  }
  return SCT_OK;
}

static sct_status check_fields(const sct_record *record, sct_error *err) {
  if (record->n_fields < 1) {
    return sct_fail(err, SCT_ESPEC, "a record needs at least one field");
  }
  if (record->n_fields > SCT_MAX_FIELDS) {
    return sct_fail(err, SCT_ESPEC,
                    "a record has at most %d fields, not %d; each element of an array is one, of "
                    "i4, u4 and u1 each byte",
                    SCT_MAX_FIELDS, record->n_fields);
  }
  const bool bare = record->n_fields == 1 && record->fields[0].name[0] == '\0';
  for (int k = 0; k < record->n_fields && !bare; k++) {
    const sct_field *field = &record->fields[k];
    const sct_type_info *type = sct_type_get(field->type);
    SCT_TRY(check_field_name(field, record->fields, k, err));
    if (type->shared > 1 && field->n_elements == 0) {
      return sct_fail(err, SCT_ESPEC,
                      "field '%s' cannot be one %s: %d of them share a byte; write an array, as in "
                      "{ \"%s\", \"%s\", %d }",
                      field->name, type->name, type->shared, field->name, type->name, type->shared);
    }
    if (field->n_elements > 0 && type->lanes > 1) {
      return sct_fail(err, SCT_ESPEC,
                      "field '%.*s' is an array of %s; arrays have elements of one component: "
                      "write %d of them",
                      (int)strcspn(field->name, "["), field->name, type->name,
                      field->n_elements * type->lanes);
    }
  }
  const char *bad = record->name ? sct_spec_bad_kernel_name(record->name) : NULL;
  if (bad) {
    return sct_fail(err, SCT_ESPEC, "record name '%s' %s", record->name, bad);
  }
  return SCT_OK;
}

sct_status sct_record_finish(sct_record *record, int64_t align, sct_error *err) {
  number_elements(record);
  SCT_TRY(check_fields(record, err));
  int64_t natural = 1;
  int64_t at = 0;
  int64_t prefix = 0;
  for (int k = 0; k < record->n_fields; k++) {
    sct_field *field = &record->fields[k];
    const sct_type_info *type = sct_type_get(field->type);
    if (record->packed && sct_type_is_struct(field->type) && type->lanes > 1) {
      return sct_fail(err, SCT_ESPEC,
                      "field '%s' of a packed record cannot be of type %s; write %d fields of one "
                      "component each",
                      field->name, type->name, type->lanes);
    }
    const int64_t field_align = record->packed ? 1 : type->align;
    at = round_up(at, field_align);
    field->bytes = type->bytes;
    field->offset = at;
    field->prefix = prefix;
    at += field->bytes;
    prefix += field->bytes;
    natural = field_align > natural ? field_align : natural;
  }
  if (align != 0 && (align < natural || align > 4096 || (align & (align - 1)) != 0)) {
    return sct_fail(err, SCT_ESPEC,
                    "align = %lld is not possible; expected a power of two from %lld to 4096",
                    (long long)align, (long long)natural);
  }
  record->align = align != 0 ? align : natural;
  record->bytes = round_up(at, record->align);
  record->data_bytes = prefix;
  return SCT_OK;
}
