# Loop splitting: a loop whose body asks which part of the range it is in becomes one loop for each part, and none of
# them asks any more.
# Look at: the pass "cut store ranges" of the kernel "edges". One END of one range goes in, three come out; after the
# next passes the comparisons are gone. The first three iterations are peeled off, so are the last three. A loop inside
# others is cut as well where the comparison decides about more than a read, and each part gets lanes of its own.
import numpy as np
from tinygrad import Tensor, Context
from tinygrad.codegen import get_program
from tinygrad.uop.ops import UOp, KernelInfo

N, FIRST, LAST = 16, 3, 13

def edges(out: UOp, x: UOp) -> UOp:
  i = UOp.range(N, 0)
  value = x[i]
  part = (i < FIRST).where(value * 2, (i < LAST).where(value + 1, -value))
  return out[i].store(part).end(i).sink(arg=KernelInfo(name="edges"))

x = Tensor.arange(N).float().contiguous().realize()
y = Tensor.custom_kernel(Tensor.empty(N), x, fxn=edges)[0]
schedule = y.schedule()
with Context(CPU_LLVM=0): source = get_program(schedule[-1].ast, "CPU").src
print(source)
assert source.count("for (") == 3 and "?" not in source

for item in schedule: item.run()
values = np.arange(N, dtype=np.float32)
wanted = np.where(values < FIRST, values * 2, np.where(values < LAST, values + 1, -values))
print(y.numpy())
assert np.array_equal(y.numpy(), wanted)
