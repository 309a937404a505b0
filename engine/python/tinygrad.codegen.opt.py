# Kernel optimisations by name.
from _uopscope import Opt, OptOps
from uopscope import CompileError
class KernelOptError(CompileError):
  """An Opt that does not fit the kernel."""
