/* What the parser hands to the decoder: functions with their symbols, registers and instructions,
 * still in the words of the text. Everything points into the module's arena or its copy of the
 * text. */
#ifndef SCT_PTX_AST_H
#define SCT_PTX_AST_H

#include "ptx/ptx.h"

typedef enum ptx_type {
  PTX_T_NONE,
#define PTX_TYPE(id, name, bytes, kind) PTX_T_##id,
#include "ptx_types.def"
#undef PTX_TYPE
  PTX_N_TYPES
} ptx_type;

typedef enum ptx_type_kind {
  PTX_KIND_NONE,
  PTX_KIND_U,
  PTX_KIND_S,
  PTX_KIND_B,
  PTX_KIND_F,
  PTX_KIND_H,
  PTX_KIND_P
} ptx_type_kind;

ptx_type sct_ptx_type_find(const char *name, int len); /* without the dot; PTX_T_NONE: no type */
int sct_ptx_type_bytes(ptx_type type);
ptx_type_kind sct_ptx_type_kind(ptx_type type);
const char *sct_ptx_type_name(ptx_type type);

typedef enum ptx_space {
  PTX_SPACE_NONE,
  PTX_SPACE_PARAM,
  PTX_SPACE_SHARED,
  PTX_SPACE_LOCAL,
  PTX_SPACE_GLOBAL,
  PTX_SPACE_CONST,
  PTX_SPACE_FUNC
} ptx_space;

struct ptx_func;

/* A piece of the text: names are compared in place. */
typedef struct ptx_span {
  const char *p;
  int len;
} ptx_span;
bool sct_ptx_span_is(ptx_span s, const char *text);
bool sct_ptx_span_in(ptx_span word, const char *list); /* of words with blanks between */
bool sct_ptx_type_in(ptx_type type, const char *list); /* its name is in the list */
bool sct_ptx_span_equal(ptx_span a, ptx_span b);

/* An address inside an initialiser: 8 bytes at `offset` hold the address of `name` (+ addend). */
typedef struct ptx_reloc {
  int64_t offset, addend;
  ptx_span name;
  bool generic;
  struct ptx_reloc *next;
} ptx_reloc;

typedef struct ptx_sym {
  ptx_span name;
  ptx_space space;
  ptx_type type;
  int64_t bytes, align;
  int64_t offset; /* in its space: parameter block, shared, local frame, module window */
  bool is_extern; /* extern shared array: begins where the dynamic bytes do */
  uint8_t *init;  /* [bytes] or NULL: zero */
  ptx_reloc *relocs;
  struct ptx_func *func; /* PTX_SPACE_FUNC */
  struct ptx_sym *next;  /* in its scope */
} ptx_sym;

typedef enum ptx_opd_kind {
  PTX_OPD_NONE,
  PTX_OPD_REG,  /* reg, negated for !%p; pair: second destination of a|b */
  PTX_OPD_INT,  /* imm */
  PTX_OPD_F32,  /* imm holds the bits */
  PTX_OPD_F64,  /* imm holds the bits */
  PTX_OPD_NAME, /* symbol, label, special register, texture: name, + imm */
  PTX_OPD_ADDR, /* [base + imm], base = elems[0] or none; elems[1] = coordinates of a texture */
  PTX_OPD_VEC,  /* {a, b, ...} */
  PTX_OPD_LIST, /* (a, b, ...) of a call */
  PTX_OPD_SINK  /* _ */
} ptx_opd_kind;

typedef struct ptx_opd {
  ptx_opd_kind kind;
  bool negated;
  int32_t reg, pair; /* -1: none */
  int64_t imm;
  ptx_span name;
  int n_elems;
  struct ptx_opd *elems;
} ptx_opd;

/* A place in the CUDA source, and where the function that it is part of was called, if the compiler
 * has put it there: 0: nowhere, else 1 more than an index of sct_ptx_module.calls. */
typedef struct ptx_loc {
  int file, line, call;
  int function; /* that it is part of, if `call`: 1 more than an index of .functions; 0: unknown */
} ptx_loc;

