# GGUF files: metadata by name, then tensors, most of them quantised in blocks.
#
#   kv, weights = gguf_load("model.gguf");  kv["general.architecture"];  weights["blk.0.attn_q.weight"]
#
# A quantised tensor is an expression on its bytes: nothing is unpacked before it is used.
import struct
from tinygrad.tensor import Tensor
from tinygrad.dtype import dtypes
from tinygrad.helpers import prod
from uopscope.reader import Cursor, Source

_NATIVE = {0: dtypes.float32, 1: dtypes.float16, 16: dtypes.int8, 17: dtypes.int16, 18: dtypes.int32, 24: dtypes.int8, 25: dtypes.int16, 26: dtypes.int32, 27: dtypes.int64,
           28: dtypes.float64, 30: dtypes.bfloat16}

def _half(b): return b.bitcast(dtypes.float16).cast(dtypes.float32)
def _nibbles(b): return (b & 15).cat(b >> 4, dim=-1)
def _bits(b):
  """The bits of every byte, lowest first: (..., bytes) -> (..., bytes * 8)."""
  return Tensor.stack(*((b >> i) & 1 for i in range(8)), dim=-1).flatten(-2)
def _signed(b): return b.bitcast(dtypes.int8)

def _q4_0(b): return (_signed(_nibbles(b[:, 2:])) - 8) * _half(b[:, :2])
def _q4_1(b): return _signed(_nibbles(b[:, 4:])) * _half(b[:, :2]) + _half(b[:, 2:4])
def _q5_0(b): return (_signed(_nibbles(b[:, 6:]) | (_bits(b[:, 2:6]) << 4)) - 16) * _half(b[:, :2])
def _q5_1(b): return _signed(_nibbles(b[:, 8:]) | (_bits(b[:, 4:8]) << 4)) * _half(b[:, :2]) + _half(b[:, 2:4])
def _q8_0(b): return _half(b[:, :2]) * _signed(b[:, 2:])

def _scales_of_k(b):
  """Eight scales and eight minima of six bits each, from twelve bytes."""
  low, mid, high = b[:, 0:4], b[:, 4:8], b[:, 8:12]
  scale = (low & 63).cat((high & 15) | ((low >> 6) << 4), dim=-1)
  least = (mid & 63).cat((high >> 4) | ((mid >> 6) << 4), dim=-1)
  return scale.unsqueeze(-1), least.unsqueeze(-1)
def _k_blocks(b, q):
  scale, least = _scales_of_k(b[:, 4:16])
  return (_half(b[:, 0:2]).unsqueeze(-1) * scale * q.cast(dtypes.float32) - _half(b[:, 2:4]).unsqueeze(-1) * least).flatten(-2)
def _halves(b): return Tensor.stack(b & 15, b >> 4, dim=2).reshape(-1, 8, 32) # 64 values from each 32 bytes
def _q4_k(b): return _k_blocks(b, _halves(b[:, 16:144].reshape(-1, 4, 32)))
def _q5_k(b):
  fifth = _bits(b[:, 16:48]).reshape(-1, 32, 8).transpose(1, 2)
  return _k_blocks(b, _halves(b[:, 48:176].reshape(-1, 4, 32)) | (fifth << 4))
def _q6_k(b):
  low = _nibbles(b[:, :128].reshape(-1, 2, 64))
  high = b[:, 128:192].reshape(-1, 2, 32)
  high = (high & 3).cat((high >> 2) & 3, (high >> 4) & 3, high >> 6, dim=-1) << 4
  scale = _signed(b[:, 192:208]).unsqueeze(-1)
  return (_half(b[:, 208:210]).unsqueeze(-1) * (_signed(low | high) - 32).reshape(-1, 16, 16) * scale).flatten(-2)
def _mxfp4(b):
  exponent = b[:, :1].cast(dtypes.int32)
  scale = (exponent >= 2).where((exponent.cast(dtypes.float32) - 128).exp2(), (exponent == 1).where(2.0**-127, 2.0**-128))
  code = _nibbles(b[:, 1:])
  two, one = ((code >> 1) & 3).cast(dtypes.float32), (code & 1).cast(dtypes.float32)
  size = (two != 0).where((one * 0.5 + 1) * (two - 1).exp2(), one * 0.5)
  return (code >= 8).where(-size, size) * scale

# type: values in a block, its bytes, the function that unpacks (blocks, bytes) into (blocks, values)
_QUANTISED = {2: (32, 18, _q4_0), 3: (32, 20, _q4_1), 6: (32, 22, _q5_0), 7: (32, 24, _q5_1), 8: (32, 34, _q8_0), 12: (256, 144, _q4_k), 13: (256, 176, _q5_k), 14: (256, 210, _q6_k),
              39: (32, 17, _mxfp4)}

