# Object files in the 64-bit ELF format: their sections, the memory image of their contents, and the relocations.
#
#   image, sections, relocations = elf_loader(open("kernel.o", "rb").read(), link_libs=["m"])
#   [s.name for s in sections], relocations[0]          # (place in the image, address of its symbol, type, addend)
import ctypes, ctypes.util, struct
from dataclasses import dataclass

_UNDEFINED, _PROGBITS, _SYMTAB, _RELA, _REL = 0, 1, 2, 4, 9
_X86_PC32, _X86_PLT32 = 2, 4

@dataclass
class SectionHeader:
  sh_name: int
  sh_type: int
  sh_flags: int
  sh_addr: int
  sh_offset: int
  sh_size: int
  sh_link: int
  sh_info: int
  sh_addralign: int
  sh_entsize: int

@dataclass
class ElfSection:
  name: str
  header: SectionHeader
  content: bytes

def _text(table, at): return table[at:table.index(b"\0", at)].decode()

def _sections(blob):
  if blob[:5] != b"\x7fELF\x02": raise ValueError("no object file of 64 bits: ELF files begin with 7f 45 4c 46 02")
  table, = struct.unpack_from("<Q", blob, 0x28)
  size, count, names = struct.unpack_from("<HHH", blob, 0x3a)
  if table + size * count > len(blob): raise ValueError(f"the object file ends at {len(blob)}, its table of sections at {table + size * count}")
  headers = [SectionHeader(*struct.unpack_from("<IIQQQQIIQQ", blob, table + i * size)) for i in range(count)]
  content = lambda h: b"" if h.sh_type == 8 else blob[h.sh_offset:h.sh_offset + h.sh_size]  # 8: zeros, which are not in the file
  texts = content(headers[names])
  return [ElfSection(_text(texts, h.sh_name), h, content(h)) for h in headers]

def _address_in_libraries(symbol, libraries):
  for library in libraries:
    path = ctypes.util.find_library(library)
    try: return ctypes.cast(getattr(ctypes.CDLL(path), symbol), ctypes.c_void_p).value
    except (OSError, AttributeError): continue
  raise RuntimeError(f"the symbol {symbol} is defined neither in the object file nor in {' or '.join(libraries) if libraries else 'a library: none is linked'}")

def elf_loader(blob, force_section_align=1, link_libs=None):
  """(image, sections, relocations) of an object file or library. Sections without an address are placed one after another,
  and their header has the place. A symbol that the file does not define gets its address from one of `link_libs`;
  RuntimeError if none has it."""
  blob = bytes(blob)
  sections = _sections(blob)
  code = [s for s in sections if s.header.sh_type == _PROGBITS]
  image = bytearray(max((s.header.sh_addr + s.header.sh_size for s in code if s.header.sh_addr), default=0))
  for s in code:
    if s.header.sh_addr: image[s.header.sh_addr:s.header.sh_addr + s.header.sh_size] = s.content
    else:
      image += bytes(-len(image) % max(s.header.sh_addralign, force_section_align, 1))
      s.header.sh_addr = len(image)
      image += s.content
  return memoryview(image), sections, [r for s in sections if s.header.sh_type in (_REL, _RELA) for r in _relocations(s, sections, link_libs or [])]

def _relocations(section, sections, libraries):
  target = sections[section.header.sh_info]
  if target.name == ".eh_frame": return  # for debuggers alone
  symbols = sections[section.header.sh_link]
  names = sections[symbols.header.sh_link].content
  entry = "<QQq" if section.header.sh_type == _RELA else "<QQ"
  for offset, info, *addend in struct.iter_unpack(entry, section.content):
    name, _, _, home, value, _ = struct.unpack_from("<IBBHQQ", symbols.content, (info >> 32) * 24)
    address = _address_in_libraries(_text(names, name), libraries) if home == _UNDEFINED else sections[home].header.sh_addr + value if home < len(sections) else value
    yield target.header.sh_addr + offset, address, info & 0xffffffff, addend[0] if addend else 0

def jit_loader(obj, base=0, link_libs=None):
  """The bytes of an object file with its relocations applied, for memory that begins at `base`."""
  image, _, relocations = elf_loader(obj, link_libs=link_libs)
  out = bytearray(image)
  for place, address, kind, addend in relocations:
    if kind == _X86_PC32: value = address + addend - place
    elif kind == _X86_PLT32: value = address + addend - place - base
    else: raise NotImplementedError(f"relocation of type {kind} at {place:#x}: only those of x86-64 relative to the instruction are known")
    out[place:place + 4] = struct.pack("<I", value & 0xffffffff)
  return bytes(out)
