# uopscope campaign: work that outgrows a machine, cut into parts that any worker can do. Results equal those of one run.
#
#   uopscope campaign replay kernels.uopcorpus --commits v1 v2 --parts 8 -o out
#   uopscope campaign bench samples/matmul.py --parts 4 -o out -- --set NOOPT=0,1 --repeat 20
#   uopscope campaign search model.uopcorpus --parts 8 -o out -- --beam 2
#   uopscope campaign fuzz tests/fuzz/assignment.py --count 100000 --parts 50 -o out --on ray://head:10001
#
# The folder of -o holds a file per finished part, so a campaign that was stopped goes on where it was.
import argparse, dataclasses, hashlib, json, os, shlex, shutil, subprocess, sys, time
from uopscope.campaign_workers import CampaignError, Local, Part, Ray, filled, run

@dataclasses.dataclass
class Plan:
  """`joins`: commands that make one result of the parts, run here and in order. `results`: the files that they write."""
  parts: list
  joins: list
  results: list = dataclasses.field(default_factory=list)

def digits(n, of): return f"{n:0{len(str(of))}d}"

# --- kinds of campaigns ---

def replay_plan(o):
  plan = Plan([], [])
  for commit in o.commits or [""]:
    name = commit.replace("/", "_") or "replayed"
    extra = ["--commit", commit, "--repository", os.path.abspath(o.repository)] if commit else []
    mine = []
    for i in range(1, o.parts + 1):
      part = Part(f"{name}-{digits(i, o.parts)}", [o.program, "replay", "run", "{corpus}", "-q", "-j", "1", "-o", "{out}", "--part", f"{i}/{o.parts}", *extra, *o.rest],
                  {"corpus": os.path.abspath(o.corpus)}, ".uopcorpus")
      mine.append(part)
    whole = os.path.join(o.output, name + ".uopcorpus")
    plan.parts += mine
    plan.joins.append([o.program, "replay", "merge", os.path.abspath(o.corpus), *(file_of(o, p) for p in mine), "-o", whole])
    plan.results.append(whole)
  for a, b in zip(plan.results, plan.results[1:]):
    report = f"{a.removesuffix('.uopcorpus')}-to-{os.path.basename(b).removesuffix('.uopcorpus')}.md"
    plan.joins.append([o.program, "replay", "diff", a, b, "-o", report])
    plan.results.append(report)
  return plan

def bench_plan(o):
  parts = [Part(f"part-{digits(i, o.parts)}", [o.program, "bench", "run", os.path.abspath(o.script), "-q", *o.rest, "--part", f"{i}/{o.parts}", "-o", "{out}"], {}, ".uopbench")
           for i in range(1, o.parts + 1)]
  whole = os.path.join(o.output, "whole.uopbench")
  return Plan(parts, [[o.program, "bench", "merge", *(file_of(o, p) for p in parts), "-o", whole, "--overwrite"], [o.program, "bench", "show", whole]], [whole])

def search_plan(o):
  """A kernel is searched in one part, so the times that are compared are those of one machine."""
  parts = [Part(f"part-{digits(i, o.parts)}", [o.program, "search", "run", "{corpus}", "-q", *o.rest, "--part", f"{i}/{o.parts}", "-o", "{out}"],
                {"corpus": os.path.abspath(o.corpus)}, ".uopsearch") for i in range(1, o.parts + 1)]
  whole = os.path.join(o.output, "whole.uopsearch")
  return Plan(parts, [[o.program, "search", "merge", *(file_of(o, p) for p in parts), "-o", whole], [o.program, "search", "show", whole]], [whole])

def fuzz_plan(o):
  """Part i has the seeds from `seed + first` on; a script with --seed S --count N tries N programs that depend on S and their number."""
  each, more = divmod(o.count, o.parts)
  parts, first = [], 0
  for i in range(o.parts):
    count = each + (i < more)
    if count: parts.append(Part(f"seed-{o.seed + first}", [o.program, "run", os.path.abspath(o.script), "--seed", str(o.seed + first), "--count", str(count), *o.rest]))
    first += count
  return Plan(parts, [])

# --- results on disk ---

def file_of(o, part): return os.path.join(o.output, "parts", part.name + (part.ending or ".txt"))

def keep_in(o):
  def keep(part, result):
    path = file_of(o, part)
    with open(path + ".tmp", "wb") as f: f.write(result.output if part.ending else result.text.encode())
    os.replace(path + ".tmp", path)
    note = {"code": result.code, "wall_s": round(result.wall, 3), "processor_s": round(result.processor, 3), "worker": result.worker}
    with open(path + ".json", "w") as f: json.dump(note, f)
  return keep

def note_of(o, part):
  """What is noted of a finished part; None if it is not finished."""
  try:
    with open(file_of(o, part) + ".json") as f: note = json.load(f)
    return note if os.path.exists(file_of(o, part)) else None
  except (OSError, ValueError): return None

