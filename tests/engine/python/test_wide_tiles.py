"""Tiles of 24 registers whose rows and columns overlap: each result is right, whatever the sizes leave over.

  uopscope run tests/engine/python/test_wide_tiles.py

A tile of 6 x 64 or 8 x 48 divides few matrices: the last one begins earlier and computes some results again, which must not add to
what the first one stored, nor read or write beyond the matrix. Infinities and NaN reach the results that they belong to, and no other.
"""
import itertools
import numpy as np
from tinygrad import Tensor, dtypes

SIZES = (1, 5, 6, 7, 47, 48, 49, 64, 65, 97, 130)
TYPES = ((dtypes.float32, 1e-5), (dtypes.float64, 1e-13), (dtypes.float16, 4e-3))


def arrays(rng, *shapes, dtype=np.float32):
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


def check(got, a, b, tolerance, what):
    right = a.astype(np.float64) @ b.astype(np.float64)
    off = np.abs(got.astype(np.float64) - right) / (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + 1e-30)
    assert off.max() <= tolerance, f"{what}: {off.max():.2g} of the sum of the terms' sizes"


rng = np.random.default_rng(5)
count = 0
for rows, columns in itertools.product(SIZES, SIZES):
    for dtype, tolerance in TYPES:
        few, many = int(rng.choice((1, 3, 16, 65, 128))), (1 << 20) // (rows * columns) + 1 # tiles divide in kernels of less work
        terms = many if 48 <= rows and 48 <= columns else min(few if rng.random() < .5 else many, 4096)
        a, b = arrays(rng, (rows, terms), (terms, columns), dtype=np.dtype(dtype.fmt))
        x, y = Tensor(a), Tensor(b)
        what = f"{rows} x {terms} x {columns} of {dtype}"
        check((x @ y).numpy(), a, b, tolerance, what)
        if rows in (49, 130): # the other layouts
            check((x.T.contiguous().T @ y).numpy(), a, b, tolerance, what + ", a transposed")
            check((x @ y.T.contiguous().T).numpy(), a, b, tolerance, what + ", b transposed")
        count += 1

# What the kernel writes it does not read again: a bias, an activation and a sum into what is there.
for rows, columns in ((100, 196), (98, 100), (1000, 50)):
    a, b, c = arrays(rng, (rows, 64), (64, columns), (rows, columns))
    right = a.astype(np.float64) @ b + c
    assert np.abs((Tensor(a) @ Tensor(b) + Tensor(c)).numpy() - right).max() < 1e-4
    there = Tensor(c).contiguous().realize()
    there.assign(there + Tensor(a) @ Tensor(b)).realize()
    assert np.abs(there.numpy() - right).max() < 1e-4, f"{rows} x {columns}: a tile added to a result twice"
    assert np.abs((Tensor(a) @ Tensor(b)).relu().sum(axis=0).numpy() - np.maximum(right - c, 0).sum(0)).max() < 1e-2

# Infinities and NaN stay in their row and column.
a, b = arrays(rng, (100, 70), (70, 100))
a[3, 5], a[97, 1], b[2, 99], b[8, 4] = np.inf, np.nan, -np.inf, np.nan
with np.errstate(invalid="ignore"): right = a @ b
got = (Tensor(a) @ Tensor(b)).numpy()
assert np.array_equal(np.isnan(got), np.isnan(right)) and np.array_equal(np.isposinf(got), np.isposinf(right)) and np.array_equal(np.isneginf(got), np.isneginf(right))

# Windows, and rows that are kept beside the sums (the gradient of distances keeps its points).
x, w = arrays(rng, (2, 6, 29, 31), (50, 6, 3, 3))
picture, filters = Tensor(x, requires_grad=True), Tensor(w, requires_grad=True)
out = picture.conv2d(filters, stride=2, padding=1)
out.square().sum().backward()
padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
right = np.einsum("nchwij,fcij->nfhw", windows, w)
assert np.abs(out.numpy() - right).max() < 1e-4
assert np.abs(filters.grad.numpy() - np.einsum("nchwij,nfhw->fcij", windows, 2 * right)).max() < 5e-2
p, q = arrays(rng, (75, 64), (130, 64))
points = Tensor(p, requires_grad=True)
weights = arrays(rng, (75, 130))[0]
(((points.unsqueeze(1) - Tensor(q).unsqueeze(0)).square().sum(-1)) * Tensor(weights)).sum().backward()
right = 2 * (weights[..., None] * (p[:, None].astype(np.float64) - q)).sum(1)
assert np.abs(points.grad.numpy() - right).max() < 2e-3
print(f"{count} products, and what follows them: passed")
