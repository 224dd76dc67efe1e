// torch.ops.turn.transpose(a): a matrix of floats with rows and columns exchanged.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

#define transpose_IMPLEMENTATION
#include "transpose.h"

static at::Tensor transposed(const at::Tensor &a) {
  TORCH_CHECK(a.dim() == 2 && a.scalar_type() == at::kFloat && a.is_contiguous(),
              "turn::transpose: expected a contiguous matrix of float32, got ", a.toString(), " of ",
              a.sizes());
  const c10::cuda::CUDAGuard guard(a.device());
  at::Tensor b = at::empty({a.size(1), a.size(0)}, a.options());
  const cudaError_t error = transpose(a.const_data_ptr<float>(), b.mutable_data_ptr<float>(), a.size(0),
                                      a.size(1), c10::cuda::getCurrentCUDAStream());
  TORCH_CHECK(error == cudaSuccess, "turn::transpose: ", cudaGetErrorString(error));
  return b;
}

TORCH_LIBRARY(turn, m) {
  m.def("transpose(Tensor a) -> Tensor");
}
TORCH_LIBRARY_IMPL(turn, CUDA, m) {
  m.impl("transpose", transposed);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {  // `import` loads the library, which registers the operator
  (void)m;
}
