# Devices by module, as the reference names them.
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
