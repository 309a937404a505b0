# Files as memory: the device DISK, DISK:/path/to/file. The engine maps the file for each buffer; this is the file for scripts.
#
#   device = Device["DISK:/data/model.bin"]
#   os.pread(device.fd, 8, 0), device.mem[:8], device.count            # the file, its bytes, the number of buffers that map it
import functools, mmap, os
import _uopscope
from tinygrad.device import Buffer, Compiled
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class DiskDevice(Compiled):
  """A file. It is opened for reading when `fd` or `mem` is first asked for, and stays open."""
  @functools.cached_property
  def fd(self): return os.open(self.device.split(":", 1)[1], os.O_RDONLY | os.O_CLOEXEC)
  @functools.cached_property
  def mem(self): return memoryview(mmap.mmap(self.fd, 0, access=mmap.ACCESS_READ))
  @property
  def size(self):
    """Its bytes; None if there is no such file."""
    try: return os.stat(self.device.split(":", 1)[1]).st_size
    except OSError: return None
  @property
  def count(self): return sum(isinstance(x, Buffer) and x.device == self.device for x in _uopscope.live_objects())
