# Runs the reference's test files on both engines and writes the table of passing tests: see tests/conformance/run.
#
# Each file runs in a process of its own with a time limit, in a folder that holds the tests without the reference's
# package. A test that ends the process counts as failed, and the file goes on without it. Outcomes of the reference are kept
# in the build folder by the content of the file, since they do not change: remove build/conformance to run them again.
import concurrent.futures, hashlib, json, os, pathlib, re, subprocess, sys, tempfile, time

ROOT, TREE, COMMAND, ONLY = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3].split(), sys.argv[4:]
COMMAND[0] = os.path.abspath(COMMAND[0])  # tests run in a folder of their own
LIMIT, WORKERS = int(os.environ.get("LIMIT", 900)), int(os.environ.get("WORKERS", 2))
KEPT = pathlib.Path(os.environ.get("UOPSCOPE_BUILD", ROOT / "build")) / "conformance"
PLUGIN = ROOT / "tests" / "conformance"
MODULES = [p for p in [pathlib.Path(COMMAND[0]).parents[1] / "python"] if p.is_dir()]  # for a plain python3 that a test starts
FOLDERS = ("test", "test/unit", "test/models", "test/opt")
# Counted apart: what of the reference's other tests runs on a CPU without data that is downloaded.
MORE = tuple(f"test/external/external_{name}.py" for name in ("test_onnx_backend", "test_onnx_ops", "test_onnx_runner", "test_example", "test_losses", "test_metrics", "uop_gc")) + \
       tuple(f"test/testextra/test_{name}.py" for name in ("bench_log", "export_model", "f16_decompress", "fp8_linear")) + \
       tuple(f"extra/torch_backend/{name}.py" for name in ("test", "test_inplace", "test_kernel_fusion"))

def files():
  if ONLY: return ONLY
  found = [f"{folder}/{f.name}" for folder in FOLDERS for f in sorted((TREE / folder).glob("test_*.py"))] + [f for f in MORE if (TREE / f).exists()]
  return sorted(found, key=lambda f: (TREE / f).stat().st_size)  # small files first, so that results appear soon

def run_file(command, file, paths, folder, tests=(), settings={}):
  """{test: (outcome, why)} of a file, or of these tests of it."""
  outcomes, left_out = {}, []
  end = time.monotonic() + LIMIT
  with tempfile.TemporaryDirectory() as scratch:
    out, skip = pathlib.Path(scratch, "out"), pathlib.Path(scratch, "skip")
    while True:
      out.write_text("")
      skip.write_text("\n".join(left_out))
      env = os.environ | {"CONFORMANCE_OUT": str(out), "CONFORMANCE_SKIP": str(skip), "PYTHONPATH": ":".join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1", "CI": os.environ.get("CI", ""), "RUN_SLOW": "1"} | settings
      limited = False
      try: code = subprocess.run([*command, "-m", "pytest", "-q", "-p", "outcomes", "-p", "no:cacheprovider", *(tests or [file])], cwd=folder, env=env, timeout=max(1, end - time.monotonic()), stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode
      except subprocess.TimeoutExpired: limited, code = True, -1
      running = None
      for line in out.read_text().splitlines():
        kind, test, *why = json.loads(line)
        if kind == "start": running = test
        else:
          running = None if running == test else running
          if outcomes.get(test, ("",))[0] != "failed": outcomes[test] = (kind, why[0])
      if limited:
        if running: outcomes[running] = ("failed", f"the file ran into its limit of {LIMIT} s here")
        return outcomes
      if code in (0, 1, 2, 5) or running is None: return outcomes
      outcomes[running] = ("failed", f"the process ended with {code}")
      left_out += [running]
      left_out += [test for test in outcomes if test not in left_out]

def reference(file, folder):
  """Outcomes of a file on the reference itself; they are kept."""
  text = (TREE / file).read_bytes()
  key = hashlib.sha256(text + b"slow" * (b"@slow" in text)).hexdigest()[:24]  # those that it marks as slow run, too
  kept = KEPT / f"{key}.json"
  if not kept.exists():
    KEPT.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(run_file(["env", "DEV=CPU", sys.executable], file, [TREE, PLUGIN], folder)))
  return json.loads(kept.read_text())

def brief(why):
  line = next((l for l in why.splitlines() if l.strip()), "")
  line = re.sub(r" \(at [^)]*\)|0x[0-9a-f]+|; called with .*|/tmp/", "", line)
  return line.replace("|", "\\|")[:160]

def known_reasons():
  """Sentences about intended differences: `test<TAB>sentence`, a test by any part of its name."""
  path = PLUGIN / "reasons.txt"
  lines = path.read_text().splitlines() if path.exists() else []
  return [line.split("\t", 1) for line in lines if line and not line.startswith("#")]

def fails(here, passed): return [t for t in passed if here.get(t, ("",))[0] != "passed"]

def passing(there): return [t for t, (kind, _) in there.items() if kind == "passed"]

def last():
  """The results of the last whole run."""
  return {file: tuple(row) if len(row) == 3 else (*row, []) for file, row in json.loads((KEPT / "last.json").read_text()).items()}

def run_all():
  """{file: (outcomes of its tests here, tests that pass there, tests that pass here with PLAIN=1 alone)}, kept for `--page`: single files are merged into the last run's."""
  rows, kept = {}, last() if ONLY and (KEPT / "last.json").exists() else {}
  with tempfile.TemporaryDirectory() as folder:
    for name in ("test", "extra", "examples", "docs"): os.symlink(TREE / name, pathlib.Path(folder, name))
    def both(file):
      there = reference(file, folder)
      paths = [PLUGIN, *MODULES, *filter(None, [os.environ.get("PYTHONPATH")])]
      here = run_file(COMMAND, file, paths, folder)
      differ = fails(here, passing(there))
      plain = run_file(COMMAND, file, paths, folder, differ, {"PLAIN": "1"}) if differ else {}
      return file, here, there, [t for t in differ if plain.get(t, ("",))[0] == "passed"]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
      for file, here, there, plain in pool.map(both, files()):
        passed = passing(there)
        rows[file] = (here, passed, plain)
        good = len(passed) - len(fails(here, passed))
        print(f"{file:50s} {good:5d} {f'+ {len(plain)}' if plain else '':5s} of {len(passed)}", flush=True)
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / "last.json").write_text(json.dumps(kept | rows))
  return rows

