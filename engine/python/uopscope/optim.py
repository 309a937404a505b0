# Solvers built on transforms: Gauss-Newton, Levenberg-Marquardt, and sequential quadratic programming (SQP).
#
#   from uopscope.optim import levenberg_marquardt, sqp
#   x, info = levenberg_marquardt(residuals, x0)                          # least |residuals(x)|
#   x, info = sqp(cost, x0, equality=c, inequality=h)                     # least cost(x) with c(x) = 0 and h(x) >= 0
#
# Functions take one tensor of shape (n,), preferably float64. Kernels compute values, Jacobians and Hessians, which are
# sparse and captured once. The linear systems have the pattern of the problem and are solved on the host: by SciPy if it is
# installed, else by NumPy in an order that gives them narrow bands.
from dataclasses import dataclass, field
import numpy as np
from _uopscope import Tensor
from tinygrad.engine.jit import TinyJit
from uopscope.sparse import sparse_hessian, sparse_jacobian
from uopscope.transforms import grad

try: from scipy import sparse as _sparse; from scipy.sparse.linalg import splu as _splu
except ImportError: _sparse = None

@dataclass
class Info:
  """The end of a solver: whether it reached its tolerance, the number of steps, and the size of the residual at each step."""
  converged: bool = False
  steps: int = 0
  history: list = field(default_factory=list)

def _matrix(values, pattern):
  if _sparse is not None: return _sparse.csr_matrix((values, pattern.cols(), pattern.indptr()), shape=pattern.shape)
  m = np.zeros(pattern.shape)
  m[pattern.rows(), pattern.cols()] = values
  return m
def _diagonal(v): return _sparse.diags(v) if _sparse is not None else np.diag(v)
def _solve(blocks, right):
  """The solution of a symmetric system of blocks."""
  if _sparse is not None: return _splu(_sparse.bmat(blocks, format="csc")).solve(right)
  K = np.block(blocks)
  order = _narrow_order(K)
  rows, cols = np.nonzero(K[np.ix_(order, order)])
  band = int(abs(rows - cols).max(initial=0))
  if 4 * band > len(right): return np.linalg.solve(K, right)
  x = np.empty_like(right)
  x[order] = _solve_banded(K[np.ix_(order, order)], right[order], max(band, 1))
  return x

def _narrow_order(K):
  """An order that puts neighbours side by side: the reverse order of Cuthill and McKee (1969)."""
  near = [np.flatnonzero(row) for row in K]
  degree, order, seen = np.array([len(n) for n in near]), [], np.zeros(len(near), bool)
  for start in np.argsort(degree, kind="stable"):
    if seen[start]: continue
    seen[start], at = True, len(order)
    order.append(start)
    while at < len(order):
      fresh = near[order[at]][~seen[near[order[at]]]]
      seen[fresh] = True
      order += list(fresh[np.argsort(degree[fresh], kind="stable")])
      at += 1
  return np.array(order[::-1], dtype=int)

def _solve_banded(K, right, band):
  """Solves a banded system as blocks beside the diagonal, eliminated in order; a second pass corrects the first."""
  cuts = [*range(0, len(right), band), len(right)]
  parts = [slice(a, b) for a, b in zip(cuts, cuts[1:])]
  def once(r):
    ahead, y = [], []
    for k, p in enumerate(parts):
      D, b = K[p, p], r[p]
      if k: D, b = D - K[p, parts[k - 1]] @ ahead[-1], b - K[p, parts[k - 1]] @ y[-1]
      both = np.linalg.solve(D, np.column_stack([K[p, parts[k + 1]], b]) if k + 1 < len(parts) else b[:, None])
      ahead.append(both[:, :-1])
      y.append(both[:, -1])
    for k in range(len(parts) - 2, -1, -1): y[k] = y[k] - ahead[k] @ y[k + 1]
    return np.concatenate(y)
  x = once(right)
  return x + once(right - K @ x)

