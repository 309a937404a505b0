# What Tensor.schedule() gives: one object per kernel or copy.
class ExecItem:
  def __init__(self, schedule, position): self._schedule, self._position = schedule, position
  @property
  def ast(self): return self._schedule.ast(self._position)
  @property
  def bufs(self): return self._schedule.buffers(self._position)
  @property
  def metadata(self): return tuple(self._schedule.metadata(self._position))
  def run(self, *_, **__): self._schedule.run_item(self._position)
  def __repr__(self): return f"<ExecItem {self.ast.op} {self.ast.arg}>"
ScheduleItem = ExecItem