def main():
  rows, reasons = last() if ONLY == ["--page"] else run_all(), known_reasons()
  order = {folder: i for i, folder in enumerate(FOLDERS)}
  rows = dict(sorted(rows.items(), key=lambda row: (order.get(os.path.dirname(row[0]), 0), row[0])))
  def counted(more):
    """How many tests pass here, how many more with PLAIN=1, and how many there."""
    chosen = [row for file, row in rows.items() if (file in MORE) == more]
    return [sum(column) for column in zip(*((len(passed) - len(fails(here, passed)), len(plain), len(passed)) for here, passed, plain in chosen), (0, 0, 0))]
  (good, plain, total), (more_good, _, more) = counted(False), counted(True)
  print(f"{good} of {total}, {good + plain} with PLAIN=1, and {more_good} of {more} further ones")
  text = ["# The reference's tests here", "",
          f"`tests/conformance/run` runs the reference's test files of {', '.join(FOLDERS)} unmodified, with our Python and with the reference itself, on a CPU.",
          f"Of {total} tests that pass there, **{good}** pass here, and {plain} more with `PLAIN=1`, which cuts kernels as the reference does ([schedule](../design/schedule.md#plain)): **{good + plain}, {100 * (good + plain) / max(1, total):.1f} %**. "
          f"Of {more} further ones, of test/external, test/testextra and extra/torch_backend, that run on a CPU without data that is downloaded, **{more_good}** do. "
          "Every difference is listed with its reason below the table.", "",
          "| file | passed here | more with PLAIN=1 | passed there |", "|---|---|---|---|"]
  text += [f"| {file} | {len(passed) - len(fails(here, passed))} | {len(plain) or ''} | {len(passed)} |" for file, (here, passed, plain) in rows.items() if passed]
  text += ["", "## Differences", ""]
  for file, row in rows.items(): text += differences(file, *row, reasons)
  if ONLY in ([], ["--page"]): (ROOT / "docs" / "guide" / "conformance.md").write_text("\n".join(text))
  else: print("\n".join(text[text.index("## Differences"):]))
  return good + plain < 0.98 * total

def differences(file, here, passed, plain, reasons):
  """The lines of a file's differences: those that PLAIN=1 leaves, and then the others."""
  uncollected = next((why for kind, why in here.values() if kind == "uncollected"), None)
  groups = {}
  for t in fails(here, passed):
    kind, why = here.get(t, ("", uncollected or "the file ran into its limit before this test"))
    named = next((sentence for part, sentence in reasons if part in t), None)
    groups.setdefault((t in plain, named or (brief(why) if kind != "skipped" else "skipped here")), []).append(t.split("::")[-1])
  if not groups: return []
  lines = [f"- {', '.join(tests[:6])}{f' and {len(tests) - 6} more' if len(tests) > 6 else ''}{' (not with PLAIN=1)' if is_plain else ''}: {why}"
           for (is_plain, why), tests in sorted(groups.items(), key=lambda g: (g[0][0], -len(g[1])))]
  return [f"### {file}", "", *lines, ""]

if __name__ == "__main__": raise SystemExit(main())
