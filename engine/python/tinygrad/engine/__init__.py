# Execution: the modules schedule, realize, jit and memory.
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
