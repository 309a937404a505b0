# What a model script imports: the engine under the reference's names.
is_uopscope = True  # what tells this package from the reference's (uopscope.as_tinygrad)
import importlib
from tinygrad.tensor import Tensor
from tinygrad.engine.jit import TinyJit
from tinygrad.uop.ops import UOp
from tinygrad.dtype import dtypes
from tinygrad.helpers import GlobalCounters, Context, fetch, getenv
from tinygrad.device import Device
from uopscope.absent import lacking

Variable = UOp.variable
__version__ = "0.12.0"
_lacking = lacking(__name__)
def __getattr__(name):
  """Layers take long to import: `tinygrad.nn` is imported when it is first asked for."""
  return importlib.import_module("tinygrad.nn") if name == "nn" else _lacking(name, 2)
