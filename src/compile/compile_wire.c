/* compile_wire - what a compiler and its workers say to each other, both ways. Nothing a worker
 * answers is trusted to be well-formed: it may have been hit by what it compiled. */
#include "compile/compile_internal.h"

#include <string.h>

/* ---- jobs */

void sct_compile_put_job(sct_wire *w, const sct_compile_job *job) {
  sct_wire_put_i64(w, job->limit_ns);
  sct_wire_put_i64(w, job->n_options);
  for (int i = 0; i < job->n_options; ++i) {
    sct_wire_put_text(w, job->options[i]);
  }
}

/* A count that cannot be larger than what is left of the message. */
static int get_count(sct_wire *w) {
  const int64_t n = sct_wire_get_i64(w);
  if (n < 0 || n > (int64_t)(w->len - w->at)) {
    w->failed = true;
    return 0;
  }
  return (int)n;
}

bool sct_compile_get_job(sct_wire *w, sct_compile_job *job) {
  job->limit_ns = sct_wire_get_i64(w);
  job->n_options = get_count(w);
  job->options = sct_alloc((size_t)(job->n_options + 1) * sizeof(*job->options));
  for (int i = 0; i < job->n_options; ++i) {
    job->options[i] = sct_wire_get_text(w);
  }
  return !w->failed;
}

void sct_compile_put_units(sct_wire *w, sct_compile_item *const *units, int n) {
  sct_wire_put_i64(w, n);
  for (int i = 0; i < n; ++i) {
    sct_wire_put_text(w, units[i]->in->source);
    sct_wire_put_text(w, units[i]->in->kernel);
    sct_wire_put_text(w, units[i]->space);
    sct_wire_put_text(w, units[i]->expression);
    sct_wire_put_bytes(w, &units[i]->key, sizeof(units[i]->key));
    sct_wire_put_i64(w, units[i]->alone);
  }
}

/* ---- objects: results name them by number, and they end the message */

/* With the hash of the PTX, so that a parent need not read a text that it only hands on. */
static void put_object(sct_wire *w, const sct_compile_object *object) {
  sct_wire_put_bytes(w, &object->name.ptx, sizeof(object->name.ptx));
  sct_wire_put_bytes(w, object->cubin, object->cubin_bytes);
  sct_wire_put_bytes(w, object->ptx, object->ptx_bytes + 1); /* with its NUL */
}

static bool get_struct(sct_wire *w, void *out, size_t bytes) {
  size_t n = 0;
  const uint8_t *const from = sct_wire_get_bytes(w, &n);
  if (n != bytes) {
    w->failed = true;
    return false;
  }
  memcpy(out, from, bytes);
  return true;
}

/* Where an object's bytes are in the message, and their names: a worker's word for the PTX, but not
 * for the cubin, which is what a GPU runs. */
static void get_object(sct_wire *w, sct_compile_object *out) {
  size_t n = 0;
  (void)get_struct(w, &out->name.ptx, sizeof(out->name.ptx));
  out->cubin = (const char *)sct_wire_get_bytes(w, &out->cubin_bytes);
  out->ptx = (const char *)sct_wire_get_bytes(w, &n);
  out->ptx_bytes = n - 1;
  w->failed = w->failed || out->cubin_bytes == 0 || n < 2 || out->ptx[n - 1] != '\0';
  out->name.cubin = sct_hash_bytes(out->cubin, out->cubin_bytes);
}

static void copy_object(sct_compile_object *o) {
  char *const copy = sct_alloc(o->cubin_bytes + o->ptx_bytes + 1);
  memcpy(copy, o->cubin, o->cubin_bytes);
  memcpy(copy + o->cubin_bytes, o->ptx, o->ptx_bytes + 1);
  o->cubin = copy;
  o->ptx = copy + o->cubin_bytes;
  o->memory[0] = copy;
}

/* Fills list[0..n) with what is left of a message. One object, as most have, takes the message's
 * memory instead of a copy. false: w->failed. */
static bool get_objects(sct_wire *w, sct_compile_object_table *objects, sct_compile_object **list,
                        int n) {
  sct_compile_object *const parts = sct_alloc((size_t)(n + 1) * sizeof(*parts));
  sct_status status = SCT_OK;
  for (int i = 0; i < n; ++i) {
    get_object(w, &parts[i]);
  }
  w->failed = w->failed || w->at != w->len;
  for (int i = 0; i < n && status == SCT_OK && !w->failed; ++i) {
    if (n == 1) {
      parts[i].message = sct_wire_take(w);
    }
    if (!objects->sends_on) {
      sct_wire_close(&parts[i].message);
    }
    if (n > 1) {
      copy_object(&parts[i]);
    }
    status = sct_compile_objects_add(&list[i], objects, &parts[i], NULL);
  }
  sct_free(parts);
  w->failed = w->failed || status == SCT_EDATA;
  return status == SCT_OK && !w->failed;
}

static int index_of(sct_compile_item *const *units, int n, const sct_compile_object *object) {
  int index = 0; /* among the distinct objects, in the order of the units */
  for (int i = 0; i < n && object != NULL; ++i) {
    if (units[i]->out->object == object) {
      return index;
    }
    bool first = units[i]->out->object != NULL;
    for (int k = 0; k < i && first; ++k) {
      first = units[k]->out->object != units[i]->out->object;
    }
    index += first ? 1 : 0;
  }
  return -1;
}

/* ---- results of units */

