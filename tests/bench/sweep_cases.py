"""The operations of tests/bench/run sweep: what people call on tensors, in the shapes they have in networks, two lines of Python at most.

    for op in operations(): print(op.name, op.inputs)

`ours` and `theirs` take the inputs as tensors of this project and of PyTorch; where both spell it alike there is one function. An
operation with `gradient` is measured a second time, with the gradients of its first inputs, as many as are named.
"""
from dataclasses import dataclass
from typing import Callable


@dataclass
class Operation:
    name: str
    inputs: list  # shapes of normal numbers, or functions of a generator of numbers
    ours: Callable
    theirs: Callable
    gradient: int = 0  # of how many inputs


def positive(*shape): return lambda rng: abs(rng.standard_normal(shape, dtype="float32")) + 0.1
def below(high, *shape): return lambda rng: rng.integers(0, high, shape).astype("int32")
def np_arange(rows, n):
    import numpy as np
    return np.tile(np.arange(n, dtype="float32"), (rows, 1))
def F():
    import torch
    return torch.nn.functional
def torch():
    import torch
    return torch


def elementwise():
    big = [(1024, 2048)]
    for name in ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "erf", "abs", "sign", "floor", "round", "reciprocal", "square", "exp2", "log2", "asin", "atan", "sinh"):
        make = [positive(1024, 2048)] if name in ("log", "sqrt", "rsqrt", "log2") else [lambda rng: (rng.random((1024, 2048), dtype="float32") - 0.5)] if name in ("asin",) else big
        yield Operation(name, make, lambda x, n=name: getattr(x, n)(), lambda x, n=name: getattr(x, n)(), 1 if name in ("tanh", "sigmoid", "exp", "log", "sqrt", "erf") else 0)
    for name in ("relu", "gelu", "silu", "mish", "softplus", "elu", "selu", "celu", "hardswish", "hardsigmoid", "leaky_relu", "logsigmoid", "softsign", "relu6", "hardtanh"):
        yield Operation(name, big, lambda x, n=name: getattr(x, n)(), lambda x, n=name: F().gelu(x, approximate="tanh") if n == "gelu" else getattr(F(), n)(x), 1)
    two = [(1024, 2048), (1024, 2048)]
    for name in ("maximum", "minimum", "div", "mul", "sub"):
        yield Operation(name, two, lambda x, y, n=name: getattr(x, n)(y), lambda x, y, n=name: getattr(x, n)(y), 2)
    yield Operation("pow", [positive(1024, 2048), (1024, 2048)], lambda x, y: x ** y, lambda x, y: x ** y, 2)
    yield Operation("lerp", two + [(1024, 2048)], lambda x, y, w: x.lerp(y, w), lambda x, y, w: x.lerp(y, w), 3)
    yield Operation("where", two, lambda x, y: (x > 0).where(x, y), lambda x, y: torch().where(x > 0, x, y), 2)
    yield Operation("clip", big, lambda x: x.clip(-1.1, 1.1), lambda x: x.clip(-1.1, 1.1), 1)
    yield Operation("add of a row", [(1024, 2048), (2048,)], lambda x, y: x + y, lambda x, y: x + y, 2)
    yield Operation("add of a column", [(1024, 2048), (1024, 1)], lambda x, y: x + y, lambda x, y: x + y, 2)
    yield Operation("outer product", [(2048,), (1024,)], lambda x, y: x.unsqueeze(1) * y, lambda x, y: x.unsqueeze(1) * y, 2)
    yield Operation("float to half", big, lambda x: x.half(), lambda x: x.half())
    yield Operation("float to int32", big, lambda x: x.int(), lambda x: x.int())
    yield Operation("int32 sum of products", [below(100, 1024, 1024), below(100, 1024, 1024)], lambda x, y: (x * y).sum(1), lambda x, y: (x.int() * y.int()).sum(1))
    yield Operation("compare and count", two, lambda x, y: (x > y).sum(), lambda x, y: (x > y).sum())
    yield Operation("polynomial of degree 5", big, lambda x: ((((x * 0.1 + 1) * x + 2) * x - 3) * x + 4) * x - 5, lambda x: ((((x * 0.1 + 1) * x + 2) * x - 3) * x + 4) * x - 5, 1)


