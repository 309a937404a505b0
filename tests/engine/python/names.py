# The table of every public name of the Python surface: what works, what differs and how, what is not supported and why.
#
#   build/bin/uopscope run tests/engine/python/names.py docs/guide/python-names.md       writes it
#
# Whether a name is there is asked of the binding; how one differs is written here. test_name_table.py fails when the table is
# not what this makes, so a name that comes or goes cannot be forgotten.
import importlib, sys

TENSOR = """
abs acos acosh add all allclose alu any arange argmax argmin argsort asin asinh assign atan atanh avg_pool2d backward batchnorm bfloat16
binary_crossentropy binary_crossentropy_logits bitcast bitwise_and bitwise_not bitwise_or bitwise_xor bool cast cat ceil celu chunk clamp clip clone
const_like contiguous contiguous_backward conv2d conv_transpose2d copysign cos cosh cross_entropy cummax cummin cumprod cumsum custom_kernel data
decode_hevc_frame detach device diag diagonal div dot double dropout dtype einsum element_size elu empty empty_like eq erf exp exp2 expand eye flatten
flip float floor from_blob from_uop from_url fs_load fs_store full full_like gather gelu glorot_uniform grad gradient half hardsigmoid hardswish
hardtanh hash idiv image_conv2d image_dot int interpolate is_floating_point isclose isfinite isinf isnan item kaiming_normal kaiming_uniform keccak
layernorm leaky_relu lerp linear linspace log log10 log2 log_softmax logaddexp logcumsumexp logical_not logsigmoid logsumexp long lshift manual_seed
masked_fill masked_select matmul max max_pool2d max_unpool2d maximum mean meshgrid min minimum mish mod mul multinomial nbytes ndim ne neg
newton_schulz nll_loss nonzero normal numel numpy one_hot ones ones_like pad pad_to permute pow prod qr quick_gelu rand rand_like randint randn
randn_like randperm realize rearrange reciprocal relu relu6 repeat repeat_interleave replace requires_grad requires_grad_ reshape roll round rshift
rsqrt scaled_dot_product_attention scaled_uniform scatter scatter_reduce schedule schedule_with_vars selu sequential shape shard shard_ shard_like
short shrink shrink_to sigmoid sign silu sin sinh size softmax softplus softsign sort sparse_categorical_crossentropy split sqrt square squeeze stack
std std_mean sub sum svd swish tan tanh threefry to to_ tolist topk train training transpose tril triu trunc ufix unflatten unfold uniform unsqueeze
uop usum var var_mean view where zeros zeros_like
"""
UOP = """
add after alu arg assign axis barrier base bind bitcast broadcast buffer bufferize cast const const_factor const_like contiguous copy_to_device
custom_kernel detach device divide_exact divides dtype end expand expr flatten flip gcd gep get_consumer_map get_idx get_valid group index
is_increasing key load maximum metadata minimum mod new_buffer op pad permute placeholder placeholder_like pop_const pyrender r range ranges reduce
render replace reshape rtag shape shrink simplify sink special split_uop src ssimplify store substitute sum sym_infer tag toposort unbind valid
variable variables vectorize vmin vmax where
"""
OPERATORS = """
__add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__
__pow__ __rpow__ __ipow__ __matmul__ __rmatmul__ __imatmul__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__ __rxor__ __ixor__ __lshift__ __rlshift__ __ilshift__
__rshift__ __rrshift__ __irshift__ __neg__ __invert__ __lt__ __le__ __gt__ __ge__ __eq__ __ne__ __getitem__ __setitem__ __len__ __repr__ __bool__
"""
SURFACE = { # heading -> (module, attribute of it or None, names)
  "tinygrad": ("tinygrad", None, "Tensor TinyJit UOp Variable dtypes Device GlobalCounters Context fetch getenv nn"),
  "tinygrad.Tensor": ("tinygrad", "Tensor", TENSOR),
  "tinygrad.Tensor, operators": ("tinygrad", "Tensor", OPERATORS),
  "tinygrad.nn": ("tinygrad.nn", None, "BatchNorm BatchNorm2d BatchNorm3d Conv1d Conv2d ConvTranspose1d ConvTranspose2d Embedding GroupNorm InstanceNorm LSTMCell LayerNorm LayerNorm2d Linear RMSNorm"),
  "tinygrad.nn.optim": ("tinygrad.nn.optim", None, "SGD Adam AdamW LAMB LARS Muon Optimizer OptimizerGroup"),
  "tinygrad.nn.state": ("tinygrad.nn.state", None, "get_parameters get_state_dict load_state_dict safe_load safe_load_metadata safe_save torch_load gguf_load ggml_data_to_tensor tar_extract zip_extract TensorIO"),
  "tinygrad.nn.datasets": ("tinygrad.nn.datasets", None, "mnist cifar"),
  "tinygrad.dtype": ("tinygrad.dtype", "dtypes", "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 fp8e4m3 fp8e5m2 float16 bfloat16 float32 float64 half float double char short int long uchar ushort uint ulong index void default_float default_int floats ints uints sints fp8s is_float is_int is_unsigned is_bool min max finfo from_py as_const fields"),
  "tinygrad.device": ("tinygrad.device", None, "Device is_dtype_supported Buffer"),
  "tinygrad.helpers": ("tinygrad.helpers", None, "Context ContextVar GlobalCounters Timing argfix argsort all_int all_same ansilen ceildiv colored dedup fetch flatten fully_flatten get_child getenv make_tuple merge_dicts partition prod round_up tqdm trange unwrap DEBUG BEAM NOOPT JIT WINO"),
  "tinygrad.engine.jit": ("tinygrad.engine.jit", None, "TinyJit"),
  "tinygrad.engine.realize": ("tinygrad.engine.realize", None, "run_schedule"),
  "tinygrad.engine.schedule": ("tinygrad.engine.schedule", None, "ExecItem"),
  "tinygrad.uop.ops": ("tinygrad.uop.ops", None, "UOp Ops GroupOp UPat PatternMatcher graph_rewrite graph_rewrite_map KernelInfo AxisType resolve sint"),
  "tinygrad.uop.ops.UOp": ("tinygrad.uop.ops", "UOp", UOP),
  "tinygrad.uop.symbolic": ("tinygrad.uop.symbolic", None, "symbolic_simple symbolic sym"),
  "tinygrad.uop.spec": ("tinygrad.uop.spec", None, "type_verify"),
  "tinygrad.codegen": ("tinygrad.codegen", None, "get_program full_rewrite_to_sink"),
  "tinygrad.codegen.opt": ("tinygrad.codegen.opt", None, "Opt OptOps KernelOptError"),
  "tinygrad.renderer": ("tinygrad.renderer", None, "Renderer ProgramSpec"),
  "tinygrad.gradient": ("tinygrad.gradient", None, "compute_gradient"),
  "tinygrad.apps.llm": ("tinygrad.apps.llm", None, "SimpleTokenizer Transformer TransformerBlock ExpertWeights apply_rope precompute_freqs_cis models"),
}
NO_NETWORK = "finds files that are on this machine, downloads nothing: see [files](files.md)"
DIFFERS = {
  "tinygrad.fetch": NO_NETWORK, "tinygrad.helpers.fetch": NO_NETWORK, "tinygrad.Tensor.from_url": NO_NETWORK, "tinygrad.nn.datasets.mnist": NO_NETWORK, "tinygrad.nn.datasets.cifar": NO_NETWORK,
  "tinygrad.nn.state.torch_load": "also older and strided tensors; runs nothing a file names", "tinygrad.nn.state.gguf_load": "takes a path as well; metadata of type uint8 are numbers; more quantised types",
  "tinygrad.nn.state.ggml_data_to_tensor": "more quantised types; a number of values that fills no block is an error", "tinygrad.nn.state.safe_load": "damaged files raise ValueError; fp8 types as well",
  "tinygrad.nn.state.safe_save": "the file appears when it is complete", "tinygrad.apps.llm.Transformer": "keeps what the cache holds between calls of generate; takes a path; biases of q, k and v as Qwen 2 has them",
  "tinygrad.apps.llm.models": "addresses of files that have to be on this machine already",
}
UNSUPPORTED = {
  "tinygrad.Tensor.decode_hevc_frame": "downloads and drives a video codec", "tinygrad.Tensor.image_conv2d": "images of mobile GPUs", "tinygrad.Tensor.image_dot": "images of mobile GPUs",
  "tinygrad.Tensor.__rlshift__": "a number shifted by a tensor: an error in the reference as well", "tinygrad.Tensor.__rrshift__": "a number shifted by a tensor: an error in the reference as well",
  "tinygrad.Tensor.fs_load": "a network file store", "tinygrad.Tensor.fs_store": "a network file store",
}

