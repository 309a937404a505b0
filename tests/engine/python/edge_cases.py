# The table of edge values: every function of a tensor, the same function in PyTorch or NumPy, and the special values of each type.
# test_edges.py evaluates the left sides and record_edges.py the right ones. A line contains no expected value: those are recorded.
#
#   x.sigmoid() | torch.sigmoid(x)      one function, value and gradient, of every type
#   x.trunc()                           the same text on both sides
#   f(x) | g(x) | 2e-7                  right up to this absolute error
#
# Within a section the arguments are the same: `x`, `y`, `z` of one shape. In the axis section `x` is a matrix whose rows are the cases.
import itertools, math
inf, nan = math.inf, math.nan

# Exact except for the sign of a zero and the last places; NaN and infinities follow IEEE 754.
EXACT = r"""
[one]
x.neg() | -x
x.abs()
x.sign()
x.trunc()
x.floor()
x.ceil()
x.round()
x.square() | x*x
x.sqrt()
x.rsqrt()
x.reciprocal() | 1/x
x.relu() | F.relu(x)
x.isnan()
x.isinf()
x.isfinite()
x.logical_not()
x.clamp(-1.5, 2) | torch.clamp(x, -1.5, 2) | float
x.clamp(min_=0) | torch.clamp(x, min=0)
x.clamp(max_=1) | torch.clamp(x, max=1)
x.hardtanh() | F.hardtanh(x) | float
x.leaky_relu() | F.leaky_relu(x) | float
x.relu6() | F.relu6(x) | float
x * 0 | x*0
x * 1 | x*1
x + 0 | x+0
x - x
x * -1
x / 2 | x/2
x != x
x == x
x < x
x <= x
(x > 0).where(x, 0) | torch.where(x > 0, x, torch.zeros_like(x))
(x == 0).where(1, x) | torch.where(x == 0, torch.ones_like(x), x)
x.masked_fill(x < 0, 3) | x.masked_fill(x < 0, 3)
x.exp2() | torch.exp2(x)
x.exp()
x.log()
x.log2()
x.log10()
x.sin() | torch.sin(x)
x.cos() | torch.cos(x)
[two]
x + y
x - y
x * y
x / y
x.maximum(y) | torch.maximum(x, y)
x.minimum(y) | torch.minimum(x, y)
x < y
x <= y
x == y
x != y
x > y
x >= y
x.copysign(y) | torch.copysign(x, y) | float
x.isclose(y) | torch.isclose(x, y) | float
x.isclose(y, equal_nan=True) | torch.isclose(x, y, equal_nan=True) | float
x.pow(y) | torch.pow(x, y) | float
x % y | torch.remainder(x, y) | float
x // y | torch.floor(x / y).detach() | float
x.div(y, rounding_mode="trunc") | torch.div(x, y, rounding_mode="trunc") | float
(x < y).where(x, y) | torch.where(x < y, x, y)
x.masked_fill(y > 0, -1) | x.masked_fill(y > 0, -1) | float
[three]
(x > 0).where(y, z) | torch.where(x > 0, y, z)
x.lerp(y, z) | x + (y-x)*z | float
x.clamp(y, z) | torch.clamp(x, y, z)
x * y + z
[axis]
x.max(1) | x.amax(1)
x.min(1) | x.amin(1)
x.sum(1) | x.sum(1)
x.any(1) | (x != 0).any(1)
x.all(1) | (x != 0).all(1)
x.argmax(1) | x.argmax(1)
x.argmin(1) | x.argmin(1)
x.sort(1) | x.sort(dim=1, stable=True)
x.sort(1, descending=True) | x.sort(dim=1, stable=True, descending=True)
x.argsort(1) | x.sort(dim=1, stable=True)[1]
x.topk(2, 1) | first(x.sort(dim=1, stable=True, descending=True), 2)
x.topk(3, 1, largest=False) | first(x.sort(dim=1, stable=True), 3)
x.cummax(1) | running_max(x)
x.cummin(1) | running_min(x)
x.cumsum(1)
x.cumprod(1)
x.prod(1)
[image]
x.max_pool2d((2,2), stride=1, return_indices=True) | F.max_pool2d(x, 2, 1, return_indices=True) | float
x.max_pool2d((3,3), stride=2, padding=1, return_indices=True) | F.max_pool2d(x, 3, 2, 1, return_indices=True) | float
x.max_pool2d((2,2), stride=2, dilation=2, return_indices=True) | F.max_pool2d(x, 2, 2, 0, 2, return_indices=True) | float
x.max_pool2d((2,2), stride=1) | F.max_pool2d(x, 2, 1) | float
x.avg_pool2d((2,2), stride=1) | F.avg_pool2d(x, 2, 1) | float
x.avg_pool2d((3,3), stride=2, padding=1, count_include_pad=False) | F.avg_pool2d(x, 3, 2, 1, count_include_pad=False) | float
"""

