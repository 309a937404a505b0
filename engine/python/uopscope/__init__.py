# What is ours alone: transforms of functions, settings of the engine, memory of the tensor graph, errors.
from _uopscope import (ArgumentError, CallError, ShapeError, CompileError, DeviceError, RewriteError, SpecError, UnsupportedError, collect_nodes, live_tensors, clear_schedule_cache)
from uopscope.transforms import vmap, jvp, vjp, linearize, grad, value_and_grad, jacfwd, jacrev, hessian, hvp
from uopscope.derivatives import checkpoint, custom_jvp, custom_vjp
from uopscope.sparse import Sparse, sparse_jacobian, sparse_hessian

def explain(pm, rule, uop):
  """Why a rule of a matcher does not apply to a node; an empty text where its pattern matches."""
  return pm.explain(rule, uop)
