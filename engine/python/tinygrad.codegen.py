# Lowering by hand.
import _uopscope
from tinygrad.device import Device

class ProgramSpec:
  """A lowered kernel: name, src (source text), uops (linear program), applied_opts, launch sizes."""
  def __init__(self, kernel, device): self._kernel, self.device, self.function_name = kernel, device, kernel.name
  def __getattr__(self, name):
    if name.startswith("_"): raise AttributeError(name)  # while it is copied or pickled there is no kernel yet
    return getattr(self._kernel, name)

def get_program(ast, renderer=None, opts=None):
  device = renderer if isinstance(renderer, str) else getattr(renderer, "device", None) or Device.DEFAULT
  if opts is not None:
    info = ast.arg
    ast = ast.replace(arg=_uopscope.KernelInfo(info.name, info.axis_types, info.dont_use_locals, info.applied_opts, opts))
    try: return ProgramSpec(_uopscope.lower_kernel(ast, device), device)
    except _uopscope.CompileError as e:
      from tinygrad.codegen.opt import KernelOptError
      raise KernelOptError(str(e)) from None
  return ProgramSpec(_uopscope.lower_kernel(ast, device), device)
def full_rewrite_to_sink(sink, ren=None, optimize=True): return _uopscope.full_rewrite_to_sink(sink, getattr(ren, "device", None) or Device.DEFAULT, optimize)
def full_rewrite(sink, ren=None): return _uopscope.linearize(full_rewrite_to_sink(sink, ren))

class rules_after:
  """`with rules_after("initial symbolic", PatternMatcher([...])):` the rules run right after that pass of every kernel lowered inside."""
  def __init__(self, pass_name, rules): self._arguments = (pass_name, rules)
  def __enter__(self):
    self._active = _uopscope.UserRules(*self._arguments)
    return self
  def __exit__(self, *_): self._active = None
