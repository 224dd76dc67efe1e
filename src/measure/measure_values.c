/* Values: deterministic, ordinary, and the same on host and device. */
#include "measure_data.h"

#include <math.h>
#include <string.h>

static const sct_masks any_bits = {~0ULL, 0}, bools = {0x0101010101010101ULL, 0};

/* How a floating-point number is made of bits. */
typedef struct format {
  int bits, exponent_bits, fraction_bits, bias;
  uint64_t sign, exponent, fraction; /* masks; the exponent's from its lowest bit on */
  uint64_t largest;                  /* finite number */
  bool has_infinity, saturates;      /* what is larger becomes that */
} format;

static format format_of(sct_type type) {
  const sct_type_info *info = sct_type_get(type);
  format f = {.bits = info->bytes / info->lanes * 8, .exponent_bits = info->exponent_bits};
  f.fraction_bits = f.bits - 1 - f.exponent_bits;
  f.bias = (1 << (f.exponent_bits - 1)) - 1;
  f.sign = (uint64_t)1 << (f.bits - 1);
  f.exponent = ((uint64_t)1 << f.exponent_bits) - 1;
  f.fraction = ((uint64_t)1 << f.fraction_bits) - 1;
  /* e4m3 has no infinity, and numbers up to the one NaN */
  f.largest = type == SCT_TYPE_E4M3 ? 0x7e : (f.exponent << f.fraction_bits) - 1;
  f.has_infinity = type != SCT_TYPE_E4M3;
  f.saturates = f.bits == 8;
  return f;
}

sct_masks sct_data_masks(sct_type type) {
  const sct_type_info *info = sct_type_get(type);
  if (info->kind == SCT_KIND_BOOL) {
    return bools;
  }
  if (info->kind != SCT_KIND_FLOAT) {
    return any_bits;
  }
  const format f = format_of(type);
  const uint64_t lanes = UINT64_MAX / (UINT64_MAX >> (64 - f.bits)); /* a 1 for each of them */
  /* of 1 byte: in [1/2, 2), else there are few */
  const uint64_t more = f.bits == 8 ? (uint64_t)1 << f.fraction_bits : 0;
  return (sct_masks){lanes * (f.fraction | more),
                     lanes * (((uint64_t)f.bias << f.fraction_bits) - more)};
}

static bool has_field(const sct_record *record, sct_type_kind kind, int most_bytes) {
  bool any = false;
  for (int f = 0; f < record->n_fields; f++) {
    const sct_type_info *info = sct_type_get(record->fields[f].type);
    any = any || (info->kind == kind && info->bytes <= most_bytes);
  }
  return any;
}

sct_masks sct_data_record_masks(const sct_record *record) {
  const sct_masks first = sct_data_masks(record->fields[0].type);
  for (int f = 1; f < record->n_fields; f++) {
    const sct_masks m = sct_data_masks(record->fields[f].type);
    if (m.and_mask != first.and_mask || m.or_mask != first.or_mask) {
      return has_field(record, SCT_KIND_BOOL, 1) ? bools
             : record->packed || has_field(record, SCT_KIND_FLOAT, 1)
                 ? (sct_masks){0x0303030303030303ULL, 0x3c3c3c3c3c3c3c3cULL}
                 : (sct_masks){0x007f03ff007f03ffULL, 0x3f803c003f803c00ULL};
    }
  }
  return first;
}

/* ---- scattered and contiguous fields ---- */

/* Do they follow each other without a gap? */
static bool is_run(const int64_t *at, int n, int64_t bytes) {
  bool run = n > 0;
  for (int k = 1; k < n && run; k++) {
    run = at[k] == at[k - 1] + bytes;
  }
  return run;
}

void sct_fields_scatter(uint8_t *to, const int64_t *at, const uint8_t *fields, int n,
                        int64_t bytes) {
  if (is_run(at, n, bytes)) {
    memcpy(to + at[0], fields, (size_t)(n * bytes));
    return;
  }
  for (int k = 0; k < n; k++) {
    memcpy(to + at[k], fields + k * bytes, (size_t)bytes);
  }
}

void sct_fields_gather(uint8_t *fields, const uint8_t *from, const int64_t *at, int n,
                       int64_t bytes) {
  for (int k = 0; k < n; k++) {
    memcpy(fields + k * bytes, from + at[k], (size_t)bytes);
  }
}

