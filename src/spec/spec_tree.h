/* spec_tree - a body as a tree. It is parsed once (spec_tree.c); checks, definite assignment, fast
 * arithmetic, moves and the kernel's text are passes over it.
 *
 * A node's parts are made before it, so the list of all nodes in the order in which they were made
 * visits parts first, and names in the order of the text. */
#ifndef SCT_SPEC_TREE_H
#define SCT_SPEC_TREE_H

#include "spec/spec_internal.h"

/* What kid[] has is said behind each; "list": joined by `next`. */
typedef enum node_kind {
  NODE_EMPTY, /* a statement, or a part of a loop's head, that is not there */
  NODE_NUMBER,
  NODE_NAME,        /* of an array: with its field; 0: the index of an array's element */
  NODE_BRACKETS,    /* 0: what they enclose */
  NODE_CAST,        /* "(T)x", "T(x, y)", "static_cast<T>(x)"; 0: list of what is converted */
  NODE_CALL,        /* 0: list of arguments */
  NODE_LIST,        /* "{ a, b }"; 0: list */
  NODE_SIZEOF,      /* 0: an expression, or NULL: a type */
  NODE_POSTFIX,     /* 0: a value; 1: list of INDEX, MEMBER and STEP */
  NODE_INDEX,       /* "[n]"; 0: n */
  NODE_MEMBER,      /* ".x" */
  NODE_STEP,        /* "++" or "--" */
  NODE_UNARY,       /* 0: its operand */
  NODE_BINARY,      /* 0: list of operands, with operators of one level between them */
  NODE_CONDITIONAL, /* 0, 1, 2 */
  NODE_ASSIGN,      /* 0: what is assigned; 1: the value */
  NODE_EXPRESSION,  /* a statement; 0 */
  NODE_DECLARATION, /* 0: list of DECLARATOR */
  NODE_DECLARATOR,  /* 0: list of extents, EMPTY where none is given; 1: value, or NULL */
  NODE_KEEP,        /* "keep(o);" */
  NODE_BLOCK,       /* 0: list of statements */
  NODE_IF,          /* 0: list of up to two, of which the last is the condition; 1; 2 or NULL */
  NODE_WHILE,       /* 0: as of IF; 1 */
  NODE_DO,          /* 0: as of IF; 1 */
  NODE_SWITCH,      /* 0: as of IF; 1 */
  NODE_FOR,         /* 0: what it begins with; 1: condition; 2: step; 3 */
  NODE_RANGE,       /* "for (float x : v)"; 0: declaration; 1: v; 2 */
  NODE_LABEL,       /* 0: the value of `case`, NULL: it is `default` */
  NODE_JUMP         /* `break` or `continue` */
} node_kind;

/* The type of a value, as far as fast arithmetic and shifts ask for it. */
typedef enum value_type {
  VALUE_UNKNOWN,
  VALUE_INT,     /* of 32 bits, or one that becomes so in arithmetic */
  VALUE_INTEGER, /* maybe of 64 */
  VALUE_FLOAT,
  VALUE_FLOATS, /* a vector of floats, whose components are some */
  VALUE_VECTOR  /* another vector that CUDA has no operators for */
} value_type;

static inline bool sct_is_vector(value_type type) {
  return type == VALUE_FLOATS || type == VALUE_VECTOR;
}

typedef enum name_use { USE_READ, USE_ASSIGN, USE_UPDATE } name_use;

typedef struct node node;
struct node {
  node_kind kind;
  int first, end; /* its tokens */
  int at;         /* the token of its operator or its keyword */
  node *kid[4];
  node *next; /* in a list of parts */
  node *made; /* the node that was made after it */
  /* of a name, one of: */
  int local; /* -1: none; of a DECLARATOR, too */
  int dim;   /* -1: none */
  const sct_value *value;
  sct_mention m; /* m.op -1: none */
  name_use use;
  bool is_addressed;
  const node *pair; /* of two names without fields in "b = a;": the other one */
  value_type type;
  value_type so_far; /* of an operand in a list: of all up to this one */
};

typedef struct local {
  const token *name;
  value_type type; /* of `auto` that of its value, set with the types of nodes */
  int lanes;
  bool is_integer, is_unsigned, is_const, is_auto;
  bool in_scope; /* while the body is parsed */
} local;

enum { MAX_LOCALS = 64 };

/* What stands in the place of a token. */
typedef struct edit {
  const char *text;           /* NULL: the token */
  const char *before, *after; /* or NULL */
  bool joined;                /* without what stands between it and the token before */
} edit;

struct body_tree {
  const token *t; /* t[n] is TOKEN_END */
  int n;
  node *statements; /* list */
  node *made;       /* all nodes */
  local locals[MAX_LOCALS];
  int n_locals;
  edit *edits; /* [n] what kernels have; set by sct_spec_write_bodies() */
};

/* ---- parsing ---- */

typedef struct parser {
  sct_spec *spec;
  body_tree *tree;
  const token *t;
  int k; /* the token to be read next */
  node *last_made;
  const token *unknown; /* the first name that is not known where it stands */
  int depth;
  sct_error *err;
} parser;

static inline bool sct_node_is(const body_tree *tree, const node *n, const char *text) {
  return sct_token_is(&tree->t[n->at], text);
}
/* A node of the tokens from `first` to the current one. kids: [4], or NULL: none. Returns SCT_OK.
 */
sct_status sct_parse_node(parser *p, node **out, node_kind kind, int first, int at,
                          node *const *kids);
sct_status sct_parse_expect(parser *p, const char *text);
/* The token does not belong there. */
sct_status sct_parse_unexpected(const sct_spec *spec, const token *t, sct_error *err);
sct_status sct_parse_expression(parser *p, node **out);
/* A name and what belongs to it; what follows: spec_tree_name.c, too. */
sct_status sct_parse_name(parser *p, node **out);
sct_status sct_parse_declare(parser *p, const token *t, const local *as);
/* What the name is that was not known. */
sct_status sct_parse_unknown(const parser *p, const token *t, sct_error *err);

/* ---- types: spec_tree_type.c ---- */

/* Of a word of a type; `so_far` is that of the words before. */
value_type sct_value_type_of_word(const token *t, value_type so_far);
/* The type of every node. */
void sct_tree_types(const sct_spec *spec, body_tree *tree);
/* Of both operands of an arithmetic operator. */
value_type sct_value_type_joined(value_type a, value_type b);
bool sct_tree_all_float(const node *list); /* false of none */
/* The fast form of the function that `t` names, or NULL; generic: it is one of several types. */
const char *sct_tree_fast_function(const token *t, bool *generic);

/* ---- text ---- */

/* Sets edits that read one of several elements in a byte where `n` names it; spec_share.c. */
void sct_spec_read_shared(sct_spec *spec, body_tree *tree, const node *n);
/* `edits` with those of fast arithmetic (spec_fast.c); NULL: nothing would change, too
 * much would, or the spec has no tolerance. */
edit *sct_spec_fast_edits(sct_spec *spec, const body_tree *tree, const edit *edits);

typedef enum gap_text { BLANKS_AS_WRITTEN, BLANKS_ONE, BLANKS_ALWAYS } gap_text;
/* The tokens from first to end - 1 as `edits` has them; before the first there is nothing. */
void sct_tree_print(sct_str *out, const body_tree *tree, const edit *edits, int first, int end,
                    gap_text between);
/* The whole body so, with its comments. */
const char *sct_tree_text(const body_tree *tree, const edit *edits, sct_spec *spec);

#endif
