# Functions of functions of tensors: vmap, and derivatives forward and reverse, in any order.
#
#   from uopscope import vmap, grad
#   vmap(grad(loss), in_axes=(None, 0))(w, xs)           # the gradient for each x, as one graph
#
# A transform calls the function once, with placeholders that have shapes and no values, and rewrites the resulting graph
# (docs/design/transforms.md). Its result is a graph like any other: lazy, fused, ready for a further transform or a capture
# by TinyJit.
import functools
import _uopscope
from _uopscope import Tensor
from uopscope.pytree import flatten, same, spread, unflatten

def _tensor(uop, shape=None):
  t = Tensor(uop) if uop.device is None else Tensor(uop, device=uop.device)
  return t if shape is None else t.reshape(shape)
def _name(f): return getattr(f, "__name__", type(f).__name__)
def _uops(tensors): return [t.uop for t in tensors]
def _tuple(x): return tuple(x) if isinstance(x, (tuple, list)) else (x,)

def _check_tensors(leaves, f, what):
  for x in leaves:
    if not isinstance(x, Tensor): raise TypeError(f"{_name(f)}: {what} holds {x!r} ({type(x).__name__}); tensors are needed, in lists, tuples and dicts")

class Trace:
  """The trace of a function over placeholders of these shapes: `outs` (tensors) over `keys` (their nodes), and the tree of
  results."""
  def __init__(self, f, call, like, placeholders=None):
    made = placeholders or [new_placeholder(shape, dtype, device) for shape, dtype, device in like]
    self.keys, self.f = [key for key, _ in made], f
    # A view, so that an assignment to the argument is noticed.
    arguments = [_tensor(t.uop) for _, t in made]
    before = _uops(arguments)
    result, self.aux = call(arguments), None
    if any(t.uop is not u for t, u in zip(arguments, before)):
      raise RuntimeError(f"{_name(f)} assigns to its argument in place; under a transform it has no memory of its own: return the new value instead")
    leaves, self.tree = flatten(result)
    self.outs = [Tensor(x) if isinstance(x, (int, float)) else x for x in leaves]
    _check_tensors(self.outs, f, "its result")
  def results(self, outs): return unflatten(self.tree, outs)

def new_placeholder(shape, dtype, device):
  key = _uopscope.placeholder(tuple(shape), dtype, device)
  return key, _tensor(key, shape)

def _like(t): return t.shape, t.dtype, t.device

class _Arguments:
  """The tensors among the arguments that a transform varies; the remaining arguments are passed on unchanged."""
  def __init__(self, f, args, kwargs, chosen):
    self.f, (self.leaves, self.tree) = f, flatten((tuple(args), dict(kwargs)))
    self.at = [i for i, yes in enumerate(chosen(self.leaves, self.tree)) if yes]
    self.tensors = [self.leaves[i] for i in self.at]
    _check_tensors(self.tensors, f, "an argument")
  def call(self, tensors):
    leaves = list(self.leaves)
    for i, t in zip(self.at, tensors): leaves[i] = t
    args, kwargs = unflatten(self.tree, leaves)
    return self.f(*args, **kwargs)
  def trace(self, call=None): return Trace(self.f, call or self.call, [_like(t) for t in self.tensors])

# --- vmap ---

def _move(t, source, to):
  order = [i for i in range(t.ndim) if i != source]
  order.insert(to, source)
  return t.permute(order)
def _axis(t, axis, f, what):
  if not -t.ndim <= axis < t.ndim: raise IndexError(f"vmap of {_name(f)}: {what} names axis {axis} of a tensor of shape {t.shape}, which has {t.ndim} axes")
  return axis % t.ndim

