#!/usr/bin/env python3
"""NAME_host of two worked kernels, and of those of this folder, on a GPU: results, leaks, threads, and times against the bound.

  tests/gpu/host.py PROGRAM [OUT] [--build] [--arch ARCH] [--device ID]     OUT: where headers and store go, default out/host

Tunes two kernels with `host = true`, one of which some arrays stay on the device, and two whose chunks go onto one output (a few candidates), builds tests/gpu/host.cu and runs it; --build: only that, on a virtual
device. Exit 1 if something falls short, 77 without a GPU.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KERNELS = ("add_const_double3", "stencil2d_f32")
OWN = ("placed", "binned", "columns")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "out", "host"), type=os.path.abspath)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--arch", default="native")
    parser.add_argument("--device", default="cuda:0")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    store = ["--store", os.path.join(args.out, "store.db")]
    device = "virtual:h200" if args.build else args.device
    for kernel in KERNELS + OWN:
        folder = HERE if kernel in OWN else os.path.join(ROOT, "tuning", "kernels")
        with open(os.path.join(folder, kernel + ".lua"), encoding="utf-8") as file:
            text = file.read()
        if kernel in KERNELS:
            text = text.replace("s.kernel {", "s.kernel { host = true,")
        spec = os.path.join(args.out, kernel + ".lua")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(text)
        few = ["--max-candidates", "1" if args.build else "20"]
        subprocess.run([args.program, "tune", spec, "--device", device, "-q", *few, *store], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([args.program, "emit", spec, "-o", os.path.join(args.out, kernel + ".h"), "-q", *store], check=True)
    binary = os.path.join(args.out, "host")
    subprocess.run(["nvcc", "-O2", "-std=c++17", f"-arch={'sm_90' if args.build else args.arch}", "-I", args.out,
                    os.path.join(HERE, "host.cu"), "-Xcompiler", "-pthread", "-o", binary], check=True)
    return 0 if args.build else subprocess.run([binary]).returncode


sys.exit(main())
