#!/usr/bin/env python3
"""Which device, which size, two streams: what headers promise (docs/header_contract.md), tried on a GPU.

  tests/gpu/contract.py PROGRAM [OUT] [options]     PROGRAM: the sectile binary; OUT: default out/contract

  --devices LIST   tuned on these; default virtual:h100,virtual:h200, which needs no GPU
  --budget TIME    for each spec on each device; default 20s
  --build          stops when OUT/contract is built. It needs only the driver, so it may run elsewhere
  --arch ARCH      of nvcc; default sm_90

Tunes small specs on each device into one store, emits their headers, builds tests/gpu/contract.cu and runs it. Exit 1 if
a promise does not hold, 77 without a GPU.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MOVE = ("s.array('b', 'f32', s.col_major)", "b = a;")
SUM = ("s.array('t', 'f32', s.row_major, { dims = {}, reduce = 'sum' })", "t = a;")
ROWS = ("s.array('t', 'f32', s.row_major, { dims = { 'row' }, reduce = 'sum' })", "t = a;")
# What the kernels are called with.
SHAPES = [(4096, 4096), (7, 500000), (7, 1000000), (1000000, 7), (1, 1 << 24), (1 << 24, 1), (16, 1000000), (33, 500000),
          (64, 1 << 18), (65, 250000), (40, 40), (100, 160000), (16384, 1024), (1024, 16384), (8, 8)]
NAIVE = "direct threads=256"
# name: what is computed, sizes, the only candidate
SPECS = {
    "square": (MOVE, [(4096, 4096)], None),
    "strips": (MOVE, [(4096, 4096), (7, 500000)], None),
    "sums": (SUM, [(64, 4096)], None),
    "rows": (ROWS, [(16384, 1024)], None),
    "naive_move": (MOVE, [(4096, 4096)], NAIVE),
    "naive_rows": (ROWS, [(16384, 1024)], NAIVE),
}
TEXT = """local s = require "sectile"
return s.kernel {{
  name = "{name}", dims = {{ "row", "col" }},
  inputs = {{ s.array("a", "f32") }}, outputs = {{ {output} }},
  body = "{body}", sizes = {{ {sizes} }},
}}
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "out", "contract"), type=os.path.abspath)
    parser.add_argument("--devices", default="virtual:h100,virtual:h200")
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--arch", default="sm_90")
    return parser.parse_args()


def run(*command, ok=(0, 7)):  # 7: the budget ended the search
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode not in ok:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def write_spec(path, name, sizes):
    output, body = SPECS[name][0]
    listed = ", ".join(f"{{ row = {row}, col = {col} }}" for row, col in sizes)
    with open(path, "w", encoding="utf-8") as f:
        f.write(TEXT.format(name=name, output=output, body=body, sizes=listed))


def main():
    args = arguments()
    os.makedirs(args.out, exist_ok=True)
    store = os.path.join(args.out, "store.db")
    for name, (_, sizes, only) in SPECS.items():
        spec = os.path.join(args.out, name + ".lua")
        write_spec(spec, name, sizes)
        for device in args.devices.split(","):
            run(args.program, "tune", spec, "--device", device, "--store", store, "--json", "--budget", args.budget,
                *(["--only", only] if only else []))
        run(args.program, "emit", spec, "--store", store, "-o", os.path.join(args.out, name + ".h"))
        print(f"{name}.h", flush=True)
    with open(os.path.join(args.out, "shapes.h"), "w", encoding="utf-8") as f:
        f.write("static const long long shapes[][2] = {\n" + "".join(f"    {{{r}, {c}}},\n" for r, c in SHAPES) + "};\n")
    binary = os.path.join(args.out, "contract")
    run("nvcc", "-O2", "-std=c++14", f"-arch={args.arch}", "-I", args.out, os.path.join(HERE, "contract.cu"), "-o", binary)
    if not args.build:
        sys.exit(subprocess.run([binary]).returncode)


main()
