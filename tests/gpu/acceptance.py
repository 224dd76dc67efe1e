#!/usr/bin/env python3
"""Runs the whole program on a GPU and judges it.

  tests/gpu/acceptance.py PROGRAM [OUT]     PROGRAM: the sectile binary; OUT: where headers and logs go, default out/gpu

Tunes every worked spec, checks that each winner is verified and not slower than the naive variant, that 28-byte records
stored as AoS win at least 2x, and that transposes come within 10 % of cuBLAS geam measured in the same run; emits every
header, builds tests/gpu/headers.cu with nvcc and runs it. Exit 1 if anything falls short, 77 without a GPU.
"""
import glob
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.abspath(sys.argv[1])
OUT = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "out", "gpu"))
os.makedirs(OUT, exist_ok=True)
STORE = os.path.join(OUT, "store.db")
NOISE = 1.01  # a winner may be this much slower than the naive variant before it counts as slower
problems = []


def say(good, text):
    print(("ok    " if good else "FAIL  ") + text, flush=True)
    if not good:
        problems.append(text)


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, **options)


def devices():
    result = run(PROGRAM, "devices", "--json")
    return [d for d in json.loads(result.stdout)["devices"] if d["id"].startswith("cuda:")]


def tune(spec):
    started = time.time()
    result = run(PROGRAM, "tune", spec, "--json", "--store", STORE, "-q")
    name = os.path.basename(spec)[:-4]
    with open(os.path.join(OUT, name + ".json"), "w") as f:
        f.write(result.stdout)
    if result.returncode != 0:
        say(False, f"{name}: exit {result.returncode}: {result.stderr.strip()[-300:]}")
        return None
    report = json.loads(result.stdout)["tuned"][0]["report"]
    report["seconds"] = time.time() - started
    return report


def judge(report):
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


def check_headers(names):
    for name in names:
        result = run(PROGRAM, "emit", name, "--store", STORE, "-o", os.path.join(OUT, name + ".h"))
        say(result.returncode == 0, f"emit {name} {result.stderr.strip()}")
    binary = os.path.join(OUT, "headers")
    built = run("nvcc", "-arch=native", "-Xcompiler", "-Wall,-Wextra", "-I", OUT, os.path.join(HERE, "headers.cu"), "-o", binary)
    say(built.returncode == 0 and "warning" not in built.stderr, "headers.cu builds without warnings " + built.stderr[-1500:])
    if built.returncode == 0:
        result = run(binary)
        print(result.stdout, end="")
        say(result.returncode == 0, "emitted headers give the reference result")


def main():
    gpus = devices()
    if not gpus:
        print("skipped: no GPU here")
        sys.exit(77)
    print(f"device: {gpus[0]['name']}, {time.strftime('%Y-%m-%d')}")
    reports = {}
    for spec in sorted(glob.glob(os.path.join(ROOT, "tuning", "kernels", "*.lua"))):
        report = tune(spec)
        if report:
            reports[report["name"]] = judge(report)
            print(f"      {report['seconds']:.1f} s")
    for name in ("particle_soa_to_aos", "particle_aos_to_aos"):
        for label, (_, _, ratio) in reports.get(name, {}).items():
            say(ratio >= 2.0, f"{name} {label}: {ratio:.2f} x naive, at least 2 wanted")
    check_geam(reports)
    check_headers(list(reports))
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
