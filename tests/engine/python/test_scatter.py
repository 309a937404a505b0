# Elements set by lists of numbers, in tensors and by scatter, against NumPy: of several entries for one element the last one wins, zeros
# keep their sign, and the program does not grow with the list (3,000 entries once took 84 s to compile).
import numpy as np
from tinygrad import GlobalCounters, Tensor, Variable
from check import run
rng = np.random.default_rng(5)
TYPES = (np.float32, np.float64, np.float16, np.int8, np.uint8, np.int64, np.int32, bool)

def draw(kind, shape):
  a = np.where(rng.random(shape) < 0.1, -0.0, rng.standard_normal(shape) * 3)
  return np.where(rng.random(shape) < 0.05, np.nan if np.dtype(kind).kind == "f" else 1, a).astype(kind)
def same(got, want):
  bits = lambda a: a if a.dtype == bool else a.view(np.uint8)
  assert got.shape == want.shape and np.array_equal(bits(got), bits(want)), f"{got}\n{want}"

def test_setitem_by_lists():
  for _ in range(80):
    kind, shape = rng.choice(TYPES), tuple(int(v) for v in rng.integers(1, 9, rng.integers(1, 4)))
    x = draw(kind, shape); want = x.copy(); t = Tensor(x).contiguous().realize()
    entries = tuple(int(v) for v in rng.choice([3, 17, 20, 40], rng.integers(1, 3)))
    axes = range(int(rng.integers(1, len(shape) + 1))) if rng.integers(0, 2) else [int(rng.integers(0, len(shape)))]
    index = tuple(rng.integers(-shape[a], shape[a], entries) if a in axes else slice(None) for a in range(len(shape)))
    v = draw(kind, want[index].shape) if rng.integers(0, 3) else draw(kind, ())
    want[index] = v
    t[tuple(i if isinstance(i, slice) else Tensor(i) for i in index)] = Tensor(v)
    same(t.numpy(), want)

def test_sums_by_index_on_threads():
  # Large enough for threads: rows of their own, columns of their own, and indices outside of the result beside valid ones.
  for rows, width, terms in ((300, 1024, 700), (997, 513, 600)):
    x, i = rng.integers(-9, 9, (rows, width)).astype(np.float32), rng.integers(0, width, (rows, terms)).astype(np.int32)
    v = rng.integers(-9, 9, (rows, terms)).astype(np.float32)
    want = x.copy()
    np.add.at(want, (np.arange(rows)[:, None], i), v)
    same(Tensor(x).scatter_reduce(1, Tensor(i), Tensor(v), "sum").numpy(), want)
    want = np.full_like(x, -np.inf)
    np.maximum.at(want, (np.arange(rows)[:, None], i), v)
    want = np.where(np.isinf(want), 0, want) + 0.0
    same(Tensor.zeros(rows, width).scatter_reduce(1, Tensor(i), Tensor(v), "amax", include_self=False).numpy() + 0.0, want)
  for words, width, terms in ((4096, 256, 1024), (777, 250, 3000)):
    i, g = rng.integers(0, words, terms).astype(np.int32), rng.integers(-9, 9, (terms, width)).astype(np.float32)
    want = np.zeros((words, width), np.float32)
    np.add.at(want, i, g)
    w = Tensor.zeros(words, width).contiguous().realize().requires_grad_()
    same((w[Tensor(i)] * Tensor(g)).sum().gradient(w)[0].numpy(), want)

