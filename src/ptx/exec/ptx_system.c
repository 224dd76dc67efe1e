/* Functions of the system that kernels call and no PTX holds: assert, printf and the heap. They run
 * lane by lane. */
#include "ptx/exec/ptx_exec.h"

#define PRINT_LIMIT (1 << 20) /* bytes of a launch: cudaLimitPrintfFifoSize */
#define MAX_TEXT    1024      /* bytes of a string that is looked at */
#define MAX_DIGITS  4         /* of a width: what is wider is no conversion */

/* ---- parameters */

typedef struct system_call {
  ptx_exec *x;
  const ptx_uop *u;
  const ptx_call *call;
  int lane;
} system_call;

static uint8_t *param_at(const system_call *c, const ptx_sym *param, bool defined) {
  const ptx_warp *w = c->x->warp;
  return (defined ? w->local_defined : w->local) + c->lane * w->local_bytes +
         sct_ptx_call_area(c->x, c->x->frame) + param->offset;
}

/* Parameter `i`; a fault where it was never set. */
static bool get_param(const system_call *c, int i, uint64_t *out) {
  const ptx_sym *param = c->call->args[i];
  const uint8_t *defined = param_at(c, param, true);
  *out = 0;
  memcpy(out, param_at(c, param, false), (size_t)param->bytes);
  for (int64_t k = 0; k < param->bytes; k++) {
    if (defined[k] != 0xff) {
      return sct_ptx_fault(c->x, c->u, SCT_PTX_UNDEFINED_ADDRESS, c->lane, 0,
                           "argument %d was never set", i + 1);
    }
  }
  return true;
}

static void put_result(const system_call *c, uint64_t value) {
  if (c->call->n_rets > 0) {
    const ptx_sym *ret = c->call->rets[0];
    memcpy(param_at(c, ret, false), &value, (size_t)ret->bytes);
    memset(param_at(c, ret, true), 0xff, (size_t)ret->bytes);
  }
}

/* ---- memory by generic address */

/* The bytes that follow a generic address of the lane, *n of them; NULL: it points nowhere. */
static const uint8_t *bytes_at(const system_call *c, uint64_t address, int64_t *n) {
  const ptx_exec *x = c->x;
  const uint64_t window = address >> PTX_WINDOW_SHIFT;
  const int64_t at = (int64_t)(address - PTX_WINDOW(window));
  if (window == PTX_WINDOW_LOCAL) {
    *n = x->warp->local_bytes - at;
    return *n > 0 ? x->warp->local + c->lane * x->warp->local_bytes + at : NULL;
  }
  for (int i = 0; window == PTX_WINDOW_SHARED && i < x->n_ranges; i++) {
    if (at >= x->ranges[i].lo && at < x->ranges[i].hi) {
      *n = x->ranges[i].hi - at;
      return x->shared + at;
    }
  }
  ptx_buf *b = ptx_memory_window(x->launch->memory, address);
  const int64_t off = b != NULL ? (int64_t)(address - b->base) : -1;
  if (off < 0 || off >= b->bytes || b->keep != UINT64_MAX) {
    return NULL;
  }
  *n = b->bytes - off;
  if (b->fill != NULL) {
    sct_ptx_buf_fill(b, off, *n < MAX_TEXT ? *n : MAX_TEXT);
  }
  return b->host + off;
}

/* The string at an address; its first bytes if it is long. */
static const char *string_at(const system_call *c, uint64_t address, char out[MAX_TEXT]) {
  int64_t n = 0;
  const uint8_t *from = bytes_at(c, address, &n);
  if (from == NULL) {
    return "(null)";
  }
  int k = 0;
  for (; k < MAX_TEXT - 1 && k < n && from[k] != 0; k++) {
    out[k] = (char)from[k];
  }
  out[k] = '\0';
  return out;
}

/* ---- assert */

/* The message is CUDA's own. */
static void run_assert(const system_call *c) {
  static const char unknown[] = "?";
  char text[MAX_TEXT], file[MAX_TEXT], function[MAX_TEXT];
  uint64_t arg[4];
  const ptx_exec *x = c->x;
  for (int i = 0; i < SCT_COUNT(arg); i++) {
    if (!get_param(c, i, &arg[i])) {
      return;
    }
  }
  const int64_t thread = (int64_t)x->warp->index * PTX_LANES + c->lane;
  const int64_t *n = x->launch->block;
  sct_ptx_fault(
      c->x, c->u, SCT_PTX_ASSERT, c->lane, 0,
      "%s:%u: %s: block: [%lld,%lld,%lld], thread: [%lld,%lld,%lld] Assertion `%s` failed.",
      string_at(c, arg[1], file), (unsigned)arg[2],
      arg[3] != 0 ? string_at(c, arg[3], function) : unknown, (long long)x->block[0],
      (long long)x->block[1], (long long)x->block[2], (long long)(thread % n[0]),
      (long long)(thread / n[0] % n[1]), (long long)(thread / (n[0] * n[1])),
      string_at(c, arg[0], text));
}

/* ---- printf */

typedef struct print {
  const system_call *c;
  const uint8_t *args; /* one after the other, each at a multiple of its size */
  int64_t n, at;       /* bytes there, and of them taken */
  int taken;
  sct_str out;
} print;

/* The next argument, of so many bytes; 0 where there is none. */
static uint64_t next_arg(print *p, int bytes) {
  uint64_t v = 0;
  p->at = (p->at + bytes - 1) / bytes * bytes;
  if (p->args != NULL && p->at + bytes <= p->n) {
    memcpy(&v, p->args + p->at, (size_t)bytes);
  }
  p->at += bytes;
  p->taken++;
  return v;
}

