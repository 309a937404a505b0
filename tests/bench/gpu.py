# Kernels of a GPU: memory's bandwidth, products, captured functions. DEV=CUDA uopscope run tests/bench/gpu.py
# tests/bench/gpu_torch.py prints the same lines for PyTorch. Times are the driver's, the fastest of 20 launches.
import time
from tinygrad import Device, Tensor, TinyJit, dtypes
from tinygrad.codegen import get_program
from tinygrad.engine.realize import CompiledRunner

N, SIDE = 4096, 8192

def seconds(t):
  items = t.schedule()
  for item in items[:-1]: item.run()
  buffers = [b.ensure_allocated() for b in items[-1].bufs]
  runner = CompiledRunner(get_program(items[-1].ast, Device[Device.DEFAULT].renderer))
  return min(runner(buffers, {}, wait=True) for _ in range(20))

def show(name, amount, unit, t): print(f"{name:24s} {amount / seconds(t) * 1e-12:8.2f} {unit}", flush=True)

def empty(n, dtype=dtypes.float32): return Tensor.empty(n, n, dtype=dtype)

for name, times, make in (("add", 3, lambda: empty(SIDE) + empty(SIDE)), ("exp", 2, lambda: empty(SIDE).exp()), ("sums of rows", 1, lambda: empty(SIDE).sum(1)),
                          ("sums of columns", 1, lambda: empty(SIDE).sum(0)), ("transposed copy", 2, lambda: empty(SIDE).T.contiguous())):
  show(name, times * 4 * SIDE * SIDE, "TB/s", make())
for dtype in (dtypes.float32, dtypes.float16):
  for name, make in (("a @ b", lambda: empty(N, dtype) @ empty(N, dtype)), ("a @ b.T", lambda: empty(N, dtype) @ empty(N, dtype).T), ("a.T @ b", lambda: empty(N, dtype).T @ empty(N, dtype))):
    show(f"{name} {dtype.name}", 2 * N**3, "TFLOPS", make())

weights = [Tensor.rand(256, 256).realize() for _ in range(20)]
@TinyJit
def layers(x):
  for w in weights: x = (x @ w).relu()
  return x.realize()
x = Tensor.rand(16, 256).realize()
for _ in range(5): layers(x)
best = float("inf")
for _ in range(20):
  Device[Device.DEFAULT].synchronize()
  start = time.perf_counter()
  for _ in range(20): layers(x)
  Device[Device.DEFAULT].synchronize()
  best = min(best, (time.perf_counter() - start) / 20)
print(f"{'20 layers, captured':24s} {best * 1e6:8.1f} us a call")