/* ---- streams ---- */

#define AT_ONCE 256 /* lanes */

/* The low bytes of each, contiguous. */
static void pack(uint8_t *out, const uint64_t *bits, int n, int bytes) {
  for (int k = 0; k < n; k++) {
    memcpy(out + k * bytes, &bits[k], (size_t)bytes);
  }
}

sct_index_values sct_index_values_of(const sct_index_fill *fill) {
  sct_index_values v = {.fill = fill->fill,
                        .limit = fill->limit,
                        .columns = fill->columns < 1 ? 1 : fill->columns,
                        .has_none = fill->has_none,
                        .seed = fill->seed,
                        .half = 1};
  while (v.half < 31 && (int64_t)1 << (2 * v.half) < fill->limit) {
    v.half++;
  }
  return v;
}

/* The value of a float of at most 4 bytes. */
static double small_value(uint64_t bits, const format *f) {
  const uint64_t size = bits & (f->sign - 1);
  const int exponent = (int)(size >> f->fraction_bits);
  const double fraction = (double)(size & f->fraction);
  double v = 0;
  if (size > f->largest) {
    v = size == f->largest + 1 && f->has_infinity ? INFINITY : NAN;
  } else if (exponent == 0) {
    v = ldexp(fraction, 1 - f->bias - f->fraction_bits);
  } else {
    v = ldexp(fraction + (double)(f->fraction + 1), exponent - f->bias - f->fraction_bits);
  }
  return bits & f->sign ? -v : v;
}

/* ---- special values ---- */

#define LANES_A_SPECIAL 32 /* lanes of which one is special */

typedef enum special {
  NEGATIVE,
  NEGATIVE_TOO, /* as half of all branches are about signs */
  ZERO,
  MINUS_ZERO,
  BELOW_ONE,
  ABOVE_MINUS_ONE,
  ABOVE_TWO,
  BELOW_MINUS_TWO,
  DENORMAL,
  MINUS_DENORMAL,
  N_FINITE,
  LARGE = N_FINITE,
  MINUS_LARGE,
  INFINITE,
  MINUS_INFINITE,
  NOT_A_NUMBER, /* the device's own */
  WITH_PAYLOAD, /* another one, quiet or not */
  N_SPECIAL
} special;
_Static_assert(LANES_A_SPECIAL *N_SPECIAL == SCT_DATA_PERIOD, "all come within that");

/* r: random bits. */
static uint64_t special_float(sct_type type, special which, uint64_t r) {
  const format f = format_of(type);
  const uint64_t ones = f.exponent, bias = ones / 2, fraction = r & f.fraction;
  const uint64_t some = r >> 61; /* 0 to 7 */
  uint64_t exponent = bias, low = fraction;
  switch (which) {
  case ZERO:
  case MINUS_ZERO:
    exponent = low = 0;
    break;
  case BELOW_ONE:
  case ABOVE_MINUS_ONE:
    exponent = bias - 1 - some % (bias - 1);
    break;
  case ABOVE_TWO:
  case BELOW_MINUS_TWO:
    exponent = bias + 1 + some % 2;
    break;
  case DENORMAL:
  case MINUS_DENORMAL:
    exponent = 0;
    low = fraction >> (some * (uint64_t)f.fraction_bits / 8) | 1;
    break;
  case LARGE:
  case MINUS_LARGE:
    exponent = ones - 1;
    break;
  case INFINITE:
  case MINUS_INFINITE:
    exponent = ones;
    low = 0;
    break;
  case NOT_A_NUMBER:
    exponent = ones;
    low = f.fraction;
    break;
  case WITH_PAYLOAD:
    exponent = ones;
    low = (fraction | 1) & ~(uint64_t)2;
    break;
  default:
    break;
  }
  const bool negative = which == NEGATIVE || which == NEGATIVE_TOO || which == MINUS_ZERO ||
                        which == ABOVE_MINUS_ONE || which == BELOW_MINUS_TWO ||
                        which == MINUS_DENORMAL || which == MINUS_LARGE ||
                        which == MINUS_INFINITE || (which == WITH_PAYLOAD && some % 2 == 1);
  return (negative ? f.sign : 0) | exponent << f.fraction_bits | low;
}