/* Copies a conversion such as "%-*.3llx" to `spec` with its stars replaced and without its length;
 * returns what follows it. */
static const char *read_spec(print *p, const char *f, sct_str *spec, int *bytes) {
  int digits = 0;
  *bytes = 4;
  for (; *f != '\0' && strchr("%-+ #0123456789.*", *f) != NULL && digits < MAX_DIGITS; f++) {
    digits = *f >= '0' && *f <= '9' ? digits + 1 : 0;
    if (*f == '*') {
      sct_str_append_int(spec, (int32_t)next_arg(p, 4) % 1000);
    } else {
      sct_str_append_n(spec, f, 1);
    }
    if (*f == '%' && spec->len > 1) {
      return f + 1;
    }
  }
  for (; *f != '\0' && strchr("hlLqjzt", *f) != NULL; f++) {
    *bytes = *f == 'h' ? (*bytes == 2 ? 1 : 2) : 8;
  }
  return f;
}

static void print_integer(print *p, sct_str *spec, char conversion, int bytes) {
  const uint64_t v = next_arg(p, bytes < 4 ? 4 : bytes);
  const int drop = 64 - 8 * bytes;
  const bool is_signed = conversion == 'd' || conversion == 'i';
  const uint64_t whole = is_signed ? (uint64_t)((int64_t)(v << drop) >> drop) : v << drop >> drop;
  sct_str_printf(spec, "ll%c", conversion);
  sct_str_printf(&p->out, sct_str_c(spec), whole);
}

/* One conversion; returns what follows it. */
static const char *print_one(print *p, const char *f) {
  SCT_SCOPED(sct_str) spec = {0};
  char text[MAX_TEXT];
  int bytes = 0;
  const char *const start = f;
  f = read_spec(p, f, &spec, &bytes);
  const char conversion = f[-1] == '%' && spec.len > 1 ? '%' : *f;
  if (conversion == '%') {
    sct_str_append(&p->out, "%");
    return f;
  }
  if (conversion != '\0' && strchr("diouxX", conversion) != NULL) {
    print_integer(p, &spec, conversion, bytes);
  } else if (conversion != '\0' && strchr("eEfFgGaA", conversion) != NULL) {
    const uint64_t v = next_arg(p, 8);
    double d = 0;
    memcpy(&d, &v, 8);
    sct_str_append_n(&spec, &conversion, 1);
    sct_str_printf(&p->out, sct_str_c(&spec), d);
  } else if (conversion == 'c') {
    sct_str_append(&spec, "c");
    sct_str_printf(&p->out, sct_str_c(&spec), (int)next_arg(p, 4));
  } else if (conversion == 's') {
    sct_str_append(&spec, "s");
    sct_str_printf(&p->out, sct_str_c(&spec), string_at(p->c, next_arg(p, 8), text));
  } else if (conversion == 'p') {
    sct_str_printf(&p->out, "0x%llx", (unsigned long long)next_arg(p, 8));
  } else { /* not one of CUDA's: as it stands */
    sct_str_append_n(&p->out, start, (size_t)(f - start));
    return f;
  }
  return f + 1;
}

static void run_printf(const system_call *c) {
  char format[MAX_TEXT];
  uint64_t arg[2];
  if (!get_param(c, 0, &arg[0]) || !get_param(c, 1, &arg[1])) {
    return;
  }
  print p = {.c = c};
  p.args = arg[1] != 0 ? bytes_at(c, arg[1], &p.n) : NULL;
  for (const char *f = string_at(c, arg[0], format); *f != '\0';) {
    const size_t plain = strcspn(f, "%");
    sct_str_append_n(&p.out, f, plain);
    f += plain;
    f = *f == '%' ? print_one(&p, f) : f;
  }
  ptx_printed *to = c->x->launch->printed;
  if (to->text.len + p.out.len <= PRINT_LIMIT) {
    sct_str_append(&to->text, sct_str_c(&p.out));
  } else {
    to->dropped++;
  }
  sct_str_free(&p.out);
  put_result(c, (uint64_t)p.taken);
}

/* ---- the heap */

static void run_malloc(const system_call *c, bool aligned) {
  uint64_t bytes = 0, align = 16;
  if (!get_param(c, 0, &bytes) || (aligned && !get_param(c, 1, &align))) {
    return;
  }
  put_result(c, sct_ptx_heap_take(c->x, bytes, align > 16 ? align : 16));
}

static void run_free(const system_call *c) {
  uint64_t address = 0;
  if (get_param(c, 0, &address)) {
    (void)sct_ptx_heap_give(c->x, c->u, c->lane, address);
  }
}

void sct_ptx_op_system(ptx_exec *x, const ptx_uop *u) {
  system_call c = {.x = x, .u = u, .call = &x->code->calls[u->imm]};
  for (uint32_t m = x->mask; m != 0 && !x->stop; m &= m - 1) {
    c.lane = ptx_first_lane(m);
    switch ((ptx_system)u->op) {
    case PTX_SYSTEM_ASSERT:
      run_assert(&c);
      break;
    case PTX_SYSTEM_PRINTF:
      run_printf(&c);
      break;
    case PTX_SYSTEM_FREE:
      run_free(&c);
      break;
    default:
      run_malloc(&c, u->op == PTX_SYSTEM_MALLOC_ALIGNED);
      break;
    }
  }
}
