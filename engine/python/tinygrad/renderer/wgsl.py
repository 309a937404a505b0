# WGSL, the shading language of WebGPU. It is rendered without such a device.
from tinygrad.renderer.cstyle import CStyleLanguage
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class WGSLRenderer(CStyleLanguage): device = "NULL:WGSL"
