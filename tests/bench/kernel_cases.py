"""The rows of tests/bench/run kernels: what is computed, by this project, by PyTorch and by NumPy in float64, and how far a result may be off.

    for c in cases(): print(c["group"], c["name"])

A row names its inputs as functions of a generator of numbers. Sums of n terms may err by n * eps * (the sum of absolute values);
other rows name their bound, as a part of the result.
"""
import math

EPS = 2.0**-24


def normal(*shape): return lambda rng: rng.standard_normal(shape, dtype="float32")
def near_one(*shape): return lambda rng: 1 + 0.01 * rng.standard_normal(shape, dtype="float32")
def integers(high, *shape): return lambda rng: rng.integers(0, high, shape).astype("int32")


def product_case(group, name, a, b, subscript, tensors):
    """A product: `tensors` works on Tensors and on torch's; the reference is an einsum in float64."""
    letters = subscript.split("->")[0].split(",")
    sizes = {c: n for word, shape in zip(letters, (a, b)) for c, n in zip(word, shape)}
    terms = math.prod(n for c, n in sizes.items() if c not in subscript.split("->")[1])
    return dict(group=group, name=name, inputs=[normal(*a), normal(*b)], ours=tensors, torch=tensors, numpy=tensors,
                exact=lambda np, x, y: np.einsum(subscript, x, y, optimize=True), terms=terms, flops=2 * math.prod(sizes.values()))


def windows(np, x, size, stride, pad):
    """Windows of the last axes of x: batch, channels, places ..., offsets ..."""
    n = len(size)
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * n)
    v = np.lib.stride_tricks.sliding_window_view(x, size, axis=tuple(range(2, 2 + n)))
    return v[(slice(None), slice(None)) + (slice(None, None, stride),) * n]


