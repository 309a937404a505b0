# The operators of ONNX as functions of tensors: inputs by position, attributes by name, `version` of the operator set.
#
#   OPERATORS["Gemm"](a, b, c, transB=1, version=13)
#
# Most operators are a method of Tensor with ONNX's argument names: each of those is one line of a table. Attention, images,
# training and the operators of other domains have files of their own.
import functools, math
from tinygrad.dtype import dtypes
from tinygrad.helpers import prod
from tinygrad.tensor import Tensor, _broadcast_shape
from uopscope.onnx_file import dtype_of
from uopscope.onnx_registry import OPERATORS, one_value as _one, operator, values

def _axes(axes, noop=0):
  axes = values(axes)
  return tuple([axes] if isinstance(axes, int) else axes) if axes else () if noop else None

_ONE_LINE = {
  "Identity": lambda x: x, "Neg": lambda x: -x, "Not": lambda x: x.logical_not(), "BitwiseNot": lambda x: ~x, "Size": lambda x: Tensor(prod(x.shape), dtype=dtypes.int64),
  "LessOrEqual": lambda x, y: x <= y, "GreaterOrEqual": lambda x, y: x >= y, "MatMul": lambda x, y: x.matmul(y),
  "BitwiseAnd": lambda x, y: x & y, "BitwiseOr": lambda x, y: x | y, "BitwiseXor": lambda x, y: x ^ y, "Where": lambda c, x, y: c.where(x, y), "Reciprocal": lambda x: x.reciprocal(), "Sum": lambda *xs: sum(xs[1:], xs[0]),
  "Max": lambda *xs: functools.reduce(Tensor.maximum, xs), "Min": lambda *xs: functools.reduce(Tensor.minimum, xs), "Mean": lambda *xs: sum(xs[1:], xs[0]) / len(xs), "IsNaN": lambda x: x.isnan(),
  "PRelu": lambda x, slope: (x > 0).where(x, x * slope), "GlobalAveragePool": lambda x: x.mean(tuple(range(2, x.ndim)), keepdim=True), "GlobalMaxPool": lambda x: x.max(tuple(range(2, x.ndim)), keepdim=True),
  "OptionalHasElement": lambda x=None: Tensor(x is not None), "OptionalGetElement": lambda x: x, "CastLike": lambda x, like, saturate=1: x.cast(like.dtype), "Binarizer": lambda x, threshold=0.0: (x > threshold).float(),
  "ArrayFeatureExtractor": lambda x, indices: x[..., indices]}
_PAIRS = {
  "Sub": lambda x, y: x - y, "Add": lambda x, y: x + y, "Mul": lambda x, y: x * y, "Pow": lambda x, y: (x.cast(dtypes.float64 if x.dtype == dtypes.float64 else dtypes.float32) ** y).cast(x.dtype),
  "Div": lambda x, y: x.div(y, rounding_mode="trunc") if dtypes.is_int(x.dtype) else x / y, "Less": lambda x, y: x < y, "Greater": lambda x, y: x > y, "Equal": lambda x, y: x == y,
  "And": lambda x, y: x.bool() & y.bool(), "Or": lambda x, y: x.bool() | y.bool(), "Xor": lambda x, y: x.bool() ^ y.bool()}
def _at_axis(x, y, axis):
  """y with its first axis at that axis of x, as versions below 7 place it."""
  return y if axis is None or y.ndim == 0 else y.reshape(*y.shape, *(1,) * (x.ndim - axis % x.ndim - y.ndim))
_ONE_LINE |= {name: (lambda f: lambda x, y, broadcast=0, axis=None: f(x, _at_axis(x, y, axis)))(f) for name, f in _PAIRS.items()}
_ONE_LINE |= {name: (lambda method: lambda x: getattr(x, method)())(name.lower()) for name in
  "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Mish Relu Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh HardSwish".split()}
