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
from uopscope.tracing import Arguments, Trace, applied, as_tuple, check_tensors, every_tensor, form_of, kept_values, name_of, new_placeholder, or_zeros, partial_of, tensor_of, unwrapped, uops_of

# --- vmap ---

def _move(t, source, to):
  order = [i for i in range(t.ndim) if i != source]
  order.insert(to, source)
  return t.permute(order)
def _axes(given, tree, f, what):
  """An axis for each leaf."""
  for axis in flatten(given)[0]:
    if not isinstance(axis, int) or isinstance(axis, bool): raise TypeError(f"vmap of {name_of(f)}: {what} is {given!r}; an axis is a number, or None for what has none, in a tuple, list or dict like the tree")
  return spread(given, tree, f"vmap of {name_of(f)}: {what}")
def _axis(t, axis, f, what):
  if not -t.ndim <= axis < t.ndim: raise IndexError(f"vmap of {name_of(f)}: {what} names axis {axis} of a tensor of shape {t.shape}, which has {t.ndim} axes")
  return axis % t.ndim

def vmap(f, in_axes=0, out_axes=0):
  """A function that is `f` over an axis of its arguments: vmap(f)(xs)[i] is f(xs[i]).

  in_axes: the axis of each argument (a number for all, or a tuple or tree with one for each); None passes an argument on whole.
  out_axes: the position of the axis in the results; None for a result that depends on no mapped argument.
  Shapes: f: (a,) -> (b,) gives (n, a) -> (n, b). Keyword arguments are mapped over axis 0.
  Random numbers that f draws are drawn once and are the same in every call: map over drawn ones to have others in each."""
  if not isinstance(in_axes, (int, type(None), tuple, list)): raise TypeError(f"vmap of {name_of(f)}: in_axes is {in_axes!r}; it is a number for all arguments, or a tuple with a number, None or tree for each")
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def mapped(*args, **kwargs):
    axes = None
    def chosen(leaves, tree):
      nonlocal axes
      axes = _axes(in_axes if isinstance(in_axes, (int, type(None))) else tuple(in_axes), tree[0], f, "in_axes")
      axes += [0] * (len(leaves) - len(axes))
      return [a is not None and not (isinstance(in_axes, int) and not isinstance(x, Tensor)) for x, a in zip(leaves, axes)]
    a = Arguments(f, args, kwargs, chosen)
    if not a.at: raise ValueError(f"vmap of {name_of(f)}: no argument is mapped; in_axes needs a number for at least one tensor (arguments: {', '.join(type(x).__name__ for x in a.leaves) or 'none'})")
    fronts = [_move(t, _axis(t, axes[i], f, "in_axes"), 0) for i, t in zip(a.at, a.tensors)]
    lengths = [t.shape[0] for t in fronts]
    if any(n != lengths[0] for n in lengths): raise ValueError(f"vmap of {name_of(f)}: mapped axes have lengths {lengths}; they must be equal")
    traced = Trace(f, a.call, [(t.shape[1:], t.dtype, t.device) for t in fronts])
    outs = _uopscope.batch_values(uops_of(traced.outs), traced.keys, uops_of(fronts), lengths[0])
    places = _axes(out_axes, traced.tree, f, "out_axes")
    return traced.results([_placed(tensor_of(u), one, place, f) for u, one, place in zip(outs, traced.outs, places)])
  return mapped

def _placed(t, one, place, f):
  if place is not None: return _move(t, 0, _axis(t, place, f, "out_axes"))
  try: _uopscope.refuse_placeholders([one.uop])
  except RuntimeError: raise ValueError(f"vmap of {name_of(f)}: out_axes is None for a result of shape {one.shape} that depends on a mapped argument") from None
  return one

# --- forward ---

def _check_tangents(f, primals, tangents, what):
  (values, tree), (given, other) = flatten(tuple(primals)), flatten(tuple(tangents))
  if not same(tree, other): raise ValueError(f"{name_of(f)}: {what} have the structure {other}, the values {tree}")
  check_tensors(given, f, what)
  for x, t in zip(values, given):
    if x.shape != t.shape: raise ValueError(f"{name_of(f)}: one of the {what} has shape {t.shape}, its value {x.shape}")
    if not x.is_floating_point() and t.is_floating_point(): raise TypeError(f"{name_of(f)}: one of the {what} has type {t.dtype}, its value {x.dtype}, which does not vary: cast the value, or leave it out by a function of the others")
    if x.is_floating_point() and t.dtype != x.dtype: raise TypeError(f"{name_of(f)}: one of the {what} has type {t.dtype}, its value {x.dtype}")
  return given

