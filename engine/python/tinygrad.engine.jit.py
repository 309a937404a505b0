# TinyJit calls its function as it is: nothing is captured and replayed. Results are those of the function; what is
# saved is what the schedule and kernel caches save, since a call with other values schedules nothing anew.
import functools

class TinyJit:
  def __init__(self, fxn=None, captured=None, prune=False, optimize=False):
    self.fxn, self.cnt = fxn, 0
    if fxn is not None: functools.update_wrapper(self, fxn)
  def reset(self): self.cnt = 0
  @property
  def captured(self): return None
  def __get__(self, obj, objtype): return functools.partial(self.__call__, obj)
  def __call__(self, *args, **kwargs):
    from tinygrad.tensor import Tensor
    self.cnt += 1
    ret = self.fxn(*args, **kwargs)
    for t in _tensors(ret, Tensor): t.realize()
    return ret

def _tensors(x, kind):
  if isinstance(x, kind): yield x
  elif isinstance(x, (list, tuple)):
    for i in x: yield from _tensors(i, kind)
  elif isinstance(x, dict):
    for i in x.values(): yield from _tensors(i, kind)
