# Settings, counters and small functions that model scripts import from tinygrad.helpers. Helpers of more than a few lines
# have modules in uopscope: settings, progress, profiling, disk_cache, web.
import ctypes, functools, importlib, itertools, math, operator, os, platform, re, string, sys, time, typing
from dataclasses import dataclass
import _uopscope
from _uopscope import GlobalCounters
from uopscope.absent import lacking
from uopscope.profiling import (ProfileEvent, ProfilePointEvent, ProfileRangeEvent, Profiling, Timing, TracingKey, cpu_events, cpu_profile, disable_gc,
                                get_stacktrace, perf_counter_us, profile_marker)
from uopscope.progress import tqdm, trange
from uopscope.settings import Context, ContextVar, known as _settings

globals().update(_settings)
# Names that few programs need and that take long to import: they are imported at first use.
_LATER = dict.fromkeys(("VERSION", "db_connection", "diskcache", "diskcache_clear", "diskcache_get", "diskcache_put"), "uopscope.disk_cache")
_LATER |= dict.fromkeys(("HTTPRequestHandler", "TCPServerWithReuse"), "uopscope.web")
_lacking = lacking(__name__)
def __getattr__(name): return getattr(importlib.import_module(_LATER[name]), name) if name in _LATER else _lacking(name, 2)
T, U = typing.TypeVar("T"), typing.TypeVar("U")
OSX, WIN, CI = platform.system() == "Darwin", sys.platform == "win32", bool(os.getenv("CI"))
ARCH_X86 = platform.machine() in ("x86_64", "AMD64", "i386", "i686")
cache_dir = os.path.join(os.getenv("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "uopscope")

@functools.cache
def getenv(key, default=0): return type(default)(os.environ.get(key, default))

@dataclass(frozen=True)
class Metadata:
  """The tensor operation that made a node."""
  name: str
  caller: str
  backward: bool = False
  def __hash__(self): return hash(self.name)
  def __str__(self): return f"{self.name} bw" if self.backward else self.name

# Sequences
def prod(x): return functools.reduce(operator.mul, x, 1)
def argfix(*x):
  """Makes f(1, 2), f((1, 2)) and f([1, 2]) the same call."""
  first = x[0] if x else None
  if type(first) not in (tuple, list): return x
  if len(x) > 1: raise ValueError(f"a sequence or separate values, not both: {x}")
  return tuple(first)
def argsort(x): return type(x)(i for i, _ in sorted(enumerate(x), key=operator.itemgetter(1)))
def all_same(items): return not items or items.count(items[0]) == len(items)
def all_int(t): return not any(not isinstance(s, int) for s in t)
def dedup(x): return [*dict.fromkeys(x)]
def flatten(l): return [*itertools.chain.from_iterable(l)]
def fully_flatten(l):
  if getattr(l, "shape", None) == (): return [l[()]]
  nested = hasattr(l, "__len__") and hasattr(l, "__getitem__") and not isinstance(l, str)
  return flatten(map(fully_flatten, l)) if nested else [l]
def make_tuple(x, cnt): return tuple(x) if not isinstance(x, int) else (x,) * cnt
def partition(itr, fxn):
  yes, no = [], []
  for item in itr: (yes if fxn(item) else no).append(item)
  return yes, no
def merge_dicts(ds):
  merged = {}
  for key, value in flatten(d.items() for d in ds):
    if merged.setdefault(key, value) != value: raise RuntimeError(f"{key} is {merged[key]} in one dictionary and {value} in another")
  return merged
def unwrap(x):
  assert x is not None, "None where a value is needed"
  return x
def get_single_element(x):
  assert len(x) == 1, f"one element is needed, there are {len(x)}: {x}"
  return next(iter(x))
def get_child(obj, key):
  """get_child(model, "layers.0.weight"): attributes, dictionary keys and list positions by one dotted name."""
  for part in key.split("."):
    if part.isnumeric(): obj = obj[int(part)]
    else: obj = obj[part] if isinstance(obj, dict) else getattr(obj, part)
  return obj
class count:
  """itertools.count that can be pickled."""
  def __init__(self, start=0, step=1): self.n, self.step = start, step
  def __iter__(self): return self
  def __next__(self):
    self.n += self.step
    return self.n - self.step

# Integers
def ceildiv(num, amt):
  if hasattr(num, "vmin"):  # a node that is not negative divides as C does: no negation
    positive = amt.vmin > 0 if hasattr(amt, "vmin") else amt > 0
    if num.vmin >= 0 and positive: return (num + amt - 1) // amt
  up = -(num // -amt)
  return int(up) if isinstance(up, float) else up
def round_up(num, amt): return (num + (amt - 1)) // amt * amt
def round_down(num, amt): return num // amt * amt
def next_power2(x): return 1 << max(0, (x - 1).bit_length()) if x else 1
def cdiv(x, y):
  """Division that rounds towards zero, as C does; 0 for a divisor of 0."""
  if y == 0: return 0
  quotient = abs(x) // abs(y)
  return quotient if (x < 0) == (y < 0) else -quotient
def cmod(x, y): return x - y * cdiv(x, y)
def lo32(x): return x & 0xffffffff
def hi32(x): return x >> 32
def data64(data): return hi32(data), lo32(data)
def data64_le(data): return lo32(data), hi32(data)
def getbits(value, start, end): return value >> start & ~(-1 << end - start + 1)
def i2u(bits, value): return value % (1 << bits) if value < 0 else value
def polyN(x, p):
  """The polynomial with these coefficients, the highest power first."""
  return functools.reduce(lambda value, c: value * x + c, p, 0.0)

# Shapes
def canonicalize_strides(shape, strides): return tuple(0 if s == 1 else stride for s, stride in zip(shape, strides))
def strides_for_shape(shape):
  strides, step = [], 1
  for s in reversed(shape):
    strides.append(step)
    step *= s
  return canonicalize_strides(shape, strides[::-1])
def get_contraction(old_shape, new_shape):
  """The axes of old_shape that each axis of new_shape joins; None if an axis would have to be split."""
  first_end, seen = {}, 1
  for i, s in enumerate(old_shape, 1):
    seen *= s
    first_end.setdefault(seen, i)
  ends, seen = [], 1
  for s in new_shape:
    seen *= s
    if seen != 1 and seen not in first_end: return None
    ends.append(first_end[seen] if seen != 1 else 0)
  between = ends[:-1]  # axes of length 1 behind the last end belong to the last group
  return [[*range(a, b)] for a, b in zip([0, *between], [*between, len(old_shape)])]

# Texts
_COLOURS = {name: code for code, name in enumerate("black red green yellow blue magenta cyan white".split(), 30)}
_ESCAPES = re.compile("\x1b\\[(K|.*?m)")
def colored(st, color, background=False):
  """The text in a colour; a name in capitals is the bright one."""
  if color is None: return st
  code = _COLOURS[color.lower()] + 60 * color.isupper() + 10 * background
  return f"\x1b[{code}m{st}\x1b[0m"
def colorize_float(x): return colored(f"{x:7.2f}x", "red" if x > 1.15 else "yellow" if x >= 0.75 else "green")
def time_to_str(t, w=8):
  for least, scale, unit in ((10, 1, "s "), (0.01, 1e3, "ms")):
    if t > least: return f"{t * scale:{w}.2f}{unit}"
  return f"{t * 1e6:{w}.2f}us"
def ansistrip(s): return _ESCAPES.sub("", s)
def ansilen(s): return len(ansistrip(s))
def pluralize(st, cnt): return f"{cnt} {st}{'s' * (cnt != 1)}"
def strip_parens(fst):
  """The text without its outer parentheses, if these belong together."""
  depth = 0
  for i, c in enumerate(fst):
    depth += (c == "(") - (c == ")")
    if depth <= 0: return fst[1:-1] if i and i == len(fst) - 1 and depth == 0 else fst
  return fst
def word_wrap(x, wrap=80):
  """Wraps the text to lines of at most `wrap` characters; colour codes do not count."""
  out = []
  for line in x.splitlines() or [x]:
    part, width = "", 0
    for piece in re.findall("\x1b\\[(?:K|.*?m)|.", line):
      if width == wrap and not piece.startswith("\x1b"): out, part, width = out + [part], "", 0
      part, width = part + piece, width + (not piece.startswith("\x1b"))
    out.append(part)
  return "\n".join(out)
_NAME_CHARACTERS = frozenset(string.ascii_letters + string.digits + "_")
@functools.cache
def to_function_name(s): return "".join(c if c in _NAME_CHARACTERS else format(ord(c), "02X") for c in ansistrip(s))
def stderr_log(msg): print(msg, end="", flush=True, file=sys.stderr)
@functools.cache
def lines(fn):
  try:
    with open(fn, encoding="utf-8") as f: return f.readlines()
  except OSError: return []
def printable(loc):
  text, line = lines(loc[0]), loc[1]
  return text[line - 1].strip() if 0 < line <= len(text) else "<missing>"

# Files, programs and memory
def temp(x, append_user=False):
  import getpass, tempfile
  return os.path.join(tempfile.gettempdir(), f"{x}.{getpass.getuser()}" if append_user else x)
def fetch(url, name=None, subdir=None, gunzip=False, allow_caching=True, headers={}):
  """The path of a file that is on this machine already; uopscope.downloads lists the folders that are searched."""
  from uopscope.downloads import local_file
  return local_file(url, name, subdir, gunzip)
def system(cmd, **kwargs):
  import subprocess
  return subprocess.run(cmd.split(), check=True, stdout=subprocess.PIPE, **kwargs).stdout.decode().strip()
def cpu_objdump(lib, objdump_tool="objdump"):
  import tempfile
  with tempfile.NamedTemporaryFile() as f:
    f.write(lib)
    f.flush()
    print(system(f"{objdump_tool} -d {f.name}"))
def fromimport(mod, frm): return getattr(importlib.import_module(mod), frm)
def pad_bytes(b, align): return b.ljust(round_up(len(b), align), b"\0")
def panic(e=None): raise RuntimeError("PANIC!") if e is None else e
def unwrap_class_type(cls_t): return getattr(cls_t, "func", cls_t) if isinstance(cls_t, functools.partial) else cls_t
def is_numpy_ndarray(x): return type(x).__module__ == "numpy" and type(x).__name__ == "ndarray"
def from_mv(mv, to_type=ctypes.c_char): return (to_type * len(mv)).from_buffer(mv)
def to_mv(ptr, sz): return memoryview((ctypes.c_uint8 * sz).from_address(ptr)).cast("B")
def mv_address(mv): return ctypes.addressof(ctypes.c_char.from_buffer(mv))
def flat_mv(mv): return mv.cast("B", (mv.nbytes,)) if len(mv) else mv
def wait_cond(cb, *args, value=True, timeout_ms=10000, msg=""):
  """Calls `cb` repeatedly until it returns `value`."""
  end = time.perf_counter() + timeout_ms / 1e3
  while (answer := cb(*args)) != value:
    if time.perf_counter() >= end: raise TimeoutError(f"{msg}: after {timeout_ms} ms the answer is {answer}, not {value}")
  return answer
def suppress_finalizing(func):
  """Wraps a function so that it fails silently while Python is shutting down."""
  @functools.wraps(func)
  def quiet(*args, **kwargs):
    try: return func(*args, **kwargs)
    except (RuntimeError, AttributeError, TypeError, ImportError):
      if not sys.is_finalizing(): raise
  return quiet
def select_first_inited(candidates, err_msg, cache=None):
  """The result of the first candidate that does not fail. A candidate that is a sequence must succeed as a whole."""
  cache, failures = {} if cache is None else cache, []
  for candidate in candidates:
    try:
      if candidate not in cache: cache[candidate] = tuple(c and c() for c in candidate) if isinstance(candidate, (tuple, list)) else candidate()
      return cache[candidate]
    except Exception as e: failures.append(e)
  raise ExceptionGroup(err_msg, failures)
