# Custom derivatives, and derivatives that compute values again instead of keeping them.
#
#   @custom_jvp
#   def log1pexp(x): return (1 + x.exp()).log()
#   @log1pexp.defjvp
#   def _(primals, tangents): return log1pexp(*primals), tangents[0] * primals[0].sigmoid()
#
# A call returns the result of the function, marked in the graph with its arguments: whatever derives the graph, grad() or
# Tensor.backward(), asks the rule there.
import functools, inspect
import _uopscope
from _uopscope import Tensor
from uopscope.pytree import flatten, same, unflatten
from uopscope.tracing import check_tensors, name_of, tensor_of
from uopscope.transforms import vjp

class _Call:
  """The arguments of a call: the leaves that are tensors, and the call repeated with nodes in their place."""
  def __init__(self, f, args, nondiff):
    self.f, self.fixed = f, tuple(args[i] for i in nondiff)
    self.nondiff, self.count = nondiff, len(args)
    self.leaves, self.tree = flatten(tuple(x for i, x in enumerate(args) if i not in nondiff))
    self.at = [i for i, x in enumerate(self.leaves) if isinstance(x, Tensor)]
    self.tensors = [self.leaves[i] for i in self.at]
  def rebuilt(self, tensors):
    leaves = list(self.leaves)
    for i, t in zip(self.at, tensors): leaves[i] = t
    return unflatten(self.tree, leaves)
  def all(self, tensors):
    """All arguments in order."""
    rest = iter(self.rebuilt(tensors))
    fixed = iter(self.fixed)
    return [next(fixed) if i in self.nondiff else next(rest) for i in range(self.count)]
  def signature(self):
    """The key of a rule: calls that differ in tensors alone share it. None if an argument has no hash."""
    others = tuple(x for x in self.leaves if not isinstance(x, Tensor))
    key = (repr(self.tree), tuple(self.at), others, self.fixed, self.nondiff, self.count)
    try: hash(key)
    except TypeError: return None
    return key

def _positional(f, args, kwargs):
  """The arguments in the order of f's parameters, which is how rules take them."""
  if not kwargs: return args
  bound = inspect.signature(f).bind(*args, **kwargs)
  bound.apply_defaults()
  if bound.kwargs: raise TypeError(f"{name_of(f)}: {', '.join(bound.kwargs)} can be handed in by name alone, and derivative rules go by position")
  return bound.args

class _Custom:
  def __init__(self, f, nondiff_argnums=()):
    functools.update_wrapper(self, f)
    self.f, self.nondiff, self._keys = f, tuple(nondiff_argnums), {}
  def _ready(self): return True
  def __call__(self, *args, **kwargs):
    args = _positional(self.f, args, kwargs)
    if not self._ready(): raise TypeError(f"{name_of(self.f)} has no derivative rule yet: give it one by .{self._define}(...)")
    call = _Call(self.f, args, self.nondiff)
    leaves, tree = flatten(self.f(*args))
    check_tensors(leaves, self.f, "its result")
    if not call.tensors: return unflatten(tree, leaves)
    inputs, signature = [t.uop for t in call.tensors], call.signature()
    out = [tensor_of(_uopscope.with_derivative(t.uop, inputs, self._key(call, signature, tree, k))) for k, t in enumerate(leaves)]
    return unflatten(tree, out)
  def _key(self, call, signature, tree, k):
    at = (signature, k)
    if signature is not None and at in self._keys: return self._keys[at]
    call.leaves = [None if isinstance(x, Tensor) else x for x in call.leaves] # the rule outlives the call, without its tensors
    call.tensors = []
    key = _uopscope.new_unique()
    _uopscope.set_derivative(key, *self._rules(call, tree, k))
    if signature is not None: self._keys[at] = key
    return key

def _aligned(answer, call, name, what):
  """The gradients of a rule, one for each tensor among the arguments; None for zero."""
  answer = answer if isinstance(answer, tuple) else (answer,)
  wanted = call.rebuilt([True] * len(call.at))
  if len(answer) != len(wanted): raise ValueError(f"{name}: {what} answered {len(answer)} gradients for {len(wanted)} arguments")
  return [g for pair in zip(answer, wanted) for g in _beside(*pair)]

