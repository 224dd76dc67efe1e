# $(name) for PyTorch and CuPy - written by sectile $(version); do not edit. Again: sectile emit $(spec_file) -o $(header) --python $(file)
#
# For every $(index) in $(join(index_ranges, "%s", " x ")):
//% for _, line in ipairs(body) do
#   $(line)
//% end
# where
//% for _, o in ipairs(operands) do
#   $(o.padded)  $(o.is_output and "out" or "in ")  $(o.shown), layout $(o.layout); over ($(join(o.dims)))
//% end
//% for _, s in ipairs(scalars) do
#   $(s.padded)  $(s.type)
//% end
#
# $(python.name)() launches on the current stream of its arrays' device and returns what it writes; outputs
# that are left out are allocated. The C code in $(header) next to it is compiled at the first call, by
# $CC or cc, with a CUDA runtime of 12.8 or later and its headers: from $CUDA_HOME, pip's packages, the
# toolkit of nvcc or /usr/local/cuda. `python3 $(file)` compiles it at once, for other machines.
import ctypes as _ctypes
import functools as _functools
import glob as _glob
import hashlib as _hashlib
import os as _os
import re as _re
import shutil as _shutil
import struct as _struct
import subprocess as _subprocess
import sys as _sys
import tempfile as _tempfile

_NAME = "$(name)"
_HERE = _os.path.dirname(_os.path.abspath(__file__))
_HEADER = _os.path.join(_HERE, "$(header)")
_STEM = _os.path.splitext(_os.path.basename(__file__))[0]
_BESIDE = _os.path.join(_HERE, f"lib{_STEM}.so")

# The extents of a call.
_EXTENTS = [$(join(extents, '"n_%s"'))]
# Its arrays: name; is it written; may it be left out; element types, one of which it has; how elements
# lie: in C order, at strides that the header knows, or as bytes in an order of their own; how many
# values an element is, 0: one; of each dimension the extent that its length is, and what is added.
_ARRAYS = (
//% for _, a in ipairs(python.arrays) do
    ("$(a.name)", $(a.written), $(a.optional), [$(join(a.types, '"%s"'))], "$(a.order)", $(a.lanes), [$(join(a.dims))]),
//% end
)
# Its scalars: name, type, and how struct packs it.
_SCALARS = (
//% for _, s in ipairs(scalars) do
    ("$(s.name)", "$(s.type)", "$(s.format)"),
//% end
)
_PACKED = "=$(python.format)"

