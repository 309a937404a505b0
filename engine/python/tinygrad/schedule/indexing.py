# Loops of tensor graphs and their indices. The passes are in C++ (engine/schedule).
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
