# Laws of transforms over random functions and over one function per operation; rejected calls; infinities, NaN and size 0.
import os, pathlib
import numpy as np
from tinygrad import Tensor, TinyJit, dtypes
from tinygrad.uop import GroupOp, Ops
import _uopscope
from uopscope import checkpoint, custom_jvp, custom_vjp, grad, hessian, hvp, jacfwd, jacrev, jvp, linearize, sparse_hessian, sparse_jacobian, value_and_grad, vjp, vmap
from check import close, raises, run
rng = np.random.default_rng(5)

def T(*shape, low=0.3, high=1.4): return Tensor(rng.uniform(low, high, shape))

# one or more functions of a (2, 3) tensor for every operation of a tensor graph
FUNCTIONS = {
  "add": lambda a: a + a.permute(1, 0).reshape(2, 3), "sub": lambda a: a - a.flip(1), "mul": lambda a: a * a[:, :1], "div": lambda a: a[0] / a[1], "reciprocal": lambda a: a.reciprocal(),
  "neg": lambda a: -a, "sin": lambda a: a.sin(), "log2": lambda a: a.log2(), "exp2": lambda a: a.exp2(), "sqrt": lambda a: a.sqrt(), "pow": lambda a: a.pow(a.flip(0)), "pow3": lambda a: a ** 3, "tanh": lambda a: a.tanh(),
  "maximum": lambda a: a.maximum(a.flip(1)), "where": lambda a: (a > 0.8).where(a * a, 3 * a), "relu": lambda a: (a - 0.8).relu(), "abs": lambda a: (a - 0.8).abs(), "clamp": lambda a: a.clamp(0.5, 1.0) * a, "trunc": lambda a: (a * 5).trunc() * a,
  "cast": lambda a: a.cast(dtypes.float64) * 2, "int": lambda a: (a * 4).cast(dtypes.int32).cast(dtypes.float64) + a, "round": lambda a: (a * 5).round() + a, "mod": lambda a: ((a * 9).cast(dtypes.int32) % 3).cast(dtypes.float64) * a,
  "bits": lambda a: (((a * 9).cast(dtypes.int32) ^ 5) & 6 | 1).cast(dtypes.float64) * a, "shift": lambda a: ((a * 9).cast(dtypes.uint32) << 2).cast(dtypes.float64) * a, "bitcast": lambda a: a * (a.bitcast(dtypes.int64) > 0).where(2.0, 1.0),
  "sum": lambda a: a.sum(1), "sum all": lambda a: (a * a).sum(), "max": lambda a: a.max(1), "min": lambda a: a.min(), "prod": lambda a: a.prod(1), "mean": lambda a: a.mean(0), "var": lambda a: a.var(1), "softmax": lambda a: a.softmax(),
  "logsumexp": lambda a: a.logsumexp(0), "cumsum": lambda a: a.cumsum(1), "layernorm": lambda a: a.layernorm(), "reshape": lambda a: a.reshape(3, 2), "expand": lambda a: a.unsqueeze(0).expand(4, 2, 3) * K3, "permute": lambda a: a.permute(1, 0),
  "pad": lambda a: a.pad(((1, 0), (0, 2))), "pad value": lambda a: a.pad(((1, 0), (0, 2)), value=3.0), "shrink": lambda a: a[:, 1:], "flip": lambda a: a.flip(0), "stride": lambda a: a[::-1, ::2], "cat": lambda a: Tensor.cat(a, a * 2, dim=1), "stack": lambda a: Tensor.stack(a, a.sin()),
  "index": lambda a: a[:, Tensor([2, 0, 0, 1])], "gather": lambda a: a.gather(1, Tensor([[0, 2], [1, 1]])), "matmul": lambda a: a @ a.T, "dot": lambda a: a @ K, "conv": lambda a: a.reshape(1, 1, 2, 3).conv2d(K2, padding=1), "pool": lambda a: a.reshape(1, 1, 2, 3).max_pool2d(2, stride=1),
  "contiguous": lambda a: a.sin().contiguous() * a, "contiguous backward": lambda a: (a * a).contiguous_backward() * a, "detach": lambda a: a.detach() * a, "cross entropy": lambda a: a.cross_entropy(Tensor([0, 2])), "einsum": lambda a: Tensor.einsum("ij,kj->ik", a, a), "triu": lambda a: (a.T @ a).triu(),
  "assign": lambda a: a.sin().contiguous() + 0 * a, "constant": lambda a: Tensor.ones(3, dtype=dtypes.float64) * 2, "identity": lambda a: a, "sigmoid": lambda a: a.sigmoid(), "erf": lambda a: a.erf(), "atan": lambda a: a.atan(), "logical": lambda a: ((a > 0.5) & (a < 1.0)).where(a, a * a), "sort": lambda a: a.sort(dim=1)[0], "copy": lambda a: a.to("CPU:1").sin().to(a.device),
}
# forward and reverse mode give different values where no derivative exists
JUMPS = ("trunc", "int", "round", "mod", "bits", "shift", "bitcast")