# Compositions: exact up to the error of their series; near zero that error is absolute.
COMPOSED = r"""
[one]
x.tan() | torch.tan(x)
x.sigmoid()
x.tanh()
x.gelu() | F.gelu(x, approximate="tanh")
x.quick_gelu() | x * torch.sigmoid(1.702*x)
x.silu() | F.silu(x)
x.elu() | F.elu(x)
x.elu(0.7) | F.elu(x, 0.7)
x.celu(0.7) | F.celu(x, 0.7)
x.selu() | F.selu(x)
x.softplus() | F.softplus(x)
x.softplus(2.0) | F.softplus(x, 2.0)
x.mish() | F.mish(x)
x.softsign() | F.softsign(x)
x.logsigmoid() | F.logsigmoid(x)
x.hardsigmoid() | F.hardsigmoid(x)
x.hardswish() | F.hardswish(x)
x.asin()
x.acos()
x.atan()
x.sinh()
x.cosh()
x.asinh()
x.acosh()
x.atanh()
x.erf() | torch.erf(x)
[two]
x.logaddexp(y) | torch.logaddexp(x, y)
x.sigmoid().binary_crossentropy((y > 0).cast(x.dtype), reduction="none") | -torch.where(y > 0, torch.log(torch.sigmoid(x)).clamp(min=-100), torch.log(1 - torch.sigmoid(x)).clamp(min=-100))
x.binary_crossentropy_logits((y > 0).cast(x.dtype), reduction="none") | F.binary_cross_entropy_with_logits(x, (y > 0).to(x.dtype), reduction="none")
[axis]
x.mean(1)
x.var(1)
x.std(1)
x.softmax(1)
x.log_softmax(1)
x.logsumexp(1)
x.logcumsumexp(1)
x.layernorm() | F.layer_norm(x, x.shape[1:])
x.cross_entropy(Tensor([1, 0, 3] * 40)[:x.shape[0]]) | F.cross_entropy(x, torch.tensor([1, 0, 3] * 40)[:x.shape[0]])
x.cross_entropy(Tensor([1, 0, 3] * 40)[:x.shape[0]], reduction="none") | F.cross_entropy(x, torch.tensor([1, 0, 3] * 40)[:x.shape[0]], reduction="none")
x.sparse_categorical_crossentropy(Tensor([1, 0, 3] * 40)[:x.shape[0]], reduction="none") | F.cross_entropy(x, torch.tensor([1, 0, 3] * 40)[:x.shape[0]], reduction="none")
x.nll_loss(Tensor([1, 0, 3] * 40)[:x.shape[0]], reduction="none") | F.nll_loss(x, torch.tensor([1, 0, 3] * 40)[:x.shape[0]], reduction="none")
"""

