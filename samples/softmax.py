# Softmax over rows: two reductions that depend on each other, and a gradient.
# Look at: how many kernels there are and where each reduction ends up ("get realize" decides what is stored);
# "remove_reduce", where a REDUCE becomes an accumulator in a loop; exp and log as powers of two.
import numpy as np
from tinygrad import Tensor

Tensor.manual_seed(1)
x = Tensor.randn(16, 100, requires_grad=True)
y = x.softmax()
loss = -(y[:, 3].log().mean())
loss.backward()

v = x.numpy()
e = np.exp(v - v.max(axis=1, keepdims=True))
p = e / e.sum(axis=1, keepdims=True)
target = np.zeros_like(p)
target[:, 3] = 1
print("softmax: largest difference to NumPy:", np.abs(y.numpy() - p).max())
print("gradient: largest difference to NumPy:", np.abs(x.grad.numpy() - (p - target) / 16).max())
assert np.allclose(y.numpy(), p, atol=1e-5) and np.allclose(x.grad.numpy(), (p - target) / 16, atol=1e-5)