K, K2, K3 = T(3, 4).realize(), T(1, 1, 2, 2).realize(), T(4, 2, 3).realize()

def random_function(seed, depth=6):
  """A random smooth function of a (2, 3) tensor."""
  r = np.random.default_rng(seed)
  names = ["add", "sub", "mul", "sin", "tanh", "sqrt", "pow3", "flip", "cumsum", "softmax", "where", "maximum", "cat", "stride", "pad", "matmul", "prod", "sigmoid", "index"]
  steps = [str(r.choice(names)) for _ in range(depth)]
  def f(x):
    y = x
    for s in steps:
      y = y.abs() + 0.3
      if y.numel() < 6: y = y.reshape(-1).pad(((0, 6),))
      y = FUNCTIONS[s](y.reshape(-1)[:6].reshape(2, 3)) * 0.7
    return y
  f.__name__ = " ".join(steps)
  return f
ALL = {**FUNCTIONS, **{f"random {i}": random_function(i) for i in range(12)}}

def each(names, law):
  for name in names:
    try: law(name, ALL[name])
    except Exception as e: raise AssertionError(f"{name}: {e}") from e

def differences(f, x, v, h=1e-6): return (f(x + h * v).numpy() - f(x - h * v).numpy()) / (2 * h)

def test_jvp_is_what_differences_say():
  def law(name, f):
    x, v = T(2, 3).realize(), T(2, 3, low=-1, high=1).realize()
    out, tangent = jvp(f, (x,), (v,))
    close(out, f(x))
    want = differences(f, x, v)
    if name == "detach": want = want / 2
    if name != "detach": close(tangent, want, rtol=1e-5, atol=1e-6)
    else: close(tangent, (x * v).numpy())
  each(ALL, law)

def test_vjp_is_the_transpose_of_jvp():
  def law(name, f):
    x, v = T(2, 3).realize(), T(2, 3, low=-1, high=1).realize()
    out, pullback = vjp(f, x)
    w = Tensor(rng.uniform(-1, 1, out.shape)).realize()
    close((w * jvp(f, (x,), (v,))[1]).sum(), (pullback(w)[0] * v).sum(), rtol=1e-6, atol=1e-8)
  each(ALL, law)

def test_vmap_is_a_loop():
  def law(name, f):
    xs = T(4, 2, 3).realize()
    want = np.stack([f(xs[i]).numpy() for i in range(4)])
    close(vmap(f)(xs), want, rtol=1e-6, atol=1e-8)
    close(vmap(f, in_axes=1, out_axes=-1)(xs.permute(1, 0, 2)), np.moveaxis(want, 0, -1), rtol=1e-6, atol=1e-8)
  each(ALL, law)

def test_nesting_in_any_order():
  def law(name, f):
    x, xs = T(2, 3).realize(), T(3, 2, 3).realize()
    loss = lambda a: (f(a) ** 2).sum()
    close(vmap(grad(loss))(xs), np.stack([grad(loss)(xs[i]).numpy() for i in range(3)]), rtol=1e-6, atol=1e-8)
    close(grad(lambda a: vmap(loss)(a).sum())(xs), vmap(grad(loss))(xs).numpy(), rtol=1e-6, atol=1e-8)
    a, b = jacfwd(f)(x).numpy(), jacrev(f)(x).numpy()
    close(a, b, rtol=1e-6, atol=1e-8)
    close(sparse_jacobian(f)(x).dense(), b.reshape(-1, 6), rtol=1e-6, atol=1e-8)
    close(vmap(jacfwd(f))(xs), np.stack([jacrev(f)(xs[i]).numpy() for i in range(3)]), rtol=1e-6, atol=1e-8)
  each(ALL, law)

