# Archives: the files in a zip or tar as tensors of bytes. A file stored without compression stays in the archive and is not
# copied.
#
#   zip_extract("weights.zip")["model/data.bin"];  tar_extract("cifar.tar")["batch_1.bin"]
import gzip, io, tarfile, zipfile, zlib
from tinygrad.tensor import Tensor
from tinygrad.dtype import dtypes
from uopscope.reader import Cursor, Source, TensorIO

# A deflated byte gives at most this many bytes: a header that promises more is damaged, and its memory is not allocated.
_MOST_PER_BYTE = 1040

def _inflate(packed, size, name, raw):
  if size > (len(packed) + 16) * _MOST_PER_BYTE: raise ValueError(f"{name}: {len(packed)} packed bytes cannot hold {size}")
  worker = zlib.decompressobj(-15 if raw else 31)
  try: out = worker.decompress(packed, size + 1)
  except zlib.error as e: raise ValueError(f"{name}: damaged: {e}") from None
  if len(out) != size or not worker.eof: raise ValueError(f"{name}: damaged: it unpacks to other than {size} bytes")
  return out

def zip_members(source):
  """name -> (first byte, packed length, ZipInfo) of the members of a zip."""
  try:
    with zipfile.ZipFile(TensorIO(source)) as z: infos = z.filelist
  except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as e: raise ValueError(f"{source.name}: not a zip file, or damaged: {e}") from None
  members = {}
  for info in infos:
    r = Cursor(source.bytes, f"{source.name}: {info.filename}", max(info.header_offset, 0))
    magic, name_length, extra_length = r.unpack("<4s22xHH", "local header")
    if magic != b"PK\3\4": raise ValueError(f"{r.name}: damaged: no header at byte {info.header_offset}")
    if info.flag_bits & 1: raise ValueError(f"{r.name}: encrypted, and there is no password")
    r.take(name_length + extra_length, "name")
    members[info.filename] = r.position, info.compress_size, info
    r.take(info.compress_size, "contents")
  return members

def zip_member(source, member):
  """A member's bytes as a tensor."""
  start, packed, info = member
  if info.compress_type == zipfile.ZIP_STORED: return source.part(start, dtypes.uint8, (packed,))
  if info.compress_type != zipfile.ZIP_DEFLATED: raise NotImplementedError(f"{source.name}: {info.filename}: compression {info.compress_type} not supported")
  out = _inflate(source.bytes[start:start + packed], info.file_size, f"{source.name}: {info.filename}", raw=True)
  if zlib.crc32(out) != info.CRC: raise ValueError(f"{source.name}: {info.filename}: damaged: its checksum is another")
  return Tensor(out)

def zip_extract(fn):
  """The members of a zip by name."""
  source = Source(fn)
  return {name: zip_member(source, m) for name, m in zip_members(source).items()}

def gunzipped(source):
  """The contents of a gzip file; a source that is no gzip file is returned unchanged."""
  if bytes(source.bytes[:2]) != b"\x1f\x8b": return source
  try: return Source(Tensor(gzip.decompress(source.bytes)))
  except (OSError, EOFError, zlib.error) as e: raise ValueError(f"{source.name}: damaged gzip data: {e}") from None

def tar_extract(fn):
  """The regular files of a tar, which may be gzipped, by name."""
  source = gunzipped(Source(fn))
  try:
    with tarfile.open(fileobj=io.BufferedReader(TensorIO(source)), mode="r:") as tar: members = [m for m in tar if m.type in (tarfile.REGTYPE, tarfile.AREGTYPE)]
  except (tarfile.TarError, ValueError, OverflowError) as e: raise tarfile.ReadError(f"{source.name}: not a tar file, or damaged: {e}") from None
  for m in members:
    if m.size < 0 or m.offset_data + m.size > len(source): raise ValueError(f"{source.name}: {m.name}: truncated: {m.size} bytes from byte {m.offset_data} of {len(source)}")
  return {m.name: source.part(m.offset_data, dtypes.uint8, (m.size,)) for m in members}
