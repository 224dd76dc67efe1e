/* process_internal - what both sides of a child must agree on, and bodies that lie in files
 * in memory (process_shared.c). */
#ifndef SCT_PROCESS_INTERNAL_H
#define SCT_PROCESS_INTERNAL_H

#include "process/process.h"

/* Environment variable of a child that has not entered its role yet. */
#define SCT_CHILD_MARK "SECTILE_CHILD"

/* A descriptor of a sealed file in memory that holds the body and a NUL; -1: there can be none. */
int sct_process_seal(const sct_wire *body);
/* Maps such a file of `len` bytes into the body, if it is one. The descriptor is the body's then,
 * or closed. */
sct_io sct_process_map(sct_wire *body, int descriptor, size_t len);

#endif