def reductions():
    x = [(1024, 2048)]
    for name in ("sum", "mean", "max", "min", "var", "std", "prod", "logsumexp"):
        for axis in (0, 1):
            yield Operation(f"{name}, axis {axis}", x, lambda x, n=name, a=axis: getattr(x, n)(a), lambda x, n=name, a=axis: getattr(x, {"max": "amax", "min": "amin"}.get(n, n))(a), 1 if name in ("mean", "max", "var", "std", "logsumexp") else 0)
    yield Operation("sum of middle axis", [(64, 256, 128)], lambda x: x.sum(1), lambda x: x.sum(1), 1)
    yield Operation("sum of first and last axis", [(64, 256, 128)], lambda x: x.sum((0, 2)), lambda x: x.sum((0, 2)), 1)
    yield Operation("mean of short rows", [(65536, 16)], lambda x: x.mean(1), lambda x: x.mean(1), 1)
    yield Operation("largest of short rows", [(65536, 12)], lambda x: x.max(1), lambda x: x.amax(1), 1)
    yield Operation("norm", x, lambda x: (x * x).sum(1).sqrt(), lambda x: x.norm(dim=1), 1)
    yield Operation("any", [below(2, 1024, 2048)], lambda x: (x > 0).any(1), lambda x: (x > 0).any(1))
    yield Operation("argmin", x, lambda x: x.argmin(1), lambda x: x.argmin(1))
    yield Operation("argmax, axis 0", x, lambda x: x.argmax(0), lambda x: x.argmax(0))
    yield Operation("var and mean", x, lambda x: (x.var(1) + x.mean(1)), lambda x: (x.var(1) + x.mean(1)), 1)


def normalizations():
    image, rows = [(16, 64, 28, 28)], [(2048, 768)]
    yield Operation("softmax", rows, lambda x: x.softmax(-1), lambda x: x.softmax(-1), 1)
    yield Operation("softmax, axis 0", rows, lambda x: x.softmax(0), lambda x: x.softmax(0), 1)
    yield Operation("log_softmax", rows, lambda x: x.log_softmax(-1), lambda x: x.log_softmax(-1), 1)
    yield Operation("softmax of short rows", [(32768, 10)], lambda x: x.softmax(-1), lambda x: x.softmax(-1), 1)
    yield Operation("layer norm", rows, lambda x: x.layernorm(), lambda x: F().layer_norm(x, (768,)), 1)
    yield Operation("layer norm, scaled", rows + [(768,), (768,)], lambda x, w, b: x.layernorm() * w + b, lambda x, w, b: F().layer_norm(x, (768,), w, b), 3)
    yield Operation("RMS norm", rows + [(768,)], lambda x, w: x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * w, lambda x, w: F().rms_norm(x, (768,), w, 1e-6), 2)
    def group_norm(x): return x.reshape(16, 8, -1).layernorm().reshape(x.shape)
    yield Operation("group norm", image, group_norm, lambda x: F().group_norm(x, 8), 1)
    yield Operation("instance norm", image, lambda x: x.reshape(16, 64, -1).layernorm().reshape(x.shape), lambda x: F().instance_norm(x), 1)
    def batch_norm(x, w, b):
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)
        return x.batchnorm(w, b, mean, (var + 1e-5).rsqrt())
    yield Operation("batch norm of a batch", image + [(64,), (64,)], batch_norm, lambda x, w, b: F().batch_norm(x, None, None, w, b, True), 3)
    yield Operation("cosine similarity", [(4096, 256), (4096, 256)], lambda x, y: (x * y).sum(1) / (x.square().sum(1).sqrt() * y.square().sum(1).sqrt()), lambda x, y: F().cosine_similarity(x, y), 2)
    yield Operation("normalize", rows, lambda x: x / x.square().sum(1, keepdim=True).sqrt().maximum(1e-12), lambda x: F().normalize(x, dim=1), 1)


