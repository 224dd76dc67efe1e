/* process - child processes: this same binary started anew in a role of its own, and the messages
 * that both ends exchange over one socket.
 *
 * A child leads its own process group (a terminal's Ctrl-C does not reach it), dies with its
 * parent, holds no descriptor but 0 to 3, and may be limited in memory, processor time and
 * priority. Nothing it does, or fails to do, may block the parent: every exchange has a deadline,
 * and a child that misses it is killed with its group. */
#ifndef SCT_PROCESS_H
#define SCT_PROCESS_H

#include "base/base.h"

#include <sys/types.h>

/* ---- children, seen from their parent ---- */

#define SCT_CHILD_FD 3 /* the child's end of the socket */

typedef struct sct_child_opts {
  const char *program; /* NULL: this one */
  const char *role;    /* argv[1] of the child, by which main() knows it */
  /* 0: no limit. Memory is address space, which a driver reserves without using it: not for a
   * child that uses a GPU. Left out in builds with a sanitizer. */
  int64_t memory_bytes;
  int nice;   /* added to the priority value */
  bool quiet; /* what it prints goes nowhere; else stdout and stderr go to our stderr */
} sct_child_opts;

typedef struct sct_child {
  pid_t pid; /* 0: none */
  int fd;    /* our end of the socket */
} sct_child;

/* The death signal follows the thread that calls this: call it from one that lives as long as the
 * child is needed. SCT_EIO; SCT_EINTERNAL in a child whose main() does not call
 * sct_process_enter(), so that such a program cannot start itself without end. */
sct_status sct_child_start(sct_child *c, const sct_child_opts *opts, sct_error *err);
/* Forks a child that calls run(its end of the socket, ctx) and ends; nothing of the parent's is
 * flushed or freed there. `role` is for SCT_FAULTS. SCT_EIO. */
sct_status sct_child_fork(sct_child *c, const char *role, void (*run)(int fd, void *ctx), void *ctx,
                          sct_error *err);
bool sct_child_alive(const sct_child *c); /* started and not collected */
/* Collects a child that ended without being asked; false: there is none any more. */
bool sct_child_reap(sct_child *c);
void sct_child_kill(sct_child *c); /* with its group; accepts one that is gone */
/* Sends the message `quit` and waits, at most grace_ns; then kills. Accepts one that is gone.
 * Returns its exit status, -1 if a signal ended it. */
int sct_child_stop(sct_child *c, uint32_t quit, int64_t grace_ns);
/* Collects a child that is ending, killing it after grace_ns. Returns its wait status. */
int sct_child_wait(sct_child *c, int64_t grace_ns);
/* Whether the child ended because it was refused memory (base.h). */
bool sct_child_out_of_memory(int wait_status);
/* "ended by signal 9 (Killed)", "ran out of memory", "ended with exit status 1" */
void sct_child_describe_end(char *out, size_t bytes, int wait_status);

/* Runs another program, argv[0], to its end: in the C locale, with nothing to read, and with what
 * it prints in the file `log`. In our process group, so that a Ctrl-C reaches it too. After
 * limit_ns it is terminated. SCT_EIO: it cannot be started, or does not end. */
sct_status sct_program_run(int *wait_status, char *const argv[], const char *log, int64_t limit_ns,
                           sct_error *err);

/* ---- the child's own side ---- */

/* To be called first in a child's main, with its arguments: it dies with its parent from here on,
 * keeps no inherited descriptor, and takes the limits of its options. Returns 0, or the exit status
 * to end with at once. */
int sct_process_enter(int argc, char **argv) SCT_MUST_USE;
/* The process is killed (SIGXCPU) after that much more processor time. */
void sct_process_limit_cpu(int64_t cpu_ns);
/* Closes every descriptor above `last`, also where the system has no call for it (before
 * Linux 5.9). */
void sct_process_close_above(int last);

/* ---- messages ---- */

/* A message body: written at the end, read from `at`. A zeroed struct is an empty body. Reading
 * past the end and growing past SCT_WIRE_MAX_BYTES set `failed` and give zeros. The bytes after
 * `len` hold a NUL (the driver wants PTX so). */
typedef struct sct_wire {
  uint8_t *data;
  size_t len, cap, at;
  bool failed;
  bool too_large;  /* why it failed: no receiver takes a message of more than
                      SCT_WIRE_MAX_BYTES */
  sct_arena arena; /* of the lists that were read */
} sct_wire;
void sct_wire_clear(sct_wire *w); /* keeps the memory */
void sct_wire_free(sct_wire *w);
void sct_wire_put_text(sct_wire *w, const char *text);
const char *sct_wire_get_text(sct_wire *w);                      /* "" on failure */
void sct_wire_put_raw(sct_wire *w, const void *bytes, size_t n); /* without their number */
const void *sct_wire_get_raw(sct_wire *w, size_t n);             /* in the body; never NULL */