def ggml_bytes(n, ggml_type):
  """The number of bytes for n values."""
  if ggml_type in _NATIVE: return n * _NATIVE[ggml_type].itemsize
  if ggml_type not in _QUANTISED: raise ValueError(f"GGML type '{ggml_type}' is not supported! Types are {', '.join(map(str, sorted([*_NATIVE, *_QUANTISED])))}")
  values, size, _ = _QUANTISED[ggml_type]
  if n % values: raise ValueError(f"{n} values of GGML type {ggml_type}: they come in blocks of {values}")
  return n // values * size

def ggml_data_to_tensor(t, n, ggml_type):
  """The first n values of a type in a tensor of bytes: float32 (0), float16 (1), int8 (16 or 24), int16 (17, 25), int32 (18, 26), int64 (27), float64 (28),
  bfloat16 (30), Q4_0 (2), Q4_1 (3), Q5_0 (6), Q5_1 (7), Q8_0 (8), Q4_K (12), Q5_K (13), Q6_K (14), MXFP4 (39)."""
  data = t[:ggml_bytes(n, ggml_type)]
  if ggml_type in _NATIVE: return data.bitcast(_NATIVE[ggml_type])
  _, size, unpack = _QUANTISED[ggml_type]
  return unpack(data.reshape(-1, size)).flatten()

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY, _DEEPEST = 8, 9, 4

def _text(r, what):
  data = r.take(r.unpack("<Q", what)[0], what)
  try: return str(data, "utf-8")
  except UnicodeDecodeError as e: raise ValueError(f"{r.name}: {what} is not UTF-8: {e}") from None

def _value(r, kind, what, depth=0):
  if kind in _NUMBERS: return r.unpack("<" + _NUMBERS[kind], what)[0]
  if kind == _STRING: return _text(r, what)
  if kind != _ARRAY or depth > _DEEPEST: raise ValueError(f"{r.name}: {what} has type {kind}, which there is not")
  inner, n = r.unpack("<IQ", what)
  if inner in _NUMBERS:
    r.count(n, struct.calcsize("<" + _NUMBERS[inner]), f"values of {what}")
    return list(r.unpack(f"<{n}{_NUMBERS[inner]}", what))
  return [_value(r, inner, what, depth + 1) for _ in range(r.count(n, 8, f"values of {what}"))]

def _tensor_info(r):
  name = _text(r, "name of a tensor")
  axes, = r.unpack("<I", f"axes of {name}")
  dims = r.unpack(f"<{r.count(axes, 8, f'axes of {name}')}Q", f"axes of {name}")
  kind, offset = r.unpack("<IQ", f"type of {name}")
  return name, dims, kind, offset

def gguf_load(tensor):
  """Metadata and tensors of a file, by name. Tensors are on the default device, or where the given tensor is."""
  source = Source(tensor)
  r = Cursor(source.bytes, source.name)
  magic, version = r.unpack("<4sI", "header")
  if magic != b"GGUF" or version not in (2, 3): raise ValueError(f"Invalid GGUF format! {source.name} begins with {bytes(magic)!r}, version {version}; versions 2 and 3 are read")
  tensors, pairs = r.unpack("<qq", "header")
  r.count(tensors, 24, "tensors"), r.count(pairs, 13, "pairs of metadata")
  kv = {}
  for _ in range(pairs):
    name = _text(r, "name of metadata")
    kv[name] = _value(r, r.unpack("<I", f"type of {name}")[0], name)
  infos = [_tensor_info(r) for _ in range(tensors)]
  alignment = kv.get("general.alignment", 32)
  if not isinstance(alignment, int) or alignment <= 0: raise ValueError(f"{source.name}: general.alignment is {alignment!r}")
  start = -(-r.position // alignment) * alignment
  weights = {}
  for name, dims, kind, offset in infos:
    n = prod(dims)
    try: size = ggml_bytes(n, kind)
    except ValueError as e: raise ValueError(f"{source.name}: {name}: {e}") from None
    if start + offset + size > len(source): raise ValueError(f"{source.name}: truncated: {name} takes bytes {start + offset} to {start + offset + size} of {len(source)}")
    data = source.part(start + offset, dtypes.uint8, (size,))
    if source.tensor.device.startswith("DISK"): data = data.to(None)
    weights[name] = ggml_data_to_tensor(data, n, kind).reshape(*reversed(dims))
  return kv, weights
