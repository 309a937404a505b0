# Layers. Each holds its parameters as tensors; a call applies the tensor operation that uses them.
#
#   model = nn.Linear(4, 2)
#   y = model(Tensor.rand(3, 4))                  # (3, 2)
#   nn.state.get_state_dict(model).keys()         # weight, bias
#
# Parameters are attributes; nn.state finds them by name, nn.optim trains them. There are three families: products (Linear,
# convolutions), normalisations, and layers with tables or memory (Embedding, LSTMCell).
from tinygrad.tensor import Tensor
from tinygrad.dtype import dtypes
from tinygrad.helpers import make_tuple, prod
from tinygrad.nn import optim, state, datasets
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

def _within(fan_in, *shape):
  """A parameter drawn uniformly from the values within 1/sqrt(fan_in)."""
  bound = fan_in ** -0.5
  return Tensor.uniform(*shape, low=-bound, high=bound)

# Multiplication

class Linear:
  """x @ weight.T + bias, weight (out_features, in_features)."""
  def __init__(self, in_features, out_features, bias=True):
    self.weight = _within(in_features, out_features, in_features)
    self.bias = _within(in_features, out_features) if bias else None
  def __call__(self, x): return x.linear(weight=self.weight.T, bias=self.bias)

def _same_padding(kernel, stride, dilation):
  """Padding with zeros on both sides of each axis, last axis first, that keeps its length; an odd zero goes behind."""
  if stride != 1: raise ValueError("padding='same' keeps lengths, which strided convolutions do not")
  sides = []
  for k, d in zip(reversed(kernel), make_tuple(dilation, len(kernel))):
    sides += divmod(d * (k - 1), 2)
    sides[-1] += sides[-2]
  return tuple(sides)

class Conv2d:
  """Convolution over the axes after (batch, channels); the kernel's length is their number. padding="same" keeps their sizes."""
  def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
    kernel = make_tuple(kernel_size, 2)
    if isinstance(padding, str):
      if padding.lower() != "same": raise ValueError(f"padding is a number, a tuple or 'same', not {padding!r}")
      padding = _same_padding(kernel, stride, dilation)
    self.kernel_size = kernel
    self.weight = _within(in_channels * prod(kernel), out_channels, in_channels // groups, *kernel)
    self.bias = _within(in_channels * prod(kernel), out_channels) if bias else None
    self.groups, self.stride, self.dilation, self.padding = groups, stride, dilation, padding
  def __call__(self, x): return x.conv2d(self.weight, self.bias, groups=self.groups, stride=self.stride, dilation=self.dilation, padding=self.padding)

class ConvTranspose2d(Conv2d):
  """The gradient of a convolution, as a layer; weight (in_channels, out_channels / groups, ...)."""
  def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1, bias=True):
    Conv2d.__init__(self, in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, groups=groups, bias=bias)
    # Drawn a second time, so that a seed gives the same numbers as the reference, its checkpoints and tutorials.
    self.weight = _within(in_channels * prod(self.kernel_size), in_channels, out_channels // groups, *self.kernel_size)
    self.output_padding = output_padding
  def __call__(self, x):
    return x.conv_transpose2d(self.weight, self.bias, groups=self.groups, stride=self.stride, dilation=self.dilation, padding=self.padding, output_padding=self.output_padding)

def Conv1d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
  """Conv2d over one axis."""
  return Conv2d(in_channels, out_channels, kernel_size=(kernel_size,), stride=stride, padding=padding, dilation=dilation, groups=groups, bias=bias)
def ConvTranspose1d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1, bias=True):
  """ConvTranspose2d over one axis."""
  over = dict(stride=stride, padding=padding, output_padding=output_padding, dilation=dilation)
  return ConvTranspose2d(in_channels, out_channels, kernel_size=(kernel_size,), groups=groups, bias=bias, **over)

# Normalisation

def _along_channels(x, values):
  """One value per channel (axis 1), in a shape that broadcasts with x."""
  return values.reshape(*(-1 if axis == 1 else 1 for axis in range(x.ndim)))

class _Normalised:
  """`weight` and `bias` of `shape`, which scale and shift normalised values; none without `affine`."""
  def __init__(self, shape, eps, affine):
    self.eps = eps
    self.weight = Tensor.ones(*shape) if affine else None
    self.bias = Tensor.zeros(*shape) if affine else None