class _Evaluated:
  """Tensors, and values of sparse matrices, as functions of x (and more arguments), computed by one captured call."""
  def __init__(self, f):
    self.patterns = {}
    @TinyJit
    def captured(*args):
      out = f(*args)
      for name, s in out.items():
        if hasattr(s, "pattern"): self.patterns[name], out[name] = s.pattern, s.values
      out = {name: t.contiguous() for name, t in out.items()}
      Tensor.realize(*out.values())
      return out
    self.captured = captured
  def __call__(self, *args):
    out = self.captured(*(a.contiguous().realize() for a in args))
    return {name: _matrix(t.numpy(), self.patterns[name]) if name in self.patterns else t.numpy() for name, t in out.items()}

def _at(v, like): return Tensor(np.ascontiguousarray(v), dtype=like.dtype, device=like.device)

def gauss_newton(residuals, x, steps=50, tol=1e-10):
  """The x with the least |residuals(x)|**2 near the given one; each step solves the linearized least squares problem: (x,
  Info)."""
  return levenberg_marquardt(residuals, x, steps, tol, damping=0)

def levenberg_marquardt(residuals, x, steps=100, tol=1e-10, damping=1e-3):
  """The x with the least |residuals(x)|**2 near the given one: (x, Info). A step that increases it is undone and damped more.

  It has converged if the gradient is below `tol`, relative to 1 + the residuals. With damping 0 it is gauss_newton."""
  jacobian = sparse_jacobian(residuals)
  at = _Evaluated(lambda x: {"r": residuals(x), "J": jacobian(x)})
  v, info, mu = x.numpy().astype(np.float64), Info(), damping
  now = at(x)
  for info.steps in range(steps + 1):
    r, J = now["r"].reshape(-1), now["J"]
    g = J.T @ r
    info.history.append(float(abs(g).max(initial=0)))
    info.converged = info.history[-1] <= tol * (1 + np.linalg.norm(r))
    if info.converged or info.steps == steps: break
    JJ = J.T @ J
    while True:
      step = _solve([[JJ + _diagonal(mu * np.maximum(JJ.diagonal(), 1e-12) + 1e-14)]], -g)
      then = at(_at(v + step, x))
      if mu == 0 or np.linalg.norm(then["r"]) <= np.linalg.norm(r) or mu > 1e12: break
      mu *= 4
    v, now, mu = v + step, then, mu / 3
  return _at(v, x), info

def _quadratic(H, g, A, c, C, h, tol=1e-11, steps=60):
  """The d, y, z that minimise d'Hd/2 + g'd with A d + c = 0 and C d + h >= 0, by Mehrotra's primal-dual interior point method."""
  n, m, p = len(g), len(c), len(h)
  d, y, z, s = np.zeros(n), np.zeros(m), np.ones(p), np.maximum(h, 1)
  scale = 1 + max(abs(g).max(initial=0), abs(c).max(initial=0), abs(h).max(initial=0))
  for _ in range(steps):
    rd, rp, ri, mu = H @ d + g - A.T @ y - C.T @ z, A @ d + c, C @ d + h - s, s @ z / max(p, 1)
    if max(abs(rd).max(initial=0), abs(rp).max(initial=0), abs(ri).max(initial=0), mu) <= tol * scale: break
    K = [[H + C.T @ _diagonal(z / s) @ C + _diagonal(np.full(n, 1e-10)), A.T], [A, _diagonal(np.full(m, -1e-10))]] if m else [[H + C.T @ _diagonal(z / s) @ C]]
    def direction(rc):
      both = _solve(K, np.concatenate([-rd - C.T @ ((rc + z * ri) / s), -rp]))
      dd, dy = both[:n], -both[n:]
      ds = C @ dd + ri
      return dd, dy, ds, -(rc + z * ds) / s
    def longest(v, dv): return min(1.0, float((-v[dv < 0] / dv[dv < 0]).min(initial=np.inf)))
    rc = s * z
    if p:
      _, _, ds, dz = direction(rc)
      after = (s + longest(s, ds) * ds) @ (z + longest(z, dz) * dz) / p
      rc = rc + ds * dz - (after / mu) ** 3 * mu
    dd, dy, ds, dz = direction(rc)
    alpha = min(1.0, 0.995 * min(longest(s, ds), longest(z, dz))) if p else 1.0
    d, y, s, z = d + alpha * dd, y + alpha * dy, s + alpha * ds, z + alpha * dz
  return d, y, z

