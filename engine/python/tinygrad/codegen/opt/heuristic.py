# Opts chosen by looking at the kernel: the engine's own choice (codegen/heuristic.cpp).
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

def hand_coded_optimizations(k):
  """A copy of the Scheduler with the chosen Opts applied."""
  chosen = k.copy()
  chosen._kernel.choose()
  return chosen
