# The names outside of tinygrad's: transforms of functions, settings of the engine, memory of the tensor graph, errors.
#
#   from uopscope import vmap, grad
#   import uopscope; uopscope.as_tinygrad(); from tinygrad import Tensor      # the installed package: see as_tinygrad
#
# The modules of transforms are imported at the first use of one of their names, since `import tinygrad` imports this one
# too.
import importlib, os, sys
from _uopscope import (ArgumentError, CallError, ShapeError, CompileError, DeviceError, RewriteError, SpecError, UnsupportedError, collect_nodes, live_tensors, clear_schedule_cache)
from uopscope.recording import record, scope

_MODULES = {"transforms": "vmap jvp vjp linearize grad value_and_grad", "jacobians": "jacfwd jacrev hessian hvp", "derivatives": "checkpoint custom_jvp custom_vjp",
            "sparse": "Sparse sparse_jacobian sparse_hessian", "optim": ""}
_WHERE = {name: module for module, names in _MODULES.items() for name in names.split()}

_NAMES = os.path.join(os.path.dirname(__file__), "names")  # where an installed package has the names of tinygrad
_TINYGRAD = {"Tensor", "TinyJit", "UOp", "Variable", "dtypes", "Device", "GlobalCounters", "Context", "nn"}

def as_tinygrad():
  """Makes `import tinygrad` import this engine, in this process.

  A uopscope installed by pip keeps the names of tinygrad in a separate folder, so that it can be installed beside the
  reference. This function puts that folder first. Using a name of uopscope that needs it (`Tensor`, `vmap` ...) does the
  same. In `uopscope python`, or with PYTHONPATH set to the modules, the folder is first from the start, and this function
  does nothing.

  Raises ImportError if a different tinygrad was imported before: a process has one module of a name."""
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
  """The reason why a rule of a matcher does not apply to a node; an empty text if its pattern matches."""
  return pm.explain(rule, uop)
