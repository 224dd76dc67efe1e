#!/usr/bin/env python3
"""Ways from the host and back of two worked kernels on a GPU: `transfer SPEC` against the bound.

  tests/gpu/ways.py PROGRAM [OUT] [--device ID]     OUT: where specs and store go, default out/ways

Tunes both at a large size and at one of a chunk (a few candidates), tries the ways and prints them. Every way that runs must be right; chunks of page-locked arrays reach 0.90 of the
bound, those through the ring 0.70, and both are twice as fast as plain copies of pageable arrays. With two devices (--device cuda:0,cuda:1) that holds for the best ways of one, and page-locked
arrays go 1.25 times as fast in halves. On a virtual device all of it is by the model. Exit 1 if something falls short, 77 without that device.
"""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = {
    "add_const_double3": ("{ { i = 33554432 }, { i = 699050 } }", "i=33554432"),
    "stencil2d_f32": ("{ { row = 16384, col = 16384 }, { row = 256, col = 16384 } }", "row=16384 col=16384"),
}


def spec_of(kernel, out):
    with open(os.path.join(ROOT, "tuning", "kernels", kernel + ".lua"), encoding="utf-8") as file:
        text = file.read()
    text = text.replace("s.kernel {", "s.kernel { host = true,")
    start = text.index("sizes", text.index("s.kernel"))
    end = text.index("} }", start) + 3
    path = os.path.join(out, kernel + ".lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:start] + "sizes = " + SIZES[kernel][0] + text[end:])
    return path


def check(kernel, size):
    ways = size["ways"]
    short = [f"{kernel}: {way['memory']} in chunks of {way['chunk']}: {way['failure']}" for way in ways if way["failure"]]
    for way in ways:
        way["ns"] = way["median_ns"] or (way["modelled_ns"] if size["virtual"] else None)
    timed = [way for way in ways if way["ns"]]
    plain = next(way for way in timed if way["memory"] == "pageable" and way["chunk"] is None and way["devices"] == 1)
    locked, ring = (min((way for way in timed if way["memory"] == memory and way["devices"] == 1), key=lambda way: way["ns"])
                    for memory in ("page-locked", "pageable"))
    best = [locked, ring]
    for name, way, share in (("page-locked", locked, 0.90), ("pageable", ring, 0.70)):
        times = plain["ns"] / way["ns"]
        print(f"{kernel}: {name}: {way['share']:.2f} of the bound, {times:.1f} times as fast as plain pageable copies")
        if way["share"] < share or times < 2:
            short.append(f"{kernel}: {name}: {way['share']:.2f} of the bound, {times:.1f} times as fast")
    for name, one, least in (("page-locked", locked, 1.25), ("pageable", ring, 0)) if size["two_bound_ns"] else ():
        two = min((way for way in timed if way["memory"] == name and way["devices"] == 2), key=lambda way: way["ns"])
        best.append(two)
        times = one["ns"] / two["ns"]
        print(f"{kernel}: {name}: halves on two devices are {times:.2f} times as fast, {two['ns'] / 1e6:.2f} ms for {one['ns'] / 1e6:.2f}")
        if times < least:
            short.append(f"{kernel}: {name}: halves on two devices are only {times:.2f} times as fast")
    for way in best:
        if not 0.5 < way["total_ns"] / way["ns"] < 1.5:
            short.append(f"{kernel}: {way['memory']}, {way['devices']} devices: a traced run took {way['total_ns']:.0f} ns, others {way['ns']:.0f}")
    if locked["hidden"] < 0.8:
        short.append(f"{kernel}: only {100 * locked['hidden']:.0f} % of the copies are hidden")
    return short


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "out", "ways"), type=os.path.abspath)
    parser.add_argument("--device", default="cuda:0")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    devices = subprocess.run([args.program, "devices", "--json"], capture_output=True, text=True).stdout
    if any(f'"{device}"' not in devices for device in args.device.split(",")):
        return 77
    store = ["--store", os.path.join(args.out, "store.db")]
    short = []
    for kernel, (_, label) in SIZES.items():
        spec = spec_of(kernel, args.out)
        subprocess.run([args.program, "tune", spec, "-q", "--max-candidates", "20", "--device", args.device.split(",")[0], *store],
                       check=True, stdout=subprocess.DEVNULL)
        run = [args.program, "transfer", spec, "--size", label, "--device", args.device, *store]
        found = json.loads(subprocess.run([*run, "--json"], stdout=subprocess.PIPE, check=True).stdout)
        with open(os.path.join(args.out, kernel + ".json"), "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
        subprocess.run(run, check=True)
        found["sizes"][0]["virtual"] = not found["timed"]
        short += check(kernel, found["sizes"][0])
    print("\n".join(short) if short else "all as it should be")
    return 1 if short else 0


sys.exit(main())
