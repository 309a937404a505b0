# What a model script imports: the engine under the reference's names.
from tinygrad.tensor import Tensor
from tinygrad.engine.jit import TinyJit
from tinygrad.uop.ops import UOp
Variable = UOp.variable
from tinygrad.dtype import dtypes
from tinygrad.helpers import GlobalCounters, Context, fetch, getenv
from tinygrad.device import Device
from tinygrad import nn
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
__version__ = "0.12.0"
