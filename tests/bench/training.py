"""A small network trained on random pictures; prints JSON: seconds from before the imports until the first step is
done, of the second step (which the JIT records), and the median of later steps. Runs under both."""
import time
start = time.perf_counter()
import json, statistics, sys
from tinygrad import Tensor, TinyJit, nn

class Net:
    def __init__(self):
        self.c1, self.c2 = nn.Conv2d(1, 16, 3), nn.Conv2d(16, 32, 3)
        self.norm, self.l1 = nn.BatchNorm(32), nn.Linear(32 * 25, 10)

    def __call__(self, x):
        x = self.c1(x).relu().max_pool2d()
        x = self.norm(self.c2(x)).relu().max_pool2d()
        return self.l1(x.flatten(1))

Tensor.manual_seed(1)
net = Net()
opt = {"adam": nn.optim.Adam, "sgd": nn.optim.SGD}[sys.argv[1] if len(sys.argv) > 1 else "adam"](nn.state.get_parameters(net), lr=1e-3)
x, y = Tensor.rand(512, 1, 28, 28).realize(), Tensor.randint(512, high=10).realize()

@TinyJit
def step(x, y):
    opt.zero_grad()
    loss = net(x).sparse_categorical_crossentropy(y).backward()
    opt.step()
    return loss

seconds = []
with Tensor.train():
    for i in range(12):
        at = (i % 4) * 128
        bx, by = x[at:at + 128].contiguous().realize(), y[at:at + 128].contiguous().realize()
        before = time.perf_counter()
        step(bx, by).item()
        seconds.append(time.perf_counter() - (before if i else start))
print(json.dumps({"first": seconds[0], "second": seconds[1], "later": statistics.median(seconds[3:])}))
