# Runs the parts of a campaign on workers: processes of this machine, or tasks of a Ray cluster. A part whose worker is lost runs
# again. When workers are idle, the slowest part gets a second worker, and the first result counts.
#
#   report = run(parts, Local(4), keep=store, tell=print)
#
# Invariant: a part's result is kept once. Its content does not depend on the worker, so neither does the campaign's.
import dataclasses, os, statistics, subprocess, sys, tempfile, time

RETRIES = 3            # workers that a part may lose
STRAGGLER = 3.0        # a part that takes so many times the median gets a second worker ...
SHORTEST = 2.0         # ... if it has run for so many seconds
PATIENCE = 0.05        # seconds between two looks at the workers

@dataclasses.dataclass
class Part:
  """One command. The word `{NAME}` stands for the file `inputs[NAME]`, `{out}` for the file that it writes (suffix: `ending`), or for
  nothing where its output is its text. An exit code of 0 or 1 is a result, any other code an error of the campaign."""
  name: str
  command: list
  inputs: dict = dataclasses.field(default_factory=dict)
  ending: str = ""

@dataclasses.dataclass
class Result:
  """`code` None: the worker was lost. Times in seconds."""
  code: int | None
  output: bytes
  text: str
  wall: float
  processor: float
  worker: str

@dataclasses.dataclass
class Report:
  results: dict         # by name of the part
  wall: float = 0.0
  processor: float = 0.0  # of results and, on processes of this machine, of lost and repeated work
  lost: int = 0
  repeated: int = 0
  slots: int = 1

class CampaignError(Exception):
  """A part that no worker can do; the message holds its command and the end of its output."""

def filled(part, places):
  """The command with files in their places. Only a whole word is a place: scripts may have braces in their arguments."""
  return [places.get(word[1:-1], word) if word[:1] == "{" and word[-1:] == "}" else word for word in part.command]

class Local:
  """`slots` processes of this machine, each with a process group of its own."""
  def __init__(self, slots): self.slots = slots

  def start(self, part):
    folder = tempfile.TemporaryDirectory(prefix="uopscope-part-")
    out = os.path.join(folder.name, "out" + part.ending)
    log = open(os.path.join(folder.name, "log"), "w+b")
    process = subprocess.Popen(filled(part, {**part.inputs, "out": out}), stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0)
    return dict(process=process, out=out, log=log, folder=folder, began=time.monotonic())

  def finished(self, job):
    pid, status, usage = os.wait4(job["process"].pid, os.WNOHANG)
    if pid == 0: return None
    self._end_group(job) # a killed worker leaves its children
    job["process"].returncode = code = os.waitstatus_to_exitcode(status)
    job["log"].seek(0)
    text = job["log"].read().decode(errors="replace")
    output = b""
    if os.path.exists(job["out"]):
      with open(job["out"], "rb") as f: output = f.read()
    self._close(job)
    return Result(None if code < 0 else code, output, text, time.monotonic() - job["began"], usage.ru_utime + usage.ru_stime, "here")

  def cancel(self, job):
    """Ends the worker; returns the seconds of a processor that it took."""
    self._end_group(job)
    _, status, usage = os.wait4(job["process"].pid, 0)
    job["process"].returncode = os.waitstatus_to_exitcode(status)
    self._close(job)
    return usage.ru_utime + usage.ru_stime

  def _end_group(self, job):
    try: os.killpg(job["process"].pid, 9)
    except ProcessLookupError: pass

  def _close(self, job):
    job["log"].close()
    job["folder"].cleanup()

class Ray:
  """Tasks of a Ray cluster. The files of a part travel with it; the program has to be on the workers, at its path or on PATH."""
  def __init__(self, address, slots=None):
    try: import ray
    except ImportError: raise CampaignError("the package ray is not installed here: pip install 'ray[client]', or --on local") from None
    self.ray = ray
    ray.init(address=address, log_to_driver=False, **({} if address else {"include_dashboard": False}))
    self.slots = slots or max(1, int(ray.cluster_resources().get("CPU", 1)))
    self.files = {}
    self.work = ray.remote(max_retries=0, num_cpus=1)(_remote_work())

  def start(self, part):
    for path in part.inputs.values():
      if path not in self.files:
        with open(path, "rb") as f: self.files[path] = self.ray.put(f.read())
    names = list(part.inputs)
    return dict(future=self.work.remote(part.command, part.ending, names, *(self.files[part.inputs[n]] for n in names)), began=time.monotonic())

  def finished(self, job):
    if not self.ray.wait([job["future"]], timeout=0)[0]: return None
    try: return Result(*self.ray.get(job["future"]))
    except self.ray.exceptions.RayTaskError: raise # the task itself is wrong: every worker would fail
    except self.ray.exceptions.RayError as e: return Result(None, b"", str(e), time.monotonic() - job["began"], 0.0, "lost")

  def cancel(self, job):
    self.ray.cancel(job["future"], force=True)
    return 0.0 # a cancelled task does not report its time

