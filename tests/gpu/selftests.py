#!/usr/bin/env python3
"""Builds and runs the self-tests of emitted headers on a GPU (`sectile emit --selftest`).

  tests/gpu/selftests.py PROGRAM [OUT] [options]     PROGRAM: the sectile binary; OUT: default out/gpu/selftests

  --store FILE   headers come from there; default: OUT/store.db, tuned first where it has not the kernel
  --form FORM    inline (default), cuda or c
  --only NAMES   of kernels, with commas between; default all that tuning/kernels has
  --build        builds the programs and does not run them: needs no GPU, but --arch
  --arch ARCH    of nvcc; default native

Exit 1 if anything fails, 77 without a GPU.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "scripts", "suite"))
import worked  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", type=os.path.abspath)
parser.add_argument("out", nargs="?", default="out/gpu/selftests", type=os.path.abspath)
parser.add_argument("--store", type=os.path.abspath)
parser.add_argument("--form", choices=("inline", "cuda", "c"), default="inline")
parser.add_argument("--only")
parser.add_argument("--build", action="store_true")
parser.add_argument("--arch", default="native")
ARGS = parser.parse_args()
STORE = ARGS.store or os.path.join(ARGS.out, "store.db")
NVCC = "nvcc"
problems = []


def say(good, text):
    print(("ok    " if good else "FAIL  ") + text, flush=True)
    if not good:
        problems.append(text)


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, check=False, cwd=ARGS.out)


def emit(name, spec, params):
    words = [spec, *worked.options(params), "--store", STORE, "-q"]
    files = ["--form", ARGS.form, "-o", os.path.join(ARGS.out, name + ".h"), "--selftest",
             os.path.join(ARGS.out, name + "_test.h")]
    made = run(ARGS.program, "emit", *words, *files)
    if made.returncode != 0 and not ARGS.store:
        device = ["-d", "virtual:h200"] if ARGS.build else []
        tuned = run(ARGS.program, "tune", *words, "--max-candidates", "2" if ARGS.build else "12", *device)
        made = run(ARGS.program, "emit", *words, *files)
        made.stderr = tuned.stderr + made.stderr
    return made


def build(name):
    suffix = "c" if ARGS.form == "c" else "cu"
    source = os.path.join(ARGS.out, f"{name}_main.{suffix}")
    with open(source, "w") as f:
        f.write(f'#define {name}_SELFTEST_MAIN\n#include "{name}_test.h"\n')
    words = ["-Xcompiler", "-Wall,-Wextra", "-I", ARGS.out, source, "-o", os.path.join(ARGS.out, name)]
    return run(NVCC, f"-arch={ARGS.arch}", *words)


def main():
    os.makedirs(ARGS.out, exist_ok=True)
    if not ARGS.build and run("nvidia-smi", "-L").returncode != 0:
        print("skipped: no GPU here")
        sys.exit(77)
    kernels = worked.kernels()
    names = [name for name in kernels if not ARGS.only or name in ARGS.only.split(",")]
    emitted = {}
    for name in names:
        made = emit(name, *kernels[name])
        emitted[name] = made.returncode == 0
        if not emitted[name]:
            say(False, f"{name}: {made.stderr.strip()[-300:]}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        good = [name for name in names if emitted[name]]
        for name, built in zip(good, pool.map(build, good)):
            if built.returncode != 0 or "warning" in built.stderr:
                say(False, f"{name} does not build without a warning: {built.stderr[-800:]}")
            elif ARGS.build:
                say(True, f"{name} builds")
            else:
                done = run(os.path.join(ARGS.out, name))
                say(done.returncode == 0, ", ".join(done.stdout.strip().splitlines()) + done.stderr[-300:])
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
