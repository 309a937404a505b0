# Records of the compiler and the devices, kept in this process while a script asks for them: every graph rewrite while
# TRACK_MATCH_STATS is 2 or more, memory and launches while PROFILE is set. `tinygrad.viz.serve` reads them. For whole runs,
# `uopscope record` writes the same to a file.
#
#   with Context(TRACK_MATCH_STATS=2): model(x).realize()
#   [(key.display_name, [rewrite.name for rewrite in steps]) for key, steps in zip(tracked_keys, tracked_ctxs)]
#
# A node is recorded as the number of an entry (operation, dtype, numbers of sources, argument, tag), so records keep no
# memory of tensors alive.
import atexit, decimal, functools, inspect, os, sys
from dataclasses import dataclass, field
import _uopscope
from uopscope.profiling import ProfilePointEvent, ProfileRangeEvent, TracingKey, cpu_events, cpu_profile, get_stacktrace, perf_counter_us
from uopscope.settings import known, when_changed

ENDLESS = "infinite loop in fixed_point_rewrite"

@dataclass
class TrackedGraphRewrite:
  """One graph_rewrite: the place that asked for it, its first graph, and each match as (before, after, (file, line, text),
  seconds)."""
  loc: tuple
  sink: int
  matches: list
  name: str
  depth: int
  bottom_up: bool
  trace: tuple = ()

@dataclass(frozen=True)
class RewriteTrace:
  """The names of groups, the rewrites of each group, and the entries of nodes by number."""
  keys: list
  rewrites: list
  uop_fields: dict

tracked_keys, tracked_ctxs, active_rewrites, uop_fields, _name_cnt = [], [], [], {}, {}
_number_of, _before_group = {}, []  # numbers by entry; rewrites that prepare the next schedule
_scopes = []  # kinds of the open scopes: "schedule", "kernel" or "other"

def _numbered(name):
  _name_cnt[name] = _name_cnt.get(name, 0) + 1
  return f"{name} n{_name_cnt[name]}"
def _open_group(key):
  tracked_keys.append(key)
  tracked_ctxs.append([])
  return len(tracked_keys) - 1
def _callers():
  frame = sys._getframe(1)
  while frame is not None and _uopscope.is_own_source(frame.f_code.co_filename): frame = frame.f_back
  if frame is None: return ()
  here = (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, "")
  return (here, *get_stacktrace(frame))

class _Listener:
  """Receives the events of the engine."""
  def node(self, op, dtype, src, arg, tag):
    entry = (op, dtype, src, arg, tag)
    try: number = _number_of.setdefault(entry, len(uop_fields))
    except TypeError: number = _number_of.setdefault((op, dtype, src, repr(arg), repr(tag)), len(uop_fields))  # the argument has no hash
    if number == len(uop_fields): uop_fields[number] = entry
    return number
  def scope_begin(self, kind, name):
    _scopes.append((kind, _open_group(TracingKey(name)) if kind != "other" else None))
    if kind == "schedule":
      tracked_ctxs[-1] += _before_group
      _before_group.clear()
  def scope_end(self):
    kind, group = _scopes.pop()
    if kind != "schedule" or group >= len(tracked_keys) or not tracked_ctxs[group]: return
    last = tracked_ctxs[group][-1]
    kernels = _count(getattr(last, "end", last.sink), _uopscope.Ops.KERNEL)
    tracked_keys[group] = TracingKey(_numbered(f"Schedule {kernels} Kernel{'s' * (kernels != 1)}"), ret=kernels)
  def kernel_named(self, name):
    if _scopes and _scopes[-1][0] == "kernel": tracked_keys[_scopes[-1][1]] = TracingKey(name, (name,))
  def pass_begin(self, name, place, sink, bottom_up):
    step = TrackedGraphRewrite(place, sink, [], name, len(active_rewrites), bottom_up, _callers())
    if _scopes and _scopes[-1][0] == "other": _before_group.append(step)
    else: (tracked_ctxs if tracked_ctxs else [tracked_ctxs[_open_group(TracingKey("default graph_rewrite"))]])[-1].append(step)
    active_rewrites.append(step)
  def pass_end(self, sink, failure):
    if not active_rewrites: return
    step = active_rewrites.pop()
    step.end = sink if sink is not None else step.sink
    if failure is not None and failure.startswith("infinite loop"):
      seen = {step.sink}  # up to the point where a node reappears
      for at, (before, after, *_) in enumerate(step.matches):
        if after in seen: del step.matches[at:]
        seen.add(after)
      self._failed(step, step.matches[-1][1] if step.matches else step.sink, ("", 0, ""), ENDLESS)
  def rewrite(self, before, after, rule, seconds):
    if active_rewrites: active_rewrites[-1].matches.append((before, after, rule, seconds))
  def rule_error(self, before, rule, message):
    if active_rewrites: self._failed(active_rewrites[-1], before, rule, message)
  def _failed(self, step, before, rule, message):
    error = self.node(_uopscope.Ops.NOOP, _VOID, (), message, None)
    step.matches.append((before, error, rule, 0.0))

  def buffer(self, number, device, dtype, size, freed):
    if not known["PROFILE"]: return
    from tinygrad.device import Buffer
    Buffer.profile_events.append(ProfilePointEvent(device, "free" if freed else "alloc", number, {} if freed else {"dtype": dtype, "sz": size}))
  def launch(self, kernel, device, duration, is_copy, buffers, ins, outs):
    if not known["PROFILE"]: return
    end = perf_counter_us()
    begin = end - decimal.Decimal(duration) / 1000
    parts = lambda positions: [i for i, b in enumerate(buffers) if i in positions]
    cpu_events.append(ProfilePointEvent(device, "exec", len(cpu_events), {"name": kernel, "bufs": list(buffers), "inputs": parts(_at(ins, buffers)), "outputs": parts(_at(outs, buffers))}, ts=begin))
    cpu_events.append(ProfileRangeEvent(device, kernel, begin, end, is_copy))
