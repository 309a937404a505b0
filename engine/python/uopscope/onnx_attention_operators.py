# ONNX's operators of transformers: attention, rotated positions, caches, and what onnxruntime adds in com.microsoft.
#
# Shapes: B batches, N heads, S queries, T keys, H numbers of a head. A query that may attend to no key gives zeros, not NaN.
import math
from tinygrad.dtype import dtypes
from tinygrad.tensor import Tensor
from uopscope.onnx_file import dtype_of
from uopscope.onnx_operators import LayerNormalization
from uopscope.onnx_registry import operator

def _heads(x, count):
  """(B, S, N * H) as (B, N, S, H)."""
  return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(1, 2) if x.ndim == 3 else x
def _joined(x): return x.transpose(1, 2).flatten(2)
def _added(mask, dtype):
  """A mask as what is added to scores: booleans allow, or forbid by -inf."""
  return mask.where(Tensor(0.0, dtype=dtype), Tensor(-math.inf, dtype=dtype)) if mask.dtype == dtypes.bool else mask
def _places(queries, keys, offset):
  """(query, key) positions, both counted from the first key. The queries of a batch begin `offset` keys later."""
  return (Tensor.arange(queries).reshape(-1, 1) + offset), Tensor.arange(keys).reshape(1, -1)
def _softmax_or_zero(scores, bias):
  """Softmax of the last axis; rows of which `bias` forbids all are 0."""
  shares = scores.softmax(-1)
  return shares if bias is None else (bias.max(-1, keepdim=True) == -math.inf).where(0, shares)

@operator
def Attention(q, k, v, mask=None, past_key=None, past_value=None, lengths=None, is_causal=0, kv_num_heads=0, q_num_heads=0, qk_matmul_output_mode=0,
              scale=None, softcap=0.0, softmax_precision=None, left_window_size=-1, right_window_size=-1):
  """(result, present_key, present_value, scores); qk_matmul_output_mode chooses the scores: as they are, capped, with the mask, or as shares."""
  flat, dtype = q.ndim == 3, q.dtype
  q, k, v = _heads(q, q_num_heads), _heads(k, kv_num_heads), _heads(v, kv_num_heads)
  present_key = k if past_key is None else past_key.cat(k, dim=2)
  present_value = v if past_value is None else past_value.cat(v, dim=2)
  repeats, queries, keys = q.shape[1] // k.shape[1], q.shape[2], present_key.shape[2]
  k, v = (x.repeat_interleave(repeats, dim=1) if repeats > 1 else x for x in (present_key, present_value))
  root = math.sqrt(scale if scale is not None else 1 / math.sqrt(q.shape[-1]))
  scores = (q * root) @ (k * root).transpose(-2, -1)
  shown = scores
  if softcap: scores = (scores / softcap).tanh() * softcap
  if qk_matmul_output_mode == 1: shown = scores
  bias = _bias(mask, lengths, queries, keys, 0 if past_key is None else past_key.shape[2], is_causal, left_window_size, right_window_size, scores.dtype)
  if bias is not None: scores = scores + bias
  if qk_matmul_output_mode == 2: shown = scores
  if softmax_precision: scores = scores.cast(dtype_of(softmax_precision))
  shares = _softmax_or_zero(scores, bias).cast(dtype)
  if qk_matmul_output_mode == 3: shown = shares
  result = shares @ v
  return _joined(result) if flat else result, present_key, present_value, shown.cast(dtype)
def _bias(mask, lengths, queries, keys, past, causal, left, right, dtype):
  """All that forbids or shifts scores, as one addend; None where nothing does."""
  parts = []
  if mask is not None:
    if (short := keys - mask.shape[-1]) > 0: # keys beyond the mask are forbidden
      mask = mask.pad((0, short), value=False if mask.dtype == dtypes.bool else -math.inf)
    parts.append(_added(mask, dtype))
  offset = past if lengths is None else (lengths - queries).reshape(-1, 1, 1, 1)
  at, key = _places(queries, keys, offset)
  if causal: parts.append(_added(key <= at, dtype))
  if left >= 0: parts.append(_added(at - key <= left, dtype))
  if right >= 0: parts.append(_added(key - at <= right, dtype))
  if lengths is not None: parts.append(_added(Tensor.arange(keys) < lengths.reshape(-1, 1, 1, 1), dtype))
  return sum(parts[1:], parts[0]) if parts else None

