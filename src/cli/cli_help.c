/* Help texts, made from the tables of commands, options and statuses. */
#include "cli/cli_internal.h"

#include <string.h>

#define OPTION_WIDTH 20 /* columns of "-h, --help" */

void cli_usage_line(sct_str *out, const cli_command *command) {
  sct_str_printf(out, "sectile %s%s%s [options]", command->name, command->words[0] ? " " : "",
                 command->words);
}

static void append_options(sct_str *out, uint64_t which) {
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    const cli_option *o = &cli_options[id];
    if (!(which & UINT64_C(1) << id)) {
      continue;
    }
    SCT_SCOPED(sct_str) name = {0};
    if (o->letter != 0) {
      sct_str_printf(&name, "-%c, ", o->letter);
    } else {
      sct_str_append(&name, "    ");
    }
    sct_str_printf(&name, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    sct_str_printf(out, "  %-*s  %s\n", OPTION_WIDTH, sct_str_c(&name), o->doc);
  }
}

/* Several statuses may share an exit code: "4    no device, no NVRTC". */
static void append_exit_codes(sct_str *out) {
  int last = -1;
  for (int k = 0; k < SCT_N_STATUS; k++) {
    const int code = sct_exit_code((sct_status)k);
    if (code == last) {
      sct_str_printf(out, ", %s", sct_status_text((sct_status)k));
    } else {
      sct_str_printf(out, "%s  %-4d %s", k > 0 ? "\n" : "", code, sct_status_text((sct_status)k));
    }
    last = code;
  }
  sct_str_append(out, "\n");
}

void cli_help_program(sct_str *out) {
  sct_str_append(out,
                 "Sectile finds the fastest coalesced way to move and transform an array on a GPU, "
                 "and\nwrites it down as one kernel header.\n\n"
                 "Usage: sectile COMMAND [options]\n\nCommands:\n");
  for (int k = 0; k < cli_n_commands; k++) {
    const cli_command *command = &cli_commands[k];
    SCT_SCOPED(sct_str) usage = {0};
    sct_str_printf(&usage, "%s %s", command->name, command->words);
    sct_str_printf(out, "  %-*s  %s\n", OPTION_WIDTH, sct_str_c(&usage), command->doc);
  }
  sct_str_append(out, "\n`sectile COMMAND --help` says more about each. For all of them:\n");
  append_options(out, CLI_GLOBAL);
  sct_str_append(out, "\nFrom nothing to a header:\n"
                      "  sectile init\n"
                      "  sectile tune my_kernel.lua --budget 60s\n"
                      "  sectile emit my_kernel.lua -o my_kernel.h\n"
                      "\nExit codes:\n");
  append_exit_codes(out);
}

void cli_help_command(sct_str *out, const cli_command *command) {
  sct_str_append(out, "Usage: ");
  cli_usage_line(out, command);
  sct_str_printf(out, "\n\n%s: %s.\n%s\n", command->name, command->doc, command->details);
  if (command->options) {
    sct_str_append(out, "\nOptions:\n");
    append_options(out, command->options);
  }
  sct_str_append(out, "\nOptions of every command:\n");
  append_options(out, CLI_GLOBAL);
  sct_str_printf(out, "\nExample:\n  sectile %s\n", command->example);
}
