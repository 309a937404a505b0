# Layers and optimizers. The reference runs them once to record their results; every test compares our results with these.
#
#   python nn_cases.py ../../golden/python/nn.json     # under the reference: records
#
# A case returns tensors. Their numbers come from a fixed formula, weights from the seed.
import json, sys
from tinygrad import Tensor, nn, dtypes

def grid(*shape, scale=1.0, shift=0.0):
  """Irregular numbers between -1 and 1, the same on every machine."""
  n = 1
  for s in shape: n *= s
  return Tensor([((i * 7919 + 104729) % 1999) / 999.5 - 1.0 for i in range(n)]).reshape(shape) * scale + shift

def layer(make, *inputs, train=False):
  """Output, gradients of its inputs and parameters, and the state it leaves behind."""
  Tensor.manual_seed(7)
  model = make()
  xs = [x.requires_grad_(True) if dtypes.is_float(x.dtype) else x for x in inputs]
  state = nn.state.get_state_dict(model)
  with Tensor.train(train):
    for p in state.values():
      if p.requires_grad is None: p.requires_grad_(True)
    out = model(*xs)
    out = list(out) if isinstance(out, tuple) else [out]
    sum((o * grid(*o.shape, scale=0.5)).sum() for o in out).backward()
    Tensor.realize(*out, *state.values())
  return out + [state[k] for k in sorted(state) if k != "arange"] + [x.grad for x in xs if x.grad is not None] + [state[k].grad for k in sorted(state) if state[k].grad is not None]

LAYERS = {
  "linear": lambda: layer(lambda: nn.Linear(4, 3), grid(2, 4)),
  "linear without bias": lambda: layer(lambda: nn.Linear(4, 3, bias=False), grid(2, 4)),
  "conv1d": lambda: layer(lambda: nn.Conv1d(2, 4, 3, stride=2, padding=1), grid(2, 2, 7)),
  "conv2d": lambda: layer(lambda: nn.Conv2d(2, 4, 3), grid(1, 2, 5, 5)),
  "conv2d grouped": lambda: layer(lambda: nn.Conv2d(4, 4, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2, bias=False), grid(1, 4, 6, 6)),
  "conv2d same": lambda: layer(lambda: nn.Conv2d(1, 2, (2, 3), padding="same"), grid(1, 1, 4, 4)),
  "conv3d": lambda: layer(lambda: nn.Conv2d(1, 2, (2, 2, 2)), grid(1, 1, 3, 3, 3)),
  "conv_transpose1d": lambda: layer(lambda: nn.ConvTranspose1d(2, 3, 3, stride=2, output_padding=1), grid(1, 2, 4)),
  "conv_transpose2d": lambda: layer(lambda: nn.ConvTranspose2d(2, 4, 3, stride=2, padding=1, groups=2), grid(1, 2, 3, 3)),
  "batchnorm training": lambda: layer(lambda: nn.BatchNorm(3), grid(4, 3, 2, 2), train=True),
  "batchnorm 1d": lambda: layer(lambda: nn.BatchNorm(3, momentum=0.3), grid(5, 3), train=True),
  "batchnorm 3d plain": lambda: layer(lambda: nn.BatchNorm3d(2, affine=False, track_running_stats=False), grid(2, 2, 2, 2, 2), train=True),
  "batchnorm evaluating": lambda: layer(lambda: nn.BatchNorm2d(3, eps=1e-3), grid(2, 3, 2, 2)),
  "groupnorm": lambda: layer(lambda: nn.GroupNorm(2, 4), grid(2, 4, 3, 3)),
  "instancenorm": lambda: layer(lambda: nn.InstanceNorm(3), grid(2, 3, 3, 3)),
  "layernorm": lambda: layer(lambda: nn.LayerNorm((2, 3)), grid(4, 2, 3)),
  "layernorm plain": lambda: layer(lambda: nn.LayerNorm(3, eps=1e-2, elementwise_affine=False), grid(4, 3)),
  "layernorm2d": lambda: layer(lambda: nn.LayerNorm2d(3), grid(2, 3, 2, 2)),
  "rmsnorm": lambda: layer(lambda: nn.RMSNorm(4), grid(3, 4)),
  "embedding": lambda: layer(lambda: nn.Embedding(6, 3), Tensor([[0, 5, 2], [2, 2, 1]])),
  "embedding outside": lambda: layer(lambda: nn.Embedding(3, 2), Tensor([0, 7, -1])),
  "lstm": lambda: layer(lambda: nn.LSTMCell(3, 4), grid(2, 3)),
}

