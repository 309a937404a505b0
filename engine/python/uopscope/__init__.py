# What is ours alone: settings of the engine, memory of the tensor graph, errors.
from _uopscope import (ArgumentError, CallError, ShapeError, CompileError, DeviceError, RewriteError, SpecError, UnsupportedError, collect_nodes, live_tensors, clear_schedule_cache)

def explain(pm, rule, uop):
  """Why a rule of a matcher does not apply to a node; an empty text where its pattern matches."""
  return pm.explain(rule, uop)
