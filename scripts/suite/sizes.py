#!/usr/bin/env python3
"""One header for every size of a range, against fresh tunes of sizes that it has not seen.

  sizes.py [KERNEL...] [options]     default: all kernels

  --program FILE     the sectile binary; default build/release/sectile
  --device ID        default cuda:0; a virtual device has predictions only
  --sizes N          unseen sizes of each kernel; default 24
  --samples N        sizes that the range is tuned at; default as s.range has it
  --seed N           of the unseen sizes; default 1
  --max-candidates N of a fresh tune; default as `tune` does
  --budget SECONDS   begin nothing new after so long; a later run goes on
  --out FOLDER       specs, stores and results.jsonl; default out/sizes
  --write            also write docs/figures/sizes.md from all results of the device in results.jsonl

For each kernel a range is tuned and emitted, and each size of the seed by itself with the default search. Both times of
a kernel are then those of `tune`: the header's kernels are timed together at all these sizes. A quarter of the sizes
count as calls with arrays that begin an element after where cudaMalloc puts them: there a kernel that wants more
alignment is not taken, and is no reference. The reference is the fresh winner, or a kernel of the header that is faster.
Where torch can be imported and the device is a GPU, whole calls of the header, of PyTorch and of
torch.compile(dynamic=True) are timed through the header's Python module, L2 flushed, and results compared.

What is in results.jsonl is not done again: several runs, also of other seeds, add up. Exit code 0, 1 if something
failed, 2 wrong usage.
"""
import argparse
import importlib.util
import json
import math
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAST, MOST = 1 << 20, 1 << 30  # bytes of all arrays
OFFSET_EACH = 4  # every fourth size is called with arrays that begin an element further
SAMPLES = 9  # of a call


class Kernel:
    def __init__(self, spec, extents, size_bytes, listed, fixed="", reference=None, arrays=None, scalars=None):
        self.spec = spec  # of tuning/kernels
        self.extents = extents  # name: (least, most)
        self.bytes = size_bytes  # of all arrays, by extents
        self.listed = listed  # extents that the spec lists
        self.fixed = fixed  # what each size says beside extents
        self.reference = reference  # PyTorch's result, by inputs
        self.arrays = arrays  # shapes: of inputs, of the output
        self.scalars = scalars or {}


def square(least=16, most=1 << 20):
    return {"row": (least, most), "col": (least, most)}


def rows(most_col=1 << 17):
    return {"row": (1, 1 << 20), "col": (8, most_col)}


def cubes(*names):
    return {name: (4, 1 << 14) for name in names}


def product(e):
    return math.prod(e.values())


def norm(torch):
    def call(x, gamma, beta):
        return torch.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, 1e-5)
    return call


# Two arrays of all elements, or of the larger and its rows; the last of a row is what PyTorch has for it.
KERNELS = {
    "records": Kernel("records", {"i": (1 << 10, 1 << 25)}, lambda e: 56 * e["i"], {"i": 1 << 24}),
    "transpose_f32": Kernel(
        "transpose_f32", square(), lambda e: 8 * product(e), {"row": 4096, "col": 4096},
        reference=lambda torch: lambda a: a.t().contiguous().t(),
        arrays=lambda e: ([(e["row"], e["col"])], (e["row"], e["col"]))),
    "permute_021_f32": Kernel(
        "permute_021_f32", cubes("i", "j", "k"), lambda e: 8 * product(e), {"i": 512, "j": 512, "k": 512},
        reference=lambda torch: lambda a: a.permute(0, 2, 1).contiguous(),
        arrays=lambda e: ([(e["i"], e["j"], e["k"])], (e["i"], e["k"], e["j"]))),
    "permute_210_f32": Kernel(
        "permute_210_f32", cubes("i", "j", "k"), lambda e: 8 * product(e), {"i": 512, "j": 512, "k": 512},
        reference=lambda torch: lambda a: a.permute(2, 1, 0).contiguous(),
        arrays=lambda e: ([(e["i"], e["j"], e["k"])], (e["k"], e["j"], e["i"]))),
    "stencil2d_f32": Kernel("stencil2d_f32", square(), lambda e: 8 * product(e), {"row": 8192, "col": 8192}),
    "sum_rows_f32": Kernel(
        "sum_rows_f32", rows(), lambda e: 4 * (product(e) + e["row"]), {"row": 16384, "col": 4096},
        reference=lambda torch: lambda a: a.sum(1), arrays=lambda e: ([(e["row"], e["col"])], (e["row"],))),
    "sum_cols_f32": Kernel(
        "sum_cols_f32", rows(), lambda e: 4 * (product(e) + e["col"]), {"row": 16384, "col": 4096},
        reference=lambda torch: lambda a: a.sum(0), arrays=lambda e: ([(e["row"], e["col"])], (e["col"],))),
    "softmax": Kernel(
        "softmax", rows(), lambda e: 8 * product(e), {"row": 16384, "col": 4096},
        reference=lambda torch: lambda x: torch.softmax(x, 1),
        arrays=lambda e: ([(e["row"], e["col"])], (e["row"], e["col"]))),
    "layer_norm": Kernel(
        "layer_norm", rows(1 << 16), lambda e: 8 * product(e), {"row": 16384, "col": 4096}, reference=norm,
        arrays=lambda e: ([(e["row"], e["col"]), (e["col"],), (e["col"],)], (e["row"], e["col"])),
        scalars={"eps": 1e-5}),
    "row_argmax": Kernel("row_argmax", rows(), lambda e: 4 * product(e) + 8 * e["row"], {"row": 16384, "col": 4096}),
    "gather_rows256": Kernel(
        "gather_rows256", {"row": (1 << 6, 1 << 22), "col": (1, 1 << 12)}, lambda e: 8 * product(e),
        {"row": 1 << 20, "col": 64}, 'm = 1 << 15, pick = "random"'),
    "histogram": Kernel("histogram", {"i": (1 << 18, 1 << 27)}, lambda e: 4 * e["i"], {"i": 1 << 26}, "bin = 256"),
    "scan_rows": Kernel("scan_rows", rows(), lambda e: 8 * product(e), {"row": 16384, "col": 4096}),
    "segment_sum": Kernel(
        "segment_sum", {"i": (1 << 8, 1 << 20), "k": (1 << 18, 1 << 27)}, lambda e: 4 * (2 * e["i"] + e["k"]),
        {"i": 1 << 18, "k": 1 << 26}, 'offsets = "uniform"'),
}