def _at(positions, buffers): return {p for p in positions if p < len(buffers)}

def _count(root, op):
  """The number of nodes with this operation that an entry reaches."""
  seen, stack, found = {root}, [root], 0
  while stack:
    entry = uop_fields[stack.pop()]
    found += entry[0] is op
    new = [s for s in entry[2] if s not in seen]
    seen.update(new)
    stack += new
  return found

def track_rewrites(name=True, replay=False):
  """Makes each call of a function a group of the rewrites made inside, and of events on the time line. The name of a group
  is the function's name, or the result of `name(*arguments, ret=result)`: a text, which gets a number, or a TracingKey."""
  def decorate(func):
    @functools.wraps(func)
    def traced(*args, **kwargs):
      group = None
      if known["TRACK_MATCH_STATS"] >= 2: group = _open_group(TracingKey(func.__name__ if callable(name) else _numbered(func.__name__)))
      with cpu_profile(func.__name__) as event: result = func(*args, **kwargs)
      if callable(name):
        called = name(*args, **kwargs, ret=result) if "ret" in inspect.signature(name).parameters or group is not None else name(*args, **kwargs)
        key = called if isinstance(called, TracingKey) else TracingKey(_numbered(called) if group is not None else called)
        event.name = key
        if group is not None: tracked_keys[group] = key
      return result
    return traced
  return decorate

def profile_matches(func):
  """Makes each call of a function a step of the enclosing group, with the rewrites made inside nested in it. The first
  argument is the graph, and so is the result."""
  @functools.wraps(func)
  def traced(*args, **kwargs):
    if known["TRACK_MATCH_STATS"] < 2:
      with cpu_profile(func.__name__): return func(*args, **kwargs)
    from tinygrad.uop.ops import UOp
    graph = args[0] if args else kwargs.get("sink")
    assert isinstance(graph, UOp), f"invalid match tracing input: {func.__name__} is given {graph!r} where a graph is needed"
    _listener.pass_begin(kwargs.get("name") or func.__name__, (func.__code__.co_filename, func.__code__.co_firstlineno), _entry_of(graph), False)
    try: return func(*args, **kwargs)
    finally: _listener.pass_end(None, None)
  return traced
def _entry_of(root):
  number = {}
  for u in root.toposort(): number[u] = _listener.node(u.op, u.dtype, tuple(number[s] for s in u.src), u.arg, u.tag)
  return number[root]

_listener, _told = _Listener(), (False, False)
def _follow_settings():
  """Listens to the engine while a setting asks for it."""
  global _told, _VOID
  wanted = (known["TRACK_MATCH_STATS"].value >= 2, bool(known["PROFILE"].value))
  if wanted == _told: return
  from tinygrad.dtype import dtypes
  _told, _VOID = wanted, dtypes.void
  _uopscope.track(_listener if any(wanted) else None, *wanted)

def start():
  """Called once, by tinygrad.uop.ops."""
  for name in ("TRACK_MATCH_STATS", "PROFILE"): when_changed(name, _follow_settings)
  if known["TRACK_MATCH_STATS"].value >= 2 or os.getenv("PROFILE", "0") not in ("", "0"): _follow_settings()
  atexit.register(_uopscope.track, None)
