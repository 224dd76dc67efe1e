/* compile_object - cubin and PTX of a program, shared by the results of its units.
 *
 * An object is named by the hashes of its bytes and counted: the compiler's table holds it once and
 * every result once more, so a pointer stays good as long as either lives.
 *
 * That of the PTX may be a worker's word, as the parent of many workers does not read what they
 * say. So where two texts are said to be equal they are compared: whatever a worker says, equal
 * names in a table mean equal bytes. */
#include "compile/compile_internal.h"

#include <string.h>

bool sct_compile_objects_init(sct_compile_object_table *table) {
  return pthread_mutex_init(&table->lock, NULL) == 0;
}

static void free_memory(const sct_compile_object *object) {
  sct_free(object->memory[0]);
  sct_free(object->memory[1]);
}

void sct_compile_object_release(sct_compile_object *object) {
  if (object == NULL || atomic_fetch_sub(&object->refs, 1) > 1) {
    return;
  }
  free_memory(object);
  sct_free(object);
}

void sct_compile_objects_free(sct_compile_object_table *table) {
  for (int i = 0; i < SCT_OBJECT_BUCKETS; ++i) {
    sct_compile_object *object = table->bucket[i];
    while (object != NULL) {
      sct_compile_object *const next = object->next;
      sct_compile_object_release(object);
      object = next;
    }
    table->bucket[i] = NULL;
  }
  (void)pthread_mutex_destroy(&table->lock);
}

void sct_compile_objects_trim(sct_compile_object_table *table) {
  (void)pthread_mutex_lock(&table->lock);
  for (int i = 0; i < SCT_OBJECT_BUCKETS; ++i) {
    sct_compile_object **link = &table->bucket[i];
    while (*link != NULL) {
      sct_compile_object *const object = *link;
      if (atomic_load(&object->refs) > 1) {
        link = &object->next;
        continue;
      }
      *link = object->next;
      sct_compile_object_release(object);
    }
  }
  (void)pthread_mutex_unlock(&table->lock);
}

static sct_compile_object **bucket_of(sct_compile_object_table *table,
                                      const sct_compile_object_name *name) {
  return &table->bucket[name->ptx.lo % SCT_OBJECT_BUCKETS];
}

static sct_compile_object *find_locked(sct_compile_object_table *table,
                                       const sct_compile_object_name *name) {
  sct_compile_object *object = *bucket_of(table, name);
  while (object != NULL && !(sct_hash_equal(object->name.cubin, name->cubin) &&
                             sct_hash_equal(object->name.ptx, name->ptx))) {
    object = object->next;
  }
  if (object != NULL) {
    atomic_fetch_add(&object->refs, 1);
  }
  return object;
}

sct_compile_object *sct_compile_objects_find(sct_compile_object_table *table,
                                             const sct_compile_object_name *name) {
  (void)pthread_mutex_lock(&table->lock);
  sct_compile_object *const object = find_locked(table, name);
  (void)pthread_mutex_unlock(&table->lock);
  return object;
}

/* Are there no other bytes under this name of the PTX? */
static bool is_sound_locked(sct_compile_object_table *table, const sct_compile_object *made) {
  const sct_compile_object *o = *bucket_of(table, &made->name);
  while (o != NULL && !sct_hash_equal(o->name.ptx, made->name.ptx)) {
    o = o->next;
  }
  return o == NULL ||
         (o->ptx_bytes == made->ptx_bytes && /* those before it were compared with it */
          memcmp(o->ptx, made->ptx, made->ptx_bytes) == 0);
}

sct_status sct_compile_objects_add(sct_compile_object **out, sct_compile_object_table *table,
                                   const sct_compile_object *from, sct_error *err) {
  sct_compile_object *made = sct_alloc(sizeof(*made));
  made->cubin = from->cubin;
  made->cubin_bytes = from->cubin_bytes;
  made->ptx = from->ptx;
  made->ptx_bytes = from->ptx_bytes;
  made->memory[0] = from->memory[0];
  made->memory[1] = from->memory[1];
  made->name = from->name;
  atomic_init(&made->refs, 2);

  (void)pthread_mutex_lock(&table->lock);
  const bool sound = is_sound_locked(table, made);
  sct_compile_object *object = sound ? find_locked(table, &made->name) : NULL;
  if (sound && object == NULL) {
    object = made;
    sct_compile_object **const bucket = bucket_of(table, &made->name);
    made->next = *bucket;
    *bucket = made;
    made = NULL;
  }
  (void)pthread_mutex_unlock(&table->lock);
  if (made != NULL) { /* an equal one was there, or it is refused */
    atomic_store(&made->refs, 1);
    sct_compile_object_release(made);
  }
  if (!sound) {
    return sct_fail(err, SCT_EDATA, "a compiled program has the name of another");
  }
  *out = object;
  return SCT_OK;
}
