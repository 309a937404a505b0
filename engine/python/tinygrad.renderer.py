# What a lowered kernel is described by: its program, and the renderer that lowering is asked for.
from dataclasses import dataclass
from tinygrad.codegen import ProgramSpec
from tinygrad.uop.ops import ssimplify

@dataclass(frozen=True)
class Estimates:
  """What a kernel costs: arithmetic, bytes loaded and stored, bytes of memory touched."""
  ops: object = 0
  lds: object = 0
  mem: object = 0
  def __add__(self, o): return Estimates(self.ops + o.ops, self.lds + o.lds, self.mem + o.mem)
  def simplify(self): return Estimates(ssimplify(self.ops), ssimplify(self.lds), ssimplify(self.mem))

class Renderer:
  """Names the device whose renderer lowers a kernel: get_program(ast, Renderer("CPU"))."""
  suffix, supports_float4, has_local, has_shared, has_threads = "", True, False, False, True
  def __init__(self, device="CPU"): self.device = device
  def render(self, uops):
    from tinygrad.codegen import render_uops
    return render_uops(uops, self.device)
  def __repr__(self): return f"<Renderer {self.device}>"