def conv_exact(np, x, w, stride=1, pad=0, groups=1):
    n, per = w.ndim - 2, w.shape[1]
    outs = []
    for g in range(groups):
        v = windows(np, x[:, g * per:(g + 1) * per], w.shape[2:], stride, pad)
        part = w[g * (w.shape[0] // groups):(g + 1) * (w.shape[0] // groups)]
        over_v, over_w = [1] + list(range(2 + n, 2 + 2 * n)), list(range(1, 2 + n))
        outs.append(np.moveaxis(np.tensordot(v, part, (over_v, over_w)), -1, 1))
    return np.concatenate(outs, 1)


def conv_case(group, name, x, w, stride=1, pad=0, groups=1):
    def ours(a, b): return a.conv2d(b, stride=stride, padding=pad, groups=groups)
    def torch_(a, b):
        import torch.nn.functional as F
        return {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[a.ndim](a, b, stride=stride, padding=pad, groups=groups)
    outputs = [(n + 2 * pad - k) // stride + 1 for n, k in zip(x[2:], w[2:])]
    terms = math.prod(w[1:])
    return dict(group=group, name=name, inputs=[normal(*x), normal(*w)], ours=ours, torch=torch_,
                exact=lambda np, a, b: conv_exact(np, a, b, stride, pad, groups), terms=terms,
                flops=2 * x[0] * w[0] * math.prod(outputs) * terms)


def conv_weight_case(group, name, x, g, size, pad):
    """The gradient of a convolution for its weights: windows of the input times gradients of the output."""
    def torch_(a, b):
        import torch
        grad = torch.nn.grad.conv2d_weight if a.ndim == 4 else torch.nn.grad.conv3d_weight
        return grad(a, (g[1], x[1]) + size, b, padding=pad)
    def ours(a, b):
        from tinygrad import Tensor
        w = Tensor.zeros(g[1], x[1], *size).contiguous().requires_grad_(True)
        return (a.conv2d(w, padding=pad) * b).sum().gradient(w)[0]
    def exact(np, a, b):
        n = len(size)
        v = windows(np, a, size, 1, pad)
        over = [0] + list(range(2, 2 + n))
        return np.tensordot(b, v, (over, over))
    places = x[0] * math.prod(g[2:])
    return dict(group=group, name=name, inputs=[normal(*x), normal(*g)], ours=ours, torch=torch_, exact=exact, terms=places,
                flops=2 * places * g[1] * x[1] * math.prod(size))


def transposed_depthwise_case(group, name, x, size, stride, pad):
    """A transposed convolution of each channel by itself, as a decoder widens pictures: every input is spread over a window of the output."""
    def exact(np, a, w):
        full = np.zeros((x[0], x[1], *(stride * (n - 1) + size for n in x[2:])), a.dtype)
        for r in range(size):
            for c in range(size):
                full[:, :, r:r + stride * x[2]:stride, c:c + stride * x[3]:stride] += a * w[None, :, 0, r, c, None, None]
        return full[:, :, pad:full.shape[2] - pad, pad:full.shape[3] - pad]
    return case(group, name, [normal(*x), normal(x[1], 1, size, size)], lambda a, w: a.conv_transpose2d(w, stride=stride, padding=pad, groups=x[1]),
                lambda a, w: F().conv_transpose2d(a, w, stride=stride, padding=pad, groups=x[1]), exact, terms=size * size,
                flops=2 * math.prod(x) * size * size)


def case(group, name, inputs, ours, torch, exact, numpy=None, terms=None, bound=None, flops=None, bytes=None):
    return dict(group=group, name=name, inputs=inputs, ours=ours, torch=torch, exact=exact, numpy=numpy, terms=terms, bound=bound,
                flops=flops, bytes=bytes)


SMALL = {"half": 2.0**-11, "bfloat16": 2.0**-8} # how much rounding to a type may change a number, as a part of it


def narrowed(dtype, of):
    """The same computation on halves or bfloat16s. Its result may be off by the rounding of the type as well."""
    return dict(of, group="small numbers", name=f"{dtype} {of['name']}", dtype=dtype, numpy=None)


def bytes_case(name, left, right, turned=False):
    """A product of signed bytes with sums of 32 bits; torch has one such function."""
    def signed(*shape): return lambda rng: rng.integers(-128, 128, shape, dtype="int8")
    def ours(a, b): return a.cast("int32") @ (b.T if turned else b).cast("int32")
    def torch_(a, b):
        import torch
        return torch._int_mm(a, b.T if turned else b)
    return case("small numbers", f"bytes {name}", [signed(*left), signed(*right)], ours, torch_, lambda np, a, b: a @ (b.T if turned else b), bound=0,
                flops=2 * left[0] * left[1] * right[0 if turned else 1])


def rounded(np, a, dtype):
    """float32 numbers rounded to the type, as float32."""
    if dtype == "half": return a.astype("float16").astype("float32")
    bits = a.view("uint32")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view("float32")


def inputs_of(case, arrays):
    """The arrays of a case as tensors of this project, in memory."""
    from tinygrad import Tensor
    return [(Tensor(a).cast(case["dtype"]) if "dtype" in case else Tensor(a)).contiguous().realize() for a in arrays]


def softmax64(np, x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def attention64(np, q, k, v, causal=False):
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if causal: s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)
    return softmax64(np, s) @ v


def embedding_gradient(indices, g, rows):
    from tinygrad import Tensor
    w = Tensor.zeros(rows, g.shape[-1]).contiguous().requires_grad_(True)
    return (w[indices] * g).sum().gradient(w)[0]


def torch_embedding_gradient(indices, g, rows):
    import torch
    return torch.zeros(rows, g.shape[-1]).index_add_(0, indices, g)


def np_scatter_add(np, indices, g, rows):
    out = np.zeros((rows, g.shape[-1]), g.dtype)
    np.add.at(out, indices.astype(int), g)
    return out


def running_gradient(name, x, g):
    x = x.detach().requires_grad_(True)
    y = getattr(x, name)(1)
    return ((y[0] if name == "cummax" else y) * g).sum().gradient(x)[0]


def torch_running_gradient(name, x, g):
    import torch
    with torch.enable_grad():
        x = x.detach().requires_grad_(True)
        y = getattr(x, name)(1)
        return torch.autograd.grad(((y[0] if name == "cummax" else y) * g).sum(), x)[0]


def np_product_gradient(np, x, g):
    out, after = np.zeros_like(x), np.zeros(len(x))
    before = np.concatenate([np.ones((len(x), 1)), x.cumprod(1)[:, :-1]], 1)
    for j in reversed(range(x.shape[1])):
        after = g[:, j] + (x[:, j + 1] * after if j + 1 < x.shape[1] else 0)
        out[:, j] = after * before[:, j]
    return out


def np_maximum_gradient(np, x, g):
    best = np.maximum.accumulate(x, 1)
    starts = np.concatenate([np.ones((len(x), 1), bool), best[:, 1:] != best[:, :-1]], 1)
    where = np.maximum.accumulate(np.where(starts, np.arange(x.shape[1]), 0), 1)
    out = np.zeros_like(x)
    np.add.at(out, (np.arange(len(x))[:, None], where), g)
    return out


def max_pool_gradient(x, g):
    x = x.detach().requires_grad_(True)
    return (x.max_pool2d((3, 3), stride=2, padding=1) * g).sum().gradient(x)[0]


def torch_max_pool_gradient(x, g):
    import torch
    with torch.enable_grad():
        x = x.detach().requires_grad_(True)
        return torch.autograd.grad((F().max_pool2d(x, 3, 2, 1) * g).sum(), x)[0]


def np_max_pool_gradient(np, x, g):
    wide = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    v = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    first = v.reshape(*v.shape[:4], 9).argmax(-1)
    out = np.zeros_like(wide)
    b, c, i, j = np.indices(first.shape)
    np.add.at(out, (b, c, 2 * i + first // 3, 2 * j + first % 3), g)
    return out[:, :, 1:-1, 1:-1]


def log_sums(x):
    import numpy as np
    return np.logaddexp.accumulate(x, 1)


def np_scatter_rows(np, x, i, s):
    out = x.copy()
    np.add.at(out, (np.arange(len(x))[:, None], i.astype(int)), s)
    return out


def einsum3(a, b, c):
    if hasattr(a, "realize"): return type(a).einsum("ij,jk,kl->il", a, b, c)
    import torch
    return torch.einsum("ij,jk,kl->il", a, b, c)


def cosines(x, y):
    return (x * y).sum(1) / ((x * x).sum(1) * (y * y).sum(1)) ** 0.5


def gated_layer(x, w, v): return (x @ w.T).silu() * (x @ v.T)


def torch_gated_layer(x, w, v): return F().silu(x @ w.T) * (x @ v.T)


def np_gated_layer(np, x, w, v):
    a = x @ w.T
    return a / (1 + np.exp(-a)) * (x @ v.T)


def F():
    import torch
    return torch.nn.functional


def cases():
    T, M = "table", "more"
    square = lambda n: ((n, n), (n, n))
    mm, mt, tm = "mk,kn->mn", "mk,nk->mn", "km,kn->mn"
    plain, right, left = lambda a, b: a @ b, lambda a, b: a @ b.T, lambda a, b: a.T @ b
    attention = dict(inputs=[normal(8, 512, 64)] * 3, flops=4 * 8 * 512 * 512 * 64, bound=64 * EPS)
    yield product_case(T, "product 256", *square(256), mm, plain)
    yield product_case(T, "product 512", *square(512), mm, plain)
    yield product_case(T, "product 1024", *square(1024), mm, plain)
    yield product_case(T, "product 2048", *square(2048), mm, plain)
    yield product_case(T, "a @ b.T 1024", *square(1024), mt, right)
    yield product_case(T, "a.T @ b 1024", *square(1024), tm, left)
    yield product_case(T, "batched product 16x256", (16, 256, 256), (16, 256, 256), "bmk,bkn->bmn", plain)
    yield product_case(T, "gemv 4096", (4096, 4096), (4096,), "mk,k->m", plain)
    yield product_case(T, "gemv 4096 transposed", (4096, 4096), (4096,), "km,k->m", left)
    yield conv_case(T, "conv 1x1 256x28x28 b8", (8, 256, 28, 28), (256, 256, 1, 1))
    yield conv_case(T, "conv 3x3 64x56x56 b1", (1, 64, 56, 56), (64, 64, 3, 3), 1, 1)
    yield conv_case(T, "conv 3x3 64x56x56 b8", (8, 64, 56, 56), (64, 64, 3, 3), 1, 1)
    yield conv_case(T, "conv 7x7/2 3x224x224 b4", (4, 3, 224, 224), (64, 3, 7, 7), 2, 3)
    yield conv_case(T, "depthwise 3x3 128x56x56 b4", (4, 128, 56, 56), (128, 1, 3, 3), 1, 1, 128)
    yield case(T, "attention 8x512x64", ours=lambda q, k, v: q.scaled_dot_product_attention(k, v),
               torch=lambda q, k, v: F().scaled_dot_product_attention(q, k, v), exact=lambda np, q, k, v: attention64(np, q, k, v), **attention)
    yield case(T, "attention 8x512x64 causal", ours=lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True),
               torch=lambda q, k, v: F().scaled_dot_product_attention(q, k, v, is_causal=True),
               exact=lambda np, q, k, v: attention64(np, q, k, v, True), **attention)
    big = [normal(4096, 4096)]
    yield case(T, "softmax 4096x1024", [normal(4096, 1024)], lambda x: x.softmax(), lambda x: x.softmax(-1), lambda np, x: softmax64(np, x), bound=32 * EPS, bytes=8 << 22)
    yield case(T, "layer norm 4096x1024", [normal(4096, 1024)], lambda x: x.layernorm(), lambda x: F().layer_norm(x, x.shape[-1:]),
               lambda np, x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5), bound=64 * EPS, bytes=8 << 22)
    yield case(T, "sum of 64 Mi", [normal(8192, 8192)], lambda x: x.sum(), lambda x: x.sum(), lambda np, x: x.sum(), lambda x: x.sum(), terms=1 << 26, bytes=4 << 26)
    yield case(T, "sum along columns 4096", big, lambda x: x.sum(0), lambda x: x.sum(0), lambda np, x: x.sum(0), lambda x: x.sum(0), terms=4096, bytes=4 << 24)
    yield case(T, "cumsum 1024x1024", [normal(1024, 1024)], lambda x: x.cumsum(-1), lambda x: x.cumsum(-1), lambda np, x: x.cumsum(-1), lambda x: x.cumsum(-1), terms=1024, bytes=8 << 20)
    yield case(T, "argmax 4096x1024", [normal(4096, 1024)], lambda x: x.argmax(-1), lambda x: x.argmax(-1), lambda np, x: x.argmax(-1), lambda x: x.argmax(-1), bound=0, bytes=4 << 22)
    yield case(T, "sort 256x1024", [normal(256, 1024)], lambda x: x.sort()[0], lambda x: x.sort()[0], lambda np, x: np.sort(x), bound=0, bytes=8 << 18)
    yield case(T, "gather 4096 of 4096x1024", [normal(4096, 1024), integers(4096, 4096)], lambda x, i: x[i], lambda x, i: x[i], lambda np, x, i: x[i.astype(int)],
               lambda x, i: x[i], bound=0, bytes=8 << 22)
    yield case(T, "transpose 4096", big, lambda x: x.T.contiguous(), lambda x: x.T.contiguous(), lambda np, x: x.T.copy(), lambda x: x.T.copy(), bound=0, bytes=8 << 24)
    yield case(T, "add 16 Mi", big * 2, lambda a, b: a + b, lambda a, b: a + b, lambda np, a, b: a + b, lambda a, b: a + b, bound=4 * EPS, bytes=12 << 24)
    yield case(T, "gelu 16 Mi", big, lambda x: x.gelu(), lambda x: F().gelu(x, approximate="tanh"),
               lambda np, x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), bound=32 * EPS, bytes=8 << 24)

    both = dict(inputs=[normal(1024, 1024)] * 2, terms=1 << 11, flops=2 << 30)
    over = lambda a, b: (a @ b).sum(1)
    yield case(M, "product 1024, sums of its rows", ours=over, torch=over, exact=lambda np, a, b: (a @ b).sum(1), numpy=over, **both)
    over = lambda a, b: (a @ b).mean()
    yield case(M, "product 1024, its mean", ours=over, torch=over, exact=lambda np, a, b: (a @ b).mean(), numpy=over, **both)
    yield case(M, "product 1024, largest of its rows", ours=lambda a, b: (a @ b).max(1), torch=lambda a, b: (a @ b).amax(1),
               exact=lambda np, a, b: (a @ b).max(1), numpy=lambda a, b: (a @ b).max(1), **both)
    yield case(M, "conv 3x3 64x56x56 b1, means of its pictures", [normal(1, 64, 56, 56), normal(64, 64, 3, 3)], lambda x, w: x.conv2d(w, padding=1).mean((2, 3)),
               lambda x, w: F().conv2d(x, w, padding=1).mean((2, 3)), lambda np, x, w: conv_exact(np, x, w, 1, 1, 1).mean((2, 3)), terms=576, flops=2 * 64 * 64 * 9 * 56 * 56)
    for dtype in SMALL:
        yield narrowed(dtype, product_case(M, "product 256", *square(256), mm, plain))
        yield narrowed(dtype, product_case(M, "product 1024", *square(1024), mm, plain))
        yield narrowed(dtype, product_case(M, "a @ b.T 1024", *square(1024), mt, right))
        yield narrowed(dtype, product_case(M, "gemv 4096", (4096, 4096), (4096,), "mk,k->m", plain))
        yield narrowed(dtype, conv_case(M, "conv 3x3 64x56x56 b8", (8, 64, 56, 56), (64, 64, 3, 3), 1, 1))
        yield narrowed(dtype, case(M, "softmax 4096x1024", [normal(4096, 1024)], lambda x: x.softmax(), lambda x: x.softmax(-1), lambda np, x: softmax64(np, x), bound=8 * SMALL[dtype], bytes=4 << 22))

    yield bytes_case("product 256", (256, 256), (256, 256))
    yield bytes_case("product 1024", (1024, 1024), (1024, 1024))
    yield bytes_case("a @ b.T 1024", (1024, 1024), (1024, 1024), True)
    yield bytes_case("linear 64x1024x1024", (64, 1024), (1024, 1024), True)

    def attends(h, n, d, causal):
        return case(M, f"attention {h}x{n}x{d}{' causal' if causal else ''}", [normal(h, n, d)] * 3,
                    lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=causal), lambda q, k, v: F().scaled_dot_product_attention(q, k, v, is_causal=causal),
                    lambda np, q, k, v: attention64(np, q, k, v, causal), bound=64 * EPS, flops=4 * h * n * n * d // (2 if causal else 1))
    yield attends(12, 197, 64, False)
    yield attends(4, 2048, 128, True)
    yield attends(2, 4096, 64, True)
    for dtype in SMALL:
        for causal in (False, True): yield narrowed(dtype, dict(attends(8, 512, 64, causal), bound=4 * SMALL[dtype]))
    yield case(M, "log-sum-exp of a product 2048x256x2048", [normal(2048, 256)] * 2, lambda a, b: (a @ b.T).logsumexp(1), lambda a, b: (a @ b.T).logsumexp(1),
               lambda np, a, b: np.logaddexp.reduce(a @ b.T, axis=1), bound=64 * EPS, flops=2 * 2048 * 2048 * 256)

    for m, k, n in ((1024, 256, 256), (64, 1024, 1024), (256, 128, 512), (256, 768, 3072), (32, 512, 512), (512, 64, 512), (128, 784, 10)):
        yield product_case(M, f"linear {m}x{k}x{n}", (m, k), (n, k), mt, right)
    yield product_case(M, "odd product 1000x999x1001", (1000, 999), (999, 1001), mm, plain)
    yield product_case(M, "odd a @ b.T 500x333x701", (500, 333), (701, 333), mt, right)
    yield product_case(M, "weight gradient 1024x256x512", (1024, 256), (1024, 512), tm, left)
    yield product_case(M, "weight gradient 64x784x128", (64, 784), (64, 128), tm, left)
    yield product_case(M, "thin product 8x1024x1024", (8, 1024), (1024, 1024), mm, plain)
    yield product_case(M, "thin a @ b.T 8x1024x1024", (8, 1024), (1024, 1024), mt, right)
    yield product_case(M, "batched a @ b.T 16x256x64", (16, 256, 64), (16, 256, 64), "bmk,bnk->bmn", lambda a, b: a @ b.swapaxes(1, 2) if hasattr(a, "strides") else a @ b.transpose(1, 2))
    yield conv_case(M, "conv 3x3 256x14x14 b8", (8, 256, 14, 14), (256, 256, 3, 3), 1, 1)
    yield conv_case(M, "conv 3x3/2 128x28x28 b8", (8, 128, 28, 28), (256, 128, 3, 3), 2, 1)
    yield conv_case(M, "conv 1x1/2 256x56x56", (1, 256, 56, 56), (512, 256, 1, 1), 2, 0)
    yield conv_case(M, "conv 1x1/2 1024x14x14", (1, 1024, 14, 14), (2048, 1024, 1, 1), 2, 0)
    yield conv_case(M, "conv 5x5 32x32x32 b8", (8, 32, 32, 32), (64, 32, 5, 5), 1, 2)
    yield transposed_depthwise_case(M, "transposed depthwise 4x4/2 64x28x28 b8", (8, 64, 28, 28), 4, 2, 1)
    yield conv_case(M, "conv1d 9 64x4096", (1, 64, 4096), (64, 64, 9), 1, 4)
    yield conv_case(M, "conv3d 3x3x3 16x32x32x32", (1, 16, 32, 32, 32), (32, 16, 3, 3, 3), 1, 1)
    yield conv_weight_case(M, "conv 3x3 weight gradient b8", (8, 64, 28, 28), (8, 64, 28, 28), (3, 3), 1)
    yield conv_weight_case(M, "conv3d weight gradient", (1, 16, 16, 32, 32), (1, 16, 16, 32, 32), (3, 3, 3), 1)
    yield case(M, "cumsum of columns 1024", [normal(1024, 1024)], lambda x: x.cumsum(0), lambda x: x.cumsum(0), lambda np, x: x.cumsum(0), lambda x: x.cumsum(0), terms=1024, bytes=8 << 20)
    yield case(M, "cumsum of 1 Mi", [normal(1 << 20)], lambda x: x.cumsum(0), lambda x: x.cumsum(0), lambda np, x: x.cumsum(0), lambda x: x.cumsum(0), terms=1 << 20, bytes=8 << 20)
    yield case(M, "cummax 1024x1024", [normal(1024, 1024)], lambda x: x.cummax(-1)[0], lambda x: x.cummax(-1)[0], lambda np, x: np.maximum.accumulate(x, -1), bound=0, bytes=8 << 20)
    yield case(M, "cumprod 1024x64", [lambda rng: 1 + 0.01 * rng.standard_normal((1024, 64), dtype="float32")], lambda x: x.cumprod(-1), lambda x: x.cumprod(-1),
               lambda np, x: x.cumprod(-1), lambda x: x.cumprod(-1), bound=256 * EPS, bytes=8 << 16)
    for name, numpys in (("cumsum", lambda np, x, g: np.flip(np.flip(g, 1).cumsum(1), 1)), ("cumprod", np_product_gradient), ("cummax", np_maximum_gradient)):
        yield case(M, f"gradient of {name} 1024x1024", [near_one(1024, 1024), normal(1024, 1024)], lambda x, g, name=name: running_gradient(name, x, g),
                   lambda x, g, name=name: torch_running_gradient(name, x, g), numpys, terms=1024, bytes=8 << 20)
    yield case(M, "sum of a cumsum's product 1024x1024", [normal(1024, 1024)] * 2, lambda x, w: (x.cumsum(1) * w).sum(1), lambda x, w: (x.cumsum(1) * w).sum(1),
               lambda np, x, w: (x.cumsum(1) * w).sum(1), terms=1 << 20, bytes=8 << 20)
    yield case(M, "logcumsumexp 1024x1024", [normal(1024, 1024)], lambda x: x.logcumsumexp(1), lambda x: x.logcumsumexp(1),
               lambda np, x: np.logaddexp.accumulate(x, 1), lambda x: log_sums(x), bound=32 * EPS, bytes=8 << 20)
    yield case(M, "scatter-add 1024x512 into 1024x1024", [normal(1024, 1024), integers(1024, 1024, 512), normal(1024, 512)],
               lambda x, i, s: x.scatter_reduce(1, i, s, "sum"), lambda x, i, s: x.scatter_add(1, i, s), np_scatter_rows, bound=16 * EPS, bytes=12 << 20)
    yield case(M, "einsum of three 512", [normal(512, 512)] * 3, lambda a, b, c: einsum3(a, b, c), lambda a, b, c: einsum3(a, b, c),
               lambda np, a, b, c: a @ b @ c, terms=1 << 10, flops=4 << 27)
    yield case(M, "softmax 4096x1000", [normal(4096, 1000)], lambda x: x.softmax(), lambda x: x.softmax(-1), lambda np, x: softmax64(np, x), bound=32 * EPS, bytes=8 * 4096 * 1000)
    yield case(M, "squares of rows, 10000x100", [normal(10000, 100)], lambda x: (x * x).sum(1), lambda x: (x * x).sum(1), lambda np, x: (x * x).sum(1),
               lambda x: (x * x).sum(1), terms=100, bytes=4 * 10**6)
    yield case(M, "any 4096x1024", [normal(4096, 1024)], lambda x: (x > 3).any(1), lambda x: (x > 3).any(1), lambda np, x: (x > 3).any(1), lambda x: (x > 3).any(1), bound=0, bytes=4 << 22)
    yield case(M, "gradient of max pool 3x3/2 64x56x56 b8", [normal(8, 64, 56, 56), normal(8, 64, 28, 28)], max_pool_gradient, torch_max_pool_gradient,
               np_max_pool_gradient, bound=16 * EPS, bytes=12 * 8 * 64 * 56 * 56)
    yield case(M, "top-k 8 of 256x4096", [normal(256, 4096)], lambda x: x.topk(8)[0], lambda x: x.topk(8)[0], lambda np, x: -np.sort(-x)[:, :8], bound=0, bytes=4 << 20)
    yield case(M, "embedding gradient 1024x256 of 4096", [integers(4096, 1024), normal(1024, 256)], lambda i, g: embedding_gradient(i, g, 4096),
               lambda i, g: torch_embedding_gradient(i, g, 4096), lambda np, i, g: np_scatter_add(np, i, g, 4096), bound=16 * EPS, bytes=4 << 20)
    yield case(M, "max pool 2x2 64x56x56 b8", [normal(8, 64, 56, 56)], lambda x: x.max_pool2d(), lambda x: F().max_pool2d(x, 2),
               lambda np, x: x.reshape(8, 64, 28, 2, 28, 2).max((3, 5)), bound=0, bytes=5 * 8 * 64 * 56 * 56)
    yield case(M, "means and largest of rows 4096x1024", [normal(4096, 1024)], lambda x: x.mean(1) + x.max(1), lambda x: x.mean(1) + x.amax(1),
               lambda np, x: x.mean(1) + x.max(1), bound=16 * EPS, bytes=4 << 22)
    yield case(M, "spans of rows 4096x1024", [normal(4096, 1024)], lambda x: x.max(1) - x.min(1), lambda x: x.amax(1) - x.amin(1),
               lambda np, x: x.max(1) - x.min(1), bound=2 * EPS, bytes=4 << 22)
    yield case(M, "cosines of rows 4096x1024", [normal(4096, 1024)] * 2, cosines, lambda x, y: F().cosine_similarity(x, y, 1), lambda np, x, y: cosines(x, y),
               cosines, terms=1024, bytes=8 << 22)
    gated = [normal(256, 512), normal(1024, 512), normal(1024, 512)]
    yield case(M, "gated layer 256x512x1024", gated, gated_layer, torch_gated_layer, np_gated_layer, terms=2048, flops=4 * 256 * 512 * 1024)
    yield case(M, "gated layer 1x512x1024", [normal(1, 512), *gated[1:]], gated_layer, torch_gated_layer, np_gated_layer, terms=2048, bytes=8 * 512 * 1024)
