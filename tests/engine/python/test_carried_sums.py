# Sums that a loop carries, beside other work: derivatives of running products and extremes, running and scattered sums below another
# reduction or with further outputs. Values against NumPy in float64; work grows with the length, not with its square.
import numpy as np
from tinygrad import Tensor, GlobalCounters, nn
from check import run
rng = np.random.default_rng(11)

def draw(*shape): return rng.standard_normal(shape).astype(np.float32)
def close(got, want, terms=1): np.testing.assert_allclose(got.numpy() if isinstance(got, Tensor) else got, want, rtol=terms * 2e-6, atol=terms * 2e-6 * max(1e-3, np.abs(want).max(initial=0)))
def gradient(f, x, g):
  t = Tensor(x).requires_grad_(True)
  return (f(t) * Tensor(g)).sum().gradient(t)[0]

def slope_of_products(x, g):
  """The gradient of x.cumprod(-1): what goes on from each element, times the product before it. Exact at zeros."""
  x, g, out = x.astype(np.float64), g.astype(np.float64), np.zeros(x.shape)
  before = np.concatenate([np.ones(x.shape[:-1] + (1,)), x.cumprod(-1)[..., :-1]], -1)
  goes_on = np.zeros(x.shape[:-1])
  for j in reversed(range(x.shape[-1])):
    goes_on = g[..., j] + (x[..., j + 1] * goes_on if j + 1 < x.shape[-1] else 0)
    out[..., j] = goes_on * before[..., j]
  return out
def slope_of_extremes(x, g, numpys):
  """The gradient of x.cummax(-1): elements that are the maximum so far share it."""
  best, out = numpys.accumulate(x, -1), np.zeros(x.shape)
  for i in range(x.shape[-1]):
    tie = x[..., :i + 1] == best[..., i:i + 1]
    out[..., :i + 1] += tie * (g[..., i:i + 1] / tie.sum(-1, keepdims=True))
  return out

def test_derivatives_of_products_and_extremes():
  for n in (16, 17, 63, 64, 65, 200, 520):
    for shape, axis in (((n,), 0), ((3, n), 1), ((n, 5), 0), ((2, n, 20), 1)):
      g, plain = draw(*shape), (1 + 0.05 * draw(*shape)).astype(np.float32)
      zeros, ties = plain.copy(), np.round(2 * draw(*shape)) / 2
      zeros.reshape(-1)[::29] = 0
      for x in (plain, zeros, ties.astype(np.float32)):
        back = lambda a: np.moveaxis(a, -1, axis)
        ahead = [np.moveaxis(a, axis, -1) for a in (x, g)]
        if x is not ties: close(gradient(lambda t: t.cumprod(axis), x, g), back(slope_of_products(*ahead)), n)
        close(gradient(lambda t: t.cummax(axis)[0], x, g), back(slope_of_extremes(*ahead, np.maximum)), 20)
        close(gradient(lambda t: t.cummin(axis)[0], x, g), back(slope_of_extremes(*ahead, np.minimum)), 20)

def test_second_derivatives():
  for x in (1 + 0.05 * draw(40), np.where(np.arange(40) == 13, 0, 1 + 0.05 * draw(40))):
    x, v = x.astype(np.float32), draw(40)
    t = Tensor(x).requires_grad_(True)
    first = (t.cumprod(0) * Tensor(v)).sum().gradient(t)[0]
    second = (first * Tensor(v)).sum().gradient(t)[0]
    step = 1e-4
    at = lambda s: slope_of_products(x.astype(np.float64) + s * v, v)
    close(second, (at(step) - at(-step)) / (2 * step), 200)

def test_special_values():
  x = np.ones(40, np.float32)
  x[[3, 20, 30]] = 2, np.inf, 0  # the product is infinite, then not a number
  with np.errstate(invalid="ignore"): np.testing.assert_array_equal(Tensor(x).cumprod(0).numpy(), x.cumprod())
  # An infinity belongs to the maxima from its place on; elements before it keep their finite gradients.
  y = np.linspace(0, 1, 40).astype(np.float32); y[25] = np.inf
  g = np.ones(40, np.float32); g[30] = np.inf
  got = gradient(lambda t: t.cummax(0)[0], y, g).numpy()
  np.testing.assert_array_equal(got[:25], np.ones(25)); assert got[25] == np.inf and not got[26:].any()

