# ONNX's operators on images: resizing, cutting, grids of places, and pictures in their file formats.
#
# A Resize is a product with a matrix of weights for each axis. The lengths of align_corners are those of the result, as
# onnxruntime counts them.
import io, math
from tinygrad.dtype import dtypes
from tinygrad.helpers import prod
from tinygrad.tensor import Tensor
from uopscope.onnx_registry import operator, values

@operator
def Resize(x, roi=None, scales=None, sizes=None, antialias=0, axes=None, coordinate_transformation_mode="half_pixel", cubic_coeff_a=-0.75, exclude_outside=0,
           extrapolation_value=0.0, keep_aspect_ratio_policy="stretch", mode="nearest", nearest_mode="round_prefer_floor"):
  if antialias or coordinate_transformation_mode == "tf_crop_and_resize": raise NotImplementedError("Resize with antialias or a region is not in uopscope")
  over = list(axes) if axes is not None else list(range(x.ndim))
  factors = values(scales)
  wanted = values(sizes) if sizes is not None else [math.floor(x.shape[a] * f) for a, f in zip(over, factors)]
  if sizes is not None and keep_aspect_ratio_policy != "stretch":
    f = (min if keep_aspect_ratio_policy == "not_larger" else max)(w / x.shape[a] for a, w in zip(over, wanted))
    factors, wanted = [f] * len(over), [int(x.shape[a] * f + 0.5) for a in over]
  elif sizes is not None: factors = [w / x.shape[a] for a, w in zip(over, wanted)]
  for axis, n, f in zip(over, wanted, factors):
    if n == x.shape[axis] and f == 1: continue
    x = _resampled(x, axis, [_place(i, x.shape[axis], n, f, coordinate_transformation_mode) for i in range(n)], mode, nearest_mode, cubic_coeff_a, exclude_outside)
  return x
def _place(i, length, n, f, transform):
  """The position in the input of the i-th element of the output."""
  if transform == "align_corners": return i * (length - 1) / (n - 1) if n > 1 else 0.0
  if transform == "asymmetric": return i / f
  if transform == "pytorch_half_pixel" and n == 1: return 0.0
  if transform == "half_pixel_symmetric":
    return length / 2 * (1 - n / (length * f)) + (i + 0.5) / f - 0.5
  return (i + 0.5) / f - 0.5
def _resampled(x, axis, places, mode, nearest, a, exclude):
  """Each element of the output as a weighted sum of elements of the input, by a matrix product."""
  length = x.shape[axis]
  def cubic(t):
    t = abs(t)
    return (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1 if t <= 1 else a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0.0
  def row(p):
    weights = [0.0] * length
    if mode == "nearest":
      at = {"floor": math.floor(p), "ceil": math.ceil(p), "round_prefer_ceil": math.floor(p + 0.5), "round_prefer_floor": math.ceil(p - 0.5)}[nearest]
      weights[min(max(at, 0), length - 1)] = 1.0
      return weights
    first = math.floor(p)
    taps = {first + k: (1 - abs(p - first - k) if mode == "linear" else cubic(p - first - k)) for k in ((0, 1) if mode == "linear" else (-1, 0, 1, 2))}
    if exclude:
      taps = {k: w for k, w in taps.items() if 0 <= k < length}
      total = sum(taps.values())
      taps = {k: w / total for k, w in taps.items()}
    for k, w in taps.items(): weights[min(max(k, 0), length - 1)] += w
    return weights
  if mode == "nearest":
    places = Tensor([row(p).index(1.0) for p in places], dtype=dtypes.int32)
    return x[tuple([slice(None)] * axis + [places])]
  matrix = Tensor([w for p in places for w in row(p)], dtype=x.dtype).reshape(len(places), length)
  return x.transpose(axis, -1).linear(matrix.transpose()).transpose(axis, -1)
@operator
def Upsample(x, scales, mode="nearest"): return Resize(x, None, scales, mode=mode, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
@operator
def CenterCropPad(x, shape, axes=None):
  wanted = dict(zip((a % x.ndim for a in (axes if axes is not None else range(x.ndim))), values(shape)))
  def side(axis):
    more = wanted.get(axis, x.shape[axis]) - x.shape[axis]
    return (more // 2, more - more // 2) if more >= 0 else (-(-more // 2), more + (-more // 2))
  return x.pad(tuple(side(axis % x.ndim) for axis in range(x.ndim)))
@operator
def AffineGrid(theta, size, align_corners=0):
  lengths = values(size)[2:]
  def steps(n): return Tensor.linspace(-1, 1, n) if align_corners else (Tensor.arange(n) * 2 + 1) / n - 1
  axes = Tensor.meshgrid(*map(steps, lengths), indexing="ij")
  places = Tensor.stack(*reversed([a.flatten() for a in axes]), Tensor.ones(prod(lengths)), dim=-1)
  return (places @ theta.transpose(1, 2)).reshape(theta.shape[0], *lengths, -1)
@operator
def ImageDecoder(stream, pixel_format="RGB"):
  """The pixels of a picture, (height, width, channels); Pillow reads its format."""
  try: from PIL import Image
  except ImportError: raise NotImplementedError("ImageDecoder reads pictures by the Python package Pillow, which is not installed") from None
  picture = Image.open(io.BytesIO(stream.data().tobytes())).convert("L" if pixel_format == "Grayscale" else "RGB")
  pixels = Tensor(picture.tobytes(), dtype=dtypes.uint8).reshape(picture.height, picture.width, -1)
  return pixels.flip(-1) if pixel_format == "BGR" else pixels
