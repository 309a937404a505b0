# Kernel optimisations by name.
from _uopscope import Opt, OptOps
class KernelOptError(Exception): pass
