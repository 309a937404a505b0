# A multistage problem: bring a chain of four masses to rest over N stages, two of them pushed with limited force.
#
#   uopscope run samples/multistage.py            N = 2, 10, 30, 60
#   uopscope run samples/multistage.py 2 61       every N from 2 to 60
#
# Each stage has 10 variables (4 positions, 4 speeds, 2 forces), is coupled to the next by the chain's motion, and has an
# inequality. One stage is written; vmap makes it all stages, so the graph is as large for 60 stages as for 2. The Jacobians
# and the Hessian of the Lagrangian are sparse, found by reading the graph. Times are those of the processor.
import sys, time
from tinygrad import Tensor, dtypes
from uopscope import vmap, sparse_jacobian
from uopscope.optim import SQP

STEP, LIMIT = 0.15, 0.5

def motion(stage):
  """The state after a stage: springs that harden, between walls and neighbours."""
  position, speed, force = stage[0:4], stage[4:8], stage[8:10]
  stretch = position.pad(((1, 1),))[1:] - position.pad(((1, 1),))[:-1]
  pull = stretch + 0.3 * stretch * stretch * stretch
  push = force.reshape(2, 1).pad(((0, 0), (0, 1))).reshape(4)
  faster = speed + STEP * (pull[1:] - pull[:-1] + push - 0.2 * speed)
  return Tensor.cat(position + STEP * faster, faster)

def cost(x): return (vmap(lambda s: (s[:8] * s[:8]).sum() + 0.1 * (s[8:] * s[8:]).sum())(x.reshape(-1, 10))).sum() * 0.5
def coupling(x):
  stages = x.reshape(-1, 10)
  start = Tensor([1.0, 0.5, -0.5, 0.8, 0, 0, 0, 0], dtype=x.dtype)
  return Tensor.cat(stages[0, :8] - start, (stages[1:, :8] - vmap(motion)(stages[:-1])).reshape(-1))
def limits(x): return vmap(lambda s: LIMIT ** 2 - (s[8:] * s[8:]).sum())(x.reshape(-1, 10))

def solve(n):
  x = Tensor.zeros(n * 10, dtype=dtypes.float64).contiguous().realize()
  began = time.process_time()
  problem = SQP(cost, coupling, limits)
  y, z = problem.start(x)
  for _ in range(3): problem.evaluate(x, y, z) # compiled, captured, replayed
  ready = time.process_time() - began
  began = time.process_time()
  x, info = problem.solve(x)
  return x, info, ready, time.process_time() - began

if __name__ == "__main__":
  horizons = range(*map(int, sys.argv[1:3])) if len(sys.argv) > 2 else (2, 10, 30, 60)
  print(sparse_jacobian(coupling)(Tensor.zeros(10 * horizons[-1], dtype=dtypes.float64)))
  for n in horizons:
    x, info, ready, seconds = solve(n)
    tightest = limits(x).min().item()
    print(f"N = {n:2}: {info.steps} steps, missed {info.history[-1]:.1e}, cost {cost(x).item():.9f}, tightest limit {tightest:.1e}, ready {ready * 1e3:.0f} ms, solved {seconds * 1e3:.0f} ms")
    assert info.converged and tightest > -1e-7, (n, info)
