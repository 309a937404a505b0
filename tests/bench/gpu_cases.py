"""The rows of tests/bench/run kernels on a GPU (DEV=CUDA): as kernel_cases.py, with sizes that fill the processors of a GPU.

    for c in gpu_cases(): print(c["name"])

A row's inputs are larger than the cache that all processors share where its speed is that of the memory.
"""
from kernel_cases import EPS, F, SMALL, attention64, case, conv_case, integers, narrowed, normal, product_case, softmax64

GROUP = "table"


def of_type(dtype, row): return row if dtype == "float" else dict(narrowed(dtype, row), group=GROUP)


def memory_rows():
    big = [normal(8192, 8192)]
    size = 4 << 26
    yield case(GROUP, "add 64 Mi", big * 2, lambda a, b: a + b, lambda a, b: a + b, lambda np, a, b: a + b, bound=4 * EPS, bytes=3 * size)
    yield case(GROUP, "exp 64 Mi", big, lambda x: x.exp(), lambda x: x.exp(), lambda np, x: np.exp(x), bound=8 * EPS, bytes=2 * size)
    yield case(GROUP, "sums of rows 8192", big, lambda x: x.sum(1), lambda x: x.sum(1), lambda np, x: x.sum(1), terms=8192, bytes=size)
    yield case(GROUP, "sums of columns 8192", big, lambda x: x.sum(0), lambda x: x.sum(0), lambda np, x: x.sum(0), terms=8192, bytes=size)
    yield case(GROUP, "sum of 64 Mi", big, lambda x: x.sum(), lambda x: x.sum(), lambda np, x: x.sum(), terms=1 << 26, bytes=size)
    yield case(GROUP, "transpose 8192", big, lambda x: x.T.contiguous(), lambda x: x.T.contiguous(), lambda np, x: x.T.copy(), bound=0, bytes=2 * size)
    yield case(GROUP, "softmax 16384x4096", [normal(16384, 4096)], lambda x: x.softmax(), lambda x: x.softmax(-1), lambda np, x: softmax64(np, x), bound=32 * EPS, bytes=2 * size)
    yield case(GROUP, "layer norm 16384x4096", [normal(16384, 4096)], lambda x: x.layernorm(), lambda x: F().layer_norm(x, x.shape[-1:]),
               lambda np, x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5), bound=64 * EPS, bytes=2 * size)
    yield case(GROUP, "argmax 16384x4096", [normal(16384, 4096)], lambda x: x.argmax(-1), lambda x: x.argmax(-1), lambda np, x: x.argmax(-1), bound=0, bytes=size)
    yield case(GROUP, "cumsum 8192x4096", [normal(8192, 4096)], lambda x: x.cumsum(-1), lambda x: x.cumsum(-1), lambda np, x: x.cumsum(-1), terms=4096, bytes=size)
    yield case(GROUP, "gather 32768 of 32768x1024", [normal(32768, 1024), integers(32768, 32768)], lambda x, i: x[i], lambda x, i: x[i],
               lambda np, x, i: x[i.astype(int)], bound=0, bytes=size)
    yield case(GROUP, "gemv 16384", [normal(16384, 4096), normal(4096)], lambda a, x: a @ x, lambda a, x: a @ x, lambda np, a, x: a @ x, terms=4096, bytes=size)


def product_rows():
    n = 4096
    layouts = (("product", "mk,kn->mn", lambda a, b: a @ b), ("a @ b.T", "mk,nk->mn", lambda a, b: a @ b.T), ("a.T @ b", "km,kn->mn", lambda a, b: a.T @ b))
    for dtype in ("float", "half"):
        for name, subscript, of in layouts: yield of_type(dtype, product_case(GROUP, f"{name} {n}", (n, n), (n, n), subscript, of))
    yield of_type("bfloat16", product_case(GROUP, f"product {n}", (n, n), (n, n), "mk,kn->mn", layouts[0][2]))
    for dtype in ("float", "half"):
        yield of_type(dtype, product_case(GROUP, "product 1024", (1024, 1024), (1024, 1024), "mk,kn->mn", layouts[0][2]))
        yield of_type(dtype, product_case(GROUP, "batched product 64x512", (64, 512, 512), (64, 512, 512), "bmk,bkn->bmn", layouts[0][2]))
    yield of_type("half", product_case(GROUP, "linear 2048x4096x11008", (2048, 4096), (11008, 4096), "mk,nk->mn", layouts[1][2]))
    yield of_type("half", product_case(GROUP, "thin a @ b.T 16x4096x4096", (16, 4096), (4096, 4096), "mk,nk->mn", layouts[1][2]))


def network_rows():
    for dtype in ("float", "half"):
        yield of_type(dtype, conv_case(GROUP, "conv 3x3 64x56x56 b32", (32, 64, 56, 56), (64, 64, 3, 3), 1, 1))
        yield of_type(dtype, conv_case(GROUP, "conv 1x1 256x28x28 b32", (32, 256, 28, 28), (256, 256, 1, 1)))
    yield conv_case(GROUP, "depthwise 3x3 128x56x56 b32", (32, 128, 56, 56), (128, 1, 3, 3), 1, 1, 128)
    for causal in (False, True):
        row = case(GROUP, f"attention 64x1024x64{' causal' if causal else ''}", [normal(64, 1024, 64)] * 3,
                   lambda q, k, v, c=causal: q.scaled_dot_product_attention(k, v, is_causal=c), lambda q, k, v, c=causal: F().scaled_dot_product_attention(q, k, v, is_causal=c),
                   lambda np, q, k, v, c=causal: attention64(np, q, k, v, c), bound=64 * EPS, flops=4 * 64 * 1024 * 1024 * 64 // (2 if causal else 1))
        yield row
        yield of_type("half", dict(row, bound=4 * SMALL["half"]))
    def layers(x, *weights):
        for w in weights: x = (x @ w).relu() * 0.1
        return x
    def exact(np, x, *weights):
        for w in weights: x = np.maximum(x @ w, 0) * 0.1
        return x
    yield case(GROUP, "20 layers of 256, batch 16", [normal(16, 256)] + [normal(256, 256)] * 20, layers, layers, exact, bound=1e-3, flops=2 * 20 * 16 * 256 * 256)


def gpu_cases():
    yield from memory_rows()
    yield from product_rows()
    yield from network_rows()