static uint64_t special_integer(const sct_type_info *info, unsigned which, bool divides) {
  const uint64_t lowest = (uint64_t)1 << (info->bytes / info->lanes * 8 - 1);
  const uint64_t values[] = {lowest - 1, 0, ~(uint64_t)0, lowest};
  const uint64_t value = values[divides ? 0 : which % SCT_COUNT(values)];
  return info->kind == SCT_KIND_BOOL ? value & 1 : value;
}

/* Sums of values near the largest are infinite in one order only. */
static special special_of(const sct_stream *stream, uint64_t number, bool any) {
  const special which = (special)(number % (any ? N_SPECIAL : N_FINITE));
  const bool is_large = which == LARGE || which == MINUS_LARGE;
  const bool is_infinite = which == INFINITE || which == MINUS_INFINITE;
  return (stream->near && is_large) || (stream->bounded && is_infinite) ? NOT_A_NUMBER : which;
}

/* Puts the special ones among n lanes of a stream, the first of which has the number `first`. */
static void put_specials(uint64_t *bits, int n, sct_type type, const sct_stream *stream,
                         int64_t first) {
  const sct_type_info *info = sct_type_get(type);
  const bool stays = stream->mix == SCT_MIX_STAYS;
  const int64_t lanes = stays ? 1 : LANES_A_SPECIAL; /* of which one is special */
  for (int64_t group = first / lanes; group * lanes < first + n; group++) {
    const uint64_t r = sct_mix64(~stream->key, (uint64_t)group);
    const int64_t at = group * lanes + (int64_t)(r >> 32) % lanes - first;
    const unsigned which =
        stays ? group % 2 != 0 ? MINUS_ZERO : WITH_PAYLOAD
              : special_of(stream, (uint64_t)group + stream->key, stream->mix == SCT_MIX_ANY);
    if (at >= 0 && at < n) {
      bits[at] = info->kind == SCT_KIND_FLOAT ? special_float(type, (special)which, r)
                                              : special_integer(info, which, stream->divides);
    }
  }
}

/* ---- wide values ---- */

/* Exponents of values whose results are near: a million squares of them still have a sum. */
static int most_exponent(const format *f, bool near) {
  const int most = (int)f->exponent - 1 - f->bias;
  return !near ? most : f->exponent_bits == 11 ? 400 : f->exponent_bits == 8 ? 40 : most / 3;
}

static uint64_t bits_of(sct_type type, double value) {
  uint64_t bits = 0;
  sct_data_put_float(&bits, type, value);
  return bits;
}

/* The value beside one: `by` units in its last place away from 0, or nearer to it. */
static uint64_t beside(const format *f, uint64_t bits, int by) {
  const uint64_t size = bits & (f->sign - 1);
  const bool can = size > 0 && size < f->largest;
  return can ? (bits & f->sign) | (size + (uint64_t)(int64_t)by) : bits;
}

/* Half-way between two values of a narrower type, the largest and what overflows among them, or one
 * unit of its own beside that. */
static uint64_t tie_of(sct_type type, const format *f, bool near, uint64_t r) {
  static const sct_type types[] = {SCT_TYPE_F32, SCT_TYPE_F16, SCT_TYPE_BF16, SCT_TYPE_E4M3,
                                   SCT_TYPE_E5M2};
  const format to = format_of(types[r % SCT_COUNT(types)]);
  if (to.fraction_bits >= f->fraction_bits) {
    return bits_of(type, 1.5);
  }
  const int least = -to.bias - to.fraction_bits, most = (int)to.exponent - to.bias;
  const int limit = most_exponent(f, near);
  const bool is_last =
      r >> 62 == 0 && most - to.has_infinity <= limit; /* what the largest and infinity are from */
  int exponent =
      is_last ? most - to.has_infinity : least + (int)((r >> 8) % (uint64_t)(most - least + 1));
  exponent = exponent > limit ? limit : exponent < -limit ? -limit : exponent;
  const int above = exponent > -to.bias ? exponent : 1 - to.bias; /* of the unit; subnormal */
  const double unit = ldexp(1, above - to.fraction_bits);
  const double fraction = (double)(r >> 40 & to.fraction) / (double)(to.fraction + 1);
  const double value = is_last ? small_value(to.largest, &to) : ldexp(1 + fraction, exponent);
  const double half = is_last && r >> 34 & 1 ? 0 : 0.5;
  const uint64_t tie = bits_of(type, (floor(value / unit) + half) * unit);
  return (r >> 39 & 1 ? f->sign : 0) | beside(f, tie, (int)(r >> 36 & 3) % 3 - 1);
}

