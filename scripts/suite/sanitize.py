#!/usr/bin/env python3
"""The winners of a run of the suite under compute-sanitizer, called through their headers.

  sanitize.py [PATTERN...] [options]     PATTERN: specs, with * or as a part; default all that the run tuned

  --program FILE    the sectile binary
  --run FOLDER      what `scripts/bench suite` left: store.db and specs/; default out/suite
  --tools LIST      default memcheck,racecheck,initcheck,synccheck
  --seconds N       the whole takes about so long; default 500
  --limit N         seconds for one tool over one spec; default 60
  --arch ARCH       of nvcc; default native

For every spec: `sectile emit`, a program that calls the launch function at every size the run tuned, on arrays of exactly
the bytes that the spec says, built with nvcc, and run under each tool. Prints a line a spec and writes sanitize.json into
the folder, and where OUT is set into that one. What a tool does not support on this machine is said. Exit 1 if a tool found something or a program failed.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FOUND = 9  # exit code of compute-sanitizer where a tool found something
REFUSED = ("Device not supported", "not supported on this", "Unable to find", "LibraryNotLoaded")

HEAD = """// Calls %(name)s at every size that was tuned, on arrays of exactly the bytes that the spec says.
#include "%(name)s.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

// A pointer that becomes whatever type the launch function asks for.
struct Any {
  void *p;
  template <class T> operator T *() const { return (T *)p; }
};

static void must(cudaError_t e, const char *what) {
  if (e == cudaSuccess) return;
  printf("%%s: %%s\\n", what, cudaGetErrorString(e));
  exit(2);
}

static Any fresh(size_t bytes) {
  Any a = {nullptr};
  must(cudaMalloc(&a.p, bytes ? bytes : 1), "cudaMalloc");
  return a;
}

static Any input(size_t bytes) {
  const Any a = fresh(bytes);
  must(cudaMemset(a.p, 0x3f, bytes), "cudaMemset");
  return a;
}