# Integers of every width, compared with NumPy, which supports all of them.
INTEGERS = r"""
[one]
x.neg() | -x
x.abs() | np.abs(x)
x.sign() | np.sign(x)
x.square() | x * x
x.bitwise_not() | ~x
x.logical_not() | np.logical_not(x)
x.relu() | np.maximum(x, 0)
x.clamp(1, 5) | np.clip(x, 1, 5)
x // 3 | x // np.array(3, x.dtype)
x % 3 | x % np.array(3, x.dtype)
x // -3 | x // np.array(-3, x.dtype) | signed
x % -3 | x % np.array(-3, x.dtype) | signed
x // 8 | x // np.array(8, x.dtype)
x % 8 | x % np.array(8, x.dtype)
x * 2 | x * np.array(2, x.dtype)
x << 1 | x << np.array(1, x.dtype) | unsigned
x >> 3 | x >> np.array(3, x.dtype) | unsigned
x.pow(3) | x * x * x
x.cast(dtypes.int8) | x.astype(np.int8)
x.cast(dtypes.uint8) | x.astype(np.uint8)
x.cast(dtypes.int16) | x.astype(np.int16)
x.cast(dtypes.uint16) | x.astype(np.uint16)
x.cast(dtypes.int32) | x.astype(np.int32)
x.cast(dtypes.uint32) | x.astype(np.uint32)
x.cast(dtypes.int64) | x.astype(np.int64)
x.cast(dtypes.uint64) | x.astype(np.uint64)
x.cast(dtypes.bool) | x.astype(np.bool_)
x.cast(dtypes.float32) | x.astype(np.float32)
x.cast(dtypes.float64) | x.astype(np.float64)
x.cast(dtypes.float16) | x.astype(np.float16)
[two]
x + y
x - y
x * y
x // y | np.where(y == 0, 0, x // np.where(y == 0, 1, y))
x % y | np.where(y == 0, x, x % np.where(y == 0, 1, y))
x.maximum(y) | np.maximum(x, y)
x.minimum(y) | np.minimum(x, y)
x & y
x | y | np.bitwise_or(x, y)
x ^ y
x < y
x <= y
x == y
x != y
(x < y).where(x, y) | np.where(x < y, x, y)
[axis]
x.max(1) | x.max(1)
x.min(1) | x.min(1)
x.sum(1, dtype=x.dtype) | x.sum(1, dtype=x.dtype)
x.prod(1) | x.prod(1, dtype=x.dtype)
x.any(1) | x.any(1)
x.all(1) | x.all(1)
x.argmax(1) | x.argmax(1)
x.argmin(1) | x.argmin(1)
x.sort(1)[0] | np.sort(x, 1)
x.argsort(1) | np.argsort(x, 1, kind="stable")
x.sort(1, descending=True)[0] | -np.sort(-x.astype(object), 1)
x.topk(2, 1)[1] | np.argsort(-x.astype(object), 1, kind="stable")[:, :2]
x.cummax(1)[0] | np.maximum.accumulate(x, 1)
x.cummin(1)[0] | np.minimum.accumulate(x, 1)
x.cumsum(1) | np.cumsum(x, 1, dtype=np.int32 if x.dtype.itemsize < 4 and x.dtype.kind == "i" else np.uint32 if x.dtype.itemsize < 4 else x.dtype)
x.cumprod(1) | np.cumprod(x, 1, dtype=x.dtype)
[image]
x.max_pool2d((2,2), stride=1) | np.maximum(np.maximum(x[..., :-1, :-1], x[..., 1:, :-1]), np.maximum(x[..., :-1, 1:], x[..., 1:, 1:]))
"""

# Empty reductions: the result for shapes (0, 3) and (3, 0) along either axis.
EMPTY = r"""
x.sum(0) | x.sum(0)
x.prod(0) | x.prod(0)
x.mean(0) | x.mean(0)
x.any(0) | x.bool().any(0)
x.all(0) | x.bool().all(0)
x.cumsum(0) | x.cumsum(0)
x.cumprod(0) | x.cumprod(0)
x.softmax(0) | x.softmax(0)
x.log_softmax(0) | x.log_softmax(0)
x.exp() | x.exp()
x.sum(1) | x.sum(1)
x.prod(1) | x.prod(1)
x.mean(1) | x.mean(1)
x.var(1) | x.var(1)
x.any(1) | x.bool().any(1)
x.all(1) | x.bool().all(1)
x.logsumexp(1) | x.logsumexp(1)
x.sum() | x.sum()
x.prod() | x.prod()
x.mean() | x.mean()
"""

FLOATS = {"float64": (2.2250738585072014e-308, 5e-324, 1.7976931348623157e308), "float32": (1.1754943508222875e-38, 1.401298464324817e-45, 3.4028234663852886e38),
          "float16": (6.103515625e-05, 5.960464477539063e-08, 65504.0), "bfloat16": (1.1754943508222875e-38, 9.183549615799121e-41, 3.3895313892515355e38)}
INTS = {f"{u}int{n}": (0 if u else -(1 << (n-1)), (1 << n) - 1 if u else (1 << (n-1)) - 1) for n in (8, 16, 32, 64) for u in ("", "u")}

