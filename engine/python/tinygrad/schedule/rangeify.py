# Stored values, and kernels. The passes are in C++ (engine/schedule).
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
