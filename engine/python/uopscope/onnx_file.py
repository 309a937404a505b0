# Reads ONNX files: messages of the protobuf wire format, decoded by tables of their fields (onnx.proto has their names).
#
#   model = read_model("model.onnx"); model.graph.nodes[0].op          # "Conv"
#
# Weights stay in the bytes of the file until they become tensors. Numbers are little-endian, as the format requires.
import os, struct
from dataclasses import dataclass, field
from enum import IntEnum
from tinygrad.dtype import DTYPES_DICT, dtypes
from tinygrad.tensor import Tensor

class OnnxDataType(IntEnum):
  """Element types by the numbers of the format."""
  FLOAT = 1
  UINT8 = 2
  INT8 = 3
  UINT16 = 4
  INT16 = 5
  INT32 = 6
  INT64 = 7
  BOOL = 9
  FLOAT16 = 10
  DOUBLE = 11
  UINT32 = 12
  UINT64 = 13
  BFLOAT16 = 16
  FLOAT8E4M3FN = 17
  FLOAT8E5M2 = 19
  def to_dtype(self): return {17: dtypes.fp8e4m3, 19: dtypes.fp8e5m2}.get(self.value) or DTYPES_DICT[self.name.lower()]

def dtype_of(number):
  """The dtype for a type number of the format."""
  try: return OnnxDataType(number).to_dtype()
  except ValueError: raise NotImplementedError(f"elements of ONNX's type {number}, which has no dtype here") from None

@dataclass(frozen=True)
class OnnxValue:
  """The requirements on an input. Names in its shape are lengths that the caller chooses."""
  shape: tuple
  dtype: object
  is_optional: bool = False
  is_sequence: bool = False

@dataclass(frozen=True)
class OnnxNode:
  op: str
  domain: str
  version: int
  inputs: tuple
  outputs: tuple
  opts: dict

@dataclass
class OnnxGraph:
  name: str = ""
  nodes: list = field(default_factory=list)
  inputs: dict = field(default_factory=dict)
  outputs: tuple = ()
  values: dict = field(default_factory=dict)

def _varint(data, at):
  value = shift = 0
  while True:
    byte = data[at]
    value, at, shift = value | (byte & 0x7f) << shift, at + 1, shift + 7
    if byte < 0x80: return value, at
    if shift > 63: raise ValueError("a number of more than 64 bits: this is no ONNX file")
def _signed(value): return value - (1 << 64) if value >> 63 else value
def _fields(data):
  """(number, value) of each field of a message: integers as integers, any other value as bytes."""
  at, end = 0, len(data)
  while at < end:
    key, at = _varint(data, at)
    kind = key & 7
    if kind == 0: value, at = _varint(data, at)
    elif kind in (1, 5):
      size = 8 if kind == 1 else 4
      value, at = bytes(data[at:at + size]), at + size
    elif kind == 2:
      size, at = _varint(data, at)
      if at + size > end: raise ValueError(f"a field of {size} bytes where {end - at} are left: the file is cut off or no ONNX file")
      value, at = data[at:at + size], at + size
    else: raise ValueError(f"a field of the unknown kind {kind}: this is no ONNX file")
    yield key >> 3, value
def _message(data):
  """{number: [values]} of a message."""
  out = {}
  for number, value in _fields(data): out.setdefault(number, []).append(value)
  return out
def _text(m, number): return bytes(m[number][-1]).decode() if number in m else ""
def _number(m, number, default=0): return _signed(m[number][-1]) if number in m else default
def _numbers(m, number):
  """Repeated integers, one by one or packed."""
  out = []
  for value in m.get(number, ()):
    if isinstance(value, int):
      out.append(_signed(value))
      continue
    at = 0
    while at < len(value):
      one, at = _varint(value, at)
      out.append(_signed(one))
  return out
def _packed(m, number, code):
  data = b"".join(bytes(v) for v in m.get(number, ()))
  return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))

def _raw(m, folder):
  """The bytes of a tensor with raw data: in the message, or in a file beside the model."""
  if 9 in m: return bytes(m[9][-1])
  if 13 not in m: return None
  where = {_text(e, 1): _text(e, 2) for e in map(_message, m[13])}
  path = os.path.normpath(os.path.join(folder or ".", where["location"]))
  if folder is None or not path.startswith(os.path.normpath(folder)): raise ValueError(f"the weights stand in the file {where['location']}, which is looked for beside the model only")
  with open(path, "rb") as f:
    f.seek(int(where.get("offset", 0)))
    return f.read(int(where["length"])) if "length" in where else f.read()

