/* reference - what every generated reference program shares: types, layouts, values, comparison.
 *
 * Nothing of Sectile is used here: layouts are written out from docs/layouts.md, arithmetic is
 * plain C. Valid as C11 and as C++11, since programs for a GPU include it too. Little-endian. */
#ifndef FZ_REFERENCE_H
#define FZ_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FZ_MAX_DIMS = 8, FZ_MAX_ARRAYS = 32, FZ_MAX_EXTENTS = 16, FZ_MAX_SCALARS = 16 };

/* ---- types ---- */

typedef enum fz_type {
  FZ_INT,
  FZ_UINT,
  FZ_BOOL,
  FZ_E4M3,
  FZ_E5M2,
  FZ_F16,
  FZ_BF16,
  FZ_F32,
  FZ_F64
} fz_type;

typedef struct fz_f16 {
  uint16_t bits;
} fz_f16;
typedef struct fz_bf16 {
  uint16_t bits;
} fz_bf16;
typedef struct fz_e4m3 {
  uint8_t bits;
} fz_e4m3;
typedef struct fz_e5m2 {
  uint8_t bits;
} fz_e5m2;
typedef struct fz_f16x2 {
  fz_f16 x, y;
} fz_f16x2;
typedef struct fz_bf16x2 {
  fz_bf16 x, y;
} fz_bf16x2;
typedef struct fz_i8x4 {
  signed char x, y, z, w;
} fz_i8x4;
typedef struct fz_u8x4 {
  unsigned char x, y, z, w;
} fz_u8x4;
typedef struct fz_f32x2 {
  float x, y;
} fz_f32x2;
typedef struct fz_f32x4 {
  float x, y, z, w;
} fz_f32x4;
typedef struct fz_f64x2 {
  double x, y;
} fz_f64x2;
typedef struct fz_i32x2 {
  int x, y;
} fz_i32x2;
typedef struct fz_i32x4 {
  int x, y, z, w;
} fz_i32x4;

static inline uint32_t fz_float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return bits;
}
static inline float fz_bits_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

