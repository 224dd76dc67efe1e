/* compile_object - cubin and PTX of a program, shared by the results of its units.
 *
 * An object is named by the hashes of its bytes and counted: the compiler's list holds it once and
 * every result once more, so a pointer stays good as long as either lives. */
#include "compile/compile_internal.h"

#include <string.h>

void sct_compile_object_release(sct_compile_object *object) {
  if (object != NULL && --object->refs == 0) {
    sct_free(object->cubin);
    sct_free(object->ptx);
    sct_free(object);
  }
}

void sct_compile_objects_free(sct_compile_object **list) {
  while (*list != NULL) {
    sct_compile_object *const object = *list;
    *list = object->next;
    sct_compile_object_release(object);
  }
}

sct_compile_object *sct_compile_objects_find(sct_compile_object *list, sct_hash cubin,
                                             sct_hash ptx) {
  while (list != NULL &&
         !(sct_hash_equal(list->cubin_hash, cubin) && sct_hash_equal(list->ptx_hash, ptx))) {
    list = list->next;
  }
  if (list != NULL) {
    ++list->refs;
  }
  return list;
}

sct_compile_object *sct_compile_objects_add(sct_compile_object **list, char *cubin,
                                            size_t cubin_bytes, char *ptx) {
  const sct_hash cubin_hash = sct_hash_bytes(cubin, cubin_bytes), ptx_hash = sct_hash_text(ptx);
  sct_compile_object *object = sct_compile_objects_find(*list, cubin_hash, ptx_hash);
  if (object != NULL) {
    sct_free(cubin);
    sct_free(ptx);
    return object;
  }
  object = sct_alloc(sizeof(*object));
  *object = (sct_compile_object){.refs = 2,
                                 .next = *list,
                                 .cubin = cubin,
                                 .cubin_bytes = cubin_bytes,
                                 .ptx = ptx,
                                 .cubin_hash = cubin_hash,
                                 .ptx_hash = ptx_hash};
  *list = object;
  return object;
}

void sct_compile_object_hold(sct_compiled *result, sct_compile_object *object) {
  ++object->refs;
  result->object = object;
  result->cubin = object->cubin;
  result->cubin_bytes = object->cubin_bytes;
  result->ptx = object->ptx;
  result->cubin_hash = object->cubin_hash;
  result->ptx_hash = object->ptx_hash;
}
