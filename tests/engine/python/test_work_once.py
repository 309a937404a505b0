# No two kernels of a schedule compute the same product: layers, cells and attention, with the gradient of a loss and between given slopes.
# What a kernel sums is compared as a text in which buffers have the schedule's names and ranges the order in which they occur.
import numpy as np
from tinygrad import Tensor
from tinygrad.uop.ops import Ops
from check import run

rng = np.random.default_rng(4)
def draw(*shape): return Tensor(rng.standard_normal(shape).astype(np.float32) * 0.3).realize()

def text_of(reduce, buffers):
  """The expression below a sum, equal for equal sums of the same memory."""
  names, ranges = {}, {}
  for u in reduce.toposort():
    if u.op is Ops.RANGE: ranges[u] = f"r{len(ranges)}:{u.vmax + 1}"
    arg = f"buffer {id(buffers[u.arg])}" if u.op is Ops.DEFINE_GLOBAL else ranges.get(u, repr(u.arg))
    names[u] = hash((str(u.op), str(u.dtype), arg, tuple(names[s] for s in u.src)))
  return names[reduce]

def sums_computed_twice(results):
  seen, twice = {}, []
  for number, item in enumerate(Tensor.schedule(*results)):
    for u in item.ast.toposort():
      if u.op is not Ops.REDUCE or u.src[0].op is not Ops.MUL: continue
      first = seen.setdefault(text_of(u, item.bufs), number)
      if first != number: twice.append((first, number))
  return twice

def gate(h): a, b = h.chunk(2, dim=-1); return a.silu() * b
def norm_gelu(h): return (h.layernorm() * 1.5 + 0.25).gelu()
FUNCTIONS = {name: (lambda h, n=name: getattr(h, n)()) for name in
             "relu gelu quick_gelu silu tanh sigmoid softplus mish elu selu celu hardswish softsign logsigmoid leaky_relu erf relu6".split()}
FUNCTIONS |= {"gate": gate, "norm_gelu": norm_gelu, "squared": lambda h: h.relu().square(), "softmax": lambda h: h.softmax(), "twice": lambda h: h.tanh() * h.sigmoid()}

def lstm(x, h, c, w, u):
  i, f, g, o = (x @ w + h @ u).chunk(4, dim=1)
  now = f.sigmoid() * c + i.sigmoid() * g.tanh()
  return o.sigmoid() * now.tanh()
def gru(x, h, c, w, u):
  a, b = (x @ w).chunk(4, dim=1), (h @ u).chunk(4, dim=1)
  r, z = (a[0] + b[0]).sigmoid(), (a[1] + b[1]).sigmoid()
  return (1 - z) * (a[2] + r * b[2]).tanh() + z * h + c

def both_gradients(f, inputs, slope):
  """Of the mean of the squares, and of what is given as slope of the results."""
  yield f(*inputs).square().mean().gradient(*inputs)
  yield (f(*inputs) * slope).sum().gradient(*inputs)

def test_layers():
  x, v, slope = draw(1024, 128), draw(128, 512), draw(1024, 128)
  for name, f in FUNCTIONS.items():
    w = draw(256 if name == "gate" else 512, 128)
    for layer in (lambda x, v, w: f(x @ v) @ w, lambda x, v, w: f(x @ (v * 0.1)) @ w):  # a factor leaves the sum
      for found in both_gradients(layer, (x, v, w), slope):
        assert not sums_computed_twice(found), name

def test_layers_with_biases_and_residuals():
  x, v, w, b = draw(96, 40), draw(40, 72), draw(72, 40), draw(72)
  for name in ("gelu", "tanh", "mish"):
    f = FUNCTIONS[name]
    for found in both_gradients(lambda x, v, w, b: x + f((x.layernorm() @ v) + b) @ w, (x, v, w, b), draw(96, 40)):
      assert not sums_computed_twice(found), name

def test_cells():
  for cell in (lstm, gru):
    inputs = draw(64, 48), draw(64, 32), draw(64, 32), draw(48, 128), draw(32, 128)
    for found in both_gradients(cell, inputs, draw(64, 32)):
      assert not sums_computed_twice(found), cell.__name__

def test_convolutions():
  x, w, v = draw(4, 8, 20, 20), draw(12, 8, 3, 3), draw(6, 12, 3, 3)
  for name in ("gelu", "tanh", "silu"):
    f = FUNCTIONS[name]
    for found in both_gradients(lambda x, w, v: f(x.conv2d(w, padding=1)).conv2d(v), (x, w, v), draw(4, 6, 18, 18)):
      assert not sums_computed_twice(found), name

run(globals())