def _tangents(traced, primals, tangents):
  """The tangents of the traced results, over the placeholders, for tangents of the float arguments."""
  floats = [i for i, p in enumerate(primals) if p.is_floating_point()]
  each = _uopscope.tangents_of(uops_of(traced.outs), [traced.keys[i] for i in floats], [tangents[i].uop for i in floats])
  return [or_zeros(u, like) for u, like in zip(each, traced.outs)]

def jvp(f, primals, tangents, has_aux=False):
  """(f(*primals), its derivative along the tangents). Both are tuples of trees; a tangent has the shape and type of its value.

  The derivative is linear in the tangents: jvp(f, (x,), (v,))[1] is jacfwd(f)(x) times v. With has_aux, f answers (result, aux)
  and so does jvp, aux last."""
  primals, tangents = as_tuple(primals), as_tuple(tangents)
  given = _check_tangents(f, primals, tangents, "tangents")
  a = Arguments(f, primals, {}, every_tensor)
  traced = a.trace(has_aux)
  n = len(traced.outs)
  done = applied(traced, traced.outs + _tangents(traced, a.tensors, given), a.tensors)
  both = traced.results(done[:n]), traced.results(done[n:])
  return (*both, traced.aux_of(a.tensors)) if has_aux else both

def linearize(f, *primals, has_aux=False):
  """(f(*primals), a function of tangents): the derivative is derived once, however often it is applied.

  With has_aux, f answers (result, aux) and so does linearize, aux last."""
  a = Arguments(f, primals, {}, every_tensor)
  traced = a.trace(has_aux)
  slots = [new_placeholder(*form_of(t)) for t in a.tensors]
  derived, kept = _tangents(traced, a.tensors, [t for _, t in slots]), kept_values(a.tensors)
  def pushforward(*tangents):
    given = _check_tangents(f, primals, tangents, "tangents")
    return traced.results([tensor_of(u) for u in _uopscope.apply_values(uops_of(derived), traced.keys + [key for key, _ in slots], uops_of(kept + given))])
  both = traced.results(applied(traced, traced.outs, a.tensors)), pushforward
  return (*both, traced.aux_of(a.tensors)) if has_aux else both

# --- reverse ---

def _cotangents(traced, seeds, keys, likes):
  """The gradients of the sum of outs times seeds with respect to the placeholders `keys`, in the shapes of `likes`."""
  floats = [i for i, t in enumerate(traced.outs) if t.is_floating_point()]
  each = _uopscope.cotangents_of([traced.outs[i].uop for i in floats], [seeds[i].uop for i in floats], keys)
  return [tensor_of(u).reshape(like.shape) if u is not None else like.zeros_like() for u, like in zip(each, likes)]

def vjp(f, *primals, has_aux=False):
  """(f(*primals), a function of cotangents), which returns a tuple with one gradient for each argument.

  A cotangent has the structure and shapes of the result. With has_aux, f answers (result, aux) and so does vjp, aux last."""
  a = Arguments(f, primals, {}, every_tensor)
  traced, kept = a.trace(has_aux), kept_values(a.tensors)
  out = traced.results(applied(traced, traced.outs, a.tensors))
  def pullback(cotangent):
    seeds = _check_tangents(f, (traced.results(traced.outs),), (cotangent,), "cotangents")
    grads = applied(traced, _cotangents(traced, seeds, traced.keys, kept), kept)
    leaves = [None if not isinstance(x, Tensor) else x for x in a.leaves]
    for i, g in zip(a.at, grads): leaves[i] = g
    return unflatten(a.tree, leaves)[0]
  return (out, pullback, traced.aux_of(a.tensors)) if has_aux else (out, pullback)

def value_and_grad(f, argnums=0, has_aux=False):
  """A function that returns (f(...), its gradient with respect to the arguments `argnums`). f returns one float, of shape ().

  With has_aux, f returns (value, aux), and this function ((value, aux), gradient)."""
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def both(*args, **kwargs):
    part, chosen = partial_of(f, args, kwargs, argnums)
    value, pullback, *aux = vjp(part, *chosen, has_aux=has_aux)
    if not isinstance(value, Tensor): raise TypeError(f"{name_of(f)} answers {type(value).__name__}: a gradient is of one tensor of shape () (has_aux=True for a pair)")
    if value.shape != () or not value.is_floating_point(): raise TypeError(f"{name_of(f)} answers a tensor of shape {value.shape} and type {value.dtype}: a gradient is of one float, of shape () (jacrev is for others)")
    grads = pullback(value.ones_like())
    return ((value, aux[0]) if has_aux else value), unwrapped(argnums, grads)
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
