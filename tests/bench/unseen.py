"""Kernels that nobody looked at while the time model was made (tests/bench/predicted.py): odd shapes, many operations, each run many times."""
import os
import sys

from tinygrad import Tensor, dtypes, nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from predicted import often

Tensor.manual_seed(5)


def run(f, *shapes): often(f, [Tensor.randn(*s).realize() for s in shapes], 8, 150, 0.1)


conv, linear, batch, group = nn.Conv2d(12, 24, 3, padding=1), nn.Linear(200, 120), nn.BatchNorm(20), nn.GroupNorm(4, 20)
Tensor.realize(*[p for layer in (conv, linear, batch, group) for p in nn.state.get_parameters(layer)])
run(lambda a, b: (a @ b).tanh(), (300, 180), (180, 140))
run(lambda x: conv(x).relu(), (2, 12, 40, 40))
run(lambda x: linear(x).sigmoid().mean(), (90, 200))
run(lambda x: batch(x), (4, 20, 18, 18))
run(lambda x: group(x).silu(), (4, 20, 18, 18))
run(lambda x: x.softmax(-1).log(), (70, 333))
run(lambda x: x.logsumexp(0), (222, 111))
run(lambda x: (x * x).sum(1).sqrt(), (900, 77))
run(lambda x: x.permute(2, 0, 1).contiguous(), (60, 70, 80))
run(lambda x: x.cumsum(0), (130, 95))
run(lambda x: x.sort()[0], (20, 200))
run(lambda x: x.argmax(1), (300, 50))
run(lambda x, y: (x > y).where(x.exp(), y.cos()), (240, 250), (240, 250))
run(lambda x: x.avg_pool2d(3), (3, 10, 60, 60))
run(lambda x: x.pad(((1, 2), (3, 1))) * 2, (511, 300))
run(lambda q, k, v: q.scaled_dot_product_attention(k, v), (4, 50, 24), (4, 50, 24), (4, 50, 24))
run(lambda x: x.cast(dtypes.half).cast(dtypes.float) * 3, (333, 333))
run(lambda x: x.std(0), (400, 60))
run(lambda x: x.pow(3).sin(), (1000, 90))
run(lambda a, b: (a.unsqueeze(1) - b.unsqueeze(0)).abs().sum(-1), (80, 16), (60, 16))
run(lambda x: x.reshape(-1, 2, 50, 2).max((1, 3)), (100, 100))
