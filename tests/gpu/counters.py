#!/usr/bin/env python3
"""Holds our counts to those of NVIDIA's profiler on a GPU (`sectile profile --counters`).

  tests/gpu/counters.py PROGRAM [options]     PROGRAM: the sectile binary

  --only REGEX     of what is listed below, by its name
  --part I/N       the I-th of N shares of the worked specs, as a run may not take long
  --picks N        candidates of each worked spec but the naive one, spread over its list; default 1
  --jobs N         launches that are counted on the CPU at once; ncu takes turns; default 8, at most half of the cores
  --others DIR     a checkout of https://github.com/NVIDIA/cuda-samples: twelve kernels of it too

Launches: the micro-kernels of tests/oracle, the gallery (examples/gallery), those samples, and every worked spec at its
smallest size. A line for each, as it ends: how many exact counts are equal, and which differ; at the end the totals, and how often
estimated hit rates are within 10 points, and which are not (of the worked specs they are left out: they take most of
the time). Exit 1 if an exact count differs where our counts are exact; 77 without a GPU.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "scripts", "suite"))
import worked  # noqa: E402

GROUPS = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
TILES = [{"kernel": kernel, "grid": [32, 32], "block": [32, 16], "args": ["out", "in", 1024, 1024]}
         for kernel in ("transposeNaive", "transposeCoalesced", "transposeNoBankConflicts", "transposeDiagonal")]
SUMS = [{"kernel": f"reduce{k}<int>", "grid": [1024], "block": [256], "args": ["in", "out", 262144], "shared": 1024}
        for k in (0, 1, 2)]
# Kernels of other authors: file, what stands before them, definitions that are cut out, launches.
OTHERS = [
    ("6_Performance/transpose/transpose.cu", GROUPS + "#define TILE_DIM 32\n#define BLOCK_ROWS 16\n",
     [f"__global__ void {case['kernel']}(" for case in TILES], TILES),
    ("2_Concepts_and_Techniques/reduction/reduction_kernel.cu", GROUPS,
     ["template <class T> struct SharedMemory\n"] + [f"template <class T> __global__ void reduce{k}(" for k in (0, 1, 2)],
     SUMS),
    ("5_Domain_Specific/fastWalshTransform/fastWalshTransform_kernel.cuh", GROUPS,
     ["__global__ void fwtBatch1Kernel(", "__global__ void fwtBatch2Kernel("],
     [{"kernel": "fwtBatch1Kernel", "grid": [128], "block": [512], "args": ["out", "in", 11], "shared": 8192},
      {"kernel": "fwtBatch2Kernel", "grid": [64, 4], "block": [256], "args": ["out", "in", 4096]}]),
    ("2_Concepts_and_Techniques/scalarProd/scalarProd_kernel.cuh",
     GROUPS + "#define IMUL(a, b) __mul24(a, b)\n#define ACCUM_N 1024\n", ["__global__ void scalarProdGPU("],
     [{"kernel": "scalarProdGPU", "grid": [128], "block": [256], "args": ["out", "in", "b", 256, 4096]}]),
    ("0_Introduction/matrixMul/matrixMul.cu", "", ["template <int BLOCK_SIZE> __global__ void MatrixMulCUDA("],
     [{"kernel": "MatrixMulCUDA<16>", "grid": [20, 10], "block": [16, 16], "args": ["out", "in", "b", 320, 320]}]),
    ("0_Introduction/vectorAdd/vectorAdd.cu", "", ["__global__ void vectorAdd("],
     [{"kernel": "vectorAdd", "grid": [196], "block": [256], "args": ["in", "b", "out", 50000]}]),
]
with open(os.path.join(ROOT, "src", "cli", "cli_metrics.def"), encoding="utf-8") as definitions:
    EXACT = ",".join(re.findall(r'CLI_METRIC\((?:EXACT|UNLESS_ASYNC), "([^"]+)"', definitions.read()))
totals = {"launches": 0, "equal": 0, "exact": 0, "wrong": 0, "near": 0, "rates": 0, "failed": 0}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--picks", type=int, default=1)
    parser.add_argument("--others", type=os.path.abspath)
    parser.add_argument("--jobs", type=int, default=max(1, min(8, (os.cpu_count() or 2) // 2)))
    return parser.parse_args()


ARGS = arguments()


def run(*words):
    return subprocess.run([ARGS.program, *words], text=True, capture_output=True)


def evaluate(name, case):
    counters = case.get("counters")
    if not counters:
        totals["failed"] += 1
        return print(f"FAIL  {name}: {case['problem']}", flush=True)
    exact = [m for m in counters["metrics"] if m["exact"]]
    differ = [m for m in exact if not m["equal"]]
    rates = [m for m in counters["metrics"] if "hit_rate" in m["metric"]]
    totals["launches"] += 1
    totals["equal"] += len(exact) - len(differ)
    totals["exact"] += len(exact)
    totals["wrong"] += case["exact"] and bool(differ)
    totals["rates"] += len(rates)
    far = [m for m in rates if abs(m["sectile"] - m["ncu"]) > 10]
    totals["near"] += len(rates) - len(far)
    mark = "ok   " if not differ else "FAIL " if case["exact"] else "about"
    print(f"{mark} {name}: {len(exact) - len(differ)} of {len(exact)} exact counts are equal"
          + "".join(f"; {m['metric']} {m['sectile']:g}, ncu {m['ncu']:g}" for m in differ + far)
          + ("" if case["exact"] else f"; approximate: {case['cause']}"), flush=True)


def profile(name, words, picks=()):
    """The cases of one run, or why there are none; of the first of the picks that can be launched at that size."""
    started = time.time()
    done = run("profile", *words, "--counters", "--json", "-q", *(["--pick", picks[0]] if picks else []))
    if "requirements are not met" in done.stderr and len(picks) > 1:
        return profile(name, words, picks[1:])
    name = f"{name} {picks[0]}" if picks else name
    try:
        cases = json.loads(done.stdout)["cases"]
    except (ValueError, KeyError):
        cases = [{"case": name, "problem": (done.stdout + done.stderr)[-300:].strip()}]
    return name, cases, time.time() - started


def report(name, cases, seconds):
    for case in cases:
        evaluate(name if len(cases) == 1 else f"{name}, {case['case']}", case)
    print(f"      {name}: {seconds:.1f} s", flush=True)


def cut(text, start):
    """The definition that begins so, to its closing brace."""
    first = text.index(start)
    at, depth = text.index("{", first) + 1, 1
    while depth > 0:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[first:at] + (";\n" if "struct" in start else "\n")


def files(scratch):
    """name, CUDA file, manifest"""
    for name in ("micro", "atomics"):
        manifest = "manifest" if name == "micro" else name
        yield f"oracle {name}", f"{ROOT}/tests/oracle/{name}.cu", f"{ROOT}/tests/oracle/{manifest}.json"
    gallery = f"{ROOT}/examples/gallery"
    for name in sorted(os.listdir(gallery)):
        if name.endswith(".json"):
            yield f"gallery {name[:-5]}", f"{gallery}/{name[:-5]}.cu", f"{gallery}/{name}"
    for path, before, starts, cases in OTHERS if ARGS.others else []:
        with open(os.path.join(ARGS.others, "Samples", path), encoding="utf-8") as f:
            text = f.read()
        source, manifest = (os.path.join(scratch, os.path.basename(path).split(".")[0] + end) for end in (".cu", ".json"))
        with open(source, "w", encoding="utf-8") as f:
            f.write(before + "".join(cut(text, start) for start in starts))
        with open(manifest, "w", encoding="utf-8") as f:
            json.dump(cases, f)
        yield "sample " + os.path.basename(path), source, manifest


def spec_runs(name, path, params):
    """The naive candidate and others, at the smallest size: the words of `profile`."""
    options = worked.options(params)
    checked = json.loads(run("check", path, *options, "--json").stdout)["checked"][0]
    volumes = [sum(max(array["bytes"][k]) for array in checked["arrays"]) for k in range(len(checked["sizes"]))]
    labels = json.loads(run("gen", path, *options, "--list", "--json").stdout)["labels"]
    words = [path, *options, "--size", checked["sizes"][volumes.index(min(volumes))], "--metrics", EXACT]
    yield name + " naive", words
    for k in range(ARGS.picks):
        yield name, words, labels[(2 * k + 1) * len(labels) // (2 * ARGS.picks)::7]


def tasks(scratch):
    """Functions that each give what `report` takes, several times."""
    part, parts = (int(n) for n in ARGS.part.split("/"))
    for name, source, manifest in files(scratch) if part == 1 else []:
        if re.search(ARGS.only, name):
            yield lambda name=name, words=(source, "--cases", manifest): [profile(name, words)]
    for name, spec in list(worked.kernels().items())[part - 1::parts]:
        if re.search(ARGS.only, name):
            yield lambda name=name, spec=spec: [profile(*run) for run in spec_runs(name, *spec)]


def main():
    if not [d for d in json.loads(run("devices", "--json").stdout)["devices"] if d["id"].startswith("cuda:")]:
        print("skipped: no GPU here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(ARGS.jobs) as pool:
        started = [pool.submit(task) for task in tasks(scratch)]
        for done in concurrent.futures.as_completed(started):
            for result in done.result():
                report(*result)
    print(f"{totals['launches']} launches: {totals['equal']} of {totals['exact']} exact counts are equal; "
          f"{totals['wrong']} launches differ where ours are exact, {totals['failed']} failed; "
          f"{totals['near']} of {totals['rates']} hit rates within 10 points")
    sys.exit(1 if totals["wrong"] or totals["failed"] or not totals["exact"] else 0)


main()
