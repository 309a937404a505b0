# Runs the reference's programs on both engines and writes the table of their outputs, times and memory: see tests/conformance/programs.
#
# Each program runs in a process of its own, first on the reference, then here, alone on the machine if nothing else is
# running. What came out is kept in the build folder, so a run that was cut off goes on where it stopped: the reference's by
# the case, ours by the case and the build. Programs that are named run again. Outputs agree where no number differs by more than TOLERANCE of the largest of its array.
import hashlib, json, math, os, pathlib, statistics, subprocess, sys, tempfile
from program_cases import CASES, EXPLAINED, LEFT_OUT, Model

ROOT, TREE, COMMAND, NAMES = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3].split(), sys.argv[4:]
COMMAND[0] = os.path.abspath(COMMAND[0])  # programs run in a folder of their own
PAGE = NAMES == ["--page"]
if PAGE: NAMES = []
LIMIT, TOLERANCE = int(os.environ.get("LIMIT", 60)), 2e-3
HERE = pathlib.Path(__file__).parent
KEPT = pathlib.Path(os.environ.get("UOPSCOPE_BUILD", ROOT / "build")) / "conformance" / "programs"

def too_long(): return f"more than {LIMIT} s"

def run(command, name, paths, folder):
  """The result of measure_program.py for a program, or a string: the reason why there is none."""
  out = pathlib.Path(folder, "out.json")
  out.unlink(missing_ok=True)
  env = os.environ | {"PYTHONPATH": ":".join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1", "CI": ""}
  try:
    with tempfile.TemporaryDirectory() as caches:  # of its own, so that a first step compiles everything on either engine
      env["XDG_CACHE_HOME"] = caches
      done = subprocess.run([*command, str(HERE / "measure_program.py"), name, str(out)], cwd=folder, env=env, timeout=LIMIT, capture_output=True, text=True)
  except subprocess.TimeoutExpired: return too_long()
  if done.returncode: return next((l for l in reversed(done.stderr.strip().splitlines()) if l and not l.startswith(" ")), f"ended with {done.returncode}").replace(folder + "/", "")[:200]
  return json.loads(out.read_text())

def difference(here, there):
  """The largest difference of two results, as a part of the largest number; infinite where their shapes differ."""
  if [len(a) for a in here] != [len(a) for a in there]: return math.inf
  worst = 0.0
  for a, b in zip(here, there):
    scale = max((abs(v) for v in b if math.isfinite(v)), default=0) or 1.0
    for x, y in zip(a, b):
      if x != y and not (math.isnan(x) and math.isnan(y)): worst = max(worst, abs(x - y) / scale if math.isfinite(x) and math.isfinite(y) else math.inf)
  return worst

def later(steps): return statistics.median(steps[1:] or steps)

def row(name, here, there):
  case = CASES[name]
  kind = type(case).__name__.lower() if not isinstance(case, Model) else "training" if case.train else "forward"
  head = f"| {name} | {kind} |"
  if isinstance(there, str): return f"{head} does not run on the reference here: {there.replace('|', ' ')} | | | |"
  if isinstance(here, str): return f"{head} **fails**: {here.replace('|', ' ')} | | | |"
  off = difference(here["results"], there["results"])
  agrees = f"{off:.0e}" if off <= TOLERANCE else f"**{off:.0e}**"
  if not here["steps"] or not there["steps"]: return f"{head} {agrees} | | | {here['memory'] / 1024:.0f} / {there['memory'] / 1024:.0f} |"
  return f"{head} {agrees} | {there['steps'][0] / here['steps'][0]:.1f} | {later(there['steps']) / later(here['steps']):.1f} | {here['memory'] / 1024:.0f} / {there['memory'] / 1024:.0f} |"

def good(here, there): return not isinstance(here, str) and not isinstance(there, str) and difference(here["results"], there["results"]) <= TOLERANCE

def reason(name): return next((why for part, why in EXPLAINED.items() if part in name), "not explained")

def page(rows):
  both = {n: (here, there) for n, (here, there) in rows.items() if not isinstance(there, str)}
  timed = [(h, t) for h, t in both.values() if not isinstance(h, str) and h["steps"] and t["steps"]]
  mean = lambda ratio: math.exp(statistics.mean(math.log(ratio(h, t)) for h, t in timed)) if timed else float("nan")
  return "\n".join(["# The reference's programs here", "",
    "`tests/conformance/programs` runs the reference's examples, models and documents unmodified, with our Python and with the reference itself, on a CPU and from the same seed.",
    "Data sets are random images of the right shapes, weights come from the initialisers, and sizes are those that a CPU runs in seconds. Every run starts with empty caches.", "",
    f"Of {len(both)} programs that run on the reference, **{sum(good(*r) for r in both.values())}** agree: no number differs by more than {TOLERANCE} of the largest of its array.",
    f"The geometric mean of the ratios is {mean(lambda h, t: t['steps'][0] / h['steps'][0]):.1f} for the first step, compilation included, and {mean(lambda h, t: later(t['steps']) / later(h['steps'])):.1f} for a later one.",
    f"Of the processes' memory {sum(h['memory'] <= t['memory'] for h, t in timed)} of {len(timed)} need no more than the reference's. Each side is measured by itself, in turn or with what an earlier run of the same day left; ratios vary with what else the machine does.", "",
    "| program | kind | largest difference | first step, times faster | later step, times faster | peak MB, here / there |", "|---|---|---|---|---|---|",
    *(row(name, here, there) for name, (here, there) in rows.items()), "",
    "## Differences", "", *(f"- {name}: {reason(name)}" for name, r in both.items() if not good(*r)), "",
    "## Left out", "", *(f"- {name}: {why}" for name, why in LEFT_OUT.items()), ""])

def kept(name, side, build, again, measure):
  """What `measure` says, or what it said of the same case, and the same build, before."""
  path = KEPT / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.{side}.json"
  stamp = hashlib.sha256(f"{CASES[name]} {build}".encode()).hexdigest()
  old = json.loads(path.read_text()) if path.exists() else {}
  failed = isinstance(old.get("outcome"), str)
  cut = failed and old["outcome"].startswith("more than ") and old["outcome"] != too_long()
  if old.get("stamp") == stamp and not again and not cut and not (failed and NAMES) or PAGE and old: return old["outcome"]
  if PAGE: return None
  outcome = measure()
  KEPT.mkdir(parents=True, exist_ok=True)
  path.write_text(json.dumps({"stamp": stamp, "outcome": outcome}))
  return outcome

def main():
  rows = {}
  program = pathlib.Path(COMMAND[0]).stat()
  with tempfile.TemporaryDirectory() as folder:
    for name in ("test", "extra", "examples", "docs", "README.md"): os.symlink(TREE / name, pathlib.Path(folder, name))
    for name in CASES:
      if NAMES and not any(part in name for part in NAMES): continue
      there = kept(name, "there", "", False, lambda: run(["env", "DEV=CPU", sys.executable], name, [TREE, HERE], folder))
      here = kept(name, "here", f"{program.st_mtime_ns} {program.st_size}", bool(NAMES), lambda: run(COMMAND, name, [folder, HERE, *filter(None, [os.environ.get("PYTHONPATH")])], folder))
      if here is None or there is None: continue
      rows[name] = (here, there)
      print(row(name, here, there), flush=True)
  if not NAMES: (ROOT / "docs" / "guide" / "programs.md").write_text(page(rows))
  return not all(good(*r) for r in rows.values() if not isinstance(r[1], str))

if __name__ == "__main__": raise SystemExit(main())
