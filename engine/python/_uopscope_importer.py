# Serves the Python files embedded in _uopscope to the embedded interpreter. A plain Python reads the same files from the
# folder python/ of the build.
#
#   import tinygrad.nn          reads _uopscope.sources["tinygrad/nn/__init__.py"]
import sys, importlib.util, _uopscope

class _Importer:
  @staticmethod
  def _path(name):
    base = name.replace(".", "/")
    return next((path for path in (f"{base}/__init__.py", f"{base}.py") if path in _uopscope.sources), None)
  @staticmethod
  def find_spec(name, path=None, target=None):
    file = _Importer._path(name)
    if file is None: return None
    return importlib.util.spec_from_loader(name, _Importer, origin=f"<uopscope>/{file}", is_package=file.endswith("/__init__.py"))
  @staticmethod
  def create_module(spec): return None
  @staticmethod
  def exec_module(module):
    module.__file__ = module.__spec__.origin
    exec(_Importer.get_code(module.__name__), module.__dict__)
  @staticmethod
  def get_code(name):
    file = _Importer._path(name)
    return compile(_uopscope.sources[file], f"<uopscope>/{file}", "exec")
  @staticmethod
  def get_source(name): return _uopscope.sources.get(_Importer._path(name))

class _OwnFunctions:
  """Packages that bring a library of which this process already has a different version, since LLVM uses it. Such a library
  searches itself first for functions: one of the other version would read its data with a different layout."""
  libraries = {"z3": "libz3"}
  @staticmethod
  def find_spec(name, path=None, target=None):
    library = _OwnFunctions.libraries.pop(name, None)
    if library:
      import ctypes, os
      opened = ctypes.CDLL.__init__
      def open_apart(self, file, mode=ctypes.DEFAULT_MODE, *rest, **named):
        opened(self, file, mode | (os.RTLD_DEEPBIND if library in os.path.basename(str(file)) else 0), *rest, **named)
      ctypes.CDLL.__init__ = open_apart
    return None

sys.meta_path[:0] = [_Importer, _OwnFunctions]