def test_second_derivatives():
  def law(name, f):
    if name in JUMPS + ("detach",): return
    x, v = T(2, 3).realize(), T(2, 3, low=-1, high=1).realize()
    loss = lambda a: (f(a) ** 2).sum()
    h = hessian(loss)(x).numpy()
    close(h, jacrev(jacfwd(loss))(x).numpy(), rtol=1e-5, atol=1e-7)
    close(hvp(loss, x, v), np.tensordot(h, v.numpy(), 2), rtol=1e-5, atol=1e-7)
    close(jvp(lambda a: vjp(loss, a)[1](Tensor(1.0, dtype=dtypes.float64))[0], (x,), (v,))[1], np.tensordot(h, v.numpy(), 2), rtol=1e-5, atol=1e-7)
    close(h, np.swapaxes(h.reshape(6, 6), 0, 1).reshape(h.shape), rtol=1e-5, atol=1e-7)
    close(differences(grad(loss), x, v, 1e-5), np.tensordot(h, v.numpy(), 2), rtol=1e-4, atol=1e-5)
  each([n for n in ALL if not n.startswith("random")] + ["random 0", "random 1", "random 2"], law)

def test_nested_vmap():
  xs, ys = T(3, 4).realize(), T(5, 4).realize()
  outer = vmap(lambda x: vmap(lambda y: (x * y).sum())(ys))(xs)
  close(outer, xs.numpy() @ ys.numpy().T)
  close(vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None))(xs[:, 0], ys[:, 0]), np.outer(xs.numpy()[:, 0], ys.numpy()[:, 0]))
  close(vmap(lambda a: vmap(grad(lambda b: (b.sin() * a).sum()))(ys))(xs), np.stack([np.cos(ys.numpy()) * a for a in xs.numpy()]))

def test_trees():
  tree = {"w": T(3), "more": [T(2), (T(),)]}
  loss = lambda t, k=1.0: ((t["w"] ** 2).sum() + t["more"][0].prod() * t["more"][1][0]) * k
  g = grad(loss)(tree, k=2.0)
  close(g["w"], 4 * tree["w"].numpy()), close(g["more"][1][0], 2 * tree["more"][0].numpy().prod())
  value, (g0, g1) = value_and_grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(tree["w"], tree["w"] * 2)
  close(g0, tree["w"].numpy() * 2), close(g1, tree["w"]), assert_scalar(value)
  out, tangent = jvp(lambda t: [t["w"].sin(), {"p": t["more"][0]}], (tree,), (tree,))
  close(tangent[1]["p"], tree["more"][0]), close(tangent[0], (tree["w"].cos() * tree["w"]).numpy())
  batch = vmap(lambda t, c: {"s": t["w"].sum() + c, "p": t["more"][0]}, in_axes=({"w": 0, "more": None}, None), out_axes={"s": 0, "p": None})({"w": T(5, 3), "more": [T(2), (T(),)]}, 1.0)
  assert batch["s"].shape == (5,) and batch["p"].shape == (2,)
  (v, aux), g = value_and_grad(lambda a: ((a * a).sum(), {"twice": a * 2}), has_aux=True)(tree["w"])
  close(aux["twice"], tree["w"].numpy() * 2), close(g, tree["w"].numpy() * 2)
  jac = jacrev(lambda a, b: {"x": a * b, "y": a.sum()}, argnums=(0, 1))(tree["w"], tree["w"] * 2)
  close(jac["x"][1], np.diag(tree["w"].numpy())), close(jac["y"][0], np.ones(3)), close(jac["y"][1], np.zeros(3))
def assert_scalar(t): assert t.shape == (), t.shape

def test_linearize_and_pullback_again():
  x = T(2, 3).realize()
  out, push = linearize(lambda a: a.sin() * a, x)
  for _ in range(2):
    v = T(2, 3).realize()
    close(push(v), jvp(lambda a: a.sin() * a, (x,), (v,))[1].numpy())
  close(vmap(push)(T(4, 2, 3).realize() * 0 + 1), np.stack([push(x.ones_like()).numpy()] * 4))
  _, pull = vjp(lambda a, b: (a * b, a.sum()), x, x * 2)
  ga, gb = pull((x.ones_like(), Tensor(3.0, dtype=dtypes.float64)))
  close(ga, 2 * x.numpy() + 3), close(gb, x.numpy())