/* A function that was inlined: the label of its name in section .debug_str. */
typedef struct ptx_inlined {
  ptx_span label;
  const char *name; /* without what it is in, and its parameters; "" unknown */
} ptx_inlined;

typedef struct ptx_call_site {
  ptx_loc loc;
  int column;
} ptx_call_site;

#define PTX_MAX_MODS 16
#define PTX_MAX_OPDS 8

typedef struct ptx_inst {
  int line;      /* in the PTX */
  ptx_span text; /* without guard and semicolon */
  ptx_loc loc;
  int32_t guard; /* register, -1: none */
  bool guard_not;
  int scope;
  int n_mods;
  ptx_span mods[PTX_MAX_MODS]; /* mods[0] is the opcode */
  int n_opds;
  ptx_opd opds[PTX_MAX_OPDS];
} ptx_inst;

typedef enum ptx_reg_class {
  PTX_REG_PRED,
  PTX_REG_16,
  PTX_REG_32,
  PTX_REG_64,
  PTX_REG_128
} ptx_reg_class;

/* %r<17> declares %r0 to %r16; `first` is the register number of %r0 (or of the one name). */
typedef struct ptx_reg_range {
  ptx_span prefix;
  bool ranged;
  int32_t first, count;
  ptx_reg_class cls;
  struct ptx_reg_range *next;
} ptx_reg_range;

typedef struct ptx_label {
  ptx_span name;
  int scope;
  int inst;          /* index of the instruction that follows */
  ptx_span *targets; /* of .branchtargets; names */
  int n_targets;
  struct ptx_func *prototype; /* of .callprototype: a function without body */
} ptx_label;

typedef struct ptx_scope {
  int parent; /* -1 */
  ptx_reg_range *regs;
  ptx_sym *syms;
} ptx_scope;

struct ptx_code;

typedef struct ptx_func {
  ptx_span name;
  bool is_entry, has_body;
  int line;
  ptx_sym **params; /* in order */
  int n_params;
  ptx_sym **rets;
  int n_rets;
  int64_t param_bytes;
  int64_t max_threads;
  int64_t cluster;     /* blocks of one, of .reqnctapercluster; 0: not stated */
  bool cluster_is_row; /* along x */
  ptx_scope *scopes;
  size_t n_scopes, cap_scopes;
  ptx_inst *insts;
  size_t n_insts, cap_insts;
  ptx_label *labels;
  size_t n_labels, cap_labels;
  ptx_reg_class *reg_class; /* [n_regs] */
  size_t n_regs, cap_regs;
  int64_t local_bytes;   /* of all .local arrays */
  int64_t call_bytes;    /* of all .param variables declared in the body */
  struct ptx_code *code; /* NULL until decoded, or if it cannot be */
  char *error;
  struct ptx_func *next;
} ptx_func;

struct sct_ptx_module {
  sct_arena arena;
  char *name, *text;
  const char **files; /* [n_files] paths of .file, by number */
  int n_files;
  ptx_call_site *calls; /* where functions that were inlined are called, and other places of .loc */
  size_t n_calls, cap_calls;
  ptx_inlined *functions;
  size_t n_functions, cap_functions;
  int target;    /* 90 of sm_90 */
  ptx_sym *syms; /* module scope */
  ptx_func *funcs, **funcs_tail;
  int64_t window_bytes; /* of the module's .global and .const variables */
  int n_kernels;
  sct_ptx_kernel *kernels;
  ptx_func **kernel_funcs; /* [n_kernels] */
  int n_variables;
  sct_ptx_variable *variables;
  const ptx_sym **variable_syms; /* [n_variables] */
};

/* The function of a kernel; NULL: none of that name. */
const ptx_func *sct_ptx_func_find(const sct_ptx_module *module, const char *kernel);
/* A .global or .const variable. */
bool sct_ptx_is_variable(const ptx_sym *sym);
const ptx_sym *sct_ptx_sym_find(const ptx_sym *list, ptx_span name);
/* The symbol `name` as an instruction in `scope` of `func` sees it; NULL: none. */
const ptx_sym *sct_ptx_sym_visible(const sct_ptx_module *module, const ptx_func *func, int scope,
                                   ptx_span name);

#endif
