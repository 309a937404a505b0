# C structures with the layout of C compilers for Linux, in cases where ctypes differs or has none: packed structures with
# bit-fields, and bit-fields of type bool.
#
#   class Header(Struct): _packed_, _fields_ = True, [("kind", ctypes.c_int, 5), ("size", ctypes.c_int, 27), ("tag", ctypes.c_char)]
#   ctypes.sizeof(Header)                      # 5
#
# In all other respects a Struct is a ctypes.Structure.
import ctypes

def _needs_own_layout(packed, fields):
  bits = [f for f in fields if len(f) > 2]
  return bool(bits) and (packed or any(f[1] is ctypes.c_bool for f in bits))

def _places(fields, packed):
  """The first bit of each field, and the number of bytes of all fields."""
  at, largest, places = 0, 1, []
  for _, kind, *width in fields:
    unit, alignment = ctypes.sizeof(kind) * 8, 1 if packed else ctypes.alignment(kind)
    if not width: at = -(-at // (8 * alignment)) * 8 * alignment
    elif not packed and at // unit != (at + width[0] - 1) // unit: at = -(-at // unit) * unit
    places.append(at)
    at, largest = at + (width[0] if width else unit), max(largest, alignment)
  size = -(-at // 8)
  return places, -(-size // largest) * largest

def _whole(kind, offset):
  """A field of whole bytes: a value for a simple type, a view for any other type."""
  simple = issubclass(kind, ctypes._SimpleCData)
  def get(self):
    view = kind.from_buffer(self, offset)
    return view.value if simple else view
  def put(self, value):
    source = value if isinstance(value, kind) else kind(value)
    ctypes.memmove(ctypes.addressof(self) + offset, ctypes.byref(source), ctypes.sizeof(kind))
  return property(get, put)

def _bits(kind, at, width):
  first, last = at // 8, -(-(at + width) // 8)
  shift, mask, signed = at - first * 8, (1 << width) - 1, kind(-1).value not in (True, kind(-1).value & (1 << ctypes.sizeof(kind) * 8) - 1)
  def memory(self): return memoryview(self).cast("B")[first:last]
  def get(self):
    value = int.from_bytes(memory(self), "little") >> shift & mask
    if kind is ctypes.c_bool: return bool(value)
    return value - (mask + 1) if signed and value >> (width - 1) else value
  def put(self, value):
    part = memory(self)
    kept = int.from_bytes(part, "little") & ~(mask << shift)
    part[:] = (kept | (int(value) & mask) << shift).to_bytes(last - first, "little")
  return property(get, put)

class _StructType(type(ctypes.Structure)):
  def __new__(mcs, name, bases, body):
    fields = body.pop("_fields_", None)
    cls = super().__new__(mcs, name, bases, body)
    if fields is not None: cls._fields_ = fields
    return cls
  def __setattr__(cls, name, value):
    if name != "_fields_": return super().__setattr__(name, value)
    packed = getattr(cls, "_packed_", False)
    if not _needs_own_layout(packed, value):
      if packed: super().__setattr__("_pack_", 1)
      return super().__setattr__("_fields_", value)
    if getattr(cls, "_anonymous_", ()): raise NotImplementedError(f"{cls.__name__}: bit-fields of a packed structure beside anonymous members: give the members names")
    places, size = _places(value, packed)
    super().__setattr__("_fields_", [("_memory", ctypes.c_ubyte * size)])
    super().__setattr__("_members", tuple(f[0] for f in value))
    for (field, kind, *width), at in zip(value, places): super().__setattr__(field, _bits(kind, at, *width) if width else _whole(kind, at // 8))

class Struct(ctypes.Structure, metaclass=_StructType):
  """A C structure; `_packed_ = True` leaves no bytes or bits between its fields."""
  def __init__(self, *values, **named):
    members = getattr(type(self), "_members", None)
    if members is None: return super().__init__(*values, **named)
    super().__init__()
    if len(values) > len(members): raise TypeError(f"{type(self).__name__} has {len(members)} fields, {len(values)} values are given")
    for name, value in [*zip(members, values), *named.items()]:
      if name not in members: raise TypeError(f"{type(self).__name__} has no field {name}")
      setattr(self, name, value)
