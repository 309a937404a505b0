# Runs tensor programs with DEV=AMD where no GPU is: their machine code (gfx1100) is interpreted by the emulator of RDNA3
# in a checkout of the reference (extra/assembly/amd/emu.py), which other people wrote. It is called in the place where
# the double of HIP (tests/devices/hip_double) has a kernel to run. tests/devices/amd calls this.
#
#   DEV=AMD ROCM_PATH=build/rocm TINYGRAD=path build/bin/uopscope run tests/devices/amd_emulated.py
#
# WMMA of bfloat16 is left out: the emulator computes it as if it were of halves.
# Invariant: this file imports nothing of the reference but its emulator, whose only other need are three constants.
import ctypes, math, os, sys, time, types
from fractions import Fraction
import numpy as np
from tinygrad import Tensor, dtypes, Variable

class Launch(ctypes.Structure):
  _fields_ = [("kernel", ctypes.c_char_p), ("code", ctypes.c_void_p), ("code_bytes", ctypes.c_uint64),
              ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("arguments", ctypes.c_void_p),
              ("argument_bytes", ctypes.c_uint64), ("resources2", ctypes.c_uint32), ("shared_bytes", ctypes.c_uint32)]

# Bits of COMPUTE_PGM_RSRC2, from AMD's description of kernel descriptors.
hsa = types.ModuleType("hsa")
for name, shift, width in (("USER_SGPR_COUNT", 1, 5), ("ENABLE_SGPR_WORKGROUP_ID_X", 7, 1), ("ENABLE_SGPR_WORKGROUP_ID_Y", 8, 1),
                           ("ENABLE_SGPR_WORKGROUP_ID_Z", 9, 1), ("GRANULATED_LDS_SIZE", 15, 9)):
  setattr(hsa, f"AMD_COMPUTE_PGM_RSRC_TWO_{name}", ((1 << width) - 1) << shift)
  setattr(hsa, f"AMD_COMPUTE_PGM_RSRC_TWO_{name}_SHIFT", shift)
sys.modules["tinygrad.runtime.autogen"] = types.ModuleType("tinygrad.runtime.autogen")
sys.modules["tinygrad.runtime.autogen"].hsa = hsa
sys.path.append(os.environ["TINYGRAD"])
from extra.assembly.amd import emu

if not hasattr(math, "fma"): # Python 3.13 has it
  def fma(*xyz):
    x, y, z = map(float, xyz)
    if not all(map(math.isfinite, (x, y, z))): return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    return float(exact) if exact else x * y + z
  math.fma = fma
# The emulator has no caches, and knows no buffer_gl0_inv, which empties one.
EMPTY_CACHE, TWO_NOPS = bytes.fromhex("0000ace000000000"), bytes.fromhex("000080bf000080bf")
emu.set_valid_mem_ranges({(0, 1 << 62)})
# It reads half of the offset of an access to shared memory: the other half is added to the address.
def with_offset(fn): return lambda lds, at, d0, d1, low, high: fn(lds, at + (high << 8), d0, d1, low, 0)
def decoded(code):
  program = emu.decode_program(code.replace(EMPTY_CACHE, TWO_NOPS))
  for i in program.values():
    if isinstance(i, emu.DS) and "_2ADDR_" not in i.op_name: i._fn = with_offset(i._fn)
  return program
