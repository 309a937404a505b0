# Serves the modules that are embedded in _uopscope. Run once, by our own interpreter at its start and by the
# packages of a plain Python.
import sys, importlib.util, _uopscope

class _Importer:
  @staticmethod
  def find_spec(name, path=None, target=None):
    if name not in _uopscope.sources: return None
    package = any(other.startswith(name + ".") for other in _uopscope.sources)
    return importlib.util.spec_from_loader(name, _Importer, origin=f"<uopscope>/{name}.py", is_package=package)
  @staticmethod
  def create_module(spec): return None
  @staticmethod
  def exec_module(module):
    spec = module.__spec__
    module.__file__ = spec.origin
    exec(_Importer.get_code(spec.name), module.__dict__)
  @staticmethod
  def get_code(name): return compile(_uopscope.sources[name], f"<uopscope>/{name}.py", "exec")
  @staticmethod
  def get_source(name): return _uopscope.sources.get(name)

if not any(getattr(f, "__name__", "") == "_Importer" for f in sys.meta_path): sys.meta_path.insert(0, _Importer)
