# Parts of devices, under the reference's module names.
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
