# Checkpoints of PyTorch in its three formats: a zip (since 1.6), a sequence of pickles (0.1.10 to 1.5), a tar (before).
# Nothing in a file is executed (see pickles). Values stay in the file, except for those stored transposed.
#
#   torch_load("model.pth")["layer.weight"]
import tarfile
from tinygrad.tensor import Tensor
from tinygrad.dtype import dtypes
from tinygrad.helpers import prod
from uopscope.archives import zip_member, zip_members
from uopscope.pickles import PickleReader
from uopscope.reader import Cursor, Source, TensorIO

_TYPES = {"Double": dtypes.float64, "Float": dtypes.float32, "Half": dtypes.float16, "BFloat16": dtypes.bfloat16, "Long": dtypes.int64, "Int": dtypes.int32,
          "Short": dtypes.int16, "Char": dtypes.int8, "Byte": dtypes.uint8, "Bool": dtypes.bool, "Untyped": dtypes.uint8}
_NAMES = {"float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char",
          "uint8": "Byte", "bool": "Bool"}
_CONSTANTS = {("torch", f"{name}{kind}"): dtype for name, dtype in _TYPES.items() for kind in ("Storage", "Tensor")}
_CONSTANTS |= {(module, f"{name}Storage"): dtype for name, dtype in _TYPES.items() for module in ("torch.storage", "torch.cuda")}
_CONSTANTS |= {("torch", name): _TYPES[of] for name, of in _NAMES.items()}
_CONSTANTS |= {("torch", "float8_e4m3fn"): dtypes.fp8e4m3, ("torch", "float8_e5m2"): dtypes.fp8e5m2}

class _Storage:
  """A sequence of values in the file: a name, a type, a count."""
  def __init__(self, key, dtype, count): self.key, self.dtype, self.count = key, dtype, count

def _is_count(x): return type(x) is int and x >= 0
def _are_counts(xs): return isinstance(xs, (tuple, list)) and all(map(_is_count, xs))

