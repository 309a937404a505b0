# PyTorch's device "tiny": registering one needs PyTorch's C++ headers and a compiler, which the reference's extra/torch_backend
# uses. That backend runs on our engine unmodified: with a checkout of the reference on PYTHONPATH, this module imports it.
try: import extra.torch_backend.backend  # noqa: F401
except ModuleNotFoundError as e:
  if e.name is None or not e.name.startswith("extra"): raise
  raise ImportError("tinygrad.nn.torch registers a device in PyTorch by extra/torch_backend of the reference: put a checkout of it on PYTHONPATH; "
                    "without one, Tensor(t.numpy()) and t.data_ptr() exchange tensors with PyTorch") from None
