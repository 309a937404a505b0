# ONNX files: the reader on handmade messages, operators against NumPy, errors that name the fault.
import math, struct, tempfile, os
import numpy as np
from tinygrad import Tensor, dtypes
from tinygrad.nn.onnx import OnnxRunner, OnnxDataType
from tinygrad.uop import Ops
from uopscope.onnx_registry import find_operator
from check import raises, run

def varint(n):
  out, n = b"", n % (1 << 64)
  while n > 0x7f: out, n = out + bytes([n & 0x7f | 0x80]), n >> 7
  return out + bytes([n])
def number(field, n): return varint(field << 3) + varint(n)
def block(field, data):
  data = data.encode() if isinstance(data, str) else data
  return varint(field << 3 | 2) + varint(len(data)) + data
def tensor(name, a):
  kind = {"float32": 1, "int64": 7, "bool": 9}[a.dtype.name]
  return b"".join(number(1, d) for d in a.shape) + number(2, kind) + block(8, name) + block(9, a.tobytes())
def attribute(name, v):
  if isinstance(v, int): return block(1, name) + number(3, v) + number(20, 2)
  if isinstance(v, float): return block(1, name) + varint(2 << 3 | 5) + struct.pack("<f", v) + number(20, 1)
  if isinstance(v, str): return block(1, name) + block(4, v) + number(20, 3)
  if v and isinstance(v[0], str): return block(1, name) + b"".join(block(9, text) for text in v) + number(20, 8)
  return block(1, name) + block(8, b"".join(map(varint, v))) + number(20, 7)
def node(op, inputs, outputs, **attributes):
  return b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in outputs) + block(4, op) + b"".join(block(5, attribute(n, v)) for n, v in attributes.items())
def value(name, shape, kind=1):
  dims = b"".join(block(1, block(2, d) if isinstance(d, str) else number(1, d)) for d in shape)
  return block(1, name) + block(2, block(1, number(1, kind) + block(2, dims)))
def model(nodes, inputs, outputs, weights={}, version=17):
  graph = b"".join(block(1, n) for n in nodes) + block(2, "g") + b"".join(block(5, tensor(n, a)) for n, a in weights.items())
  graph += b"".join(block(11, value(n, s)) for n, s in inputs.items()) + b"".join(block(12, value(n, ())) for n in outputs)
  return number(1, 8) + block(7, graph) + block(8, number(2, version))

def test_a_model_from_bytes_and_from_a_file():
  w, b = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32), np.arange(3, dtype=np.float32)
  data = model([node("Gemm", ["x", "w", "b"], ["h"], transB=1, alpha=0.5), node("Relu", ["h"], ["y"])], {"x": ("batch", 4)}, ["y"], {"w": w, "b": b})
  x = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)
  want = np.maximum(0.5 * x @ w.T + b, 0)
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "m.onnx")
    with open(path, "wb") as f: f.write(data)
    for source in (path, Tensor(data)):
      runner = OnnxRunner(source)
      assert runner.graph_inputs["x"].shape == ("batch", 4) and runner.graph_inputs["x"].dtype == dtypes.float32 and runner.graph_outputs == ("y",)
      np.testing.assert_allclose(runner({"x": Tensor(x)})["y"].numpy(), want, rtol=1e-5, atol=1e-6)

def test_a_number_of_the_model_is_a_constant():
  kernels = lambda nodes, weights, **inputs: sum(i.ast.op is Ops.SINK for i in OnnxRunner(Tensor(model(nodes, {n: a.shape for n, a in inputs.items()}, ["y"], weights)))
                                                 ({n: Tensor(a).realize() for n, a in inputs.items()})["y"].schedule())
  x = np.arange(4, dtype=np.float32)
  assert kernels([node("Expand", ["a", "s"], ["h"]), node("Exp", ["h"], ["y"])], {"a": np.float32(1.5).reshape(()), "s": np.array([5], dtype=np.int64)}) == 0
  assert kernels([node("Add", ["x", "a"], ["y"])], {"a": np.float32(0).reshape(())}, x=x) == 0
  for a in (np.array(-0.0, np.float32), np.array(3.1415927, np.float32), np.array(np.nan, np.float32), np.array(1 - 2**62, np.int64), np.array(True)):
    y = OnnxRunner(Tensor(model([node("Identity", ["a"], ["y"])], {}, ["y"], {"a": a})))({})["y"]
    assert y.shape == () and y.numpy().dtype == a.dtype and y.numpy().tobytes() == a.tobytes()

