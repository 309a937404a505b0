# A memory planner for lists of buffers made by hand: buffers that are not needed at the same time share memory. The engine
# plans its own schedules (schedule/memory_planner.h).
from tinygrad.helpers import NO_MEMORY_PLANNER, round_up
from tinygrad.dtype import dtypes
from tinygrad.device import Buffer
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

_ALIGNMENT = 0x1000

def _internal_memory_planner(buffers, noopt_buffers=None, ignore_checks=False, debug_prefix=""):
  """{buffer: a part of one arena per device}, for `buffers`, a list of the buffers that each step uses. Parts overlap only if the
  last use of one comes before the first use of the other. Each buffer takes the lowest place that is free then."""
  if NO_MEMORY_PLANNER: return {}
  kept = {b.base for b in noopt_buffers or []}
  life = {}
  for step, used in enumerate(buffers):
    for b in used:
      if (not ignore_checks and b.is_allocated()) or b.base in kept or b.base.size == 0: continue
      life[b.base] = (life.get(b.base, (step, step))[0], step)
  placed, arenas = {}, {}
  for b, (first, last) in sorted(life.items(), key=lambda item: (-item[0].nbytes, item[1])):
    taken = sorted((begin, end) for other, begin, end in ((o, *placed[o]) for o in placed) if other.device == b.device and life[other][0] <= last and first <= life[other][1])
    at = 0
    for begin, end in taken:
      if at + b.nbytes <= begin: break
      at = max(at, end)
    placed[b] = (at, at + round_up(b.nbytes, _ALIGNMENT))
    arenas[b.device] = max(arenas.get(b.device, 0), placed[b][1])
  memory = {device: Buffer(device, size, dtypes.int8) for device, size in arenas.items()}
  planned = {b: Buffer(b.device, b.size, b.dtype, base=memory[b.device], offset=begin) for b, (begin, _) in placed.items()}
  views = {b for used in buffers for b in used if b.base is not b and b.base in planned}
  for b in views: planned[b] = Buffer(b.device, b.size, b.dtype, base=memory[b.device], offset=placed[b.base][0] + b.offset)
  return planned

def memory_planner(schedule):
  """The items with planned memory."""
  from tinygrad.engine.schedule import ExecItem
  planned = _internal_memory_planner([item.bufs for item in schedule])
  return [ExecItem(item.ast, [planned.get(b, b) for b in item.bufs], item.metadata, item.fixedvars) for item in schedule]
