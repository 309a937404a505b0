# Image types, and the graphs of kernels that read images.
from tinygrad import Tensor, UOp, dtypes
from tinygrad.codegen import full_rewrite_to_sink
from tinygrad.dtype import ImageDType, PtrDType, AddrSpace
from tinygrad.device import Buffer
from tinygrad.helpers import Context
from tinygrad.uop.ops import Ops
import pickle
from check import raises, run

def test_types():
  f, h = dtypes.imagef((10, 20, 4)), dtypes.imageh((10, 20))
  assert f is not None and f == dtypes.imagef((10, 20, 4)) and f != dtypes.imageh((10, 20, 4)) and hash(f) == hash(dtypes.imagef((10, 20, 4)))
  assert isinstance(f, ImageDType) and isinstance(f, PtrDType) and not isinstance(dtypes.float.ptr(800), ImageDType) and not isinstance(dtypes.float, ImageDType)
  assert (f.shape, h.shape) == ((10, 20, 4), (10, 20)) and f.base == dtypes.float and f.size == 800 and f.nbytes() == 3200 and h.nbytes() == 400
  assert (f.itemsize, h.itemsize) == (4, 2) and (f.name, h.name) == ("imagef", "imageh") and f.addrspace is AddrSpace.GLOBAL and f.scalar() == f and f.ptr() == f
  assert repr(f) == "dtypes.imagef((10, 20, 4))" and pickle.loads(pickle.dumps(f)) == f and dtypes.is_float(f)
  raises(TypeError, lambda: dtypes.imagef((10, 20, 3)), "(height, width, 4)"), raises(TypeError, lambda: dtypes.imagef((0, 20, 4)), "1 to 65535")
  raises(AttributeError, lambda: dtypes.float.shape, "only images"), raises(TypeError, lambda: f.ptr(addrspace=AddrSpace.LOCAL), "cannot be local")

def test_a_tensor_of_an_image_type_is_one_of_floats():
  t = Tensor.arange(64).cast(dtypes.imagef((4, 4, 4)))
  assert t.dtype == dtypes.float and t.tolist() == list(range(64))
  assert Buffer("CPU", 64, dtypes.imagef((4, 4, 4))).dtype == dtypes.float

def test_products_for_images():
  x, w = Tensor.arange(32).reshape(1, 2, 4, 4).float(), Tensor.arange(36).reshape(2, 2, 3, 3).float()
  assert x.image_conv2d(w, padding=1).tolist() == x.conv2d(w, padding=1).tolist() and x.image_dot(x).tolist() == x.dot(x).tolist()

def test_gates_of_pixels():
  memory, x, y = UOp(Ops.DEFINE_GLOBAL, dtypes.imagef((10, 10, 4)), arg=0), UOp.special(32, "gidx0"), UOp.special(32, "gidx1")
  def load(gate, at): return UOp(Ops.LOAD, dtypes.float.vec(4), (memory.index(UOp(Ops.VECTORIZE, dtypes.index.vec(2), at).valid(gate), ptr=True), UOp.const(dtypes.float.vec(4), 0.0)))
  with Context(NOOPT=1, SPEC=1):
    kept, dropped = (full_rewrite_to_sink(load(gate, (x, y)).sink()).src[0].src[0] for gate in ((y < 9), (y < 10)))
  assert len(kept.src) == 3 and len(dropped.src) == 2 and dropped.src[1].op is Ops.VECTORIZE and len(dropped.src[1].src) == 2

if __name__ == "__main__": run(globals())