def train(make, steps=4, n=2):
  """A small loss minimised for some steps: the parameters after each, and the optimizer's own state."""
  Tensor.manual_seed(3)
  params = [grid(3, 4, scale=0.5), grid(3, shift=0.25)][:n]
  with Tensor.train():
    opt, seen = make(params), []
    for _ in range(steps):
      opt.zero_grad()
      y = grid(5, 4, shift=0.1) @ params[0].transpose()
      y = y + params[1] if n > 1 else y
      (y - grid(5, 3)).square().mean().backward()
      opt.step()
      seen += [p.numpy().copy() for p in params]
  return seen + [v for k, v in sorted(nn.state.get_state_dict(opt).items()) if not k.startswith(("params", "buffers"))]

OPTIMIZERS = {
  "sgd": lambda: train(lambda p: nn.optim.SGD(p, lr=0.1)),
  "sgd momentum": lambda: train(lambda p: nn.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.05)),
  "sgd nesterov": lambda: train(lambda p: nn.optim.SGD(p, lr=0.1, momentum=0.8, nesterov=True)),
  "sgd classic": lambda: train(lambda p: nn.optim.SGD(p, lr=0.1, momentum=0.8, classic=True)),
  "sgd fused": lambda: train(lambda p: nn.optim.SGD(p, lr=0.1, momentum=0.9, fused=True)),
  "adam": lambda: train(lambda p: nn.optim.Adam(p, lr=0.1)),
  "adam defaults": lambda: train(lambda p: nn.optim.Adam(p)),
  "adam fused": lambda: train(lambda p: nn.optim.Adam(p, lr=0.05, fused=True)),
  "adamw": lambda: train(lambda p: nn.optim.AdamW(p, lr=0.1, b1=0.8, b2=0.95, weight_decay=0.1)),
  "adamw defaults": lambda: train(lambda p: nn.optim.AdamW(p)),
  "lamb": lambda: train(lambda p: nn.optim.LAMB(p, lr=0.1, weight_decay=0.02)),
  "lamb defaults": lambda: train(lambda p: nn.optim.LAMB(p)),
  "lars": lambda: train(lambda p: nn.optim.LARS(p, lr=0.5, tcoef=0.1)),
  "lars defaults": lambda: train(lambda p: nn.optim.LARS(p)),
  "lars popular": lambda: train(lambda p: nn.optim.LARS(p, lr=0.5, classic=False, nesterov=True)),
  "muon": lambda: train(lambda p: nn.optim.Muon(p, lr=0.1), n=1),
  "muon defaults": lambda: train(lambda p: nn.optim.Muon(p), n=1),
  "group": lambda: train(lambda p: nn.optim.OptimizerGroup(nn.optim.SGD(p[:1], lr=0.1), nn.optim.AdamW(p[1:], lr=0.1))),
}

CASES = {**LAYERS, **OPTIMIZERS}
def values(case): return [x.numpy() if hasattr(x, "numpy") else x for x in case()]

if __name__ == "__main__":
  with open(sys.argv[1], "w") as f:
    lines = []
    for name, case in CASES.items():
      print(name, file=sys.stderr)
      lines.append(f"{json.dumps(name)}: " + json.dumps([{"shape": list(v.shape), "values": [float(f"{x:.6g}") for x in v.reshape(-1).tolist()]} for v in values(case)], separators=(",", ":")))
    f.write("{\n" + ",\n".join(lines) + "\n}\n")
