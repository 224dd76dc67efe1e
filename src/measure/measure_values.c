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

/* Puts the special ones among n lanes of a stream, the first of which has the number `first`. */
static void put_specials(uint64_t *bits, int n, sct_type type, const sct_stream *stream,
                         int64_t first) {
  const sct_type_info *info = sct_type_get(type);
  const bool stays = stream->mix == SCT_MIX_STAYS;
  const unsigned n_kinds = stream->mix == SCT_MIX_ANY ? N_SPECIAL : N_FINITE;
  const int64_t lanes = stays ? 1 : LANES_A_SPECIAL; /* of which one is special */
  for (int64_t group = first / lanes; group * lanes < first + n; group++) {
    const uint64_t r = sct_mix64(~stream->key, (uint64_t)group);
    const int64_t at = group * lanes + (int64_t)(r >> 32) % lanes - first;
    const unsigned which = stays ? group % 2 != 0 ? MINUS_ZERO : WITH_PAYLOAD
                                 : (unsigned)(((uint64_t)group + stream->key) % n_kinds);
    if (at >= 0 && at < n) {
      bits[at] = info->kind == SCT_KIND_FLOAT ? special_float(type, (special)which, r)
                                              : special_integer(info, which, stream->divides);
    }
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
    if (stream->mix != SCT_MIX_NONE) {
      put_specials(bits, some * lanes, type, stream, lane);
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

void sct_data_scalar(void *out, sct_type type, uint64_t seed, int scalar) {
  const sct_type_info *info = sct_type_get(type);
  const uint64_t key = sct_mix64(~seed, (uint64_t)scalar); /* apart from every field's */
  sct_data_value(out, type, &(sct_stream){.key = key}, 0);
  if (info->kind != SCT_KIND_FLOAT) {
    const int lane_bytes = info->bytes / info->lanes;
    for (int lane = 0; lane < info->lanes; lane++) {
      const uint64_t most = info->kind == SCT_KIND_BOOL ? 1 : 100;
      const uint64_t small = 1 + sct_mix64(key, (uint64_t)lane) % most;
      memcpy((char *)out + lane * lane_bytes, &small, (size_t)lane_bytes);
    }
  }
}

/* ---- printing ---- */

/* The value of a float of 1 or 2 bytes. */
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
