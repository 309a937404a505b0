# A long training run needs no more memory than a short one: nodes, schedules, kernels and buffers of a step are freed
# once nothing holds them.
from tinygrad import Tensor, nn
from check import run

class Net:
  def __init__(self): self.a, self.b = nn.Linear(16, 32), nn.Linear(32, 4)
  def __call__(self, x): return self.b(self.a(x).relu())

def resident_mb(): return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6

def test_training_stays_flat():
  with Tensor.train():
    net = Net()
    opt = nn.optim.SGD(nn.state.get_parameters(net), lr=0.05)
    x, y = Tensor.randn(32, 16).realize(), (Tensor.rand(32) * 4).cast("int32").realize()
    for step in range(1, 1201):
      opt.zero_grad()
      loss = net(x).sparse_categorical_crossentropy(y).backward()
      opt.step()
      if step == 200: early, first = resident_mb(), loss.item()
  assert loss.item() < first, "it does not learn"
  assert resident_mb() < early + 4, f"{early:.1f} MB after 200 steps, {resident_mb():.1f} after 1200"

def test_reading_keeps_nothing():
  a, w = Tensor.rand(256, 1024).realize(), Tensor.rand(1024, 1024).realize()
  def wide(): return (a @ w).relu().contiguous().sum(1)  # with a megabyte on the way
  for name, read in [("numpy", lambda: wide().numpy()), ("tolist", lambda: wide().tolist()), ("data", lambda: bytes(wide().data())), ("item", lambda: wide().sum().item())]:
    for _ in range(6): read()
    early = resident_mb()
    for _ in range(40): read()
    assert resident_mb() < early + 12, f"{name}: {early:.1f} MB after 6 times, {resident_mb():.1f} after 46"

if __name__ == "__main__": run(globals())
