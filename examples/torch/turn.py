# The operator, as autograd and torch.compile see it, against PyTorch's own.
import sys

import torch
import turn_kernels  # noqa: F401 - registers it


@torch.library.register_fake("turn::transpose")
def shape_of(a):
    return a.new_empty(a.shape[1], a.shape[0])


def backward(context, gradient):
    return torch.ops.turn.transpose(gradient.contiguous())


torch.library.register_autograd("turn::transpose", backward)

if not torch.cuda.is_available():
    print("no GPU here: the operator is not called")
    sys.exit()
a = torch.randn(1000, 3000, device="cuda", requires_grad=True)
b = torch.ops.turn.transpose(a)
wrong = int((b != a.t()).sum())
(b * torch.arange(1000.0, device="cuda")).sum().backward()
wrong += int((a.grad != torch.arange(1000.0, device="cuda")[:, None]).sum())
print(f"{wrong} of {2 * a.numel()} elements are wrong")
sys.exit(wrong != 0)
