# Compilers of CPU kernels from C: to an object file, or to code that can be called in place.
from tinygrad.device import Compiler, _EngineCompiler
from uopscope.absent import lacking
from uopscope.elf import jit_loader
__getattr__ = lacking(__name__)

class ClangCompiler(_EngineCompiler):
  def __init__(self, cachekey="compile_clang"): super().__init__("CPU")
class ClangJITCompiler(ClangCompiler):
  def compile(self, src): return jit_loader(super().compile(src), link_libs=["m"])
