# Numbers of uint64 that int64 does not have, against NumPy: their top bound is "unknown", which a quotient, a remainder, a shift or a
# cast once took for 2**63-1. So `bitcast` of a negative double had halves that were never negative.
import numpy as np
from tinygrad import Tensor
from check import run
V = np.array([0, 1, 5, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**63 + 2**62, 2**64 - 2**32, 2**64 - 2, 2**64 - 1, 7919 * 2**50], np.uint64)
x = Tensor(V).realize()
def same(name, mine, theirs):
  got = mine.numpy()
  assert np.array_equal(got, theirs), f"{name}: {[(int(V[i % len(V)]), got.flat[i], theirs.flat[i]) for i in np.nonzero(got != theirs)[0][:3]]}"

def test_quotients():
  for d in (1, 3, 10, 641, 2**16, 2**31, 2**32, 10**12, 2**62, 2**63 - 1):
    D = np.uint64(d); q, r = V // D, V % D
    same(f"//{d}", x.idiv(d), q), same(f"%{d}", x.mod(d), r), same(f"//{d}*{d}+%", x.idiv(d) * d + x.mod(d), V)
    same(f"//{d} as int", x.idiv(d).cast("int").cast("long"), q.astype(np.int32).astype(np.int64))
    same(f"//{d} as uint, int", x.idiv(d).cast("uint").cast("int").cast("long"), q.astype(np.int32).astype(np.int64))
    same(f"//{d} as long", x.idiv(d).cast("long") < 0, q.astype(np.int64) < 0), same(f"<{d}", x < d, V < D), same(f"max {d}", x.maximum(d), np.maximum(V, D))
    same(f"max {d}//{d}", x.maximum(d).idiv(d), np.maximum(V, D) // D), same(f"+{d}", (x + d) < d, (V + D) < D), same(f"*{d}", (x * d).idiv(d), (V * D) // D)

def test_shifts():
  for s in (0, 1, 31, 32, 33, 62, 63):
    S = np.uint64(s); v = V >> S
    same(f">>{s}", x >> s, v), same(f"<<{s}>>{s}", (x << s) >> s, (V << S) >> S), same(f">>{s} as int", (x >> s).cast("int").cast("long"), v.astype(np.int32).astype(np.int64))
    same(f">>{s} as uint", (x >> s).cast("uint").cast("long"), v.astype(np.uint32).astype(np.int64))

def test_casts():
  for t in (np.int64, np.int32, np.uint32, np.int16, np.uint8):
    same(t.__name__, x.cast(Tensor(t(0)).dtype), V.astype(t)), same(f"{t.__name__} < 0", x.cast(Tensor(t(0)).dtype) < 0, V.astype(t) < 0)
  long = V.astype(np.int64)
  same("max 0", x.cast("long").maximum(0), np.maximum(long, 0)), same("abs", x.cast("long").abs(), np.abs(long)), same("-x", -x, ~V + np.uint64(1))

def test_halves_of_doubles():
  for a in (np.array([-2.0, 3.5, -1.0]), np.array([-7, 5])):
    u = a.view(np.uint32)
    for device in (None, "REF"):
      b = Tensor(a, device=device).realize().bitcast("uint")
      same("halves", b + b.cast("int"), u.astype(np.int64) + u.view(np.int32))

if __name__ == "__main__": run(globals())
