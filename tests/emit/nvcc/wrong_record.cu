// A record of the program's own that does not fit: the header must not compile.
struct vec3 {
  float x, y, z;
};
#define SECTILE_RECORD_vec3
#include "add3.h"
