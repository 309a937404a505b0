# Renderers of C-like languages under the names of the reference; each stands for a renderer of the engine. CUDA, METAL and
# CL render without such a device (DEV=NULL:CUDA).
from tinygrad.renderer import Renderer
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class CStyleLanguage(Renderer): device = "CPU"
class ClangRenderer(CStyleLanguage): device = "CPU"
class ClangJITRenderer(ClangRenderer): pass
class CUDARenderer(CStyleLanguage):
  device = "NULL:CUDA"
  def __init__(self, arch="sm_80"):
    super().__init__()
    self.arch = arch
class MetalRenderer(CStyleLanguage): device = "NULL:METAL"
class OpenCLRenderer(CStyleLanguage): device = "NULL:CL"
