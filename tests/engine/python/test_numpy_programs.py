# Random tensor programs against NumPy (tests/fuzz/numpy_programs.py), and that a wrong value is found and shortened.
import os, sys
import numpy as np
from tinygrad import Tensor
from check import run
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fuzz"))
import numpy_programs as fuzz

def test_random_programs():
  found = fuzz.run(1, 300)
  assert not found, found

def test_a_wrong_value_is_found():
  right = Tensor.flip
  Tensor.flip = lambda self, *axes: right(self, *axes) if self.ndim < 2 else self
  try: found = fuzz.run(1, 300)
  finally: Tensor.flip = right
  assert found and "flip" in found and found.count("\n") < 9, found

def test_most_values_are_compared_exactly():
  exact = total = 0
  for seed in range(200):
    p = fuzz.Program()
    for kind, numbers in fuzz.generate(seed):
      try: getattr(p, kind)(*numbers)
      except fuzz.Skip: pass
    for v in p.pool:
      total += 1
      exact += v.exact
      size = np.abs(v.value.astype(np.float64)).max(initial=1e-3)
      assert v.exact or v.error.max() < 0.2 * max(size, 1), p.log
  assert total > 1000 and exact > 0.8 * total, (exact, total)

if __name__ == "__main__": run(globals())
