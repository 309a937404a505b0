# Optimizers: step() assigns new values to the parameters and realizes them.
from tinygrad.tensor import Tensor
from tinygrad.dtype import dtypes
from tinygrad.helpers import dedup

class Optimizer:
  def __init__(self, params, lr):
    for x in params:
      if x.requires_grad is None: x.requires_grad_(True)
    self.params = dedup([x for x in params if x.requires_grad])
    assert self.params, "optimizer must have at least one param"
    self.buffers = dedup([x for x in params if not x.requires_grad])
    self.lr = Tensor([lr], requires_grad=False).contiguous()
  def zero_grad(self):
    for p in self.params: p.grad = None
  def step(self): Tensor.realize(*self.schedule_step())
  def schedule_step(self):
    if not Tensor.training: raise RuntimeError("Tensor.training must be True for an optimizer step; use `with Tensor.train():`")
    grads = []
    for p in self.params:
      assert p.grad is not None, "a parameter has no gradient: call backward() first"
      grads.append(p.grad)
    updates, extra = self._step(self.params, grads)
    for p, u in zip(self.params, updates): p.assign(p.detach() - u.cast(p.dtype))
    return extra + self.params + self.buffers
  def _new(self): return [Tensor.zeros(*p.shape, dtype=dtypes.float32, device=p.device, requires_grad=False).contiguous() for p in self.params]

class OptimizerGroup(Optimizer):
  def __init__(self, *optimizers): self.optimizers, self.params, self.buffers = optimizers, sum([o.params for o in optimizers], []), sum([o.buffers for o in optimizers], [])
  def zero_grad(self): [o.zero_grad() for o in self.optimizers]
  def schedule_step(self): return [x for o in self.optimizers for x in o.schedule_step()]

class SGD(Optimizer):
  def __init__(self, params, lr=0.001, momentum=0.0, weight_decay=0.0, nesterov=False, classic=False):
    super().__init__(params, lr)
    self.momentum, self.wd, self.nesterov = momentum, weight_decay, nesterov
    self.b = self._new() if momentum else []
  def _step(self, params, grads):
    out = []
    for i, (t, g) in enumerate(zip(params, grads)):
      if self.wd: g = g + self.wd * t.detach()
      if self.momentum:
        self.b[i].assign(self.momentum * self.b[i] + g)
        g = g + self.momentum * self.b[i] if self.nesterov else self.b[i]
      out.append(self.lr * g)
    return out, self.b

class AdamW(Optimizer):
  def __init__(self, params, lr=0.001, b1=0.9, b2=0.999, eps=1e-8, weight_decay=0.01):
    super().__init__(params, lr)
    self.b1, self.b2, self.eps, self.wd = b1, b2, eps, weight_decay
    self.b1_t, self.b2_t = (Tensor.ones((1,), dtype=dtypes.float32, requires_grad=False).contiguous() for _ in range(2))
    self.m, self.v = self._new(), self._new()
  def _step(self, params, grads):
    self.b1_t *= self.b1
    self.b2_t *= self.b2
    out = []
    for i, (t, g) in enumerate(zip(params, grads)):
      self.m[i].assign(self.b1 * self.m[i] + (1 - self.b1) * g)
      self.v[i].assign(self.b2 * self.v[i] + (1 - self.b2) * (g * g))
      up = (self.m[i] / (1 - self.b1_t)) / ((self.v[i] / (1 - self.b2_t)).sqrt() + self.eps)
      out.append(self.lr * (up + self.wd * t.detach() if self.wd else up))
    return out, [self.b1_t, self.b2_t] + self.m + self.v

def Adam(params, lr=0.001, b1=0.9, b2=0.999, eps=1e-8): return AdamW(params, lr, b1, b2, eps, 0.0)