OPERATORS |= {name: (lambda f: lambda *inputs, version=1, **opts: f(*inputs, **opts))(f) for name, f in _ONE_LINE.items()}
OPERATORS["Sign"] = lambda x, version=1: x.sign().cast(x.dtype)

# Constants and types
@operator
def Constant(value=None, value_float=None, value_floats=None, value_int=None, value_ints=None, value_string=None, value_strings=None):
  if value is not None: return value
  if value_int is not None or value_ints is not None: return Tensor(value_int if value_int is not None else value_ints, dtype=dtypes.int64)
  if value_string is not None or value_strings is not None: return value_string if value_string is not None else value_strings
  return Tensor(value_float if value_float is not None else value_floats, dtype=dtypes.float32)
@operator
def ConstantOfShape(shape, value=None):
  fill = value if value is not None else Tensor([0.0])
  return Tensor.full(tuple(values(shape)), _one(fill), dtype=fill.dtype)
@operator
def Range(start, limit, delta): return Tensor.arange(_one(start), _one(limit), _one(delta), dtype=start.dtype)
@operator
def EyeLike(x, dtype=None, k=0):
  rows, columns = Tensor.arange(x.shape[0]).unsqueeze(1), Tensor.arange(x.shape[1])
  return (rows + k == columns).cast(dtype_of(dtype) if dtype is not None else x.dtype)
@operator
def Shape(x, start=0, end=None): return Tensor(list(x.shape[start:end]), dtype=dtypes.int64)
@operator
def Cast(x, to, saturate=1): return x.cast(dtype_of(to))
@operator
def BitCast(x, to): return x.bitcast(dtype_of(to))
@operator
def Mod(x, y, fmod=0): return x - x.div(y, rounding_mode="trunc") * y if fmod else x % y
@operator
def BitShift(x, y, direction): 
  power = Tensor(1, dtype=x.dtype) * (Tensor.arange(64) < y.unsqueeze(-1).cast(dtypes.int32)).where(2, 1).cast(x.dtype).prod(-1, dtype=x.dtype)
  return x * power if direction == "LEFT" else x.idiv(power)
@operator
def IsInf(x, detect_negative=1, detect_positive=1): return x.isinf(bool(detect_positive), bool(detect_negative))

# Activations
@operator
def Clip(x, low=None, high=None, min=None, max=None):
  low, high = (a if a is not None else b for a, b in ((low, min), (high, max)))
  return x if low is None and high is None else x.clip(low, high).cast(x.dtype)
@operator
def Elu(x, alpha=1.0): return x.elu(alpha)
@operator
def Celu(x, alpha=1.0): return x.celu(alpha)
@operator
def Selu(x, alpha=1.6732632423543772, gamma=1.0507009873554805): return x.selu(alpha, gamma)
@operator
def LeakyRelu(x, alpha=0.01): return x.leaky_relu(alpha)
@operator
def ThresholdedRelu(x, alpha=1.0): return (x > alpha).where(x, 0)
@operator
def HardSigmoid(x, alpha=0.2, beta=0.5): return (x * alpha + beta).clip(0, 1)
@operator
def Shrink(x, bias=0.0, lambd=0.5): return (x < -lambd).where(x + bias, (x > lambd).where(x - bias, 0))
@operator
def Gelu(x, approximate="none"): return x.gelu() if approximate == "tanh" else x * ((x * 0.5 ** 0.5).erf() + 1) * 0.5
@operator
def Swish(x, alpha=1.0): return x * (x * alpha).sigmoid()
@operator
def SwiGLU(a, b, alpha=1.0): return Swish(a, alpha) * b
def _softmax_axis(x, f, axis, version):
  if version >= 13: return f(x, -1 if axis is None else axis)
  axis = 1 if axis is None else axis % x.ndim  # before this version, all axes from there on counted as one
  return f(x.reshape(prod(x.shape[:axis]), -1), -1).reshape(x.shape)