def rows():
  """(heading, name, status, note) of every name."""
  for heading, (module, attribute, names) in SURFACE.items():
    try: owner = importlib.import_module(module)
    except ModuleNotFoundError: owner = None
    if attribute and owner: owner = getattr(owner, attribute)
    path = heading.split(",")[0] if "dtype" not in heading else "tinygrad.dtypes"
    for name in names.split():
      full, there = f"{path}.{name}", owner is not None and has(owner, name)
      if full in UNSUPPORTED: yield heading, name, "not supported", UNSUPPORTED[full]
      elif not there: yield heading, name, "not supported", "not there yet"
      elif full in DIFFERS: yield heading, name, "differs", DIFFERS[full]
      else: yield heading, name, "works", ""

def has(owner, name):
  # every class answers to comparison and repr, which object has
  return hasattr(owner, name) and not (isinstance(owner, type) and name in ("__lt__", "__le__", "__gt__", "__ge__") and getattr(owner, name) is getattr(object, name))

def table():
  all_rows = list(rows())
  count = {s: sum(r[2] == s for r in all_rows) for s in ("works", "differs", "not supported")}
  out = ["# Every public Python name", "", "Written by `build/bin/uopscope run tests/engine/python/names.py docs/guide/python-names.md`, from what the module holds; a test checks that it is up to date.", "",
         f"{len(all_rows)} names: {count['works']} work as in the reference, {count['differs']} differ, {count['not supported']} are not supported.", ""]
  special = [r for r in all_rows if r[2] != "works"]
  if special: out += ["## What differs or is missing", "", "| module | name | status | how, or why |", "|---|---|---|---|"] + [f"| `{h}` | `{n}` | {s} | {note} |" for h, n, s, note in special] + [""]
  out += ["## All names", "", "| module | name | status |", "|---|---|---|"] + [f"| `{h}` | `{n}` | {s} |" for h, n, s, _ in all_rows]
  return "\n".join(out) + "\n"

if __name__ == "__main__":
  with open(sys.argv[1], "w") as f: f.write(table())