def check_op(op, arrays, want, constants={}, **attributes):
  names = [f"i{k}" for k in range(len(arrays))]
  runner = OnnxRunner(Tensor(model([node(op, names + list(constants), ["y"], **attributes)], {n: a.shape for n, a in zip(names, arrays)}, ["y"], constants)))
  np.testing.assert_allclose(runner(dict(zip(names, map(Tensor, arrays))))["y"].numpy(), want, rtol=1e-5, atol=1e-5)

def test_operators():
  x = np.random.default_rng(2).normal(size=(2, 3, 4, 4)).astype(np.float32)
  ints = lambda *v: np.array(v, dtype=np.int64)
  check_op("Transpose", [x], x.transpose(0, 2, 1, 3), perm=[0, 2, 1, 3])
  check_op("Reshape", [x], x.reshape(2, 12, 4), {"s": ints(0, -1, 4)})
  check_op("Slice", [x], x[:, ::-1, 1:3], {"a": ints(-1, 1), "b": ints(-9, 3), "c": ints(1, 2), "d": ints(-1, 1)})
  check_op("ReduceMean", [x], x.mean((1, 3)), axes=[1, 3], keepdims=0)
  check_op("Softmax", [x], np.exp(x) / np.exp(x).sum(-1, keepdims=True))
  check_op("Gather", [x], x[:, :, [3, 0]], {"i": ints(-1, 0)}, axis=2)
  check_op("Pad", [x], np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1))), {"p": ints(0, 0, 1, 2, 0, 0, 0, 1)})
  check_op("MaxPool", [x], x.reshape(2, 3, 2, 2, 2, 2).max((3, 5)), kernel_shape=[2, 2], strides=[2, 2])
  check_op("Concat", [x, x], np.concatenate([x, x], 1), axis=1)
  check_op("Resize", [x], x.repeat(2, 2).repeat(2, 3), {"roi": np.zeros(0, np.float32), "f": np.array([1, 1, 2, 2], np.float32)}, mode="nearest")

def applied(op, *inputs, domain="", **attributes):
  """The results of an operator for arrays, without a model around it."""
  answer = find_operator(domain, op)(*[None if a is None else Tensor(a) for a in inputs], **attributes)
  return [None if t is None else t.numpy() for t in (answer if isinstance(answer, tuple) else (answer,))]

def attention(q, k, v, allowed):
  """NumPy's attention of (B, N, S, H); a query that may attend to nothing gives zeros."""
  scores = np.where(allowed, q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), -np.inf)
  highest = scores.max(-1, keepdims=True)
  shares = np.exp(scores - np.where(np.isinf(highest), 0, highest))
  return shares / np.maximum(shares.sum(-1, keepdims=True), 1e-30) @ v