@operator("com.microsoft")
def Attention(x, weights, bias=None, mask_index=None, past=None, attention_bias=None, past_sequence_length=None, num_heads=1, do_rotary=0, mask_filter_value=-10000.0,
              past_present_share_buffer=0, qkv_hidden_sizes=None, rotary_embedding_dim=0, scale=0.0, unidirectional=0):
  """(result, present): the weights make queries, keys and values of x at once."""
  if do_rotary or past_present_share_buffer: raise NotImplementedError("com.microsoft.Attention with do_rotary or a shared buffer is not in uopscope")
  made = x @ weights if bias is None else x @ weights + bias
  q, k, v = (_heads(part, num_heads) for part in made.split(list(qkv_hidden_sizes) if qkv_hidden_sizes else [weights.shape[1] // 3] * 3, dim=-1))
  if past is not None: k, v = past[0].cat(k, dim=2), past[1].cat(v, dim=2)
  batch, queries, keys = x.shape[0], q.shape[2], k.shape[2]
  scores = q @ k.transpose(-2, -1) * (scale or 1 / math.sqrt(q.shape[-1]))
  if attention_bias is not None: scores = scores + attention_bias
  if unidirectional:
    at, key = _places(queries, keys, keys - queries)
    scores = (key <= at).where(scores, mask_filter_value)
  if mask_index is not None: scores = _allowed(mask_index, batch, keys).where(scores, mask_filter_value)
  return _joined(scores.softmax(-1) @ v), Tensor.stack(k, v) if k.shape == v.shape else None
def _allowed(mask, batch, keys):
  """The four forms of mask_index as booleans that suit (B, N, S, T): ends, ends and begins, keys, and queries with keys."""
  if mask.ndim > 1: return mask.bool().reshape(batch, 1, *(mask.shape[1:] if mask.ndim > 2 else (1, keys)))
  if mask.shape[0] not in (batch, 2 * batch): raise NotImplementedError(f"com.microsoft.Attention with a mask_index of {mask.shape} for {batch} sequences is not in uopscope")
  key, end = Tensor.arange(keys), mask[:batch].reshape(-1, 1, 1, 1)
  return key < end if mask.shape[0] == batch else (key < end) & (key >= mask[batch:].reshape(-1, 1, 1, 1))

def _rotated(x, cos, sin, dim, interleaved):
  """x (B, N, S, H) with its first `dim` numbers turned in pairs; cos and sin are (B or 1, S, dim / 2)."""
  dim = dim or x.shape[-1]
  turned, rest = x[..., :dim], x[..., dim:]
  cos, sin = cos.unsqueeze(1)[..., :dim // 2], sin.unsqueeze(1)[..., :dim // 2]
  a, b = (turned[..., ::2], turned[..., 1::2]) if interleaved else turned.chunk(2, dim=-1)
  a, b = a * cos - b * sin, a * sin + b * cos
  turned = Tensor.stack(a, b, dim=-1).flatten(-2) if interleaved else a.cat(b, dim=-1)
  return turned.cat(rest, dim=-1) if rest.shape[-1] else turned
@operator
def RotaryEmbedding(x, cos, sin, positions=None, interleaved=0, num_heads=0, rotary_embedding_dim=0):
  if positions is not None: cos, sin = cos[positions], sin[positions]
  y = _rotated(_heads(x, num_heads), cos, sin, rotary_embedding_dim, interleaved)
  return _joined(y) if x.ndim == 3 else y
@operator("com.microsoft")
def RotaryEmbedding(x, positions, cos, sin, interleaved=0, is_packed_batching=0, num_heads=0, rotary_embedding_dim=0, scale=1.0):
  """Positions are those of each token, or one number: that of the first."""
  width = 2 * cos.shape[-1] if rotary_embedding_dim == 0 else rotary_embedding_dim
  heads = num_heads or (x.shape[-1] // width if x.ndim == 3 else 0)
  y = _heads(x, heads)
  at = positions if positions.ndim > 1 else (positions + Tensor.arange(y.shape[2])).unsqueeze(0)
  y = _rotated(y, cos[at], sin[at], rotary_embedding_dim, interleaved)
  return _joined(y) if x.ndim == 3 else y

@operator
def TensorScatter(cache, update, starts=None, axis=-2, mode="linear"):
  """The cache with the update written from `starts` on, which each batch has by itself; `circular` goes on at the begin."""
  axis %= cache.ndim
  length, new = cache.shape[axis], update.shape[axis]
  place = Tensor.arange(length).reshape(1, -1) - (0 if starts is None else starts.reshape(-1, 1))
  if mode == "circular": place = place % length
  shape = [-1 if i == axis else 1 for i in range(cache.ndim)]
  shape[0] = place.shape[0]
  source = place.clip(0, new - 1).reshape(shape).expand(cache.shape)
  return ((place >= 0) & (place < new)).reshape(shape).where(update.gather(axis, source), cache)
@operator
def CausalConvWithState(x, weight, bias=None, past=None, activation="none"):
  """(result, the last positions): each channel (B, C, L) with a filter of its own (C, 1, k) over this and earlier positions."""
  k = weight.shape[-1]
  whole = x.pad(((0, 0), (0, 0), (k - 1, 0))) if past is None else past.cat(x, dim=2)
  y = whole.conv2d(weight, bias, groups=x.shape[1])
  return y.silu() if activation in ("silu", "swish") else y, whole[:, :, whole.shape[2] - (k - 1):]

@operator("com.microsoft")
def BiasGelu(a, b):
  x = a + b
  return x * ((x * 0.5 ** 0.5).erf() + 1) * 0.5
@operator("com.microsoft")
def FastGelu(x, bias=None): return (x if bias is None else x + bias).gelu()
@operator("com.microsoft")
def SkipLayerNormalization(x, skip, gamma, beta=None, bias=None, epsilon=1e-12):
  whole = x + skip if bias is None else x + skip + bias
  return (*LayerNormalization(whole, gamma, beta, epsilon=epsilon), whole)
@operator("com.microsoft")
def EmbedLayerNormalization(ids, segments, words, positions, segment_words=None, gamma=None, beta=None, mask=None, position_ids=None, epsilon=1e-12, mask_index_type=0):
  """(result, the number of tokens that the mask allows, the sum of the embeddings)."""
  at = position_ids if position_ids is not None else Tensor.arange(ids.shape[1]).unsqueeze(0).expand(ids.shape)
  whole = words[ids] + positions[at]
  if segments is not None: whole = whole + segment_words[segments]
  count = Tensor.zeros(ids.shape[0], dtype=dtypes.int32) if mask is None else mask.sum(1).cast(dtypes.int32)
  return LayerNormalization(whole, gamma, beta, epsilon=epsilon)[0], count, whole
