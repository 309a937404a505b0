# Checkpoints of PyTorch in their three forms, made by hand here, and pickles that try to run code.
import collections, io, os, pathlib, pickle, struct, sys, tarfile, tempfile, types, zipfile
import numpy as np
from tinygrad import Tensor, dtypes, nn
from check import close, raises, run

FOLDER = tempfile.TemporaryDirectory()
def path(name): return pathlib.Path(FOLDER.name) / name

# Modules with the names in a checkpoint, so that Python's pickle writes those names.
def module(name, **members):
  m = types.ModuleType(name)
  for k, v in members.items():
    v.__module__, v.__qualname__ = name, k
    setattr(m, k, v)
  sys.modules[name] = m
STORAGES = {np.float32: "FloatStorage", np.int64: "LongStorage", np.float16: "HalfStorage", np.uint8: "ByteStorage", np.bool_: "BoolStorage"}
kinds = {name: type(name, (), {}) for name in [*STORAGES.values(), "BFloat16Storage"]}
def rebuild(*_): raise AssertionError("called")
class Size(tuple):
  def __reduce__(self): return Size, (tuple(self),)
module("torch", Size=Size, **kinds)
module("torch._utils", _rebuild_tensor_v2=rebuild, _rebuild_parameter=type("p", (), {}))
sys.modules["torch._utils"]._rebuild_parameter = rebuild_parameter = lambda *_: None
rebuild_parameter.__module__, rebuild_parameter.__qualname__, rebuild_parameter.__name__ = "torch._utils", "_rebuild_parameter", "_rebuild_parameter"

class Stored:
  """An array as a checkpoint stores it: some numbers of a storage."""
  def __init__(self, storage, kind, size, stride, offset=0): self.storage, self.kind, self.size, self.stride, self.offset = storage, kind, size, stride, offset
  def __reduce__(self): return rebuild, (Storage(self), self.offset, self.size, self.stride, False, collections.OrderedDict())
class Parameter:
  def __init__(self, data): self.data = data
  def __reduce__(self): return rebuild_parameter, (self.data, True, collections.OrderedDict())
class Storage:
  def __init__(self, of): self.of = of
