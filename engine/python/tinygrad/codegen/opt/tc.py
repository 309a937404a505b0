# Tensor cores: the shapes and types that a device multiplies as whole tiles. codegen/target.h has their layouts.
from dataclasses import dataclass

@dataclass(frozen=True)
class TensorCore:
  """D = A * B + C of size (N, M, K), computed by `threads` threads."""
  name: str
  dtype_in: object
  dtype_out: object
  threads: int
  def __str__(self): return f"WMMA_{self.name}_{self.dtype_in.name}_{self.dtype_out.name}"