class BatchNorm(_Normalised):
  """Normalises each channel (axis 1) over batch and space: in training with the batch's statistics, else with running ones."""
  def __init__(self, sz, eps=1e-5, affine=True, track_running_stats=True, momentum=0.1):
    super().__init__((sz,), eps, affine)
    self.momentum, self.track_running_stats = momentum, track_running_stats
    self.num_batches_tracked = Tensor.zeros(dtype=dtypes.int64, requires_grad=False)
    if not track_running_stats: return
    self.running_mean = Tensor.zeros(sz, requires_grad=False)
    self.running_var = Tensor.ones(sz, requires_grad=False)
  def calc_stats(self, x):
    """The mean and the variance that normalise x."""
    if not Tensor.training and self.track_running_stats: return self.running_mean, _along_channels(x, self.running_var).expand(x.shape)
    over = [axis for axis in range(x.ndim) if axis != 1]
    mean = x.mean(over)
    # The variance does not depend on the mean, so the mean needs no derivative here.
    return mean, (x - _along_channels(x, mean.detach())).square().mean(over)
  def _track(self, x, mean, var):
    """Updates the running statistics by a part of the batch's; the variance is that of a sample."""
    samples = x.numel() // x.shape[1]
    for running, now in ((self.running_mean, mean.detach()), (self.running_var, var.detach() * (samples / (samples - 1)))):
      running.assign(running * (1 - self.momentum) + now * self.momentum)
    self.num_batches_tracked.assign(self.num_batches_tracked + 1)
  def __call__(self, x):
    mean, var = self.calc_stats(x)
    if Tensor.training and self.track_running_stats: self._track(x, mean, var)
    return x.batchnorm(self.weight, self.bias, mean, invstd=(var + self.eps).rsqrt())
BatchNorm2d, BatchNorm3d = BatchNorm, BatchNorm

class GroupNorm(_Normalised):
  """Normalises every group of channels of every sample."""
  def __init__(self, num_groups, num_channels, eps=1e-5, affine=True):
    super().__init__((num_channels,), eps, affine)
    self.num_channels, self.num_groups = num_channels, num_groups
  def __call__(self, x):
    grouped = x.reshape(x.shape[0], self.num_groups, -1)
    y = grouped.layernorm(-1, self.eps).reshape(x.shape)
    if self.weight is not None: y = y * _along_channels(x, self.weight)
    return y if self.bias is None else y + _along_channels(x, self.bias)

class InstanceNorm(GroupNorm):
  """Normalises every channel of every sample."""
  def __init__(self, num_features, eps=1e-5, affine=True):
    GroupNorm.__init__(self, num_features, num_features, eps=eps, affine=affine)
    self.num_features = num_features

class LayerNorm(_Normalised):
  """Normalises over the last axes."""
  def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True):
    self.normalized_shape = make_tuple(normalized_shape, 1)
    super().__init__(self.normalized_shape, eps, elementwise_affine)
    self.axis = tuple(range(-1, -1 - len(self.normalized_shape), -1))
  def __call__(self, x):
    last = x.shape[x.ndim - len(self.axis):]
    assert last == self.normalized_shape, f"this layer normalises axes of {self.normalized_shape}, the last of {x.shape} are {last}"
    y = x.layernorm(self.axis, self.eps)
    if self.weight is not None: y = y * self.weight
    return y if self.bias is None else y + self.bias

class LayerNorm2d(LayerNorm):
  """Normalises over the channels of (batch, channels, height, width)."""
  def __call__(self, x):
    channels_last = x.permute(0, 2, 3, 1)
    return LayerNorm.__call__(self, channels_last).permute(0, 3, 1, 2)

class RMSNorm:
  """Divides by the root of the mean square of the last axis, computed in float32."""
  def __init__(self, dim, eps=1e-6, elementwise_affine=True):
    self.weight = Tensor.ones(dim) if elementwise_affine else None
    self.eps = eps
  def _norm(self, x):
    mean_square = x.square().mean(-1, keepdim=True)
    return x * (mean_square + self.eps).rsqrt()
  def __call__(self, x):
    y = self._norm(x.float()).cast(x.dtype)
    return y if self.weight is None else y * self.weight

# Tables and memories

class Embedding:
  """Rows of a table by number; a number outside the table gives zeros."""
  def __init__(self, vocab_size, embed_size):
    self.vocab_sz, self.embed_sz = vocab_size, embed_size
    self.weight = Tensor.glorot_uniform(vocab_size, embed_size)
  def __call__(self, idx):
    if not dtypes.is_int(idx.dtype): raise TypeError(f"rows of an embedding are chosen by integers, not by {idx.dtype}")
    rows = Tensor.arange(self.vocab_sz, requires_grad=False, device=self.weight.device).reshape(-1, 1)
    chosen = idx.reshape(*idx.shape, 1, 1) == rows
    return chosen.where(self.weight, 0).sum(axis=-2, dtype=self.weight.dtype)

class LSTMCell:
  """One step of a long short-term memory; (h, c) in, (h, c) out."""
  def __init__(self, input_size, hidden_size, bias=True):
    gates = 4 * hidden_size
    self.weight_ih, self.weight_hh = _within(hidden_size, gates, input_size), _within(hidden_size, gates, hidden_size)
    self.bias_ih, self.bias_hh = (Tensor.zeros(gates), Tensor.zeros(gates)) if bias else (None, None)
  def __call__(self, x, hc=None):
    nothing = Tensor.zeros(x.shape[0], self.weight_hh.shape[1], dtype=x.dtype, device=x.device)
    h, c = (nothing, nothing) if hc is None else hc
    gates = x.linear(self.weight_ih.T, self.bias_ih) + h.linear(self.weight_hh.T, self.bias_hh)
    take, forget, new, show = gates.chunk(4, dim=1)
    c = forget.sigmoid() * c + take.sigmoid() * new.tanh()
    return (show.sigmoid() * c.tanh()).contiguous(), c.contiguous()