def test_no_loop_and_no_larger_graph():
  f = lambda x: ((x @ K).relu() @ K.T).softmax()
  size = lambda t: len(t.uop.toposort())
  few, many = vmap(f)(T(2, 3)), vmap(f)(T(1000, 3))
  assert size(few) == size(many) < 2 * size(f(T(3))), (size(few), size(many))

def test_with_jit():
  f = lambda x: (x.sin() * x).sum()
  step = TinyJit(lambda xs: vmap(grad(f))(xs).realize())
  for _ in range(4):
    xs = T(3, 2).realize()
    close(step(xs), np.cos(xs.numpy()) * xs.numpy() + np.sin(xs.numpy()))

def test_over_devices():
  xs = T(4, 3).realize()
  shards = xs.shard(("CPU", "CPU:1"), axis=0)
  f = lambda x: (x.sin() * x).sum()
  out = vmap(grad(f))(shards)
  assert out.device == ("CPU", "CPU:1"), out.device
  close(out, vmap(grad(f))(xs).numpy())

# --- derivatives given by hand ---

def _custom():
  @custom_jvp
  def log1pexp(x): return (1 + x.exp()).log()
  @log1pexp.defjvp
  def rule(primals, tangents):
    x, = primals
    return log1pexp(x), tangents[0] * x.sigmoid()
  return log1pexp

def test_custom_jvp():
  f, x = _custom(), Tensor([-1.0, 0.5, 100.0], dtype=dtypes.float64)
  want = x.sigmoid().numpy()
  close(jvp(f, (x,), (x.ones_like(),))[1], want), close(grad(lambda a: f(a).sum())(x), want), close(vmap(grad(f))(x), want)
  close(grad(lambda a: vmap(f)(a).sum())(x), want), close(jvp(vmap(f), (x,), (x.ones_like(),))[1], want), close(jacfwd(f)(x), np.diag(want)), close(sparse_jacobian(f)(x).dense(), np.diag(want))
  close(hessian(lambda a: f(a).sum())(x), np.diag(want * (1 - want)), atol=1e-9)
  t = Tensor([0.5], requires_grad=True); f(t).sum().backward(); close(t.grad, Tensor([0.5]).sigmoid())
  raises(TypeError, lambda: custom_jvp(lambda x: x)(x), "defjvp")

def test_custom_vjp():
  @custom_vjp
  def clipped(x, y): return x * y, x + 0
  clipped.defvjp(lambda x, y: ((x * y, x + 0), (x, y)), lambda res, g: ((g[0] * res[1] + g[1]).clamp(-1, 1), g[0] * 7))
  x, y = Tensor([1.0, 2.0]), Tensor([0.5, 30.0])
  gx, gy = grad(lambda a, b: clipped(a, b)[0].sum(), argnums=(0, 1))(x, y)
  close(gx, [0.5, 1.0]), close(gy, [7, 7])
  close(vmap(grad(lambda a, b: clipped(a, b)[0]))(x, y), [0.5, 1.0])
  close(grad(lambda b: vmap(lambda a: clipped(a, b)[0], 0)(x).sum())(Tensor(2.0)), 14.0)
  close(sparse_jacobian(lambda a: clipped(a, y)[0])(x).dense(), np.diag([0.5, 1.0]))
  raises(Exception, lambda: jvp(lambda a: clipped(a, y)[0], (x,), (x,)), "custom_vjp")
  @custom_vjp
  def through(x): return x.round()
  through.defvjp(lambda x: (x.round(), None), lambda _, g: (g,))
  close(grad(lambda a: (through(a) * Tensor([1.0, 2.0])).sum())(x), [1, 2]), close(sparse_jacobian(through)(x).dense(), np.eye(2))
  scaled = custom_vjp(lambda k, x: x * k, nondiff_argnums=(0,))
  scaled.defvjp(lambda k, x: (x * k, x), lambda k, res, g: (g * k * 10,))
  close(grad(lambda a: scaled(3, a).sum())(x), [30, 30]), close(grad(lambda a: scaled(4, a).sum())(x), [40, 40])