# ---- specs ----

def with_sizes(kernel, sizes):
    """the worked spec with other sizes"""
    with open(os.path.join(ROOT, "tuning/kernels", kernel.spec + ".lua"), encoding="utf-8") as file:
        text = file.read()
    begin = text.rindex("sizes")
    at = text.index("{", begin)
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == "{") - (text[end] == "}")
        if depth == 0:
            return text[:begin] + "sizes = { " + ", ".join(sizes) + " }" + text[end + 1:]
    raise ValueError(f"{kernel.spec}: its sizes do not end")


def size_lua(kernel, extents):
    parts = [f"{name} = {value}" for name, value in extents.items()]
    return "{ " + ", ".join(parts + ([kernel.fixed] if kernel.fixed else [])) + " }"


def range_lua(kernel, samples):
    parts = [f"{name} = {{ {least}, {most} }}" for name, (least, most) in kernel.extents.items()]
    parts += [f"bytes = {{ {LEAST}, {MOST} }}"]
    parts += [kernel.fixed] if kernel.fixed else []
    parts += [f"samples = {samples}"] if samples else []
    return "s.range { " + ", ".join(parts) + " }"


def unseen(name, kernel, n, seed):
    """sizes of the range, each the same in every run of the seed"""
    draw = random.Random(f"{name} {seed}")
    found = []
    for _ in range(100000):
        size = {key: round(least * (most / least) ** draw.random()) for key, (least, most) in kernel.extents.items()}
        if LEAST <= kernel.bytes(size) <= MOST and size not in found:
            found.append(size)
        if len(found) == n:
            break
    return found


# ---- the program ----