def specials(dtype):
  if dtype == "bool": return [False, True]
  if dtype in INTS:
    low, high = INTS[dtype]
    return sorted({0, 1, 2, 3, 7, 100, high // 2, high // 2 + 1, high - 1, high, low, low + 1, *((-1, -2, -7, -100) if low else ())})
  normal, denormal, largest = FLOATS[dtype]
  return [0.0, -0.0, denormal, -denormal, normal, -normal, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, 20.0, -20.0, 90.0, -90.0, 300.0, -300.0, 1000.0, -1000.0,
          {"float64": 2.0 ** 52, "float32": 2.0 ** 23, "float16": 1024.0, "bfloat16": 128.0}[dtype] + 1, 4096.0 if dtype != "bfloat16" else 4000.0, root(dtype), largest / 2, -largest / 2, largest, -largest, inf, -inf, nan]

def root(dtype):
  """About the square root of the largest number: its square is one, its cube is not."""
  return {"float64": 2.0 ** 511, "float32": 2.0 ** 63, "float16": 128.0, "bfloat16": 2.0 ** 63}[dtype]

def few(dtype, wanted=None):
  """A smaller choice of special values for pairs (14) and triples (6)."""
  if dtype == "bool": return [False, True]
  if dtype in INTS:
    low, high = INTS[dtype]
    return [0, 3, low or 1, high, *((-1, -7) if low else (high - 1, 100))][:wanted or 6] + ([1, 2, 100 if low else 7, low + 1 if low else high // 2] if wanted is None else [])
  normal, denormal, largest = FLOATS[dtype]
  return [0.0, 2.5, -1.0, nan, inf, -inf] if wanted else [0.0, -0.0, denormal, -normal, 1.0, -1.0, 2.5, -3.0, 90.0, largest, -largest, inf, -inf, nan]

def rows(dtype):
  """Rows of four whose maxima, order and sums meet the special values at every place."""
  if dtype == "bool": return [list(r) for r in itertools.product([False, True], repeat=4)]
  if dtype in INTS:
    low, high = INTS[dtype]
    return [[1, 3, 2, 3], [low, low, low, low], [high, high, high, high], [high, low, high, low], [low, 0, high, 1], [high - 1, high, low + 1, low], [0, 0, 0, 0], [2, 2, 1, 1], [high // 2 + 1, 5, high // 2, 5]]
  normal, denormal, largest = FLOATS[dtype]
  out = [[1.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0], [-1.5, -0.5, -2.5, -0.5], [-inf] * 4, [inf] * 4, [nan] * 4, [inf, -inf, inf, -inf], [1.0, inf, 2.0, inf], [1.0, -inf, 2.0, -inf],
         [largest, 0.0, -largest, 0.0], [largest] * 4, [-largest] * 4, [denormal, 0.0, -denormal, denormal], [normal, denormal, 0.0, -normal], [1000.0, 0.0, -1000.0, 1000.0], [90.0, -90.0, 1.0, 0.0]]
  for at in range(4):
    for fill in ([1.0, 3.0, 2.0, 3.0], [-inf] * 4, [inf, 1.0, -inf, 0.0], [-1.0, -2.0, -3.0, -4.0]): out.append([nan if i == at else v for i, v in enumerate(fill)])
  return out + [[nan, 1.0, nan, 2.0], [1.0, nan, 2.0, nan], [nan, nan, nan, -inf]]

def arguments(section, dtype):
  """Values of x, y, z and their shape; a row of the axis section is one case."""
  if section == "one": values = specials(dtype); return [values], (len(values),)
  if section == "two": pairs = list(itertools.product(few(dtype), repeat=2)); return [list(v) for v in zip(*pairs)], (len(pairs),)
  if section == "three": triples = list(itertools.product(few(dtype, 6), repeat=3)); return [list(v) for v in zip(*triples)], (len(triples),)
  table = rows(dtype)
  if section == "axis": return [[v for r in table for v in r]], (len(table), 4)
  n = len(table) // 4
  return [[v for i in range(n) for r in table[i::n][:4] for v in r]], (n, 1, 4, 4)

def cases(text):
  """(section, ours, theirs, note) of each line."""
  section, out = "one", []
  for line in text.strip().splitlines():
    if line.startswith("["): section = line.strip("[]"); continue
    parts = [p.strip() for p in line.split(" | ")]
    if parts[0] == "x": parts = ["x | y"] + parts[2:]
    ours, theirs = parts[0], parts[1] if len(parts) > 1 else parts[0]
    out.append((section, ours, theirs, parts[2] if len(parts) > 2 else ""))
  return out

def applies(note, dtype):
  """Whether a line with this note applies to this type; notes other than these are no restriction."""
  return {"float": dtype in FLOATS, "signed": dtype.startswith("int"), "unsigned": dtype.startswith("uint")}.get(note, True)
