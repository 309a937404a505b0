# Linearisation: from a graph to an ordered list of instructions.
import _uopscope
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

def linearize(sink):
  """The instructions of a graph made by full_rewrite_to_sink."""
  return _uopscope.linearize(sink)