@operator
def Softmax(x, axis=None, version=13): return _softmax_axis(x, Tensor.softmax, axis, version)
@operator
def LogSoftmax(x, axis=None, version=13): return _softmax_axis(x, Tensor.log_softmax, axis, version)
@operator
def Hardmax(x, axis=-1):
  axis %= x.ndim
  places = Tensor.arange(x.shape[axis]).reshape(*(-1 if i == axis else 1 for i in range(x.ndim)))
  return (x.argmax(axis, keepdim=True) == places).cast(x.dtype)

# Reductions
def _reduction(name, f):
  def reduce(data, inputs=None, axes=None, keepdims=1, noop_with_empty_axes=0, version=18):
    over = _axes(inputs if inputs is not None else axes, noop_with_empty_axes)
    return data if over == () and name in ("Sum", "Max", "Min", "Mean", "Prod") else f(data, tuple(range(data.ndim)) if over is None else over, bool(keepdims))
  OPERATORS[f"Reduce{name}"] = reduce
_reduction("Sum", lambda x, a, k: x.sum(a, k, dtype=x.dtype))
_reduction("Mean", lambda x, a, k: x.mean(a, k))
_reduction("Max", lambda x, a, k: x.max(a, k))
_reduction("Min", lambda x, a, k: x.min(a, k))
_reduction("Prod", lambda x, a, k: x.prod(a, k, dtype=x.dtype))
_reduction("SumSquare", lambda x, a, k: x.square().sum(a, k, dtype=x.dtype))
_reduction("L1", lambda x, a, k: x.abs().sum(a, k, dtype=x.dtype))
_reduction("L2", lambda x, a, k: x.cast(dtypes.float32).square().sum(a, k).sqrt().cast(x.dtype))
_reduction("LogSum", lambda x, a, k: x.sum(a, k).log())
_reduction("LogSumExp", lambda x, a, k: x.cast(dtypes.float32).exp().sum(a, k).log().cast(x.dtype))
def _arg(method, x, axis, keepdims, last):
  if not last: return getattr(x, method)(axis, keepdim=bool(keepdims)).cast(dtypes.int64)
  return (x.shape[axis] - 1 - getattr(x.flip(axis), method)(axis, keepdim=bool(keepdims))).cast(dtypes.int64)
@operator
def ArgMax(x, axis=0, keepdims=1, select_last_index=0): return _arg("argmax", x, axis, keepdims, select_last_index)
@operator
def ArgMin(x, axis=0, keepdims=1, select_last_index=0): return _arg("argmin", x, axis, keepdims, select_last_index)
def _running(x, axis, exclusive, reverse, f, first):
  """f along an axis, from its end if `reverse`; `exclusive` leaves out the element itself."""
  axis = _one(axis) % x.ndim
  y = x.flip(axis) if reverse else x
  if exclusive: y = y.pad(tuple((1, -1) if i == axis else (0, 0) for i in range(x.ndim)), value=first)
  y = f(y, axis).cast(x.dtype)
  return y.flip(axis) if reverse else y
@operator
def CumSum(x, axis, exclusive=0, reverse=0): return _running(x, axis, exclusive, reverse, Tensor.cumsum, 0)
@operator
def CumProd(x, axis, exclusive=0, reverse=0): return _running(x, axis, exclusive, reverse, Tensor.cumprod, 1)
@operator
def TopK(x, k, axis=-1, largest=1, sorted=1):
  best, where = x.topk(_one(k), axis, bool(largest), bool(sorted))
  return best, where.cast(dtypes.int64)