_C_CODE = r"""
#define $(name)_IMPLEMENTATION
#include "$(header)"

// Arguments as Python packs them, in this order.
static $(name)_args arguments(const unsigned char *in) {
  $(name)_args out;
  memset(&out, 0, sizeof out);
//% for _, a in ipairs(python.arguments) do
  memcpy(&out.$(a.name), in + $(a.offset), sizeof out.$(a.name));
//% end
  return out;
}

// Of each array the length along its dimensions, strides in values where they are not those of C order,
// its bytes, and those of its elements in C order.
void sectile_arrays(const long long *n, long long *out) {
  const long long $(join(python.extents));
//% for _, e in ipairs(extents) do
  (void)n_$(e);
//% end
  const long long all[] = {
//% for _, a in ipairs(python.arrays) do
      $(join(a.values)),  // $(a.name)
//% end
  };
  memcpy(out, all, sizeof all);
}

size_t sectile_workspace_bytes(void) {
//% if workspace then
  return $(name)_workspace_bytes();
//% else
  return 0;
//% end
}

// Calls have a current device of their own.
static cudaError_t enter(int device, int *before) {
  cudaError_t error = cudaGetDevice(before);
  return error == cudaSuccess && *before != device ? cudaSetDevice(device) : error;
}

int sectile_clear(void *p, size_t bytes, int device, void *stream) {
  int before = device;
  cudaError_t error = enter(device, &before);
  if (error == cudaSuccess) error = cudaMemsetAsync(p, 0, bytes, (cudaStream_t)stream);
  if (before != device) cudaSetDevice(before);
  return (int)error;
}

int sectile_launch(const unsigned char *in, int device, void *stream) {
  int before = device;
  const $(name)_args args = arguments(in);
  cudaError_t error = enter(device, &before);
  if (error == cudaSuccess) error = $(name)_launch(&args, (cudaStream_t)stream);
  if (before != device) cudaSetDevice(before);
  return (int)error;
}

void sectile_variant(const unsigned char *in, int device, const char **out) {
  int before = device;
  const $(name)_args args = arguments(in);
  enter(device, &before);
  const $(name)_choice choice = $(name)_variant_of(&args);
  if (before != device) cudaSetDevice(before);
  out[0] = choice.variant, out[1] = choice.device, out[2] = choice.match;
  out[3] = choice.size, out[4] = choice.reason, out[5] = choice.instead_of;
}

int sectile_log(const char *path) {
  return (int)$(name)_log(path);
}

const char *sectile_error(int error) {
  return cudaGetErrorString((cudaError_t)error);
}

//% for _, o in ipairs(operands) do
//%   if o.packs then
int sectile_pack_$(o.name)(void *packed, const void *plain, const long long *n) {
  const long long $(join(python.extents));
//%     for _, e in ipairs(extents) do
  (void)n_$(e);
//%     end
  return $(o.prefix)_pack(packed, (const $(o.plain_type) *)plain$(join(o.extents, ", n_%s", "")));
}
int sectile_unpack_$(o.name)(void *plain, const void *packed, const long long *n) {
  const long long $(join(python.extents));
//%     for _, e in ipairs(extents) do
  (void)n_$(e);
//%     end
  return $(o.prefix)_unpack(($(o.plain_type) *)plain, packed$(join(o.extents, ", n_%s", "")));
}

//%   end
//% end
const char *sectile_key(void) {
  return KEY;
}
"""

# ---- From here on every module has this text, but for the functions at its end.


def _fail(kind, where, text):
    return kind(f"{_NAME}: {where}: {text}" if where else f"{_NAME}: {text}")


# ---- The compiled header.