def test_attention():
  rng = np.random.default_rng(3)
  q, k, v = (rng.normal(size=(2, n, s, 8)).astype(np.float32) for n, s in ((4, 3), (2, 5), (2, 5)))
  wide = lambda x: x.repeat(2, 1)  # both heads of a group read the same keys
  close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
  close(applied("Attention", q, k, v)[0], attention(q, wide(k), wide(v), True))
  mask = rng.integers(0, 2, (3, 5)).astype(bool)
  mask[1] = False
  close(applied("Attention", q, k, v, mask)[0], attention(q, wide(k), wide(v), mask))
  flat = lambda x: x.swapaxes(1, 2).reshape(2, x.shape[2], -1)
  close(applied("Attention", flat(q), flat(k), flat(v), q_num_heads=4, kv_num_heads=2)[0], flat(attention(q, wide(k), wide(v), True)))
  at, key = np.arange(3)[:, None], np.arange(5)[None]
  y, present, _, _ = applied("Attention", q, k[:, :, 2:], v[:, :, 2:], None, k[:, :, :2], v[:, :, :2], is_causal=1)
  close(y, attention(q, wide(k), wide(v), key <= at + 2)), close(present, k)
  lengths = np.array([5, 2], np.int64)  # the second has more queries than keys: its first sees none
  offset = (lengths - 3).reshape(2, 1, 1, 1)
  close(applied("Attention", q, k, v, None, None, None, lengths, is_causal=1)[0], attention(q, wide(k), wide(v), (key <= at + offset) & (key < lengths.reshape(2, 1, 1, 1))))
  close(applied("Attention", q, k, v, left_window_size=1, right_window_size=0)[0], attention(q, wide(k), wide(v), (key <= at) & (key >= at - 1)))

def test_operators_of_onnxruntime():
  rng = np.random.default_rng(4)
  x, w, b = rng.normal(size=(2, 5, 16)).astype(np.float32), rng.normal(size=(16, 48)).astype(np.float32), rng.normal(size=48).astype(np.float32)
  heads = lambda t: t.reshape(2, 5, 4, 4).swapaxes(1, 2)
  q, k, v = (heads(t) for t in np.split(x @ w + b, 3, axis=-1))
  ends = np.array([5, 2], np.int32)
  y, present = applied("Attention", x, w, b, ends, domain="com.microsoft", num_heads=4, mask_filter_value=-np.inf)
  np.testing.assert_allclose(y, attention(q, k, v, np.arange(5) < ends.reshape(2, 1, 1, 1)).swapaxes(1, 2).reshape(2, 5, 16), rtol=1e-4, atol=1e-5)
  np.testing.assert_allclose(present, np.stack([k, v]), rtol=1e-5, atol=1e-5)
  n = rng.integers(0, 256, (1, 3, 4, 4)).astype(np.uint8)
  want = np.clip(np.round((n.astype(np.float32) - 128).mean((2, 3), keepdims=True) * 0.1 / 0.05) + 7, 0, 255)
  scale, zero = np.float32, np.uint8
  np.testing.assert_array_equal(applied("QLinearGlobalAveragePool", n, scale(0.1), zero(128), scale(0.05), zero(7))[0], want)
  mean, inverse, whole = applied("SkipLayerNormalization", x, x, np.ones(16, np.float32), domain="com.microsoft")[1:]
  np.testing.assert_allclose(whole, 2 * x), np.testing.assert_allclose(mean, (2 * x).mean(-1, keepdims=True), atol=1e-6), np.testing.assert_allclose(inverse, 1 / (2 * x).std(-1, keepdims=True), rtol=1e-5)

