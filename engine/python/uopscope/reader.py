# The common part of readers of file formats: the bytes of a file or tensor without a copy, read in order. Every length is
# checked, so a truncated or hostile file ends in a ValueError that names the place.
#
#   source = Source("model.gguf")           # or a path, or a tensor of bytes
#   r = Cursor(source.bytes, "model.gguf")
#   r.take(4) == b"GGUF"; version, = r.unpack("<I", "version")
#   source.part(128, dtypes.float32, (4, 4))
import io, pathlib, struct
import _uopscope
from tinygrad.tensor import Tensor
from tinygrad.dtype import dtypes

class Source:
  """A file or a tensor of bytes: `bytes` gives the bytes, `part` makes tensors over them."""
  def __init__(self, fn):
    self.tensor = fn if isinstance(fn, Tensor) else Tensor(pathlib.Path(fn))
    if self.tensor.ndim != 1 or self.tensor.dtype != dtypes.uint8: raise ValueError(f"Tensor must be 1d and of dtype uint8! It is {self.tensor}")
    self.name = fn.device if isinstance(fn, Tensor) else str(fn)
    self._held = _uopscope.tensor_bytes(self.tensor)
    self.bytes = memoryview(self._held)
  def __len__(self): return len(self.bytes)
  def part(self, offset, dtype, shape): return _uopscope.tensor_part(self.tensor, offset, dtype, tuple(shape))

class Cursor:
  """Reads forwards; in a message, `what` names the item that was being read."""
  def __init__(self, data, name, position=0): self.data, self.name, self.position = data, name, position
  @property
  def left(self): return len(self.data) - self.position
  def take(self, n, what="data"):
    if n < 0 or n > self.left: raise ValueError(f"{self.name}: truncated or damaged: {what} at byte {self.position} would take {n} bytes of {self.left} left")
    self.position += n
    return self.data[self.position - n:self.position]
  def unpack(self, fmt, what="data"): return struct.unpack(fmt, self.take(struct.calcsize(fmt), what))
  def count(self, n, least, what):
    """Reads a number of items of at least this many bytes each. A number that cannot fit means damage, and is not allocated."""
    if n < 0 or n * least > self.left: raise ValueError(f"{self.name}: truncated or damaged: {n} {what} at byte {self.position} do not fit into {self.left} bytes")
    return n

class TensorIO(io.RawIOBase):
  """A tensor of bytes as a file object for reading."""
  def __init__(self, t): self._source, self._position = t if isinstance(t, Source) else Source(t), 0
  def readable(self): return True
  def seekable(self): return True
  def readinto(self, buffer):
    piece = self._source.bytes[self._position:self._position + len(buffer)]
    buffer[:len(piece)] = piece
    self._position += len(piece)
    return len(piece)
  def seek(self, offset, whence=0):
    self._position = min(len(self._source), max(0, (0, self._position, len(self._source))[whence] + offset))
    return self._position
  def tell(self): return self._position
  def write(self, s): raise io.UnsupportedOperation("TensorIO.write not supported")
