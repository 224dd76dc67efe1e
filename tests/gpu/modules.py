#!/usr/bin/env python3
"""Calls kernels from PyTorch and CuPy through the modules of `sectile emit --python`, and compares with NumPy.

  tests/gpu/modules.py PROGRAM [OUT] [--store FILE] [--fakes]

  PROGRAM: the sectile binary; OUT: where headers and modules go, default out/gpu/modules
  --store FILE   headers come from there; default: OUT/store.db, tuned first where it has not the kernel
  --fakes        try this script without a GPU: shapes and types are checked, nothing runs (CUDA_HOME: a runtime that does nothing)

Each kernel runs at extents 0, 1, 31, 33, primes and a few hundred thousand, with PyTorch and with CuPy where they are installed;
once more in a CUDA graph and from two threads on two streams. Then what a call costs beside an operation of PyTorch. Needs
NumPy and a C compiler. Exit 1 on a difference, 77 without a GPU.
"""
import argparse
import importlib
import os
import subprocess
import sys
import threading
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "tuning", "kernels")
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", type=os.path.abspath)
parser.add_argument("out", nargs="?", default="out/gpu/modules", type=os.path.abspath)
parser.add_argument("--store", type=os.path.abspath)
parser.add_argument("--fakes", action="store_true")
ARGS = parser.parse_args()
STORE = ARGS.store or os.path.join(ARGS.out, "store.db")
rng = np.random.default_rng(1)
problems = []


def say(good, text):
    print(("ok    " if good else "FAIL  ") + text, flush=True)
    if not good:
        problems.append(text)


# ---- What runs the modules: arrays of NumPy go there and come back.


class Torch:
    def __init__(self):
        import torch
        self.torch = torch

    def send(self, a):
        return self.torch.from_numpy(np.ascontiguousarray(a)).cuda()

    def fetch(self, a):
        self.torch.cuda.synchronize()
        return a.cpu().numpy()


class CuPy:
    def __init__(self):
        import cupy
        self.cupy = cupy

    def send(self, a):
        return self.cupy.asarray(np.ascontiguousarray(a))

    def fetch(self, a):
        return self.cupy.asnumpy(a)


class Fakes:
    def __init__(self):
        sys.path.insert(0, os.path.join(HERE, "..", "emit", "python"))
        import fakes
        self.fakes = fakes

    def send(self, a):
        return self.fakes.Tensor(a.shape, getattr(self.fakes.torch, a.dtype.name))

    def fetch(self, a):
        return a


# ---- Kernels: what they are called with, and what they must give. Each knows nothing of Sectile's own code.


def floats(*shape, kind="float32"):
    """Ordinary values, with signed zeros, subnormal ones and the largest."""
    a = rng.standard_normal(shape).astype(kind)
    if a.size > 8:
        a.flat[rng.integers(0, a.size, 4)] = np.array([0.0, -0.0, np.finfo(kind).tiny / 8, -1.0], kind)
    return a


def rows_of(n, most):
    """Where n rows of different lengths begin."""
    return np.concatenate([[0], np.cumsum(rng.integers(0, most, n))]).astype(np.int32)


def transpose_f32(call, n, m):
    a = floats(n, m)
    return call(a), a, 0


def sum_rows_f32(call, n, m):
    a = floats(n, m)
    return call(a), a.sum(1, dtype=np.float64), 1e-5


def max_rows_f32(call, n, m):
    a = floats(n, m)
    return call(a), a.max(1, initial=-np.inf), 0


def sum_all_f32(call, n, m):
    a = floats(n, m)
    return call(a), a.sum(dtype=np.float64), 1e-5


def softmax(call, n, m):
    x = floats(n, m)
    e = np.exp(x.astype(np.float64) - x.max(1, initial=-np.inf)[:, None])
    return call(x), e / e.sum(1)[:, None], 1e-5


def layer_norm(call, n, m):
    x, gamma, beta = floats(n, m), floats(m), floats(m)
    d = x - x.mean(1, dtype=np.float64)[:, None] if m else x
    q = (d * d).mean(1)[:, None] if m else x
    return call(x, gamma, beta, eps=1e-5), d / np.sqrt(q + 1e-5) * gamma + beta, 1e-4


def saxpy_in_place(call, n, m):
    y, x = floats(n * m), floats(n * m)
    return call(y, x, k=0.75), 0.75 * y.astype(np.float64) + x, 1e-6


def stencil2d_f32(call, n, m):
    a = floats(n, m)
    p = np.pad(a.astype(np.float64), 1, mode="edge") if a.size else np.zeros((n + 2, m + 2))
    near = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return call(a, k=0.25), a + 0.25 * (near - 4.0 * a), 1e-5


