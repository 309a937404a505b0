# Lowering by hand: from a kernel's graph to its program.
import _uopscope
from tinygrad.device import Device
from tinygrad.renderer import Estimates, ProgramSpec, Renderer
from tinygrad.uop.ops import PatternMatcher
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

def _device_of(renderer):
  if isinstance(renderer, str): return renderer
  return getattr(renderer, "device", None) or Device.DEFAULT

def get_program(ast, renderer=None, opts=None):
  """The kernel lowered for the renderer's device; `opts` replace the Opts that the engine would choose."""
  from tinygrad.codegen.opt import KernelOptError
  device, asked = _device_of(renderer), ast
  if opts is not None:
    info = ast.arg if ast.arg is not None else _uopscope.KernelInfo()
    asked = ast.replace(arg=_uopscope.KernelInfo(info.name, info.axis_types, info.dont_use_locals, info.applied_opts, list(opts)))
  try: return ProgramSpec(_uopscope.lower_kernel(asked, device), device, ast, renderer if isinstance(renderer, Renderer) and type(renderer).render is not Renderer.render else None)
  except _uopscope.CompileError as e:
    if asked.arg is None or not asked.arg.opts_to_apply: raise
    raise KernelOptError(str(e)) from None

def full_rewrite_to_sink(sink, ren=None, optimize=True):
  """The graph lowered for the renderer's device. Without a renderer, no operation is replaced by operations of a machine."""
  return _uopscope.full_rewrite_to_sink(sink, ren if isinstance(ren, str) else getattr(ren, "device", ""), optimize)
def full_rewrite(sink, ren=None): return _uopscope.linearize(full_rewrite_to_sink(sink, ren))

# The engine's instruction lists are finished, so no cleanup rules are left.
pm_linearize_cleanups = PatternMatcher([])
def line_rewrite(lst, pm):
  """Rewrites a list of instructions in order. A rule returns (the node's replacement, the instructions in its place)."""
  standing, out = {}, []
  for u in lst:
    moved = u.replace(src=tuple(standing[s] for s in u.src))
    value, lines = pm.rewrite(moved) or (moved, [moved])
    standing[u] = value
    out += lines
  return out

class rules_after:
  """`with rules_after("initial symbolic", PatternMatcher([...])):` runs the rules right after that pass, in every schedule and
  every kernel made inside the block."""
  def __init__(self, pass_name, rules): self._arguments = (pass_name, rules)
  def __enter__(self):
    self._active = _uopscope.UserRules(*self._arguments)
    return self
  def __exit__(self, *_): self._active = None
