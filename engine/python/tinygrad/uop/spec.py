# The specs of valid graphs: the engine's rules, by stage. A script may add rules. A rule returns True or a node (valid),
# False (not valid) or None (try the next rule).
#
#   type_verify(tensor.uop, tensor_spec)      raises RuntimeError naming the first node that is not valid
from _uopscope import builtin_matcher as _builtin
from uopscope.absent import lacking
from tinygrad.uop.ops import UOp
__getattr__ = lacking(__name__)

tensor_spec, kernel_spec, program_spec = _builtin("tensor_spec"), _builtin("kernel_spec"), _builtin("program_spec")
shared_spec = kernel_spec
full_spec = tensor_spec + kernel_spec + program_spec

def type_verify(ast, check_spec=full_spec):
  """Raises RuntimeError naming the first node that no rule of the spec finds valid."""
  nodes = list(ast.toposort()) if isinstance(ast, UOp) else list(ast)
  for i, u in enumerate(nodes):
    if (answer := check_spec.rewrite(u)) is None or answer is False:
      sources = ", ".join(f"{x.op.name} {x.dtype} {x.arg}" for x in u.src)
      raise RuntimeError(f"UOp verification failed at {i} on {u.op} {u.dtype} {u.arg} of ({sources}): no rule finds it valid")
