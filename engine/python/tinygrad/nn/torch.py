# Tensors of PyTorch on uopscope: registering a backend takes PyTorch's C++ headers and a compiler, and is not part of uopscope.
raise ImportError("tinygrad.nn.torch is not in uopscope: it registers a device in PyTorch; Tensor(t.numpy()) and t.data_ptr() exchange tensors with PyTorch")
