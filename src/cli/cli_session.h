/* cli_session - the sessions of `tune`, and who is notified of them.
 *
 * A session tunes all specs on one device, one after the other. One device: in this process
 * (cli_tune.c). Several: a process each, the same binary in the role SCT_SESSION_ARG
 * (cli_session_child.c), whose messages the program collects (cli_many.c) and reports as it would
 * its own (cli_notify.c). Sessions in threads of one process were weighed and not taken: dry
 * runs of scripts and checks fork, which is safe only where no other thread holds a lock; memory
 * that is refused makes a whole process untrusted; and a session that dies must not take others
 * along. */
#ifndef SCT_CLI_SESSION_H
#define SCT_CLI_SESSION_H

#include "cli/cli_internal.h"
#include "process/process.h"

/* ---- who is notified ---- */

/* What came of one spec on one device. */
typedef struct cli_outcome {
  int spec; /* index among the command's words */
  sct_status status;
  const char *message; /* of a failure, else "" */
  const char *stale;   /* what the store has that is not used; "": nothing */
  json_t *document;    /* of it, as --json prints it */
} cli_outcome;
void cli_outcome_free(cli_outcome *o); /* the document */

typedef struct cli_listener {
  void *ctx;
  void (*begins)(void *ctx, int spec);
  void (*progress)(void *ctx, const char *phase, int64_t done, int64_t total, const char *item);
  void (*event)(void *ctx, const char *event, json_t *members); /* takes `members` */
  bool (*stop)(void *ctx);                                      /* true: end early */
  /* Takes what `outcome` owns. A failure ends the session without further notices. */
  sct_status (*ended)(void *ctx, cli_outcome *outcome, sct_error *err);
} cli_listener;

/* ---- a session ---- */

typedef struct cli_session {
  const cli_args *args;
  const char *device;  /* its id */
  int place, n_places; /* of several that tune the same at the same time (compile.h) */
  bool wants_events;
  const cli_listener *to;
} cli_session;

/* Tunes the specs of the command. *left receives how many were not begun. Returns the status of the
 * first that failed, of an interrupted one before others; or what `ended` returned, with err. */
sct_status cli_session_run(const cli_session *s, int *left, sct_error *err);
json_t *cli_session_document(const cli_session *s, int spec, const sct_tune_report *report,
                             sct_status status, const char *message);

/* ---- the streams of the program ---- */

/* Where events, leaderboards and documents of all sessions go. */
typedef struct cli_notify {
  const cli_args *args;
  cli_events events;
  json_t *documents; /* with --json: what came of each spec and device */
  int n_boards;
  sct_str said;   /* the last message about a place in a spec */
  int n_sessions; /* more than one: messages name the device */
} cli_notify;
sct_status cli_notify_open(cli_notify *t, const cli_args *args, sct_error *err);
void cli_notify_close(cli_notify *t);
/* What a session has to make of each spec, for this. */
void cli_notify_wants(const cli_notify *t, cli_session *s);
void cli_notify_event(cli_notify *t, const char *device, const char *event, json_t *members);
/* What came of a spec, as an event: at once, while others may print before it. */
void cli_notify_end_event(cli_notify *t, const char *device, const cli_outcome *outcome);
/* Prints and notes what came of a spec; frees what `outcome` owns. */
sct_status cli_notify_outcome(cli_notify *t, const char *device, cli_outcome *outcome,
                              sct_error *err);
/* The document of the whole command. Where events were lost a good outcome becomes SCT_EIO. */
sct_status cli_notify_end(cli_notify *t, sct_status *outcome, sct_error *err);

/* ---- several at a time ---- */

bool cli_interrupted(void); /* Ctrl-C was pressed */
#define CLI_STOPPING "stopping after this step; press Ctrl-C again to end at once"
/* One session for each of `devices`, all at once, each in a process of its own. One that fails ends
 * no other. Returns SCT_EINTERRUPTED if any session was interrupted, else the status of the first
 * in the order of `devices` that failed; or with err what failed here. *left: specs that no session
 * began. */
sct_status cli_many_run(cli_notify *to, const cli_args *args, const char *const *devices, int n,
                        int *left, sct_error *err);

/* Messages of a session's process, with their structs (cli_messages.def). */
typedef enum cli_message {
  CLI_MESSAGE_START,    /* to it: cli_start */
  CLI_MESSAGE_STOP,     /* to it: Ctrl-C was pressed */
  CLI_MESSAGE_BEGINS,   /* cli_begins */
  CLI_MESSAGE_PROGRESS, /* cli_step */
  CLI_MESSAGE_EVENT,    /* cli_event */
  CLI_MESSAGE_ENDED,    /* cli_ended */
  CLI_MESSAGE_LAST      /* cli_last */
} cli_message;
#define SCT_MESSAGES "cli/cli_messages.def"
#include "process/process_declare.def"

#endif
