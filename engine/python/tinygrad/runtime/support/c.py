# Structures of C, from uopscope.c_structs.
from uopscope.absent import lacking
from uopscope.c_structs import Struct
__getattr__ = lacking(__name__)
