# Recordings made by Python. A recording that the environment asks for begins with the import of tinygrad; a script or a
# notebook may begin one at any time. Each test of a test suite is a scope of its own in the recording.
#
#   with uopscope.record("steps.uoptrace"): model(x).realize()
#   VIZ=1 python3 model.py        UOPSCOPE_TRACE=traces/ python3 -m pytest tests
import atexit, contextlib, functools, importlib.util, os, sys
import _uopscope
from _uopscope import recording as _native

ASKED_BY = ("UOPSCOPE_TRACE", "VIZ", "TRACK_MATCH_STATS", "CAPTURE_PROCESS_REPLAY", "UOPSCOPE_WITHOUT", "UOPSCOPE_FUEL")
_failure = ""

class record:
  """Records the work of the compiler from here on, until stop() or the end of the block."""
  def __init__(self, path, tier="full"):
    self.path = os.fspath(path)
    if os.path.isdir(self.path): self.path = os.path.join(self.path, f"python-{os.getpid()}.uoptrace")
    _native.begin(self.path, tier, _script())
    _watch_tests()
    _watch_threads()
  def stop(self): _native.end()
  def __enter__(self): return self
  def __exit__(self, kind, error, _):
    if kind is None: _native.end()
    else: _native.end("failed", f"{kind.__name__}: {error}")

def _script():
  main = sys.modules.get("__main__")
  return getattr(main, "__file__", None) or (sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c") else "python")

def _is_folder(path): return path.endswith("/") or os.path.isdir(path)

def _is_worker():
  import multiprocessing
  return multiprocessing.parent_process() is not None

def _begin_as_asked():
  """Begins a recording if the environment asks for one and none is made: this script does not run under `uopscope record`."""
  if _uopscope.observed() or not any(os.environ.get(name, "0") not in ("", "0") for name in ASKED_BY): return
  one_file = os.environ.get("UOPSCOPE_TRACE", "")
  window = not ("multiprocessing" in sys.modules and _is_worker())
  _native.begin_as_asked(_script(), sys.argv[1:], window)
  if one_file and not _is_folder(one_file): os.environ.pop("UOPSCOPE_TRACE") # processes started by this one record elsewhere

def _end(): _native.end("failed" if _failure else "complete", _failure)

def _note_failure(kind, error, trace):
  global _failure
  if not issubclass(kind, SystemExit): _failure = f"{kind.__name__}: {error}"
  _hook_before(kind, error, trace)

def _in_child():
  """A forked process makes its own recording, in a different file than its parent."""
  _native.forked()
  if not _is_folder(os.environ.get("UOPSCOPE_TRACE", "")) and os.environ.get("VIZ", "0") in ("", "0"): return
  _native.begin_as_asked(_script(), sys.argv[1:], False)
  if "multiprocessing.util" in sys.modules: # processes of multiprocessing end without exit handlers
    util = sys.modules["multiprocessing.util"]
    util.register_after_fork(_native, lambda _: util.Finalize(None, _end, exitpriority=100))

# --- tests ---

@contextlib.contextmanager
def scope(name, file="", line=0):
  """Traces show everything compiled in the block below this name."""
  with _uopscope.ObservedScope(name, file, line): yield

_in_test = False

def _as_test(run, describe):
  def told(*args, **kwargs):
    global _in_test
    if _in_test or not _uopscope.observed(): return run(*args, **kwargs)
    _in_test = True
    try:
      with scope(*describe(*args, **kwargs)): return run(*args, **kwargs)
    finally: _in_test = False
  return told

def _describe_item(item, *_, **__):
  path, line, _ = item.location
  return item.nodeid, str(item.path), (line or 0) + 1

def _describe_case(case, *_, **__):
  code = getattr(getattr(type(case), case._testMethodName, None), "__code__", None)
  return (case.id(), code.co_filename, code.co_firstlineno) if code else (case.id(), "", 0)

def _watch(module):
  if module.__name__ == "_pytest.runner": module.runtestprotocol = _as_test(module.runtestprotocol, _describe_item)
  else: module.TestCase.run = _as_test(module.TestCase.run, _describe_case)

class _Watcher:
  """Hooks test frameworks when they are imported."""
  def __init__(self, names): self.names = set(names)
  def find_spec(self, name, path=None, target=None):
    if name not in self.names: return None
    self.names.discard(name)
    spec = importlib.util.find_spec(name)
    run = spec.loader.exec_module
    def exec_module(module):
      run(module)
      _watch(module)
    spec.loader.exec_module = exec_module
    return spec

_watched = False
def _watch_tests():
  global _watched
  if _watched: return
  _watched = True
  frameworks = ("_pytest.runner", "unittest.case")
  for name in frameworks:
    if name in sys.modules: _watch(sys.modules[name])
  sys.meta_path.insert(0, _Watcher(name for name in frameworks if name not in sys.modules))

# --- threads ---

_threads_watched = False
def _watch_threads():
  """The work of a thread is recorded with the work of the thread that starts it."""
  global _threads_watched
  if _threads_watched: return
  _threads_watched = True
  import threading
  start = threading.Thread.start
  @functools.wraps(start)
  def start_recorded(thread):
    block = _native.started_thread() if thread.ident is None else None
    if block is not None:
      own = thread.__dict__.get("run")
      run = thread.run
      def run_recorded():
        if own is None: del thread.run
        else: thread.run = own
        with block: run()
      thread.run = run_recorded
    start(thread)
  threading.Thread.start = start_recorded

_begin_as_asked()
if _uopscope.observed():
  _watch_tests()
  _watch_threads()
if _native.running():
  _hook_before, sys.excepthook = sys.excepthook, _note_failure
atexit.register(_end)
os.register_at_fork(after_in_child=lambda: _in_child() if _uopscope.observed() else None)
