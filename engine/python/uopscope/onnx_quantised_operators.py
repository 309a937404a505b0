# ONNX's operators on quantised numbers: an integer stands for (integer - zero) * scale.
from tinygrad.dtype import dtypes
from tinygrad.helpers import prod
from tinygrad.tensor import Tensor
from uopscope.onnx_file import dtype_of
from uopscope.onnx_operators import Conv
from uopscope.onnx_registry import OPERATORS, operator

def _beside(x, v, axis, block=0):
  """The scale or zero of each element: one for all, one for each place along an axis, or one for each block of them."""
  if block: return v.repeat_interleave(block, axis).shrink_to(x.shape)
  return v if v.ndim == 0 or prod(v.shape) == 1 else v.reshape(*(-1 if i == axis % x.ndim else 1 for i in range(x.ndim)))
@operator
def DequantizeLinear(x, scale, zero=None, axis=1, block_size=0, output_dtype=0):
  y = x.cast(dtypes.int32) if dtypes.is_int(x.dtype) else x
  y = y if zero is None else y - _beside(x, zero.cast(y.dtype), axis, block_size)
  return (y * _beside(x, scale, axis, block_size)).cast(dtype_of(output_dtype) if output_dtype else scale.dtype)
@operator
def QuantizeLinear(x, scale, zero=None, axis=1, block_size=0, output_dtype=0, precision=0, saturate=1):
  to = zero.dtype if zero is not None else dtype_of(output_dtype) if output_dtype else dtypes.uint8
  y = (x / _beside(x, scale, axis, block_size)).round()
  y = y if zero is None else y + _beside(x, zero, axis, block_size)
  return y.clip(to.min, to.max).cast(to) if dtypes.is_int(to) else y.cast(to)
@operator
def DynamicQuantizeLinear(x):
  low, high = x.min().minimum(0), x.max().maximum(0)
  scale = (high - low) / 255
  zero = (-low / scale).round().clip(0, 255)
  return ((x / scale).round() + zero).clip(0, 255).cast(dtypes.uint8), scale, zero.cast(dtypes.uint8)
@operator
def MatMulInteger(a, b, a_zero=None, b_zero=None):
  def centred(x, zero, axis): return x.cast(dtypes.int32) if zero is None else x.cast(dtypes.int32) - (zero.cast(dtypes.int32) if prod(zero.shape) == 1 else _beside(x, zero.cast(dtypes.int32), axis))
  return centred(a, a_zero, -2).matmul(centred(b, b_zero, -1), dtype=dtypes.int32)
@operator
def ConvInteger(x, w, x_zero=None, w_zero=None, **opts):
  def centred(v, zero): return v.cast(dtypes.int32) if zero is None else v.cast(dtypes.int32) - _beside(v, zero.cast(dtypes.int32), 0)
  return Conv(centred(x, x_zero), centred(w, w_zero), **opts)
def _quantised(f):
  """Computes with real numbers and quantises the result."""
  def run(a, a_scale, a_zero, b, b_scale, b_zero, scale, zero, *more, version=1, **opts):
    return QuantizeLinear(f(DequantizeLinear(a, a_scale, a_zero), DequantizeLinear(b, b_scale, b_zero, axis=0 if f is Conv else b.ndim - 1), *[m * (a_scale * b_scale) for m in more], **opts), scale, zero)
  return run
OPERATORS |= {"QLinearConv": _quantised(Conv), "QLinearMatMul": _quantised(Tensor.matmul), "QLinearAdd": _quantised(lambda a, b: a + b), "QLinearMul": _quantised(lambda a, b: a * b)}
@operator("com.microsoft")
def QLinearGlobalAveragePool(x, scale, zero, new_scale, new_zero, channels_last=0):
  over = tuple(range(1, x.ndim - 1)) if channels_last else tuple(range(2, x.ndim))
  return QuantizeLinear(DequantizeLinear(x, scale, zero).mean(over, keepdim=True), new_scale, new_zero)