def losses():
    yield Operation("cross entropy", [(1024, 1000), below(1000, 1024)], lambda x, y: x.sparse_categorical_crossentropy(y), lambda x, y: F().cross_entropy(x, y.long()), 1)
    yield Operation("cross entropy of 32,000", [(256, 32000), below(32000, 256)], lambda x, y: x.sparse_categorical_crossentropy(y), lambda x, y: F().cross_entropy(x, y.long()), 1)
    yield Operation("binary cross entropy of logits", [(1024, 1024), lambda rng: rng.random((1024, 1024), dtype="float32")], lambda x, y: x.binary_crossentropy_logits(y), lambda x, y: F().binary_cross_entropy_with_logits(x, y), 1)
    yield Operation("mean squared error", [(1024, 1024)] * 2, lambda x, y: ((x - y) ** 2).mean(), lambda x, y: F().mse_loss(x, y), 2)
    yield Operation("smooth L1", [(1024, 1024)] * 2, lambda x, y: ((x - y).abs() < 1).where(0.5 * (x - y) ** 2, (x - y).abs() - 0.5).mean(), lambda x, y: F().smooth_l1_loss(x, y), 2)
    yield Operation("KL divergence", [(1024, 512)] * 2, lambda x, y: (y.softmax(-1) * (y.log_softmax(-1) - x.log_softmax(-1))).sum(-1).mean(), lambda x, y: F().kl_div(x.log_softmax(-1), y.log_softmax(-1), log_target=True, reduction="batchmean"), 1)
    yield Operation("triplet of distances", [(2048, 128)] * 3, lambda a, p, n: ((a - p).square().sum(1).sqrt() - (a - n).square().sum(1).sqrt() + 1).relu().mean(), lambda a, p, n: F().triplet_margin_loss(a, p, n), 3)


def movements():
    x = [(1024, 1024)]
    yield Operation("flip", x, lambda x: x.flip(1).contiguous(), lambda x: x.flip(1), 1)
    yield Operation("roll", x, lambda x: x.roll(100, 1).contiguous(), lambda x: x.roll(100, 1), 1)
    yield Operation("cat of columns", [(1024, 300), (1024, 500), (1024, 77)], lambda a, b, c: a.cat(b, c, dim=1).contiguous(), lambda a, b, c: torch().cat((a, b, c), 1), 3)
    yield Operation("cat of rows", [(300, 1024), (500, 1024), (77, 1024)], lambda a, b, c: a.cat(b, c).contiguous(), lambda a, b, c: torch().cat((a, b, c)), 3)
    yield Operation("stack", [(256, 1024)] * 4, lambda *t: t[0].stack(*t[1:], dim=1).contiguous(), lambda *t: torch().stack(t, 1), 4)
    yield Operation("pad", [(16, 32, 56, 56)], lambda x: x.pad((1, 2, 3, 1)).contiguous(), lambda x: F().pad(x, (1, 2, 3, 1)), 1)
    for mode in ("reflect", "replicate", "circular"):
        yield Operation(f"pad, {mode}", [(16, 32, 56, 56)], lambda x, m=mode: x.pad((2, 2, 2, 2), mode=m).contiguous(), lambda x, m=mode: F().pad(x, (2, 2, 2, 2), mode=m), 1)
    yield Operation("permute of heads", [(8, 256, 12, 64)], lambda x: x.transpose(1, 2).contiguous(), lambda x: x.transpose(1, 2).contiguous(), 1)
    yield Operation("channels last", [(8, 64, 56, 56)], lambda x: x.permute(0, 2, 3, 1).contiguous(), lambda x: x.permute(0, 2, 3, 1).contiguous(), 1)
    yield Operation("repeat", [(256, 256)], lambda x: x.repeat(3, 4).contiguous(), lambda x: x.repeat(3, 4), 1)
    yield Operation("repeat_interleave", [(512, 512)], lambda x: x.repeat_interleave(4, 1).contiguous(), lambda x: x.repeat_interleave(4, 1), 1)
    yield Operation("strided slice", [(1024, 4096)], lambda x: x[::2, 1::4].contiguous(), lambda x: x[::2, 1::4].contiguous(), 1)
    yield Operation("triu", x, lambda x: x.triu().contiguous(), lambda x: x.triu(), 1)
    yield Operation("pixel shuffle", [(8, 64, 48, 48)], lambda x: x.reshape(8, 16, 2, 2, 48, 48).permute(0, 1, 4, 2, 5, 3).reshape(8, 16, 96, 96).contiguous(), lambda x: F().pixel_shuffle(x, 2), 1)
    yield Operation("unfold", [(4096, 512)], lambda x: x.unfold(1, 32, 16).contiguous(), lambda x: x.unfold(1, 32, 16).contiguous(), 1)
    yield Operation("masked fill", [(1024, 1024), below(2, 1024, 1024)], lambda x, m: x.masked_fill(m == 1, -1.0).contiguous(), lambda x, m: x.masked_fill(m == 1, -1.0), 1)
    yield Operation("one-hot", [below(128, 8192)], lambda i: i.one_hot(128).contiguous(), lambda i: F().one_hot(i.long(), 128))
    yield Operation("arange and mask", [(1024, 1024)], lambda x: (Tensor().arange(1024).reshape(-1, 1) >= Tensor().arange(1024)).where(x, 0).contiguous(), lambda x: torch().where(torch().arange(1024).reshape(-1, 1) >= torch().arange(1024), x, 0.0), 1)


