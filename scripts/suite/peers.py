#!/usr/bin/env python3
"""Peers of the suite that are used from Python: PyTorch eager, torch.compile, Triton, CuPy.

  peers.py < JOBS      jobs and answers as those of peers.cu; {"absent": WHY} where nothing is installed.
                       what=library: only what is called as it is; what=compiled: only what is compiled first

Timed as docs/measure.md says: units of at least 200 us back to back behind a kernel that waits until
all is queued, going round copies of the arrays that make three times the L2, medians of at least 15
units, less what a launch of an empty kernel costs. Every result is compared with the plainest form.
"""
import collections
import ctypes
import json
import math
import statistics
import sys
import time

UNIT_NS, LEAST, MOST, BUDGET_S, MOST_COPIES = 200e3, 15, 31, 0.3, 64
SLOW_NS = 10e6  # launches that take longer are timed five times

try:
    import torch
except Exception as why:  # a broken installation is an absent one
    torch, absent = None, f"PyTorch: {why}"
if torch:
    import peers_cases
try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError as why:
    if torch:
        torch, absent = None, f"the driver: {why}"
try:
    import cupy
except Exception:
    cupy = None
try:
    import triton
    import triton.language as tl
except Exception:
    triton = None


def say(**members):
    print(json.dumps(members), flush=True)


# ---- timing ----

EMPTY = b".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n\0"


def empty_launch():
    """launch(turn) of a kernel of one block that does nothing: what PyTorch has to offer itself writes memory, which
    costs 0.25 us more on an H200"""
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    if driver.cuModuleLoadData(ctypes.byref(module), EMPTY) or driver.cuModuleGetFunction(
            ctypes.byref(kernel), module, b"empty"):
        raise RuntimeError("the driver refuses an empty kernel")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def launch(_):
        if driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None):
            raise RuntimeError("the driver refuses to launch an empty kernel")

    return launch


class Clock:
    def __init__(self):
        self.first_ns, self.next_ns = 0.0, 0.0
        self.cycles_per_ns = 1.0
        for _ in range(3):
            start, stop = self.events()
            start.record()
            torch.cuda._sleep(2_000_000)
            stop.record()
            torch.cuda.synchronize()
            self.cycles_per_ns = 2e6 / (start.elapsed_time(stop) * 1e6)
        self.learn_launch_cost()

    @staticmethod
    def events():
        return torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def learn_launch_cost(self):
        nothing = empty_launch()
        nothing(0)
        first = [self.unit(nothing, 1, 100e3) for _ in range(12)]
        many = [self.unit(nothing, 129, 3e6) for _ in range(12)]
        self.first_ns = statistics.median(first[3:])
        self.next_ns = max(0.0, (statistics.median(many[3:]) - self.first_ns) / 128)

    def unit(self, launch, launches, hold_ns):
        """ns of `launches` launches, none of which began before the last was queued"""
        while True:
            start, stop = self.events()
            torch.cuda._sleep(int(hold_ns * self.cycles_per_ns))
            start.record()
            for turn in range(launches):
                launch(turn)
            stop.record()
            late = start.query()
            torch.cuda.synchronize()
            if not late or hold_ns > 1e9:
                return start.elapsed_time(stop) * 1e6
            hold_ns *= 2

    def time(self, launch):
        """(median, q1, q3 in ns, launches of a unit, units)"""
        torch.cuda.synchronize()
        driver.cuCtxResetPersistingL2Cache()  # what another peer marked as the last that L2 gives up stays otherwise
        for turn in range(3):
            launch(turn)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        once = max(1.0, min(self.unit(launch, 1, 200e3) for _ in range(3)) - self.first_ns)
        host_ns = (time.perf_counter() - begin) * 1e9 / 3
        launches = max(1, min(128, math.ceil(UNIT_NS / once)))
        hold_ns = 100e3 + min(host_ns, 300e3) * launches
        cost = (self.first_ns + (launches - 1) * self.next_ns) / launches
        for _ in range(2):
            self.unit(launch, launches, hold_ns)
        each, begin = [], time.perf_counter()
        while len(each) < (5 if once > SLOW_NS else LEAST) or (
            len(each) < MOST and time.perf_counter() - begin < BUDGET_S
        ):
            each.append(self.unit(launch, launches, hold_ns) / launches - cost)
        low, middle, high = statistics.quantiles(each, n=4, method="inclusive")
        return middle, low, high, launches, len(each)


