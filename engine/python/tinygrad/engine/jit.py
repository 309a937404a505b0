# TinyJit: the first call runs, the second captures what it launches, later ones replay that on new inputs and
# variables. Capture and replay are C++; this module adds the argument handling of Python.
import functools, time
import _uopscope
from _uopscope import CapturedJit, JitError
from tinygrad.device import Device
from tinygrad.engine.realize import BufferCopy, CompiledRunner, Runner
from tinygrad.engine.schedule import ExecItem
from tinygrad.helpers import DEBUG, JIT, JIT_BATCH_SIZE, Metadata
from tinygrad.renderer import Estimates, ProgramSpec
from tinygrad.uop.ops import Ops, UOp
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class GraphException(Exception): pass
class GraphRunner(Runner):
  """Several launches as one: a call runs them in order, on the buffers they have or, in the place of `input_buffers`, on
  those it is given. A call of a captured function does not use it: the engine replays the function as a whole."""
  def __init__(self, jit_cache, input_buffers, var_vals):
    self.jit_cache, self.var_vals = [ExecItem(item.ast, item.bufs, item.metadata, item.fixedvars, item.lower().prg) for item in jit_cache], dict(var_vals)
    place = {id(b): number for number, b in enumerate(input_buffers)}
    self.input_replace = {(j, i): place[id(b)] for j, item in enumerate(self.jit_cache) for i, b in enumerate(item.bufs) if id(b) in place}
    self.input_replace |= {(j, i): number for j, item in enumerate(jit_cache) if isinstance(item, _Item) for i, number in item.inputs}
    runners = [item.prg for item in self.jit_cache]
    super().__init__(f"<batched {len(runners)}>", runners[0].device if runners else Device.DEFAULT, sum((r.estimates for r in runners), Estimates()))
  def __call__(self, input_buffers, var_vals, wait=False):
    begin = time.perf_counter()
    for (j, i), number in self.input_replace.items(): self.jit_cache[j].bufs[i] = input_buffers[number]
    for item in self.jit_cache: item.run(self.var_vals | var_vals, jit=True)
    if not wait: return None
    self.dev.synchronize()
    return time.perf_counter() - begin
class MultiGraphRunner(GraphRunner): pass
class LaunchGraph(GraphRunner):
  """Launches of a captured function in its list of launches."""
def apply_graph_to_jit(jit_cache, input_buffers, var_vals, max_batch_size=0):
  """The launches in batches: kernels of one device that follow each other become one item, with a LaunchGraph as its runner. The
  first has at most `max_batch_size` launches, each further one twice as many; 0 sets no limit. Copies stay items of their own."""
  out, batch = [], []
  def end():
    nonlocal max_batch_size
    if len(batch) > 1:
      out.append(_Batch(batch[:], input_buffers, var_vals))
      max_batch_size *= 2
    else: out.extend(batch)
    batch.clear()
  for item in jit_cache:
    if batch and (_device_of(item) != _device_of(batch[-1]) or len(batch) == max_batch_size > 0): end()
    if _device_of(item) is None: out.append(item)
    else: batch.append(item)
  end()
  return out
def _device_of(item):
  """The device of a kernel; None for anything else."""
  if isinstance(item, _Item): return item.device
  return item.prg.device if isinstance(item.prg, CompiledRunner) else None
class _Listed(ExecItem):
  """An item of a list of launches, with a name and its inputs. Its runner is made when somebody asks for it."""
  @property
  def prg(self):
    if self._prg is None: self._prg = self._runner()
    return self._prg
  @prg.setter
  def prg(self, runner): self._prg = runner
  def __repr__(self): return f"<{self.name} inputs {self.inputs}>"
class _Batch(_Listed):
  """Several launches as an item. Its buffers are the inputs; those of a captured function hold None, as in each launch."""
  def __init__(self, items, input_buffers, var_vals):
    super().__init__(UOp(Ops.NOOP), input_buffers)
    self.name, self._runner = f"batched {len(items)}", lambda: LaunchGraph(items, input_buffers, var_vals)
    self.inputs = [(number, number) for number in sorted({number for item in items for _, number in getattr(item, "inputs", ())})]

def graph_class(device):
  """The class to which a replay hands its launches: none, since the engine replays the function as a whole."""
  return None

class _Item(_Listed):
  """One launch of a captured function. The place of an input holds None. What a script puts there is the script's: a replay
  takes the inputs of its call."""
  def __init__(self, captured, i):
    super().__init__(None, captured.buffers_of(i), [Metadata(name, "") for name in captured.metadata(i)])
    self._captured, self._i, self.name, self.inputs, self.device = captured, i, captured.name(i), captured.inputs_of(i), captured.device_of(i)
  def _runner(self):
    kernel = self._captured.kernel(self._i)
    if kernel is None: return BufferCopy(*((self.bufs[0].nbytes, self.bufs[0].device, self.bufs[1].device) if all(self.bufs[:2]) else (0, "", "")))
    return CompiledRunner(ProgramSpec(kernel, kernel.device))

