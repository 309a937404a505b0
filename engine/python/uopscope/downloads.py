# Files that scripts name by address. Nothing is downloaded. A file that is already on this machine is found; for any other
# file the error names the file to get and the folder to put it in.
#
#   local_file("https://host/path/train-images-idx3-ubyte.gz", gunzip=True)
#
# Folders searched, in order: the one named by UOPSCOPE_DATA, ./data, ~/.cache/uopscope/data, and tinygrad's downloads on
# this machine (~/.cache/tinygrad/downloads).
import gzip, hashlib, os, pathlib, shutil, tempfile

def _cache(): return pathlib.Path(os.getenv("XDG_CACHE_HOME") or "~/.cache").expanduser()

def data_folders():
  return [pathlib.Path(p).expanduser() for p in [os.getenv("UOPSCOPE_DATA") or "data", "data"]] + [_cache() / "uopscope" / "data"]

def _unpacked(path):
  """The contents of a gzip file as a file in the cache, made at first use."""
  about = path.stat()
  to = _cache() / "uopscope" / "unpacked" / hashlib.md5(f"{path.resolve()} {about.st_size} {about.st_mtime_ns}".encode()).hexdigest()
  if not to.exists():
    to.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=to.parent)
    try:
      with gzip.open(path) as packed, os.fdopen(handle, "wb") as f: shutil.copyfileobj(packed, f)
      os.replace(unfinished, to)
    except BaseException as e:
      os.unlink(unfinished)
      if isinstance(e, (gzip.BadGzipFile, EOFError)): raise RuntimeError(f"{path}: damaged gzip file: {e}") from None
      raise
  return to

def _missing(message):
  """The exception that a failed download raises in the reference, which is also a RuntimeError."""
  from urllib.error import URLError
  class NotOnThisMachine(URLError, RuntimeError):
    def __str__(self): return str(self.reason)
  return NotOnThisMachine(message)

def local_file(url, name=None, subdir=None, gunzip=False):
  """The path of a file by its address, unpacked if `gunzip` asks for it."""
  url = str(url)
  direct = pathlib.Path(url.removeprefix("file://"))
  file = str(name) if name else url.rsplit("/", 1)[-1]
  wanted = [pathlib.Path(subdir or "") / file] + ([pathlib.Path(subdir or "") / file.removesuffix(".gz")] if gunzip else [])
  for path in [direct] + [folder / w for folder in data_folders() for w in wanted]:
    if path.is_file(): return _unpacked(path) if gunzip and path.open("rb").read(2) == b"\x1f\x8b" else path
  digest = hashlib.md5(url.encode()).hexdigest() + (".gunzip" if gunzip else "")
  for folder in (subdir or "", ""):
    downloaded = _cache() / "tinygrad" / "downloads" / folder / (str(name) if name else digest)
    if downloaded.is_file(): return downloaded
  folders = ", ".join(dict.fromkeys(map(str, data_folders())))
  raise _missing(f"{url} is not on this machine, and uopscope does not download. Get it and put it as {wanted[0]} into one of {folders}; UOPSCOPE_DATA names another folder")
