"""Peers of single cases: what a row of cases.txt or unseen.txt computes, as a function that PyTorch runs and compiles.

A case is a function of its job's extents that gives (what makes the first array, shape and type of the result, function,
further arrays, tolerance). The first array is rotated past the L2 like that of every other peer.
"""
import torch


def numbers(job, *names):
    return [int(job[name]) for name in names]


def drawn(shape, dtype):
    """floats in [1, 2), or small integers"""
    if dtype.is_floating_point:
        return lambda g: (torch.rand(shape, generator=g, device="cuda") + 1).to(dtype)
    return lambda g: torch.randint(0, 100, shape, generator=g, device="cuda", dtype=dtype)


def fixed(shape, dtype, seed=7):
    return drawn(shape, dtype)(torch.Generator(device="cuda").manual_seed(seed))


def rope(job):
    token, head, d = numbers(job, "token", "head", "d")

    def turn(x, cs, sn):
        lo, hi = x[..., :d].float(), x[..., d:].float()
        cs, sn = cs[:, None, :], sn[:, None, :]
        return torch.cat((lo * cs - hi * sn, hi * cs + lo * sn), -1).to(torch.bfloat16)

    shape = (token, head, 2 * d)
    more = (fixed((token, d), torch.float32), fixed((token, d), torch.float32, 8))
    return drawn(shape, torch.bfloat16), shape, torch.bfloat16, turn, more, 1e-2


