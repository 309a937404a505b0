# Solvers of uopscope.optim: problems with known answers, and a multistage problem at several horizons.
import pathlib, sys
import numpy as np
from tinygrad import Tensor, dtypes
from uopscope import optim
from uopscope.optim import SQP, gauss_newton, levenberg_marquardt, sqp, sqp_step
from check import close, run
sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "samples"))
rng = np.random.default_rng(3)
def F(*v): return Tensor(list(v), dtype=dtypes.float64)

def test_linear_least_squares_take_one_step():
  a, b = rng.normal(size=(8, 3)), rng.normal(size=8)
  x, info = gauss_newton(lambda x: Tensor(a) @ x - Tensor(b), F(0.0, 0, 0))
  close(x, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-8)
  assert info.converged and info.steps == 1, info

def test_rosenbrock():
  chain = lambda x: Tensor.cat(10 * (x[1:] - x[:-1] * x[:-1]), 1 - x[:-1])
  x, info = levenberg_marquardt(chain, Tensor.full((12,), -0.5, dtype=dtypes.float64).contiguous())
  assert info.converged, info
  close(x, np.ones(12), rtol=1e-7)

def test_constrained():
  x, info = sqp(lambda x: (x * x).sum(), F(3.0, 1.0), equality=lambda x: (x.sum() - 2).reshape(1)) # by equality alone
  close(x, [1, 1], rtol=1e-7); close(info.multipliers[0], [2], rtol=1e-7)
  x, info = sqp(lambda x: ((x - F(2.0, 1)) ** 2).sum(), F(0.0, 0), inequality=lambda x: (1 - (x * x).sum()).reshape(1)) # onto the unit disc
  assert info.converged, info
  close(x, np.array([2, 1]) / np.sqrt(5), rtol=1e-7)
  x, info = sqp(lambda x: ((x - 0.2) ** 2).sum(), F(0.9, 0.9), inequality=lambda x: 1 - x * x) # inside: no constraint holds
  close(x, [0.2, 0.2], atol=1e-7); close(info.multipliers[1], [0, 0], atol=1e-6)
  x, info = sqp(lambda x: (x ** 4 - x * x).sum(), F(0.3, -0.2)) # not convex where it starts, and no constraints
  assert info.converged; close(abs(x.numpy()), [0.5 ** 0.5] * 2, rtol=1e-6)
  x, multipliers, missed = sqp_step(lambda x: (x * x).sum(), F(3.0, 1.0)); close(x, [0, 0], atol=1e-8); assert missed == 6

def test_systems_in_narrow_bands():
  n = 120
  K = np.diag(rng.uniform(4, 5, n)) + np.diag(rng.normal(size=n - 3), 3); K = K + K.T
  shuffled = rng.permutation(n); K = K[np.ix_(shuffled, shuffled)]
  A, C = np.zeros((20, n)), np.zeros((15, n))
  for M, at in ((A, 6), (C, 8)):
    for k in range(len(M)): M[k, shuffled.argsort()[k * at:k * at + 3]] = rng.normal(size=3)
  none, before = np.zeros((0, n)), optim._sparse
  optim._sparse = None
  try:
    right = rng.normal(size=n)
    close(optim._System(K, none, none).factored()(right), np.linalg.solve(K, right), rtol=1e-9)
    system, right = optim._System(K, A, C), rng.normal(size=n + 20)
    for w in (np.ones(15), rng.uniform(0, 1e6, 15)): # one order for many weights, many right sides
      whole = np.block([[K + C.T @ np.diag(w) @ C, A.T], [A, np.zeros((20, 20))]])
      solve = system.factored(w)
      for r in (right, right[::-1]): close(whole @ solve(r), r, rtol=1e-7, atol=1e-7)
    twice = np.vstack([A, A[:3]]) # equations that are there twice: singular, and it still has a solution
    r = np.concatenate([right, right[-20:-17]])
    x = optim._System(K, twice, C).factored(np.ones(15))(r)[:n]
    close(twice @ x, r[n:], rtol=1e-5, atol=1e-5)
  finally: optim._sparse = before

def test_a_multistage_problem_at_every_remainder():
  import multistage
  costs = []
  for n in (2, 3, 4, 5, 9):
    x = Tensor.zeros(n * 10, dtype=dtypes.float64).contiguous().realize()
    x, info = SQP(multistage.cost, multistage.coupling, multistage.limits).solve(x)
    assert info.converged and multistage.limits(x).min().item() > -1e-7, (n, info)
    costs.append(multistage.cost(x).item())
  assert costs == sorted(costs), costs

if __name__ == "__main__": run(globals())
