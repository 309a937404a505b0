# The results of lowering: a kernel's program and text (ProgramSpec), its costs (Estimates), and its renderer (Renderer).
#
#   prg = get_program(ast, Device["CPU"].renderer)
#   prg.name, prg.src, prg.uops, prg.global_size, prg.estimates.ops
import functools
from dataclasses import dataclass
import _uopscope
from tinygrad.codegen.opt.tc import TensorCore
from tinygrad.helpers import to_function_name
from tinygrad.uop.ops import Ops, ssimplify, sym_infer
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

@dataclass(frozen=True)
class Estimates:
  """The costs of a kernel: arithmetic, bytes loaded and stored, bytes of memory accessed."""
  ops: object = 0
  lds: object = 0
  mem: object = 0
  def __add__(self, o): return Estimates(*(getattr(self, name) + getattr(o, name) for name in ("ops", "lds", "mem")))
  def simplify(self): return Estimates(*map(ssimplify, (self.ops, self.lds, self.mem)))
  @staticmethod
  def from_uops(uops, ignore_indexing=False): return Estimates(*_uopscope.estimate(list(uops)))

@dataclass(eq=False, repr=False)
class ProgramSpec:
  """A lowered kernel. The engine holds everything about it except the name of its device."""
  _kernel: object
  device: str
  _ast: object = None
  _renderer: object = None
  name = property(lambda self: self._kernel.name)
  def _repr_html_(self):
    from uopscope.notebook import kernel_html
    return kernel_html(self)
  @functools.cached_property
  def src(self): return self._kernel.src if self._renderer is None else self._renderer.render(self.uops)
  ast = property(lambda self: self._kernel.ast if self._ast is None else self._ast)
  vars = property(lambda self: self._kernel.vars)
  globals = property(lambda self: self._kernel.globals)
  outs = property(lambda self: self._kernel.outs)
  ins = property(lambda self: self._kernel.ins)
  applied_opts = property(lambda self: self._kernel.applied_opts)
  aux = property(lambda self: [])
  @functools.cached_property
  def uops(self): return self._kernel.uops
  @functools.cached_property
  def function_name(self): return to_function_name(self.name)
  @functools.cached_property
  def estimates(self): return Estimates(*self._kernel.costs)
  @functools.cached_property
  def lib(self):
    """The machine code as a listing; empty for a device that runs nothing."""
    return self._kernel.assembly().encode()
  global_size = property(lambda self: list(self._kernel.global_size) or [1, 1, 1])
  @property
  def local_size(self):
    idle = not self._kernel.local_size or any(u.op is Ops.SPECIAL and u.arg[0] == "i" for u in self.uops)
    return None if idle else list(self._kernel.local_size)
  def launch_dims(self, var_vals):
    local = self.local_size
    return [sym_infer(s, var_vals) for s in self.global_size], local and [sym_infer(s, var_vals) for s in local]
  def __reduce__(self): return _lowered_again, (self.ast, self.device)
  def __repr__(self): return f"<ProgramSpec {self.name} for {self.device}>"
def _lowered_again(ast, device): return ProgramSpec(_uopscope.lower_kernel(ast, device), device, ast)

class Renderer:
  """Names the device whose renderer lowers a kernel: get_program(ast, Renderer("CPU")). Without a name, an expression is
  lowered for no machine: full_rewrite_to_sink(sink, Renderer()). The `pre_matcher` and `extra_matcher` of the renderer of
  Device[name] are applied in every kernel lowered for that device; those of any other Renderer object have no effect."""
  device, suffix, compiler, has_aux = "", "", None, False
  def __init__(self, device=None):
    self.__dict__["_of_device"] = False
    if device is not None: self.__dict__["device"] = device
    facts = _uopscope.device_facts(self.device)
    del facts["device"]
    self._native = set(facts.pop("native_ops"))
    cores = facts.pop("tensor_cores")
    self.tensor_cores = [TensorCore(*core) for core in cores]
    for name, value in facts.items(): self.__dict__[name] = value
    self.__dict__.update(pre_matcher=None, extra_matcher=None)
  @property
  def code_for_op(self): return {op: (lambda *args, op=op: f"{op.name}({', '.join(map(str, args))})") for op in self._native}
  def __setattr__(self, name, value):
    self.__dict__[name] = value
    if name in ("pre_matcher", "extra_matcher") and self._of_device: _uopscope.set_device_rules(self.device, self.pre_matcher, self.extra_matcher)
  def __delattr__(self, name):
    if name in ("pre_matcher", "extra_matcher"): setattr(self, name, None)
    else: del self.__dict__[name]
  def __reduce__(self): return type(self), ((self.device,) if type(self) is Renderer else ())
  def render(self, uops): return _uopscope.render_uops(list(uops), self.device)
  def __repr__(self): return f"<{type(self).__name__} {self.device}>"

def renderer_of(device):
  """The renderer of the device itself, whose matchers are applied."""
  from tinygrad.renderer.cstyle import ClangRenderer
  from tinygrad.runtime.ops_python import PythonRenderer
  kind = device.split(":")[0]
  made = PythonRenderer(device) if kind == "PYTHON" else ClangRenderer(device) if kind == "CPU" else Renderer(device)
  made.__dict__["_of_device"] = True
  return made
