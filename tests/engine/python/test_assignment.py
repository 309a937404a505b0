# A value keeps its meaning: memory of equal tensors, views, and lazy values of a tensor that is assigned later.
import os, sys
import numpy as np
from tinygrad import Device, Tensor, TinyJit, nn, dtypes
from check import close, run

FRESH = {
  "zeros": lambda: Tensor.zeros(4).contiguous(), "ones": lambda: Tensor.ones(4).contiguous(), "full": lambda: Tensor.full((4,), 2.0).contiguous(),
  "zeros_like": lambda: Tensor.zeros(4).zeros_like().contiguous(), "arange": lambda: Tensor.arange(4).contiguous(), "eye": lambda: Tensor.eye(4).contiguous(),
  "to": lambda: Tensor.ones(4).contiguous().to("CPU:1"), "half": lambda: Tensor.ones(4).half().contiguous(), "scalar": lambda: Tensor(3.0).contiguous(),
  "shard": lambda: Tensor.ones(4).contiguous().shard(("CPU", "CPU:1"), 0), "both": lambda: Tensor.ones(4).contiguous().shard(("CPU", "CPU:1")),
  "sum": (lambda a, b: lambda: a + b)(Tensor([1.0, 2, 3, 4]).realize(), Tensor([5.0, 6, 7, 8]).realize()),
}

def test_equal_tensors_have_memory_each():
  for name, make in FRESH.items():
    a, b = make(), make()
    want = b.tolist() if name == "sum" else None
    Tensor.realize(a, b)
    want = b.numpy()
    a.assign(a + 1).realize()
    close(b, want), close(a, want + 1)
    a.assign(a + 1)
    b.assign(b * 3)
    Tensor.realize(a, b)
    close(b, want * 3), close(a, want + 2)

def test_one_of_two_shared_buffers_is_assigned():
  x = Tensor([1.0, 2, 3]).realize()
  a, b = x * 2, x * 2
  a.realize()                                                    # b is the same node and thus the same buffer
  a += 1
  close(b, [2, 4, 6]), close(a, [3, 5, 7]), close(b, [2, 4, 6])
  c = a.contiguous()                                             # a separate value, without a copy
  a.assign(a * 10).realize()
  close(c, [3, 5, 7]), close(a, [30, 50, 70])
  c += 1
  close(a, [30, 50, 70])

def test_views_follow():
  a = Tensor.arange(12).float().reshape(3, 4).contiguous().realize()
  row, turned, every, kept = a[1], a.T, a[:, ::3], a.detach()
  a.assign(a + 100)
  n = np.arange(12).reshape(3, 4) + 100.0
  close(row, n[1]), close(turned, n.T), close(every, n[:, ::3]), close(kept, n)
  row.assign(Tensor.zeros(4))
  n[1] = 0
  close(a, n), close(turned, n.T)
  turned[3] = 7
  n.T[3] = 7
  close(a, n), close(row, n[1]), close(every, n[:, ::3])
  every += 1
  n[:, ::3] += 1
  close(a, n)

def test_views_of_what_is_not_computed_follow():
  for part in (False, True):
    x = Tensor([1.0, 2, 3, 4]) + Tensor([1.0, 1, 1, 1])
    v, double = x[1:3], x * 2
    if part: v.assign(Tensor([9.0, 9]))
    else: x.assign(Tensor([9.0, 9, 9, 9]))
    close(v, [9, 9]), close(x, [2, 9, 9, 5] if part else [9] * 4), close(double, [4, 6, 8, 10])
    z = Tensor.zeros(4)
    w = z[1:3]
    w += 1
    close(z, [0, 1, 1, 0])

def test_what_is_no_view_does_not_follow():
  a = Tensor([1.0, 2, 3]).realize()
  padded, twice, other = a.pad(((1, 1),)), a.repeat(2), a + 0 # repeat() shows elements in place, as expand() does
  a.assign(a * 10).realize()
  close(padded, [0, 1, 2, 3, 0]), close(twice, [10, 20, 30, 10, 20, 30]), close(other, [1, 2, 3])
  wide = a.expand(2, 3)
  wide.assign(Tensor.ones(2, 3))                                 # several elements share a place, so it gets memory of its own
  close(a, [10, 20, 30]), close(wide, np.ones((2, 3)))

