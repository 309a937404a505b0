# Operators and functions for a script's own class of values, made of two methods that the class has.
#
#   class Tile(MathMixin):
#     def alu(self, op, *sources): ...     # the operation on this value and further ones
#     def const_like(self, number): ...    # the number, as a value of the same kind
#   (tile * 2 + 1).maximum(0).sigmoid()    # calls of alu and const_like alone
#
# Tensor and UOp have the same methods in C++, so they do not derive from it.
import math
from tinygrad.dtype import dtypes
from tinygrad.uop.ops import Ops
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

def _binary(op):
  def apply(self, x, reverse=False): return self._binop(op, x, reverse)
  return apply
def _forward(name): return lambda self, x: getattr(self, name)(x)
def _backward(name): return lambda self, x: getattr(self, name)(x, True)
def _unary(op): return lambda self: self.alu(op)
def _integral(op):
  def apply(self, x, reverse=False):
    kind = getattr(self, "dtype", None)
    if kind is not None and not (dtypes.is_int(kind) or dtypes.is_bool(kind)): raise RuntimeError(f"{op.name} takes whole numbers and bool, not {kind}")
    return self._binop(op, x, reverse)
  return apply

class MathMixin:
  """Arithmetic, comparisons and elementwise functions for a class with `alu(op, *sources)` and `const_like(number)`.
  Operands that are numbers become values by `const_like`. `==` compares objects: equality of values is `eq`."""
  __hash__ = object.__hash__
  def alu(self, op, *src): raise NotImplementedError(f"{type(self).__name__} needs a method alu(op, *sources)")
  def const_like(self, b): raise NotImplementedError(f"{type(self).__name__} needs a method const_like(number)")
  def ufix(self, x): return x if isinstance(x, MathMixin) else self.const_like(x)
  def _binop(self, op, x, reverse): return self.ufix(x).alu(op, self) if reverse else self.alu(op, self.ufix(x))

  add, mul, idiv, mod = map(_binary, (Ops.ADD, Ops.MUL, Ops.IDIV, Ops.MOD))
  bitwise_and, bitwise_or, bitwise_xor = map(_integral, (Ops.AND, Ops.OR, Ops.XOR))
  lshift, rshift = map(_integral, (Ops.SHL, Ops.SHR))
  reciprocal, trunc, sqrt, sin, log2, exp2 = map(_unary, (Ops.RECIPROCAL, Ops.TRUNC, Ops.SQRT, Ops.SIN, Ops.LOG2, Ops.EXP2))
  def sub(self, x, reverse=False): return self.ufix(x) + self.neg() if reverse else self + self.ufix(x).neg()
  def div(self, x, reverse=False): return self.ufix(x) * self.reciprocal() if reverse else self * self.ufix(x).reciprocal()
  def logical_not(self): return self.ne(True)
  def neg(self):
    kind = getattr(self, "dtype", None)
    return self.logical_not() if kind is not None and dtypes.is_bool(kind) else self * -1
  def pow(self, x): return self.alu(Ops.POW, self.ufix(x))
  def threefry(self, seed): return self.alu(Ops.THREEFRY, seed)

  __neg__, __lt__, __ne__ = neg, _binary(Ops.CMPLT), lambda self, x: self.ne(x)
  __eq__ = object.__eq__
  def __gt__(self, x): return self._binop(Ops.CMPLT, x, True)
  def __ge__(self, x): return (self < x).logical_not()
  def __le__(self, x): return (self > x).logical_not()
  def ne(self, x): return self.alu(Ops.CMPNE, self.ufix(x))
  def eq(self, x): return self.ne(x).logical_not()
  __pow__ = _forward("pow")

  def maximum(self, x): return self.alu(Ops.MAX, self.ufix(x))
  def minimum(self, x): return (-self).maximum(-self.ufix(x)).neg()
  def where(self, x, y):
    """`x` where this value holds, else `y`. One of the two has to be a value, so that the other can be one of its kind."""
    if isinstance(x, MathMixin): return self.alu(Ops.WHERE, x, x.ufix(y))
    if isinstance(y, MathMixin): return self.alu(Ops.WHERE, y.ufix(x), y)
    raise RuntimeError("where of two numbers: one of them has to be a value")
  def clamp(self, min_=None, max_=None):
    if min_ is None and max_ is None: raise RuntimeError("clamp needs a lower or an upper bound")
    low = self if min_ is None else (self < min_).where(min_, self)
    return low if max_ is None else (low > max_).where(max_, low)
  def clip(self, min_=None, max_=None): return self.clamp(min_, max_)

  def isnan(self): return self.ne(self)
  def isinf(self, detect_positive=True, detect_negative=True):
    positive, negative = self.eq(math.inf), self.eq(-math.inf)
    if detect_positive and detect_negative: return positive | negative
    return positive if detect_positive else negative if detect_negative else positive & negative
  def isfinite(self): return (self.isinf() | self.isnan()).logical_not()
  def ceil(self): return (self > (whole := self.trunc())).where(whole + 1, whole)
  def floor(self): return (self < (whole := self.trunc())).where(whole - 1, whole)
  def square(self): return self * self
  def rsqrt(self): return self.sqrt().reciprocal()
  def relu(self): return (self > 0).where(self, 0)
  def leaky_relu(self, neg_slope=0.01): return (self < 0).where(self * neg_slope, self)
  def relu6(self): return self.relu() - (self - 6).relu()
  def hardtanh(self, min_val=-1, max_val=1): return self.clamp(min_val, max_val)
  def hardsigmoid(self, alpha=1/6, beta=0.5): return (self * alpha + beta).clamp(0, 1)
  def hardswish(self): return self * (self + 3).relu6() / 6
  def sigmoid(self): return ((self * (-1 / math.log(2))).exp2() + 1).reciprocal()
  def tanh(self): return (self * 2).sigmoid() * 2 - 1
  def silu(self): return self * self.sigmoid()
  def swish(self): return self.silu()
  def quick_gelu(self): return self * (self * 1.702).sigmoid()
  def gelu(self): return self * 0.5 * (1 + (math.sqrt(2 / math.pi) * (self + 0.044715 * self * self * self)).tanh())

for _name, _method in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "idiv", "mod": "mod", "and": "bitwise_and", "or": "bitwise_or",
                       "xor": "bitwise_xor", "lshift": "lshift", "rshift": "rshift"}.items():
  setattr(MathMixin, f"__{_name}__", _forward(_method))
  setattr(MathMixin, f"__r{_name}__", _backward(_method))