/* Where conversions to integers turn: halves, and the ends of integer types. */
static double turn_of(uint64_t r) {
  static const int ends[] = {7, 8, 15, 16, 24, 31, 32, 53, 63, 64};
  const double end = ldexp(1, ends[(r >> 8) % SCT_COUNT(ends)]);
  static const double beyond[] = {0, -1, -0.5, 0.5, 1};
  const double value =
      r % 4 < 3 ? (double)((r >> 8) % 81) / 2 : end + beyond[(r >> 16) % SCT_COUNT(beyond)];
  return r >> 32 & 1 ? -value : value;
}

/* In half of all cases one of the body's. */
static bool pick_literal(const sct_literals *literals, uint64_t r, long double *out) {
  if (!literals || literals->n == 0) {
    return false;
  }
  const int n = r & 1 && literals->n_body > 0 ? literals->n_body : literals->n;
  *out = literals->value[(r >> 1) % (uint64_t)n];
  return true;
}

static uint64_t wide_float(sct_type type, const format *f, const sct_stream *s, uint64_t r) {
  const uint64_t more = sct_mix64(r, 1);
  const int limit = most_exponent(f, s->near);
  long double literal = 0;
  double turn = 0;
  bool low = false;
  uint64_t bits = (uint64_t)f->bias << f->fraction_bits | (more & f->fraction); /* in [1, 2) */
  switch (r % 16) {
  case 0:
  case 1:
  case 2:
  case 3:
  case 4: { /* any exponent */
    const int below = s->near ? limit : f->bias - 1;
    const int exponent = (int)((more >> 32) % (uint64_t)(below + limit + 1)) - below;
    bits = (uint64_t)(exponent + f->bias) << f->fraction_bits | (more & f->fraction);
    break;
  }
  case 5:
  case 6:
  case 7:
    return tie_of(type, f, s->near, more);
  case 8:
  case 9:
  case 10:
    if (pick_literal(s->literals, more >> 8, &literal) &&
        (!s->near || fabs((double)literal) < ldexp(1, limit))) {
      bits = beside(f, bits_of(type, (double)literal), more % 4 < 2 ? 0 : (int)(more % 4) * 2 - 5);
      return bits ^ (more >> 4 & 3 ? 0 : f->sign);
    }
    break;
  case 11:
  case 12:
    turn = turn_of(more);
    return bits_of(type, s->near && fabs(turn) >= ldexp(1, limit) ? -0.5 : turn);
  case 13:
    bits = special_float(type, special_of(s, more >> 8, !s->finite), more);
    low = isnan(sct_data_float(type, &bits)) && f->fraction_bits > 2 && more & 1;
    return low ? (bits & ~f->fraction) | 1 : bits; /* NaN by its last bit alone */
  default:
    break;
  }
  return bits | (more >> 63 ? f->sign : 0);
}

static uint64_t wide_integer(const sct_type_info *info, const sct_stream *s, uint64_t r) {
  const uint64_t more = sct_mix64(r, 1), length = 1 + (more >> 32) % 64;
  long double literal = 0;
  uint64_t value = sct_mix64(r, 2);
  switch (r % 8) {
  case 0:
  case 1: /* any length, of either sign */
    value >>= 64 - length;
    value = more & 1 ? ~value : value;
    break;
  case 2:
  case 3:
    value = more % 49 - 8;
    break;
  case 4:
  case 5: /* beside multiples of literals */
    if (pick_literal(s->literals, more >> 8, &literal) && fabsl(literal) < 0x1p63L) {
      const uint64_t times = more >> 4 & 1 ? 1 : value >> (more >> 58) % 64;
      value = (uint64_t)(int64_t)literal * times + more % 3 - 1;
      value = more >> 5 & 3 ? value : -value;
    }
    break;
  case 6:
    value = special_integer(info, (unsigned)(more % 8), false);
    break;
  default:
    break;
  }
  return value;
}

/* Of integers that divide: neither 0 nor the lowest value, nor what makes it overflow. */
static uint64_t divisor_of(const sct_type_info *info, uint64_t value) {
  const int bits = info->bytes / info->lanes * 8;
  const uint64_t all = UINT64_MAX >> (64 - bits), lowest = (uint64_t)1 << (bits - 1);
  const uint64_t low = value & all;
  return low == 0 || low == all || low == lowest ? 3 : value;
}