class Failed(Exception):
    pass


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def sectile(args, *words):
    done = subprocess.run([args.program, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(words[:2])}: {done.stderr.strip()[-400:]}")
    return done.stdout


def tune(args, spec, store, *options):
    sectile(args, "tune", spec, "-d", args.device, "--store", store, "-q", *options)


def rows_of(store, extents):
    """of each candidate that is right at a size, by the hash of its source: ns, alignment of its arrays"""
    with sqlite3.connect(store) as db:
        found = db.execute(
            "SELECT run.extents, candidate.source_hash, outcome.median_ns, outcome.predicted_ns, candidate.launch"
            " FROM outcome JOIN run ON run.id = outcome.run JOIN candidate ON candidate.id = outcome.candidate"
            " WHERE outcome.outcome = 'ok'").fetchall()
    out = {}
    timed = any(ns for _, _, ns, _, _ in found)
    for at, kernel, ns, predicted, launch in found:
        at = json.loads(at)
        ns = ns if timed else predicted
        if ns and all(at.get(name) == value for name, value in extents.items()):
            out[kernel] = (ns, json.loads(launch).get("align", {}))
    return out


def leaf_of(tree, extents):
    while "kernels" not in tree:
        value = math.prod(extents[name] for name in tree["of"])
        value = -(-value // max(extents[tree["over"]], 1)) if tree["over"] else value
        tree = tree["low"] if value <= tree["most"] else tree["high"]
    return tree["kernels"]


def is_plain(align, least):
    return all(bytes_ <= least.get(name, bytes_) for name, bytes_ in align.items())


# ---- one kernel ----

def emit(args, name, base):
    words = ["emit", base + ".lua", "--store", base + ".db", "-o", base + ".h", "--json"]
    return json.loads(sectile(args, *words, *(["--python", base + ".py"] if args.calls else [])))


def tune_range(args, name, kernel, base):
    write(base + ".lua", with_sizes(kernel, [size_lua(kernel, kernel.listed), range_lua(kernel, args.samples)]))
    begun = time.monotonic()
    tune(args, base + ".lua", base + ".db")
    return time.monotonic() - begun


def compare(rules, here, fresh, extents, offset):
    """the kernel that a call takes, its time, and the reference's"""
    kernels, rule = rules["hashes"], rules["rules"][0]
    if kernels[0] not in here:
        raise Failed("the naive variant has no time there")
    least = here[kernels[0]][1]

    def may(align):
        return not offset or is_plain(align, least)
    order = leaf_of(rule["tree"], extents) + [0]
    taken = next(k for k in order if kernels[k] in here and may(here[kernels[k]][1]))
    best = min(ns for ns, align in [*here.values(), *fresh.values()] if may(align))
    return rules["kernels"][taken], here[kernels[taken]][0], best, here[kernels[0]][0]


def flushed(torch, call):
    """the median time of a call in us, L2 flushed, the host's part hidden"""
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = []
    for n in range(SAMPLES + 2):
        flush.zero_()
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        torch.cuda._sleep(400000)  # until the call is queued
        begin.record()
        call()
        end.record()
        end.synchronize()
        if n >= 2:
            times.append(1e3 * begin.elapsed_time(end))
    return statistics.median(times)


def placed(torch, shape, offset):
    """an array that begins where cudaMalloc puts it, or an element further"""
    flat = torch.rand(math.prod(shape) + 1, device="cuda")
    return flat[offset:offset + math.prod(shape)].view(shape)


def whole_calls(args, name, kernel, base, extents, offset):
    """times of whole calls, and of PyTorch's"""
    torch = args.torch
    if not (args.calls and kernel.reference):
        return {}
    spec = importlib.util.spec_from_file_location(name + "_module", base + ".py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
    shapes, shape = kernel.arrays(extents)
    inputs = [placed(torch, each, int(offset)) for each in shapes]
    reference = kernel.reference(torch)
    expected = reference(*inputs)
    if name == "transpose_f32":  # column by column
        out = placed(torch, shape[::-1], int(offset)).t()
    else:
        out = placed(torch, shape, int(offset))
    function(*inputs, out, **kernel.scalars)
    if not torch.allclose(out, expected, rtol=1e-3, atol=1e-4):
        raise Failed("the result is not PyTorch's")
    compiled = torch.compile(reference, dynamic=True)
    return {"call_us": flushed(torch, lambda: function(*inputs, out, **kernel.scalars)),
            "eager_us": flushed(torch, lambda: reference(*inputs)),
            "compiled_us": flushed(torch, lambda: compiled(*inputs))}


def run_kernel(args, name, kernel, results):
    base = os.path.join(args.out, name)
    mine = [r for r in results if r["kernel"] == name and r["device"] == args.device]
    sizes = unseen(name, kernel, args.sizes, args.seed)
    left = [(k, e) for k, e in enumerate(sizes) if not any(r["size"] == e and r["seed"] == args.seed for r in mine)]
    if not left or args.is_over():
        return
    seconds = tune_range(args, name, kernel, base)
    rules = emit(args, name, base)
    at = base + "_at.db"
    only = [word for label in rules["kernels"][1:] for word in ("--only", label)]
    write(base + "_at.lua", with_sizes(kernel, [size_lua(kernel, kernel.listed), range_lua(kernel, args.samples)]
                                       + [size_lua(kernel, e) for e in sizes]))
    tune(args, base + "_at.lua", at, "--no-range", *only)
    for k, extents in left:
        if args.is_over():
            return
        offset = k % OFFSET_EACH == OFFSET_EACH - 1
        write(base + "_fresh.lua", with_sizes(kernel, [size_lua(kernel, extents)]))
        most = ["--max-candidates", str(args.max_candidates)] if args.max_candidates else []
        tune(args, base + "_fresh.lua", base + "_fresh.db", "--no-range", *most)
        taken, ns, best, naive = compare(rules, rows_of(at, extents), rows_of(base + "_fresh.db", extents), extents,
                                         offset)
        regret = rules["rules"][0]["regret"]
        row = {"kernel": name, "device": args.device, "name": rules["rules"][0]["device"], "seed": args.seed,
               "size": extents, "offset": offset, "taken": taken, "header_ns": ns, "best_ns": best, "naive_ns": naive,
               "variants": len(rules["kernels"]), "stated": regret, "range_s": round(seconds, 1),
               "date": time.strftime("%Y-%m-%d"), **whole_calls(args, name, kernel, base, extents, offset)}
        results.append(row)
        with open(os.path.join(args.out, "results.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        text = ",".join(f"{key}={value}" for key, value in extents.items())
        print(f"{name:16s} {text:32s} {'offset' if offset else '':6s} {ns / 1e3:9.2f} us  best {best / 1e3:9.2f} us"
              f"  {best / ns:.3f}  {taken}", flush=True)


# ---- the page ----

def share(ratios, q):
    ordered = sorted(ratios)
    return ordered[min(len(ordered) - 1, int((1 - q) * len(ordered)))]


def geomean(ratios):
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios))


def table(results):
    lines = ["| kernel | sizes | header by best: mean | 95 % of sizes | worst | at | naive by header | kernels | stated mean,"
             " worst | PyTorch by call | torch.compile |", "|---|---:|---:|---:|---:|---|---:|---:|---|---:|---:|"]
    for name in [*dict.fromkeys(r["kernel"] for r in results), None]:
        mine = [r for r in results if name in (None, r["kernel"])]
        ratios = [r["best_ns"] / r["header_ns"] for r in mine]
        worst = min(mine, key=lambda r: r["best_ns"] / r["header_ns"])
        at = " ".join(f"{key}={value}" for key, value in worst["size"].items())
        calls = [r for r in mine if "call_us" in r]
        peers = [f"{geomean([r[key] / r['call_us'] for r in calls]):.2f}" if calls else ""
                 for key in ("eager_us", "compiled_us")]
        stated = mine[-1]["stated"]
        lines.append("| " + " | ".join([
            name or "**all**", str(len(mine)), f"{geomean(ratios):.3f}", f"{share(ratios, 0.95):.2f}",
            f"{min(ratios):.2f}", at if name else "", f"{geomean([r['naive_ns'] / r['header_ns'] for r in mine]):.2f}",
            str(mine[-1]["variants"]) if name else "",
            f"{1 / stated['mean']:.3f}, {1 / stated['worst']:.2f}" if name and stated["samples"] else "",
            *peers]) + " |")
    return lines


def page(args, results):
    seeds = sorted({r["seed"] for r in results})
    virtual = args.device.startswith("virtual")
    return "\n".join([
        "# One header, every size", "",
        f"`scripts/bench sizes` until {max(r['date'] for r in results)}: {results[-1]['name']}, seeds "
        f"{', '.join(map(str, seeds))}. " + ("**Predicted, not timed.** " if virtual else "Medians of `tune`. ")
        + "Sizes of a range over four decades, from 1 MiB to 1 GiB, that no header was made from; a quarter with arrays",
        "that begin an element after where cudaMalloc puts them. The best: a fresh `sectile tune` of that size, or a kernel of",
        "the header that is faster there. Factors are geometric means; PyTorch's are of whole calls, L2 flushed.", "",
        *table(results), ""])


def read_results(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        text = file.read()
    whole = text[:text.rfind("\n") + 1]
    if whole != text:  # the last line was cut short
        write(path, whole)
    return [json.loads(line) for line in whole.splitlines()]


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--program", default=os.path.join(ROOT, "build/release/sectile"))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--sizes", type=int, default=24)
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-candidates", type=int, default=0)
    parser.add_argument("--budget", type=float, default=math.inf)
    parser.add_argument("--out", default=os.path.join(ROOT, "out/sizes"))
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args(words)
    unknown = [name for name in args.kernels if name not in KERNELS]
    if unknown:
        parser.error(f"no kernel '{unknown[0]}'; expected {', '.join(KERNELS)}")
    until = time.monotonic() + args.budget
    args.is_over = lambda: time.monotonic() > until
    args.torch = None
    if args.device.startswith("cuda"):
        try:
            import torch
            args.torch = torch
        except ImportError:
            pass
    args.calls = args.torch is not None and args.torch.cuda.is_available()
    return args


def main(words):
    args = parse(words)
    os.makedirs(args.out, exist_ok=True)
    results = read_results(os.path.join(args.out, "results.jsonl"))
    failed = False
    for name in args.kernels or KERNELS:
        try:
            run_kernel(args, name, KERNELS[name], results)
        except Failed as why:
            print(f"sizes: {name}: {why}", file=sys.stderr)
            failed = True
    mine = [r for r in results if r["device"] == args.device and (not args.kernels or r["kernel"] in args.kernels)]
    if mine:
        text = page(args, mine)
        print("\n" + text)
        write(os.path.join(args.out, "sizes.md"), text)
        if args.write:
            write(os.path.join(ROOT, "docs/figures/sizes.md"), text)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