def paged(job):
    token, head, d, page = numbers(job, "token", "head", "d", "page")
    pick = torch.randperm(page, device="cuda")[: token // 16]
    return (drawn((page, 16, head, d), torch.bfloat16), (token, head, d), torch.bfloat16,
            lambda cache, at: cache[at].reshape(token, head, d), (pick,), 0.0)


def nv12(job):
    rows, cols = numbers(job, "rows", "cols")

    def convert(y, uv):
        wide = uv.int().repeat_interleave(2, 0).repeat_interleave(2, 1)
        light, u, v = 298 * (y.int() - 16), wide[..., 0] - 128, wide[..., 1] - 128
        r, g, b = light + 409 * v + 128, light - 100 * u - 208 * v + 128, light + 516 * u + 128
        return (torch.stack((r, g, b), -1) >> 8).clamp(0, 255).to(torch.uint8)

    return (drawn((rows, cols), torch.uint8), (rows, cols, 3), torch.uint8, convert,
            (fixed((rows // 2, cols // 2, 2), torch.uint8),), 0.0)


def prep(job):
    n, h, w = numbers(job, "n", "h", "w")
    more = (fixed((3,), torch.float32), fixed((3,), torch.float32, 8))
    return (drawn((n, h, w, 3), torch.uint8), (n, 3, h, w), torch.float32,
            lambda x, mean, scale: ((x * (1.0 / 255.0) - mean) * scale).permute(0, 3, 1, 2).contiguous(), more, 1e-4)


def row_statistics(job):
    rows, cols = numbers(job, "rows", "cols")
    return (drawn((rows, cols), torch.float32), (rows, 2), torch.float32,
            lambda x: torch.stack((x.sum(1), (x * x).sum(1)), 1), (), 1e-3)


def row_scaling(job):
    rows, cols = numbers(job, "rows", "cols")

    def scale(x, stat, gamma, beta):
        mean = stat[:, :1] / cols
        return (x - mean) * torch.rsqrt(stat[:, 1:] / cols - mean * mean + 1e-5) * gamma + beta

    draw = drawn((rows, cols), torch.float32)
    stat = torch.stack((torch.full((rows,), 1.5 * cols), torch.full((rows,), 2.6 * cols)), 1).cuda()
    more = (stat, fixed((cols,), torch.float32), fixed((cols,), torch.float32, 8))
    return draw, (rows, cols), torch.float32, scale, more, 1e-3


def pitched(job):
    rows, cols, pitch = numbers(job, "rows", "cols", "pitch")
    dtype = {"1": torch.uint8, "4": torch.float32}[job["elem"]]

    def copy(a):
        out = torch.empty_like(a)
        out[:, :cols] = a[:, :cols]
        return out[:, :cols]

    return drawn((rows, pitch), dtype), (rows, cols), dtype, copy, (), 0.0


def reverse(job):
    (n,) = numbers(job, "n")
    return drawn((n,), torch.float32), (n,), torch.float32, lambda a: a.flip(0), (), 0.0


def picked_rows(job):
    n, m, words = numbers(job, "n", "m", "words")
    pick = torch.randperm(m, device="cuda")[:n]
    return drawn((m, words), torch.float32), (n, words), torch.float32, lambda a, at: a[at], (pick,), 0.0


def row_max(job):
    rows, cols = numbers(job, "rows", "cols")
    return drawn((rows, cols), torch.float16), (rows,), torch.float16, lambda a: a.amax(1), (), 0.0


def blur(job):
    rows, cols = numbers(job, "rows", "cols")

    def smooth(a):
        p = torch.nn.functional.pad(a, (1, 1, 1, 1))
        side = (p[:-2, 1:-1] + p[2:, 1:-1]) + (p[1:-1, :-2] + p[1:-1, 2:])
        return 0.25 * a + 0.125 * (side + (p[:-2, :-2] + p[2:, 2:]))

    return drawn((rows, cols), torch.float32), (rows, cols), torch.float32, smooth, (), 1e-4


ROW_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def softmax(job):
    rows, cols = numbers(job, "rows", "cols")
    dtype = ROW_TYPES[job["type"]]
    return (drawn((rows, cols), dtype), (rows, cols), dtype, lambda x: torch.softmax(x, -1), (),
            1e-2 if dtype == torch.bfloat16 else 1e-4)


def norm(job):
    """layer norm, or RMS norm where there is no beta"""
    rows, cols = numbers(job, "rows", "cols")
    dtype, of = ROW_TYPES[job["type"]], torch.nn.functional
    gamma, beta = fixed((cols,), dtype), fixed((cols,), dtype, 8)
    layer = job["name"] == "layer_norm"
    function = (lambda x, g, b: of.layer_norm(x, (cols,), g, b, 1e-5)) if layer else (lambda x, g: of.rms_norm(x, (cols,), g, 1e-5))
    return (drawn((rows, cols), dtype), (rows, cols), dtype, function, (gamma, beta) if layer else (gamma,),
            3e-2 if dtype == torch.bfloat16 else 1e-4)


def quantise_rows(job):
    rows, cols = numbers(job, "rows", "cols")
    dtype = ROW_TYPES[job["type"]]

    def quantise(x):  # with the scales most / 127, which weigh nothing
        most = x.float().abs().amax(1, keepdim=True)
        return torch.round(x.float() * (127.0 / most)).to(torch.int8)

    def to_fp8(x):
        most = x.float().abs().amax(1, keepdim=True)
        return (x.float() * (448.0 / most)).to(torch.float8_e4m3fn).view(torch.int8)  # compared as bytes

    return drawn((rows, cols), dtype), (rows, cols), torch.int8, to_fp8 if job.get("to") == "e4m3" else quantise, (), 0.0


def dequant_int4(job):
    rows, cols = numbers(job, "rows", "cols")

    def dequantise(q, scale):
        signed = torch.stack((q << 4, q), -1).view(torch.int8) >> 4  # the lower half first
        return (signed.reshape(rows, cols // 128, 128) * scale[..., None].float()).to(torch.float16).reshape(rows, cols)

    return (drawn((rows, cols // 2), torch.uint8), (rows, cols), torch.float16, dequantise,
            (fixed((rows, cols // 128), torch.float16),), 0.0)


def dequant_q4_0(job):  # blocks of llama.cpp: a half, then 16 bytes whose lower halves come first
    (blocks,) = numbers(job, "blocks")

    def dequantise(b):
        q = b[:, 2:]
        return ((torch.cat((q & 15, q >> 4), 1).float() - 8) * b[:, :2].view(torch.float16).float()).to(torch.float16)

    return drawn((blocks, 18), torch.uint8), (blocks, 32), torch.float16, dequantise, (), 0.0


def index_add(job):  # onto zeros: a new array is cleared first
    n, words, m = numbers(job, "n", "words", "m")
    pick = torch.randint(0, m, (n,), device="cuda")
    return (drawn((n, words), torch.float32), (m, words), torch.float32,
            lambda x, at: torch.zeros((m, words), device="cuda").index_add_(0, at, x), (pick,), 1e-4)


def moe_combine(job):
    t, k, d = numbers(job, "t", "k", "d")
    slot = torch.randperm(t * k, device="cuda").reshape(t, k)
    return (drawn((t * k, d), torch.bfloat16), (t, d), torch.bfloat16,
            lambda e, at, w: (e[at].float() * w[..., None]).sum(1).to(torch.bfloat16), (slot, fixed((t, k), torch.float32)), 1e-2)


def pool(job):
    n, y, x, c = numbers(job, "n", "y", "x", "c")
    return (drawn((n, 2 * y, 2 * x, c), torch.float16), (n, y, x, c), torch.float16,
            lambda a: torch.nn.functional.max_pool2d(a.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1), (), 0.0)


CASES = {"softmax": softmax, "dequant_int4": dequant_int4, "layer_norm": norm, "rms_norm": norm, "quantise_rows": quantise_rows,
         "dequant_q4_0": dequant_q4_0, "rope": rope, "paged": paged, "nv12": nv12, "prep": prep, "row_statistics": row_statistics,
         "row_scaling": row_scaling, "pitched": pitched, "reverse": reverse, "picked_rows": picked_rows,
         "row_max": row_max, "blur": blur, "index_add": index_add, "moe_combine": moe_combine,
         "pool": pool}