def Tensor():
    import tinygrad
    return tinygrad.Tensor


def indexing():
    yield Operation("embedding", [(32000, 256), below(32000, 2048)], lambda w, i: w[i], lambda w, i: F().embedding(i, w), 1)
    yield Operation("gather along rows", [(1024, 1024), below(1024, 1024, 256)], lambda x, i: x.gather(1, i), lambda x, i: x.gather(1, i.long()), 1)
    yield Operation("gather along columns", [(1024, 1024), below(1024, 256, 1024)], lambda x, i: x.gather(0, i), lambda x, i: x.gather(0, i.long()), 1)
    yield Operation("index of two axes", [(512, 512, 16), below(512, 4096), below(512, 4096)], lambda x, i, j: x[i, j], lambda x, i, j: x[i.long(), j.long()], 1)
    yield Operation("scatter", [(1024, 1024), below(1024, 1024, 256), (1024, 256)], lambda x, i, s: x.scatter(1, i, s).contiguous(), lambda x, i, s: x.scatter(1, i.long(), s))
    yield Operation("scatter add", [(4096, 64), below(4096, 16384, 64), (16384, 64)], lambda x, i, s: x.scatter_reduce(0, i, s, "sum").contiguous(), lambda x, i, s: x.scatter_add(0, i.long(), s), 1)
    yield Operation("take along sorted", [(4096, 256)], lambda x: x.sort(1)[0], lambda x: x.sort(1)[0], 1)
    yield Operation("argsort", [lambda rng: rng.permuted(np_arange(1024, 512), axis=1)], # no two alike
                    lambda x: x.argsort(1), lambda x: x.argsort(1))
    yield Operation("top 10 of 4,096", [(256, 4096)], lambda x: x.topk(10)[0], lambda x: x.topk(10)[0], 1)
    yield Operation("masked select's count", [(1024, 1024)], lambda x: (x > 0.5).sum(), lambda x: (x > 0.5).sum())
    yield Operation("cumsum, axis 0", [(1024, 1024)], lambda x: x.cumsum(0), lambda x: x.cumsum(0), 1)
    yield Operation("cumsum, axis 1", [(1024, 1024)], lambda x: x.cumsum(1), lambda x: x.cumsum(1), 1)
    yield Operation("cummax", [(1024, 1024)], lambda x: x.cummax(1)[0], lambda x: x.cummax(1)[0], 1)
    yield Operation("cumprod", [(1024, 1024)], lambda x: x.cumprod(1), lambda x: x.cumprod(1))
    yield Operation("logcumsumexp", [(512, 1024)], lambda x: x.logcumsumexp(1), lambda x: x.logcumsumexp(1), 1)


