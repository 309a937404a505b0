# Settings: named numbers that the environment sets, that `Context` changes for a block, and that the engine or a script
# reads.
#
#   STEPS = ContextVar("STEPS", 3)                # a script's own; STEPS=5 in the environment makes it 5
#   with Context(STEPS=1, NOOPT=1): assert STEPS.value == 1
#
# There is one object per name. The engine stores the settings that it reads, and is asked for their values; all other
# settings are stored here. A setting of the reference that changes nothing here prints a line about that, once, when it is
# given a different value.
import contextlib, math, os, sys
import _uopscope

_ENGINE = frozenset(_uopscope.context_names())

# Settings of the reference besides those of the engine: name -> default.
_REFERENCE = {
  "IMAGE": 0, "JIT_BATCH_SIZE": 32, "TC_OPT": 0, "AMX": 0, "LRU": 1, "CACHELEVEL": 2,
  "VALIDATE_WITH_CPU": 0, "CORRECT_DIVMOD_FOLDING": 0, "ALLOW_DEVICE_USAGE": 1, "MAX_BUFFER_SIZE": 0, "EMULATE": "", "CPU_LVP": 0, "AMD_LLVM": 0,
  "NV_PTX": 0, "CUDA_PTX": 0, "NV_NAK": 0, "QCOM_IR3": 0, "NULL_IR3": 0, "NULL_NAK": 0, "AMD_CC": "", "CPU_CC": "", "NV_CC": "", "CUDA_CC": "",
  "QCOM_CC": "", "PROFILE": abs(_uopscope.context_get("VIZ")), "TUPLE_ORDER": 1, "ALLOW_TF32": 0}

# Why a setting changes nothing; those of them that the engine has are named with their default.
_IDLE_ENGINE = {"FUSE_ARANGE": 0, "DEVECTORIZE": 1}
_IDLE = {
  "FUSE_ARANGE": "an arange is always fused into what reads it",
  "DEVECTORIZE": "vectors are split where the device's renderer asks for it",
  "IMAGE": "there are no image buffers",
  "TC_OPT": "products are padded to whole tiles wherever that pays",
  "AMX": "tiles of a processor are used where it has them, without a setting; nothing uses Apple's matrix unit",
  "LRU": "freed memory is kept by the allocator of the process",
  "VALIDATE_WITH_CPU": "kernels are not run twice: the command `check` compares values before and after each rewrite",
  "CORRECT_DIVMOD_FOLDING": "the folding of division and remainder is always correct for negative numbers",
  "MAX_BUFFER_SIZE": "the size of a buffer is limited by memory alone",
  "EMULATE": "no other device is emulated",
  "CPU_LVP": "there is no such renderer of CPU kernels", "AMD_LLVM": "kernels for AMD are always compiled by LLVM", "AMD_CC": "kernels for AMD are always compiled by LLVM",
  "NV_PTX": "there is no NV device", "NV_NAK": "there is no NV device", "NV_CC": "there is no NV device",
  "CUDA_PTX": "CUDA kernels are rendered as CUDA C", "CUDA_CC": "CUDA kernels are compiled by NVRTC",
  "QCOM_IR3": "there is no QCOM device", "QCOM_CC": "there is no QCOM device", "NULL_IR3": "there is no NULL device", "NULL_NAK": "there is no NULL device",
  "TUPLE_ORDER": "the order of a program has one tie-break, the order of creation",
  "ALLOW_TF32": "products of float32 are computed in float32"}
# Settings whose larger values have no further effect: name -> (largest value with an effect, why).
_LARGEST = {
  "TRACK_MATCH_STATS": (3, "every rewrite is printed at 3"),
  "JIT": (2, "a captured function is replayed launch by launch at 2"),
  "PCONTIG": (2, "all values that one kernel alone reads are stored inside it at 2"),
  "SPEC": (2, "every node is checked at 2")}
_said, _followers = set(), {}
def when_changed(name, follow):
  """Calls `follow()` whenever a setting is changed."""
  _followers[name] = follow

