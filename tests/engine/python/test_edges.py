# The table of edge values (edge_cases.py) on this engine: NaN, infinities, zeros, denormals, the largest numbers and the ends of integers in
# every function, every type, value and gradient, against tests/golden/edge_values.txt (recorded by record_edges.py). Intended
# differences are in edge_differences.txt with their reasons; a line of it that explains no difference fails too.
#
#   test_edges.py                                   the table, under the settings below
#   EDGES=float16:relu EDGE_SETTINGS=NOOPT=1 test_edges.py   part of it, each difference printed
import fnmatch, math, os
import numpy as np
from tinygrad import Tensor, Device, dtypes
from tinygrad.helpers import Context
import edge_cases as table
from check import run
here = os.path.dirname(os.path.abspath(__file__))
inf, nan = math.inf, math.nan
# relative and absolute error: float functions are exact to some places, compositions near zero in absolute
# terms
TOLERANCE = {"float64": (1e-12, 1e-14), "float32": (1e-5, 5e-7), "float16": (4e-3, 3e-3), "bfloat16": (3e-2, 2e-2)}

def golden():
  out = {}
  for line in open(os.path.join(here, "..", "..", "golden", "edge_values.txt")):
    dtype, case, what, values = line.rstrip("\n").split("\t")
    out[dtype, case, what] = [int(v) if dtype not in table.FLOATS and v.lstrip("-").isdigit() and v != "-0" else float(v) for v in values.split()]
  return out
GOLDEN = golden()

class Difference:
  """A line `types | case | what | at | ours | reason`: patterns of our differences (several of `at` with ;), our value there, and the reason."""
  def __init__(self, line):
    self.line, self.used = line, False
    self.types, self.case, self.what, self.at, self.ours, self.reason = [p.strip() for p in line.split(" :: ")]
  def explains(self, dtype, case, what, at, ours):
    ok = any(fnmatch.fnmatchcase(dtype, t) for t in self.types.split()) and self.case in (case, "*") and any(fnmatch.fnmatchcase(what, w.strip()) for w in self.what.split(";"))
    ok = ok and any(fnmatch.fnmatchcase(at, a.strip()) for a in self.at.split(";")) and any(fnmatch.fnmatchcase(ours, o.strip()) for o in self.ours.split(";"))
    self.used = self.used or ok
    return ok
DIFFERENCES = [Difference(l.rstrip("\n")) for l in open(os.path.join(here, "edge_differences.txt")) if l.strip() and not l.startswith("#")]

