# Methods of Tensor that are made of other methods: names that begin with an underscore, which programs use all the same, and
# its display. The class calls them by the names of kForwarded (engine/python/bind_tensor_more.cpp).
#
#   Tensor([1., 2.])._cumalu(0, Ops.ADD)          # 1, 3
from tinygrad import Tensor, dtypes
from tinygrad.uop import Ops
from uopscope.notebook import tensor_html as repr_html

def cumalu(self, axis, op, _include_initial=False):
  """What `op` (ADD, MAX, MUL) makes of everything up to each element; with _include_initial of everything before it."""
  reduces = {Ops.ADD: Tensor.sum, Ops.MAX: Tensor.max, Ops.MUL: Tensor.prod}
  count = self.shape[axis]
  assert count != 0 and op in reduces, f"{op} of an axis of {count}: ADD, MAX and MUL of at least one element can be accumulated"
  identity = {Ops.ADD: 0, Ops.MAX: dtypes.min(self.dtype), Ops.MUL: 1}[op]
  padded = self.transpose(axis, -1).pad((count - (not _include_initial), -int(_include_initial)), value=identity)
  return reduces[op](padded._pool((count,)), -1).transpose(axis, -1)

def threefry_random_bits(key, counts0, counts1):
  """The random words of a key of two words and of counters: those of the low halves, then those of the high halves."""
  def joined(low, high): return high.cast(dtypes.uint64).lshift(32).bitwise_or(low.cast(dtypes.uint64))
  bits = joined(counts0, counts1).threefry(joined(key[0], key[1])._broadcast_to(counts0.shape))
  return bits.bitwise_and(0xffffffff).cast(dtypes.uint32).cat(bits.rshift(32).bitwise_and(0xffffffff).cast(dtypes.uint32))
