"""As much of PyTorch and CuPy as a module that `sectile emit --python` wrote looks at: arrays that are
numbers about memory nobody has."""
import sys
import types

SIZES = {"bool": 1, "uint8": 1, "float16": 2, "bfloat16": 2, "uint16": 2, "int16": 2, "int32": 4, "float32": 4, "float64": 8}
made = []  # addresses and bytes of what was allocated
next_address = 1 << 40


def allocate(size):
    global next_address
    if size == 0:  # as both frameworks do
        return 0
    address, next_address = next_address, next_address + (size + 4096) // 256 * 256
    made.append((address, size))
    return address


def steps_of(shape):
    out, step = [], 1
    for n in reversed(shape):
        out.insert(0, step)
        step *= n
    return tuple(out)


def product(shape):
    out = 1
    for n in shape:
        out *= n
    return out


class Device:
    def __init__(self, kind, index):
        self.type, self.index = kind, index

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"


class TorchType:
    def __init__(self, name):
        self.name, self.itemsize = name, SIZES[name]

    def __str__(self):
        return "torch." + self.name


class Tensor:
    def __init__(self, shape, dtype, device="cuda:0", strides=None, address=None, requires_grad=False):
        kind, _, index = device.partition(":")
        self.shape, self.dtype, self.device = tuple(shape), dtype, Device(kind, int(index) if index else None)
        self.strides = steps_of(self.shape) if strides is None else tuple(strides)
        self.address = allocate(product(shape) * dtype.itemsize) if address is None else address
        self.is_cuda, self.requires_grad = kind == "cuda", requires_grad

    def stride(self):
        return self.strides

    def data_ptr(self):
        return self.address

    def as_strided(self, shape, strides):
        if len(shape) != len(strides):
            raise RuntimeError("mismatch in length of strides and shape")
        return Tensor(shape, self.dtype, str(self.device), strides, self.address)


torch = types.ModuleType("torch")
torch.Tensor, torch.grad = Tensor, True
torch.is_grad_enabled = lambda: torch.grad
for name in SIZES:
    setattr(torch, name, TorchType(name))


def torch_empty(shape, dtype, device):
    return Tensor((shape,) if isinstance(shape, int) else shape, dtype, device)


torch.empty = torch_empty
torch.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=0x100 + device))


class CuPyType:
    """Of a name, or of a type."""

    def __init__(self, name):
        name = getattr(name, "name", name)
        if name not in SIZES or name in ("bfloat16", "float8_e4m3fn"):
            raise TypeError(f"data type {name!r} not understood")
        self.name, self.itemsize = name, SIZES[name]


class NdArray:
    def __init__(self, shape, dtype="float32", memptr=None, strides=None, device=0):
        self.shape, self.dtype = (shape,) if isinstance(shape, int) else tuple(shape), CuPyType(dtype)
        size = self.dtype.itemsize
        self.strides = tuple(size * n for n in steps_of(self.shape)) if strides is None else strides
        self.data = memptr or types.SimpleNamespace(ptr=allocate(product(self.shape) * size))
        self.device = types.SimpleNamespace(id=device)


class CuPyDevice:
    current = 0

    def __init__(self, index):
        self.index = index

    def __enter__(self):
        self.before, CuPyDevice.current = CuPyDevice.current, self.index

    def __exit__(self, *_):
        CuPyDevice.current = self.before


cupy = types.ModuleType("cupy")
cupy.ndarray, cupy.dtype, cupy.empty = NdArray, CuPyType, NdArray
cupy.cuda = types.SimpleNamespace(
    Device=CuPyDevice, get_current_stream=lambda: types.SimpleNamespace(ptr=0x200 + CuPyDevice.current))
sys.modules["torch"], sys.modules["cupy"] = torch, cupy
