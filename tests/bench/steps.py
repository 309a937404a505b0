"""Training steps, and answers of trained networks, beside PyTorch's: the same networks, weights and batches; forward, and in a
training step backward and optimizer.

    tests/bench/run steps [rounds] [word ...]      a table, medians; PyTorch of the python that KERNELS_PYTHON names
    steps.py UOPSCOPE OTHER_PYTHON [rounds] [word ...]

Each side is a process of its own with two threads, and they take turns. Ours is captured by TinyJit; PyTorch's is eager, as most
people run it, with its fused optimizers off. Both begin with equal weights: losses of the first three steps have to agree. Without
training a "loss" is the largest of the network's results, and norms take their means and variances from memory.
"""
import json, os, statistics, subprocess, sys, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernels import THREADS, Side

ROUNDS, BURST = 5, 0.3 # BURST: seconds of a turn


class Ours:
    """The operations that networks are written with, on tensors of this project."""
    def __init__(self):
        from tinygrad import Tensor, TinyJit, nn
        self.T, self.jit, self.nn = Tensor, TinyJit, nn
    def parameter(self, a):
        t = self.T(a).contiguous().realize()
        t.requires_grad = True
        return t
    def data(self, a): return self.T(a).contiguous().realize()
    def conv(self, x, w, stride=1, pad=0): return x.conv2d(w, stride=stride, padding=pad)
    def pool(self, x, size=2, stride=2, pad=0): return x.max_pool2d(size, stride, padding=pad)
    def mean(self, x): return x.mean((2, 3))
    def norm(self, x, w, b):
        mean, var = x.mean((0, 2, 3), keepdim=True), x.var((0, 2, 3), keepdim=True, correction=0)
        return (x - mean) * (var + 1e-5).rsqrt() * w.reshape(1, -1, 1, 1) + b.reshape(1, -1, 1, 1)
    def known_norm(self, x, w, b, mean, var): return x.batchnorm(w, b, mean, (var + 1e-5).rsqrt())
    def layer_norm(self, x, w, b): return x.layernorm() * w + b
    def gelu(self, x): return x.gelu()
    def relu(self, x): return x.relu()
    def flat(self, x): return x.flatten(1)
    def rows(self, w, i): return w[i]
    def attend(self, q, k, v): return q.scaled_dot_product_attention(k, v, is_causal=True)
    def swap(self, x): return x.transpose(1, 2)
    def cross_entropy(self, x, y): return x.sparse_categorical_crossentropy(y)
    def train(self, loss_of, parameters, rate):
        opt = self.nn.optim.Adam(parameters, lr=rate)
        @self.jit
        def step(*batch):
            opt.zero_grad()
            loss = loss_of(*batch).backward()
            return loss.realize(*opt.schedule_step())
        def run(*batch):
            with self.T.train(): return step(*batch).item()
        return run
    def answer(self, results_of):
        step = self.jit(lambda x: results_of(x).max().realize())
        return lambda x, _: step(x).item()


class Torch:
    """The same, on PyTorch's."""
    def __init__(self):
        import torch
        torch.set_num_threads(THREADS)
        self.torch, self.F = torch, torch.nn.functional
    def parameter(self, a): return self.torch.from_numpy(a).requires_grad_(True)
    def data(self, a): return self.torch.from_numpy(a).long() if a.dtype == "int32" else self.torch.from_numpy(a)
    def conv(self, x, w, stride=1, pad=0): return self.F.conv2d(x, w, stride=stride, padding=pad)
    def pool(self, x, size=2, stride=2, pad=0): return self.F.max_pool2d(x, size, stride, pad)
    def mean(self, x): return x.mean((2, 3))
    def norm(self, x, w, b): return self.F.batch_norm(x, None, None, w, b, True)
    def known_norm(self, x, w, b, mean, var): return self.F.batch_norm(x, mean.detach(), var.detach(), w, b, False)
    def layer_norm(self, x, w, b): return self.F.layer_norm(x, x.shape[-1:], w, b)
    def gelu(self, x): return self.F.gelu(x, approximate="tanh")
    def relu(self, x): return self.F.relu(x)
    def flat(self, x): return x.flatten(1)
    def rows(self, w, i): return self.F.embedding(i, w)
    def attend(self, q, k, v): return self.F.scaled_dot_product_attention(q, k, v, is_causal=True)
    def swap(self, x): return x.transpose(1, 2)
    def cross_entropy(self, x, y): return self.F.cross_entropy(x.reshape(-1, x.shape[-1]), y.reshape(-1))
    def train(self, loss_of, parameters, rate):
        opt = self.torch.optim.Adam(parameters, lr=rate, fused=False)
        def run(*batch):
            opt.zero_grad()
            loss = loss_of(*batch)
            loss.backward()
            opt.step()
            return loss.item()
        return run
    def answer(self, results_of):
        def run(x, _):
            with self.torch.no_grad(): return results_of(x).max().item()
        return run


