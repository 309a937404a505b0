# Layers: each holds its parameters as tensors and, called, applies the tensor operation that uses them.
#
#   model = nn.Linear(4, 2)
#   y = model(Tensor.rand(3, 4))                  # (3, 2)
#   nn.state.get_state_dict(model).keys()         # weight, bias
#
# Parameters are the attributes; nn.state finds them by name, nn.optim trains them.
import math
from tinygrad.tensor import Tensor
from tinygrad.dtype import dtypes
from tinygrad.helpers import make_tuple, prod
from tinygrad.nn import optim, state, datasets

def _uniform(fan_in, *shapes):
  """One tensor per shape, uniform within 1/sqrt(fan_in); None stays None."""
  bound = 1 / math.sqrt(fan_in)
  return [None if shape is None else Tensor.uniform(*shape, low=-bound, high=bound) for shape in shapes]

def _scale_and_shift(affine, *shape): return (Tensor.ones(*shape), Tensor.zeros(*shape)) if affine else (None, None)

class Linear:
  """x @ weight.T + bias, weight (out_features, in_features)."""
  def __init__(self, in_features, out_features, bias=True):
    self.weight, self.bias = _uniform(in_features, (out_features, in_features), (out_features,) if bias else None)
  def __call__(self, x): return x.linear(self.weight.transpose(), self.bias)