def test_the_last_of_many_entries():
  # Results in tens and more: one loop over the entries sets them, in order. Entries that name nothing stand beside valid ones.
  for kind in (np.float32, np.float16, np.int8, np.int64, bool):
    for shape, d, n in (((7, 40), 1, 100), ((40, 7), 0, 100), ((33, 65), 0, 20), ((3, 50, 5), 1, 64), ((1000,), 0, 3000), ((513, 1024), 1, 256), ((1024, 513), 0, 300)):
      entries = tuple(n if a == d else s for a, s in enumerate(shape))
      x, v, at = draw(kind, shape), draw(kind, entries), rng.integers(0, shape[d], entries).astype(np.int32)
      want, where = x.copy(), [np.arange(s).reshape([-1 if a == b else 1 for b in range(len(shape))]) for a, s in enumerate(entries)]
      for j in range(n):
        one = tuple(slice(j, j + 1) if a == d else slice(None) for a in range(len(shape)))
        want[tuple(at[one] if a == d else where[a] for a in range(len(shape)))] = v[one]
      same(Tensor(x).scatter(d, Tensor(at), Tensor(v)).numpy(), want)
      if kind is np.float32:  # what reads the result in the same kernel
        got = (Tensor(x).scatter(d, Tensor(at), Tensor(v)) * 2 + 1).numpy()
        assert np.array_equal(got, want * 2 + 1, equal_nan=True)
  for rows, columns, n in ((100, 30, 50), (30, 100, 2000)):  # pairs of indices, rows, columns, in place
    x = rng.standard_normal((rows, columns)).astype(np.float32)
    i, j = rng.integers(-rows, rows, n), rng.integers(-columns, columns, n)
    v, r, c = (rng.standard_normal(s).astype(np.float32) for s in ((n,), (n, columns), (rows, n)))
    for index, values in (((i, j), v), (i, r), ((slice(None), j), c)):
      want, t = x.copy(), Tensor(x).contiguous().realize()
      for k in range(n):  # NumPy leaves the order open
        one = tuple(p if isinstance(p, slice) else p[k] for p in index) if isinstance(index, tuple) else index[k]
        want[one] = values[k] if values is not c else values[:, k]
      t[tuple(p if isinstance(p, slice) else Tensor(p) for p in index) if isinstance(index, tuple) else Tensor(index)] = Tensor(values)
      same(t.numpy(), want)

def test_reads_by_two_indices_are_not_sums():
  x, i, j = rng.standard_normal((512, 512, 4)).astype(np.float32), rng.integers(-512, 512, 1000), rng.integers(-512, 512, 1000)
  t, a, b = Tensor(x).realize(), Tensor(i).realize(), Tensor(j).realize()
  GlobalCounters.reset()
  same(t[a, b].numpy(), x[i, j])
  assert GlobalCounters.global_ops < 1 << 20, GlobalCounters.global_ops  # a sum of 512 x 512 terms for each element has 2 ** 30
  big = rng.standard_normal((70000, 3)).astype(np.float32)
  k = rng.integers(0, 70000, 5)
  same(Tensor(big).realize()[Tensor(k)].numpy(), big[k])

def test_setitem_of_a_bound_length():
  for n in (2, 20):
    t, at, v = Tensor.zeros(50, 4).contiguous().realize(), [3 * i % 4 for i in range(n)], np.arange(n, dtype=np.float32)
    part = t.shrink(((0, Variable("n", 1, 50).bind(20)), None))
    part[:, Tensor(at)] = Tensor(v)
    want = np.zeros((50, 4), np.float32); want[:20, at] = v
    same(t.numpy(), want)

def test_scatter():
  for _ in range(80):
    kind, shape = rng.choice(TYPES), tuple(int(v) for v in rng.integers(1, 9, rng.integers(1, 4)))
    d = int(rng.integers(0, len(shape)))
    entries = tuple(int(rng.choice([3, 17, 40])) if a == d else int(rng.integers(1, n + 1)) for a, n in enumerate(shape))
    x, at, v = draw(kind, shape), rng.integers(0, shape[d], entries), draw(kind, entries)
    want = x.copy()
    for p in np.ndindex(*entries): want[p[:d] + (at[p],) + p[d + 1:]] = v[p]
    same(Tensor(x).scatter(d, Tensor(at), Tensor(v)).numpy(), want)
    want = x.copy()
    for p in np.ndindex(*entries): want[p[:d] + (at[p],) + p[d + 1:]] = 1
    same(Tensor(x).scatter(d, Tensor(at), 1).numpy(), want)

def test_gradient_of_scatter():
  for n in (5, 40):
    x, v, g = (Tensor(rng.standard_normal(s).astype(np.float32)) for s in ((6, 50), (6, n), (6, 50)))
    at = np.stack([rng.permutation(50)[:n] for _ in range(6)])
    x.requires_grad_(True), v.requires_grad_(True)
    of_x, of_v = (x.scatter(1, Tensor(at), v) * g).sum().gradient(x, v)
    want = g.numpy().copy(); np.put_along_axis(want, at, 0, 1)
    same(of_x.numpy(), want), same(of_v.numpy(), np.take_along_axis(g.numpy(), at, 1))

def test_the_program_does_not_grow():
  def nodes(n): return len(Tensor.zeros(5000, 4).scatter(0, Tensor(np.zeros((n, 4), np.int64)), Tensor(np.ones((n, 4), np.float32))).uop.toposort())
  assert nodes(4000) < nodes(16) < 500

