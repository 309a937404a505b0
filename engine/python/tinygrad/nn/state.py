# Parameters of a model by name, and the file formats for them. Readers take a path or a tensor of bytes. The tensors they
# return are on DISK, in the file, until they are moved or loaded into a model.
#
#   nn.state.safe_save(nn.state.get_state_dict(model), "model.safetensors")
#   nn.state.load_state_dict(model, nn.state.safe_load("model.safetensors"))
from collections import OrderedDict
from tinygrad.tensor import Tensor
from tinygrad.helpers import CI, DEBUG, GlobalCounters, Timing, tqdm
from uopscope.reader import TensorIO
from uopscope.safetensors import inverse_safe_dtypes, safe_dtypes, safe_load, safe_load_metadata, safe_save
from uopscope.archives import tar_extract, zip_extract
from uopscope.torch_file import torch_load
from uopscope.gguf import ggml_data_to_tensor, gguf_load
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

def _children(obj):
  if hasattr(obj, "_asdict"): return obj._asdict().items()
  if isinstance(obj, dict): return obj.items()
  if isinstance(obj, (list, tuple)): return enumerate(obj)
  return getattr(obj, "__dict__", {}).items()

def get_state_dict(obj, prefix="", tensor_type=Tensor):
  """Every tensor in an object's attributes, lists and dicts, by its path: "layers.0.weight"."""
  if isinstance(obj, tensor_type): return {prefix.strip("."): obj}
  found = {}
  for name, child in _children(obj): found.update(get_state_dict(child, f"{prefix}{name}.", tensor_type))
  return found

def get_parameters(obj): return list(get_state_dict(obj).values())

def _fitting(name, target, value):
  if target.shape == value.shape: return value
  if {target.shape, value.shape} == {(), (1,)}: return value.reshape(target.shape)
  raise ValueError(f"Shape mismatch in layer `{name}`: Expected shape {target.shape}, but found {value.shape} in state dict.")

def _moved(target, value):
  if not isinstance(target.device, tuple): return value.to(target.device)
  return value if isinstance(value.device, tuple) else value.shard(target.device, target.uop.axis)

def load_state_dict(model, state_dict, strict=True, verbose=True, consume=False, realize=True):
  """Gives the tensors of a model the values of a state dict, and returns them. `strict`: every name must be in the dict.
  `consume`: removes values from the dict, so that their memory is freed while they are loaded."""
  loaded, before = [], GlobalCounters.mem_used
  def rate(ns): return f", {(GlobalCounters.mem_used - before) / 1e9:.2f} GB loaded at {(GlobalCounters.mem_used - before) / ns:.2f} GB/s"
  with Timing("loaded weights in ", rate, enabled=verbose):
    targets = get_state_dict(model)
    if DEBUG >= 1 and (unused := sorted(state_dict.keys() - targets.keys())): print("WARNING: unused weights in state_dict", unused)
    for name, target in (bar := tqdm(targets.items(), disable=CI or not verbose)):
      bar.desc = f"ram used: {GlobalCounters.mem_used / 1e9:5.2f} GB, {name:50s}: "
      if name not in state_dict and not strict:
        if DEBUG >= 1: print(f"WARNING: not loading {name}")
        continue
      target.replace(_moved(target, _fitting(name, target, state_dict[name])))
      if realize: target.realize()
      if consume: del state_dict[name]
      loaded.append(target)
  return loaded