/* NaN becomes a quiet one, as C's fminf and fmaxf take others in ways of their own. */
static inline float fz_from_bf16(fz_bf16 h) {
  const uint32_t bits = (uint32_t)h.bits << 16;
  return fz_bits_float((bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : bits);
}
static inline fz_bf16 fz_to_bf16(float x) {
  const uint32_t bits = fz_float_bits(x);
  fz_bf16 h;
  h.bits = x != x ? 0x7fff : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  return h;
}
static inline float fz_from_f16(fz_f16 h) {
  const uint32_t sign = (uint32_t)(h.bits & 0x8000) << 16, exponent = h.bits >> 10 & 31;
  const uint32_t mantissa = h.bits & 0x3ff;
  if (exponent == 31) {
    return fz_bits_float(sign | 0x7f800000 | mantissa << 13 | (mantissa ? 0x400000 : 0));
  }
  const float size = exponent ? ldexpf((float)(mantissa + 1024), (int)exponent - 25)
                              : ldexpf((float)mantissa, -24);
  return sign ? -size : size;
}
static inline fz_f16 fz_to_f16(float x) {
  const uint16_t sign = (uint16_t)(fz_float_bits(x) >> 16 & 0x8000);
  const float size = fabsf(x);
  fz_f16 h;
  if (x != x) {
    h.bits = 0x7fff;
  } else if (size >= 65520.0f) { /* half above the largest rounds to infinity */
    h.bits = sign | 0x7c00;
  } else if (size < 6.103515625e-05f) { /* 2^-14: steps of 2^-24 */
    h.bits = sign | (uint16_t)rintf(size * 16777216.0f);
  } else {
    int exponent;
    const float fraction = frexpf(size, &exponent); /* size = fraction * 2^exponent, [0.5, 1) */
    const int steps = (int)rintf(fraction * 2048.0f) - 1024; /* 1024: carries into the exponent */
    h.bits = (uint16_t)(sign | ((exponent + 14) * 1024 + steps));
  }
  return h;
}

/* Floats of a byte: 1, 4 and 3 bits without infinity, or the upper byte of an f16. */
static inline float fz_from_e4m3(fz_e4m3 h) {
  const int exponent = h.bits >> 3 & 15, mantissa = h.bits & 7;
  const float size = (h.bits & 0x7f) == 0x7f ? NAN
                     : exponent              ? ldexpf((float)(mantissa + 8), exponent - 10)
                                             : ldexpf((float)mantissa, -9);
  return h.bits & 0x80 ? -size : size;
}
static inline float fz_from_e5m2(fz_e5m2 h) {
  fz_f16 half;
  half.bits = (uint16_t)(h.bits << 8);
  return fz_from_f16(half);
}
/* The nearest of all numbers up to the largest, of two the even one. */
static inline fz_e4m3 fz_to_e4m3(float x) {
  const double size = fmin(fabs((double)x), 448.0);
  fz_e4m3 best, h;
  best.bits = 0;
  for (int bits = 1; bits <= 0x7e; bits++) {
    h.bits = (uint8_t)bits;
    const double far = fabs(size - fz_from_e4m3(h)), least = fabs(size - fz_from_e4m3(best));
    best = far < least || (far == least && bits % 2 == 0) ? h : best;
  }
  best.bits = x != x ? 0x7f : best.bits | (signbit(x) ? 0x80 : 0);
  return best;
}
static inline fz_e5m2 fz_to_e5m2(float x) {
  const double size = fmin(fabs((double)x), 57344.0);
  fz_e5m2 best, h;
  best.bits = 0;
  for (int bits = 1; bits <= 0x7b; bits++) {
    h.bits = (uint8_t)bits;
    const double far = fabs(size - fz_from_e5m2(h)), least = fabs(size - fz_from_e5m2(best));
    best = far < least || (far == least && bits % 2 == 0) ? h : best;
  }
  best.bits = x != x ? 0x7f : best.bits | (signbit(x) ? 0x80 : 0);
  return best;
}

static inline int fz_min_i32(int a, int b) {
  return a < b ? a : b;
}
static inline int fz_max_i32(int a, int b) {
  return a < b ? b : a;
}
static inline unsigned int fz_min_u32(unsigned int a, unsigned int b) {
  return a < b ? a : b;
}
static inline unsigned int fz_max_u32(unsigned int a, unsigned int b) {
  return a < b ? b : a;
}

/* ---- a spec as data ---- */

typedef struct fz_field {
  const char *name;
  fz_type type;
  int lanes, bytes; /* of one value, all lanes */
  int align, offset;
  int kind; /* of an output, see FZ_BITS */
} fz_field;

/* How an output's value is held to the reference: bit for bit; any NaN for a NaN (the bits of a NaN
 * that was computed are the machine's); and 0 for -0 too (fmin and fmax choose either). */
enum { FZ_BITS, FZ_VALUE, FZ_ANY_ZERO };

typedef struct fz_array {
  const char *name;
  bool is_output;
  int index;       /* 0: none; 1: index array; 2: its values are distinct; 3: offsets; 4: with -1 */
  int start;       /* of an output, its bytes before; -1: poison; -2: values, as inputs have */
  bool is_cleared; /* to that by the launch function */
  int n_fields;
  const fz_field *fields;
  int64_t bytes, align; /* of a record */
  int n_dims, n_layouts;
  const char *const *labels;
  const bool *owns_gaps; /* by layout */
} fz_array;

typedef struct fz_scalar {
  const char *name;
  fz_type type;
  int bytes;
} fz_scalar;

struct fz_run;
typedef struct fz_spec {
  const char *name, *family;
  int n_dims, n_extents, n_arrays, n_inputs, n_scalars, n_runs, n_sizes;
  bool small;   /* floats are small whole numbers, so that sums are exact in any order */
  bool reduces; /* an empty index space has results */
  const char *const *extents; /* their names */
  const int64_t *most;        /* of each extent; 0: any */
  const fz_array *arrays;
  const fz_scalar *scalars;
  const int64_t (*runs)[FZ_MAX_EXTENTS];  /* extents to run at */
  const int64_t (*sizes)[FZ_MAX_EXTENTS]; /* those that are tuned */
  int64_t (*extent)(int array, int dim, const int64_t *n);
  int64_t (*limit)(int array, const int64_t *n); /* values of an index array lie below */
  int64_t (*bytes)(int array, int layout, const int64_t *n);
  int64_t (*offset)(int array, int layout, int field, const int64_t *x, const int64_t *n);
  void (*compute)(const struct fz_run *run);
} fz_spec;

/* One problem: extents, layouts and buffers. */
typedef struct fz_run {
  const fz_spec *spec;
  const int64_t *n;          /* extents */
  int layout[FZ_MAX_ARRAYS]; /* which of the array's layouts */
  int64_t bytes[FZ_MAX_ARRAYS];
  unsigned char *data[FZ_MAX_ARRAYS];   /* inputs, and what outputs must be */
  unsigned char *state[FZ_MAX_ARRAYS];  /* of outputs, a FZ_BYTE_ for each byte */
  unsigned char *before[FZ_MAX_ARRAYS]; /* of those that begin with values: these; else NULL */
  unsigned char scalar[FZ_MAX_SCALARS][8];
  uint64_t seed;
} fz_run;

/* HELD: of an element that is kept; FZ_BYTE_WRITTEN + a field's kind */
enum { FZ_BYTE_KEPT, FZ_BYTE_ANY, FZ_BYTE_HELD, FZ_BYTE_WRITTEN };

/* ---- layouts ---- */

static inline int64_t fz_round_up(int64_t x, int64_t m) {
  return (x + m - 1) / m * m;
}
/* Number of element x, last index fastest. */
static inline int64_t fz_linear(const int64_t *x, const int64_t *e, int n) {
  int64_t at = 0;
  for (int d = 0; d < n; d++) {
    at = at * e[d] + x[d];
  }
  return at;
}
static inline int64_t fz_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static inline int64_t fz_most(int64_t a, int64_t b) {
  return a > b ? a : b;
}
static inline int64_t fz_linear_col(const int64_t *x, const int64_t *e, int n) {
  int64_t at = 0;
  for (int d = n - 1; d >= 0; d--) {
    at = at * e[d] + x[d];
  }
  return at;
}
static inline int64_t fz_count(const int64_t *e, int n) {
  int64_t count = 1;
  for (int d = 0; d < n; d++) {
    count *= e[d];
  }
  return count;
}
/* The index of element number `at`. */
static inline void fz_unlinear(int64_t at, const int64_t *e, int n, int64_t *x) {
  for (int d = n - 1; d >= 0; d--) {
    x[d] = at % e[d];
    at /= e[d];
  }
}
/* Where the section of a field starts: sections follow each other, each on its type's alignment. */
static inline int64_t fz_section(const fz_array *a, int field, int64_t count) {
  int64_t at = 0;
  for (int f = 0; f < field; f++) {
    at = fz_round_up(at, a->fields[f].align) + a->fields[f].bytes * count;
  }
  return fz_round_up(at, a->fields[field].align);
}

/* Bytes of the fields before number `field`. */
static inline int64_t fz_prefix(const fz_array *a, int field) {
  int64_t bytes = 0;
  for (int f = 0; f < field; f++) {
    bytes += a->fields[f].bytes;
  }
  return bytes;
}

/* ---- random values ---- */

static inline uint64_t fz_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* A float's bits as a user's worst day has them. */
static inline uint32_t fz_hostile_f32(uint64_t *rng) {
  static const uint32_t special[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff,
                                     0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                     0x7fc00000, 0xffc12345, 0x3f800000, 0xbf800000, 0x4b800001,
                                     0x38800000, 0x387fc000, 0x477ff000, 0x33000000, 0x5f000000};
  const uint64_t r = fz_random(rng);
  if (r % 16 == 0) {
    return special[r / 16 % (sizeof special / sizeof *special)];
  }
  if (r % 16 < 3) {
    const uint32_t bits = (uint32_t)(r >> 32);
    return (bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : bits; /* NaN: a quiet one */
  }
  return fz_float_bits((float)((int64_t)(r >> 40) - (1 << 23)) / 65536.0f);
}

static inline void fz_put_value(unsigned char *to, fz_type type, int bytes, bool small,
                                uint64_t *rng) {
  const uint64_t r = fz_random(rng);
  const int tiny = (int)(r % 5) - 2;
  const float f = small ? (float)tiny : fz_bits_float(fz_hostile_f32(rng));
  if (type == FZ_BOOL) {
    *to = r >> 8 & 1;
  } else if (type == FZ_E4M3 || type == FZ_E5M2) {
    const uint8_t any = (uint8_t)(r >> 20);
    *to = !small && r % 8 < 5 ? any : type == FZ_E4M3 ? fz_to_e4m3(f).bits : fz_to_e5m2(f).bits;
  } else if (type == FZ_INT || type == FZ_UINT) {
    const uint64_t v = r >> 8;
    const uint64_t value = r % 8 == 0  ? (r & 256 ? ~(uint64_t)0 : (uint64_t)1 << (8 * bytes - 1))
                           : r % 8 < 4 ? v % 100
                                       : v << 8 | (v & 255);
    memcpy(to, &value, (size_t)bytes);
  } else if (type == FZ_F64) {
    const double wide = small ? tiny : r % 8 == 0 ? (double)f * 1e200 : (double)f / 3;
    memcpy(to, &wide, 8);
  } else if (type == FZ_F32) {
    memcpy(to, &f, 4);
  } else {
    const uint16_t any = (uint16_t)(r >> 20);
    const uint16_t rounded = type == FZ_F16 ? fz_to_f16(f).bits : fz_to_bf16(f).bits;
    const uint16_t half = !small && r % 8 == 0 ? any : rounded;
    memcpy(to, &half, 2);
  }
}

/* ---- buffers ---- */

static inline bool fz_next(int64_t *x, const int64_t *e, int n) {
  for (int d = n - 1; d >= 0; d--) {
    if (++x[d] < e[d]) {
      return true;
    }
    x[d] = 0;
  }
  return false;
}

/* Values of an index array: below its limit, each once where they must be distinct. */
static inline int64_t *fz_index_values(const fz_run *run, int array, int64_t count, uint64_t *rng) {
  const int64_t limit = run->spec->limit(array, run->n);
  int64_t *values = (int64_t *)calloc((size_t)(count > limit ? count : limit) + 1, 8);
  if (!values) {
    abort();
  }
  if (run->spec->arrays[array].index == 3) { /* empty rows, short ones, and some that are long */
    for (int64_t row = 1, mean = limit / count + 1; row < count; row++) {
      const uint64_t dice = fz_random(rng);
      const int64_t length = dice % 4 == 0 ? 0
                                           : (int64_t)(dice / 64 % (uint64_t)(2 * mean + 1)) *
                                                 (dice / 4 % 16 == 0 ? 40 : 1);
      const int64_t end = values[row - 1] + length;
      values[row] = row + 1 == count || end > limit - 1 ? limit - 1 : end;
    }
  } else if (run->spec->arrays[array].index == 2) {
    for (int64_t k = 0; k < limit; k++) {
      values[k] = k;
    }
    for (int64_t k = limit - 1; k > 0; k--) {
      const int64_t other = (int64_t)(fz_random(rng) % (uint64_t)(k + 1)), held = values[k];
      values[k] = values[other];
      values[other] = held;
    }
  } else {
    for (int64_t k = 0; k < count && limit > 0; k++) {
      values[k] = (int64_t)(fz_random(rng) % (uint64_t)limit);
      values[k] = run->spec->arrays[array].index == 4 && values[k] % 8 == 3 ? -1 : values[k];
    }
  }
  return values;
}

static inline unsigned char fz_poison(const fz_run *run, int array, int64_t byte) {
  return (unsigned char)((run->seed * 151 + (uint64_t)array * 77 + (uint64_t)byte * 59) % 251);
}

static inline void fz_fill_values(const fz_run *run, int array) {
  const fz_spec *s = run->spec;
  const fz_array *a = &s->arrays[array];
  uint64_t rng = run->seed * 1000003 + (uint64_t)array;
  int64_t e[FZ_MAX_DIMS], x[FZ_MAX_DIMS] = {0};
  for (int64_t k = 0; k < run->bytes[array]; k++) { /* what no element owns is noise */
    const unsigned char noise = (unsigned char)fz_random(&rng);
    run->data[array][k] = a->is_output ? fz_poison(run, array, k) : noise;
  }
  for (int d = 0; d < a->n_dims; d++) {
    e[d] = s->extent(array, d, run->n);
  }
  if (fz_count(e, a->n_dims) <= 0) {
    return;
  }
  int64_t *values = a->index ? fz_index_values(run, array, fz_count(e, a->n_dims), &rng) : NULL;
  int64_t number = 0;
  do {
    for (int f = 0; f < a->n_fields; f++) {
      const fz_field *field = &a->fields[f];
      unsigned char *to = run->data[array] + s->offset(array, run->layout[array], f, x, run->n);
      const int bytes = field->bytes / field->lanes;
      for (int lane = 0; lane < field->lanes && !values; lane++) {
        fz_put_value(to + lane * bytes, field->type, bytes, s->small, &rng);
      }
      if (values) {
        memcpy(to, &values[number], (size_t)bytes);
      }
    }
    number++;
  } while (fz_next(x, e, a->n_dims));
  free(values);
}

/* What a byte of an output is when the kernel starts. */
static inline unsigned char fz_start(const fz_run *run, int array, int64_t byte) {
  const int start = run->spec->arrays[array].start;
  if (run->before[array]) {
    return run->before[array][byte];
  }
  return start >= 0 ? (unsigned char)start : fz_poison(run, array, byte);
}

/* Allocates and fills everything, and computes what outputs must hold. */
static inline void fz_run_open(fz_run *run, const fz_spec *spec, const int64_t *n,
                               const int *layout, uint64_t seed) {
  memset(run, 0, sizeof *run);
  run->spec = spec;
  run->n = n;
  run->seed = seed;
  uint64_t rng = seed ^ 0x5ca1a5;
  for (int k = 0; k < spec->n_scalars; k++) {
    fz_put_value(run->scalar[k], spec->scalars[k].type, spec->scalars[k].bytes, spec->small, &rng);
  }
  for (int k = 0; k < spec->n_arrays; k++) {
    run->layout[k] = layout ? layout[k] : 0;
    run->bytes[k] = spec->bytes(k, run->layout[k], n);
    run->data[k] = (unsigned char *)malloc((size_t)run->bytes[k] + 1);
    run->state[k] = (unsigned char *)calloc((size_t)run->bytes[k] + 1, 1);
    if (!run->data[k] || !run->state[k]) {
      abort();
    }
    const bool has_values = !spec->arrays[k].is_output || spec->arrays[k].start == -2;
    if (has_values) {
      fz_fill_values(run, k);
    }
    for (int64_t b = 0; !has_values && b < run->bytes[k]; b++) {
      run->data[k][b] = fz_start(run, k, b);
    }
    if (has_values && spec->arrays[k].is_output) {
      run->before[k] = (unsigned char *)malloc((size_t)run->bytes[k] + 1);
      if (!run->before[k]) {
        abort();
      }
      memcpy(run->before[k], run->data[k], (size_t)run->bytes[k]);
    }
  }
  spec->compute(run);
}

static inline void fz_run_close(fz_run *run) {
  for (int k = 0; k < run->spec->n_arrays; k++) {
    free(run->data[k]);
    free(run->state[k]);
    free(run->before[k]);
  }
}

/* ---- one value ---- */

static inline void fz_get(const fz_run *run, int array, int field, const int64_t *x, void *value) {
  const int64_t at = run->spec->offset(array, run->layout[array], field, x, run->n);
  memcpy(value, run->data[array] + at, (size_t)run->spec->arrays[array].fields[field].bytes);
}

/* Where row `row` begins, of an array of offsets. */
static inline int64_t fz_offset(const fz_run *run, int array, int64_t row) {
  int64_t offset = 0;
  fz_get(run, array, 0, &row, &offset);
  return offset;
}

/* The gaps of a record that may be written, `at` being where its first field lies. */
static inline void fz_free_gaps(const fz_run *run, int array, int64_t at) {
  const fz_array *a = &run->spec->arrays[array];
  unsigned char *record = run->state[array] + at - a->fields[0].offset;
  for (int64_t k = 0; k < a->bytes && a->owns_gaps[run->layout[array]]; k++) {
    record[k] = record[k] == FZ_BYTE_KEPT ? FZ_BYTE_ANY : record[k];
  }
}

static inline void fz_put(const fz_run *run, int array, int field, const int64_t *x,
                          const void *value) {
  const fz_field *f = &run->spec->arrays[array].fields[field];
  const int64_t at = run->spec->offset(array, run->layout[array], field, x, run->n);
  memcpy(run->data[array] + at, value, (size_t)f->bytes);
  memset(run->state[array] + at, FZ_BYTE_WRITTEN + f->kind, (size_t)f->bytes);
  if (field == 0) {
    fz_free_gaps(run, array, at);
  }
}

/* An element that stays as it was, or gets its own values again: its gaps need not. */
static inline void fz_keep(const fz_run *run, int array, const int64_t *x) {
  for (int f = run->spec->arrays[array].n_fields - 1; f >= 0; f--) {
    const int64_t at = run->spec->offset(array, run->layout[array], f, x, run->n);
    memset(run->state[array] + at, FZ_BYTE_HELD, (size_t)run->spec->arrays[array].fields[f].bytes);
    if (f == 0) {
      fz_free_gaps(run, array, at);
    }
  }
}

static inline void fz_get_scalar(const fz_run *run, int scalar, void *value) {
  memcpy(value, run->scalar[scalar], (size_t)run->spec->scalars[scalar].bytes);
}

/* ---- taps ---- */

enum { FZ_NONE, FZ_CLAMP, FZ_ZERO, FZ_WRAP, FZ_REFLECT, FZ_SKIP, FZ_NUMBER };

/* Moves index *x by delta as the border says; false: there is no element. */
static inline bool fz_tap(int64_t *x, int64_t delta, int64_t extent, int border) {
  int64_t at = *x + delta;
  const bool inside = at >= 0 && at < extent;
  if (!inside && border == FZ_CLAMP) {
    at = at < 0 ? 0 : extent - 1;
  } else if (!inside && border == FZ_WRAP) {
    at = (at % extent + extent) % extent;
  } else if (!inside && border == FZ_REFLECT) {
    while (extent > 1 && (at < 0 || at >= extent)) { /* from mirror to mirror */
      at = at < 0 ? -at : 2 * (extent - 1) - at;
    }
    at = extent > 1 ? at : 0;
  }
  *x = at;
  return inside || border < FZ_ZERO || border == FZ_WRAP || border == FZ_REFLECT;
}

/* ---- comparison ---- */

/* A value as a double, to see whether it is NaN or 0; integers are neither. */
static inline double fz_as_double(fz_type type, const unsigned char *value) {
  float f = 1;
  double d = 1;
  fz_f16 h;
  fz_bf16 b;
  fz_e4m3 e;
  fz_e5m2 g;
  switch (type) {
  case FZ_E4M3:
    memcpy(&e, value, 1);
    return fz_from_e4m3(e);
  case FZ_E5M2:
    memcpy(&g, value, 1);
    return fz_from_e5m2(g);
  case FZ_F16:
    memcpy(&h, value, 2);
    return fz_from_f16(h);
  case FZ_BF16:
    memcpy(&b, value, 2);
    return fz_from_bf16(b);
  case FZ_F32:
    memcpy(&f, value, 4);
    return f;
  case FZ_F64:
    memcpy(&d, value, 8);
    return d;
  default:
    return 1;
  }
}

static inline bool fz_agrees(const fz_field *f, const unsigned char *got,
                             const unsigned char *want) {
  const int bytes = f->bytes / f->lanes;
  for (int lane = 0; lane < f->lanes; lane++, got += bytes, want += bytes) {
    const double a = fz_as_double(f->type, got), b = fz_as_double(f->type, want);
    const bool same_nan = f->kind >= FZ_VALUE && a != a && b != b;
    const bool same_zero = f->kind == FZ_ANY_ZERO && a == 0 && b == 0;
    if (!same_nan && !same_zero && memcmp(got, want, (size_t)bytes) != 0) {
      return false;
    }
  }
  return true;
}

static inline void fz_print_bytes(char *out, size_t size, const unsigned char *bytes, int n) {
  size_t len = (size_t)snprintf(out, size, "0x");
  for (int k = n - 1; k >= 0 && len < size; k--) {
    len += (size_t)snprintf(out + len, size - len, "%02x", bytes[k]);
  }
}

/* Holds the values of all elements of output `array` in `got` to the reference. */
static inline bool fz_check_values(const fz_run *run, int array, const unsigned char *got,
                                   char *text, size_t size) {
  const fz_spec *s = run->spec;
  const fz_array *a = &s->arrays[array];
  int64_t e[FZ_MAX_DIMS + 1] = {0}, x[FZ_MAX_DIMS + 1] = {0};
  for (int d = 0; d < a->n_dims; d++) {
    e[d] = s->extent(array, d, run->n);
  }
  if (fz_count(e, a->n_dims) <= 0) {
    return true;
  }
  do {
    for (int f = 0; f < a->n_fields; f++) {
      const fz_field *field = &a->fields[f];
      const int64_t at = s->offset(array, run->layout[array], f, x, run->n);
      if (run->state[array][at] < FZ_BYTE_WRITTEN ||
          fz_agrees(field, got + at, run->data[array] + at)) {
        continue;
      }
      char have[64], want[64];
      fz_print_bytes(have, sizeof have, got + at, field->bytes);
      fz_print_bytes(want, sizeof want, run->data[array] + at, field->bytes);
      int len = snprintf(text, size, "%s%s%s of element", a->name, field->name[0] ? "." : "",
                         field->name);
      for (int d = 0; d < a->n_dims; d++) {
        len += snprintf(text + len, size - (size_t)len, " %lld", (long long)x[d]);
      }
      snprintf(text + len, size - (size_t)len, " is %s (%g) instead of %s (%g)", have,
               fz_as_double(field->type, got + at), want,
               fz_as_double(field->type, run->data[array] + at));
      return false;
    }
  } while (fz_next(x, e, a->n_dims));
  return true;
}

/* Holds a whole output to the reference: values, and what must be left alone. false: `text` says
 * what is wrong. */
static inline bool fz_check(const fz_run *run, int array, const unsigned char *got, char *text,
                            size_t size) {
  if (!fz_check_values(run, array, got, text, size)) {
    return false;
  }
  for (int64_t k = 0; k < run->bytes[array]; k++) {
    const unsigned char state = run->state[array][k];
    if ((state == FZ_BYTE_KEPT || state == FZ_BYTE_HELD) && got[k] != fz_start(run, array, k)) {
      snprintf(text, size,
               "byte %lld of %s, which belongs to no element that is written, was "
               "overwritten",
               (long long)k, run->spec->arrays[array].name);
      return false;
    }
  }
  return true;
}

#endif
