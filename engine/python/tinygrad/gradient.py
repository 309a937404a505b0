# Gradients of graphs of UOps, on which Tensor.gradient is built.
import _uopscope
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

def compute_gradient(root, root_grad, targets):
  """The gradient of root, times root_grad, for each node between the targets and root: {node: gradient}."""
  return _uopscope.compute_gradient(root, root_grad, list(targets))
