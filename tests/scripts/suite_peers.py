"""Stands in for the program made of peers.cu: answers jobs with invented times, and misbehaves on request.

The word `fault` of a job says how: crash, hang, lost (its second peer), noise (text between the answers).
"""
import json
import os
import signal
import sys
import time


def say(**members):
    print(json.dumps(members), flush=True)


if os.environ.get("SUITE_PEERS_ABSENT"):
    say(absent="nothing is installed")
    sys.exit(0)
say(device="a stand-in", l2_bytes=1)
for line in sys.stdin:
    words = line.split()
    values = dict(word.split("=", 1) for word in words[2:])
    names = ["ceiling"] if words[1] == "ceiling" else ["one", "by hand, two", "three"]
    for k, name in enumerate(names):
        if k < int(values["skip"]):
            continue
        say(job=words[0], begin=name)
        fault = values.get("fault") if k == 1 else None
        if fault == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if fault == "hang":
            time.sleep(100)
        if fault == "lost":
            say(lost="by hand, two: an illegal memory access was encountered")
            sys.exit(3)
        if values.get("fault") == "noise":
            print("no JSON\n[1]", flush=True)
        say(job=words[0], peer=name, median_ns=1000.0 * (k + 1), q1_ns=1.0, q3_ns=2.0, verified=True)
    say(job=words[0], end=True)
