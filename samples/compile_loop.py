# The compile loop: the same small network built, scheduled and run again and again.
# Look at: the first iteration schedules and compiles about eighteen kernels; every later one is a cache hit ("schedule N"
# without steps in `uopscope ls`), so what is left is building the graph and running it.
import time
from tinygrad import Tensor
def step(): Tensor.randn(1,3,32,32).conv2d(Tensor.randn(16,3,3,3)).relu().conv2d(Tensor.randn(32,16,3,3)).relu().reshape(1,-1).matmul(Tensor.randn(32*28*28,128)).relu().matmul(Tensor.randn(128,10)).realize()
for _ in range(5): step()
N=50; t0=time.perf_counter()
for _ in range(N): step()
print(f'{(time.perf_counter()-t0)/N*1000:.2f}ms/iter')
