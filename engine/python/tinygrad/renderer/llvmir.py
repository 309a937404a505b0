# LLVM IR, for CPUs.
from tinygrad.renderer import Renderer
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class LLVMRenderer(Renderer): device = "CPU"
class CPULLVMRenderer(LLVMRenderer): pass
