# Runs one program with the engine of this Python: measure_program.py NAME OUT.json. See tests/conformance/programs.
#
# OUT gets the seconds of each step, the numbers that the program computed, and the largest memory of the process. Seeds
# are the same for every engine. A model's file may import packages for images, sound or text that are not installed here;
# empty ones replace them, since the model itself does not use them.
import importlib.util, json, os, random, re, resource, runpy, sys, time
from unittest.mock import MagicMock
from program_cases import CASES, Document, Model, Script

STEPS, KEPT = 5, 64
for package in ("cv2", "librosa", "scipy", "scipy.linalg", "tiktoken", "tiktoken.load", "transformers", "sentencepiece", "torchvision", "torchvision.utils"):
  if "." in package or importlib.util.find_spec(package) is None: sys.modules.setdefault(package, MagicMock())

import numpy as np
import tinygrad.helpers, tinygrad.nn.datasets
from tinygrad import Tensor, nn

steps, losses = [], []

class Timed(tinygrad.helpers.tqdm):
  """A progress bar that notes the time of each turn of its loop, and the losses that it was given to show."""
  def __iter__(self):
    for n, item in enumerate(super().__iter__()):
      if n == LIMIT: return
      begin = time.perf_counter()
      yield item
      steps.append(time.perf_counter() - begin)
  def set_description(self, text):
    losses.extend(float(x) for x in re.findall(r"loss:?\s+(-?[0-9.]+)", text))
    super().set_description(text)

def timed_range(n, **options): return Timed(iterable=range(n), total=n, **options)

def images(shape, classes=10):
  draw = np.random.RandomState(7)
  return draw.randint(0, 255, shape).astype(np.uint8), draw.randint(0, classes, shape[:1]).astype(np.uint8)

def data_set(*shape):
  train, test = images((2048, *shape)), images((256, *shape))
  return lambda *_, **__: tuple(Tensor(a) for a in (*train, *test))

def flat_mnist(*_, **__):
  (x, y), (u, v) = images((2048, 784)), images((256, 784))
  return x.astype(np.float32), y.astype(np.int32), u.astype(np.float32), v.astype(np.int32)

def numbers(value):
  """All numbers of nested results, one array each."""
  if isinstance(value, Tensor): return [value.numpy()]
  if isinstance(value, dict): value = list(value.values())
  if isinstance(value, (list, tuple)): return [a for v in value for a in numbers(v)]
  return [np.asarray(value)]

def sample(array):
  """Some elements of an array, evenly spread, and its mean."""
  flat = np.asarray(array, dtype=np.float64).flatten()
  if not flat.size: return []
  return [*flat[np.linspace(0, flat.size - 1, min(KEPT, flat.size)).astype(int)].tolist(), float(flat.mean())]

def replace_data_sets():
  import extra.datasets
  nn.datasets.mnist, nn.datasets.cifar, extra.datasets.fetch_mnist = data_set(1, 28, 28), data_set(3, 32, 32), flat_mnist

def run_script(case):
  replace_data_sets()
  tinygrad.helpers.tqdm, tinygrad.helpers.trange = Timed, timed_range
  os.environ |= case.env
  sys.argv = [case.path]
  left = runpy.run_path(case.path, run_name="__main__")
  return results_of(case, left)

def run_document(case):
  replace_data_sets()
  short_range = lambda *bounds: timed_range(bounds[0], disable=True) if len(bounds) == 1 and bounds[0] >= 10 else range(*bounds)
  space = {"__name__": "__main__", "range": short_range}
  for block in re.findall(r"```python\n(.*?)```", open(case.path).read(), re.S):
    if not block.startswith("!"): exec(compile(block, case.path, "exec"), space)
  return results_of(case, space)

def results_of(case, left):
  return [losses, *(sample(a) for a in numbers(eval(case.result, left)))] if case.result else [losses]

def run_model(case):
  space = {"Tensor": Tensor, "nn": nn, "np": np}
  exec(case.make, space)
  results = []
  for _ in range(STEPS):
    begin = time.perf_counter()
    result = numbers(space["step"]())
    steps.append(time.perf_counter() - begin)
    results.append(result)
  return [sample(a) for result in results for a in result]

name, out = sys.argv[1:3]
case = CASES[name]
LIMIT = STEPS if isinstance(case, Model) else case.limit
Tensor.manual_seed(42), np.random.seed(42), random.seed(42)
results = {Script: run_script, Document: run_document, Model: run_model}[type(case)](case)
json.dump({"steps": steps, "results": results, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}, open(out, "w"))
