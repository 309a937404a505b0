# A matrix product with a bias and a relu: one kernel.
# Look at: "apply rangeify", where reshape and expand turn into index expressions over three ranges; "expander", where
# the ranges the optimiser chose become vectors; "devectorize", where eight loads next to each other become one.
import numpy as np
from tinygrad import Tensor

Tensor.manual_seed(42)
a, b, bias = Tensor.rand(64, 48).realize(), Tensor.rand(48, 32).realize(), Tensor.rand(32).realize()
out = (a @ b + bias - 12).relu().numpy()

wanted = np.maximum(a.numpy() @ b.numpy() + bias.numpy() - 12, 0)
print("largest difference to NumPy:", np.abs(out - wanted).max())
assert np.allclose(out, wanted, rtol=1e-4, atol=1e-4)