def digest(plan):
  """Names the plan by its commands and the content of its inputs."""
  h = hashlib.sha256()
  for part in plan.parts:
    h.update(json.dumps([part.name, part.command]).encode())
  for path in sorted({path for part in plan.parts for path in part.inputs.values()}):
    with open(path, "rb") as f: h.update(f.read())
  return h.hexdigest()

def claim_folder(o, plan):
  """Makes the folder this plan's. A folder of a different plan is refused."""
  os.makedirs(os.path.join(o.output, "parts"), exist_ok=True)
  path, mine = os.path.join(o.output, "plan"), digest(plan)
  if os.path.exists(path):
    with open(path) as f:
      if f.read().strip() != mine:
        raise CampaignError(f"{o.output}: holds the parts of a different campaign (other inputs, program or number of parts); name another folder with -o")
  else:
    with open(path, "w") as f: f.write(mine + "\n")

# --- files for clusters ---

def shell_line(o, part):
  """The part as a command of a shell that writes the part's file."""
  line = shlex.join(filled(part, {**part.inputs, "out": file_of(o, part)}))
  return line if part.ending else f"{line} > {shlex.quote(file_of(o, part))} 2>&1"

def write_files(o, plan):
  """Writes parts.sh (a command a line), join.sh, and an array job of Slurm or a workflow of GitHub that runs them."""
  def write(name, text):
    path = os.path.join(o.output, name)
    with open(path, "w") as f: f.write(text)
    os.chmod(path, 0o755)
    print(path)
  n = len(plan.parts)
  write("parts.sh", "".join(shell_line(o, part) + "\n" for part in plan.parts))
  write("join.sh", "#!/usr/bin/env bash\nset -euo pipefail\n" + "".join(shlex.join(join) + "\n" for join in plan.joins))
  here = os.path.abspath(o.output)
  if o.write == "slurm":
    write("campaign.sbatch", f"""#!/usr/bin/env bash
# sbatch campaign.sbatch; when all parts are done: ./join.sh. The folder has to be on a disk that all nodes share.
#SBATCH --job-name=uopscope --array=1-{n} --cpus-per-task=1 --output={here}/parts/%a.log
eval "$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {shlex.quote(here)}/parts.sh)"
""")
  else:
    write("campaign.yml", f"""# .github/workflows/campaign.yml: a job for each part, then one that joins them. `uopscope` has to be on PATH.
on: workflow_dispatch
jobs:
  part:
    runs-on: ubuntu-latest
    strategy: {{ fail-fast: false, matrix: {{ part: {list(range(1, n + 1))} }} }}
    steps:
      - uses: actions/checkout@v4
      - run: mkdir -p {shlex.quote(os.path.join(o.output, 'parts'))} && eval "$(sed -n "${{{{ matrix.part }}}}p" {shlex.quote(os.path.join(o.output, 'parts.sh'))})"
      - uses: actions/upload-artifact@v4
        with: {{ name: "part-${{{{ matrix.part }}}}", path: {os.path.join(o.output, 'parts')} }}
  join:
    needs: part
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/download-artifact@v4
        with: {{ path: {os.path.join(o.output, 'parts')}, merge-multiple: true }}
      - run: {os.path.join(o.output, 'join.sh')}
""")

# --- the command ---

def workers_of(text):
  kind, _, rest = text.partition(":")
  if kind == "local" and (not rest or rest.isdigit()): return Local(int(rest) if rest else os.cpu_count())
  if text == "ray": return Ray(None)
  if kind == "ray": return Ray("auto" if rest == "auto" else text)
  raise CampaignError(f"--on {text}: give local, local:N, ray (a cluster of this machine), ray:auto, or ray://HOST:PORT")

def teller(o, total, kept):
  last = [0.0]
  def tell(report, running):
    now = time.monotonic()
    terminal = sys.stderr.isatty()
    if o.quiet or now - last[0] < (0.2 if terminal else 10): return
    last[0] = now
    done = kept + len(report.results)
    text = f"{done} of {total} parts, {running} running, {report.lost} lost, {report.repeated} repeated, {report.wall:.0f} s"
    if report.results and running: text += f", about {report.wall / len(report.results) * (total - done):.0f} s left"
    print(("\r\x1b[K" if terminal else "") + text, end="" if terminal else "\n", file=sys.stderr, flush=True)
  return tell

def summary(o, plan, report, kept):
  notes = {part.name: note_of(o, part) for part in plan.parts}
  failed = [part for part in plan.parts if notes[part.name]["code"] == 1]
  busy = report.processor / (report.wall * report.slots) if report.wall else 0.0
  out = {"parts": len(plan.parts), "kept": kept, "failed": [p.name for p in failed], "lost": report.lost, "repeated": report.repeated,
         "wall_s": round(report.wall, 3), "processor_s": round(report.processor, 3), "workers": report.slots, "busy": round(busy, 3), "results": plan.results}
  if o.price: out["cost"] = round(o.price * report.slots * report.wall / 3600, 4)
  return out, failed

