# GPUs: tensors on CL, CUDA and WEBGPU give NumPy's numbers; types, parts of buffers, TinyJit, shards over two devices, BEAM, messages. Without a driver, a sentence says so.
import os
os.environ.setdefault("POCL_DEVICES", "pthread pthread")  # PoCL makes two devices of the CPU
os.environ.setdefault("CUDA_SPLIT", "2")  # CUDA makes two devices of a GPU
os.environ.setdefault("WEBGPU_SPLIT", "2")
import numpy as np
from tinygrad import Tensor, TinyJit, Device, Variable, dtypes, Context
from tinygrad.helpers import GlobalCounters
from tinygrad.uop.ops import UOp, AxisType, KernelInfo
from check import close, raises, run

GPU, rng = "CL", np.random.default_rng(0)
def on(a): return Tensor(a, device=GPU)

def test_products_sums_and_softmax():
  a, b = rng.normal(size=(37, 70)).astype(np.float32), rng.normal(size=(70, 33)).astype(np.float32)
  x, y = on(a), on(b)
  assert (x @ y).device == GPU
  close(x @ y, a @ b, rtol=1e-4, atol=1e-4)
  close(x.sum(), a.sum(), rtol=1e-4, atol=1e-4), close(x.max(1), a.max(1))
  e = np.exp(a - a.max(1, keepdims=True))
  close(x.softmax(-1), e / e.sum(1, keepdims=True))
  close(x.exp() + x.abs().log() * x.sin(), np.exp(a) + np.log(np.abs(a)) * np.sin(a), rtol=1e-4, atol=1e-5)

def test_types_of_every_width():
  values = np.array([0, 1, 2, 3, 100, 127])
  for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
    a = values.astype(name)
    close(on(a) + on(a), a + a), close(on(a).cast(dtypes.float32) * 0.5, a.astype(np.float32) * 0.5)
    close((on(a) < on(a[::-1].copy())).where(on(a), 0), np.where(a < a[::-1], a, 0))
  for small in (dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2):
    close((on(np.array([0.5, 1.5, -2.0, 448.0], np.float32)).cast(small) * 1).cast(dtypes.float32), [0.5, 1.5, -2.0, 448.0])
  close(on(np.array([np.nan, np.inf, -np.inf, -0.0], np.float16)) + 1, np.array([np.nan, np.inf, -np.inf, 1], np.float16))
  assert (on(np.array([1, 2], np.int64)) + 2**40).tolist() == [1 + 2**40, 2 + 2**40]
  assert Tensor.full((3,), -12, dtype=dtypes.int16, device=GPU).contiguous().tolist() == [-12] * 3
  assert on(np.array([-1, 200], np.int16)).bitcast(dtypes.uint16).tolist() == [65535, 200] and on([1.0]).bitcast(dtypes.int32).item() == 0x3f800000

def test_shapes_masks_and_random_numbers():
  a = rng.normal(size=(3, 5, 7)).astype(np.float32)
  close(on(a).pad(((1, 2), (0, 3), (2, 2))), np.pad(a, ((1, 2), (0, 3), (2, 2)))), close(on(a).permute(2, 0, 1)[1:6:2, ::-1], a.transpose(2, 0, 1)[1:6:2, ::-1])
  close(on(a).cumsum(1), a.cumsum(1), atol=1e-5), close(on(a)[:, Tensor([4, 0, 0], device=GPU)], a[:, [4, 0, 0]])
  Tensor.manual_seed(7)
  here = Tensor.rand(300, device=GPU).numpy()
  Tensor.manual_seed(7)
  close(here, Tensor.rand(300, device="CPU"))

def test_parts_of_buffers_and_assignment():
  t = on(np.arange(1024, dtype=np.float32)).contiguous().realize()
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
    close(f(on(a).realize(), on(b).realize()), (np.maximum(a @ b, 0) + 1).sum(0), rtol=1e-4, atol=1e-4)

def test_jit_with_a_variable_and_several_kernels():
  @TinyJit
  def f(x, n): return (x[:n].sum(0) + 1).realize(), (x[:n].max(0) * 2).realize()
  a, n = rng.normal(size=(10, 8)).astype(np.float32), Variable("n", 1, 10)
  for i in (3, 5, 7, 2, 9):
    total, most = f(on(a).realize(), n.bind(i))
    close(total, a[:i].sum(0) + 1, rtol=1e-4, atol=1e-4), close(most, a[:i].max(0) * 2)
  with Context(DEBUG=2): close(f(on(a + 1).realize(), n.bind(4))[0], (a + 1)[:4].sum(0) + 1, rtol=1e-4, atol=1e-4)
  close(f(on(a).realize(), n.bind(4))[0], a[:4].sum(0) + 1, rtol=1e-4, atol=1e-4)