# Movement
@operator
def Reshape(x, shape, allowzero=0): return x.reshape(tuple(s if s or allowzero else x.shape[i] for i, s in enumerate(values(shape))))
@operator
def Flatten(x, axis=1): return x.reshape(prod(x.shape[:axis % x.ndim if axis < 0 else axis]), -1)
@operator
def Expand(x, shape): return x.expand(_broadcast_shape(x.shape, tuple(values(shape))))
@operator
def Transpose(x, perm=None): return x.permute(tuple(perm) if perm is not None else tuple(reversed(range(x.ndim))))
@operator
def Squeeze(x, inputs=None, axes=None):
  gone = {a % x.ndim for a in _axes(inputs if inputs is not None else axes) or [i for i, s in enumerate(x.shape) if s == 1]}
  return x.reshape(tuple(s for i, s in enumerate(x.shape) if i not in gone))
@operator
def Unsqueeze(x, inputs=None, axes=None):
  new = _axes(inputs if inputs is not None else axes) or ()
  count, shape = x.ndim + len(new), iter(x.shape)
  places = {a % count for a in new}
  return x.reshape(tuple(1 if i in places else next(shape) for i in range(count)))
@operator
def Tile(x, repeats): return x.repeat(tuple(values(repeats)))
@operator
def Concat(*xs, axis): return Tensor.cat(*xs, dim=axis)
@operator
def Slice(x, starts=None, ends=None, axes=None, steps=None, **old):
  starts, ends, axes, steps = (values(v if v is not None else old.get(name)) for v, name in ((starts, "starts"), (ends, "ends"), (axes, "axes"), (steps, "steps")))
  where = [slice(None)] * x.ndim
  for i, (a, b) in enumerate(zip(starts, ends)):
    axis = axes[i] if axes else i
    step, n = steps[i] if steps else 1, x.shape[axis]
    if step < 0 and b < -n: b = None
    where[axis] = slice(a, b, step)
  return x[tuple(where)]
