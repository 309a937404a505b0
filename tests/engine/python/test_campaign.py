# Campaigns on workers of this machine: results in any order, lost workers, stragglers, errors, folders that go on.
#   uopscope run tests/engine/python/test_campaign.py
import os, subprocess, tempfile, time, unittest
from uopscope.campaign_workers import CampaignError, Local, Part, run
from uopscope import campaign

def shell(name, script, ending=".bin", **inputs):
  return Part(name, ["sh", "-c", script, "part", "{out}", *("{" + n + "}" for n in inputs)], inputs, ending)

class TestWorkers(unittest.TestCase):
  def setUp(self):
    self.folder = tempfile.TemporaryDirectory()
    self.addCleanup(self.folder.cleanup)

  def path(self, name): return os.path.join(self.folder.name, name)

  def test_results_do_not_depend_on_the_number_of_workers(self):
    parts = [shell(f"p{i}", f"printf {i * i} > $1; printf said") for i in range(7)]
    for slots in (1, 3, 20):
      report = run(parts, Local(slots))
      self.assertEqual({n: r.output for n, r in report.results.items()}, {f"p{i}": str(i * i).encode() for i in range(7)})
      self.assertEqual({r.text for r in report.results.values()}, {"said"})
      self.assertEqual((report.lost, report.repeated), (0, 0))
      self.assertGreater(report.processor, 0)

  def test_braces_in_arguments_stay(self):
    report = run([Part("p", ["sh", "-c", "printf '%s' \"$2\" > $1", "part", "{out}", '{"a": {}}'], {}, ".txt")], Local(1))
    self.assertEqual(report.results["p"].output, b'{"a": {}}')

  def test_a_lost_worker_is_replaced(self):
    mark = self.path("killed-once")
    report = run([shell("a", f"if [ ! -e {mark} ]; then touch {mark}; kill -9 $$; fi; printf fine > $1"), shell("b", "printf b > $1")], Local(2))
    self.assertEqual(report.results["a"].output, b"fine")
    self.assertEqual(report.lost, 1)

  def test_a_part_that_loses_every_worker_is_an_error(self):
    with self.assertRaisesRegex(CampaignError, "4 workers were lost"): run([shell("a", "kill -9 $$")], Local(1))

  def test_an_error_ends_the_campaign_and_its_workers(self):
    pid = self.path("pid")
    with self.assertRaisesRegex(CampaignError, "(?s)exit code 2.*no such thing"):
      run([shell("a", f"echo $$ > {pid}; sleep 100"), shell("b", f"while [ ! -s {pid} ]; do sleep 0.01; done; echo no such thing; exit 2")], Local(2))
    with open(pid) as f: self.assertRaises(ProcessLookupError, os.kill, int(f.read()), 0)

  def test_a_missing_result_is_an_error(self):
    with self.assertRaisesRegex(CampaignError, "exit code 0"): run([shell("a", "true")], Local(1))

  def test_a_straggler_gets_a_second_worker(self):
    mark = self.path("slow-once")
    slow = f"if [ ! -e {mark} ]; then touch {mark}; sleep 60; fi; printf done > $1"
    began = time.monotonic()
    report = run([shell("slow", slow)] + [shell(f"p{i}", "printf x > $1") for i in range(3)], Local(2))
    self.assertEqual(report.results["slow"].output, b"done")
    self.assertEqual((report.repeated, report.lost), (1, 0))
    self.assertLess(time.monotonic() - began, 40)