def text(v, dtype):
  """A value in the form of the list of differences: the ends of a type by name, so that a line can apply to all types."""
  if v != v: return "nan"
  if dtype in table.FLOATS and not isinstance(v, (bool, int)):
    normal, denormal, largest = table.FLOATS[dtype]
    named = {normal: "tiny", denormal: "denormal", largest: "max", largest / 2: "max/2", table.root(dtype): "root"}
    for w, name in named.items():
      if abs(v) == w: return "-" * (v < 0) + name
  if dtype in table.INTS and isinstance(v, int):
    low, high = table.INTS[dtype]
    for w, name in ((low, "min"), (low + 1, "min+1"), (high, "max"), (high - 1, "max-1"), (high // 2, "half"), (high // 2 + 1, "half+1")):
      if v == w and v > 1 or v == w and low < 0 and v < 0: return name
  return f"{v:.4g}" if isinstance(v, float) else str(v)
def places(x): return x.flatten().tolist() if x.dtype != dtypes.bfloat16 else x.cast(dtypes.float32).flatten().tolist()

def tensors(dtype, values, shape, **kw):
  d = getattr(dtypes, dtype)
  def one(v):
    if dtype == "bfloat16": return Tensor(np.array(v, np.float32).reshape(shape), **kw).cast(d).realize().detach()
    return Tensor(np.array(v, dtype=dtype).reshape(shape), dtype=d, **kw)
  return [one(v) for v in values]

def results(case, dtype, values, shape, gradients):
  xs = tensors(dtype, values, shape)
  for x in xs: x.requires_grad = gradients
  r = eval(case, {"Tensor": Tensor, "dtypes": dtypes}, dict(zip("xyz", xs)))
  rs = r if isinstance(r, tuple) else (r,)
  out = {f"value{i}" if i else "value": t for i, t in enumerate(rs)}
  if gradients and dtypes.is_float(rs[0].dtype):
    rs[0].sum().backward()
    out.update({"gradient " + n: x.grad if x.grad is not None else x.zeros_like() for n, x in zip("xyz", xs)})
  return out

def alike(got, want, dtype, exact, error=0):
  if got != got or want != want: return got != got and want != want
  if got == want: return not exact or got != 0 or math.copysign(1, got) == math.copysign(1, want)
  if dtype not in TOLERANCE and not (isinstance(got, float) or isinstance(want, float)): return False
  relative, absolute = TOLERANCE.get(dtype, TOLERANCE["float32"])
  largest = table.FLOATS[dtype][2] if dtype in table.FLOATS else inf
  if math.isinf(got) or math.isinf(want): return min(abs(got), abs(want)) >= largest * (1 - relative) and (got > 0) == (want > 0)
  return abs(got - want) <= relative * abs(want) + (table.FLOATS[dtype][0] * 2 ** -10 if exact and dtype in table.FLOATS else max(absolute, error))

def beside(section, values, i, count):
  """The arguments that element `i` of `count` results depends on: one of each, its row, or its image."""
  size = {"axis": 4, "image": 16}.get(section, 1)
  if size == 1 and count == len(values[0]): return [v[i] for v in values]
  at = i * len(values[0]) // count // size * size if count else 0
  return [e for v in values for e in v[at:at+size]]

def wrong(case, dtype, section, values, shape, exact, error=0, name=None):
  """Each place where this engine differs from the expected values and no line explains it."""
  expected = {what: v for (d, c, what), v in GOLDEN.items() if (d, c) == (dtype, name or case)}
  if not expected: return
  try: got = {what: places(t) for what, t in results(case, dtype, values, shape, dtype in table.FLOATS).items()}
  except Exception as e:
    if not any([d.explains(dtype, name or case, "raises", "", type(e).__name__) for d in DIFFERENCES]): yield f"{dtype} {case}: raises {type(e).__name__}: {str(e)[:150]}"
    return
  for what, want in expected.items():
    if what.endswith(" or") or what not in got: continue
    also = expected.get(what + " or", want)
    if len(got[what]) != len(want): yield f"{dtype} {case}: {len(got[what])} values, expected {len(want)}"; continue
    for i, (g, w, o) in enumerate(zip(got[what], want, also)):
      strict = exact and what == "value"
      if what.startswith("gradient") and any(v != v for v in beside(section, values, i, len(want))): continue  # a NaN has no slope
      if alike(g, w, dtype, strict, error) or alike(g, o, dtype, strict, error): continue
      at = " ".join(text(v, dtype) for v in beside(section, values, i, len(want)))
      if not any([d.explains(dtype, name or case, what, at, text(g, dtype)) for d in DIFFERENCES]): yield f"{dtype} :: {name or case} :: {what} :: {at} :: {text(g, dtype)} :: expected {text(w, dtype)}"

def table_lines(only=""):
  only = os.environ.get("EDGES", only)
  def wanted(dtype, case): return only in f"{dtype}:{case}"
  for source, exact in ((table.EXACT, True), (table.COMPOSED, False), (table.INTEGERS, True)):
    for section, case, _, note in table.cases(source):
      for dtype in (table.INTS if source is table.INTEGERS else [*table.FLOATS, "bool", *table.INTS]):
        if table.applies(note, dtype) and wanted(dtype, case): yield (case, dtype, section, *table.arguments(section, dtype), exact, float(note) if note[:1].isdigit() else 0)
  for _, case, _, _ in table.cases(table.EMPTY):
    for shape in ((0, 3), (3, 0)):
      if wanted("float32", case): yield case, "float32", "one", [[]], shape, True, 0, f"{case} of {shape}"

def settings():
  """The settings of the suite: everything by default and in the interpreter, float32 under settings that change the computation of kernels."""
  if "EDGE_SETTINGS" in os.environ: return [(dict(kv.split("=") for kv in os.environ["EDGE_SETTINGS"].split(",") if kv), "")]
  out = [({}, ""), (dict(STRICT_FLOAT=1), "float32"), (dict(NOOPT=1), "float32")]
  for level in (2, 3, 4):
    with Context(CPU_TARGET=level):
      try: (Tensor([1.0, 2.0]) + level).tolist()
      except ValueError: continue
    out.append((dict(CPU_TARGET=level), "float32"))
  return out

def test_the_table():
  for changed, only in settings():
    with Context(**{k: int(v) for k, v in changed.items()}): found = [w for line in table_lines(only) for w in wrong(*line)]
    if os.environ.get("EDGES_OUT"): print(*found, sep="\n", file=open(os.environ["EDGES_OUT"], "w"))
    assert not found, f"{len(found)} differences under {changed} on {Device.DEFAULT}, the first of them:\n" + "\n".join(found[:40])

def test_in_the_interpreter():
  before, Device.DEFAULT = Device.DEFAULT, "REF"
  try: found = [w for line in table_lines("float32") for w in wrong(*line)]
  finally: Device.DEFAULT = before
  assert not found, f"{len(found)} differences on REF, the first of them:\n" + "\n".join(found[:40])

def test_by_the_compiler_of_c():
  with Context(CPU_LLVM=0): found = [w for k, line in enumerate(table_lines("float64")) if k % 5 == 0 for w in wrong(*line)]
  assert not found, f"{len(found)} differences through C, the first of them:\n" + "\n".join(found[:40])

def test_every_difference_explains_something():
  if "EDGES" in os.environ or "EDGE_SETTINGS" in os.environ: return
  unused = [d.line for d in DIFFERENCES if not d.used and not d.line.endswith("on some processors")]
  assert not unused, "lines of edge_differences.txt that explain nothing:\n" + "\n".join(unused)

if __name__ == "__main__": run(globals())