/* An integer of fewer bits, in some rows negative. */
static uint64_t shorter(const sct_type_info *info, uint64_t value, uint64_t row) {
  const int bits = info->bytes / info->lanes * 8;
  const uint64_t some = (value & UINT64_MAX >> (64 - bits)) >> row % (uint64_t)bits;
  return row >> 32 & 1 ? -some : some;
}

/* A row of nothing but one of the ends. */
static uint64_t end_of(sct_type type, const sct_type_info *info, const sct_stream *s, uint64_t r) {
  static const special ends[] = {MINUS_INFINITE, ZERO, NOT_A_NUMBER, INFINITE};
  special end = ends[s->row % SCT_COUNT(ends)];
  end = s->bounded && end != ZERO ? NOT_A_NUMBER : end;
  if (info->kind != SCT_KIND_FLOAT) {
    return special_integer(info, (unsigned)s->row, false);
  }
  end = end == ZERO && r & 1 ? MINUS_ZERO : end;
  return special_float(type, end, r);
}

/* In some rows one in four is NaN, where that does not decide. */
static uint64_t few_float(sct_type type, const format *f, const sct_stream *s, uint64_t r) {
  const double value = (double)(r % 3) - (double)(s->row % 3);
  const bool is_nan = !s->near && !s->finite && s->row >> 33 & 1 && (r >> 8) % 4 == 0;
  const uint64_t sign = value == 0 && r >> 16 & 1 ? f->sign : 0;
  return is_nan ? special_float(type, NOT_A_NUMBER, r) : bits_of(type, value) | sign;
}

/* One power of two, or one more with every 32 values. */
static uint64_t scaled_float(const format *f, const sct_stream *s, int64_t lane, uint64_t plain) {
  const int limit = most_exponent(f, s->near) - 1;
  const int from = (int)(s->row % (uint64_t)(2 * limit + 1)) - limit;
  const int rise = s->row >> 34 & 1 ? (int)(lane / LANES_A_SPECIAL % 8) : 0;
  const int scale = from + rise > limit ? limit : from + rise;
  return plain + ((uint64_t)(int64_t)scale << f->fraction_bits);
}

/* From 1 on, and again where the type has no more; of an odd row each is below the one before. */
static uint64_t rising(const sct_type_info *info, const format *f, const sct_stream *s,
                       int64_t lane) {
  const int bits = info->bytes / info->lanes * 8, fraction = f->fraction_bits;
  const int most = bits == 8 ? 5 : bits == 16 ? 12 : 20; /* bits of what is added */
  const uint64_t all = ((uint64_t)1 << most) - 1, falls = s->row & 1 ? all : 0;
  const uint64_t at = ((uint64_t)lane & all) ^ falls;
  if (info->kind != SCT_KIND_FLOAT) {
    return at;
  }
  return ((uint64_t)f->bias << fraction) + (fraction > most ? at << (fraction - most) : at);
}

/* Of either sign. In some rows one in 64 is 0, or infinite, which decides alone. */
static uint64_t factor_of(sct_type type, const sct_type_info *info, const sct_stream *s,
                          uint64_t r) {
  static const double near[] = {1, 1 + 1.0 / 64, 1 - 1.0 / 64, 1 + 1.0 / 128};
  const double sign = r >> 8 & 1 ? -1 : 1;
  if (info->kind != SCT_KIND_FLOAT) {
    return (r >> 16) % 64 == 0 && s->row % 8 == 3 ? 0 : (r & 6) | 1;
  } else if ((r >> 16) % 64 == 0 && s->row % 4 == 3) {
    return s->row & 4 ? bits_of(type, 0 * sign) : special_float(type, INFINITE, r);
  }
  return bits_of(type, sign * near[r % SCT_COUNT(near)]);
}

/* Near, equal values are round: their sums are exact in any order, and so is what is taken from
 * their mean. Others would all be rounded alike, and n of them lose n units. */
static uint64_t one_float(sct_type type, const format *f, const sct_stream *s) {
  const double round = 1 + (double)(s->row % 32) / 8;
  return s->near ? bits_of(type, s->row >> 32 & 1 ? -round : round)
                 : wide_float(type, f, s, s->row);
}