def vmap(f, in_axes=0, out_axes=0):
  """A function that is `f` over an axis of its arguments: vmap(f)(xs)[i] is f(xs[i]).

  in_axes: the axis of each argument (a number for all, or a tuple or tree with one for each); None passes an argument on whole.
  out_axes: the position of the axis in the results; None for a result that depends on no mapped argument.
  Shapes: f: (a,) -> (b,) gives (n, a) -> (n, b). Keyword arguments are mapped over axis 0.
  Random numbers that f draws are drawn once and are the same in every call. For different numbers, draw first and map over
  them."""
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def mapped(*args, **kwargs):
    axes = None
    def chosen(leaves, tree):
      nonlocal axes
      axes = spread(in_axes if isinstance(in_axes, (int, type(None))) else tuple(in_axes), tree[0], f"vmap of {_name(f)}: in_axes")
      axes += [0] * (len(leaves) - len(axes))
      return [a is not None and not (isinstance(in_axes, int) and not isinstance(x, Tensor)) for x, a in zip(leaves, axes)]
    a = _Arguments(f, args, kwargs, chosen)
    if not a.at: raise ValueError(f"vmap of {_name(f)}: no argument is mapped; in_axes needs a number for at least one tensor")
    fronts = [_move(t, _axis(t, axes[i], f, "in_axes"), 0) for i, t in zip(a.at, a.tensors)]
    lengths = [t.shape[0] for t in fronts]
    if any(n != lengths[0] for n in lengths): raise ValueError(f"vmap of {_name(f)}: mapped axes have lengths {lengths}; they must be equal")
    traced = Trace(f, a.call, [(t.shape[1:], t.dtype, t.device) for t in fronts])
    outs = _uopscope.batch_values(_uops(traced.outs), traced.keys, _uops(fronts), lengths[0])
    places = spread(out_axes if isinstance(out_axes, (int, type(None))) else type(traced.tree)(out_axes) if isinstance(out_axes, (list, tuple)) and isinstance(traced.tree, (list, tuple)) else out_axes, traced.tree, f"vmap of {_name(f)}: out_axes")
    return traced.results([_placed(_tensor(u), one, place, f) for u, one, place in zip(outs, traced.outs, places)])
  return mapped

def _placed(t, one, place, f):
  if place is not None: return _move(t, 0, _axis(t, place, f, "out_axes"))
  try: _uopscope.refuse_placeholders([one.uop])
  except RuntimeError: raise ValueError(f"vmap of {_name(f)}: out_axes is None for a result of shape {one.shape} that depends on a mapped argument") from None
  return one

# --- forward ---

def _floats(leaves, tree): return [isinstance(x, Tensor) for x in leaves]

def _check_tangents(f, primals, tangents, what):
  (values, tree), (given, other) = flatten(tuple(primals)), flatten(tuple(tangents))
  if not same(tree, other): raise ValueError(f"{_name(f)}: {what} have the structure {other}, the values {tree}")
  _check_tensors(given, f, what)
  for x, t in zip(values, given):
    if x.shape != t.shape: raise ValueError(f"{_name(f)}: one of the {what} has shape {t.shape}, its value {x.shape}")
    if x.is_floating_point() and t.dtype != x.dtype: raise TypeError(f"{_name(f)}: one of the {what} has type {t.dtype}, its value {x.dtype}")
  return given

def _or_zeros(uop, like): return _tensor(uop) if uop is not None else like.zeros_like()

def _tangents(traced, primals, tangents):
  """The tangents of the traced results, over the placeholders, for tangents of the float arguments."""
  floats = [i for i, p in enumerate(primals) if p.is_floating_point()]
  each = _uopscope.tangents_of(_uops(traced.outs), [traced.keys[i] for i in floats], [tangents[i].uop for i in floats])
  return [_or_zeros(u, like) for u, like in zip(each, traced.outs)]

def _applied(traced, tensors, primals): return [_tensor(u) for u in _uopscope.apply_values(_uops(tensors), traced.keys, _uops(primals))]

def _kept(tensors):
  """The present values, which later assignments to these tensors do not change."""
  return [_tensor(t.uop) for t in tensors]

def jvp(f, primals, tangents):
  """(f(*primals), its derivative along the tangents). Both are tuples of trees; a tangent has the shape and type of its value.

  The derivative is linear in the tangents: jvp(f, (x,), (v,))[1] is jacfwd(f)(x) times v."""
  primals, tangents = _tuple(primals), _tuple(tangents)
  given = _check_tangents(f, primals, tangents, "tangents")
  a = _Arguments(f, primals, {}, _floats)
  traced = a.trace()
  n = len(traced.outs)
  done = _applied(traced, traced.outs + _tangents(traced, a.tensors, given), a.tensors)
  return traced.results(done[:n]), traced.results(done[n:])

