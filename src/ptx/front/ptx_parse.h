/* The parser's state and the steps that its two files share. */
#ifndef SCT_PTX_PARSE_H
#define SCT_PTX_PARSE_H

#include "ptx/front/ptx_lex.h"

typedef struct ptx_parser {
  ptx_lex lex;
  sct_ptx_module *m;
  ptx_func *f; /* function whose body is read */
  int scope;   /* in f */
  ptx_loc loc; /* of the instructions that follow */
  sct_error *err;
} ptx_parser;

/* Reads m->text into the rest of m. */
sct_status sct_ptx_parse_text(sct_ptx_module *m, sct_error *err);
/* Finds the names of inlined functions (ptx_names.c). */
void sct_ptx_name_functions(sct_ptx_module *m);

sct_status sct_ptx_parse_fail(ptx_parser *p, int line, const char *fmt, ...) SCT_PRINTF(3, 4);
bool sct_ptx_parse_accept(ptx_parser *p, char punct); /* eats it, if it is there */
sct_status sct_ptx_parse_expect(ptx_parser *p, char punct);
sct_status sct_ptx_parse_int(ptx_parser *p, int64_t *out); /* with a sign */
sct_status sct_ptx_parse_name(ptx_parser *p, ptx_span *out);
/* A declaration after its state space, up to the semicolon; the symbols go to `list`. */
sct_status sct_ptx_parse_vars(ptx_parser *p, ptx_space space, bool is_extern, ptx_sym **list);
/* A function's parameter list, the current token being '('. */
sct_status sct_ptx_parse_params(ptx_parser *p, ptx_sym ***out, int *n, int64_t *bytes);
/* Body of p->f from '{' to the matching '}'. */
sct_status sct_ptx_parse_body(ptx_parser *p);
/* ".file 1 "path"" and ".loc", the current token being the directive. */
sct_status sct_ptx_parse_file(ptx_parser *p);
ptx_space sct_ptx_space_find(ptx_span word); /* ".shared" ... */

#endif