/* Lane number `lane` of a stream of which nothing is ordinary; `plain` is what it would be. */
static uint64_t wide_value(sct_type type, const format *f, const sct_stream *s, int64_t lane,
                           uint64_t plain) {
  const sct_type_info *info = sct_type_get(type);
  const bool is_real = info->kind == SCT_KIND_FLOAT;
  const uint64_t group = sct_mix64(~s->key, (uint64_t)(lane / LANES_A_SPECIAL));
  /* one in 8 groups has one value, one has each twice */
  const int64_t from = group % 8 == 0   ? lane / LANES_A_SPECIAL * LANES_A_SPECIAL
                       : group % 8 == 1 ? lane & ~(int64_t)1
                                        : lane;
  const uint64_t r = sct_mix64(s->key ^ (uint64_t)s->mix << 56, (uint64_t)from);
  switch (s->mix) {
  case SCT_MIX_WIDE:
    return is_real ? wide_float(type, f, s, r) : wide_integer(info, s, r);
  case SCT_MIX_FEW:
    return is_real ? few_float(type, f, s, r) : r % 3 - s->row % 3;
  case SCT_MIX_ONE:
    return is_real ? one_float(type, f, s) : wide_integer(info, s, s->row);
  case SCT_MIX_SCALED:
    return is_real ? scaled_float(f, s, lane, plain) | (s->row >> 32 & r & 1 ? f->sign : 0)
                   : shorter(info, plain, s->row);
  case SCT_MIX_RISES:
    return rising(info, f, s, lane);
  case SCT_MIX_FACTORS:
    return factor_of(type, info, s, r);
  default:
    return end_of(type, info, s, r);
  }
}

static void put_wide(uint64_t *bits, int n, sct_type type, const sct_stream *stream,
                     int64_t first) {
  const sct_type_info *info = sct_type_get(type);
  const format f = info->kind == SCT_KIND_FLOAT ? format_of(type) : (format){0};
  for (int k = 0; k < n; k++) {
    bits[k] = wide_value(type, &f, stream, first + k, bits[k]);
    bits[k] = info->kind == SCT_KIND_BOOL ? bits[k] & 1 : bits[k];
    if (stream->divides && (info->kind == SCT_KIND_INT || info->kind == SCT_KIND_UINT)) {
      bits[k] = divisor_of(info, bits[k]);
    }
  }
}

/* Times a power of two, of which narrow types have fewer; zeros, subnormal values and ends stay. */
static void scale_lanes(uint64_t *bits, int n, sct_type type, const sct_stream *s) {
  if (sct_type_get(type)->kind != SCT_KIND_FLOAT) {
    return;
  }
  const format f = format_of(type);
  const int limit = most_exponent(&f, s->near);
  const int scale = s->scale > limit ? limit : s->scale < -limit ? -limit : s->scale;
  for (int k = 0; k < n; k++) {
    const int exponent = (int)(bits[k] >> f.fraction_bits & f.exponent);
    const int scaled = exponent + scale;
    if (exponent > 0 && exponent < (int)f.exponent && scaled > 0 && scaled < (int)f.exponent) {
      const bool turns = s->signs == SCT_NEGATED || (s->signs == SCT_OF_BOTH_SIGNS && bits[k] & 1);
      bits[k] += (uint64_t)(int64_t)scale << f.fraction_bits;
      bits[k] ^= turns ? f.sign : 0;
    }
  }
}

#define ROUND_BITS 8 /* of a fraction: 2^15 times such a value is exact in f32 */

static void round_lanes(uint64_t *bits, int n, sct_type type) {
  const format f = format_of(type);
  for (int k = 0; k < n && f.fraction_bits > ROUND_BITS; k++) {
    const bool is_end = (bits[k] >> f.fraction_bits & f.exponent) == f.exponent;
    bits[k] &= is_end ? ~(uint64_t)0 : ~(f.fraction >> ROUND_BITS);
  }
}

