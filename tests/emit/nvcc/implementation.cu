// The file of the program that has the kernels; with DECLARED_BEFORE another header has included
// these before.
#ifdef DECLARED_BEFORE
#include "add3.h"
#include "row_sum.h"
#include "shift2.h"
#endif
#define add3_IMPLEMENTATION
#define row_sum_IMPLEMENTATION
#define scale_IMPLEMENTATION
#define shift2_IMPLEMENTATION
#define transpose_IMPLEMENTATION
#include "add3.h"
#include "row_sum.h"
#include "scale.h"
#include "shift2.h"
#include "transpose.h"