def _toolkits():
    """Where a CUDA runtime may be: directories with include and lib."""
    found = [_os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    for path in _sys.path:
        found += sorted(_glob.glob(_os.path.join(path, "nvidia", "cu[0-9]*")), reverse=True)
        found.append(_os.path.join(path, "nvidia", "cuda_runtime"))
    nvcc = _shutil.which("nvcc")
    found.append(_os.path.dirname(_os.path.dirname(_os.path.realpath(nvcc))) if nvcc else None)
    return [path for path in [*found, "/usr/local/cuda"] if path]


def _find_runtime():
    """The include directory and the library of the first that is new enough."""
    seen = []
    for home in _toolkits():
        header = _os.path.join(home, "include", "cuda_runtime_api.h")
        libraries = [name for part in ("lib64", "lib", "lib/stubs")
                     for name in sorted(_glob.glob(_os.path.join(home, part, "libcudart.so*")))]
        if not _os.path.isfile(header) or not libraries:
            continue
        with open(header, encoding="utf-8", errors="replace") as f:
            version = _re.search(r"#define\s+CUDART_VERSION\s+(\d+)", f.read())
        if version and int(version.group(1)) >= 12080:
            return _os.path.dirname(header), libraries[0]
        seen.append(home)
    older = f"; too old: {', '.join(seen)}" if seen else ""
    raise _fail(RuntimeError, "", "no CUDA runtime of 12.8 or later with its headers is found: set CUDA_HOME, or "
                f"`pip install nvidia-cuda-runtime` (CUDA 12: nvidia-cuda-runtime-cu12){older}")


def _key():
    with open(_HEADER, "rb") as f:
        return _hashlib.sha256(f.read() + _C_CODE.encode()).hexdigest()[:16]


def _compile(path):
    """Writes the library `path`, whole or not at all."""
    compiler = _os.environ.get("CC") or next(filter(_shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        raise _fail(RuntimeError, "", "no C compiler is found (CC, cc, gcc or clang) to compile " + _HEADER)
    include, library = _find_runtime()
    with _tempfile.TemporaryDirectory(dir=_os.path.dirname(path)) as scratch:
        source, made = _os.path.join(scratch, _NAME + ".c"), _os.path.join(scratch, "made.so")
        with open(source, "w", encoding="utf-8") as f:
            f.write(_C_CODE)
        command = [*compiler.split(), "-std=c11", "-O2", "-fPIC", "-shared", f'-DKEY="{_key()}"', "-I", _HERE,
                   "-isystem", include, "-o", made, source, library, "-Wl,-rpath," + _os.path.dirname(library)]
        done = _subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise _fail(RuntimeError, "", f"{' '.join(command)}\n{done.stderr}")
        _os.replace(made, path)


def _writable(directory):
    try:
        _os.makedirs(directory, exist_ok=True)
    except OSError:
        return False
    return _os.access(directory, _os.W_OK)


@_functools.lru_cache(maxsize=None)
def _library():
    """The one next to the module that fits the header; else one in __pycache__ or the user's cache."""
    if not _os.path.isfile(_HEADER):
        raise _fail(FileNotFoundError, "", f"{_HEADER} is not there: the module needs the header that was written with it")
    path = _BESIDE
    if not _os.path.isfile(path):
        cache = _os.environ.get("XDG_CACHE_HOME") or _os.path.expanduser("~/.cache")
        places = (_os.path.join(_HERE, "__pycache__"), _os.path.join(cache, "sectile", "python"))
        place = next(filter(_writable, places), None)
        if place is None:
            raise _fail(RuntimeError, "", f"neither {places[0]} nor {places[1]} can be written")
        path = _os.path.join(place, f"{_NAME}.{_key()}.so")
        if not _os.path.isfile(path):
            _compile(path)
    library = _ctypes.CDLL(path)
    library.sectile_key.restype = library.sectile_error.restype = _ctypes.c_char_p
    library.sectile_workspace_bytes.restype = _ctypes.c_size_t
    if library.sectile_key().decode() != _key():
        raise _fail(RuntimeError, "", f"{path} was compiled from another header: `python3 {_STEM}.py` compiles it again")
    library.sectile_launch.argtypes = [_ctypes.c_char_p, _ctypes.c_int, _ctypes.c_void_p]
    library.sectile_log.argtypes = [_ctypes.c_char_p]
    library.sectile_clear.argtypes = [_ctypes.c_void_p, _ctypes.c_size_t, _ctypes.c_int, _ctypes.c_void_p]
    return library


# ---- PyTorch and CuPy.


class _Torch:
    workspaces = {}

    def __init__(self, torch):
        self.torch, self.array = torch, torch.Tensor

    def read(self, where, a):
        """Type, lengths, strides in elements, address, device."""
        if not a.is_cuda:
            raise _fail(ValueError, where, f"expected a tensor on a CUDA device, it is on {a.device}")
        if a.requires_grad and self.torch.is_grad_enabled():
            raise _fail(ValueError, where, "the kernel has no gradient: call it under torch.no_grad() or with .detach()")
        return str(a.dtype)[6:], tuple(a.shape), tuple(a.stride()), a.data_ptr(), a.device.index

    def stream(self, device):
        return self.torch.cuda.current_stream(device).cuda_stream

    def empty(self, kinds, shape, steps, size, device):
        kind = next(getattr(self.torch, kind) for kind in kinds if hasattr(self.torch, kind))
        if steps == _steps(shape):
            return self.torch.empty(shape, dtype=kind, device=f"cuda:{device}")
        return self.torch.empty(size // kind.itemsize, dtype=kind, device=f"cuda:{device}").as_strided(shape, steps)


class _CuPy:
    workspaces = {}

    def __init__(self, cupy):
        self.cupy, self.array = cupy, cupy.ndarray

    def read(self, where, a):
        size = a.dtype.itemsize
        if any(step % size for step in a.strides):
            raise _fail(ValueError, where, f"strides of {a.strides} bytes are no multiples of its {size} bytes")
        return a.dtype.name, tuple(a.shape), tuple(step // size for step in a.strides), a.data.ptr, a.device.id

    def stream(self, device):
        with self.cupy.cuda.Device(device):
            return self.cupy.cuda.get_current_stream().ptr

    def empty(self, kinds, shape, steps, size, device):
        known = (kind for kind in kinds if kind != "bfloat16" and not kind.startswith("float8"))
        kind = self.cupy.dtype(next(known))
        with self.cupy.cuda.Device(device):
            room = self.cupy.empty(size, "uint8")
        return self.cupy.ndarray(shape, kind, room.data, tuple(kind.itemsize * n for n in steps))


_FRAMEWORKS = {"torch": _Torch, "cupy": _CuPy}


@_functools.lru_cache(maxsize=None)
def _framework(name):
    return _FRAMEWORKS[name](_sys.modules[name])


def _framework_of(arrays):
    """That of all arrays: one that was imported, for arrays come from there."""
    found = None
    for (name, *_), a in zip(_ARRAYS, arrays):
        if a is None:
            continue
        owner = next((_framework(f) for f in _FRAMEWORKS if f in _sys.modules and isinstance(a, _framework(f).array)), None)
        if owner is None:
            kind = f"{type(a).__module__}.{type(a).__name__}"
            raise _fail(TypeError, name, f"expected a tensor of PyTorch or an array of CuPy, got {kind}")
        if found is not None and owner is not found:
            raise _fail(TypeError, name, "arrays of PyTorch and of CuPy are mixed")
        found = owner
    return found


# ---- What a call must satisfy.


def _steps(shape):
    """The strides of C order."""
    out, step = [], 1
    for length in reversed(shape):
        out.insert(0, step)
        step *= length
    return tuple(out)


@_functools.lru_cache(maxsize=256)
def _arrays(extents):
    """Of each array of such a call: shape, strides in values (None: bytes), bytes, bytes in C order."""
    room = (_ctypes.c_longlong * sum(2 * len(dims) + 2 for *_, dims in _ARRAYS))()
    _library().sectile_arrays((_ctypes.c_longlong * len(extents))(*extents), room)
    out, at = [], 0
    for *_, order, lanes, dims in _ARRAYS:
        n = len(dims)
        shape, steps, size, plain = room[at:at + n], room[at + n:at + 2 * n], *room[at + 2 * n:at + 2 * n + 2]
        at += 2 * n + 2
        if lanes:
            shape, steps = [*shape, lanes], [*steps, 1]
        if order == "bytes":
            shape, steps = [size], None
        elif order == "C":
            steps = _steps(shape)
        out.append((tuple(shape), steps and tuple(steps), size, plain))
    return out


def _find_extents(read, given):
    """From the arguments n_..., else from the lengths of the arrays. Also says which array each is from."""
    extents, origin = dict(given), {}
    for (name, _, _, _, order, lanes, dims), values in zip(_ARRAYS, read):
        if values is None or order == "bytes":
            continue
        shape = values[1]
        if len(shape) != len(dims) + (lanes > 0):
            last = f", the last of length {lanes}" if lanes else ""
            raise _fail(ValueError, name, f"expected {len(dims) + (lanes > 0)} dimensions{last}, got {len(shape)}")
        for length, (extent, added) in zip(shape, dims):
            if extent is not None and extents.get(extent) is None:
                extents[extent], origin[extent] = length - added, name
    for extent in _EXTENTS:
        if extents.get(extent) is None:
            raise _fail(TypeError, "", f"{extent} does not follow from the arrays of this call: give it as {extent}=...")
        if not 0 <= extents[extent] < 1 << 62:
            raise _fail(ValueError, origin.get(extent, ""), f"{extent} is {extents[extent]}")
    return extents, origin


def _check_array(array, values, wanted, extents, origin):
    name, _, _, types, order, _, _ = array
    kind, shape, steps, _, _ = values
    if kind not in types:
        raise _fail(TypeError, name, f"expected elements of type {' or '.join(types)}, got {kind}")
    if order == "bytes":
        if steps != _steps(shape) and 0 not in shape:
            raise _fail(ValueError, name, "expected bytes that follow each other")
        got = 1
        for length in shape:
            got *= length
        if got != wanted[0][0]:
            raise _fail(ValueError, name, f"expected {wanted[0][0]} bytes, got {got}")
        return
    if shape != wanted[0]:
        why = ", ".join(f"{e} = {extents[e]}" + (f" from {origin[e]}" if e in origin else "") for e in extents)
        raise _fail(ValueError, name, f"expected shape {wanted[0]}, got {shape}" + (f"; {why}" if why else ""))
    if steps != wanted[1] and 0 not in shape:
        if any(n > 1 and a != b for n, a, b in zip(shape, steps, wanted[1])):
            hint = ": .contiguous() or cupy.ascontiguousarray() makes such an array" if order == "C" else ""
            raise _fail(ValueError, name, f"expected strides {wanted[1]}, got {steps}{hint}")


def _bf16(value):
    bits = _struct.unpack("=I", _struct.pack("=f", value))[0]
    if value != value:
        return 0x7fff
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def _scalar(name, kind, form, value):
    """The values that struct packs."""
    lanes = int(form[0]) if form[0].isdigit() else 0
    try:
        values = list(value) if lanes else [value]
        if lanes and len(values) != lanes:
            raise TypeError(f"{lanes} values")
        values = [_bf16(v) if kind.startswith("bf16") else v for v in values]
        _struct.pack("=" + form, *values)
    except (TypeError, ValueError, OverflowError, _struct.error) as error:
        raise _fail(TypeError, name, f"expected a value of type {kind}, got {value!r} ({error})") from None
    return values


# ---- A call.


def _workspace(framework, device, stream, given):
    """Zeros, one for each stream, which the kernels leave ready for the next call."""
    size = _library().sectile_workspace_bytes()
    if size == 0:
        return 0
    if given is not None:
        kind, shape, steps, address, _ = framework.read("workspace", given)
        if kind != "uint8" or len(shape) != 1 or steps != (1,) or shape[0] < size:
            raise _fail(ValueError, "workspace", f"expected {size} bytes in one dimension")
        return address
    kept = framework.workspaces.get((device, stream))
    if kept is None:
        kept = framework.empty(["uint8"], (size,), (1,), size, device)
        _check_error(_library().sectile_clear(framework.read("workspace", kept)[3], size, device, stream), "")
        framework.workspaces[device, stream] = kept
    return framework.read("workspace", kept)[3]


def _check_error(error, reason):
    if error != 0:
        text = reason or _library().sectile_error(error).decode()
        raise _fail(RuntimeError, "", f"{text} (CUDA error {error})")


_checked = {}  # calls that were right, by types, lengths and strides: their extents


def _check(framework, arrays, read, given, device):
    """The extents; allocates what is left out."""
    found, origin = _find_extents(read, zip(_EXTENTS, given))
    extents = tuple(found[e] for e in _EXTENTS)
    for k, (array, wanted) in enumerate(zip(_ARRAYS, _arrays(extents))):
        if arrays[k] is not None:
            if read[k][4] != device:
                raise _fail(ValueError, array[0], f"expected an array on device {device}, it is on device {read[k][4]}")
            _check_array(array, read[k], wanted, found, origin)
        elif array[2]:
            shape, steps, size, _ = wanted
            arrays[k] = framework.empty(array[3], shape, steps or (1,) * len(shape), size, device)
            read[k] = framework.read(array[0], arrays[k])
        else:
            raise _fail(TypeError, array[0], "expected an array")
    return extents


def _prepare(arrays, scalars, given, stream, workspace, variant):
    framework = _framework_of(arrays)
    if framework is None:
        raise _fail(TypeError, "", "expected at least one array")
    read = [None if a is None else framework.read(array[0], a) for array, a in zip(_ARRAYS, arrays)]
    device = next(values[4] for values in read if values is not None)
    call = (device, *given, *((*values[:3], values[4]) if values else None for values in read))
    extents = _checked.get(call)
    if extents is None:
        extents = _check(framework, arrays, read, given, device)
        if len(_checked) == 1000:
            _checked.clear()
        if None not in call[1 + len(_EXTENTS):]:
            _checked[call] = extents
    if stream is None:
        stream = framework.stream(device)
    else:
        stream = getattr(stream, "cuda_stream", getattr(stream, "ptr", stream))
    values = [v for (name, kind, form), value in zip(_SCALARS, scalars) for v in _scalar(name, kind, form, value)]
    room = _workspace(framework, device, stream, workspace)
    forced = _scalar("$(forced)", "i32", "i", variant)
    packed = _struct.pack(_PACKED, *(r[3] for r in read), *extents, room, *forced, *values)
    return arrays, packed, device, stream


def _describe(packed, device):
    texts = (_ctypes.c_char_p * 6)()
    _library().sectile_variant(packed, device, texts)
    names = ("variant", "device", "match", "size", "reason", "instead_of")
    return dict(zip(names, (t and t.decode() for t in texts)))


def _launch(*call):
    arrays, packed, device, stream = _prepare(*call)
    error = _library().sectile_launch(packed, device, stream)
    if error != 0:
        _check_error(error, _describe(packed, device)["reason"])
    outputs = [a for (_, written, *_), a in zip(_ARRAYS, arrays) if written]
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _variant(*call):
    _, packed, device, _ = _prepare(*call)
    return _describe(packed, device)


def _log(path):
    """Counts calls from here on, and adds them to this file at the end; None: no longer."""
    _check_error(_library().sectile_log(path and _os.fsencode(path)), path and f"{path} cannot be written")


def _copy(way, array, source, given):
    function = getattr(_library(), f"sectile_{way}_{array}", None)
    if function is None:
        raise _fail(ValueError, array, "is no array of which the header packs elements")
    if sorted(given) != sorted(_EXTENTS) or min(given.values()) < 0:
        raise _fail(TypeError, array, f"expected {', '.join(e + '=...' for e in _EXTENTS)}, none negative")
    n = tuple(given[e] for e in _EXTENTS)
    place = [name for name, *_ in _ARRAYS].index(array)
    sizes = _arrays(n)[place][2:]
    wanted, made = reversed(sizes) if way == "pack" else sizes
    data, out = bytes(source), bytearray(made)
    if len(data) != wanted:
        raise _fail(ValueError, array, f"expected {wanted} bytes, got {len(data)}")
    function((_ctypes.c_ubyte * made).from_buffer(out), data, (_ctypes.c_longlong * len(n))(*n))
    return out


def _pack(array, plain, **extents):
    """A bytearray with the elements of `plain`, bytes in C order, where the kernel has them."""
    return _copy("pack", array, plain, extents)


def _unpack(array, packed, **extents):
    """The way back."""
    return _copy("unpack", array, packed, extents)


# ---- The function.


def $(python.name)($(join(python.parameters))):
    return _launch([$(join(python.names))], [$(join(python.scalar_names))], [$(join(extents, "n_%s"))], $(python.stream), $(python.workspace), $(forced))


def _variant_of($(join(python.parameters))):
    """Which kernel the same call takes, and why."""
    return _variant([$(join(python.names))], [$(join(python.scalar_names))], [$(join(extents, "n_%s"))], $(python.stream), $(python.workspace), $(forced))


$(python.name).variant, $(python.name).log = _variant_of, _log
$(python.name).pack, $(python.name).unpack, $(python.name).n_variants = _pack, _unpack, $(#kernels)

if __name__ == "__main__":
    _compile(_BESIDE)
    print(_BESIDE)
