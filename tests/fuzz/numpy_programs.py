# Random programs of tensors against NumPy: each step is computed lazily here and at once there. Only the last values are
# asked for, so kernels hold several steps.
#   uopscope run tests/fuzz/numpy_programs.py [--seed N] [--count N]      a program that differs is shortened and printed
#
# A program is a list of steps, a name and a few numbers that decide its choices, so any shorter list is a program too. Each
# value has a bound of its error, element by element: zero as long as the type holds every partial sum. Only exact values
# are compared, rounded, sorted or used as indices, so no tolerance hides an error.
#   [("leaf", [3, 1, 0, 2]), ("product", [0, 0, 5, 1])]      values v0 and v1 = v0 @ leaf
import argparse, random, sys, time
import numpy as np
from tinygrad import Context, Tensor, dtypes

TYPES = [("float32", 24), ("float64", 53), ("int32", 31), ("int64", 63), ("uint8", 8), ("int16", 15), ("bool", 1)]
DIGITS = dict(TYPES)
SIZES = [1, 2, 3, 4, 5, 7, 8, 16, 33, 3, 4, 0]
MOST = 3000 # elements of a value

class Skip(Exception): pass

class Value:
  """A tensor, its expected value, the bound of its error, and the power of two that all its elements are multiples of."""
  def __init__(self, tensor, value, error=None, unit=0):
    self.tensor, self.value, self.unit = tensor, np.asarray(value), unit
    self.error = np.zeros(self.value.shape) if error is None else np.broadcast_to(error, self.value.shape)
  @property
  def type(self): return self.value.dtype.name
  @property
  def shape(self): return self.value.shape
  @property
  def exact(self): return not self.error.any()
  @property
  def isFloat(self): return self.value.dtype.kind == "f"
  @property
  def isInt(self): return self.value.dtype.kind in "iu"

def needs(condition):
  if not condition: raise Skip

def rounded(tensor, value, error, unit, type, largest):
  """A value computed in `type`, with partial sums of at most `largest`: exact if they are multiples of the unit that fit."""
  value, largest = np.asarray(value), np.asarray(largest, dtype=np.float64)
  if value.dtype.kind != "f": return Value(tensor, value)
  needs(not largest.size or largest.max() < 1e12)
  fits = not np.any(error) and (not largest.size or largest.max() < 2.0 ** (DIGITS[type] + unit))
  if not fits: error, unit = error + largest * 2.0 ** (3 - DIGITS[type]), -200
  return Value(tensor, value.astype(type), error, unit)

def leaf(r, shape, type):
  """Multiples of 1/4 below 4; small integers, in one of 16 the ends of a narrow type."""
  n = np.array([r.randrange(32) for _ in range(int(np.prod(shape)))], dtype=np.int64).reshape(shape) - 15
  if type == "bool": value = n % 2 == 1
  elif type.startswith("float"): value = (n / 4).astype(type)
  else:
    ends = np.array([r.randrange(16) == 0 for _ in range(n.size)], dtype=bool).reshape(shape)
    value = (n % 32 if type == "uint8" else n).astype(type)
    if type in ("uint8", "int16"): value = np.where(ends, np.iinfo(type).max, value).astype(type)
  return Value(Tensor(value, dtype=getattr(dtypes, "bool" if type == "bool" else type)), value, unit=-2 if type.startswith("float") else 0)

