# Factorisations, hashes, named axes, positions, and inverted pooling, against NumPy, hashlib and formulas.
import hashlib
import numpy as np
from tinygrad import Tensor, dtypes
from check import close, raises, run

rng = np.random.default_rng(0)
def floats(*shape): return rng.standard_normal(shape).astype(np.float32)

def test_qr():
  for shape in [(1, 1), (4, 4), (6, 3), (3, 6), (2, 5, 3), (2, 2, 3, 3)]:
    a = floats(*shape)
    q, r = Tensor(a).qr()
    close(q @ r, a, atol=1e-5, rtol=1e-4)
    close(q.transpose(-2, -1) @ q, np.broadcast_to(np.eye(shape[-2]), q.shape), atol=1e-5)
    close(r, np.triu(r.numpy()), atol=1e-5)
  q, r = Tensor([[0.0, 1.0], [0.0, 2.0]]).qr()
  close(q @ r, [[0, 1], [0, 2]], atol=1e-6)
  raises(Exception, lambda: Tensor([1.0]).qr(), "qr", "(1,)")

def test_svd():
  for shape in [(1, 1), (2, 2), (5, 3), (3, 5), (4, 4), (2, 3, 3)]:
    a = floats(*shape)
    u, s, v = Tensor(a).svd(full_matrices=False)
    close(u * s.unsqueeze(-2) @ v, a, atol=1e-5, rtol=1e-4)
    close(s, np.linalg.svd(a)[1], rtol=1e-4, atol=1e-5)
    u, s, v = Tensor(a).svd()
    assert u.shape[-1] == shape[-2] and v.shape[-1] == shape[-1]
    close(u.transpose(-2, -1) @ u, np.broadcast_to(np.eye(shape[-2]), u.shape), atol=1e-5)
    close(v.transpose(-2, -1) @ v, np.broadcast_to(np.eye(shape[-1]), v.shape), atol=1e-5)

def test_newton_schulz():
  a = floats(4, 6)
  x = a / (np.sqrt((a * a).sum()) + 1e-7)
  for _ in range(3): x = 2.0 * x - 1.5 * (x @ x.T @ x) + 0.5 * (x @ x.T @ x @ x.T @ x)
  close(Tensor(a).newton_schulz(3, (2.0, -1.5, 0.5)), x, rtol=1e-3, atol=1e-4)
  close(Tensor(a.T).newton_schulz(3, (2.0, -1.5, 0.5)), x.T, rtol=1e-3, atol=1e-4)

def test_keccak():
  for n in (0, 1, 135, 136, 137, 300):
    data = bytes(i * 7 % 256 for i in range(n))
    if n: assert Tensor(data).keccak().data().tobytes() == hashlib.sha3_256(data).digest(), n
    if n: assert Tensor(data).keccak("sha3_224").data().tobytes() == hashlib.sha3_224(data).digest(), n
    if n: assert Tensor(data).keccak("shake_128").data().tobytes() == hashlib.shake_128(data).digest(16), n
  two = np.frombuffer(b"abcdefgh", dtype=np.uint8).reshape(2, 4)
  assert Tensor(two).keccak().data().tobytes() == hashlib.sha3_256(b"abcd").digest() + hashlib.sha3_256(b"efgh").digest()
  raises(KeyError, lambda: Tensor(b"a").keccak("md5"), "md5")

def test_hash_is_a_tree_of_shake_128():
  chunk = b"abc".ljust(1 << 20, b"\0")
  leaves = b"".join(hashlib.shake_128(chunk[i:i + 4096]).digest(16) for i in range(0, 1 << 20, 4096))
  assert Tensor(b"abc").hash().data().tobytes() == hashlib.shake_128(leaves).digest(16)

def test_rearrange():
  x = np.arange(2 * 3 * 4).reshape(2, 3, 4)
  t = Tensor(x)
  close(t.rearrange("a b c -> c a b"), x.transpose(2, 0, 1))
  close(t.rearrange("a b c -> a (b c)"), x.reshape(2, 12))
  close(t.rearrange("a b (c d) -> d a b c", d=2), x.reshape(2, 3, 2, 2).transpose(3, 0, 1, 2))
  close(t.rearrange("... c -> c ..."), x.transpose(2, 0, 1))
  close(t.rearrange("a ... -> (a ...)"), x.reshape(-1))
  close(t.rearrange("a b c -> a 1 b () c"), x.reshape(2, 1, 3, 1, 4))
  raises(ValueError, lambda: t.rearrange("a b c -> a b"), "rearrange")
  raises(ValueError, lambda: t.rearrange("a b -> b a"), "(2, 3, 4)")
  raises(ValueError, lambda: t.rearrange("a b (c d) -> a b c d"), "size")
  raises(ValueError, lambda: t.rearrange("a b (c d) -> a b c d", d=3), "d=3")

def test_nonzero_and_masked_select():
  for x in (np.array([[0, 3, 0], [1, 0, 2]]), np.zeros((2, 2), dtype=np.int32), np.array([0.5, 0.0, -1.0], dtype=np.float32)):
    close(Tensor(x).nonzero(), np.stack(np.nonzero(x), -1))
  x = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
  close(Tensor(x).masked_select(Tensor(x > 1.5)), x[x > 1.5])

def test_max_unpool2d():
  x = floats(2, 3, 6, 8)
  values, at = Tensor(x).max_pool2d(return_indices=True)
  want = np.zeros_like(x)
  for n in range(2):
    for c in range(3): want[n, c].reshape(-1)[at.numpy()[n, c].reshape(-1)] = values.numpy()[n, c].reshape(-1)
  close(values.max_unpool2d(at), want)
  values, at = Tensor(floats(1, 1, 7, 7)).max_pool2d(kernel_size=3, stride=2, return_indices=True)
  assert values.max_unpool2d(at, kernel_size=3, stride=2, output_size=(1, 1, 7, 7)).shape == (1, 1, 7, 7)

def test_sums_of_tensors_and_alu():
  from tinygrad.uop import Ops
  a, b = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
  close(a.usum(b, 1), [5, 7])
  close(a.alu(Ops.ADD, b), [4, 6])
  close(a.ufix(3.0) + a, [4, 5])

if __name__ == "__main__": run(globals())