static void put_result(sct_wire *w, const sct_compiled *r, int object) {
  sct_wire_put_i64(w, r->ok);
  sct_wire_put_i64(w, r->failure);
  sct_wire_put_text(w, r->log != NULL ? r->log : "");
  sct_wire_put_i64(w, r->error_line);
  sct_wire_put_text(w, r->entry != NULL ? r->entry : "");
  sct_wire_put_i64(w, object);
  sct_wire_put_bytes(w, &r->code_hash, sizeof(r->code_hash));
  const int figures[] = {r->registers,   r->spill_load_bytes,    r->spill_store_bytes,
                         r->stack_bytes, r->static_shared_bytes, r->const_bytes};
  sct_wire_put_bytes(w, figures, sizeof(figures));
}

void sct_compile_put_results(sct_wire *w, sct_compile_item *const *units, int n) {
  int n_objects = 0;
  for (int i = 0; i < n; ++i) {
    const int index = index_of(units, n, units[i]->out->object);
    n_objects = index >= n_objects ? index + 1 : n_objects;
    put_result(w, units[i]->out, index);
  }
  sct_wire_put_i64(w, n_objects);
  for (int i = 0, next = 0; i < n; ++i) {
    if (index_of(units, n, units[i]->out->object) == next) {
      put_object(w, units[i]->out->object);
      ++next;
    }
  }
}

static void hold_object(sct_compiled *r, sct_compile_object *object) {
  atomic_fetch_add(&object->refs, 1);
  r->object = object;
  r->cubin = object->cubin;
  r->cubin_bytes = object->cubin_bytes;
  r->ptx = object->ptx;
  r->cubin_hash = object->name.cubin;
  r->ptx_hash = object->name.ptx;
}

/* All but the object, of which it gives the number; -1: none. false: w->failed. */
static bool get_result(sct_wire *w, sct_compiled *r, int64_t *object) {
  int figures[6] = {0};
  r->ok = sct_wire_get_i64(w) != 0;
  const int64_t failure = sct_wire_get_i64(w);
  const char *const log = sct_wire_get_text(w);
  r->error_line = (int)sct_wire_get_i64(w);
  const char *const entry = sct_wire_get_text(w);
  *object = sct_wire_get_i64(w);
  if (!get_struct(w, &r->code_hash, sizeof(r->code_hash)) ||
      !get_struct(w, figures, sizeof(figures)) || failure < 0 || failure > SCT_COMPILE_MEMORY ||
      r->ok != (failure == SCT_COMPILE_NONE) || r->ok != (entry[0] != '\0') ||
      r->ok != (*object >= 0) || r->ok != (log[0] == '\0')) {
    w->failed = true;
    return false;
  }
  r->failure = (sct_compile_failure)failure;
  r->registers = figures[0];
  r->spill_load_bytes = figures[1];
  r->spill_store_bytes = figures[2];
  r->stack_bytes = figures[3];
  r->static_shared_bytes = figures[4];
  r->const_bytes = figures[5];
  char **const text = r->ok ? &r->entry : &r->log;
  *text = sct_strdup(r->ok ? entry : log);
  return true;
}

/* As sct_compile_get_results, with the numbers of the units' objects in numbers[0..n). */
static bool get_numbered(sct_wire *w, sct_compile_object_table *objects,
                         sct_compile_item *const *units, int n, int64_t *numbers) {
  for (int i = 0; i < n; ++i) {
    if (!get_result(w, units[i]->out, &numbers[i])) {
      return false;
    }
  }
  const int n_objects = get_count(w);
  for (int i = 0; i < n; ++i) {
    w->failed = w->failed || numbers[i] >= n_objects;
  }
  sct_compile_object **const list = sct_alloc((size_t)(n_objects + 1) * sizeof(*list));
  const bool good = !w->failed && get_objects(w, objects, list, n_objects);
  for (int i = 0; i < n && good; ++i) {
    if (numbers[i] >= 0) {
      hold_object(units[i]->out, list[numbers[i]]);
    }
  }
  for (int i = 0; i < n_objects; ++i) {
    sct_compile_object_release(list[i]);
  }
  sct_free(list);
  return good;
}

sct_status sct_compile_get_results(sct_wire *w, sct_compile_object_table *objects,
                                   sct_compile_item *const *units, int n, sct_error *err) {
  int64_t *const numbers = sct_alloc((size_t)(n + 1) * sizeof(*numbers));
  const bool good = get_numbered(w, objects, units, n, numbers);
  sct_free(numbers);
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
  sct_wire_put_i64(w, file->ok);
  sct_wire_put_text(w, file->log != NULL ? file->log : "");
  sct_wire_put_i64(w, file->unknown);
  sct_wire_put_i64(w, file->n_entries);
  for (int i = 0; i < file->n_entries; ++i) {
    sct_wire_put_text(w, file->entries[i]);
  }
  if (file->ok) {
    put_object(w, file->object);
  }
}

static bool get_entries(sct_wire *w, sct_compiled_file *file) {
  const int n = get_count(w);
  file->entries = n > 0 ? sct_alloc((size_t)n * sizeof(*file->entries)) : NULL;
  file->n_entries = n;
  for (int i = 0; i < n; ++i) {
    file->entries[i] = sct_strdup(sct_wire_get_text(w));
  }
  return !w->failed;
}

sct_status sct_compile_get_file(sct_wire *w, sct_compile_object_table *objects,
                                sct_compiled_file *file, sct_error *err) {
  file->ok = sct_wire_get_i64(w) != 0;
  const char *const log = sct_wire_get_text(w);
  file->log = file->ok ? NULL : sct_strdup(log);
  file->unknown = (int)sct_wire_get_i64(w);
  if (get_entries(w, file) && get_objects(w, objects, &file->object, file->ok ? 1 : 0)) {
    if (file->ok) {
      file->ptx = file->object->ptx;
      file->cubin = file->object->cubin;
      file->cubin_bytes = file->object->cubin_bytes;
    }
    return SCT_OK;
  }
  file->ok = false;
  return sct_fail(err, SCT_EDATA, "the compile worker's answer makes no sense");
}
