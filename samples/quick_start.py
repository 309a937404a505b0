# Quick start: tensors, gradients, a network, training, and keeping what was learned. Runs on tinygrad as well.
#   app/run run samples/quick_start.py            STEPS=60 for a longer training
#   app/run samples/quick_start.py                the same, in the window
# Look at: `x + y` computes nothing until a value is asked for; the second training step schedules nothing anew.
import os, tempfile
import numpy as np
from tinygrad import Tensor, TinyJit, dtypes, nn

# --- 1. Tensors. From lists, NumPy, or made.
a = Tensor([[1.0, 2.0], [3.0, 4.0]])
b = Tensor(np.eye(2, dtype=np.float32))
ones, numbers, noise = Tensor.ones(2, 2), Tensor.arange(6).reshape(2, 3), Tensor.rand(2, 2)
print(a.shape, a.dtype, numbers.dtype, noise.shape)

# --- 2. Operations are lazy: this builds a graph. numpy(), tolist() and item() compute it.
c = (a @ b + ones).relu().sum(axis=1)
print("lazy:", c.uop.op)
assert c.tolist() == [5.0, 9.0]
assert numbers[1, ::2].tolist() == [3, 5] and (a > 2).cast(dtypes.int).sum().item() == 2

# --- 3. Gradients: of anything, by backward().
w = Tensor([2.0, -1.0], requires_grad=True)
(w * w).sum().backward()
assert w.grad.tolist() == [4.0, -2.0]

# --- 4. A network is a class whose attributes are layers and tensors. No base class, no registration.
class Net:
  def __init__(self): self.l1, self.l2 = nn.Linear(64, 32), nn.Linear(32, 10)
  def __call__(self, x): return self.l2(self.l1(x.flatten(1)).relu())

# --- 5. Data: pictures of ten patterns, blurred by noise. (nn.datasets.mnist() gives real digits, where the files are.)
rng = np.random.default_rng(0)
patterns = rng.random((10, 8, 8)).astype(np.float32)
def pictures(n):
  labels = rng.integers(0, 10, n)
  return Tensor(patterns[labels] + rng.normal(0, 0.5, (n, 8, 8)).astype(np.float32)), Tensor(labels.astype(np.int32))
x_train, y_train = pictures(2000)
x_test, y_test = pictures(500)

# --- 6. Training. The first two calls of the step run as written and record; later ones replay its kernels.
Tensor.manual_seed(1337)
net = Net()
opt = nn.optim.Adam(nn.state.get_parameters(net), lr=0.01)

@TinyJit
def step():
  samples = Tensor.randint(128, high=x_train.shape[0])
  opt.zero_grad()
  loss = net(x_train[samples]).sparse_categorical_crossentropy(y_train[samples]).backward()
  opt.step()
  return loss

with Tensor.train():
  for i in range(int(os.getenv("STEPS", "30"))):
    loss = step()
    if i % 10 == 0: print(f"step {i:3d}  loss {loss.item():.3f}")

# --- 7. How good is it?
right = (net(x_test).argmax(axis=1) == y_test).mean().item()
print(f"{100 * right:.1f} % of unseen pictures are right")
assert right > 0.6

# --- 8. Save, and load into a new network.
with tempfile.TemporaryDirectory() as folder:
  nn.state.safe_save(nn.state.get_state_dict(net), f"{folder}/net.safetensors")
  again = Net()
  nn.state.load_state_dict(again, nn.state.safe_load(f"{folder}/net.safetensors"), verbose=False)
  assert np.allclose(net(x_test[:4]).numpy(), again(x_test[:4]).numpy(), atol=1e-5)
