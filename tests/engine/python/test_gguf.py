# GGUF files: metadata of every type, tensors of every type against block formats read out value by value, damage.
import json, pathlib, struct, tempfile
import numpy as np
from tinygrad import Device, Tensor, dtypes
from tinygrad.nn.state import ggml_data_to_tensor, gguf_load
from check import close, raises, run
from gguf_files import Typed, build, write

FOLDER = tempfile.TemporaryDirectory()
FILE = pathlib.Path(FOLDER.name) / "m.gguf"
rng = np.random.default_rng(2)

# Reads blocks value by value, as the description of the format defines them.
def half(b, i): return float(np.frombuffer(bytes(b[i:i + 2]), np.float16)[0])
def s8(x): return x - 256 if x > 127 else x
def q4_0(b): return [((b[2 + i % 16] >> (4 * (i // 16))) & 15) * half(b, 0) - 8 * half(b, 0) for i in range(32)]
def q4_1(b): return [((b[4 + i % 16] >> (4 * (i // 16))) & 15) * half(b, 0) + half(b, 2) for i in range(32)]
def q5_0(b):
  high = int.from_bytes(bytes(b[2:6]), "little")
  return [((((b[6 + i % 16] >> (4 * (i // 16))) & 15) | ((high >> i & 1) << 4)) - 16) * half(b, 0) for i in range(32)]
def q5_1(b):
  high = int.from_bytes(bytes(b[4:8]), "little")
  return [(((b[8 + i % 16] >> (4 * (i // 16))) & 15) | ((high >> i & 1) << 4)) * half(b, 0) + half(b, 2) for i in range(32)]
def q8_0(b): return [s8(b[2 + i]) * half(b, 0) for i in range(32)]
def k_scale(b, j):
  s = b[4:16]
  if j < 4: return s[j] & 63, s[j + 4] & 63
  return (s[j + 4] & 15) | (s[j - 4] >> 6 << 4), (s[j + 4] >> 4) | (s[j] >> 6 << 4)
def q4_k(b):
  out = []
  for i in range(256):
    scale, least = k_scale(b, i // 32)
    out.append(half(b, 0) * scale * ((b[16 + i // 64 * 32 + i % 32] >> (4 * (i // 32 % 2))) & 15) - half(b, 2) * least)
  return out
def q5_k(b):
  out = []
  for i in range(256):
    scale, least = k_scale(b, i // 32)
    q = ((b[48 + i // 64 * 32 + i % 32] >> (4 * (i // 32 % 2))) & 15) | ((b[16 + i % 32] >> (i // 32) & 1) << 4)
    out.append(half(b, 0) * scale * q - half(b, 2) * least)
  return out
def q6_k(b):
  out = []
  for i in range(256):
    part, j = divmod(i, 128)
    row, l = divmod(j, 32)
    low = (b[part * 64 + l + 32 * (row % 2)] >> (4 * (row // 2))) & 15
    high = (b[128 + part * 32 + l] >> (2 * row)) & 3
    out.append(half(b, 208) * s8(b[192 + i // 16]) * ((low | high << 4) - 32))
  return out
def mxfp4(b):
  values = [0, .5, 1, 1.5, 2, 3, 4, 6]
  return [(-1 if c & 8 else 1) * values[c & 7] * 2.0 ** (b[0] - 128) for c in ((b[1 + i % 16] >> (4 * (i // 16))) & 15 for i in range(32))]

QUANTISED = {2: (32, 18, q4_0, [0]), 3: (32, 20, q4_1, [0, 2]), 6: (32, 22, q5_0, [0]), 7: (32, 24, q5_1, [0, 2]), 8: (32, 34, q8_0, [0]), 12: (256, 144, q4_k, [0, 2]), 13: (256, 176, q5_k, [0, 2]),
             14: (256, 210, q6_k, [208]), 39: (32, 17, mxfp4, [])}

def blocks(kind, n):
  """Random blocks with valid scales, and the values they stand for."""
  values, size, read, scales = QUANTISED[kind]
  data = rng.integers(0, 256, (n, size), dtype=np.uint8)
  for at in scales: data[:, at:at + 2] = rng.uniform(-2, 2, n).astype(np.float16).view(np.uint8).reshape(n, 2)
  if kind == 39: data[:, 0] = rng.integers(110, 140, n)
  return data, np.array([read(list(map(int, b))) for b in data])

def test_quantised_types():
  for kind, (values, size, _, _) in QUANTISED.items():
    data, want = blocks(kind, 5)
    got = ggml_data_to_tensor(Tensor(data.reshape(-1)), 5 * values, kind)
    assert got.dtype == dtypes.float32
    np.testing.assert_allclose(got.numpy(), want.reshape(-1), rtol=1e-5, atol=1e-5, err_msg=f"type {kind}")
    close(ggml_data_to_tensor(Tensor(data.reshape(-1)), values, kind), want[0], rtol=1e-5, atol=1e-5) # more bytes than needed

def test_smallest_exponents():
  for e in (0, 1, 2): close(ggml_data_to_tensor(Tensor([e] + [0x77] * 16, dtype=dtypes.uint8), 32, 39) * 2.0**120, np.full(32, 6 * 2.0**-8 * 2.0**e), rtol=1e-6)

def test_values_are_the_reference_s():
  recorded = json.loads((pathlib.Path(__file__).resolve().parents[2] / "golden" / "python" / "gguf.json").read_text())
  assert len(recorded) == 6
  for kind, case in recorded.items(): close(ggml_data_to_tensor(Tensor(bytes.fromhex(case["bytes"])), len(case["values"]), int(kind)), case["values"], rtol=1e-5, atol=1e-5)

KV = {"general.architecture": "llama", "u8": Typed(0, 200), "i8": Typed(1, -3), "u16": Typed(2, 65535), "i16": Typed(3, -300), "u32": 4000000000, "i32": Typed(5, -5), "f32": 0.5, "yes": True,
      "u64": Typed(10, 2**63), "i64": Typed(11, -2**40), "f64": Typed(12, 0.1), "words": ["a", "", "ü"], "numbers": Typed(5, [1, -2, 3]), "nested": Typed(9, [[1, 2], [3]]), "none": Typed(4, [])}

def test_metadata_and_tensors():
  f32, f16, i8 = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(2, 2, 2)).astype(np.float16), rng.integers(-9, 9, 5, dtype=np.int8)
  q8, want = blocks(8, 4)
  tensors = {"a": (f32, 0), "b": (f16, 1), "c": (i8, 16), "d": (i8, 24), "e": (np.arange(3, dtype=np.int64), 27), "f": (np.array([0.1]), 28), "q": (q8.tobytes(), 8, (2, 64)), "g": (np.array([0x3f80, 0xc000], np.uint16), 30)}
  for version, alignment in ((3, 32), (2, 64)):
    kv = KV | ({"general.alignment": 64} if alignment == 64 else {})
    write(FILE, kv, tensors, version=version, alignment=alignment)
    for source in (FILE, str(FILE), Tensor(FILE), Tensor(FILE).to("CPU")):
      got, weights = gguf_load(source)
      assert {k: v for k, v in got.items() if k in KV} == {k: v.value if isinstance(v, Typed) else v for k, v in KV.items()}
      close(weights["a"], f32), close(weights["b"], f16), close(weights["c"], i8), close(weights["d"], i8), close(weights["e"], [0, 1, 2]), close(weights["f"], [0.1]), close(weights["q"], want.reshape(2, 64), rtol=1e-5), close(weights["g"], [1.0, -2.0])
      assert weights["a"].device in ("CPU", Device.DEFAULT) and weights["b"].shape == (2, 2, 2) and weights["q"].dtype == dtypes.float32

def load(data):
  FILE.write_bytes(data)
  return gguf_load(FILE)

def test_damaged_files():
  good, one = {"a": 1}, {"w": (np.zeros(4, np.float32), 0)}
  raises(ValueError, lambda: load(build(good, one, magic=b"GGML")), "Invalid GGUF"), raises(ValueError, lambda: load(build(good, one, version=9)), "version 9")
  raises(ValueError, lambda: load(build(good, {"w": (b"", 99, (4,))})), "w", "99"), raises(ValueError, lambda: load(build(good, {"w": (bytes(34), 8, (33,))})), "blocks of 32")
  raises(ValueError, lambda: load(build(good, {"w": (bytes(16), 0, (2**40, 2**40))})), "truncated", "w"), raises(ValueError, lambda: load(build({"general.alignment": 0}, one)), "alignment")
  raises(ValueError, lambda: load(build({"a": b"\xff"}, one)), "UTF-8")
  deep = struct.pack("<IQ", 9, 1) * 100000
  raises(ValueError, lambda: load(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"a" + struct.pack("<I", 9) + deep), "type")
  for tensors, pairs in ((2**62, 0), (0, 2**62), (2**64 - 1, 0)): raises(ValueError, lambda: load(b"GGUF" + struct.pack("<IQQ", 3, tensors, pairs)), "damaged")
  raises(ValueError, lambda: load(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**63)), "truncated")
  whole = build(KV, one | {"v": (np.zeros((2, 3), np.float16), 1)})
  for n in range(len(whole) - 1): raises(ValueError, lambda: load(whole[:n]))
  for _ in range(300): # any other damage gives a value or a ValueError
    data = bytearray(whole)
    for at in rng.integers(0, len(whole), 3): data[at] = rng.integers(0, 256)
    try: load(bytes(data))
    except ValueError: pass

if __name__ == "__main__": run(globals())