COMPANY = {
  "a sum of a running sum": (lambda x, w: (x.cumsum(1) * w).sum(), lambda x, w: (x.cumsum(1) * w).sum()),
  "sums of rows of it": (lambda x, w: (x.cumsum(1) * w).sum(1), lambda x, w: (x.cumsum(1) * w).sum(1)),
  "it and another output": (lambda x, w: Tensor.stack(*(lambda y: (y.contiguous(), (y * 2).contiguous()))(x.cumsum(1))), lambda x, w: np.stack([x.cumsum(1), 2 * x.cumsum(1)])),
  "two running sums": (lambda x, w: x.cumsum(1) + w.cumsum(1), lambda x, w: x.cumsum(1) + w.cumsum(1)),
  "a product of both": (lambda x, w: x.cumsum(1) @ w.transpose(), lambda x, w: x.cumsum(1) @ w.T),
  "its largest": (lambda x, w: x.cumsum(1).max(1), lambda x, w: x.cumsum(1).max(1)),
  "places that are permuted bits": (lambda x, w: x.sort(1)[0].cumsum(1), lambda x, w: np.sort(x, 1).cumsum(1)),
  "windows": (lambda x, w: (x.pad(((0, 0), (x.shape[1] - 1, 0)))._pool((x.shape[1],)).sum(-1) * w).sum(1), lambda x, w: (x.cumsum(1) * w).sum(1)),
}
def test_running_sums_in_company():
  for name, (ours, numpys) in COMPANY.items():
    for n in (20, 64, 300):
      x, w = draw(40, n), draw(40, n)
      close(ours(Tensor(x), Tensor(w)), numpys(x.astype(np.float64), w.astype(np.float64)), 10 * n)

def embedding_step(v, d, n, optim=nn.optim.Adam):
  Tensor.training, weight, to, index = True, draw(v, d), draw(d, 3), rng.integers(0, v, n)
  e = nn.Embedding(v, d)
  e.weight.assign(Tensor(weight)).realize()
  opt, i, w = optim([e.weight], lr=0.01), Tensor(index.astype(np.int32)).realize(), Tensor(to).realize()
  GlobalCounters.reset()
  (e(i) @ w).square().mean().backward()
  opt.step()
  g, rows = np.zeros((v, d)), weight.astype(np.float64)[index]
  np.add.at(g, index, 2 * (rows @ to) @ to.T.astype(np.float64) / (n * 3))
  return e.weight.numpy(), weight, g, GlobalCounters.global_ops

def test_a_step_of_an_embedding():
  for v, d, n in ((50, 8, 30), (300, 16, 500)):
    got, weight, g, _ = embedding_step(v, d, n, nn.optim.SGD)
    close(got, weight - 0.01 * g, 10)
    got, weight, g, _ = embedding_step(v, d, n)
    sure = np.abs(g) > 1e-5  # the first step of Adam goes by the sign of the gradient
    close(got[sure], (weight - 0.01 * g / (np.abs(g) + 1e-8))[sure], 10), close(got[g == 0], weight[g == 0])

def looked_up_twice(n):
  w, x, i = Tensor(draw(n, 16)).realize(), [Tensor(draw(n, 16)).realize() for _ in range(2)], Tensor(np.arange(n)[::-1].astype(np.int32).copy()).realize()
  w.requires_grad = True
  GlobalCounters.reset()
  got = ((w[i] * x[0]).sum() + (w[i] * x[1]).sum()).gradient(w)[0].realize()
  ops = GlobalCounters.global_ops
  close(got, (x[0].numpy() + x[1].numpy())[::-1], 2)
  return ops

def test_work_is_linear():
  def of(f):
    def work(n):
      x, w = Tensor(draw(64, n)).realize(), Tensor(draw(64, n)).realize()
      GlobalCounters.reset()
      f(x, w).realize()
      return GlobalCounters.global_ops
    return work
  programs = {name: of(ours) for name, (ours, _) in COMPANY.items()} | {
    "gradient of cumprod": of(lambda x, w: gradient(lambda t: t.cumprod(1), x.numpy(), w.numpy())),
    "gradient of cummax": of(lambda x, w: gradient(lambda t: t.cummax(1)[0], x.numpy(), w.numpy())),
    "Adam on an embedding": lambda n: embedding_step(n, 16, n)[3], "SGD on an embedding": lambda n: embedding_step(n, 16, n, nn.optim.SGD)[3],
    "rows looked up twice": looked_up_twice}
  for name, work in programs.items():
    few, many = work(1000), work(4000)
    assert many < 6 * few, f"{name}: {few} operations for 1,000, {many} for 4,000"

if __name__ == "__main__": run(globals())
