# Jacobians and Hessians as tensors. Seeds are unit vectors, one vmap over all of them; where the graph shows that most elements
# are zero, seeds that do not meet are one (uopscope/patterns.py).
#
#   jacfwd(lambda x: x * x)(Tensor([1., 2.]))        # [[2, 0], [0, 4]]
import functools
import _uopscope
from uopscope.patterns import dense_of, sparse_pattern, unit_vectors, values_of
from uopscope.pytree import unflatten
from uopscope.tracing import Arguments, applied, as_tuple, every_tensor, form_of, new_placeholder, or_zeros, partial_of, tensor_of, unwrapped, uops_of
from uopscope.transforms import grad, jvp

def _jacobian(f, argnums, has_aux, blocks_of):
  """The function that answers the tree of results of trees of arguments; blocks_of(traced, tensors) is [result][argument]."""
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def jacobian(*args, **kwargs):
    part, chosen = partial_of(f, args, kwargs, argnums)
    a = Arguments(part, chosen, {}, every_tensor)
    traced, count = a.trace(has_aux=has_aux), len(a.tensors)
    blocks = blocks_of(traced, a.tensors)
    done = applied(traced, [b for row in blocks for b in row], a.tensors)
    rows = [done[i * count:(i + 1) * count] for i in range(len(blocks))]
    answer = traced.results([unwrapped(argnums, unflatten(a.tree[0], row)) for row in rows])
    return (answer, traced.aux_of(a.tensors)) if has_aux else answer
  return jacobian

def _by_pattern(traced, out, i, x, by_columns):
  pattern = sparse_pattern(out, traced.keys[i], by_columns)
  return pattern and dense_of(values_of(out, traced.keys, i, x, pattern), pattern).reshape((*out.shape, *x.shape))

def _columns(traced, tensors):
  blocks = [[_by_pattern(traced, out, i, x, True) for i, x in enumerate(tensors)] for out in traced.outs]
  for i, x in enumerate(tensors):
    left = [k for k, row in enumerate(blocks) if row[i] is None]
    key, slot = new_placeholder(*form_of(x))
    outs = [traced.outs[k] for k in left]
    each = _uopscope.tangents_of(uops_of(outs), [traced.keys[i]], [slot.uop]) if left else []
    each = [or_zeros(u, out) for u, out in zip(each, outs)]
    each = _uopscope.batch_values(uops_of(each), [key], [unit_vectors(x).uop], x.numel()) if left else []
    for k, out, u in zip(left, outs, each): blocks[k][i] = tensor_of(u).permute((*range(1, out.ndim + 1), 0)).reshape((*out.shape, *x.shape))
  return blocks

def _rows(traced, tensors):
  blocks = []
  for out in traced.outs:
    if not out.is_floating_point():
      blocks.append([x.zeros_like().reshape((*[1] * out.ndim, *x.shape)).expand((*out.shape, *x.shape)) for x in tensors])
      continue
    row = [_by_pattern(traced, out, i, x, False) for i, x in enumerate(tensors)]
    left = [i for i, block in enumerate(row) if block is None]
    if left:
      key, slot = new_placeholder(*form_of(out))
      each = _uopscope.cotangents_of([out.uop], [slot.uop], [traced.keys[i] for i in left])
      each = [tensor_of(u).reshape(tensors[i].shape) if u is not None else tensors[i].zeros_like() for i, u in zip(left, each)]
      each = _uopscope.batch_values(uops_of(each), [key], [unit_vectors(out).uop], out.numel())
      for i, u in zip(left, each): row[i] = tensor_of(u).reshape((*out.shape, *tensors[i].shape))
    blocks.append(row)
  return blocks

def jacfwd(f, argnums=0, has_aux=False):
  """A function that answers the Jacobian of `f` by forward derivatives, one for each element of the arguments `argnums`, or for
  each colour of its columns where the graph shows most elements to be zero.

  Shapes: f: (a, b) -> (c,) gives (c, a, b). Results and arguments may be trees: a tree of results of trees of arguments.
  With has_aux, f answers (result, aux), and this (Jacobian, aux)."""
  return _jacobian(f, argnums, has_aux, _columns)

def jacrev(f, argnums=0, has_aux=False):
  """A function that answers the Jacobian of `f` by reverse derivatives, one for each element of the result, or for each colour of
  its rows; shapes as of jacfwd.

  The better one where the result has fewer elements than the arguments."""
  return _jacobian(f, argnums, has_aux, _rows)

def hessian(f, argnums=0, has_aux=False):
  """A function that answers the second derivatives of `f`: forward over reverse. f: (a,) -> () gives (a, a)."""
  return jacfwd(jacrev(f, argnums, has_aux), argnums, has_aux)

def hvp(f, primals, tangents):
  """The Hessian of `f`, which answers one float, times the tangents, without the Hessian: in the structure of the arguments.

  One argument may stand alone: hvp(f, x, v) is hessian(f)(x) times v."""
  args = as_tuple(primals)
  out = jvp(grad(f, tuple(range(len(args)))), args, as_tuple(tangents))[1]
  return out if isinstance(primals, tuple) else out[0]