template <class T> static Any indexes(size_t bytes, long long limit) {
  std::vector<T> host(bytes / sizeof(T));
  for (size_t k = 0; k < host.size(); k++) host[k] = (T)((long long)k %% limit);
  const Any a = fresh(bytes);
  must(cudaMemcpy(a.p, host.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  return a;
}

int main() {
"""


def array_text(array, size):
    bytes_ = max(array["bytes"][size])  # the largest of its layouts
    if array["role"] == "out":
        return f"fresh({bytes_}ull)"
    if "limits" in array:
        return f"indexes<{'long long' if array['index_bytes'] == 8 else 'int'}>({bytes_}ull, {array['limits'][size]}ll)"
    return f"input({bytes_}ull)"


def driver(checked, header=""):
    """The text of the program for what `sectile check --json` says of a spec, and its header."""
    out = [HEAD % {"name": checked["name"]}]
    bytes_ = f"{checked['name']}_workspace_bytes()"
    has_workspace = bytes_[:-1] in header
    if has_workspace:
        out.append(f"  const Any w = fresh({bytes_});\n  must(cudaMemset(w.p, 0, {bytes_}), \"cudaMemset\");\n")
    for size, label in enumerate(checked["sizes"]):
        arrays = [f"a{k}" for k in range(len(checked["arrays"]))]
        words = arrays + ["1"] * len(checked["scalars"]) + [f"{n}ll" for n in checked["extents"][size]] + ["w"] * has_workspace
        out.append(f"  {{  // {label}\n")
        for name, array in zip(arrays, checked["arrays"]):
            out.append(f"    const Any {name} = {array_text(array, size)};\n")
        call = ", ".join(words)
        out.append(f"    printf(\"%s: %s\\n\", \"{label}\", {checked['name']}_variant({call}).variant);\n")
        out.append(f"    must({checked['name']}({call}, 0), \"launch\");\n")
        out.append("    must(cudaDeviceSynchronize(), \"kernel\");\n")
        out += [f"    must(cudaFree({name}.p), \"cudaFree\");\n" for name in arrays]
        out.append("  }\n")
    return "".join(out) + "  return 0;\n}\n"


def verdict(code, text):
    """What became of one tool over one program: "clean", "unsupported", or what is wrong."""
    if code is None:
        return "out of time"
    if any(word in text for word in REFUSED):
        return "unsupported"
    errors = [line for line in text.splitlines() if "ERROR SUMMARY" in line or "RACECHECK SUMMARY" in line]
    if code == 0:
        return "clean"
    if code == FOUND:
        what = [line.strip("= ") for line in text.splitlines() if line.startswith("========= ") and
                any(word in line for word in ("Error: ", "Warning: ", "Invalid ", "Uninitialized "))]
        return "; ".join((errors[-1:] or ["found something"]) + what[:1]).strip("= ")
    return f"exit code {code}: {' / '.join(text.strip().splitlines()[-2:])[:200]}"


def run(command, seconds, **more):
    """(exit code or None for out of time, stdout and stderr together)"""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                             start_new_session=True, **more)
    try:
        return child.communicate(timeout=max(1.0, seconds))[0], child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return child.communicate()[0], None


def build(args, spec, folder):
    """The program for a spec, or why there is none."""
    path = os.path.join(args.run, "specs", spec + ".lua")
    text, code = run([args.program, "check", "--json", path], 60)
    try:
        checked = json.loads(text)["checked"][0]
        name = checked["name"]
    except (ValueError, KeyError, IndexError):
        return None, f"check: {text.strip()[-200:]}"
    header = os.path.join(folder, name + ".h")
    text, code = run([args.program, "emit", path, "--store", os.path.join(args.run, "store.db"), "-o", header], 60)
    if code != 0:
        return None, f"emit: {text.strip()[-200:]}"
    with open(header, encoding="utf-8") as f:
        text = f.read()
    source = os.path.join(folder, spec + ".cu")
    with open(source, "w", encoding="utf-8") as f:
        f.write(driver(checked, text))
    binary = os.path.join(folder, spec)
    text, code = run(["nvcc", "-O2", "-lineinfo", f"-arch={args.arch}", "-I", folder, source, "-o", binary], 240)
    return (binary, None) if code == 0 else (None, f"nvcc: {text.strip()[-300:]}")


def check_spec(args, spec, binary, left):
    """{tool: verdict}; the tools run side by side"""
    def check(tool):
        seconds = min(args.limit, left())
        if seconds < 1:
            return "out of time"
        text, code = run(["compute-sanitizer", "--tool", tool, "--error-exitcode", str(FOUND), binary], seconds)
        with open(f"{binary}.{tool}.log", "w", encoding="utf-8") as f:
            f.write(text)
        return verdict(code, text)
    tools = args.tools.split(",")
    with concurrent.futures.ThreadPoolExecutor(len(tools)) as pool:
        return dict(zip(tools, pool.map(check, tools)))


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench sanitize", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "release", "sectile"))
    parser.add_argument("--run", default=os.path.join(ROOT, "out", "suite"))
    parser.add_argument("--tools", default="memcheck,racecheck,initcheck,synccheck")
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--arch", default="native")
    return parser.parse_args()


def main():
    args, begin = arguments(), time.time()
    if not os.path.exists(os.path.join(args.run, "store.db")):
        print(f"sanitize: {args.run} holds no run of the suite (store.db)", file=sys.stderr)
        return 2
    for tool in ("nvcc", "compute-sanitizer"):
        if not shutil.which(tool):
            print(f"sanitize: there is no {tool} here", file=sys.stderr)
            return 2
    specs = sorted(name[:-4] for name in os.listdir(os.path.join(args.run, "specs")) if name.endswith(".lua"))
    specs = [s for s in specs if not args.patterns or any(fnmatch.fnmatch(s, f"*{p}*") for p in args.patterns)]
    folder = os.path.join(args.run, "sanitize")
    os.makedirs(folder, exist_ok=True)
    results, bad = {}, 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for spec, (binary, problem) in zip(specs, pool.map(lambda s: build(args, s, folder), specs)):
            left = args.seconds - (time.time() - begin)
            results[spec] = {"build": problem} if problem else check_spec(
                args, spec, binary, lambda: args.seconds - (time.time() - begin))
            good = all(v in ("clean", "unsupported") for v in results[spec].values())
            bad += not good
            part = all(v in ("clean", "unsupported", "out of time") for v in results[spec].values())
            print(f"{'ok  ' if good else 'part' if part else 'FAIL'} {spec:32} "
                  + ", ".join(f"{tool} {what}" for tool, what in results[spec].items())
                  + f"  ({left:.0f} s left)", flush=True)
            for out in filter(None, (args.run, os.environ.get("OUT"))):
                with open(os.path.join(out, "sanitize.json"), "w", encoding="utf-8") as f:
                    json.dump({"date": time.strftime("%Y-%m-%d"), "tools": args.tools, "specs": results}, f, indent=1)
    clean = sum(1 for r in results.values() for v in r.values() if v == "clean")
    print(f"{len(results)} specs, {clean} runs clean, {bad} specs with something to say")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
