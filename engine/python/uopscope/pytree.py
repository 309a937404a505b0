# Trees of tensors: arguments and results of functions hold tensors in lists, tuples (also named ones), dicts and None.
#
#   leaves, tree = flatten({"w": w, "b": [b, c]})       # [b, c, w]: dicts in the order of their keys
#   unflatten(tree, leaves)                              # the same dict
from collections import OrderedDict

class Leaf:
  def __repr__(self): return "*"
LEAF = Leaf()

def _is_named(x): return isinstance(x, tuple) and hasattr(x, "_fields")

# These functions are not inner functions: an inner recursive function would keep the leaves alive until Python collects
# cycles.
def _take(x, leaves):
  if x is None: return None
  if isinstance(x, OrderedDict): return OrderedDict((k, _take(v, leaves)) for k, v in x.items())
  if isinstance(x, dict): return {k: _take(x[k], leaves) for k in sorted(x, key=lambda k: (str(type(k)), k))}
  if _is_named(x): return type(x)(*[_take(v, leaves) for v in x])
  if isinstance(x, (list, tuple)): return type(x)([_take(v, leaves) for v in x])
  leaves.append(x)
  return LEAF

def flatten(tree):
  """The leaves of a tree in order, and the tree with `LEAF` in their places."""
  leaves = []
  return leaves, _take(tree, leaves)

def _put(x, each):
  if x is LEAF: return next(each)
  if isinstance(x, dict): return type(x)((k, _put(v, each)) for k, v in x.items())
  if _is_named(x): return type(x)(*[_put(v, each) for v in x])
  if isinstance(x, (list, tuple)): return type(x)([_put(v, each) for v in x])
  return x

def unflatten(tree, leaves):
  """The tree with its leaves put back."""
  return _put(tree, iter(leaves))

def tree_map(f, *trees):
  """The tree of f(leaf of the first tree, leaf of the second tree, ...); all trees must have one structure."""
  flat = [flatten(t) for t in trees]
  if any(not same(t, flat[0][1]) for _, t in flat): raise ValueError(f"trees of one structure are needed: {' and '.join(str(t) for _, t in flat)}")
  return unflatten(flat[0][1], [f(*each) for each in zip(*(leaves for leaves, _ in flat))])

def same(a, b):
  """Whether two trees of LEAFs have one structure; lists and tuples differ."""
  if a is LEAF or b is LEAF or a is None or b is None: return a is b
  if type(a) is not type(b): return False
  if isinstance(a, dict): return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
  return len(a) == len(b) and all(map(same, a, b))

def spread(prefix, tree, what):
  """One value for each leaf of `tree`: `prefix` is a tree that may end early; a value where it ends holds for all leaves
  below."""
  if tree is None: return []
  if tree is LEAF: return [prefix]
  keys = list(tree if isinstance(tree, dict) else range(len(tree)))
  if not isinstance(prefix, (list, tuple, dict)): return [p for k in keys for p in spread(prefix, tree[k], what)]
  if isinstance(prefix, dict) != isinstance(tree, dict) or (prefix.keys() != tree.keys() if isinstance(tree, dict) else len(prefix) != len(tree)):
    raise ValueError(f"{what} {prefix} does not fit {tree}: it needs an entry for each part")
  return [p for k in keys for p in spread(prefix[k], tree[k], what)]