void sct_data_values(uint8_t *image, const int64_t *offsets, int n, sct_type type,
                     const sct_stream *stream, int64_t first) {
  const sct_type_info *info = sct_type_get(type);
  const sct_masks m = sct_data_masks(type);
  const int lanes = info->lanes, most = AT_ONCE / lanes;
  uint64_t bits[AT_ONCE];
  uint8_t packed[sizeof bits];
  for (int begin = 0; begin < n; begin += most) {
    const int some = n - begin < most ? n - begin : most;
    const int64_t lane = (first + begin) * lanes;
    sct_mix64_row(bits, some * lanes, stream->key, (uint64_t)lane);
    for (int k = 0; k < some * lanes; k++) {
      bits[k] = (bits[k] & m.and_mask) | m.or_mask; /* lanes have at most 8 bytes */
    }
    if (stream->mix >= SCT_MIX_WIDE && info->shared == 1) {
      put_wide(bits, some * lanes, type, stream, lane);
    } else if (stream->mix != SCT_MIX_NONE) {
      put_specials(bits, some * lanes, type, stream, lane);
    }
    if (stream->scale != 0 || stream->signs != SCT_AS_THEY_ARE) {
      scale_lanes(bits, some * lanes, type, stream);
    }
    if (stream->round && info->kind == SCT_KIND_FLOAT) {
      round_lanes(bits, some * lanes, type);
    }
    pack(packed, bits, some * lanes, info->bytes / lanes);
    sct_fields_scatter(image, offsets + begin, packed, some, info->bytes);
  }
}

void sct_data_value(void *out, sct_type type, const sct_stream *stream, int64_t index) {
  const int64_t here = 0;
  sct_data_values(out, &here, 1, type, stream, index);
}

uint64_t sct_data_key(uint64_t seed, int op, int field) {
  return sct_mix64(seed, (uint64_t)(op * SCT_MAX_FIELDS + field));
}

/* ---- scalars ---- */

#define N_LEVELS 16

static double float_level(int level, double ordinary, const sct_scalar_values *of, double literal) {
  /* near: rounding decides whether what is divided by a difference is finite, if all is 0 but it */
  const double large = of->near ? 4097.5 : 33554434.0, least = of->near ? 0x1p-20 : 0;
  const double levels[N_LEVELS] = {
      ordinary,      -ordinary,         least,          -least, 1,       literal,  -1,
      large,         literal,           0.5 * ordinary, -large, literal, -literal, -0.25,
      10 * ordinary, 0x1p-20 * ordinary};
  return levels[level];
}

/* Beside a literal: one unit away at two of the levels that have it. */
static int unit_of(int level) {
  return level == 8 ? 1 : level == 11 ? -1 : 0;
}

static int64_t integer_level(int level, int64_t ordinary, int bytes, int64_t literal) {
  const int64_t far = bytes == 8 ? 5000000019 : bytes == 4 ? 1073754169 : 255;
  const int64_t levels[N_LEVELS] = {ordinary,    -1,          70001, literal, 0,        -ordinary,
                                    far,         literal + 1, 1,     -70001,  -literal, 2,
                                    literal - 1, -far,        40000, -2};
  return levels[level];
}

/* For a scalar: mostly one of the body's, and for an integer one that it can be. */
static long double literal_for(const sct_literals *literals, const sct_type_info *info,
                               uint64_t key) {
  long double fit[SCT_MAX_LITERALS];
  const int n = key % 4 > 0 && literals->n_body > 0 ? literals->n_body : literals->n;
  int n_fit = 0;
  for (int k = 0; k < n; k++) {
    const long double v = literals->value[k];
    fit[n_fit] = v;
    n_fit += info->kind == SCT_KIND_FLOAT || (fabsl(v) < 0x1p62L && v == (long double)(int64_t)v);
  }
  return n_fit > 0 ? fit[(key >> 8) % (uint64_t)n_fit] : -2.5L;
}

static void put_lane(uint8_t *out, const sct_scalar_values *of, sct_type type, int level,
                     uint64_t key) {
  const sct_type_info *info = sct_type_get(type);
  const int bytes = info->bytes / info->lanes;
  const long double literal = literal_for(of->literals, info, sct_mix64(key, of->pick));
  if (info->kind == SCT_KIND_FLOAT) {
    const format f = format_of(type);
    const double ordinary = sct_data_float(type, out);
    const uint64_t bits = beside(
        &f, bits_of(type, float_level(level, ordinary, of, (double)literal)), unit_of(level));
    memcpy(out, &bits, (size_t)bytes);
    return;
  }
  int64_t value = 1 + (int64_t)(key % 100);
  const int64_t number = fabsl(literal) < 0x1p62L ? (int64_t)literal : 3;
  static const int places[] = {1, 32, 64, 31, 33, 8, 16, 63};
  if (of->literals->places) {
    value = level % 2 == 0 ? places[level / 2] : value;
  } else {
    value = integer_level(level, value, bytes, number);
    const bool bad = of->literals->divides && divisor_of(info, (uint64_t)value) == 3;
    value = bad ? 3 : value;
  }
  value = info->kind == SCT_KIND_BOOL ? level & 1 : value;
  memcpy(out, &value, (size_t)bytes);
}

