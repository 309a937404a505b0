# Memory and values shared with NumPy and other libraries: the buffer protocol, DLPack without copies, files, blobs, a plain Python.
import array, os, subprocess, sys, tempfile, pathlib
import numpy as np
from tinygrad import Device, Tensor, dtypes
from check import close, raises, run

ALL = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]

HOST = Device.DEFAULT in ("CPU", "REF")  # devices with the host's memory

def test_numpy_both_ways():
  for name in ALL:
    for shape in [(), (1,), (3, 4), (0,), (2, 0, 3)]:
      a = np.array(np.arange(int(np.prod(shape))).reshape(shape) % 5, dtype=name)
      t = Tensor(a)
      assert t.dtype == getattr(dtypes, name) and t.numpy().dtype == a.dtype, name
      assert t.numpy().strides == np.empty(shape, a.dtype).strides, name  # NumPy 2 keeps the size of an element elsewhere than NumPy 1
      close(t, a)
  close(np.asarray(Tensor([1.0, 2.0])), [1, 2])
  close(np.array(Tensor([1, 2]), dtype=np.float64), [1, 2])
  wrapped = np.arange(12).reshape(3, 4)[::2, ::-1]
  close(Tensor(wrapped), wrapped)

def test_arrays_within_lists():
  t = Tensor([np.array([1.5, 2.0]), np.array([3.0, 4.0])])
  assert t.shape == (2, 2) and t.dtype == dtypes.float32 and t.tolist() == [[1.5, 2.0], [3.0, 4.0]]
  assert Tensor((np.arange(3), [4, 5, 6])).tolist() == [[0, 1, 2], [4, 5, 6]]
  assert Tensor([np.float32(1), np.array(2.0)]).tolist() == [1.0, 2.0]
  raises(ValueError, lambda: Tensor([np.zeros(2), np.zeros(3)]))

def test_data_is_a_memoryview():
  m = Tensor([[1.0, 2.0], [3.0, 4.0]]).data()
  assert isinstance(m, memoryview) and m.shape == (2, 2) and m.format == "f" and m.tolist() == [[1, 2], [3, 4]]
  assert Tensor([1, 2, 3]).data().tolist() == [1, 2, 3]

def test_buffers_of_others():
  close(Tensor(array.array("f", [1.5, 2.5])), [1.5, 2.5])
  close(Tensor(memoryview(np.arange(6, dtype=np.int16))), np.arange(6))
  close(Tensor(bytearray(b"ab")), [97, 98])
  close(Tensor(b"\x01\x00\x02\x00", dtype=dtypes.int16), [1, 2])

def test_dlpack_shares_memory():
  t = (Tensor.arange(6).reshape(2, 3).float() + 0).contiguous().realize()
  if not HOST: return raises(NotImplementedError, lambda: np.from_dlpack(t), "not the host's")
  view = np.from_dlpack(t)
  close(view, t)
  t.assign(t + 1).realize()
  close(view, [[1, 2, 3], [4, 5, 6]])
  del t
  assert view.sum() == 21, "the view keeps the memory"
  a = np.zeros((2, 2), dtype=np.float32)
  u = Tensor.from_dlpack(a)
  a[0, 0] = 7
  close(u + 1, [[8, 1], [1, 1]])
  u.assign(u * 2).realize()
  assert a[0, 0] == 14
  close(Tensor.from_dlpack(np.arange(6, dtype=np.int64).reshape(2, 3).T), np.arange(6).reshape(2, 3).T)
  raises(TypeError, lambda: Tensor.from_dlpack(3), "from_dlpack")

def test_memory_of_two_tensors_is_one_buffer():
  if not HOST: return
  a = np.arange(6, dtype=np.float32)
  t, u = Tensor.from_dlpack(a), Tensor.from_dlpack(a)
  total, part = u.sum(), Tensor.from_dlpack(a[2:4])
  t.assign(t * 0).realize()                                      # lazy values keep the contents they were written with
  assert total.item() == 15 and u.tolist() == [0] * 6 and not a.any()
  part.assign(part + 5).realize()
  close(t, [0, 0, 5, 5, 0, 0])
  b = np.arange(6, dtype=np.float32)
  tail, head = Tensor.from_dlpack(b), Tensor.from_dlpack(b[:-1])
  tail[1:].assign(head * 2).realize()                            # not 0, 0, 0: each element is read before it is written
  close(b, [0, 0, 2, 4, 6, 8])
  c = np.arange(6, dtype=np.float32)
  first = Tensor.from_dlpack(c[:4])
  raises(ValueError, lambda: Tensor.from_dlpack(c[2:]), "overlaps", "slices")
  del first
  close(Tensor.from_dlpack(c[2:]), [2, 3, 4, 5])                 # nothing holds the first four any more
  back = Tensor.from_dlpack(t)
  back.assign(back + 1).realize()
  close(t, [1, 1, 6, 6, 1, 1])

def test_from_blob():
  if not HOST: return  # a host address is no device memory
  a = np.arange(4, dtype=np.float32)
  t = Tensor.from_blob(a.ctypes.data, (2, 2), dtype=dtypes.float32)
  close(t + 1, [[1, 2], [3, 4]])
  a[:] = 5
  close(t + 1, np.full((2, 2), 6))

def test_files():
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "numbers.bin"
    path.write_bytes(np.arange(3, dtype=np.float32).tobytes())
    close(Tensor(path, dtype=dtypes.float32), [0, 1, 2])
    close(Tensor.from_url(f"file://{path}", dtype=dtypes.float32), [0, 1, 2])
  raises(RuntimeError, lambda: Tensor.from_url("https://example.com/x"), "download")

def test_what_is_no_data():
  for bad in (object(), {1: 2}, "text"): raises((RuntimeError, TypeError, ValueError), lambda: Tensor(bad))
  raises((ValueError, RuntimeError), lambda: Tensor([[1, 2], [3]]), "shape")

def test_a_plain_python_imports_it():
  where = os.environ.get("UOPSCOPE_PYTHON_MODULES")
  if not where: return
  code = "import tinygrad; from tinygrad import Tensor, nn, TinyJit; print(Tensor([1, 2]).add(1).tolist())"
  out = subprocess.run(["/usr/bin/python3", "-c", code], env={**os.environ, "PYTHONPATH": where}, capture_output=True, text=True)
  assert out.returncode == 0 and out.stdout.strip() == "[2, 3]", out.stderr

# As in a package with an LLVM of its own (triton, which PyTorch imports): it exports these names and calls them by its tables.
WITH_ITS_OWN_LLVM = """
namespace llvm { namespace cl { struct Option { void addArgument(); }; } }
void llvm::cl::Option::addArgument() {}
extern "C" const char* LLVMPrintModuleToString() { return "its own"; }
extern "C" const char* asked() { return LLVMPrintModuleToString(); }
extern "C" void registered() { llvm::cl::Option option; option.addArgument(); }
"""

def test_a_package_with_an_llvm_of_its_own():
  import ctypes
  assert Tensor([1.0, 2.0]).add(1).tolist() == [2, 3]  # ours is in use
  with tempfile.TemporaryDirectory() as folder:
    source, library = os.path.join(folder, "own.cpp"), os.path.join(folder, "own.so")
    pathlib.Path(source).write_text(WITH_ITS_OWN_LLVM)
    subprocess.run(["c++", "-shared", "-fPIC", "-O0", source, "-o", library], check=True)
    own = ctypes.CDLL(library)
    own.asked.restype = ctypes.c_char_p
    assert own.asked() == b"its own"
    own.registered()

if __name__ == "__main__": run(globals())
