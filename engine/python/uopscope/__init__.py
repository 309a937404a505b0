# What is ours alone: transforms of functions, settings of the engine, memory of the tensor graph, errors.
#
#   from uopscope import vmap, grad
#   import uopscope; uopscope.as_tinygrad(); from tinygrad import Tensor      # the installed package: see as_tinygrad
#
# Modules of transforms are read when one of their names is first asked for: `import tinygrad` comes by here as well.
import importlib, os, sys
from _uopscope import (ArgumentError, CallError, ShapeError, CompileError, DeviceError, RewriteError, SpecError, UnsupportedError, collect_nodes, live_tensors, clear_schedule_cache)
from uopscope.recording import record, scope

_MODULES = {"transforms": "vmap jvp vjp linearize grad value_and_grad", "jacobians": "jacfwd jacrev hessian hvp", "derivatives": "checkpoint custom_jvp custom_vjp",
            "sparse": "Sparse sparse_jacobian sparse_hessian", "optim": ""}
_WHERE = {name: module for module, names in _MODULES.items() for name in names.split()}

_NAMES = os.path.join(os.path.dirname(__file__), "names")  # where an installed package keeps the names of tinygrad
_TINYGRAD = {"Tensor", "TinyJit", "UOp", "Variable", "dtypes", "Device", "GlobalCounters", "Context", "nn"}

def as_tinygrad():
  """Makes `import tinygrad` give this engine, in this process.

  Where uopscope was installed by pip the names of tinygrad are out of the way, so that it can stand beside the reference; this
  puts them first. Asking for any name of uopscope that needs them (`Tensor`, `vmap` ...) does the same. In `uopscope python`, or
  with PYTHONPATH at the modules, it is so from the start, and this does nothing.

  Raises ImportError where another tinygrad was imported before: one process has one module of a name.
  """
  loaded = sys.modules.get("tinygrad")
  if loaded is not None and not getattr(loaded, "is_uopscope", False):
    raise ImportError(f"tinygrad is imported already, from {getattr(loaded, '__file__', 'elsewhere')}: call uopscope.as_tinygrad() before the first `import tinygrad`, or start another process")
  if os.path.isdir(_NAMES) and _NAMES not in sys.path: sys.path.insert(0, _NAMES)

def __getattr__(name):
  if name in _MODULES or name in _WHERE or name in _TINYGRAD: as_tinygrad()
  if name in _TINYGRAD: return getattr(importlib.import_module("tinygrad"), name)
  if name in _MODULES: return importlib.import_module(f"uopscope.{name}")
  if name not in _WHERE: raise AttributeError(f"uopscope has no {name}")
  globals()[name] = found = getattr(importlib.import_module(f"uopscope.{_WHERE[name]}"), name)
  return found
def __dir__(): return [*globals(), *_WHERE, *_MODULES, *_TINYGRAD]

def explain(pm, rule, uop):
  """Why a rule of a matcher does not apply to a node; an empty text where its pattern matches."""
  return pm.explain(rule, uop)