launched, instructions = [], set()
def run(launch):
  l = launch.contents
  # The descriptor leaves the size of shared memory to whoever launches.
  resources = l.resources2 | -(-l.shared_bytes // 512) << 15
  try:
    program = decoded((ctypes.c_char * l.code_bytes).from_address(l.code).raw)
    instructions.update(type(i).__name__ + " " + getattr(i, "op_name", "") for i in program.values())
    for z in range(l.grid[2]):
      for y in range(l.grid[1]):
        for x in range(l.grid[0]): emu.exec_workgroup(program, (x, y, z), tuple(l.block), l.arguments, resources)
  except Exception as e: failures.append(f"{l.kernel.decode()}: {type(e).__name__}: {e}")
  launched.append(l.kernel.decode())
failures = []
Runner = ctypes.CFUNCTYPE(None, ctypes.POINTER(Launch))
keep = Runner(run)
double = ctypes.CDLL(os.environ["ROCM_PATH"] + "/lib/libamdhip64.so")
double.hip_double_run(keep)

rng = np.random.default_rng(1)
def f32(*shape): return rng.normal(size=shape).astype(np.float32)
a, b, h, g = f32(16, 24), f32(24, 16), f32(32, 32).astype(np.float16), f32(32, 32).astype(np.float16)
i = rng.integers(-1000, 1000, size=(40,)).astype(np.int32)
def softmax(x):
  e = np.exp(x - x.max(-1, keepdims=True))
  return e / e.sum(-1, keepdims=True)
CASES = {
  "sum": (lambda: Tensor(a) + Tensor(a) * 2, a + a * 2, 1e-6),
  "transcendental": (lambda: Tensor(a).exp() + Tensor(a).sin() + Tensor(a).abs().sqrt() + (Tensor(a).abs() + 1).log(),
                     np.exp(a) + np.sin(a) + np.sqrt(np.abs(a)) + np.log(np.abs(a) + 1), 1e-5),
  "division": (lambda: Tensor(a) / Tensor(b.T), a / b.T, 1e-6),
  "row sums": (lambda: Tensor(f := f32(8, 160)).sum(1), None, 1e-5),
  "product": (lambda: Tensor(a) @ Tensor(b), a @ b, 1e-5),
  "product of halves on WMMA": (lambda: Tensor(h).matmul(Tensor(g), dtype=dtypes.float), h.astype(np.float32) @ g.astype(np.float32), 1e-3),
  "product in shared memory": (lambda: Tensor(f := f32(64, 64)) @ Tensor(f).T, None, 1e-5),
  "softmax": (lambda: Tensor(a).softmax(-1), softmax(a), 1e-5),
  "integers": (lambda: Tensor(i) // 7 + Tensor(i) % 5 + (Tensor(i).cast(dtypes.uint) // 9 * 2).cast(dtypes.int), i // 7 + i % 5 + (i.astype(np.uint32) // 9 * 2).astype(np.int32), 0),
  "64 bits": (lambda: Tensor(i.astype(np.int64)) * 3_000_000_007 // 11, i.astype(np.int64) * 3_000_000_007 // 11, 0),
  "doubles": (lambda: Tensor(a.astype(np.float64)).exp() / 3, np.exp(a.astype(np.float64)) / 3, 1e-12),
  "bfloat16": (lambda: (Tensor(a).cast(dtypes.bfloat16) * 2).cast(dtypes.float), None, 1e-2),
  "gated": (lambda: Tensor(a).pad(((1, 2), (3, 0))), np.pad(a, ((1, 2), (3, 0))), 0),
  "running sum": (lambda: Tensor(a).cumsum(1), np.cumsum(a, 1), 1e-5),
  "convolution": (lambda: Tensor(f32(1, 2, 6, 6)).conv2d(Tensor(f32(3, 2, 3, 3))), None, 1e-4),
  "largest": (lambda: Tensor(a).argmax(1), a.argmax(1), 0),
}
bad = 0
for name, (compute, wanted, tolerance) in CASES.items():
  begin, before, state = time.time(), len(launched), rng.bit_generator.state
  got = compute().numpy()
  if wanted is None:
    rng.bit_generator.state = state
    from tinygrad import Device
    Device.DEFAULT = "CPU"
    wanted = compute().numpy()
    Device.DEFAULT = "AMD"
  scale = np.maximum(1, np.abs(wanted.astype(np.float64)))
  error = float(np.max(np.abs(got.astype(np.float64) - wanted.astype(np.float64)) / scale))
  ok = not failures and got.shape == wanted.shape and error <= tolerance
  bad += not ok
  print(f"{'ok' if ok else 'WRONG':6}{name:28}{len(launched) - before:3} kernels, {time.time() - begin:5.1f} s, error {error:.1e}"
        f"{'; ' + failures[0] if failures else ''}")
  failures.clear()
print(f"{len(CASES) - bad} passed, {bad} failed; WMMA was {'' if any('WMMA' in w for w in instructions) else 'not '}among the instructions")
sys.exit(1 if bad else 0)
