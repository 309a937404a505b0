# ONNX files: the reader on handmade messages, operators against NumPy, errors that name the fault.
import struct, tempfile, os
import numpy as np
from tinygrad import Tensor, dtypes
from tinygrad.nn.onnx import OnnxRunner, OnnxDataType
from tinygrad.uop import Ops
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

def test_errors_name_what_is_wrong():
  raises(ValueError, lambda: OnnxRunner(Tensor(b"\x08\x01")), "no graph")
  raises(ValueError, lambda: OnnxRunner(Tensor(b"\x3a\xff\x7f" + b"x" * 9)), "cut off")
  good = Tensor(model([node("Relu", ["x"], ["y"])], {"x": (2,)}, ["y"]))
  raises(RuntimeError, lambda: OnnxRunner(good)({}), "x")
  raises(RuntimeError, lambda: OnnxRunner(good)({"x": Tensor.ones(3)}), "axis 0")
  raises(NotImplementedError, lambda: OnnxRunner(Tensor(model([node("NonMaxSuppression", ["x"], ["y"])], {"x": (2,)}, ["y"])))({"x": Tensor.ones(2)}), "NonMaxSuppression")
  assert OnnxDataType.INT64.to_dtype() == dtypes.int64

if __name__ == "__main__": run(globals())
