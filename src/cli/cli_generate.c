/* What is made of the tables of commands and options by tuning/sectile/generate.lua: help, the man
 * page, the completions of shells, and definitions for editors. */
#include "cli/cli_internal.h"

#include <string.h>

static bool names_a_file(const cli_option *o) {
  return o->arg &&
         (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "PATH") == 0 || strcmp(o->arg, "DIR") == 0);
}

static json_t *options_json(cli_option_set which) {
  json_t *list = json_array();
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    const cli_option *o = &cli_options[id];
    const char letter[2] = {o->letter, '\0'};
    if (which & CLI_BIT_OF(id)) {
      json_array_append_new(list, json_pack("{s:i, s:s, s:s?, s:s?, s:s, s:b}", "index", id, "name",
                                            o->name, "letter", letter[0] ? letter : NULL, "arg",
                                            o->arg, "doc", o->doc, "file", names_a_file(o)));
    }
  }
  return list;
}

static json_t *tables_json(void) {
  json_t *commands = json_array(), *exits = json_array();
  for (int k = 0; k < cli_n_commands; k++) {
    const cli_command *c = &cli_commands[k];
    json_array_append_new(commands,
                          json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "name", c->name, "words",
                                    c->words, "doc", c->doc, "details", c->details, "example",
                                    c->example, "options", options_json(c->options)));
  }
  for (int k = 0; k < SCT_N_STATUS; k++) {
    json_array_append_new(exits, json_pack("{s:i, s:s}", "code", sct_exit_code((sct_status)k),
                                           "text", sct_status_text((sct_status)k)));
  }
  return json_pack("{s:s, s:o, s:o, s:o, s:o}", "version", SCT_VERSION, "commands", commands,
                   "options", options_json(CLI_GLOBAL), "every", options_json(~(cli_option_set)0),
                   "exits", exits);
}

static sct_status print(const char *what, const json_t *look, sct_error *err) {
  sct_str text = {0};
  SCT_OWNED_PTR(json_t) doc = tables_json();
  const sct_status status = sct_script_page(&text, "sectile.generate", what, doc, look, err);
  if (status != SCT_OK) {
    sct_str_free(&text);
    return status;
  }
  return cli_print(&text, err);
}

sct_status cli_help(const cli_command *command, sct_error *err) {
  SCT_OWNED_PTR(json_t)
  look = json_pack("{s:i, s:i}", "command", command ? (int)(command - cli_commands) + 1 : 0,
                   "width", cli_output_width(stdout));
  return print(command ? "command" : "program", look, err);
}

sct_status cli_generate(const cli_args *args, sct_error *err) {
  static const char *const kinds[] = {"man", "bash", "zsh", "fish", "lua"};
  return sct_names_find(SCT_NAMES(kinds, SCT_COUNT(kinds)), args->words[0]) >= 0
             ? print(args->words[0], NULL, err)
             : sct_fail(err, SCT_EUSAGE,
                        "there is no '%s' to generate; expected man, bash, zsh, fish or lua",
                        args->words[0]);
}