@operator
def Split(x, split=None, axis=0, num_outputs=0):
  sizes = values(split)
  return tuple(x.split(sizes if sizes else -(-x.shape[axis] // num_outputs), axis))
@operator
def Pad(x, pads=None, value=None, axes=None, mode="constant", **old):
  widths, over = values(pads if pads is not None else old["pads"]), values(axes) or list(range(x.ndim))
  sides = [(0, 0)] * x.ndim
  for axis, begin, end in zip(over, widths, widths[len(over):]): sides[axis] = (begin, end)
  fill = _one(value) if value is not None else old.get("value", 0)
  if mode == "wrap": return _wrap(x, sides)
  return x.pad(tuple(sides), mode={"edge": "replicate"}.get(mode, mode), value=fill or 0)
def _wrap(x, sides):
  for axis, (begin, end) in enumerate(sides):
    places = Tensor([i % x.shape[axis] for i in range(-begin, x.shape[axis] + end)])
    x = x[tuple([slice(None)] * axis + [places])]
  return x
@operator
def DepthToSpace(x, blocksize, mode="DCR"):
  b, c, h, w = x.shape
  s = blocksize
  y = x.reshape(b, s, s, c // s ** 2, h, w).permute(0, 3, 4, 1, 5, 2) if mode == "DCR" else x.reshape(b, c // s ** 2, s, s, h, w).permute(0, 1, 4, 2, 5, 3)
  return y.reshape(b, c // s ** 2, h * s, w * s)
@operator
def SpaceToDepth(x, blocksize, mode="DCR"):
  b, c, h, w = x.shape
  s = blocksize
  return x.reshape(b, c, h // s, s, w // s, s).permute(*((0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4))).reshape(b, c * s * s, h // s, w // s)
@operator
def Trilu(x, k=0, upper=1): return x.triu(_one(k) if k is not None else 0) if upper else x.tril(_one(k) if k is not None else 0)

# Gathering and scattering
def _positive(index, length): return (index < 0).where(index + length, index)
@operator
def Gather(x, indices, axis=0):
  axis %= x.ndim
  return x[tuple([slice(None)] * axis + [_positive(indices, x.shape[axis])])]
@operator
def GatherElements(x, indices, axis=0): return x.gather(axis, _positive(indices, x.shape[axis]))
@operator
def GatherND(x, indices, batch_dims=0):
  b, depth = batch_dims, indices.shape[-1]
  where = [Tensor.arange(s).reshape(*(-1 if i == k else 1 for k in range(indices.ndim - 1))) for i, s in enumerate(x.shape[:b])]
  return x[tuple(where + [_positive(indices[..., i], x.shape[b + i]) for i in range(depth)])]
@operator
def ScatterElements(x, indices, updates, axis=0, reduction="none"):
  at = _positive(indices, x.shape[axis])
  if reduction == "none": return x.scatter(axis, at, updates)
  return x.scatter_reduce(axis, at, updates, {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}[reduction])
OPERATORS["Scatter"] = OPERATORS["ScatterElements"]
@operator
def ScatterND(x, indices, updates, reduction="none"):
  """Writes or combines rows of x, which are counted over the axes that an index selects."""
  depth = indices.shape[-1]
  strides = [prod(x.shape[i + 1:depth]) for i in range(depth)]
  row = sum(_positive(indices[..., i], x.shape[i]) * s for i, s in enumerate(strides)).reshape(-1, 1)
  inner = prod(x.shape[depth:])
  flat, new = x.reshape(prod(x.shape[:depth]), inner), updates.reshape(-1, inner)
  return ScatterElements(flat, row.expand(new.shape), new, axis=0, reduction=reduction).reshape(x.shape)
@operator
def OneHot(indices, depth, on_off, axis=-1):
  n = int(_one(depth))
  axis %= indices.ndim + 1
  places = Tensor.arange(n).reshape(*(-1 if i == axis else 1 for i in range(indices.ndim + 1)))
  return (_positive(indices, n).unsqueeze(axis) == places).where(on_off[1], on_off[0])
@operator
def NonZero(x): return x.nonzero().transpose(0, 1).cast(dtypes.int64)
@operator
def Compress(x, condition, axis=None):
  x, axis = (x.flatten(), 0) if axis is None else (x, axis % x.ndim)
  chosen = [i for i, c in enumerate(values(condition)) if c]
  return x[tuple([slice(None)] * axis + [Tensor(chosen)])]

# Convolutions and pools
def _padding(pads, kernel, stride, dilation, auto_pad, lengths):
  """ONNX lists all begins, then all ends; a convolution needs (begin, end) of each axis, last axis first."""
  n = len(kernel)
  if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
    total = [max(0, (-(-length // s) - 1) * s + d * (k - 1) + 1 - length) for length, k, s, d in zip(lengths, kernel, stride, dilation)]
    sides = [(t // 2, t - t // 2) if auto_pad == "SAME_UPPER" else (t - t // 2, t // 2) for t in total]
  else: sides = list(zip(pads[:n], pads[n:])) if pads and auto_pad != "VALID" else [(0, 0)] * n
  return tuple(p for side in reversed(sides) for p in side)
def _geometry(x, kernel, pads, strides, dilations, auto_pad):
  n = len(kernel)
  strides, dilations = tuple(strides or (1,) * n), tuple(dilations or (1,) * n)
  return strides, dilations, _padding(pads, kernel, strides, dilations, auto_pad, x.shape[2:])
@operator
def Conv(x, w, b=None, auto_pad="NOTSET", dilations=None, group=1, kernel_shape=None, pads=None, strides=None):
  stride, dilation, padding = _geometry(x, w.shape[2:], pads, strides, dilations, auto_pad)
  return x.conv2d(w, b, groups=group, stride=stride, dilation=dilation, padding=padding)
@operator
def ConvTranspose(x, w, b=None, auto_pad="NOTSET", dilations=None, group=1, kernel_shape=None, output_padding=None, output_shape=None, pads=None, strides=None):
  kernel, n = w.shape[2:], w.ndim - 2
  stride, dilation, more = tuple(strides or (1,) * n), tuple(dilations or (1,) * n), list(output_padding or (0,) * n)
  full = [(length - 1) * s + d * (k - 1) + 1 for length, s, d, k in zip(x.shape[2:], stride, dilation, kernel)]
  if output_shape or auto_pad.startswith("SAME"):
    wanted = output_shape or [length * s for length, s in zip(x.shape[2:], stride)]
    total = [f + m - o for f, m, o in zip(full, more, wanted)]
    sides = [(t // 2, t - t // 2) if auto_pad == "SAME_UPPER" else (t - t // 2, t // 2) for t in total]
  else: sides = list(zip(pads[:n], pads[n:])) if pads else [(0, 0)] * n
  y = x.conv_transpose2d(w, b, groups=group, stride=stride, dilation=dilation, padding=0, output_padding=tuple(more))
  return y.pad(((0, 0), (0, 0), *((-begin, -end) for begin, end in sides)))  # negative padding cuts
@operator
def AveragePool(x, kernel_shape, auto_pad="NOTSET", ceil_mode=0, count_include_pad=0, dilations=None, pads=None, strides=None):
  stride, dilation, padding = _geometry(x, kernel_shape, pads, strides, dilations, auto_pad)
  return x.avg_pool2d(tuple(kernel_shape), stride, dilation, padding, bool(ceil_mode), bool(count_include_pad))
@operator
def MaxPool(x, kernel_shape, auto_pad="NOTSET", ceil_mode=0, dilations=None, pads=None, storage_order=0, strides=None):
  stride, dilation, padding = _geometry(x, kernel_shape, pads, strides, dilations, auto_pad)
  best, where = x.max_pool2d(tuple(kernel_shape), stride, dilation, padding, bool(ceil_mode), return_indices=True)
  return best.cast(x.dtype), (where.transpose(-2, -1) if storage_order else where).cast(dtypes.int64)
@operator
def MaxUnpool(x, where, shape=None, kernel_shape=None, pads=None, strides=None):
  n = len(kernel_shape)
  stride, _, padding = _geometry(x, kernel_shape, pads, strides, None, "NOTSET")
  return x.max_unpool2d(where, tuple(kernel_shape), stride, 1, padding, tuple(values(shape)) if shape is not None else None)

# Linear algebra, normalisation
@operator
def Gemm(a, b, c=None, alpha=1.0, beta=1.0, transA=0, transB=0, broadcast=0):
  y = (a.transpose() if transA else a).matmul(b.transpose() if transB else b)
  y = y * alpha if alpha != 1 else y
  return y if c is None else y + (c * beta if beta != 1 else c)
@operator
def Einsum(*xs, equation): return Tensor.einsum(equation, *xs)
def _channels(x, v): return v.reshape(*(-1 if i == 1 else 1 for i in range(x.ndim)))
@operator
def BatchNormalization(x, scale, bias, mean, var, epsilon=1e-5, momentum=0.9, training_mode=0, spatial=1, is_test=1):
  if not training_mode: return x.batchnorm(scale, bias, mean, (var + epsilon).rsqrt()).cast(x.dtype)
  over = tuple(i for i in range(x.ndim) if i != 1)
  m = x.mean(over)
  v = (x - _channels(x, m)).square().mean(over)
  return x.batchnorm(scale, bias, m, (v + epsilon).rsqrt()), mean * momentum + m * (1 - momentum), var * momentum + v * (1 - momentum)
@operator
def InstanceNormalization(x, scale, bias, epsilon=1e-5): return x.layernorm(tuple(range(2, x.ndim)), epsilon) * _channels(x, scale) + _channels(x, bias)
@operator
def GroupNormalization(x, scale, bias, num_groups, epsilon=1e-5, stash_type=1):
  y = x.reshape(x.shape[0], num_groups, -1).layernorm(-1, epsilon).reshape(x.shape)
  if scale.shape[0] == num_groups != x.shape[1]: scale, bias = (v.repeat_interleave(x.shape[1] // num_groups) for v in (scale, bias))
  return y * _channels(x, scale) + _channels(x, bias)
@operator
def LayerNormalization(x, scale, bias=None, axis=-1, epsilon=1e-5, stash_type=1):
  over = tuple(range(axis % x.ndim, x.ndim))
  mean = x.mean(over, keepdim=True)
  inverse = ((x - mean).square().mean(over, keepdim=True) + epsilon).rsqrt()
  y = (x - mean) * inverse * scale
  return y if bias is None else y + bias, mean, inverse
@operator
def RMSNormalization(x, scale, axis=-1, epsilon=1e-5, stash_type=1): return x * (x.square().mean(tuple(range(axis % x.ndim, x.ndim)), keepdim=True) + epsilon).rsqrt() * scale
@operator
def MeanVarianceNormalization(x, axes=(0, 2, 3)):
  over = tuple(axes)
  return (x - x.mean(over, keepdim=True)) / (x.std(over, keepdim=True, correction=0) + 1e-9)
@operator
def LpNormalization(x, axis=-1, p=2):
  length = x.abs().sum(axis, True) if p == 1 else x.square().sum(axis, True).sqrt()
  return x / (length == 0).where(1, length)
@operator
def LRN(x, size, alpha=1e-4, beta=0.75, bias=1.0):
  padded = x.square().pad(tuple(((size - 1) // 2, size // 2) if i == 1 else (0, 0) for i in range(x.ndim)))
  around = sum(padded[:, i:i + x.shape[1]] for i in range(size))
  return x / (around * (alpha / size) + bias).pow(beta)
@operator
def Dropout(x, ratio=0.5, training_mode=False, seed=None, version=13):
  ratio, training = (_one(v) if isinstance(v, Tensor) else v for v in (0.5 if ratio is None else ratio, training_mode))
  if not training or not ratio: return x, Tensor.ones(*x.shape, dtype=dtypes.bool)
  kept = Tensor.rand(*x.shape) >= ratio
  return kept.where(x / (1 - ratio), 0), kept

# Losses
def _loss(x, target, weight, ignore_index, reduction):
  """-x at the target's class, weighted by the class, reduced over all elements that are not ignored."""
  counts = (target == target).float() if ignore_index is None else (target != ignore_index).float()
  at = target if ignore_index is None else (target == ignore_index).where(0, target)
  w = counts if weight is None else weight[at] * counts
  each = -x.gather(1, at.unsqueeze(1)).squeeze(1) * w
  return each if reduction == "none" else each.sum() if reduction == "sum" else each.sum() / w.sum()
@operator
def NegativeLogLikelihoodLoss(x, target, weight=None, ignore_index=None, reduction="mean"): return _loss(x, target, weight, ignore_index, reduction)
@operator
def SoftmaxCrossEntropyLoss(scores, labels, weights=None, ignore_index=None, reduction="mean"):
  logs = scores.log_softmax(1)
  return _loss(logs, labels, weights, ignore_index, reduction), logs

# Windows of signals
def _window(name, *coefficients):
  def window(size, output_datatype=1, periodic=1, version=17):
    n = int(_one(size))
    turn = Tensor.arange(n) * (2 * math.pi / (n if periodic else n - 1))
    return sum((turn * k).cos() * c for k, c in enumerate(coefficients)).cast(dtype_of(output_datatype))
  OPERATORS[name] = window
_window("HannWindow", 0.5, -0.5)
_window("HammingWindow", 25 / 46, -21 / 46)
_window("BlackmanWindow", 0.42, -0.5, 0.08)
# Branches
@operator
def If(condition, then_branch, else_branch, run):
  answers = tuple(run(then_branch if _one(condition) else else_branch).values())
  return answers[0] if len(answers) == 1 else answers
