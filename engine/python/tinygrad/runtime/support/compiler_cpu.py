# Compilers of CPU kernels from C.
from tinygrad.device import Compiler, _EngineCompiler
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class ClangJITCompiler(_EngineCompiler):
  def __init__(self, cachekey="compile_clang_jit"): super().__init__("CPU")
ClangCompiler = ClangJITCompiler
