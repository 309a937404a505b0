# A user's test suite, run by `uopscope python -m pytest`: fixtures, parameters, rewritten assertions, approx, raises.
import numpy as np, pytest
from tinygrad import Tensor, dtypes, nn

@pytest.fixture
def layer():
  Tensor.manual_seed(1)
  return nn.Linear(4, 3)

@pytest.mark.parametrize("rows", [1, 2, 7])
def test_forward(layer, rows):
  x = Tensor.randn(rows, 4)
  assert layer(x).shape == (rows, 3)
  np.testing.assert_allclose(layer(x).numpy(), x.numpy() @ layer.weight.numpy().T + layer.bias.numpy(), rtol=1e-5, atol=1e-6)

def test_step_lowers_the_loss(layer, monkeypatch):
  monkeypatch.setattr(Tensor, "training", True)
  opt = nn.optim.SGD(nn.state.get_parameters(layer), lr=0.1)
  losses = []
  for _ in range(3):
    loss = layer(Tensor.ones(2, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
  assert losses == sorted(losses, reverse=True)

def test_wrong_shape_names_both(layer):
  with pytest.raises(RuntimeError, match=r"\(2, 5\).*\(4, 3\)"): layer(Tensor.ones(2, 5))

def test_output_is_captured(capsys):
  print(Tensor([1.5]).tolist())
  assert capsys.readouterr().out == "[1.5]\n"

def test_state_goes_through_a_file(layer, tmp_path):
  nn.state.safe_save(nn.state.get_state_dict(layer), str(tmp_path / "layer.safetensors"))
  back = nn.state.safe_load(str(tmp_path / "layer.safetensors"))
  assert back["weight"].dtype == dtypes.float32 and back["weight"].tolist() == layer.weight.tolist()
  assert Tensor([1 / 3]).item() == pytest.approx(1 / 3)
