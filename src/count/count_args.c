/* count_args - arguments as the bytes of a parameter. */
#include "count/count_internal.h"

#include <math.h>
#include <string.h>

#define INTEGER false
#define REAL    true
const count_type count_types[] = {
#define COUNT_TYPE(name, bytes, kind, exponent_bits) {name, bytes, kind, exponent_bits},
#include "count/count_types.def"
#undef COUNT_TYPE
};
const int count_n_types = SCT_COUNT(count_types);
#undef INTEGER
#undef REAL

/* ---- numbers */

/* IEEE 754 bits of a 16-bit format, rounded to nearest even. */
static uint16_t bits16(double v, int exponent_bits) {
  const int mantissa = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa;
  const uint32_t sign = signbit(v) ? 0x8000U : 0U;
  if (isnan(v)) {
    return (uint16_t)(sign | infinity | 1U << (mantissa - 1));
  }
  if (isinf(v)) {
    return (uint16_t)(sign | infinity);
  }
  int exponent = v != 0.0 ? ilogb(v) : 1 - bias;
  exponent = exponent < 1 - bias ? 1 - bias : exponent; /* subnormal */
  exponent = exponent > bias + 1 ? bias + 1 : exponent; /* infinite in any case */
  /* The leading 1 of a normal number adds one to the exponent below. */
  const double fraction = nearbyint(ldexp(fabs(v), mantissa - exponent));
  const double whole = ldexp((double)(exponent + bias - 1), mantissa) + fraction;
  return (uint16_t)(sign | (whole < (double)infinity ? (uint32_t)whole : infinity));
}

static bool encode_real(uint8_t *out, int64_t bytes, int type, double v, sct_str *why) {
  const int exponent_bits = type >= 0 ? count_types[type].exponent_bits : 5;
  const float single = (float)v;
  const uint16_t half = bytes == 2 ? bits16(v, exponent_bits) : 0;
  switch (bytes) {
  case 2:
    memcpy(out, &half, 2);
    return true;
  case 4:
    memcpy(out, &single, 4);
    return true;
  case 8:
    memcpy(out, &v, 8);
    return true;
  default:
    sct_str_printf(why, "a number with a point for %lld bytes", (long long)bytes);
    return false;
  }
}

static bool encode_integer(uint8_t *out, int64_t bytes, int64_t v, sct_str *why) {
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
    sct_str_printf(why, "a number for %lld bytes; expected a list of its members",
                   (long long)bytes);
    return false;
  }
  const int64_t half = bytes < 8 ? INT64_C(1) << (8 * bytes - 1) : 0;
  if (bytes < 8 && (v < -half || v >= 2 * half)) {
    sct_str_printf(why, "%lld does not fit %lld bytes", (long long)v, (long long)bytes);
    return false;
  }
  memcpy(out, &v, (size_t)bytes); /* little-endian, as the GPU is */
  return true;
}

static bool encode_address(uint8_t *out, int64_t bytes, uint64_t v, sct_str *why) {
  if (bytes != 8) {
    sct_str_printf(why, "an address has 8 bytes, expected %lld", (long long)bytes);
    return false;
  }
  memcpy(out, &v, 8);
  return true;
}

/* ---- structs */

/* Bytes of a member: those of its type, 8 for addresses, 4 for a number without a type. */
static int64_t member_bytes(const sct_count_arg *m) {
  if (m->kind == SCT_COUNT_NULL || m->kind == SCT_COUNT_BUFFER) {
    return 8;
  }
  return m->type >= 0 ? count_types[m->type].bytes : 4;
}

int64_t count_struct_bytes(const sct_count_arg *arg, int64_t *align) {
  int64_t at = 0;
  *align = 1;
  for (int i = 0; i < arg->n_members; i++) {
    int64_t step = 1, bytes;
    if (arg->members[i].kind == SCT_COUNT_STRUCT) {
      bytes = count_struct_bytes(&arg->members[i], &step);
    } else {
      bytes = step = member_bytes(&arg->members[i]);
    }
    *align = step > *align ? step : *align;
    at = (at + step - 1) / step * step + bytes;
  }
  return (at + *align - 1) / *align * *align;
}

/* Members where the compiler has them, or at their natural alignment. */
static bool encode_struct(uint8_t *out, const count_layout *to, const sct_count_arg *arg,
                          count_addresses *addresses, sct_str *why) {
  int64_t align, at = 0;
  const int64_t packed = count_struct_bytes(arg, &align);
  if (to->members == NULL && packed != to->bytes) {
    sct_str_printf(why, "the struct's members take %lld bytes, expected %lld", (long long)packed,
                   (long long)to->bytes);
    return false;
  }
  for (int i = 0; i < arg->n_members; i++) {
    const sct_count_arg *m = &arg->members[i];
    int64_t step = member_bytes(m), size = step;
    if (m->kind == SCT_COUNT_STRUCT) {
      size = count_struct_bytes(m, &step);
    }
    at = (at + step - 1) / step * step;
    const count_layout natural = {.offset = at, .bytes = size};
    const count_layout *const place = to->members ? &to->members[i] : &natural;
    if (place->offset + place->bytes > to->bytes) {
      sct_str_printf(why, "member %d ends after the %lld bytes there are", i + 1,
                     (long long)to->bytes);
      return false;
    }
    if (!count_encode(out + place->offset, place, m, addresses, why)) {
      return false;
    }
    at += size;
  }
  return true;
}

bool count_encode(uint8_t *out, const count_layout *to, const sct_count_arg *arg,
                  count_addresses *addresses, sct_str *why) {
  const int64_t bytes = to->bytes;
  const char number = to->number;
  memset(out, 0, (size_t)bytes);
  if (arg->type >= 0 && count_types[arg->type].bytes != bytes) {
    sct_str_printf(why, "%s has %d bytes, expected %lld", count_types[arg->type].name,
                   count_types[arg->type].bytes, (long long)bytes);
    return false;
  }
  switch (arg->kind) {
  case SCT_COUNT_NULL:
    return encode_address(out, bytes, 0, why);
  case SCT_COUNT_BUFFER:
    SCT_GROW(addresses->pointers, addresses->n, addresses->cap);
    addresses->pointers[addresses->n++] = (count_pointer){out, arg->buffer, arg->offset};
    return encode_address(out, bytes, addresses->of[arg->buffer] + (uint64_t)arg->offset, why);
  case SCT_COUNT_INTEGER:
    return number == 'f' && arg->type < 0 ? encode_real(out, bytes, -1, (double)arg->integer, why)
                                          : encode_integer(out, bytes, arg->integer, why);
  case SCT_COUNT_REAL:
    if (number == 'i' && arg->type < 0) {
      sct_str_printf(why, "a number with a point, expected a whole one of %lld bytes",
                     (long long)bytes);
      return false;
    }
    return encode_real(out, bytes, arg->type, arg->real, why);
  case SCT_COUNT_STRUCT:
    if (number == 'i' && bytes == 8 && arg->buffer < 0) {
      sct_str_append(why, "expected a buffer, or a list of buffers, null and {TYPE: number}");
      return false;
    }
    if (number == 'i' && bytes == 8) {
      const sct_count_arg list = {.kind = SCT_COUNT_BUFFER, .buffer = arg->buffer, .type = -1};
      return count_encode(out, to, &list, addresses, why);
    }
    return encode_struct(out, to, arg, addresses, why);
  }
  return false;
}