def _strided(flat, size, stride):
  """The tensor with those strides over the values of `flat`, by reshape, permute and expand."""
  order = sorted((i for i in range(len(size)) if size[i] > 1 and stride[i] > 0), key=lambda i: -stride[i])
  steps = [stride[i] for i in order]
  if any(big % small or big // small < size[i] for big, small, i in zip(steps, steps[1:], order[1:])): raise ValueError(f"strides {stride} of shape {size} overlap: nonpermutable strides")
  # One axis per stride. Each axis is as long as the stride of the previous one is wide; elements beyond `size` are cut off.
  rows = [size[order[0]]] + [big // small for big, small in zip(steps, steps[1:])] if order else []
  x = flat.pad(((0, prod(rows) * steps[-1] - flat.shape[0]),)) if order and prod(rows) * steps[-1] > flat.shape[0] else flat
  x = x.reshape(*rows, -1).shrink((*((0, size[i]) for i in order), (0, 1))) if order else x.shrink(((0, 1),))
  x = x.reshape(tuple(size[i] for i in order)).permute(tuple(sorted(range(len(order)), key=lambda k: order[k])))
  return x.reshape(tuple(1 if stride[i] == 0 else size[i] for i in range(len(size)))).expand(tuple(size))

def _rows(size):
  """The strides of values in row-major order."""
  out = [1] * len(size)
  for i in range(len(size) - 2, -1, -1): out[i] = out[i + 1] * max(size[i + 1], 1)
  return out

class _Parameter:
  """A parameter in the tar format: its state begins with the tensor."""
  def built(self, state): return state[0]

class _Numpy:
  """A NumPy type, number or array: stores the arguments it was made of, and gives a plain value."""
  def __init__(self, kind=""): self.kind = kind
  def built(self, state): return self

def _scalar(kind, data):
  import numpy as np
  return np.frombuffer(data.encode("latin1") if isinstance(data, str) else data, dtype=np.dtype(kind.kind).newbyteorder("<"))[0].item()

class _Checkpoint:
  """Reads one file. `where` maps the key of a storage to (first byte, bytes) or to a tensor of its bytes."""
  def __init__(self, source):
    self.source, self.where, self.objects, self.storages = source, {}, {}, {}
    calls = {("collections", "OrderedDict"): lambda items=(): dict(items), ("collections", "defaultdict"): lambda *_: {}, ("torch", "Size"): lambda x=(): tuple(x),
             ("builtins", "set"): lambda x=(): set(x), ("__builtin__", "set"): lambda x=(): set(x), ("builtins", "complex"): complex,
             ("torch", "device"): lambda *a: ":".join(map(str, a)), ("_codecs", "encode"): lambda text, code="latin1": text.encode("latin1"),
             ("torch._utils", "_rebuild_tensor"): self._rebuild, ("torch._utils", "_rebuild_tensor_v2"): self._rebuild, ("torch._utils", "_rebuild_tensor_v3"): self._rebuild_typed,
             ("torch._utils", "_rebuild_parameter"): lambda t, *_: t, ("torch._utils", "_rebuild_parameter_with_state"): lambda t, *_: t,
             ("torch._tensor", "_rebuild_from_type_v2"): lambda f, kind, args, state: f(*args), ("torch.nn.parameter", "Parameter"): lambda t=None, *_: _Parameter() if t is None else t,
             ("numpy", "dtype"): lambda kind, *_: _Numpy(kind)}
    for module in ("numpy.core.multiarray", "numpy._core.multiarray"): calls[module, "scalar"] = _scalar
    self.reader = PickleReader(calls, _CONSTANTS, self._persistent)

  def _persistent(self, key):
    if not isinstance(key, tuple): return self.objects.get(key, key)
    if len(key) < 5 or key[0] != "storage" or not _is_count(key[4]): raise ValueError(f"a storage is described by {key!r}")
    dtype = key[1] if key[1] in _CONSTANTS.values() else None
    if dtype is None: raise ValueError(f"a storage of type {key[1]!r}")
    return self.storages.setdefault(key[2], _Storage(key[2], dtype, key[4]))

  def _rebuild(self, storage, offset, size, stride, *_): return self._tensor(storage, storage.dtype, offset, size, stride)
  def _rebuild_typed(self, storage, offset, size, stride, grad, hooks, dtype, *_): return self._tensor(storage, dtype, offset, size, stride)

  def _tensor(self, storage, dtype, offset, size, stride):
    if not isinstance(storage, _Storage) or not _is_count(offset) or not _are_counts(size) or not _are_counts(stride) or len(size) != len(stride): raise ValueError("a tensor is not described by storage, offset, size and stride")
    if storage.key not in self.where: return None # the first pass only collects storages
    first, held = self.where[storage.key]
    if prod(size) == 0: return Tensor.empty(*size, dtype=dtype)
    last = offset + sum((s - 1) * st for s, st in zip(size, stride))
    if (last + 1) * dtype.itemsize > held: raise ValueError(f"a tensor of shape {tuple(size)} needs element {last} of a storage of {held} bytes")
    source, start = (self.source, first) if type(first) is int else (Source(first), 0)
    wanted = [st for s, st in zip(size, stride) if s != 1]
    if wanted == [st for s, st in zip(size, _rows(size)) if s != 1]: return source.part(start + offset * dtype.itemsize, dtype, size)
    flat = source.part(start + offset * dtype.itemsize, dtype, (last + 1 - offset,)).to(None)
    return _strided(flat, tuple(size), tuple(stride))

  def zip(self):
    members = zip_members(self.source)
    found = [name for name in members if name == "data.pkl" or name.endswith("/data.pkl")]
    if not found: raise ValueError(f"{self.source.name}: a zip without data.pkl: not a checkpoint of PyTorch")
    base = found[0][:-len("data.pkl")]
    def contents(name): return bytes(memoryview(Source(zip_member(self.source, members[name])).bytes))
    if base + "byteorder" in members and contents(base + "byteorder") != b"little": raise ValueError(f"{self.source.name}: written on a big-endian machine, which is not supported")
    for name, member in members.items():
      if name.startswith(base + "data/"):
        start, packed, info = member
        stored = info.compress_type == 0
        self.where[name[len(base) + 5:]] = (start, packed) if stored else (zip_member(self.source, member), info.file_size)
    return self.reader.load(Cursor(contents(found[0]), f"{self.source.name}: {found[0]}"))

  def tar(self, members):
    def cursor(name):
      m = members.get(name)
      if m is None: raise ValueError(f"{self.source.name}: a tar without {name}: not a checkpoint of PyTorch")
      return Cursor(self.source.bytes[:m.offset_data + m.size], f"{self.source.name}: {name}", m.offset_data)
    r, types = cursor("storages"), {}
    for _ in range(self._count(r)):
      key, _, types[key] = self.reader.load(r)
      size = r.unpack("<q", "length of a storage")[0] * types[key].itemsize
      self.where[key] = r.position, size
      r.take(size, "a storage")
    r = cursor("tensors")
    for _ in range(self._count(r)):
      key, storage, _ = self.reader.load(r)
      ndim, = r.unpack("<i4x", "number of axes")
      r.count(ndim, 16, "axes")
      size, stride, (offset,) = r.unpack(f"<{ndim}q"), r.unpack(f"<{ndim}q"), r.unpack("<q")
      if storage not in types: raise ValueError(f"{r.name}: tensor {key} is in storage {storage}, which is not there")
      self.objects[str(key)] = self.objects[key] = self._tensor(_Storage(storage, types[storage], 0), types[storage], offset, size, stride)
    return self.reader.load(cursor("pickle"))

  def _count(self, r):
    n = self.reader.load(r)
    if not _is_count(n): raise ValueError(f"{r.name}: damaged: no count at its beginning")
    return r.count(n, 1, "entries")

  def pickles(self):
    r = Cursor(self.source.bytes, self.source.name)
    if self.reader.load(r) != 0x1950a86a20f9469cfc6c: raise ValueError(f"{self.source.name}: not a checkpoint of PyTorch: neither a zip, nor a tar, nor a run of pickles")
    for _ in range(2): self.reader.load(r) # version and machine
    at = r.position
    self.reader.load(r) # only its storages are needed
    for key in self.reader.load(r):
      if key not in self.storages: raise ValueError(f"{self.source.name}: damaged: storage {key!r} belongs to no tensor")
      r.unpack("<q", "length of a storage")
      size = self.storages[key].count * self.storages[key].dtype.itemsize
      self.where[key] = r.position, size
      r.take(size, "a storage")
    return self.reader.load(Cursor(self.source.bytes, self.source.name, at))

def torch_load(fn):
  """The object in a checkpoint, usually a dict of tensors by name."""
  source = Source(fn)
  checkpoint = _Checkpoint(source)
  if bytes(source.bytes[:4]) == b"PK\3\4": return checkpoint.zip()
  try:
    with tarfile.open(fileobj=TensorIO(source), mode="r:") as tar: members = {m.name.removeprefix("./"): m for m in tar if m.isreg()}
  except (tarfile.TarError, ValueError, OverflowError): return checkpoint.pickles()
  return checkpoint.tar(members)