def _beside(g, wanted):
  if wanted is True: return [g]
  if not isinstance(wanted, (dict, list, tuple)): return []
  keys = wanted if isinstance(wanted, dict) else range(len(wanted))
  return [x for k in keys for x in _beside(None if g is None else g[k], wanted[k])]

class custom_jvp(_Custom):
  """A function with a forward derivative given by `defjvp`: rule(primals, tangents) returns (result, tangent of the result).

  The rule must be linear in the tangents; the reverse derivative is derived from it. Arguments with numbers in
  nondiff_argnums come first, unchanged: rule(*nondiff, primals, tangents). The tangents of arguments that do not vary are
  zeros."""
  _define, rule = "defjvp", None
  def defjvp(self, rule):
    self.rule = rule
    return rule
  def _ready(self): return self.rule is not None
  def _rules(self, call, tree, k):
    def forward(tangents, inputs):
      values = [tensor_of(u) for u in inputs]
      each = [x.zeros_like() if t is None else tensor_of(t) for t, x in zip(tangents, values)]
      answer = self.rule(*call.fixed, call.rebuilt(values), call.rebuilt(each))
      if not isinstance(answer, (tuple, list)) or len(answer) != 2: raise TypeError(f"{name_of(self.f)}: its jvp rule answers {type(answer).__name__}; it is a pair (result, tangent)")
      out, tangent = answer
      leaves, other = flatten(tangent)
      if not same(other, tree) or leaves[k].shape != flatten(out)[0][k].shape: raise ValueError(f"{name_of(self.f)}: the tangent that its rule answers has other shapes or another structure than the result")
      return leaves[k].uop
    return None, forward

class custom_vjp(_Custom):
  """A function with a reverse derivative given by `defvjp(fwd, bwd)`: fwd(*args) returns (result, residuals), and
  bwd(residuals, cotangent) returns a tuple with one gradient for each argument (None: zero).

  Arguments with numbers in nondiff_argnums come first in bwd: bwd(*nondiff, residuals, cotangent). It returns no gradients
  for them."""
  _define, fwd, bwd = "defvjp", None, None
  def defvjp(self, fwd, bwd): self.fwd, self.bwd = fwd, bwd
  def _ready(self): return self.bwd is not None
  def _rules(self, call, tree, k):
    def reverse(g, inputs):
      answer = self.fwd(*call.all([tensor_of(u) for u in inputs]))
      if not isinstance(answer, (tuple, list)) or len(answer) != 2: raise TypeError(f"{name_of(self.f)}: fwd answers {type(answer).__name__}; it is a pair (result, residuals)")
      result, residuals = answer
      each = [tensor_of(g) if i == k else t.zeros_like() for i, t in enumerate(flatten(result)[0])]
      answer = self.bwd(*call.fixed, residuals, unflatten(tree, each))
      return _gradients(_aligned(answer, call, name_of(self.f), "bwd"), inputs, self.f)
    return reverse, None

def _gradients(each, inputs, f):
  for g, u in zip(each, inputs):
    if g is not None and g.shape != tuple(u.shape): raise ValueError(f"{name_of(f)}: a gradient has shape {g.shape}, its argument {tuple(u.shape)}")
  return [None if g is None else g.uop for g in each]

class _Checkpoint(_Custom):
  def _rules(self, call, tree, k):
    def reverse(g, inputs):
      seed, values = tensor_of(g), [tensor_of(_uopscope.computed_again(u)) for u in inputs]
      _, pullback = vjp(lambda *floats: flatten(self.f(*call.all(floats)))[0][k], *values)
      return _gradients([t if t.is_floating_point() else None for t in pullback(seed)], inputs, self.f)
    return reverse, None

def checkpoint(f):
  """`f` with a reverse derivative that computes the values between arguments and result again instead of keeping them.

  Values and gradients are those of f. Memory holds the arguments of f instead of everything that its gradient reads."""
  return _Checkpoint(f)
