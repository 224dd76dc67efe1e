/* The man page and the completions of shells, made from the tables of commands and options, and
 * the definitions of specs for editors. */
#include "cli/cli_internal.h"

#include <string.h>

static bool takes(uint64_t which, int id) {
  return (which & UINT64_C(1) << id) != 0;
}

static bool names_a_file(const cli_option *o) {
  return o->arg &&
         (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "PATH") == 0 || strcmp(o->arg, "DIR") == 0);
}

/* ---- man page ---- */

/* Text of a man page: no character of it starts a request, and `-` is one that can be copied. */
static void append_roff(sct_str *out, const char *text) {
  bool starts_line = true;
  for (const char *c = text; *c; c++) {
    if (starts_line && (*c == '.' || *c == '\'')) {
      sct_str_append(out, "\\&");
    }
    if (*c == '\\') {
      sct_str_append(out, "\\e");
    } else if (*c == '-') {
      sct_str_append(out, "\\-");
    } else {
      sct_str_printf(out, "%c", *c);
    }
    starts_line = *c == '\n';
  }
}

static void man_options(sct_str *out, uint64_t which) {
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    const cli_option *o = &cli_options[id];
    if (!takes(which, id)) {
      continue;
    }
    sct_str_append(out, ".TP\n");
    if (o->letter != 0) {
      sct_str_printf(out, "\\fB\\-%c\\fR, ", o->letter);
    }
    sct_str_append(out, "\\fB");
    append_roff(out, "--");
    append_roff(out, o->name);
    sct_str_printf(out, "\\fR%s%s%s\n", o->arg ? " \\fI" : "", o->arg ? o->arg : "",
                   o->arg ? "\\fR" : "");
    append_roff(out, o->doc);
    sct_str_append(out, "\n");
  }
}

static void man_page(sct_str *out) {
  sct_str_append(out,
                 ".TH SECTILE 1 \"\" \"sectile " SCT_VERSION "\"\n"
                 ".SH NAME\nsectile \\- tune memory\\-bound GPU kernels\n"
                 ".SH SYNOPSIS\n.B sectile\n.I COMMAND\n[options]\n"
                 ".SH DESCRIPTION\n"
                 "Sectile finds the fastest coalesced way to move and transform an array on a\n"
                 "GPU, and writes it down as one kernel header.\n.SH COMMANDS\n");
  for (int k = 0; k < cli_n_commands; k++) {
    const cli_command *command = &cli_commands[k];
    sct_str_printf(out, ".SS sectile %s %s\n", command->name, command->words);
    append_roff(out, command->doc);
    sct_str_append(out, ".\n.PP\n");
    append_roff(out, command->details);
    sct_str_append(out, "\n");
    man_options(out, command->options);
    sct_str_append(out, ".PP\nExample:\n.EX\n  sectile ");
    append_roff(out, command->example);
    sct_str_append(out, "\n.EE\n");
  }
  sct_str_append(out, ".SH OPTIONS OF EVERY COMMAND\n");
  man_options(out, CLI_GLOBAL);
  sct_str_append(out, ".SH EXIT STATUS\n");
  for (int k = 0; k < SCT_N_STATUS; k++) {
    sct_str_printf(out, ".TP\n%d\n", sct_exit_code((sct_status)k));
    append_roff(out, sct_status_text((sct_status)k));
    sct_str_append(out, "\n");
  }
}

/* ---- bash ---- */

/* "--store --assets ...", with `before` between them. */
static void append_names(sct_str *out, uint64_t which, bool files_only, const char *before) {
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    const cli_option *o = &cli_options[id];
    if (takes(which, id) && (!files_only || names_a_file(o))) {
      sct_str_printf(out, "%s--%s", out->len > 0 ? before : "", o->name);
      if (o->letter != 0) {
        sct_str_printf(out, "%s-%c", before, o->letter);
      }
    }
  }
}

static void bash_list(sct_str *out, const char *label, uint64_t which, const char *more) {
  SCT_SCOPED(sct_str) names = {0};
  append_names(&names, which, false, " ");
  sct_str_printf(out, "    %s) words='%s%s' ;;\n", label, more, sct_str_c(&names));
}

static void bash_completion(sct_str *out) {
  SCT_SCOPED(sct_str) commands = {0}, files = {0};
  for (int k = 0; k < cli_n_commands; k++) {
    sct_str_printf(&commands, "%s%s", cli_commands[k].name, k + 1 < cli_n_commands ? " " : "");
  }
  append_names(&files, ~UINT64_C(0), true, "|");
  sct_str_printf(out,
                 "# bash completion for sectile: made by `sectile generate bash`\n"
                 "_sectile() {\n"
                 "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "  local word words command=\n"
                 "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                 "    [[ \" %s \" == *\" $word \"* ]] && command=$word && break\n"
                 "  done\n"
                 "  case $prev in\n"
                 "    %s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
                 "  esac\n"
                 "  case $command in\n",
                 sct_str_c(&commands), sct_str_c(&files));
  sct_str_append(&commands, " ");
  bash_list(out, "''", CLI_GLOBAL, sct_str_c(&commands));
  for (int k = 0; k < cli_n_commands; k++) {
    bash_list(out, cli_commands[k].name, CLI_GLOBAL | cli_commands[k].options, "");
  }
  sct_str_append(out, "  esac\n"
                      "  if [[ -z $command || $cur == -* ]]; then\n"
                      "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                      "  else\n"
                      "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                      "  fi\n"
                      "}\n"
                      "complete -o filenames -F _sectile sectile\n");
}

/* ---- zsh ---- */

/* Text within '...' of zsh, in which brackets and colons have a meaning of their own. */
static void append_zsh(sct_str *out, const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '\'') {
      sct_str_append(out, "'\\''");
    } else {
      sct_str_printf(out, "%s%c", strchr("[]:", *c) ? "\\" : "", *c);
    }
  }
}