class Conv2d:
  """Convolution over the axes after (batch, channels); the kernel's length says how many. padding="same" keeps their sizes."""
  def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
    self.kernel_size = make_tuple(kernel_size, 2)
    self.stride, self.dilation, self.groups = stride, dilation, groups
    self.padding = self._same(padding) if isinstance(padding, str) else padding
    self.weight, self.bias = _uniform(in_channels * prod(self.kernel_size), self._weight_shape(in_channels, out_channels), (out_channels,) if bias else None)
  def _weight_shape(self, in_channels, out_channels): return (out_channels, in_channels // self.groups, *self.kernel_size)
  def _same(self, padding):
    if padding.lower() != "same": raise ValueError(f"Invalid padding string {padding!r}, only 'same' is supported")
    if self.stride != 1: raise ValueError("padding='same' is not supported for strided convolutions")
    missing = [d * (k - 1) for d, k in zip(make_tuple(self.dilation, len(self.kernel_size)), self.kernel_size[::-1])]
    return tuple(part for m in missing for part in (m // 2, m - m // 2))
  def __call__(self, x): return x.conv2d(self.weight, self.bias, self.groups, self.stride, self.dilation, self.padding)

def Conv1d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
  return Conv2d(in_channels, out_channels, (kernel_size,), stride, padding, dilation, groups, bias)

class ConvTranspose2d(Conv2d):
  """The gradient of a convolution as a layer of its own; weight (in_channels, out_channels / groups, ...)."""
  def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1, bias=True):
    super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias)
    # drawn a second time: a seed then gives the numbers that checkpoints and tutorials of the reference show
    self.weight, = _uniform(in_channels * prod(self.kernel_size), (in_channels, out_channels // groups, *self.kernel_size))
    self.output_padding = output_padding
  def __call__(self, x): return x.conv_transpose2d(self.weight, self.bias, self.groups, self.stride, self.dilation, self.padding, self.output_padding)

def ConvTranspose1d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1, bias=True):
  return ConvTranspose2d(in_channels, out_channels, (kernel_size,), stride, padding, output_padding, dilation, groups, bias)

class BatchNorm:
  """Normalises each channel (axis 1) over batch and space; in training by the batch, else by the running statistics."""
  def __init__(self, sz, eps=1e-5, affine=True, track_running_stats=True, momentum=0.1):
    self.eps, self.track_running_stats, self.momentum = eps, track_running_stats, momentum
    self.weight, self.bias = _scale_and_shift(affine, sz)
    self.num_batches_tracked = Tensor.zeros(dtype=dtypes.long, requires_grad=False)
    if track_running_stats: self.running_mean, self.running_var = Tensor.zeros(sz, requires_grad=False), Tensor.ones(sz, requires_grad=False)
  def calc_stats(self, x):
    per_channel = [1, -1] + [1] * (x.ndim - 2)
    if self.track_running_stats and not Tensor.training: return self.running_mean, self.running_var.reshape(per_channel).expand(x.shape)
    others = tuple(axis for axis in range(x.ndim) if axis != 1)
    mean = x.mean(axis=others)
    centred = x - mean.detach().reshape(per_channel)  # the variance does not change with the mean: nothing to differentiate
    return mean, centred.square().mean(axis=others)
  def _track(self, x, mean, var):
    unbiased = x.numel() / (x.numel() - x.shape[1])
    self.running_mean.assign((1 - self.momentum) * self.running_mean + self.momentum * mean.detach())
    self.running_var.assign((1 - self.momentum) * self.running_var + self.momentum * unbiased * var.detach())
    self.num_batches_tracked += 1
  def __call__(self, x):
    mean, var = self.calc_stats(x)
    if self.track_running_stats and Tensor.training: self._track(x, mean, var)
    return x.batchnorm(self.weight, self.bias, mean, var.add(self.eps).rsqrt())
BatchNorm2d = BatchNorm3d = BatchNorm

class GroupNorm:
  """Normalises every group of channels of every sample."""
  def __init__(self, num_groups, num_channels, eps=1e-5, affine=True):
    self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
    self.weight, self.bias = _scale_and_shift(affine, num_channels)
  def __call__(self, x):
    x = x.reshape(x.shape[0], self.num_groups, -1).layernorm(eps=self.eps).reshape(x.shape)
    if self.weight is None or self.bias is None: return x
    per_channel = [1, -1] + [1] * (x.ndim - 2)
    return x * self.weight.reshape(per_channel) + self.bias.reshape(per_channel)

class InstanceNorm(GroupNorm):
  """Normalises every channel of every sample."""
  def __init__(self, num_features, eps=1e-5, affine=True):
    super().__init__(num_features, num_features, eps, affine)
    self.num_features = num_features

class LayerNorm:
  """Normalises over the last axes."""
  def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True):
    self.normalized_shape = make_tuple(normalized_shape, 1)
    self.axis, self.eps = tuple(-1 - i for i in range(len(self.normalized_shape))), eps
    self.weight, self.bias = _scale_and_shift(elementwise_affine, *self.normalized_shape)
  def __call__(self, x):
    assert self.normalized_shape == x.shape[-len(self.normalized_shape):], f"last dimensions of {x.shape} must match {self.normalized_shape}"
    x = x.layernorm(eps=self.eps, axis=self.axis)
    return x if self.weight is None or self.bias is None else x * self.weight + self.bias

class LayerNorm2d(LayerNorm):
  """Normalises over the channels of (batch, channels, height, width)."""
  def __call__(self, x): return super().__call__(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

class RMSNorm:
  """Divides by the root of the mean square of the last axis, computed in float32."""
  def __init__(self, dim, eps=1e-6, elementwise_affine=True):
    self.eps, self.weight = eps, Tensor.ones(dim) if elementwise_affine else None
  def _norm(self, x): return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt()
  def __call__(self, x):
    y = self._norm(x.float()).cast(x.dtype)
    return y if self.weight is None else y * self.weight

class Embedding:
  """Rows of a table by number; a number outside the table gives zeros."""
  def __init__(self, vocab_size, embed_size):
    self.vocab_sz, self.embed_sz, self.weight = vocab_size, embed_size, Tensor.glorot_uniform(vocab_size, embed_size)
  def __call__(self, idx):
    if not dtypes.is_int(idx.dtype): raise TypeError(f"Expected integer dtype for index in embedding, got {idx.dtype}")
    if not hasattr(self, "arange"): self.arange = Tensor.arange(self.vocab_sz, requires_grad=False, device=self.weight.device).unsqueeze(-1)
    chosen = idx.unsqueeze(-1).unsqueeze(-1) == self.arange
    return chosen.where(self.weight, 0).sum(-2, dtype=self.weight.dtype)

class LSTMCell:
  """One step of a long short-term memory; (h, c) in, (h, c) out."""
  def __init__(self, input_size, hidden_size, bias=True):
    self.weight_ih, self.weight_hh = _uniform(hidden_size, (hidden_size * 4, input_size), (hidden_size * 4, hidden_size))
    self.bias_ih, self.bias_hh = (Tensor.zeros(hidden_size * 4), Tensor.zeros(hidden_size * 4)) if bias else (None, None)
  def __call__(self, x, hc=None):
    h, c = hc if hc is not None else (Tensor.zeros(x.shape[0], self.weight_hh.shape[1], dtype=x.dtype, device=x.device),) * 2
    gates = x.linear(self.weight_ih.T, self.bias_ih) + h.linear(self.weight_hh.T, self.bias_hh)
    take, forget, new, show = gates.chunk(4, dim=1)
    c = forget.sigmoid() * c + take.sigmoid() * new.tanh()
    return (show.sigmoid() * c.tanh()).contiguous(), c.contiguous()
