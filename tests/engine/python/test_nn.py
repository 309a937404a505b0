# Layers and optimizers give the reference's numbers: every case of nn_cases.py is compared with the recorded results.
import inspect, json, pathlib
import numpy as np
from tinygrad import Tensor, nn, dtypes
from check import close, raises, run
import nn_cases

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[2] / "golden" / "python" / "nn.json").read_text())

def compare(name):
  got, want = nn_cases.values(nn_cases.CASES[name]), RECORDED[name]
  assert len(got) == len(want), f"{name}: {len(got)} tensors, recorded {len(want)}"
  for i, (g, w) in enumerate(zip(got, want)):
    assert list(g.shape) == w["shape"], f"{name}: tensor {i} has shape {g.shape}, recorded {w['shape']}"
    np.testing.assert_allclose(g.astype(np.float64).reshape(-1), w["values"], rtol=3e-4, atol=2e-5, err_msg=f"{name}: tensor {i}")

def test_every_case_is_recorded(): assert sorted(RECORDED) == sorted(nn_cases.CASES)
for _name in nn_cases.CASES: globals()["test_" + _name.replace(" ", "_")] = lambda name=_name: compare(name)

def test_arguments_and_defaults():
  def of(f): return str(inspect.signature(f)).replace("self, ", "")
  assert of(nn.Conv2d.__init__) == of(nn.Conv1d) == "(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True)"
  assert of(nn.ConvTranspose2d.__init__) == of(nn.ConvTranspose1d) == "(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1, bias=True)"
  assert of(nn.BatchNorm.__init__) == "(sz, eps=1e-05, affine=True, track_running_stats=True, momentum=0.1)" and nn.BatchNorm2d is nn.BatchNorm3d is nn.BatchNorm
  assert of(nn.RMSNorm.__init__) == "(dim, eps=1e-06, elementwise_affine=True)" and of(nn.LSTMCell.__init__) == "(input_size, hidden_size, bias=True)"
  names = lambda f: [(p.name, p.default) for p in inspect.signature(f).parameters.values() if p.default is not p.empty and p.name != "fused"]
  assert names(nn.optim.SGD) == [("lr", 0.001), ("momentum", 0.0), ("weight_decay", 0.0), ("nesterov", False), ("classic", False)]
  assert names(nn.optim.AdamW) == [("lr", 0.001), ("b1", 0.9), ("b2", 0.999), ("eps", 1e-8), ("weight_decay", 0.01)]
  assert names(nn.optim.Muon) == [("lr", 0.001), ("momentum", 0.95), ("weight_decay", 0.1), ("ns_steps", 5), ("ns_coefficients", (3.4445, -4.775, 2.0315)), ("nesterov", True)]

def test_other_dtypes():
  x = Tensor([[3.0, 4.0]], dtype=dtypes.float16)
  y = nn.RMSNorm(2, elementwise_affine=False)(x)
  assert y.dtype == dtypes.float16
  close(y, np.array([[3, 4]]) / np.sqrt(12.5), rtol=1e-3)
  l = nn.Linear(2, 2)
  for p in nn.state.get_parameters(l): p.replace(p.cast(dtypes.bfloat16))
  assert l(x.cast(dtypes.bfloat16)).dtype == dtypes.bfloat16

def test_empty_and_single_inputs():
  assert nn.Linear(3, 2)(Tensor.empty(0, 3)).shape == (0, 2) and nn.Embedding(4, 2)(Tensor([], dtype=dtypes.int32)).numpy().shape == (0, 2)
  assert nn.Linear(1, 1)(Tensor([[2.0]])).shape == (1, 1) and nn.LayerNorm(1)(Tensor([[5.0]])).tolist() == [[0.0]]
  assert nn.Embedding(4, 3)(Tensor(2)).shape == (3,)

def test_training_updates_running_statistics():
  bn = nn.BatchNorm(2, momentum=0.5)
  x = np.random.default_rng(1).normal(3, 2, (8, 2, 4)).astype(np.float32)
  with Tensor.train(): bn(Tensor(x)).realize()
  n = 8 * 4
  close(bn.running_mean, 0.5 * x.mean((0, 2)), rtol=1e-4)
  close(bn.running_var, 0.5 + 0.5 * x.var((0, 2)) * x.size / (x.size - 2), rtol=1e-4)
  assert bn.num_batches_tracked.item() == 1 and n

def test_errors():
  raises(TypeError, lambda: nn.Embedding(3, 2)(Tensor([0.5])), "integer")
  raises(ValueError, lambda: nn.Conv2d(1, 1, 3, padding="valid"), "valid")
  raises(ValueError, lambda: nn.Conv2d(1, 1, 3, padding="same", stride=2), "strided")
  raises(AssertionError, lambda: nn.LayerNorm(3)(Tensor.ones(2, 4)), "(2, 4)", "(3,)")
  raises(AssertionError, lambda: nn.optim.SGD([]), "at least one")
  raises(AssertionError, lambda: nn.optim.Muon([Tensor.ones(2, 2)], fused=True), "Muon")
  opt = nn.optim.SGD([Tensor.ones(2).requires_grad_()])
  raises(RuntimeError, opt.step, "training")
  with Tensor.train(): raises(AssertionError, opt.step, "no gradient", "(2,)")

if __name__ == "__main__": run(globals())