class Bench:
    """One job's arrays: copies of the inputs and of the outputs."""

    clock = None

    def __init__(self, job, make_input, out_shape, dtype, tolerance=0.0):
        self.job, self.tolerance = job, tolerance
        self.seen, self.skip = 0, int(job.get("skip", 0))
        self.what = job.get("what")
        generator = torch.Generator(device="cuda").manual_seed(1)
        first = make_input(generator)
        out = torch.empty(out_shape, dtype=dtype, device="cuda")
        size = first.numel() * first.element_size() + out.numel() * out.element_size()
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        n = max(1, min(MOST_COPIES, math.ceil(3 * l2 / size)))
        self.inputs = [first] + [first.clone() for _ in range(n - 1)]
        self.outputs = [out] + [torch.empty_like(out) for _ in range(n - 1)]

    def a(self, turn):
        return self.inputs[turn % len(self.inputs)]

    def b(self, turn):
        return self.outputs[turn % len(self.outputs)]

    def run(self, peer, want, launch, compiled=False):
        """launch(turn) queues the work; its result is what it returns, or b(turn) for None"""
        if not self.wants(compiled):
            return
        self.seen += 1
        if self.seen <= self.skip:
            return
        say(job=self.job["id"], begin=peer)
        try:
            self.b(0).fill_(77)
            if compiled:
                torch._dynamo.reset()
            launch = self.rotating(launch)
            self.check(launch(0), want)
            middle, low, high, launches, units = self.clock.time(launch)
            self.check(launch(0), want)
            say(job=self.job["id"], peer=peer, median_ns=middle, q1_ns=low, q3_ns=high, launches=launches,
                units=units, verified=True)
        except Exception as why:
            text = f"{type(why).__name__}: {why}".splitlines()[0][:300]
            say(job=self.job["id"], peer=peer, failed=text)
            if "CUDA error" in text:  # the context is lost
                sys.exit(3)

    def rotating(self, launch):
        """Results that are new arrays live as long as it takes to go round the copies: else the allocator would give
        out the same memory again and again, and what is written there would stay in L2."""
        kept = collections.deque(maxlen=len(self.outputs))

        def turn(number):
            result = launch(number)
            kept.append(result)
            return result
        return turn

    def wants(self, compiled):
        return self.what in (None, "compiled" if compiled else "library")

    def check(self, result, want):
        result = self.b(0) if result is None else result
        expected = want()
        torch.cuda.synchronize()
        if result.shape != expected.shape:
            raise ValueError(f"shape {tuple(result.shape)} instead of {tuple(expected.shape)}")
        same = torch.allclose(result, expected, rtol=self.tolerance, atol=self.tolerance) if self.tolerance else torch.equal(
            result, expected)
        if not same:
            raise ValueError("differs from the reference")


def floats(shape, dtype):
    return lambda g: torch.rand(shape, generator=g, device="cuda", dtype=dtype) + 1


def raw(shape, dtype):
    return lambda g: torch.randint(0, 100, shape, generator=g, device="cuda", dtype=dtype)


def any_of(shape, elem):
    """elements of so many bytes: what makes them, their type"""
    dtype = {1: torch.uint8, 2: torch.float16, 4: torch.float32, 8: torch.float64}[elem]
    return (raw if elem == 1 else floats)(shape, dtype), dtype


def numbers(text):
    return [int(part) for part in text.split(",")]


def plain_and_compiled(bench, name, want, eager, function, *more):
    """eager(turn) writes b(turn); function(a, *more) gives the result"""
    bench.run(f"PyTorch {name}", want, eager)
    compiled = torch.compile(function, dynamic=False)
    bench.run("torch.compile", want, lambda turn: compiled(bench.a(turn), *more), compiled=True)


# ---- kernels in Triton ----

