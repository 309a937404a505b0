# Makes GGUF files for tests: metadata of every type, tensors as they are or quantised from given block bytes.
#
#   write(path, {"general.architecture": "llama"}, {"w": (array, 0)})
import struct

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
class Typed:
  """A value with its storage type; for a list, the type of its elements."""
  def __init__(self, kind, value): self.kind, self.value = kind, value

def text(s):
  data = s.encode() if isinstance(s, str) else s
  return struct.pack("<Q", len(data)) + data
def kind_of(v): return v.kind if isinstance(v, Typed) else 7 if isinstance(v, bool) else 4 if isinstance(v, int) else 6 if isinstance(v, float) else 8 if isinstance(v, (str, bytes)) else 9
def bare(kind, v):
  if isinstance(v, Typed) and not isinstance(v.value, list): v = v.value
  if kind == 8: return text(v)
  if kind != 9: return struct.pack("<" + _NUMBERS[kind], v)
  items, inner = (v.value, v.kind) if isinstance(v, Typed) else (v, kind_of(v[0]) if v else 4)
  return struct.pack("<IQ", inner, len(items)) + b"".join(bare(inner, x) for x in items)
def pair(name, v):
  kind = 9 if isinstance(v, Typed) and isinstance(v.value, list) else kind_of(v)
  return text(name) + struct.pack("<I", kind) + bare(kind, v)

def build(kv, tensors, version=3, alignment=32, magic=b"GGUF"):
  """tensors: name -> (array, type) or (bytes, type, shape)."""
  infos, data = b"", b""
  for name, (values, kind, *shape) in tensors.items():
    shape = shape[0] if shape else values.shape
    data += b"\0" * (-len(data) % alignment)
    infos += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape)) + struct.pack("<IQ", kind, len(data))
    data += values if isinstance(values, bytes) else values.tobytes()
  head = magic + struct.pack("<IQQ", version, len(tensors), len(kv)) + b"".join(pair(k, v) for k, v in kv.items()) + infos
  return head + b"\0" * (-len(head) % alignment) + data
def write(path, *args, **kw):
  with open(path, "wb") as f: f.write(build(*args, **kw))
  return path
