# Tensor: everything is C++; what takes a class of Python's own is here.
import contextlib
from _uopscope import Tensor
from tinygrad.engine.schedule import ExecItem

class train(contextlib.ContextDecorator):
  """with Tensor.train(): ... dropout and batch norm behave as in training."""
  def __init__(self, mode=True): self.mode, self.saved = mode, []
  def __enter__(self):
    self.saved.append(Tensor.training)
    Tensor.training = self.mode
  def __exit__(self, *_): Tensor.training = self.saved.pop()
Tensor.train = train

def _schedule_with_vars(self, *lst):
  s = self._schedule(*lst)
  return [ExecItem(s, i) for i in range(len(s))], s.var_vals
def _schedule(self, *lst): return self.schedule_with_vars(*lst)[0]
Tensor.schedule_with_vars, Tensor.schedule = _schedule_with_vars, _schedule

def _from_url(url, gunzip=False, **kwargs):
  from tinygrad.helpers import fetch
  return Tensor(fetch(url, gunzip=gunzip), **kwargs)
Tensor.from_url = staticmethod(_from_url)
