# The items that Tensor.schedule() returns: one per kernel, copy or view, in order.
#
#   item.ast, item.bufs, item.metadata      its kernel, its buffers, the tensor operations it computes
#   item.run(); item.lower().prg            runs it; the runner that it was lowered to
import _uopscope
from tinygrad.helpers import Metadata
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class ExecItem:
  """One launch. A script can make one by ExecItem(ast, bufs)."""
  def __init__(self, ast, bufs=None, metadata=(), fixedvars=None, prg=None): self._schedule, self._scheduled, self.ast, self._bufs, self.metadata, self.fixedvars, self.prg = None, None, ast, list(bufs or []), tuple(metadata), dict(fixedvars or {}), prg
  @staticmethod
  def _of(schedule, position):
    item = ExecItem(schedule.ast(position), None, [Metadata(name, "") for name in schedule.metadata(position)], schedule.var_vals)
    item._schedule, item._position = schedule, position
    return item
  @property
  def bufs(self):
    """Its buffers, in a list that a script may change."""
    if self._schedule is not None and self._scheduled is None:
      self._bufs = [_uopscope.buffer_of(b) for b in self._schedule.buffers(self._position)]
      self._scheduled = tuple(self._bufs)
    return self._bufs
  @property
  def cache_hit(self):
    """Whether the same graph was scheduled before with different buffers."""
    return self._schedule is not None and self._schedule.cache_hit
  def lower(self):
    """Finds its runner, and returns itself."""
    if self.prg is None:
      from tinygrad.engine.realize import runner_for
      self.prg = runner_for(self)
    return self
  def run(self, var_vals=None, wait=False, jit=False, do_update_stats=True):
    """Runs it; returns the time in seconds if it waits."""
    values = self.fixedvars | {k if isinstance(k, str) else k.expr: v for k, v in (var_vals or {}).items()}
    unchanged = self._schedule is not None and (self._scheduled is None or list(map(id, self._scheduled)) == list(map(id, self._bufs)))
    if unchanged and self.prg is None and not wait and values == self.fixedvars: return self._schedule.run_item(self._position)
    bufs = [b.ensure_allocated() for b in self.lower().bufs]
    used = getattr(getattr(self.prg, "p", None), "globals", None)
    return self.prg(bufs if used is None or len(bufs) == len(used) else [bufs[i] for i in used], values, wait)
  def __reduce__(self): return ExecItem, (self.ast, self.bufs, self.metadata, self.fixedvars)
  def __repr__(self): return f"<ExecItem {self.ast.op} {self.ast.arg}>"
ScheduleItem = ExecItem

class _Schedules:
  """The cache of schedules: len() is the number of schedules, clear() drops them."""
  def clear(self): _uopscope.clear_schedule_cache()
  def __len__(self): return _uopscope.schedule_cache_size()
schedule_cache = _Schedules()

def create_schedule(sched_sink):
  """The items that compute the sources of a SINK."""
  from tinygrad.tensor import Tensor
  tensors = [Tensor(u) for u in sched_sink.src]
  return tensors[0].schedule(*tensors[1:]) if tensors else [], sched_sink
def complete_create_schedule_with_vars(big_sink):
  from tinygrad.tensor import Tensor
  tensors = [Tensor(u) for u in big_sink.src]
  items, values = tensors[0].schedule_with_vars(*tensors[1:])
  return {u: t.uop for u, t in zip(big_sink.src, tensors)}, items, values
