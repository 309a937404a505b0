# Shared by the tests of this folder: run() calls every function named test_*, reports each, and exits with 1 if one failed.
#
#   from check import close, raises, run
#   def test_add(): close(Tensor([1, 2]) + 1, [2, 3])
#   if __name__ == "__main__": run(globals())
import sys, traceback
import numpy as np

def close(got, want, rtol=1e-5, atol=1e-6):
  got = got.numpy() if hasattr(got, "numpy") else np.asarray(got)
  want = want.numpy() if hasattr(want, "numpy") else np.asarray(want)
  assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
  np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=atol)

def raises(kind, f, *words):
  try: f()
  except kind as e:
    for w in words: assert w in str(e), f"{w!r} is not in the message: {e}"
    return e
  except Exception as e: raise AssertionError(f"expected {kind}, got {type(e).__name__}: {e}") from e
  raise AssertionError(f"expected {kind}, nothing was raised")

def settings():
  """Ways to compile a kernel on this processor: its levels, C, no Opts. Each is used with Context(**way)."""
  from tinygrad import Context, Tensor
  for level in (0, 2, 3, 4):
    try:
      with Context(CPU_TARGET=level): (Tensor([1.0]) + 1).realize()
    except Exception: continue # this machine cannot run it
    yield dict(CPU_TARGET=level)
  yield dict(CPU_LLVM=0)
  yield dict(NOOPT=1)

def run(names):
  only, failed, passed = sys.argv[1:], 0, 0
  for name, f in list(names.items()):
    if not name.startswith("test_") or (only and name not in only): continue
    try:
      f()
      passed += 1
    except Exception:
      failed += 1
      print(f"FAILED {name}", flush=True)
      traceback.print_exc()
  print(f"{passed} passed, {failed} failed")
  sys.exit(1 if failed or not passed else 0)
