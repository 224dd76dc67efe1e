// A file that includes the headers and calls nothing, with a record of its own that fits.
struct vec3 {
  double x, y;
  double z;
};
#define SECTILE_RECORD_vec3
#include "add3.h"
#include "hostile.h"
#include "row_sum.h"
#include "scale.h"
#include "transpose.h"
