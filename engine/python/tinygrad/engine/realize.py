# Running by hand: the runners of a schedule's items, and the list of items as a program.
#
#   for item in Tensor.schedule(t): item.lower().run()
#   runner = get_runner("CPU", ast); runner([out, a, b], {}, wait=True)          # seconds
import functools, time
import _uopscope
from tinygrad.codegen import get_program
from tinygrad.device import Buffer, Device
from tinygrad.engine.schedule import ExecItem
from tinygrad.helpers import BEAM, CAPTURING, DEBUG, NOOPT, GlobalCounters, all_same, colored
from tinygrad.renderer import Estimates, ProgramSpec
from tinygrad.uop.ops import Ops, UOp, sym_infer
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class Runner:
  """A runner: something that runs on buffers, such as a kernel or a copy. A subclass in a script overrides __call__."""
  def __init__(self, display_name, device, estimates=Estimates()): self.display_name, self.device, self.estimates, self.first_run = display_name, device, estimates, True
  @property
  def dev(self): return Device[self.device]
  def exec(self, rawbufs, var_vals=None): return self(rawbufs, var_vals or {})
  def __call__(self, rawbufs, var_vals, wait=False): raise NotImplementedError(f"{type(self).__name__} has no __call__(rawbufs, var_vals, wait)")

class CompiledRunner(Runner):
  """A kernel: takes its buffers in order of `p.globals` and its variables by name."""
  def __init__(self, p, prg=None):
    self.p = p
    super().__init__(p.name, p.device, p.estimates)
    p._kernel.compile()
  def __reduce__(self): return CompiledRunner, (self.p,)
  @property
  def lib(self): return self.p.lib
  def __call__(self, rawbufs, var_vals=None, wait=False):
    seconds = self.p._kernel.run(list(rawbufs), var_vals or {}, wait)
    return seconds if wait else None

class BufferCopy(Runner):
  """Copies the second buffer into the first."""
  def __init__(self, total_sz, dest_device, src_device):
    super().__init__(colored(f"copy {total_sz:>8} bytes, {dest_device[:7]:>7} <- {src_device[:7]:7}", "yellow"), dest_device, Estimates(lds=total_sz, mem=total_sz))
  def copy(self, dest, src): _uopscope.copy_buffer(dest, src)
  def __call__(self, rawbufs, var_vals=None, wait=False):
    begin = time.perf_counter()
    self.copy(*rawbufs[:2])
    if not wait: return None
    Device[rawbufs[0].device].synchronize()
    return time.perf_counter() - begin
class BufferXfer(BufferCopy):
  """A copy between devices of one kind."""

class ViewOp(Runner):
  """The first buffer is already a view of the second, so nothing runs."""
  def __init__(self, buf): super().__init__(colored(f"view {buf.nbytes:8d} @ {buf.offset:<10d}", "yellow"), buf.device)
  def __call__(self, rawbufs, var_vals=None, wait=False): return None

method_cache = {}
def get_runner(device, ast):
  """The kernel compiled for the device; the cache is used if it has it."""
  key = (device, ast.key, BEAM.value, NOOPT.value, _uopscope.settings_key())
  if key not in method_cache:
    if BEAM and ast.arg is not None and ast.arg.opts_to_apply is None and not NOOPT:
      method_cache[key] = CompiledRunner(get_program(ast, device, opts=_uopscope.search_opts(ast, device, BEAM.value)))
    else: method_cache[key] = CompiledRunner(get_program(ast, device))
  return method_cache[key]

def runner_for(item):
  """The runner of a schedule item."""
  if item.ast.op is Ops.SINK: return get_runner(item.bufs[0].device, item.ast)
  if item.ast.op is Ops.COPY:
    to, source = item.bufs[:2]
    kind = BufferXfer if to.device.split(":")[0] == source.device.split(":")[0] and to.device != source.device else BufferCopy
    return kind(to.nbytes, to.device, source.device)
  if item.ast.op is Ops.BUFFER_VIEW: return ViewOp(item.bufs[0])
  raise RuntimeError(f"{item.ast.op} is no kernel, copy or view")

# Objects with a method `add(item)`, which is called with every item that runs.
capturing = []

def lower_schedule_item(item): return item.lower()
def lower_schedule(schedule):
  """Iterates over the items and gives each its runner."""
  for item in schedule: yield item, item.lower()

def run_schedule(schedule, var_vals=None, do_update_stats=True):
  """Runs the items in order and removes each from the list."""
  while len(schedule):
    item = schedule.pop(0)
    if capturing and CAPTURING: capturing[0].add(item)
    item.run(var_vals, do_update_stats=do_update_stats)