def _tensor(data, folder):
  """The values of a tensor. A number without axes is a constant of the graph, which is computed with at once."""
  values = _values(data, folder)
  return Tensor(values.item(), dtype=values.dtype) if isinstance(values, Tensor) and values.shape == () else values
def _values(data, folder):
  m = _message(data)
  shape, kind = tuple(_numbers(m, 1)), _number(m, 2)
  if kind == 8: return [bytes(v) for v in m.get(6, ())]  # texts
  dtype = dtype_of(kind)
  raw = _raw(m, folder)
  if raw is not None:
    if not raw: return Tensor.zeros(*shape, dtype=dtype)
    return Tensor(raw, dtype=dtype).reshape(shape)
  if kind in (OnnxDataType.FLOAT16, OnnxDataType.BFLOAT16): return Tensor(struct.pack(f"<{len(v := _numbers(m, 5))}H", *v), dtype=dtype).reshape(shape)
  values = _packed(m, 4, "f") or _packed(m, 10, "d") or _numbers(m, 5) or _numbers(m, 7) or [v % (1 << 64) for v in _numbers(m, 11)]
  return Tensor(values, dtype=dtype).reshape(shape) if values else Tensor.zeros(*shape, dtype=dtype)

def _attribute(data, versions, folder):
  m = _message(data)
  kind = _number(m, 20)
  value = {1: lambda: struct.unpack("<f", m[2][-1])[0] if 2 in m else 0.0, 2: lambda: _number(m, 3), 3: lambda: _text(m, 4), 4: lambda: _tensor(m[5][-1], folder),
           5: lambda: read_graph(m[6][-1], versions, folder), 6: lambda: _packed(m, 7, "f"), 7: lambda: _numbers(m, 8), 8: lambda: [bytes(v).decode() for v in m.get(9, ())]}.get(kind)
  if value is None: raise NotImplementedError(f"an attribute of ONNX's kind {kind} ({_text(m, 1)})")
  return _text(m, 1), value()

def _value_type(data):
  m = _message(data)
  if 1 in m:
    t = _message(m[1][-1])
    dims = [_message(d) for d in _message(t[2][-1]).get(1, ())] if 2 in t else []
    return OnnxValue(tuple(_number(d, 1) if 1 in d else _text(d, 2) for d in dims), dtype_of(_number(t, 1)))
  kind = 4 if 4 in m else 9
  inner = _value_type(_message(m[kind][-1])[1][-1])
  return OnnxValue(inner.shape, inner.dtype, inner.is_optional or kind == 9, inner.is_sequence or kind == 4)

def read_graph(data, versions, folder):
  m = _message(data)
  graph = OnnxGraph(_text(m, 2))
  for t in m.get(5, ()): graph.values[_text(_message(t), 8)] = _tensor(t, folder)
  for v in map(_message, m.get(11, ())):
    if (name := _text(v, 1)) not in graph.values and 2 in v: graph.inputs[name] = _value_type(v[2][-1])
  graph.outputs = tuple(_text(_message(v), 1) for v in m.get(12, ()))
  for n in map(_message, m.get(1, ())):
    domain = _text(n, 7)
    opts = dict(_attribute(a, versions, folder) for a in n.get(5, ()))
    graph.nodes.append(OnnxNode(_text(n, 4), domain, versions.get(domain, 1), tuple(bytes(i).decode() for i in n.get(1, ())), tuple(bytes(o).decode() for o in n.get(2, ())), opts))
  return graph

def read_model(source):
  """The graph of a model, given as a path, or as a tensor or bytes of the file's contents."""
  folder = None
  if isinstance(source, Tensor): data = source.data().tobytes()
  elif isinstance(source, (bytes, bytearray, memoryview)): data = bytes(source)
  else:
    folder = os.path.dirname(os.path.abspath(source))
    with open(source, "rb") as f: data = f.read()
  m = _message(memoryview(data))
  if 7 not in m: raise ValueError("there is no graph in it: this is no ONNX model")
  versions = {_text(o, 1): _number(o, 2, 1) for o in map(_message, m.get(8, ()))}
  return read_graph(m[7][-1], versions | {"ai.onnx": versions.get("", 1)}, folder)
