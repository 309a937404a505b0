"""Seconds of graph building, schedule and code generation to source for a sample, in a process that has done neither before.

    PYTHON compile_time.py samples/resnet50.py

The sample's make() gives a model and its inputs. Runs under uopscope and under tinygrad; on the NULL device, so nothing
is compiled to machine code or run. One line of JSON. ROUNDS=n does it n times over in one process and gives the medians
of all but the first (a model made anew has other buffers, and caches of schedules are emptied). CPU_TIME=1 counts processor
time of this thread instead of wall time.
"""
import importlib.util, json, os, resource, statistics, sys, time
os.environ.setdefault("DEV", "NULL")
os.environ.setdefault("NULL", "1")
os.environ["SCACHE"] = "0"  # the reference caches schedules by structure; so do we, and empty ours below
from tinygrad import Device, Tensor
from tinygrad.codegen import get_program
try:
  from _uopscope import clear_schedule_cache
except ImportError:
  def clear_schedule_cache(): pass

now = time.thread_time if os.environ.get("CPU_TIME") == "1" else time.perf_counter
path = sys.argv[1]
spec = importlib.util.spec_from_file_location("sample", path)
sample = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sample)
renderer = Device[Device.DEFAULT].renderer if hasattr(Device[Device.DEFAULT], "renderer") else None


def measure():
  model, inputs = sample.make()
  clear_schedule_cache()
  items, spent = [], {"schedule": 0.0}
  schedule_with_vars, realize = Tensor.schedule_with_vars, Tensor.realize

  def only_schedule(self, *more):
    start = now()
    items.extend(schedule_with_vars(self, *more)[0])
    spent["schedule"] += now() - start
    return self
  Tensor.realize = only_schedule
  try:
    start = now()
    model(*inputs).realize()
    spent["graph"] = now() - start - spent["schedule"]
  finally:
    Tensor.realize = realize
  kernels = {}
  for item in items:
    if str(item.ast.op).endswith("SINK"):
      kernels.setdefault(item.ast, None)
  start = now()
  characters = sum(len(get_program(ast, renderer).src) for ast in kernels)
  spent["codegen"] = now() - start
  return {**spent, "kernels": len(items), "distinct": len(kernels), "characters": characters}


rounds = [measure() for _ in range(int(os.environ.get("ROUNDS", 1)))]
counted = rounds[1:] or rounds
result = {key: statistics.median(r[key] for r in counted) for key in rounds[0]}
result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(result))
