"""Compares uopscope with tinygrad 0.12.0 and with itself while recording, alternating so that noise hits all.

compare.py UOPSCOPE REFERENCE_PYTHON [loop|compile|training] [rounds]

loop: the compile loop, whole script. compile: schedule and code generation to source of two models, each in a fresh
process on one thread; the work of a sample's make() (weights) is not counted. training: a small network from an empty
cache: the process until its first step is done, then later steps. Medians.
"""
import json, os, re, subprocess, statistics, sys, tempfile, time

uopscope, reference = sys.argv[1], sys.argv[2]
wanted = [a for a in sys.argv[3:] if not a.isdigit()] or ["compile", "loop", "training"]
rounds = next((int(a) for a in sys.argv[3:] if a.isdigit()), 5)
here = os.path.dirname(os.path.abspath(__file__))
samples = os.path.join(here, "..", "..", "samples")


def output(command, env=None):
    """Standard output of a command that must succeed, and the seconds it took."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout, seconds


def loop():
    script = os.path.join(samples, "compile_loop.py")

    def run(command):
        """Milliseconds an iteration as the script prints them, and seconds for the whole process."""
        text, seconds = output(command)
        found = re.search(r"([0-9.]+) ?ms/iter", text)
        if not found:
            sys.exit(f"{' '.join(command)} printed no ms/iter:\n{text}")
        return float(found.group(1)), seconds

    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "loop.uoptrace")
        ways = {"uopscope": [uopscope, "run", script]}
        for tier in ("stats", "full"):
            ways[f"uopscope, recording {tier}"] = [uopscope, "record", script, "--tier", tier, "-o", trace]
        if os.path.exists(reference):
            ways["tinygrad 0.12.0"] = [reference, script]
        results = {name: [] for name in ways}
        for _ in range(rounds):
            for name, command in ways.items():
                if os.path.exists(trace):
                    os.remove(trace)
                results[name].append(run(command))
    print(f"== compile loop, medians of {rounds}, alternating")
    base_loop = statistics.median(r[0] for r in results["uopscope"])
    base_whole = statistics.median(r[1] for r in results["uopscope"])
    print(f"{'':28}{'ms/iteration':>14}{'ratio':>8}{'process, s':>12}{'ratio':>8}")
    for name, rows in results.items():
        each, whole = statistics.median(r[0] for r in rows), statistics.median(r[1] for r in rows)
        print(f"{name:28}{each:14.2f}{each / base_loop:8.2f}{whole:12.2f}{whole / base_whole:8.2f}")


def compile_time():
    program = os.path.join(here, "compile_time.py")
    for sample in ("resnet50", "transformer_block"):
        path = os.path.join(samples, sample + ".py")
        ways = {"uopscope": [uopscope, "python", program, path]}
        if os.path.exists(reference):
            ways["tinygrad 0.12.0"] = [reference, program, path]
        results = {name: [] for name in ways}
        for _ in range(rounds):
            for name, command in ways.items():
                results[name].append(json.loads(output(command)[0]))
        print(f"== {sample}: one thread, DEV=NULL, medians of {rounds}, alternating")
        columns = ("graph", "schedule", "codegen")
        print(f"{'':20}{'graph, ms':>12}{'schedule':>12}{'codegen':>12}{'the two':>12}{'ratio':>9}{'kernels':>9}{'peak, MB':>10}")
        ours = None
        for name, rows in results.items():
            times = [statistics.median(1000 * r[c] for r in rows) for c in columns]
            both = statistics.median(1000 * (r["schedule"] + r["codegen"]) for r in rows)
            ours = ours or both
            print(f"{name:20}{times[0]:12.1f}{times[1]:12.1f}{times[2]:12.1f}{both:12.1f}{both / ours:9.1f}"
                  f"{rows[0]['kernels']:9.0f}{max(r['peak_mb'] for r in rows):10.0f}")


def training():
    program = os.path.join(here, "training.py")
    ways = {"uopscope": [uopscope, "run", program]}
    if os.path.exists(reference):
        ways["tinygrad 0.12.0"] = [reference, program]
    results = {name: [] for name in ways}
    for _ in range(rounds):
        for name, command in ways.items():
            with tempfile.TemporaryDirectory() as cache:
                text, _ = output(command, os.environ | {"XDG_CACHE_HOME": cache})
            results[name].append(json.loads(text.splitlines()[-1]))
    print(f"== training, from an empty cache, medians of {rounds}, alternating")
    print(f"{'':20}{'first step, s':>15}{'ratio':>8}{'second, s':>12}{'ratio':>8}{'later, ms':>12}{'ratio':>8}")
    base = None
    for name, rows in results.items():
        middle = {k: statistics.median(r[k] for r in rows) for k in rows[0]}
        base = base or middle
        print(f"{name:20}{middle['first']:15.2f}{middle['first'] / base['first']:8.1f}{middle['second']:12.2f}"
              f"{middle['second'] / base['second']:8.1f}{1000 * middle['later']:12.2f}{middle['later'] / base['later']:8.1f}")


for part in wanted:
    {"loop": loop, "compile": compile_time, "training": training}[part]()
