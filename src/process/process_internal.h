/* process_internal - what both sides of a child must agree on. */
#ifndef SCT_PROCESS_INTERNAL_H
#define SCT_PROCESS_INTERNAL_H

#include "process/process.h"

/* Environment variable of a child that has not entered its role yet. */
#define SCT_CHILD_MARK "SECTILE_CHILD"

/* Closes what /proc lists above `last`, for systems without a call that does so. */
void sct_process_close_listed(int last);

/* The parts of messages; sct_wire_put() and sct_wire_get() use them for structs. */
void sct_wire_put_i64(sct_wire *w, int64_t value);
void sct_wire_put_bytes(sct_wire *w, const void *bytes, size_t n); /* n, then the bytes */
int64_t sct_wire_get_i64(sct_wire *w);
const uint8_t *sct_wire_get_bytes(sct_wire *w, size_t *n); /* points into the body; never NULL */

#endif
