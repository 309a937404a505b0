# Tensors of files, safetensors, zip and tar, data sets: reading returns the written data, and damage has a clear message.
import gzip, hashlib, io, json, os, pathlib, struct, tarfile, tempfile, zipfile
import numpy as np
from tinygrad import Device, Tensor, dtypes, nn
from check import close, raises, run

FOLDER = tempfile.TemporaryDirectory()
def path(name): return pathlib.Path(FOLDER.name) / name
def wrote(name, data):
  path(name).write_bytes(data)
  return path(name)
rng = np.random.default_rng(0)

def test_tensor_of_a_file():
  data = rng.integers(0, 256, 64, dtype=np.uint8)
  t = Tensor(wrote("bytes", data.tobytes()))
  assert t.shape == (64,) and t.dtype == dtypes.uint8 and t.device == f"DISK:{path('bytes')}"
  close(t, data), close(t[4:20].bitcast(dtypes.float32).bitcast(dtypes.uint32), data[4:20].view(np.uint32)), close(t.reshape(8, 8)[2:4].to("CPU"), data.reshape(8, 8)[2:4])
  close(t[1:3].bitcast(dtypes.int16), data[1:3].view(np.int16)) # not aligned
  close(t.to("CPU") + 1, data + np.uint8(1)), close(t.reshape(8, 8)[3, 2:5], data.reshape(8, 8)[3, 2:5])
  assert Tensor(wrote("none", b"")).shape == (0,) and Tensor(path("bytes"), dtype=dtypes.int64).shape == (8,)
  raises(FileNotFoundError, lambda: Tensor(path("absent")))
  raises(RuntimeError, lambda: (t + 1).numpy(), "DISK", ".to(")
  raises(RuntimeError, lambda: t.reshape(8, 8)[:, 1].to("CPU"), "one piece")
  raises(OSError, lambda: Tensor(pathlib.Path(FOLDER.name)), "regular")

def test_writing_a_file():
  t = Tensor.empty(4, dtype=dtypes.int32, device=f"disk:{path('out')}")
  t.assign(Tensor([1, 2, 3, 4]))
  t[1:3].assign([7, 8])
  assert path("out").read_bytes() == np.array([1, 7, 8, 4], np.int32).tobytes()

def every_dtype():
  out = {f"of {d.name}": Tensor([0, 1, 2, 3, 4, 5], dtype=d).reshape(2, 3) for d in (dtypes.bool, *dtypes.ints, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)}
  return out | {"scalar": Tensor(2.5).contiguous(), "empty": Tensor.empty(0, 3), "computed": Tensor.arange(6).reshape(2, 3).transpose(), "ümläut": Tensor([1])}

def test_a_file_computes_nothing():
  x = Tensor.empty(4, dtype=dtypes.int16, device=f"disk:{path('numbers')}")
  x.assign(Tensor([1, 2, 3, 4], dtype=dtypes.int16)).realize()
  raises(NotImplementedError, lambda: x.cast(dtypes.float32).realize(), "DISK", ".to(")
  for dtype in (dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2): # a device widens types that the host lacks
    values = Tensor([0.5, 1.5, -2.0, 4.0]).cast(dtype)
    nn.state.safe_save({"values": values}, path(dtype.name))
    back = nn.state.safe_load(path(dtype.name))["values"]
    close(back, values), close(np.array(back.tolist()), values)

def test_safetensors():
  tensors = every_dtype()
  nn.state.safe_save(tensors, str(path("all.safetensors")), metadata={"made": "here"})
  back = nn.state.safe_load(path("all.safetensors"))
  assert list(back) == list(tensors)
  for name, t in tensors.items():
    assert back[name].dtype == t.dtype and back[name].shape == t.shape, name
    if t.numel(): close(back[name].to("CPU").float(), t.float())
  assert back["computed"].device.startswith("DISK")
  t, start, header = nn.state.safe_load_metadata(path("all.safetensors"))
  assert header["__metadata__"] == {"made": "here"} and start % 8 == 0 and t.shape[0] == path("all.safetensors").stat().st_size
  back = nn.state.safe_load(Tensor(path("all.safetensors").read_bytes()))
  close(back["computed"], tensors["computed"])
  assert list(p.name for p in path("").iterdir() if p.name.startswith("all.")) == ["all.safetensors"]

