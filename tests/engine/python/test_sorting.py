"""Sorting against NumPy: every type, NaN and infinities, equal values by position, layouts, lengths that are no powers of two."""
import numpy as np
import uopscope
from tinygrad import Tensor, Context
from check import run
from test_one_value import levels

rng = np.random.default_rng(5)
TYPES = [np.float32, np.int32, np.float64, np.int64, np.uint64, np.uint8, np.int8, np.float16, np.bool_, np.uint32]

def numbers(shape, kind):
  x = rng.integers(0, 2 if kind == np.bool_ else 20, shape).astype(kind)
  if np.issubdtype(kind, np.floating):
    x -= 10; flat = x.reshape(-1); flat[rng.permutation(flat.size)[:4]] = [np.nan, np.inf, -np.inf, -0.0][:min(4, flat.size)]
  return x

def positions(x, axis, descending):
  """Stable; a NaN is larger than any number, and both zeros are one value."""
  _, rank = np.unique(x, return_inverse=True)
  return np.argsort(-rank.reshape(x.shape) if descending else rank.reshape(x.shape), axis=axis, kind="stable")

def holds(x, axis, k=None):
  for descending in (False, True):
    order = positions(x, axis, descending)
    values, at = Tensor(x).sort(axis, descending) if k is None else Tensor(x).topk(k, axis, descending)
    order = order if k is None else np.take(order, range(k), axis)
    assert np.array_equal(at.numpy(), order), (x.shape, x.dtype, axis, k, descending)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, order, axis), err_msg=str((x.shape, x.dtype, axis, k, descending)))

def test_every_type():
  for kind in TYPES: holds(numbers((3, 9), kind), 1), holds(numbers((3, 9), kind), 1, 3)

def test_layouts_and_lengths():
  for shape, axis in (((40,), 0), ((9, 2), 0), ((2, 5, 3), 1), ((1, 2), 1), ((2, 0, 3), 2), ((5, 1), 1), ((20, 64), 1)): holds(numbers(shape, np.float32), axis)

def test_first_of_many():
  for n, k in ((1, 1), (2, 1), (5, 5), (9, 2), (64, 1), (100, 7), (300, 40)): holds(numbers((3, n), np.float32), 1, k)
  assert Tensor([3.0, 1.0]).topk(0)[0].shape == (0,)

def test_first_of_very_many():
  """Groups are looked at first: equal values in several of them, the last one not full, two levels of groups."""
  for n, k in ((33, 1), (255, 3), (1000, 3), (4097, 10), (5000, 1)): holds(numbers((2, n), np.float32), 1, k)
  for kind in TYPES: holds(numbers((2, 300), kind), 1, 4)
  holds(numbers((400, 3), np.float32), 0, 2), holds(np.full((2, 500), np.nan, np.float32), 1, 3), holds(np.full((2, 500), np.inf, np.float32), 1, 3)
  x = numbers((2, 700), np.float32); w = rng.standard_normal((2, 5)).astype(np.float32)
  got = Tensor(x, requires_grad=True); (got.topk(5)[0].isnan().where(0, got.topk(5)[0]) * Tensor(w)).sum().backward()
  order = positions(x, 1, True)[:, :5]; want = np.zeros_like(x); np.put_along_axis(want, order, np.where(np.isnan(np.take_along_axis(x, order, 1)), 0, w), 1)
  np.testing.assert_array_equal(got.grad.numpy(), want)
  np.testing.assert_array_equal(uopscope.vmap(lambda r: r.topk(5)[1])(Tensor(x)).numpy(), order)

def test_one_answer_whatever_the_lanes():
  for level in levels():
    with Context(CPU_TARGET=level): holds(numbers((18, 37), np.float32), 1, 4)
  with Context(CPU_LLVM=0): holds(numbers((6, 20), np.float32), 1)

def test_gradient_goes_to_where_a_value_came_from():
  x = rng.permutation(48).reshape(4, 12).astype(np.float32); w = rng.standard_normal((4, 12)).astype(np.float32)
  for f, first in ((lambda t: t.sort(1)[0], 12), (lambda t: t.topk(3, 1)[0], 3)):
    t = Tensor(x, requires_grad=True); (f(t) * Tensor(w[:, :first])).sum().backward()
    order = positions(x, 1, first == 3)[:, :first]; want = np.zeros_like(x); np.put_along_axis(want, order, w[:, :first], 1)
    np.testing.assert_array_equal(t.grad.numpy(), want)

def test_derivatives_of_equal_values():
  x = np.array([[2, 1, 2, 1, 0], [3, 3, 3, 3, 3]], np.float32); w = np.arange(10, dtype=np.float32).reshape(2, 5) + 1
  order, first = positions(x, 1, False), positions(x, 1, True)[:, :3]
  want = np.zeros_like(x); np.put_along_axis(want, order, w, 1)
  loss = lambda a, b: (a.sort(-1)[0] * b).sum()
  np.testing.assert_array_equal(uopscope.grad(loss)(Tensor(x), Tensor(w)).numpy(), want)
  np.testing.assert_array_equal(uopscope.vmap(uopscope.grad(loss))(Tensor(x), Tensor(w)).numpy(), want)
  np.testing.assert_array_equal(uopscope.grad(lambda a: (uopscope.vmap(lambda r: r.sort()[0])(a) * Tensor(w)).sum())(Tensor(x)).numpy(), want)
  at, slope = uopscope.jvp(lambda a: a.sort(-1)[0], (Tensor(x),), (Tensor(w),))
  np.testing.assert_array_equal(at.numpy(), np.sort(x)); np.testing.assert_array_equal(slope.numpy(), np.take_along_axis(w, order, 1))
  slope = uopscope.vmap(lambda a, d: uopscope.jvp(lambda b: b.topk(3)[0], (a,), (d,))[1])(Tensor(x), Tensor(w))
  np.testing.assert_array_equal(slope.numpy(), np.take_along_axis(w, first, 1))
  cubes = uopscope.grad(lambda a: uopscope.grad(lambda b: (b.sort(-1)[0] ** 3 * Tensor(w)).sum())(a).sum())(Tensor(x))
  second = np.zeros_like(x); np.put_along_axis(second, order, 6 * np.sort(x) * w, 1)
  np.testing.assert_allclose(cubes.numpy(), second, rtol=1e-5)

def test_a_gradient_costs_no_other_network():
  x = numbers((256, 1024), np.float32)
  plain, derived = (Tensor(x, requires_grad=r).realize() for r in (False, True))
  for f in (lambda t: t.sort(1)[0], lambda t: t.topk(8, 1)[0]): assert len(f(plain).schedule()) == len(f(derived).schedule())
  assert len(derived.sort(1)[1].schedule()) <= 25
  assert len((derived.sort(1)[0] * 2).sum().gradient(derived)[0].schedule()) <= 30

def test_a_network_is_few_kernels():
  x = Tensor(numbers((256, 1024), np.float32)).realize()
  assert len(x.sort(1)[0].schedule()) <= 20 and len(x.topk(8, 1)[0].schedule()) <= 13

if __name__ == "__main__": run(globals())
