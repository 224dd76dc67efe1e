/* Arguments to cli_args: getopt_long over the two tables, with messages that name the nearest legal
 * word. Global options may stand before the command or after it. */
#include "cli/cli_internal.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* ---- how values are read ---- */

static sct_status take_flag(void *field, const char *name, const char *value, sct_error *err) {
  (void)name, (void)value, (void)err;
  *(bool *)field = true;
  return SCT_OK;
}

static sct_status take_text(void *field, const char *name, const char *value, sct_error *err) {
  if (value[0] == '\0') {
    return sct_fail(err, SCT_EUSAGE, "--%s: expected a value that is not empty", name);
  }
  *(const char **)field = value;
  return SCT_OK;
}

static sct_status take_more(void *field, const char *name, const char *value, sct_error *err) {
  (void)name, (void)value, (void)err;
  *(int *)field += 1;
  return SCT_OK;
}

static sct_status take_less(void *field, const char *name, const char *value, sct_error *err) {
  (void)name, (void)value, (void)err;
  *(int *)field -= 1;
  return SCT_OK;
}

static sct_status take_duration(void *field, const char *name, const char *value, sct_error *err) {
  return cli_read_duration(field, name, value, err);
}

static sct_status take_seed(void *field, const char *name, const char *value, sct_error *err) {
  int64_t number;
  SCT_TRY(cli_read_number(&number, name, value, 0, INT64_MAX, err));
  *(uint64_t *)field = (uint64_t)number;
  return SCT_OK;
}

static sct_status take_top(void *field, const char *name, const char *value, sct_error *err) {
  int64_t number;
  SCT_TRY(cli_read_number(&number, name, value, 1, 1000000, err));
  *(int *)field = (int)number;
  return SCT_OK;
}

/* "3/8" */
static sct_status take_shard(void *field, const char *name, const char *value, sct_error *err) {
  const char *const slash = strchr(value, '/');
  int64_t k, n;
  if (slash == NULL) {
    return sct_fail(err, SCT_EUSAGE, "--%s %s: expected K/N, as in 1/4", name, value);
  }
  SCT_SCOPED(sct_str) first = {0};
  sct_str_append_n(&first, value, (size_t)(slash - value));
  SCT_TRY(cli_read_number(&n, name, slash + 1, 1, SCT_TUNE_MOST_SHARES, err));
  SCT_TRY(cli_read_number(&k, name, sct_str_c(&first), 1, n, err));
  *(sct_tune_share *)field = (sct_tune_share){(int)k, (int)n};
  return SCT_OK;
}

static sct_status take_shards(void *field, const char *name, const char *value, sct_error *err) {
  int64_t number;
  SCT_TRY(cli_read_number(&number, name, value, 1, SCT_TUNE_MOST_SHARES, err));
  *(int *)field = (int)number;
  return SCT_OK;
}

static sct_status take_threads(void *field, const char *name, const char *value, sct_error *err) {
  int64_t number;
  SCT_TRY(cli_read_number(&number, name, value, 1, 64, err));
  *(int *)field = (int)number;
  return SCT_OK;
}

static sct_status take_list(void *field, const char *name, const char *value, sct_error *err) {
  cli_list *list = field;
  if (list->n == SCT_COUNT(list->items)) {
    return sct_fail(err, SCT_EUSAGE, "--%s is given more than %d times", name, list->n);
  }
  return take_text(&list->items[list->n++], name, value, err);
}

/* Replaces a character of an argument, which is ours to change. */
static void replace_in(const char *value, char from, char to) {
  for (char *at = strchr((char *)(uintptr_t)value, from); at; at = strchr(at, from)) {
    *at = to;
  }
}

/* A size's label, "row=10 col=20"; with commas it means the same. */
static sct_status take_label(void *field, const char *name, const char *value, sct_error *err) {
  replace_in(value, ',', ' ');
  return take_text(field, name, value, err);
}

/* Sizes that are added, "row=10,col=20"; as a label it means the same. */
static sct_status take_added(void *field, const char *name, const char *value, sct_error *err) {
  replace_in(value, ' ', ',');
  return take_list(field, name, value, err);
}

/* The index of `value` in `words`. */
static sct_status take_word(int *out, sct_names words, const char *name, const char *value,
                            sct_error *err) {
  return sct_names_choose(out, words, value, err, "--%s '%s'", name, value);
}