if triton:

    @triton.jit
    def triton_transpose(a, b, rows, cols, R: tl.constexpr, C: tl.constexpr):
        tiles = tl.cdiv(cols, C)
        block = tl.program_id(0).to(tl.int64)
        row = block // tiles * R + tl.arange(0, R)
        col = block % tiles * C + tl.arange(0, C)
        inside = (row[:, None] < rows) & (col[None, :] < cols)
        tile = tl.load(a + row[:, None] * cols + col[None, :], mask=inside)
        tl.store(b + col[:, None] * rows + row[None, :], tl.trans(tile),
                 mask=(col[:, None] < cols) & (row[None, :] < rows))

    @triton.jit
    def triton_add_one(a, b, n, B: tl.constexpr):
        at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
        tl.store(b + at, tl.load(a + at, mask=at < n) + 1, mask=at < n)

    @triton.jit
    def triton_gather(table, pick, b, n, E: tl.constexpr, B: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
        from_row = tl.load(pick + row, mask=row < n, other=0).to(tl.int64)
        lane = tl.arange(0, E)
        inside = (row[:, None] < n) & (lane[None, :] < E)
        tl.store(b + row[:, None] * E + lane[None, :],
                 tl.load(table + from_row[:, None] * E + lane[None, :], mask=inside), mask=inside)

    @triton.jit
    def triton_sum_rows(a, b, cols, B: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        sums = tl.zeros((B,), dtype=tl.float32)
        for k in range(0, cols, B):
            at = k + tl.arange(0, B)
            sums += tl.load(a + row * cols + at, mask=at < cols, other=0.0)
        tl.store(b + row, tl.sum(sums))


def best_of_triton(bench, want, shapes, launch):
    """the best of some shapes, as autotuning would find it"""
    if not triton or not bench.wants(True):
        return
    times = []
    for shape in shapes:
        try:
            launch(0, shape)
            torch.cuda.synchronize()
            start, stop = Clock.events()
            start.record()
            for turn in range(5):
                launch(turn, shape)
            stop.record()
            torch.cuda.synchronize()
            times.append((start.elapsed_time(stop), shape))
        except Exception as why:
            if "CUDA error" in str(why):
                raise
    if times:
        best = min(times)[1]
        bench.run("Triton", want, lambda turn: launch(turn, best), compiled=True)


def tiles_for(rows, cols):
    """(rows, columns, warps) of a tile: some, as each costs a compilation"""
    def whole(n):
        return max(8, 1 << (n - 1).bit_length())

    if cols <= 32:
        return [(r, whole(cols), w) for r, w in ((128, 4), (512, 8))]
    if rows <= 32:
        return [(whole(rows), c, w) for c, w in ((128, 4), (512, 8))]
    return [(32, 32, 4), (64, 64, 4), (64, 64, 8), (128, 32, 8), (32, 128, 8)]


# ---- kinds of jobs ----


def job_map(job):
    n, k = int(job["n"]), int(job["fields"])
    dtype = torch.float64 if job["type"] == "f64" else torch.float32
    b = Bench(job, floats((n, k), dtype), (n, k), dtype)
    if job["op"] == "next":
        want = lambda: b.a(0) + b.a(0).roll(-1, 1)
        plain_and_compiled(b, "a + a.roll", want, lambda t: nothing(torch.add(b.a(t), b.a(t).roll(-1, 1), out=b.b(t))),
                           lambda a: a + a.roll(-1, 1))
        return
    want = lambda: b.a(0) + 1
    plain_and_compiled(b, "add", want, lambda t: nothing(torch.add(b.a(t), 1, out=b.b(t))), lambda a: a + 1)
    best_of_triton(b, want, [(1024, 4), (2048, 8), (4096, 8)], lambda t, s: nothing(
        triton_add_one[(triton.cdiv(n * k, s[0]),)](b.a(t), b.b(t), n * k, B=s[0], num_warps=s[1])))
    if cupy:
        one = cupy.ElementwiseKernel("T x", "T y", "y = x + 1", "sectile_add_one")
        b.run("CuPy", want, lambda t: nothing(one(cupy_of(b.a(t)), cupy_of(b.b(t)))))


def nothing(_):
    return None


def cupy_of(tensor):
    """the same memory as an array of CuPy's; made once, as that takes longer than a launch"""
    key = (tensor.data_ptr(), tuple(tensor.shape), tensor.dtype)
    if key not in cupy_arrays:
        cupy_arrays[key] = cupy.from_dlpack(tensor)
    return cupy_arrays[key]


cupy_arrays = {}


def job_convert(job):
    n, k = int(job["n"]), int(job["fields"])
    job = dict(job, elem="8" if job["type"] == "f64" else "4", perm="1,0",
               dims=f"{n},{k}" if job["kind"] == "to_soa" else f"{k},{n}")
    job_permute(job)


def job_permute(job):
    dims, order = numbers(job["dims"]), numbers(job["perm"])
    make, dtype = any_of(tuple(dims), int(job["elem"]))
    b = Bench(job, make, tuple(dims[k] for k in order), dtype)
    want = lambda: b.a(0).permute(order)
    plain_and_compiled(b, "copy_", want, lambda t: nothing(b.b(t).copy_(b.a(t).permute(order))),
                       lambda a: a.permute(order).contiguous())
    if len(dims) == 2:
        rows, cols = dims
        best_of_triton(b, want, tiles_for(rows, cols),
                       lambda t, s: nothing(triton_transpose[(triton.cdiv(rows, s[0]) * triton.cdiv(cols, s[1]),)](
                           b.a(t), b.b(t), rows, cols, R=s[0], C=s[1], num_warps=s[2])))
    if cupy:
        b.run("CuPy", want, lambda t: nothing(cupy.copyto(cupy_of(b.b(t)), cupy_of(b.a(t)).transpose(order))))


def job_gather(job):
    n, m = int(job.get("n", job.get("rows"))), int(job["m"])
    size = int(job.get("elem", job.get("bytes")))
    wide = 1 if size <= 8 else size // 4
    dtype = torch.float64 if size == 8 else torch.float32
    b = Bench(job, floats((m, wide), dtype), (n, wide), dtype)
    pick = torch.randperm(m, device="cuda")[:n].to(torch.int32)
    want = lambda: b.a(0)[pick.long()]
    plain_and_compiled(b, "index_select", want, lambda t: nothing(torch.index_select(b.a(t), 0, pick, out=b.b(t))),
                       lambda table, at: table[at], pick)
    if wide <= 16:
        best_of_triton(b, want, [(64, 2), (128, 4), (256, 4), (512, 4)],
                       lambda t, s: nothing(triton_gather[(triton.cdiv(n, s[0]),)](
                           b.a(t), pick, b.b(t), n, E=wide, B=s[0], num_warps=s[1])))
    if cupy:
        b.run("CuPy take", want, lambda t: nothing(
            cupy.take(cupy_of(b.a(t)), cupy_of(pick), axis=0, out=cupy_of(b.b(t)))))


def job_scatter(job):
    n, wide = int(job["n"]), max(1, int(job["elem"]) // 4)
    b = Bench(job, floats((n, wide), torch.float32), (n, wide), torch.float32)
    pick = torch.randperm(n, device="cuda")
    want = lambda: torch.empty_like(b.a(0)).index_copy_(0, pick, b.a(0))
    def put(a, at):
        out = torch.empty_like(a)
        out[at] = a
        return out

    plain_and_compiled(b, "index_copy_", want, lambda t: nothing(b.b(t).index_copy_(0, pick, b.a(t))), put, pick)


def job_shift(job):
    n, by, elem = int(job["n"]), int(job["by"]), int(job["elem"])
    make, dtype = any_of((n + by,), elem)
    b = Bench(job, make, (n,), dtype)
    plain_and_compiled(b, "copy_", lambda: b.a(0)[by:], lambda t: nothing(b.b(t).copy_(b.a(t)[by:])),
                       lambda a: a[by:].clone())


def job_stride(job):
    n, step, elem = int(job["n"]), int(job["step"]), int(job["elem"])
    make, dtype = any_of((n * step,), elem)
    b = Bench(job, make, (n,), dtype)
    plain_and_compiled(b, "copy_", lambda: b.a(0)[::step], lambda t: nothing(b.b(t).copy_(b.a(t)[::step])),
                       lambda a: a[::step].clone())
    if cupy:
        b.run("CuPy", lambda: b.a(0)[::step], lambda t: nothing(cupy.copyto(cupy_of(b.b(t)), cupy_of(b.a(t))[::step])))


def stencil_of(a, border):
    if border == "clamp":  # which PyTorch pads in images only
        p = torch.nn.functional.pad(a[None, None], (1, 1) * a.dim(), mode="replicate")[0, 0]
    else:
        p = torch.nn.functional.pad(a, (1, 1) * a.dim())
    inner = tuple(slice(1, -1) for _ in range(a.dim()))
    total = torch.zeros_like(a)
    for d in range(a.dim()):
        for shift in (slice(0, -2), slice(2, None)):
            total = total + p[inner[:d] + (shift,) + inner[d + 1:]]
    return a + 0.1 * (total - 2.0 * a.dim() * a)


def job_stencil(job):
    dims = tuple(numbers(job["dims"]))
    b = Bench(job, floats(dims, torch.float32), dims, torch.float32, 1e-4)
    border = job["border"]
    plain_and_compiled(b, "slices", lambda: stencil_of(b.a(0), border), lambda t: stencil_of(b.a(t), border),
                       lambda a: stencil_of(a, border))


def job_sum(job):
    rows, cols, of = int(job["rows"]), int(job["cols"]), job["of"]
    dim = {"rows": 1, "cols": 0}.get(of)
    shape = {"rows": (rows,), "cols": (cols,)}.get(of, ())
    b = Bench(job, floats((rows, cols), torch.float32), shape, torch.float32, 1e-3)
    add = (lambda a: a.sum()) if dim is None else (lambda a: a.sum(dim))
    want = lambda: add(b.a(0).double()).float()
    plain_and_compiled(b, "sum", want, lambda t: add(b.a(t)), add)
    if of == "rows":
        best_of_triton(b, want, [(1024, 4), (2048, 4), (4096, 8), (8192, 16)],
                       lambda t, s: nothing(triton_sum_rows[(rows,)](b.a(t), b.b(t), cols, B=s[0], num_warps=s[1])))
    if cupy:
        b.run("CuPy sum", want, lambda t: torch.from_dlpack(cupy_of(b.a(t)).sum(axis=dim)))


def job_argmax(job):
    rows, cols = int(job["rows"]), int(job["cols"])
    b = Bench(job, lambda g: torch.rand((rows, cols), generator=g, device="cuda").argsort(1).float(), (rows,),
              torch.int64)
    plain_and_compiled(b, "argmax", lambda: b.a(0).argmax(1), lambda t: b.a(t).argmax(1), lambda a: a.argmax(1))


def job_scan(job):
    rows, cols = int(job["rows"]), int(job["cols"])
    shape = (cols,) if rows == 1 else (rows, cols)
    b = Bench(job, floats(shape, torch.float32), shape, torch.float32, 1e-3)
    plain_and_compiled(b, "cumsum", lambda: b.a(0).double().cumsum(-1).float(),
                       lambda t: nothing(torch.cumsum(b.a(t), -1, out=b.b(t))), lambda a: a.cumsum(-1))


def job_case(job):
    make, shape, dtype, function, more, tolerance = peers_cases.CASES[job["name"]](job)
    b = Bench(job, make, shape, dtype, tolerance)
    plain_and_compiled(b, "eager", lambda: function(b.a(0), *more), lambda t: function(b.a(t), *more), function, *more)


KINDS = {"argmax": job_argmax, "case": job_case, "map": job_map, "to_soa": job_convert, "to_aos": job_convert, "permute": job_permute, "gather": job_gather,
         "gather_rows": job_gather, "scatter": job_scatter, "shift": job_shift, "stride": job_stride,
         "stencil": job_stencil, "sum": job_sum, "scan": job_scan}


def read_job(line):
    words = line.split()
    return dict([word.split("=", 1) for word in words[2:]], id=words[0], kind=words[1])


def main():
    if not torch or not torch.cuda.is_available():
        say(absent=absent if not torch else "PyTorch sees no GPU")
        return 0
    if cupy:  # on the stream that the events are recorded on
        cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream).use()
    Bench.clock = Clock()
    say(device=torch.cuda.get_device_name(0), torch=torch.__version__, triton=triton.__version__ if triton else None,
        cupy=cupy.__version__ if cupy else None, first_launch_ns=Bench.clock.first_ns,
        next_launch_ns=Bench.clock.next_ns)
    for line in sys.stdin:
        job = read_job(line)
        try:
            if job["kind"] in KINDS:
                KINDS[job["kind"]](job)
        except Exception as why:
            say(job=job["id"], refused=f"{type(why).__name__}: {why}".splitlines()[0][:300])
            if "CUDA error" in str(why):
                return 3
        cupy_arrays.clear()
        torch.cuda.empty_cache()
        say(job=job["id"], end=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