class TestCommand(unittest.TestCase):
  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.out = os.path.join(folder.name, "out")
    self.script = os.path.join(folder.name, "fuzz.py")
    self.program = os.path.join(folder.name, "program") # stands for uopscope: `program run SCRIPT --seed S --count C`
    with open(self.program, "w") as f: f.write("#!/bin/sh\nshift\nexec python3 \"$@\"\n")
    os.chmod(self.program, 0o755)

  def fuzz(self, body, *more):
    with open(self.script, "w") as f:
      f.write("import argparse, sys\np = argparse.ArgumentParser(); p.add_argument('--seed', type=int); p.add_argument('--count', type=int)\no = p.parse_args()\n" + body)
    return campaign.main(["fuzz", self.script, "-o", self.out, "--program", self.program, "-q", "--on", "local:2", *more])

  def texts(self):
    folder = os.path.join(self.out, "parts")
    out = {}
    for name in os.listdir(folder):
      if name.endswith(".txt"):
        with open(os.path.join(folder, name)) as f: out[name] = f.read()
    return out

  def test_seeds_are_shared_out_once(self):
    self.assertEqual(self.fuzz("print(*range(o.seed, o.seed + o.count))", "--seed", "10", "--count", "11", "--parts", "4"), 0)
    self.assertEqual(sorted(int(n) for t in self.texts().values() for n in t.split()), list(range(10, 21)))

  def test_a_found_failure_is_told(self):
    self.assertEqual(self.fuzz("sys.exit(o.seed <= 3 < o.seed + o.count)", "--count", "8", "--parts", "4"), 1)

  def test_a_stopped_campaign_goes_on(self):
    count = os.path.join(os.path.dirname(self.out), "runs")
    body = f"open({count!r}, 'a').write('x')\nprint(o.seed)"
    self.assertEqual(self.fuzz(body, "--parts", "3"), 0)
    part = sorted(n for n in os.listdir(os.path.join(self.out, "parts")) if n.endswith(".json"))[1]
    os.remove(os.path.join(self.out, "parts", part))
    self.assertEqual(self.fuzz(body, "--parts", "3"), 0)
    with open(count) as f: self.assertEqual(len(f.read()), 4)

  def test_a_search_is_cut_by_kernel_and_joined(self):
    calls = os.path.join(os.path.dirname(self.out), "calls")
    with open(self.program, "w") as f: # notes its arguments, and writes the file after -o
      f.write(f'#!/bin/sh\necho "$@" >> {calls}\nlast=""\nfor word; do [ "$last" = -o ] && echo found > "$word"; last=$word; done\nexit 0\n')
    corpus = os.path.join(os.path.dirname(self.out), "model.uopcorpus")
    with open(corpus, "w") as f: f.write("kernels")
    self.assertEqual(campaign.main(["search", corpus, "-o", self.out, "--program", self.program, "-q", "--parts", "3", "--on", "local:2", "--", "--beam", "4"]), 0)
    with open(calls) as f: lines = f.read().splitlines()
    runs = [line for line in lines if line.startswith("search run")]
    self.assertEqual(sorted(line.split("--part ")[1][:3] for line in runs), ["1/3", "2/3", "3/3"])
    self.assertTrue(all("--beam 4" in line for line in runs))
    self.assertIn("part-1.uopsearch", lines[-2])
    self.assertTrue(lines[-2].startswith("search merge") and lines[-1].startswith("search show"))

  def test_the_folder_of_another_campaign_is_refused(self):
    self.fuzz("print(1)", "--parts", "2")
    with self.assertRaisesRegex(CampaignError, "different campaign"): self.fuzz("print(1)", "--parts", "3")

  def test_files_for_clusters_run_the_same_parts(self):
    self.fuzz("print(o.seed)", "--parts", "3")
    direct = self.texts()
    for name in direct: os.remove(os.path.join(self.out, "parts", name))
    for kind in ("slurm", "github"): self.fuzz("print(o.seed)", "--parts", "3", "--write", kind)
    with open(os.path.join(self.out, "parts.sh")) as f: lines = f.read().splitlines()
    for line in reversed(lines): subprocess.run(["sh", "-c", line], check=True)
    self.assertEqual(self.texts(), direct)
    with open(os.path.join(self.out, "campaign.sbatch")) as f: self.assertIn("--array=1-3", f.read())
    with open(os.path.join(self.out, "campaign.yml")) as f: self.assertIn("[1, 2, 3]", f.read())

if __name__ == "__main__": unittest.main()