class Weights:
    """Parameters by name, drawn in the order in which a network first asks for them."""
    def __init__(self, np, make): self.rng, self.make, self.known = np.random.default_rng(1), make, {}
    def __call__(self, name, *shape, scale=None):
        if name not in self.known:
            fan = shape[0] if len(shape) == 2 else int(shape[1] * shape[2] * shape[3]) if len(shape) == 4 else 1
            draw = self.rng.standard_normal(shape) * (fan**-0.5 if scale is None else scale)
            self.known[name] = self.make((draw if scale != 0 else draw + 1).astype("float32"))
        return self.known[name]


def digits(o, w, x, kernels, channels, features):
    x = o.pool(o.relu(o.conv(x, w("c1", 16, 1, kernels[0], kernels[0]))))
    x = o.pool(o.relu(o.conv(x, w("c2", channels, 16, kernels[1], kernels[1]))))
    return o.flat(x) @ w("head", features, 10)


def gpt(o, w, ids, dim=128, heads=4, blocks=4):
    x = o.rows(w("token", 64, dim, scale=0.02), ids)
    batch, length = ids.shape
    for i in range(blocks):
        n = o.layer_norm(x, w(f"n1w{i}", dim, scale=0), w(f"n1b{i}", dim, scale=0.01))
        q, k, v = (o.swap((n @ w(f"{c}{i}", dim, dim)).reshape(batch, length, heads, dim // heads)) for c in "qkv")
        x = x + o.swap(o.attend(q, k, v)).reshape(batch, length, dim) @ w(f"out{i}", dim, dim)
        n = o.layer_norm(x, w(f"n2w{i}", dim, scale=0), w(f"n2b{i}", dim, scale=0.01))
        x = x + o.gelu(n @ w(f"up{i}", dim, 4 * dim)) @ w(f"down{i}", 4 * dim, dim)
    return x @ w("head", dim, 64)


def words(o, w, ids, rows=20000, dim=128):
    """The next word from the mean of a few before it: most of a step is the embedding and its optimizer."""
    x = o.rows(w("token", rows, dim, scale=0.02), ids).mean(1)
    return o.gelu(x @ w("up", dim, 256)) @ w("head", 256, 64)


def resnet(o, w, x, blocks, norm):
    """`blocks`: the sizes and channels of a block's convolutions, and the stride of the one of 3x3."""
    def layer(x, name, out, size, stride=1):
        y = o.conv(x, w(name, out, x.shape[1], size, size, scale=(2 / (x.shape[1] * size * size))**0.5), stride, size // 2)
        return norm(y, name, out)
    x = o.pool(o.relu(layer(x, "stem", 64, 7, 2)), 3, 2, 1)
    for i, (convs, stride) in enumerate(blocks):
        y = x
        for k, (size, out) in enumerate(convs):
            y = layer(y, f"{'abc'[k]}{i}", out, size, stride if size == 3 and all(s == 1 for s, _ in convs[:k]) else 1)
            if k + 1 < len(convs): y = o.relu(y)
        x = o.relu(y + (layer(x, f"s{i}", y.shape[1], 1, stride) if stride > 1 or x.shape[1] != y.shape[1] else x))
    return o.mean(x) @ w("head", x.shape[1], 1000)


def basic(channels, count, stride): return [([(3, channels)] * 2, stride if i == 0 else 1) for i in range(count)]
def bottleneck(width, count, stride): return [([(1, width), (3, width), (1, 4 * width)], stride if i == 0 else 1) for i in range(count)]


def resnet18(o, w, x, norm=None):
    """As in training: each norm by the means and variances of its batch."""
    of_batch = lambda y, name, out: o.norm(y, w(name + "w", out, scale=0), w(name + "b", out, scale=0.01))
    return resnet(o, w, x, sum((basic(c, 2, s) for c, s in ((64, 1), (128, 2), (256, 2), (512, 2))), []), norm or of_batch)


def trained_norm(o, w):
    return lambda y, name, out: o.known_norm(y, w(name + "w", out, scale=0), w(name + "b", out, scale=0.01), w(name + "m", out, scale=0.1), w(name + "v", out, scale=0))


def trained_resnet18(o, w, x): return resnet18(o, w, x, norm=trained_norm(o, w))


def trained_resnet50(o, w, x):
    return resnet(o, w, x, sum((bottleneck(c, n, s) for c, n, s in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))), []), trained_norm(o, w))


def cases(np):
    """Name -> network, inputs, labels; no labels: the network is trained."""
    rng = np.random.default_rng(2)
    pictures = lambda *shape: rng.random(shape, dtype="float32")
    numbers = lambda high, *shape: rng.integers(0, high, shape).astype("int32")
    return {
        "digits, 3x3, batch 128": (lambda o, w, x: digits(o, w, x, (3, 3), 32, 800), pictures(128, 1, 28, 28), numbers(10, 128)),
        "digits, 5x5, batch 64": (lambda o, w, x: digits(o, w, x, (5, 3), 32, 800), pictures(64, 1, 28, 28), numbers(10, 64)),
        "GPT of 4 blocks, 128 wide, 16 x 64": (gpt, numbers(64, 16, 64), numbers(64, 16, 64)),
        "words of 20,000, 512 x 8": (words, numbers(20000, 512, 8), numbers(64, 512)),
        "ResNet-18, batch 8, 224 x 224": (resnet18, pictures(8, 3, 224, 224), numbers(1000, 8)),
        "trained ResNet-18, one picture": (trained_resnet18, pictures(1, 3, 224, 224), None),
        "trained ResNet-50, one picture": (trained_resnet50, pictures(1, 3, 224, 224), None),
        "trained ResNet-50, batch 8": (trained_resnet50, pictures(8, 3, 224, 224), None),
        "trained GPT, 1 x 256": (lambda o, w, ids: gpt(o, w, ids, 256, 8, 4), numbers(64, 1, 256), None),
    }


def worker(kind):
    """Answers lines of JSON, each with a case: losses of the first steps, or the times of later ones."""
    import numpy as np
    o = Ours() if kind == "ours" else Torch()
    step = None
    for line in sys.stdin:
        ask = json.loads(line)
        if ask.get("begin"):
            network, x, y = cases(np)[ask["name"]]
            weights, x, y = Weights(np, o.parameter), o.data(x), y if y is None else o.data(y)
            network(o, weights, x) # names the weights
            loss_of = lambda x, y: o.cross_entropy(network(o, weights, x), y)
            step = o.answer(lambda x: network(o, weights, x)) if y is None else o.train(loss_of, list(weights.known.values()), 1e-3)
            begin, losses = time.perf_counter(), []
            for i in range(4):
                losses.append(step(x, y))
                if i == 0: first = time.perf_counter() - begin
            answer = {"losses": losses, "first": first}
        else:
            times, end = [], time.perf_counter() + BURST
            while not times or time.perf_counter() < end:
                start = time.perf_counter()
                step(x, y)
                times.append(time.perf_counter() - start)
            answer = {"median": statistics.median(times)}
        print(json.dumps(answer), flush=True)


def table(uopscope, python, rounds, words):
    import math
    import numpy as np
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode: sys.exit(f"{python} has no PyTorch: KERNELS_PYTHON names one that has")
    ours, theirs = Side([uopscope, "python"], "ours", __file__), Side([python], "torch", __file__)
    print(f"two threads, {rounds} rounds in turns, medians, milliseconds\n{'':38}{'ours':>9}{'PyTorch':>9}{'ratio':>7}{'first step':>12}{'loss':>9}{'PyTorch':>9}")
    ratios, wrong = [], []
    for name in cases(np):
        if words and not any(w in name for w in words): continue
        mine, other = ours.ask(name=name, begin=True), theirs.ask(name=name, begin=True)
        if any(abs(a - b) > 2e-3 * max(1, abs(b)) for a, b in zip(mine["losses"][:3], other["losses"][:3])): wrong.append((name, mine["losses"], other["losses"]))
        times = {ours: [], theirs: []}
        for _ in range(rounds):
            for side in times: times[side].append(side.ask(name=name)["median"])
        a, b = (statistics.median(t) * 1e3 for t in times.values())
        ratios.append(b / a)
        print(f"{name:38}{a:9.2f}{b:9.2f}{b / a:7.2f}{mine['first'] * 1e3:12.0f}{mine['losses'][2]:9.4f}{other['losses'][2]:9.4f}", flush=True)
    if ratios: print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}")
    for side in (ours, theirs): side.close()
    if wrong: sys.exit(f"the losses differ: {wrong}")


if __name__ == "__main__":
    if sys.argv[1] == "--worker": worker(sys.argv[2])
    else:
        numbers, words = [int(a) for a in sys.argv[3:] if a.isdigit()], [a for a in sys.argv[3:] if not a.isdigit()]
        table(sys.argv[1], sys.argv[2], numbers[0] if numbers else ROUNDS, words)
