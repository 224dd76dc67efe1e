/* cli - the command line: parses arguments, calls the modules below, prints what they answer.
 *
 * Data goes to stdout, progress and messages to stderr. Nothing is decided here: a command is a row
 * of the table in cli_commands.c and a function that fills in a request and shows the result. */
#ifndef SCT_CLI_H
#define SCT_CLI_H

/* The whole program but for its other processes: returns the exit code (docs/commands.md). */
int sct_cli_main(int argc, char **argv);

#define SCT_SESSION_ARG "--session"
/* main() of the process of one of several sessions of `tune`: a program's main hands over to it
 * when argv[1] is SCT_SESSION_ARG. Returns the exit status. */
int sct_cli_session_main(int argc, char **argv);

#endif
