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
def _plus(H, d): return H + (_sparse.diags(d) if _sparse is not None else np.diag(d))
def _no_rows(n): return _sparse.csr_matrix((0, n)) if _sparse is not None else np.zeros((0, n))

class _System:
  """[[H + C'WC, A'], [A, 0]] for one H, A and C and many diagonals W: `factored(w)` answers the function that solves it.

  Without SciPy the unknowns are put in an order that makes the matrix a narrow band, each multiplier behind the variables of its
  equation, and that is taken as blocks beside the diagonal. What is factored has a little more on both diagonals, so that every
  block has an inverse; solutions are corrected by what they miss."""
  LITTLE = 1e-9
  def __init__(self, H, A, C):
    self.n, self.C, (m, n) = H.shape[0], C, A.shape
    little = np.concatenate([np.full(n, self.LITTLE), np.full(m, -self.LITTLE)])
    if _sparse is not None:
      self.K = _plus(_sparse.bmat([[H, A.T], [A, None]], format="csr") if m else H, little)
      return
    there = lambda M: (M != 0).astype(np.float32)
    near = there(H) + there(C).T @ there(C) + there(A).T @ there(A) != 0
    place = np.argsort(_narrow_order(near))
    last = np.where(A != 0, place, -1).max(axis=1, initial=-1)
    self.order = np.argsort(np.concatenate([2 * place, 2 * last + 1]), kind="stable")
    ordered = lambda M: M[np.ix_(self.order, self.order)]
    self.K, meet = ordered(np.block([[H, A.T], [A, np.zeros((m, m))]])), ordered(np.block([[near, A.T != 0], [A != 0, np.zeros((m, m), bool)]]))
    rows, cols = np.nonzero(meet)
    band = max(int(abs(rows - cols).max(initial=0)), 1)
    cuts = [*range(0, n + m, n + m if 4 * band > n + m else band), n + m]
    self.parts, self.little = [slice(a, b) for a, b in zip(cuts, cuts[1:])], little[self.order]
    self.wide = C = np.pad(C, ((0, 0), (0, m)))[:, self.order]
    touched = [np.flatnonzero(C[:, p].any(axis=1)) for p in self.parts]
    self.inside = [(self.K[p, p], C[r, p], r) for p, r in zip(self.parts, touched)]
    self.beside = [(self.K[p, q], C[r, p], C[r, q], r) for p, q, r in zip(self.parts, self.parts[1:], touched)]
  def factored(self, w=np.zeros(0)):
    if _sparse is not None:
      K = self.K + _sparse.block_diag([self.C.T @ _sparse.diags(w) @ self.C, _sparse.csr_matrix((self.K.shape[0] - self.n,) * 2)]) if len(w) else self.K
      return _splu(K.tocsc()).solve
    weighted = lambda part, C, D, r: part + C.T @ (w[r][:, None] * D) if len(r) else part
    D = [weighted(part, C, C, r) for part, C, r in self.inside]
    U = [weighted(part, C, E, r) for part, C, E, r in self.beside]
    def times(x):
      y = [d @ x[p] for d, p in zip(D, self.parts)]
      for k, u in enumerate(U): y[k], y[k + 1] = y[k] + u @ x[self.parts[k + 1]], y[k + 1] + u.T @ x[self.parts[k]]
      return np.concatenate(y)
    def whole(r):
      """Without the blocks, for a system that they lose too much of."""
      K = self.K + np.diag(self.little) + self.wide.T @ (w[:, None] * self.wide if len(w) else self.wide)
      return np.linalg.lstsq(K, r, rcond=None)[0]
    try: once = self._eliminated(D, U)
    except np.linalg.LinAlgError: once = whole
    def solve(right):
      r, x = right[self.order], np.empty(len(right))
      y = once(r)
      for _ in range(3): y = y + once(r - times(y))
      if not np.linalg.norm(r - times(y)) <= 1e-8 * (1 + np.linalg.norm(r)): y = whole(r)
      x[self.order] = y
      return x
    return solve
  def _eliminated(self, D, U):
    """Solves by blocks D on the diagonal and U beside it, one eliminated after the other."""
    inverse, ahead = [], []
    for k, (d, p) in enumerate(zip(D, self.parts)):
      d = d + np.diag(self.little[p])
      inverse.append(np.linalg.inv(d - U[k - 1].T @ ahead[-1] if k else d))
      if k < len(U): ahead.append(inverse[-1] @ U[k])
    def once(r):
      y = []
      for k, p in enumerate(self.parts): y.append(inverse[k] @ (r[p] - U[k - 1].T @ y[-1] if k else r[p]))
      for k in range(len(U) - 1, -1, -1): y[k] = y[k] - ahead[k] @ y[k + 1]
      return np.concatenate(y)
    return once

def _narrow_order(near):
  """Neighbours side by side: the reverse order of Cuthill and McKee (1969)."""
  near = [np.flatnonzero(row) for row in near]
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
      step = _System(_plus(JJ, mu * np.maximum(JJ.diagonal(), 1e-12)), _no_rows(len(v)), _no_rows(len(v))).factored()(-g)
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
  system = _System(H, A, C)
  for _ in range(steps):
    rd, rp, ri, mu = H @ d + g - A.T @ y - C.T @ z, A @ d + c, C @ d + h - s, s @ z / max(p, 1)
    if max(abs(rd).max(initial=0), abs(rp).max(initial=0), abs(ri).max(initial=0), mu) <= tol * scale: break
    solve = system.factored(z / s)
    def direction(rc):
      both = solve(np.concatenate([-rd - C.T @ ((rc + z * ri) / s), -rp]))
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
  def evaluate(self, x, y, z):
    """Values, first and second derivatives at x with multipliers y and z, by name: all that kernels compute for a step."""
    return self.values(x), self.derivatives(x), self.curvature(x, _at(y, x), _at(z, x))
  def step(self, x, y, z):
    """(x, y, z) after a step from x with multipliers y and z, and by how much the conditions of a minimum were missed at x."""
    now, first, second = self.evaluate(x, y, z)
    g, A, C, H, c, h = first["g"], first["A"], first["C"], second["H"], now["c"].reshape(-1), now["h"].reshape(-1)
    missed = max(abs(g - A.T @ y - C.T @ z).max(initial=0), abs(c).max(initial=0), -h.min(initial=0), abs(h * z).max(initial=0))
    shift = 0.0
    while True: # a direction in which the model is convex
      d, y1, z1 = _quadratic(_plus(H, np.full(len(g), shift)), g, A, c, C, h)
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
