// The one file of the program that has the kernels.
#define transpose_IMPLEMENTATION
#include "transpose.h"
