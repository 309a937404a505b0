# Models in ONNX files, run as tensor operations. uopscope.onnx_file reads the files, uopscope.onnx_registry has the table of
# operators, which uopscope.onnx_*operators fill.
#
#   model = OnnxRunner("model.onnx")
#   model.graph_inputs                                # {"x": OnnxValue(shape=("batch", 3, 224, 224), dtype=dtypes.float)}
#   y = model({"x": Tensor.rand(1, 3, 224, 224)})["y"]
import warnings
from tinygrad.dtype import dtypes
from tinygrad.helpers import getenv, is_numpy_ndarray
from tinygrad.tensor import Tensor
from uopscope.absent import lacking
from uopscope.onnx_file import OnnxDataType, OnnxGraph, OnnxNode, OnnxValue, read_model
from uopscope.onnx_registry import OPERATORS as onnx_ops, find_operator
import uopscope.onnx_attention_operators, uopscope.onnx_image_operators, uopscope.onnx_quantised_operators, uopscope.onnx_training_operators  # they fill the table
__getattr__ = lacking(__name__)

class OnnxRunner:
  """A model. A call with {input: tensor, array or number} returns {output: tensor}."""
  def __init__(self, model_path): self._set(read_model(model_path))
  def _set(self, graph):
    self._graph = graph
    self.graph_name, self.graph_nodes, self.graph_inputs, self.graph_outputs = graph.name, tuple(graph.nodes), dict(graph.inputs), graph.outputs
    self.graph_values = {"": None, **graph.values}
    self.variable_dims = {}
  def get_empty_input_data(self, device=None, dtype=None): return {name: Tensor.empty(*v.shape, device=device, dtype=dtype or v.dtype) for name, v in self.graph_inputs.items()}
  def to(self, device):
    """Moves the model's weights."""
    for values in (self.graph_values, *(n.opts for n in self.graph_nodes)):
      for name, value in values.items():
        if isinstance(value, Tensor): values[name] = value.to(device)
    return self

  def _input(self, name, value, spec):
    if value is None and spec.is_optional: return None
    if spec.is_sequence:
      if not isinstance(value, (list, tuple)): raise RuntimeError(f"input {name} is a sequence, it was given {type(value).__name__}")
      return [v if isinstance(v, Tensor) else Tensor(v, dtype=spec.dtype) for v in value]
    t = value if isinstance(value, Tensor) else Tensor(value) if is_numpy_ndarray(value) else Tensor(value, dtype=spec.dtype)
    if t.dtype != spec.dtype: warnings.warn(f"input {name} is of {spec.dtype}, it was given {t.dtype}")
    if len(spec.shape) != t.ndim: raise ValueError(f"input {name} has {len(spec.shape)} axes, it was given {t.shape}")
    for axis, (wanted, given) in enumerate(zip(spec.shape, t.shape)):
      if isinstance(wanted, str): wanted = self.variable_dims.setdefault(wanted, given) if wanted else given
      if wanted != given: raise RuntimeError(f"input {name} has {wanted} along axis {axis}, it was given {given}")
    return t

  def __call__(self, inputs, debug=getenv("DEBUGONNX", 0)):
    missing = [name for name in self.graph_inputs if name not in inputs]
    if missing: raise RuntimeError(f"no value for the input {missing[0]}: the model takes {', '.join(self.graph_inputs)}")
    self.variable_dims = {}
    values = dict(self.graph_values) | {name: self._input(name, inputs[name], spec) for name, spec in self.graph_inputs.items()}
    return _run(self._graph, values, debug)

def _run(graph, values, debug=0):
  for number, node in enumerate(graph.nodes):
    function = find_operator(node.domain, node.op)
    if function is None: raise NotImplementedError(f"node {number} is the operator {node.domain or 'ai.onnx'}.{node.op}, which uopscope does not have")
    if debug: print(f"{number}: {node.op} {node.inputs} -> {node.outputs}")
    opts = {name: value for name, value in node.opts.items() if name != "consumed_inputs"}  # a hint of the first versions
    if node.op in ("If", "Loop", "Scan"): opts["run"] = lambda branch, more=(): _run(branch, values | dict(more))
    if node.op == "Gradient": opts["named"] = values
    if node.op == "Split": opts.setdefault("num_outputs", len(node.outputs))
    try: answer = function(*[values[name] for name in node.inputs], version=node.version, **opts)
    except TypeError as e: raise TypeError(f"node {number}, {node.op} of version {node.version}: {e}") from e
    answers = answer if isinstance(answer, tuple) else (answer,)
    values.update(zip(node.outputs, answers))
  return {name: values[name] for name in graph.outputs}
