# OpenCL: tensors on CL give NumPy's numbers; types, parts of buffers, TinyJit, shards over two devices, BEAM, messages. Where no driver is, a sentence says so.
import os
os.environ.setdefault("POCL_DEVICES", "pthread pthread")  # PoCL makes two devices of the CPU
import numpy as np
from tinygrad import Tensor, TinyJit, Device, dtypes, Context
from tinygrad.helpers import GlobalCounters
from check import close, raises, run

TWO, rng = ("CL", "CL:1"), np.random.default_rng(0)
def cl(a): return Tensor(a, device="CL")

def test_products_sums_and_softmax():
  a, b = rng.normal(size=(37, 70)).astype(np.float32), rng.normal(size=(70, 33)).astype(np.float32)
  x, y = cl(a), cl(b)
  assert (x @ y).device == "CL"
  close(x @ y, a @ b, rtol=1e-4, atol=1e-4)
  close(x.sum(), a.sum(), rtol=1e-4, atol=1e-4), close(x.max(1), a.max(1))
  e = np.exp(a - a.max(1, keepdims=True))
  close(x.softmax(-1), e / e.sum(1, keepdims=True))
  close(x.exp() + x.abs().log() * x.sin(), np.exp(a) + np.log(np.abs(a)) * np.sin(a), rtol=1e-4, atol=1e-5)

def test_types_of_every_width():
  values = np.array([0, 1, 2, 3, 100, 127])
  for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
    a = values.astype(name)
    close(cl(a) + cl(a), a + a), close(cl(a).cast(dtypes.float32) * 0.5, a.astype(np.float32) * 0.5)
    close((cl(a) < cl(a[::-1].copy())).where(cl(a), 0), np.where(a < a[::-1], a, 0))
  for small in (dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2):
    close((cl(np.array([0.5, 1.5, -2.0, 448.0], np.float32)).cast(small) * 1).cast(dtypes.float32), [0.5, 1.5, -2.0, 448.0])
  close(cl(np.array([np.nan, np.inf, -np.inf, -0.0], np.float16)) + 1, np.array([np.nan, np.inf, -np.inf, 1], np.float16))
  assert (cl(np.array([1, 2], np.int64)) + 2**40).tolist() == [1 + 2**40, 2 + 2**40]
  assert cl(np.array([-1, 200], np.int16)).bitcast(dtypes.uint16).tolist() == [65535, 200] and cl([1.0]).bitcast(dtypes.int32).item() == 0x3f800000

def test_shapes_masks_and_random_numbers():
  a = rng.normal(size=(3, 5, 7)).astype(np.float32)
  close(cl(a).pad(((1, 2), (0, 3), (2, 2))), np.pad(a, ((1, 2), (0, 3), (2, 2)))), close(cl(a).permute(2, 0, 1)[1:6:2, ::-1], a.transpose(2, 0, 1)[1:6:2, ::-1])
  close(cl(a).cumsum(1), a.cumsum(1), atol=1e-5), close(cl(a)[:, Tensor([4, 0, 0], device="CL")], a[:, [4, 0, 0]])
  Tensor.manual_seed(7)
  here = Tensor.rand(300, device="CL").numpy()
  Tensor.manual_seed(7)
  close(here, Tensor.rand(300, device="CPU"))

def test_parts_of_buffers_and_assignment():
  t = cl(np.arange(1024, dtype=np.float32)).contiguous().realize()
  part = t[3:11].contiguous().realize()
  t[64:72].assign(part * 2).realize()
  want = np.arange(1024, dtype=np.float32)
  want[64:72] = want[3:11] * 2
  close(t, want)
  base = t.uop.buffer
  for offset in (0, 4, 128, 1000):
    view = base.view(8, dtypes.float32, offset).ensure_allocated()
    assert np.frombuffer(view.as_buffer(), np.float32).tolist() == want[offset // 4:offset // 4 + 8].tolist()

def test_jit_runs_again_with_other_inputs():
  @TinyJit
  def f(x, y): return ((x @ y).relu() + 1).sum(0).realize()
  for i in range(5):
    a, b = rng.normal(size=(16, 8)).astype(np.float32), rng.normal(size=(8, 12)).astype(np.float32)
    close(f(cl(a).realize(), cl(b).realize()), (np.maximum(a @ b, 0) + 1).sum(0), rtol=1e-4, atol=1e-4)

def test_two_devices_and_shards():
  try: Device["CL:1"]
  except RuntimeError as e: return print(f"shards are not tested: {e}")
  a, b = rng.normal(size=(8, 6)).astype(np.float32), rng.normal(size=(6, 4)).astype(np.float32)
  x, w = cl(a).shard(TWO, axis=0), cl(b).shard(TWO)
  assert x.device == TWO
  close(x @ w, a @ b, rtol=1e-4, atol=1e-5), close(x.sum(), a.sum(), rtol=1e-4, atol=1e-5)
  close(cl(a).to("CL:1") * 2, a * 2), close(cl(a).to("CPU") + Tensor(a, device="CPU"), a * 2), close(Tensor(a, device="CPU").to("CL:1"), a)
  raises(RuntimeError, lambda: (cl(a).realize() + cl(a).to("CL:1").realize()).realize(), "same device")

def test_beam_searches_on_the_device():
  a = rng.normal(size=(24, 24)).astype(np.float32)
  with Context(BEAM=1, IGNORE_BEAM_CACHE=1): close((cl(a) @ cl(a).T).realize(), a @ a.T, rtol=1e-4, atol=1e-4)

def test_times_and_counters():
  x = cl(np.ones((64, 64), np.float32)).realize()
  GlobalCounters.reset()
  with Context(DEBUG=2): (x + 1).realize()
  assert GlobalCounters.kernel_count == 1 and GlobalCounters.time_sum_s > 0

def test_messages():
  raises(RuntimeError, lambda: Device["CL:99"], "OpenCL finds")
  for name, needs in (("CUDA", "libcuda.so.1"), ("AMD", "amdgpu"), ("GPU", "DEV=CL")): raises(RuntimeError, lambda: Device[name], needs)

if __name__ == "__main__":
  try: Device["CL"]
  except RuntimeError as e: print(f"not run: {e}")
  else: run(globals())