def test_checkpoint():
  w = T(6, 6).realize()
  def block(x): return ((x @ w).tanh() @ w).sin()
  x = T(6).realize()
  plain, kept = lambda a: block(block(a)).sum(), lambda a: checkpoint(block)(checkpoint(block)(a)).sum()
  close(kept(x), plain(x).numpy()), close(grad(kept)(x), grad(plain)(x).numpy()), close(vmap(grad(kept))(T(3, 6).realize() * 0 + x), np.stack([grad(plain)(x).numpy()] * 3))
  again = sum(u.op is Ops.REDUCE_AXIS for u in grad(kept)(x).uop.toposort()), sum(u.op is Ops.REDUCE_AXIS for u in grad(plain)(x).uop.toposort())
  assert again[0] > again[1], again

# --- sparse ---

def banded(x): return x[1:] * x[:-1] + x[1:].sin()
def test_patterns_are_exact():
  x = T(7).realize()
  for f, nnz, colors in ((banded, 12, 2), (lambda a: a * 2, 7, 1), (lambda a: a.sum(), 7, 1), (lambda a: a.cumsum(), 28, 7), (lambda a: a.flip(0).pad(((2, 2),)), 7, 1), (lambda a: a.detach() * 2 + (a > 0).where(1.0, 2.0), 0, 0),
                         (lambda a: a[Tensor([6, 0, 0])], 3, 1), (lambda a: a.reshape(7, 1).expand(7, 3).sum(1), 7, 1), (lambda a: (a.reshape(7, 1) @ a.reshape(1, 7)).diagonal(), 7, 1), (lambda a: a @ Tensor.ones(7, 2, dtype=dtypes.float64), 14, 2),
                         (lambda a: a.reshape(1, 1, 7).conv2d(Tensor([[[1.0, 2.0, 3.0]]], dtype=dtypes.float64)), 15, 3), (lambda a: a.sin()[::3] * a[0], 5, 2), (lambda a: a.round(), 0, 0), (lambda a: (a.reshape(7, 1) * Tensor.eye(7, dtype=dtypes.float64)).sum(0), 7, 1)):
    s = sparse_jacobian(f)(x)
    assert (s.nnz, s.pattern.colors) == (nnz, colors), (s, nnz, colors)
    close(s.dense(), jacrev(f)(x).reshape(-1, 7).numpy())
  arrow = lambda a: Tensor.cat(a[:1] * a.sum(), a[1:] * a[:1]) # one dense row, one dense column
  s = sparse_jacobian(arrow)(x); assert s.nnz == 19; close(s.dense(), jacfwd(arrow)(x).numpy())
  h = sparse_hessian(lambda a: (banded(a) ** 2).sum())(x); assert h.nnz == 19 and h.pattern.colors == 3, h
  close(h.dense(), hessian(lambda a: (banded(a) ** 2).sum())(x).numpy(), rtol=1e-6)

def test_forms_of_sparse():
  x = T(5).realize()
  f = sparse_jacobian(banded)
  s = f(x); values, rows, cols = s.coo(); csr, at, ptr = s.csr()
  assert ptr.tolist() == [0, 2, 4, 6, 8] and rows.tolist() == [0, 0, 1, 1, 2, 2, 3, 3] and cols.tolist() == at.tolist() == [0, 1, 1, 2, 2, 3, 3, 4] and "4 by 5" in repr(s)
  dense = np.zeros(s.shape); dense[rows.numpy(), cols.numpy()] = values.numpy(); close(s.dense(), dense)
  try: import scipy.sparse
  except ImportError: raises(ImportError, s.scipy, "scipy")
  else: close(s.scipy().toarray(), dense)
  y = T(5).realize(); close(f(y).dense(), jacrev(banded)(y).numpy())
  close(vmap(lambda a: f(a).values)(Tensor.stack(x, y)), np.stack([f(x).values.numpy(), f(y).values.numpy()]))
  raises(TypeError, lambda: sparse_jacobian(lambda a: (a, a))(x), "one tensor"), raises(TypeError, lambda: sparse_jacobian(banded)(Tensor([1, 2])), "float")

