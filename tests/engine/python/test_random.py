# Random numbers equal the reference's, draw for draw. tests/golden/random_streams.json holds the numbers of tinygrad 0.12.0;
# to record it anew: PYTHONPATH= python3 test_random.py --record   (with a Python that has tinygrad installed)
import json, os, sys
import numpy as np
from tinygrad import Tensor, dtypes

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden", "random_streams.json")

def cases():
  """Name and tensors of each case; a seed begins every one."""
  def seeded(seed, f):
    Tensor.manual_seed(seed)
    return f()
  yield "rand", seeded(0, lambda: [Tensor.rand(5), Tensor.rand(2, 3), Tensor.rand(1), Tensor.rand(4)])
  yield "rand other seed", seeded(1337, lambda: [Tensor.rand(7), Tensor.rand(3, 3)])
  yield "rand large", seeded(3, lambda: [Tensor.rand(1000).reshape(10, 100).sum(0)])
  yield "rand half", seeded(4, lambda: [Tensor.rand(9, dtype=dtypes.half).float(), Tensor.rand(5, dtype=dtypes.half).float()])
  yield "rand bfloat16", seeded(4, lambda: [Tensor.rand(9, dtype=dtypes.bfloat16).float()])
  yield "rand double", seeded(4, lambda: [Tensor.rand(6, dtype=dtypes.float64)])
  yield "randn", seeded(0, lambda: [Tensor.randn(5), Tensor.randn(2, 4), Tensor.randn(3)])
  yield "randn half", seeded(6, lambda: [Tensor.randn(5, dtype=dtypes.half).float()])
  yield "randint", seeded(0, lambda: [Tensor.randint(10), Tensor.randint(2, 5, low=-5, high=5), Tensor.randint(4, low=0, high=1000, dtype=dtypes.int64)])
  yield "uniform", seeded(0, lambda: [Tensor.uniform(6), Tensor.uniform(2, 3, low=-2.5, high=4), Tensor.uniform(4, low=2, high=10, dtype=dtypes.int32)])
  yield "normal", seeded(0, lambda: [Tensor.normal(6), Tensor.normal(2, 3, mean=10, std=2)])
  yield "randperm", seeded(0, lambda: [Tensor.randperm(8), Tensor.randperm(17), Tensor.randperm(1)])
  yield "multinomial", seeded(0, lambda: [Tensor([1.0, 2.0, 3.0, 4.0]).multinomial(8, replacement=True), Tensor([[0.1, 0.9], [0.7, 0.3]]).multinomial(5, replacement=True), Tensor([1.0, 5.0, 2.0]).multinomial()])
  yield "scaled_uniform", seeded(0, lambda: [Tensor.scaled_uniform(3, 4)])
  yield "glorot_uniform", seeded(0, lambda: [Tensor.glorot_uniform(3, 4), Tensor.glorot_uniform(2, 3, 2)])
  yield "kaiming_uniform", seeded(0, lambda: [Tensor.kaiming_uniform(3, 4), Tensor.kaiming_uniform(2, 3, a=0.5)])
  yield "kaiming_normal", seeded(0, lambda: [Tensor.kaiming_normal(3, 4), Tensor.kaiming_normal(2, 3, a=0.5)])
  yield "rand_like", seeded(0, lambda: [Tensor.ones(2, 3).rand_like(), Tensor.ones(4).randn_like()])
  def dropped():
    with Tensor.train(): return [Tensor.ones(20).dropout(0.5), Tensor.ones(3, 4).dropout(0.2), Tensor.ones(4).dropout(0.0)]
  yield "dropout", seeded(0, dropped)
  def mixed(): return [Tensor.rand(3), Tensor.randn(3), Tensor.randint(5), Tensor.rand(3)]
  yield "mixed", seeded(42, mixed)
  def later():
    a, b = Tensor.rand(3), Tensor.rand(3)
    second = b.numpy()
    return [a, Tensor(second)]
  yield "realized in another order", seeded(5, later)
  def layers():
    from tinygrad import nn
    return [nn.Linear(4, 3).weight, nn.Conv2d(2, 3, 3).weight, nn.Embedding(5, 2).weight]
  yield "layers", seeded(9, layers)

def record():
  with open(GOLDEN, "w") as f:
    json.dump({name: [t.numpy().tolist() for t in tensors] for name, tensors in cases()}, f, separators=(",", ":"))
    f.write("\n")

def check(name, tensors, want):
  for i, (t, w) in enumerate(zip(tensors, want, strict=True)):
    np.testing.assert_allclose(t.numpy(), np.array(w), rtol=2e-5, atol=2e-6, err_msg=f"{name}, draw {i}")

if __name__ == "__main__":
  if "--record" in sys.argv: record()
  else:
    with open(GOLDEN) as f: golden = json.load(f)
    failed = 0
    for name, tensors in cases():
      try: check(name, tensors, golden[name])
      except Exception as e:
        failed += 1
        print(f"FAILED {name}: {e}")
    print(f"{len(golden) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
