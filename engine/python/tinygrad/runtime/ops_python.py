# The device PYTHON: interprets kernels one operation at a time, on memory that Python owns. The interpreter is the engine's
# (the device REF); a "binary" is the linear program, pickled.
#
#   program = PythonProgram("run", PythonCompiler().compile(get_program(ast, PythonRenderer()).src))
#   program(out, a, b)                     # memoryviews, in order of the kernel's globals
import base64, pickle
import _uopscope
from tinygrad.device import Allocator, Buffer, Compiled, Compiler
from tinygrad.dtype import dtypes, from_storage_scalar, storage_fmt_for_dtype, to_storage_scalar
from tinygrad.helpers import mv_address
from tinygrad.renderer import Renderer
from tinygrad.uop.ops import exec_alu
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

class PythonRenderer(Renderer):
  device = "PYTHON"
  def render(self, uops): return base64.b64encode(pickle.dumps(list(uops))).decode()

class PythonCompiler(Compiler):
  def compile(self, src): return base64.b64decode(src)

class PythonProgram:
  def __init__(self, name, lib, **_): self.name, self.uops = name, pickle.loads(lib)
  def __call__(self, *bufs, global_size=(1, 1, 1), local_size=(1, 1, 1), vals=(), wait=False):
    kernel = _uopscope.kernel_of_program(self.uops, "PYTHON")
    memory = [Buffer("PYTHON", b.nbytes, dtypes.uint8, opaque=mv_address(b)) for b in bufs]
    return kernel.run(memory, {v.expr: x for v, x in zip(kernel.vars, vals)}, wait)

class PythonAllocator(Allocator):
  """Memory as memoryviews."""
  def _alloc(self, size, options): return memoryview(bytearray(size))
  def _free(self, opaque, options): pass
  def _copyin(self, dest, src): dest[:] = src.cast("B")
  def _copyout(self, dest, src): dest.cast("B")[:] = src
  def _as_buffer(self, src): return src
  def _offset(self, buf, size, offset): return buf[offset:offset + size]

class PythonDevice(Compiled):
  def __init__(self, device="PYTHON"): super().__init__(device, PythonAllocator(self))