def test_long_sums_and_products_of_every_shape():
  for shape, axis in (((100003,), 0), ((7, 4096), 1), ((4096, 7), 0), ((3, 513, 5), 1), ((1 << 16,), 0), ((64, 64, 64), (0, 2))):
    a = rng.normal(size=shape).astype(np.float32)
    try: close(on(a).sum(axis), a.sum(axis, dtype=np.float64), rtol=1e-4, atol=1e-2), close(on(a).max(axis), a.max(axis))
    except RuntimeError as e: assert "llvmpipe" in str(e) and "100003 rounds of loops" in str(e), e  # it would leave out rounds
  for n, k, m in ((64, 64, 64), (128, 256, 64), (256, 96, 320), (33, 65, 17), (1, 512, 256), (256, 512, 1), (130, 70, 190)):
    a, b = rng.normal(size=(n, k)).astype(np.float32), rng.normal(size=(k, m)).astype(np.float32)
    close(on(a) @ on(b), a @ b, rtol=1e-3, atol=1e-3), close(on(a) @ on(b.T.copy()).T, a @ b, rtol=1e-3, atol=1e-3)
  for n, k, m in ((512, 64, 1024), (1024, 96, 512)):  # several warps in a group
    a, b = rng.normal(size=(n, k)).astype(np.float16), rng.normal(size=(k, m)).astype(np.float16)
    want = a.astype(np.float32) @ b.astype(np.float32)
    close((on(a) @ on(b)).float(), want, rtol=1e-2, atol=6e-2), close((on(a) @ on(b.T.copy()).T).float(), want, rtol=1e-2, atol=6e-2)
    close(on(a).float() @ on(b).float(), want, rtol=1e-3, atol=1e-3)
  for n, k, m in ((64, 64, 64), (33, 65, 17), (130, 70, 190)):
    a, b = rng.normal(size=(n, k)).astype(np.float32), rng.normal(size=(k, m)).astype(np.float32)
    h, g = a.astype(np.float16), b.astype(np.float16)
    close((on(h) @ on(g)).float(), h.astype(np.float32) @ g.astype(np.float32), rtol=1e-2, atol=6e-2)

def test_a_loop_beside_a_store_does_not_become_threads():
  def pairs(out, x):  # out is set to 0 by a loop of its own, then added to step by step
    i, zero = UOp.range(64, 0, AxisType.LOOP), UOp.range(32, 1)
    now = out.after(out[zero].store(0.0).end(zero)).after(i)
    return now[i // 2].store(now[i // 2] + x[i]).end(i).sink(arg=KernelInfo(name="pairs"))
  x = np.linspace(0.5, 1.5, 64, dtype=np.float32)
  close(Tensor.empty(32, device=GPU).custom_kernel(on(x), fxn=pairs)[0], x.reshape(32, 2).sum(1))

def test_halves_as_bits():
  a = np.array([1.5, -2, 65504, 6e-8, np.inf, 0], np.float16)
  assert (on(a) + 0).bitcast(dtypes.uint16).tolist() == a.view(np.uint16).tolist()
  close((on(a.view(np.uint16)) + 0).bitcast(dtypes.float16), a)

def test_two_devices_and_shards():
  try: Device[f"{GPU}:1"]
  except RuntimeError as e: return print(f"shards are not tested: {e}")
  a, b = rng.normal(size=(8, 6)).astype(np.float32), rng.normal(size=(6, 4)).astype(np.float32)
  x, w = on(a).shard((GPU, f"{GPU}:1"), axis=0), on(b).shard((GPU, f"{GPU}:1"))
  assert x.device == (GPU, f"{GPU}:1")
  close(x @ w, a @ b, rtol=1e-4, atol=1e-5), close(x.sum(), a.sum(), rtol=1e-4, atol=1e-5)
  close(on(a).to(f"{GPU}:1") * 2, a * 2), close(on(a).to("CPU") + Tensor(a, device="CPU"), a * 2), close(Tensor(a, device="CPU").to(f"{GPU}:1"), a)
  raises(RuntimeError, lambda: (on(a).realize() + on(a).to(f"{GPU}:1").realize()).realize(), "same device")

def test_beam_searches_on_the_device():
  a = rng.normal(size=(24, 24)).astype(np.float32)
  with Context(BEAM=1, IGNORE_BEAM_CACHE=1): close((on(a) @ on(a).T).realize(), a @ a.T, rtol=1e-4, atol=1e-4)

def test_times_and_counters():
  x = on(np.ones((64, 64), np.float32)).realize()
  GlobalCounters.reset()
  with Context(DEBUG=2): (x + 1).realize()
  assert GlobalCounters.kernel_count == 1 and GlobalCounters.time_sum_s > 0

def test_messages():
  raises(RuntimeError, lambda: Device[f"{GPU}:99"], {"CUDA": "CUDA finds", "CL": "OpenCL finds", "WEBGPU": "WebGPU finds"}[GPU])
  for name, needs in (("HIP", "DEV=AMD"), ("GPU", "DEV=CL"), ("NV", "DEV=CUDA")): raises(RuntimeError, lambda: Device[name], needs)

if __name__ == "__main__":
  here = []
  for GPU in ("CL", "CUDA", "WEBGPU"):
    try: here.append(Device[GPU] and GPU)
    except RuntimeError as e: print(f"not run: {e}")
  tests = {name: f for name, f in globals().items() if name.startswith("test_")}
  def on_device(name, f):
    def test():
      global GPU
      GPU = name
      f()
    return test
  if here: run({f"{name}_{d}": on_device(d, f) for d in here for name, f in tests.items()})