def stored(a, size=None, stride=None, offset=0):
  flat = np.ascontiguousarray(a).reshape(-1)
  return Stored(flat, kinds[STORAGES[a.dtype.type]], a.shape if size is None else size, tuple(s // a.itemsize for s in np.ascontiguousarray(a).strides) if stride is None else stride, offset)

class Pickler(pickle.Pickler):
  def __init__(self, f, protocol=2): super().__init__(f, protocol); self.storages = []
  def persistent_id(self, x):
    if not isinstance(x, Storage): return None
    if not any(x.of.storage is s for s in self.storages): self.storages.append(x.of.storage)
    key = next(i for i, s in enumerate(self.storages) if s is x.of.storage)
    return ("storage", x.of.kind, str(key), "cpu", x.of.storage.size)
def pickled(obj, protocol=2):
  f = io.BytesIO()
  p = Pickler(f, protocol)
  p.dump(obj)
  return f.getvalue(), p.storages

def as_zip(obj, compression=zipfile.ZIP_STORED, protocol=2):
  data, storages = pickled(obj, protocol)
  with zipfile.ZipFile(path("m.pth"), "w", compression) as z:
    z.writestr("archive/data.pkl", data)
    z.writestr("archive/byteorder", "little")
    for i, s in enumerate(storages): z.writestr(f"archive/data/{i}", s.tobytes())
    z.writestr("archive/version", "3\n")
  return path("m.pth")
def as_pickles(obj):
  data, storages = pickled(obj)
  parts = [pickle.dumps(x, 2) for x in (0x1950a86a20f9469cfc6c, 1001, {"little_endian": True})] + [data, pickle.dumps([str(i) for i in range(len(storages))], 2)]
  path("m.pth").write_bytes(b"".join(parts) + b"".join(struct.pack("<q", s.size) + s.tobytes() for s in storages))
  return path("m.pth")

a = np.arange(24, dtype=np.float32).reshape(4, 6)
def model():
  base = stored(a)
  return collections.OrderedDict(w=base, t=Stored(base.storage, base.kind, (6, 4), (1, 6)), row=Stored(base.storage, base.kind, (6,), (1,), 6), block=Stored(base.storage, base.kind, (2, 3), (6, 1), 8),
    wide=Stored(base.storage, base.kind, (3, 6), (0, 1), 6), every=Stored(base.storage, base.kind, (4, 3), (6, 2)), one=Stored(base.storage, base.kind, (), (), 5), long=stored(np.array([1, -2**40], np.int64)),
    half=stored(np.array([[1.5]], np.float16)), flag=stored(np.array([True, False])), empty=stored(np.zeros((0, 3), np.float32)), p=Parameter(base), steps=7, size=Size((2, 3)), nested={"list": [1.5, None, "x", (True,)]})
def check_model(m):
  close(m["w"], a), close(m["t"], a.T), close(m["row"], a[1]), close(m["block"], np.array([[8, 9, 10], [14, 15, 16]])), close(m["p"], a)
  close(m["wide"], np.stack([a[1]] * 3)), close(m["every"], a[:, ::2]), close(m["half"], [[1.5]]), close(m["one"], 5)
  assert m["long"].tolist() == [1, -2**40] and m["flag"].tolist() == [True, False] and m["empty"].shape == (0, 3) and m["flag"].dtype == dtypes.bool
  assert m["steps"] == 7 and m["size"] == (2, 3) and m["nested"] == {"list": [1.5, None, "x", (True,)]}

def test_zip_form():
  for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    for protocol in (2, 4): check_model(nn.state.torch_load(as_zip(model(), compression, protocol)))
  assert nn.state.torch_load(as_zip(model()))["w"].device.startswith("DISK")
  check_model(nn.state.torch_load(Tensor(path("m.pth").read_bytes())))

def test_pickles_form(): check_model(nn.state.torch_load(as_pickles(model())))

def test_tar_form():
  storage, view = np.arange(6, dtype=np.float32), struct.pack("<i4x", 2) + struct.pack("<2q2qq", 2, 2, 3, 1, 1)
  kind = kinds["FloatStorage"]
  class Ref:
    def __init__(self, key): self.key = key
  class P(pickle.Pickler):
    def persistent_id(self, x): return x.key if isinstance(x, Ref) else None
  f = io.BytesIO()
  P(f, 2).dump(collections.OrderedDict(w=Ref("11")))
  files = {"sys_info": pickle.dumps({}, 2), "pickle": f.getvalue(), "storages": pickle.dumps(1, 2) + pickle.dumps((5, "cpu", kind), 2) + struct.pack("<q", 6) + storage.tobytes(), "tensors": pickle.dumps(1, 2) + pickle.dumps((11, 5, kind), 2) + view}
  def write(files):
    with tarfile.open(path("m.tar"), "w") as t:
      for name, data in files.items():
        info = tarfile.TarInfo(name)
        info.size = len(data)
        t.addfile(info, io.BytesIO(data))
    return path("m.tar")
  close(nn.state.torch_load(write(files))["w"], [[1, 2], [4, 5]])
  raises(ValueError, lambda: nn.state.torch_load(write({k: v for k, v in files.items() if k != "tensors"})), "without tensors")
  raises(ValueError, lambda: nn.state.torch_load(write(files | {"tensors": pickle.dumps(2**40, 2)})), "do not fit")

class Evil:
  def __init__(self, f, *args): self.f, self.args = f, args
  def __reduce__(self): return self.f, self.args

def test_nothing_runs():
  target = path("owned")
  for evil in (Evil(os.system, f"touch {target}"), Evil(eval, f"open({str(target)!r}, 'w')"), Evil(exec, f"open({str(target)!r}, 'w')"), Evil(getattr, "text", "format"), Evil(__import__, "os")):
    m = nn.state.torch_load(as_zip({"w": stored(a), "evil": evil}))
    close(m["w"], a)
    assert "not loaded" in repr(m["evil"]) and not target.exists()
  # instructions that try to change known objects: attributes of functions and classes keep their values
  for text in (b"ctorch._utils\n_rebuild_tensor_v2\n}S'__code__'\nI1\nsb.", b"ccollections\nOrderedDict\n}S'update'\nI1\nsb.", b"cbuiltins\nset\n(tR}S'x'\nI1\nsb."):
    with zipfile.ZipFile(path("m.pth"), "w") as z: z.writestr("archive/data.pkl", text)
    nn.state.torch_load(path("m.pth"))
  check_model(nn.state.torch_load(as_zip(model())))
  assert collections.OrderedDict(a=1) and not target.exists()

def zip_of(data):
  with zipfile.ZipFile(path("m.pth"), "w") as z: z.writestr("archive/data.pkl", data)
  return path("m.pth")

def test_damaged_files():
  for data in (b"", b"\x80\x02", b"\x80\x02.", b"0.", b"\x80\x02a.", b"\x80\x02}q\x00", b"(lp0\nI1\na", b"\x80\x02r\xff\xff\xff\xff.", b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.", b"I1\nI2\nR.", b"t.", b"\x80\x02K\x01\x85K\x02R.", b"(((((", b"\xff"):
    raises(ValueError, lambda: nn.state.torch_load(zip_of(data)), "pickle")
  raises(ValueError, lambda: nn.state.torch_load(wrote(b"nothing like it")), "damaged")
  raises(ValueError, lambda: nn.state.torch_load(wrote(pickle.dumps(5, 2))), "not a checkpoint")
  with zipfile.ZipFile(path("m.pth"), "w") as z: z.writestr("a", "b")
  raises(ValueError, lambda: nn.state.torch_load(path("m.pth")), "data.pkl")
  for bad in (Stored(a.reshape(-1), kinds["FloatStorage"], (5, 6), (6, 1)), Stored(a.reshape(-1), kinds["FloatStorage"], (2,), (1,), 23), Stored(a.reshape(-1), kinds["FloatStorage"], (2,), (-1,), 5), Stored(a.reshape(-1), kinds["FloatStorage"], (2**40, 2**40), (1, 1)), Stored(a.reshape(-1), kinds["FloatStorage"], ("x",), (1,))):
    raises(ValueError, lambda: nn.state.torch_load(as_zip({"w": bad}))), raises(ValueError, lambda: nn.state.torch_load(as_pickles({"w": bad})))
  for make in (as_zip, as_pickles):
    whole = make({"w": stored(np.arange(4, dtype=np.float32))}).read_bytes()
    for n in range(0, len(whole), 7): raises(ValueError, lambda: nn.state.torch_load(wrote(whole[:n])))

def wrote(data):
  path("bad").write_bytes(data)
  return path("bad")

if __name__ == "__main__": run(globals())
