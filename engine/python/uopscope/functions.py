# Functions as data: pickle writes functions by name, but lambdas and inner functions cannot be found by name.
#
#   f = from_parts(pickle.loads(pickle.dumps(to_parts(lambda x: x + 1))))
#
# A function is stored as its code, its defaults and the values in its closure. Its module is imported when it is made again.
# Code belongs to one version of Python, so such pickles can be loaded by the same version alone.
import copyreg, importlib, marshal, sys, types

def to_parts(f):
  """The parts of a function. Any other object, and a function with a name in its module, is returned unchanged."""
  if not isinstance(f, types.FunctionType): return f
  if getattr(sys.modules.get(f.__module__), f.__qualname__, None) is f: return f
  return ("function", f.__code__, f.__module__, f.__name__, f.__defaults__, tuple(cell.cell_contents for cell in f.__closure__ or ()))

def from_parts(parts):
  if not isinstance(parts, tuple): return parts
  _, code, module, name, defaults, values = parts
  return types.FunctionType(code, importlib.import_module(module).__dict__, name, defaults, tuple(map(types.CellType, values)))

copyreg.pickle(types.CodeType, lambda code: (marshal.loads, (marshal.dumps(code),)))
copyreg.pickle(types.ModuleType, lambda module: (importlib.import_module, (module.__name__,)))
