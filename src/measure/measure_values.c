/* Values: deterministic, ordinary, and the same on host and device. */
#include "measure_data.h"

#include <math.h>
#include <string.h>

static const sct_masks any_bits = {~0ULL, 0};

sct_masks sct_data_masks(sct_type type) {
  const sct_type_info *info = sct_type_get(type);
  if (info->kind != SCT_KIND_FLOAT) {
    return any_bits;
  }
  if (type == SCT_TYPE_F16) {
    return (sct_masks){0x03ff03ff03ff03ffULL, 0x3c003c003c003c00ULL};
  }
  if (type == SCT_TYPE_BF16) {
    return (sct_masks){0x007f007f007f007fULL, 0x3f803f803f803f80ULL};
  }
  return info->bytes / info->lanes == 4 ? (sct_masks){0x007fffff007fffffULL, 0x3f8000003f800000ULL}
                                        : (sct_masks){0x000fffffffffffffULL, 0x3ff0000000000000ULL};
}

sct_masks sct_data_record_masks(const sct_record *record) {
  const sct_masks first = sct_data_masks(record->fields[0].type);
  for (int f = 1; f < record->n_fields; f++) {
    const sct_masks m = sct_data_masks(record->fields[f].type);
    if (m.and_mask != first.and_mask || m.or_mask != first.or_mask) {
      return record->packed ? (sct_masks){0x0303030303030303ULL, 0x3c3c3c3c3c3c3c3cULL}
                            : (sct_masks){0x007f03ff007f03ffULL, 0x3f803c003f803c00ULL};
    }
  }
  return first;
}

/* ---- fields at places, and behind one another ---- */

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

/* The low bytes of each, behind one another. */
static void pack(uint8_t *out, const uint64_t *bits, int n, int bytes) {
  for (int k = 0; k < n; k++) {
    memcpy(out + k * bytes, &bits[k], (size_t)bytes);
  }
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
static uint64_t special_float(sct_type type, int bytes, special which, uint64_t r) {
  const int exponent_bits = bytes == 8 ? 11 : type == SCT_TYPE_F16 ? 5 : 8;
  const int fraction_bits = bytes * 8 - 1 - exponent_bits;
  const uint64_t sign = (uint64_t)1 << (bytes * 8 - 1), ones = ((uint64_t)1 << exponent_bits) - 1;
  const uint64_t bias = ones / 2, all = ((uint64_t)1 << fraction_bits) - 1, fraction = r & all;
  const uint64_t some = r >> 61; /* 0 to 7 */
  uint64_t exponent = bias, low = fraction;
  switch (which) {
  case ZERO:
  case MINUS_ZERO:
    exponent = low = 0;
    break;
  case BELOW_ONE:
  case ABOVE_MINUS_ONE:
    exponent = bias - 1 - some;
    break;
  case ABOVE_TWO:
  case BELOW_MINUS_TWO:
    exponent = bias + 1 + some % 2;
    break;
  case DENORMAL:
  case MINUS_DENORMAL:
    exponent = 0;
    low = fraction >> (some * (uint64_t)fraction_bits / 8) | 1;
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
    low = all;
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
  return (negative ? sign : 0) | exponent << fraction_bits | low;
}

static uint64_t special_integer(int bytes, unsigned which, bool divides) {
  const uint64_t lowest = (uint64_t)1 << (bytes * 8 - 1);
  const uint64_t values[] = {lowest - 1, 0, ~(uint64_t)0, lowest};
  return values[divides ? 0 : which % SCT_COUNT(values)];
}

/* Puts the special ones among n lanes of a stream, the first of which has the number `first`. */
static void put_specials(uint64_t *bits, int n, sct_type type, const sct_stream *stream,
                         int64_t first) {
  const sct_type_info *info = sct_type_get(type);
  const int bytes = info->bytes / info->lanes;
  const unsigned n_kinds = stream->mix == SCT_MIX_ANY ? N_SPECIAL : N_FINITE;
  for (int64_t group = first / LANES_A_SPECIAL; group * LANES_A_SPECIAL < first + n; group++) {
    const uint64_t r = sct_mix64(~stream->key, (uint64_t)group);
    const int64_t at = group * LANES_A_SPECIAL + (int64_t)(r >> 32) % LANES_A_SPECIAL - first;
    const unsigned which = (unsigned)(((uint64_t)group + stream->key) % n_kinds);
    if (at >= 0 && at < n) {
      bits[at] = info->kind == SCT_KIND_FLOAT ? special_float(type, bytes, (special)which, r)
                                              : special_integer(bytes, which, stream->divides);
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
      const uint64_t small = 1 + sct_mix64(key, (uint64_t)lane) % 100;
      memcpy((char *)out + lane * lane_bytes, &small, (size_t)lane_bytes);
    }
  }
}

/* ---- printing ---- */

static double half_value(uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  double v = 0;
  if (exponent == (1 << exponent_bits) - 1) {
    v = fraction ? NAN : INFINITY;
  } else if (exponent == 0) {
    v = ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    v = ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  }
  return bits & 0x8000 ? -v : v;
}

double sct_data_float(sct_type type, const void *lane) {
  if (type == SCT_TYPE_F16 || type == SCT_TYPE_BF16) {
    uint16_t bits;
    memcpy(&bits, lane, sizeof bits);
    return half_value(bits, type == SCT_TYPE_F16 ? 5 : 8);
  }
  const sct_type_info *info = sct_type_get(type);
  if (info->bytes / info->lanes == 4) {
    float v;
    memcpy(&v, lane, sizeof v);
    return (double)v;
  }
  double v;
  memcpy(&v, lane, sizeof v);
  return v;
}

/* The nearest value with so many bits of exponent, ties to even. */
static uint16_t half_bits(double value, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
  uint64_t bits = infinity;
  if (isnan(value)) {
    bits = (uint64_t)infinity + 1;
  } else if (!isinf(value)) {
    int exponent = 0;
    (void)frexp(value, &exponent);
    exponent = value != 0 && exponent - 1 > 1 - bias ? exponent - 1 : 1 - bias; /* subnormal */
    const double fraction = nearbyint(ldexp(fabs(value), fraction_bits - exponent));
    const uint64_t above = (uint64_t)(exponent < bias + 1 ? exponent + bias - 1 : 2 * bias + 1);
    bits = (uint64_t)fraction + (above << fraction_bits);
    bits = bits > infinity ? infinity : bits;
  }
  return (uint16_t)(bits | (signbit(value) ? 0x8000 : 0));
}

void sct_data_put_float(void *lane, sct_type type, double value) {
  const sct_type_info *info = sct_type_get(type);
  if (type == SCT_TYPE_F16 || type == SCT_TYPE_BF16) {
    const uint16_t bits = half_bits(value, type == SCT_TYPE_F16 ? 5 : 8);
    memcpy(lane, &bits, sizeof bits);
  } else if (info->bytes / info->lanes == 4) {
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
