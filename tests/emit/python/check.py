"""check.py FAKE_RUNTIME: modules that `sectile emit --python` wrote into this directory, on a CUDA
runtime that keeps the last launch (tests/emit/nvcc/fake_cudart.cc). Prints what is not as it should be."""
import ctypes
import struct
import sys

import fakes

sys.path.insert(0, ".")
import blend as blend_module  # noqa: E402
import points as points_module  # noqa: E402
import sum as sum_module  # noqa: E402
from blend import blend  # noqa: E402
from masked import masked  # noqa: E402
from points import points  # noqa: E402
from shares import shares  # noqa: E402
from sum import sum_  # noqa: E402

runtime = ctypes.CDLL(sys.argv[1])
torch, Tensor, NdArray = fakes.torch, fakes.Tensor, fakes.NdArray
failures = []


class Launch(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("blocks", ctypes.c_uint),
                ("threads", ctypes.c_uint), ("shared", ctypes.c_size_t), ("grown", ctypes.c_int),
                ("stream", ctypes.c_void_p), ("first", ctypes.c_void_p), ("second", ctypes.c_void_p),
                ("last", ctypes.c_void_p)]


def value_of(kind, name):
    return kind.in_dll(runtime, name)


def check(good, what):
    if not good:
        failures.append(what)


def refused(kind, text, function, *arrays, **named):
    """The call raises `kind`, its message holds `text`, and nothing was launched."""
    before = value_of(ctypes.c_int, "fake_launches").value
    try:
        function(*arrays, **named)
        failures.append(f"not refused: {text}")
    except kind as error:
        check(text in str(error), f"expected {text!r}, got {error}")
    except Exception as error:
        failures.append(f"expected {kind.__name__} {text!r}, got {error!r}")
    check(value_of(ctypes.c_int, "fake_launches").value == before, f"launched: {text}")


def launch():
    return value_of(Launch, "fake_launch")


SCALARS = {"k": 1.5, "v": (2.0, -3.0), "n": 7}
a = Tensor((5, 3), torch.float32)
w = Tensor((3,), torch.bfloat16)

# A call: what is left out is allocated, where its layout has it, and the kernel gets the arrays.
c = blend(a, w, **SCALARS)
check(isinstance(c, Tensor) and c.shape == (5, 3) and c.strides == (1, 8) and c.dtype is torch.float32, "c is allocated")
check(fakes.made[-1] == (c.address, 4 * (8 * 2 + 5)), f"bytes of c: {fakes.made[-1]}")
check(launch().first == a.address and launch().second == w.address, "arrays of the launch")
check(launch().stream == 0x100, "stream of PyTorch")
check(blend(a, w, c, **SCALARS) is c, "the output that was given")
blend(a, w, c, stream=0x999, **SCALARS)
check(launch().stream == 0x999, "a stream that was given")
choice = blend.variant(a, w, c, **SCALARS)
check(choice["match"] == "same device model" and choice["variant"].startswith("direct"), f"variant: {choice}")

# A variant by its number, and calls that are counted.
choice = blend.variant(a, w, c, variant=blend.n_variants, **SCALARS)
check(choice["reason"] == "the arguments name this variant", f"variant: {choice}")
refused(RuntimeError, "blend: invalid value: there is no such variant", blend, a, w, c, variant=blend.n_variants + 1, **SCALARS)
refused(TypeError, "blend: variant: expected a value of type i32, got 'direct'", blend, a, w, c, variant="direct", **SCALARS)
blend.log("blend.csv")
blend(a, w, c, variant=1, **SCALARS)
blend(a, w, c, **SCALARS)
blend.log(None)
with open("blend.csv", encoding="utf-8") as f:
    check(f.read() == "row,col,count\n5,3,2\n", "counted calls")
refused(RuntimeError, "blend: no/such/file cannot be written (CUDA error 301)", blend.log, "no/such/file")

# Strides of lengths 1 and of empty arrays do not count; an empty call launches nothing.
blend(Tensor((1, 3), torch.float32, strides=(77, 1)), w, **SCALARS)
launches = value_of(ctypes.c_int, "fake_launches").value
blend(Tensor((0, 3), torch.float32), w, **SCALARS)
check(value_of(ctypes.c_int, "fake_launches").value == launches, "nothing to launch")

# CuPy: its stream, its types.
x, y = NdArray((5, 3)), NdArray((3,), "uint16")
c = blend(x, y, **SCALARS)
check(isinstance(c, NdArray) and c.strides == (4, 32), "allocated by CuPy")
check(launch().first == x.data.ptr and launch().stream == 0x200, "launch of CuPy")

