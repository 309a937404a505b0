# Transforms as programs use them: trees and axes of every kind, jit, shards, indexing, auxiliary results, Jacobians by patterns,
# every example of the guide, and the words of what is refused.
import pathlib, re
from collections import OrderedDict, namedtuple
import numpy as np
from tinygrad import GlobalCounters, Tensor, TinyJit, dtypes
from uopscope import checkpoint, custom_jvp, custom_vjp, grad, hessian, hvp, jacfwd, jacrev, jvp, linearize, sparse_hessian, sparse_jacobian, value_and_grad, vjp, vmap
from check import close, raises, run
rng = np.random.default_rng(7)

def T(*shape): return Tensor(rng.uniform(0.3, 1.4, shape)).realize()

# --- trees and axes ---

Pair = namedtuple("Pair", "w b")
def test_trees_of_every_kind():
  out = vmap(lambda p: Pair(p.w * 2, p.b))(Pair(T(4, 3), T(4)))
  assert type(out) is Pair and out.w.shape == (4, 3)
  assert type(vmap(lambda d: d)(OrderedDict(b=T(4), a=T(4, 2)))) is OrderedDict and list(vmap(lambda d: d)(OrderedDict(b=T(4), a=T(4, 2)))) == ["b", "a"]
  some, nothing, empty, one = vmap(lambda d: (d[0], None, [], 1.0))((T(4), None))
  assert nothing is None and empty == [] and one.shape == (4,)
  assert vmap(lambda d: d[1])({1: T(4), 0: T(4, 2)}).shape == (4,)
  g = grad(lambda p: (p.w * p.b).sum())(Pair(T(3), T(3)))
  assert type(g) is Pair and g.b.shape == (3,)

def test_axes_of_every_kind():
  x = T(2, 3, 4)
  for axis in (0, 1, 2, -1, -2):
    for to in (0, 1, 2, -1):
      close(vmap(lambda a: a * 2, in_axes=axis, out_axes=to)(x), np.moveaxis(x.numpy() * 2, axis, to))
  a, b = T(4), T(1)[0]
  for axes in ((0, None), [0, None], ({"a": 0, "b": None}, 0)):
    args = ({"a": a, "b": b}, a) if isinstance(axes[0], dict) else (a, b)
    f = (lambda d, y: d["a"] + d["b"] * y) if isinstance(axes[0], dict) else lambda p, q: p + q
    assert vmap(f, in_axes=axes)(*args).shape == (4,)
  assert [y.shape for y in vmap(lambda r: (r, {"p": r}), out_axes=(0, {"p": 1}))(T(4, 3))[:1]] == [(4, 3)]
  assert vmap(lambda r, k: r + k)(a, k=T(4)).shape == (4,) and vmap(lambda r, k: r * k)(a, 2.0).shape == (4,)
  assert vmap(vmap(vmap(lambda r: r.sum())))(T(2, 3, 4, 5)).shape == (2, 3, 4)
  raises(TypeError, lambda: vmap(lambda r: r, in_axes="x"), "in_axes is 'x'"), raises(TypeError, lambda: vmap(lambda r: r, in_axes=1.5), "1.5")
  raises(TypeError, lambda: vmap(lambda r: r, out_axes=0.5)(a), "out_axes is 0.5"), raises(TypeError, lambda: vmap(lambda r: r, in_axes=(True,))(a), "an axis is a number")
  raises(ValueError, lambda: vmap(lambda r: (r, r), out_axes=(0, 0, 0))(a), "out_axes"), raises(IndexError, lambda: vmap(lambda r: r, out_axes=5)(a), "axis 5")
  raises(ValueError, lambda: vmap(lambda r: r)(np.ones(3)), "ndarray"), raises(IndexError, lambda: vmap(lambda r: r)(Tensor(1.0)), "0 axes")

# --- together with jit, shards, indexing ---

def test_a_jit_under_a_transform_is_its_function():
  for f in (lambda a: (a * a).sum(), lambda a: (a * a).sum().realize()):
    g = TinyJit(f)
    xs = T(4, 3)
    for _ in range(4): close(vmap(g)(xs), (xs.numpy() ** 2).sum(1)), close(vmap(grad(g))(xs), 2 * xs.numpy())
    for _ in range(4): g(T(3)) # captured
    close(grad(g)(xs[0].contiguous().realize()), 2 * xs.numpy()[0]), close(vmap(g)(xs), (xs.numpy() ** 2).sum(1))
  step = TinyJit(lambda w, x: value_and_grad(lambda w: ((x @ w) ** 2).mean())(w))
  w, x = T(3), T(10, 3)
  for _ in range(4):
    value, g = step(w, x)
    close(g, 2 * x.numpy().T @ (x.numpy() @ w.numpy()) / 10)

