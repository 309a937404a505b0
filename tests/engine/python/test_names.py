# Every public name of the reference exists: Tensor, UOp, nn, modules and the names imported from them.
import importlib
from tinygrad import Tensor, UOp, nn, dtypes
from check import raises, run

TENSOR = """abs acos acosh add all allclose alu any arange argmax argmin argsort asin asinh assign atan atanh avg_pool2d backward batchnorm bfloat16
binary_crossentropy binary_crossentropy_logits bitcast bitwise_and bitwise_not bitwise_or bitwise_xor bool cast cat ceil celu chunk clamp clip clone const_like
contiguous contiguous_backward conv2d conv_transpose2d copysign cos cosh cross_entropy cummax cummin cumprod cumsum custom_kernel data decode_hevc_frame detach
device diag diagonal div dot double dropout dtype einsum element_size elu empty empty_like eq erf exp exp2 expand eye flatten flip float floor from_blob from_uop
from_url fs_load fs_store full full_like gather gelu glorot_uniform grad gradient half hardsigmoid hardswish hardtanh hash idiv image_conv2d image_dot int
interpolate is_floating_point isclose isfinite isinf isnan item kaiming_normal kaiming_uniform keccak layernorm leaky_relu lerp linear linspace log log10 log2
log_softmax logaddexp logcumsumexp logical_not logsigmoid logsumexp long lshift manual_seed masked_fill masked_select matmul max max_pool2d max_unpool2d maximum
mean meshgrid min minimum mish mod mul multinomial nbytes ndim ne neg newton_schulz nll_loss nonzero normal numel numpy one_hot ones ones_like pad pad_to permute
pow prod qr quick_gelu rand rand_like randint randn randn_like randperm realize rearrange reciprocal relu relu6 repeat repeat_interleave replace requires_grad
requires_grad_ reshape roll round rshift rsqrt scaled_dot_product_attention scaled_uniform scatter scatter_reduce schedule schedule_with_vars selu sequential
shape shard shard_ shard_like short shrink shrink_to sigmoid sign silu sin sinh size softmax softplus softsign sort sparse_categorical_crossentropy split sqrt
square squeeze stack std std_mean sub sum svd swish tan tanh threefry to to_ tolist topk train training transpose tril triu trunc ufix unflatten unfold uniform
unsqueeze uop usum var var_mean view where zeros zeros_like
__add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__
__mod__ __rmod__ __pow__ __rpow__ __ipow__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__ __rxor__ __ixor__ __lshift__ __rshift__ __ilshift__
__irshift__ __matmul__ __rmatmul__ __imatmul__ __neg__ __invert__ __lt__ __gt__ __le__ __ge__ __eq__ __ne__ __getitem__ __setitem__ __len__ __bool__ __hash__"""
UOPS = """add after alu arg assign axis barrier base bind bitcast broadcast buffer bufferize cast const const_factor const_like contiguous copy_to_device
custom_kernel detach device divide_exact divides dtype end expand expr flatten flip gcd gep get_consumer_map get_idx get_valid group index is_increasing key load
maximum metadata minimum mod new_buffer op pad permute placeholder placeholder_like pop_const pyrender r range ranges reduce render replace reshape rtag shape
shrink simplify sink special split_uop src ssimplify store substitute sum sym_infer tag toposort unbind valid variable variables vectorize vmin vmax where"""
MODULES = {"tinygrad": "Tensor TinyJit UOp Variable dtypes Device GlobalCounters Context fetch getenv nn", "tinygrad.nn": "BatchNorm Linear Conv2d optim state",
           "tinygrad.nn.optim": "SGD Adam AdamW OptimizerGroup", "tinygrad.nn.state": "get_parameters get_state_dict load_state_dict", "tinygrad.helpers": "Context getenv DEBUG Timing",
           "tinygrad.dtype": "dtypes DType PtrDType ImageDType AddrSpace Invalid least_upper_dtype", "tinygrad.device": "Device Buffer is_dtype_supported",
           "tinygrad.engine.jit": "TinyJit JitError CapturedJit GraphException", "tinygrad.engine.realize": "run_schedule", "tinygrad.engine.schedule": "ExecItem",
           "tinygrad.uop": "Ops GroupOp", "tinygrad.uop.ops": "UOp Ops GroupOp UPat PatternMatcher graph_rewrite graph_rewrite_map KernelInfo AxisType resolve sint",
           "tinygrad.uop.symbolic": "symbolic sym symbolic_simple", "tinygrad.uop.spec": "type_verify tensor_spec kernel_spec program_spec full_spec shared_spec",
           "tinygrad.codegen": "get_program full_rewrite_to_sink", "tinygrad.codegen.opt": "Opt OptOps", "tinygrad.renderer": "Renderer ProgramSpec Estimates",
           "tinygrad.gradient": "compute_gradient"}

def test_tensor(): assert not (missing := [n for n in TENSOR.split() if not hasattr(Tensor, n)]), missing
def test_uop(): assert not (missing := [n for n in UOPS.split() if not hasattr(UOp, n)]), missing
def test_modules():
  missing = [f"{m}.{n}" for m, names in MODULES.items() for n in names.split() if not hasattr(importlib.import_module(m), n)]
  assert not missing, missing
def test_dtypes():
  for n in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 fp8e4m3 fp8e5m2 float16 bfloat16 float32 float64 index void half float double char short int long uchar ushort uint ulong".split():
    assert hasattr(dtypes, n), n
def test_what_is_not_supported_says_so():
  t = Tensor([1, 2, 3])
  raises(NotImplementedError, lambda: t.decode_hevc_frame(), "not supported here")
  raises(RuntimeError, lambda: Tensor.from_url("https://example.com/no/such/file"), "does not download")

if __name__ == "__main__": run(globals())
