/* Decoded kernels: fixed-size micro-operations in basic blocks.
 *
 * Every operand is a slot of the warp's register file, immediates and special registers too, so a
 * micro-operation never asks what kind its operands are. A slot is 32 lanes of 64 bits; 32-bit
 * values use its first half, a predicate its first word (a bit a lane). Slot 0 holds zeros, slot 1
 * a predicate that is always true, then come the PTX registers, then constants, special registers
 * and temporaries. */
#ifndef SCT_PTX_CODE_H
#define SCT_PTX_CODE_H

#include "ptx/front/ptx_ast.h"

#define PTX_LANES      32
#define PTX_SLOT_BYTES 256
#define PTX_SLOT_ZERO  0
#define PTX_SLOT_TRUE  1
#define PTX_SLOT_REGS  2
#define PTX_ALL        0xffffffffu

/* Address windows of 64 GiB: generic addresses tell their space by their upper bits. */
#define PTX_WINDOW_SHIFT  36
#define PTX_WINDOW_SHARED 1
#define PTX_WINDOW_LOCAL  2
#define PTX_WINDOW_PARAM  3
#define PTX_WINDOW_VARS   4 /* .global and .const variables of the module */
#define PTX_WINDOW_FUNCS  5 /* addresses of functions */
#define PTX_WINDOW_HEAP   6 /* what malloc gives */
#define PTX_WINDOW_GRID   7 /* what a cooperative grid synchronises by: %envreg1, %envreg2 */
#define PTX_WINDOW_FIRST  8 /* of buffers */
#define PTX_N_WINDOWS     2048
#define PTX_WINDOW(k)     ((uint64_t)(k) << PTX_WINDOW_SHIFT)

/* Shared addresses start here (as the 1 KiB that sm_90 reserves); arrays lie this far apart, a
 * multiple of 128 so that their banks stay as they would be without the gap. */
#define PTX_SHARED_BASE    1024
#define PTX_SHARED_GAP     8192
#define PTX_SHARED_DYNAMIC (1 << 20) /* dynamic shared memory begins here */

typedef struct ptx_exec ptx_exec;
typedef struct ptx_uop ptx_uop;
typedef void (*ptx_fn)(ptx_exec *x, const ptx_uop *u);

/* How undefined bits pass through an operation (ptx_undef.c). */
typedef enum ptx_undef {
  PTX_UNDEF_ALL, /* one undefined bit anywhere makes the whole result undefined */
  PTX_UNDEF_MOV,
  PTX_UNDEF_AND,
  PTX_UNDEF_OR,
  PTX_UNDEF_XOR, /* bit by bit: also not */
  PTX_UNDEF_ADD, /* upwards from the lowest undefined bit: also sub, neg, mul.lo */
  PTX_UNDEF_SHL,
  PTX_UNDEF_SHR,
  PTX_UNDEF_SAR,
  PTX_UNDEF_SELECT,
  PTX_UNDEF_PRMT,
  PTX_UNDEF_LOW,   /* any, but of the second operand one in the lower half */
  PTX_UNDEF_HIGH,  /* any, but of the second operand one in the upper half */
  PTX_UNDEF_ZEXT,  /* the low `bytes` to a wider register */
  PTX_UNDEF_CVT,   /* from a type to another, each as wide as its register or less */
  PTX_UNDEF_PACK2, /* two values side by side, each on its own */
  PTX_UNDEF_OWN    /* the operation does it itself */
} ptx_undef;

/* Bits of ptx_uop.flags for arithmetic. */
enum {
  PTX_F_RND_MASK = 3, /* 0 nearest even, then as below */
  PTX_F_RZ = 1,
  PTX_F_RM = 2,
  PTX_F_RP = 3,
  PTX_F_FTZ = 4,
  PTX_F_SAT = 8,
  PTX_F_CC = 16,  /* writes the carry */
  PTX_F_NAN = 32, /* min.NaN, max.NaN */
  PTX_F_XORSIGN = 64,
  PTX_F_INT = 128, /* cvt to an integral value: rni, rzi, rmi, rpi */
  PTX_F_RELU = 256,
  PTX_F_RNA = 512,
  PTX_F_FINITE = 1024 /* to a 16-bit float: what is too large becomes the largest finite one */
};