# What a call must not be, and where.
refused(TypeError, "blend: a: expected a tensor of PyTorch or an array of CuPy, got builtins.list", blend, [1.0], w, **SCALARS)
refused(TypeError, "blend: from: arrays of PyTorch and of CuPy are mixed", blend, a, y, **SCALARS)
refused(ValueError, "blend: a: expected a tensor on a CUDA device, it is on cpu", blend, Tensor((5, 3), torch.float32, "cpu"), w, **SCALARS)
refused(ValueError, "blend: a: the kernel has no gradient", blend, Tensor((5, 3), torch.float32, requires_grad=True), w, **SCALARS)
refused(ValueError, "blend: from: expected an array on device 0, it is on device 1", blend, a, Tensor((3,), torch.bfloat16, "cuda:1"), **SCALARS)
refused(TypeError, "blend: a: expected elements of type float32, got float64", blend, Tensor((5, 3), torch.float64), w, **SCALARS)
refused(TypeError, "blend: from: expected elements of type bfloat16 or uint16, got float16", blend, a, Tensor((3,), torch.float16), **SCALARS)
refused(ValueError, "blend: from: expected shape (3,), got (4,); n_row = 5 from a, n_col = 3 from a", blend, a, Tensor((4,), torch.bfloat16), **SCALARS)
refused(ValueError, "blend: a: expected 2 dimensions, got 1", blend, Tensor((5,), torch.float32), w, **SCALARS)
refused(ValueError, "blend: a: expected strides (3, 1), got (1, 5): .contiguous()", blend, Tensor((5, 3), torch.float32, strides=(1, 5)), w, **SCALARS)
refused(ValueError, "blend: c: expected strides (1, 8), got (3, 1)", blend, a, w, Tensor((5, 3), torch.float32), **SCALARS)
refused(ValueError, "blend: a: expected shape (6, 3), got (5, 3)", blend, a, w, n_row=6, **SCALARS)
refused(TypeError, "blend: v: expected a value of type f64x2, got 1.0", blend, a, w, k=1, v=1.0, n=1)
refused(TypeError, "blend: v: expected a value of type f64x2", blend, a, w, k=1, v=(1.0,), n=1)
refused(TypeError, "blend: n: expected a value of type u8, got 256", blend, a, w, k=1, v=(1.0, 2.0), n=256)
refused(TypeError, "missing 1 required keyword-only argument: 'n'", blend, a, w, k=1, v=(1.0, 2.0))
refused(RuntimeError, "blend: invalid value: an array that is written overlaps another one (CUDA error 1)", blend, a, w,
        Tensor((5, 3), torch.float32, strides=(1, 8), address=a.address), **SCALARS)
refused(RuntimeError, "blend: invalid value: a is not aligned to 4 bytes", blend, Tensor((5, 3), torch.float32, address=2), w, **SCALARS)
blend(NdArray((5, 3), strides=(12, 4)), y, **SCALARS)
refused(ValueError, "blend: a: strides of (12, 3) bytes are no multiples of its 4 bytes", blend, NdArray((5, 3), strides=(12, 3)), y, **SCALARS)
refused(RuntimeError, "blend: ", blend, Tensor((5, 3), torch.float32, "cuda:9"), Tensor((3,), torch.bfloat16, "cuda:9"),
        Tensor((5, 3), torch.float32, "cuda:9", strides=(1, 8)), **SCALARS)

# Scalars as bits: a bf16 is rounded to the nearest, ties to even.
for value, bits in ((1.0, 0x3f80), (1.00390625, 0x3f80), (1.01171875, 0x3f82), (-0.0, 0x8000), (float("inf"), 0x7f80),
                    (float("nan"), 0x7fff), (1e-40, 0x0001)):
    got = blend_module._scalar("k", "bf16", "H", value)
    check(got == [bits], f"bf16 of {value}: {got}")

# Records of one type have a dimension more; those of several are bytes, which the header packs.
p, q, shift = Tensor((9, 3), torch.float32), Tensor((9, 3), torch.float32), Tensor((9,), torch.float16)
check(points(p, shift, q) is q and launch().first == p.address, "records in place")
refused(ValueError, "points: p: expected 2 dimensions, the last of length 3, got 1", points, Tensor((9,), torch.float32), shift, q)
refused(ValueError, "points: p: expected shape (9, 3), got (9, 4)", points, Tensor((9, 4), torch.float32), shift, q)
refused(TypeError, "missing 1 required positional argument: 'q'", points, p, shift)
refused(TypeError, "points: q: expected an array", points, p, shift, None)

# Elements that share bytes are bytes.
m, b = Tensor((9, 3), torch.uint8), Tensor((36,), torch.uint8)
o = masked(m, b)
check(o.shape == (9,) and launch().first == m.address, "elements that share bytes")
refused(ValueError, "masked: m: expected shape (9, 3), got (9, 24)", masked, Tensor((9, 24), torch.uint8), b)
refused(ValueError, "masked: b: expected 36 bytes, got 35", masked, m, Tensor((35,), torch.uint8))

n = 5
records = b"".join(struct.pack("=fid", k, -k, 0.5 * k) for k in range(n))
packed = sum_.pack("p", records, n_i=n)
check(sum_.unpack("p", packed, n_i=n) == bytearray(records), "there and back")
check(bytes(packed) != records and len(packed) == 16 * n, "another order")
refused(TypeError, "sum: p: expected n_i=..., none negative", sum_.pack, "p", records)
refused(ValueError, "sum: p: expected 96 bytes, got 80", sum_.pack, "p", records, n_i=6)
refused(ValueError, "sum: v: is no array of which the header packs elements", sum_.pack, "v", b"", n_i=0)
p, v = Tensor((16 * n,), torch.uint8), Tensor((n, 2), torch.float32)
first = len(fakes.made)
total = sum_(p, v)
check(total.shape == () and total.dtype is torch.float64, "an element alone")
check(shares(Tensor((5, 0), torch.float32)).shape == (5, 0), "empty rows")
kept = [address for address, size in fakes.made[first:] if size == sum_module._library().sectile_workspace_bytes()]
sum_(p, v)
check(len(fakes.made) == first + 3 - (not kept), "one workspace a stream")
refused(ValueError, "sum: p: expected 80 bytes, got 79", sum_, Tensor((79,), torch.uint8), v)
refused(ValueError, "sum: v: expected 2 dimensions, the last of length 2, got 1", sum_, p, Tensor((n,), torch.float32))
refused(TypeError, "sum: p: expected elements of type uint8", sum_, Tensor((20,), torch.float32), v)

print("\n".join(failures) or "as it should be")
sys.exit(1 if failures else 0)
