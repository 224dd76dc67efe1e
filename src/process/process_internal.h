/* process_internal - what both sides of a child must agree on. */
#ifndef SCT_PROCESS_INTERNAL_H
#define SCT_PROCESS_INTERNAL_H

/* Environment variable of a child that has not entered its role yet. */
#define SCT_CHILD_MARK "SECTILE_CHILD"

#endif
