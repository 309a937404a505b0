# Records the expected values of test_edges.py: the right sides of edge_cases.py by PyTorch (1.13 or later, on the processor) and NumPy.
#   python3 record_edges.py      writes tests/golden/edge_values.txt
#
# Floats are computed in their own type, halves in float32 and rounded. Where the rounded float64 result differs, it is kept as a second
# answer: an intermediate value of the first one overflowed, and both are right.
import os, sys, warnings
import numpy as np
import torch
import torch.nn.functional as F
import edge_cases as table
inf, nan = table.inf, table.nan
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden", "edge_values.txt")
DIGITS = {"float64": 17, "float32": 9, "float16": 6, "bfloat16": 5}
warnings.filterwarnings("ignore")
np.seterr(all="ignore")

def first(sorted_, k): return sorted_[0][:, :k], sorted_[1][:, :k]
def running(x, better):
  """The running maximum and the place where it first occurred; NaN counts as the largest value."""
  at = torch.zeros(x.shape, dtype=torch.int64)
  for j in range(1, x.shape[1]):
    best = x.gather(1, at[:, j-1:j])[:, 0]
    take = better(x[:, j], best) & ~torch.isnan(best) | torch.isnan(x[:, j]) & ~torch.isnan(best) if x.is_floating_point() else better(x[:, j], best)
    at[:, j] = torch.where(take, torch.tensor(j), at[:, j-1])
  return x.gather(1, at), at
def running_max(x): return running(x, lambda a, b: a > b)
def running_min(x): return running(x, lambda a, b: a < b)

def numbers(t): return t.detach().reshape(-1).tolist()
def shown(v, dtype):
  if isinstance(v, (bool, np.bool_)): return "01"[bool(v)]
  return f"%.{DIGITS.get(dtype, 9)}g" % v if isinstance(v, float) else str(v)

def outputs(text, xs, gradients):
  xs = [x.clone().requires_grad_(gradients and x.is_floating_point()) for x in xs]
  result = eval(text, dict(globals()), dict(zip("xyz", xs)))
  results = result if isinstance(result, tuple) else (result,)
  out = [(f"value{i}" if i else "value", r) for i, r in enumerate(results)]
  if gradients and results[0].is_floating_point() and results[0].requires_grad:
    results[0].sum().backward()
    out += [("gradient " + n, x.grad if x.grad is not None else torch.zeros_like(x)) for n, x in zip("xyz", xs)]
  return out

def same(a, b, dtype):
  tolerance = {"float64": 1e-12, "float32": 1e-6, "float16": 2e-3, "bfloat16": 2e-2}.get(dtype, 0)
  return all(p == q or (p != p and q != q) or abs(p - q) <= tolerance * max(abs(p), abs(q)) for p, q in zip(a, b))

def record(lines, text, theirs, section, dtype, values, shape):
  isFloat = dtype in table.FLOATS
  def run(compute):
    xs = [torch.tensor(v, dtype=torch.float64 if isFloat else getattr(torch, dtype)).reshape(shape) for v in values]
    if isFloat: xs = [x.to(getattr(torch, dtype)).to(compute) for x in xs]
    out = []
    for name, r in outputs(theirs, xs, isFloat):
      if r.is_floating_point() and isFloat: r = r.to(getattr(torch, dtype))
      out.append((name, numbers(r)))
    return out
  try: own = run({"float64": torch.float64}.get(dtype, torch.float32) if isFloat else None)
  except Exception as e: print(f"not recorded, {dtype} {theirs}: {str(e).strip().splitlines()[0][:100]}", file=sys.stderr); return
  more = run(torch.float64) if isFloat and dtype != "float64" else own
  for (name, v), (_, w) in zip(own, more):
    lines.append(f"{dtype}\t{text}\t{name}\t" + " ".join(shown(e, dtype) for e in v))
    if not same(v, w, dtype): lines.append(f"{dtype}\t{text}\t{name} or\t" + " ".join(shown(e, dtype) for e in w))

def recordIntegers(lines, text, theirs, dtype, values, shape):
  xs = [np.array(v, dtype=dtype).reshape(shape) for v in values]
  r = np.asarray(eval(theirs, dict(globals()), dict(zip("xyz", xs))))
  lines.append(f"{dtype}\t{text}\tvalue\t" + " ".join(shown(v, dtype) for v in r.reshape(-1).tolist()))

def main():
  lines = []
  torchTypes = list(table.FLOATS) + ["bool", "uint8", "int8", "int16", "int32", "int64"]
  byNumpy = {ours for _, ours, _, _ in table.cases(table.INTEGERS)}
  for text in (table.EXACT, table.COMPOSED):
    for section, ours, theirs, note in table.cases(text):
      for dtype in torchTypes:
        if table.applies(note, dtype) and not (ours in byNumpy and dtype in table.INTS): record(lines, ours, theirs, section, dtype, *table.arguments(section, dtype))
  for section, ours, theirs, note in table.cases(table.INTEGERS):
    for dtype in table.INTS:
      if table.applies(note, dtype): recordIntegers(lines, ours, theirs, dtype, *table.arguments(section, dtype))
  for _, ours, theirs, _ in table.cases(table.EMPTY):
    for shape in ((0, 3), (3, 0)): record(lines, f"{ours} of {shape}", theirs, "empty", "float32", [[]], shape)
  with open(GOLDEN, "w") as f: f.write("\n".join(lines) + "\n")
  print(f"{len(lines)} lines")

if __name__ == "__main__": main()
