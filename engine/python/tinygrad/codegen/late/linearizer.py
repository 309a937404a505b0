# From a graph to instructions in order.
import _uopscope
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

def linearize(sink):
  """The instructions of a graph that full_rewrite_to_sink made."""
  return _uopscope.linearize(sink)
