# Devices by name, and the parts of a device: memory (Buffer, Allocator), a renderer and a compiler.
#
#   Device.DEFAULT                                # "CPU"; DEV=, CPU=1, REF=1 ... choose another
#   Device["CPU"].renderer.pre_matcher = PatternMatcher([...])      # applied in every kernel lowered for CPU from now on
#
# The engine owns the memory: an Allocator allocates and frees addresses in it.
import functools, shutil, typing
from collections import defaultdict
from dataclasses import dataclass
import _uopscope
from _uopscope import Buffer, CompileError
from tinygrad.dtype import DType, PtrDType, ImageDType, dtypes
from tinygrad.helpers import ALLOW_DEVICE_USAGE, CCACHE, LRU, colored
from uopscope.absent import lacking
from uopscope.profiling import ProfileDeviceEvent, ProfileEvent, ProfileGraphEntry, ProfileGraphEvent, ProfileProgramEvent, cpu_events, cpu_profile

__getattr__ = lacking(__name__)
class _Address(int):
  """The address of a buffer's memory, as a number, and as the object of which programs read `va_addr` and `size` in bytes."""
  @property
  def va_addr(self): return int(self)
_address_of = Buffer._buf
def _buf(self):
  at = _Address(_address_of.fget(self))
  at.size = self.nbytes
  return at
Buffer._buf = property(_buf, doc=_address_of.__doc__)
Buffer.profile_events = []  # allocations and frees while PROFILE is set
ALL_DEVICES = _uopscope.device_available()

@dataclass(frozen=True, eq=True)
class BufferSpec:
  """Requirements on memory. The devices here have one kind of memory, so only `size` and addresses matter to them."""
  image: object = None
  uncached: bool = False
  cpu_access: bool = False
  host: bool = False
  nolru: bool = False
  external_ptr: object = None

class MultiBuffer:
  """One buffer on each of several devices."""
  def __init__(self, device, size, dtype): self.bufs = [Buffer(d, size, dtype) for d in device]
  @property
  def size(self): return self.bufs[0].size
  @property
  def dtype(self): return self.bufs[0].dtype
  def is_allocated(self): return all(b.is_allocated() for b in self.bufs)
  def __repr__(self): return f"<multibuf real:{self.is_allocated()} device:{tuple(b.device for b in self.bufs)} size:{self.size} dtype:{self.dtype}>"

class Allocator(typing.Generic[typing.TypeVar("DeviceType")]):
  """Memory of a device by address. A subclass in a script overrides the functions with an underscore."""
  def __init__(self, dev, supports_copy_from_disk=True, supports_transfer=True):
    self.dev, self.supports_copy_from_disk, self.supports_transfer = dev, supports_copy_from_disk, supports_transfer
    self.default_buffer_spec = BufferSpec()
    self._buffers = {}
  def alloc(self, size, options=None):
    assert size > 0, f"memory of {size} bytes is asked for: at least one is needed"
    return self._alloc(size, options or self.default_buffer_spec)
  def free(self, opaque, size, options=None): self._free(opaque, options or self.default_buffer_spec)
  def _alloc(self, size, options):
    if not isinstance(self.dev, Compiled) or type(self.dev) is Compiled and self.dev.device not in _opened: raise NotImplementedError("need alloc")
    buffer = Buffer(self.dev.device, size, dtypes.uint8, preallocate=True)
    self._buffers[buffer._buf] = buffer
    return buffer._buf
  def _free(self, opaque, options): self._buffers.pop(opaque, None)
  def _of(self, opaque, size): return Buffer(self.dev.device, size, dtypes.uint8, opaque=opaque)
  def _copyin(self, dest, src): self._of(dest, src.nbytes).copyin(src)
  def _copyout(self, dest, src): self._of(src, dest.nbytes).copyout(dest)
  def _as_buffer(self, src): return self._buffers[src].as_buffer(force_zero_copy=True)
  def _offset(self, buf, size, offset): return buf + offset

class LRUAllocator(Allocator):
  """Keeps freed memory for the next allocation of the same size, until `free_cache`."""
  def __init__(self, dev, **supports):
    Allocator.__init__(self, dev, **supports)
    self.cache = defaultdict(list)
  def alloc(self, size, options=None):
    if kept := self.cache[size, options]: return kept.pop()
    for last in (False, True):
      try: return Allocator.alloc(self, size, options)
      except (RuntimeError, MemoryError):
        if last: raise
        self.free_cache()  # the memory kept for other sizes may be enough
  def free_cache(self):
    for (size, options), kept in self.cache.items():
      while kept: super().free(kept.pop(), size, options)
  def free(self, opaque, size, options=None):
    keep = LRU and not getattr(options, "nolru", False)
    (self.cache[size, options].append if keep else functools.partial(Allocator.free, self, size=size, options=options))(opaque)

class Compiler:
  """Turns source into a binary. The base class returns the bytes of the source."""
  def __init__(self, cachekey=None): self.cachekey = cachekey if CCACHE else None
  def compile(self, src): return src.encode()
  def compile_cached(self, src):
    if self.cachekey is None: return self.compile(src)
    from uopscope.disk_cache import diskcache_get, diskcache_put
    known = diskcache_get(self.cachekey, src)
    return known if known is not None else diskcache_put(self.cachekey, src, self.compile(src))
  def disassemble(self, lib): pass

