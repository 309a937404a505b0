# Tensor cores: which shapes and types a device multiplies as a whole. Their layouts are the engine's (codegen/target.h).
from dataclasses import dataclass

@dataclass(frozen=True)
class TensorCore:
  """D = A * B + C of (N, M, K) by `threads` threads."""
  name: str
  dtype_in: object
  dtype_out: object
  threads: int
  def __str__(self): return f"WMMA_{self.name}_{self.dtype_in.name}_{self.dtype_out.name}"
