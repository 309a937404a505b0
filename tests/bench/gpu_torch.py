# The lines of tests/bench/gpu.py for PyTorch on the same GPU: python3 tests/bench/gpu_torch.py
import time
import torch

N, SIDE = 4096, 8192
torch.backends.cuda.matmul.allow_tf32 = False

def seconds(f):
  f()
  best = float("inf")
  for _ in range(20):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    f()
    end.record()
    torch.cuda.synchronize()
    best = min(best, begin.elapsed_time(end) * 1e-3)
  return best

def show(name, amount, unit, f): print(f"{name:24s} {amount / seconds(f) * 1e-12:8.2f} {unit}", flush=True)

a, b = torch.randn(SIDE, SIDE, device="cuda"), torch.randn(SIDE, SIDE, device="cuda")
for name, times, f in (("add", 3, lambda: a + b), ("exp", 2, lambda: a.exp()), ("sums of rows", 1, lambda: a.sum(1)), ("sums of columns", 1, lambda: a.sum(0)),
                       ("transposed copy", 2, lambda: a.T.contiguous())):
  show(name, times * 4 * SIDE * SIDE, "TB/s", f)
for dtype in (torch.float32, torch.float16):
  p, q = torch.randn(N, N, device="cuda", dtype=dtype), torch.randn(N, N, device="cuda", dtype=dtype)
  for name, f in (("a @ b", lambda: p @ q), ("a @ b.T", lambda: p @ q.T), ("a.T @ b", lambda: p.T @ q)): show(f"{name} {dtype}", 2 * N**3, "TFLOPS", f)

weights, x = [torch.rand(256, 256, device="cuda") for _ in range(20)], torch.rand(16, 256, device="cuda")
def layers(y):
  for w in weights: y = (y @ w).relu()
  return y
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
  for _ in range(3): layers(x)
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph): layers(x)
for name, f in (("20 layers, eager", lambda: layers(x)), ("20 layers, graph", graph.replay)):
  best = float("inf")
  for _ in range(20):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(20): f()
    torch.cuda.synchronize()
    best = min(best, (time.perf_counter() - start) / 20)
  print(f"{name:24s} {best * 1e6:8.1f} us a call")