/* Bits of ptx_uop.op of an access; KEEP: volatile and the like, executed as it is written; GUESS: a
 * plain load that an atomic operation corrects. From bit PTX_MEM_SCOPE_SHIFT on the ptx_mem_scope
 * of atomics, strong accesses and fences. */
enum {
  PTX_MEM_NC = 1,
  PTX_MEM_STRONG = 2,
  PTX_MEM_KEEP = 4,
  PTX_MEM_UNCACHED = 8,
  PTX_MEM_GUESS = 16
};
#define PTX_MEM_SCOPE_SHIFT 5
/* Threads that an operation may order or be atomic with: of the device, the cluster, the block. */
typedef enum ptx_mem_scope { PTX_SCOPE_DEVICE, PTX_SCOPE_CLUSTER, PTX_SCOPE_BLOCK } ptx_mem_scope;
enum {
  PTX_BAR_SYNC,
  PTX_BAR_ARRIVE,
  PTX_BAR_POPC,
  PTX_BAR_AND,
  PTX_BAR_OR,
  PTX_BAR_CLUSTER_ARRIVE,
  PTX_BAR_CLUSTER_WAIT
};
enum { PTX_SHFL_UP, PTX_SHFL_DOWN, PTX_SHFL_BFLY, PTX_SHFL_IDX };
enum { PTX_VOTE_ALL, PTX_VOTE_ANY, PTX_VOTE_UNI, PTX_VOTE_BALLOT };
enum {
  PTX_ATOMIC_ADD,
  PTX_ATOMIC_MIN,
  PTX_ATOMIC_MAX,
  PTX_ATOMIC_AND,
  PTX_ATOMIC_OR,
  PTX_ATOMIC_XOR,
  PTX_ATOMIC_INC,
  PTX_ATOMIC_DEC,
  PTX_ATOMIC_EXCH,
  PTX_ATOMIC_CAS
};
/* Bits of ptx_uop.sync; PROXY: what asynchronous copies read from shared memory. */
enum { PTX_SYNC_ACQUIRE = 1, PTX_SYNC_RELEASE = 2, PTX_SYNC_PROXY = 4 };
enum { PTX_MBAR_EXPECT_TX = 1, PTX_MBAR_NO_COMPLETE = 2, PTX_MBAR_DROP = 4 }; /* .flags */
enum { PTX_MBAR_STATE, PTX_MBAR_PARITY };
enum { PTX_REDUX_ADD, PTX_REDUX_MIN, PTX_REDUX_MAX, PTX_REDUX_AND, PTX_REDUX_OR, PTX_REDUX_XOR };

struct ptx_uop {
  ptx_fn fn;
  uint32_t d, a, b, c, e;
  uint32_t guard, guard_flip; /* runs in the lanes of (predicate ^ flip) */
  uint32_t inst;              /* PTX instruction, index into ptx_code.insts */
  uint32_t vec;               /* first of n slots in ptx_code.vec */
  uint16_t flags; /* of a load: the elements that nothing reads, a bit each (ptx_live.c); of a
                     compare-and-swap: whether it stands in a loop */
  uint8_t n;      /* elements of a vector access, targets of a branch table */
  uint8_t bytes;  /* of a memory element, of an operand */
  bool wide;      /* elements are kept in 64-bit lanes */
  bool sign;      /* loads extend the sign */
  uint8_t space;  /* ptx_space */
  union {
    uint8_t undef; /* ptx_undef, of arithmetic */
    uint8_t sync;  /* PTX_SYNC_ACQUIRE and its like, of accesses and fences */
  };
  uint8_t op;   /* a choice within fn: comparison, atomic operation, ... */
  uint8_t from; /* source type of a conversion */
  uint8_t to;
  int64_t imm;
};

typedef enum ptx_term { /* how a basic block ends */
                        PTX_TERM_FALL,
                        PTX_TERM_BRANCH,
                        PTX_TERM_TABLE,
                        PTX_TERM_RET,
                        PTX_TERM_EXIT,
                        PTX_TERM_BARRIER,
                        PTX_TERM_CALL
} ptx_term;

