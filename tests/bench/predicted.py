"""Predicted against measured time of kernels: the samples, a ResNet-18, the rows of tests/bench/kernel_cases.py.

  tests/bench/run predicted [rounds] [word ...]     as tests/bench/run calls it; words choose scripts ("rows", "tiny_gpt")
  CPU_COUNT=1 tests/bench/run predicted             kernels on one thread, which other work disturbs less

Each script is recorded `rounds` times; of each kernel the fastest launch counts, with the prediction for that launch. The constants of the
model were fitted on the kernels of the first half (by a hash of the name); where its formulas were wrong showed on both halves, so the
proof is unseen.py, whose kernels nobody looked at."""
import glob
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS, PAUSE = 0.15, 0.3  # of a row; until the recorder has written what compiling it made
LEFT_OUT = {"custom_rule"}  # runs no kernel


def often(f, tensors, least=5, most=200, seconds=SECONDS):
    """Captures f, and runs it once the recorder has written what compiling it made: at least so often, then for so long."""
    from tinygrad import TinyJit
    jitted = TinyJit(lambda *t: f(*t).realize())
    for _ in range(3): jitted(*tensors)
    time.sleep(PAUSE)
    start, n = time.perf_counter(), 0
    while n < least or (time.perf_counter() - start < seconds and n < most):
        jitted(*tensors)
        n += 1


def rows():
    """Runs the rows of kernels.py, each many times; this side runs inside uopscope."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import kernels
    import numpy as np
    for c in kernels.cases():
        rng = np.random.default_rng(1)
        often(c["ours"], kernels.inputs_of(c, [make(rng) for make in c["inputs"]]))


def scripts(words):
    found = {os.path.basename(p)[:-3]: [p] for p in sorted(glob.glob(os.path.join(ROOT, "samples", "*.py")))}
    found["resnet18"] = [os.path.join(ROOT, "tests", "laboratory", "resnet18.py")]
    found["unseen"] = [os.path.join(ROOT, "tests", "bench", "unseen.py")]
    found["rows"] = [os.path.abspath(__file__), "--", "--rows"]
    return {name: s for name, s in found.items() if name not in LEFT_OUT and (not words or any(w in name for w in words))}


def kernels_of(uopscope, name, script, rounds, folder):
    best = {}
    for n in range(1 if name == "rows" else rounds):
        trace = os.path.join(folder, f"{name}-{n}.uoptrace")
        done = subprocess.run([uopscope, "record", script[0], "-o", trace, "-q", *script[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode: sys.exit(f"{name}: {done.stderr}")
        for k in json.loads(subprocess.run([uopscope, "roofline", trace, "--json"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout)["kernels"]:
            key = (k["scope"], k["kernel"], k["flops"], k["bytes"])
            if k["predicted_seconds"] and k["seconds"] < best.get(key, {"seconds": math.inf})["seconds"]: best[key] = dict(k, script=name)
    return list(best.values())


def line(name, kernels):
    if not kernels: return
    errors = sorted(abs(k["predicted_of_measured"] - 1) for k in kernels)
    ratios = sorted(k["predicted_of_measured"] for k in kernels)
    at = lambda values, part: values[min(len(values) - 1, int(part * len(values)))]
    within = sum(e <= 0.3 for e in errors) / len(errors)
    print(f"{name:28}{len(kernels):6}{at(errors, .5):10.2f}{at(errors, .9):10.2f}{within:10.2f}{at(ratios, .1):12.2f}{at(ratios, .5):8.2f}{at(ratios, .9):8.2f}")


def main(uopscope, rounds, words):
    kernels = []
    with tempfile.TemporaryDirectory() as folder:
        for name, script in scripts(words).items(): kernels += kernels_of(uopscope, name, script, rounds, folder)
    half = lambda k: hashlib.md5(k["kernel"].encode()).digest()[0] & 1
    print(f"{'':28}{'kernels':>6}{'median':>9}{'9 of 10':>10}{'in 30 %':>10}{'ratio: 10 %':>12}{'50 %':>8}{'90 %':>8}")
    unseen, kernels = [k for k in kernels if k["script"] == "unseen"], [k for k in kernels if k["script"] != "unseen"]
    line("all", kernels)
    line("first half (calibrated)", [k for k in kernels if half(k) == 0])
    line("second half", [k for k in kernels if half(k) == 1])
    line("never looked at", unseen)
    line("never looked at, 3 launches", [k for k in unseen if k["launches"] >= 3])
    line("launched three times, more", [k for k in kernels if k["launches"] >= 3])
    line("launched once or twice", [k for k in kernels if k["launches"] < 3])
    line("below 5 us", [k for k in kernels if k["seconds"] < 5e-6])
    line("5 us and more", [k for k in kernels if k["seconds"] >= 5e-6])
    for name in dict.fromkeys(k["script"] for k in kernels): line("  " + name, [k for k in kernels if k["script"] == name])
    print("farthest off:")
    for k in sorted(kernels + unseen, key=lambda k: -abs(math.log(k["predicted_of_measured"])))[:10]:
        parts = ", ".join(f"{part} {seconds * 1e6:.2f}" for part, seconds in k["parts"].items() if seconds >= 5e-9)
        print(f"  {k['script']:18}{k['kernel'][:32]:34}{k['seconds'] * 1e6:10.2f} us, predicted {k['predicted_seconds'] * 1e6:10.2f} ({parts})")


if __name__ == "__main__":
    if "--rows" in sys.argv:
        rows()
    else:
        numbers, words = [int(a) for a in sys.argv[2:] if a.isdigit()], [a for a in sys.argv[2:] if not a.isdigit()]
        main(sys.argv[1], numbers[0] if numbers else 3, words)