static void zsh_options(sct_str *out, uint64_t which) {
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    const cli_option *o = &cli_options[id];
    if (!takes(which, id)) {
      continue;
    }
    sct_str_append(out, " \\\n        ");
    if (o->letter != 0) {
      sct_str_printf(out, "{-%c,--%s}", o->letter, o->name);
    } else {
      sct_str_printf(out, "--%s", o->name);
    }
    sct_str_append(out, "'[");
    append_zsh(out, o->doc);
    sct_str_append(out, "]");
    if (o->arg) {
      sct_str_printf(out, ":%s:%s", o->arg, names_a_file(o) ? "_files" : "");
    }
    sct_str_append(out, "'");
  }
}

static void zsh_completion(sct_str *out) {
  sct_str_append(out, "#compdef sectile\n# made by `sectile generate zsh`\n_sectile() {\n"
                      "  local state\n  local -a commands\n  commands=(\n");
  for (int k = 0; k < cli_n_commands; k++) {
    sct_str_printf(out, "    '%s:", cli_commands[k].name);
    append_zsh(out, cli_commands[k].doc);
    sct_str_append(out, "'\n");
  }
  sct_str_append(out, "  )\n  _arguments -C '1: :->command' '*:: :->words'\n  case $state in\n"
                      "    command) _describe command commands ;;\n"
                      "    words) case $words[1] in\n");
  for (int k = 0; k < cli_n_commands; k++) {
    sct_str_printf(out, "      %s) _arguments", cli_commands[k].name);
    zsh_options(out, CLI_GLOBAL | cli_commands[k].options);
    sct_str_append(out, " '*:file:_files' ;;\n");
  }
  sct_str_append(out, "    esac ;;\n  esac\n}\n_sectile \"$@\"\n");
}

/* ---- fish ---- */

/* Text within '...' of fish. */
static void append_fish(sct_str *out, const char *text) {
  for (const char *c = text; *c; c++) {
    sct_str_printf(out, "%s%c", strchr("'\\", *c) ? "\\" : "", *c);
  }
}

static void fish_options(sct_str *out, uint64_t which, const char *when) {
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    const cli_option *o = &cli_options[id];
    if (takes(which, id)) {
      sct_str_printf(out, "complete -c sectile%s -l %s", when, o->name);
      if (o->letter != 0) {
        sct_str_printf(out, " -s %c", o->letter);
      }
      sct_str_append(out, o->arg ? names_a_file(o) ? " -rF" : " -x" : "");
      sct_str_append(out, " -d '");
      append_fish(out, o->doc);
      sct_str_append(out, "'\n");
    }
  }
}

static void fish_completion(sct_str *out) {
  sct_str_append(out, "# made by `sectile generate fish`\n");
  fish_options(out, CLI_GLOBAL, "");
  for (int k = 0; k < cli_n_commands; k++) {
    SCT_SCOPED(sct_str) when = {0};
    sct_str_printf(out, "complete -c sectile -n __fish_use_subcommand -f -a %s -d '",
                   cli_commands[k].name);
    append_fish(out, cli_commands[k].doc);
    sct_str_append(out, "'\n");
    sct_str_printf(&when, " -n '__fish_seen_subcommand_from %s'", cli_commands[k].name);
    fish_options(out, cli_commands[k].options, sct_str_c(&when));
  }
}

/* ---- the command ---- */

sct_status cli_generate(const cli_args *args, sct_error *err) {
  static const struct {
    const char *name;
    void (*make)(sct_str *out);
  } kinds[] = {{"man", man_page},
               {"bash", bash_completion},
               {"zsh", zsh_completion},
               {"fish", fish_completion}};
  if (strcmp(args->words[0], "lua") == 0) {
    sct_str text = {0};
    const sct_status status = sct_script_definitions(&text, err);
    return status == SCT_OK ? cli_print(&text, err) : status;
  }
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    if (strcmp(args->words[0], kinds[k].name) == 0) {
      sct_str text = {0};
      kinds[k].make(&text);
      return cli_print(&text, err);
    }
  }
  return sct_fail(err, SCT_EUSAGE,
                  "there is no '%s' to generate; expected man, bash, zsh, fish or lua",
                  args->words[0]);
}