def test_safetensors_bytes_are_the_reference_s():
  nn.state.safe_save({"a": Tensor([1.0, 2.0]), "b": Tensor([[1, 2], [3, 4]], dtype=dtypes.uint8)}, str(path("b.safetensors")), {"k": "v"})
  assert hashlib.sha256(path("b.safetensors").read_bytes()).hexdigest() == "a76a2925f0f3e73e92f19365107e5581023ba361e7da3ac0df3c79d297e76f97"

def test_saving_onto_the_file_that_is_read():
  nn.state.safe_save({"a": Tensor([1.0, 2.0])}, str(path("same.safetensors")))
  a = nn.state.safe_load(path("same.safetensors"))["a"]
  nn.state.safe_save({"a": a.to("CPU") * 2, "b": a}, str(path("same.safetensors")))
  back = nn.state.safe_load(path("same.safetensors"))
  assert back["a"].tolist() == [2.0, 4.0] and back["b"].tolist() == [1.0, 2.0]

def safetensors_file(header, body=b""):
  text = header if isinstance(header, bytes) else json.dumps(header).encode()
  return wrote("bad.safetensors", struct.pack("<Q", len(text)) + text + body)

def test_damaged_safetensors():
  entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
  nn.state.safe_load(safetensors_file({"a": entry}, bytes(8)))
  for header, body, words in [({"a": entry}, bytes(7), ("'a'", "truncated")), ({"a": entry | {"shape": [3]}}, bytes(8), ("[3]", "8 bytes")), ({"a": entry | {"shape": [-2]}}, bytes(8), ("shape",)),
                              ({"a": entry | {"dtype": "F31"}}, bytes(8), ("F31", "F32")), ({"a": entry | {"data_offsets": [8, 0]}}, bytes(8), ("8 to 0",)), ({"a": 7}, b"", ("described",)),
                              ({"a": entry | {"shape": [2**62, 2**62]}}, bytes(8), ("fill",)), ([1], b"", ("object",)), (b"{", b"", ("JSON",)), (b'{"a":1,"a":2}', b"", ("twice",)), (b"[" * 100000, b"", ("JSON",))]:
    raises(ValueError, lambda: nn.state.safe_load(safetensors_file(header, body)), *words)
  for data in (b"", b"1234567", struct.pack("<Q", 2**63), struct.pack("<Q", 100) + b"{}"): raises(ValueError, lambda: nn.state.safe_load(wrote("bad", data)), "truncated")

def test_every_truncation_of_a_file_is_an_error():
  nn.state.safe_save({"a": Tensor([1.0, 2.0])}, str(path("cut.safetensors")))
  whole = path("cut.safetensors").read_bytes()
  for n in range(len(whole)): raises(ValueError, lambda: nn.state.safe_load(wrote("cut", whole[:n])))

def zip_file(name="z.zip", compression=zipfile.ZIP_STORED, **members):
  with zipfile.ZipFile(path(name), "w", compression) as z:
    for member, data in members.items(): z.writestr(member, data)
  return path(name)

def test_zip():
  for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    files = nn.state.zip_extract(zip_file(compression=compression, a=b"hello" * 100, b=b""))
    assert sorted(files) == ["a", "b"] and files["a"].data().tobytes() == b"hello" * 100 and files["b"].shape == (0,)
    files = nn.state.zip_extract(Tensor(path("z.zip").read_bytes()))
    assert files["a"].data().tobytes() == b"hello" * 100
  raises(NotImplementedError, lambda: nn.state.zip_extract(zip_file(compression=zipfile.ZIP_BZIP2, a=b"x" * 100)), "compression")
  raises(ValueError, lambda: nn.state.zip_extract(wrote("bad", b"no zip")), "zip")
  whole = bytearray(zip_file(compression=zipfile.ZIP_DEFLATED, a=b"hello" * 100).read_bytes())
  whole[35] ^= 255
  raises(ValueError, lambda: nn.state.zip_extract(wrote("bad", bytes(whole))), "damaged")
  at = bytes(whole).rfind(b"PK\1\2")
  whole[at + 24:at + 28] = struct.pack("<I", 2**31)
  raises(ValueError, lambda: nn.state.zip_extract(wrote("bad", bytes(whole))), "cannot hold")

def tar_bytes(mode="w", **members):
  f = io.BytesIO()
  with tarfile.open(fileobj=f, mode=mode) as t:
    folder = tarfile.TarInfo("folder")
    folder.type = tarfile.DIRTYPE
    t.addfile(folder)
    for name, data in members.items():
      info = tarfile.TarInfo(name)
      info.size = len(data)
      t.addfile(info, io.BytesIO(data))
  return f.getvalue()