def test_positions_and_caches():
  rng = np.random.default_rng(5)
  x, angles = rng.normal(size=(2, 3, 4, 6)).astype(np.float32), rng.normal(size=(10, 3)).astype(np.float32)
  at = rng.integers(0, 10, (2, 4))
  turns = np.exp(1j * angles[at])[:, None]  # a rotation of each pair
  for interleaved in (0, 1):
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :3], x[..., 3:])
    z = (a + 1j * b) * turns
    want = np.stack([z.real, z.imag], -1).reshape(x.shape) if interleaved else np.concatenate([z.real, z.imag], -1)
    np.testing.assert_allclose(applied("RotaryEmbedding", x, np.cos(angles), np.sin(angles), at, interleaved=interleaved)[0], want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(applied("RotaryEmbedding", x, at, np.cos(angles), np.sin(angles), domain="com.microsoft", interleaved=interleaved)[0], want, rtol=1e-5, atol=1e-5)
  cache, update, starts = rng.normal(size=(2, 3, 7, 2)).astype(np.float32), rng.normal(size=(2, 3, 3, 2)).astype(np.float32), np.array([1, 5])
  want = cache.copy()
  for n, start in enumerate(starts):
    for i in range(3): want[n, :, (start + i) % 7] = update[n, :, i]
  np.testing.assert_array_equal(applied("TensorScatter", cache, update, starts, mode="circular")[0], want)

def test_training_steps_and_gradients():
  rng = np.random.default_rng(6)
  x, g, v, h = (np.abs(rng.normal(size=4)).astype(np.float32) for _ in range(4))
  rate, steps = np.float32(0.1), np.int64(3)
  got = applied("Adam", rate, steps, x, x, g, g, v, v, h, h, alpha=0.9, beta=0.99, epsilon=1e-8)
  moment, squares = 0.9 * v + 0.1 * g, 0.99 * h + 0.01 * g * g
  want = x - 0.1 * math.sqrt(1 - 0.99 ** 3) / (1 - 0.9 ** 3) * moment / np.sqrt(squares)
  for a, b in zip(got, (want, want, moment, moment, squares, squares)): np.testing.assert_allclose(a, b, rtol=1e-5)
  np.testing.assert_allclose(applied("Momentum", rate, steps, x, g, v, alpha=0.9, beta=0.5, mode="nesterov", norm_coefficient=0.0)[0], x - 0.1 * (g + 0.9 * (0.9 * v + 0.5 * g)), rtol=1e-5)
  runner = OnnxRunner(Tensor(model([node("Mul", ["a", "b"], ["y"]), node("Gradient", ["a", "b"], ["da", "db"], xs=["a", "b"], y="y")], {"a": (4,), "b": (4,)}, ["da", "db"])))
  out = runner({"a": Tensor(x), "b": Tensor(g)})
  np.testing.assert_allclose(out["da"].numpy(), g), np.testing.assert_allclose(out["db"].numpy(), x)

def test_old_versions_and_edges():
  x, y = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.arange(3, dtype=np.float32)
  np.testing.assert_array_equal(applied("Add", x, y, broadcast=1, axis=1)[0], x + y[:, None])
  for factor, want in ((0.01, 0), (0.5, 2)): # a length of none is a tensor without elements
    assert applied("Resize", x, None, np.array([1, 1, factor], np.float32), mode="linear")[0].shape == (2, 3, want)
  np.testing.assert_allclose(applied("Resize", x, None, np.array([1, 1, 0.6], np.float32), mode="linear", coordinate_transformation_mode="align_corners")[0], x[..., [0, 3]])
  scales = np.array([[0.5, 2.0], [1.0, 4.0]], np.float32)
  blocks = applied("DequantizeLinear", np.ones((2, 3), np.int8), scales, axis=1, block_size=2)[0]
  np.testing.assert_array_equal(blocks, [[0.5, 0.5, 2], [1, 1, 4]])
  np.testing.assert_array_equal(applied("CumProd", np.array([1, 2, 3], np.int32), np.int64(0), exclusive=1, reverse=1)[0], [6, 3, 1])

def test_errors_name_what_is_wrong():
  raises(ValueError, lambda: OnnxRunner(Tensor(b"\x08\x01")), "no graph")
  raises(ValueError, lambda: OnnxRunner(Tensor(b"\x3a\xff\x7f" + b"x" * 9)), "cut off")
  good = Tensor(model([node("Relu", ["x"], ["y"])], {"x": (2,)}, ["y"]))
  raises(RuntimeError, lambda: OnnxRunner(good)({}), "x")
  raises(RuntimeError, lambda: OnnxRunner(good)({"x": Tensor.ones(3)}), "axis 0")
  raises(NotImplementedError, lambda: OnnxRunner(Tensor(model([node("NonMaxSuppression", ["x"], ["y"])], {"x": (2,)}, ["y"])))({"x": Tensor.ones(2)}), "NonMaxSuppression")
  assert OnnxDataType.INT64.to_dtype() == dtypes.int64

if __name__ == "__main__": run(globals())