def images():
    x = [(8, 32, 56, 56)]
    yield Operation("max pool 2", x, lambda x: x.max_pool2d(2), lambda x: F().max_pool2d(x, 2), 1)
    yield Operation("max pool 3, stride 2", x, lambda x: x.max_pool2d(3, 2, padding=1), lambda x: F().max_pool2d(x, 3, 2, 1), 1)
    yield Operation("average pool 2", x, lambda x: x.avg_pool2d(2), lambda x: F().avg_pool2d(x, 2), 1)
    yield Operation("average pool 3, stride 1", x, lambda x: x.avg_pool2d(3, 1, padding=1), lambda x: F().avg_pool2d(x, 3, 1, 1), 1)
    yield Operation("mean of a window times a convolution", [(4, 64, 28, 28), (64, 64, 3, 3)], lambda x, w: x.avg_pool2d(3, 1, padding=1) * x.conv2d(w, padding=1), lambda x, w: F().avg_pool2d(x, 3, 1, 1) * F().conv2d(x, w, padding=1), 2)
    yield Operation("mean of pictures", [(32, 512, 7, 7)], lambda x: x.mean((2, 3)), lambda x: F().adaptive_avg_pool2d(x, 1).flatten(1), 1)
    yield Operation("nearest, twice as large", x, lambda x: x.interpolate((112, 112), mode="nearest").contiguous(), lambda x: F().interpolate(x, (112, 112), mode="nearest"), 1)
    yield Operation("bilinear, twice as large", x, lambda x: x.interpolate((112, 112)).contiguous(), lambda x: F().interpolate(x, (112, 112), mode="bilinear"), 1)
    yield Operation("bilinear, smaller", [(8, 3, 224, 224)], lambda x: x.interpolate((96, 96)).contiguous(), lambda x: F().interpolate(x, (96, 96), mode="bilinear"), 1)
    def conv(name, a, w, gradient=2, **how):
        plain = {"stride": 1, "padding": 0, "groups": 1, "dilation": 1} | how
        return Operation(name, [a, w], lambda x, w: x.conv2d(w, **plain), lambda x, w: {3: F().conv1d, 4: F().conv2d, 5: F().conv3d}[x.ndim](x, w, **plain), gradient)
    yield conv("conv 3x3", (8, 64, 28, 28), (64, 64, 3, 3), padding=1)
    yield conv("conv 3x3, stride 2", (8, 64, 56, 56), (128, 64, 3, 3), padding=1, stride=2)
    yield conv("conv 5x5", (8, 32, 28, 28), (64, 32, 5, 5), padding=2)
    yield conv("conv 1x1, stride 2", (8, 128, 28, 28), (256, 128, 1, 1), stride=2)
    yield conv("conv 3x3, dilated", (4, 64, 28, 28), (64, 64, 3, 3), padding=2, dilation=2)
    yield conv("conv of 4 groups", (8, 64, 28, 28), (64, 16, 3, 3), padding=1, groups=4)
    yield conv("conv of 32 groups (ResNeXt)", (4, 128, 28, 28), (128, 4, 3, 3), padding=1, groups=32)
    yield conv("depthwise 5x5", (8, 96, 28, 28), (96, 1, 5, 5), padding=2, groups=96)
    yield conv("depthwise 7x7 (ConvNeXt)", (4, 96, 56, 56), (96, 1, 7, 7), padding=3, groups=96)
    yield conv("depthwise 3x3, stride 2", (8, 96, 56, 56), (96, 1, 3, 3), padding=1, stride=2, groups=96)
    yield conv("conv of three channels", (8, 3, 112, 112), (32, 3, 3, 3), padding=1, stride=2)
    yield conv("patches 16x16", (8, 3, 224, 224), (384, 3, 16, 16), stride=16)
    yield conv("large picture 3x3", (1, 64, 256, 256), (64, 64, 3, 3), padding=1)
    yield conv("large picture 3x3, stride 2", (1, 32, 256, 256), (64, 32, 3, 3), padding=1, stride=2)
    yield conv("large picture 3x3, no margin", (1, 32, 256, 256), (32, 32, 3, 3))
    yield conv("large picture 3x3, few channels", (1, 3, 512, 512), (16, 3, 3, 3), padding=1)
    yield conv("large picture 5x5", (1, 32, 128, 128), (32, 32, 5, 5), padding=2)
    yield conv("large volume 3x3x3", (1, 16, 48, 64, 64), (16, 16, 3, 3, 3), padding=1)
    yield conv("many channels 3x3", (1, 256, 64, 64), (256, 256, 3, 3), padding=1)
    yield conv("long signal 1d", (1, 32, 32768), (32, 32, 9), padding=4)
    yield conv("conv 1d", (8, 128, 1024), (128, 128, 3), padding=1)
    yield conv("causal depthwise 1d", (8, 256, 1024), (256, 1, 4), padding=3, groups=256)
    yield conv("conv 3d", (2, 16, 16, 32, 32), (32, 16, 3, 3, 3), padding=1)
    yield Operation("transposed conv 4x4, stride 2", [(8, 64, 28, 28), (64, 32, 4, 4)], lambda x, w: x.conv_transpose2d(w, stride=2, padding=1), lambda x, w: F().conv_transpose2d(x, w, stride=2, padding=1), 2)
    yield Operation("transposed conv 2x2, stride 2", [(8, 64, 28, 28), (64, 32, 2, 2)], lambda x, w: x.conv_transpose2d(w, stride=2), lambda x, w: F().conv_transpose2d(x, w, stride=2), 2)


