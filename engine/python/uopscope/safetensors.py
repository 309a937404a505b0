# safetensors files: eight bytes with the length of a JSON header, the header, then the values.
#
#   safe_save({"w": Tensor.ones(2, 2)}, "model.safetensors", metadata={"made": "today"})
#   safe_load("model.safetensors")["w"]           # on DISK until it is used elsewhere
import json, os, pathlib, tempfile
import _uopscope
from tinygrad.dtype import dtypes
from tinygrad.helpers import prod
from uopscope.reader import Cursor, Source

safe_dtypes = {"BOOL": dtypes.bool, "I8": dtypes.int8, "U8": dtypes.uint8, "I16": dtypes.int16, "U16": dtypes.uint16, "I32": dtypes.int32, "U32": dtypes.uint32,
               "I64": dtypes.int64, "U64": dtypes.uint64, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "F32": dtypes.float32, "F64": dtypes.float64,
               "F8_E4M3": dtypes.fp8e4m3, "F8_E5M2": dtypes.fp8e5m2}
inverse_safe_dtypes = {dtype: name for name, dtype in safe_dtypes.items()}

def _header(source):
  """The position of the first value, and the header as a dict."""
  r = Cursor(source.bytes, source.name)
  text = r.take(r.unpack("<Q", "length of the header")[0], "the header")
  def unique(pairs):
    found = dict(pairs)
    if len(found) != len(pairs): raise ValueError("a name appears twice")
    return found
  try: header = json.loads(bytes(text), object_pairs_hook=unique)
  except (ValueError, RecursionError) as e: raise ValueError(f"{source.name}: not a safetensors file, its header is no JSON: {e}") from None
  if not isinstance(header, dict): raise ValueError(f"{source.name}: not a safetensors file, its header is no JSON object")
  return r.position, header

def _is_ints(x): return isinstance(x, list) and all(type(i) is int and i >= 0 for i in x)

def _entry(name, about, length, file):
  """dtype, shape and first byte of a tensor, checked against each other and the file's length."""
  def wrong(why): raise ValueError(f"{file}: tensor {name!r} {why}")
  if not isinstance(about, dict) or not _is_ints(about.get("shape")) or not _is_ints(about.get("data_offsets")) or len(about["data_offsets"]) != 2: wrong("is not described by dtype, shape and data_offsets")
  if about.get("dtype") not in safe_dtypes: wrong(f"has dtype {about.get('dtype')!r}; known are {', '.join(safe_dtypes)}")
  dtype, shape, (begin, end) = safe_dtypes[about["dtype"]], about["shape"], about["data_offsets"]
  if not begin <= end <= length: wrong(f"takes bytes {begin} to {end} of {length}: the file is truncated or damaged")
  if prod(shape) * dtype.itemsize != end - begin: wrong(f"of {about['dtype']} and shape {shape} does not fill {end - begin} bytes")
  return dtype, tuple(shape), begin

def safe_load_metadata(fn):
  """The tensor of the whole file, the position of its first value, and the header."""
  source = Source(fn)
  return (source.tensor, *_header(source))

def safe_load(fn):
  """The tensors of a file by name."""
  source = Source(fn)
  start, header = _header(source)
  entries = {name: _entry(name, about, len(source) - start, source.name) for name, about in header.items() if name != "__metadata__"}
  return {name: source.part(start + begin, dtype, shape) for name, (dtype, shape, begin) in entries.items()}

def _layout(tensors, metadata):
  header, offset = {"__metadata__": metadata} if metadata else {}, 0
  for name, t in tensors.items():
    if t.dtype not in inverse_safe_dtypes: raise ValueError(f"safe_save: {name!r} has {t.dtype}, which safetensors files cannot hold; cast it first")
    header[name] = {"dtype": inverse_safe_dtypes[t.dtype], "shape": list(t.shape), "data_offsets": [offset, offset + t.nbytes()]}
    offset += t.nbytes()
  text = json.dumps(header, separators=(",", ":")).encode()
  return text + b" " * (-len(text) % 8)

def safe_save(tensors, fn, metadata=None):
  """Writes tensors by name. The file appears when it is complete; it may be the file that the tensors come from."""
  text, path = _layout(tensors, metadata), pathlib.Path(fn)
  handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
  try:
    with os.fdopen(handle, "wb") as f:
      f.write(len(text).to_bytes(8, "little") + text)
      for t in tensors.values(): f.write(memoryview(_uopscope.tensor_bytes(t)))
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(unfinished, 0o666 & ~mask)
    os.replace(unfinished, path)
  except BaseException:
    os.unlink(unfinished)
    raise
