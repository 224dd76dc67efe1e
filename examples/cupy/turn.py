# A call from CuPy. First, on a machine with your GPU:
#
#   sectile tune ../cmake/transpose.lua --store transpose.db
#
# then, where CuPy, a C compiler and a toolkit (or pip's nvidia-cuda-runtime) are:
#
#   sectile emit ../cmake/transpose.lua --store transpose.db -o transpose.h --python transpose.py
#   python3 turn.py
import sys

import cupy
from transpose import transpose

rows, cols = 1000, 3000
a = cupy.random.standard_normal((rows, cols), dtype="float32")
b = transpose(a)  # element (row, col) of a, in an array of which columns are contiguous
wrong = int((b != a).sum()) + int((b.T.ravel(order="K") != a.T.ravel()).sum())
print(f"{transpose.variant(a, b)['variant']}: {wrong} of {2 * a.size} elements are wrong")
sys.exit(wrong != 0)