def test_a_lazy_value_keeps_what_it_read():
  a = Tensor([1.0, 2, 3]).realize()
  first = a * 2
  a += 1
  second = a * 2
  a += 1
  third = a * 2
  for t, want in ((third, [6, 8, 10]), (first, [2, 4, 6]), (second, [4, 6, 8]), (a, [3, 4, 5])): close(t, want)
  big = Tensor.ones(300, 300).contiguous().realize()
  lazy = big.reshape(1, 300, 300).expand(4, 300, 300) * 2        # its operand is smaller than the value
  big.assign(big * 5).realize()
  close(lazy, np.full((4, 300, 300), 2.0)), close(big, np.full((300, 300), 5.0))

def losses(step, where=None, again=lambda: None, realize=False):
  Tensor.manual_seed(3)
  w = Tensor.randn(8, 4).realize()
  x = Tensor.randn(16, 8).realize()
  if where: w, x = w.shard(where).realize(), x.shard(where, 0).realize()
  w.requires_grad = True
  opt, out = step([w]), []
  with Tensor.train():
    for _ in range(3):
      opt.zero_grad()
      loss = (x @ w).square().mean().backward()
      if realize: Tensor.realize(loss)
      opt.step()
      out.append((loss, w.grad))
  return [loss.item() for loss, _ in out] + [g.numpy().sum() for _, g in out] + [w.numpy().sum()]

def test_losses_and_gradients_are_those_before_the_step():
  for step in (lambda p: nn.optim.SGD(p, lr=0.1), lambda p: nn.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: nn.optim.Adam(p, lr=0.1)):
    want = losses(step, realize=True)
    close(losses(step), want, rtol=1e-4, atol=1e-4)
    close(losses(step, ("CPU", "CPU:1")), want, rtol=1e-4, atol=1e-4)

def test_old_policy():
  Tensor.manual_seed(1)
  model, x = nn.Linear(8, 4), Tensor.randn(16, 8).realize()
  Tensor.realize(model.weight, model.bias)
  want = x.numpy() @ model.weight.numpy().T + model.bias.numpy()
  old, opt = model(x).detach(), nn.optim.SGD([model.weight, model.bias], lr=0.5)
  ratio = None
  with Tensor.train():
    for _ in range(3):
      opt.zero_grad()
      ratio = model(x) - old
      model(x).square().mean().backward()
      opt.step()
  close(old, want, rtol=1e-4, atol=1e-4)
  assert np.abs(ratio.numpy()).max() > 1e-3

def test_a_replay_keeps_what_was_read_before():
  w = Tensor([1.0, 2, 3]).realize()
  @TinyJit
  def step(x):
    w.assign(w + x)
    return (w * 2).realize()
  n, x = np.array([1.0, 2, 3]), Tensor([1.0, 1, 1]).realize()
  for _ in range(5):
    lazy, kept, view = w * 10, w.contiguous(), w[1:]
    later = step(x) + 1
    n += 1
    close(lazy, (n - 1) * 10), close(kept, n - 1), close(view, n[1:]), close(later, n * 2 + 1), close(w, n)
  before = step(x) + 1
  step(x)
  close(before, (n + 1) * 2 + 1)

def test_a_replay_keeps_a_value_that_equals_its_memory():
  state = Tensor([1, 2]).realize()
  @TinyJit
  def step(x):
    state.assign(state + x).realize()
    return (state * 2).realize()
  for _ in range(2): step(Tensor([1, 1]).realize())
  same = Tensor.full((2,), 0) + state                            # found to be the memory itself when it is computed
  step(Tensor([10, 10]).realize())
  assert same.tolist() == [3, 4] and state.tolist() == [13, 14]

def test_a_captured_call_leaves_what_was_there_before():
  w = Tensor([1.0, 2]).realize()
  @TinyJit
  def step():
    inside = w * 3
    w.assign(w + 1).realize()
    return inside.realize()
  step()
  early = w * 5                                                  # the next call captures
  close(step(), [6, 9])
  for k in range(3): close(step(), [3 * (3 + k), 3 * (4 + k)])
  close(early, [10, 15])

