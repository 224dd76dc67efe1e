#!/usr/bin/env python3
"""Runs the whole program on a GPU and evaluates it.

  tests/gpu/acceptance.py PROGRAM [OUT] [options]     PROGRAM: the sectile binary; OUT: where headers and logs go, default out/gpu

  --store FILE   results are kept here; default OUT/store.db
  --headers      only the last step: the headers of what the store holds
  --quick        only the last step; kernels that the store has not are tuned with three candidates a size before
  --build        builds the program of the headers and does not run it: needs no GPU, but --arch
  --arch ARCH    of nvcc; default native
  --only REGEX   kernels whose names match, without launches.cu; default all
  --forms LIST   of the headers: inline (default), cuda, c; other than inline, kernels are in files of their own

Tunes every kernel of the worked specs, checks that each winner is verified and not slower than the naive variant, that 28-byte records
stored as AoS win at least 2x, and that transposes come within 10 % of cuBLAS geam measured in the same run; emits every
header, builds tests/gpu/headers.cu with nvcc and runs it; the same with launches.cu: the cost of a launch, and arrays of more
than 4 GiB. Every kernel of tuning/kernels has a reference there, or a
reason below why not. Exit 1 if anything falls short, 77 without a GPU.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "scripts", "suite"))
import worked  # noqa: E402

CASES = os.path.join(HERE, "headers.cu")
NOISE = 1.01  # a winner may be this much slower than the naive variant before it counts as slower
NO_REFERENCE = {}  # kernel: why headers.cu does not try its header
problems = []


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "out", "gpu"), type=os.path.abspath)
    parser.add_argument("--store", type=os.path.abspath)
    parser.add_argument("--headers", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--arch", default="native")
    parser.add_argument("--only", type=re.compile, default="")
    parser.add_argument("--forms", type=lambda text: text.split(","), default=["inline"])
    args = parser.parse_args()
    args.store = args.store or os.path.join(args.out, "store.db")
    return args


ARGS = arguments()
PROGRAM, OUT, STORE = ARGS.program, ARGS.out, ARGS.store
os.makedirs(OUT, exist_ok=True)


def say(good, text):
    print(("ok    " if good else "FAIL  ") + text, flush=True)
    if not good:
        problems.append(text)


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, **options)


def devices():
    result = run(PROGRAM, "devices", "--json")
    return [d for d in json.loads(result.stdout)["devices"] if d["id"].startswith("cuda:")]


def tune(name, spec, params):
    started = time.time()
    result = run(PROGRAM, "tune", spec, *worked.options(params), "--json", "--store", STORE, "-q")
    with open(os.path.join(OUT, name + ".json"), "w") as f:
        f.write(result.stdout)
    if result.returncode != 0:
        say(False, f"{name}: exit {result.returncode}: {result.stderr.strip()[-300:]}")
        return None
    report = json.loads(result.stdout)["tuned"][0]["report"]
    report["seconds"] = time.time() - started
    return report


def evaluate(report):
    rows = {}
    for size in report["sizes"]:
        winner = next((c for c in size["rows"] if c["winner"]), None)
        naive = next((c for c in size["rows"] if c["naive"]), None)
        label = f"{report['name']} {size['label']}"
        if not winner or winner["outcome"] != "ok":
            say(False, f"{label}: no verified winner")
            continue
        ratio = naive["median_ns"] / winner["median_ns"]
        rows[size["label"]] = (winner, naive, ratio)
        gbs = winner["bytes_per_s"] / 1e9
        say(ratio * NOISE >= 1.0,
            f"{label:44s} {winner['label']:50s} {winner['median_ns'] / 1e3:9.2f} us {gbs:6.0f} GB/s "
            f"{100 * winner['share']:5.1f} % of copy, {ratio:5.2f} x naive; "
            f"{size['verified']} verified, {size['failed']} failed, {size['tied']} tied")
        if size.get("faster"):
            print("      " + size["faster"])
    return rows


def check_geam(reports):
    binary = os.path.join(OUT, "geam")
    built = run("nvcc", "-O3", "-arch=native", os.path.join(HERE, "geam.cu"), "-lcublas", "-o", binary)
    if built.returncode != 0:
        say(False, "geam.cu does not build: " + built.stderr[-300:])
        return
    peers = json.loads(run(binary).stdout)
    for name, rows in reports.items():
        for label, (winner, _, _) in rows.items():
            key = f"{name} {label.split('=')[-1]}"
            if key in peers:
                us = winner["median_ns"] / 1e3
                good = us <= 1.1 * peers[key] or name != "transpose_f32"
                say(good, f"{key}: {us:.2f} us, cuBLAS geam {peers[key]:.2f} us ({peers[key] / us:.2f} x)")


def with_reference():
    """The kernels that headers.cu tries; one of tuning/kernels that is nowhere is a problem."""
    with open(CASES) as f:
        cases = set(re.findall(r"^#ifdef KERNEL_(\w+)", f.read(), re.MULTILINE))
    known = set(worked.kernels())
    for name in sorted(known & set(NO_REFERENCE)):
        print(f"      {name}: its header is not tried: {NO_REFERENCE[name]}")
    missing, strange = sorted(known - cases - set(NO_REFERENCE)), sorted((cases | set(NO_REFERENCE)) - known)
    say(not missing, f"headers.cu has a reference for {len(known & cases)} of {len(known)} worked kernels"
        + (f"; neither there nor excused: {', '.join(missing)}" if missing else ""))
    say(not strange, "every reference is of a worked kernel" + (f", but: {', '.join(strange)}" if strange else ""))
    return sorted(cases & known)


def wanted():
    return {name: how for name, how in worked.kernels().items() if re.search(ARGS.only, name)}


def tune_quickly():
    for name, (spec, params) in wanted().items():
        words = [spec, *worked.options(params), "--store", STORE, "-q"]
        if run(PROGRAM, "emit", *words, "-o", os.path.join(OUT, "known.h")).returncode != 0:
            tuned = run(PROGRAM, "tune", *words, "--max-candidates", "3", "--budget", "20s")
            if tuned.returncode not in (0, 7):  # 7: the budget ended it
                say(False, f"{name}: exit {tuned.returncode}: {tuned.stderr.strip()[-300:]}")


def check_headers(form):
    """Emits each header, builds an object of each and one program of all, and runs it."""
    out = os.path.join(OUT, form)
    os.makedirs(out, exist_ok=True)

    def build(what, *words, source=CASES):
        return run("nvcc", f"-arch={ARGS.arch}", "-Xcompiler", "-Wall,-Wextra", "-I", out, *words, source,
                   "-c", "-o", os.path.join(out, what + ".o"))

    def link_and_run(what, files):
        objects = [os.path.join(out, file + ".o") for file in files]
        binary = os.path.join(out, what)
        linked = run("nvcc", f"-arch={ARGS.arch}", "-Xcompiler", "-pthread", *objects, "-o", binary)
        say(linked.returncode == 0, f"{form}: {len(objects)} objects are one program, {what} {linked.stderr[-1500:]}")
        if linked.returncode == 0 and not ARGS.build:
            result = run(binary)
            print(result.stdout, end="")
            say(result.returncode == 0, f"{form}: {what}")

    def build_kernels(name):
        """Of forms in which one file has the kernels: that file."""
        source = os.path.join(out, f"{name}_kernels." + {"cuda": "cu", "c": "c"}[form])
        with open(source, "w") as f:
            f.write(f'#define {name}_IMPLEMENTATION\n#include "{name}.h"\n')
        return build(name + "_kernels", "-O2", source=source)

    def make(name):
        header = os.path.join(out, name + ".h")
        emitted = run(PROGRAM, "emit", name, "--store", STORE, "--form", form, "-o", header)
        built = emitted.returncode == 0 and build(name, f"-DKERNEL_{name}", "-include", header)
        if built and built.returncode == 0 and form != "inline":
            built = build_kernels(name)
        return emitted, built

    names, cases, kernels = [name for name in with_reference() if name in wanted()], [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        program = pool.submit(build, "main", "-DMAIN")
        for name, (emitted, built) in zip(names, pool.map(make, names)):
            if emitted.returncode != 0:
                say(False, f"emit {name} {emitted.stderr.strip()}")
                continue
            good = built.returncode == 0 and "warning" not in built.stderr
            say(good, f"{form}: {name}.h builds without warnings {built.stderr[-1500:]}")
            cases += [name] if built.returncode == 0 else []
            kernels += [name + "_kernels"] if built.returncode == 0 and form != "inline" else []
        say(program.result().returncode == 0, "headers.cu builds " + program.result().stderr[-1500:])
    link_and_run("headers", cases + kernels + ["main"])
    if ARGS.only:  # what follows has headers of its own choice
        return
    built = build("launches", "-O2", source=os.path.join(HERE, "launches.cu"))
    say(built.returncode == 0, f"{form}: launches.cu builds " + built.stderr[-1500:])
    link_and_run("launches", kernels + ["launches"])


def finish():
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


def main():
    gpus = [] if ARGS.build else devices()
    if not gpus and not ARGS.build:
        print("skipped: no GPU here")
        sys.exit(77)
    if ARGS.quick:
        tune_quickly()
    if ARGS.headers or ARGS.build or ARGS.quick:
        for form in ARGS.forms:
            check_headers(form)
        finish()
    print(f"device: {gpus[0]['name']}, {time.strftime('%Y-%m-%d')}")
    reports = {}
    for name, (spec, params) in wanted().items():
        report = tune(name, spec, params)
        if report:
            reports[report["name"]] = evaluate(report)
            print(f"      {report['seconds']:.1f} s")
    for name in ("particle_soa_to_aos", "particle_aos_to_aos"):
        for label, (_, _, ratio) in reports.get(name, {}).items():
            say(ratio >= 2.0, f"{name} {label}: {ratio:.2f} x naive, at least 2 wanted")
    check_geam(reports)
    for form in ARGS.forms:
        check_headers(form)
    finish()


main()
