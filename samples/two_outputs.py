# Two results that share work: a+b+c and a+b+d.
# Look at: one kernel with four reads and two writes. a+b is computed once ("split kernels" shows both outputs in one
# SINK); the C source has a single addition of a and b.
import numpy as np
from tinygrad import Tensor

Tensor.manual_seed(7)
a, b, c, d = (Tensor.rand(32, 32).realize() for _ in range(4))
out1, out2 = a + b + c, a + b + d
Tensor.realize(out1, out2)

print("first: ", np.abs(out1.numpy() - (a.numpy() + b.numpy() + c.numpy())).max())
print("second:", np.abs(out2.numpy() - (a.numpy() + b.numpy() + d.numpy())).max())
assert np.allclose(out1.numpy(), a.numpy() + b.numpy() + c.numpy())
assert np.allclose(out2.numpy(), a.numpy() + b.numpy() + d.numpy())
