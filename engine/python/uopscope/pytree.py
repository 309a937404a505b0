# Trees of tensors: lists, tuples (named ones too), dicts and None hold tensors, as arguments and results of functions do.
#
#   leaves, tree = flatten({"w": w, "b": [b, c]})       # [b, c, w]: dicts in the order of their keys
#   unflatten(tree, leaves)                              # the same dict
class Leaf:
  def __repr__(self): return "*"
LEAF = Leaf()

def _is_named(x): return isinstance(x, tuple) and hasattr(x, "_fields")

def flatten(tree):
  """The leaves of a tree in order, and the tree with `LEAF` in their places."""
  leaves = []
  def walk(x):
    if x is None: return None
    if isinstance(x, dict): return {k: walk(x[k]) for k in sorted(x, key=lambda k: (str(type(k)), k))}
    if _is_named(x): return type(x)(*map(walk, x))
    if isinstance(x, (list, tuple)): return type(x)(map(walk, x))
    leaves.append(x)
    return LEAF
  return leaves, walk(tree)

def unflatten(tree, leaves):
  """The tree with its leaves put back."""
  each = iter(leaves)
  def walk(x):
    if x is LEAF: return next(each)
    if isinstance(x, dict): return {k: walk(v) for k, v in x.items()}
    if _is_named(x): return type(x)(*map(walk, x))
    if isinstance(x, (list, tuple)): return type(x)(map(walk, x))
    return x
  return walk(tree)

def tree_map(f, *trees):
  """The tree of f(leaf of the first tree, leaf of the second, ...); all trees have one structure."""
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
  """One value for each leaf of `tree`: `prefix` is a tree that may end early, its ends holding for all below."""
  out = []
  def walk(p, t):
    if t is None: return
    if t is not LEAF and isinstance(p, (list, tuple, dict)):
      if isinstance(p, dict) != isinstance(t, dict) or len(p) != len(t) or (isinstance(p, dict) and p.keys() != t.keys()):
        raise ValueError(f"{what} {prefix} does not fit the arguments {tree}: it needs an entry for each of their parts")
      for k in (t if isinstance(t, dict) else range(len(t))): walk(p[k], t[k])
    elif t is LEAF: out.append(p)
    else:
      for v in (t.values() if isinstance(t, dict) else t): walk(p, v)
  walk(prefix, tree)
  return out