def test_realize_leaves_arguments_alone():
  close(vmap(lambda a: (a.realize() * 2).realize() + a)(T(3) * 0 + 1), [3, 3, 3])
  u, s, v = vmap(lambda a: a.svd())(x := T(3, 2, 2))
  close(s, np.linalg.svd(x.numpy())[1])

def test_shards():
  devices = ("CPU:0", "CPU:1")
  w, xs = T(3), T(4, 3)
  ws, xss = Tensor(w.numpy()).shard(devices), Tensor(xs.numpy()).shard(devices, axis=0)
  loss = lambda w, x: (x * w).sum() ** 2
  close(vmap(loss, (None, 0))(ws, xss), vmap(loss, (None, 0))(w, xs).numpy())
  assert vmap(loss, (None, 0))(ws, xss).device == ("CPU", "CPU:1")
  close(vmap(lambda x: grad(lambda w: loss(w, x))(ws))(xss), vmap(lambda x: grad(lambda w: loss(w, x))(w))(xs).numpy())
  close(grad(lambda w: vmap(lambda x: loss(w, x))(xss).mean())(ws), grad(lambda w: vmap(lambda x: loss(w, x))(xs).mean())(w).numpy())
  close(jvp(lambda x: vmap(lambda r: r.softmax())(x), (xss,), (xss,))[1], jvp(lambda x: x.softmax(), (xs,), (xs,))[1].numpy())

def test_indexing_is_a_gather_whatever_is_mapped():
  n, m, b = 300, 2000, 5
  at, x, xs, ats = Tensor(rng.integers(0, n, m).astype(np.int32)).realize(), T(n), T(b, n), Tensor(rng.integers(0, n, (b, m)).astype(np.int32)).realize()
  def within(make, kept):
    GlobalCounters.reset()
    out = make().realize()
    assert GlobalCounters.global_ops < 40 * kept, (GlobalCounters.global_ops, kept)
    return out
  close(within(lambda: vmap(lambda a: a[at])(xs), b * m), xs.numpy()[:, at.numpy()])
  close(within(lambda: vmap(lambda i: x[i])(ats), b * m), x.numpy()[ats.numpy()])
  close(within(lambda: vmap(lambda a, i: a[i])(xs, ats), b * m), np.take_along_axis(xs.numpy(), ats.numpy(), 1))
  want = np.zeros((b, n))
  for k in range(b): np.add.at(want[k], at.numpy(), 2 * xs.numpy()[k][at.numpy()])
  close(within(lambda: vmap(grad(lambda a: (a[at] ** 2).sum()))(xs), 3 * b * m), want)

# --- derivatives ---

def test_auxiliary_results():
  x = T(3)
  f = lambda a: (a * a, {"sum": a.sum(), "n": 3})
  for answer, aux in ((jacfwd(f, has_aux=True)(x)), (jacrev(f, has_aux=True)(x)), jvp(f, (x,), (x,), has_aux=True)[1:], linearize(f, x, has_aux=True)[1:], vjp(f, x, has_aux=True)[1:],
                      grad(lambda a: ((a * a).sum(), f(a)[1]), has_aux=True)(x), hessian(lambda a: ((a * a).sum(), f(a)[1]), has_aux=True)(x)):
    close(aux["sum"], x.numpy().sum()), close(aux["n"], 3)
  for transform in (grad, jacfwd, jacrev): raises(TypeError, lambda: transform(lambda a: a.sum(), has_aux=True)(x), "pair")

def test_any_order():
  f = lambda x: x.sin() * x
  for derive in (grad, jacfwd, jacrev, lambda f: lambda x: jvp(f, (x,), (x.ones_like(),))[1]):
    g = f
    for _ in range(5): g = derive(g)
    close(g(Tensor(0.7, dtype=dtypes.float64)), 5 * np.sin(0.7) + 0.7 * np.cos(0.7), rtol=1e-9)

