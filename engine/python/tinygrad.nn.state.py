# Parameters of a model by name.
from tinygrad.tensor import Tensor

def get_state_dict(obj, prefix="", tensor_type=Tensor):
  if isinstance(obj, tensor_type): return {prefix.strip("."): obj}
  if hasattr(obj, "_asdict"): return get_state_dict(obj._asdict(), prefix, tensor_type)
  if isinstance(obj, (list, tuple)): items = ((str(i), x) for i, x in enumerate(obj))
  elif isinstance(obj, dict): items = ((str(k), x) for k, x in obj.items())
  elif hasattr(obj, "__dict__"): items = obj.__dict__.items()
  else: return {}
  out = {}
  for name, x in items: out.update(get_state_dict(x, f"{prefix}{name}.", tensor_type))
  return out
def get_parameters(obj): return list(get_state_dict(obj).values())
def load_state_dict(model, state_dict, strict=True, verbose=True, consume=False, realize=True):
  out = []
  for name, t in get_state_dict(model).items():
    if name not in state_dict:
      if strict: raise KeyError(name)
      continue
    if t.shape != state_dict[name].shape: raise ValueError(f"Shape mismatch in layer `{name}`: Expected shape {t.shape}, but found {state_dict[name].shape} in state dict.")
    out.append(t.replace(state_dict[name].to(t.device)))
    if realize: t.realize()
  return out