def test_size_zero():
  e = Tensor.zeros(0, dtype=dtypes.float64)
  for f in (lambda a: a * 2, lambda a: a.sum(), lambda a: a.reshape(0, 3)):
    s = sparse_jacobian(f)(e)
    assert s.values.shape == (0,) and s.rows.shape == (0,) and s.dense().numpy().shape[1] == 0 and s.values.numpy().shape == (0,)
    assert jacfwd(f)(e).numpy().size == 0 and jacrev(f)(e).numpy().size == 0
  assert grad(lambda a: a.sum())(e).numpy().shape == (0,) and hessian(lambda a: (a * a).sum())(e).numpy().shape == (0, 0)
  assert vmap(lambda a: a.sin())(Tensor.zeros(0, 3)).numpy().shape == (0, 3) and vmap(lambda a: a.sum())(Tensor.zeros(4, 0)).tolist() == [0] * 4
  assert sparse_jacobian(lambda a: a[:0])(T(3)).values.shape == (0,) and sparse_hessian(lambda a: a.sum())(T(3)).values.shape == (0,)

def test_infinities_and_nan():
  x = Tensor([0.0, np.inf, -np.inf, np.nan, 1.0], dtype=dtypes.float64)
  one = x.ones_like()
  with np.errstate(all="ignore"):
    for f, want in ((lambda a: a.exp(), np.exp(x.numpy())), (lambda a: a.relu(), [0, 1, 0, None, 1]), (lambda a: a * 3, [3] * 5), (lambda a: a.sqrt(), [np.inf, 0, np.nan, np.nan, 0.5])):
      forward, reverse = jvp(f, (x,), (one,))[1].numpy(), grad(lambda a: f(a).sum())(x).numpy()
      np.testing.assert_array_equal(forward, reverse)
      np.testing.assert_array_equal(vmap(grad(f))(x).numpy(), reverse)
      for got, w in zip(forward, want):
        if w is not None and not np.isnan(w): assert np.isclose(got, w) or got == w, (forward, want)
  for zeros in ([2.0, 3.0], [0.0, 3.0, 2.0], [0.0, 0.0, 5.0]): # a product has a slope where a factor is 0
    z = Tensor(zeros, dtype=dtypes.float64)
    want = [np.prod(np.delete(zeros, i)) for i in range(len(zeros))]
    close(grad(lambda a: a.prod())(z), want), close(jacfwd(lambda a: a.prod())(z), want)
  for base, power in ((0.0, 2.0), (0.0, 0.0), (-2.0, 3.0)):
    a, b = jvp(lambda t: t.pow(power), (Tensor(base),), (Tensor(1.0),))[1].item(), grad(lambda t: t.pow(power))(Tensor(base)).item()
    assert a == b == power * (base ** (power - 1) if power else 0), (a, b)

# --- rejected calls ---

def test_clear_errors():
  x = T(3)
  raises(RuntimeError, lambda: vmap(lambda a: a if a.item() > 0 else -a)(x), "under a transform", "where()")
  raises(RuntimeError, lambda: grad(lambda a: (a * a).sum() if a.sum().item() > 0 else a.sum())(x), "where()")
  def assigns(a): a.assign(a * 2); return a
  raises(RuntimeError, lambda: vmap(assigns)(T(2, 3)), "assigns to its argument")
  outside = Tensor.zeros(3).contiguous().realize()
  raises(Exception, lambda: vmap(lambda a: outside.clone().realize().assign(a.cast(dtypes.float32)))(T(2, 3)), "assign")
  raises(ValueError, lambda: vmap(lambda a, b: a + b)(T(2, 3), T(3, 3)), "lengths [2, 3]"), raises(IndexError, lambda: vmap(lambda a: a, in_axes=2)(T(2, 3)), "axis 2", "(2, 3)"), raises(ValueError, lambda: vmap(lambda a: a, in_axes=None)(x), "no argument is mapped")
  raises(ValueError, lambda: vmap(lambda a: a, out_axes=None)(x), "out_axes is None"), raises(ValueError, lambda: vmap(lambda a, b: a, in_axes=(0,))(x, x), "in_axes")
  raises(TypeError, lambda: grad(lambda a: a)(x), "shape (3,)", "jacrev"), raises(TypeError, lambda: grad(lambda a: a.sum())(Tensor([1, 2])), "float"), raises(ValueError, lambda: grad(lambda a: a.sum(), argnums=1)(x), "argnums")
  raises(ValueError, lambda: jvp(lambda a: a, (x,), (T(2),)), "shape (2,)", "(3,)"), raises(TypeError, lambda: jvp(lambda a: a, (x,), (x.cast(dtypes.float32),)), "type"), raises(TypeError, lambda: jvp(lambda a: "text", (x,), (x,)), "text")
  kept = []
  vmap(lambda a: kept.append(a * 2) or a)(x)
  raises(RuntimeError, lambda: kept[0].numpy(), "beyond its end")
  raises(Exception, lambda: vmap(lambda a: Tensor.custom_kernel(a, fxn=_kernel)[0])(T(2, 3)), "kernel", "vmap")

