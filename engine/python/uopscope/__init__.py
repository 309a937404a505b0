# What is ours alone: transforms of functions, settings of the engine, memory of the tensor graph, errors.
#
#   from uopscope import vmap, grad
#
# Modules of transforms are read when one of their names is first asked for: `import tinygrad` comes by here as well.
import importlib
from _uopscope import (ArgumentError, CallError, ShapeError, CompileError, DeviceError, RewriteError, SpecError, UnsupportedError, collect_nodes, live_tensors, clear_schedule_cache)

_MODULES = {"transforms": "vmap jvp vjp linearize grad value_and_grad jacfwd jacrev hessian hvp", "derivatives": "checkpoint custom_jvp custom_vjp",
            "sparse": "Sparse sparse_jacobian sparse_hessian", "optim": ""}
_WHERE = {name: module for module, names in _MODULES.items() for name in names.split()}

from uopscope.recording import record, scope

def __getattr__(name):
  if name in _MODULES: return importlib.import_module(f"uopscope.{name}")
  if name not in _WHERE: raise AttributeError(f"uopscope has no {name}")
  globals()[name] = found = getattr(importlib.import_module(f"uopscope.{_WHERE[name]}"), name)
  return found
def __dir__(): return [*globals(), *_WHERE, *_MODULES]

def explain(pm, rule, uop):
  """Why a rule of a matcher does not apply to a node; an empty text where its pattern matches."""
  return pm.explain(rule, uop)