static sct_status take_select(void *field, const char *name, const char *value, sct_error *err) {
  static const char *const rules[] = {"coalesced", "any"};
  int k;
  SCT_TRY(take_word(&k, SCT_NAMES(rules, SCT_COUNT(rules)), name, value, err));
  *(bool *)field = k == 1;
  return SCT_OK;
}

static sct_status take_search(void *field, const char *name, const char *value, sct_error *err) {
  int n, k;
  const sct_search_method *methods = sct_search_methods(&n);
  SCT_TRY(take_word(&k, SCT_NAMES_IN(methods, n, name), name, value, err));
  *(const char **)field = methods[k].name;
  return SCT_OK;
}

static sct_status take_by(void *field, const char *name, const char *value, sct_error *err) {
  static const char *const words[] = {
      [CLI_BY_CASE] = "case", [CLI_BY_INSTRUCTION] = "instruction", [CLI_BY_LINE] = "line"};
  int k;
  SCT_TRY(take_word(&k, SCT_NAMES(words, SCT_COUNT(words)), name, value, err));
  *(cli_by *)field = (cli_by)k;
  return SCT_OK;
}

const cli_option cli_options[CLI_N_OPTIONS] = {
#define CLI_OPTION(id, name, letter, arg, take, field, doc)                                        \
  {name, letter, arg, take_##take, offsetof(cli_args, field), doc},
#include "cli/cli_options.def"
#undef CLI_OPTION
};

/* ---- messages ---- */

static sct_status fail_str(sct_error *err, sct_str *text) {
  const sct_status status = sct_fail(err, SCT_EUSAGE, "%s", sct_str_c(text));
  sct_str_free(text);
  return status;
}

/* The word as the user wrote it: "--bugdet" of "--bugdet=5", "-x" of "-qx". */
static void option_word(sct_str *out, const char *given, int letter) {
  if (letter != 0) {
    sct_str_printf(out, "-%c", letter);
  } else {
    sct_str_append_n(out, given, strcspn(given, "="));
  }
}

/* The commands that take an option which this one does not, or nothing. */
static void append_takers(sct_str *text, const char *word) {
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    if (strcmp(word + strspn(word, "-"), cli_options[id].name) != 0) {
      continue;
    }
    const char *before = "; it belongs to ";
    for (int k = 0; k < cli_n_commands; k++) {
      if (cli_commands[k].options & CLI_BIT_OF(id)) {
        sct_str_printf(text, "%s`sectile %s`", before, cli_commands[k].name);
        before = " and ";
      }
    }
    return;
  }
}

/* The allowed options that `word` ("--st") could be short for. */
static void append_alike(sct_str *out, const char *word, const char *const *names, int n) {
  for (int k = 0; k < n; k++) {
    if (strlen(word) > 2 && sct_has_prefix(names[k], word)) {
      sct_str_printf(out, "%s%s", out->len ? ", " : "", names[k]);
    }
  }
}

static sct_status unknown_option(const cli_command *command, cli_option_set allowed,
                                 const char *given, int letter, sct_error *err) {
  const char *names[CLI_N_OPTIONS];
  char storage[CLI_N_OPTIONS][24];
  SCT_SCOPED(sct_str) word = {0}, text = {0}, alike = {0};
  int n = 0;
  option_word(&word, given, letter);
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    if (allowed & CLI_BIT_OF(id)) {
      snprintf(storage[n], sizeof storage[n], "--%s", cli_options[id].name);
      names[n] = storage[n];
      n++;
    }
  }
  append_alike(&alike, sct_str_c(&word), names, n);
  if (alike.len > 0) {
    sct_str_printf(&text, "option '%s' could be any of %s", sct_str_c(&word), sct_str_c(&alike));
  } else {
    sct_str_printf(&text, "`sectile%s%s` has no option '%s'", command ? " " : "",
                   command ? command->name : "", sct_str_c(&word));
    const size_t before = text.len;
    append_takers(&text, sct_str_c(&word));
    if (text.len == before) {
      sct_str_suggest(&text, sct_str_c(&word), SCT_NAMES(names, n));
    }
  }
  return sct_fail(err, SCT_EUSAGE, "%s", sct_str_c(&text));
}

/* ---- getopt ---- */

#define LONG_BASE 256 /* getopt's value of option `id` is LONG_BASE + id, or its letter */

static int id_of(int value) {
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    if (value == LONG_BASE + id || (value != 0 && value == cli_options[id].letter)) {
      return id;
    }
  }
  return -1;
}