def linearize(f, *primals):
  """(f(*primals), a function of tangents). The derivative is derived once, however many times it is applied."""
  a = _Arguments(f, primals, {}, _floats)
  traced = a.trace()
  slots = [new_placeholder(*_like(t)) for t in a.tensors]
  derived, kept = _tangents(traced, a.tensors, [t for _, t in slots]), _kept(a.tensors)
  def pushforward(*tangents):
    given = _check_tangents(f, primals, tangents, "tangents")
    return traced.results([_tensor(u) for u in _uopscope.apply_values(_uops(derived), traced.keys + [key for key, _ in slots], _uops(kept + given))])
  return traced.results(_applied(traced, traced.outs, a.tensors)), pushforward

# --- reverse ---

def _cotangents(traced, seeds, keys, likes):
  """The gradients of the sum of outs times seeds with respect to the placeholders `keys`, in the shapes of `likes`."""
  floats = [i for i, t in enumerate(traced.outs) if t.is_floating_point()]
  each = _uopscope.cotangents_of([traced.outs[i].uop for i in floats], [seeds[i].uop for i in floats], keys)
  return [_tensor(u).reshape(like.shape) if u is not None else like.zeros_like() for u, like in zip(each, likes)]

def vjp(f, *primals, has_aux=False):
  """(f(*primals), a function of cotangents), which returns a tuple with one gradient for each argument.

  A cotangent has the structure and shapes of the result. With has_aux, f returns (result, aux), and vjp also returns aux as
  its last value."""
  a = _Arguments(f, primals, {}, _floats)
  aux = []
  def call(tensors):
    result = a.call(tensors)
    if not has_aux: return result
    aux.append(result[1])
    return result[0]
  traced, kept = a.trace(call), _kept(a.tensors)
  out = traced.results(_applied(traced, traced.outs, a.tensors))
  def pullback(cotangent):
    seeds = _check_tangents(f, (traced.results(traced.outs),), (cotangent,), "cotangents")
    grads = _applied(traced, _cotangents(traced, seeds, traced.keys, kept), kept)
    leaves = [None if not isinstance(x, Tensor) else x for x in a.leaves]
    for i, g in zip(a.at, grads): leaves[i] = g
    return unflatten(a.tree, leaves)[0]
  return (out, pullback, _aux(traced, aux[0], a.tensors)) if has_aux else (out, pullback)

def _aux(traced, aux, primals):
  leaves, tree = flatten(aux)
  at = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]
  for i, t in zip(at, _applied(traced, [leaves[i] for i in at], primals)): leaves[i] = t
  return unflatten(tree, leaves)

def _partial(f, args, kwargs, argnums):
  """f as a function of the chosen arguments alone, and these arguments."""
  if not all(isinstance(i, int) for i in _tuple(argnums)): raise TypeError(f"{_name(f)}: argnums is a number or a tuple of numbers, not {argnums!r}")
  for i in _tuple(argnums):
    if not -len(args) <= i < len(args): raise ValueError(f"{_name(f)}: argnums names argument {i}, and there are {len(args)}")
  chosen = [i % len(args) for i in _tuple(argnums)]
  for x in flatten([args[i] for i in chosen])[0]:
    _check_tensors([x], f, "an argument to derive by")
    if not x.is_floating_point(): raise TypeError(f"{_name(f)}: an argument to derive by has type {x.dtype}; derivatives are by floats (cast it, or choose others by argnums)")
  @functools.wraps(f, assigned=("__name__",), updated=())
  def part(*some):
    all_args = list(args)
    for i, x in zip(chosen, some): all_args[i] = x
    return f(*all_args, **kwargs)
  return part, [args[i] for i in chosen]

def _unwrap(argnums, each): return each[0] if isinstance(argnums, int) else tuple(each)

def value_and_grad(f, argnums=0, has_aux=False):
  """A function that returns (f(...), its gradient with respect to the arguments `argnums`). f returns one float, of shape ().

  With has_aux, f returns (value, aux), and this function ((value, aux), gradient)."""
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def both(*args, **kwargs):
    part, chosen = _partial(f, args, kwargs, argnums)
    value, pullback, *aux = vjp(part, *chosen, has_aux=has_aux)
    if not isinstance(value, Tensor): raise TypeError(f"{_name(f)} answers {type(value).__name__}: a gradient is of one tensor of shape () (has_aux=True for a pair)")
    if value.shape != () or not value.is_floating_point(): raise TypeError(f"{_name(f)} answers a tensor of shape {value.shape} and type {value.dtype}: a gradient is of one float, of shape () (jacrev is for others)")
    grads = pullback(value.ones_like())
    return ((value, aux[0]) if has_aux else value), _unwrap(argnums, grads)
  return both

