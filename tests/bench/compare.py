"""Whole scripts, ours against tinygrad 0.12.0 and against ourselves with recording, alternating so that noise hits all.

compare.py UOPSCOPE REFERENCE_PYTHON [rounds]
"""
import os, re, subprocess, statistics, sys, tempfile, time

uopscope, reference = sys.argv[1], sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
samples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
script = os.path.join(samples, "compile_loop.py")


def run(command):
    """Milliseconds an iteration as the script prints them, and seconds for the whole process."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    found = re.search(r"([0-9.]+) ?ms/iter", done.stdout)
    if not found:
        sys.exit(f"{' '.join(command)} printed no ms/iter:\n{done.stdout}")
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
    loop, whole = statistics.median(r[0] for r in rows), statistics.median(r[1] for r in rows)
    print(f"{name:28}{loop:14.2f}{loop / base_loop:8.2f}{whole:12.2f}{whole / base_whole:8.2f}")
