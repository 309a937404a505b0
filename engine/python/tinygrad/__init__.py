# The names that a model script imports from tinygrad, on this engine.
is_uopscope = True  # distinguishes this package from the reference's (uopscope.as_tinygrad)
import importlib
from tinygrad.tensor import Tensor
from tinygrad.engine.jit import TinyJit
from tinygrad.uop.ops import UOp
from tinygrad.dtype import dtypes
from tinygrad.helpers import GlobalCounters, Context, fetch, getenv
from tinygrad.device import Device
from uopscope.absent import lacking
from uopscope.live_objects import install as _list_live_objects
_list_live_objects()

Variable = UOp.variable
__version__ = "0.12.0"
_lacking = lacking(__name__)
def __getattr__(name):
  """Imports `tinygrad.nn` at first use, since layers take long to import."""
  return importlib.import_module("tinygrad.nn") if name == "nn" else _lacking(name, 2)
