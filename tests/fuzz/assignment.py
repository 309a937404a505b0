# Random programs of assignment: creation, views, lazy values, assign, setitem, partial realize, detach, updates of several
# tensors, shards, captured functions. Each runs lazily here, and eagerly beside it on arrays in memory (NumPy).
#   uopscope run tests/fuzz/assignment.py [--seed N] [--count N]      a program that differs is shortened and printed
#
# A program is a list of steps, each a name and a few numbers that decide its choices, so any shorter list is a program
# too. Each tensor has its expected value: an array of memory, and the places of its elements there (docs/design/assignment.md).
import argparse, random, sys, time
import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes
from tinygrad.uop.ops import Ops

SHAPES = [(4,), (6,), (2, 3), (4, 2), (2, 2, 3), (1, 4), (12,), (20,), (6, 7)]
DEVICES = (Device.DEFAULT, f"{Device.DEFAULT}:1")
MOST = 10 # tensors alive

class Entry:
  """A tensor, its memory, the positions of its elements; `spread`: several elements share a place."""
  def __init__(self, tensor, memory, at, sharded=None, spread=False, fixed=False):
    self.tensor, self.memory, self.at, self.sharded, self.spread, self.fixed = tensor, memory, at, sharded, spread, fixed
  @property
  def value(self): return self.memory[self.at]
  @property
  def shape(self): return self.at.shape
  def view(self, tensor, f, spread=False): return Entry(tensor, self.memory, f(self.at), self.sharded, self.spread or spread)
  def assign(self, value):
    value = np.broadcast_to(value, self.shape).astype(np.int32)
    if self.spread: self.memory, self.at, self.spread = own(value), positions(self.shape), False
    else: self.memory[self.at] = value

def own(value): return np.array(value, dtype=np.int32).reshape(-1)
def positions(shape): return np.arange(int(np.prod(shape))).reshape(shape)
def made(tensor, value, sharded=None): return Entry(tensor, own(value), positions(np.shape(value)), sharded)

class Jit:
  """A captured function that returns a value, from the second call on into one memory. Most update a tensor and read a second one."""
  def __init__(self, state, other, plain):
    self.state, self.other, self.plain, self.calls, self.result = state, other, plain, 0, None
    w, k = state.tensor, other.tensor
    @TinyJit
    def step(x):
      if plain: return (x * 2).realize()
      before = w * 2
      w.assign(w + x)
      return (before + w - k).realize()
    self.step = step
  def call(self, x):
    value, tensor = self.state.value, self.step(x.tensor)
    argument = x.value.copy()
    if not self.plain: self.state.assign(value + argument)
    self.calls += 1
    result = argument * 2 if self.plain else value * 2 + self.state.value - self.other.value
    if self.result is None or self.calls == 2:
      entry = made(tensor, result)
      if self.calls == 2: self.result = entry
      return entry
    self.result.assign(result)
    return None