def chain(x): return x[1:] * x[:-1] + x[1:].sin()
def test_jacobians_by_patterns():
  """Large Jacobians that are mostly zero take as many seeds as the pattern has colours, whatever is done with them."""
  x = T(40)
  want = np.stack([jvp(chain, (x,), (Tensor(np.eye(40)[i]),))[1].numpy() for i in range(40)], 1)
  for jac in (jacfwd, jacrev):
    GlobalCounters.reset()
    close(jac(chain)(x).realize(), want)
    assert GlobalCounters.global_ops < 8000, GlobalCounters.global_ops # 40 seeds by 39 results by 8 operations are 12,480
    close(jac(lambda a: chain(a).reshape(3, 13))(x.reshape(40)), want.reshape(3, 13, 40))
    two = jac(lambda a, b: {"c": chain(a) * b, "s": a.sum()}, argnums=(0, 1))(x, x[1:].contiguous().realize())
    close(two["c"][0], want * x.numpy()[1:, None]), close(two["c"][1], np.diag(chain(x).numpy())), close(two["s"][0], np.ones(40)), close(two["s"][1], np.zeros(39))
    close(vmap(jac(chain))(Tensor.stack(x, x)), np.stack([want, want]))
    close(grad(lambda a: (jac(chain)(a) ** 2).sum())(x), 2 * np.einsum("ij,ijk->k", want, jacfwd(jacrev(chain))(x).numpy()), rtol=1e-6)
    close(TinyJit(lambda a: jac(chain)(a).realize())(x), want)
  h = hessian(lambda a: (chain(a) ** 2).sum())(x)
  close(h, sparse_hessian(lambda a: (chain(a) ** 2).sum())(x).dense().numpy()), close(h @ x, hvp(lambda a: (chain(a) ** 2).sum(), x, x).numpy())
  mask = Tensor(rng.integers(0, 2, 40).astype(bool))
  close(jacfwd(lambda a: mask.where(a * a, 3 * a))(x), np.diag(np.where(mask.numpy(), 2 * x.numpy(), 3)))
  dense = lambda a: a @ K
  close(jacfwd(dense)(x), K.numpy().T), close(jacrev(dense)(x), K.numpy().T), close(sparse_jacobian(dense)(x).dense(), K.numpy().T)
K = T(40, 30)

def test_a_dense_sparse_jacobian_is_no_worse_than_jacrev():
  x = T(40)
  def work(f):
    f().realize()
    GlobalCounters.reset()
    f().realize()
    return GlobalCounters.global_ops
  f = lambda a: (a @ K).tanh()
  s = sparse_jacobian(f)
  assert work(lambda: s(x).values) <= 1.2 * work(lambda: jacrev(f)(x))

def test_rules_are_checked():
  x = T(3)
  f = custom_jvp(lambda a: a)
  f.defjvp(lambda p, t: p[0])
  raises(TypeError, lambda: jvp(f, (x,), (x,)), "pair (result, tangent)")
  g = custom_vjp(lambda a: a)
  g.defvjp(lambda a: a, lambda r, c: (c,))
  raises(TypeError, lambda: grad(lambda a: g(a).sum())(x), "pair (result, residuals)")
  scaled = checkpoint(lambda a, k=2.0: a * k)
  close(grad(lambda a: scaled(a, k=3.0).sum())(x), [3, 3, 3]), close(grad(lambda a: scaled(a).sum())(x), [2, 2, 2])
  raises(TypeError, lambda: checkpoint(lambda a, *, k: a * k)(x, k=2), "by name alone")
  raises(TypeError, lambda: jvp(lambda a: a * 2.0, (Tensor([1, 2]),), (Tensor([1.0, 1.0]),)), "does not vary")
  raises(TypeError, lambda: sparse_jacobian(lambda a: a.round().cast(dtypes.int32))(x), "derivatives are of floats")
  raises(TypeError, lambda: vmap(lambda a: a if a > 0 else -a)(x), "where()")

# --- the guide ---

def test_every_example_of_the_guide():
  """The Python of docs/guide/transforms.md runs, block after block in one module, over the values below."""
  text = (pathlib.Path(__file__).parents[3] / "docs/guide/transforms.md").read_text()
  blocks = re.findall(r"```python\n(.*?)```", text, re.S)
  assert len(blocks) >= 6, len(blocks)
  names = {"Tensor": Tensor}
  for block in blocks: exec(compile(block, "docs/guide/transforms.md", "exec"), names)

if __name__ == "__main__": run(globals())
