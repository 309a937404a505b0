# The table of ONNX's operators, which the files onnx_*operators.py fill, and how their parameters are read.
#
#   @operator
#   def Gemm(a, b, c=None, alpha=1.0): ...        # OPERATORS["Gemm"](a, b, c, alpha=2.0, version=13)
#   @operator("com.microsoft")
#   def BiasGelu(a, b): ...                       # OPERATORS["com.microsoft.BiasGelu"], and OPERATORS["BiasGelu"] if that is free
#
# Inputs that are parameters (shapes, axes) are read when the operator is applied. They are usually constants of the model,
# so they are read once.
import functools
from tinygrad.helpers import prod
from tinygrad.tensor import Tensor

OPERATORS = {}
def operator(f, domain=None):
  """Registers a function under its own name, or under its name in a domain; `version` is passed to functions that take it."""
  if isinstance(f, str): return functools.partial(operator, domain=f)
  takes = f.__code__.co_varnames[:f.__code__.co_argcount + f.__code__.co_kwonlyargcount]
  run = f if "version" in takes else functools.wraps(f)(lambda *inputs, version=1, **opts: f(*inputs, **opts))
  if domain: OPERATORS[f"{domain}.{f.__name__}"] = run
  if not domain or f.__name__ not in OPERATORS: OPERATORS[f.__name__] = run
  return f
def find_operator(domain, name):
  """The function of an operator; None for one that is not here. One of a domain of its own comes first."""
  return OPERATORS.get(f"{domain}.{name}") or OPERATORS.get(name)

_kept = {}
def values(x):
  """The numbers of an input that is a parameter. Those of the model's constants are cached."""
  if not isinstance(x, Tensor): return x
  key = x.uop
  if key not in _kept:
    if len(_kept) > 4096: _kept.clear()
    _kept[key] = x.tolist() if prod(x.shape) else []
  return _kept[key]
def one_value(x):
  """The number of an input that holds one."""
  x = values(x)
  return x[0] if isinstance(x, list) else x