/* ---- structs as messages (process_message.c) ----
 *
 * A module lists the structs that it sends in a file of its own, field by field. From this list the
 * preprocessor makes the structs and their tables, which sct_wire_put() and sct_wire_get() walk:
 *
 *   SCT_MESSAGE(sct_ask_upload)
 *   SCT_INT(int64_t, offset, 0, INT64_MAX)    an integer, bool or enum, with what it may be
 *   SCT_RAW(double, scale)                    memory as it is
 *   SCT_CHARS(name)                           char[], whose text ends in it
 *   SCT_TEXT(name)                            const char *; SCT_TEXT_OR_NULL: or NULL
 *   SCT_STRUCT(sct_part, part)                a struct with a table
 *   SCT_LIST(sct_part, parts, 0, 9)           const sct_part *parts; int64_t n_parts, 0 to 9
 *   SCT_RAWS(double, scales, 0, 9)            const double *scales; int64_t n_scales: as it is
 *   SCT_TEXTS(words, 0, 9)                    const char *const *words; int64_t n_words, 0 to 9
 *   SCT_END(sct_ask_upload)
 *
 * A struct that is declared elsewhere stands between #ifdef SCT_OTHER_STRUCTS and #endif, and lists
 * what goes with a message; the rest of it is read as 0.
 *
 * A header of the module declares them, and one of its files defines the tables:
 *
 *   #define SCT_MESSAGES "worker/worker_messages.def"
 *   #include "process/process_declare.def"    in the file: "process/process_describe.def" */

typedef enum sct_message_kind {
  SCT_IS_INT,
  SCT_IS_RAW,
  SCT_IS_CHARS,
  SCT_IS_TEXT,
  SCT_IS_STRUCT,
  SCT_IS_RAWS,
  SCT_IS_LIST
} sct_message_kind;
typedef struct sct_message sct_message;
typedef struct sct_message_field {
  sct_message_kind kind;
  size_t offset, bytes;           /* of the member; bytes: of one element */
  int64_t least, most;            /* value; elements; TEXT: least 0 allows NULL */
  size_t count;                   /* offset of the number of elements */
  const sct_message *(*of)(void); /* STRUCT, LIST */
} sct_message_field;
struct sct_message {
  const char *name;
  size_t bytes;
  const sct_message_field *fields;
  int n_fields;
};
/* Appends a struct. One that sct_wire_get() would refuse sets `failed`. */
void sct_wire_put(sct_wire *w, const sct_message *what, const void *from);
/* Reads one; what it points to lies in the message, and lives as long. false: w->failed, and `out`
 * is all 0. */
bool sct_wire_get(sct_wire *w, const sct_message *what, void *out) SCT_MUST_USE;
bool sct_wire_get_whole(sct_wire *w, const sct_message *what,
                        void *out) SCT_MUST_USE; /* and nothing follows */
/* A message without fields. */
typedef struct sct_nothing {
  char none;
} sct_nothing;
const sct_message *sct_nothing_table(void);
const sct_message *sct_text_table(void); /* of a const char * */

/* REFUSED: a body has failed; TOO_LARGE: nothing was sent, because the receiver would refuse it;
 * NONSENSE: what came is no message; FAILED: the system does not let this process receive, which
 * is no fault of the other one. */
typedef enum sct_io {
  SCT_IO_OK,
  SCT_IO_CLOSED,
  SCT_IO_NONSENSE,
  SCT_IO_FAILED,
  SCT_IO_TIMEOUT,
  SCT_IO_REFUSED,
  SCT_IO_TOO_LARGE
} sct_io;
#define SCT_NO_DEADLINE       INT64_MAX
#define SCT_WIRE_MAX_BYTES    ((uint64_t)1 << 28) /* of one message */
#define SCT_WIRE_HEADER_BYTES 16

/* `code` is a request on the way to the child and an sct_status on the way back. Deadlines are in
 * sct_now_ns() time. Never raises SIGPIPE. */
sct_io sct_wire_send(int fd, uint32_t code, const sct_wire *body, int64_t deadline_ns);
sct_io sct_wire_recv(int fd, uint32_t *code, sct_wire *body, int64_t deadline_ns);

#endif