def _tensors(x, strict=False):
  """The tensors in a function's result: the result itself, or those in lists, tuples, dicts and objects."""
  from tinygrad.tensor import Tensor
  if x is None: return []
  if isinstance(x, Tensor): return [x]
  if isinstance(x, (list, tuple)): return [t for i in x for t in _tensors(i, strict)]
  if isinstance(x, dict): return [t for i in x.values() for t in _tensors(i, strict)]
  if strict: raise JitError(f"JIT return contains non-Tensor value of type {type(x).__name__}: a replay would give the value of the capture; return the Tensor, and call .item() outside")
  return [t for i in vars(x).values() for t in _tensors(i)] if hasattr(x, "__dict__") and not isinstance(x, type) else []

def _items(captured):
  """The launches of a captured function: one list as long as the function has its memory, so that a script may change it."""
  if "_items" not in captured.__dict__: captured._items = [_Item(captured, i) for i in range(len(captured))]
  return captured._items
_free_intermediates = CapturedJit.free_intermediates
def free_intermediates(self):
  for kept in ("_items", "_batches"): self.__dict__.pop(kept, None)
  _free_intermediates(self)
free_intermediates.__doc__ = _free_intermediates.__doc__
CapturedJit.jit_cache, CapturedJit.free_intermediates = property(_items), free_intermediates
def _input_replace(items): return {(j, argument): number for j, item in enumerate(items) for argument, number in item.inputs}
CapturedJit.input_replace = property(lambda self: _input_replace(self.jit_cache))
def _batches(captured):
  """The launches as a TinyJit shows them, once per captured function and setting. A function captured at JIT=2 keeps them apart."""
  if max(captured.__dict__.get("_level", 0), JIT.value) >= 2: return captured.jit_cache
  kept = captured.__dict__.setdefault("_batches", {})
  if (size := JIT_BATCH_SIZE.value) not in kept: kept[size] = apply_graph_to_jit(captured.jit_cache, [None] * captured.input_count, {}, size)
  return kept[size]

class TinyJit:
  """Captures a function or method of tensors, as the decorator @TinyJit. Its result is realized, and overwritten by the next
  call."""
  def __init__(self, fxn=None, captured=None, prune=False, optimize=False):
    assert fxn is not None or captured is not None, "need either a function or a CapturedJit"
    self.fxn, self.captured, self.prune, self.optimize = fxn, captured, prune, optimize
    self.cnt = 2 if fxn is None else 0
    if fxn is not None: functools.update_wrapper(self, fxn)
  def reset(self):
    assert self.fxn is not None, "can't reset without function"
    self.cnt, self.captured = 0, None
  def __reduce__(self):
    assert self.captured is not None, "can't pickle a TinyJit that has captured nothing: call it twice first"
    return TinyJit, (None, self.captured)
  @property
  def jit_cache(self): return _batches(self.captured) if self.captured is not None else []
  @property
  def input_replace(self): return _input_replace(self.jit_cache)
  def __get__(self, obj, objtype=None): return functools.partial(self.__call__, obj)
  def __call__(self, *args, **kwargs):
    if _uopscope.in_transform(args, kwargs): # vmap, grad and the others derive the function, not its kernels
      if self.fxn is None: raise JitError("a TinyJit that was unpickled has kernels alone: a transform (vmap, grad, jvp ...) needs its function")
      return self.fxn(*args, **kwargs)
    if self.captured is not None and JIT:
      ret = self.captured.call(args, kwargs)
      self.cnt += 1
      return ret
    if not JIT or self.cnt == 0:
      if JIT: _uopscope.check_jit_arguments(args, kwargs)
      ret = self.fxn(*args, **kwargs)
      tensors = _tensors(ret)
      if tensors: tensors[0].realize(*tensors[1:])
    else:
      self.captured = captured = CapturedJit(self.fxn, functools.partial(_tensors, strict=True), args, kwargs, bool(self.prune))
      ret, captured._level = captured.ret, JIT.value
      if DEBUG >= 1:
        print(f"JIT captured {len(captured)} kernels with {captured.input_count} inputs")
        if sum(captured.used_inputs) != captured.input_count: print("WARNING: some input tensors not found")
    self.cnt += 1
    return ret

from uopscope.docstrings import document
document(TinyJit)