def _kernel(a):
  from tinygrad import UOp
  from tinygrad.uop.ops import KernelInfo
  i = UOp.range(3, 0)
  return a[i].store(a[i] * 2).end(i).sink(arg=KernelInfo(name="twice"))

def test_random_numbers_are_drawn_once():
  Tensor.manual_seed(3)
  out = vmap(lambda a: a + Tensor.rand(4))(Tensor.zeros(3)).numpy()
  assert (out[0] == out[1]).all() and len(set(out[0])) == 4
  draws = Tensor.rand(3, 4).realize()
  close(vmap(lambda a, r: a + r)(Tensor.zeros(3), draws), draws.numpy())

def test_assignment_beside_transforms():
  w, f = T(3).realize(), sparse_jacobian(lambda a: a * W)
  global W
  W = w
  x = T(3).realize()
  close(f(x).values, w.numpy())
  before = w.numpy() + 1
  w.assign(Tensor(before)).realize()
  close(f(x).values, before)

def test_what_is_assigned_between():
  x = Tensor([1.0, 2.0]).contiguous().realize()
  y, pull = vjp(lambda a: a * a * x, x)
  _, push = linearize(lambda a: a * a, x)
  x.assign(x * 10).realize()
  close(x, [10, 20]), close(push(Tensor.ones(2)), [2, 4])
  x = Tensor([1.0, 2.0]).contiguous().realize()
  y, pull = vjp(lambda a: a * a, x)
  for _ in range(3): x.assign(x - 0.1 * pull(Tensor.ones(2))[0]).realize()
  close(x, [0.4, 0.8])

def test_every_operation_has_its_rules():
  """Operations that a tensor graph may hold between an argument and a result: none lacks a rule, and the page lists them."""
  rules = {op: _uopscope.transform_rules(op) for op in Ops}
  lacking = [op for op in WHOLE if not all(rules[op])]
  assert not lacking, lacking
  unnamed = [op for op in Ops if any(rules[op]) and op not in WHOLE and op not in PARTLY]
  assert not unnamed, f"with some rules, and neither under WHOLE nor under PARTLY: {unnamed}"
  lines = ["| operation | vmap | jvp | transpose |", "|---|---|---|---|"] + [f"| {op.name} | {' | '.join(each or '-' for each in rules[op])} |" for op in Ops if op in WHOLE]
  lines += ["", "With a place of their own:", "", "| operation | vmap | jvp | transpose | |", "|---|---|---|---|---|"] + [f"| {op.name} | {' | '.join(each or '-' for each in rules[op])} | {why} |" for op, why in PARTLY.items()]
  table = "\n".join(lines) + "\n"
  page = pathlib.Path(__file__).parents[3] / "docs/design/transforms.md"
  text = page.read_text()
  before = text[:text.index(MARK) + len(MARK)]
  if os.environ.get("UPDATE_GOLDEN"): page.write_text(before + table)
  else: assert text == before + table, "the table of rules is another: UPDATE_GOLDEN=1 writes it"
MARK = "<!-- rules -->\n"
WHOLE = GroupOp.ALU | GroupOp.Movement | {Ops.CAST, Ops.BITCAST, Ops.REDUCE_AXIS, Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.COPY, Ops.MULTI, Ops.MSTACK}
PARTLY = {
  Ops.BUFFER: "an argument; any other is constant", Ops.DETACH: "has no gradient, but where it marks a derivative given by hand", Ops.ASSIGN: "refused under vmap; a gradient goes by the value",
  Ops.AFTER: "a kernel given by hand: refused, its `grad_fxn` serves the gradient", Ops.CUSTOM_KERNEL: "the same",
  Ops.MSELECT: "refused under vmap; comes when devices are taken apart, after transforms", Ops.ALLREDUCE: "the same", Ops.REDUCE: "a loop of a kernel, for gradients of kernels",
}

if __name__ == "__main__": run(globals())
