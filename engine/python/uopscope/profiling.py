# Time: of blocks (Timing), of Python functions (Profiling), and a program's own events on a time line.
#
#   with Timing("loaded in "): load()
#   with cpu_profile("sort", "HOST"): work()       an event in cpu_events while PROFILE=1
import contextlib, decimal, gc, linecache, sys, time
from dataclasses import dataclass, field
from typing import Any
from uopscope.settings import known

def perf_counter_us(): return decimal.Decimal(time.perf_counter_ns()) / 1000

class Timing(contextlib.ContextDecorator):
  """Prints the time of a block; `on_exit` turns the nanoseconds into more words."""
  def __init__(self, prefix="", on_exit=None, enabled=True): self.prefix, self.on_exit, self.enabled = prefix, on_exit, enabled
  def __enter__(self):
    self.st = time.perf_counter_ns()
    return self
  def __exit__(self, *_):
    self.et = time.perf_counter_ns() - self.st
    more = self.on_exit(self.et) if self.enabled and self.on_exit else ""
    if self.enabled: print(f"{self.prefix}{self.et / 1e6:6.2f} ms{more}")

class Profiling(contextlib.ContextDecorator):
  """Prints the Python functions in which a block spent its time; `fn` also writes the profile to a file for pstats."""
  def __init__(self, enabled=True, sort="cumtime", frac=0.2, fn=None, ts=1): self.enabled, self.sort, self.frac, self.fn, self.ts = enabled, sort, frac, fn, ts
  def __enter__(self):
    import cProfile
    self.pr = cProfile.Profile()
    if self.enabled: self.pr.enable()
    return self
  def __exit__(self, *_):
    import pstats
    if not self.enabled: return
    self.pr.disable()
    if self.fn: self.pr.dump_stats(self.fn)
    stats = pstats.Stats(self.pr).strip_dirs().sort_stats(self.sort)
    for function in stats.fcn_list[:int(len(stats.fcn_list) * self.frac)]:
      _, calls, own, all_of_it, callers = stats.stats[function]
      line = f"n:{calls:8d}  tm:{own * 1e3 / self.ts:7.2f}ms  tot:{all_of_it * 1e3 / self.ts:7.2f}ms  {_place(function):50}"
      if callers: line += f" <- {_place(max(callers, key=lambda c: callers[c][2]))}"
      print(line)
def _place(function): return "{}:{}:{}".format(*function)

def get_stacktrace(frame, max_frames=30):
  """(file, line, function, text of the line) of the callers of a frame, innermost first."""
  callers = []
  while (frame := frame.f_back) is not None and len(callers) < max_frames:
    code = frame.f_code
    callers.append((code.co_filename, frame.f_lineno, code.co_name, linecache.getline(code.co_filename, frame.f_lineno).strip()))
  return tuple(callers)

@dataclass(frozen=True)
class TracingKey:
  """The name of a traced call, its keys for searching, and its result."""
  display_name: str
  keys: tuple = ()
  ret: Any = None
  tb: Any = field(default_factory=lambda: get_stacktrace(sys._getframe(1)) if known["VIZ"] else None)

class ProfileEvent: pass

@dataclass
class ProfileRangeEvent(ProfileEvent):
  device: str
  name: Any
  st: decimal.Decimal
  en: Any = None
  is_copy: bool = False

@dataclass(frozen=True)
class ProfilePointEvent(ProfileEvent):
  device: str
  name: str
  key: Any
  arg: dict = field(default_factory=dict)
  ts: decimal.Decimal = field(default_factory=perf_counter_us)

@dataclass(frozen=True)
class ProfileDeviceEvent(ProfileEvent):
  device: str
  comp_tdiff: decimal.Decimal = decimal.Decimal(0)
  copy_tdiff: decimal.Decimal = decimal.Decimal(0)
  props: dict = field(default_factory=dict)
  tdiff: decimal.Decimal = decimal.Decimal(0)

@dataclass(frozen=True)
class ProfileProgramEvent(ProfileEvent):
  device: str
  name: str
  lib: Any = None
  base: Any = None
  tag: Any = None

@dataclass(frozen=True)
class ProfileGraphEntry:
  device: str
  name: Any
  st_id: int
  en_id: int
  is_copy: bool = False

@dataclass(frozen=True)
class ProfileGraphEvent(ProfileEvent):
  ents: list
  deps: list
  sigs: list

cpu_events = []

@contextlib.contextmanager
def cpu_profile(name, device="TINY", is_copy=False, display=True):
  """An event from the beginning to the end of the block, recorded while PROFILE is set."""
  event = ProfileRangeEvent(device, name, perf_counter_us(), is_copy=is_copy)
  try: yield event
  finally:
    event.en = perf_counter_us()
    if known["PROFILE"] and display: cpu_events.append(event)

def profile_marker(name, color="gray"):
  """A moment on the time line with a name and a colour."""
  cpu_events.append(ProfilePointEvent("TINY", "marker", None, {"name": name, "color": color}))

class disable_gc(contextlib.ContextDecorator):
  """Disables Python's cycle collector for a block."""
  def __enter__(self):
    self._was_on = gc.isenabled()
    gc.disable()
  def __exit__(self, *_):
    if self._was_on: gc.enable()