typedef struct ptx_block {
  int32_t first, end; /* micro-operations; a terminator that is not FALL is number `end` */
  int32_t target;     /* block of a taken branch */
  int32_t next;       /* block that follows; -1: none */
  int32_t ipdom;      /* block where all paths meet again; -1: only the end of the function */
  int32_t first_inst; /* in ptx_code.insts */
  int32_t n_insts;    /* PTX instructions, terminator included */
  uint8_t term;
} ptx_block;

typedef struct ptx_const {
  uint64_t bits;
  uint32_t slot;
  bool wide;
  int32_t next; /* in the hash chain */
} ptx_const;

typedef struct ptx_sreg_use {
  uint32_t slot;
  uint8_t sreg;
} ptx_sreg_use;

/* One function of a kernel: the kernel itself is number 0. */
typedef struct ptx_body {
  const ptx_func *func;
  int32_t entry; /* its first block; they stand together */
  int32_t n_blocks;
  uint32_t n_slots, n_regs;
  ptx_const *consts;
  size_t n_consts, cap_consts;
  ptx_sreg_use *sregs;
  size_t n_sregs, cap_sregs;
  int64_t local_bytes, call_bytes, param_bytes;
} ptx_body;

typedef struct ptx_shared_sym {
  const ptx_sym *sym;
  /* bytes of the dynamic array: set at launch; padded: to the array's alignment, at most 16.
   * Compilers load whole words of what they know to be aligned, and ignore what follows the
   * array. */
  int64_t address, bytes, padded;
} ptx_shared_sym;

/* Where the counters of an instruction go. */
typedef enum ptx_inst_kind {
  PTX_INST_OTHER,
  PTX_INST_LOAD,
  PTX_INST_STORE,
  PTX_INST_ATOMIC,
  PTX_INST_ASYNC,
  PTX_INST_BULK_LOAD,
  PTX_INST_BULK_STORE,
  PTX_INST_BRANCH,
  PTX_INST_BARRIER,
  PTX_INST_SHUFFLE
} ptx_inst_kind;

/* What reports name of an instruction. */
typedef struct ptx_origin {
  int line;
  ptx_span text;
  ptx_loc loc;
  ptx_loc user;              /* of the user's code: `loc`, or who called it */
  uint8_t kind;              /* ptx_inst_kind */
  uint8_t cost[SCT_N_PIPES]; /* machine instructions (ptx_cost.c) */
  uint8_t flops, flop_type;  /* of a lane; sct_ptx_flop */
  uint8_t width;             /* bytes a lane of a memory access */
  uint32_t matrix_flops;     /* of a warp, by mma */
} ptx_origin;

/* Functions of the system, which no PTX holds (ptx_system.c). */
typedef enum ptx_system {
  PTX_SYSTEM_NONE,
#define PTX_SYSTEM(id, name, args, ret) PTX_SYSTEM_##id,
#include "ptx_system.def"
#undef PTX_SYSTEM
} ptx_system;

typedef struct ptx_call {
  int32_t body; /* of ptx_code.bodies; -1: through the function pointer in slot a */
  int n_args, n_rets;
  const ptx_sym **args, **rets; /* .param variables of the caller; one allocation, at args */
} ptx_call;

typedef enum ptx_elem {
#define PTX_ELEM(id, name, bits, is_float) PTX_ELEM_##id,
#include "ptx_elems.def"
#undef PTX_ELEM
  PTX_N_ELEMS
} ptx_elem;

/* d = a x b + c of a warp: m x k by k x n. Fragments: ptx_fragment(). */
typedef enum ptx_matrix { PTX_MATRIX_A, PTX_MATRIX_B, PTX_MATRIX_C, PTX_MATRIX_D } ptx_matrix;
typedef struct ptx_mma {
  int m, n, k;
  uint8_t elem[4], regs[4]; /* by ptx_matrix: elements, and registers that hold them */
  bool satfinite, xors;     /* b1: xor, else and */
  uint16_t *places;         /* of all elements by register, lane and element, by rows */
} ptx_mma;

/* Where a matrix has element `e` of register `r` of a lane: its row and column. */
typedef struct ptx_spot {
  int row, col;
} ptx_spot;
ptx_spot sct_ptx_spot(const ptx_mma *p, ptx_matrix x, int lane, int r, int e);
int sct_ptx_elem_bits(ptx_elem elem);