def test_a_captured_function_computes_what_an_older_view_shows():
  for older in (lambda w: (w * 2).repeat(2), lambda w: (w * 2).flip(0), lambda w: (w * 2)[1:], lambda w: (w * 2).detach(),
                lambda w: w.sum().expand(2), lambda w: (w * 2 + 1).reshape(2, 1)):
    w = Tensor([1, 2]).realize()
    @TinyJit
    def step():
      doubled, total = w * 2, w.sum()
      w.assign(w + 1)
      results = doubled + total * 100, doubled + 1
      Tensor.realize(*results, w)
      return results
    step()
    early = older(w)                                             # the next call captures, and has nodes equal to its
    want = older(Tensor([2, 3]).realize()).tolist()
    for k in range(2, 6):
      got = [t.tolist() for t in step()]
      assert got == [[2 * k + 100 * (2 * k + 1), 2 * k + 2 + 100 * (2 * k + 1)], [2 * k + 1, 2 * k + 3]], (k, got)
    assert early.tolist() == want and w.tolist() == [6, 7]

def test_an_older_value_that_a_captured_function_computes_too():
  devices = (Device.DEFAULT, f"{Device.DEFAULT}:1")
  for place in (lambda t: t.realize(), lambda t: t.shard(devices, 0).realize()):
    for older in (lambda x: x * 2 + 1, lambda x: (x * 2 + 1).reshape(2, 1), lambda x: (x * 2 + 1).flip(0)):
      step = TinyJit(lambda x: (x * 2 + 1).realize())
      step(place(Tensor([5, 5])))
      x = place(Tensor([1, 2]))
      if isinstance(x.device, tuple) and older(x).shape != (2,): continue
      early, want = older(x), older(Tensor([1, 2])).tolist()
      for k in range(1, 5):
        result = step(x if k == 1 else place(Tensor([k, k])))
        assert result.tolist() == ([3, 5] if k == 1 else [2 * k + 1] * 2) and early.tolist() == want

def test_an_argument_that_shares_the_state_of_a_captured_function():
  for when in range(4):                                          # the call that has it
    state = Tensor([1, 2]).realize()
    @TinyJit
    def step(x):
      before = state * 2
      state.assign(state + x)
      return (before + state).realize()
    for k in range(4):
      old = state.numpy()
      x = state.contiguous() if k == when else Tensor([k, 5]).realize()
      add = x.numpy() if k == when else [k, 5]
      close(step(x), old * 3 + add), close(state, old + add), close(x, add)
  empty = Tensor.empty(0, 3).realize()
  count = TinyJit(lambda x, y: (x.sum() + y).realize())
  for k in range(4): assert count(empty.contiguous().realize(), Tensor([k]).realize()).tolist() == [k]

def test_setitem_keeps_lazy_values():
  t = Tensor.zeros(4).contiguous().realize()
  seen = []
  for i in range(4):
    seen.append(t * 1)
    t[i] = i + 1
  for i, s in enumerate(seen): close(s, [k + 1 if k < i else 0 for k in range(4)])

def test_permuted_target_is_read_in_its_order():
  a = Tensor.arange(6).float().reshape(2, 3).contiguous().realize().permute(1, 0)
  b = Tensor.arange(6).float().reshape(3, 2).contiguous().realize()
  want = a.numpy() + b.numpy()
  a.assign(a + b)
  close(a.contiguous(), want), close(a, want)

def test_updates_that_read_each_others_old_contents_have_an_order():
  a = Tensor([0, 1, 2, 3]).realize()
  b = a.contiguous().clone()
  b.assign(a.flip(0) + b)
  a.assign(a * 2 + 1)
  b.assign(b.flip(0) + b)
  Tensor.realize(b, a)                                           # a kernel for both updates would wait for itself
  assert b.tolist() == [6, 6, 6, 6] and a.tolist() == [1, 3, 5, 7]

