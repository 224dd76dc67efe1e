/* The lexer: one token of look-ahead over the module's text. */
#ifndef SCT_PTX_LEX_H
#define SCT_PTX_LEX_H

#include "ptx/front/ptx_ast.h"

typedef enum ptx_tok_kind {
  PTX_TOK_END,
  PTX_TOK_WORD,   /* names, registers, directives, opcodes with all their modifiers */
  PTX_TOK_INT,    /* value in bits */
  PTX_TOK_F32,    /* bits */
  PTX_TOK_F64,    /* bits; decimal literals too */
  PTX_TOK_STRING, /* span without the quotes */
  PTX_TOK_PUNCT,  /* one character */
  PTX_TOK_BAD     /* a character PTX has no use for, or a malformed number */
} ptx_tok_kind;

typedef struct ptx_tok {
  ptx_tok_kind kind;
  ptx_span span;
  uint64_t bits;
  int line;
} ptx_tok;

typedef struct ptx_lex {
  const char *p;
  int line;
  ptx_tok tok; /* the current token */
} ptx_lex;

void sct_ptx_lex_start(ptx_lex *lex, const char *text);
void sct_ptx_lex_next(ptx_lex *lex);
bool sct_ptx_lex_at(const ptx_lex *lex, char punct);
bool sct_ptx_lex_word(const ptx_lex *lex, const char *word);

#endif