def products():
    same = lambda f: (f, f)
    yield Operation("linear, bias, relu", [(512, 512), (512, 512), (512,)], lambda x, w, b: (x @ w.T + b).relu(), lambda x, w, b: F().linear(x, w, b).relu(), 3)
    yield Operation("two layers", [(256, 512), (2048, 512), (512, 2048)], lambda x, v, w: (x @ v.T).gelu() @ w.T, lambda x, v, w: F().gelu(x @ v.T, approximate="tanh") @ w.T, 3)
    for name in ("gelu", "tanh", "silu", "mish", "erf"):  # what a layer stores for its gradient
        apply = lambda x, n=name: getattr(x, n)()
        theirs = lambda x, n=name: F().gelu(x, approximate="tanh") if n == "gelu" else F().silu(x) if n == "silu" else F().mish(x) if n == "mish" else getattr(x, n)()
        # Small weights: gates as they are in networks, not of numbers in the tens, whose exponentials are subnormal.
        yield Operation(f"layer with {name}", [(1024, 128), (128, 512), (512, 128)], lambda x, v, w, f=apply: f(x @ (v * 0.1)) @ w, lambda x, v, w, f=theirs: f(x @ (v * 0.1)) @ w, 3)
    yield Operation("gated layer", [(1024, 128), (128, 512), (128, 512), (512, 128)], lambda x, u, v, w: ((x @ (u * 0.1)).silu() * (x @ (v * 0.1))) @ w, lambda x, u, v, w: (F().silu(x @ (u * 0.1)) * (x @ (v * 0.1))) @ w, 4)
    yield Operation("3-D linear", [(8, 128, 256), (512, 256)], *same(lambda x, w: x @ w.T), 2)
    for m, k, n in ((1024, 8192, 1024), (64, 16384, 784), (256, 4096, 256)):  # the gradient of a weight over a large batch
        yield Operation(f"long a.T @ b {m}x{k}x{n}", [(k, m), (k, n)], *same(lambda a, b: a.T @ b))
    yield Operation("long product 512x16384x2048", [(512, 16384), (16384, 2048)], *same(lambda a, b: a @ b))
    yield Operation("batched product", [(32, 128, 64), (32, 64, 128)], *same(lambda x, y: x @ y), 2)
    yield Operation("product of a vector", [(2048, 2048), (2048,)], *same(lambda x, y: x @ y), 2)
    yield Operation("many small products", [(4096, 8, 8), (4096, 8, 8)], *same(lambda x, y: x @ y), 2)
    yield Operation("products of 3x3", [(16384, 3, 3), (16384, 3, 3)], *same(lambda x, y: x @ y), 2)
    yield Operation("matrices times vectors", [(4096, 16, 16), (4096, 16, 1)], *same(lambda x, y: x @ y), 2)
    yield Operation("bilinear form", [(1024, 64), (64, 64), (1024, 64)], *same(lambda x, w, y: ((x @ w) * y).sum(1)), 3)
    yield Operation("squared distances", [(512, 64), (512, 64)], lambda x, y: ((x.unsqueeze(1) - y) ** 2).sum(2), lambda x, y: torch().cdist(x, y) ** 2, 2)
    yield Operation("absolute distances", [(512, 64), (512, 64)], lambda x, y: (x.unsqueeze(1) - y).abs().sum(2), lambda x, y: torch().cdist(x, y, p=1), 2)
    yield Operation("product of long sums", [(256, 4096), (4096, 256)], *same(lambda x, w: x @ w), 2)
    yield Operation("Gram matrix", [(1024, 256)], *same(lambda x: x.T @ x), 1)
    for m, k, n in ((512, 784, 10), (1024, 1024, 5), (4096, 256, 24)):  # few columns, such as a net's classes
        yield Operation(f"product of {n} columns {m}x{k}", [(m, k), (k, n)], *same(lambda x, w: x @ w), 2)
    yield Operation("low rank", [(1024, 1024), (1024, 8), (8, 1024)], *same(lambda x, a, b: x @ a @ b), 3)
    yield Operation("attention, bias", [(8, 256, 64)] * 3 + [(8, 256, 256)], lambda q, k, v, b: q.scaled_dot_product_attention(k, v, attn_mask=b), lambda q, k, v, b: F().scaled_dot_product_attention(q, k, v, attn_mask=b), 3)
    yield Operation("causal attention", [(2, 8, 256, 64)] * 3, lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True), lambda q, k, v: F().scaled_dot_product_attention(q, k, v, is_causal=True), 3)
    yield Operation("attention of one query", [(16, 1, 64), (16, 2048, 64), (16, 2048, 64)], lambda q, k, v: q.scaled_dot_product_attention(k, v), lambda q, k, v: F().scaled_dot_product_attention(q, k, v), 3)
    def rotary(x, c, s):
        a, b = x[..., :32], x[..., 32:]
        return a * c - b * s, a * s + b * c
    yield Operation("rotary embedding", [(8, 12, 256, 64), (256, 32), (256, 32)], lambda x, c, s: rotary(x, c, s)[0].cat(rotary(x, c, s)[1], dim=-1).contiguous(), lambda x, c, s: torch().cat(rotary(x, c, s), -1), 1)
    def gates(g, c): return g[:, 512:1024].sigmoid() * c + g[:, :512].sigmoid() * g[:, 1024:1536].tanh()
    yield Operation("LSTM cell", [(128, 256), (128, 512), (128, 512), (2048, 256), (2048, 512)],
                    lambda x, h, c, w, u: (lambda g: g[:, 1536:].sigmoid() * gates(g, c).tanh())(x @ w.T + h @ u.T),
                    lambda x, h, c, w, u: (lambda g: g[:, 1536:].sigmoid() * gates(g, c).tanh())(x @ w.T + h @ u.T), 5)


def operations():
    for of in (elementwise, reductions, normalizations, losses, movements, indexing, images, products): yield from of()