def test_a_sum_over_an_axis_of_length_1_is_a_value():
  @TinyJit
  def step(x): return (x + 1).realize()
  for _ in range(2): result = step(Tensor([[1, 2, 3]]).realize())
  summed = result.sum(0)
  summed[1:] = 6
  step(Tensor([[10, 20, 30]]).realize())
  assert result.tolist() == [[11, 21, 31]] and summed.tolist() == [2, 6, 6]

def test_a_small_update_that_nobody_reads_any_more_happens():
  a, b = Tensor([[1, 2]]).realize(), Tensor([[7, 8]]).realize()
  copy = a.clone()
  a.assign(a * 2 + copy.contiguous())
  a.assign(b)                                                    # the sum is never stored; the clone is
  assert a.tolist() == [[7, 8]] and copy.tolist() == [[1, 2]]

def test_detached_names_stay_names_when_their_value_is_stored():
  a = Tensor.arange(4).reshape(1, 4).contiguous()
  value = a.sum(0)
  name = value.detach()
  both = value + name
  del a
  both[1:] = 8                                                   # stores all that is held
  name.assign(3)
  assert value.tolist() == name.tolist() == [3, 3, 3, 3] and both.tolist() == [0, 8, 8, 8]

def test_a_view_of_a_copy_leaves_the_buffer():
  a = Tensor([1, 2, 3, 4]).realize()
  copy = a.contiguous().reshape(2, 2)                            # the tensor that was the copy is gone
  copy.assign(copy + 1)
  a += 10
  assert a.tolist() == [11, 12, 13, 14] and copy.tolist() == [[2, 3], [4, 5]]

def test_a_copy_below_permutations_that_undo_each_other():
  a = Tensor([[1, 2], [3, 4]]).realize()
  turned = a.transpose(0, 1)
  back = turned.transpose(0, 1)
  copy = back.contiguous()
  a.assign(a * 2 + back)
  assert a.tolist() == [[3, 6], [9, 12]] and copy.tolist() == [[1, 2], [3, 4]] and turned.tolist() == [[3, 9], [6, 12]]

def test_a_repeated_constant_is_not_written_through():
  for keep in (True, False):                                     # whether the tensor that is repeated is alive
    a = Tensor.full((2, 3), 2)
    wide = a.unsqueeze(0).expand(2, 2, 3)
    name = wide.reshape(4, 3)
    if not keep: del a
    wide.assign(wide + 1)
    assert wide.tolist() == [[[3] * 3] * 2] * 2 and name.tolist() == [[2] * 3] * 4
  a = Tensor.full((4,), 3)
  part = a[1::2]
  a.assign(4)
  assert part.tolist() == [4, 4]

def test_a_replica_and_its_source_are_two_values():
  devices = tuple(f"{Device.DEFAULT}:{i}" if i else Device.DEFAULT for i in range(2))
  a = Tensor([1, 2, 3]).realize()
  both = a.shard(devices, None).realize()
  both.assign(both * 3)
  a.assign(a + 1)
  assert a.tolist() == [2, 3, 4] and both.tolist() == [3, 6, 9]

def test_a_value_with_a_derivative_of_its_own_outlives_its_source():
  for make in (lambda: Tensor([3.0, 1, 2]), lambda: Tensor([1.5, 0.5, 1]) * 2, lambda: Tensor([[3.0, 1, 2]]).gather(1, Tensor([[0, 1, 2]])).reshape(3)):
    for f, want, slopes in ((lambda v: v.sort()[0], [1, 2, 3], [6, 2, 4]), (lambda v: v.sort(descending=True)[0], [3, 2, 1], [6, 2, 4]),
                            (lambda v: v.topk(2)[0], [3, 2], [6, 0, 4]), (lambda v: v.sort()[0][1:] + 1, [3, 4], [8, 0, 6])):
      v = make()
      r = f(v)
      t = v.contiguous().realize()
      t.assign(-t).realize()
      close(t, [-3, -1, -2]), close(r, want)
      v = make().realize()
      r, again = f(v), f(v)
      slope = (again * again).sum().gradient(v)[0] # asked for before, computed after
      v.assign(-v).realize()
      close(r, want), close(again, want), close(slope, slopes)

def test_random_programs():
  sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fuzz"))
  import assignment
  found = assignment.run(1, 150)
  assert not found, found

if __name__ == "__main__": run(globals())