def parse(arguments):
  parser = argparse.ArgumentParser(prog="uopscope campaign", description="Work that outgrows one machine, in parts that any worker can do.",
                                   epilog="Exit codes: 0 fine, 1 a part found a failure, 2 wrong usage or input, 130 interrupted.")
  kinds = parser.add_subparsers(dest="kind", required=True)
  def kind(name, text):
    k = kinds.add_parser(name, help=text, description=text)
    k.add_argument("-o", "--output", required=True, help="folder of the parts and the results; a campaign that was stopped goes on there")
    k.add_argument("--parts", type=int, default=8, help="number of parts (8)")
    k.add_argument("--on", default="local", help="local, local:N, ray, ray:auto or ray://HOST:PORT (default: local, a worker a core)")
    k.add_argument("--program", default=os.environ.get("UOPSCOPE_PROGRAM") or shutil.which("uopscope") or "uopscope", help="the uopscope of the workers")
    k.add_argument("--write", choices=("slurm", "github"), help="write files for such a cluster instead of running")
    k.add_argument("--price", type=float, default=0.0, help="of a worker's hour, for the summary")
    k.add_argument("--json", action="store_true", help="summary as JSON")
    k.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")
    return k
  replay = kind("replay", "every kernel of a corpus by this build, or by the builds of commits; neighbours are compared")
  replay.add_argument("corpus", help="a .uopcorpus file")
  replay.add_argument("--commits", nargs="+", default=[], help="commits to build and replay with, oldest first")
  replay.add_argument("--repository", default=".", help="of the compiler (default: here)")
  bench = kind("bench", "the matrix of an experiment; arguments of `bench run` follow --")
  bench.add_argument("script", help="a Python script")
  search = kind("search", "BEAM over the kernels of a corpus; arguments of `search run`, such as --beam 4, follow --")
  search.add_argument("corpus", help="a .uopcorpus or .uoptrace file")
  fuzz = kind("fuzz", "a script that takes --seed and --count and ends with 1 where it finds a failure; its arguments follow --")
  fuzz.add_argument("script", help="a Python script")
  fuzz.add_argument("--seed", type=int, default=0, help="the first seed (0)")
  fuzz.add_argument("--count", type=int, default=1000, help="number of programs in all (1000)")
  at = arguments.index("--") if "--" in arguments else len(arguments)
  o = parser.parse_args(arguments[:at])
  o.rest = arguments[at + 1:]
  if o.parts < 1: parser.error(f"--parts {o.parts}: give 1 or more")
  for name in ("corpus", "script"):
    if (path := getattr(o, name, None)) and not os.path.exists(path): parser.error(f"{path}: no such file")
  return o

def main(arguments):
  o = parse(arguments)
  plan = {"replay": replay_plan, "bench": bench_plan, "search": search_plan, "fuzz": fuzz_plan}[o.kind](o)
  claim_folder(o, plan)
  if o.write:
    write_files(o, plan)
    return 0
  todo = [part for part in plan.parts if note_of(o, part) is None]
  kept = len(plan.parts) - len(todo)
  report = run(todo, workers_of(o.on), keep_in(o), teller(o, len(plan.parts), kept))
  if not o.quiet and sys.stderr.isatty(): print("\r\x1b[K", end="", file=sys.stderr)
  for join in plan.joins:
    done = subprocess.run(join, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 1): raise CampaignError(f"{shlex.join(join)}: exit code {done.returncode}\n{done.stdout[-2000:]}")
    if not o.quiet and not o.json: print(done.stdout, end="")
  out, failed = summary(o, plan, report, kept)
  if o.json: print(json.dumps(out, indent=1))
  elif not o.quiet:
    print(f"{out['parts']} parts ({kept} from before), {out['lost']} lost workers, {out['repeated']} parts repeated; {out['wall_s']:.1f} s on {out['workers']} workers, "
          f"{out['processor_s']:.1f} s of processors, busy {100 * out['busy']:.0f} %" + (f", cost {out['cost']}" if o.price else ""))
    for part in failed: print(f"{part.name} found a failure: {file_of(o, part)}\n  again: {shell_line(o, part)}")
  return 1 if failed else 0

if __name__ == "__main__":
  try: sys.exit(main(sys.argv[1:]))
  except CampaignError as e:
    print(f"uopscope campaign: {e}", file=sys.stderr)
    sys.exit(2)
  except OSError as e:
    print(f"uopscope campaign: {e.filename or 'a file'}: {e.strerror or e}", file=sys.stderr)
    sys.exit(2)
  except KeyboardInterrupt:
    print("uopscope campaign: stopped; finished parts are kept, the same command goes on", file=sys.stderr)
    sys.exit(130)