def _remote_work():
  # Defined inside a function, it travels to the workers by value: they need no uopscope in their Python.
  def work(command, ending, names, *contents):
    import os, resource, shutil, socket, subprocess, tempfile, time
    with tempfile.TemporaryDirectory(prefix="uopscope-part-") as folder:
      places = {"out": os.path.join(folder, "out" + ending)}
      for name, content in zip(names, contents):
        places[name] = os.path.join(folder, "in-" + name)
        with open(places[name], "wb") as f: f.write(content)
      words = [places.get(word[1:-1], word) if word[:1] == "{" and word[-1:] == "}" else word for word in command]
      if not os.path.exists(words[0]): words[0] = shutil.which(os.path.basename(words[0])) or words[0]
      began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
      done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
      after, output = resource.getrusage(resource.RUSAGE_CHILDREN), b""
      if os.path.exists(places["out"]):
        with open(places["out"], "rb") as f: output = f.read()
      spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
      code = None if done.returncode < 0 else done.returncode
      return code, output, done.stdout.decode(errors="replace"), time.monotonic() - began, spent, socket.gethostname()
  return work

class _Run:
  """The state of a campaign: parts that wait, jobs that run, and what was spent."""
  def __init__(self, parts, workers, keep, tell):
    self.workers, self.keep, self.tell = workers, keep, tell
    self.waiting, self.jobs, self.times = list(parts), [], []
    self.losses = {part.name: 0 for part in parts}
    self.report = Report({}, slots=workers.slots)

  def start(self, part): self.jobs.append((part, self.workers.start(part)))

  def straggler(self):
    """The part that has run longest, if it is far beyond the median and has one worker."""
    if self.waiting or not self.times or len(self.jobs) >= self.workers.slots: return None
    limit = max(SHORTEST, STRAGGLER * statistics.median(self.times))
    count = lambda part: sum(p is part for p, _ in self.jobs)
    late = [(job["began"], i) for i, (part, job) in enumerate(self.jobs) if time.monotonic() - job["began"] > limit and count(part) == 1]
    return self.jobs[min(late)[1]][0] if late else None

  def take(self, part, result):
    self.report.processor += result.processor
    if part.name in self.report.results: return # its second worker was faster
    if result.code is None:
      self.report.lost += 1
      self.losses[part.name] += 1
      if any(p is part for p, _ in self.jobs): return # its second worker goes on
      if self.losses[part.name] > RETRIES:
        raise CampaignError(f"{part.name}: {self.losses[part.name]} workers were lost with it: {' '.join(part.command)}\n{result.text[-2000:]}")
      self.waiting.insert(0, part)
      return
    if result.code not in (0, 1) or (part.ending and not result.output):
      raise CampaignError(f"{part.name}: exit code {result.code}: {' '.join(part.command)}\n{result.text[-2000:]}")
    self.times.append(result.wall)
    self.report.results[part.name] = result
    self.keep(part, result)
    for other in [j for j in self.jobs if j[0] is part]:
      self.jobs.remove(other)
      self.report.processor += self.workers.cancel(other[1])

  def look(self):
    """Takes the results that are there; returns whether there was one."""
    for pair in list(self.jobs):
      if pair not in self.jobs: continue # taken with its part
      result = self.workers.finished(pair[1])
      if result is None: continue
      self.jobs.remove(pair)
      self.take(pair[0], result)
      return True
    return False

  def go(self):
    began = time.monotonic()
    try:
      while self.waiting or self.jobs:
        while self.waiting and len(self.jobs) < self.workers.slots: self.start(self.waiting.pop(0))
        if (late := self.straggler()) is not None:
          self.report.repeated += 1
          self.start(late)
        self.report.wall = time.monotonic() - began
        self.tell(self.report, len(self.jobs))
        if not self.look(): time.sleep(PATIENCE)
    finally:
      for _, job in self.jobs: self.workers.cancel(job)
    self.report.wall = time.monotonic() - began
    return self.report

def run(parts, workers, keep=lambda part, result: None, tell=lambda report, running: None):
  """Runs all parts; returns a Report. `keep(part, result)` is called once a part, `tell(report, running)` often. Raises
  CampaignError where a part cannot be done; then, and on Ctrl-C, no worker is left running."""
  return _Run(parts, workers, keep, tell).go()