void sct_data_scalar(void *out, const sct_scalar_values *values, int scalar) {
  const sct_type type = values->spec->scalars[scalar].type;
  const sct_type_info *info = sct_type_get(type);
  const int bytes = info->bytes / info->lanes;
  const uint64_t key = sct_mix64(~values->seed, (uint64_t)scalar); /* apart from every field's */
  sct_data_value(out, type, &(sct_stream){.key = key}, 0);
  for (int lane = 0; lane < info->lanes; lane++) {
    uint8_t *const at = (uint8_t *)out + lane * bytes;
    const uint64_t most = info->kind == SCT_KIND_BOOL ? 1 : 100;
    const uint64_t small = 1 + sct_mix64(key, (uint64_t)lane) % most;
    if (info->kind != SCT_KIND_FLOAT) {
      memcpy(at, &small, (size_t)bytes);
    }
    if (values->variant != 0) {
      const int level = (values->variant * 7 + scalar * 5 + lane * 3) % N_LEVELS;
      put_lane(at, values, type, level, sct_mix64(key, (uint64_t)(values->variant * 16 + lane)));
    }
  }
}

/* ---- printing ---- */

double sct_data_float(sct_type type, const void *lane) {
  const format f = format_of(type);
  if (f.bits <= 16) {
    uint64_t bits = 0;
    memcpy(&bits, lane, (size_t)f.bits / 8);
    return small_value(bits, &f);
  }
  if (f.bits == 32) {
    float v;
    memcpy(&v, lane, sizeof v);
    return (double)v;
  }
  double v;
  memcpy(&v, lane, sizeof v);
  return v;
}

/* The nearest value of 1 or 2 bytes, ties to even. */
static uint64_t small_bits(double value, const format *f) {
  const uint64_t infinity = f->largest + !f->saturates;
  uint64_t bits = infinity;
  if (isnan(value)) {
    return f->sign - 1; /* as the device does */
  }
  if (!isinf(value)) {
    int exponent = 0;
    (void)frexp(value, &exponent);
    exponent = value != 0 && exponent > 2 - f->bias ? exponent - 1 : 1 - f->bias; /* subnormal */
    const double fraction = nearbyint(ldexp(fabs(value), f->fraction_bits - exponent));
    const uint64_t above =
        (uint64_t)(exponent < f->bias + 2 ? exponent + f->bias - 1 : 2 * f->bias + 1);
    bits = (uint64_t)fraction + (above << f->fraction_bits);
    bits = bits > infinity ? infinity : bits;
  }
  return bits | (signbit(value) ? f->sign : 0);
}

void sct_data_put_float(void *lane, sct_type type, double value) {
  const format f = format_of(type);
  if (f.bits <= 16) {
    const uint64_t bits = small_bits(value, &f);
    memcpy(lane, &bits, (size_t)f.bits / 8);
  } else if (f.bits == 32) {
    const float v = (float)value;
    memcpy(lane, &v, sizeof v);
  } else {
    memcpy(lane, &value, sizeof value);
  }
}

void sct_data_print(sct_str *out, sct_type type, int lane, const void *value) {
  const sct_type_info *info = sct_type_get(type);
  const int bytes = info->bytes / info->lanes;
  const char *at = (const char *)value + lane * bytes;
  uint64_t bits = 0;
  memcpy(&bits, at, (size_t)bytes);
  sct_str_printf(out, "0x%0*llx (", bytes * 2, (unsigned long long)bits);
  if (info->kind == SCT_KIND_FLOAT) {
    sct_str_printf(out, "%.*g)", bytes == 8 ? 17 : 9, sct_data_float(type, at));
  } else if (info->kind == SCT_KIND_UINT) {
    sct_str_printf(out, "%llu)", (unsigned long long)bits);
  } else {
    const int unused = 64 - bytes * 8;
    sct_str_printf(out, "%lld)", (long long)((int64_t)(bits << unused) >> unused));
  }
}
