# Attention over 512 keys, of which each row sees those up to its own: one kernel that streams over the keys.
# Look at: "stream softmax" in the schedule, which puts the scores inside of the sums that need them (FLIP stores them: four
# kernels); "carry maximum", which makes one loop over blocks of keys of it; the tile of each stage (UPCAST); the loop whose number
# of steps depends on the rows, since later keys are hidden.
import math
import numpy as np
from tinygrad import Tensor

Tensor.manual_seed(3)
q, k, v = (Tensor.randn(4, 512, 64).realize() for _ in range(3))
out = q.scaled_dot_product_attention(k, v, is_causal=True)

s = q.numpy() @ k.numpy().swapaxes(1, 2) / math.sqrt(64)
s = np.where(np.tril(np.ones((512, 512), bool)), s, -np.inf)
e = np.exp(s - s.max(axis=-1, keepdims=True))
expected = (e / e.sum(axis=-1, keepdims=True)) @ v.numpy()
print("attention: largest difference to NumPy:", np.abs(out.numpy() - expected).max())
assert np.allclose(out.numpy(), expected, atol=1e-5)
