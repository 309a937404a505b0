# Habits of scripts written for the reference that a table of operations does not show: values compared with NumPy.
import numpy as np
from tinygrad import Tensor, TinyJit, nn
from check import close, run

class Net:
  def __init__(self): self.l1, self.norm, self.l2 = nn.Linear(6, 8), nn.BatchNorm(8), nn.Linear(8, 2)
  def __call__(self, x): return self.l2(self.norm(self.l1(x)).relu())

def losses(order, jit):
  Tensor.manual_seed(7)
  x, y = Tensor.randn(8, 6).realize(), Tensor.randint(8, high=2).realize()
  net = Net()
  opt = nn.optim.SGD(nn.state.get_parameters(net), lr=0.1, momentum=0.9)
  def step():
    opt.zero_grad()
    loss = net(x).sparse_categorical_crossentropy(y).backward()
    if order == "loss first": loss.realize()
    if order == "together": return loss.realize(*opt.schedule_step())
    opt.step()
    return loss.realize()
  f = TinyJit(step) if jit else step
  with Tensor.train(): return [f().item() for _ in range(4)]

def test_a_loss_read_after_the_step_is_that_of_before():
  want = losses("loss first", False)
  assert want == sorted(want, reverse=True)
  for order in ("loss first", "together", "step first"):
    for jit in (False, True): np.testing.assert_allclose(losses(order, jit), want, rtol=1e-5)

def test_what_shares_nothing_with_an_assignment_keeps_what_it_read():
  w = Tensor([1.0, 2.0]).realize()
  later = w + 1
  w.assign(w * 3).realize()
  close(later, [2, 3])

def test_recurrent_gradients_after_the_state_was_read():
  Tensor.manual_seed(0)
  x, wx, wh = Tensor.randn(5, 3, 4).realize(), Tensor.glorot_uniform(4, 6), Tensor.kaiming_normal(6, 6)
  h = Tensor.zeros(3, 6)
  for t in range(5): h = (x[t] @ wx + h @ wh).tanh()
  states = [np.zeros((3, 6))]
  for t in range(5): states.append(np.tanh(x.numpy()[t] @ wx.numpy() + states[-1] @ wh.numpy()))
  close(h, states[-1], atol=1e-5)
  d, gx, gh = np.ones((3, 6)), 0, 0
  for t in reversed(range(5)):
    z = d * (1 - states[t + 1] ** 2)
    gx, gh, d = gx + x.numpy()[t].T @ z, gh + states[t].T @ z, z @ wh.numpy().T
  got = h.sum().gradient(wx, wh)
  close(got[0], gx, rtol=1e-3, atol=1e-3)
  close(got[1], gh, rtol=1e-3, atol=1e-3)

if __name__ == "__main__": run(globals())
