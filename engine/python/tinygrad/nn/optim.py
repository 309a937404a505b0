# Optimizers: zero_grad() drops gradients, step() computes new values and assigns them to the parameters.
#
#   opt = nn.optim.Adam(nn.state.get_parameters(model), lr=1e-3)
#   with Tensor.train():
#     opt.zero_grad(); loss = f(model).backward(); opt.step()
#
# There are two update rules, each with a trust ratio of the norms of a layer's weights and of its step: momentum (LARS;
# without the ratio SGD, with orthogonal steps Muon) and running moments (LAMB; without the ratio Adam and AdamW). `fused`
# (or FUSE_OPTIM=1) updates all parameters as one long vector: fewer kernels, and one ratio for all parameters.
import itertools
from tinygrad.tensor import Tensor
from tinygrad.dtype import dtypes, least_upper_dtype, to_dtype
from tinygrad.helpers import FUSE_OPTIM, dedup, flatten, getenv, partition
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class Optimizer:
  """The common part of all optimizers. A rule's _step(params, grads) returns the new values and the tensors of its state."""
  def __init__(self, params, lr, fused=FUSE_OPTIM):
    given = dedup(params)
    for p in given: p.requires_grad = p.requires_grad is not False  # unset means that it takes part
    self.params, self.buffers = partition(given, lambda p: p.requires_grad)
    assert self.params, "an optimizer needs at least one parameter: every tensor it was given has requires_grad=False"
    self.fused = bool(fused)
    self.lr = Tensor(lr if getenv("CONST_LR") else [lr], requires_grad=False, device=self.device, dtype=least_upper_dtype(dtypes.default_float, dtypes.float32))
    if self.fused: self.pos_params = list(itertools.accumulate((x.numel() for x in self.params), initial=0))
  device = property(lambda self: self.params[0].device)
  def _new_optim_param(self):
    dtype = to_dtype(getenv("OPTIM_DTYPE", "float32"))
    if self.fused: return [Tensor.zeros(self.pos_params[-1], dtype=dtype, device=self.device, requires_grad=False).contiguous()]
    return [Tensor.zeros_like(x, dtype=dtype, requires_grad=False).contiguous() for x in self.params]
  def zero_grad(self):
    for x in self.params: x.grad = None
  def step(self): Tensor.realize(*self.schedule_step())
  def _grads(self):
    missing = [i for i, x in enumerate(self.params) if x.grad is None]
    assert not missing, f"no gradient for parameter {missing[0]} of shape {self.params[missing[0]].shape}: call backward() on a loss that depends on it first"
    return [x.grad for x in self.params]
  def schedule_step(self):
    """Assigns the new values; returns every tensor that must be realized for them."""
    if not Tensor.training: raise RuntimeError("Tensor.training is False and must be True for an optimizer step: set it, or use `with Tensor.train():`")
    grads = self._grads()
    if self.fused:  # one vector of all parameters
      one, extra = self._step([Tensor.cat(*[x.flatten() for x in self.params])], [Tensor.cat(*[g.contiguous().flatten() for g in grads])])
      new = [one[0][a:b].reshape(x.shape) for x, a, b in zip(self.params, self.pos_params, self.pos_params[1:])]
    else: new, extra = self._step(self.params, grads)
    for x, value in zip(self.params, new): x.assign(value)
    return [*extra, *self.params, *self.buffers]
  def _step(self, params, grads): raise NotImplementedError(f"{type(self).__name__} has no _step(params, grads)")

class OptimizerGroup(Optimizer):
  """Several optimizers whose steps are made together."""
  def __init__(self, *optimizers):
    self.params, self.buffers = (flatten(getattr(o, name) for o in optimizers) for name in ("params", "buffers"))
    self.optimizers = list(optimizers)
  def __getitem__(self, position): return self.optimizers[position]
  def zero_grad(self):
    for o in self.optimizers: o.zero_grad()
  def schedule_step(self): return flatten(o.schedule_step() for o in self.optimizers)

def _trust(weights, step, factor=1.0, decay=0.0):
  """factor * |weights| / (|step| + decay |weights|); 1 if either is zero. Stored, since it reads all weights before any
  change."""
  w, s = weights.detach().square().sum().sqrt(), step.square().sum().sqrt()
  return ((w > 0) & (s > 0)).where(factor * w / (s + decay * w), 1.0).contiguous()

