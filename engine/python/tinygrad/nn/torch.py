# A PyTorch backend is not part of uopscope: registering one needs PyTorch's C++ headers and a compiler.
raise ImportError("tinygrad.nn.torch is not in uopscope: it registers a device in PyTorch; Tensor(t.numpy()) and t.data_ptr() exchange tensors with PyTorch")
