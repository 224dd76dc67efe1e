// A file that includes the headers and calls nothing.
#include "add3.h"
#include "hostile.h"
#include "row_sum.h"
#include "scale.h"
#include "transpose.h"
