# What devices are made of, by the reference's modules.
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
