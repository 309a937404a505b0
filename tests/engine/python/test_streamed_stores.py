# Results of more bytes than most last caches keep, which a processor stores past them, against NumPy: alone, several of one kernel,
# in a place of a larger tensor, in a JIT, and read at once by the next kernel.
import numpy as np
from tinygrad import Tensor, TinyJit, dtypes
from check import run

N = 6 << 20
data = np.random.default_rng(3).standard_normal(N, dtype=np.float32)
data[::1001], data[1::1003], data[2::1007] = np.inf, -np.inf, np.nan
x = Tensor(data).realize()

def test_types():
  np.testing.assert_array_equal((x + x).numpy(), data + data)
  np.testing.assert_array_equal(x.cast(dtypes.double).numpy(), data.astype(np.float64))
  np.testing.assert_array_equal(x.half().numpy(), data.astype(np.float16))
  np.testing.assert_array_equal((x < 0.5).numpy(), data < 0.5)

def test_two_results_and_rows():
  a, b = x * 2, x - 1
  Tensor.realize(a, b)
  np.testing.assert_array_equal(a.numpy(), data * 2)
  np.testing.assert_array_equal(b.numpy(), data - 1)
  for columns in (1024, 1025, 2047):
    rows = data[:N // columns * columns].reshape(-1, columns)
    got = Tensor(rows) + Tensor(rows[0])
    np.testing.assert_array_equal(got.numpy(), rows + rows[0])

def test_inside_a_larger_tensor():
  for first in (0, 1, 3, 8, 16):
    whole = Tensor.zeros(N + 64).contiguous().realize()
    whole[first:first + N] = x * 3
    wanted = np.zeros(N + 64, np.float32)
    wanted[first:first + N] = data * 3
    np.testing.assert_array_equal(whole.numpy(), wanted, err_msg=str(first))

def test_read_by_the_next_kernel():
  add = TinyJit(lambda a, k: ((a.isfinite().where(a, 0) + k).contiguous() * 2).realize())
  finite = np.where(np.isfinite(data), data, 0).astype(np.float32)
  for k in range(5):
    np.testing.assert_array_equal(add(x, Tensor([float(k)])).numpy(), (finite + np.float32(k)) * 2)

if __name__ == "__main__": run(globals())