/* One access of wmma.load or wmma.store: lane i goes to element outer[i] * stride + inner[i]. */
typedef struct ptx_tile {
  int bits;
  uint8_t outer[PTX_LANES], inner[PTX_LANES];
} ptx_tile;

typedef struct ptx_code {
  ptx_uop *uops;
  size_t n_uops, cap_uops;
  ptx_block *blocks;
  size_t n_blocks, cap_blocks;
  uint32_t *vec;
  size_t n_vec, cap_vec;
  int32_t *tables; /* targets of brx.idx: blocks */
  size_t n_tables, cap_tables;
  ptx_origin *insts;
  size_t n_insts, cap_insts;
  ptx_body *bodies;
  size_t n_bodies, cap_bodies;
  ptx_call *calls;
  size_t n_calls, cap_calls;
  ptx_shared_sym *shared;
  size_t n_shared, cap_shared;
  ptx_mma *mmas;
  size_t n_mmas, cap_mmas;
  ptx_tile *tiles;
  size_t n_tiles, cap_tiles;
  int64_t shared_packed; /* bytes of the static arrays without gaps */
  bool uses_bulk;        /* has bulk copies */
  bool syncs_grid;       /* has a barrier of the grid */
  bool has_global_atomics, has_approx;
  bool uses_system;    /* calls functions of the system: what they do is not in the PTX */
  bool orders_blocks;  /* fences of the device: blocks may talk to each other */
  bool orders_cluster; /* fences wider than a block, those among them */
  int min_shared_bytes, min_global_bytes; /* narrowest access: granule of the race records */
} ptx_code;

/* Decodes one kernel; on failure *error receives the text ("line 12: ..."), in the module's arena,
 * and the function returns NULL. */
ptx_code *sct_ptx_decode(sct_ptx_module *m, ptx_func *kernel, char **error);
void sct_ptx_code_free(ptx_code *code);

/* ---- what machine code makes of a load (ptx_live.c) */

typedef struct ptx_live_part {
  int offset, bytes; /* inside the vector */
} ptx_live_part;

#define PTX_LIVE_PARTS 2

/* The accesses that stand for load `u`, 0 to 2: ptxas leaves out what nothing reads. */
int sct_ptx_live_parts(const ptx_uop *u, ptx_live_part parts[PTX_LIVE_PARTS]);
/* Notes in the loads from micro-operation `first` on which elements go to registers that no
 * instruction reads. */
void sct_ptx_live_mark(ptx_code *code, size_t first, const uint8_t *read, size_t n_regs);

/* ---- loops (ptx_loops.c) */

typedef struct ptx_loops {
  int32_t *of;    /* [n_blocks] innermost loop of a block, -1: none */
  bool *together; /* [n] in a run no warp was split where it, or a loop around it, is left */
  int32_t n;
} ptx_loops;

/* insts: counters of a run of this code, a record an instruction; NULL: none, then no loop is
 * `together`. */
void sct_ptx_loops_find(ptx_loops *out, const ptx_code *code, const sct_ptx_inst_counters *insts);
void sct_ptx_loops_free(ptx_loops *loops);

/* A place in a header of the system or of a toolkit (ptx_guards.c). */
bool sct_ptx_is_library(const sct_ptx_module *m, ptx_loc loc);
/* The innermost place around `loc` that is in no such header; `loc` where there is none. */
ptx_loc sct_ptx_user_place(const sct_ptx_module *m, ptx_loc loc);
/* The name of the inlined function that it is part of; "": of none, or unknown. */
const char *sct_ptx_function_of(const sct_ptx_module *m, ptx_loc loc);
/* The path of its file; "" unknown. */
const char *sct_ptx_file_of(const sct_ptx_module *m, ptx_loc loc);

/* Successor number `k` of block `b`; -1: no more. To leave the function is none. */
int32_t sct_ptx_successor(const ptx_code *code, int32_t b, int32_t k);
/* Basic blocks of the body whose micro-operations are [first, end): see ptx_cfg.c. */
void sct_ptx_cfg_ipdoms(ptx_code *code, ptx_body *body);

#endif
