# The optimiser of a kernel: Opts change the type of its ranges and split them.
#
#   k = Scheduler(ast, Device["CPU"].renderer)
#   k.apply_opt(Opt(OptOps.UPCAST, 0, 4)); k.full_shape, k.axis_types, k.get_optimized_ast()
import _uopscope
from tinygrad.codegen.opt import KernelOptError, Opt, OptOps
from tinygrad.device import Buffer
from tinygrad.helpers import colored, prod
from tinygrad.uop.ops import AxisType, KernelInfo, Ops, axis_colors, axis_letters, ssimplify
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class Scheduler:
  def __init__(self, ast, ren, _kernel=None):
    self.ren = ren
    self._kernel = _kernel if _kernel is not None else _uopscope.KernelScheduler(ast, ren if isinstance(ren, str) else ren.device)
  def copy(self): return Scheduler(None, self.ren, self._kernel.copy())
  ast = property(lambda self: self._kernel.ast)
  applied_opts = property(lambda self: list(self._kernel.applied_opts))
  rngs = property(lambda self: self._kernel.rngs)
  reduceops = property(lambda self: self._kernel.reduceops)
  bufs = property(lambda self: self._kernel.bufs)
  shape_len = property(lambda self: len(self.rngs))
  full_shape = property(lambda self: [ssimplify(r.src[0]) for r in self.rngs])
  axis_types = property(lambda self: [r.arg[-1] for r in self.rngs])
  reduceop = property(lambda self: next(iter(self.reduceops), None))
  output_shape = property(lambda self: [1 if t in (AxisType.REDUCE, AxisType.UNROLL, AxisType.GROUP_REDUCE) else s for s, t in zip(self.full_shape, self.axis_types)])
  upcasted = property(lambda self: len(self.axes_of(AxisType.UPCAST, AxisType.UNROLL)))
  group_for_reduces = property(lambda self: len(self.axes_of(AxisType.GROUP_REDUCE)))
  upcastable_dims = property(lambda self: [i for i in self.axes_of(AxisType.GLOBAL, AxisType.LOCAL, AxisType.LOOP) if isinstance(s := self.full_shape[i], int) and s > 1])
  unrollable_dims = property(lambda self: [i for i in self.axes_of(AxisType.GROUP_REDUCE, AxisType.REDUCE) if isinstance(s := self.full_shape[i], int) and s > 1])
  def shape_str(self):
    """A name per axis: g0, g1, l0, R0 ..., counted per type."""
    counts, names = {}, []
    for t in self.axis_types:
      counts[t] = counts.get(t, -1) + 1
      names.append(f"{axis_letters[t]}{counts[t]}")
    return names
  def shape_str_to_axis(self, nms): return tuple(map(self.shape_str().index, nms))
  def ranges_of(self, *axis_type): return [r for r in self.rngs if r.arg[-1] in axis_type]
  def axes_of(self, *axis_type): return [i for i, t in enumerate(self.axis_types) if t in axis_type]
  def upcast_size(self): return prod(self.full_shape[i] for i in self.axes_of(AxisType.UPCAST, AxisType.UNROLL))
  def colors(self): return [axis_colors[t] for t in self.axis_types]
  def colored_shape(self): return " ".join(colored(f"{r.src[0].render():>4s}", color) for r, color in zip(self.rngs, self.colors()))
  def _asked(self, change, *arguments):
    try: change(*arguments)
    except _uopscope.CompileError as e: raise KernelOptError(str(e)) from None
  def apply_opt(self, opt, append_opt=True): self._asked(self._kernel.apply, opt)
  def apply_opts(self, opts):
    for opt in opts: self.apply_opt(opt)
    return self
  def convert_loop_to_global(self): self._kernel.loops_to_global()
  def get_optimized_ast(self, name_override=None):
    made = self._kernel.optimized()
    if name_override is None: return made
    info = made.arg
    return made.replace(arg=KernelInfo(name_override, info.axis_types, info.dont_use_locals, info.applied_opts))

def bufs_from_ast(ast, dname):
  """A new buffer for each parameter of the kernel, in order."""
  taken = sorted((u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL), key=lambda u: u.arg)
  return [Buffer(dname, u.dtype.size, u.dtype.base) for u in taken]
def apply_opts(ast, ren):
  """The kernel with the Opts in its KernelInfo; without these, with the Opts that the engine chooses."""
  k = Scheduler(ast, ren)
  k.convert_loop_to_global()
  asked = ast.arg.opts_to_apply if ast.arg is not None else None
  if asked is not None: k.apply_opts(asked)
  else: k._kernel.choose()
  return k.get_optimized_ast()
