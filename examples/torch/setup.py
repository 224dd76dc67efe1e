# A PyTorch extension with one tuned kernel, without nvcc: the operator torch.ops.turn.transpose. First, on a machine
# with your GPU:
#
#   sectile tune ../cmake/transpose.lua --store transpose.db
#
# then, where PyTorch and a toolkit are: python3 setup.py build_ext --inplace && python3 turn.py
import subprocess

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

subprocess.run(["sectile", "emit", "../cmake/transpose.lua", "--store", "transpose.db", "--form", "c",
                "-o", "transpose.h"], check=True)
setup(name="turn", ext_modules=[CUDAExtension("turn_kernels", ["operator.cpp"])],
      cmdclass={"build_ext": BuildExtension})