typedef struct getopt_table {
  struct option longs[CLI_N_OPTIONS + 1];
  char letters[2 * CLI_N_OPTIONS + 3];
} getopt_table;

static void fill_table(getopt_table *t, cli_option_set allowed, bool stop_early) {
  int n = 0, at = 0;
  if (stop_early) {
    t->letters[at++] = '+';
  }
  t->letters[at++] = ':'; /* a missing value differs from an unknown option */
  for (int id = 0; id < CLI_N_OPTIONS; id++) {
    const cli_option *o = &cli_options[id];
    if (!(allowed & CLI_BIT_OF(id))) {
      continue;
    }
    t->longs[n++] =
        (struct option){o->name, o->arg ? required_argument : no_argument, NULL, LONG_BASE + id};
    if (o->letter != 0) {
      t->letters[at++] = o->letter;
    }
    if (o->letter != 0 && o->arg) {
      t->letters[at++] = ':';
    }
  }
  t->longs[n] = (struct option){0};
  t->letters[at] = '\0';
}

/* Parses options from the set `allowed` until a word that is none (stop_early), or to the end,
 * where getopt moves the words. *next receives the index of the first word. */
static sct_status parse_options(cli_args *args, cli_option_set allowed, bool stop_early, int argc,
                                char **argv, int *next, sct_error *err) {
  getopt_table table;
  fill_table(&table, allowed, stop_early);
  optind = 0; /* glibc: start over */
  opterr = 0;
  for (;;) {
    const int value = getopt_long(argc, argv, table.letters, table.longs, NULL);
    if (value == -1) {
      break;
    }
    const int id = id_of(value == '?' || value == ':' ? optopt : value);
    if (value == ':') {
      return sct_fail(err, SCT_EUSAGE, "option '--%s' needs a value: %s", cli_options[id].name,
                      cli_options[id].doc);
    }
    if (value == '?' && optopt >= LONG_BASE) {
      return sct_fail(err, SCT_EUSAGE, "option '--%s' takes no value", cli_options[id].name);
    }
    if (value == '?') {
      return unknown_option(args->command, allowed, argv[optind - 1], optopt, err);
    }
    const cli_option *o = &cli_options[id];
    SCT_TRY(o->take((char *)args + o->field, o->name, optarg, err));
  }
  *next = optind;
  return SCT_OK;
}

/* ---- the whole ---- */

static sct_status find_command(cli_args *args, const char *word, sct_error *err) {
  int k;
  SCT_TRY(sct_names_choose(&k, SCT_NAMES_IN(cli_commands, cli_n_commands, name), word, err,
                           "unknown command '%s'", word));
  args->command = &cli_commands[k];
  return SCT_OK;
}

static sct_status check_words(const cli_args *args, sct_error *err) {
  const cli_command *command = args->command;
  sct_str text = {0};
  if (args->n_words < command->min_words) {
    const bool several = strchr(command->words, ' ') != NULL;
    sct_str_printf(&text, "`sectile %s` needs %s%s; usage: ", command->name, several ? "" : "a ",
                   strcmp(command->words, "SPEC...") == 0 ? "SPEC" : command->words);
  } else if (args->n_words > command->max_words) {
    sct_str_printf(&text, "'%s' is one word too many; usage: ", args->words[command->max_words]);
  } else {
    return SCT_OK;
  }
  sct_str_printf(&text, "sectile %s%s%s [options]", command->name,
                 command->words[0] != '\0' ? " " : "", command->words);
  return fail_str(err, &text);
}

sct_status cli_parse(cli_args *out, int argc, char **argv, sct_error *err) {
  *out = (cli_args){.seed = 1, .top = 10, .argc = argc, .argv = argv};
  int next = 0;
  SCT_TRY(parse_options(out, CLI_GLOBAL, true, argc, argv, &next, err));
  if (next >= argc) {
    return SCT_OK;
  }
  if (strcmp(argv[next], "help") == 0) { /* `sectile help tune` is `sectile tune --help` */
    out->help = true;
    return next + 1 < argc ? find_command(out, argv[next + 1], err) : SCT_OK;
  }
  SCT_TRY(find_command(out, argv[next], err));
  argc -= next; /* the command takes the program's place */
  argv += next;
  SCT_TRY(parse_options(out, CLI_GLOBAL | out->command->options, false, argc, argv, &next, err));
  out->n_words = argc - next;
  out->words = argv + next;
  return out->help || out->version ? SCT_OK : check_words(out, err);
}