class LARS(Optimizer):
  """Momentum. `classic` multiplies by the rate before the momentum, not after it. `pre_wd` adds the weight decay to the
  gradient, not to the weights. `tcoef` 0 leaves out the trust ratio. `ns_coefficients` make steps orthogonal."""
  def __init__(self, params, lr=0.001, momentum=0.9, weight_decay=1e-4, ns_steps=0, ns_coefficients=None, nesterov=False, classic=True, pre_wd=True, tcoef=0.001, fused=FUSE_OPTIM):
    Optimizer.__init__(self, params, lr, fused=fused)
    self.momentum, self.nesterov, self.classic, self.tcoef = momentum, nesterov, classic, tcoef
    self.wd, self.pre_wd = weight_decay, pre_wd
    self.ns_coefficients, self.ns_steps = ns_coefficients, ns_steps
    self.b = self._new_optim_param() if momentum else []
  def _with_momentum(self, i, g):
    if not self.momentum: return g
    speed = self.b[i]
    speed.assign(speed * self.momentum + g)
    return speed if not self.nesterov else speed * self.momentum + g
  def _update(self, i, t, g):
    rate = self.lr * _trust(t, g, self.tcoef, self.wd) if self.tcoef else self.lr
    if self.pre_wd and self.wd > 0: g = g + self.wd * t
    g = self._with_momentum(i, g * rate if self.classic else g)
    if self.ns_coefficients:
      rows = g.shape[0]
      g = g.reshape(rows, g.numel() // rows).newton_schulz(steps=self.ns_steps, params=self.ns_coefficients).reshape(g.shape)
    if not self.pre_wd and self.wd > 0: t = t * (1.0 - self.wd * self.lr)
    return t - (g if self.classic else g * rate)
  def _step(self, params, grads): return [self._update(i, t.detach(), g).cast(t.dtype) for i, (t, g) in enumerate(zip(params, grads))], self.b

def SGD(params, lr=0.001, momentum=0.0, weight_decay=0.0, nesterov=False, classic=False, fused=FUSE_OPTIM):
  """Stochastic gradient descent."""
  return LARS(params, lr=lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov, classic=classic, tcoef=0.0, fused=fused)

def Muon(params, lr=0.001, momentum=0.95, weight_decay=0.1, ns_steps=5, ns_coefficients=(3.4445, -4.775, 2.0315), nesterov=True, fused=FUSE_OPTIM):
  """Momentum with steps made orthogonal by Newton-Schulz iterations, for each matrix separately."""
  assert not fused, "FUSE_OPTIM not allowed for Muon optimizer: a step is orthogonal per parameter"
  orthogonal = dict(ns_steps=ns_steps, ns_coefficients=ns_coefficients)
  return LARS(params, lr=lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov, classic=False, pre_wd=False, tcoef=0.0, fused=fused, **orthogonal)

class LAMB(Optimizer):
  """Running mean and running square of the gradient; `adam` leaves out the trust ratio."""
  def __init__(self, params, lr=0.001, b1=0.9, b2=0.999, eps=1e-6, weight_decay=0.0, adam=False, fused=FUSE_OPTIM):
    Optimizer.__init__(self, params, lr, fused=fused)
    self.adam, self.wd, self.eps = adam, weight_decay, eps
    self.b1, self.b2 = b1, b2
    self.b1_t, self.b2_t = (Tensor.ones((1,), dtype=dtypes.float32, device=self.device, requires_grad=False).contiguous() for _ in range(2))
    self.m, self.v = self._new_optim_param(), self._new_optim_param()
  def _update(self, t, g, m, v):
    if g.device != m.device: g = g.contiguous().to(m.device)
    m.assign((self.b1 * m + (1.0 - self.b1) * g).cast(m.dtype))
    v.assign((self.b2 * v + (1.0 - self.b2) * (g * g)).cast(v.dtype))
    step = (m / (1.0 - self.b1_t)) / ((v / (1.0 - self.b2_t)).sqrt() + self.eps)
    if isinstance(t.device, tuple): step = step.shard_like(t)
    if self.wd: step = step + self.wd * t
    return t - self.lr * (step if self.adam else _trust(t, step) * step)
  def _step(self, params, grads):
    for power, base in ((self.b1_t, self.b1), (self.b2_t, self.b2)): power.assign(power * base)
    new = [self._update(t.detach(), g, m, v).cast(t.dtype) for t, g, m, v in zip(params, grads, self.m, self.v)]
    return new, [self.b1_t, self.b2_t] + self.m + self.v

def AdamW(params, lr=0.001, b1=0.9, b2=0.999, eps=1e-8, weight_decay=0.01, fused=FUSE_OPTIM):
  """Adam with decay of the weights themselves."""
  return LAMB(params, lr=lr, b1=b1, b2=b2, eps=eps, weight_decay=weight_decay, adam=True, fused=fused)
def Adam(params, lr=0.001, b1=0.9, b2=0.999, eps=1e-8, fused=FUSE_OPTIM):
  """Steps by the running mean of the gradient, divided by the root of its running square."""
  return AdamW(params, lr=lr, b1=b1, b2=b2, eps=eps, weight_decay=0.0, fused=fused)