class SQP:
  """Sequential quadratic programming on one problem; `step` makes one step, and `solve` as many as are needed.

  Minimises cost(x) with equality(x) = 0 and inequality(x) >= 0. Both are optional and return a tensor of shape (m,)."""
  def __init__(self, cost, equality=None, inequality=None):
    none = lambda x: (x * 0)[:0]
    c, h = equality or none, inequality or none
    lagrangian = lambda x, y, z: cost(x) - (c(x) * y).sum() - (h(x) * z).sum()
    second, A, C = sparse_hessian(lagrangian), sparse_jacobian(c), sparse_jacobian(h)
    self.values = _Evaluated(lambda x: {"f": cost(x), "c": c(x), "h": h(x)})
    self.derivatives = _Evaluated(lambda x: {"g": grad(cost)(x), "A": A(x), "C": C(x)})
    self.curvature = _Evaluated(lambda x, y, z: {"H": second(x, y, z)})
  def start(self, x):
    now = self.values(x)
    return np.zeros(now["c"].size), np.zeros(now["h"].size)
  def step(self, x, y, z):
    """(x, y, z) after a step from x with multipliers y and z, and the violation of the conditions of a minimum at x."""
    now, first, second = self.values(x), self.derivatives(x), self.curvature(x, _at(y, x), _at(z, x))
    g, A, C, H, c, h = first["g"], first["A"], first["C"], second["H"], now["c"].reshape(-1), now["h"].reshape(-1)
    missed = max(abs(g - A.T @ y - C.T @ z).max(initial=0), abs(c).max(initial=0), -h.min(initial=0), abs(h * z).max(initial=0))
    shift = 0.0
    while True: # searches a direction in which the model is convex
      d, y1, z1 = _quadratic(H + _diagonal(np.full(len(g), shift)), g, A, c, C, h)
      if (np.isfinite(d).all() and d @ (H @ d) + shift * (d @ d) >= -1e-12) or shift > 1e8: break
      shift = max(1e-4, shift * 10)
    rho = 1 + 2 * max(abs(y1).max(initial=0), abs(z1).max(initial=0))
    merit = lambda v: float(v["f"]) + rho * (abs(v["c"]).sum() + np.maximum(-v["h"], 0).sum())
    v, before, alpha = x.numpy(), merit(now), 1.0
    while alpha > 1e-6 and not merit(self.values(_at(v + alpha * d, x))) <= before + 1e-10 * (1 + abs(before)): alpha /= 2
    return _at(v + alpha * d, x), y + alpha * (y1 - y), z + alpha * (z1 - z), float(missed)
  def solve(self, x, steps=60, tol=1e-8):
    """(x, Info); info.multipliers are those of equality and inequality."""
    (y, z), info = self.start(x), Info()
    for info.steps in range(steps + 1):
      after, y1, z1, missed = self.step(x, y, z)
      info.history.append(missed)
      info.converged = missed <= tol
      if info.converged or info.steps == steps: break
      x, y, z = after, y1, z1
    info.multipliers = y, z
    return x, info

def sqp_step(cost, x, multipliers=None, equality=None, inequality=None):
  """One SQP step: (x, multipliers, the violation of the conditions of a minimum before the step)."""
  problem = SQP(cost, equality, inequality)
  y, z = multipliers or problem.start(x)
  x, y, z, missed = problem.step(x, y, z)
  return x, (y, z), missed

def sqp(cost, x, equality=None, inequality=None, steps=60, tol=1e-8):
  """Minimises cost(x) with equality(x) = 0 and inequality(x) >= 0: (x, Info)."""
  return SQP(cost, equality, inequality).solve(x, steps, tol)
