"""The cost of recording: the same sample with tiers off, stats and full; medians, and ratios to off. Each round takes the tiers in
another order, since a run finds the memory and the files that the one before it left in the caches of the system.

    /usr/bin/python3 tests/bench/recording.py build/bin/uopscope [samples/resnet50.py] [ROUNDS]

"compile" is processor time of the thread that makes schedules and code, in one process that does it several times over
(compile_time.py: NULL device, one thread). "whole run" is the sample itself: wall and processor time of the process with
writing, once with an empty cache of kernels and once with a full one; the cache lies in a folder of its own.
"""
import json, os, random, resource, statistics, subprocess, sys, tempfile, time

program, sample = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "samples/resnet50.py"
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
here, tiers = os.path.dirname(os.path.abspath(__file__)), ("off", "stats", "full")
folder = tempfile.TemporaryDirectory()
trace = os.path.join(folder.name, "t.uoptrace")


def run(script, tier, env, *arguments):
  before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
  done = subprocess.run([program, "record", script, "-q", "--tier", tier, "-o", trace, "--", *arguments], capture_output=True,
                        text=True, env={**os.environ, **env})
  wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
  if done.returncode: sys.exit(f"{script} with tier {tier}: {done.stderr}")
  return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def table(name, measure):
  found = {tier: [] for tier in tiers}
  for _ in range(rounds):
    for tier in random.sample(tiers, len(tiers)): found[tier].append(measure(tier))
  medians = {tier: [statistics.median(v) for v in zip(*found[tier])] for tier in tiers}
  for tier in tiers:
    print(f"{name:<28} {tier:<6}" + "".join(f" {x * 1e3:9.1f} ms ({x / base:.2f})" for x, base in zip(medians[tier], medians["off"])), flush=True)


def compile_time(tier):
  out = run(os.path.join(here, "compile_time.py"), tier, {"ROUNDS": "4", "UOPSCOPE_THREADS": "1", "CPU_TIME": "1"}, sample)[2]
  result = json.loads(out.splitlines()[-1])
  return [result["schedule"] + result["codegen"]]


def whole(tier, cache):
  wall, cpu, _ = run(sample, tier, {"XDG_CACHE_HOME": cache})
  return [wall, cpu]


table("compile", compile_time)
table("whole run, kernels known", lambda tier: whole(tier, folder.name))
def cold(tier):
  with tempfile.TemporaryDirectory() as cache: return whole(tier, cache)
table("whole run, nothing known", cold)
run(sample, "full", {"XDG_CACHE_HOME": folder.name})
query = lambda sql: json.loads(subprocess.run([program, "query", trace, sql, "--json"], capture_output=True, text=True).stdout)
steps = query("SELECT count(*) AS n FROM step")[0]["n"]
print(f"{os.path.getsize(trace)} bytes, {steps} steps: {os.path.getsize(trace) / steps:.1f} bytes a step")
for row in query("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 6"):
  print(f"  {row['name']:<16} {row['bytes'] / steps:6.1f}")