def _say_if_idle(name, value, default):
  """Prints one line, the first time, about a value without an effect, or without more effect than a smaller one."""
  if name in _said: return
  largest, why = _LARGEST.get(name, (math.inf, ""))
  if name in _IDLE and value != default: text = f"{name}={value} changes nothing here: {_IDLE[name]}"
  elif isinstance(value, int) and value > largest: text = f"{name}={value} is {name}={largest} here: {why}"
  else: return
  _said.add(name)
  print(f"uopscope: {text}", file=sys.stderr)

def _from_environment(key, default):
  text = os.getenv(key)
  if text is None: return default
  try: return type(default)(text)
  except ValueError: raise ValueError(f"the environment sets {key}={text!r}: {type(default).__name__} is needed") from None

class ContextVar:
  """A setting. ContextVar(name, default) makes a setting of a script; its value is the environment's, else the default."""
  _cache = {}
  def __init__(self, key, default_value):
    if key in ContextVar._cache: raise RuntimeError(f"there is a ContextVar {key} already: a name has one owner")
    self.key, self._default = key, default_value
    if key in _ENGINE: self._default = _IDLE_ENGINE.get(key)
    else: self._value = _from_environment(key, default_value)
    ContextVar._cache[key] = self
    _say_if_idle(key, self.value, self._default)
  @property
  def value(self): return _uopscope.context_get(self.key) if self.key in _ENGINE else self._value
  @value.setter
  def value(self, x):
    _say_if_idle(self.key, x, self._default)
    if self.key in _ENGINE: _uopscope.context_set(self.key, int(x))
    else: self._value = x
    if self.key in _followers: _followers[self.key]()
  def __bool__(self): return bool(self.value)
  def __int__(self): return int(self.value)
  def __eq__(self, x): return self.value == _plain(x)
  def __ge__(self, x): return self.value >= _plain(x)
  def __gt__(self, x): return self.value > _plain(x)
  def __le__(self, x): return self.value <= _plain(x)
  def __lt__(self, x): return self.value < _plain(x)
  def __hash__(self): return hash(self.key)
  def __repr__(self): return f"ContextVar({self.key!r}, {self.value!r})"
  def tolist(self): return [self.value]
def _plain(x): return x.value if isinstance(x, ContextVar) else x

class Context(contextlib.ContextDecorator):
  """`with Context(DEBUG=2): ...` sets settings for a block; `@Context(DEBUG=2)` sets them for every call of a function."""
  def __init__(self, **values): self._values, self._before = values, []
  def __enter__(self):
    unknown = [name for name in self._values if name not in ContextVar._cache]
    if unknown: raise KeyError(f"{unknown[0]}: no setting has this name; ContextVar({unknown[0]!r}, 0) makes one")
    self._before.append({name: ContextVar._cache[name].value for name in self._values})
    self._set(self._values)
  def __exit__(self, *_): self._set(self._before.pop())
  @staticmethod
  def _set(values):
    for name, value in values.items(): ContextVar._cache[name].value = value

known = {name: ContextVar(name, 0) for name in sorted(_ENGINE)} | {name: ContextVar(name, default) for name, default in _REFERENCE.items()}
known["USE_TC"] = known["TC"]  # the name in the reference's module

# CPU_CC names the compiler of CPU kernels. CPU_LLVM, the engine's own setting, holds the choice, and has its own value again
# once no compiler is named.
_CPU_COMPILERS, _unnamed = {"LLVM": 1, "CLANGJIT": 0}, []
def _choose_cpu_compiler():
  name, llvm = known["CPU_CC"].value, known["CPU_LLVM"]
  if name and name not in _CPU_COMPILERS: raise ValueError(f"CPU_CC={name}: no such compiler; those of CPU kernels are {' and '.join(_CPU_COMPILERS)}")
  if name and not _unnamed: _unnamed.append(llvm.value)
  if name or _unnamed: llvm.value = _CPU_COMPILERS[name] if name else _unnamed.pop()
when_changed("CPU_CC", _choose_cpu_compiler)
_choose_cpu_compiler()
