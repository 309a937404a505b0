# Compilers of CPU kernels: to an object file, or to code that can be called in place.
#
#   Device["CPU"].compiler.compile(get_program(ast).src)      # CPULLVMCompiler, or ClangJITCompiler while CPU_LLVM=0
import re
from tinygrad.device import Compiler, _EngineCompiler
from uopscope.absent import lacking
from uopscope.elf import jit_loader
__getattr__ = lacking(__name__)

class ClangCompiler(_EngineCompiler):
  def __init__(self, cachekey="compile_clang"): super().__init__("CPU")
class ClangJITCompiler(ClangCompiler):
  def compile(self, src): return jit_loader(super().compile(src), link_libs=["m"])
class CPULLVMCompiler(ClangJITCompiler):
  """Compiles LLVM IR. A kernel's text is C here whatever compiles it, so C is taken as well."""
  def language(self, src): return "ir" if re.search(r"^define ", src, re.MULTILINE) else "c"
