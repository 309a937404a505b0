# A kernel written by hand as UOps: loops opened with UOp.range and closed with end, one store, one sink.
# Look at: the kernel "scaled_transpose" goes through the same passes as any other; its loops are the ranges below.
# Leave out `.end(i, j)` and the compiler tells which range is open.
import numpy as np
from tinygrad import Tensor
from tinygrad.uop.ops import UOp, KernelInfo

ROWS, COLUMNS = 6, 10

def scaled_transpose(out: UOp, x: UOp) -> UOp:
  i, j = UOp.range(ROWS, 0), UOp.range(COLUMNS, 1)
  return out.index(j, i).store(x.index(i, j) * 2.0).end(i, j).sink(arg=KernelInfo(name="scaled_transpose"))

x = Tensor.arange(ROWS * COLUMNS).float().reshape(ROWS, COLUMNS).contiguous().realize()
y = Tensor.empty(COLUMNS, ROWS)
y = Tensor.custom_kernel(y, x, fxn=scaled_transpose)[0]

print(y.numpy()[:3])
assert np.array_equal(y.numpy(), x.numpy().T * 2)
