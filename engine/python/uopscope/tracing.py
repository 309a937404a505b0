# A function's graph over placeholders: the ground on which every transform stands.
#
#   a = Arguments(f, (x, y), {}, every_tensor)     # which leaves of the arguments a transform goes by
#   traced = a.trace()                             # f called once, with placeholders in their places
#   applied(traced, traced.outs, a.tensors)        # its results, with the arguments in the places of the placeholders
#
# Invariant: a placeholder has a shape and no values; the result of a function of it is a graph like any other.
import functools
import _uopscope
from _uopscope import Tensor
from uopscope.pytree import flatten, unflatten

def tensor_of(uop, shape=None):
  t = Tensor(uop) if uop.device is None else Tensor(uop, device=uop.device)
  return t if shape is None else t.reshape(shape)
def name_of(f): return getattr(f, "__name__", type(f).__name__)
def uops_of(tensors): return [t.uop for t in tensors]
def as_tuple(x): return tuple(x) if isinstance(x, (tuple, list)) else (x,)

def check_tensors(leaves, f, what):
  for x in leaves:
    if not isinstance(x, Tensor): raise TypeError(f"{name_of(f)}: {what} holds {x!r} ({type(x).__name__}); tensors are needed, in lists, tuples and dicts")

class Trace:
  """What a function makes of placeholders of these shapes: `outs` (tensors) over `keys` (their nodes), and the tree of results."""
  def __init__(self, f, call, like, placeholders=None, has_aux=False):
    made = placeholders or [new_placeholder(shape, dtype, device) for shape, dtype, device in like]
    self.keys, self.f = [key for key, _ in made], f
    # a view of its own, so that an assignment to the argument is seen
    arguments = [tensor_of(t.uop) for _, t in made]
    before = uops_of(arguments)
    result, self.aux = call(arguments), None
    if any(t.uop is not u for t, u in zip(arguments, before)):
      raise RuntimeError(f"{name_of(f)} assigns to its argument in place; under a transform it has no memory of its own: return the new value instead")
    if has_aux:
      if not isinstance(result, (tuple, list)) or len(result) != 2: raise TypeError(f"{name_of(f)} answers {type(result).__name__}: with has_aux=True it is a pair (result, anything)")
      result, self.aux = result
    leaves, self.tree = flatten(result)
    self.outs = [Tensor(x) if isinstance(x, (int, float)) else x for x in leaves]
    check_tensors(self.outs, f, "its result")
  def results(self, outs): return unflatten(self.tree, outs)
  def aux_of(self, primals):
    """The second part of the result of a function with has_aux, for these arguments."""
    leaves, tree = flatten(self.aux)
    at = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]
    for i, t in zip(at, applied(self, [leaves[i] for i in at], primals)): leaves[i] = t
    return unflatten(tree, leaves)

def new_placeholder(shape, dtype, device):
  key = _uopscope.placeholder(tuple(shape), dtype, device)
  return key, tensor_of(key, shape)

def form_of(t): return t.shape, t.dtype, t.device

class Arguments:
  """The tensors among the arguments of a function that a transform goes by; the rest is handed on as it is."""
  def __init__(self, f, args, kwargs, chosen):
    self.f, (self.leaves, self.tree) = f, flatten((tuple(args), dict(kwargs)))
    self.at = [i for i, yes in enumerate(chosen(self.leaves, self.tree)) if yes]
    self.tensors = [self.leaves[i] for i in self.at]
    check_tensors(self.tensors, f, "an argument")
  def call(self, tensors):
    leaves = list(self.leaves)
    for i, t in zip(self.at, tensors): leaves[i] = t
    args, kwargs = unflatten(self.tree, leaves)
    return self.f(*args, **kwargs)
  def trace(self, has_aux=False): return Trace(self.f, self.call, [form_of(t) for t in self.tensors], has_aux=has_aux)

def every_tensor(leaves, tree): return [isinstance(x, Tensor) for x in leaves]

def or_zeros(uop, like): return tensor_of(uop) if uop is not None else like.zeros_like()

def applied(traced, tensors, primals): return [tensor_of(u) for u in _uopscope.apply_values(uops_of(tensors), traced.keys, uops_of(primals))]

def kept_values(tensors):
  """The values as they are now, whatever is assigned to these tensors later."""
  return [tensor_of(t.uop) for t in tensors]

def partial_of(f, args, kwargs, argnums):
  """f of the chosen arguments alone, and these."""
  if not all(isinstance(i, int) for i in as_tuple(argnums)): raise TypeError(f"{name_of(f)}: argnums is a number or a tuple of numbers, not {argnums!r}")
  for i in as_tuple(argnums):
    if not -len(args) <= i < len(args): raise ValueError(f"{name_of(f)}: argnums names argument {i}, and there are {len(args)}")
  chosen = [i % len(args) for i in as_tuple(argnums)]
  for x in flatten([args[i] for i in chosen])[0]:
    check_tensors([x], f, "an argument to derive by")
    if not x.is_floating_point(): raise TypeError(f"{name_of(f)}: an argument to derive by has type {x.dtype}; derivatives are by floats (cast it, or choose others by argnums)")
  @functools.wraps(f, assigned=("__name__",), updated=())
  def part(*some):
    all_args = list(args)
    for i, x in zip(chosen, some): all_args[i] = x
    return f(*all_args, **kwargs)
  return part, [args[i] for i in chosen]

def unwrapped(argnums, each): return each[0] if isinstance(argnums, int) else tuple(each)
