/* compile_wire - what a compiler and its workers say to each other, both ways. Nothing a worker
 * answers is trusted to be well-formed: it may have been hit by what it compiled. */
#include "compile/compile_internal.h"

#include <string.h>

#define SCT_MESSAGES "compile/compile_messages.def"
#include "process/process_describe.def"

void sct_compile_put_group(sct_wire *w, const sct_compile_job *job, sct_compile_item *const *units,
                           int n) {
  SCT_OWNED sct_ask_unit *const list = sct_alloc((size_t)(n + 1) * sizeof(*list));
  for (int i = 0; i < n; ++i) {
    const sct_compile_item *const u = units[i];
    list[i] = (sct_ask_unit){u->in->source, u->in->kernel, u->space,      u->expression,
                             u->key,        u->alone,      u->in->foreign};
  }
  sct_wire_put(w, sct_ask_group_table(), &(sct_ask_group){*job, list, n});
}

/* ---- objects: results name them by number */

static sct_got_object object_of(const sct_compile_object *o) {
  return (sct_got_object){.cubin = o->cubin,
                          .n_cubin = (int64_t)o->cubin_bytes,
                          .ptx = o->ptx,
                          .n_ptx = (int64_t)strlen(o->ptx) + 1};
}

static char *copy_of(const char *data, int64_t n) {
  return memcpy(sct_alloc((size_t)n), data, (size_t)n);
}

/* Fills list[0..n). */
static bool get_objects(sct_compile_object **objects, sct_compile_object **list,
                        const sct_got_object *got, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (memchr(got[i].ptx, '\0', (size_t)got[i].n_ptx) != got[i].ptx + got[i].n_ptx - 1) {
      return false;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    list[i] = sct_compile_objects_add(objects, copy_of(got[i].cubin, got[i].n_cubin),
                                      (size_t)got[i].n_cubin, copy_of(got[i].ptx, got[i].n_ptx));
  }
  return true;
}

/* ---- results of units */

void sct_compile_put_results(sct_wire *w, sct_compile_item *const *units, int n) {
  SCT_OWNED sct_got_unit *const list = sct_alloc((size_t)(n + 1) * sizeof(*list));
  SCT_OWNED sct_got_object *const objects = sct_alloc((size_t)(n + 1) * sizeof(*objects));
  int n_objects = 0;
  for (int i = 0; i < n; ++i) {
    const sct_compile_object *const object = units[i]->out->object;
    int k = object != NULL ? 0 : -1;
    while (k >= 0 && k < n_objects && objects[k].cubin != object->cubin) {
      ++k;
    }
    if (k == n_objects) {
      objects[n_objects++] = object_of(object);
    }
    list[i] = (sct_got_unit){*units[i]->out, k};
  }
  sct_wire_put(w, sct_got_group_table(), &(sct_got_group){list, n, objects, n_objects});
}

static bool has_text(const char *text) {
  return text != NULL && text[0] != '\0';
}

/* All but the object. */
static bool take_result(const sct_got_unit *got, int64_t n_objects, sct_compiled *r) {
  const sct_compiled *const from = &got->result;
  const bool ok = from->failure == SCT_COMPILE_NONE;
  if (ok != has_text(from->entry) || ok == has_text(from->log) || ok != (got->object >= 0) ||
      got->object >= n_objects) {
    return false;
  }
  *r = *from;
  r->ok = ok;
  r->entry = ok ? sct_strdup(from->entry) : NULL;
  r->log = ok ? NULL : sct_strdup(from->log);
  return true;
}

static bool take_group(const sct_got_group *got, sct_compile_object **objects,
                       sct_compile_item *const *units) {
  sct_compile_object **const list = sct_alloc((size_t)(got->n_objects + 1) * sizeof(*list));
  bool good = true;
  for (int64_t i = 0; i < got->n_units && good; ++i) {
    good = take_result(&got->units[i], got->n_objects, units[i]->out);
  }
  good = good && get_objects(objects, list, got->objects, got->n_objects);
  for (int64_t i = 0; i < got->n_units && good; ++i) {
    if (got->units[i].object >= 0) {
      sct_compile_object_hold(units[i]->out, list[got->units[i].object]);
    }
  }
  for (int64_t i = 0; i < got->n_objects; ++i) {
    sct_compile_object_release(list[i]);
  }
  sct_free(list);
  return good;
}

sct_status sct_compile_get_results(sct_wire *w, sct_compile_object **objects,
                                   sct_compile_item *const *units, int n, sct_error *err) {
  sct_got_group got;
  const bool read = sct_wire_get_whole(w, sct_got_group_table(), &got);
  const bool good = read && got.n_units == n && take_group(&got, objects, units);
  if (good) {
    return SCT_OK;
  }
  for (int i = 0; i < n; ++i) {
    sct_compiled_free(units[i]->out);
  }
  return sct_fail(err, SCT_EDATA, "the compile worker's answer makes no sense");
}

/* ---- results of files */

void sct_compile_put_file(sct_wire *w, const sct_compiled_file *file) {
  const sct_got_object object = file->ok ? object_of(file->object) : (sct_got_object){.n_cubin = 0};
  const sct_got_file got = {.log = file->ok            ? NULL
                                   : file->log != NULL ? file->log
                                                       : "",
                            .unknown = file->unknown,
                            .entries = (const char *const *)file->entries,
                            .n_entries = file->n_entries,
                            .objects = &object,
                            .n_objects = file->ok};
  sct_wire_put(w, sct_got_file_table(), &got);
}

static bool take_file(const sct_got_file *got, sct_compile_object **objects,
                      sct_compiled_file *file) {
  file->n_entries = (int)got->n_entries;
  file->entries = sct_alloc((size_t)(got->n_entries + 1) * sizeof(*file->entries));
  for (int i = 0; i < file->n_entries; ++i) {
    file->entries[i] = sct_strdup(got->entries[i]);
  }
  file->unknown = got->unknown;
  file->log = got->log != NULL ? sct_strdup(got->log) : NULL;
  if ((got->log == NULL) != (got->n_objects == 1) ||
      !get_objects(objects, &file->object, got->objects, got->n_objects)) {
    return false;
  }
  file->ok = got->n_objects == 1;
  if (file->ok) {
    file->ptx = file->object->ptx;
    file->cubin = file->object->cubin;
    file->cubin_bytes = file->object->cubin_bytes;
  }
  return true;
}

sct_status sct_compile_get_file(sct_wire *w, sct_compile_object **objects, sct_compiled_file *file,
                                sct_error *err) {
  sct_got_file got;
  const bool read = sct_wire_get_whole(w, sct_got_file_table(), &got);
  const bool good = read && take_file(&got, objects, file);
  return good ? SCT_OK : sct_fail(err, SCT_EDATA, "the compile worker's answer makes no sense");
}