def prefix_sum(call, n, m):
    a = rng.integers(0, 8, n * m).astype(np.float32)
    return call(a), np.cumsum(a, dtype=np.float64), 1e-6


def segment_sum(call, n, m):
    offsets = rows_of(n, 2 * m + 1)
    a = floats(int(offsets[-1]))
    want = [a[first:last].sum(dtype=np.float64) for first, last in zip(offsets, offsets[1:])]
    return call(offsets, a), np.array(want), 1e-5


def csr_spmv(call, n, m):
    ptr = rows_of(n, 2 * m + 1)
    col = rng.integers(0, m, int(ptr[-1])).astype(np.int32)
    v, x = floats(len(col)), floats(m)
    each = v.astype(np.float64) * x[col]
    return call(ptr, col, v, x), np.array([each[first:last].sum() for first, last in zip(ptr, ptr[1:])]), 1e-5


def scatter_add(call, n, m):
    pick = rng.integers(0, max(m, 1), n * m).astype(np.int32)
    x, y = rng.integers(-8, 8, n * m).astype(np.float32), rng.integers(-8, 8, m).astype(np.float32)
    want = y.copy()
    np.add.at(want, pick, x)
    return call(pick, x, y), want, 0


def histogram(call, n, m):
    key = rng.integers(0, 256, n * m).astype(np.int32)
    return call(key, n_bin=256), np.bincount(key, minlength=256), 0


def gather_rows64(call, n, m):
    pick = rng.integers(0, max(m, 1), n if m else 0).astype(np.int32)
    table = floats(m, 16)
    return call(pick, table), table[pick], 0