def test_tar():
  for mode in ("w", "w:gz"):
    files = nn.state.tar_extract(wrote("t.tar", tar_bytes(mode, a=b"hello", b=b"x" * 1000)))
    assert files["a"].data().tobytes() == b"hello" and files["b"].shape == (1000,)
  whole = tar_bytes(a=b"hello" * 1000)
  raises((tarfile.TarError, ValueError), lambda: nn.state.tar_extract(wrote("t.tar", whole[:2000])), "damaged")
  raises(tarfile.TarError, lambda: nn.state.tar_extract(wrote("t.tar", b"no tar" * 200)), "not a tar")

class Net:
  def __init__(self): self.layers, self.named, self.scale = [nn.Linear(2, 3), nn.Linear(3, 1, bias=False)], {"norm": nn.LayerNorm(3)}, Tensor([2.0])

def test_state_dict():
  net = Net()
  state = nn.state.get_state_dict(net)
  assert list(state) == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "named.norm.weight", "named.norm.bias", "scale"]
  assert list(nn.state.get_state_dict([Tensor([1])], prefix="x.")) == ["x.0"] and len(nn.state.get_parameters(net)) == 6
  nn.state.safe_save(state, str(path("net.safetensors")))
  other = Net()
  loaded = nn.state.load_state_dict(other, nn.state.safe_load(path("net.safetensors")), verbose=False)
  assert len(loaded) == 6 and loaded[0] is other.layers[0].weight or loaded[0].tolist() == other.layers[0].weight.tolist()
  for name, t in nn.state.get_state_dict(other).items(): close(t, state[name])
  raises(KeyError, lambda: nn.state.load_state_dict(net, {}, verbose=False), "layers.0.weight")
  assert nn.state.load_state_dict(net, {}, strict=False, verbose=False) == []
  raises(ValueError, lambda: nn.state.load_state_dict(net, {**state, "scale": Tensor([1.0, 2.0])}, verbose=False), "scale", "(1,)", "(2,)")
  nn.state.load_state_dict(net, {**state, "scale": Tensor(5.0)}, verbose=False)
  assert net.scale.tolist() == [5.0]
  given = dict(state)
  nn.state.load_state_dict(net, given, verbose=False, consume=True)
  assert given == {}

def idx(*shape): return struct.pack(">HBB", 0, 8, len(shape)) + struct.pack(f">{len(shape)}I", *shape)

def test_datasets():
  os.environ["UOPSCOPE_DATA"], os.environ["XDG_CACHE_HOME"] = str(path("data")), str(path("cache"))
  e = raises(RuntimeError, nn.datasets.mnist, "train-images-idx3-ubyte.gz", str(path("data")), "UOPSCOPE_DATA")
  raises(RuntimeError, nn.datasets.cifar, "cifar-10-binary.tar.gz")
  path("data").mkdir(), path("data/fashion").mkdir()
  images, labels = rng.integers(0, 256, (6, 28, 28), dtype=np.uint8), np.arange(6, dtype=np.uint8)
  for folder in ("data", "data/fashion"):
    for part in ("train", "t10k"):
      wrote(f"{folder}/{part}-images-idx3-ubyte.gz", gzip.compress(idx(6, 28, 28) + images.tobytes()))
      wrote(f"{folder}/{part}-labels-idx1-ubyte", idx(6) + labels.tobytes()) # unpacked files work too
  for fashion in (False, True):
    x, y, xt, yt = nn.datasets.mnist(fashion=fashion)
    close(x, images.reshape(6, 1, 28, 28)), close(yt, labels)
    assert x.shape == xt.shape and y.dtype == dtypes.uint8 and x.device == Device.DEFAULT
  wrote("data/train-images-idx3-ubyte.gz", gzip.compress(b"short"))
  raises(ValueError, nn.datasets.mnist, "5 bytes")
  rows = {f"cifar-10-batches-bin/{n}.bin": rng.integers(0, 256, (3, 3073), dtype=np.uint8) for n in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]}
  wrote("data/cifar-10-binary.tar.gz", tar_bytes("w:gz", **{k: v.tobytes() for k, v in rows.items()}))
  x, y, xt, yt = nn.datasets.cifar()
  assert x.shape == (15, 3, 32, 32) and yt.shape == (3,)
  close(x[3:6].reshape(3, -1), rows["cifar-10-batches-bin/data_batch_2.bin"][:, 1:]), close(yt, rows["cifar-10-batches-bin/test_batch.bin"][:, 0])

if __name__ == "__main__": run(globals())
