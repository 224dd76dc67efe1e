// Two headers whose records have one name and other fields, beside a type of the program's own that
// has this name too, and one whose record is called as what a header has anyway.
struct vec3 {
  int x, y, z, w;
};
struct partial;
#include "add3.h"
#include "shift2.h"

static_assert(sizeof(vec3) == 16 && sizeof(add3_vec3) == 24 && sizeof(shift2_vec3) == 8, "three");
static_assert(sizeof(shift2_choice_record) == 4, "not what shift2_variant returns");

cudaError_t both(const add3_vec3 *a, add3_vec3 *b, const shift2_vec3 *c, shift2_choice_record *d,
                 const vec3 *mine, cudaStream_t stream) {
  const shift2_choice chosen = shift2_variant(c, d, mine->x);
  const cudaError_t error = add3(a, b, 1.0, chosen.variant == nullptr ? 0 : 1, stream);
  return error != cudaSuccess ? error : shift2(c, d, mine->x, stream);
}