REDUCED = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
def test_reductions_by_index():
  for rows, width, terms in ((40, 7, 200), (300, 1, 3000), (50, 64, 30)):
    for dtype in (np.float32, np.int32, np.uint8):
      x = (rng.standard_normal((terms, width)) if dtype == np.float32 else rng.integers(0, 100, (terms, width))).astype(dtype)
      own = (rng.standard_normal((rows, width)) if dtype == np.float32 else rng.integers(0, 100, (rows, width))).astype(dtype)
      i = rng.integers(0, rows, terms)
      for how, f in REDUCED.items():
        want = own.astype(np.float64 if dtype == np.float32 else dtype)
        f.at(want, i, x.astype(want.dtype))
        got = Tensor(own).scatter_reduce(0, Tensor(i.astype(np.int32)).reshape(-1, 1).expand(terms, width), Tensor(x), how)
        np.testing.assert_allclose(got.numpy(), want, rtol=2e-5, atol=1e-5, err_msg=f"{how} {dtype} {rows}")

def test_reductions_by_index_of_special_values():
  x, i = np.array([np.nan, 1, -np.inf, np.inf, 2, -0.0, 0.0, 5] * 4, np.float32), np.array([*range(8)] * 4) % 20
  for how, f in REDUCED.items():
    identity = {"sum": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}[how]
    want = np.full(20, identity, np.float32)
    with np.errstate(all="ignore"): f.at(want, i, x)
    np.testing.assert_array_equal(Tensor.full((20,), identity).contiguous().scatter_reduce(0, Tensor(i.astype(np.int32)), Tensor(x), how).numpy(), want)

def test_reductions_by_index_go_through_the_terms_once():
  for how in REDUCED:
    def work(n):
      x, i, own = (Tensor(a).realize() for a in (rng.standard_normal((n, 16)).astype(np.float32), rng.integers(0, n, (n, 1)).astype(np.int32), np.ones((n, 16), np.float32)))
      GlobalCounters.reset()
      own.scatter_reduce(0, i.expand(n, 16), x, how).realize()
      return GlobalCounters.global_ops
    few, many = work(500), work(2000)
    assert many < 6 * few, (how, few, many)

def test_many_terms_are_added_in_one_loop():
  """Longer than a sum that is cut for threads: each part would have all results, and be added up once more."""
  for rows, width, terms in ((20000, 1, 60000), (30, 8, 40000)):
    i, v = rng.integers(0, rows, terms).astype(np.int32), rng.standard_normal((terms, width)).astype(np.float32)
    want = np.zeros((rows, width)); np.add.at(want, i, v.astype(np.float64))
    w, at, by = Tensor(np.zeros((rows, width), np.float32)).realize(), Tensor(i).realize(), Tensor(v).realize()
    w.requires_grad = True
    GlobalCounters.reset()
    got = (w[at] * by).sum().gradient(w)[0].realize()
    assert GlobalCounters.global_ops < 12 * terms * width, GlobalCounters.global_ops
    assert GlobalCounters.mem_used < 3 * 4 * (rows + terms) * (width + 1), GlobalCounters.mem_used
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-3)

def test_many_results_of_few_terms():
  """Threads clear parts of their own and look at all terms, also those with infinities, and places named twice."""
  for shape, entries in (((4096, 32, 16), 900), ((4095, 600), 50), ((2100000,), 64), ((32768, 64), 300), ((1026, 256), 200)):
    which = range(max(1, len(shape) - 1))
    at = [rng.integers(-shape[d], shape[d], entries).astype(np.int32) for d in which]
    for a in at: a[-3:] = a[0]
    v = rng.integers(-9, 9, (entries, *shape[len(which):])).astype(np.float32)
    v[1], v[2] = np.inf, np.nan
    want = np.zeros(shape, np.float32); np.add.at(want, tuple(at), v)
    x = Tensor.empty(*shape)
    got = x[tuple(map(Tensor, at))].gradient(x, gradient=Tensor(v))[0]
    np.testing.assert_array_equal(got.numpy(), want)
    y = Tensor.full(shape, 3.0).contiguous().realize()
    y[tuple(map(Tensor, at))] = Tensor(v)
    want = np.full(shape, 3.0, np.float32); want[tuple(at)] = v
    np.testing.assert_array_equal(y.numpy(), want)

if __name__ == "__main__": run(globals())