def grad(f, argnums=0, has_aux=False):
  """A function that returns the gradient of `f` with respect to the arguments `argnums`, in their shapes. f returns one
  float, of shape ().

  grad(f)(x) is jacrev(f)(x). With has_aux it returns (gradient, aux)."""
  both = value_and_grad(f, argnums, has_aux)
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def gradient(*args, **kwargs):
    value, grads = both(*args, **kwargs)
    return (grads, value[1]) if has_aux else grads
  return gradient

# --- Jacobians ---

def _eye(t): return Tensor.eye(t.numel(), dtype=t.dtype, device=t.device).reshape(t.numel(), *t.shape)

def jacfwd(f, argnums=0):
  """A function that returns the Jacobian of `f` by forward derivatives, one for each element of the arguments `argnums`.

  Shapes: f: (a, b) -> (c,) gives (c, a, b). Results and arguments may be trees: the result is then a tree of results of
  trees of arguments."""
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def jacobian(*args, **kwargs):
    part, chosen = _partial(f, args, kwargs, argnums)
    a = _Arguments(part, chosen, {}, _floats)
    traced = a.trace()
    columns = [[] for _ in traced.outs] # [result][argument]
    for i, x in enumerate(a.tensors):
      key, slot = new_placeholder(*_like(x))
      each = _uopscope.tangents_of(_uops(traced.outs), [traced.keys[i]], [slot.uop])
      each = [_or_zeros(u, like) for u, like in zip(each, traced.outs)]
      each = _uopscope.batch_values(_uops(each), [key], [_eye(x).uop], x.numel())
      for out, u, cols in zip(traced.outs, each, columns):
        cols.append(_tensor(u).permute(*range(1, out.ndim + 1), 0).reshape(*out.shape, *x.shape))
    return _jacobian(traced, columns, a, argnums)
  return jacobian

def jacrev(f, argnums=0):
  """A function that returns the Jacobian of `f` by reverse derivatives, one for each element of the result; shapes as for jacfwd.

  It is the better choice if the result has fewer elements than the arguments."""
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def jacobian(*args, **kwargs):
    part, chosen = _partial(f, args, kwargs, argnums)
    a = _Arguments(part, chosen, {}, _floats)
    traced = a.trace()
    rows = []
    for out in traced.outs:
      if not out.is_floating_point():
        rows.append([x.zeros_like().reshape(*[1] * out.ndim, *x.shape).expand(*out.shape, *x.shape) for x in a.tensors])
        continue
      key, slot = new_placeholder(*_like(out))
      each = _uopscope.cotangents_of([out.uop], [slot.uop], traced.keys)
      each = [_tensor(u).reshape(x.shape) if u is not None else x.zeros_like() for u, x in zip(each, a.tensors)]
      each = _uopscope.batch_values(_uops(each), [key], [_eye(out).uop], out.numel())
      rows.append([_tensor(u).reshape(*out.shape, *x.shape) for u, x in zip(each, a.tensors)])
    return _jacobian(traced, rows, a, argnums)
  return jacobian

def _jacobian(traced, blocks, a, argnums):
  """Blocks [result][argument] over placeholders as a tree of results of trees of arguments."""
  count = len(a.tensors)
  done = _applied(traced, [b for row in blocks for b in row], a.tensors)
  rows = [done[i * count:(i + 1) * count] for i in range(len(blocks))]
  return traced.results([_unwrap(argnums, unflatten(a.tree[0], row)) for row in rows])

def hessian(f, argnums=0):
  """A function that returns the second derivatives of `f`: forward over reverse. f: (a,) -> () gives (a, a)."""
  return jacfwd(jacrev(f, argnums), argnums)

def hvp(f, primals, tangents):
  """The product of the Hessian of `f`, which returns one float, with the tangents, without computing the Hessian; in the
  structure of the arguments.

  A single argument may be given without a tuple: hvp(f, x, v) is hessian(f)(x) times v."""
  args = _tuple(primals)
  out = jvp(grad(f, tuple(range(len(args)))), args, _tuple(tangents))[1]
  return out if isinstance(primals, tuple) else out[0]