class _EngineCompiler(Compiler):
  """Compiles C texts with the system's clang. The engine compiles the kernels of schedules itself, from their programs."""
  def language(self, src): return "c"
  def __init__(self, device):
    super().__init__("compile_clang")
    self.device = device
  def compile(self, src):
    import subprocess
    clang = next(filter(None, map(shutil.which, ("clang-19", "clang"))), None)
    if clang is None: raise CompileError("no clang in PATH: install the package clang-19")
    flags = ["-ffreestanding", "-fno-math-errno"] if (language := self.language(src)) == "c" else ["-Wno-override-module"]
    done = subprocess.run([clang, "-x", language, "-O2", "-march=native", "-fPIC", *flags, "-nostdlib", "-c", "-", "-o", "-"], input=src.encode(), capture_output=True)
    if done.returncode: raise CompileError(f"clang does not compile it\n{done.stderr.decode()}\nsource:\n{src}")
    return done.stdout
  def disassemble(self, lib):
    from tinygrad.helpers import cpu_objdump
    cpu_objdump(lib)

@functools.cache
def _cpu_compiler(llvm):
  from tinygrad.runtime.support.compiler_cpu import ClangJITCompiler, CPULLVMCompiler
  return CPULLVMCompiler() if llvm else ClangJITCompiler()

@dataclass(frozen=True)
class CompilerPair:
  renderer: object
  compiler: object
  ctrl_var: object = None
@dataclass(frozen=True)
class CompilerSet:
  cset: list
  ctrl_var: object = None

class Compiled:
  """A device. `Device[name]` gives a device of the engine; a script may derive a class for its own tools."""
  profile_events = [ProfileDeviceEvent("CPU")]
  def __init__(self, device, allocator=None, compilers=None, runtime=None, graph=None, group_id=None):
    self.device, self.runtime, self._graph, self.group_id, self._compilers = device, runtime, graph, group_id, compilers
    self.allocator = allocator if allocator is not None else Allocator(self)
  @property
  def graph(self):
    """The class that runs several launches as one."""
    if self._graph is not None: return self._graph
    from tinygrad.engine.jit import GraphRunner
    return GraphRunner
  @functools.cached_property
  def renderer(self):
    if self._compilers is not None: return self._compilers.cset[0].renderer()
    from tinygrad.renderer import renderer_of
    return renderer_of(self.device)
  @property
  def compiler(self):
    if self._compilers is not None: return (self._compilers.cset[0].compiler or Compiler)()
    return _cpu_compiler(bool(_uopscope.context_get("CPU_LLVM"))) if self.device.split(":")[0] == "CPU" else _EngineCompiler(self.device)
  def synchronize(self): _uopscope.device_synchronize(self.device)
  def finalize(self): pass
  def _at_profile_finalize(self): pass
  def __repr__(self): return f"<Device {self.device}>"

_opened = {}
class _Device:
  @property
  def DEFAULT(self): return _uopscope.device_default()
  @DEFAULT.setter
  def DEFAULT(self, name): _uopscope.device_set_default(name)
  def canonicalize(self, device):
    if isinstance(device, (tuple, list)): return tuple(map(self.canonicalize, device))
    return _uopscope.device_canonicalize(self.DEFAULT if device is None else device)
  def __getitem__(self, name):
    name = self.canonicalize(name)
    if name not in _opened:
      assert ALLOW_DEVICE_USAGE or name.split(":")[0] in ("DISK", "NPY", "PYTHON", "REF"), f"usage of device {name} disallowed"
      _uopscope.device_open(name)
      kind = name.split(":")[0]
      if kind == "PYTHON": from tinygrad.runtime.ops_python import PythonDevice as made
      elif kind == "DISK": from tinygrad.runtime.ops_disk import DiskDevice as made
      else: made = Compiled
      _opened[name] = made(name)
    return _opened[name]
  @property
  def default(self): return self[self.DEFAULT]
  @property
  def _devices(self): return sorted(ALL_DEVICES)
  @property
  def _opened_devices(self): return set(_opened)
  def get_available_devices(self): return iter(_uopscope.device_available())
Device = _Device()

def is_dtype_supported(dtype, device=None):
  """Whether tensors of the type can be computed; None, no type asked for, can. Small types are converted where the hardware lacks them, 64-bit types are not."""
  if dtype is None: return True
  name = Device.canonicalize(device)
  if dtype in (dtypes.index, dtypes.void) or _uopscope.device_open(name) is None: return False
  return dtype.itemsize < 8 or _uopscope.supports_dtype(name, dtype)

def enumerate_devices_str():
  """A line per kind of device: whether it works, tested by a computation."""
  from tinygrad.tensor import Tensor
  for name in ALL_DEVICES:
    try:
      answer = (Tensor([1, 2, 3], device=name) * 2).tolist() if name != "NULL" else "renders, runs nothing"
      good = answer in ([2, 4, 6], "renders, runs nothing")
      result = colored("PASS" if good else f"FAIL: {answer}", "green" if good else "red")
    except Exception as e: result = f"{colored('FAIL', 'yellow')} {e}"
    yield f"{'*' if name == Device.DEFAULT else ' '} {name:10s}: {result}"

from uopscope.docstrings import document
document(_Device, "Device")