class Program:
  def __init__(self): self.pool, self.jits, self.log = [], [], []
  def pick(self, n, ok=lambda e: True):
    found = [e for e in self.pool if ok(e)]
    return found[n % len(found)] if found else None
  def name(self, e): return f"t{next(i for i, x in enumerate(self.names) if x is e)}" if any(x is e for x in self.names) else "?"
  names = ()
  def add(self, e, text):
    if any(x.tensor is e.tensor for x in self.pool): return # no effect: the tensor itself
    self.names = [*self.names, e]
    self.log.append(f"{self.name(e)} = {text}")
    self.pool.append(e)
    if len(self.pool) > MOST: self.pool.remove(next((x for x in self.pool if not x.fixed), self.pool[-1]))

  # --- steps: each takes numbers ---
  def create(self, a, b, c, d):
    shape, n = SHAPES[a % len(SHAPES)], c % 5
    kind = b % 7
    if kind == 0: self.add(made(Tensor.zeros(shape, dtype=dtypes.int).contiguous(), np.zeros(shape)), f"zeros({shape}).contiguous()")
    if kind == 1: self.add(made(Tensor.full(shape, n, dtype=dtypes.int), np.full(shape, n)), f"full({shape}, {n})")
    if kind == 2: self.add(made(Tensor.full(shape, n, dtype=dtypes.int).contiguous(), np.full(shape, n)), f"full({shape}, {n}).contiguous()")
    if kind == 3: self.add(made(Tensor.arange(int(np.prod(shape)), dtype=dtypes.int).reshape(shape).contiguous(), positions(shape)), f"arange(..).reshape({shape}).contiguous()")
    if kind >= 4:
      data = np.random.default_rng(d).integers(-9, 9, shape).astype(np.int32)
      self.add(made(Tensor(data), data), f"Tensor(data {d % 100}, {shape})")
  def shard(self, a, b, c, d):
    e = self.pick(a, lambda e: e.sharded is None and e.shape and e.shape[0] % 2 == 0)
    if e is None: return
    axis = 0 if b % 3 else None
    self.add(made(e.tensor.shard(DEVICES, axis), e.value, (axis,)), f"{self.name(e)}.shard({axis})")
  def gather(self, a, b, c, d):
    e = self.pick(a, lambda e: e.sharded is not None)
    if e is not None: self.add(made(e.tensor.to(DEVICES[0]), e.value), f"{self.name(e)}.to({DEVICES[0]!r})")
  def view(self, a, b, c, d):
    e = self.pick(a, lambda e: e.sharded is None)
    if e is None or not e.shape: return
    t, shape, name = e.tensor, e.shape, self.name(e)
    kind = b % 8
    if kind == 0:
      to = (shape[-1], -1) if c % 2 else (-1,)
      self.add(e.view(t.reshape(to), lambda i: i.reshape(to)), f"{name}.reshape({to})")
    elif kind == 1: self.add(e.view(t.permute(*range(len(shape))[::-1]), lambda i: i.T), f"{name} transposed")
    elif kind == 2: self.add(e.view(t.flip(0), lambda i: np.flip(i, 0)), f"{name}.flip(0)")
    elif kind == 3:
      axis = c % len(shape)
      lo = d % shape[axis]
      key = (slice(None),) * axis + (slice(lo, lo + 1 + (d // 16) % (shape[axis] - lo)),)
      self.add(e.view(t[key], lambda i: i[key]), f"{name}[{key}]")
    elif kind == 4:
      key = (slice(c % 2, None, 2 + d % 2),)
      if shape[0] <= c % 2: return
      self.add(e.view(t[key], lambda i: i[key]), f"{name}[{key}]")
    elif kind == 5: self.add(e.view(t[c % shape[0]], lambda i: i[c % shape[0]]), f"{name}[{c % shape[0]}]")
    elif kind == 6: self.add(e.view(t.detach(), lambda i: i), f"{name}.detach()")
    else:
      to = (2,) + shape
      self.add(e.view(t.unsqueeze(0).expand(to), lambda i: np.broadcast_to(i, to), True), f"{name}.unsqueeze(0).expand({to})")
  def compute(self, a, b, c, d):
    e = self.pick(a)
    if e is None: return
    t, v, name, where = e.tensor, e.value, self.name(e), e.sharded
    kind = b % 9
    if kind == 0: self.add(made(t * 2, v * 2, where), f"{name} * 2")
    elif kind == 1: self.add(made(t + 1, v + 1, where), f"{name} + 1")
    elif kind in (2, 3):
      other = self.pick(c, lambda x: x.shape == e.shape and (x.sharded is None) == (where is None) and x.sharded == where)
      self.add(made(t + other.tensor, v + other.value, where), f"{name} + {self.name(other)}")
    elif kind == 4: self.add(made(t.contiguous(), v, where), f"{name}.contiguous()")
    elif kind == 5: self.add(made(t.clone(), v, where), f"{name}.clone()")
    elif where is not None: return
    elif kind == 6 and v.ndim: self.add(made(t.sum(0, dtype=dtypes.int), v.sum(0, dtype=np.int32)), f"{name}.sum(0)")
    elif kind == 7 and v.ndim: self.add(made(t.pad(((1, 0),) + ((0, 0),) * (v.ndim - 1)), np.pad(v, ((1, 0),) + ((0, 0),) * (v.ndim - 1))), f"{name}.pad(1)")
    elif kind == 8 and v.ndim and v.size < 100: self.add(e.view(t.repeat(*([2] * v.ndim)), lambda i: np.tile(i, [2] * v.ndim), True), f"{name}.repeat(2)")
  def value_for(self, e, c, d):
    """A value of e's shape to assign: a number, another tensor, or a computation of e itself."""
    kind = c % 5
    other = self.pick(d, lambda x: x.shape == e.shape and x.sharded == e.sharded)
    if kind == 0: return d % 7, d % 7, f"{d % 7}"
    if kind == 1 or other is None: return e.tensor + 1, e.value + 1, f"{self.name(e)} + 1"
    if kind == 2: return e.tensor * 2 + other.tensor, e.value * 2 + other.value, f"{self.name(e)} * 2 + {self.name(other)}"
    if kind == 3 and e.sharded is None and len(e.shape) > 0: return other.tensor.flip(0) + e.tensor, np.flip(other.value, 0) + e.value, f"{self.name(other)}.flip(0) + {self.name(e)}"
    return other.tensor, other.value, self.name(other)
  def assign(self, a, b, c, d):
    e = self.pick(a)
    if e is None: return
    tensor, value, text = self.value_for(e, c, d)
    if isinstance(tensor, Tensor) and tensor.uop is e.tensor.uop: return  # an assignment of the tensor itself changes nothing
    self.log.append(f"{self.name(e)}.assign({text})")
    e.tensor.assign(tensor)
    e.assign(value.copy() if isinstance(value, np.ndarray) else value)
    if b % 4 == 0: self.realize(a, 0, 0, 0)
  def setitem(self, a, b, c, d):
    e = self.pick(a, lambda e: e.sharded is None and not e.spread and len(e.shape) > 0 and e.shape[0] > 1)
    if e is None: return
    part = e.at[1:] if b % 3 == 0 else e.at[b % e.shape[0]] if b % 3 == 1 else None
    if part is None:
      rows = [b % e.shape[0], d % e.shape[0]]
      self.log.append(f"{self.name(e)}[Tensor({rows})] = {c % 9}")
      e.tensor.contiguous().realize()
      try: e.tensor[Tensor(rows)] = c % 9
      except RuntimeError as error:
        if "contiguous" in str(error): return # a constant has no memory
        raise
      e.memory[e.at[rows]] = c % 9
      return
    key = slice(1, None) if b % 3 == 0 else b % e.shape[0]
    other = self.pick(d, lambda x: x.shape == part.shape and x.sharded is None)
    tensor, value = (c % 9, c % 9) if other is None or c % 2 else (other.tensor, other.value.copy())
    self.log.append(f"{self.name(e)}[{key}] = {self.name(other) if other is not None and not c % 2 else c % 9}")
    try: e.tensor[key] = tensor
    except RuntimeError as error:
      if "contiguous" in str(error): return
      raise
    e.memory[part] = value
  def realize(self, a, b, c, d):
    some = [e for k, e in enumerate(self.pool) if (a * 7 + k * b) % 3 == 0][:1 + c % 4]
    if not some: return
    self.log.append(f"Tensor.realize({', '.join(self.name(e) for e in some)})")
    Tensor.realize(*[e.tensor for e in some])
  def update(self, a, b, c, d):
    """Acts as an optimizer: computes a gradient of all of them, and an assignment to each, realized together."""
    found = [e for e in self.pool if e.sharded is None and not e.spread and e.shape == (6,)] or self.pool[:1]
    some = [e for e in found[:3] if e.sharded is None and not e.spread]
    if not some: return
    self.log.append("update " + ", ".join(self.name(e) for e in some))
    loss_t, loss = some[0].tensor.sum(dtype=dtypes.int), some[0].value.sum(dtype=np.int32, keepdims=True).reshape(-1)
    for e in some[1:]: loss_t, loss = loss_t + e.tensor.sum(dtype=dtypes.int), loss + e.value.sum(dtype=np.int32)
    loss = loss.reshape(())
    grads = [(e.tensor * loss_t, e.value * loss) for e in some]
    self.add(made(loss_t, loss), "loss")
    if b % 2: self.add(made(grads[0][0], grads[0][1]), "gradient")
    for e, (g, n) in zip(some, grads):
      e.tensor.assign(e.tensor - g)
    values = [e.value - n for e, (g, n) in zip(some, grads)]
    if overlap(some): values = None
    if values is None: raise Skip
    for e, v in zip(some, values): e.assign(v)
    if c % 3: Tensor.realize(*[e.tensor for e in some])
  def replace(self, a, b, c, d):
    e, other = self.pick(a, lambda e: not e.fixed), self.pick(b)
    if e is None or other is None or e is other or e.shape != other.shape: return
    self.log.append(f"{self.name(e)}.replace({self.name(other)})")
    e.tensor.replace(other.tensor)
    e.memory, e.at, e.spread, e.sharded = other.memory, other.at, other.spread, other.sharded
  def drop(self, a, b, c, d):
    e = self.pick(a, lambda e: not e.fixed)
    if e is None: return
    self.log.append(f"del {self.name(e)}")
    self.pool.remove(e)
    self.names = [None if x is e else x for x in self.names]
  def jit(self, a, b, c, d):
    if not self.jits or (b % 5 == 0 and len(self.jits) < 2):
      shape = SHAPES[a % len(SHAPES)]
      state, other = [made(Tensor(n).realize(), n) for n in np.random.default_rng(d).integers(-9, 9, (2,) + shape).astype(np.int32)]
      state.fixed = other.fixed = True
      self.add(state, f"jit state {shape}")
      self.add(other, f"jit reads {shape}")
      self.jits.append(Jit(state, other, plain=d % 3 == 0))
    jit = self.jits[a % len(self.jits)]
    shape = jit.state.shape
    x = self.argument(shape, c) if b % 3 == 0 else None
    name = self.name(x) if x is not None else "new data"
    if x is None:
      data = np.random.default_rng(c).integers(-9, 9, shape).astype(np.int32)
      x = made(Tensor(data).realize(), data)
    self.log.append(f"jit {self.jits.index(jit)}{' (x * 2)' if jit.plain else ''} call {jit.calls + 1} of {name}")
    result = jit.call(x)
    if result is not None:
      result.fixed = jit.calls == 2
      self.add(result, "its result")
  def argument(self, shape, c):
    """A tensor of the program that is all of its memory, which no captured function writes."""
    used = [e.memory for jit in self.jits for e in (jit.state, jit.other, jit.result) if e is not None]
    e = self.pick(c, lambda e: e.shape == shape and e.sharded is None and not e.spread and not any(e.memory is m for m in used)
                               and np.array_equal(e.at, positions(shape)) and e.memory.size == e.at.size)
    return e if e is not None and e.tensor.realize().uop.op is Ops.BUFFER else None
  def check(self, a, b, c, d):
    e = self.pick(a)
    if e is not None: self.compare(e)

  def compare(self, e):
    got = e.tensor.numpy()
    if got.shape != e.shape or not np.array_equal(got, e.value):
      raise Difference(f"{self.name(e)} is {got.tolist()}, not {e.value.tolist()}")

class Difference(Exception): pass
class Skip(Exception): pass

def overlap(entries):
  """Whether two of them share an element: the last of their assignments counts there, element by element."""
  for i, e in enumerate(entries):
    for o in entries[:i]:
      if e.memory is o.memory and np.intersect1d(e.at, o.at).size: return True
  return False

STEPS = ["create"] * 4 + ["view"] * 4 + ["compute"] * 4 + ["assign"] * 5 + ["setitem"] * 2 + ["realize"] * 3 + ["update", "replace", "drop", "drop", "jit", "jit", "check", "check", "shard", "gather"]

def generate(seed):
  r = random.Random(seed)
  first = [("create", [r.randrange(1 << 16) for _ in range(4)]) for _ in range(2)]
  return first + [(r.choice(STEPS), [r.randrange(1 << 16) for _ in range(4)]) for _ in range(r.randrange(4, 22))]

def differs(steps):
  """The difference, with the program in words; None where all values agree."""
  p = Program()
  try:
    for kind, numbers in steps: getattr(p, kind)(*numbers)
    for e in reversed(p.pool) if len(steps) % 2 else list(p.pool): p.compare(e)
  except Skip: return None
  except Exception as error:
    return "\n".join(p.log), f"{type(error).__name__}: {str(error)[:600]}"
  return None

def shortened(steps):
  k = len(steps) - 1
  while k >= 0:
    fewer = steps[:k] + steps[k + 1:]
    if differs(fewer): steps = fewer
    k -= 1
  return steps

def run(seed, count, say=lambda text: None):
  """The first difference, or None."""
  for k in range(count):
    steps = generate(seed + k)
    if differs(steps):
      for _ in range(3): steps = shortened(steps)
      program, error = differs(steps)
      return f"seed {seed + k}: {error}\n{program}\n{steps}"
    if k % 1000 == 999: say(f"{k + 1} programs without a difference")
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