def dequant_int4(call, n, m):
    q = rng.integers(-8, 8, (n, m)).astype(np.int8)
    pairs = np.zeros((n, (m + 1) // 2 * 2), np.uint8)
    pairs[:, :m] = q & 15
    scale = floats(n, (m + 127) // 128, kind="float16")
    want = np.repeat(scale, 128, axis=1)[:, :m].astype(np.float32) * q
    return call(pairs[:, 0::2] | pairs[:, 1::2] << 4, scale, n_col=m), want, 1e-3


def dequant_q4_0(call, n, m):
    scale, q = floats(n * m, kind="float16"), rng.integers(0, 256, (n * m, 16)).astype(np.uint8)
    blocks = np.concatenate([scale.view(np.uint8).reshape(-1, 2), q], axis=1)
    want = (np.concatenate([q & 15, q >> 4], axis=1) - 8.0) * scale[:, None]
    return call(blocks.reshape(-1), n_block=n * m), want, 1e-3


def particle_energy(call, n, m):
    p = floats(n * m, 7)
    packed = np.frombuffer(call.module.pack("p", p.tobytes(), n_i=n * m), np.uint8)
    wide = p.astype(np.float64)
    return call(packed, n_i=n * m), 0.5 * wide[:, 6] * (wide[:, 3:6] ** 2).sum(1), 1e-5


CASES = [transpose_f32, sum_rows_f32, max_rows_f32, sum_all_f32, softmax, layer_norm, saxpy_in_place, stencil2d_f32, prefix_sum,
         segment_sum, csr_spmv, scatter_add, histogram, gather_rows64, dequant_int4, dequant_q4_0,
         particle_energy]
SIZES = [(1, 1), (0, 5), (5, 0), (31, 33), (1, 127), (127, 1), (101, 103), (33, 31), (67, 4099), (512, 768)]


class Call:
    """A module's function for arrays of NumPy."""

    def __init__(self, framework, module):
        self.framework, self.module = framework, module

    def __call__(self, *arrays, **named):
        return self.framework.fetch(self.module(*map(self.framework.send, arrays), **named))


def try_case(case, framework, module):
    wrong, most = [], 0.0
    for n, m in SIZES:
        got, want, tolerance = case(Call(framework, module), n, m)
        if ARGS.fakes:
            continue
        want = np.asarray(want)
        if got.shape != want.shape:
            wrong.append(f"{n} x {m}: shape {got.shape}, expected {want.shape}")
            continue
        scale = np.maximum(np.abs(want), 1.0) * max(1.0, np.sqrt(m) if tolerance else 1.0)
        with np.errstate(invalid="ignore"):
            error = np.where(got == want, 0.0, np.abs(got.astype(np.float64) - want) / scale)
        most = max(most, float(error.max(initial=0.0)))
        if not (error <= tolerance).all():
            wrong.append(f"{n} x {m}: {int((~(error <= tolerance)).sum())} elements, by {error.max():.3g}")
    say(not wrong, f"{type(framework).__name__} {case.__name__}: {len(SIZES)} sizes, at most {most:.2g} off {'; '.join(wrong)}")


def emit(name):
    """The module of a kernel; its store is made where there is none."""
    words = [name, "--store", STORE, "-o", os.path.join(ARGS.out, name + "_kernel.h"), "--python", os.path.join(ARGS.out, name + "_kernel.py")]
    made = subprocess.run([ARGS.program, "emit", *words], capture_output=True, text=True, check=False)
    if made.returncode != 0 and not ARGS.store:
        tuned = subprocess.run([ARGS.program, "tune", os.path.join(KERNELS, name + ".lua"), "--store", STORE, "-q", "--max-candidates",
                                "2" if ARGS.fakes else "12", *(["-d", "virtual:h200"] if ARGS.fakes else [])], capture_output=True, text=True, check=False)
        made = subprocess.run([ARGS.program, "emit", *words], capture_output=True, text=True, check=False)
        made.stderr = tuned.stderr + made.stderr
    say(made.returncode == 0, f"emit --python {name} {made.stderr[-300:] if made.returncode else ''}")
    return getattr(importlib.import_module(name + "_kernel"), name) if made.returncode == 0 else None


# ---- More than one call at a time.


def try_graph(framework, transpose, sums):
    """Ten launches in a graph, which is replayed with other contents."""
    torch = framework.torch
    a, b = torch.zeros(301, 257, device="cuda"), None
    out, total = transpose(a), sums(a)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(5):
            transpose(a, out)
            sums(a, total)
    b = torch.randn_like(a)
    a.copy_(b)
    graph.replay()
    torch.cuda.synchronize()
    say(bool((out == b).all()) and torch.allclose(total, b.double().sum().float(), atol=1e-2), "Torch: 10 launches in a CUDA graph")


def try_threads(framework, transpose, sums):
    torch, wrong = framework.torch, []

    def work(seed):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for k in range(200):
                a = torch.full((129 + seed, 65 + k % 7), float(seed + k), device="cuda")
                b, total = transpose(a), sums(a)
                if not bool((b == a).all()) or float(total) != (seed + k) * a.numel():
                    wrong.append((seed, k))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(not wrong, f"Torch: 2 threads on 2 streams, 800 launches {wrong[:3]}")


def time_calls(framework, transpose):
    torch = framework.torch
    a = torch.zeros(64, 64, device="cuda")
    b = transpose(a)

    def us(function, n=5000):
        for _ in range(200):
            function()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(n):
            function()
        took = time.perf_counter() - start
        torch.cuda.synchronize()
        return took / n * 1e6

    print(f"      a call: {us(lambda: transpose(a, b)):.1f} us, with allocation {us(lambda: transpose(a)):.1f} us; "
          f"PyTorch: torch.neg(a, out=b) {us(lambda: torch.neg(a, out=b)):.1f} us, a.t().contiguous() {us(lambda: a.t().contiguous()):.1f} us")


def try_refusals(framework, transpose):
    torch = framework.torch
    calls = {"expected strides": lambda: transpose(torch.zeros(8, 4, device="cuda").t()),
             "expected elements of type float32": lambda: transpose(torch.zeros(4, 8, device="cuda").half()),
             "on a CUDA device": lambda: transpose(torch.zeros(4, 8)),
             "no gradient": lambda: transpose(torch.zeros(4, 8, device="cuda", requires_grad=True))}
    for text, call in calls.items():
        try:
            call()
            say(False, f"not refused: {text}")
        except (TypeError, ValueError) as error:
            say(text in str(error), f"refused: {error}")


def frameworks():
    found = []
    for kind in (Fakes,) if ARGS.fakes else (Torch, CuPy):
        try:
            found.append(kind())
        except ImportError as error:
            print(f"      {kind.__name__}: {error}")
    return found


def main():
    os.makedirs(ARGS.out, exist_ok=True)
    sys.path.insert(0, ARGS.out)
    found = frameworks()
    if not found or (isinstance(found[0], Torch) and not found[0].torch.cuda.is_available()):
        print("skipped: no GPU here, or neither PyTorch nor CuPy")
        sys.exit(77)
    modules = {case.__name__: emit(case.__name__) for case in CASES}
    for framework in found:
        for case in CASES:
            if modules[case.__name__]:
                try:
                    try_case(case, framework, modules[case.__name__])
                except Exception as error:
                    say(False, f"{type(framework).__name__} {case.__name__}: {error!r}")
    transpose, sums = modules["transpose_f32"], modules["sum_all_f32"]
    if isinstance(found[0], Torch) and transpose and sums:
        try_graph(found[0], transpose, sums)
        try_threads(found[0], transpose, sums)
        try_refusals(found[0], transpose)
        time_calls(found[0], transpose)
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
