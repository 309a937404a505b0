# The engine's rules of arithmetic, as matchers to inspect, extend and run.
#
#   graph_rewrite(node, symbolic + mine);  [r.name for r in symbolic.rules]
import functools
from _uopscope import Matcher, builtin_matcher as _builtin, compare_nodes as _compare_nodes
from uopscope.absent import lacking
from tinygrad.dtype import dtypes
from tinygrad.uop.ops import GroupOp, Ops, PatternMatcher, UPat, graph_rewrite
__getattr__ = lacking(__name__)

symbolic_simple, symbolic, sym = _builtin("symbolic_simple"), _builtin("symbolic"), _builtin("sym")
gep_pushing, pm_simplify_valid, pm_drop_and_clauses, pm_move_where_on_load = map(_builtin, ("push_gep", "simplify_valid", "drop_and_clauses", "move_where_on_load"))
pm_lower_index_dtype = _builtin("lower_index_dtype")

def _sorted_sum(x):
  """The terms in the order that a sum of indices has, from which it was lowered."""
  def base(term): return term.src[0] if term.op is Ops.MUL and term.src[1].op is Ops.CONST else term
  order = functools.cmp_to_key(lambda a, b: _compare_nodes(base(a), base(b)))
  terms = list(x.split_uop(Ops.ADD))
  numbers = [t for t in terms if t.op is Ops.CONST]
  made = functools.reduce(lambda a, b: a + b, sorted([t for t in terms if t.op is not Ops.CONST], key=order) + numbers)
  return made if made is not x else None
# The engine's order of sums and products: by the content of their operands, the constant last. Sums of integers that wrap keep
# theirs in the engine, which they have of the indices that they were.
commutative = Matcher([rule for rule in symbolic.rules if rule.name in ("normal-sum", "normal-product", "normal-operands", "constant-last")]) \
  + PatternMatcher([(UPat(Ops.ADD, dtypes.ints, name="x"), _sorted_sum)])

def simplify_valid(valid):
  """The condition without clauses that its other clauses imply; None if there are none, or if it reads memory."""
  if any(u.op in (Ops.INDEX, Ops.LOAD) for u in valid.toposort()): return None
  made = graph_rewrite(valid, symbolic + pm_simplify_valid)
  return made if made is not valid else None
def uop_given_valid(valid, uop, try_simplex=True):
  """The node, simplified under the assumption that the condition holds."""
  from tinygrad.dtype import Invalid
  made = graph_rewrite(uop.valid(valid), sym)
  return made.get_idx() if made.op is Ops.WHERE else made
