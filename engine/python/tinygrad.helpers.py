# Settings, counters and small functions that model scripts import from tinygrad.helpers.
import contextlib, functools, math, operator, os, platform, sys, time
import _uopscope
from _uopscope import GlobalCounters

OSX, CI = platform.system() == "Darwin", os.getenv("CI", "") != ""

@functools.cache
def getenv(key, default=0): return type(default)(os.getenv(key, default))

class ContextVar:
  """A setting; the engine reads the same one."""
  def __init__(self, key, default_value=None): self.key = key
  @property
  def value(self): return _uopscope.context_get(self.key)
  @value.setter
  def value(self, x): _uopscope.context_set(self.key, int(x))
  def __bool__(self): return bool(self.value)
  def __int__(self): return int(self.value)
  def __eq__(self, x): return self.value == x
  def __ge__(self, x): return self.value >= x
  def __gt__(self, x): return self.value > x
  def __lt__(self, x): return self.value < x
  def __le__(self, x): return self.value <= x
  def __hash__(self): return hash(self.key)
  def __repr__(self): return f"ContextVar({self.key!r}, {self.value})"
  def tolist(self): return [self.value]
for _name in _uopscope.context_names(): globals()[_name] = ContextVar(_name)

class Context(contextlib.ContextDecorator):
  """with Context(DEBUG=2): ... sets settings for a block, or for a function as a decorator."""
  def __init__(self, **values): self.values, self.saved = values, []
  def __enter__(self):
    before = {k: _uopscope.context_get(k) for k in self.values}
    for k, v in self.values.items(): _uopscope.context_set(k, int(v))
    self.saved.append(before)
  def __exit__(self, *_):
    for k, v in self.saved.pop().items(): _uopscope.context_set(k, v)

def prod(x): return functools.reduce(operator.mul, x, 1)
def argfix(*x):
  if x and x[0].__class__ in (tuple, list):
    if len(x) != 1: raise ValueError(f"bad arg {x}")
    return tuple(x[0])
  return x
def argsort(x): return type(x)(sorted(range(len(x)), key=x.__getitem__))
def all_same(items): return all(i == items[0] for i in items)
def all_int(t): return all(isinstance(s, int) for s in t)
def dedup(x): return list(dict.fromkeys(x))
def flatten(l): return [item for part in l for item in part]
def fully_flatten(l): return [i for part in l for i in fully_flatten(part)] if isinstance(l, (list, tuple)) else [l]
def make_tuple(x, cnt): return (x,) * cnt if isinstance(x, int) else tuple(x)
def ceildiv(num, amt): return -(num // -amt)
def round_up(num, amt): return ceildiv(num, amt) * amt
def unwrap(x):
  assert x is not None
  return x
def unwrap_class_type(x): return x
def partition(items, fxn):
  yes, no = [], []
  for i in items: (yes if fxn(i) else no).append(i)
  return yes, no
def get_child(obj, key):
  for k in key.split("."):
    obj = obj[int(k)] if k.isnumeric() else obj[k] if isinstance(obj, dict) else getattr(obj, k)
  return obj
def merge_dicts(ds):
  out = {}
  for d in ds:
    for k, v in d.items():
      if k in out and out[k] != v: raise RuntimeError(f"{k} is {out[k]} and {v}")
      out[k] = v
  return out
def colored(st, color, background=False):
  if color is None: return st
  names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
  return f"\u001b[{10 * background + 60 * (color.upper() == color) + 30 + names.index(color.lower())}m{st}\u001b[0m"
def ansilen(s):
  import re
  return len(re.sub("\x1b\\[(K|.*?m)", "", s))

class Timing(contextlib.ContextDecorator):
  """Prints how long a block took."""
  def __init__(self, prefix="", on_exit=None, enabled=True): self.prefix, self.on_exit, self.enabled = prefix, on_exit, enabled
  def __enter__(self): self.st = time.perf_counter_ns()
  def __exit__(self, *_):
    self.et = time.perf_counter_ns() - self.st
    if self.enabled: print(f"{self.prefix}{self.et * 1e-6:6.2f} ms" + (self.on_exit(self.et) if self.on_exit else ""))

def trange(n, **kw): return tqdm(range(n), **kw)
class tqdm:
  """Iterates; progress goes to stderr once a second."""
  def __init__(self, iterable=None, desc="", disable=False, total=None, **_):
    self.it, self.desc, self.disable, self.n = iterable, desc, disable, 0
    self.total = total if total is not None else len(iterable) if hasattr(iterable, "__len__") else None
    self.shown = time.perf_counter()
  def __iter__(self):
    for x in self.it:
      yield x
      self.update(1)
  def update(self, n=1):
    self.n += n
    if not self.disable and time.perf_counter() - self.shown > 1:
      self.shown = time.perf_counter()
      print(f"{self.desc} {self.n}/{self.total or '?'}", file=sys.stderr)
  def set_description(self, desc): self.desc = desc
  def write(self, s): print(s)

def fetch(url, name=None, subdir=None, gunzip=False, allow_caching=True, headers={}):
  """The path of a file that is on this machine already: see uopscope.downloads for where it is looked for."""
  from uopscope.downloads import local_file
  return local_file(url, name, subdir, gunzip)
