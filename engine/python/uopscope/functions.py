# Functions as data: pickle writes functions by name, which lambdas and inner functions do not have.
#
#   f = from_parts(pickle.loads(pickle.dumps(to_parts(lambda x: x + 1))))
#
# A function is its code, its defaults and the values it closes over; its module is imported where it is made again. Code is
# that of one version of Python, so such pickles are for the same version.
import copyreg, importlib, marshal, sys, types

def to_parts(f):
  """What the function is made of; anything else, and functions that have a name in their module, as they are."""
  if not isinstance(f, types.FunctionType): return f
  if getattr(sys.modules.get(f.__module__), f.__qualname__, None) is f: return f
  return ("function", f.__code__, f.__module__, f.__name__, f.__defaults__, tuple(cell.cell_contents for cell in f.__closure__ or ()))

def from_parts(parts):
  if not isinstance(parts, tuple): return parts
  _, code, module, name, defaults, values = parts
  return types.FunctionType(code, importlib.import_module(module).__dict__, name, defaults, tuple(map(types.CellType, values)))

copyreg.pickle(types.CodeType, lambda code: (marshal.loads, (marshal.dumps(code),)))
copyreg.pickle(types.ModuleType, lambda module: (importlib.import_module, (module.__name__,)))
