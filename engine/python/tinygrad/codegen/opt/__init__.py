# Opts (kernel optimisations) by name.
from _uopscope import CompileError, Opt, OptOps
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class KernelOptError(CompileError):
  """An Opt that does not fit the kernel."""
def check(cond, msg=""):
  if not cond: raise KernelOptError(msg)