class Program:
  def __init__(self): self.pool, self.log = [], []
  def pick(self, n):
    needs(self.pool)
    return self.pool[-1] if n % 2 else self.pool[n // 2 % len(self.pool)]
  def axis(self, v, n):
    needs(v.value.ndim)
    return n % v.value.ndim
  def push(self, text, v):
    if v.value.size > MOST or v.value.ndim > 6: raise Skip
    if v.isFloat and v.value.size and (not np.isfinite(v.value).all() or np.abs(v.value).max() > 1e12): raise Skip
    self.log.append(f"v{len(self.pool)} = {text}    # {v.shape} {v.type}, {'exact' if v.exact else f'within {v.error.max():.1e}'}")
    self.pool.append(v)
  def name(self, v): return f"v{next(i for i, x in enumerate(self.pool) if x is v)}"
  def moved(self, v, text, tensor, f):
    """A view, or a choice of elements: the errors move with the elements."""
    self.push(self.name(v) + text, Value(tensor, f(v.value), f(v.error), v.unit))

  def leaf(self, a, b, c, d):
    r = random.Random(d)
    shape = tuple(SIZES[n % len(SIZES)] for n in (b, b // 16, c, c // 16)[:a // 16 % 4])
    type = TYPES[a % len(TYPES)][0]
    self.push(f"leaf({shape}, {type}, seed {d})", leaf(r, shape, type))

  def view(self, a, b, c, d):
    v = self.pick(a)
    k = self.axis(v, b)
    n, t, kind = v.shape[k], v.tensor, c % 13
    cut = lambda s: tuple([slice(None)] * k + [s])
    if kind == 0:
      f = 2 if n % 2 == 0 else 3 if n % 3 == 0 else 1
      to = v.shape[:k] + (n // f, f) + v.shape[k + 1:]
      return self.moved(v, f".reshape{to}", t.reshape(to), lambda x: x.reshape(to))
    if kind == 1: return self.moved(v, f".transpose({k}, 0)", t.transpose(k, 0), lambda x: np.swapaxes(x, k, 0))
    if kind == 2: return self.moved(v, f".flip({k})", t.flip(k), lambda x: np.flip(x, k))
    if kind in (3, 4):
      step, start = (1, 2, 3, -1, -2)[d % 5], d // 5 % (n + 1)
      s = slice(start, None, step) if d % 2 else slice(None, start, step)
      return self.moved(v, f"[axis {k}, {s}]", t[cut(s)], lambda x: x[cut(s)])
    if kind == 5:
      width = [(0, 0)] * v.value.ndim
      width[k] = (d % 3, d // 3 % 3)
      return self.moved(v, f".pad({width})", t.pad(tuple(width)), lambda x: np.pad(x, width))
    if kind == 6: return self.moved(v, f".unsqueeze({k}).expand(.., {1 + d % 4}, ..)", t.unsqueeze(k).expand(*v.shape[:k], 1 + d % 4, *v.shape[k:]),
                                    lambda x: np.repeat(np.expand_dims(x, k), 1 + d % 4, k))
    if kind == 7:
      reps = [1] * v.value.ndim
      reps[k] = 1 + d % 3
      return self.moved(v, f".repeat({reps})", t.repeat(reps), lambda x: np.tile(x, reps))
    if kind == 8: return self.moved(v, f".roll({d % 7 - 3}, {k})", t.roll(d % 7 - 3, k), lambda x: np.roll(x, d % 7 - 3, k))
    if kind == 9:
      needs(v.value.ndim >= 2)
      return self.moved(v, f".tril({d % 5 - 2})", t.tril(d % 5 - 2), lambda x: np.tril(x, d % 5 - 2))
    if kind == 10:
      needs(v.value.ndim >= 2)
      return self.moved(v, f".triu({d % 5 - 2})", t.triu(d % 5 - 2), lambda x: np.triu(x, d % 5 - 2))
    if kind == 11:
      needs(v.value.ndim == 2)
      return self.moved(v, ".diagonal()", t.diagonal(), lambda x: np.diagonal(x))
    return self.moved(v, f".repeat_interleave({1 + d % 3}, {k})", t.repeat_interleave(1 + d % 3, k), lambda x: np.repeat(x, 1 + d % 3, k))

  def index(self, a, b, c, d):
    v, r = self.pick(a), random.Random(d)
    k = self.axis(v, b)
    n = v.shape[k]
    needs(n)
    some = lambda shape, size: np.array([r.randrange(-size if c % 2 else 0, size) for _ in range(int(np.prod(shape)))], dtype=np.int32).reshape(shape)
    kind = c // 2 % 5
    if kind == 0:
      at = some((2, 3), n)
      place = tuple([slice(None)] * k)
      return self.moved(v, f"[axis {k}, indices {at.tolist()}]", v.tensor[(*place, Tensor(at))], lambda x: x[(*place, at)])
    if kind == 1:
      at = np.abs(some(v.shape, n)) % n
      return self.moved(v, f".gather({k}, seed {d})", v.tensor.gather(k, Tensor(at)), lambda x: np.take_along_axis(x, at.astype(np.int64), k))
    if kind == 2:
      needs(v.value.ndim >= 2 and v.shape[0] and v.shape[1])
      i, j = some((4,), v.shape[0]), some((4,), v.shape[1])
      return self.moved(v, f"[{i.tolist()}, {j.tolist()}]", v.tensor[Tensor(i), Tensor(j)], lambda x: x[i, j])
    if kind == 3: # part of a copy is assigned
      start, stop = sorted((d % (n + 1), d // 7 % (n + 1)))
      place = (*[slice(None)] * k, slice(start, stop))
      t, x, e = v.tensor.contiguous().realize().clone(), v.value.copy(), v.error.copy()
      t[place] = 1
      x[place], e[place] = 1, 0
      return self.push(f"{self.name(v)} copied, [axis {k}, {start}:{stop}] = 1", Value(t, x, e, min(v.unit, 0)))
    at = np.abs(some(v.shape, n)) % n # the sum of what goes to one place
    needs(v.type != "bool")
    x, e, most = v.value.copy(), v.error.copy(), np.abs(v.value).astype(np.float64)
    for p in np.ndindex(v.shape):
      to = (*p[:k], at[p], *p[k + 1:])
      with np.errstate(over="ignore"): x[to] += v.value[p]
      e[to] += v.error[p]
      most[to] += abs(float(v.value[p]))
    self.push(f"{self.name(v)}.scatter_reduce({k}, seed {d}, itself, sum)",
              rounded(v.tensor.scatter_reduce(k, Tensor(at), v.tensor, "sum"), x, e, v.unit, v.type, most))

  def join(self, a, b, c, d):
    v = self.pick(a)
    k = self.axis(v, b)
    same = [x for x in self.pool if x.type == v.type and x.shape[:k] + x.shape[k + 1:] == v.shape[:k] + v.shape[k + 1:] and x.value.ndim == v.value.ndim]
    parts = [v, same[c % len(same)], v][:2 + d % 2]
    text = ", ".join(self.name(x) for x in parts)
    join = lambda of: np.concatenate(of, k)
    self.push(f"cat({text}, {k})", Value(Tensor.cat(*[x.tensor for x in parts], dim=k), join([x.value for x in parts]), join([x.error for x in parts]), min(x.unit for x in parts)))

  def like(self, v, n):
    """A value of the same type that broadcasts with v."""
    def fits(x):
      try: return x.type == v.type and np.broadcast_shapes(x.shape, v.shape) is not None
      except ValueError: return False
    same = [x for x in self.pool if fits(x)]
    return same[n % len(same)]

  def binary(self, a, b, c, d):
    v = self.pick(a)
    w = self.like(v, b)
    x, y, ex, ey = v.value, w.value, v.error, w.error
    unit, text = min(v.unit, w.unit), f"({self.name(v)}, {self.name(w)})"
    kind = c % 8
    with np.errstate(all="ignore"):
      if kind == 0 and v.type != "bool": return self.push("add" + text, rounded(v.tensor + w.tensor, x + y, ex + ey, unit, v.type, np.abs(x) * 1.0 + np.abs(y) * 1.0))
      if kind == 1 and v.type != "bool": return self.push("sub" + text, rounded(v.tensor - w.tensor, x - y, ex + ey, unit, v.type, np.abs(x) * 1.0 + np.abs(y) * 1.0))
      if kind == 2 and v.type != "bool": return self.push("mul" + text, rounded(v.tensor * w.tensor, x * y, np.abs(x) * ey + np.abs(y) * ex + ex * ey, v.unit + w.unit, v.type, np.abs(x * 1.0) * np.abs(y)))
      if kind == 3: return self.push("maximum" + text, Value(v.tensor.maximum(w.tensor), np.maximum(x, y), np.maximum(ex, ey), unit))
      if kind == 4: return self.push("minimum" + text, Value(v.tensor.minimum(w.tensor), np.minimum(x, y), np.maximum(ex, ey), unit))
      needs(v.exact and w.exact)
      if kind == 5:
        name = ("__lt__", "__eq__", "__ne__", "__ge__")[d % 4]
        f = (np.less, np.equal, np.not_equal, np.greater_equal)[d % 4]
        return self.push(name + text, Value(getattr(v.tensor, name)(w.tensor), f(x, y)))
      if kind == 6:
        condition = np.less(x, 2) if v.type != "bool" else x
        t = (v.tensor < 2) if v.type != "bool" else v.tensor
        return self.push(f"where({self.name(v)} < 2, {text})", Value(t.where(v.tensor, w.tensor), np.where(condition, x, y), 0, unit))
      if v.isFloat:
        below = np.abs(y) + 1
        return self.push(f"div({self.name(v)}, |{self.name(w)}| + 1)", rounded(v.tensor / (w.tensor.abs() + 1), x / below, np.abs(x) * 2.0 ** (2 - DIGITS[v.type]), -200, v.type, np.abs(x)))
      needs(v.isInt)
      positive = ((y & 7) + 1).astype(v.type)
      name = ("floor division by {}&7+1", "mod by {}&7+1", "and", "or", "xor")[d % 5]
      z = (w.tensor & 7) + 1
      t = (lambda: v.tensor // z, lambda: v.tensor % z, lambda: v.tensor & w.tensor, lambda: v.tensor | w.tensor, lambda: v.tensor ^ w.tensor)[d % 5]()
      f = (lambda: x // positive, lambda: x % positive, lambda: x & y, lambda: x | y, lambda: x ^ y)[d % 5]()
      return self.push(name.format(self.name(w)) + text, Value(t, f))

  def unary(self, a, b, c, d):
    v = self.pick(a)
    needs(v.type != "bool")
    x, t, e, of = v.value, v.tensor, v.error, f"({self.name(v)})"
    with np.errstate(all="ignore"):
      kind = b % 16
      if kind == 0: return self.push("neg" + of, Value(-t, np.negative(x), e, v.unit))
      if kind == 1: return self.push("abs" + of, Value(t.abs(), np.abs(x), e, v.unit))
      if kind == 2: return self.push("relu" + of, Value(t.relu(), np.maximum(x, v.value.dtype.type(0)), e, v.unit))
      if kind == 3: return self.push("square" + of, rounded(t.square(), x * x, 2 * np.abs(x) * e + e * e, 2 * v.unit, v.type, np.square(x * 1.0)))
      if kind == 4:
        needs(v.exact)
        return self.push("sign" + of, Value(t.sign(), np.sign(x)))
      if not v.isFloat:
        number = c % 9 + 1
        if kind < 9: return self.push(f"{of} // {number}", Value(t // number, (x // number).astype(v.type)))
        if kind < 13: return self.push(f"{of} % {number}", Value(t % number, (x % number).astype(v.type)))
        return self.push(f"clip{of}", Value(t.clip(1, 1 + number), np.clip(x, 1, 1 + number).astype(v.type)))
      if kind in (5, 6, 7, 8):
        needs(v.exact)
        name = ("floor", "ceil", "trunc", "round")[kind - 5]
        return self.push(name + of, Value(getattr(t, name)(), getattr(np, name)(x)))
      x64 = np.clip(x.astype(np.float64), -6, 6)
      name, f, steep = (("exp", np.exp, 404), ("sin", np.sin, 1), ("tanh", np.tanh, 1), ("sigmoid", lambda z: 1 / (1 + np.exp(-z)), 1), ("exp2", np.exp2, 45),
                        ("sqrt", lambda z: np.sqrt(np.abs(z) + 1), 1), ("log", lambda z: np.log(np.abs(z) + 1), 1))[kind - 9]
      limited = t.clip(-6, 6)
      result = getattr(limited.abs() + 1 if name in ("sqrt", "log") else limited, name)()
      value = np.asarray(f(x64))
      self.push(f"{name} of limited {of}", Value(result, value.astype(v.type), e * steep + (np.abs(value) + 1) * 2.0 ** (4 - DIGITS[v.type]), -200))

  def reduce(self, a, b, c, d):
    v = self.pick(a)
    k = None if d % 4 == 0 or not v.value.ndim else b % v.value.ndim
    x, t, e, keep = v.value, v.tensor, v.error, bool(d // 4 % 2)
    n = x.size if k is None else v.shape[k]
    over = dict(axis=k, keepdims=keep)
    of = f"({self.name(v)}, axis {k}{', keepdim' if keep else ''})"
    here = lambda name: getattr(t, name)(axis=k, keepdim=keep)
    kind = c % 10
    with np.errstate(all="ignore"):
      if kind in (0, 1):
        wide = {"bool": "int32", "uint8": "uint32", "int16": "int32"}.get(v.type, v.type)
        return self.push("sum" + of, rounded(here("sum"), x.sum(dtype=wide, **over), e.sum(**over), v.unit, v.type, np.abs(x * 1.0).sum(**over)))
      needs(n)
      if kind == 2: return self.push("max" + of, Value(here("max"), x.max(**over), e.max(**over), v.unit))
      if kind == 3: return self.push("min" + of, Value(here("min"), x.min(**over), e.max(**over), v.unit))
      if kind == 4:
        needs(v.isFloat)
        return self.push("mean" + of, rounded(here("mean"), x.mean(dtype=np.float64, **over), e.mean(**over), -200, v.type, np.abs(x).sum(**over)))
      if kind == 5:
        needs(v.isFloat and n > 1 and v.exact)
        value = x.var(dtype=np.float64, ddof=1, **over)
        most = np.square(np.abs(x).max(**over).astype(np.float64)) * n
        return self.push("var" + of, rounded(here("var"), value, most * 2.0 ** (4 - DIGITS[v.type]), -200, v.type, most))
      needs(v.exact)
      if kind == 6: return self.push("any" + of, Value((t != 0).any(axis=k, keepdim=keep), (x != 0).any(**over)))
      if kind == 7: return self.push("all" + of, Value((t != 0).all(axis=k, keepdim=keep), (x != 0).all(**over)))
      if kind == 8:
        needs(v.type != "bool" and not (keep and k is None))
        return self.push("argmax" + of, Value(t.argmax(axis=k, keepdim=keep), x.argmax(**over).astype(np.int32)))
      needs(v.type != "bool" and not (keep and k is None)) # as in the reference, a whole tensor's index has no dimensions
      return self.push("argmin" + of, Value(t.argmin(axis=k, keepdim=keep), x.argmin(**over).astype(np.int32)))

  def scan(self, a, b, c, d):
    v = self.pick(a)
    k = self.axis(v, b)
    needs(v.type != "bool" and v.shape[k])
    x, t, e, of = v.value, v.tensor, v.error, f"({self.name(v)}, {k})"
    kind = c % 4
    if kind == 0:
      wide = {"uint8": "uint32", "int16": "int32"}.get(v.type, v.type)
      return self.push("cumsum" + of, rounded(t.cumsum(k), x.cumsum(k, dtype=wide), e.cumsum(k), v.unit, v.type, np.abs(x * 1.0).cumsum(k)))
    if kind == 1: return self.push("cummax" + of, Value(t.cummax(k)[0], np.maximum.accumulate(x, k), np.maximum.accumulate(e, k), v.unit))
    needs(v.exact and x.size <= 400)
    order = np.argsort(-x.astype(np.float64) if d % 2 else x.astype(np.float64), axis=k, kind="stable")
    values, places = t.sort(k, descending=bool(d % 2))
    if kind == 2: return self.push(f"sort{of}", Value(values, np.take_along_axis(x, order, k), 0, v.unit))
    self.push(f"argsort{of}", Value(places, order.astype(np.int32)))

  def product(self, a, b, c, d):
    v, r = self.pick(a), random.Random(d)
    needs(v.value.ndim and v.isFloat and v.type != "bool")
    n, m = v.shape[-1], (1, 2, 3, 5, 8, 17)[b % 6]
    w = leaf(r, (n, m), v.type)
    x, y = v.value.astype(np.float64), w.value.astype(np.float64)
    most = np.abs(x) @ np.abs(y)
    self.push(f"{self.name(v)} @ leaf({n}, {m}; seed {d})", rounded(v.tensor @ w.tensor, x @ y, v.error @ np.abs(y), v.unit + w.unit, v.type, most * (1 + n * 0.25)))

  def cast(self, a, b, c, d):
    v = self.pick(a)
    needs(v.exact)
    to = TYPES[b % len(TYPES)][0]
    x, t = v.value, v.tensor
    if v.isFloat and not to.startswith("float") and to != "bool": x, t = np.clip(np.trunc(x), 0, 100).astype(v.type), t.trunc().clip(0, 100)
    needs(not to.startswith("float") or not x.size or np.abs(x * 1.0).max() < 2.0 ** (DIGITS[to] + (v.unit if v.isFloat else 0)))
    with np.errstate(all="ignore"): value = x != 0 if to == "bool" else x.astype(to)
    self.push(f"{self.name(v)}.cast({to})", Value(t.cast(getattr(dtypes, to)), value, 0, v.unit if to.startswith("float") and v.isFloat else 0))

  def stored(self, a, b, c, d):
    v = self.pick(a)
    self.moved(v, ".contiguous()", v.tensor.contiguous() if b % 2 else v.tensor.contiguous().realize(), lambda x: x)

  def compare(self, v):
    got = v.tensor.numpy()
    if got.shape != v.shape or got.dtype != v.value.dtype and v.type not in ("int32", "uint32"):
      raise Difference(f"{self.name(v)} is {got.shape} {got.dtype}, not {v.shape} {v.value.dtype}")
    if v.isFloat:
      wrong = ~(np.abs(got.astype(np.float64) - v.value) <= v.error * 4)
      wrong &= ~(np.isnan(got) & np.isnan(v.value))
    else: wrong = got != v.value
    if wrong.any():
      p = tuple(np.argwhere(wrong)[0]) if v.value.ndim else ()
      raise Difference(f"{self.name(v)}{list(p)} is {got[p]!r}, not {v.value[p]!r} (allowed {v.error[p] * 4:.1e}); {wrong.sum()} of {wrong.size} differ")

class Difference(Exception): pass

STEPS = (["leaf"] * 4 + ["view"] * 8 + ["index"] * 4 + ["join"] * 2 + ["binary"] * 7 + ["unary"] * 5 + ["reduce"] * 5 + ["scan"] * 2 + ["product"] * 2 + ["cast"] * 2 + ["stored"])

def generate(seed):
  r = random.Random(seed)
  first = [("leaf", [r.randrange(1 << 16) for _ in range(4)]) for _ in range(2)]
  return first + [(r.choice(STEPS), [r.randrange(1 << 16) for _ in range(4)]) for _ in range(r.randrange(3, 12))]

def settings(seed):
  r = random.Random(seed + 1)
  one_in = lambda n: int(r.randrange(n) == 0)
  return {"NOOPT": one_in(6), "CPU_LLVM": 1 - one_in(30), "SPLIT_REDUCEOP": 1 - one_in(6), "PLAIN": one_in(8)}

def differs(steps, seed):
  """The difference, with the program in words; None where all values agree."""
  p = Program()
  try:
    with Context(**settings(seed)):
      for kind, numbers in steps:
        try: getattr(p, kind)(*numbers)
        except Skip: pass
      last = p.pool[-3:]
      if last: Tensor.realize(*[v.tensor for v in last])
      for v in last: p.compare(v)
  except Exception as error:
    return "\n".join(p.log), f"{type(error).__name__}: {str(error)[:600]}"
  return None

def shortened(steps, seed):
  k = len(steps) - 1
  while k >= 0:
    fewer = steps[:k] + steps[k + 1:]
    if differs(fewer, seed): steps = fewer
    k -= 1
  return steps

def run(seed, count, say=lambda text: None):
  """The first difference, or None."""
  for k in range(seed, seed + count):
    steps = generate(k)
    if differs(steps, k):
      for _ in range(2): steps = shortened(steps, k)
      program, error = differs(steps, k)
      return f"seed {k}, {settings(k)}: {error}\n{program}\n{steps}"
    if (k - seed) % 1000 == 999: say(f"{k + 1 - seed} programs without a difference")
  return None

if __name__ == "__main__":
  parser = argparse.ArgumentParser()
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--count", type=int, default=1000)
  options = parser.parse_args()
  start = time.perf_counter()
  found = run(options.seed, options.count, lambda text: print(text, flush=True))
  print(found or f"{options.count} programs from seed {options.seed} without a difference in {time.perf_counter() - start:.0f} s")
  sys.exit(1 if found else 0)
