"""Matrices on a GPU's tensor cores against NumPy in float64: every size, type, layout and epilogue, each with the kernel that is chosen.

    DEV=CUDA uopscope python tests/devices/cuda_products.py [seed] [count]

Sizes cover each core: those that the memory engine copies as boxes, those that threads copy, odd ones, batches. A result may be off
by the rounding of its sums and of its type. The line of a case that is wrong says how to run it alone; 1 if one is.
"""
import os, sys, time
import numpy as np
from tinygrad import Tensor, dtypes

TYPES = {"half": (dtypes.half, 2.0**-11), "bfloat16": (dtypes.bfloat16, 2.0**-8), "float": (dtypes.float, 2.0**-24)}
SIZES = ((256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (128, 256, 64), (2048, 1024, 192), (1024, 2048, 4096), (384, 640, 320), (192, 192, 1088), (64, 4096, 4096),
         (16, 1024, 1024), (1000, 1024, 512), (1024, 1000, 512), (1024, 1024, 1000), (999, 1001, 333), (4096, 128, 128), (130, 260, 520), (2048, 2048, 2048))
LAYOUTS = ("ab", "abT", "aTb", "aTbT")
EPILOGUES = {"none": (lambda y, b: y, lambda y, b: y), "bias, relu": (lambda y, b: (y + b).relu(), lambda y, b: np.maximum(y + b, 0)),
             "quotient": (lambda y, b: y / (y.abs() + 1), lambda y, b: y / (abs(y) + 1)), "exp2": (lambda y, b: (y * 0.01).exp2(), lambda y, b: np.exp2(y * 0.01)),
             "float sum": (lambda y, b: y.float().sum(0), lambda y, b: y.sum(0))}


def numbers(rng, shape, dtype):
  """float32 numbers that the type has."""
  a = rng.standard_normal(shape).astype(np.float32)
  if dtype == "half": return a.astype(np.float16).astype(np.float32)
  return (a.view(np.uint32) & 0xFFFF0000).view(np.float32) if dtype == "bfloat16" else a

def check(rng, dtype, size, layout, epilogue, batch):
  """The largest error as a part of what is allowed."""
  (m, n, k), (of, eps) = size, TYPES[dtype]
  lead = (batch,) if batch else ()
  a, b, bias = numbers(rng, lead + (m, k), dtype), numbers(rng, lead + (k, n), dtype), numbers(rng, (n,), dtype)
  left = np.ascontiguousarray(a.swapaxes(-1, -2)) if layout.startswith("aT") else a
  right = np.ascontiguousarray(b.swapaxes(-1, -2)) if layout.endswith("bT") else b
  x, y, z = (Tensor(v).cast(of).realize() for v in (left, right, bias))
  product = (x.transpose(-1, -2) if layout.startswith("aT") else x) @ (y.transpose(-1, -2) if layout.endswith("bT") else y)
  got = EPILOGUES[epilogue][0](product, z).float().numpy()
  wide = [v.astype(np.float64) for v in (a, b, bias)]
  want = EPILOGUES[epilogue][1](wide[0] @ wide[1], wide[2])
  size_of_sums = (abs(wide[0]) @ abs(wide[1])).max() * (m if epilogue == "float sum" else 1)
  return (abs(got - want) / (2.0**-24 * k**0.5 * 4 * size_of_sums + 4 * eps * (abs(want) + (abs(wide[0] @ wide[1]).max() * (m**0.5 if epilogue == "float sum" else 1))))).max()

def main(seed, count):
  wrong, start, worst = 0, time.perf_counter(), 0.0
  for i in range(seed, seed + count):
    rng = np.random.default_rng(i)
    pick = lambda of: list(of)[rng.integers(len(of))]
    case = (pick(TYPES), pick(SIZES), pick(LAYOUTS), pick(EPILOGUES), pick((0, 0, 3)))
    if case[4] and np.prod(case[1]) > 1 << 30: case = case[:4] + (0,)
    try: error = check(rng, *case)
    except Exception as e: error, case = np.inf, case + (f"{type(e).__name__}: {str(e)[:400]}",)
    worst = max(worst, error) if np.isfinite(error) else worst
    if not error <= 1:
      wrong += 1
      print(f"wrong, {error:.3g} of what is allowed: {case}  ({os.path.basename(__file__)} {i} 1)", flush=True)
  print(f"{count} products from seed {seed}: {wrong} wrong, the largest error {worst:.2g} of what is allowed, {time.perf_counter() - start:.0f} s")
  sys.exit(wrong > 0)

if __name__ == "__main__": main(int((sys.argv[1:] + ["0"])[0]), int((sys.argv[2:] + ["120"])[0]))
