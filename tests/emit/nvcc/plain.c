// A program in C11 that launches kernels of other files. Two headers have types of one name.
#include "add3.h"
#include "row_sum.h"
#include "shift2.h"

#include <stdio.h>
#include <string.h>

extern int fake_launches;
cudaError_t add3_elsewhere(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i,
                           cudaStream_t stream);

static int failures = 0;

static void check(bool holds, const char *what) {
  if (!holds) {
    failures++;
    printf("plain.c: %s\n", what);
  }
}
#define CHECK(what) check(what, #what)

int main(void) {
  static alignas(16) add3_vec3 a[4], b[4];
  static shift2_vec3 c[4];
  static shift2_choice_record d[4];
  static float sums[64];
  static alignas(16) unsigned char workspace[16];
  CHECK(add3(a, b, 1.0, 4, NULL) == cudaSuccess);
  CHECK(add3_elsewhere(a, b, 1.0, 4, NULL) == cudaSuccess);
  CHECK(add3(a, a, 1.0, 4, NULL) == cudaErrorInvalidValue);
  CHECK(shift2(c, d, 4, NULL) == cudaSuccess);
  CHECK(row_sum(sums, sums + 32, 1, 4, workspace, NULL) == cudaSuccess);
  CHECK(fake_launches == 4);
  const add3_args by_name = {.n_i = 4, .k = 1.0, .b = b, .a = a};
  const row_sum_args sum = {
      .n_col = 4, .n_row = 1, .a = sums, .total = sums + 32, .workspace = workspace};
  const row_sum_args no_rows = {.n_col = 4, .a = sums, .total = sums + 32, .workspace = workspace};
  CHECK(add3_launch(&by_name, NULL) == cudaSuccess && fake_launches == 5);
  CHECK(row_sum_launch(&sum, NULL) == cudaSuccess && fake_launches == 6);
  CHECK(row_sum_launch(&no_rows, NULL) == cudaSuccess && fake_launches == 6);
  CHECK(add3_launch(NULL, NULL) == cudaErrorInvalidValue && fake_launches == 6);
  CHECK(row_sum_workspace_bytes() == 278528);
  CHECK(strcmp(add3_variant(a, b, 1.0, 4).variant, "flat t256 w16") == 0);
  CHECK(strcmp(add3_provenance.kernel, "add3") == 0);
  char line[32] = "";
  remove("rows.csv");
  CHECK(row_sum_log("rows.csv") == cudaSuccess && row_sum_launch(&sum, NULL) == cudaSuccess);
  CHECK(row_sum_log(NULL) == cudaSuccess);
  FILE *const log = fopen("rows.csv", "r");
  for (int k = 0; k < 2; k++) {
    CHECK(log != NULL && fgets(line, sizeof line, log) != NULL);
    CHECK(strcmp(line, k == 0 ? "row,col,count\n" : "1,4,1\n") == 0);
  }
  return failures != 0;
}
